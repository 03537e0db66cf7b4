//! Internal prices: what teams are charged for GPU-hours of the organization's own machines instead of what these cost. Pure.
//!
//! A rate of a rate card for the provider On-premises is such a price. Where each GPU-hour of a cluster's month has one, every key of
//! that month is charged by it: keys of accelerators for their hours, all others (energy, space, people) nothing. What this leaves of
//! the cost, or takes beyond it, is one charge of the month ([`DIFFERENCE`]), so that the month still costs what it costs. Cost
//! accounting knows it as under- or over-absorbed overhead.
//!
//! Billed cost is what was paid to others, and stays as it is.

use std::sync::Arc;

use chrono::NaiveDate;

use super::bill::{Bill, TooLong};
use crate::accelerator::recognize;
use crate::billing::{BilledDay, ChargeKey, Costs, PricingCategory};
use crate::money::Decimal;
use crate::onprem::PROVIDER;
use crate::period::BillingMonth;
use crate::rating::{Pricing, Rate, Rates, Usage};

/// The service of what internal prices leave of a month's cost.
pub const DIFFERENCE: &str = "Internal price difference";
const WHY: &str = "Internal price instead of cost";

/// Of all rates those that are internal prices.
pub fn internal_rates<'r>(rates: impl IntoIterator<Item = &'r Rate>) -> Vec<Rate> {
    rates.into_iter().filter(|it| it.provider.eq_ignore_ascii_case(PROVIDER)).cloned().collect()
}

/// What keeps a month from being charged by internal prices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unpriced {
    #[error("an internal price times its hours has more digits than amounts hold")]
    TooLong,
    #[error(
        "no internal price for {machine} on {day}: enter one for each day of the month, until then its cost is charged"
    )]
    Hours { machine: String, day: NaiveDate },
}

/// Goes over the days of a cluster's month, in their order: tiers are counted from the first one on.
pub struct InternalPricing {
    month: BillingMonth,
    pricing: Pricing,
    has_prices: bool,
    /// The first that was met.
    unpriced: Option<Unpriced>,
}

impl InternalPricing {
    pub fn new(month: BillingMonth, rates: &Arc<Rates>) -> Self {
        Self { month, pricing: Pricing::new(Arc::clone(rates)), has_prices: false, unpriced: None }
    }

    /// What a key's day is charged more by internal prices than it costs.
    pub fn difference(&mut self, day: &BilledDay) -> Decimal {
        let Some(stored) = day.accelerator.filter(|_| !day.quantity.is_zero()) else {
            return -day.effective;
        };
        // The ledger keeps a name that models share, and a price may be for one of them.
        let accelerator = recognize(&day.key).unwrap_or(stored);
        let usage = Usage {
            key: &day.key,
            accelerator: Some(accelerator),
            month: self.month,
            day: day.day,
            quantity: day.quantity,
            key_id: day.key_id,
        };
        let Some(price) = self.pricing.price(usage) else {
            let machine = day.key.instance_type.clone();
            self.unpriced.get_or_insert(Unpriced::Hours { machine, day: day.day });
            return Decimal::ZERO;
        };
        self.has_prices = true;
        price.checked_sub(day.effective).unwrap_or_else(|_| {
            self.unpriced = Some(Unpriced::TooLong);
            Decimal::ZERO
        })
    }

    /// Whether the month is charged by internal prices: true where each hour has one, false where none has.
    ///
    /// # Errors
    /// What keeps it from being so where some hours have one.
    pub fn finish(self) -> Result<bool, Unpriced> {
        match self.unpriced {
            Some(Unpriced::TooLong) => Err(Unpriced::TooLong),
            Some(unpriced) if self.has_prices => Err(unpriced),
            Some(_) => Ok(false),
            None => Ok(self.has_prices),
        }
    }
}

impl Bill<'_> {
    /// Charges a key's day by so much more than it costs.
    pub fn charge_internally(&mut self, day: &BilledDay, difference: Decimal) -> Result<(), TooLong> {
        let left = self.left.entry(day.key.currency.clone()).or_default();
        *left = left.checked_sub(difference).map_err(|_| TooLong)?;
        self.write(day, of_effective(difference), WHY);
        Ok(())
    }

    /// Charges what internal prices leave of a cluster's month, behind its last day.
    pub fn charge_difference(&mut self, cluster: &str) {
        for (currency, left) in std::mem::take(&mut self.left) {
            let key = ChargeKey {
                provider: PROVIDER.to_owned(),
                billing_account: cluster.to_owned(),
                service: DIFFERENCE.to_owned(),
                // It is part of what the machines cost, which an hour of them costs in all.
                pricing: PricingCategory::Owned,
                currency,
                ..ChargeKey::default()
            };
            let why = if left.is_negative() {
                "Internal prices amount to more than the cost of the month"
            } else {
                "Cost of the month that internal prices do not cover"
            };
            self.of_month(key, of_effective(left), why);
        }
    }
}

fn of_effective(effective: Decimal) -> Costs {
    Costs {
        billed: Decimal::ZERO,
        effective,
        // Nobody else sells it, so that both are the effective cost.
        list: effective,
        contracted: effective,
    }
}
