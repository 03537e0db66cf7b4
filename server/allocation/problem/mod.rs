//! What is wrong with a configuration. One that has a problem is not kept.

mod alone;
mod budget;
mod named;
mod pool;
mod unique;

use std::collections::BTreeMap;

use super::configuration::Configuration;
use super::entry::Entry;
use crate::cancellation;
use crate::changes::{Entry as _, Problem};
use crate::period::BillingMonth;

/// Everything that is wrong, each thing once.
pub fn problems(configuration: &Configuration) -> Vec<Problem> {
    let mut found = Found::default();
    for entry in configuration.entries.values() {
        alone::check(entry, &mut found);
    }
    for month in configuration.months_of_change() {
        cancellation::check();
        found.begin(configuration, month);
        let of_month = configuration.of_month(month);
        unique::check(&of_month, &mut found);
        named::check(&of_month, &mut found);
        pool::check(&of_month, &mut found);
    }
    unique::check_labels(configuration, &mut found);
    for (_, it) in configuration.budgets() {
        budget::check(configuration, it, &mut found);
    }
    found.described()
}

/// What was found so far.
#[derive(Default)]
struct Found {
    /// By what is wrong: the months that are looked at in which it is. None for what is wrong whatever the month.
    problems: BTreeMap<(String, String), Vec<BillingMonth>>,
    /// In how many of the months that are looked at something holds.
    months: BTreeMap<String, usize>,
}

impl Found {
    /// A month is looked at.
    fn begin(&mut self, configuration: &Configuration, month: BillingMonth) {
        let mut titles: Vec<String> = configuration
            .entries
            .values()
            .filter(|it| it.months().contain(month))
            .map(Entry::title)
            .collect();
        titles.sort();
        titles.dedup();
        for title in titles {
            *self.months.entry(title).or_default() += 1;
        }
    }

    fn add_in(&mut self, of: impl Into<String>, message: impl Into<String>, month: BillingMonth) {
        let months = self.problems.entry((of.into(), message.into())).or_default();
        if months.last() != Some(&month) {
            months.push(month);
        }
    }

    fn add(&mut self, of: impl Into<String>, message: impl Into<String>) {
        self.problems.entry((of.into(), message.into())).or_default();
    }

    /// In sentences. A month says something only where it is right in others: the first in which it is wrong.
    fn described(self) -> Vec<Problem> {
        let Self { problems, months } = self;
        let tell = |((of, message), wrong_in): ((String, String), Vec<BillingMonth>)| {
            let holds_in = months.get(&of).copied().unwrap_or_default();
            match wrong_in.first().filter(|_| wrong_in.len() < holds_in) {
                Some(month) => Problem { of, message: format!("{message} in {month}") },
                None => Problem { of, message },
            }
        };
        problems.into_iter().map(tell).collect()
    }
}
