//! Sheets as CSV files.

use std::collections::BTreeMap;

use super::super::entry::Entry;
use super::identity::identity;
use super::kind::Kind;
use super::read::read;
use super::write::cells;
use crate::changes::Entry as _;
use crate::entered_csv::{EnteredCsv, RefusedRow, unguarded};

/// At most so many are shown.
const SHOWN: usize = 50;

/// The entries of a file, in its order; no two of them are about the same thing.
///
/// # Errors
/// What is wrong with it, row by row: then nothing of it is taken.
pub fn read_file(kind: Kind, bytes: &[u8]) -> Result<Vec<Entry>, Vec<RefusedRow>> {
    let mut file = EnteredCsv::open(bytes)
        .map_err(|error| vec![RefusedRow::new(0, "the file", &error.to_string(), "a CSV file in UTF-8")])?;
    let names: Vec<&str> = kind.fields().iter().map(|field| field.name).collect();
    let all_columns = || format!("the columns {}", names.join(", "));
    let mut columns = Vec::new();
    for name in &file.header {
        let name = name.to_lowercase();
        if columns.contains(&name) {
            return Err(vec![RefusedRow::new(0, &name, "this column twice", "each column once")]);
        }
        if !names.contains(&name.as_str()) {
            let column = if name.is_empty() { "a column without a name" } else { &name };
            return Err(vec![RefusedRow::new(0, column, &name, all_columns())]);
        }
        columns.push(name);
    }
    let missing =
        kind.fields().iter().find(|it| it.is_required && !columns.iter().any(|name| name == it.name));
    if let Some(field) = missing {
        return Err(vec![RefusedRow::new(0, field.name, "no such column", all_columns())]);
    }
    let (mut entries, mut refused) = (Vec::new(), Vec::new());
    let mut rows: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (row, record) in file.rows() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                refused.push(RefusedRow::new(row, "the row", &error.to_string(), "CSV in UTF-8"));
                break;
            }
        };
        if record.len() > columns.len() {
            let found = format!("{} fields", record.len());
            refused.push(RefusedRow::new(row, "the row", &found, format!("{} fields", columns.len())));
            continue;
        }
        let texts: BTreeMap<String, String> =
            columns.iter().cloned().zip(record.iter().map(|cell| unguarded(cell).to_owned())).collect();
        match read(kind, &texts) {
            Ok(entry) => match rows.insert(identity(&entry), row) {
                None => entries.push(entry),
                Some(first) => {
                    let expected = format!("another entry than in row {first}");
                    refused.push(RefusedRow::new(row, "the row", &entry.title(), expected));
                }
            },
            Err(cells) => refused.extend(
                cells.iter().map(|it| RefusedRow::new(row, it.column, &it.found, it.expected.as_str())),
            ),
        }
        if refused.len() > SHOWN {
            break;
        }
    }
    if refused.is_empty() { Ok(entries) } else { Err(refused) }
}

/// The header and the rows of a file, which [`read_file`] takes as it is.
pub fn write_file<'a>(kind: Kind, entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Vec<String>> {
    let names = kind.fields().iter().map(|field| field.name.to_owned()).collect();
    let rows = entries.into_iter().filter(|entry| Kind::of(entry) == kind).map(|entry| {
        let mut texts = cells(entry);
        kind.fields().iter().map(|field| texts.remove(field.name).unwrap_or_default()).collect()
    });
    std::iter::once(names).chain(rows).collect()
}
