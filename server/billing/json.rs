//! Maps in cells: JSON objects of names and values, read without building them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};

use super::value::is_null;

/// Calls `found` with each name and value of a map, in order. Understands an object, the list of
/// `{"key", "value"}` that Google writes, and the braceless object of old Azure files. Numbers and booleans
/// come as text, nested values as JSON, null not at all. False where the text is none of these; what came
/// before the fault was called.
pub(super) fn each(text: &[u8], mut found: impl FnMut(&str, &str)) -> bool {
    let text = text.trim_ascii();
    let mut found = |name: &str, value: &str| found(&without_nul(name), &without_nul(value));
    match text.first() {
        _ if is_null(text) => true,
        Some(b'{') => read(text, Map(&mut found)),
        Some(b'[') => read(text, List(&mut found)),
        Some(b'"') => {
            let whole = [b"{", text, b"}"].concat();
            read(&whole, Map(&mut found))
        }
        _ => false,
    }
}

fn read<'de, V: Visitor<'de, Value = ()>>(text: &'de [u8], visitor: V) -> bool {
    let mut json = serde_json::Deserializer::from_slice(text);
    json.deserialize_any(visitor).is_ok() && json.end().is_ok()
}

/// JSON can spell a character that no database keeps as text.
fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

struct Map<'f, F>(&'f mut F);

impl<'de, F: FnMut(&str, &str)> Visitor<'de> for Map<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(name)) = map.next_key()? {
            match map.next_value()? {
                Value::Text(value) => (self.0)(&name, &value),
                Value::Null => {}
            }
        }
        Ok(())
    }
}

struct List<'f, F>(&'f mut F);

impl<'de, F: FnMut(&str, &str)> Visitor<'de> for List<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of keys and values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(Pair { key, value }) = list.next_element()? {
            match (key, value) {
                (Some(Value::Text(key)), Some(Value::Text(value))) => (self.0)(&key, &value),
                (Some(_), _) => {}
                (None, _) => return Err(A::Error::custom("an element without a key")),
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Pair<'a> {
    #[serde(borrow, alias = "Key")]
    key: Option<Value<'a>>,
    #[serde(borrow, alias = "Value")]
    value: Option<Value<'a>>,
}

/// Borrowed where nothing was escaped.
struct Text<'a>(std::borrow::Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Text(text) => Ok(Self(text)),
            Value::Null => Ok(Self("".into())),
        }
    }
}

enum Value<'a> {
    Null,
    Text(std::borrow::Cow<'a, str>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Scalar)
    }
}

struct Scalar;

impl<'de> Visitor<'de> for Scalar {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Value::Text(text.into()))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Value::Text(text.to_owned().into()))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Value::Text(if value { "true".into() } else { "false".into() }))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Value::Text(value.to_string().into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Value::Text(value.to_string().into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Value::Text(value.to_string().into()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Value::Null)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut object = serde_json::Map::new();
        while let Some((name, value)) = map.next_entry()? {
            object.insert(name, value);
        }
        Ok(Value::Text(serde_json::Value::Object(object).to_string().into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut array = Vec::new();
        while let Some(value) = list.next_element::<serde_json::Value>()? {
            array.push(value);
        }
        Ok(Value::Text(serde_json::Value::Array(array).to_string().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> (Vec<String>, bool) {
        let mut pairs = Vec::new();
        let is_readable = each(text.as_bytes(), |key, value| pairs.push(format!("{key}={value}")));
        (pairs, is_readable)
    }

    #[test]
    fn it_reads_every_form_of_map() {
        for (text, expected) in [
            ("", ""),
            ("NULL", ""),
            ("{}", ""),
            (r#"{"a": "1", "b": 2, "c": true, "d": null, "e": 1.5}"#, "a=1 b=2 c=true e=1.5"),
            (r#"{"a": "1", "a": "2"}"#, "a=1 a=2"),
            (r#"{"a": {"b": [1]}, "c": "\u00e9\n"}"#, "a={\"b\":[1]} c=é\n"),
            (r#""team": "core","env": "prod""#, "team=core env=prod"),
            (r#"[{"key": "team", "value": "core", "x_type": "label"}]"#, "team=core"),
            ("[]", ""),
        ] {
            assert_eq!(pairs(text).0.join(" "), expected, "{text}");
            assert!(pairs(text).1, "{text}");
        }
    }

    #[test]
    fn it_says_what_is_no_map() {
        for text in ["team", "{", r#"{"a"}"#, r#"{"a": "1"} x"#, "[1]", "{'a': 'b'}"] {
            assert!(!pairs(text).1, "{text}");
        }
    }
}
