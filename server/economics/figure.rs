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
    MoneyPerWeek,
    MoneyPerGigabyte,
    MoneyPerGibibyte,
    /// Of memory.
    MoneyPerGigabyteHour,
    MoneyPerMillionTokens,
    /// Money for an hour at 10^15 operations a second.
    MoneyPerPetaflopHour,
    /// Money for whatever work is counted in.
    MoneyPerUnitOfWork,
    Kilowatts,
    Minutes,
    Hours,
    Years,
    Months,
    Days,
    Weeks,
    /// 10^9 bytes.
    Gigabytes,
    /// 2^30 bytes.
    Gibibytes,
    /// 10^9 bytes a second.
    GigabytesPerSecond,
    /// 10^9 bits a second.
    GigabitsPerSecond,
    Bytes,
    /// 10^12 operations a second.
    Teraflops,
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

impl Unit {
    /// Whether it counts money, by itself or for something.
    pub fn is_money(self) -> bool {
        matches!(
            self,
            Self::Money
                | Self::MoneyPerYear
                | Self::MoneyPerMonth
                | Self::MoneyPerHour
                | Self::MoneyPerKwh
                | Self::MoneyPerKwMonth
                | Self::MoneyPerWeek
                | Self::MoneyPerGigabyte
                | Self::MoneyPerGibibyte
                | Self::MoneyPerGigabyteHour
                | Self::MoneyPerMillionTokens
                | Self::MoneyPerPetaflopHour
                | Self::MoneyPerUnitOfWork
        )
    }
}

pub(crate) fn term(name: &'static str, value: Decimal, unit: Unit) -> Term {
    Term { name, value, unit }
}

pub(crate) fn figure(
    name: &'static str,
    value: Option<Decimal>,
    unit: Unit,
    formula: &'static str,
    terms: Vec<Term>,
) -> Figure {
    Figure { name, value, unit, formula, terms }
}
