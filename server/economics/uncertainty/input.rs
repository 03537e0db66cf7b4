//! What of a scenario is uncertain, and between which values.
//!
//! The same price in two options (an offer that one takes alone and another as overflow) is one input: it cannot be high
//! in one and low in the other. It is the same where it is of one supplier, or was read in one place.
//!
//! What the exact answer would decide anew is none, as no [`Model`](super::Model) of it knows it: [`NOT_DRAWN`].

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::range::{Range, range_of};
use crate::economics::comparison::{Committed, OUR_OWN, Owned, Place, Scenario, Stated};
use crate::economics::owning::{Residual, Tenure};
use crate::economics::profile::Shape;
use crate::money::Decimal;
use crate::money::arithmetic::{decimal, product};

/// A number that may turn out lower or higher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Input {
    /// Where it stands, as JSON pointers; the same number in several places. Of a price list, where that is chosen.
    pub keys: Vec<String>,
    /// As a person reads it.
    pub label: String,
    /// Of a price list, times what it says: 1.
    pub value: Decimal,
    pub low: Decimal,
    pub high: Decimal,
    /// Who states that it lies between these. None: it is what is usual for its kind.
    pub source: Option<String>,
    /// What it can be at all.
    #[serde(skip)]
    pub least: Decimal,
    #[serde(skip)]
    pub most: Decimal,
    /// Whether it is shown in hundredths.
    #[serde(skip)]
    pub in_percent: bool,
}

/// Digits after the point of what follows from others: no more than are entered.
const PLACES: u8 = 12;

/// What is no input, in words.
pub const NOT_DRAWN: &str = "Decisions do not vary: work hours and growth, data, machines, reservations and terms. Nor do downtime, \
     contracted power, price changes over time, discounts, and the performance of owned or reserved capacity.";

/// An input so far as it was found.
struct Found {
    input: Input,
    name: &'static str,
    /// Of a price, where it was read: its source and region.
    offer: Option<(String, String)>,
    /// Whether each place where it stands owns machines: others may name it better.
    is_beside_machines: bool,
    decides_anew: bool,
}

/// What of a scenario is uncertain. What costs nothing is not.
pub fn inputs(scenario: &Scenario) -> Vec<Input> {
    let tree = tree(scenario);
    let mut all: Vec<Found> = Vec::new();
    walk(&tree, String::new(), &mut |pointer, text| {
        let Some(range) = range_of(&pointer) else { return };
        let place = place_of(scenario, &pointer);
        if place.is_some_and(|it| is_agreed(it, &pointer)) {
            return;
        }
        // Prices that are entered month by month are one input: they are all lower, or all higher.
        let by_month = entered_by_month(&tree, &pointer);
        let Ok(value) = by_month.unwrap_or(text).parse::<Decimal>() else { return };
        if value == range.nothing() {
            return;
        }
        let month_by_month = if by_month.is_some() { " month by month" } else { "" };
        let label = label(range.name, month_by_month, &tree, (&pointer, place));
        let offer = offer(&tree, &pointer);
        let is_beside_machines = place.is_some_and(|it| it.owned.is_some());
        // What is one number is none at all where it is not drawn in one place of those it stands in.
        let decides_anew = place.is_some_and(|it| decides_anew(it, range, &pointer));
        let is_same = |it: &&mut Found| {
            let is_same_offer = it.name == range.name && offer.is_some() && it.offer == offer;
            it.input.value == value && (it.input.label == label || is_same_offer)
        };
        if let Some(same) = all.iter_mut().find(is_same) {
            if same.is_beside_machines && !is_beside_machines {
                (same.input.label, same.is_beside_machines) = (label, false);
            }
            same.decides_anew |= decides_anew;
            if let Some(stated) = scenario.stated(&pointer) {
                same.input.between(stated);
            }
            same.input.keys.push(pointer);
        } else {
            let mut input = input(range, pointer.clone(), label, value);
            if let Some(stated) = scenario.stated(&pointer) {
                input.between(stated);
            }
            all.push(Found { input, name: range.name, offer, is_beside_machines, decides_anew });
        }
    });
    let mut inputs: Vec<Input> = all.into_iter().filter(|it| !it.decides_anew).map(|it| it.input).collect();
    say_whose(scenario, &mut inputs);
    inputs
}

/// What an input may be called by, besides.
type Way<'a> = &'a dyn Fn(&Input) -> Option<String>;

/// Two inputs of one label (prices of one supplier that differ) are called by what distinguishes them, too: the works that are
/// served there, else the option or the work that they stand in, and their values where nothing else does.
fn say_whose(scenario: &Scenario, inputs: &mut [Input]) {
    let served = |it: &Input| place_of(scenario, it.keys.first()?).map(|place| place.serves.join(", "));
    let whose = |it: &Input| {
        let mut parts = it.keys.first()?.split('/').skip(1);
        let (list, at) = (parts.next()?, parts.next()?.parse::<usize>().ok()?);
        Some(match list {
            "option" => scenario.options.get(at)?.name.clone(),
            _ => scenario.work.get(at)?.name.clone(),
        })
    };
    let value = |it: &Input| Some(it.value.normalize().to_string());
    for way in [&served as Way<'_>, &whose, &value] {
        let mut of_label: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
        for (at, it) in inputs.iter().enumerate() {
            of_label.entry(it.label.clone()).or_default().push((at, way(it).unwrap_or_default()));
        }
        for same in of_label.values().filter(|same| same.iter().any(|(_, more)| *more != same[0].1)) {
            for (at, more) in same.iter().filter(|(_, more)| !more.is_empty()) {
                inputs[*at].label = format!("{} ({more})", inputs[*at].label);
            }
        }
    }
}

impl Input {
    /// Takes the ends that are stated. What is entered always lies between them, so that it can be simulated.
    fn between(&mut self, stated: &Stated) {
        self.low = stated.low.unwrap_or(self.low).min(self.value).max(self.least);
        self.high = stated.high.unwrap_or(self.high).max(self.value).min(self.most);
        self.source = Some(stated.source.clone());
    }
}

/// Where a price was read. None: nobody said.
fn offer(tree: &Value, pointer: &str) -> Option<(String, String)> {
    let rate = tree.pointer(pointer.strip_suffix("/price")?)?;
    let text = |name: &str| rate.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Some((text("source"), text("region"))).filter(|(source, _)| !source.is_empty())
}

/// Whether it is in a contract: the term of a lease.
fn is_agreed(place: &Place, pointer: &str) -> bool {
    let is_leased = |it: &Owned| matches!(it.machines.tenure, Tenure::Leased { .. });
    pointer.ends_with("/machines/life_years") && place.owned.as_ref().is_some_and(is_leased)
}

fn input(range: &Range, pointer: String, label: String, value: Decimal) -> Input {
    let times = |hundredths: i64| product(&[value, decimal(hundredths, 2)]);
    let (least, most) = range.bounds();
    // What comes back stays so.
    let (least, most) =
        if value.is_negative() { (-most, least) } else { (value.min(least), value.max(most)) };
    let (one, other) = (times(range.low), times(range.high));
    let (low, high) = (one.min(other).max(least), one.max(other).min(most));
    let in_percent = range.in_percent();
    Input { keys: vec![pointer], label, value, low, high, source: None, least, most, in_percent }
}

/// The document without the hours that it asks for, and with what is uncertain about it and stands nowhere: how much work
/// spot does again, where that follows from how often it is taken away; and times what a price list, a table of what used
/// machines go for, and a measurement of what a node draws say.
fn tree(scenario: &Scenario) -> Value {
    let mut scenario = scenario.clone();
    // Thousands of measured hours need not be looked through.
    for work in &mut scenario.work {
        work.demand = Shape::Hours { gpus: Vec::new() };
    }
    let mut lists = Vec::new();
    for (at, option) in scenario.options.iter_mut().enumerate() {
        for (n, place) in option.places.iter_mut().enumerate() {
            if let Some(spot) = &mut place.spot {
                spot.rework = Some(spot.hours_for_one().round(PLACES).normalize());
            }
            let listed = place.moved.iter().enumerate().filter(|(_, it)| it.rates.is_listed());
            lists.extend(listed.map(|(m, _)| format!("/option/{at}/place/{n}/moved/{m}/rates/of")));
            let Some(owned) = &place.owned else { continue };
            let machines = format!("/option/{at}/place/{n}/owned/machines");
            lists.push(format!("{machines}/draw/of"));
            if matches!(owned.machines.residual, Residual::Age { .. }) {
                lists.push(format!("{machines}/residual/by"));
            }
        }
    }
    let mut tree = serde_json::to_value(scenario).unwrap_or_default();
    for list in lists {
        if let Some(times) = tree.pointer_mut(&list) {
            *times = "1".into();
        }
    }
    tree
}

/// Whether the exact answer would have other quantities with another value: of hours that a place takes, unless twice as
/// many cost twice as much there; of the price of the next machines, where they are the same again; and of a life, where
/// they are not.
fn decides_anew(place: &Place, range: &Range, pointer: &str) -> bool {
    let is_same_again = place.owned.as_ref().is_none_or(|it| it.refresh.is_the_same());
    let is_by_use = || {
        let spot_ends = place.spot.as_ref().is_some_and(|it| it.gpus.is_some());
        !place.has_base() && !spot_ends && place.spend_rate.is_none()
    };
    (range.is_of_hours() && !is_by_use())
        || (pointer.ends_with("/refresh/price_ratio") && is_same_again)
        || (pointer.ends_with("/machines/life_years") && !is_same_again)
}

fn walk(tree: &Value, pointer: String, visit: &mut impl FnMut(String, &str)) {
    match tree {
        Value::Object(entries) => {
            for (key, value) in entries {
                walk(value, format!("{pointer}/{key}"), visit);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                walk(value, format!("{pointer}/{at}"), visit);
            }
        }
        Value::String(text) => visit(pointer, text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The first of prices that are shown month by month, beside which what a price is now decides nothing.
fn entered_by_month<'a>(tree: &'a Value, pointer: &str) -> Option<&'a str> {
    let path = tree.pointer(&format!("{}/path", pointer.strip_suffix("/price")?))?;
    let is_entered = path.get("by").and_then(Value::as_str) == Some("entered");
    path.pointer("/prices/0").and_then(Value::as_str).filter(|_| is_entered)
}

/// The place that a pointer leads into.
fn place_of<'a>(scenario: &'a Scenario, pointer: &str) -> Option<&'a Place> {
    let parts: Vec<&str> = pointer.split('/').collect();
    let ["", "option", option, "place", place, ..] = parts[..] else { return None };
    scenario.options.get(option.parse::<usize>().ok()?)?.places.get(place.parse::<usize>().ok()?)
}

/// What it is, and whose: by its own name, of the data that moves, or of the supplier.
fn label(name: &str, more: &str, tree: &Value, (pointer, place): (&str, Option<&Place>)) -> String {
    let Some(place) = place else { return format!("{name}{more}") };
    let moved = pointer.split('/').skip_while(|it| *it != "moved").nth(1);
    let moved = moved.and_then(|at| place.moved.get(at.parse::<usize>().ok()?));
    let beside = pointer.strip_suffix("/amount").and_then(|it| tree.pointer(it)?.get("name")?.as_str());
    let name = beside.filter(|it| !it.is_empty()).unwrap_or(name);
    let committed = pointer.split('/').skip_while(|it| *it != "committed").nth(1);
    let committed = committed.and_then(|at| place.committed.get(at.parse::<usize>().ok()?));
    let name = if committed.is_some_and(Committed::is_owned) { OUR_OWN } else { name };
    let whose = match moved {
        Some(moved) if pointer.ends_with("/rates/of") => {
            return format!("{name} {}", moved.rates.tariff().name);
        }
        Some(moved) => &moved.name,
        None => &place.supplier,
    };
    if whose.is_empty() { format!("{name}{more}") } else { format!("{name}{more}, {whose}") }
}
