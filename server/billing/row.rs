//! What a format sees of a row: cells by column, and where to say that something is odd.

use std::any::Any;
use std::borrow::Cow;

use chrono::{DateTime, Utc};

use super::Remark;
use super::charge::Charge;
use super::date_order::{DateColumns, DateOrder};
use super::refusal::shown;
use super::rows::{Members, Record};
use super::statement::Statement;
use super::value::{self, TimeColumn};
use crate::money::Decimal;
use crate::period::ChargePeriod;

/// What became of a row that could be read.
pub enum Outcome {
    Charge,
    Skipped(&'static str),
}

/// What there is to say of a file whose rows were all read.
#[derive(Debug, PartialEq, Eq)]
pub struct Note {
    pub text: String,
    /// Figures may be wrong by it: a total of the file's own is not the sum of its rows.
    pub is_doubt: bool,
}

impl Note {
    pub fn new(text: String) -> Self {
        Self { text, is_doubt: false }
    }

    pub fn doubt(text: String) -> Self {
        Self { text, is_doubt: true }
    }
}

/// Turns the rows of one file into charges.
pub trait ReadRow {
    /// The last column of those that must be there; shorter rows are rejected unread.
    fn last_needed(&self) -> usize;

    /// The columns that are read as times.
    fn dates(&self) -> DateColumns;

    /// The columns that tell a row from all others of its export, the one that names it first; none where the format does
    /// not say.
    fn identity(&self) -> &[usize] {
        &[]
    }

    /// The columns that [`Self::key`] reads. Most rows hold in them what another row held, and that is read once.
    fn key_columns(&self) -> &[usize];

    /// Whether a row means something only beside others of its import: then all of them are [learned](Self::learn) before it
    /// is read, so many times.
    fn looks(&self, _row: &Row<'_>) -> usize {
        0
    }

    /// Notes what a row says of others, at the first look or a later one. Of rows that cannot be read, nothing.
    fn learn(&mut self, _row: Row<'_>, _look: usize) {}

    /// Whether the looks so far leave something to look for.
    fn looks_on(&self) -> bool {
        true
    }

    /// What it learned of rows in all files of an import, for the reader of the next one; `None` where that is nothing.
    fn hand_over(&mut self) -> Option<Box<dyn Any + Send>> {
        None
    }

    /// Takes what the reader of another file of the import handed over, instead of learning.
    fn take_over(&mut self, _learned: Box<dyn Any + Send>) {}

    /// Which costs the rows so far state.
    fn statement(&self) -> Statement {
        Statement::Whole
    }

    /// Whether the rows so far cannot be of a file that states these costs.
    fn denies(&self, _stated: Statement) -> bool {
        false
    }

    /// Takes only these costs from the rows that follow.
    fn take(&mut self, _half: Statement) {}

    /// Before the first row of a file whose rows are in an object: takes what that has before them, as far as it is there.
    fn stand_in(&mut self, _members: &Members) {}

    /// What there is to say of a file whose rows are in an object, behind the last of so many: that it is one page of several.
    fn members(&self, _members: &Members, _rows: u64) -> Option<String> {
        None
    }

    /// What there is to say of the file behind its last row.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }

    /// Fills what the cleared `charge` has of its own: all but its key and tags. What its key follows from beside
    /// [`Self::key_columns`] it adds to [`Charge::key_cells`].
    ///
    /// # Errors
    /// The column at fault, what it holds and what was expected.
    fn read(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem>;

    /// Fills the cleared `charge` as [`Self::read`] does with the next charge of the row that was read last, where a row is
    /// several: a usage of Google and each of its credits, or what a machine of Hyperstack cost on each day. False behind the last of them.
    ///
    /// What distinguishes a charge from others of the same key columns belongs into [`Charge::key_cells`]; those of one key begin at
    /// different times. Only asked where [`Self::read`] answered a charge.
    ///
    /// # Errors
    /// None that could have been found when the row was read: the charges before it are taken already.
    fn further(&mut self, _row: Row<'_>, _charge: &mut Charge) -> Result<bool, Problem> {
        Ok(false)
    }

    /// Whether the row that was read last states its amounts without the minus sign that its charges have, as some print credits.
    fn is_unsigned_credit(&self) -> bool {
        false
    }

    /// Fills the key and the tags of a charge of which the rest was read, from [`Self::key_columns`] and nothing else.
    ///
    /// # Errors
    /// As of [`Self::read`].
    fn key(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<(), Problem>;
}

/// Why a row is no charge.
#[derive(Debug)]
pub struct Problem {
    /// `None` where the row as a whole is at fault.
    pub(super) column: Option<usize>,
    pub(super) found: String,
    pub(super) expected: Cow<'static, str>,
}

/// Where a column is; `None` where the file lacks it.
pub(super) type Column = Option<usize>;

/// Digits of a quantity before the point.
const QUANTITY_DIGITS: u32 = 21;

/// One row of an export.
pub struct Row<'a> {
    record: Record<'a>,
    /// The columns that may be read, where these are not all.
    only: Option<&'a [usize]>,
    dates: DateOrder,
    /// What the row's amounts are counted in.
    currency: Column,
    remarks: &'a mut Remarks,
}

impl<'a> Row<'a> {
    pub(super) fn new(record: Record<'a>, dates: DateOrder, remarks: &'a mut Remarks) -> Self {
        Self { record, only: None, dates, currency: None, remarks }
    }

    /// The same row once more.
    pub(super) fn again(&mut self) -> Row<'_> {
        let Self { record, only, dates, currency, remarks } = self;
        Row { record: *record, only: *only, dates: *dates, currency: *currency, remarks }
    }

    /// For who must not look at other columns: what follows from these is taken to follow from nothing else.
    pub(super) fn only(self, columns: &'a [usize]) -> Self {
        Self { only: Some(columns), ..self }
    }

    /// Says which column holds the currency, with which the signs of amounts must agree.
    pub(super) fn counted_in(&mut self, currency: Column) {
        self.currency = currency;
    }

    /// Notes something odd that harms no figure.
    pub(super) fn remark(&mut self, text: &'static str) {
        self.remarks.note(text);
    }

    /// The cell without its quotes, in `scratch` where doubled quotes had to be undone.
    pub(super) fn cell<'b>(&self, column: Column, scratch: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        self.checked(column).map_or(&[], |column| self.record.field_in(column, scratch))
    }

    /// The cell as the file writes it.
    pub(super) fn raw(&self, column: Column) -> &'a [u8] {
        self.checked(column).map_or(&[], |column| self.record.raw(column))
    }

    /// The cell without its quotes. Doubled quotes stay: for numbers, times and closed lists of words.
    pub(super) fn word(&self, column: Column) -> &'a [u8] {
        self.checked(column).map_or(&[], |column| self.record.word(column))
    }

    fn checked(&self, column: Column) -> Column {
        debug_assert!(
            self.only.is_none_or(|only| column.is_none_or(|column| only.contains(&column))),
            "column {column:?} is none of those that a key is read from"
        );
        column
    }

    /// True where the column is absent, empty or a literal null.
    pub(super) fn is_null(&self, column: Column) -> bool {
        value::is_null(self.word(column).trim_ascii())
    }

    /// Appends the text of a cell, trimmed; nothing for a null.
    pub(super) fn text(&self, column: Column, out: &mut String) -> Result<(), Problem> {
        self.append(column, out, trimmed)
    }

    /// Appends the text of a cell with the spaces at its ends, for what people wrote: tags. Nothing for a null.
    pub(super) fn verbatim(&self, column: Column, out: &mut String) -> Result<(), Problem> {
        self.append(column, out, |text| text)
    }

    fn append(&self, column: Column, out: &mut String, cut: impl Fn(&str) -> &str) -> Result<(), Problem> {
        let raw = self.raw(column);
        if raw.is_empty() {
            return Ok(());
        }
        let raw = std::str::from_utf8(raw)
            .map_err(|_| self.problem(column, "text in UTF-8; save or export the file in that encoding"))?;
        // PostgreSQL holds every character but this one.
        if memchr::memchr(0, raw.as_bytes()).is_some() {
            return Err(self.problem(column, "text without NUL characters"));
        }
        match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            None => append(cut(raw), out),
            Some(inner) if !inner.contains('"') => append(cut(inner), out),
            Some(inner) => append_undoubled(cut(inner), out),
        }
        Ok(())
    }

    /// `None` for a null.
    pub(super) fn amount(&self, column: Column) -> Result<Option<Decimal>, Problem> {
        let text = self.word(column);
        if value::is_null(text) || value::is_null(text.trim_ascii()) {
            return Ok(None);
        }
        value::amount(text, self.word(self.currency))
            .map(Some)
            .map_err(|expected| self.problem(column, expected))
    }

    /// An amount of something metered. Narrower than money, since accelerator-hours multiply it; wide enough for Google's
    /// byte-seconds, of which a petabyte is 10^20 a day.
    pub(super) fn quantity(&self, column: Column) -> Result<Option<Decimal>, Problem> {
        self.narrow(column, self.amount(column)?)
    }

    /// A quantity that a column holds, if it is not too wide for one.
    pub(super) fn narrow(
        &self,
        column: Column,
        quantity: Option<Decimal>,
    ) -> Result<Option<Decimal>, Problem> {
        if quantity.is_some_and(|quantity| quantity.abs() >= Decimal::new(10i128.pow(QUANTITY_DIGITS), 0)) {
            return Err(self.problem(column, "a quantity of at most 21 digits"));
        }
        Ok(quantity)
    }

    pub(super) fn needed_amount(&self, column: Column) -> Result<Decimal, Problem> {
        self.amount(column)?.ok_or_else(|| self.problem(column, value::AN_AMOUNT))
    }

    /// The same of a format whose amounts are all in one currency, which no column names.
    pub(super) fn needed_amount_in(&self, currency: &str, column: Column) -> Result<Decimal, Problem> {
        if self.is_null(column) {
            return Err(self.problem(column, value::AN_AMOUNT));
        }
        value::amount(self.word(column), currency.as_bytes())
            .map_err(|expected| self.problem(column, expected))
    }

    pub(super) fn time(&self, column: Column, last: &mut TimeColumn) -> Result<DateTime<Utc>, Problem> {
        last.read(self.word(column), self.dates)
            .ok_or_else(|| self.problem(column, value::a_time(self.dates)))
    }

    /// What a charge is for, from one column to another.
    pub(super) fn period(
        &self,
        [start, end]: [Column; 2],
        [starts, ends]: &mut [TimeColumn; 2],
    ) -> Result<ChargePeriod, Problem> {
        let period = ChargePeriod { start: self.time(start, starts)?, end: self.time(end, ends)? };
        if period.end < period.start {
            return Err(self.problem(end, "an end that is not before the start"));
        }
        Ok(period)
    }

    /// The order in which the file writes dates with slashes, as far as it is known.
    pub(super) fn date_order(&self) -> DateOrder {
        self.dates
    }

    pub(super) fn problem(&self, column: Column, expected: impl Into<Cow<'static, str>>) -> Problem {
        Problem { column, found: shown(self.word(column)), expected: expected.into() }
    }
}

/// As `str::trim`, which knows all of Unicode and is seldom needed.
fn trimmed(text: &str) -> &str {
    let is_bare = |byte: Option<&u8>| byte.is_some_and(|byte| (b'!'..=b'~').contains(byte));
    let bytes = text.as_bytes();
    if is_bare(bytes.first()) && is_bare(bytes.last()) { text } else { text.trim() }
}

/// Nothing for a null.
fn append(text: &str, out: &mut String) {
    if !value::is_null(text.as_bytes()) {
        out.push_str(text);
    }
}

/// `say ""hi""` as `say "hi"`.
fn append_undoubled(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('"') {
        out.push_str(&rest[..=at]);
        rest = &rest[at + 1..];
        rest = rest.strip_prefix('"').unwrap_or(rest);
    }
    out.push_str(rest);
}

/// Counts of oddities, in the order they were first met.
#[derive(Default)]
pub(super) struct Remarks {
    counted: Vec<Remark>,
    /// Of the row that is being read: they count if it is not rejected.
    of_row: Vec<&'static str>,
}

impl Remarks {
    pub fn note(&mut self, text: &'static str) {
        self.of_row.push(text);
    }

    /// How many the row has so far.
    pub fn of_row(&self) -> usize {
        self.of_row.len()
    }

    pub fn begin_row(&mut self) {
        self.of_row.clear();
    }

    pub fn count(&mut self, row: u64) {
        for text in self.of_row.drain(..) {
            match self.counted.iter_mut().find(|remark| remark.text == text) {
                Some(remark) => remark.rows += 1,
                None => self.counted.push(Remark { text, rows: 1, first_row: row }),
            }
        }
    }

    pub fn list(&self) -> &[Remark] {
        &self.counted
    }
}
