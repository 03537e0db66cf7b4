//! Months of a cluster added up: by component, with on-prem GPU-hours and energy. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::cost_lines::{Component, Line};
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// What a month amounts to in one currency.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MonthSummary {
    pub month: BillingMonth,
    pub currency: Currency,
    pub billed: Decimal,
    pub effective: Decimal,
    /// Effective cost; the parts sum to it.
    pub components: BTreeMap<Component, Decimal>,
    /// Accelerator-hours in service, whoever used them.
    pub owned_hours: Decimal,
    /// Energy at the site, where it is charged.
    pub kwh: Decimal,
    /// How much of that was measured.
    pub measured_kwh: Decimal,
    /// Billed and effective cost of each line without its sign: how much of the month is in this currency.
    #[serde(skip)]
    pub moved: Decimal,
}

impl MonthSummary {
    /// Of the lines in this currency; hours and energy are those of all.
    pub fn of(month: BillingMonth, lines: &[Line], currency: &Currency) -> Self {
        let mut it = Self {
            month,
            currency: currency.clone(),
            billed: Decimal::ZERO,
            effective: Decimal::ZERO,
            components: BTreeMap::new(),
            owned_hours: owned_hours(lines),
            kwh: Decimal::ZERO,
            measured_kwh: Decimal::ZERO,
            moved: Decimal::ZERO,
        };
        for line in lines {
            if let (Component::Energy, Some((kwh, _))) = (line.component, line.quantity) {
                it.kwh += kwh;
                if line.basis == super::cost_lines::Basis::Measured {
                    it.measured_kwh += kwh;
                }
            }
            if line.currency == *currency {
                it.billed += line.billed;
                it.effective += line.effective;
                it.moved += line.effective.abs() + line.billed.abs();
                *it.components.entry(line.component).or_default() += line.effective;
            }
        }
        it.components.retain(|_, amount| !amount.is_zero());
        it
    }

    /// In each currency of the lines, the one with the most cost first.
    pub fn by_currency(month: BillingMonth, lines: &[Line]) -> Vec<Self> {
        let known: BTreeSet<&Currency> = lines.iter().map(|line| &line.currency).collect();
        let mut summaries: Vec<Self> =
            known.into_iter().map(|currency| Self::of(month, lines, currency)).collect();
        summaries.sort_by(|a, b| b.moved.cmp(&a.moved).then_with(|| a.currency.cmp(&b.currency)));
        summaries
    }

    /// What an accelerator-hour in service costs; `None` without any.
    pub fn per_owned_hour(&self) -> Option<Decimal> {
        self.effective.divide(self.owned_hours, 12)
    }
}

/// Accelerator-hours in service.
pub fn owned_hours(lines: &[Line]) -> Decimal {
    let hours = lines.iter().filter_map(|line| {
        let (machine, (hours, _)) = (line.machine.as_ref()?, line.quantity?);
        Some(hours.times(i64::from(machine.accelerators)))
    });
    hours.sum()
}

/// The currencies of months, the one with the most cost first.
pub fn currencies<'a>(months: impl IntoIterator<Item = &'a MonthSummary>) -> Vec<Currency> {
    let mut sums: BTreeMap<&Currency, Decimal> = BTreeMap::new();
    for month in months {
        *sums.entry(&month.currency).or_default() += month.moved;
    }
    let mut sums: Vec<(&Currency, Decimal)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    sums.into_iter().map(|(currency, _)| currency.clone()).collect()
}
