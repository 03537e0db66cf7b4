//! Dates with slashes: which of the first two numbers is the month. Spreadsheets write both orders, so a file is read in
//! the order that its own rows prove. One in which nothing proves either is read as its provider writes them, or refused where
//! the provider is not known to write one of them.

use chrono::{Days, Months, NaiveDate};

use super::Refusal;
use super::container::Content;
use super::header::Header;
use super::raw_lines::PlainRows;
use super::rows::{Layout, Record};

/// How a file writes dates with slashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DateOrder {
    /// No such date was met yet.
    #[default]
    Undecided,
    /// `31/12/2026`.
    DayFirst,
    /// `12/31/2026`.
    MonthFirst,
}

/// Where a format has dates, and which two of them say when its billing period begins and ends.
pub struct DateColumns {
    pub columns: Vec<usize>,
    pub billing_period: Option<(usize, usize)>,
    /// The order that the provider writes, for files in which nothing proves either.
    pub(super) usual: DateOrder,
}

/// A date between slashes, before it is known what its numbers are.
#[derive(Clone, Copy)]
pub(super) struct Slashed {
    first: u32,
    second: u32,
    year: i32,
}

impl Slashed {
    /// Of `4/1/25` or `12/31/2025`; what follows a blank is a time of day and left alone.
    pub fn parse(date: &[u8]) -> Option<Self> {
        memchr::memchr(b'/', date)?;
        let date = date.split(|byte| *byte == b' ').next()?;
        let mut parts = date.split(|byte| *byte == b'/');
        let (first, second, year) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?, parts.next()?);
        let year = match year.len() {
            2 => 2000 + number(year, 2)?,
            4 => number(year, 4)?,
            _ => return None,
        };
        parts.next().is_none().then_some(Self { first, second, year: year as i32 })
    }

    /// Every one of a cell that begins with one: of a range, its ends.
    pub fn all(cell: &[u8]) -> impl Iterator<Item = Self> {
        let mut texts = cell.split(|byte| !byte.is_ascii_digit() && *byte != b'/');
        let first = texts.next().and_then(Self::parse);
        first.into_iter().chain(texts.filter_map(Self::parse).filter(move |_| first.is_some()))
    }

    /// `None` where the order is not decided, or the numbers are no date in it.
    pub fn date(self, order: DateOrder) -> Option<NaiveDate> {
        let (day, month) = match order {
            DateOrder::Undecided => return None,
            DateOrder::DayFirst => (self.first, self.second),
            DateOrder::MonthFirst => (self.second, self.first),
        };
        NaiveDate::from_ymd_opt(self.year, month, day)
    }
}

fn number(digits: &[u8], most: usize) -> Option<u32> {
    let fits = (1..=most).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    fits.then(|| digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
}

/// Decides for a file by all of its rows, with memory for one: `content` is the whole of it, unpacked. A number above 12 is
/// a day; so is the number that makes a billing period last a month (`01/10/2026` to `01/11/2026`).
///
/// # Errors
/// Both readings of a date where nothing proves one; two dates that prove different orders.
pub(super) fn decide(
    (content, layout): (Content, Layout),
    header: &Header,
    dates: &DateColumns,
) -> Result<DateOrder, Refusal> {
    let mut found = Evidence::default();
    let mut rows = PlainRows::open(content, |_| layout)?;
    // What cannot be read is said when the rows are.
    while matches!(rows.advance(), Ok(true)) {
        let record = rows.record();
        if record.len() <= header.len() {
            found.look_at(&record, rows.row(), dates);
        }
    }
    found.order(header, dates.usual)
}

/// What the rows so far prove.
#[derive(Default)]
struct Evidence {
    day_first: Option<Cell>,
    month_first: Option<Cell>,
    /// A date that both orders can read, each as another day.
    open: Option<(Cell, Slashed)>,
}

/// Where a date stands, and what it is.
struct Cell {
    row: u64,
    column: usize,
    text: String,
}

impl Evidence {
    fn look_at(&mut self, record: &Record<'_>, row: u64, dates: &DateColumns) {
        let date = |column: usize| Slashed::parse(record.word(column).trim_ascii());
        let cell = |column: usize| Cell {
            row,
            column,
            text: String::from_utf8_lossy(record.word(column).trim_ascii()).into_owned(),
        };
        for column in &dates.columns {
            for date in Slashed::all(record.word(*column).trim_ascii()) {
                match (date.date(DateOrder::DayFirst), date.date(DateOrder::MonthFirst)) {
                    (Some(_), None) if self.day_first.is_none() => self.day_first = Some(cell(*column)),
                    (None, Some(_)) if self.month_first.is_none() => self.month_first = Some(cell(*column)),
                    (Some(day), Some(month)) if day != month && self.open.is_none() => {
                        self.open = Some((cell(*column), date));
                    }
                    _ => {}
                }
            }
        }
        let Some((start, end)) = dates.billing_period else { return };
        let (Some(from), Some(to)) = (date(start), date(end)) else { return };
        let is_month = |order| {
            let (Some(from), Some(to)) = (from.date(order), to.date(order)) else { return false };
            let next = from.checked_add_months(Months::new(1));
            // Some name the last day, others the one after it.
            next.is_some_and(|next| to == next || to.checked_add_days(Days::new(1)) == Some(next))
        };
        let proof = match (is_month(DateOrder::DayFirst), is_month(DateOrder::MonthFirst)) {
            (true, false) => &mut self.day_first,
            (false, true) => &mut self.month_first,
            _ => return,
        };
        proof.get_or_insert_with(|| {
            let text = format!("{} to {}", cell(start).text, cell(end).text);
            Cell { text, ..cell(start) }
        });
    }

    fn order(self, header: &Header, usual: DateOrder) -> Result<DateOrder, Refusal> {
        let name = |cell: &Cell| header.name(cell.column).to_owned();
        match (self.day_first, self.month_first, self.open) {
            (Some(day), Some(month), _) => Err(Refusal::new(
                format!(
                    "dates in two orders: {} in row {} has the day first, {} in row {} the month",
                    day.text, day.row, month.text, month.row
                ),
                WRITE_YEAR_FIRST,
            )
            .at_row(day.row.max(month.row))
            .in_column(name(if day.row > month.row { &day } else { &month }))),
            (Some(_), None, _) => Ok(DateOrder::DayFirst),
            // Without any of them all dates are the same in both orders.
            (None, Some(_), _) | (None, None, None) => Ok(DateOrder::MonthFirst),
            (None, None, Some(_)) if usual != DateOrder::Undecided => Ok(usual),
            (None, None, Some((cell, date))) => {
                let read = |order| {
                    date.date(order).map(|day| day.format("%B %-d, %Y").to_string()).unwrap_or_default()
                };
                let (day, month) = (read(DateOrder::DayFirst), read(DateOrder::MonthFirst));
                let found =
                    format!("{}, which is {month} or {day}, and no date of the file says which", cell.text);
                Err(Refusal::new(found, WRITE_YEAR_FIRST).at_row(cell.row).in_column(name(&cell)))
            }
        }
    }
}

const WRITE_YEAR_FIRST: &str = "dates with the year first, as 2026-10-01: export the file again, or give its date columns the \
                                format yyyy-mm-dd in the spreadsheet, and import it then";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_a_range_are_found_with_blanks_and_without() {
        for (cell, expected) in [
            ("01/09/2026", 1),
            ("01/09/2026 10:00", 1),
            ("01/09/2026-07/09/2026", 2),
            ("01/09/2026 - 07/09/2026", 2),
            ("01/09/2026–07/09/2026", 2),
            ("01/09/26 to 07/09/26", 2),
            ("09/2026", 0),
            ("2026-09-01", 0),
            ("paid 01/09/2026", 0),
            ("", 0),
        ] {
            assert_eq!(Slashed::all(cell.as_bytes()).count(), expected, "{cell}");
        }
    }
}
