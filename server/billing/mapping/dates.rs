//! When a charge was, as invoices write it: `2026-09-03`, `03.09.2026`, `3 Sep 2026`, `September 2026`, `1.9.2026 – 7.9.2026`.

use chrono::{DateTime, Days, NaiveDate, Utc};

use crate::billing::date_order::DateOrder;
use crate::billing::value;

/// What was expected of a cell that says no time, completes "expected …".
pub(super) const A_DATE: &str =
    "a date such as 2026-09-03, 03.09.2026 or 3 Sep 2026, or a month such as 2026-09";

/// What a cell says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct When {
    pub start: DateTime<Utc>,
    /// Behind the last day, of a month or a range.
    pub end: Option<DateTime<Utc>>,
    pub form: Form,
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
pub(super) fn read(text: &str, order: DateOrder) -> Option<When> {
    let text = text.trim();
    if let Some(start) = date(text, order) {
        return Some(When { start, end: None, form: Form::Date });
    }
    if let Some(first) = month(text) {
        let end = first.checked_add_months(chrono::Months::new(1))?;
        return Some(When { start: midnight(first)?, end: Some(midnight(end)?), form: Form::Month });
    }
    let (first, last) = SEPARATORS.iter().find_map(|separator| text.split_once(separator))?;
    let (start, last) = (date(first.trim(), order)?, date(last.trim(), order)?);
    let end = last.checked_add_days(Days::new(1))?;
    (start < end).then_some(When { start, end: Some(end), form: Form::Range })
}

/// Between the ends of a range.
const SEPARATORS: [&str; 7] = [" - ", " – ", " — ", "–", " to ", " bis ", "-"];

fn midnight(day: NaiveDate) -> Option<DateTime<Utc>> {
    Some(day.and_hms_opt(0, 0, 0)?.and_utc())
}

/// A day, perhaps with a time.
fn date(text: &str, order: DateOrder) -> Option<DateTime<Utc>> {
    if let Some(time) = value::time(text.as_bytes(), order) {
        return Some(time);
    }
    if let Some(day) = named(text) {
        return midnight(day).filter(|time| is_sensible(*time));
    }
    let (day, clock) = text.split_once(' ').map_or((text, ""), |(day, clock)| (day, clock.trim()));
    let day = dotted(day)?;
    // Written with the year first, it is read as any other.
    let written = format!("{} {clock}", day.format("%Y-%m-%d"));
    value::time(written.trim().as_bytes(), order)
}

/// Whether a date of words is near those that are read of digits.
fn is_sensible(time: DateTime<Utc>) -> bool {
    value::time(time.format("%Y-%m-%d").to_string().as_bytes(), DateOrder::Undecided).is_some()
}

/// `31.12.2026`, `1.9.26`.
fn dotted(text: &str) -> Option<NaiveDate> {
    let mut parts = text.trim_end_matches('.').split('.');
    let (day, month, year) = (number(parts.next()?)?, number(parts.next()?)?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
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

    fn written(text: &str) -> Option<String> {
        let when = read(text, DateOrder::DayFirst)?;
        let day = |time: DateTime<Utc>| time.format("%Y-%m-%dT%H:%M").to_string().replace("T00:00", "");
        let end = when.end.map(|end| format!(" to {}", day(end))).unwrap_or_default();
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
        assert_eq!(read("3/9/2026", DateOrder::Undecided), None);
    }
}
