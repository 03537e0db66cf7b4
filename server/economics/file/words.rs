//! What is wrong with a file, in words of whoever wrote it: never of types.

use toml::de::DeValue;

use crate::money::Decimal;

/// What the reader of TOML said of a text that is none.
pub(super) fn of_syntax(message: &str) -> String {
    let message = message.replace('`', "“").lines().next().unwrap_or_default().to_owned();
    // It quotes with the same sign on both sides.
    let mut is_open = false;
    let quoted = message.chars().map(|it| {
        if it != '“' {
            return it;
        }
        is_open = !is_open;
        if is_open { '“' } else { '”' }
    });
    quoted.collect()
}

/// The field that a message is about, as far as that can be known, and what is wrong with it. The path ends at the table
/// that could not be read, where the message is of something in it.
pub(super) fn of_field(tree: &DeValue<'_>, mut path: Vec<String>, message: &str) -> (Vec<String>, String) {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field") {
        let name = quoted.next().unwrap_or_default();
        let known: Vec<&str> = quoted.collect();
        if let Some(inside) = way_to(at(tree, &path), &|key, _| key == name) {
            path.extend(inside);
        } else if path.last().is_none_or(|last| last != name) {
            path.push(name.to_owned());
        }
        let close = known.iter().copied().min_by_key(|it| distance(it, name));
        let close = close.filter(|it| distance(it, name) <= 2);
        let instead = match (close, known.is_empty()) {
            (Some(close), _) => format!("; did you mean {close}?"),
            (None, true) => String::new(),
            (None, false) => format!("; there are {}", known.join(", ")),
        };
        return (path, format!("is no field of this table{instead}"));
    }
    if message.starts_with("missing field") {
        path.push(quoted.next().unwrap_or_default().to_owned());
        return (path, "is missing: enter it".to_owned());
    }
    if message.starts_with("unknown variant") {
        let found = quoted.next().unwrap_or_default();
        path.extend(way_to(at(tree, &path), &|_, it| it.as_str() == Some(found)).unwrap_or_default());
        let known: Vec<&str> = quoted.collect();
        return (path, format!("found “{found}”, enter one of: {}", known.join(", ")));
    }
    let (found, wanted) = message.split_once(", expected ").unwrap_or((message, ""));
    // Of a number that is none nothing says which it was.
    let is_shown = message.starts_with("invalid") || message.contains('"');
    let is_it = |it: &DeValue<'_>| {
        let is_none = || it.as_str().is_some_and(|text| text.parse::<Decimal>().is_err());
        is_about(it, found) || (!is_shown && is_none())
    };
    let is_whole = at(tree, &path).is_some_and(is_it);
    if !is_whole && let Some(inside) = way_to(at(tree, &path), &|_, it| is_it(it)) {
        path.extend(inside);
    }
    let found = at(tree, &path).map_or_else(|| "nothing".to_owned(), shown);
    (
        path.clone(),
        format!("found {found}, enter {}", enter(path.last().map_or("", String::as_str), wanted, message)),
    )
}

/// What would be right, by what a type expects.
fn enter(name: &str, wanted: &str, message: &str) -> String {
    let is = |words: &[&str]| words.iter().any(|it| wanted.starts_with(it));
    if message.contains("Gpus") || message.contains("\"best\"") {
        "a whole number, or \"best\" for as many as cost least".to_owned()
    } else if name == "date" {
        "a day, such as 2026-09-30".to_owned()
    } else if name == "currency" {
        "a currency, such as \"USD\"".to_owned()
    } else if is(&["u8", "u16", "u32", "u64", "usize", "i64", "nonzero"]) {
        "a whole number, 0 or more".to_owned()
    } else if is(&["a boolean"]) {
        "true or false".to_owned()
    } else if is(&["a string", "a borrowed string", "string"]) {
        "a text in quotes".to_owned()
    } else if is(&["a sequence"]) {
        "a list: [ … ]".to_owned()
    } else if is(&["struct", "a map", "internally tagged", "adjacently tagged", "map"]) {
        "a table: { … }".to_owned()
    } else {
        "a number, such as 3.99".to_owned()
    }
}

/// A value as the file has it.
fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("“{text}”"),
        DeValue::Boolean(it) => it.to_string(),
        DeValue::Datetime(it) => it.to_string(),
        DeValue::Float(it) => it.as_str().to_owned(),
        DeValue::Integer(it) => it.as_str().to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Whether a message speaks of a value: `invalid type: string "eight"`, or what a number could not be made of.
fn is_about(value: &DeValue<'_>, found: &str) -> bool {
    match value {
        DeValue::String(text) => found.contains(&format!("{text:?}")),
        DeValue::Boolean(it) => found.contains(&format!("boolean `{it}`")),
        DeValue::Datetime(it) => found.contains(&format!("\"{it}\"")),
        DeValue::Float(it) => found.contains(&format!("{:?}", it.as_str())),
        DeValue::Integer(it) => found.contains(&format!("integer `{}`", it.as_str().replace('_', ""))),
        DeValue::Array(_) => found.contains("sequence"),
        DeValue::Table(_) => found.contains(": map"),
    }
}

/// What a path leads to.
fn at<'a, 'b>(tree: &'a DeValue<'b>, path: &[String]) -> Option<&'a DeValue<'b>> {
    path.iter().try_fold(tree, |here, name| match here {
        DeValue::Table(table) => table.get(name.as_str()).map(toml::Spanned::get_ref),
        DeValue::Array(array) => array.get(name.parse::<usize>().ok()?).map(toml::Spanned::get_ref),
        _ => None,
    })
}

/// Each thing in a value with its name.
fn inside<'a, 'b>(value: &'a DeValue<'b>) -> Vec<(String, &'a DeValue<'b>)> {
    match value {
        DeValue::Table(table) => {
            table.iter().map(|(name, it)| (name.get_ref().to_string(), it.get_ref())).collect()
        }
        DeValue::Array(items) => {
            items.iter().enumerate().map(|(n, it)| (n.to_string(), it.get_ref())).collect()
        }
        _ => Vec::new(),
    }
}

/// The way to the first thing of whose name and value something holds.
fn way_to(value: Option<&DeValue<'_>>, is_it: &dyn Fn(&str, &DeValue<'_>) -> bool) -> Option<Vec<String>> {
    inside(value?).into_iter().find_map(|(name, it)| {
        if is_it(&name, it) {
            return Some(vec![name]);
        }
        let rest = way_to(Some(it), is_it)?;
        Some([vec![name], rest].concat())
    })
}

/// How many letters have to be added, left out or changed to make one word of another.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (n, letter) in one.chars().enumerate() {
        let mut before = std::mem::replace(&mut row[0], n + 1);
        for (at, same) in other.iter().enumerate() {
            let changed = before + usize::from(letter != *same);
            before = row[at + 1];
            row[at + 1] = changed.min(before + 1).min(row[at] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_far_apart_as_they_take_changes() {
        for (one, other, expected) in
            [("months", "month", 1), ("price", "prize", 1), ("gpus", "gpu", 1), ("", "abc", 3), ("a", "a", 0)]
        {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn what_the_reader_of_toml_quotes_is_quoted() {
        assert_eq!(of_syntax("invalid `x`, expected `=`\nmore"), "invalid “x”, expected “=”");
    }
}
