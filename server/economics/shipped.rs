//! What a file leaves to the product: amounts in US dollars of a date.
//!
//! In a scenario in dollars they hold as they are. In another currency they are converted where the file says what a
//! dollar is worth, and asked for, each by its field, where it does not.

use serde_json::{Map, Value};

use super::comparison::{Port, SHIPPED, at_rate};
use super::owning::{Fabric, Owning, Staff};
use crate::money::Decimal;

/// Of which month shipped prices of machines are.
pub const OF_MACHINES: &str = "2025-03";

/// An amount that nobody entered, by its key in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub path: Vec<String>,
    pub amount: Decimal,
}

impl Missing {
    /// What to write instead.
    pub fn message(&self, currency: &str) -> String {
        format!(
            "expected a price in {currency}; the shipped default is {} {SHIPPED} of {OF_MACHINES}. Enter yours, or the \
             value of a dollar: dollar = {{ worth = …, date = …, source = \"…\" }}",
            self.amount.normalize()
        )
    }
}

/// Writes what a document in another currency leaves out, converted; what cannot be converted is shown.
pub fn convert(document: &mut Value) -> Vec<Missing> {
    let currency = document.get("currency").and_then(Value::as_str).unwrap_or(SHIPPED);
    if currency == SHIPPED {
        return Vec::new();
    }
    let worth = document.pointer("/dollar/worth").and_then(number);
    let mut missing = Vec::new();
    let options = items(document.get_mut("option"));
    for (n, option) in options.enumerate() {
        for (m, place) in items(option.get_mut("place")).enumerate() {
            let at = ["option", &n.to_string(), "place", &m.to_string()].map(str::to_owned);
            let mut fill = |parent: &mut Value, keys: &[&str], name: &str, amount: Decimal| {
                let Some(object) = object(parent, keys) else { return };
                if object.contains_key(name) {
                    return;
                }
                match worth {
                    Some(worth) => {
                        object.insert(name.to_owned(), Value::String(at_rate(amount, worth).to_string()));
                    }
                    None => missing.push(Missing {
                        path: at
                            .iter()
                            .map(String::as_str)
                            .chain(keys.iter().copied())
                            .chain([name])
                            .map(str::to_owned)
                            .collect(),
                        amount,
                    }),
                }
            };
            if place.get("owned").is_some_and(Value::is_object) {
                let shipped = Owning::default();
                let machines = ["owned", "machines"];
                fill(place, &machines, "node_price", shipped.node_price);
                fill(place, &machines, "tariff", shipped.tariff);
                fill(place, &["owned", "machines", "staff"], "loaded_cost", Staff::default().loaded_cost);
                let has_fabric = place.pointer("/owned/machines/fabric").is_some();
                if let (false, Fabric::Node { price }) = (has_fabric, Fabric::default()) {
                    let fabric = ["owned", "machines", "fabric"];
                    fill(place, &fabric, "price", price);
                    if let Some(fabric) = object(place, &fabric) {
                        fabric.insert("by".to_owned(), Value::String("node".to_owned()));
                    }
                }
            }
            if place.get("porting").is_some_and(Value::is_object) {
                fill(place, &["porting"], "loaded_cost", Port::default().loaded_cost);
            }
        }
    }
    missing
}

fn number(value: &Value) -> Option<Decimal> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

fn items(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    list.and_then(Value::as_array_mut).into_iter().flatten()
}

/// What stands below, made where it is not there; none where something else is.
fn object<'a>(parent: &'a mut Value, keys: &[&str]) -> Option<&'a mut Map<String, Value>> {
    keys.iter().try_fold(parent.as_object_mut()?, |object, key| {
        object.entry((*key).to_owned()).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
    })
}
