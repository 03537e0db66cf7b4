//! Rows out of a Parquet file, a batch at a time: only the columns that are wanted are read, and the memory is bounded
//! whatever the file says of itself.
//!
//! Levels and encodings are those of the `parquet` crate. What it would make room for because a file says so is looked at
//! before (`footer`, `pages`), what all columns take together is counted (`memory`), and what still goes wrong in it ends the
//! file and not the program.

mod compact;
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
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;

use self::leaf::Leaf;
use self::memory::{Limits, Memory};
use self::pages::{Nested, Pages, refused};
use self::schema::Column;
use self::source::Source;
use super::record::{Record, SEPARATOR, quote};
use super::{Broken, MAX_RECORD, Place};

pub use self::source::ReadSeek;

/// Rows that are read together: enough to be fast, few enough to be small where their texts are long.
const BATCH: usize = 1024;
/// The same where columns are put away, which are unpacked again for each batch.
const LONG_BATCH: usize = 8 * BATCH;
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
    metadata: ParquetMetaData,
    columns: Vec<Column>,
    /// Which of them are read.
    wanted: Vec<bool>,
    leaves: Vec<Leaf>,
    nested: Nested,
    memory: Memory,
    /// The column that is being read.
    reading: Option<usize>,
    /// The next row group, and rows of the current one that are still to be read.
    group: usize,
    left: usize,
    /// Rows of all groups so far.
    rows: u64,
    /// Rows of the batch, and which of them is next.
    batch: usize,
    next: usize,
    /// Rows that are to be read together the next time.
    batch_size: usize,
    cells: Vec<Cells>,
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

/// The cells of a column in a batch, one behind the other.
#[derive(Default)]
struct Cells {
    text: Vec<u8>,
    ends: Vec<u32>,
}

impl ParquetRows {
    /// Every byte of the file also goes to the sink, in order: all of them once there is no further row.
    pub fn open(input: Box<dyn ReadSeek>, sink: Box<dyn Write + Send>) -> Result<Self, Broken> {
        let source = Arc::new(Source::new(input).map_err(Broken::Input)?);
        let metadata = guarded(|| footer::read(&source)).map_err(|error| broken(error, None))?;
        let schema = metadata.file_metadata().schema_descr();
        let columns = schema::columns(schema.root_schema());
        let leaves: Vec<Leaf> = schema.columns().iter().map(|column| Leaf::new(column.clone())).collect();
        Ok(Self {
            memory: Memory::new(Limits::of_file(source.length())),
            source,
            sink,
            sunk: 0,
            wanted: vec![true; columns.len()],
            cells: columns.iter().map(|_| Cells::default()).collect(),
            columns,
            leaves,
            metadata,
            nested: Nested::default(),
            reading: None,
            group: 0,
            left: 0,
            rows: 0,
            batch: 0,
            next: 0,
            batch_size: BATCH,
            bytes: Vec::new(),
            ends: Vec::new(),
        })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Leaves out columns that nobody reads: their cells are empty.
    pub fn want(&mut self, is_wanted: impl Fn(usize) -> bool) {
        self.wanted = (0..self.columns.len()).map(is_wanted).collect();
    }

    /// Goes on behind so many rows, without reading more of them than their row group.
    pub fn skip(&mut self, rows: u64) -> Result<(), Broken> {
        let mut rows = rows;
        loop {
            let Some(group) = self.metadata.row_groups().get(self.group) else { return Ok(()) };
            let of_group = group.num_rows() as u64;
            if rows < of_group {
                break;
            }
            rows -= of_group;
            self.rows += of_group;
            self.group += 1;
        }
        guarded(|| {
            self.open_group()?;
            self.left -= rows as usize;
            self.rows += rows;
            for leaf in self.wanted_leaves() {
                self.leaves[leaf].skip(rows as usize);
            }
            Ok(())
        })
        .map_err(|error| broken(error, Some(self.place(1))))
    }

    /// Moves to the next row; false behind the last.
    pub fn advance(&mut self) -> Result<bool, Broken> {
        if self.next == self.batch && !self.read_batch()? {
            return Ok(false);
        }
        self.bytes.clear();
        self.ends.clear();
        for (field, cells) in self.cells.iter().enumerate() {
            if !self.ends.is_empty() {
                self.bytes.push(SEPARATOR);
            }
            let cell = cells.cell(self.next);
            if self.bytes.len() + cell.len() > MAX_RECORD {
                return Err(Broken::TooLong { field, quoted: false });
            }
            self.bytes.extend_from_slice(cell);
            self.ends.push(self.bytes.len() as u32);
        }
        self.next += 1;
        Ok(true)
    }

    pub fn record(&self) -> Record<'_> {
        Record::new(&self.bytes, &self.ends)
    }

    fn read_batch(&mut self) -> Result<bool, Broken> {
        while self.left == 0 {
            if self.group == self.metadata.num_row_groups() {
                self.sink_until(self.source.length())?;
                return Ok(false);
            }
            guarded(|| self.open_group()).map_err(|error| broken(error, Some(self.place(1))))?;
        }
        let rows = self.left.min(self.batch_size);
        guarded(|| self.fill(rows)).map_err(|error| broken(error, Some(self.place(rows))))?;
        self.left -= rows;
        self.rows += rows as u64;
        (self.batch, self.next) = (rows, 0);
        let of_file = u128::from(self.source.length()) * u128::from(self.rows);
        let all = self.metadata.file_metadata().num_rows().max(1) as u128;
        self.sink_until((of_file / all).min(u128::from(self.source.length())) as u64)?;
        Ok(true)
    }

    fn open_group(&mut self) -> Result<()> {
        let group = self.metadata.row_group(self.group);
        self.group += 1;
        for (at, column) in self.columns.iter().enumerate().filter(|(at, _)| self.wanted[*at]) {
            self.reading = Some(at);
            let mut leaves = Vec::new();
            column.node.leaves(&mut leaves);
            for leaf in leaves {
                let (source, column) = (Arc::clone(&self.source), group.column(leaf));
                let pages = Pages::new(source, column, self.nested.clone(), self.memory.clone())?;
                self.leaves[leaf].open(pages);
            }
        }
        self.reading = None;
        self.left = group.num_rows() as usize;
        Ok(())
    }

    /// Where reading the next so many rows broke off.
    fn place(&self, rows: usize) -> Place {
        let column = self.reading.and_then(|at| self.columns.get(at)).map(|column| column.name.clone());
        let first = self.rows + 1;
        Place { group: self.group, rows: (first, self.rows + rows.max(1) as u64), column }
    }

    fn wanted_leaves(&self) -> Vec<usize> {
        let mut leaves = Vec::new();
        for (column, _) in self.columns.iter().zip(&self.wanted).filter(|(_, wanted)| **wanted) {
            column.node.leaves(&mut leaves);
        }
        leaves
    }

    fn fill(&mut self, rows: usize) -> Result<()> {
        self.clear_cells();
        let (mut bytes, mut is_put_away) = (0, false);
        for (at, column) in self.columns.iter().enumerate().filter(|(at, _)| self.wanted[*at]) {
            let cells = &mut self.cells[at];
            self.reading = Some(at);
            self.nested.begin_batch();
            let mut leaves = Vec::new();
            column.node.leaves(&mut leaves);
            for leaf in &leaves {
                self.leaves[*leaf].read(rows)?;
            }
            for _ in 0..rows {
                let start = cells.text.len();
                column.node.cell(&mut self.leaves, &mut cells.text);
                quote(&mut cells.text, start);
                bytes += cells.text.len() - start;
                if bytes > MAX_BATCH {
                    return Err(refused("texts of more than 64 MB in a thousand rows"));
                }
                cells.ends.push(cells.text.len() as u32);
            }
            // The column that was read last is needed last of all: it is the one to put away.
            for leaf in leaves {
                self.leaves[leaf].forget();
                is_put_away |= self.memory.is_crowded() && self.leaves[leaf].put_away();
            }
        }
        self.reading = None;
        self.batch_size = if is_put_away { self.long_batch(bytes / rows.max(1)) } else { BATCH };
        Ok(())
    }

    /// Room of cells that were long stays for later ones, but not of column after column.
    fn clear_cells(&mut self) {
        let room: usize = self.cells.iter().map(|cells| cells.text.capacity()).sum();
        for cells in &mut self.cells {
            cells.ends.clear();
            if room > MAX_BATCH / 2 {
                cells.text = Vec::new();
            } else {
                cells.text.clear();
            }
        }
    }

    /// As many rows as surely stay within a batch, when rows have about so many bytes.
    fn long_batch(&self, bytes_of_row: usize) -> usize {
        let of_ends = size_of::<u32>() * self.wanted.iter().filter(|wanted| **wanted).count();
        (MAX_BATCH / 8 / (bytes_of_row + of_ends).max(1)).clamp(BATCH, LONG_BATCH)
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

impl Cells {
    fn cell(&self, row: usize) -> &[u8] {
        let Some(end) = self.ends.get(row) else { return &[] };
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[start as usize..*end as usize]
    }
}

/// The crate panics on some damage: that ends the file, as an error would.
fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(refused("damaged Parquet data")))
}

/// Why the file cannot be read on, and where.
fn broken(error: ParquetError, place: Option<Place>) -> Broken {
    if let ParquetError::External(inner) = error {
        return match inner.downcast::<std::io::Error>() {
            Ok(error) => Broken::Input(*error),
            Err(error) => Broken::Parquet { found: error.to_string(), place },
        };
    }
    let text = error.to_string();
    let found = text.strip_prefix("Parquet error: ").unwrap_or(&text).to_owned();
    Broken::Parquet { found, place }
}
