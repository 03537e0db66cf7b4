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
        found.add(&title, format!("the last month is before the first ({})", entry.months().in_words()));
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
            found.add(&title, "enter a name");
        }
        if handle.is_empty() || *handle != handle_of(handle) {
            found.add(&title, format!("handle {handle:?}: use letters, digits and - between them"));
        }
        if name.chars().count() > LONGEST || handle.chars().count() > LONGEST {
            found.add(&title, format!("the name is longer than {LONGEST} characters"));
        }
    }
    match entry {
        Entry::Experiment(it) if normalized(&it.handle).is_empty() || it.handle != normalized(&it.handle) => {
            found.add(&title, format!("handle {:?}: use lowercase letters and single spaces", it.handle));
        }
        Entry::Account(it) if it.account.trim().is_empty() => found.add(&title, "enter an account"),
        Entry::Meaning(it) if it.keys.iter().all(|key| key.trim().is_empty()) => {
            found.add(&title, "enter a tag key");
        }
        Entry::Value(it) if it.value.trim().is_empty() => found.add(&title, "enter a value"),
        Entry::Rule(rule) => {
            if rule.name.trim().is_empty() {
                found.add("a rule", "enter a name");
            }
            for condition in &rule.when {
                of_condition(&title, condition, found);
            }
            if let Target::Tag { key } = &rule.to
                && key.trim().is_empty()
            {
                found.add(&title, "enter a tag key");
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
                let message = format!("{}: enter a value, or choose “is missing”", condition.field.name());
                found.add(title, message);
            }
        }
        Test::Matches(text) => {
            if text.is_empty() {
                found.add(title, format!("{}: enter a pattern", condition.field.name()));
            } else if let Err(error) = pattern(text) {
                found.add(title, error.to_string());
            }
        }
        Test::Missing => {}
    }
}
