//! Scenarios: what is asked for, and each option by itself.

use std::collections::BTreeSet;

use super::prices::hours_for_gpus;
use super::spot::interruptions;
use super::{
    Finding, Findings, Severity, owning, owning_prices, path, porting, refresh, service, shape, transfer,
    transfer_prices,
};
use crate::accelerator;
use crate::economics::comparison::{
    Alternative, Block, Committed, Gpus, Owned, Place, Rate, SHIPPED, Scenario, Work,
};
use crate::economics::owning::{Energy, Housing, Owning, Tenure};
use crate::economics::price_path::Path;
use crate::economics::profile::{Shape, in_gpus};
use crate::economics::spot::Interruptions;
use crate::economics::uncertainty::is_uncertain;
use crate::money::Decimal;
use crate::money::arithmetic::{count, decimal, floor, growth, one, product, quotient};

/// Months that are looked at: ten years.
const LONGEST: u32 = 120;
/// Hours of a block at most: a year.
const LONGEST_BLOCK: u32 = 8760;
const HOURS_OF_MONTH: u32 = 730;
/// GPUs that are asked for at most.
const MOST_GPUS: i64 = 1_000_000;
const MOST_WORKS: usize = 8;
const MOST_OPTIONS: usize = 12;
const MOST_PLACES: usize = 6;
/// Everything that a scenario consists of, by [`Scenario::parts`]: ten times what the largest template has.
const MOST_PARTS: usize = 250;
/// Hours of demand that are given one by one, times the options that serve them: two years of them for each of twelve.
const MOST_HOURS: usize = 12 * 2 * 8784;
/// How many times the first the last generation of machines may be, or how small a part of it.
const MOST_OF_ALL: i64 = 1000;

/// What is odd about a scenario.
pub fn scenario(scenario: &Scenario) -> Findings {
    let mut found = Findings::default();
    if !(1..=LONGEST).contains(&scenario.months) {
        found.refuse("months", scenario.months, "expected 1 to 120 months");
    }
    found.share("cost_of_capital", scenario.cost_of_capital);
    if !scenario.currency.is_standard() {
        found.refuse("currency", &scenario.currency, "expected a currency of ISO 4217, such as USD");
    }
    if let Some(worth) = scenario.dollar.worth {
        let message = "expected what a US dollar is worth, from 0.000001 to 1,000,000";
        found.between("dollar.worth", worth, decimal(1, 6), 1_000_000.into(), message);
        if scenario.currency.as_str() == SHIPPED && worth != one() {
            found.refuse("dollar.worth", worth, "the scenario is in US dollars; leave it out");
        }
    }
    some("work", scenario.work.len(), &mut found);
    some("option", scenario.options.len(), &mut found);
    if let Some(refusal) = too_many(scenario) {
        // What is too much is not looked at one by one.
        found.0.push(refusal);
        return found.sorted();
    }
    let mut names = BTreeSet::new();
    for (at, work) in scenario.work.iter().enumerate() {
        of_work(work, &format!("work.{at}"), scenario.months, &mut found);
        if !names.insert(work.name.as_str()) {
            found.refuse(&format!("work.{at}.name"), &work.name, "another work has this name");
        }
    }
    hours_for_gpus(scenario, &mut found);
    ranges(scenario, &mut found);
    let mut options = BTreeSet::new();
    for (at, option) in scenario.options.iter().enumerate() {
        let field = format!("option.{at}");
        if !options.insert(option.name.trim()) {
            found.warn(&format!("{field}.name"), &option.name, "another option is called so, too");
        }
        if option.name.trim().is_empty() {
            found.refuse(&format!("{field}.name"), "empty", "expected a name to tell options apart");
        }
        some(&format!("{field}.place"), option.places.len(), &mut found);
        of_spend(option, &field, &mut found);
        let mut taken = BTreeSet::new();
        for (at, place) in option.places.iter().enumerate() {
            let field = format!("{field}.place.{at}");
            of_place(place, &field, scenario, &mut found);
            for work in scenario.served_by(place) {
                if !taken.insert(work.name.as_str()) {
                    let message =
                        "runs in another place of this option as well; name the works of each place";
                    found.refuse(&format!("{field}.serves"), &work.name, message);
                }
            }
        }
    }
    found.sorted()
}

/// Of numbers that are there and uncertain, and around what is entered.
fn ranges(scenario: &Scenario, found: &mut Findings) {
    let all = scenario.all_stated();
    if all.is_empty() {
        return;
    }
    let tree = serde_json::to_value(scenario).unwrap_or_default();
    for (pointer, stated) in all {
        let field = pointer.trim_start_matches('/').replace('/', ".");
        let entered = tree.pointer(&pointer);
        let text = entered.and_then(serde_json::Value::as_str);
        let value = text.and_then(|it| it.parse::<Decimal>().ok());
        // What is not entered may follow from something else, as what spot does again.
        let follows = entered.is_some_and(serde_json::Value::is_null);
        if !is_uncertain(&pointer) || (value.is_none() && !follows) {
            let message = "a range is stated of what is no number here that is drawn; remove the range";
            found.refuse(&field, text.unwrap_or("nothing"), message);
            continue;
        }
        let Some(value) = value else { continue };
        let (low, high) = (stated.low.unwrap_or(value), stated.high.unwrap_or(value));
        let between = format!("{} to {}", low.normalize(), high.normalize());
        if low > high {
            found.refuse(&field, between, "the low end of its range is above the high one");
        } else if value < low || value > high {
            let message = format!("is not within its range, {between}: enter what is most likely");
            found.warn(&field, value.normalize(), &message);
        } else if low < high
            && stated.low.is_some()
            && stated.high.is_some()
            && (value == low || value == high)
        {
            let message = format!(
                "is the end of its range, {between}: enter what is most likely, not what is claimed at best"
            );
            found.warn(&field, value.normalize(), &message);
        }
    }
}

/// Why something is too much.
const MUCH: &str = "more than anybody compares: expected at most 12 options, 6 places in each, 8 works, and 250 works, \
     options, places, prices, costs, levels and steps in all";

/// What there is more of than a scenario may have. Edits do not add to it.
pub fn too_many(scenario: &Scenario) -> Option<Finding> {
    let places = scenario.options.iter().map(|it| it.places.len()).enumerate();
    let of_places = places.map(|(at, len)| (format!("option.{at}.place"), len, MOST_PLACES));
    let lists = [
        ("work".to_owned(), scenario.work.len(), MOST_WORKS),
        ("option".to_owned(), scenario.options.len(), MOST_OPTIONS),
        ("option".to_owned(), scenario.parts(), MOST_PARTS),
    ];
    let severity = Severity::Refusal;
    if let Some((field, len, _)) = lists.into_iter().chain(of_places).find(|(_, len, most)| len > most) {
        let found = format!("{len} of them");
        return Some(Finding { severity, field, found, message: MUCH.to_owned() });
    }
    let hours = scenario.hours();
    (hours.saturating_mul(scenario.options.len()) > MOST_HOURS).then(|| Finding {
        severity,
        field: "work".to_owned(),
        found: format!("{hours} hours of demand one by one, for each of {} options", scenario.options.len()),
        message: format!("expected {MOST_HOURS} in all at most: give fewer hours, or compare fewer options"),
    })
}

fn some(field: &str, len: usize, found: &mut Findings) {
    if len == 0 {
        found.refuse(field, "0 of them", "expected one at least");
    }
}

fn of_work(work: &Work, field: &str, months: u32, found: &mut Findings) {
    if work.name.trim().is_empty() {
        found.refuse(&format!("{field}.name"), "empty", "expected a name, such as training");
    }
    model(&work.accelerator, field, found);
    let before = found.refusals();
    shape::shape(&work.demand, &format!("{field}.demand"), found);
    if let Shape::Serving(it) = &work.demand {
        for inside in service(it, &work.accelerator).iter() {
            let under =
                if inside.field == "accelerator" { field.to_owned() } else { format!("{field}.demand") };
            found.add(inside.severity, &format!("{under}.{}", inside.field), &inside.found, &inside.message);
        }
    }
    let message = "expected -0.5 to 0.5 a month; is this of a year?";
    let (least, most) = (decimal(-5, 1), decimal(5, 1));
    found.between(&format!("{field}.monthly_growth"), work.monthly_growth, least, most, message);
    if found.refusals() == before {
        grown(work, months, &format!("{field}.monthly_growth"), found);
    }
    found.share(&format!("{field}.interruptible"), work.interruptible);
    may_move(work, field, found);
    if found.share(&format!("{field}.productive"), work.productive) && work.productive.is_zero() {
        found.refuse(&format!("{field}.productive"), 0, "no hour does work, so that no work has a cost");
    }
    if let Some(availability) = work.availability {
        found.share(&format!("{field}.availability"), availability);
    }
    if let Some(cost) = work.unserved_cost {
        let field = format!("{field}.unserved_cost");
        if found.money(&field, cost) && cost.is_zero() {
            let message = "what is not served would cost nothing, and serving nothing least; leave it out";
            found.refuse(&field, 0, message);
        }
    }
    if let Some(tokens) = work.tokens_per_hour {
        let message = "expected 1 to a billion tokens an hour";
        found.between(&format!("{field}.tokens_per_hour"), tokens, one(), 1_000_000_000.into(), message);
    }
}

/// What can be asked for may grow to what nobody can have, and beyond what can be counted.
fn grown(work: &Work, months: u32, field: &str, found: &mut Findings) {
    if work.monthly_growth <= Decimal::ZERO || !(1..=LONGEST).contains(&months) {
        return;
    }
    let peak = match &work.demand {
        Shape::Flat { gpus, .. } | Shape::Runs { gpus, .. } => *gpus,
        Shape::Between { high, .. } => *high,
        Shape::Levels { levels, .. } => levels.iter().map(|it| it.gpus).max().unwrap_or_default(),
        Shape::Hours { gpus } => gpus.iter().copied().max().unwrap_or_default(),
        Shape::Swinging { .. } | Shape::Serving(_) => {
            in_gpus(work.demand.profile(&work.accelerator, Decimal::ZERO).peak().into())
        }
    };
    if product(&[peak, growth(work.monthly_growth, count(months - 1))]) > MOST_GPUS.into() {
        let message =
            "grows to more than a million GPUs within the months that are compared; is this of a year?";
        found.refuse(field, work.monthly_growth, message);
    }
}

/// Within the day, where it has days.
fn may_move(work: &Work, field: &str, found: &mut Findings) {
    if work.within_hours > 24 {
        found.refuse(&format!("{field}.within_hours"), work.within_hours, "a day has 24 hours");
    }
    if let (true, Shape::Hours { gpus }) = (work.within_hours > 0, &work.demand)
        && !gpus.len().is_multiple_of(24)
    {
        let message = "expected whole days of hours, so that each has its hour of the day";
        found.refuse(&format!("{field}.demand.gpus"), gpus.len(), message);
    }
}

fn model(id: &str, field: &str, found: &mut Findings) {
    if !id.is_empty() && accelerator::model(id).is_none() {
        let message = "expected the id of a model of the catalog, such as nvidia-h100-sxm";
        found.refuse(&format!("{field}.accelerator"), id, message);
    }
}

fn of_place(place: &Place, field: &str, scenario: &Scenario, found: &mut Findings) {
    model(&place.accelerator, field, found);
    for name in &place.serves {
        if !scenario.work.iter().any(|work| work.name == *name) {
            found.refuse(&format!("{field}.serves"), name, "no work has this name");
        }
    }
    let message = "expected 0.01 to 100 hours of the work's accelerator, mostly about 1";
    found.between(&format!("{field}.performance"), place.performance, decimal(1, 2), 100.into(), message);
    let message = "expected 1 to 10 hours for a useful one";
    found.between(&format!("{field}.rework"), place.rework, one(), 10.into(), message);
    if !(1..=1000).contains(&place.gpus_per_node) {
        found.refuse(&format!("{field}.gpus_per_node"), place.gpus_per_node, "expected 1 to 1,000");
    }
    if let Some(availability) = place.availability {
        found.share(&format!("{field}.availability"), availability);
    }
    if found.share(&format!("{field}.obtainable"), place.obtainable) && place.obtainable.is_zero() {
        let message = "what is never there is not sold; leave its price out";
        found.refuse(&format!("{field}.obtainable"), 0, message);
    }
    found.share(&format!("{field}.support"), place.support);
    for (at, other) in place.others.iter().enumerate() {
        found.money(&format!("{field}.others.{at}.amount"), other.amount);
    }
    for (at, moved) in place.moved.iter().enumerate() {
        let transferred = moved.transfer();
        found.add_all(&format!("{field}.moved.{at}"), &transfer(&transferred));
        if let Some(dollar) = scenario.of_a_dollar() {
            found.add_all(&format!("{field}.moved.{at}"), &transfer_prices(&transferred, dollar));
        }
        if moved.is_in_dollars() && scenario.of_a_dollar().is_none() {
            let message = format!(
                "its list is in {SHIPPED}: enter what a dollar is worth in {} (dollar.worth), or a price of your own (flat)",
                scenario.currency
            );
            found.refuse(&format!("{field}.moved.{at}.rates.of"), moved.rates.tariff().name, &message);
        }
    }
    if let Some(port) = &place.porting {
        found.add_all(&format!("{field}.porting"), &porting(&port.porting()));
        if port.months_of_both > 0 {
            // What it costs where it ran is paid besides, so that it has to be known.
            rate(&port.meanwhile, &format!("{field}.porting.meanwhile"), found);
        }
    }
    without_effect(place, field, found);
    at_cheaper_hours(place, field, found);
    by_tokens(place, field, scenario, found);
    for (at, block) in place.blocks.iter().enumerate() {
        of_block(block, &format!("{field}.blocks.{at}"), scenario.months, found);
    }
    let is_base = place.owned.is_some() || !place.committed.is_empty() || !place.blocks.is_empty();
    if !is_base && place.spot.is_none() && place.on_demand.is_none() && place.per_million_tokens.is_none() {
        let message = "enter on demand, by the token, spot, a reservation, a block, or machines of your own";
        found.refuse(field, "without a price", message);
    }
    if let Some(owned) = &place.owned {
        found.add_all(&format!("{field}.owned.machines"), &owning(&owned.machines));
        if let Some(dollar) = scenario.of_a_dollar() {
            found.add_all(&format!("{field}.owned.machines"), &owning_prices(&owned.machines, dollar));
        }
        let (price, shipped) = (owned.machines.node_price, Owning::default().node_price);
        if scenario.of_a_dollar().is_none() && price == shipped {
            let message = format!("is the shipped price in {SHIPPED}; is it one in {}?", scenario.currency);
            found.warn(&format!("{field}.owned.machines.node_price"), price, &message);
        }
        follows_from_the_scenario(&owned.machines, &format!("{field}.owned.machines"), found);
        size(owned.gpus, &format!("{field}.owned"), found);
        whole_nodes(owned, &format!("{field}.owned.gpus"), found);
        let term = product(&[owned.machines.life_years, 12.into()]);
        let leased_on = quotient(count(scenario.months), term).is_some_and(|it| it != floor(it));
        if matches!(owned.machines.tenure, Tenure::Leased { .. }) && leased_on {
            let message = format!(
                "years of a lease go on after the {} months that are compared; what is paid for later is not in the total",
                scenario.months
            );
            found.warn(&format!("{field}.owned.machines.life_years"), owned.machines.life_years, &message);
        }
        of_refresh(owned, scenario.months, &format!("{field}.owned.refresh"), found);
    }
    for (at, committed) in place.committed.iter().enumerate() {
        let field = format!("{field}.committed.{at}");
        of_commitment(committed, &field, found);
        if committed.months > scenario.months && committed.months <= LONGEST {
            let message = format!(
                "it goes on after the {} months that are compared; what is paid for later is not in the total",
                scenario.months
            );
            found.warn(&format!("{field}.months"), committed.months, &message);
        }
    }
    nested(&place.committed, scenario.months, field, found);
    if let Some(spot) = &place.spot {
        rate(&spot.rate, &format!("{field}.spot.rate"), found);
        if let Some(rework) = spot.rework {
            let message = "expected 1 to 10 hours for a useful one";
            found.between(&format!("{field}.spot.rework"), rework, one(), 10.into(), message);
        }
        let mut inside = Findings::default();
        interruptions(&spot.interruptions, &mut inside);
        found.add_all(&format!("{field}.spot"), &inside);
        if let Some(gpus) = spot.gpus {
            let message = "expected 0 to 1,000,000 GPUs";
            found.between(&format!("{field}.spot.gpus"), gpus, Decimal::ZERO, 1_000_000.into(), message);
        }
    }
    if let Some(on_demand) = &place.on_demand {
        rate(on_demand, &format!("{field}.on_demand"), found);
    }
}

/// What is said of machines that a scenario says itself, or that changes nothing in it. What is as it is unless entered was
/// not entered: files that were downloaded say all of it.
fn follows_from_the_scenario(machines: &Owning, field: &str, found: &mut Findings) {
    let usual = Owning::default();
    let decimals = [
        ("rework", machines.rework, usual.rework, "enter it as the rework of the place"),
        (
            "cost_of_capital",
            machines.cost_of_capital,
            usual.cost_of_capital,
            "the cost of capital of the scenario is that of every option",
        ),
        ("utilization", machines.utilization, usual.utilization, "it follows from what the work asks for"),
        ("air_rise", machines.air_rise, usual.air_rise, "no cost follows from the air that cools a rack"),
    ];
    for (name, value, usual, instead) in decimals {
        if value != usual {
            no_effect(&format!("{field}.{name}"), value, instead, found);
        }
    }
    if machines.gpus != usual.gpus {
        let instead = "enter how many there are as the gpus of owned";
        no_effect(&format!("{field}.gpus"), machines.gpus, instead, found);
    }
    if let Some(share) = machines.allocated_share {
        let instead = "what the work asks for is what is allocated";
        no_effect(&format!("{field}.allocated_share"), share, instead, found);
    }
    if machines.lead_months != usual.lead_months {
        let instead = "every option begins with the first month";
        no_effect(&format!("{field}.lead_months"), machines.lead_months, instead, found);
    }
}

fn no_effect(field: &str, value: impl std::fmt::Display, instead: &str, found: &mut Findings) {
    found.refuse(field, value, &format!("has no effect in this option: remove it; {instead}"));
}

/// What is entered and changes nothing, as long as something else of the place is missing or says the opposite.
fn without_effect(place: &Place, field: &str, found: &mut Findings) {
    let mut odd = |is_entered: bool, name: &str, value: &dyn std::fmt::Display, why: &str| {
        if is_entered {
            found.warn(&format!("{field}.{name}"), value, &format!("has no effect here: {why}"));
        }
    };
    let is_by_use = place.on_demand.is_some() || place.per_million_tokens.is_some();
    let is_rented =
        is_by_use || place.spot.is_some() || !place.committed.is_empty() || !place.blocks.is_empty();
    let usual = Place::default();
    let why = "nothing is reserved; machines of our own have their own number";
    odd(
        place.gpus_per_node != usual.gpus_per_node && place.committed.is_empty(),
        "gpus_per_node",
        &place.gpus_per_node,
        why,
    );
    let why = "nothing is bought on demand";
    odd(place.obtainable != one() && !is_by_use, "obtainable", &place.obtainable, why);
    odd(!place.support.is_zero() && !is_rented, "support", &place.support, "nothing is paid to a supplier");
    if let Some(spot) = &place.spot
        && let Some(rework) = spot.rework
    {
        let why = "how often it is taken away is entered besides, which this replaces";
        odd(spot.interruptions != Interruptions::default(), "spot.rework", &rework, why);
    }
    if let Some(port) = &place.porting {
        let is_alone = port.releases_per_year.is_zero() != port.ported_anew.is_zero();
        let why = "it takes both, releases and what of porting each takes anew";
        odd(is_alone, "porting.releases_per_year", &port.releases_per_year, why);
        let why = "it never runs in both";
        odd(
            port.months_of_both == 0 && !port.meanwhile.price.is_zero(),
            "porting.meanwhile.price",
            &port.meanwhile.price,
            why,
        );
    }
    let Some(owned) = &place.owned else { return };
    let (machines, usual) = (&owned.machines, Owning::default());
    if let Housing::Colocation { energy: Energy::Included, .. } = machines.housing {
        let why = "the price of colocation includes energy";
        odd(machines.tariff != usual.tariff, "owned.machines.tariff", &machines.tariff, why);
        odd(!machines.demand_charge.is_zero(), "owned.machines.demand_charge", &machines.demand_charge, why);
        odd(machines.pue != usual.pue, "owned.machines.pue", &machines.pue, why);
        odd(machines.draw != usual.draw, "owned.machines.draw.load_kw", &machines.node_draw().1, why);
    }
}

/// Machines are bought whole.
fn whole_nodes(owned: &Owned, field: &str, found: &mut Findings) {
    let (Gpus::Number(gpus), node) = (owned.gpus, owned.machines.gpus_per_node) else { return };
    if gpus == 0 {
        found.warn(field, gpus, "no machines are bought; remove them, or enter how many");
    } else if node > 0 && !gpus.is_multiple_of(node) {
        let bought = gpus.div_ceil(node).saturating_mul(node);
        let message = format!("nodes have {node} GPUs: {bought} are bought");
        found.warn(field, gpus, &message);
    }
}

/// Hours of the day that cost less.
fn at_cheaper_hours(place: &Place, field: &str, found: &mut Findings) {
    let Some(it) = &place.cheaper_hours else { return };
    let has_base = place.owned.is_some() || !place.committed.is_empty() || !place.blocks.is_empty();
    if has_base || place.spend_rate.is_some() || place.on_demand.is_none() {
        let message =
            "only on demand, with spot or without, has cheaper hours; take a place of its own for the rest";
        found.refuse(&format!("{field}.cheaper_hours"), "hours beside something else", message);
    }
    for (name, hour) in [("from", it.from), ("until", it.until)] {
        if hour > 24 {
            found.refuse(
                &format!("{field}.cheaper_hours.{name}"),
                hour,
                "expected an hour of the day, from 0 to 24",
            );
        }
    }
    let message = "expected times the price, from 0.01 to 1";
    found.between(&format!("{field}.cheaper_hours.factor"), it.factor, decimal(1, 2), one(), message);
}

/// What is paid by the token.
fn by_tokens(place: &Place, field: &str, scenario: &Scenario, found: &mut Findings) {
    let Some(entered) = &place.per_million_tokens else { return };
    rate(entered, &format!("{field}.per_million_tokens"), found);
    if place.on_demand.is_some() {
        let message = "both would serve what is left; enter one, and the other as an option of its own";
        found.refuse(&format!("{field}.per_million_tokens"), "a price beside on demand", message);
    }
    if place.performance != one() || place.rework != one() {
        let message =
            "tokens are counted in hours of the work's accelerator; leave performance and rework at 1";
        found.refuse(&format!("{field}.performance"), place.performance, message);
    }
    let mut before = None;
    for (at, work) in scenario.work.iter().enumerate() {
        if !scenario.served_by(place).any(|it| it.name == work.name) {
            continue;
        }
        let field = format!("work.{at}.tokens_per_hour");
        match work.tokens_of_an_hour() {
            None => {
                let message = "is needed where it is paid by the token: how many does an hour make?";
                found.refuse(&field, "nothing", message);
            }
            Some(tokens) if before.is_some_and(|before| before != tokens) => {
                let message = "works of one place that is paid by the token make the same an hour; take a place for each";
                found.refuse(&field, tokens, message);
            }
            tokens => before = tokens,
        }
    }
}

/// A generation after the other, until the months end.
fn of_refresh(owned: &Owned, months: u32, field: &str, found: &mut Findings) {
    let Owned { machines, refresh: it, .. } = owned;
    let inside = refresh(*it);
    found.add_all(field, &inside);
    let life = product(&[machines.life_years, 12.into()]);
    if !inside.is_empty() || it.is_the_same() || life <= Decimal::ZERO {
        return;
    }
    let again = quotient(count(months.min(LONGEST)), life).unwrap_or_default();
    for (name, ratio) in [("price_ratio", it.price_ratio), ("performance_ratio", it.performance_ratio)] {
        let last = growth(ratio - one(), floor(again).min(count(LONGEST)));
        if last > MOST_OF_ALL.into() || product(&[last, MOST_OF_ALL.into()]) < one() {
            let message =
                "each generation multiplies by it, which amounts to more than a thousand times until the end";
            found.refuse(&format!("{field}.{name}"), ratio, message);
        } else if name == "price_ratio" {
            found.money(&format!("{field}.{name}"), product(&[last, machines.node_price]).round(2));
        }
    }
}

fn of_commitment(committed: &Committed, field: &str, found: &mut Findings) {
    // All of it may be paid upfront, and its hours for nothing.
    let is_upfront =
        found.money(&format!("{field}.upfront"), committed.upfront) && !committed.upfront.is_zero();
    if !(is_upfront && committed.rate.price.is_zero()) {
        rate(&committed.rate, &format!("{field}.rate"), found);
    }
    if !(1..=LONGEST).contains(&committed.months) {
        found.refuse(&format!("{field}.months"), committed.months, "expected a term of 1 to 120 months");
    }
    size(committed.gpus, field, found);
}

/// Where a commitment is as large as costs least, its size changes with its term, and what lies above it has to be renewed
/// then, too: a shorter term divides it. One that is not renewed within the months changes never.
fn nested(committed: &[Committed], months: u32, field: &str, found: &mut Findings) {
    for (at, short) in committed.iter().enumerate() {
        let is_cut = |long: &&Committed| {
            let is_renewed = long.gpus == Gpus::Best && long.months < months;
            is_renewed
                && short.months > 0
                && long.months > short.months
                && !long.months.is_multiple_of(short.months)
        };
        if let Some(long) = committed.iter().find(is_cut) {
            let message = format!(
                "is renewed at other times than the one for {} months, which is as large as costs least: enter how many \
                 GPUs that has, or terms of which one divides the next",
                long.months
            );
            found.refuse(&format!("{field}.committed.{at}.months"), short.months, &message);
        }
    }
}

/// Money that is committed to by the hour, and what it buys.
fn of_spend(option: &Alternative, field: &str, found: &mut Findings) {
    if let Some(spend) = &option.spend {
        let name = |name: &str| format!("{field}.spend.{name}");
        if found.money(&name("per_hour"), spend.per_hour) && spend.per_hour.is_zero() {
            found.refuse(&name("per_hour"), 0, "nothing is committed to; remove it");
        }
        if !(1..=LONGEST).contains(&spend.months) {
            found.refuse(&name("months"), spend.months, "expected a term of 1 to 120 months");
        }
        if option.places.iter().all(|place| place.spend_rate.is_none()) {
            let message = "buys nothing: enter in a place what an hour on demand costs under it";
            found.refuse(&name("per_hour"), spend.per_hour, message);
        }
    }
    for (at, place) in option.places.iter().enumerate() {
        let Some(under) = &place.spend_rate else { continue };
        let name = format!("{field}.place.{at}.spend_rate");
        rate(under, &name, found);
        let name = format!("{name}.price");
        let Some(on_demand) = &place.on_demand else {
            found.refuse(&name, under.price, "is instead of a price on demand; enter that, too");
            continue;
        };
        if option.spend.is_none() {
            found.refuse(&name, under.price, "holds under a spend commitment, and the option has none");
        }
        if place.obtainable != one() {
            let message = "is not computed where capacity may be missing; leave one of the two out";
            found.refuse(&name, under.price, message);
        }
        if under.price > on_demand.price {
            found.warn(
                &name,
                under.price,
                "is more than on demand, and a commitment pays for it all the same",
            );
        }
    }
}

fn of_block(block: &Block, field: &str, months: u32, found: &mut Findings) {
    let field = |name: &str| format!("{field}.{name}");
    rate(&block.rate, &field("rate"), found);
    if !(1..=1_000_000).contains(&block.gpus) {
        found.refuse(&field("gpus"), block.gpus, "expected 1 to a million");
    }
    if !(1..=LONGEST_BLOCK).contains(&block.hours) {
        found.refuse(
            &field("hours"),
            block.hours,
            "expected 1 to 8,760: a year; longer ones are commitments",
        );
    } else if block.every_months > 0 && block.hours > block.every_months.saturating_mul(HOURS_OF_MONTH) {
        let message = "the next one begins before it ends; buy larger ones, or less often";
        found.refuse(&field("hours"), block.hours, message);
    }
    if block.every_months > LONGEST {
        found.refuse(&field("every_months"), block.every_months, "expected 0 (once) to 120 months");
    }
    if block.first_month >= months {
        let message = "no month of those that are compared; 0 is the first";
        found.refuse(&field("first_month"), block.first_month, message);
    }
    if block.goes_on_after(months) {
        let message = format!(
            "the last one goes on after the {months} months that are compared; what is paid for later is not in the total"
        );
        found.warn(&field("hours"), block.hours, &message);
    }
    if block.starts_at_hour >= HOURS_OF_MONTH {
        found.refuse(&field("starts_at_hour"), block.starts_at_hour, "expected an hour of 730: 0 to 729");
    }
}

fn size(gpus: Gpus, field: &str, found: &mut Findings) {
    if let Gpus::Number(gpus) = gpus
        && gpus > 1_000_000
    {
        found.refuse(&format!("{field}.gpus"), gpus, "expected at most a million");
    }
}

fn rate(rate: &Rate, field: &str, found: &mut Findings) {
    let field = |name: &str| format!("{field}.{name}");
    if found.money(&field("price"), rate.price) && rate.price.is_zero() && !rate.is_covered() {
        found.refuse(
            &field("price"),
            0,
            "lists say 0 where something is not sold; enter what is paid for it",
        );
    }
    // Told of the whole: a form has it as one text.
    for finding in path(&rate.path, rate.price, 0).iter().filter(|it| it.field != "price") {
        found.refuse(&field("path"), format!("{} of {}", finding.found, finding.field), &finding.message);
    }
    if let Path::Entered { prices } = &rate.path
        && prices.first().is_some_and(|first| *first != rate.price)
    {
        let message = "is not the price of now; what is entered by the month is what is computed with";
        found.warn(&field("path"), prices[0], message);
    }
}
