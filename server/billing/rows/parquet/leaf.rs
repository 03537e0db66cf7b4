//! One column of values: the rows of a batch, their levels, and a place among them.

use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::Result;
use parquet::schema::types::ColumnDescPtr;

use super::pages::{Pages, SharedPages, refused};
use super::text::{Kind, Values, Written};

pub(super) struct Leaf {
    column: ColumnDescPtr,
    kind: Kind,
    pub max_definition: i16,
    /// The pages of the row group, and what decodes them while that is at hand.
    pages: Option<SharedPages>,
    reader: Option<ColumnReader>,
    /// Rows of the row group that were read or left out.
    behind: u64,
    values: Values,
    definition: Vec<i16>,
    repetition: Vec<i16>,
    /// What was written last.
    written: Written,
    /// Where the next level and the next value are.
    level: usize,
    value: usize,
}

impl Leaf {
    pub fn new(column: ColumnDescPtr) -> Self {
        Self {
            kind: Kind::of(&column),
            max_definition: column.max_def_level(),
            values: Values::of(column.physical_type()),
            column,
            pages: None,
            reader: None,
            behind: 0,
            definition: Vec::new(),
            repetition: Vec::new(),
            written: Written::default(),
            level: 0,
            value: 0,
        }
    }

    /// Begins with the pages of a row group.
    pub fn open(&mut self, pages: Pages) {
        self.reader = None;
        self.pages = Some(SharedPages::new(pages));
        self.behind = 0;
    }

    /// Leaves out so many rows of the row group that was opened, of which none was read yet.
    pub fn skip(&mut self, rows: usize) {
        self.behind += rows as u64;
    }

    /// What decodes the pages from the next row on.
    fn begin(&self) -> Result<ColumnReader> {
        let pages = self.pages.clone().ok_or_else(closed)?;
        let before = pages.lock().begin()?;
        let mut reader = get_column_reader(self.column.clone(), Box::new(pages.clone()));
        // The page that was read last began before the row that is next.
        skip(&mut reader, self.behind.saturating_sub(before) as usize)?;
        pages.lock().arrive();
        Ok(reader)
    }

    /// Reads so many rows.
    pub fn read(&mut self, rows: usize) -> Result<()> {
        if self.reader.is_none() {
            self.reader = Some(self.begin()?);
        }
        let reader = self.reader.as_mut().ok_or_else(closed)?;
        let (definition, repetition) = (Some(&mut self.definition), Some(&mut self.repetition));
        let (read, ..) = match (reader, &mut self.values) {
            (ColumnReader::BoolColumnReader(reader), Values::Boolean(values)) => {
                reader.read_records(rows, definition, repetition, values)
            }
            (ColumnReader::Int32ColumnReader(reader), Values::Int32(values)) => {
                reader.read_records(rows, definition, repetition, values)
            }
            (ColumnReader::Int64ColumnReader(reader), Values::Int64(values)) => {
                reader.read_records(rows, definition, repetition, values)
            }
            (ColumnReader::Int96ColumnReader(reader), Values::Int96(values)) => {
                reader.read_records(rows, definition, repetition, values)
            }
            (ColumnReader::FloatColumnReader(reader), Values::Float(values)) => {
                reader.read_records(rows, definition, repetition, values)
            }
            (ColumnReader::DoubleColumnReader(reader), Values::Double(values)) => {
                reader.read_records(rows, definition, repetition, values)
            }
            (ColumnReader::ByteArrayColumnReader(reader), Values::Bytes(values)) => {
                reader.read_records(rows, definition, repetition, values)
            }
            (ColumnReader::FixedLenByteArrayColumnReader(reader), Values::Fixed(values)) => {
                reader.read_records(rows, definition, repetition, values)
            }
            _ => Err(closed()),
        }?;
        self.behind += read as u64;
        if read == rows { Ok(()) } else { Err(refused(TOO_FEW)) }
    }

    /// Lets go of the rows that were read: texts are slices of their pages, and keep these in memory.
    pub fn forget(&mut self) {
        self.values = Values::of(self.column.physical_type());
        (self.definition, self.repetition) = (Vec::new(), Vec::new());
        (self.level, self.value) = (0, 0);
    }

    fn is_list(&self) -> bool {
        self.column.max_rep_level() > 0
    }

    /// Lets go of what decodes the pages, until more rows are read. Not of lists: see [`Pages::begin`]. Answers whether it did.
    pub fn put_away(&mut self) -> bool {
        let Some(pages) = self.pages.as_ref().filter(|_| !self.is_list()) else {
            return false;
        };
        self.reader = None;
        pages.lock().put_away();
        true
    }

    /// How much of the next value's path is there; 0 behind the last.
    pub fn definition(&self) -> i16 {
        match self.max_definition {
            0 => 0,
            _ => self.definition.get(self.level).copied().unwrap_or(0),
        }
    }

    /// Which list the next value continues; 0 where it begins a row, or behind the last.
    pub fn repetition(&self) -> i16 {
        self.repetition.get(self.level).copied().unwrap_or(0)
    }

    /// Goes on behind the next value; answers where that is among the values, if there is one.
    pub fn take(&mut self) -> Option<usize> {
        let is_there = self.definition() == self.max_definition;
        self.level += 1;
        let at = self.value;
        self.value += usize::from(is_there);
        is_there.then_some(at)
    }

    /// Appends a value as text.
    pub fn write(&mut self, at: usize, out: &mut Vec<u8>) {
        self.values.write(at, self.kind, &mut self.written, out);
    }

    /// Whether values stand in quotes in JSON.
    pub fn is_quoted(&self) -> bool {
        self.kind.is_quoted(&self.values)
    }
}

fn skip(reader: &mut ColumnReader, rows: usize) -> Result<()> {
    let skipped = match reader {
        ColumnReader::BoolColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::Int32ColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::Int64ColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::Int96ColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::FloatColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::DoubleColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::ByteArrayColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => reader.skip_records(rows),
    }?;
    if skipped == rows { Ok(()) } else { Err(refused(TOO_FEW)) }
}

const TOO_FEW: &str = "a column of fewer rows than the row group says";

fn closed() -> parquet::errors::ParquetError {
    refused("a column of another type than the file says")
}
