//! Internal prices: what teams are charged for GPU-hours of the organization's own machines instead of what these cost. Pure.
//!
//! A rate of a rate card for the provider On-premises is such a price. Where each GPU-hour of a cluster's month has one, every key of
//! that month is charged by it: keys of accelerators for their hours, all others (energy, space, people) nothing. What this leaves of
//! the cost, or takes beyond it, is one charge of the month ([`DIFFERENCE`]), so that the month still costs what it costs. Cost
//! accounting knows it as under- or over-absorbed overhead.
//!
//! Billed cost is what was paid to others, and stays as it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::NaiveDate;

use super::bill::{Bill, BilledDay, TooLong};
use crate::billing::{AdjustmentCosts, ChargeKey};
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
    #[error("it has no GPU-hours that an internal price could be for")]
    NoHours,
}

impl From<TooLong> for Unpriced {
    fn from(TooLong: TooLong) -> Self {
        Self::TooLong
    }
}

/// What each key's day is charged more by internal prices than it costs. Puts the days in their order, in which tiers are counted.
pub fn differences(
    days: &mut [BilledDay],
    month: BillingMonth,
    rates: &Arc<Rates>,
) -> Result<Vec<Decimal>, Unpriced> {
    days.sort_by_key(|it| (it.day, it.key_id));
    let mut pricing = Pricing::new(Arc::clone(rates));
    let mut differences = Vec::with_capacity(days.len());
    let mut has_hours = false;
    for it in days {
        let priced = match it.accelerator.filter(|_| !it.quantity.is_zero()) {
            None => Decimal::ZERO,
            Some(accelerator) => {
                has_hours = true;
                let usage = Usage {
                    key: &it.key,
                    accelerator: Some(accelerator),
                    month,
                    day: it.day,
                    quantity: it.quantity,
                    key_id: it.key_id,
                };
                let unpriced = || Unpriced::Hours { machine: it.key.instance_type.clone(), day: it.day };
                pricing.price(usage).ok_or_else(unpriced)?
            }
        };
        differences.push(priced.checked_sub(it.effective).map_err(|_| TooLong)?);
    }
    if has_hours { Ok(differences) } else { Err(Unpriced::NoHours) }
}

impl Bill<'_> {
    /// Charges the days of a cluster's month by internal prices, and what these leave of its cost.
    pub fn charge_internally(
        &mut self,
        days: &[BilledDay],
        differences: &[Decimal],
        cluster: &str,
    ) -> Result<(), TooLong> {
        let of_effective = |effective| AdjustmentCosts {
            billed: Decimal::ZERO,
            effective,
            // Nobody else sells it, so that both are the effective cost.
            list: effective,
            contracted: effective,
        };
        let mut left: BTreeMap<&str, Decimal> = BTreeMap::new();
        for (day, difference) in days.iter().zip(differences) {
            let left = left.entry(&day.key.currency).or_default();
            *left = left.checked_sub(*difference).map_err(|_| TooLong)?;
            self.write(day, of_effective(*difference), WHY);
        }
        for (currency, left) in left {
            let key = ChargeKey {
                provider: PROVIDER.to_owned(),
                billing_account: cluster.to_owned(),
                service: DIFFERENCE.to_owned(),
                currency: currency.to_owned(),
                ..ChargeKey::default()
            };
            let why = if left.is_negative() {
                "Internal prices amount to more than the cost of the month"
            } else {
                "Cost of the month that internal prices do not cover"
            };
            self.of_month(key, of_effective(left), why);
        }
        Ok(())
    }
}
