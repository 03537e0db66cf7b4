//! What an address changes about a scenario: `?set=/option/0/place/0/on_demand/price=5.20&copy=/option/1`.
//!
//! Edits are applied in their order. A number is *set*; options, places and ways of paying are *added*, *copied* and
//! *removed*, and so is the kind of a demand or a room, which brings fields of its own. Between two edits of the second
//! kind fields stay where they are, so that a field is set at most once.

use serde_json::{Map, Value, json};

use super::field::{Field, Takes, fields};
use crate::money::Decimal;
use crate::scenario::comparison::Scenario;
use crate::scenario::price::{Tier, prices_of};
use crate::web::error::{Error, Result};

/// Values of an address beyond which nobody edits.
const MOST: usize = 400;

/// A change of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// A field, by its pointer, gets this text.
    Set(String, String),
    /// After itself.
    Copy(String),
    Add(String),
    Remove(String),
}

/// A text that no value of its field can be made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Misread {
    pub pointer: String,
    pub text: String,
    pub expected: &'static str,
}

/// A scenario as an address has it.
#[derive(Clone, Debug)]
pub(super) struct Edited {
    pub scenario: Scenario,
    pub edits: Vec<Edit>,
    /// Fields whose text means nothing; the scenario has what was there before.
    pub misread: Vec<Misread>,
}

impl Edit {
    /// Reads an edit as an address spells it; `None` of a parameter that is none.
    pub(super) fn read(name: &str, value: &str) -> Option<Result<Self>> {
        Some(match name {
            "set" => value
                .split_once('=')
                .map(|(pointer, text)| Self::Set(pointer.to_owned(), text.to_owned()))
                .ok_or_else(|| refusal(name, value, "a field and its value: /months=24")),
            "copy" => Ok(Self::Copy(value.to_owned())),
            "add" => Ok(Self::Add(value.to_owned())),
            "remove" => Ok(Self::Remove(value.to_owned())),
            _ => return None,
        })
    }

    /// What it edits.
    pub(super) fn pointer(&self) -> &str {
        match self {
            Self::Set(pointer, _) | Self::Copy(pointer) | Self::Add(pointer) | Self::Remove(pointer) => {
                pointer
            }
        }
    }

    /// As an address spells it.
    pub(super) fn pair(&self) -> (&'static str, String) {
        match self {
            Self::Set(pointer, text) => ("set", format!("{pointer}={text}")),
            Self::Copy(pointer) => ("copy", pointer.clone()),
            Self::Add(pointer) => ("add", pointer.clone()),
            Self::Remove(pointer) => ("remove", pointer.clone()),
        }
    }

    /// Whether it decides which fields there are.
    fn is_of_structure(&self) -> bool {
        match self {
            Self::Set(pointer, _) => is_kind(pointer),
            Self::Copy(_) | Self::Add(_) | Self::Remove(_) => true,
        }
    }
}

fn is_kind(pointer: &str) -> bool {
    pointer.ends_with("/demand/shape") || pointer.ends_with("/housing/in")
}

fn refusal(name: &str, value: &str, expected: &str) -> Error {
    Error::BadRequest(format!("{name}: found “{value}”, expected {expected}."))
}

impl Edited {
    /// A scenario with edits.
    ///
    /// # Errors
    /// Edits of what is not there.
    pub(super) fn of(base: &Scenario, edits: Vec<Edit>) -> Result<Self> {
        if edits.len() > MOST {
            return Err(refusal("set", &format!("{} edits", edits.len()), "at most 400"));
        }
        let mut edited = Self { scenario: base.clone(), edits: Vec::new(), misread: Vec::new() };
        let mut rest = edits.as_slice();
        while let Some(first) = rest.first() {
            let plain = rest.iter().take_while(|it| !it.is_of_structure()).count();
            let (now, later) = rest.split_at(plain.max(1));
            if plain == 0 {
                edited.restructure(first)?;
            } else {
                edited.set(now)?;
            }
            rest = later;
        }
        edited.edits = edits;
        Ok(edited)
    }

    /// The same with what a form says of every field, and then whatever its button does.
    pub(super) fn with_form(
        base: &Scenario,
        edits: &[Edit],
        form: &[(String, String)],
        act: Option<Edit>,
    ) -> Result<Self> {
        let kept = edits.iter().rposition(Edit::is_of_structure).map_or(0, |at| at + 1);
        let (structure, sets) = edits.split_at(kept);
        let before = Self::of(base, structure.to_vec())?;
        let (mut edits, mut kinds) = (structure.to_vec(), Vec::new());
        // What the form does not show stays as the address has it.
        let is_shown = |pointer: &str| form.iter().any(|(name, _)| name == pointer);
        edits.extend(sets.iter().filter(|it| !matches!(it, Edit::Set(at, _) if is_shown(at))).cloned());
        let known = fields(&before.scenario);
        let tree = tree(&before.scenario);
        for (pointer, text) in form {
            // A form that was open while fields went away names some that are no more.
            let Some(field) = known.iter().find(|it| it.pointer == *pointer) else { continue };
            let text = field.takes.to_document(text);
            if text == field.text_in(&tree) {
                continue;
            }
            let set = Edit::Set(pointer.clone(), text);
            if is_kind(pointer) { kinds.push(set) } else { edits.push(set) }
        }
        edits.extend(kinds);
        edits.extend(act);
        Self::of(base, edits)
    }

    /// What a field shows: what was typed, where it means nothing.
    pub(super) fn text(&self, field: &Field, tree: &Value) -> String {
        let misread = self.misread.iter().find(|it| it.pointer == field.pointer);
        misread.map_or_else(|| field.takes.to_form(&field.text_in(tree)), |it| it.text.clone())
    }

    fn set(&mut self, edits: &[Edit]) -> Result<()> {
        let known = fields(&self.scenario);
        let mut tree = tree(&self.scenario);
        for edit in edits {
            let Edit::Set(pointer, text) = edit else { continue };
            let Some(field) = known.iter().find(|it| it.pointer == *pointer) else {
                return Err(refusal("set", pointer, "a field of this scenario, such as /months"));
            };
            self.misread.retain(|it| it.pointer != *pointer);
            match field.takes.value(text) {
                Ok(value) => {
                    if let Some(place) = tree.pointer_mut(pointer) {
                        *place = value;
                    }
                }
                Err(expected) => {
                    let (pointer, text) = (pointer.clone(), text.clone());
                    self.misread.push(Misread { pointer, text, expected });
                }
            }
        }
        self.take(tree)
    }

    fn restructure(&mut self, edit: &Edit) -> Result<()> {
        let mut tree = tree(&self.scenario);
        let done = match edit {
            Edit::Set(pointer, kind) => change_kind(&mut tree, pointer, kind),
            Edit::Copy(pointer) => copy(&mut tree, pointer),
            Edit::Add(pointer) => add(&mut tree, pointer, &self.scenario),
            Edit::Remove(pointer) => remove(&mut tree, pointer),
        };
        if done.is_none() {
            let (name, value) = edit.pair();
            return Err(refusal(name, &value, "a part of this scenario that can be changed so"));
        }
        // Texts stand where their fields were.
        self.misread.clear();
        self.take(tree)
    }

    fn take(&mut self, tree: Value) -> Result<()> {
        self.scenario = serde_json::from_value(tree)
            .map_err(|error| Error::BadRequest(format!("This is no scenario: {error}.")))?;
        Ok(())
    }
}

pub(super) fn tree(scenario: &Scenario) -> Value {
    serde_json::to_value(scenario).unwrap_or_default()
}

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

fn change_kind(tree: &mut Value, pointer: &str, kind: &str) -> Option<()> {
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
        ("in", "own-room") => json!({ "in": kind }),
        ("in", "colocation") => {
            json!({ "in": kind, "price": "200", "contracted_kw": null, "energy": "separate" })
        }
        _ => return None,
    };
    Some(())
}

fn copy(tree: &mut Value, pointer: &str) -> Option<()> {
    let (list, at) = item(tree, pointer)?;
    let names: Vec<String> =
        list.iter().filter_map(|it| it.get("name")?.as_str().map(str::to_owned)).collect();
    let mut copied = list[at].clone();
    if let Some(name) = copied.get_mut("name") {
        let old = name.as_str().unwrap_or_default();
        // As many as there may be of anything, and one more, so that one is free.
        let free = (2..=names.len() + 2).map(|n| format!("{old} ({n})")).find(|it| !names.contains(it));
        *name = Value::String(free?);
    }
    list.insert(at + 1, copied);
    Some(())
}

fn remove(tree: &mut Value, pointer: &str) -> Option<()> {
    if let Some((list, at)) = item(tree, pointer) {
        list.remove(at);
        return Some(());
    }
    let (_, name) = parent(pointer)?;
    let is_way = ["on_demand", "spot", "owned"].contains(&name);
    let way = tree.pointer_mut(pointer).filter(|it| is_way && !it.is_null())?;
    *way = Value::Null;
    Some(())
}

fn add(tree: &mut Value, pointer: &str, scenario: &Scenario) -> Option<()> {
    let (_, name) = parent(pointer)?;
    let accelerator = scenario.work.first().map(|it| it.accelerator.as_str()).unwrap_or_default();
    let rate = |tier| rate(scenario, accelerator, tier);
    let place = json!({ "on_demand": rate(Tier::OnDemand) });
    let free = |list: &Value, what: &str| {
        let of: Vec<&str> =
            list.as_array().into_iter().flatten().filter_map(|it| it.get("name")?.as_str()).collect();
        (of.len() + 1..=2 * of.len() + 1).map(|n| format!("{what} {n}")).find(|it| !of.contains(&it.as_str()))
    };
    let target = tree.pointer_mut(pointer)?;
    let new = match name {
        "option" => json!({ "name": free(target, "Option")?, "place": [place] }),
        "work" => json!({
            "name": free(target, "work")?,
            "accelerator": accelerator,
            "demand": { "shape": "flat", "gpus": "8", "hours_per_day": 24 },
        }),
        "place" => place,
        "committed" => json!({ "rate": rate(Tier::ThreeYears), "months": scenario.months.min(36) }),
        "others" => json!({ "name": "Something else", "amount": "0", "per": "month" }),
        "on_demand" if target.is_null() => rate(Tier::OnDemand),
        "spot" if target.is_null() => json!({ "rate": rate(Tier::Spot) }),
        "owned" if target.is_null() => Value::Object(Map::new()),
        _ => return None,
    };
    match target {
        Value::Array(list) => list.push(new),
        other => *other = new,
    }
    Some(())
}

/// The cheapest listed price of the work's accelerator with its source; without one 0, which asks for another.
fn rate(scenario: &Scenario, accelerator: &str, tier: Tier) -> Value {
    let is_listed = scenario.currency.as_str() == "USD";
    let found = prices_of(accelerator).into_iter().find(|it| is_listed && it.tier == tier);
    found.map_or_else(
        || json!({ "price": Decimal::ZERO }),
        |it| {
            let source = format!("{} {}, {}", it.supplier, it.sku, it.source);
            json!({ "price": it.usd_per_hour, "date": it.date, "source": source, "region": it.region })
        },
    )
}

impl Takes {
    /// The value that a text of a document means, or what would be one.
    fn value(self, text: &str) -> Result<Value, &'static str> {
        let text = text.trim();
        let number = || super::super::form::amount(text);
        let whole = || text.replace(',', "").parse::<u32>().ok();
        match self {
            Self::Text => Ok(Value::String(text.to_owned())),
            Self::Number | Self::Percent => {
                number().map(|it| json!(it)).ok_or("expected a number, with a point before decimals")
            }
            Self::NumberOrNone | Self::PercentOrNone | Self::DayOrNone if text.is_empty() => Ok(Value::Null),
            Self::NumberOrNone | Self::PercentOrNone => {
                number().map(|it| json!(it)).ok_or("expected a number, or nothing")
            }
            Self::Whole => whole().map(|it| json!(it)).ok_or("expected a whole number"),
            Self::Gpus if text == "best" => Ok(json!("best")),
            Self::Gpus => {
                whole().map(|it| json!(it)).ok_or("expected a number of GPUs, or best: as many as cost least")
            }
            Self::DayOrNone => {
                let day = text.parse::<chrono::NaiveDate>();
                day.map(|it| json!(it)).map_err(|_| "expected a date such as 2026-09-30")
            }
            Self::OneOf(words) => {
                let is_one = words.iter().any(|(word, _)| *word == text);
                if is_one { Ok(json!(text)) } else { Err("expected one of those to choose from") }
            }
        }
    }

    /// What a form's text is in the document, which counts shares of 1. What means nothing stays.
    fn to_document(self, text: &str) -> String {
        let text = text.trim().replace("\r\n", "\n");
        match self {
            Self::Percent | Self::PercentOrNone => {
                let number = super::super::form::amount(text.trim_end_matches('%').trim_end());
                number
                    .and_then(|it| it.divide(100.into(), it.scale() + 2))
                    .map_or(text, |it| it.normalize().to_string())
            }
            Self::Number | Self::NumberOrNone => {
                super::super::form::amount(&text).map_or(text, |it| it.normalize().to_string())
            }
            _ => text,
        }
    }

    /// What the document's text is in a form.
    pub(super) fn to_form(self, text: &str) -> String {
        match self {
            Self::Percent | Self::PercentOrNone => {
                text.parse::<Decimal>().map_or(text.to_owned(), |it| it.times(100).normalize().to_string())
            }
            _ => text.to_owned(),
        }
    }
}

impl Field {
    /// Whether it names the kind of what it stands in, so that other fields come and go with it.
    pub(super) fn is_kind(&self) -> bool {
        is_kind(&self.pointer)
    }

    /// What a document says of it.
    pub(super) fn text_in(&self, tree: &Value) -> String {
        match tree.pointer(&self.pointer) {
            Some(Value::String(text)) => match self.takes {
                Takes::Text | Takes::OneOf(_) | Takes::DayOrNone | Takes::Gpus | Takes::Whole => text.clone(),
                _ => text.parse::<Decimal>().map_or(text.clone(), |it| it.normalize().to_string()),
            },
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests;
