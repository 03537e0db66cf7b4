//! What is said of a scenario that was made of the ledger.

use super::super::super::filters::figure;
use super::super::super::words::stated;
use super::super::ledger::FromLedger;
use crate::economics::figure::Unit;
use crate::economics::measured::{HowPaid, TooDear};
use crate::money::{Currency, Decimal};

/// What is paid on whichever option is taken, and whether options have it: a sentence under the answer.
pub(super) fn paid_on(it: &FromLedger) -> Option<String> {
    let currency = &it.currency;
    let of_way = |paid: HowPaid, called: &str| {
        let of_models = it.described.paid_on.iter().filter(|it| it.paid == paid).map(|model| {
            let hours = figure(model.gpu_hours, 0);
            let cost = figure(model.cost, 0);
            let unused = if model.unused.is_zero() {
                String::new()
            } else {
                format!(", {} {currency} of it unused", figure(model.unused, 0))
            };
            format!("{} {hours} hours for {cost} {currency}{unused}", model.name)
        });
        let of_models: Vec<String> = of_models.collect();
        (!of_models.is_empty()).then(|| format!("{called} ({})", of_models.join("; ")))
    };
    let all = [of_way(HowPaid::Owned, "on-prem machines"), of_way(HowPaid::Committed, "commitments")];
    let all: Vec<String> = all.into_iter().flatten().collect();
    let what = Some(all.join(" and ")).filter(|_| !all.is_empty())?;
    Some(if it.described.is_paid_in_every_option {
        format!("Every option includes what must still be paid, and the hours it covers: {what}.")
    } else {
        format!(
            "Still to be paid until the end of their terms: {what}. Only “As it is” includes it. The other options start as \
             if these terms had ended, and cost that much more until then."
        )
    })
}

/// What no option has in it, with its amounts: a sentence beside the answer.
pub(super) fn not_counted(it: &FromLedger) -> Option<String> {
    if it.besides.is_zero() {
        return None;
    }
    let kinds: Vec<String> = it
        .besides_by_kind
        .iter()
        .take(KINDS)
        .map(|(kind, cost)| format!("{} {}", kind.to_lowercase(), figure(*cost, 0)))
        .collect();
    let rest = it.besides_by_kind.len().saturating_sub(KINDS);
    let rest = if rest == 0 { String::new() } else { format!(" and {rest} more") };
    Some(format!(
        "Not counted in any option: {} {} of {} ({}{rest}), and what moving data would cost.",
        figure(it.besides, 0),
        it.currency,
        it.described.period.name(),
        kinds.join(", ")
    ))
}

/// Kinds that a sentence names.
const KINDS: usize = 6;

/// What is no part of it, and why, in sentences.
pub(super) fn left_out(it: &FromLedger) -> Vec<String> {
    let currency = &it.currency;
    let money = |amount: Decimal| format!("{} {currency}", figure(amount, 2));
    let hours = |hours: Decimal| format!("{} accelerator-hours", figure(hours, 0));
    let mut said = Vec::new();
    for model in &it.described.left_out {
        let (hours, cost) = (hours(model.gpu_hours), money(model.cost));
        let unused = if model.unused.is_zero() {
            String::new()
        } else {
            format!(", and {} of unused commitments", money(model.unused))
        };
        said.push(if model.gpu_hours.is_zero() {
            format!("{}: {cost}{unused}. There are no hours to move.", model.name)
        } else {
            format!("{}: {hours}, {cost}{unused}. Only the most expensive models are compared.", model.name)
        });
    }
    if it.running > Decimal::ZERO {
        said.push(format!(
            "Power, space and staff of on-prem machines: {} more than is charged here. It is included in the price of their \
             hours, as it is for new machines.",
            money(it.running)
        ));
    }
    if !it.shared_hours.is_zero() || !it.shared_cost.is_zero() {
        let hours = Some(hours(it.shared_hours)).filter(|_| !it.shared_hours.is_zero());
        let parts: Vec<String> = hours.into_iter().chain([money(it.shared_cost)]).collect();
        let but =
            if it.running > Decimal::ZERO { ", except the operating cost of on-prem machines" } else { "" };
        said.push(format!("Shares of shared costs: {}. They are left out{but}.", parts.join(", ")));
    }
    if !it.besides.is_zero() {
        let kinds: Vec<String> =
            it.besides_by_kind.iter().map(|(kind, cost)| format!("{kind} {}", figure(*cost, 2))).collect();
        said.push(format!(
            "Other costs: {}. Storage, network, support, tax and credits are not part of a price per hour: {}.",
            money(it.besides),
            kinds.join(", ")
        ));
    }
    if !it.other_currencies.is_empty() {
        let names: Vec<&str> = it.other_currencies.iter().map(Currency::as_str).collect();
        said.push(format!("Amounts billed in {}.", names.join(", ")));
    }
    for left in &it.unconverted {
        let (amount, of) = (figure(left.cost.amount, 2), &left.cost.currency);
        said.push(format!("{amount} {of} of {}: there is no exchange rate.", left.month.name()));
    }
    said.extend(it.described.without.iter().map(|it| format!("{it}.")));
    said.extend(it.described.too_dear.iter().map(too_dear));
    if !it.described.assumed.is_empty() {
        said.push(format!(
            "On-prem machines are assumed: {}. You can change them in the form.",
            it.described.assumed.join("; ")
        ));
    }
    if !it.spread_hours.is_zero() {
        said.push(format!(
            "{} are billed without an hour of the day. They are spread evenly over their day or month.",
            hours(it.spread_hours)
        ));
    }
    said.push("Measured utilization is not used: every hour counts as productive.".to_owned());
    said
}

/// Why nobody would reserve a model at the price of the list.
fn too_dear(it: &TooDear) -> String {
    let TooDear { option, name, supplier, gpus, .. } = it;
    let (price, on_demand) = (figure(it.price, 2), figure(it.on_demand, 2));
    let left_out = if it.is_offered { "" } else { " is left out" };
    let so = if it.is_offered { ", so all of it is on demand" } else { "" };
    let by_use = if it.is_own { format!("the {on_demand} we paid") } else { on_demand };
    if it.price >= it.on_demand {
        format!(
            "{option}{left_out}: {name} from {supplier} at {price} per hour is not cheaper than {by_use} on demand{so}."
        )
    } else {
        let used = stated(it.utilization, Unit::Share, "");
        format!(
            "{option}{left_out}: {name} from {supplier} at {price} is paid in every hour, but the {gpus} most used GPUs would be \
             used in only {used} of them; {by_use} on demand is cheaper{so}."
        )
    }
}
