//! Samples: the beginning of a file, for people to look at and for [`suggest`](super::suggest()) to guess from.

mod guess;

use std::io;

pub use self::guess::Said;
use self::guess::Shape;
use super::document::{self, Separator};
use crate::billing::header::Header;
use crate::billing::recognize;
use crate::billing::rows::{self, Opened, Record, Rows};
use crate::billing::unreadable::refuse;
use crate::billing::{Content, Refusal};

/// Rows that are looked at.
pub const ROWS: usize = 200;
/// Bytes of rows that are looked at: fewer rows where they are longer than any invoice's.
const BYTES: usize = 4 << 20;
/// Bytes of a cell: longer ones are texts, of which the beginning tells enough.
const CELL: usize = 2000;

/// The beginning of a file, as a mapping would read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub separator: Separator,
    /// Which line of the file names the columns, from 1.
    pub header_row: u32,
    /// The lines above it, as text.
    pub above: Vec<String>,
    /// The sheets of a workbook, and which one it is of.
    pub sheets: Vec<String>,
    pub sheet: Option<String>,
    /// Whether it is another one than that which is read where nothing is said: the first with a table.
    pub is_other_sheet: bool,
    /// As a mapping states them: of several that are alike, the second has ` (2)` behind it.
    pub names: Vec<String>,
    /// The first rows behind the header as read, at most [`ROWS`], without quotes; each as long as `names`.
    pub rows: Vec<Vec<String>>,
}

/// Reads it; of a workbook the first sheet with a table. `said` is how people said that its rows stand in it; else that is
/// guessed. Of JSON and Parquet, which say so themselves, neither matters.
///
/// # Errors
/// A [`Refusal`] of what has no columns, or cannot be read.
pub fn sample(open: &dyn Fn() -> Result<Content, Refusal>, said: &Said) -> Result<Sample, Refusal> {
    let mut shape = None;
    let opened =
        rows::open(open()?, Box::new(io::sink()), |start| shape.insert(Shape::guess(start, said)).layout());
    let opened = opened.map_err(|refusal| match said.header_row {
        Some(line) if refusal == recognize::without_header() => Refusal::new(
            format!("no line {line}"),
            "the line that names the columns, counted from 1, blank lines too",
        ),
        _ => refusal,
    })?;
    let Opened { mut rows, header, layout, .. } = opened;
    let shape = shape.unwrap_or_default();
    check_columns(&header, &rows, &shape)?;
    let read = read_rows(&mut rows, &header)?;
    Ok(Sample {
        separator: shape.separator,
        header_row: layout.header_row.unwrap_or(1),
        sheet: shape.sheet().map(str::to_owned),
        is_other_sheet: shape.is_other_sheet,
        above: shape.above,
        sheets: shape.sheets,
        names: document::distinct(header.names()),
        rows: read,
    })
}

/// Refuses what has less than a date and a cost.
fn check_columns(header: &Header, rows: &Rows, shape: &Shape) -> Result<(), Refusal> {
    let named = header.names().iter().filter(|name| !name.is_empty()).count();
    if named > 1 {
        return Ok(());
    }
    let many = if named == 0 { "no columns" } else { "a single column" };
    let line = shape.header_row.unwrap_or(1);
    Err(match rows {
        Rows::Csv(_) => Refusal::new(
            format!("{many} in line {line}, read with a {} between columns", shape.separator.name()),
            "a line that names the columns, among them a date and a cost: choose another line or separator",
        ),
        Rows::Workbook(_) => Refusal::new(
            format!("{many} in row {line}"),
            "a row that names the columns, among them a date and a cost: choose another row",
        ),
        Rows::Json(_) | Rows::Parquet(_) => Refusal::new(
            many,
            "objects of names and values, one on each line or all of them in a list, each with a date and a cost",
        ),
    })
}

fn read_rows(rows: &mut Rows, header: &Header) -> Result<Vec<Vec<String>>, Refusal> {
    let (mut read, mut number, mut bytes) = (Vec::new(), 0, 0);
    while read.len() < ROWS && bytes < BYTES {
        number += 1;
        if !rows.advance().map_err(|broken| refuse(broken, number, Some(header)))? {
            break;
        }
        let record = rows.record();
        // Rows that cannot be read are said when the file is imported.
        if record.is_blank() || rows.fault().is_some() {
            continue;
        }
        let mut row = cells(&record);
        bytes += row.iter().map(String::len).sum::<usize>();
        row.resize(header.len(), String::new());
        read.push(row);
    }
    Ok(read)
}

/// What a row holds, without quotes; of long texts the beginning.
fn cells(record: &Record<'_>) -> Vec<String> {
    let cell = |field| {
        let plain = record.plain(field);
        String::from_utf8_lossy(&plain[..plain.len().min(CELL)]).replace('\0', "\u{fffd}")
    };
    (0..record.len()).map(cell).collect()
}
