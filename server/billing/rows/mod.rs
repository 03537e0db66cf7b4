//! Row sources: what a file holds rows in. Each hands out the same: the names of the columns, then row after row of
//! fields, so that a format reads its cloud whatever it came in.

mod csv;
mod envelope;
mod json;
mod parquet;
mod paths;
mod record;
mod stream;
mod workbook;

use std::io::{self, Read, Write};

use self::csv::CsvRows;
use self::json::{JsonRows, Names};
use self::parquet::ParquetRows;
use self::stream::Stream;
use self::workbook::WorkbookRows;
use super::container::Content;
use super::header::{Header, key_of};
use super::recognize::Text;
use super::unreadable::refuse;
use super::{FORMATS, Format, Refusal, formula_guard, recognize, refused_files};

pub(super) use self::envelope::Members;
pub use self::parquet::ReadSeek;
pub(super) use self::record::{MAX_FIELD, Record};
pub use self::workbook::Workbook;

/// A row longer than this ends the reading: most likely a quote that was never closed.
pub const MAX_RECORD: usize = 16 << 20;
/// Bytes at the start of a file that tell its columns: no more are looked at than a row of JSON may have, and what is read with
/// its last byte.
pub const START: u64 = (MAX_RECORD + (1 << 20)) as u64;
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why no further row can be had.
#[derive(Debug)]
pub(super) enum Broken {
    Input(io::Error),
    Sink(io::Error),
    /// The row is longer than [`MAX_RECORD`]; `field` is where it grew, and whether inside quotes.
    TooLong {
        field: usize,
        quoted: bool,
    },
    /// The input ended inside quotes that opened in `field`.
    OpenQuote {
        field: usize,
    },
    /// The input ended within a row.
    CutOff,
    /// What it holds is no row, and where the next one begins is not known.
    Malformed(String),
    /// A Parquet file that cannot be read, and from where on.
    Parquet {
        found: String,
        place: Option<Place>,
    },
    /// A workbook that cannot be read.
    Workbook(String),
}

/// Where a Parquet file cannot be read.
#[derive(Debug)]
pub(super) struct Place {
    /// Number of the row group, from 1.
    pub group: usize,
    /// The first of the rows that are read together, and the last, from 1.
    pub rows: (u64, u64),
    pub column: Option<String>,
}

/// A walk over the rows of a stream of bytes, every one of which also goes to a sink.
pub(super) enum Rows {
    Csv(CsvRows),
    Json(Box<JsonRows>),
    Parquet(Box<ParquetRows>),
    Workbook(Box<WorkbookRows>),
}

/// Rows, and the names of their columns.
pub(super) struct Opened {
    pub rows: Rows,
    pub header: Header,
    /// The column that says which rows have apostrophes before formulas.
    pub escaped: Option<usize>,
    pub layout: Layout,
}

/// How the rows of a text or a workbook stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Between the fields of a line.
    pub separator: u8,
    /// Which line names the columns, from 1; the first that is not blank where nothing is said.
    /// Of a workbook: the first that is filled in two cells or more.
    pub header_row: Option<u32>,
    /// What is put before the decimals of a number in a workbook, where texts beside it have them behind this.
    pub decimal: u8,
    /// The number of the sheet of a workbook, from 0; the first that people see and that has a table where nothing is said.
    pub sheet: Option<usize>,
}

impl Default for Layout {
    fn default() -> Self {
        Self { separator: b',', header_row: None, decimal: b'.', sheet: None }
    }
}

/// What tells how rows stand in a file.
pub enum Start<'a> {
    /// The first bytes of a text.
    Text(&'a [u8]),
    Workbook(&'a mut Workbook),
}

/// Reads to the first row. `layout` is asked with the start of a text, or a workbook.
pub(super) fn open(
    content: Content,
    sink: Box<dyn Write + Send>,
    layout: impl FnOnce(Start<'_>) -> Layout,
) -> Result<Opened, Refusal> {
    let content = match content {
        Content::Text(content) => content,
        Content::Parquet(file) => return open_parquet(file, sink),
        Content::Workbook(file) => return open_workbook(file, sink, layout),
    };
    let mut stream = Stream::new(content, sink);
    let start = stream.peek().map_err(|broken| refuse(broken, 0, None))?;
    match recognize::text(start)? {
        Text::Csv { mark } => {
            let layout = layout(Start::Text(start));
            open_csv(CsvRows::new(stream, mark, layout.separator), layout)
        }
        Text::Json { mark } => open_json(stream, mark),
    }
}

fn open_json(stream: Stream, mark: usize) -> Result<Opened, Refusal> {
    let rows =
        JsonRows::open(stream, mark, Names { is_map, is_list }).map_err(|broken| refuse(broken, 0, None))?;
    let header = Header::new(rows.names().to_vec());
    if !recognize::is_near(&header) {
        refused_files::json(rows.start())?;
    }
    if rows.begins_too_long() {
        let too_long = Broken::TooLong { field: 0, quoted: false };
        return Err(Refusal { column: None, ..refuse(too_long, 1, None) });
    }
    recognize::check_names(header.names())?;
    Ok(Opened { rows: Rows::Json(Box::new(rows)), header, escaped: None, layout: Layout::default() })
}

fn open_parquet(file: Box<dyn ReadSeek>, sink: Box<dyn Write + Send>) -> Result<Opened, Refusal> {
    let rows = ParquetRows::open(file, sink).map_err(|broken| refuse(broken, 0, None))?;
    let names: Vec<String> = rows.names().iter().map(|name| name.trim().replace('\0', "\u{fffd}")).collect();
    recognize::check_names(&names)?;
    let (rows, header) = (Rows::Parquet(Box::new(rows)), Header::new(names));
    Ok(Opened { rows, header, escaped: None, layout: Layout::default() })
}

fn open_workbook(
    file: Box<dyn ReadSeek>,
    sink: Box<dyn Write + Send>,
    layout: impl FnOnce(Start<'_>) -> Layout,
) -> Result<Opened, Refusal> {
    let mut workbook = Workbook::open(file)?;
    let layout = layout(Start::Workbook(&mut workbook));
    let found = workbook.header(None, layout).map_err(|broken| refuse(broken, 0, None))?;
    let (layout, header) = found.ok_or_else(|| {
        Refusal::new(
            "a workbook without a table",
            "a sheet with the names of columns in one row, and rows below it",
        )
    })?;
    recognize::check_names(header.names())?;
    let escaped = header.names().iter().position(|name| name == formula_guard::ESCAPED);
    let names = header.names().iter().map(|name| match escaped {
        Some(_) => String::from_utf8_lossy(formula_guard::unescape(name.as_bytes())).into_owned(),
        None => name.clone(),
    });
    let header = Header::new(names.collect());
    let rows = WorkbookRows::new(workbook, layout, header.len(), sink);
    Ok(Opened { rows: Rows::Workbook(Box::new(rows)), header, escaped, layout })
}

/// Whether an object at this path, without punctuation, is one cell: a map whose names are data.
fn is_map(path: &str) -> bool {
    FORMATS.iter().any(|format| format.maps().contains(&path))
}

/// Whether a member of this name holds rows.
fn is_list(name: &str) -> bool {
    FORMATS.iter().any(|format| format.list() == Some(name))
}

fn open_csv(mut rows: CsvRows, layout: Layout) -> Result<Opened, Refusal> {
    let mut line = 0;
    loop {
        let more = rows.advance().map_err(recognize::broken_header)?;
        if !more {
            return Err(recognize::without_header());
        }
        line += 1;
        if layout.header_row.map_or(!rows.record().is_blank(), |row| row == line) {
            break;
        }
    }
    let is_mark = |name: &[u8]| name == formula_guard::ESCAPED.as_bytes();
    let record = rows.record();
    let escaped = (0..record.len()).find(|column| is_mark(&record.plain(*column)));
    if escaped.is_some() {
        rows.unescape();
    }
    let header = recognize::header(&rows.record())?;
    Ok(Opened { rows: Rows::Csv(rows), header, escaped, layout })
}

impl Rows {
    /// The same columns, of other bytes: a part of the file that begins where a row does. `None` where no part is a file.
    pub fn continued(self, part: Box<dyn Read + Send>) -> Result<Option<Self>, Broken> {
        let stream = Stream::new(part, Box::new(io::sink()));
        Ok(match self {
            Self::Csv(rows) => Some(Self::Csv(rows.continued(stream))),
            Self::Json(rows) => Some(Self::Json(Box::new(rows.continued(stream)?))),
            Self::Parquet(_) | Self::Workbook(_) => None,
        })
    }

    /// Leaves out the columns that nobody reads, where that saves work.
    pub fn want(&mut self, is_wanted: impl Fn(usize) -> bool) {
        if let Self::Parquet(rows) = self {
            rows.want(is_wanted);
        }
    }

    /// Says in which columns a cell that is merged over several rows counts once: those of amounts and hours.
    pub fn never_repeat(&mut self, columns: Vec<usize>) {
        if let Self::Workbook(rows) = self {
            rows.never_repeat(columns);
        }
    }

    /// Goes on behind so many rows.
    pub fn skip(&mut self, rows: u64) -> Result<(), Broken> {
        if let Self::Parquet(of_file) = self {
            return of_file.skip(rows);
        }
        for _ in 0..rows {
            self.advance()?;
        }
        Ok(())
    }

    /// The columns with those that the format reads and that may be met in later rows; `None` where a file states its columns
    /// beforehand.
    pub fn expect(&mut self, header: &Header, format: &dyn Format) -> Option<Header> {
        let Self::Json(rows) = self else { return None };
        let names = format.names().into_iter().filter(|name| !header.has(&key_of(name).0));
        rows.expect(names.map(str::to_owned).collect());
        Some(Header::of_met(rows.names().to_vec(), header.len()))
    }

    /// The columns that rows had so far; `None` where a file states its columns beforehand.
    pub fn met(&self) -> Option<Vec<String>> {
        let Self::Json(rows) = self else { return None };
        Some(rows.met())
    }

    /// What the object that holds the rows has beside them, behind the last of them; `None` where no object does.
    pub fn members(&self) -> Option<&Members> {
        let Self::Json(rows) = self else { return None };
        Some(rows.members()).filter(|members| !members.is_empty())
    }

    /// Moves to the next row; false at the end.
    pub fn advance(&mut self) -> Result<bool, Broken> {
        match self {
            Self::Csv(rows) => rows.advance(),
            Self::Json(rows) => rows.advance(),
            Self::Parquet(rows) => rows.advance(),
            Self::Workbook(rows) => rows.advance(),
        }
    }

    pub fn record(&self) -> Record<'_> {
        match self {
            Self::Csv(rows) => rows.record(),
            Self::Json(rows) => rows.record(),
            Self::Parquet(rows) => rows.record(),
            Self::Workbook(rows) => rows.record(),
        }
    }

    /// Offset of the current row in the stream; `None` where its bytes are not side by side.
    pub fn position(&self) -> Option<u64> {
        match self {
            Self::Csv(rows) => Some(rows.position()),
            Self::Json(rows) => Some(rows.position()),
            Self::Parquet(_) | Self::Workbook(_) => None,
        }
    }

    /// The number that a spreadsheet shows beside the current row, where it is one of a sheet: titles and blank rows count.
    pub fn sheet_row(&self) -> Option<u32> {
        match self {
            Self::Csv(_) | Self::Json(_) | Self::Parquet(_) => None,
            Self::Workbook(rows) => rows.number(),
        }
    }

    /// Why the current row cannot be read, for people.
    pub fn fault(&self) -> Option<&str> {
        match self {
            Self::Csv(_) | Self::Parquet(_) | Self::Workbook(_) => None,
            Self::Json(rows) => rows.fault(),
        }
    }

    /// Whether the stream ended where more was to be expected behind the current row.
    pub fn is_unterminated(&self) -> bool {
        match self {
            Self::Csv(rows) => rows.is_unterminated(),
            Self::Json(rows) => rows.is_cut_off(),
            Self::Parquet(_) | Self::Workbook(_) => false,
        }
    }

    /// Takes the apostrophes away that stand before formulas in the current row.
    pub fn unescape(&mut self) {
        match self {
            Self::Csv(rows) => rows.unescape(),
            Self::Workbook(rows) => rows.unescape(),
            Self::Json(_) | Self::Parquet(_) => {}
        }
    }

    /// The current row as the file writes it: names and values.
    pub fn original(&self, header: &Header) -> Vec<(String, String)> {
        match self {
            Self::Json(rows) => rows.original(is_map),
            Self::Csv(_) | Self::Parquet(_) | Self::Workbook(_) => {
                let record = self.record();
                let value = |field| String::from_utf8_lossy(&record.plain(field)).into_owned();
                (0..record.len()).map(|field| (header.name(field).to_owned(), value(field))).collect()
            }
        }
    }
}
