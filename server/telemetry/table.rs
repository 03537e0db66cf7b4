//! Rows of a CSV file by the names of its columns.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read};

use super::reading::Item;
use crate::billing::{MAX_RECORD, Refusal};

/// Hands out a text, and stops where a row does not end.
struct LimitedRows<'a, R> {
    input: R,
    since_row: &'a Cell<usize>,
}

impl<R: Read> Read for LimitedRows<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.since_row.set(self.since_row.get() + read);
        if self.since_row.get() > MAX_RECORD {
            let message = format!("a row of more than {MAX_RECORD} bytes: a quote may be open");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(read)
    }
}

/// A row, and where its columns stand.
pub struct Cells<'a> {
    at: &'a BTreeMap<String, usize>,
    record: &'a csv::StringRecord,
}

impl Cells<'_> {
    /// Empty where the row has none.
    pub fn get(&self, name: &str) -> &str {
        self.at.get(name).and_then(|place| self.record.get(*place)).unwrap_or_default().trim()
    }
}

/// A column of a row that holds what it should not, and what it should.
pub struct Wrong(pub &'static str, pub &'static str);

/// Hands what each row is made into on. `expected`: what the file should be.
///
/// # Errors
/// A [`Refusal`] of a file that lacks a column or cannot be read.
pub fn read(
    input: impl Read,
    needed: &[&str],
    expected: &str,
    each: &mut dyn FnMut(Item),
    make: impl Fn(&Cells<'_>) -> Result<Item, Wrong>,
) -> Result<(), Refusal> {
    read_named(
        input,
        |names| names.iter().map(|name| Some((*name).to_owned())).collect(),
        needed,
        expected,
        each,
        make,
    )
}

/// The same of a file whose columns may be called otherwise: `named` says what each is here, if it is anything. Of two that are the
/// same the first counts.
///
/// # Errors
/// Those of [`read`].
pub fn read_named(
    input: impl Read,
    named: impl FnOnce(&[&str]) -> Vec<Option<String>>,
    needed: &[&str],
    expected: &str,
    each: &mut dyn FnMut(Item),
    make: impl Fn(&Cells<'_>) -> Result<Item, Wrong>,
) -> Result<(), Refusal> {
    let since_row = Cell::new(0);
    let input = LimitedRows { input, since_row: &since_row };
    let mut rows = csv::ReaderBuilder::new().flexible(true).from_reader(input);
    let refused = |error: &csv::Error| Refusal::new(format!("a file that is damaged: {error}"), expected);
    let header = rows.headers().map_err(|error| refused(&error))?.clone();
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    let columns: Vec<&str> = header.iter().map(|name| name.trim().trim_start_matches('\u{feff}')).collect();
    for (place, name) in named(&columns).into_iter().enumerate() {
        if let Some(name) = name {
            at.entry(name).or_insert(place);
        }
    }
    if let Some(missing) = needed.iter().find(|name| !at.contains_key(**name)) {
        return Err(Refusal::new(format!("no column {missing}"), expected));
    }
    for (row, record) in (1..).zip(rows.records()) {
        since_row.set(0);
        let record = match record {
            Ok(record) => record,
            Err(error) if error.is_io_error() => return Err(refused(&error)),
            Err(error) => {
                each(Item::rejected(row, "", &error.to_string(), "a row of CSV in UTF-8"));
                continue;
            }
        };
        let cells = Cells { at: &at, record: &record };
        match make(&cells) {
            Ok(Item::Metered(metered)) => {
                each(Item::Sample);
                each(Item::Metered(metered));
            }
            Ok(item) => each(item),
            Err(Wrong(column, expected)) => {
                // As the file calls it.
                let name = at.get(column).and_then(|place| columns.get(*place)).copied().unwrap_or(column);
                each(Item::rejected(row, name, cells.get(column), expected));
            }
        }
    }
    Ok(())
}
