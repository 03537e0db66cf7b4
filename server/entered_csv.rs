//! CSV files that people enter things with: their rows, and what is said of one that is not taken. What the columns mean
//! is decided by whoever reads such a file.

use serde::{Deserialize, Serialize};

use crate::billing::formula_guard::begins_formula;
use crate::cancellation;

/// What a row of a file has in a place, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("row {row}, {column}: found {found:?}, expected {expected}")]
pub struct RefusedRow {
    /// From 1, the header not counted; 0 is the header.
    pub row: usize,
    pub column: String,
    pub found: String,
    pub expected: String,
}

impl RefusedRow {
    pub fn new(row: usize, column: &str, found: &str, expected: impl Into<String>) -> Self {
        Self { row, column: column.to_owned(), found: found.to_owned(), expected: expected.into() }
    }

    /// A row that is no text in columns.
    pub fn broken(row: usize, error: &csv::Error) -> Self {
        Self::new(row, "line", &error.to_string(), "a line of CSV in UTF-8")
    }
}

/// A file whose header was read. Spaces around cells are no part of them, and rows may be longer or shorter than the
/// header.
pub struct EnteredCsv<'a> {
    pub header: csv::StringRecord,
    reader: csv::Reader<&'a [u8]>,
}

impl<'a> EnteredCsv<'a> {
    /// # Errors
    /// Where the header is no text.
    pub fn open(content: &'a [u8]) -> csv::Result<Self> {
        let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(content);
        Ok(Self { header: reader.headers()?.clone(), reader })
    }

    /// Each row with its number, from 1.
    pub fn all_rows(&mut self) -> impl Iterator<Item = (usize, csv::Result<csv::StringRecord>)> {
        (1..).zip(self.reader.records()).inspect(|_| cancellation::check())
    }

    /// The same without the rows that are empty, which spreadsheets leave behind.
    pub fn rows(&mut self) -> impl Iterator<Item = (usize, csv::Result<csv::StringRecord>)> {
        let is_empty = |record: &csv::StringRecord| record.iter().all(str::is_empty);
        self.all_rows().filter(move |(_, record)| !record.as_ref().is_ok_and(is_empty))
    }

    /// Refuses a file whose columns are separated by semicolons; `column` is what the refusal calls the header.
    ///
    /// # Errors
    /// Where it is such a file.
    pub fn refuse_semicolons(&self, column: &str) -> Result<(), RefusedRow> {
        if self.header.len() != 1 || !self.header[0].contains(';') {
            return Ok(());
        }
        let expected =
            "columns separated by commas; this file is separated by semicolons: save it with commas";
        Err(RefusedRow::new(0, column, &self.header[0], expected))
    }
}

/// A cell as it was before an apostrophe kept spreadsheets from computing it, as in files that this product writes.
pub fn unguarded(cell: &str) -> &str {
    let is_guarded = |rest: &&str| begins_formula(rest.as_bytes());
    cell.strip_prefix('\'').filter(is_guarded).unwrap_or(cell)
}
