//! What is wrong with a budget.

use super::super::configuration::Configuration;
use super::super::entry::{Budget, BudgetOf, Entry};
use super::Found;

pub(super) fn check(configuration: &Configuration, budget: &Budget, found: &mut Found) {
    let title = format!("budget of {}", budget.of.in_words());
    let exists = configuration.entries.values().any(|entry| match (&budget.of, entry) {
        (BudgetOf::Team(handle), Entry::Team(it)) => it.handle == *handle,
        (BudgetOf::Project(handle), Entry::Project(it)) => it.handle == *handle,
        (BudgetOf::CostCentre(handle), Entry::CostCentre(it)) => it.handle == *handle,
        _ => false,
    });
    if !exists {
        found.add(&title, format!("there is no {}", budget.of.in_words()));
    }
    if budget.amount.is_negative() || budget.amount.is_zero() {
        found.add(&title, "enter an amount above zero");
    }
    if !budget.currency.is_money() {
        found.add(&title, format!("currency {}: enter a code such as USD", budget.currency));
    }
    if budget.months.first.is_none() {
        found.add(&title, "enter a first month");
    }
    if budget.thresholds.iter().any(|percent| *percent == 0 || *percent > 1000) {
        found.add(&title, "enter thresholds between 1 and 1000 percent");
    }
    let others = configuration
        .budgets()
        .filter(|(_, other)| other.of == budget.of && other.months.overlap(budget.months));
    if others.count() > 1 {
        found.add(&title, "two budgets cover the same months");
    }
}
