//! The cost column of a file, read as plain CSV by a reader that shares no code with [`crate::billing`].

use std::io::{self, Read};

use crate::money::Decimal;

/// The columns that hold what was billed, in letters and digits only.
const COST_COLUMNS: [&str; 2] = ["lineitemunblendedcost", "billedcost"];

/// The cost column of a file, read as plain CSV.
pub(super) struct Costs<R> {
    reader: csv::Reader<R>,
    record: csv::ByteRecord,
    /// `None` of a file without a line.
    column: Option<usize>,
}

impl<R: Read> Costs<R> {
    pub fn open(content: R) -> io::Result<Self> {
        // A carriage return alone ends no row, as for whoever imports.
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .has_headers(false)
            .terminator(csv::Terminator::Any(b'\n'))
            .from_reader(content);
        let mut record = csv::ByteRecord::new();
        let is_empty = !reader.read_byte_record(&mut record)?;
        let column = record.iter().position(is_cost);
        if column.is_none() && !is_empty {
            return Err(io::Error::other("the original has no cost column"));
        }
        Ok(Self { reader, record, column })
    }

    /// What the next row holds; `None` behind the last. A header that is repeated costs nothing.
    pub fn next(&mut self) -> io::Result<Option<Cost<'_>>> {
        let Some(column) = self.column else { return Ok(None) };
        loop {
            if !self.reader.read_byte_record(&mut self.record)? {
                return Ok(None);
            }
            // A line of spaces is no row.
            if self.record.len() > 1 || self.record.iter().any(|cell| !cell.trim_ascii().is_empty()) {
                break;
            }
        }
        Ok(Some(Cost(self.record.get(column).unwrap_or_default())))
    }
}

/// A cell of the cost column.
pub(super) struct Cost<'a>(&'a [u8]);

impl Cost<'_> {
    pub fn amount(&self) -> io::Result<Decimal> {
        if is_cost(self.0) { Ok(Decimal::ZERO) } else { amount(self.0) }
    }
}

fn is_cost(name: &[u8]) -> bool {
    COST_COLUMNS.contains(&letters(name).as_str())
}

fn letters(name: &[u8]) -> String {
    String::from_utf8_lossy(name)
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_lowercase()
}

/// Currency signs, separators of thousands and spaces are decoration; no text at all is nothing.
fn amount(cell: &[u8]) -> io::Result<Decimal> {
    let plain: Vec<u8> =
        cell.iter().copied().filter(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte)).collect();
    if plain.is_empty() || cell.eq_ignore_ascii_case(b"null") {
        return Ok(Decimal::ZERO);
    }
    Decimal::parse(&plain)
        .map_err(|_| io::Error::other(format!("no amount: {}", String::from_utf8_lossy(cell))))
}
