//! What an address changes about a scenario: `?set=/option/0/place/0/on_demand/price=5.20&copy=/option/1`.
//!
//! Edits are applied in their order. A number is *set*; options, places and ways of paying are *added*, *copied* and
//! *removed*, and so is the kind of a demand or a room, which brings fields of its own. Between two edits of the second
//! kind fields stay where they are, so that a field is set at most once. Another currency converts every amount ([`currency`]).

mod currency;
mod structure;
mod text;

use std::sync::Arc;

use serde_json::Value;

use super::field::{Field, fields};
use super::prices::Prices;
use crate::cancellation;
use crate::economics::check;
use crate::economics::comparison::Scenario;
use crate::money::arithmetic::one;
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
    /// What a rate can take, and what is added takes.
    pub prices: Arc<Prices>,
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
    pub(super) fn is_of_structure(&self) -> bool {
        match self {
            Self::Set(pointer, _) => is_kind(pointer),
            Self::Copy(_) | Self::Add(_) | Self::Remove(_) => true,
        }
    }
}

fn is_kind(pointer: &str) -> bool {
    let kinds = [
        "/demand/shape",
        "/housing/in",
        "/tenure/nodes",
        "/residual/by",
        "/fabric/by",
        "/draw/of",
        "/rates/of",
    ];
    pointer == currency::POINTER || kinds.iter().any(|it| pointer.ends_with(it))
}

fn refusal(name: &str, value: &str, expected: &str) -> Error {
    Error::BadRequest(format!("{name}: found “{value}”. Enter {expected}."))
}

impl Edited {
    /// A scenario with edits.
    ///
    /// # Errors
    /// Edits of what is not there.
    pub(super) fn of(base: &Scenario, edits: Vec<Edit>, prices: &Arc<Prices>) -> Result<Self> {
        if edits.len() > MOST {
            return Err(refusal("set", &format!("{} edits", edits.len()), "at most 400"));
        }
        let mut edited = Self {
            scenario: base.clone(),
            edits: Vec::new(),
            misread: Vec::new(),
            prices: Arc::clone(prices),
        };
        edited.take_dollar(&edits);
        let mut found = Vec::new();
        let mut rest = edits.as_slice();
        while let Some(first) = rest.first() {
            cancellation::check();
            let plain = rest.iter().take_while(|it| !it.is_of_structure()).count();
            let (now, later) = rest.split_at(plain.max(1));
            if plain == 0 {
                found.extend(edited.restructure(first)?);
            } else {
                edited.set(now)?;
            }
            rest = later;
        }
        // An exchange rate that was found stays in the address, whatever rates are entered later.
        edited.edits = found.into_iter().chain(edits).collect();
        Ok(edited)
    }

    /// The same with what a form says of every field, and then whatever its button does.
    pub(super) fn with_form(
        base: &Scenario,
        edits: &[Edit],
        form: &[(String, String)],
        act: Option<Edit>,
        prices: &Arc<Prices>,
    ) -> Result<Self> {
        let kept = edits.iter().rposition(Edit::is_of_structure).map_or(0, |at| at + 1);
        let (structure, sets) = edits.split_at(kept);
        let before = Self::of(base, structure.to_vec(), prices)?;
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
        Self::of(base, edits, prices)
    }

    /// The same where a rate takes an offer: its price, and where and when that was read.
    pub(super) fn with_offer(self, base: &Scenario, pointer: &str, offer: &str) -> Result<Self> {
        let Some(choice) = self.prices.choice(&self.scenario, pointer, offer) else {
            return Err(refusal("do", &format!("take:{pointer}={offer}"), "a rate, and an offer for it"));
        };
        let kept = self.edits.iter().rposition(Edit::is_of_structure).map_or(0, |at| at + 1);
        let (known, tree) = (fields(&self.scenario), tree(&self.scenario));
        let mut edits = self.edits;
        let mut sets = edits.split_off(kept);
        for (pointer, text) in choice.texts {
            let Some(field) = known.iter().find(|it| it.pointer == pointer) else { continue };
            let is_misread = self.misread.iter().any(|it| it.pointer == pointer);
            if field.text_in(&tree) != text || is_misread {
                sets.retain(|edit| edit.pointer() != pointer);
                sets.push(Edit::Set(pointer, text));
            }
        }
        edits.extend(sets);
        Self::of(base, edits, &self.prices)
    }

    /// What the last edit added or copied, by its pointer.
    pub(super) fn made(&self) -> Option<String> {
        match self.edits.last()? {
            Edit::Add(pointer) => match tree(&self.scenario).pointer(pointer)? {
                Value::Array(list) => Some(format!("{pointer}/{}", list.len().checked_sub(1)?)),
                _ => Some(pointer.clone()),
            },
            Edit::Copy(pointer) => {
                let (list, at) = pointer.rsplit_once('/')?;
                Some(format!("{list}/{}", at.parse::<usize>().ok()? + 1))
            }
            Edit::Set(..) | Edit::Remove(_) => None,
        }
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
            if currency::is_of_dollar(pointer) {
                continue;
            }
            let Some(field) = known.iter().find(|it| it.pointer == *pointer) else {
                return Err(refusal("set", pointer, "a field of this scenario, such as /months"));
            };
            self.misread.retain(|it| it.pointer != *pointer);
            match field.takes.value(text) {
                Ok(value) => {
                    if tree.pointer(pointer).is_none() {
                        structure::begin_range(&mut tree, pointer);
                    }
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
        structure::forget_empty_ranges(&mut tree);
        self.take(tree)
    }

    /// What else was found out for it belongs into the address, too.
    fn restructure(&mut self, edit: &Edit) -> Result<Vec<Edit>> {
        if let Edit::Set(pointer, code) = edit
            && pointer == currency::POINTER
        {
            return Ok(self.convert(code));
        }
        let (dollar, found) = if structure::brings_dollars(edit) {
            let Some((dollar, found)) = self.dollar() else {
                self.ask_for_dollar();
                return Ok(Vec::new());
            };
            (dollar, found)
        } else {
            (one(), Vec::new())
        };
        let mut tree = tree(&self.scenario);
        let done = match edit {
            Edit::Set(pointer, kind) => structure::change_kind(&mut tree, pointer, kind, dollar),
            Edit::Copy(pointer) => structure::copy(&mut tree, pointer),
            Edit::Add(pointer) => {
                structure::add(&mut tree, pointer, (&self.scenario, dollar), self.prices.list())
            }
            Edit::Remove(pointer) => structure::remove(&mut tree, pointer),
        };
        if done.is_none() {
            let (name, value) = edit.pair();
            return Err(refusal(name, &value, "a part of this scenario that can be changed this way"));
        }
        // Texts stand where their fields were.
        self.misread.retain(|it| currency::is_of_dollar(&it.pointer));
        self.take(tree)?;
        let adds = matches!(edit, Edit::Add(_) | Edit::Copy(_));
        if let Some(too_many) = check::too_many(&self.scenario).filter(|_| adds) {
            return Err(Error::BadRequest(format!("{too_many}. Nothing was added. Remove something first.")));
        }
        Ok(found)
    }

    fn take(&mut self, tree: Value) -> Result<()> {
        self.scenario = serde_json::from_value(tree)
            .map_err(|error| Error::BadRequest(format!("This is not a valid scenario: {error}.")))?;
        Ok(())
    }
}

pub(super) fn tree(scenario: &Scenario) -> Value {
    serde_json::to_value(scenario).unwrap_or_default()
}

#[cfg(test)]
mod tests;
