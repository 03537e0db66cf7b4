//! What was held of some machines, week by week, and how that grew. Pure.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime, TimeDelta, Utc};
use serde::Serialize;

use super::hours::OF_AN_HOUR;
use crate::money::Decimal;

const HOURS_PER_WEEK: i64 = 168;
/// Hours of a week that are known at least: of five days the weekend is not guessed, but one without a weekend is no week.
const FEWEST_HOURS: i64 = 120;
/// Weeks that a trend needs at least: of fewer, a holiday is one.
const FEWEST: usize = 8;
/// Decimals of accelerators.
const PLACES: u8 = 2;
/// Of a part by which they grow.
const PLACES_OF_GROWTH: u8 = 4;

/// A week of which something is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeldWeek {
    /// Its Monday.
    pub begins: NaiveDate,
    /// Accelerators that were held, on average of its hours …
    pub mean: Decimal,
    /// … and in the hour that had most.
    pub peak: Decimal,
}

/// Whole weeks, the first one first. `held`: accelerator-milliseconds by the hour, of hours of which something is known.
pub fn by_week(held: &BTreeMap<DateTime<Utc>, i64>) -> Vec<HeldWeek> {
    let (Some((first, _)), Some((last, _))) = (held.first_key_value(), held.last_key_value()) else {
        return Vec::new();
    };
    let (first, after) = (first.date_naive(), last.date_naive() + TimeDelta::days(1));
    let days_until_monday = (7 - i64::from(first.weekday().num_days_from_monday())) % 7;
    let mut begins = first + TimeDelta::days(days_until_monday);
    let mut weeks = Vec::new();
    while begins + TimeDelta::days(7) <= after {
        let at = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
        let of_week = || held.range(at(begins)..at(begins + TimeDelta::days(7))).map(|(_, held)| *held);
        let known = i64::try_from(of_week().count()).unwrap_or(0);
        // Of a week of which little is known, nothing is.
        if let Some(most) = of_week().max().filter(|_| known >= FEWEST_HOURS) {
            let accelerators = |milliseconds: i128, hours: i64| {
                Decimal::new(milliseconds, 0).divide(Decimal::from(hours * OF_AN_HOUR), PLACES)
            };
            let sum = of_week().map(i128::from).sum();
            weeks.push(HeldWeek {
                begins,
                mean: accelerators(sum, known).unwrap_or_default(),
                peak: accelerators(most.into(), 1).unwrap_or_default(),
            });
        }
        begins += TimeDelta::days(7);
    }
    weeks
}

/// By which part of their mean the accelerators that are held grow in a month of 730 hours: the line of least squares. `None` of fewer
/// than eight weeks.
pub fn monthly_growth(weeks: &[HeldWeek]) -> Option<Decimal> {
    let first = weeks.first().filter(|_| weeks.len() >= FEWEST)?;
    let count = i64::try_from(weeks.len()).ok()?;
    let place = |week: &HeldWeek| (week.begins - first.begins).num_days() / 7;
    let places: i64 = weeks.iter().map(place).sum();
    let squares: i64 = weeks.iter().map(|week| place(week) * place(week)).sum();
    let held: Decimal = weeks.iter().map(|week| week.mean).sum();
    let products: Decimal = weeks.iter().map(|week| week.mean.times(place(week))).sum();
    let rise = products.times(count) - held.times(places);
    // By the week, of the mean: rise ÷ (n Σx² − (Σx)²) ÷ (Σy ÷ n); and 730 ÷ 168 weeks a month.
    let spread = count * squares - places * places;
    rise.times(count * 730).divide(held.times(spread).times(HOURS_PER_WEEK), PLACES_OF_GROWTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::number;

    /// Hours from a day on, each with as many accelerators as `of` says.
    fn hours(from: &str, hours: i64, of: impl Fn(i64) -> i64) -> BTreeMap<DateTime<Utc>, i64> {
        let from: DateTime<Utc> = format!("{from}T00:00:00Z").parse().unwrap();
        (0..hours).map(|hour| (from + TimeDelta::hours(hour), of(hour) * OF_AN_HOUR)).collect()
    }

    fn week(begins: &str, mean: &str, peak: &str) -> HeldWeek {
        HeldWeek { begins: begins.parse().unwrap(), mean: number(mean), peak: number(peak) }
    }

    #[test]
    fn weeks_that_are_not_whole_or_not_known_are_left_out() {
        // From a Friday: 8 of 16 hours a day, and none known in the second whole week.
        let mut held = hours("2026-09-04", 24 * 27, |hour| if hour % 24 < 16 { 8 } else { 2 });
        held.retain(|at, _| !(14..21).contains(&at.date_naive().day()));
        assert_eq!(by_week(&held), [week("2026-09-07", "6", "8"), week("2026-09-21", "6", "8")]);
        // Of five days the mean is theirs; of four, there is none.
        let mut five = hours("2026-09-07", 24 * 7, |_| 8);
        five.retain(|at, _| at.date_naive().day() < 12 || at.date_naive().day() == 13);
        assert_eq!(by_week(&five), [week("2026-09-07", "8", "8")]);
        five.retain(|at, _| at.date_naive().day() != 8 && at.date_naive().day() != 9);
        assert!(by_week(&five).is_empty());
        assert!(by_week(&BTreeMap::new()).is_empty());
        assert!(by_week(&hours("2026-09-07", 24 * 6, |_| 8)).is_empty());
    }

    #[test]
    fn growth_is_the_line_through_the_weeks() {
        // One accelerator more each week, from ten on: 13.5 on average.
        let weeks = by_week(&hours("2026-09-07", 24 * 56, |hour| 10 + hour / HOURS_PER_WEEK));
        // 1 ÷ 13.5 × 730 ÷ 168.
        assert_eq!(monthly_growth(&weeks), Some(number("0.3219")));
        assert_eq!(monthly_growth(&weeks[1..]), None);
        let level = by_week(&hours("2026-09-07", 24 * 56, |hour| hour % 2));
        assert_eq!(monthly_growth(&level), Some(Decimal::ZERO));
        assert_eq!(monthly_growth(&by_week(&hours("2026-09-07", 24 * 56, |_| 0))), None);
    }
}
