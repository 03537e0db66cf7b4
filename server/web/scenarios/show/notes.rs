//! What is said beside fields: why a value cannot be computed with, and what is odd about it.

use super::super::super::filters;
use super::super::super::words::number;
use super::super::address::Said;
use super::super::edit::Edited;
use super::super::field::{Section, Takes, sections};
use super::page::Page;
use crate::economics::check::Finding;
use crate::money::Decimal;

/// What is said beside a field.
pub(super) struct Note {
    pub pointer: String,
    pub sentence: String,
    pub is_refusal: bool,
}

impl Page {
    pub(super) fn notes_of(&self, pointer: &str) -> Vec<&Note> {
        self.notes.iter().filter(|it| it.pointer == pointer).collect()
    }

    pub(super) fn is_refused(&self, pointer: &str) -> bool {
        self.notes.iter().any(|it| it.is_refusal && it.pointer == pointer)
    }

    pub(super) fn refusals(&self) -> Vec<&Note> {
        self.notes.iter().filter(|it| it.is_refusal).collect()
    }

    pub(super) fn warnings(&self) -> Vec<&Note> {
        self.notes.iter().filter(|it| !it.is_refusal).collect()
    }

    /// Every place beside a field where something may be said, for htmx.
    pub(super) fn spots(&self) -> String {
        let fields = self.sections.iter().flat_map(Section::fields);
        let spots: Vec<String> = fields.map(|it| format!("#{}", note_id(&it.pointer))).collect();
        spots.join(",")
    }
}

/// How many numbers look odd, and how many prices are merely old.
pub(super) fn oddities(warnings: &[&Note]) -> String {
    let old = warnings.iter().filter(|it| it.pointer.ends_with("/date")).count();
    let counted = |count: usize, one: &str, several: &str| match count {
        0 => None,
        1 => Some(format!("one {one}")),
        _ => Some(format!("{count} {several}")),
    };
    let odd = counted(warnings.len() - old, "number looks odd", "numbers look odd");
    let old = counted(old, "price is old", "prices are old");
    filters::capital(&odd.into_iter().chain(old).collect::<Vec<_>>().join(", "))
}

/// What is said of a field, at the field, or at what is closest to it.
pub(super) fn note(finding: &Finding, sections: &[Section], is_refusal: bool) -> Note {
    let pointer = format!("/{}", finding.field.replace('.', "/"));
    let found = sections.iter().flat_map(Section::fields).find(|it| it.pointer == pointer);
    let is_share = found.is_some_and(|it| matches!(it.takes, Takes::Percent | Takes::PercentOrNone));
    let sentence = match finding.found.parse::<Decimal>() {
        Ok(share) if is_share => {
            said(&format!("{}%", number(share.times(100), 4)), &in_percent(&finding.message))
        }
        _ => said(&finding.found, &finding.message),
    };
    Note { pointer, sentence: capital(&sentence), is_refusal }
}

/// What was found, and what to enter instead or why that is odd.
pub(in crate::web::scenarios) fn said(found: &str, message: &str) -> String {
    match message.strip_prefix("expected ") {
        Some(expected) if found.trim().is_empty() => format!("enter {expected}"),
        Some(expected) => format!("found {found}. Enter {expected}"),
        None if found.trim().is_empty() => message.to_owned(),
        None => format!("{found}: {message}"),
    }
}

/// What is said of a share, of a field that is entered in percent.
fn in_percent(message: &str) -> String {
    [
        ("a share from 0 to 1 (0.8 for 80%)", "0 to 100%"),
        ("a share from 0 to 1", "0 to 100%"),
        ("less than 1", "less than 100%"),
        ("-0.5 to 0.5", "-50 to 50%"),
    ]
    .iter()
    .fold(message.to_owned(), |message, (share, percent)| message.replace(share, percent))
}

pub(in crate::web::scenarios) fn capital(text: &str) -> String {
    let text = filters::capital(text.trim_end_matches('.'));
    if text.ends_with('?') { text } else { format!("{text}.") }
}

/// Where a page is opened after what was pressed: at what came of it, which is unfolded there.
pub(super) fn place(said: &Said, edited: &Edited) -> String {
    if let Some((rate, _)) = &said.take {
        return format!("#{}", id(&format!("{rate}/price")));
    }
    if said.act.is_none() {
        return String::new();
    }
    let Some(made) = edited.made() else { return "#edit".to_owned() };
    let sections = sections(&edited.scenario);
    if let Some(section) = sections.iter().find(|it| it.pointer == made) {
        return format!("#{}", section_id(&section.pointer));
    }
    let inside = format!("{made}/");
    let mut fields = sections.iter().flat_map(Section::fields);
    let first = fields.find(|it| !it.is_rare && it.pointer.starts_with(&inside));
    first.map_or_else(|| "#edit".to_owned(), |it| format!("#{}", id(&it.pointer)))
}

/// An id of a section: `option-2`.
pub(super) fn section_id(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', "-")
}

/// An id of a field; it holds nothing that a selector would take for something.
pub(super) fn id(pointer: &str) -> String {
    format!("f{}", pointer.replace(['/', '.'], "-"))
}

pub(super) fn note_id(pointer: &str) -> String {
    format!("n{}", pointer.replace(['/', '.'], "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_prices_are_distinguished_from_odd_numbers() {
        let note =
            |pointer: &str| Note { pointer: pointer.to_owned(), sentence: String::new(), is_refusal: false };
        let (old, odd) = (note("/option/0/place/0/on_demand/date"), note("/months"));
        assert_eq!(oddities(&[&old]), "One price is old");
        assert_eq!(oddities(&[&odd, &old, &old]), "One number looks odd, 2 prices are old");
        assert_eq!(oddities(&[&odd, &odd]), "2 numbers look odd");
    }
}
