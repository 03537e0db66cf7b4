//! A recognized export: a walk over its rows, each of which becomes a charge or several, a rejection, or is skipped.

mod identity;

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{Read, Seek, Write};
use std::ops::Range;
use std::sync::Arc;

pub use identity::Identity;

use super::charge::Charge;
use super::container::{self, Content};
use super::date_order::{self, DateOrder, Slashed};
use super::header::{Columns, Header};
use super::reread::Shared;
use super::row::{Outcome, Problem, ReadRow, Remarks, Row};
use super::rows::{self, Broken, Layout, Opened, Rows};
use super::unreadable::refuse;
use super::{Accumulation, Format, ReadAs, Refusal, Rejection, Remark, Statement, formula_guard, recognize};

/// What became of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The charge was filled in.
    Charge,
    Rejected(Rejection),
    /// Read and left out, for this reason.
    Skipped(&'static str),
}

/// A recognized export, read row by row.
pub struct Export {
    file: String,
    format: Arc<dyn Format>,
    accumulation: Accumulation,
    header: Header,
    columns: Columns,
    /// Of what its reader notes behind the last row, that by which figures may be wrong.
    doubts: Vec<String>,
    /// The column that says which rows have apostrophes before formulas.
    escaped: Option<usize>,
    layout: Layout,
    rows: Rows,
    reader: Box<dyn ReadRow + Send>,
    /// What the reader reads keys from, and the same as runs of columns.
    key_columns: Vec<usize>,
    key_spans: Vec<Range<usize>>,
    /// The order of dates with slashes, and what opens the whole content once more to decide it.
    dates: DateOrder,
    reopen: Reopen,
    remarks: Remarks,
    /// Whether the columns were settled, behind the last row.
    is_settled: bool,
    /// Whether the reader has looked at all rows, as it must before some of them.
    has_learned: bool,
    /// The other files of its import.
    others: Vec<Reopen>,
    row: u64,
    /// Of the first row that could be read: all, or a few less where the file leaves the last off.
    usual_fields: Option<usize>,
    scratch: Vec<u8>,
}

/// Opens the whole content of a file from its beginning, unpacked.
pub type Reopen = Box<dyn Fn() -> Result<Content, Refusal> + Send>;

/// What the reader of one file of an import learned of the rows of all of them.
pub struct Learned(Box<dyn Any + Send>);

/// Recognizes what `input` is and walks over its rows. `name` is used in messages only; `read_as` says which
/// formats it may be.
///
/// # Errors
/// A [`Refusal`] that says what was found instead.
pub fn open<R>(name: &str, input: R, read_as: &ReadAs) -> Result<Export, Refusal>
where
    R: Read + Seek + Send + 'static,
{
    open_with_sink(name, input, read_as, std::io::sink())
}

/// As [`open`]; `sink` is given every unpacked byte, in order, as it is read: all of them once
/// [`Export::next`] has answered `None`.
///
/// # Errors
/// A [`Refusal`] that says what was found instead.
pub fn open_with_sink<R, W>(name: &str, input: R, read_as: &ReadAs, sink: W) -> Result<Export, Refusal>
where
    R: Read + Seek + Send + 'static,
    W: Write + Send + 'static,
{
    let input = Shared::new(input);
    let whole = input.again();
    let reopen: Reopen = Box::new(move || container::unpack(whole.again()));
    let opened = container::unpack(input)
        .and_then(|content| rows::open(content, Box::new(sink), |start| read_as.layout(start)))
        .and_then(|opened| Export::begin(name, opened, read_as, reopen));
    opened.map_err(|refusal| refusal.of(name))
}

/// As [`open`], for some rows of a text that is kept whole elsewhere: `start` are its first bytes, [`START`] of them, for
/// its columns, and `part` begins where a row does. What only all rows together tell is looked up in `whole`.
///
/// # Errors
/// A [`Refusal`] that says what was found instead.
pub fn open_part(
    name: &str,
    start: impl Read + Send + 'static,
    part: impl Read + Send + 'static,
    read_as: &ReadAs,
    whole: Reopen,
) -> Result<Export, Refusal> {
    let export =
        rows::open(Content::Text(Box::new(start)), Box::new(std::io::sink()), |start| read_as.layout(start))
            .and_then(|opened| Export::begin(name, opened, read_as, whole))
            .and_then(|mut export| {
                let part = export.rows.continued(Box::new(part)).map_err(|broken| refuse(broken, 0, None))?;
                export.rows = part.ok_or_else(|| Refusal::new("a part of a file", "the whole of it"))?;
                // One row is opened at once, however long its file is.
                export.has_learned = true;
                Ok(export)
            });
    export.map_err(|refusal| refusal.of(name))
}

/// As [`open`], from a row on (1-based), with every column that it has: of a Parquet file or a workbook, of which no part is a file.
///
/// # Errors
/// A [`Refusal`] that says what was found instead.
pub fn open_at<R>(name: &str, input: R, row: u64, read_as: &ReadAs) -> Result<Export, Refusal>
where
    R: Read + Seek + Send + 'static,
{
    let export = open(name, input, read_as).and_then(|mut export| {
        export.rows.want(|_| true);
        export.has_learned = true;
        export.row = row.saturating_sub(1);
        export.rows.skip(export.row).map_err(|broken| refuse(broken, row, None))?;
        Ok(export)
    });
    export.map_err(|refusal| refusal.of(name))
}

impl Export {
    fn begin(file: &str, opened: Opened, read_as: &ReadAs, reopen: Reopen) -> Result<Self, Refusal> {
        let Opened { mut rows, header, escaped, layout } = opened;
        let format = recognize::format(&header, read_as)?;
        let columns = recognize::columns(&*format, &header);
        rows.never_repeat(format.counted_once(&header));
        let header = rows.expect(&header, &*format).unwrap_or(header);
        header.forget_asked();
        let mut reader = format.reader(&header);
        if let Some(members) = rows.members() {
            reader.stand_in(members);
        }
        // Columns of tags are not looked for by their names.
        rows.want(|column| header.was_asked(column) || reader.key_columns().contains(&column));
        Ok(Self {
            file: file.to_owned(),
            accumulation: format.accumulation(&header),
            format,
            columns,
            key_spans: spans(reader.key_columns()),
            key_columns: reader.key_columns().to_vec(),
            reader,
            header,
            escaped,
            layout,
            rows,
            dates: DateOrder::Undecided,
            reopen,
            remarks: Remarks::default(),
            is_settled: false,
            doubts: Vec::new(),
            has_learned: false,
            others: Vec::new(),
            row: 0,
            usual_fields: None,
            scratch: Vec::new(),
        })
    }

    pub fn format(&self) -> &Arc<dyn Format> {
        &self.format
    }

    /// How its rows stand in it, where it is a text or a workbook.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    pub fn accumulation(&self) -> Accumulation {
        self.accumulation
    }

    /// The header as found, and what the format makes of it.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Of what its reader notes behind the last row, that by which figures may be wrong.
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// Oddities of the rows so far that harm no figure; complete at the end.
    pub fn remarks(&self) -> &[Remark] {
        self.remarks.list()
    }

    /// Which costs of its month the file states, as far as the rows so far tell; final at the end.
    pub fn statement(&self) -> Statement {
        self.reader.statement()
    }

    /// Whether the rows so far cannot be of a file that states these costs, whoever says so.
    pub fn denies(&self, stated: Statement) -> bool {
        self.reader.denies(stated)
    }

    /// Takes only the costs that this half of a month states from the rows, where the other half is read out of another file.
    /// Before the first row.
    pub fn take(&mut self, half: Statement) {
        self.reader.take(half);
    }

    /// 1-based number of the last row; the header and blank lines are not counted. The number of rows
    /// once [`Self::next`] has answered `None`.
    pub fn row(&self) -> u64 {
        self.row
    }

    /// Offset of the last row in the unpacked stream; `None` where its bytes are not side by side there.
    pub fn position(&self) -> Option<u64> {
        self.rows.position()
    }

    /// Whether the last row states its amounts without the minus sign that its charges have.
    pub fn is_unsigned_credit(&self) -> bool {
        self.reader.is_unsigned_credit()
    }

    /// What the last row holds in a column of the header, without quotes; empty where the row is too short. Fields too
    /// many are taken to stand before it.
    pub fn cell(&self, column: usize) -> Cow<'_, [u8]> {
        let record = self.rows.record();
        record.plain(column + record.len().saturating_sub(self.header.len()))
    }

    /// The last row as the file writes it: each value with the name of its column, which is empty behind the last.
    pub fn original(&self) -> Vec<(String, String)> {
        self.rows.original(&self.header)
    }

    /// Columns of nested records that were met in later rows only, and what is said of all rows.
    fn settle_columns(&mut self) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        if let Some(met) = self.rows.met() {
            self.columns = recognize::columns(&*self.format, &Header::new(met));
        }
        if let Some(members) = self.rows.members() {
            self.columns.notes.extend(self.reader.members(members, self.row));
        }
        for note in self.reader.notes() {
            if note.is_doubt {
                self.doubts.push(note.text.clone());
            }
            self.columns.notes.push(note.text);
        }
    }

    /// Reads it as one file of an import, beside these. `learned` is what was learned of all of them, where it was.
    pub fn stand_beside(&mut self, others: Vec<Reopen>, learned: Option<Learned>) {
        self.others = others;
        if let Some(Learned(learned)) = learned {
            self.has_learned = true;
            self.reader.take_over(learned);
        }
    }

    /// What was learned of all files of its import, for the next one.
    pub fn learned(&mut self) -> Option<Learned> {
        let is_of_all = self.has_learned && !self.others.is_empty();
        is_of_all.then(|| self.reader.hand_over().map(Learned)).flatten()
    }

    /// Reads each row without a look at the others of its file: for who does not ask for its costs.
    pub fn look_at_no_others(&mut self) {
        self.has_learned = true;
    }

    /// Reads the next row into `charge`, which is cleared first; `None` at the end. What more charges the row is are handed
    /// out by [`Self::further`].
    ///
    /// # Errors
    /// A [`Refusal`] where the rest of the file cannot be read; nothing of it should be kept.
    pub fn next(&mut self, charge: &mut Charge) -> Result<Option<Step>, Refusal> {
        self.next_unless_known(charge, |_| false)
    }

    /// As [`Self::next`], but leaves key and tags empty where `is_known` says that they need not be read. That is asked when
    /// the rest of a charge is there, and [`Charge::key_cells`].
    ///
    /// # Errors
    /// As of [`Self::next`].
    pub fn next_unless_known(
        &mut self,
        charge: &mut Charge,
        mut is_known: impl FnMut(&Charge) -> bool,
    ) -> Result<Option<Step>, Refusal> {
        loop {
            let more = self
                .rows
                .advance()
                .map_err(|broken| refuse(broken, self.row + 1, Some(&self.header)).of(&self.file))?;
            if !more {
                self.settle_columns();
                return Ok(None);
            }
            if !self.rows.record().is_blank() || self.header.len() == 1 {
                break;
            }
        }
        self.row += 1;
        if self.escaped.is_some_and(|column| self.cell(column).trim_ascii() == formula_guard::YES.as_bytes())
        {
            self.rows.unescape();
        }
        charge.clear();
        self.check_whole()?;
        self.check_habit()?;
        self.learn().map_err(|refusal| refusal.of(&self.file))?;
        self.remarks.begin_row();
        let mut step = self.step(charge, &mut is_known);
        if let Err(problem) = &step
            && self.asks_for_the_order(problem)
        {
            let content = (self.reopen)().map_err(|refusal| refusal.of(&self.file))?;
            let decided = date_order::decide((content, self.layout), &self.header, &self.reader.dates());
            self.dates = decided.map_err(|refusal| refusal.of(&self.file))?;
            charge.clear();
            self.remarks.begin_row();
            step = self.read(charge, &mut is_known);
        }
        if step.is_ok() {
            self.remarks.count(self.row);
        }
        Ok(Some(match step {
            Ok(step) => step,
            Err(problem) => Step::Rejected(Rejection {
                row: self.row,
                column: problem.column.map(|column| self.header.name(column).to_owned()).unwrap_or_default(),
                found: match self.rows.sheet_row() {
                    Some(number) => format!("{} in row {number} of the sheet", problem.found),
                    None => problem.found,
                },
                expected: problem.expected.into_owned(),
                is_repeated: false,
            }),
        }))
    }

    /// Fills `charge` with the next charge of the last row, where that is several; false behind the last of them, and of a row
    /// that was none. `is_known` as of [`Self::next_unless_known`].
    ///
    /// # Errors
    /// A [`Refusal`] where it is none, which is found when the row is read: only then can it be rejected as a whole.
    pub fn further(
        &mut self,
        charge: &mut Charge,
        mut is_known: impl FnMut(&Charge) -> bool,
    ) -> Result<bool, Refusal> {
        charge.clear();
        // What is odd about the row was said with its first charge.
        self.remarks.begin_row();
        let row = Row::new(self.rows.record(), self.dates, &mut self.remarks);
        let read = match self.reader.further(row, charge) {
            Ok(false) => return Ok(false),
            Ok(true) => self.read_key(charge, &mut is_known),
            Err(problem) => Err(problem),
        };
        read.map(|_| true).map_err(|problem| {
            let column = problem.column.map(|column| self.header.name(column).to_owned()).unwrap_or_default();
            let refusal =
                Refusal::new(problem.found, problem.expected).at_row(Some(self.row)).in_column(column);
            refusal.of(&self.file)
        })
    }

    /// A file that ends in the middle of a row lacks the rows after it, too, and nobody knows how many.
    fn check_whole(&self) -> Result<(), Refusal> {
        let record = self.rows.record();
        let (found, expected) = (record.len(), self.header.len());
        if self.rows.fault().is_some() && self.rows.is_unterminated() {
            return Err(refuse(Broken::CutOff, self.row, None).of(&self.file));
        }
        let is_short =
            found + MOST_MISSING < expected || found <= self.reader.last_needed().min(expected - 1);
        if !is_short || !self.rows.is_unterminated() || record.is_empty() {
            return Ok(());
        }
        let found = format!("the end of the file after {} of {expected} fields", found.saturating_sub(1));
        let refusal = Refusal::new(found, "whole rows: the file was cut off; transfer it again");
        Err(refusal.at_row(Some(self.row)).of(&self.file))
    }

    /// Whether the last fields of a row may be left off: few, and no mandatory one among them. A file that leaves them
    /// off does so in every row; where one alone is short, the missing one may be any, and what comes after it would be
    /// taken for another's.
    fn may_be_short(&self, found: usize) -> bool {
        let expected = self.header.len();
        found < expected && expected - found <= MOST_MISSING && self.reader.last_needed() < found
    }

    /// Rows that were taken for short ones by habit were not, once one has all fields.
    fn check_habit(&self) -> Result<(), Refusal> {
        let record = self.rows.record();
        let expected = self.header.len();
        if record.len() != expected || self.usual_fields.is_none_or(|usual| usual == expected) {
            return Ok(());
        }
        if record.is_empty() || recognize::repeats(&self.header, &record) {
            return Ok(());
        }
        let found = format!("{expected} fields, and fewer in the rows before");
        let refusal =
            Refusal::new(found, "as many fields in every row: which one the rows before lack is not known");
        Err(refusal.at_row(Some(self.row)).of(&self.file))
    }

    /// Lets the reader look at all rows, if it must before the current one.
    fn learn(&mut self) -> Result<(), Refusal> {
        if self.has_learned {
            return Ok(());
        }
        let looks = self.reader.looks(&Row::new(self.rows.record(), self.dates, &mut self.remarks));
        self.has_learned = looks > 0;
        for look in 0..looks {
            self.learn_from((self.reopen)()?, look)?;
            // What rows of one file say of those of another is known only where the columns of all are the same.
            if look == 0 && !self.have_same_columns()? {
                self.others.clear();
            }
            for other in std::mem::take(&mut self.others) {
                self.learn_from(other()?, look)?;
                self.others.push(other);
            }
            if !self.reader.looks_on() {
                break;
            }
        }
        Ok(())
    }

    fn learn_from(&mut self, content: Content, look: usize) -> Result<(), Refusal> {
        let layout = self.layout;
        let Opened { mut rows, header, escaped, .. } =
            rows::open(content, Box::new(std::io::sink()), |_| layout)?;
        rows.expect(&header, &*self.format);
        let (asked, key) = (&self.header, self.reader.key_columns().to_vec());
        rows.want(|column| asked.was_asked(column) || key.contains(&column));
        let mut remarks = Remarks::default();
        // What cannot be read is said when the rows are.
        while matches!(rows.advance(), Ok(true)) {
            let is_yes = |column| rows.record().plain(column).trim_ascii() == formula_guard::YES.as_bytes();
            if escaped.is_some_and(is_yes) {
                rows.unescape();
            }
            let record = rows.record();
            if record.len() == self.header.len() && record.oversized().is_none() && rows.fault().is_none() {
                self.reader.learn(Row::new(record, self.dates, &mut remarks), look);
                remarks.begin_row();
            }
        }
        Ok(())
    }

    fn have_same_columns(&self) -> Result<bool, Refusal> {
        let layout = self.layout;
        for other in &self.others {
            let header = rows::open(other()?, Box::new(std::io::sink()), |_| layout)?.header;
            if header.names() != self.header.names() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a row is none yet because it has the file's first date with slashes.
    fn asks_for_the_order(&self, problem: &Problem) -> bool {
        let cell = |column| Slashed::all(self.rows.record().word(column).trim_ascii()).next();
        self.dates == DateOrder::Undecided && problem.column.and_then(cell).is_some()
    }

    fn step(
        &mut self,
        charge: &mut Charge,
        is_known: &mut impl FnMut(&Charge) -> bool,
    ) -> Result<Step, Problem> {
        if let Some(fault) = self.rows.fault() {
            return Err(Problem {
                column: None,
                found: fault.to_owned(),
                expected: "an object of names and values, as in the other rows".into(),
            });
        }
        let record = self.rows.record();
        let (found, expected) = (record.len(), self.header.len());
        if let Some(column) = record.oversized() {
            return Err(Problem {
                column: Some(column),
                found: format!("a field of {} bytes", record.raw(column).len()),
                expected: format!("at most {} bytes", rows::MAX_FIELD).into(),
            });
        }
        if found != expected {
            if record.is_empty() {
                return Ok(Step::Skipped("empty row"));
            }
            if !self.may_be_short(found) || self.usual_fields.is_some_and(|usual| usual != found) {
                return Err(Problem {
                    column: None,
                    found: if found == 1 { "1 field".to_owned() } else { format!("{found} fields") },
                    expected: format!("{expected} fields, as in the header").into(),
                });
            }
            self.remarks.note("the last fields are missing and taken as empty");
        }
        self.usual_fields.get_or_insert(found);
        self.read(charge, is_known)
    }

    fn settle(&mut self, charge: &mut Charge) -> Result<Step, Problem> {
        if charge.settle()? {
            self.remarks.note("tags of more than 2,000 bytes are left out");
        }
        Ok(Step::Charge)
    }

    /// What the format makes of the row.
    fn read(
        &mut self,
        charge: &mut Charge,
        is_known: &mut impl FnMut(&Charge) -> bool,
    ) -> Result<Step, Problem> {
        let record = self.rows.record();
        let row = Row::new(record, self.dates, &mut self.remarks);
        match self.reader.read(row, charge) {
            Ok(Outcome::Charge) => self.read_key(charge, is_known),
            Ok(Outcome::Skipped(reason)) => Ok(Step::Skipped(reason)),
            // Only a row that is no charge can be these, so good rows are not searched for them.
            Err(_) if record.is_empty() => Ok(Step::Skipped("empty row")),
            Err(_) if recognize::repeats(&self.header, &record) => Ok(Step::Skipped(HEADER_REPEATED)),
            Err(problem) => Err(problem),
        }
    }

    /// Completes a charge of which all but key and tags was read.
    fn read_key(
        &mut self,
        charge: &mut Charge,
        is_known: &mut impl FnMut(&Charge) -> bool,
    ) -> Result<Step, Problem> {
        let record = self.rows.record();
        for columns in &self.key_spans {
            record.append(columns.clone(), &mut charge.key_cells);
            charge.key_cells.push(b'\n');
        }
        if is_known(charge) {
            return self.settle(charge);
        }
        let before = self.remarks.of_row();
        let row = Row::new(record, self.dates, &mut self.remarks).only(&self.key_columns);
        self.reader.key(row, charge)?;
        let step = self.settle(charge)?;
        if self.remarks.of_row() > before {
            // What is odd about them is said of each row.
            charge.key_cells.clear();
        }
        Ok(step)
    }
}

/// Columns as runs of those that follow one another.
fn spans(columns: &[usize]) -> Vec<Range<usize>> {
    let columns: BTreeSet<usize> = columns.iter().copied().collect();
    let mut spans: Vec<Range<usize>> = Vec::new();
    for column in columns {
        match spans.last_mut() {
            Some(last) if last.end == column => last.end += 1,
            _ => spans.push(column..column + 1),
        }
    }
    spans
}

/// Why a row that repeats the header is skipped: files were put behind one another.
pub const HEADER_REPEATED: &str = "header repeated";

/// Fields that may be missing at the end of a row.
const MOST_MISSING: usize = 3;
