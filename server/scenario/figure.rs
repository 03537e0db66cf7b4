//! A figure that opens into what it was computed from.

use serde::Serialize;

use crate::money::Decimal;

/// An answer with its formula, and the numbers that stand in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// As a person reads it.
    pub name: &'static str,
    /// None: undefined, as the cost of an hour is where there are no hours.
    pub value: Option<Decimal>,
    pub unit: Unit,
    /// How it comes about, over the names of its terms.
    pub formula: &'static str,
    pub terms: Vec<Term>,
}

/// A number in a formula.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Term {
    pub name: &'static str,
    pub value: Decimal,
    pub unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    Money,
    MoneyPerYear,
    MoneyPerMonth,
    MoneyPerHour,
    MoneyPerKwh,
    MoneyPerKwMonth,
    MoneyPerGigabyte,
    MoneyPerMillionTokens,
    /// Money for an hour at 10^15 operations a second.
    MoneyPerPetaflopHour,
    Kilowatts,
    Hours,
    Years,
    Months,
    Days,
    Weeks,
    /// 10^9 bytes.
    Gigabytes,
    Bytes,
    Tokens,
    TokensPerSecond,
    /// Events in an hour.
    PerHour,
    /// Of 1.
    Share,
    /// Of 1, in a year.
    SharePerYear,
    /// How many, or how many times.
    Number,
}

pub(crate) fn term(name: &'static str, value: Decimal, unit: Unit) -> Term {
    Term { name, value, unit }
}
