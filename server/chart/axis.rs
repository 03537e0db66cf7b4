//! Round numbers for an axis, and how they are written.

use std::ops::RangeInclusive;

use super::frame::position;
use crate::money::Decimal;

/// The value axis: ticks at round numbers that enclose everything.
pub(super) struct Axis {
    /// From the lowest to the highest.
    pub ticks: Vec<Decimal>,
    unit: (Decimal, &'static str),
}

impl Axis {
    /// An axis from at most zero to at least zero with `wanted` steps or a few fewer.
    pub fn enclosing(lowest: Decimal, highest: Decimal, wanted: i64) -> Self {
        let step = round_step(lowest, highest, wanted);
        let below = -(steps_within(lowest.abs(), step));
        let above = steps_within(highest, step).max(i64::from(below == 0));
        Self::of_steps(step, below..=above)
    }

    /// An axis around two numbers, wherever they lie, with `wanted` steps or a few more.
    pub fn around(lowest: Decimal, highest: Decimal, wanted: i64) -> Self {
        // Around a single number there is a tenth of it.
        let beside = if lowest == highest {
            lowest.abs().divide(10.into(), 6).unwrap_or_default()
        } else {
            Decimal::ZERO
        };
        let (lowest, highest) = (lowest - beside, highest + beside);
        let step = round_step(lowest, highest, wanted);
        // Rounded, so that it may lie one inside.
        let nearest = |value: Decimal| {
            let steps = value.divide(step, 0).unwrap_or_default();
            i64::try_from(steps.mantissa()).unwrap_or_default()
        };
        let (below, above) = (nearest(lowest), nearest(highest));
        let below = if step.times(below) > lowest { below - 1 } else { below };
        let above = if step.times(above) < highest { above + 1 } else { above };
        let above = above.max(below + 1).min(below.saturating_add(100));
        Self::of_steps(step, below..=above)
    }

    fn of_steps(step: Decimal, steps: RangeInclusive<i64>) -> Self {
        let ticks: Vec<_> = steps.map(|n| step.times(n)).collect();
        let largest = ticks.iter().map(|tick| tick.abs()).max().unwrap_or_default();
        Self { ticks, unit: unit_for(largest) }
    }

    /// The lowest and the highest tick.
    pub fn ends(&self) -> (f64, f64) {
        let end = |tick: Option<&Decimal>| tick.map_or(0.0, |tick| position(*tick));
        (end(self.ticks.first()), end(self.ticks.last()))
    }

    /// `0`, `500`, `1.5M`: short, and in the same unit along the axis.
    pub fn label(&self, tick: Decimal) -> String {
        let (size, suffix) = self.unit;
        let short = tick.abs().divide(size, 6).unwrap_or_default().normalize();
        let sign = if tick.is_negative() { "−" } else { "" };
        let suffix = if tick.is_zero() { "" } else { suffix };
        format!("{sign}{short}{suffix}")
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that covers the range in `wanted` steps.
fn round_step(lowest: Decimal, highest: Decimal, wanted: i64) -> Decimal {
    let range = highest - lowest;
    // From the smallest that is worth an axis; a month of a trillion trillions is still enclosed.
    let powers = (-6..=24).map(power_of_ten);
    let steps = powers.flat_map(|power| [power, power.times(2), power.times(5)]);
    let mut last = Decimal::from(1);
    if range.is_zero() {
        return last;
    }
    for step in steps {
        last = step;
        if step.times(wanted) >= range {
            break;
        }
    }
    last
}

fn power_of_ten(exponent: i32) -> Decimal {
    match u8::try_from(-exponent) {
        Ok(places) => Decimal::new(1, places),
        Err(_) => Decimal::new(10_i128.pow(exponent.unsigned_abs()), 0),
    }
}

/// How many steps it takes to reach `value`, rounded up.
fn steps_within(value: Decimal, step: Decimal) -> i64 {
    (0..=100).find(|n| step.times(*n) >= value).unwrap_or(100)
}

fn unit_for(largest: Decimal) -> (Decimal, &'static str) {
    let units = [(12, "T"), (9, "B"), (6, "M"), (3, "k")];
    let fitting = units.into_iter().map(|(power, suffix)| (power_of_ten(power), suffix));
    fitting.into_iter().find(|(size, _)| largest >= *size).unwrap_or((Decimal::from(1), ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(lowest: &str, highest: &str) -> Vec<String> {
        let axis = Axis::enclosing(lowest.parse().unwrap(), highest.parse().unwrap(), 5);
        axis.ticks.iter().map(|tick| axis.label(*tick)).collect()
    }

    #[test]
    fn it_counts_in_round_numbers() {
        assert_eq!(labels("0", "430681.37"), ["0", "100k", "200k", "300k", "400k", "500k"]);
        assert_eq!(labels("0", "1200000"), ["0", "0.5M", "1M", "1.5M"]);
        assert_eq!(labels("-30", "480"), ["−200", "0", "200", "400", "600"]);
        assert_eq!(labels("0", "0.004"), ["0", "0.001", "0.002", "0.003", "0.004"]);
        assert_eq!(labels("-12", "0"), ["−15", "−10", "−5", "0"]);
        assert_eq!(labels("0", "0"), ["0", "1"]);
    }

    #[test]
    fn it_may_begin_anywhere() {
        let labels = |lowest: &str, highest: &str| {
            let axis = Axis::around(lowest.parse().unwrap(), highest.parse().unwrap(), 4);
            axis.ticks.iter().map(|tick| axis.label(*tick)).collect::<Vec<_>>()
        };
        assert_eq!(labels("6100000", "7900000"), ["6M", "6.5M", "7M", "7.5M", "8M"]);
        assert_eq!(labels("-30", "25"), ["−40", "−20", "0", "20", "40"]);
        assert_eq!(labels("59203237", "59203237"), ["50M", "55M", "60M", "65M", "70M"]);
        assert_eq!(labels("0", "0"), ["0", "1"]);
    }
}
