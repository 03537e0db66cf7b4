//! What someone typed, and what was wrong with it: enough to show a refused form again as it was.

use std::collections::BTreeMap;

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
