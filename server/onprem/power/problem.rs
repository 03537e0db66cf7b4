//! What is wrong with what was entered.

use std::fmt::Display;

use crate::money::Decimal;

/// What a field holds, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: found {found:?}, expected {expected}")]
pub struct Problem {
    pub field: String,
    pub found: String,
    pub expected: String,
}

impl Problem {
    pub(super) fn new(field: impl Into<String>, found: impl Display, expected: impl Into<String>) -> Self {
        Self { field: field.into(), found: found.to_string(), expected: expected.into() }
    }
}

/// Whether a number has no more digits before and after its point. Products of what fits stay exact.
pub(super) fn fits(number: Decimal, whole: usize, places: u8) -> bool {
    let number = number.abs().normalize();
    let digits = number.to_string();
    let before = digits.split('.').next().unwrap_or_default();
    before.len() <= whole && number.scale() <= places
}

/// Digits of a price before its point, in the smallest currency too.
pub(super) const PRICE_WHOLE: usize = 9;
/// Digits of a price after its point.
pub(super) const PRICE_PLACES: u8 = 12;
/// Digits of kilowatts before and after the point: no site draws a terawatt, and none counts below a milliwatt.
pub(super) const KILOWATT_WHOLE: usize = 9;
pub(in super::super) const KILOWATT_PLACES: u8 = 6;

/// A price of the field, which may be negative only where markets make it so.
pub(super) fn price(field: &str, price: Decimal, may_be_negative: bool) -> Option<Problem> {
    let is_right = fits(price, PRICE_WHOLE, PRICE_PLACES) && (may_be_negative || !price.is_negative());
    let expected =
        if may_be_negative { "a price such as 0.085" } else { "a price of zero or more such as 15" };
    let digits =
        format!("{expected}, of at most {PRICE_WHOLE} digits before and {PRICE_PLACES} after the point");
    (!is_right).then(|| Problem::new(field, price, digits))
}

/// Kilowatts of the field.
pub(super) fn kilowatts(field: &str, kilowatts: Decimal) -> Option<Problem> {
    let is_right = fits(kilowatts, KILOWATT_WHOLE, KILOWATT_PLACES) && !kilowatts.is_negative();
    (!is_right).then(|| {
        let expected =
            format!("kilowatts such as 8.4, at most {KILOWATT_WHOLE} digits before and {KILOWATT_PLACES} after the point");
        Problem::new(field, kilowatts, expected)
    })
}
