//! Demand: each way of entering it.

use super::{Findings, MOST_GPUS};
use crate::economics::profile::{Shape, YEAR};
use crate::money::Decimal;
use crate::money::arithmetic::one;

/// Hours of a profile at most: ten years.
const LONGEST: usize = 87_600;
/// Runs of a year at most.
const MOST_RUNS: u32 = 365;

/// Why demand of nothing is refused.
const NOTHING: &str = "expected more than 0: without work there is no cost per hour";

/// What is odd about GPUs that are asked for.
pub(super) fn gpus(found: &mut Findings, field: &str, gpus: Decimal) -> bool {
    found.between(field, gpus, Decimal::ZERO, MOST_GPUS.into(), "expected 0 to 1,000,000 GPUs")
}

fn nothing(gpus: Decimal, field: &str, found: &mut Findings) {
    if gpus.is_zero() {
        found.refuse(field, 0, NOTHING);
    }
}

/// What is odd about demand as it was entered.
pub(super) fn shape(shape: &Shape, found: &mut Findings) {
    match shape {
        Shape::Flat { gpus: all, hours_per_day } => {
            gpus(found, "gpus", *all);
            let message = "a day has 24 hours; is this in GPU-hours a day?";
            found.whole("hours_per_day", *hours_per_day, ..=24, message);
            nothing(*all, "gpus", found);
            if *hours_per_day == 0 {
                found.refuse("hours_per_day", 0, NOTHING);
            }
        }
        Shape::Between { low, high } => {
            let fine = gpus(found, "low", *low) && gpus(found, "high", *high);
            if fine && low > high {
                found.refuse("low", low, "expected at most the high end");
            }
            nothing(*high, "high", found);
        }
        Shape::Swinging { base, day_swing, weekend, noise, .. } => {
            gpus(found, "base", *base);
            nothing(*base, "base", found);
            found.share("day_swing", *day_swing);
            let message = "expected 0 to 10 GPUs on weekends per GPU on a weekday";
            found.between("weekend", *weekend, Decimal::ZERO, 10.into(), message);
            found.between("noise", *noise, Decimal::ZERO, 2.into(), "expected 0 to 2; 0.3 is a lot");
        }
        Shape::Levels { levels, .. } => {
            found.each("levels", levels, |level, found| {
                gpus(found, "gpus", level.gpus);
                found.share("share", level.share);
            });
            if levels.iter().all(|it| it.gpus.is_zero()) {
                found.refuse("levels", 0, NOTHING);
            }
            let sum: Decimal = levels.iter().map(|it| it.share).sum();
            if sum != one() {
                found.refuse("levels", sum, "expected shares that sum to 1");
            }
        }
        Shape::Runs { gpus: all, runs_per_year, hours_per_run } => {
            gpus(found, "gpus", *all);
            nothing(*all, "gpus", found);
            if !found.whole("runs_per_year", *runs_per_year, 1..=MOST_RUNS, "expected 1 to 365 runs a year") {
                return;
            }
            if *hours_per_run == 0 {
                found.refuse("hours_per_run", 0, NOTHING);
            } else if *hours_per_run > YEAR / runs_per_year {
                let message = format!(
                    "expected at most {} hours: {runs_per_year} runs do not fit into the 8,760 hours of a year",
                    YEAR / runs_per_year
                );
                found.refuse("hours_per_run", hours_per_run, &message);
            }
        }
        // With the work's accelerator, which a shape does not know.
        Shape::Serving(_) => {}
        Shape::Hours { gpus: all } => {
            found.whole("gpus", all.len(), 1..=LONGEST, "expected 1 to 87,600 hours, ten years of them");
            // The first of them is enough.
            for (at, it) in all.iter().enumerate() {
                if !found.within(format_args!("gpus.{at}"), |found| gpus(found, "", *it)) {
                    break;
                }
            }
            if !all.is_empty() && all.iter().all(Decimal::is_zero) {
                found.refuse("gpus", 0, NOTHING);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_work_asks_for_is_refused() {
        for (json, message) in [
            (r#"{"shape": "flat", "gpus": "-1", "hours_per_day": 3}"#, "expected 0 to 1,000,000 GPUs"),
            (r#"{"shape": "flat", "gpus": "1", "hours_per_day": 400}"#, "is this in GPU-hours a day?"),
            (r#"{"shape": "between", "low": "2", "high": "1"}"#, "at most the high end"),
            (r#"{"shape": "levels", "levels": [{"gpus": "8", "share": "0.9"}]}"#, "that sum to 1"),
            (r#"{"shape": "flat", "gpus": "0", "hours_per_day": 3}"#, "without work there is no cost"),
            (r#"{"shape": "flat", "gpus": "8", "hours_per_day": 0}"#, "without work there is no cost"),
            (r#"{"shape": "between", "low": "0", "high": "0"}"#, "without work there is no cost"),
            (
                r#"{"shape": "levels", "levels": [{"gpus": "0", "share": "1"}]}"#,
                "without work there is no cost",
            ),
            (
                r#"{"shape": "runs", "gpus": "0", "runs_per_year": 4, "hours_per_run": 336}"#,
                "without work there is no cost",
            ),
            (
                r#"{"shape": "runs", "gpus": "8", "runs_per_year": 4, "hours_per_run": 0}"#,
                "without work there is no cost",
            ),
            (
                r#"{"shape": "runs", "gpus": "8", "runs_per_year": 0, "hours_per_run": 336}"#,
                "1 to 365 runs a year",
            ),
            (
                r#"{"shape": "runs", "gpus": "8", "runs_per_year": 4, "hours_per_run": 2191}"#,
                "at most 2190 hours",
            ),
            (r#"{"shape": "hours", "gpus": []}"#, "1 to 87,600 hours"),
            (r#"{"shape": "hours", "gpus": ["0", "0.000"]}"#, "without work there is no cost"),
        ] {
            let mut found = Findings::default();
            shape(&serde_json::from_str(json).unwrap(), &mut found);
            let refused = found.warnings_or_refused().unwrap_err().to_string();
            assert!(refused.contains(message), "{refused}");
        }
    }
}
