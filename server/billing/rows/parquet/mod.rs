//! Rows out of a Parquet file, a batch at a time: only the columns that are wanted are read, and the memory is bounded
//! whatever the file says of itself.
//!
//! Levels and encodings are those of the `parquet` crate. What it would make room for because a file says so is looked at
//! before (`footer`, `pages`), what all columns take together is counted (`memory`), and what still goes wrong in it ends the
//! file and not the program.

mod ahead;
mod batch;
mod compact;
mod decoder;
mod footer;
mod header;
mod leaf;
mod memory;
mod pages;
mod schema;
mod source;
#[cfg(test)]
mod tests;
mod text;

use std::io::Write;
use std::sync::Arc;

use self::ahead::Ahead;
use self::batch::Batch;
use self::decoder::Decoder;
use self::source::Source;
use super::record::Record;
use super::{Broken, MAX_RECORD};

pub use self::source::ReadSeek;
pub(super) use self::text::float;

/// Bytes of the cells of a batch.
const MAX_BATCH: usize = 64 << 20;
/// Bytes that are handed to the sink at once.
const PIECE: u64 = 1 << 20;

/// A walk over the rows of a Parquet file.
pub(in crate::billing) struct ParquetRows {
    source: Arc<Source>,
    sink: Box<dyn Write + Send>,
    /// Bytes that the sink has.
    sunk: u64,
    /// Rows of the file, as it says, and of the batches so far.
    all: u64,
    rows: u64,
    names: Vec<String>,
    decoding: Decoding,
    batch: Batch,
    /// Which of its rows is next, and where the cells of the current one are.
    next: usize,
    cells: Vec<(u32, u32)>,
}

/// Where the next batch comes from.
enum Decoding {
    /// Nothing was read. The first batch is decoded in place: many files have no other, and of some only one row is wanted.
    Unread(Box<Decoder>),
    /// The first batch was read.
    Begun(Box<Decoder>),
    Ahead(Ahead),
    Ended,
    /// It broke off before its end.
    Failed,
}

impl Decoding {
    /// The next batch in place of one that was read, and where the one behind it comes from; `None` behind the last.
    fn next(self, used: Batch) -> Result<Option<(Batch, Self)>, Broken> {
        let ahead = match self {
            Self::Unread(mut decoder) => {
                let next = decoder.next(used)?;
                return Ok(next.map(|batch| (batch, Self::Begun(decoder))));
            }
            Self::Begun(decoder) if !decoder.has_more() => return Ok(None),
            Self::Begun(decoder) => Ahead::start(*decoder, &used).map_err(Broken::Input)?,
            Self::Ahead(ahead) => ahead,
            Self::Ended => return Ok(None),
            Self::Failed => return Err(ahead::gone()),
        };
        let next = ahead.next(used)?;
        Ok(next.map(|batch| (batch, Self::Ahead(ahead))))
    }
}

impl ParquetRows {
    /// Every byte of the file also goes to the sink, in order: all of them once there is no further row.
    pub fn open(input: Box<dyn ReadSeek>, sink: Box<dyn Write + Send>) -> Result<Self, Broken> {
        let source = Arc::new(Source::new(input).map_err(Broken::Input)?);
        let decoder = Decoder::open(&source)?;
        Ok(Self {
            source,
            sink,
            sunk: 0,
            all: decoder.rows_of_file(),
            rows: 0,
            names: decoder.names(),
            decoding: Decoding::Unread(Box::new(decoder)),
            batch: Batch::default(),
            next: 0,
            cells: Vec::new(),
        })
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Leaves out columns that nobody reads: their cells are empty. Before the first row.
    pub fn want(&mut self, is_wanted: impl Fn(usize) -> bool) {
        if let Decoding::Unread(decoder) = &mut self.decoding {
            decoder.want(is_wanted);
        }
    }

    /// Goes on behind so many rows, without reading more of them than their row group. Before the first row.
    pub fn skip(&mut self, rows: u64) -> Result<(), Broken> {
        let Decoding::Unread(decoder) = &mut self.decoding else { return Ok(()) };
        decoder.skip(rows)?;
        self.rows += rows;
        Ok(())
    }

    /// Moves to the next row; false behind the last.
    pub fn advance(&mut self) -> Result<bool, Broken> {
        if self.next == self.batch.rows && !self.next_batch()? {
            return Ok(false);
        }
        self.batch.cells(self.next, &mut self.cells);
        let mut bytes = 0;
        for (field, (start, end)) in self.cells.iter().enumerate() {
            bytes += (end - start) as usize;
            if bytes > MAX_RECORD {
                return Err(Broken::TooLong { field, quoted: false });
            }
        }
        self.next += 1;
        Ok(true)
    }

    pub fn record(&self) -> Record<'_> {
        Record::of_cells(self.batch.texts(), &self.cells)
    }

    fn next_batch(&mut self) -> Result<bool, Broken> {
        let used = std::mem::take(&mut self.batch);
        self.next = 0;
        self.cells.clear();
        let decoding = std::mem::replace(&mut self.decoding, Decoding::Failed);
        let Some((batch, decoding)) = decoding.next(used)? else {
            self.sink_until(self.source.length())?;
            self.decoding = Decoding::Ended;
            return Ok(false);
        };
        (self.batch, self.decoding) = (batch, decoding);
        self.rows += self.batch.rows as u64;
        let of_file = u128::from(self.source.length()) * u128::from(self.rows);
        let end = of_file / u128::from(self.all.max(1));
        self.sink_until(end.min(u128::from(self.source.length())) as u64)?;
        Ok(true)
    }

    fn sink_until(&mut self, end: u64) -> Result<(), Broken> {
        while self.sunk < end {
            let piece = (end - self.sunk).min(PIECE) as usize;
            let bytes = self.source.read(self.sunk, piece).map_err(Broken::Input)?;
            self.sink.write_all(&bytes).map_err(Broken::Sink)?;
            self.sunk += bytes.len() as u64;
        }
        Ok(())
    }
}
