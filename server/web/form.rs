//! What someone typed, and what was wrong with it: enough to show a refused form again as it was.

use std::collections::BTreeMap;

use crate::money::{Decimal, grouped};

/// Values and problems by field name. The macros of `ui/form.html` read them.
#[derive(Debug, Default)]
pub struct Fields {
    values: BTreeMap<&'static str, String>,
    problems: BTreeMap<&'static str, String>,
}

impl Fields {
    pub fn new<const N: usize>(values: [(&'static str, &str); N]) -> Self {
        let values = values.into_iter().map(|(name, value)| (name, value.to_owned())).collect();
        Self { values, problems: BTreeMap::new() }
    }

    /// The same with one more value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.values.insert(name, value.to_owned());
        self
    }

    /// What was typed; empty before anything was.
    pub fn value(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    /// Whether exactly this was typed or chosen.
    pub fn has(&self, name: &str, value: impl AsRef<str>) -> bool {
        self.value(name) == value.as_ref()
    }

    pub fn problem(&self, name: &str) -> Option<&str> {
        self.problems.get(name).map(String::as_str)
    }

    /// Says what is wrong with a field. The first problem of a field stays.
    pub fn refuse(&mut self, name: &'static str, sentence: impl Into<String>) {
        self.problems.entry(name).or_insert(sentence.into());
    }

    pub fn is_refused(&self) -> bool {
        !self.problems.is_empty()
    }

    /// The value of `outcome`, or a note of why there is none.
    pub fn check<T, E: ToString>(&mut self, name: &'static str, outcome: Result<T, E>) -> Option<T> {
        outcome.map_err(|sentence| self.refuse(name, sentence.to_string())).ok()
    }
}

/// An amount as people write or copy it: `12920.15`, or with commas where they can only stand between thousands.
pub fn amount(text: &str) -> Option<Decimal> {
    let text = text.trim().replace('−', "-");
    if text.contains(['e', 'E']) {
        return None;
    }
    match text.strip_prefix('-') {
        Some(rest) => grouped(rest, false).map(|amount| -amount),
        None => grouped(text.strip_prefix('+').unwrap_or(&text), false),
    }
}

/// What to type where a text is no count: below 0 it is a number all the same, and “a whole number” would not say what is wrong.
pub fn not_a_count(text: &str, otherwise: &'static str) -> &'static str {
    let is_below_zero = amount(text).is_some_and(|it| it.is_negative());
    if is_below_zero { "enter 0 or a higher whole number" } else { otherwise }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (text, expected) in [
            ("12920931.15", Some("12920931.15")),
            (" 12 ", Some("12")),
            ("-3.50", Some("-3.50")),
            ("−3.50", Some("-3.50")),
            ("12,920,931.15", Some("12920931.15")),
            ("-1,204.10", Some("-1204.10")),
            ("1,204", None),
            ("1.204,10", None),
            ("12,92,931.15", None),
            ("1e3", None),
            ("USD 3", None),
            ("", None),
        ] {
            assert_eq!(amount(text), expected.map(|text| text.parse().unwrap()), "{text:?}");
        }
    }
}
