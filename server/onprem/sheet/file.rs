//! Sheets as CSV files.

use std::collections::BTreeMap;

use super::super::entry::Entry;
use super::cells::is_formula;
use super::identity::identity;
use super::kind::Kind;
use super::read::read;
use super::write::cells;
use crate::cancellation;
use crate::changes::Entry as _;

/// Why a row of a file is not taken. The header is row 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {row}, {column}: found {found:?}, expected {expected}")]
pub struct RefusedRow {
    pub row: usize,
    pub column: String,
    pub found: String,
    pub expected: String,
}

/// At most so many are shown.
const TOLD: usize = 50;

/// The entries of a file, in its order; no two of them are about the same thing.
///
/// # Errors
/// What is wrong with it, row by row: then nothing of it is taken.
pub fn read_file(kind: Kind, bytes: &[u8]) -> Result<Vec<Entry>, Vec<RefusedRow>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(bytes);
    let refuse = |row, column: &str, found: &str, expected: String| {
        vec![RefusedRow { row, column: column.to_owned(), found: found.to_owned(), expected }]
    };
    let header = match reader.headers() {
        Ok(header) => header.clone(),
        Err(error) => {
            return Err(refuse(0, "the file", &error.to_string(), "a CSV file in UTF-8".to_owned()));
        }
    };
    let names: Vec<&str> = kind.fields().iter().map(|field| field.name).collect();
    let mut columns = Vec::new();
    for name in &header {
        let name = name.to_lowercase();
        if columns.contains(&name) {
            return Err(refuse(0, &name, "this column twice", "each column once".to_owned()));
        }
        if !names.contains(&name.as_str()) {
            let column = if name.is_empty() { "a column without a name" } else { &name };
            return Err(refuse(0, column, &name, format!("the columns {}", names.join(", "))));
        }
        columns.push(name);
    }
    let missing =
        kind.fields().iter().find(|it| it.is_required && !columns.iter().any(|name| name == it.name));
    if let Some(field) = missing {
        return Err(refuse(0, field.name, "no such column", format!("the columns {}", names.join(", "))));
    }
    let (mut entries, mut refused) = (Vec::new(), Vec::new());
    let mut rows: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (at, record) in reader.records().enumerate() {
        cancellation::check();
        let row = at + 1;
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                refused.extend(refuse(row, "the row", &error.to_string(), "CSV in UTF-8".to_owned()));
                break;
            }
        };
        if record.iter().all(str::is_empty) {
            continue;
        }
        if record.len() > columns.len() {
            let found = format!("{} fields", record.len());
            refused.extend(refuse(row, "the row", &found, format!("{} fields", columns.len())));
            continue;
        }
        let texts: BTreeMap<String, String> =
            columns.iter().cloned().zip(record.iter().map(unescaped)).collect();
        match read(kind, &texts) {
            Ok(entry) => match rows.insert(identity(&entry), row) {
                None => entries.push(entry),
                Some(first) => {
                    let expected = format!("another entry than in row {first}");
                    refused.extend(refuse(row, "the row", &entry.title(), expected));
                }
            },
            Err(cells) => refused.extend(cells.into_iter().map(|it| RefusedRow {
                row,
                column: it.column.to_owned(),
                found: it.found,
                expected: it.expected,
            })),
        }
        if refused.len() > TOLD {
            break;
        }
    }
    if refused.is_empty() { Ok(entries) } else { Err(refused) }
}

/// What a cell said before a quote kept spreadsheets from computing it.
fn unescaped(cell: &str) -> String {
    match cell.strip_prefix('\'') {
        Some(rest) if is_formula(rest) => rest.to_owned(),
        _ => cell.to_owned(),
    }
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
