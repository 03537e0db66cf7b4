//! What was edited, in words.

use super::super::edit::{Edit, Edited};
use super::super::field::{Field, Section, sections};
use super::page::Page;
use crate::economics::comparison::Scenario;
use crate::economics::profile::Shape;
use crate::economics::uncertainty::{BreakPoint, Input};

impl Page {
    /// What was edited, in words, each with the address without it; and what cannot go alone, since later edits stand on it.
    pub(super) fn chips(&self) -> (Vec<(String, String)>, Vec<String>) {
        let before = sections(self.base.scenario());
        let edits = &self.edited.edits;
        let base = without_hours(self.base.scenario());
        let (mut free, mut bound) = (Vec::new(), Vec::new());
        for (at, edit) in edits.iter().enumerate() {
            let rest: Vec<Edit> = edits[..at].iter().chain(&edits[at + 1..]).cloned().collect();
            let words = self.in_words(edit, &before);
            if edit.is_of_structure() && Edited::of(&base, rest.clone(), &self.edited.prices).is_err() {
                bound.push(words);
            } else {
                free.push((words, self.base.at("", &rest, self.revision())));
            }
        }
        (free, bound)
    }

    fn in_words(&self, edit: &Edit, before: &[Section]) -> String {
        match edit {
            Edit::Set(pointer, text) => {
                let known = find(&self.sections, pointer).or_else(|| find(before, pointer));
                let Some((label, field)) = known else { return format!("{pointer}: {text}") };
                let shown = |text: &str| {
                    let choice = field.takes.choice(text);
                    choice.map_or_else(|| field.takes.to_form(text), str::to_owned)
                };
                let (was, now) = (shown(&field.text_in(&self.before)), shown(text));
                let unit = if field.unit.starts_with('%') { "%" } else { "" };
                if was.is_empty() {
                    format!("{label}: {now}{unit}")
                } else {
                    format!("{label}: {was} → {now}{unit}")
                }
            }
            Edit::Copy(pointer) => format!("Copied {}", place_in_words(pointer)),
            Edit::Add(pointer) => format!("Added {}", place_in_words(pointer)),
            Edit::Remove(pointer) => format!("Removed {}", place_in_words(pointer)),
        }
    }

    /// The field of the form where a number that is uncertain is changed, by its pointer; none where no form has it.
    pub(super) fn field_of(&self, input: &Input) -> Option<String> {
        input.keys.iter().find(|key| find(&self.sections, key).is_some()).cloned()
    }

    /// The address where a number is a little beyond that in every place where it stands; none where a form cannot say that.
    pub(super) fn at_break_point(&self, break_point: &BreakPoint) -> Option<String> {
        let stands_for_itself = |key: &String| !["/of", "/by"].iter().any(|end| key.ends_with(end));
        let is_field = |key: &String| stands_for_itself(key) && find(&self.sections, key).is_some();
        let keys = &break_point.input.keys;
        let value = break_point.beyond().to_string();
        let set = |key: &String| Edit::Set(key.clone(), value.clone());
        let edits: Vec<Edit> = self.edited.edits.iter().cloned().chain(keys.iter().map(set)).collect();
        keys.iter().all(is_field).then(|| self.base.at("", &edits, self.revision()))
    }

    /// What a field is called with what it belongs to.
    pub(super) fn label(&self, pointer: &str) -> String {
        find(&self.sections, pointer).map_or_else(|| place_in_words(pointer), |(label, _)| label)
    }
}

/// A field by its pointer, with what it is called.
fn find<'a>(sections: &'a [Section], pointer: &str) -> Option<(String, &'a Field)> {
    let of = |section: &'a Section| section.fields().find(|it| it.pointer == pointer).map(|it| (section, it));
    sections.iter().find_map(of).map(|(section, field)| (section.label(field), field))
}

/// The same fields, without the thousands of hours of what was measured.
fn without_hours(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    for work in &mut scenario.work {
        if let Shape::Hours { gpus } = &mut work.demand {
            gpus.truncate(1);
        }
    }
    scenario
}

/// `/option/1/place/0/spot`: spot of option 2.
fn place_in_words(pointer: &str) -> String {
    let parts: Vec<&str> = pointer.split('/').skip(1).collect();
    let number = |at: &str| at.parse::<usize>().map_or_else(|_| at.to_owned(), |at| (at + 1).to_string());
    let what = |name: &str| match name {
        "on_demand" => "on demand".to_owned(),
        "committed" => "a reservation".to_owned(),
        "owned" => "on-prem machines".to_owned(),
        "others" => "a cost".to_owned(),
        "place" => "a place".to_owned(),
        "moved" => "moved data".to_owned(),
        "per_million_tokens" => "a price per token".to_owned(),
        "steps" => "a staffing level".to_owned(),
        "levels" => "a demand level".to_owned(),
        other => other.replace('_', " "),
    };
    match parts.as_slice() {
        ["option"] => "an option".to_owned(),
        ["work"] => "work".to_owned(),
        [one] => what(one),
        [kind, at] => format!("{} {}", what(kind), number(at)),
        [kind, at, .., last] => {
            let name = if last.parse::<usize>().is_ok() { parts[parts.len() - 2] } else { last };
            format!("{} of {} {}", what(name), what(kind), number(at))
        }
        [] => "the scenario".to_owned(),
    }
}
