//! What adjusts the charges of a bill, and by how much. Pure.
//!
//! | what | rule |
//! |---|---|
//! | base | what the bill itself charges, taxes left out: no adjustment is computed of another |
//! | percentage | of the billed, effective and contracted cost of each key and day, exact; the list cost is what the provider publishes and stays |
//! | minimum | what the billed costs of the month are below it, where the bill has its currency: one charge of the whole month, once the month is over |

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use uuid::Uuid;

use super::entry::{Adjustment, Terms};
use crate::billing::{
    BilledDay, ChargeCategory, ChargeKey, ComputedBill, ComputedCharge, ComputedFile, Costs,
};
use crate::money::Decimal;
use crate::period::{BillingMonth, ChargePeriod};

/// The service of what is charged for a minimum: no service of the provider is behind it.
pub const MINIMUM: &str = "Monthly minimum";

/// More digits than an amount has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Computes the adjustments of a bill, row by row.
pub(super) struct Bill<'a> {
    month: BillingMonth,
    entries: Vec<&'a Adjustment>,
    /// Billed cost without taxes, by currency.
    billed: BTreeMap<String, Decimal>,
    /// What internal prices leave of the cost, by currency.
    pub(super) left: BTreeMap<String, Decimal>,
    /// What could not be charged, and why.
    pub notes: Vec<String>,
    pub file: ComputedFile,
    pub rows: u64,
}

impl<'a> Bill<'a> {
    pub fn new(month: BillingMonth, is_final: bool, entries: Vec<&'a Adjustment>) -> Self {
        Self {
            month,
            entries,
            billed: BTreeMap::new(),
            left: BTreeMap::new(),
            notes: Vec::new(),
            file: ComputedFile::new(ComputedBill::Adjustments, month, is_final),
            rows: 0,
        }
    }

    /// Adjusts what a key cost on a day by each percentage.
    pub fn add(&mut self, day: &BilledDay) -> Result<(), TooLong> {
        if day.key.category == ChargeCategory::Tax {
            return Ok(());
        }
        let billed = self.billed.entry(day.key.currency.clone()).or_default();
        *billed = billed.checked_add(day.billed).map_err(|_| TooLong)?;
        for at in 0..self.entries.len() {
            let entry = self.entries[at];
            let Some(factor) = entry.terms.factor() else { continue };
            let part = |cost: Decimal| {
                let exact = cost.checked_multiply(factor).ok()?.normalize();
                exact.as_amount().filter(|it| *it == exact)
            };
            let costs = Costs {
                billed: part(day.billed).ok_or(TooLong)?,
                effective: part(day.effective).ok_or(TooLong)?,
                list: Decimal::ZERO,
                contracted: part(day.contracted).ok_or(TooLong)?,
            };
            self.write(day, costs, &format!("{}: {}", entry.terms.words(), entry.reason));
        }
        Ok(())
    }

    /// Writes what a key's day is adjusted by.
    pub fn write(&mut self, day: &BilledDay, costs: Costs, why: &str) {
        if costs.is_zero() {
            return;
        }
        let BilledDay { key, resource_id, tags, .. } = day;
        let period = if day.is_whole_period { whole(self.month) } else { of_day(day.day) };
        let category = ChargeCategory::Adjustment;
        self.file.write(&ComputedCharge {
            key,
            category,
            resource_id,
            tags,
            period,
            costs,
            quantity: None,
            hours: &[],
            why,
        });
        self.rows += 1;
    }

    /// Charges what minimums lack, behind the last day. `is_over`: nothing more of the month is to come.
    pub fn finish(&mut self, provider: &str, billing_account: &str, is_over: bool) -> Result<(), TooLong> {
        for at in 0..self.entries.len() {
            let entry = self.entries[at];
            let Terms::Minimum { currency, .. } = &entry.terms else { continue };
            let billed = self.billed.get(currency.as_str()).copied().unwrap_or_default();
            // As if nothing were billed, the whole minimum would be charged.
            if !self.billed.contains_key(currency.as_str()) {
                let currencies = self.billed.keys().map(String::as_str).collect::<Vec<_>>().join(" and ");
                if !currencies.is_empty() {
                    self.notes.push(format!("a minimum is in {currency}, and the bill in {currencies}"));
                }
                continue;
            }
            let lacking = entry.terms.lacking(currency.as_str(), billed).map_err(|_| TooLong)?;
            if !is_over || lacking.is_zero() {
                continue;
            }
            let key = ChargeKey {
                provider: provider.to_owned(),
                billing_account: billing_account.to_owned(),
                service: MINIMUM.to_owned(),
                currency: currency.to_string(),
                ..ChargeKey::default()
            };
            // What was billed in all is nothing for a lead whose team bears it.
            let why = format!("{}: {}", entry.terms.words(), entry.reason);
            let costs =
                Costs { billed: lacking, effective: lacking, list: Decimal::ZERO, contracted: lacking };
            self.of_month(key, costs, &why);
        }
        Ok(())
    }

    /// Writes what the month as a whole is adjusted by.
    pub fn of_month(&mut self, key: ChargeKey, costs: Costs, why: &str) {
        let day = BilledDay {
            key_id: Uuid::nil(),
            key,
            resource_id: String::new(),
            tags: "{}".to_owned(),
            day: self.month.first_day(),
            is_whole_period: true,
            billed: Decimal::ZERO,
            effective: Decimal::ZERO,
            list: Decimal::ZERO,
            contracted: Decimal::ZERO,
            quantity: Decimal::ZERO,
            hours: Vec::new(),
            accelerator: None,
        };
        self.write(&day, costs, why);
    }
}

fn at(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(NaiveTime::MIN).and_utc()
}

fn of_day(day: NaiveDate) -> ChargePeriod {
    ChargePeriod { start: at(day), end: at(day.succ_opt().unwrap_or(day)) }
}

fn whole(month: BillingMonth) -> ChargePeriod {
    let days = month.days();
    ChargePeriod { start: at(days.start), end: at(days.end) }
}
