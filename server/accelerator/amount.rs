//! A number of accelerators, fractions included, exactly.

use std::fmt;
use std::str::FromStr;

use crate::money::Decimal;

/// Parts of one accelerator. A multiple of 1 to 12, 14, 15 and 16, so that every fraction that a cloud
/// rents (1/8 of an L4, 1/6 of an A10, 1/7 of an H100) is a whole number of parts.
pub const PARTS: i64 = 55_440;

/// The most accelerators one unit may hold; a rack has 72, a pod slice some thousands.
const MOST: i64 = 100_000;

/// A number of accelerators, held in whole parts of one ([`PARTS`]): sums are exact. Read from `8`,
/// `0.125`, `1/6`; written as a whole number or a reduced fraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Accelerators(i64);

/// A text that is no number of accelerators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a number of accelerators such as 8, 0.125 or 1/6")]
pub struct ParseAcceleratorsError;

impl Accelerators {
    pub const ONE: Self = Self(PARTS);

    /// `None` where the fraction is no whole number of parts (thirteenths), or beyond any machine.
    pub fn fraction(numerator: i64, denominator: i64) -> Option<Self> {
        let in_range = (0..=MOST * PARTS).contains(&numerator) && (1..=PARTS).contains(&denominator);
        if !in_range || numerator * PARTS % denominator != 0 {
            return None;
        }
        let parts = numerator * PARTS / denominator;
        (parts <= MOST * PARTS).then_some(Self(parts))
    }

    pub fn from_parts(parts: i64) -> Self {
        Self(parts)
    }

    pub fn parts(self) -> i64 {
        self.0
    }

    pub fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// Part-seconds (sums of quantity × parts × seconds, as PostgreSQL makes them) as accelerator-hours, rounded
/// half-even to `places`. The only division; nothing is added up after it.
pub fn accelerator_hours(part_seconds: Decimal, places: u8) -> Decimal {
    part_seconds.divide(Decimal::from(PARTS * 3600), places).unwrap_or(Decimal::ZERO)
}

impl fmt::Display for Accelerators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let divisor = greatest_common_divisor(self.0.abs(), PARTS);
        let (numerator, denominator) = (self.0 / divisor, PARTS / divisor);
        if denominator == 1 { write!(f, "{numerator}") } else { write!(f, "{numerator}/{denominator}") }
    }
}

impl FromStr for Accelerators {
    type Err = ParseAcceleratorsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let parsed = if let Some((numerator, denominator)) = text.split_once('/') {
            whole(numerator).zip(whole(denominator)).and_then(|(n, d)| Self::fraction(n, d))
        } else if let Some((units, places)) = text.split_once('.') {
            decimal(units, places)
        } else {
            whole(text).and_then(|n| Self::fraction(n, 1))
        };
        parsed.ok_or(ParseAcceleratorsError)
    }
}

/// `0.125` is a whole number of parts. `0.166667` is not, and stands for the simplest fraction that an
/// export would write so, 1/6, where it has three places or more.
fn decimal(units: &str, places: &str) -> Option<Accelerators> {
    if units.is_empty() && places.is_empty() {
        return None;
    }
    let units = if units.is_empty() { 0 } else { whole(units)? };
    let places = places.trim_end_matches('0');
    if places.is_empty() {
        return Accelerators::fraction(units, 1);
    }
    if places.len() > 9 || units > MOST {
        return None;
    }
    let scale = 10_i64.pow(u32::try_from(places.len()).ok()?);
    let value = units * scale + whole(places)?;
    if value % scale * PARTS % scale == 0 {
        return Some(Accelerators(units * PARTS + value % scale * PARTS / scale));
    }
    if places.len() < 3 {
        return None;
    }
    (1..=16).find_map(|denominator| {
        let numerator = (value * denominator + scale / 2) / scale;
        let error = (value * denominator - numerator * scale).abs();
        // Truncated or rounded in the last place: less than one unit of it away.
        (error < denominator).then(|| Accelerators::fraction(numerator, denominator)).flatten()
    })
}

fn whole(text: &str) -> Option<i64> {
    let text = text.trim();
    let is_number = (1..=12).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_reads_and_writes_fractions() {
        for (text, written) in [
            ("8", "8"),
            ("8.0", "8"),
            ("0.125", "1/8"),
            (".5", "1/2"),
            ("1/6", "1/6"),
            ("2/12", "1/6"),
            ("0.166667", "1/6"),
            ("0.333333", "1/3"),
            ("0.3333", "1/3"),
            ("0.0625", "1/16"),
            ("0.143", "1/7"),
            ("2.5", "5/2"),
            ("0", "0"),
            (" 4 ", "4"),
        ] {
            assert_eq!(text.parse::<Accelerators>().unwrap().to_string(), written, "{text}");
        }
    }

    #[test]
    fn it_refuses_what_is_no_count() {
        for text in [
            "",
            ".",
            ".x",
            "-1",
            "1/0",
            "1/13",
            "eight",
            "1e3",
            "0.37",
            "99999999999999",
            "1/2/3",
            "1,5",
            "NA",
        ] {
            assert!(text.parse::<Accelerators>().is_err(), "{text}");
        }
    }

    #[test]
    fn it_divides_into_parts_without_rest() {
        for n in (1..=12).chain([14, 15, 16]) {
            let one = Accelerators::fraction(1, n).unwrap();
            assert_eq!(one.parts() * n, PARTS, "1/{n}");
        }
    }

    #[test]
    fn it_sums_sixths_of_an_hour_exactly() {
        let sixth: Accelerators = "1/6".parse().unwrap();
        let part_seconds: Decimal = (0..6).map(|_| Decimal::from(3600).times(sixth.parts())).sum();
        assert_eq!(accelerator_hours(part_seconds, 6), Decimal::from(1));
    }

    proptest! {
        #[test]
        fn it_reads_what_it_writes(parts in 0..8 * PARTS) {
            let count = Accelerators::from_parts(parts);
            prop_assert_eq!(count.to_string().parse::<Accelerators>().unwrap(), count);
        }

        #[test]
        fn it_never_panics(text in ".{0,30}", digits in "[0-9./]{0,20}") {
            let _ = text.parse::<Accelerators>();
            let _ = digits.parse::<Accelerators>();
        }
    }
}
