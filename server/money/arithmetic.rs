//! Multiplying and dividing many figures without running out of digits.

use crate::money::Decimal;

/// Hours of a year: 365 days.
pub const HOURS_PER_YEAR: i64 = 8760;
/// Hours of a month: a twelfth of a year.
pub const HOURS_PER_MONTH: i64 = 730;
/// Significant digits that a product keeps. Inputs have few, so most products are exact.
const DIGITS: u32 = 30;
/// Decimals of a quotient.
const PLACES: u8 = 20;
/// Decimals of what is left of something that shrinks: beyond them it is nothing, and has no room beside money.
const SHRUNK: u8 = 40;

/// A number as it stands in a formula: `decimal(125, 2)` is 1.25.
pub fn decimal(mantissa: i64, scale: u8) -> Decimal {
    Decimal::new(i128::from(mantissa), scale)
}

pub fn count(n: u32) -> Decimal {
    Decimal::from(i64::from(n))
}

/// How many a list has.
pub fn count_of(length: usize) -> Decimal {
    i64::try_from(length).unwrap_or(i64::MAX).into()
}

pub fn one() -> Decimal {
    Decimal::from(1)
}

/// To 30 significant digits. Factors beyond the bounds of [`crate::economics::check`] do not come here.
pub fn product(factors: &[Decimal]) -> Decimal {
    factors.iter().fold(one(), |product, factor| {
        product.multiply(factor.normalize().significant(DIGITS)).normalize().significant(DIGITS)
    })
}

/// To 20 decimals; `None` where the divisor is nothing to that precision.
pub fn quotient(dividend: Decimal, divisor: Decimal) -> Option<Decimal> {
    dividend.divide(divisor.round(PLACES), PLACES).map(Decimal::normalize)
}

/// The smallest whole number that is not less.
pub fn ceiling(value: Decimal) -> Decimal {
    let rounded = value.round(0);
    if rounded < value { rounded + one() } else { rounded }
}

/// The largest whole number that is not more.
pub fn floor(value: Decimal) -> Decimal {
    -ceiling(-value)
}

/// A whole number as a count; the largest where it has no room, 0 where it is negative.
pub fn whole(value: Decimal) -> u32 {
    u32::try_from(value.max(Decimal::ZERO).round(0).mantissa()).unwrap_or(u32::MAX)
}

/// What one unit grows to: `(1 + rate)^periods`. Whole periods by multiplying; of what is left of one, the growth alone
/// is a binary float of 16 digits, which is added to 1. What shrinks is stated to 40 decimals.
pub fn growth(rate: Decimal, periods: Decimal) -> Decimal {
    let base = one() + rate;
    let complete = floor(periods);
    let mut grown = one();
    for _ in 0..whole(complete) {
        grown = shrunk(product(&[grown, base]));
    }
    let rest = periods - complete;
    if rest.is_zero() || rate.is_zero() {
        return grown;
    }
    let more = (float(rest) * float(rate).ln_1p()).exp_m1();
    shrunk(product(&[grown, one() + dimensionless(more).unwrap_or_default()]))
}

fn shrunk(value: Decimal) -> Decimal {
    if value.scale() > SHRUNK { value.round(SHRUNK).normalize() } else { value }
}

/// e^power. A binary float of 16 digits, so for factors only and never for money; `None` beyond 10^15.
pub fn exponential(power: Decimal) -> Option<Decimal> {
    dimensionless(float(power).exp())
}

/// (e^power − 1) ÷ power, which is 1 at 0 and rises. Of 16 digits, as [`exponential`].
pub fn growth_by(power: Decimal) -> Option<Decimal> {
    let power = float(power);
    if power == 0.0 { Some(one()) } else { dimensionless(power.exp_m1() / power) }
}

/// The natural logarithm, of 16 digits; `None` of what is not positive.
pub fn logarithm(of: Decimal) -> Option<Decimal> {
    dimensionless(float(of).ln())
}

/// The square root, of 16 digits; `None` of what is negative.
pub fn root(of: Decimal) -> Option<Decimal> {
    dimensionless(float(of).sqrt())
}

/// What a float says; `None` where it says nothing, or is too large to have digits after the point.
pub fn dimensionless(value: f64) -> Option<Decimal> {
    let is_sound = value.is_finite() && value.abs() < 1e15;
    let text = format!("{value:.25}");
    if is_sound { Decimal::parse(text.as_bytes()).ok().map(Decimal::normalize) } else { None }
}

pub fn float(value: Decimal) -> f64 {
    value.to_string().parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_below_and_above() {
        for (value, below, above) in
            [("2.1", 2, 3), ("3", 3, 3), ("0.5", 0, 1), ("1.5", 1, 2), ("-0.5", -1, 0)]
        {
            let value: Decimal = value.parse().unwrap();
            assert_eq!((floor(value), ceiling(value)), (below.into(), above.into()));
        }
    }

    #[test]
    fn growth_is_exact_over_whole_years_and_close_within_one() {
        let tenth = decimal(1, 1);
        assert_eq!(growth(tenth, 3.into()).to_string(), "1.331");
        // The square root of 1.21.
        let difference = growth(decimal(21, 2), decimal(5, 1)) - decimal(11, 1);
        assert!(difference.abs() < Decimal::new(1, 14));
        assert_eq!(growth(Decimal::ZERO, decimal(25, 1)), one());
        // A thousandth of a thousandth, and so on: nothing, at some time.
        assert_eq!(growth(decimal(-999, 3), 13.into()), Decimal::new(1, 39));
        assert_eq!(growth(decimal(-999, 3), 1200.into()), Decimal::ZERO);
    }

    #[test]
    fn floats_are_taken_for_factors_and_say_when_they_say_nothing() {
        let close = |found: Option<Decimal>, expected: &str| {
            let difference = found.unwrap() - expected.parse::<Decimal>().unwrap();
            assert!(difference.abs() < Decimal::new(1, 14), "{found:?} is not {expected}");
        };
        close(exponential(one()), "2.718281828459045");
        close(logarithm(10.into()), "2.302585092994046");
        close(root(2.into()), "1.414213562373095");
        close(growth_by(Decimal::ZERO), "1");
        close(growth_by(Decimal::new(1, 12)), "1.0000000000005");
        assert_eq!(
            (exponential(1000.into()), logarithm(Decimal::ZERO), root((-1).into())),
            (None, None, None)
        );
    }

    #[test]
    fn products_keep_thirty_digits() {
        let third = quotient(one(), 3.into()).unwrap();
        let cube = product(&[third, third, third]);
        assert!((cube - quotient(one(), 27.into()).unwrap()).abs() < Decimal::new(1, 19));
        assert_eq!(quotient(one(), Decimal::ZERO), None);
    }
}
