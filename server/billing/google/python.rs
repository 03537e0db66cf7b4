//! Lists as Python prints them: `[{'name': 'FreeTrial', 'full_name': None}]`. Whoever flattened the export wrote them so.

use std::borrow::Cow;

/// The cell as JSON: with double quotes around texts, and `null`, `true` and `false` for what Python calls otherwise. What has no
/// text in single quotes and none of those words is JSON already, or nothing that is understood.
pub(super) fn as_json(cell: &[u8]) -> Cow<'_, [u8]> {
    let is_python = cell.contains(&b'\'') && !is_json(cell);
    if is_python { convert(cell).into() } else { cell.into() }
}

/// Names come first, and JSON has them in double quotes.
fn is_json(cell: &[u8]) -> bool {
    cell.iter().find(|byte| matches!(byte, b'"' | b'\'')) == Some(&b'"')
}

fn convert(cell: &[u8]) -> Vec<u8> {
    let mut json = Vec::with_capacity(cell.len() + 16);
    let mut rest = cell;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\'' | b'"' => rest = text(byte, rest, &mut json),
            byte if byte.is_ascii_alphabetic() => {
                let length = 1 + rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
                let word = &cell[cell.len() - rest.len() - 1..][..length];
                json.extend_from_slice(match word {
                    b"None" => b"null",
                    b"True" => b"true",
                    b"False" => b"false",
                    other => other,
                });
                rest = &rest[length - 1..];
            }
            byte => json.push(byte),
        }
    }
    json
}

/// A text up to its closing quote, and what is behind that.
fn text<'a>(quote: u8, mut rest: &'a [u8], json: &mut Vec<u8>) -> &'a [u8] {
    json.push(b'"');
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\\' => {
                let Some((&escaped, after)) = rest.split_first() else { break };
                rest = after;
                match escaped {
                    b'\'' => json.push(b'\''),
                    b'x' if rest.len() >= 2 => {
                        // One byte in Python, a character in JSON.
                        json.extend_from_slice(b"\\u00");
                        json.extend_from_slice(&rest[..2]);
                        rest = &rest[2..];
                    }
                    escaped => json.extend_from_slice(&[b'\\', escaped]),
                }
            }
            byte if byte == quote => {
                json.push(b'"');
                break;
            }
            b'"' => json.extend_from_slice(b"\\\""),
            byte => json.push(byte),
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_of_python_become_json() {
        for (cell, expected) in [
            ("", ""),
            ("[]", "[]"),
            ("[{'a': 'b', 'c': None, 'd': True}]", r#"[{"a": "b", "c": null, "d": true}]"#),
            (r#"[{'a': "it's"}]"#, r#"[{"a": "it's"}]"#),
            (r#"[{'a': 'say "no"'}]"#, r#"[{"a": "say \"no\""}]"#),
            (r"[{'a': 'it\'s \xe9 \u20ac'}]", r#"[{"a": "it's \u00e9 \u20ac"}]"#),
            ("[{'a': -5e-06}]", r#"[{"a": -5e-06}]"#),
            // JSON stays as it is.
            (r#"[{"a": "None 'x'"}]"#, r#"[{"a": "None 'x'"}]"#),
        ] {
            let json = as_json(cell.as_bytes());
            assert_eq!(String::from_utf8_lossy(&json), expected, "{cell}");
        }
    }

    proptest! {
        /// As Python's `repr` of a text: the rarer of the two quotes, and what is not printed escaped.
        #[test]
        fn texts_come_through_whole(texts in proptest::collection::vec("[ -~é€\"'\\\\]{0,12}", 1..4)) {
            let repr = |text: &String| {
                let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
                let escaped = text.replace('\\', "\\\\");
                let escaped = if quote == '\'' { escaped.replace('\'', "\\'") } else { escaped };
                format!("{quote}{escaped}{quote}")
            };
            let list = texts.iter().map(|text| format!("{{'key': {}}}", repr(text))).collect::<Vec<_>>().join(", ");
            let json = as_json(format!("[{list}]").as_bytes()).into_owned();
            let read: Vec<std::collections::BTreeMap<String, String>> = serde_json::from_slice(&json).unwrap();
            prop_assert_eq!(read.iter().map(|it| it["key"].clone()).collect::<Vec<_>>(), texts);
        }

        #[test]
        fn whatever_is_no_list_is_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = as_json(&bytes);
        }
    }
}
