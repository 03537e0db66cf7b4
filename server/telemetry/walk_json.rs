//! Values far down in a large JSON document, one at a time.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::reading::unreadable;
use crate::billing::Refusal;

/// What was met on the way.
#[derive(Debug, Default)]
pub struct Met {
    /// What holds the values is there, empty or not.
    pub is_there: bool,
    /// Members that were to be kept.
    pub kept: BTreeMap<String, Value>,
}

impl Met {
    /// A member that is a text.
    pub fn text(&self, name: &str) -> &str {
        self.kept.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Hands out each value at `path`, whose parts are names of members or `*` for all of an object or list, and keeps the members with
/// these names that stand beside the way.
///
/// # Errors
/// A [`Refusal`] of what cannot be read, or is no JSON; `expected`: what it should be.
pub fn walk<T: DeserializeOwned>(
    input: impl Read,
    path: &[&str],
    keep: &[&str],
    expected: &str,
    each: &mut dyn FnMut(T),
) -> Result<Met, Refusal> {
    walk_all(input, path, keep, each).map_err(|error| {
        if error.is_io() {
            return unreadable(&error.into());
        }
        Refusal::new(
            format!("JSON that breaks off or is damaged at line {}: {error}", error.line()),
            expected,
        )
    })
}

fn walk_all<T: DeserializeOwned>(
    input: impl Read,
    path: &[&str],
    keep: &[&str],
    each: &mut dyn FnMut(T),
) -> Result<Met, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(256 << 10, input));
    let mut met = Met::default();
    Walk { path, keep, met: &mut met, each }.deserialize(&mut json)?;
    json.end()?;
    Ok(met)
}

struct Walk<'a, T> {
    path: &'a [&'a str],
    keep: &'a [&'a str],
    met: &'a mut Met,
    each: &'a mut dyn FnMut(T),
}

impl<T> Walk<'_, T> {
    /// The same below.
    fn below(&mut self) -> Walk<'_, T> {
        Walk { path: &self.path[1..], keep: self.keep, met: self.met, each: self.each }
    }

    fn arrive(&mut self) {
        self.met.is_there |= self.path.len() == 1;
    }
}

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for Walk<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.path.is_empty() {
            (self.each)(T::deserialize(deserializer)?);
            return Ok(());
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Walk<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list")
    }

    /// A list that is not there is empty.
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        if self.path[0] == "*" {
            self.arrive();
        }
        while let Some(name) = map.next_key::<String>()? {
            if self.path[0] == "*" || self.path[0] == name {
                self.arrive();
                map.next_value_seed(self.below())?;
            } else if self.keep.contains(&name.as_str()) {
                let value = map.next_value()?;
                self.met.kept.insert(name, value);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        if self.path[0] != "*" {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        self.arrive();
        while list.next_element_seed(self.below())?.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_what_it_is_asked_for() {
        for (json, path, expected, is_there) in [
            (r#"{"a": {"b": [1, 2]}, "c": "x"}"#, &["a", "b", "*"][..], vec![1, 2], true),
            (r#"{"data": [{"x": 1, "y": 2}, null, {"z": 3}]}"#, &["data", "*", "*"], vec![1, 2, 3], true),
            (r#"{"a": {"b": []}}"#, &["a", "b", "*"], vec![], true),
            (r#"{"a": 5}"#, &["a"], vec![5], true),
            (r#"{"b": [1]}"#, &["a", "*"], vec![], false),
            ("[[1], [2]]", &["a", "*"], vec![], false),
        ] {
            let mut found = Vec::new();
            let met = walk(json.as_bytes(), path, &["c"], "", &mut |it: i64| found.push(it)).unwrap();
            assert_eq!((found, met.is_there), (expected, is_there), "{json}");
            if json.contains("\"c\"") {
                assert_eq!(met.text("c"), "x");
            }
        }
        let mut ignored = |_: Value| {};
        assert!(walk(&b"{\"a\": ["[..], &["a", "*"], &[], "", &mut ignored).is_err());
        assert!(walk(&b"{} {}"[..], &["a"], &[], "", &mut ignored).is_err());
        assert!(walk(&b"5"[..], &["a"], &[], "", &mut ignored).is_err());
    }
}
