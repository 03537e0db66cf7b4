//! An object that holds rows in one of its members, as an answer of an API does: `{"records": [ … ], "metadata": { … }}`, or in a
//! member of a member: `{"status": true, "history": {"total": 2, "rows": [ … ]}}`.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// What such an object holds beside its rows: the JSON of each member, by its name.
pub(in crate::billing) type Members = BTreeMap<String, Box<RawValue>>;

/// Where a list of rows begins in an object.
pub(super) struct Opened {
    /// The first row.
    pub rows: usize,
    /// What stands before the list. Of an object that is a member itself and holds the list, its name is among them.
    pub members: Members,
    /// Whether the list is in an object within the object.
    pub is_nested: bool,
}

/// Whether `text`, which begins with an object, has a list of rows in it, as far as it is there. `is_list` says of the name of a
/// member whether that is a list of rows; of the member of a member, of its name behind `*.`.
pub(super) fn open(text: &[u8], is_list: fn(&str) -> bool) -> Option<Opened> {
    let mut members = Members::new();
    let mut at = after(text, 0, b'{')?;
    loop {
        let (name, end) = value::<String>(text, at)?;
        at = after(text, end, b':')?;
        if is_list(&name)
            && let Some(rows) = after(text, at, b'[')
        {
            return Some(Opened { rows, members, is_nested: false });
        }
        if let Some(rows) = open_nested(text, at, is_list, &mut members) {
            members.insert(name, RawValue::NULL.to_owned());
            return Some(Opened { rows, members, is_nested: true });
        }
        let (member, end) = value::<Box<RawValue>>(text, at)?;
        members.insert(name, member);
        at = after(text, end, b',')?;
    }
}

/// The same of the object that is the member at a place. Its members before the list are added to those of the outer one.
fn open_nested(text: &[u8], at: usize, is_list: fn(&str) -> bool, members: &mut Members) -> Option<usize> {
    let mut before = Members::new();
    let mut at = after(text, at, b'{')?;
    loop {
        let (name, end) = value::<String>(text, at)?;
        at = after(text, end, b':')?;
        if is_list(&format!("*.{name}"))
            && let Some(rows) = after(text, at, b'[')
        {
            members.extend(before);
            return Some(rows);
        }
        let (member, end) = value::<Box<RawValue>>(text, at)?;
        before.insert(name, member);
        at = after(text, end, b',')?;
    }
}

/// The members behind the list: `text` begins where that is closed, and ends with the file.
pub(super) fn close(text: &[u8], is_nested: bool) -> Result<Members, serde_json::Error> {
    if !is_nested {
        return serde_json::from_slice(&reopened(text));
    }
    let object = reopened(text);
    let mut values = serde_json::Deserializer::from_slice(&object).into_iter::<Members>();
    let mut members = values.next().unwrap_or_else(|| Ok(Members::new()))?;
    members.extend(close(&object[values.byte_offset()..], false)?);
    Ok(members)
}

/// The rest of an object as one of its own.
fn reopened(text: &[u8]) -> Vec<u8> {
    let rest = text.trim_ascii_start();
    [b"{", rest.strip_prefix(b",").unwrap_or(rest)].concat()
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
            (r#"{"ok": 1, "of_vm": {"org": 7, "history": [{"a": 1}]}}"#, Some((r#"{"a": 1}]}}"#, 3))),
            (r#"{"of_vm": {"records": [{"a": 1}]}}"#, None),
            (r#"{"history": [{"a": 1}]}"#, None),
            (r#"{"records": {"a": 1}}"#, None),
            (r#"{"labels": [{"a": 1}]}"#, None),
            (r#"{"metadata": {"total""#, None),
            ("{}", None),
            ("[]", None),
        ] {
            let found = open(text.as_bytes(), |name| ["records", "*.history"].contains(&name));
            let found = found.map(|found| (&text[found.rows..], found.members.len()));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn what_stands_behind_the_rows_is_read_to_its_end() {
        for (text, is_nested, expected) in [
            ("}", false, Some(vec![])),
            (
                r#", "total": 6, "links": {"next": "x"} }
"#,
                false,
                Some(vec!["links", "total"]),
            ),
            (r#", "total": 6"#, false, None),
            ("", false, None),
            ("} {}", false, None),
            ("}}", false, None),
            ("}}", true, Some(vec![])),
            (r#", "total": 6 }, "ok": true }"#, true, Some(vec!["ok", "total"])),
            ("}", true, None),
            ("}}}", true, None),
            ("", true, None),
        ] {
            let members = close(text.as_bytes(), is_nested).ok();
            let names =
                members.as_ref().map(|members| members.keys().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(names, expected, "{text}");
        }
    }
}
