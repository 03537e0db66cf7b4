//! What can be seen of an entry by itself.

use super::super::entry::{Entry, Target};
use super::super::label::{handle_of, normalized};
use super::super::rule::{Condition, Test, pattern};
use super::{Found, pool};
use crate::changes::Entry as _;

/// More characters than this make no name, pattern or spelling.
const LONGEST: usize = 300;

pub(super) fn check(entry: &Entry, found: &mut Found) {
    let title = entry.title();
    if entry.months().are_none() {
        found.add(&title, format!("its months end before they begin ({})", entry.months().in_words()));
    }
    let named = match entry {
        Entry::Team(it) => Some((&it.handle, &it.name)),
        Entry::Project(it) => Some((&it.handle, &it.name)),
        Entry::CostCentre(it) => Some((&it.handle, &it.name)),
        Entry::Pool(it) => Some((&it.handle, &it.name)),
        _ => None,
    };
    if let Some((handle, name)) = named {
        if name.trim().is_empty() {
            found.add(&title, "it has no name");
        }
        if handle.is_empty() || *handle != handle_of(handle) {
            found.add(
                &title,
                format!("{handle:?} cannot stand in an address; letters, digits and - between them can"),
            );
        }
        if name.chars().count() > LONGEST || handle.chars().count() > LONGEST {
            found.add(&title, format!("its name is longer than {LONGEST} characters"));
        }
    }
    match entry {
        Entry::Experiment(it) if normalized(&it.handle).is_empty() || it.handle != normalized(&it.handle) => {
            found.add(&title, format!("{:?} is no label in the spelling that is compared", it.handle));
        }
        Entry::Account(it) if it.account.trim().is_empty() => found.add(&title, "it names no account"),
        Entry::Meaning(it) if it.keys.iter().all(|key| key.trim().is_empty()) => {
            found.add(&title, "it names no tag");
        }
        Entry::Value(it) if it.value.trim().is_empty() => found.add(&title, "it has no value"),
        Entry::Rule(rule) => {
            if rule.name.trim().is_empty() {
                found.add("a rule", "it has no name");
            }
            for condition in &rule.when {
                of_condition(&title, condition, found);
            }
            if let Target::Tag { key } = &rule.to
                && key.trim().is_empty()
            {
                found.add(&title, "it names no tag");
            }
        }
        Entry::Pool(it) => pool::check_alone(&title, it, found),
        _ => {}
    }
}

fn of_condition(title: &str, condition: &Condition, found: &mut Found) {
    match &condition.test {
        Test::Is(values) | Test::StartsWith(values) => {
            if values.is_empty() || values.iter().any(|value| value.trim().is_empty()) {
                let message = format!(
                    "{} is compared with nothing; say “is missing” for what has no value",
                    condition.field.name()
                );
                found.add(title, message);
            }
        }
        Test::Matches(text) => {
            if text.is_empty() {
                found.add(title, format!("{} has no pattern to match", condition.field.name()));
            } else if let Err(error) = pattern(text) {
                found.add(title, error.to_string());
            }
        }
        Test::Missing => {}
    }
}
