//! Adjustments as a document that people change.

use std::collections::BTreeMap;

use super::entry::Adjustment;
use crate::changes::{Document, Entry, Kind, NumberedEdit, Problem};
use crate::money::Decimal;
use crate::period::BillingMonth;

pub type Edit = NumberedEdit<Adjustment>;

/// All of them, each with its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adjustments {
    pub entries: BTreeMap<i64, Adjustment>,
}

impl Entry for Adjustment {
    fn title(&self) -> String {
        Self::title(self)
    }
}

impl Document for Adjustments {
    const KIND: Kind = Kind::Adjustments;
    type Edit = Edit;

    fn of(entries: BTreeMap<i64, Adjustment>) -> Self {
        Self { entries }
    }

    fn entries(&self) -> &BTreeMap<i64, Adjustment> {
        &self.entries
    }

    fn entries_mut(&mut self) -> &mut BTreeMap<i64, Adjustment> {
        &mut self.entries
    }

    /// That the same agreement is there twice in a month: it would be charged twice. That discounts are more than what is billed.
    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (id, entry) in &self.entries {
            let before = self.entries.range(..id).map(|(_, it)| it);
            if let Some(other) = before.into_iter().find(|other| entry.repeats(other)) {
                let message = format!(
                    "is there already from {}{}: change that one, or end it in the month before this one begins",
                    other.first_month.name(),
                    other.last_month.map(|last| format!(" to {}", last.name())).unwrap_or_default(),
                );
                problems.push(Problem { of: entry.title(), message });
            }
            let percents = |it: &Adjustment| it.terms.factor().unwrap_or_default();
            let discounts = self.entries.values().filter(|it| it.is_beside(entry)).map(percents);
            let discounts: Decimal = discounts.filter(Decimal::is_negative).sum();
            if percents(entry).is_negative() && discounts < Decimal::from(-1) {
                let message = "and the discounts beside it are more than 100% of the bill".to_owned();
                problems.push(Problem { of: entry.title(), message });
            }
        }
        problems
    }
}

impl Adjustments {
    /// Those of the bill of an account in a month, in the order of their numbers.
    pub fn of_bill(&self, provider: &str, billing_account: &str, month: BillingMonth) -> Vec<&Adjustment> {
        self.entries.values().filter(|it| it.holds_for(provider, billing_account, month)).collect()
    }

    /// Others than these that are computed of the same bills as one of them.
    pub fn beside(&self, edits: &[Edit]) -> Vec<&Adjustment> {
        let edited = |id: &i64| edits.iter().any(|edit| edit.id == *id);
        let is_beside = |it: &Adjustment| {
            edits
                .iter()
                .filter_map(|edit| edit.after.as_ref())
                .any(|of| !it.terms.is_minimum() && it.is_beside(of))
        };
        self.entries.iter().filter(|(id, it)| !edited(id) && is_beside(it)).map(|(_, it)| it).collect()
    }
}
