//! Rows out of a sheet of an .xlsx workbook, cell by cell: what a sheet says of its size is not believed, and rows without a value cost
//! nothing.
//!
//! | cell | text |
//! |---|---|
//! | number | the shortest decimal that is the same number, as in Parquet |
//! | number with a format of dates | `2026-09-03`, `2026-09-03T14:30:00`, or `14:30:00` where it has no day |
//! | number with a format of durations | `720:00:00` |
//! | formula | what it came to when the workbook was saved |
//! | formula that failed | `#REF!`, `#N/A`, which is neither an amount nor a date |
//! | texts and dates, merged over rows | repeated in each of them that has a value of its own |
//! | numbers, amounts and quantities, merged over rows | in the first row alone: to repeat a cost would multiply it |
//!
//! XML is parsed by the `calamine` crate, out of parts whose sizes were checked ([`Parts`]). Its readers borrow from the
//! workbook, so rows are read on a thread of their own.

mod ahead;
mod cells;
mod sheet;

use std::error::Error;
use std::io::{self, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{Reader as _, SheetType, SheetVisible, Xlsx, XlsxError};

use self::ahead::{Ahead, Batch};
use self::sheet::SheetRows;
use super::record::Record;
use super::{Broken, Layout, ReadSeek};
use crate::billing::container::Parts;
use crate::billing::header::Header;
use crate::billing::reread::Shared;
use crate::billing::unreadable::refuse;
use crate::billing::{Refusal, formula_guard};

/// Bytes that are handed to the sink at once.
const PIECE: usize = 1 << 20;
/// Cells with a value that a header has at least: titles above it have one.
const FEWEST_NAMES: usize = 2;

type Book = Xlsx<BufReader<Parts>>;

/// An open workbook.
pub struct Workbook {
    book: Book,
    file: Shared<Box<dyn ReadSeek>>,
}

impl Workbook {
    pub(super) fn open(file: Box<dyn ReadSeek>) -> Result<Self, Refusal> {
        let file = Shared::new(file);
        let parts = BufReader::new(Parts::open(&file)?);
        let book = guarded(|| Book::new(parts));
        Ok(Self { book: book.map_err(|broken| refuse(broken, 0, None))?, file })
    }

    /// The names of its sheets, in their order.
    pub(in crate::billing) fn sheets(&self) -> Vec<String> {
        self.book.sheets_metadata().iter().map(|sheet| sheet.name.clone()).collect()
    }

    /// The names in the header, and the layout with the sheet and the row in which it was found. `sheet` is the name of one.
    pub(in crate::billing) fn header(
        &mut self,
        sheet: Option<&str>,
        layout: Layout,
    ) -> Result<Option<(Layout, Header)>, Broken> {
        let sheets = self.book.sheets_metadata();
        let named = |name: &str| sheets.iter().position(|sheet| sheet.name.trim() == name.trim());
        let sheet = match (layout.sheet, sheet) {
            (Some(sheet), _) => Some(sheet),
            (None, Some(name)) => named(name),
            (None, None) => self.first_table()?,
        };
        let Some(sheet) = sheet else { return Ok(None) };
        let found = self.names(sheet, Layout { sheet: Some(sheet), ..layout })?;
        Ok(found.map(|(row, names)| {
            let layout = Layout { sheet: Some(sheet), header_row: Some(row), ..layout };
            (layout, Header::new(names))
        }))
    }

    /// The first sheet that people see and that has a table.
    fn first_table(&mut self) -> Result<Option<usize>, Broken> {
        let sheets = self.book.sheets_metadata().to_vec();
        for (at, sheet) in sheets.iter().enumerate() {
            let is_seen = sheet.visible == SheetVisible::Visible && sheet.typ == SheetType::WorkSheet;
            if is_seen && self.names(at, Layout::default())?.is_some() {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The number of the row that is the header of a sheet, and what it holds.
    fn names(&mut self, sheet: usize, layout: Layout) -> Result<Option<(u32, Vec<String>)>, Broken> {
        let rows = SheetRows::open(&mut self.book, sheet, layout.decimal)?;
        let Some(mut rows) = rows else { return Ok(None) };
        while rows.advance()? {
            let is_header = match layout.header_row {
                Some(row) if rows.number() > row => return Ok(None),
                Some(row) => rows.number() == row,
                None => rows.filled() >= FEWEST_NAMES,
            };
            if is_header {
                let record = rows.record();
                let name = |field| String::from_utf8_lossy(&record.plain(field)).into_owned();
                let names = (0..record.len()).map(name);
                let names = names.map(|name| name.trim().replace('\0', "\u{fffd}")).collect();
                return Ok(Some((rows.number(), names)));
            }
        }
        Ok(None)
    }
}

/// A walk over the rows of a sheet behind its header.
pub(in crate::billing) struct WorkbookRows {
    file: Shared<Box<dyn ReadSeek>>,
    sink: Box<dyn Write + Send>,
    layout: Layout,
    /// Cells that each row has at least.
    width: usize,
    once: Vec<usize>,
    reading: Reading,
    batch: Batch,
    /// Which of its rows is the current one.
    row: Option<usize>,
}

/// Where the next batch comes from.
enum Reading {
    Unread(Box<Book>),
    Ahead(Ahead),
    Ended,
    Failed,
}

impl WorkbookRows {
    /// `layout` is what [`Workbook::header`] answered. Every byte of the file also goes to the sink once there is no further row.
    pub fn new(workbook: Workbook, layout: Layout, width: usize, sink: Box<dyn Write + Send>) -> Self {
        let Workbook { book, file } = workbook;
        Self {
            file,
            sink,
            layout,
            width,
            once: Vec::new(),
            reading: Reading::Unread(Box::new(book)),
            batch: Batch::default(),
            row: None,
        }
    }

    /// Says in which columns merged cells are not repeated, whatever they hold. Before the first row.
    pub fn never_repeat(&mut self, columns: Vec<usize>) {
        self.once = columns;
    }

    /// Moves to the next row; false behind the last.
    pub fn advance(&mut self) -> Result<bool, Broken> {
        let next = self.row.map_or(0, |row| row + 1);
        if next < self.batch.rows() {
            self.row = Some(next);
            return Ok(true);
        }
        self.batch = Batch::default();
        self.row = None;
        let ahead = match std::mem::replace(&mut self.reading, Reading::Failed) {
            Reading::Unread(book) => {
                let once = std::mem::take(&mut self.once);
                Ahead::start(book, self.layout, self.width, once).map_err(Broken::Input)?
            }
            Reading::Ahead(ahead) => ahead,
            Reading::Ended => {
                self.reading = Reading::Ended;
                return Ok(false);
            }
            Reading::Failed => return Err(ahead::gone()),
        };
        if let Some(batch) = ahead.next()? {
            (self.batch, self.row, self.reading) = (batch, Some(0), Reading::Ahead(ahead));
            return Ok(true);
        }
        self.sink_all()?;
        self.reading = Reading::Ended;
        Ok(false)
    }

    pub fn record(&self) -> Record<'_> {
        self.batch.record(self.row)
    }

    /// The number of the current row in its sheet, from 1.
    pub fn number(&self) -> Option<u32> {
        self.batch.number(self.row)
    }

    /// Takes the apostrophes away that stand before formulas in the current row.
    pub fn unescape(&mut self) {
        self.batch.cut_starts(self.row, formula_guard::is_escaped);
    }

    fn sink_all(&mut self) -> Result<(), Broken> {
        let mut file = self.file.again();
        let mut piece = vec![0; PIECE];
        loop {
            let read = file.read(&mut piece).map_err(Broken::Input)?;
            if read == 0 {
                return Ok(());
            }
            self.sink.write_all(&piece[..read]).map_err(Broken::Sink)?;
        }
    }
}

/// The crate panics on some damage: that ends the file, as an error would.
fn guarded<T>(read: impl FnOnce() -> Result<T, XlsxError>) -> Result<T, Broken> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(read) => read.map_err(|error| broken(&error)),
        Err(_) => Err(damaged("its XML contradicts itself")),
    }
}

fn damaged(why: impl std::fmt::Display) -> Broken {
    Broken::Workbook(format!("a damaged workbook ({why})"))
}

/// Why it cannot be read: the disk's fault, or its own.
fn broken(error: &XlsxError) -> Broken {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(inner) = inner.downcast_ref::<io::Error>()
            && !matches!(inner.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
        {
            return Broken::Input(io::Error::new(inner.kind(), inner.to_string()));
        }
        cause = inner.source();
    }
    damaged(error)
}
