//! What decodes the columns of a file, some rows of each at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;

use super::batch::Batch;
use super::leaf::Leaf;
use super::memory::{Limits, Memory};
use super::pages::{Nested, Pages, refused};
use super::schema::Column;
use super::source::Source;
use super::{MAX_BATCH, footer, schema};
use crate::billing::rows::record::quote;
use crate::billing::rows::{Broken, Place};

/// Rows that are read together: enough to be fast, few enough to be small where their texts are long. The fuzzer's files are too
/// small for several batches of that.
const BATCH: usize = if cfg!(fuzzing) { 8 } else { 1024 };
/// A batch may be this many times longer where columns are put away, because each batch unpacks them again.
const LONGER: usize = 8;

pub(super) struct Decoder {
    source: Arc<Source>,
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
    /// Rows of a batch, usually.
    usual: usize,
    /// Rows of the next batch.
    batch_size: usize,
}

impl Decoder {
    pub fn open(source: &Arc<Source>) -> Result<Self, Broken> {
        let metadata = guarded(|| footer::read(source)).map_err(|error| broken(error, None))?;
        let schema = metadata.file_metadata().schema_descr();
        let columns = schema::columns(schema.root_schema());
        let leaves: Vec<Leaf> = schema.columns().iter().map(|column| Leaf::new(column.clone())).collect();
        Ok(Self {
            memory: Memory::new(Limits::of_file(source.length())),
            source: Arc::clone(source),
            wanted: vec![true; columns.len()],
            columns,
            leaves,
            metadata,
            nested: Nested::default(),
            reading: None,
            group: 0,
            left: 0,
            rows: 0,
            usual: BATCH,
            batch_size: BATCH,
        })
    }

    /// With so many rows at a time, and other limits.
    #[cfg(test)]
    pub fn set(&mut self, rows: usize, memory: Memory) {
        (self.usual, self.batch_size, self.memory) = (rows, rows, memory);
    }

    /// Of the columns.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// As the file says.
    pub fn rows_of_file(&self) -> u64 {
        self.metadata.file_metadata().num_rows().max(0) as u64
    }

    /// Leaves out columns that nobody reads.
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

    /// Whether there may be rows that were not decoded.
    pub fn has_more(&self) -> bool {
        self.left > 0 || self.group < self.metadata.num_row_groups()
    }

    /// Fills `batch` with the next rows; `None` behind the last.
    pub fn next(&mut self, mut batch: Batch) -> Result<Option<Batch>, Broken> {
        while self.left == 0 {
            if self.group == self.metadata.num_row_groups() {
                return Ok(None);
            }
            guarded(|| self.open_group()).map_err(|error| broken(error, Some(self.place(1))))?;
        }
        let rows = self.left.min(self.batch_size);
        guarded(|| self.fill(&mut batch, rows)).map_err(|error| broken(error, Some(self.place(rows))))?;
        self.left -= rows;
        self.rows += rows as u64;
        Ok(Some(batch))
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

    fn fill(&mut self, batch: &mut Batch, rows: usize) -> Result<()> {
        batch.begin(rows);
        let mut is_put_away = false;
        let mut leaves = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            batch.column(self.wanted[at]);
            if !self.wanted[at] {
                continue;
            }
            self.reading = Some(at);
            self.nested.begin_batch();
            leaves.clear();
            column.node.leaves(&mut leaves);
            for leaf in &leaves {
                self.leaves[*leaf].read(rows)?;
            }
            for _ in 0..rows {
                let start = batch.start();
                let text = batch.text();
                column.node.cell(&mut self.leaves, text);
                quote(text, start);
                if text.len() > MAX_BATCH {
                    return Err(refused("texts of more than 64 MB in a thousand rows"));
                }
                batch.end_cell();
            }
            // The column that was read last is needed last of all: it is the one to put away.
            for leaf in &leaves {
                self.leaves[*leaf].forget();
                is_put_away |= self.memory.is_crowded() && self.leaves[*leaf].put_away();
            }
        }
        self.reading = None;
        self.batch_size =
            if is_put_away { self.long_batch(batch.texts().len() / rows.max(1)) } else { self.usual };
        Ok(())
    }

    /// As many rows as surely stay within a batch, when rows have about so many bytes.
    fn long_batch(&self, bytes_of_row: usize) -> usize {
        let of_ends = size_of::<u32>() * self.wanted.iter().filter(|wanted| **wanted).count();
        (MAX_BATCH / 8 / (bytes_of_row + of_ends).max(1)).clamp(self.usual, LONGER * self.usual)
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
