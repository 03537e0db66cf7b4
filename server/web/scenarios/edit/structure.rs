//! Edits that decide which fields there are: what is added, copied, removed, and of which kind a thing is.

use serde_json::{Map, Value, json};

use super::Edit;
use crate::economics::comparison::{Port, Scenario, at_rate};
use crate::economics::owning::{Draw, Owning, Residual, Step};
use crate::money::Decimal;
use crate::money::arithmetic::one;
use crate::price_catalogue::{Catalogue, Price, Tier};

/// A pointer's end and what it stands in.
fn parent(pointer: &str) -> Option<(&str, &str)> {
    pointer.rsplit_once('/')
}

/// A list and a place in it.
fn item<'a>(tree: &'a mut Value, pointer: &str) -> Option<(&'a mut Vec<Value>, usize)> {
    let (list, at) = parent(pointer)?;
    let at: usize = at.parse().ok()?;
    let list = tree.pointer_mut(list)?.as_array_mut()?;
    (at < list.len()).then_some((list, at))
}

/// Whether what an edit brings is shipped with a price in US dollars.
pub(super) fn brings_dollars(edit: &Edit) -> bool {
    match edit {
        Edit::Add(pointer) => {
            let name = parent(pointer).map_or("", |(_, name)| name);
            ["owned", "porting", "spend", "moved"].contains(&name)
        }
        Edit::Set(pointer, kind) => {
            let tag = parent(pointer).map_or("", |(_, name)| name);
            let kind = (tag, kind.as_str());
            let is_listed = tag == "of" && !["node", "gpu", "free"].contains(&kind.1);
            is_listed || [("by", "node"), ("by", "port"), ("in", "colocation")].contains(&kind)
        }
        Edit::Copy(_) | Edit::Remove(_) => false,
    }
}

/// A kind with what it brings. A dollar of what is shipped is worth so much.
pub(super) fn change_kind(tree: &mut Value, pointer: &str, kind: &str, dollar: Decimal) -> Option<()> {
    let (whole, tag) = parent(pointer)?;
    let before = tree.pointer_mut(whole)?;
    let gpus = ["gpus", "base", "high"].iter().find_map(|name| before.get(name)?.as_str().map(str::to_owned));
    let gpus = gpus.unwrap_or_else(|| "64".to_owned());
    *before = match (tag, kind) {
        ("shape", "flat") => json!({ "shape": kind, "gpus": gpus, "hours_per_day": 24 }),
        ("shape", "between") => json!({ "shape": kind, "low": "0", "high": gpus }),
        ("shape", "swinging") => {
            json!({ "shape": kind, "base": gpus, "day_swing": "0.4", "weekend": "0.5", "noise": "0.1", "seed": 1 })
        }
        // What a GPU makes is for somebody to measure: 0 asks for it.
        ("shape", "serving") => json!({ "shape": kind }),
        ("shape", "levels") => json!({ "shape": kind, "levels": [{ "gpus": gpus, "share": "1" }] }),
        ("shape", "runs") => {
            json!({ "shape": kind, "gpus": gpus, "runs_per_year": 4, "hours_per_run": 336 })
        }
        ("by", "share") => json!({ "by": kind, "share": "0.2" }),
        ("by", "age") => json!(Residual::default()),
        ("by", "node") => json!(Owning::default().at_rate(dollar).fabric),
        ("by", "port") => json!({ "by": kind, "price": at_rate(1250.into(), dollar), "per_node": 8 }),
        ("of", "node") => json!(Draw::default()),
        ("of", "gpu") => json!({ "of": kind, "idle_kw": "0.1", "load_kw": "0.7", "node_factor": "1.82" }),
        ("of", "flat") => json!({ "of": kind, "price": at_rate(Decimal::new(9, 2), dollar) }),
        ("of", "aws" | "azure" | "google-premium" | "google-standard" | "free") => json!({ "of": kind }),
        ("nodes", "bought") => json!({ "nodes": kind }),
        // What a month costs is in an offer: 0 asks for it.
        ("nodes", "leased") => json!({ "nodes": kind, "price": "0" }),
        ("in", "own-room") => json!({ "in": kind }),
        ("in", "colocation") => {
            let price = at_rate(200.into(), dollar);
            json!({ "in": kind, "price": price, "contracted_kw": null, "energy": "separate" })
        }
        _ => return None,
    };
    forget_ranges(tree, whole);
    Some(())
}

fn names(list: &[Value]) -> Vec<String> {
    list.iter().filter_map(|it| it.get("name")?.as_str().map(str::to_owned)).collect()
}

/// A name as it is, or with a number where something is called so.
fn unlike(names: &[String], name: &str) -> Option<String> {
    // As many as there may be of anything, and one more, so that one is free.
    let numbered = (2..=names.len() + 2).map(|n| format!("{name} ({n})"));
    std::iter::once(name.to_owned()).chain(numbered).find(|it| !names.contains(it))
}

pub(super) fn copy(tree: &mut Value, pointer: &str) -> Option<()> {
    let (list, at) = item(tree, pointer)?;
    let names = names(list);
    let mut copied = list[at].clone();
    if let Some(name) = copied.get_mut("name") {
        *name = Value::String(unlike(&names, name.as_str().unwrap_or_default())?);
    }
    list.insert(at + 1, copied);
    Some(())
}

/// Makes the range that a pointer leads into, where none is stated.
pub(super) fn begin_range(tree: &mut Value, pointer: &str) {
    let Some((whole, rest)) = pointer.split_once("/ranges/") else { return };
    let Some((number, _)) = parent(rest) else { return };
    let Some(whole) = tree.pointer_mut(whole).and_then(Value::as_object_mut) else { return };
    let ranges = whole.entry("ranges").or_insert_with(|| json!({}));
    if let Some(ranges) = ranges.as_object_mut() {
        ranges.insert(number.to_owned(), json!({ "low": null, "high": null, "source": "" }));
    }
}

/// Every object that may state ranges.
fn with_ranges(tree: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match tree {
        Value::Object(entries) => {
            if let Some(Value::Object(ranges)) = entries.get_mut("ranges") {
                visit(ranges);
            }
            entries.values_mut().for_each(|it| with_ranges(it, visit));
        }
        Value::Array(items) => items.iter_mut().for_each(|it| with_ranges(it, visit)),
        _ => {}
    }
}

/// A range with neither end is none.
pub(super) fn forget_empty_ranges(tree: &mut Value) {
    let has_end =
        |range: &Value| ["low", "high"].iter().any(|end| range.get(end).is_some_and(|it| !it.is_null()));
    with_ranges(tree, &mut |ranges| ranges.retain(|_, range| has_end(range)));
}

/// Ranges of what stands under a pointer go with it; of a list, those of what comes later are of its new places.
fn forget_ranges(tree: &mut Value, pointer: &str) {
    let Some(at) = super::super::field::ranges_of(pointer) else { return };
    let Some((whole, number)) = at.split_once("/ranges/") else { return };
    let Some(Value::Object(ranges)) = tree.pointer_mut(&format!("{whole}/ranges")) else { return };
    let gone = |key: &str| key == number || key.starts_with(&format!("{number}."));
    let moved =
        number.rsplit_once('.').and_then(|(list, n)| Some((list.to_owned(), n.parse::<usize>().ok()?)));
    let before = std::mem::take(ranges);
    for (key, range) in before.into_iter().filter(|(key, _)| !gone(key)) {
        let later = moved.as_ref().and_then(|(list, removed)| {
            let rest = key.strip_prefix(list.as_str())?.strip_prefix('.')?;
            let (n, rest) = rest.split_once('.')?;
            let n = n.parse::<usize>().ok().filter(|n| n > removed)?;
            Some(format!("{list}.{}.{rest}", n - 1))
        });
        ranges.insert(later.unwrap_or(key), range);
    }
}

pub(super) fn remove(tree: &mut Value, pointer: &str) -> Option<()> {
    removed(tree, pointer)?;
    forget_ranges(tree, pointer);
    Some(())
}

fn removed(tree: &mut Value, pointer: &str) -> Option<()> {
    if let Some((list, at)) = item(tree, pointer) {
        list.remove(at);
        return Some(());
    }
    let (_, name) = parent(pointer)?;
    let is_way = [
        "on_demand",
        "spot",
        "owned",
        "spend",
        "spend_rate",
        "cheaper_hours",
        "porting",
        "per_million_tokens",
    ]
    .contains(&name);
    let way = tree.pointer_mut(pointer).filter(|it| is_way && !it.is_null())?;
    *way = Value::Null;
    Some(())
}

pub(super) fn add(
    tree: &mut Value,
    pointer: &str,
    (scenario, dollar): (&Scenario, Decimal),
    list: &Catalogue,
) -> Option<()> {
    let (_, name) = parent(pointer)?;
    let accelerator = scenario.work.first().map(|it| it.accelerator.as_str()).unwrap_or_default();
    let offer = |tier| cheapest(scenario, list, accelerator, tier);
    let rate = |tier| rate(offer(tier));
    let supplier = offer(Tier::OnDemand).map_or("", |it| it.supplier.as_str());
    let place = json!({ "supplier": supplier, "on_demand": rate(Tier::OnDemand) });
    let free = |list: &Value, what: &str| {
        let of: Vec<&str> =
            list.as_array().into_iter().flatten().filter_map(|it| it.get("name")?.as_str()).collect();
        (of.len() + 1..=2 * of.len() + 1).map(|n| format!("{what} {n}")).find(|it| !of.contains(&it.as_str()))
    };
    let target = tree.pointer_mut(pointer)?;
    let new = match name {
        // Called by what it is.
        "option" if !supplier.is_empty() => {
            let name = unlike(&names(target.as_array()?), &format!("On demand, {supplier}"))?;
            json!({ "name": name, "place": [place] })
        }
        "option" => json!({ "name": free(target, "Option")?, "place": [place] }),
        "work" => json!({
            "name": free(target, "work")?,
            "accelerator": accelerator,
            "demand": { "shape": "flat", "gpus": "8", "hours_per_day": 24 },
        }),
        "place" => place,
        "committed" => json!({ "rate": rate(Tier::ThreeYears), "months": scenario.months.min(36) }),
        "blocks" => json!({ "rate": rate(Tier::OnDemand), "gpus": 8, "hours": 168, "every_months": 1 }),
        "others" => json!({ "name": "Something else", "amount": "0", "per": "month" }),
        "moved" => {
            json!({ "name": free(target, "Data")?, "rates": { "of": "aws" }, "gigabytes": "1000", "every": "month" })
        }
        "levels" => json!({ "gpus": "0", "share": "0" }),
        "shares" => target.as_array()?.last()?.clone(),
        "steps" => {
            let steps: Vec<Step> = serde_json::from_value(target.clone()).ok()?;
            let highest = steps.last();
            let gpus = highest.map_or(64, |it| it.up_to_gpus.saturating_mul(2));
            json!({ "up_to_gpus": gpus, "people": highest.map_or_else(one, |it| it.people + one()) })
        }
        "per_million_tokens" if target.is_null() => json!({ "price": Decimal::ZERO }),
        "on_demand" if target.is_null() => rate(Tier::OnDemand),
        "spend" if target.is_null() => {
            json!({ "per_hour": at_rate(10.into(), dollar), "months": scenario.months.min(36) })
        }
        "spend_rate" if target.is_null() => rate(Tier::ThreeYears),
        "spot" if target.is_null() => json!({ "rate": rate(Tier::Spot) }),
        "cheaper_hours" if target.is_null() => json!({ "from": 20, "until": 6, "factor": "0.7" }),
        "owned" if target.is_null() => json!({ "machines": Owning::default().at_rate(dollar) }),
        "porting" if target.is_null() => {
            json!({ "loaded_cost": at_rate(Port::default().loaded_cost, dollar) })
        }
        _ => return None,
    };
    match target {
        Value::Array(list) => list.push(new),
        other => *other = new,
    }
    Some(())
}

/// The cheapest listed price of the work's accelerator.
fn cheapest<'a>(
    scenario: &Scenario,
    list: &'a Catalogue,
    accelerator: &'a str,
    tier: Tier,
) -> Option<&'a Price> {
    list.of(accelerator).find(|it| it.currency == scenario.currency && it.tier == tier)
}

/// A price with its source; without one 0, which asks for another.
fn rate(offer: Option<&Price>) -> Value {
    offer.map_or_else(
        || json!({ "price": Decimal::ZERO }),
        |it| {
            let source = format!("{}, {}", format!("{} {}", it.supplier, it.sku).trim_end(), it.source);
            json!({ "price": it.amount, "date": it.date, "source": source, "region": it.region })
        },
    )
}
