//! What is wrong or odd about what was entered, in words for whoever entered it.
//!
//! What cannot be computed with is refused; what can, but is probably a mistake (a unit, a cost that is counted twice),
//! is a warning beside the answer.

mod commitment;
mod demand;
mod fit;
mod owning;
mod path;
mod prices;
mod scenario;
mod serving;
mod shape;
mod silicon;
mod sizing;
mod slices;
mod spot;
mod transfer;
mod twice;
mod usual;
mod vectors;
mod work_unit;

use std::fmt;
use std::ops::RangeBounds;

use serde::Serialize;

use super::break_even::Question;
use crate::money::Decimal;
use crate::money::arithmetic::{decimal, one};
use crate::price_catalogue::Payment;

pub use commitment::commitment;
pub use demand::demand;
pub use fit::fit;
pub use owning::owning;
pub use path::{lock_in, path, refresh};
pub use prices::prices;
pub use scenario::{scenario, too_many};
pub use serving::{interface, lifetime, serving};
pub use silicon::porting;
pub use sizing::service;
pub use slices::{layout, turns};
pub use spot::spot;
pub(in crate::economics) use transfer::MOST_GIGABYTES;
pub use transfer::transfer;
pub use usual::{owning_prices, transfer_prices, vectors_prices};
pub use vectors::vectors;
pub use work_unit::{offers, performances};

/// The largest amount of money that is computed with: a trillion.
const MOST_MONEY: i64 = 1_000_000_000_000;
/// GPUs that are computed with at most.
const MOST_GPUS: i64 = 1_000_000;
/// Decimals of an input beyond which it was not typed by anyone.
const MOST_PLACES: u8 = 20;

/// What was found in a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub severity: Severity,
    /// `staff.loaded_cost`.
    pub field: String,
    /// As it was entered.
    pub found: String,
    /// Why it is odd, and what would not be.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// It cannot be computed with.
    Refusal,
    /// It can, and is probably not what was meant.
    Warning,
}

/// Everything that was found, refusals first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Findings(Vec<Finding>);

/// Why nothing was computed: at least one refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(transparent)]
pub struct Refused(pub Vec<Finding>);

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}: {}", self.field, self.found, self.message)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let described: Vec<String> = self.0.iter().map(Finding::to_string).collect();
        f.write_str(&described.join("; "))
    }
}

impl Findings {
    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// # Errors
    /// The refusals, where there are any.
    pub fn warnings_or_refused(self) -> Result<Vec<Finding>, Refused> {
        let (refusals, warnings): (Vec<_>, Vec<_>) =
            self.0.into_iter().partition(|finding| finding.severity == Severity::Refusal);
        if refusals.is_empty() { Ok(warnings) } else { Err(Refused(refusals)) }
    }

    fn add(&mut self, severity: Severity, field: &str, found: impl fmt::Display, message: &str) {
        let (field, found, message) = (field.to_owned(), found.to_string(), message.to_owned());
        self.0.push(Finding { severity, field, found, message });
    }

    /// How many there are so far.
    fn refusals(&self) -> usize {
        self.0.iter().filter(|it| it.severity == Severity::Refusal).count()
    }

    /// What is found of something that stands in a field: its own fields are named from there, and no name is all of it.
    fn within<R>(&mut self, field: impl fmt::Display, check: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.0.len();
        let checked = check(self);
        for it in &mut self.0[before..] {
            it.field = if it.field.is_empty() { field.to_string() } else { format!("{field}.{}", it.field) };
        }
        checked
    }

    /// The same of each in a list.
    fn each<'a, T>(&mut self, list: &str, all: &'a [T], mut check: impl FnMut(&'a T, &mut Self)) {
        for (at, it) in all.iter().enumerate() {
            self.within(format_args!("{list}.{at}"), |found| check(it, found));
        }
    }

    /// What was found of something by itself.
    fn add_all(&mut self, found: Self) {
        self.0.extend(found.0);
    }

    fn refuse(&mut self, field: &str, found: impl fmt::Display, message: &str) {
        self.add(Severity::Refusal, field, found, message);
    }

    fn warn(&mut self, field: &str, found: impl fmt::Display, message: &str) {
        self.add(Severity::Warning, field, found, message);
    }

    /// Refuses what is not between two numbers, both included, or has more digits than anyone enters.
    fn between(&mut self, field: &str, found: Decimal, least: Decimal, most: Decimal, message: &str) -> bool {
        if found < least || found > most {
            self.refuse(field, found, message);
            return false;
        }
        if found.normalize().scale() > MOST_PLACES {
            self.refuse(field, found, "expected at most 20 digits after the point");
            return false;
        }
        true
    }

    /// Refuses a whole number that is in no range.
    fn whole<N: fmt::Display + PartialOrd>(
        &mut self,
        field: &str,
        found: N,
        range: impl RangeBounds<N>,
        message: &str,
    ) -> bool {
        let fits = range.contains(&found);
        if !fits {
            self.refuse(field, found, message);
        }
        fits
    }

    /// An amount of money.
    fn money(&mut self, field: &str, found: Decimal) -> bool {
        self.between(
            field,
            found,
            Decimal::ZERO,
            MOST_MONEY.into(),
            "expected an amount from 0 to a trillion",
        )
    }

    /// What an hour of a GPU costs that is not for nothing.
    fn price(&mut self, field: &str, found: Decimal) {
        if self.money(field, found) && found.is_zero() {
            self.refuse(field, found, "expected the price of a GPU-hour, above 0");
        }
    }

    /// An amount of money, or below zero what comes back.
    fn money_or_rebate(&mut self, field: &str, found: Decimal) -> bool {
        let most = Decimal::from(MOST_MONEY);
        self.between(field, found, -most, most, "expected an amount up to a trillion; negative for a rebate")
    }

    /// A share of 1.
    fn share(&mut self, field: &str, found: Decimal) -> bool {
        self.between(field, found, Decimal::ZERO, one(), "expected a share from 0 to 1 (0.8 for 80%)")
    }

    /// A share of 1, and not all of it.
    fn part(&mut self, field: &str, found: Decimal) -> bool {
        let is_part = self.share(field, found);
        if found == one() {
            self.refuse(field, found, "expected less than 1");
            return false;
        }
        is_part
    }

    /// What money costs in a year.
    fn cost_of_capital(&mut self, found: Decimal) {
        let message = "expected 0 to 1 (0.1 for 10%)";
        self.between("cost_of_capital", found, Decimal::ZERO, one(), message);
    }

    fn sorted(mut self) -> Self {
        self.0.sort_by_key(|finding| finding.severity);
        self
    }
}

/// What is odd about what owning is compared with.
pub fn question(question: &Question) -> Findings {
    let mut found = Findings::default();
    let (Payment::PerUse { price } | Payment::Committed { price }) = question.payment;
    found.price("price", price);
    let efficiency = (decimal(1, 2), Decimal::from(100));
    let message = "expected 0.01 to 100 productive owned hours per rented hour, mostly about 1";
    found.between("efficiency", question.efficiency, efficiency.0, efficiency.1, message);
    found.share("utilization", question.utilization);
    found.share("most", question.most);
    found.sorted()
}

#[cfg(test)]
mod tests;
