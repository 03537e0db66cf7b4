//! When a charge was, as invoices write it: `2026-09-03`, `03.09.2026`, `3 Sep 2026`, `September 2026`, `1.9.2026 – 7.9.2026`.

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, Utc};

use super::document::{DateForm, LastDay};
use crate::billing::date_order::DateOrder;
use crate::billing::value;

/// What was expected of a cell that says no time, completes "expected …".
pub(super) const A_DATE: &str =
    "a date such as 2026-09-03, 03.09.2026 or 3 Sep 2026, or a month such as 2026-09";

/// What a cell says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct When {
    pub start: DateTime<Utc>,
    /// Of a month behind its last day; of a range as the cell has it, see [`Self::behind`].
    pub end: Option<DateTime<Utc>>,
    pub form: Form,
}

/// Where what a cell says ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// Behind the last day.
    pub time: DateTime<Utc>,
    /// Whether the dates of a range say so against the mapping.
    pub is_by_dates: bool,
}

impl When {
    /// Where it ends, if the last date of a range is what the mapping says; `None` of a date alone. From the first of a month to
    /// the first of another is whole months, whatever the mapping says, and a range of one day is that day.
    pub fn behind(self, end_is: LastDay) -> Option<End> {
        let end = self.end?;
        if self.form == Form::Month {
            return Some(End { time: end, is_by_dates: false });
        }
        let is_first = |time: DateTime<Utc>| time.day() == 1 && time.time() == NaiveTime::MIN;
        let are_months = is_first(self.start) && is_first(end) && self.start < end;
        let last = match (are_months, self.start == end) {
            (true, _) => LastDay::Excluded,
            (false, true) => LastDay::Included,
            (false, false) => end_is,
        };
        Some(End { time: behind(end, last)?, is_by_dates: are_months && end_is != last })
    }
}

/// Behind an end as a cell has it: only a date without a time of day is a day.
pub(super) fn behind(end: DateTime<Utc>, end_is: LastDay) -> Option<DateTime<Utc>> {
    let is_last_day = end_is == LastDay::Included && end.time() == NaiveTime::MIN;
    if is_last_day { end.checked_add_days(Days::new(1)) } else { Some(end) }
}

/// Which number of a date is the month.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Orders {
    pub slashes: DateOrder,
    /// The day is first where nothing is said.
    pub dots: Option<DateForm>,
}

impl Orders {
    pub fn of_slashes(slashes: DateOrder) -> Self {
        Self { slashes, dots: None }
    }
}

/// How it says it: a column that mixes them is read by nobody alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Date,
    Month,
    Range,
}

impl Form {
    /// For a message: "dates".
    pub fn plural(self) -> &'static str {
        match self {
            Self::Date => "dates",
            Self::Month => "months",
            Self::Range => "ranges of dates",
        }
    }
}

/// What `text` says; `None` where that is no time, or dates with slashes of which the order is not known.
pub(super) fn read(text: &str, orders: Orders) -> Option<When> {
    let text = text.trim();
    if let Some(start) = date(text, orders) {
        return Some(When { start, end: None, form: Form::Date });
    }
    if let Some(first) = month(text) {
        let end = first.checked_add_months(chrono::Months::new(1))?;
        return Some(When { start: midnight(first)?, end: Some(midnight(end)?), form: Form::Month });
    }
    let (first, last) = SEPARATORS.iter().find_map(|separator| text.split_once(separator))?;
    let (start, end) = (date(first.trim(), orders)?, date(last.trim(), orders)?);
    (start <= end).then_some(When { start, end: Some(end), form: Form::Range })
}

/// Between the ends of a range.
const SEPARATORS: [&str; 7] = [" - ", " – ", " — ", "–", " to ", " bis ", "-"];

fn midnight(day: NaiveDate) -> Option<DateTime<Utc>> {
    Some(day.and_hms_opt(0, 0, 0)?.and_utc())
}

/// A day, perhaps with a time.
fn date(text: &str, orders: Orders) -> Option<DateTime<Utc>> {
    if let Some(time) = value::time(text.as_bytes(), orders.slashes) {
        return Some(time);
    }
    if let Some(day) = named(text) {
        return midnight(day).filter(|time| is_sensible(*time));
    }
    let (day, clock) = text.split_once(' ').map_or((text, ""), |(day, clock)| (day, clock.trim()));
    let day = dotted(day, orders.dots.unwrap_or(DateForm::DayFirst))?;
    // Written with the year first, it is read as any other.
    let written = format!("{} {clock}", day.format("%Y-%m-%d"));
    value::time(written.trim().as_bytes(), orders.slashes)
}

/// Whether a date of words is near those that are read of digits.
fn is_sensible(time: DateTime<Utc>) -> bool {
    value::time(time.format("%Y-%m-%d").to_string().as_bytes(), DateOrder::Undecided).is_some()
}

/// `31.12.2026`, `1.9.26`.
fn dotted(text: &str, form: DateForm) -> Option<NaiveDate> {
    let mut parts = text.trim_end_matches('.').split('.');
    let (first, second, year) = (number(parts.next()?)?, number(parts.next()?)?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let (day, month) = match form {
        DateForm::DayFirst => (first, second),
        DateForm::MonthFirst => (second, first),
    };
    NaiveDate::from_ymd_opt(full_year(year)?, month, day)
}

/// `3 Sep 2026`, `Sep 3, 2026`, `3. September 2026`, `03-Sep-2026`.
fn named(text: &str) -> Option<NaiveDate> {
    let words: Vec<&str> = text.split([' ', ',', '-', '.']).filter(|word| !word.is_empty()).collect();
    let [first, second, year] = words.as_slice() else { return None };
    let year = full_year(year)?;
    match (month_of(first), month_of(second)) {
        (Some(month), None) => NaiveDate::from_ymd_opt(year, month, number(second)?),
        (None, Some(month)) => NaiveDate::from_ymd_opt(year, month, number(first)?),
        _ => None,
    }
}

/// The first day of `2026-09`, `09/2026`, `09.2026`, `September 2026`, `Sep-26`.
fn month(text: &str) -> Option<NaiveDate> {
    let parts: Vec<&str> = text.split([' ', '-', '/', '.']).filter(|part| !part.is_empty()).collect();
    let [first, second] = parts.as_slice() else { return None };
    // `Sep 12` is a day of September, of a year that nobody says.
    if second.len() < 3 && text.contains(' ') {
        return None;
    }
    let (year, month) = match month_of(first) {
        Some(month) => (full_year(second)?, month),
        None if first.len() == 4 => (full_year(first)?, month_of(second).or_else(|| number(second))?),
        None if second.len() == 4 => (full_year(second)?, number(first)?),
        None => return None,
    };
    let first = NaiveDate::from_ymd_opt(year, month, 1)?;
    is_sensible(midnight(first)?).then_some(first)
}

/// Of a name in English or German, or its first three letters.
fn month_of(word: &str) -> Option<u32> {
    let word = word.to_lowercase();
    let is = |name: &&str| word == **name || word.chars().count() >= 3 && name.starts_with(&word);
    let place = |names: &[&str]| names.iter().position(is);
    place(&ENGLISH).or_else(|| place(&GERMAN)).map(|at| at as u32 + 1)
}

const ENGLISH: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const GERMAN: [&str; 12] = [
    "januar",
    "februar",
    "märz",
    "april",
    "mai",
    "juni",
    "juli",
    "august",
    "september",
    "oktober",
    "november",
    "dezember",
];

fn number(digits: &str) -> Option<u32> {
    let fits = (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| digits.parse().ok()).flatten()
}

fn full_year(digits: &str) -> Option<i32> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match digits.len() {
        2 => digits.parse::<i32>().ok().map(|year| 2000 + year),
        4 => digits.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(time: DateTime<Utc>) -> String {
        time.format("%Y-%m-%dT%H:%M").to_string().replace("T00:00", "")
    }

    fn written(text: &str) -> Option<String> {
        let when = read(text, Orders::of_slashes(DateOrder::DayFirst))?;
        let end =
            when.behind(LastDay::Included).map(|end| format!(" to {}", day(end.time))).unwrap_or_default();
        Some(format!("{:?} {}{end}", when.form, day(when.start)))
    }

    #[test]
    fn times_are_read_as_invoices_write_them() {
        for (text, expected) in [
            ("2026-09-03", Some("Date 2026-09-03")),
            ("2026-09-03T04:00:00Z", Some("Date 2026-09-03T04:00")),
            ("03.09.2026", Some("Date 2026-09-03")),
            ("3.9.26", Some("Date 2026-09-03")),
            ("03.09.2026 14:30", Some("Date 2026-09-03T14:30")),
            ("3/9/2026", Some("Date 2026-09-03")),
            ("3 Sep 2026", Some("Date 2026-09-03")),
            ("Sep 3, 2026", Some("Date 2026-09-03")),
            ("September 3, 2026", Some("Date 2026-09-03")),
            ("3. September 2026", Some("Date 2026-09-03")),
            ("03-Sep-2026", Some("Date 2026-09-03")),
            ("3. Dezember 2026", Some("Date 2026-12-03")),
            ("2026-09", Some("Month 2026-09-01 to 2026-10-01")),
            ("09/2026", Some("Month 2026-09-01 to 2026-10-01")),
            ("09.2026", Some("Month 2026-09-01 to 2026-10-01")),
            ("September 2026", Some("Month 2026-09-01 to 2026-10-01")),
            ("März 2026", Some("Month 2026-03-01 to 2026-04-01")),
            ("Sep-26", Some("Month 2026-09-01 to 2026-10-01")),
            ("2026 Sep", Some("Month 2026-09-01 to 2026-10-01")),
            ("Sep 12", None),
            ("2026-09-01 - 2026-09-07", Some("Range 2026-09-01 to 2026-09-08")),
            ("01.09.2026 – 07.09.2026", Some("Range 2026-09-01 to 2026-09-08")),
            ("01.09.2026-07.09.2026", Some("Range 2026-09-01 to 2026-09-08")),
            ("Sep 1, 2026 to Sep 7, 2026", Some("Range 2026-09-01 to 2026-09-08")),
            ("01/09/2026-07/09/2026", Some("Range 2026-09-01 to 2026-09-08")),
            ("1/9/26–7/9/26", Some("Range 2026-09-01 to 2026-09-08")),
            ("07.09.2026 – 01.09.2026", None),
            ("31.02.2026", None),
            ("13/2026", None),
            ("tomorrow", None),
            ("12", None),
            ("", None),
            ("1.2", None),
            ("H100 2026", None),
            ("3 Sep 1066", None),
        ] {
            assert_eq!(written(text).as_deref(), expected, "{text:?}");
        }
        assert_eq!(read("3/9/2026", Orders::default()), None);
    }

    #[test]
    fn range_ends_on_its_last_day_or_before_it_by_evidence_and_then_as_the_mapping_says() {
        use LastDay::{Excluded, Included};
        for (text, end_is, expected, is_by_dates) in [
            ("1 Sep 2026 - 30 Sep 2026", Included, "2026-10-01", false),
            ("1 Sep 2026 - 30 Sep 2026", Excluded, "2026-09-30", false),
            // A first of a month behind a first of a month is the day behind the last one, whatever is said.
            ("2026-09-01 - 2026-10-01", Included, "2026-10-01", true),
            ("2026-09-01 - 2026-10-01", Excluded, "2026-10-01", false),
            ("2026-01-01 - 2027-01-01", Included, "2027-01-01", true),
            ("2026-09-24 - 2026-10-01", Included, "2026-10-02", false),
            ("2026-09-24 - 2026-10-01", Excluded, "2026-10-01", false),
            // A day is no shorter than itself.
            ("2026-09-01 - 2026-09-01", Included, "2026-09-02", false),
            ("2026-09-01 - 2026-09-01", Excluded, "2026-09-02", false),
            // A time of day says where it ends.
            ("2026-09-01 00:00 - 2026-09-07 23:00", Included, "2026-09-07T23:00", false),
            // A month is all of it.
            ("2026-09", Excluded, "2026-10-01", false),
        ] {
            let when = read(text, Orders::default()).unwrap();
            let end = when.behind(end_is).unwrap();
            assert_eq!(
                (day(end.time).as_str(), end.is_by_dates),
                (expected, is_by_dates),
                "{text} {end_is:?}"
            );
        }
    }

    #[test]
    fn dates_with_dots_have_the_day_first_unless_the_mapping_says_otherwise() {
        for (text, dots, expected) in [
            ("03.09.2026", None, Some("2026-09-03")),
            ("03.09.2026", Some(DateForm::DayFirst), Some("2026-09-03")),
            ("03.09.2026", Some(DateForm::MonthFirst), Some("2026-03-09")),
            ("09.15.26 14:30", Some(DateForm::MonthFirst), Some("2026-09-15T14:30")),
            ("15.09.2026", Some(DateForm::MonthFirst), None),
            ("09.01.2026 - 09.07.2026", Some(DateForm::MonthFirst), Some("2026-09-01")),
            ("09.2026", Some(DateForm::MonthFirst), Some("2026-09-01")),
        ] {
            let when = read(text, Orders { slashes: DateOrder::Undecided, dots });
            assert_eq!(when.map(|when| day(when.start)).as_deref(), expected, "{text} {dots:?}");
        }
    }
}
