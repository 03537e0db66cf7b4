//! The lines of a file as it writes them: which is its header and which are its rows, by the numbers that an
//! [`Export`](super::Export) counts.

use std::borrow::Cow;
use std::io::{self, Read};

use super::records::{Record, Records};
use super::{Refusal, recognize, refuse};

/// A walk over the lines of an unpacked file: first its header, then each row.
pub struct PlainRows {
    records: Records,
    columns: usize,
    row: u64,
}

impl PlainRows {
    /// Reads to the header; blank lines before it are none.
    ///
    /// # Errors
    /// A [`Refusal`] where there is no header, or none that can be read.
    pub fn open(content: Box<dyn Read + Send>) -> Result<Self, Refusal> {
        let mut records = Records::new(content, Box::new(io::sink()));
        let start = records.peek().map_err(|broken| refuse(broken, 0, None))?;
        let mark = recognize::mark(start);
        records.skip(mark);
        while records.advance().map_err(recognize::broken_header)? {
            if !records.record().is_blank() {
                let columns = records.record().len();
                return Ok(Self { records, columns, row: 0 });
            }
        }
        Err(recognize::without_header())
    }

    /// Goes to the next row; false behind the last.
    ///
    /// # Errors
    /// A [`Refusal`] where the rest of the file cannot be read.
    pub fn advance(&mut self) -> Result<bool, Refusal> {
        let row = self.row + 1;
        while self.records.advance().map_err(|broken| refuse(broken, row, None))? {
            // A blank line is a row only where an empty field is one.
            if !self.records.record().is_blank() || self.columns == 1 {
                self.row = row;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// 1-based; 0 is the header.
    pub fn row(&self) -> u64 {
        self.row
    }

    /// What the line holds, without quotes.
    pub fn fields(&self) -> impl Iterator<Item = Cow<'_, [u8]>> {
        let record = self.records.record();
        (0..record.len()).map(move |field| record.plain(field))
    }

    pub(super) fn record(&self) -> Record<'_> {
        self.records.record()
    }
}
