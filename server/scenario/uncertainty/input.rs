//! What of a scenario is uncertain, and between which values.
//!
//! The same price in two options (an offer that one takes alone and another as overflow) is one input: it cannot be high
//! in one and low in the other.

use serde::Serialize;
use serde_json::Value;

use crate::money::Decimal;
use crate::scenario::arithmetic::{decimal, product};
use crate::scenario::comparison::Scenario;

/// A number that may turn out lower or higher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Input {
    /// Where it stands, as JSON pointers; the same number in several places.
    pub keys: Vec<String>,
    /// As a person reads it.
    pub label: String,
    pub value: Decimal,
    pub low: Decimal,
    pub high: Decimal,
    /// What it can be at all.
    #[serde(skip)]
    pub least: Decimal,
    #[serde(skip)]
    pub most: Decimal,
}

/// More than anything that is entered.
const MOST: i64 = 1_000_000_000_000;
/// The price of a block.
const BLOCK: &str = "/blocks/rate/price";

/// An input by how its pointer ends, its name, and its low and high in hundredths of its value.
const RANGES: [(&str, &str, i64, i64); 24] = [
    ("/on_demand/price", "On demand", 80, 120),
    ("/per_million_tokens/price", "A million tokens", 60, 120),
    ("/spot/rate/price", "Spot", 70, 150),
    ("/rate/price", "Commitment", 90, 110),
    (BLOCK, "Capacity block", 80, 120),
    // What is lost to interruptions.
    ("/spot/rework", "Hours of spot for a useful one", 95, 115),
    ("/unserved_cost", "An hour that is not served", 50, 200),
    ("/porting/meanwhile/price", "Where it runs meanwhile", 80, 120),
    ("/porting/engineer_weeks", "Weeks of porting", 50, 200),
    ("/porting/loaded_cost", "Loaded cost of an engineer", 80, 120),
    // Quotes of one machine differ by as much (Epoch AI, machine learning hardware).
    ("/machines/node_price", "Price of a node", 80, 120),
    ("/machines/tenure/price", "Lease of a node", 80, 120),
    ("/machines/fabric/price", "Fabric", 80, 120),
    ("/machines/tariff", "Price of a kWh", 70, 150),
    ("/machines/pue", "PUE", 90, 120),
    ("/machines/staff/loaded_cost", "Loaded cost of staff", 80, 120),
    ("/machines/maintenance_share", "Maintenance", 60, 200),
    ("/machines/housing/price", "Colocation", 75, 150),
    ("/machines/demand_charge", "Demand charge", 80, 120),
    ("/machines/software_per_gpu", "Software", 50, 150),
    ("/machines/residual/share", "Residual value", 50, 150),
    // Two to four years for three: lives that are planned for, and that were seen.
    ("/machines/life_years", "Years until it is replaced", 67, 133),
    ("/support", "Support", 50, 150),
    ("/cost_of_capital", "Cost of capital", 50, 150),
];

impl Input {
    /// Whether it is a share of 1: nothing else can be 1 at most.
    pub fn is_share(&self) -> bool {
        self.most == 1.into()
    }
}

/// What of a scenario is uncertain. What costs nothing is not.
pub fn inputs(scenario: &Scenario) -> Vec<Input> {
    let tree = serde_json::to_value(scenario).unwrap_or_default();
    let mut found: Vec<Input> = Vec::new();
    walk(&tree, String::new(), &mut |pointer, value| {
        let Some((_, name, low, high)) = RANGES.iter().find(|(end, ..)| is_of(&pointer, end)) else { return };
        // Prices that are entered month by month are one input: they are all lower, or all higher.
        let by_month = entered_by_month(&tree, &pointer);
        let Ok(value) = by_month.unwrap_or(value).parse::<Decimal>() else { return };
        if value.is_zero() {
            return;
        }
        let mut label = (*name).to_owned();
        if by_month.is_some() {
            label += " month by month";
        }
        let whose = supplier(&tree, &pointer);
        if !whose.is_empty() {
            label = format!("{label}, {whose}");
        }
        if let Some(same) = found.iter_mut().find(|it| it.label == label && it.value == value) {
            same.keys.push(pointer);
            return;
        }
        let times = |hundredths: i64| product(&[value, decimal(hundredths, 2)]);
        // A PUE is 1 at best, as are hours for a useful one; a share is at most 1.
        let (least, most) = match *name {
            "PUE" | "Hours of spot for a useful one" => (1.into(), 10.into()),
            "Residual value" | "Maintenance" | "Cost of capital" | "Support" => (Decimal::ZERO, 1.into()),
            "Years until it is replaced" => (decimal(1, 1), 50.into()),
            _ => (Decimal::ZERO, MOST.into()),
        };
        let (least, most) = (value.min(least), value.max(most));
        let (low, high) = (times(*low).max(least), times(*high).min(most));
        found.push(Input { keys: vec![pointer], label, value, low, high, least, most });
    });
    found
}

fn is_of(pointer: &str, end: &str) -> bool {
    // Each block has a place in a list of them.
    if pointer.contains("/blocks/") {
        return end == BLOCK && pointer.ends_with("/rate/price");
    }
    // What money costs stands at the top; that of machines follows from it.
    if end == "/cost_of_capital" { pointer == end } else { pointer.ends_with(end) }
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

/// The first of prices that are told month by month, beside which what a price is now decides nothing.
fn entered_by_month<'a>(tree: &'a Value, pointer: &str) -> Option<&'a str> {
    let path = tree.pointer(&format!("{}/path", pointer.strip_suffix("/price")?))?;
    let is_entered = path.get("by").and_then(Value::as_str) == Some("entered");
    path.pointer("/prices/0").and_then(Value::as_str).filter(|_| is_entered)
}

/// Who sells what a pointer leads to: the supplier of its place.
fn supplier(tree: &Value, pointer: &str) -> String {
    let parts: Vec<&str> = pointer.split('/').collect();
    // "", "option", n, "place", m, …
    let Some(place) = parts.get(..5) else { return String::new() };
    let found = tree.pointer(&format!("{}/supplier", place.join("/")));
    found.and_then(Value::as_str).unwrap_or_default().to_owned()
}
