//! An object that holds rows in one of its members, as an answer of an API does: `{"records": [ … ], "metadata": { … }}`.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// What such an object holds beside its rows: the JSON of each member, by its name.
pub(in crate::billing) type Members = BTreeMap<String, Box<RawValue>>;

/// Whether `text`, which begins with an object, has a list of rows in it, as far as it is there: where its first row is, and the
/// members before it. `is_list` says of the name of a member whether that is a list of rows.
pub(super) fn open(text: &[u8], is_list: fn(&str) -> bool) -> Option<(usize, Members)> {
    let mut members = Members::new();
    let mut at = after(text, 0, b'{')?;
    loop {
        let (name, end) = value::<String>(text, at)?;
        at = after(text, end, b':')?;
        if is_list(&name)
            && let Some(rows) = after(text, at, b'[')
        {
            return Some((rows, members));
        }
        let (member, end) = value::<Box<RawValue>>(text, at)?;
        members.insert(name, member);
        at = after(text, end, b',')?;
    }
}

/// The members behind the list: `text` begins where that is closed, and ends with the file.
pub(super) fn close(text: &[u8]) -> Result<Members, serde_json::Error> {
    let rest = text.trim_ascii_start();
    let rest = rest.strip_prefix(b",").unwrap_or(rest);
    serde_json::from_slice(&[b"{", rest].concat())
}

/// Behind `byte`, if that is what comes next.
fn after(text: &[u8], at: usize, byte: u8) -> Option<usize> {
    let rest = text.get(at..)?;
    let blank = rest.len() - rest.trim_ascii_start().len();
    (rest.get(blank) == Some(&byte)).then_some(at + blank + 1)
}

/// The value that comes next, and where it ends; `None` where it is not whole.
fn value<'a, T: serde::Deserialize<'a>>(text: &'a [u8], at: usize) -> Option<(T, usize)> {
    let mut values = serde_json::Deserializer::from_slice(text.get(at..)?).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, at + values.byte_offset()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_behind_other_members() {
        for (text, expected) in [
            (r#"{"records": [{"a": 1}]}"#, Some((r#"{"a": 1}]}"#, 0))),
            (
                r#"{ "metadata" : {"total": 2, "records": []}, "ok": true , "records" : [ ]}"#,
                Some((" ]}", 2)),
            ),
            (r#"{"records": [{"a": 1"#, Some((r#"{"a": 1"#, 0))),
            (r#"{"records": {"a": 1}}"#, None),
            (r#"{"labels": [{"a": 1}]}"#, None),
            (r#"{"metadata": {"total""#, None),
            ("{}", None),
            ("[]", None),
        ] {
            let found = open(text.as_bytes(), |name| name == "records");
            let found = found.map(|(at, members)| (&text[at..], members.len()));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn what_stands_behind_the_rows_is_read_to_its_end() {
        for (text, expected) in [
            ("}", Some(vec![])),
            (
                r#", "total": 6, "links": {"next": "x"} }
"#,
                Some(vec!["links", "total"]),
            ),
            (r#", "total": 6"#, None),
            ("", None),
            ("} {}", None),
        ] {
            let members = close(text.as_bytes()).ok();
            let names =
                members.as_ref().map(|members| members.keys().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(names, expected, "{text}");
        }
    }
}
