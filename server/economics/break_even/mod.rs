//! From which utilization on owning costs less than renting, and at which price.
//!
//! A year of owning costs A(u) = F + V × u: what utilization does not move, and what it does. What renting costs depends
//! on what a price is paid for, so a price says that first ([`Payment`]):
//!
//! - *per use* at p: the hours that are used. An hour of renting is worth κ hours of owning, where κ = (performance ÷
//!   rework of renting) ÷ (performance ÷ rework of owning). Owning is cheaper above u* = F ÷ (available hours × p ÷ κ −
//!   V), which exists where the divisor is positive; and at a given u, below the price p* = A(u) × κ ÷ (available hours
//!   × u).
//! - *committed* at r: every hour of the term, used or not. Utilization is on both sides and cancels but for V: owning is
//!   cheaper below u* = (owned hours × r ÷ κ − F) ÷ V, which mostly is more than 1 or less than 0. What is left is the
//!   ratio A(u) × κ ÷ (owned hours × r) and the price r* = A(u) × κ ÷ owned hours.
//!
//! It is break-even analysis as in any textbook of managerial accounting (fixed costs ÷ contribution).

use serde::Serialize;

use super::check::{self, Refused};
use crate::money::Decimal;
use crate::money::arithmetic::{product, quotient};
use crate::price_catalogue::Payment;

/// What a year of owning costs by utilization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct YearlyCost {
    /// F, money a year.
    pub fixed: Decimal,
    /// V, money a year for a utilization of 1.
    pub variable: Decimal,
    /// GPU-hours a year.
    pub owned_hours: Decimal,
    /// GPU-hours a year without downtime.
    pub available_hours: Decimal,
}

/// What owning is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Question {
    pub payment: Payment,
    /// κ: productive hours of owning that one of renting is worth. 1: the same.
    pub efficiency: Decimal,
    /// u, at which prices are compared.
    pub utilization: Decimal,
    /// What utilization can reach. What takes more is never.
    pub most: Decimal,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "paid", rename_all = "kebab-case")]
pub enum BreakEven {
    PerUse {
        verdict: Verdict,
        /// p*: owning is cheaper than any price above it. None without utilization.
        price: Option<Decimal>,
    },
    Committed {
        verdict: Within,
        /// A(u) ÷ what the commitment costs: owning is cheaper below 1. None without hours.
        ratio: Option<Decimal>,
        /// r*: owning is cheaper than any commitment above it. None without hours.
        price: Option<Decimal>,
    },
}

/// At which utilization owning costs less than a commitment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Within {
    /// At any.
    Always,
    /// Below this one: above it, what work adds to the cost of owning makes the difference.
    Below { utilization: Decimal },
    /// At none.
    Never,
    /// Nothing is owned, so there is nothing to compare.
    Undefined,
}

/// Whether owning costs less at some point than paying per use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Verdict {
    /// From this utilization on.
    At { utilization: Decimal },
    /// Not within what utilization can reach. What it would take, where some number would do.
    Never { would_take: Option<Decimal> },
    /// Nothing is owned, so there is nothing to compare.
    Undefined,
}

impl YearlyCost {
    /// A(u), money a year.
    pub fn at(&self, utilization: Decimal) -> Decimal {
        self.fixed + product(&[self.variable, utilization])
    }

    /// c(u), money for a productive hour; none without any.
    pub fn per_productive_hour(&self, utilization: Decimal) -> Option<Decimal> {
        quotient(self.at(utilization), product(&[self.available_hours, utilization]))
    }

    /// Compares it with renting.
    ///
    /// # Errors
    /// What cannot be compared with, in words.
    pub fn break_even(&self, question: &Question) -> Result<BreakEven, Refused> {
        check::question(question).warnings_or_refused()?;
        let Question { efficiency, utilization, most, .. } = *question;
        Ok(match question.payment {
            Payment::PerUse { price } => BreakEven::PerUse {
                verdict: self.verdict(price, efficiency, most),
                price: self.per_productive_hour(utilization).map(|cost| product(&[cost, efficiency])),
            },
            Payment::Committed { price } => {
                let cost = self.at(utilization);
                // What the term costs for as many hours of this cluster's work.
                let hours = quotient(self.owned_hours, efficiency);
                let own = hours.and_then(|hours| quotient(cost, hours));
                let ratio = own.and_then(|own| quotient(own, price));
                BreakEven::Committed { verdict: self.within(price, efficiency), ratio, price: own }
            }
        })
    }

    fn within(&self, price: Decimal, efficiency: Decimal) -> Within {
        let Some(rented) = quotient(product(&[self.owned_hours, price]), efficiency) else {
            return Within::Undefined;
        };
        let left = rented - self.fixed;
        if self.owned_hours.is_zero() {
            Within::Undefined
        } else if left <= Decimal::ZERO {
            Within::Never
        } else if left >= self.variable {
            Within::Always
        } else {
            // Between them, V is more than 0.
            quotient(left, self.variable)
                .map_or(Within::Undefined, |utilization| Within::Below { utilization })
        }
    }

    fn verdict(&self, price: Decimal, efficiency: Decimal, most: Decimal) -> Verdict {
        if self.available_hours.is_zero() {
            return Verdict::Undefined;
        }
        // What an hour of utilization saves.
        let saved = quotient(price, efficiency)
            .map_or(Decimal::ZERO, |worth| product(&[self.available_hours, worth]) - self.variable);
        if saved <= Decimal::ZERO {
            return Verdict::Never { would_take: None };
        }
        match quotient(self.fixed, saved) {
            // What costs nothing at rest, or brings something, is cheaper from the first hour on.
            Some(utilization) if utilization <= most => {
                Verdict::At { utilization: utilization.max(Decimal::ZERO) }
            }
            would_take => Verdict::Never { would_take },
        }
    }
}

#[cfg(test)]
mod tests;
