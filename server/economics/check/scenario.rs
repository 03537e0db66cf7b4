//! Scenarios: what is asked for, and each option by itself.

use std::collections::BTreeSet;

use super::prices::hours_for_gpus;
use super::shape::{gpus, shape};
use super::spot::interruptions;
use super::{
    Finding, Findings, MOST_GPUS, Severity, owning, owning_prices, path, porting, refresh, service, transfer,
    transfer_prices,
};
use crate::accelerator;
use crate::economics::comparison::{
    Alternative, Block, Committed, Gpus, Owned, Place, Rate, SHIPPED, Scenario, Spot, Work,
};
use crate::economics::owning::{Energy, Housing, Owning, Tenure};
use crate::economics::price_path::Path;
use crate::economics::profile::{Shape, YEAR, in_gpus};
use crate::economics::spot::Interruptions;
use crate::economics::uncertainty::is_uncertain;
use crate::money::Decimal;
use crate::money::arithmetic::{count, decimal, floor, growth, one, product, quotient};

/// Months that are looked at: ten years.
const LONGEST: u32 = 120;
const HOURS_OF_MONTH: u32 = 730;
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
    found.whole("months", scenario.months, 1..=LONGEST, "expected 1 to 120 months");
    found.share("cost_of_capital", scenario.cost_of_capital);
    if !scenario.currency.is_standard() {
        found.refuse("currency", &scenario.currency, "expected a currency of ISO 4217, such as USD");
    }
    if let Some(worth) = scenario.dollar.worth {
        let message = "expected the value of a US dollar, from 0.000001 to 1,000,000";
        found.between("dollar.worth", worth, decimal(1, 6), 1_000_000.into(), message);
        if scenario.currency.as_str() == SHIPPED && worth != one() {
            found.refuse("dollar.worth", worth, "not needed: the scenario is in US dollars; leave it empty");
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
    found.each("work", &scenario.work, |work, found| {
        of_work(work, scenario.months, found);
        if !names.insert(work.name.as_str()) {
            found.refuse("name", &work.name, "another work has this name");
        }
    });
    hours_for_gpus(scenario, &mut found);
    ranges(scenario, &mut found);
    let mut options = BTreeSet::new();
    for (at, option) in scenario.options.iter().enumerate() {
        let field = format!("option.{at}");
        found.within(&field, |found| {
            if !options.insert(option.name.trim()) {
                found.warn("name", &option.name, "another option has this name");
            }
            if option.name.trim().is_empty() {
                found.refuse("name", "empty", "expected a name for the option");
            }
            some("place", option.places.len(), found);
            of_spend(option, found);
        });
        let mut taken = BTreeSet::new();
        for (at, place) in option.places.iter().enumerate() {
            let field = format!("{field}.place.{at}");
            found.within(&field, |found| of_place(place, scenario, found));
            tokens(place, scenario, &mut found);
            found.within(&field, |found| {
                of_prices(place, scenario, found);
                for work in scenario.served_by(place) {
                    if !taken.insert(work.name.as_str()) {
                        let message =
                            "runs in another place of this option, too; name the work of each place";
                        found.refuse("serves", &work.name, message);
                    }
                }
            });
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
            let message = "there is no uncertain number here; remove the range";
            found.refuse(&field, text.unwrap_or("nothing"), message);
            continue;
        }
        let Some(value) = value else { continue };
        let (low, high) = (stated.low.unwrap_or(value), stated.high.unwrap_or(value));
        let between = format!("{} to {}", low.normalize(), high.normalize());
        if low > high {
            found.refuse(&field, between, "the low end of the range is above the high end");
        } else if value < low || value > high {
            let message = format!("outside its range, {between}; enter the most likely value");
            found.warn(&field, value.normalize(), &message);
        } else if low < high
            && stated.low.is_some()
            && stated.high.is_some()
            && (value == low || value == high)
        {
            let message =
                format!("at the end of its range, {between}; enter the most likely value, not the best case");
            found.warn(&field, value.normalize(), &message);
        }
    }
}

/// Why something is too much.
const MUCH: &str = "too large: expected at most 12 options, 6 places in each, 8 works, and 250 works, \
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
        found: format!("{hours} hours of demand for each of {} options", scenario.options.len()),
        message: format!("expected at most {MOST_HOURS} in all; enter fewer hours or fewer options"),
    })
}

fn some(field: &str, len: usize, found: &mut Findings) {
    if len == 0 {
        found.refuse(field, "0 of them", "expected at least one");
    }
}

fn of_work(work: &Work, months: u32, found: &mut Findings) {
    if work.name.trim().is_empty() {
        found.refuse("name", "empty", "expected a name, such as training");
    }
    model(&work.accelerator, found);
    let before = found.refusals();
    found.within("demand", |found| shape(&work.demand, found));
    if let Shape::Serving(it) = &work.demand {
        for inside in service(it, &work.accelerator).iter() {
            let is_of_work = inside.field == "accelerator";
            let field = if is_of_work { inside.field.clone() } else { format!("demand.{}", inside.field) };
            found.add(inside.severity, &field, &inside.found, &inside.message);
        }
    }
    let message = "expected -0.5 to 0.5 a month; is this growth per year?";
    let (least, most) = (decimal(-5, 1), decimal(5, 1));
    found.between("monthly_growth", work.monthly_growth, least, most, message);
    if found.refusals() == before {
        grown(work, months, found);
    }
    found.share("interruptible", work.interruptible);
    may_move(work, found);
    if found.share("productive", work.productive) && work.productive.is_zero() {
        let message = "expected more than 0: without productive hours there is no cost per hour";
        found.refuse("productive", 0, message);
    }
    if let Some(availability) = work.availability {
        found.share("availability", availability);
    }
    if let Some(cost) = work.unserved_cost
        && found.money("unserved_cost", cost)
        && cost.is_zero()
    {
        let message = "expected more than 0; leave it empty if all work must be served";
        found.refuse("unserved_cost", 0, message);
    }
    if let Some(tokens) = work.tokens_per_hour {
        let message = "expected 1 to a billion tokens per hour";
        found.between("tokens_per_hour", tokens, one(), 1_000_000_000.into(), message);
    }
}

/// What can be asked for may grow to what nobody can have, and beyond what can be counted.
fn grown(work: &Work, months: u32, found: &mut Findings) {
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
            "grows to more than a million GPUs within the compared months; is this growth per year?";
        found.refuse("monthly_growth", work.monthly_growth, message);
    }
}

/// Within the day, where it has days.
fn may_move(work: &Work, found: &mut Findings) {
    found.whole("within_hours", work.within_hours, ..=24, "a day has 24 hours");
    if let (true, Shape::Hours { gpus }) = (work.within_hours > 0, &work.demand)
        && !gpus.len().is_multiple_of(24)
    {
        found.refuse("demand.gpus", gpus.len(), "expected hours of whole days");
    }
}

fn model(id: &str, found: &mut Findings) {
    if !id.is_empty() && accelerator::model(id).is_none() {
        let message = "expected an accelerator ID of the catalog, such as nvidia-h100-sxm";
        found.refuse("accelerator", id, message);
    }
}

/// A place, but for its prices.
fn of_place(place: &Place, scenario: &Scenario, found: &mut Findings) {
    model(&place.accelerator, found);
    for name in &place.serves {
        if !scenario.work.iter().any(|work| work.name == *name) {
            found.refuse("serves", name, "no work has this name");
        }
    }
    let message = "expected 0.01 to 100 hours of the work's accelerator, mostly about 1";
    found.between("performance", place.performance, decimal(1, 2), 100.into(), message);
    rework(place.rework, found);
    found.whole("gpus_per_node", place.gpus_per_node, 1..=1000, "expected 1 to 1,000");
    if let Some(availability) = place.availability {
        found.share("availability", availability);
    }
    if found.share("obtainable", place.obtainable) && place.obtainable.is_zero() {
        let message = "expected more than 0; if it is never available, remove its price";
        found.refuse("obtainable", 0, message);
    }
    found.share("support", place.support);
    found.each("others", &place.others, |other, found| {
        found.money("amount", other.amount);
    });
    found.each("moved", &place.moved, |moved, found| {
        let transferred = moved.transfer();
        found.add_all(transfer(&transferred));
        if let Some(dollar) = scenario.of_a_dollar() {
            found.add_all(transfer_prices(&transferred, dollar));
        }
        if moved.is_in_dollars() && scenario.of_a_dollar().is_none() {
            let message = format!(
                "this price list is in {SHIPPED}; enter the value of a dollar in {} (dollar.worth), or a flat price (flat)",
                scenario.currency
            );
            found.refuse("rates.of", moved.rates.tariff().name, &message);
        }
    });
    if let Some(port) = &place.porting {
        found.within("porting", |found| {
            found.add_all(porting(&port.porting()));
            if port.months_of_both > 0 {
                // What it costs where it ran is paid besides, so that it has to be known.
                rate("meanwhile", &port.meanwhile, found);
            }
        });
    }
    without_effect(place, found);
    at_cheaper_hours(place, found);
    by_tokens(place, found);
}

fn rework(hours: Decimal, found: &mut Findings) {
    found.between("rework", hours, one(), 10.into(), "expected 1 to 10 paid hours per useful hour");
}

/// What is paid in a place.
fn of_prices(place: &Place, scenario: &Scenario, found: &mut Findings) {
    let months = scenario.months;
    found.each("blocks", &place.blocks, |block, found| of_block(block, months, found));
    if !place.has_base() && place.spot.is_none() && !place.is_by_use() {
        let message = "add a price (on demand, per token, spot, reservation or block) or on-prem machines";
        found.refuse("", "without a price", message);
    }
    if let Some(owned) = &place.owned {
        found.within("owned", |found| of_owned(owned, scenario, found));
    }
    found.each("committed", &place.committed, |committed, found| of_commitment(committed, months, found));
    nested(&place.committed, months, found);
    if let Some(spot) = &place.spot {
        found.within("spot", |found| of_spot(spot, found));
    }
    if let Some(on_demand) = &place.on_demand {
        rate("on_demand", on_demand, found);
    }
}

fn of_spot(spot: &Spot, found: &mut Findings) {
    rate("rate", &spot.rate, found);
    if let Some(hours) = spot.rework {
        rework(hours, found);
    }
    found.within("interruptions", |found| interruptions(&spot.interruptions, found));
    if let Some(most) = spot.gpus {
        gpus(found, "gpus", most);
    }
}

fn of_owned(owned: &Owned, scenario: &Scenario, found: &mut Findings) {
    let Owned { machines, .. } = owned;
    found.within("machines", |found| {
        found.add_all(owning(machines));
        if let Some(dollar) = scenario.of_a_dollar() {
            found.add_all(owning_prices(machines, dollar));
        } else if machines.node_price == Owning::default().node_price {
            let message = format!("equals the built-in price in {SHIPPED}; is it in {}?", scenario.currency);
            found.warn("node_price", machines.node_price, &message);
        }
        follows_from_the_scenario(machines, found);
    });
    size(owned.gpus, found);
    whole_nodes(owned, found);
    let term = product(&[machines.life_years, 12.into()]);
    let leased_on = quotient(count(scenario.months), term).is_some_and(|it| it != floor(it));
    if matches!(machines.tenure, Tenure::Leased { .. }) && leased_on {
        let message = continues("the lease", scenario.months);
        found.warn("machines.life_years", machines.life_years, &message);
    }
    found.within("refresh", |found| of_refresh(owned, scenario.months, found));
}

fn continues(what: &str, months: u32) -> String {
    format!("{what} continues after the {months} compared months; later payments are not in the total")
}

/// What is said of machines that a scenario says itself, or that changes nothing in it. What is as it is unless entered was
/// not entered: files that were downloaded say all of it.
fn follows_from_the_scenario(machines: &Owning, found: &mut Findings) {
    let usual = Owning::default();
    let decimals = [
        ("rework", machines.rework, usual.rework, "enter it as rework of the place"),
        (
            "cost_of_capital",
            machines.cost_of_capital,
            usual.cost_of_capital,
            "the scenario sets the cost of capital of all options",
        ),
        ("utilization", machines.utilization, usual.utilization, "it follows from the demand of the work"),
        ("air_rise", machines.air_rise, usual.air_rise, "airflow has no cost"),
    ];
    for (name, value, usual, instead) in decimals {
        if value != usual {
            no_effect(name, value, instead, found);
        }
    }
    if machines.gpus != usual.gpus {
        let instead = "enter the number as gpus of owned";
        no_effect("gpus", machines.gpus, instead, found);
    }
    if let Some(share) = machines.allocated_share {
        let instead = "the demand of the work is what is allocated";
        no_effect("allocated_share", share, instead, found);
    }
    if machines.lead_months != usual.lead_months {
        let instead = "all options start in the first month";
        no_effect("lead_months", machines.lead_months, instead, found);
    }
}

fn no_effect(field: &str, value: impl std::fmt::Display, instead: &str, found: &mut Findings) {
    found.refuse(field, value, &format!("has no effect in this option: remove it; {instead}"));
}

/// What is entered and changes nothing, as long as something else of the place is missing or says the opposite.
fn without_effect(place: &Place, found: &mut Findings) {
    let mut odd = |is_entered: bool, name: &str, value: &dyn std::fmt::Display, why: &str| {
        if is_entered {
            found.warn(name, value, &format!("has no effect here: {why}"));
        }
    };
    let is_by_use = place.is_by_use();
    let is_rented =
        is_by_use || place.spot.is_some() || !place.committed.is_empty() || !place.blocks.is_empty();
    let usual = Place::default();
    let why = "nothing is reserved; enter the number of on-prem GPUs there";
    odd(
        place.gpus_per_node != usual.gpus_per_node && place.committed.is_empty(),
        "gpus_per_node",
        &place.gpus_per_node,
        why,
    );
    let why = "nothing is bought on demand";
    odd(place.obtainable != one() && !is_by_use, "obtainable", &place.obtainable, why);
    odd(
        !place.support.is_zero() && !is_rented,
        "support",
        &place.support,
        "there are no payments to a supplier",
    );
    if let Some(spot) = &place.spot
        && let Some(rework) = spot.rework
    {
        let why = "it replaces the interruptions, which are entered, too";
        odd(spot.interruptions != Interruptions::default(), "spot.rework", &rework, why);
    }
    if let Some(port) = &place.porting {
        let is_alone = port.releases_per_year.is_zero() != port.ported_anew.is_zero();
        let why = "enter both: releases, and the porting repeated per release";
        odd(is_alone, "porting.releases_per_year", &port.releases_per_year, why);
        let why = "it never runs in both places";
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
fn whole_nodes(owned: &Owned, found: &mut Findings) {
    let (Gpus::Number(gpus), node) = (owned.gpus, owned.machines.gpus_per_node) else { return };
    if gpus == 0 {
        found.warn("gpus", gpus, "there are no machines; remove them, or enter a number");
    } else if node > 0 && !gpus.is_multiple_of(node) {
        let bought = gpus.div_ceil(node).saturating_mul(node);
        let message = format!("nodes have {node} GPUs, so {bought} are bought");
        found.warn("gpus", gpus, &message);
    }
}

/// Hours of the day that cost less.
fn at_cheaper_hours(place: &Place, found: &mut Findings) {
    let Some(it) = &place.cheaper_hours else { return };
    if place.has_base() || place.spend_rate.is_some() || place.on_demand.is_none() {
        let message = "cheaper hours apply only to on demand and spot; add a place for the rest";
        found.refuse("cheaper_hours", "cheaper hours with other prices", message);
    }
    for (field, hour) in [("cheaper_hours.from", it.from), ("cheaper_hours.until", it.until)] {
        found.whole(field, hour, ..=24, "expected an hour of the day, from 0 to 24");
    }
    let message = "expected a factor on the price, from 0.01 to 1";
    found.between("cheaper_hours.factor", it.factor, decimal(1, 2), one(), message);
}

/// What is paid by the token.
fn by_tokens(place: &Place, found: &mut Findings) {
    let Some(entered) = &place.per_million_tokens else { return };
    rate("per_million_tokens", entered, found);
    if place.on_demand.is_some() {
        let message = "both would serve the rest; remove one, and add it as another option";
        found.refuse("per_million_tokens", "a price per token and on demand", message);
    }
    if place.performance != one() || place.rework != one() {
        let message = "expected 1: tokens are counted in hours of the work's accelerator";
        found.refuse("performance", place.performance, message);
    }
}

/// What the works of a place that is paid by the token have to say of them, as a field of each.
fn tokens(place: &Place, scenario: &Scenario, found: &mut Findings) {
    if place.per_million_tokens.is_none() {
        return;
    }
    let mut before = None;
    for (at, work) in scenario.work.iter().enumerate() {
        if !scenario.served_by(place).any(|it| it.name == work.name) {
            continue;
        }
        let field = format!("work.{at}.tokens_per_hour");
        match work.tokens_of_an_hour() {
            None => {
                let message = "expected a throughput: a price per token needs tokens per hour";
                found.refuse(&field, "nothing", message);
            }
            Some(tokens) if before.is_some_and(|before| before != tokens) => {
                let message = "all work of a place with a price per token needs the same throughput; add a place for each";
                found.refuse(&field, tokens, message);
            }
            tokens => before = tokens,
        }
    }
}

/// A generation after the other, until the months end.
fn of_refresh(owned: &Owned, months: u32, found: &mut Findings) {
    let Owned { machines, refresh: it, .. } = owned;
    let inside = refresh(*it);
    let is_odd = !inside.is_empty();
    found.add_all(inside);
    let life = product(&[machines.life_years, 12.into()]);
    if is_odd || it.is_the_same() || life <= Decimal::ZERO {
        return;
    }
    let again = quotient(count(months.min(LONGEST)), life).unwrap_or_default();
    for (name, ratio) in [("price_ratio", it.price_ratio), ("performance_ratio", it.performance_ratio)] {
        let last = growth(ratio - one(), floor(again).min(count(LONGEST)));
        if last > MOST_OF_ALL.into() || product(&[last, MOST_OF_ALL.into()]) < one() {
            let message = "too high: after all generations the price is more than a thousand times the first";
            found.refuse(name, ratio, message);
        } else if name == "price_ratio" {
            found.money(name, product(&[last, machines.node_price]).round(2));
        }
    }
}

fn of_commitment(committed: &Committed, months: u32, found: &mut Findings) {
    // All of it may be paid upfront, and its hours for nothing.
    let is_upfront = found.money("upfront", committed.upfront) && !committed.upfront.is_zero();
    if !(is_upfront && committed.rate.price.is_zero()) {
        rate("rate", &committed.rate, found);
    }
    term(committed.months, found);
    size(committed.gpus, found);
    if committed.months > months && committed.months <= LONGEST {
        found.warn("months", committed.months, &continues("the term", months));
    }
}

fn term(months: u32, found: &mut Findings) {
    found.whole("months", months, 1..=LONGEST, "expected a term of 1 to 120 months");
}

/// Where a commitment is as large as costs least, its size changes with its term, and what lies above it has to be renewed
/// then, too: a shorter term divides it. One that is not renewed within the months changes never.
fn nested(committed: &[Committed], months: u32, found: &mut Findings) {
    found.each("committed", committed, |short, found| {
        let is_cut = |long: &&Committed| {
            let is_renewed = long.gpus == Gpus::Best && long.months < months;
            is_renewed
                && short.months > 0
                && long.months > short.months
                && !long.months.is_multiple_of(short.months)
        };
        if let Some(long) = committed.iter().find(is_cut) {
            let message = format!(
                "renews at other times than the term of {} months, whose size is best: enter a number of GPUs there, or \
                 terms that divide each other",
                long.months
            );
            found.refuse("months", short.months, &message);
        }
    });
}

/// Money that is committed to by the hour, and what it buys.
fn of_spend(option: &Alternative, found: &mut Findings) {
    if let Some(spend) = &option.spend {
        found.within("spend", |found| {
            if found.money("per_hour", spend.per_hour) && spend.per_hour.is_zero() {
                found.refuse("per_hour", 0, "expected an amount above 0, or remove the commitment");
            }
            term(spend.months, found);
            if option.places.iter().all(|place| place.spend_rate.is_none()) {
                let message = "not used by any place: add a price under the spend commitment";
                found.refuse("per_hour", spend.per_hour, message);
            }
        });
    }
    found.each("place", &option.places, |place, found| {
        let Some(under) = &place.spend_rate else { return };
        rate("spend_rate", under, found);
        let field = "spend_rate.price";
        let Some(on_demand) = &place.on_demand else {
            return found.refuse(field, under.price, "also needs an on-demand price; enter it");
        };
        if option.spend.is_none() {
            found.refuse(field, under.price, "needs a spend commitment, and this option has none");
        }
        if place.obtainable != one() {
            let message = "cannot be combined with on-demand availability below 100%; remove one";
            found.refuse(field, under.price, message);
        }
        if under.price > on_demand.price {
            found.warn(field, under.price, "more than on demand; are the two prices swapped?");
        }
    });
}

fn of_block(block: &Block, months: u32, found: &mut Findings) {
    rate("rate", &block.rate, found);
    found.whole("gpus", block.gpus, 1..=1_000_000, "expected 1 to a million");
    let message = "expected 1 to 8,760 hours (a year); enter longer ones as a reservation";
    if found.whole("hours", block.hours, 1..=YEAR, message)
        && block.every_months > 0
        && block.hours > block.every_months.saturating_mul(HOURS_OF_MONTH)
    {
        let message = "the next block begins before this one ends; enter larger blocks, or fewer";
        found.refuse("hours", block.hours, message);
    }
    found.whole("every_months", block.every_months, ..=LONGEST, "expected 0 (once) to 120 months");
    let message = "outside the compared months; 0 is the first month";
    found.whole("first_month", block.first_month, ..months, message);
    if block.goes_on_after(months) {
        found.warn("hours", block.hours, &continues("the last block", months));
    }
    let message = "expected an hour of the month, from 0 to 729";
    found.whole("starts_at_hour", block.starts_at_hour, ..HOURS_OF_MONTH, message);
}

fn size(gpus: Gpus, found: &mut Findings) {
    if let Gpus::Number(gpus) = gpus {
        found.whole("gpus", gpus, ..=1_000_000, "expected at most a million");
    }
}

fn rate(field: &str, rate: &Rate, found: &mut Findings) {
    found.within(field, |found| {
        if found.money("price", rate.price) && rate.price.is_zero() && !rate.is_covered() {
            found.refuse("price", 0, "lists show 0 for what is not sold; enter the price you pay");
        }
        // Reported for the whole: a form has it as one text.
        for finding in path(&rate.path, rate.price).iter().filter(|it| it.field != "price") {
            found.refuse("path", format!("{} of {}", finding.found, finding.field), &finding.message);
        }
        if let Path::Entered { prices } = &rate.path
            && prices.first().is_some_and(|first| *first != rate.price)
        {
            let message = "differs from today's price; the monthly prices are used";
            found.warn("path", prices[0], message);
        }
    });
}
