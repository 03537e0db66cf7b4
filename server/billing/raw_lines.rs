//! The rows of a file as it writes them, uninterpreted: its header and its rows, by the numbers that an
//! [`Export`](super::Export) counts.

use std::borrow::Cow;
use std::io;

use super::container::Content;
use super::header::Header;
use super::rows::{self, Layout, Opened, Record, Rows, Start};
use super::unreadable::refuse;
use super::{ReadAs, Refusal, recognize};

/// A walk over the rows of an unpacked file.
pub struct PlainRows {
    rows: Rows,
    header: Header,
    row: u64,
}

impl PlainRows {
    /// Reads to the first row. `layout` is asked with the start of a text, or a workbook.
    ///
    /// # Errors
    /// A [`Refusal`] where there are no columns, or none that can be read.
    pub fn open(content: Content, layout: impl FnOnce(Start<'_>) -> Layout) -> Result<Self, Refusal> {
        let Opened { mut rows, header, .. } = rows::open(content, Box::new(io::sink()), layout)?;
        let format = recognize::format(&header, &ReadAs::any());
        let header = format.ok().and_then(|format| rows.expect(&header, &*format)).unwrap_or(header);
        Ok(Self { rows, header, row: 0 })
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        self.header.names()
    }

    /// Goes to the next row; false behind the last.
    ///
    /// # Errors
    /// A [`Refusal`] where the rest of the file cannot be read.
    pub fn advance(&mut self) -> Result<bool, Refusal> {
        let row = self.row + 1;
        while self.rows.advance().map_err(|broken| refuse(broken, row, None))? {
            // A blank line is a row only where an empty field is one.
            if !self.rows.record().is_blank() || self.header.len() == 1 {
                self.row = row;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// 1-based; 0 before the first.
    pub fn row(&self) -> u64 {
        self.row
    }

    /// What the row holds, without quotes.
    pub fn fields(&self) -> impl Iterator<Item = Cow<'_, [u8]>> {
        let record = self.rows.record();
        (0..record.len()).map(move |field| record.plain(field))
    }

    pub(super) fn record(&self) -> Record<'_> {
        self.rows.record()
    }
}
