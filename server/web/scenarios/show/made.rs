//! What is said of a scenario that was made of the ledger.

use super::super::super::filters::figure;
use super::super::ledger::FromLedger;
use crate::money::{Currency, Decimal};

/// What is no part of it, and why, in sentences.
pub(super) fn left_out(it: &FromLedger) -> Vec<String> {
    let currency = &it.currency;
    let money = |amount: Decimal| format!("{} {currency}", figure(amount, 2));
    let hours = |hours: Decimal| format!("{} accelerator-hours", figure(hours, 0));
    let mut said = Vec::new();
    for model in &it.told.left_out {
        let (hours, cost) = (hours(model.gpu_hours), money(model.cost));
        let unused = if model.unused.is_zero() {
            String::new()
        } else {
            format!(", and {} of commitments that nothing used", money(model.unused))
        };
        said.push(if model.gpu_hours.is_zero() {
            format!("{}: {cost}{unused}. It has no hours that could run elsewhere.", model.name)
        } else {
            format!("{}: {hours}, {cost}{unused}. Only the dearest models are compared.", model.name)
        });
    }
    said.extend(it.told.paid_anyway.iter().map(|it| format!("{it}.")));
    if !it.shared_hours.is_zero() || !it.shared_cost.is_zero() {
        let (hours, cost) = (hours(it.shared_hours), money(it.shared_cost));
        said.push(format!("Parts of shared costs: {hours}, {cost}. They are nobody’s hours alone."));
    }
    if !it.besides.is_zero() {
        said.push(format!(
            "Whatever else was paid: {}. Storage, network, support, tax and credits are no price of an hour.",
            money(it.besides)
        ));
    }
    if !it.other_currencies.is_empty() {
        let names: Vec<&str> = it.other_currencies.iter().map(Currency::as_str).collect();
        said.push(format!("What was billed in {}.", names.join(", ")));
    }
    for left in &it.unconverted {
        let (amount, of) = (figure(left.cost.amount, 2), &left.cost.currency);
        said.push(format!("{amount} {of} of {}, which no rate converts.", left.month.name()));
    }
    said.extend(it.told.without.iter().map(|it| format!("{it}.")));
    if !it.told.assumed.is_empty() {
        said.push(format!(
            "Machines of our own, as they would be: of {}. Everything about them can be changed in the form.",
            it.told.assumed.join("; of ")
        ));
    }
    if !it.spread_hours.is_zero() {
        said.push(format!(
            "The hour of the day of {}: no bill names it, so they are spread evenly over their day or month.",
            hours(it.spread_hours)
        ));
    }
    said.push(
        "How much of these hours did work: no usage records say so, and each counts as productive."
            .to_owned(),
    );
    said
}
