//! The periods of charges: what rows state of them, and what follows from all of them together.

use std::collections::BTreeSet;

use chrono::{DateTime, Datelike, Days, NaiveTime, Timelike, Utc};

use super::cells;
use super::names;
use super::table::Column;
use crate::billing::date_order::DateOrder;
use crate::billing::mapping::dates::{self, Form, Orders, When};
use crate::billing::mapping::document::{LastDay, Length};

/// Days of a period that is longer than bills are.
pub(super) const LONG: i64 = 63;

/// What the rows state of their periods.
pub(super) struct Periods(pub Vec<Stated>);

/// What a row states.
pub(super) struct Stated {
    pub when: When,
    /// As the column of ends has it.
    pub end: Option<DateTime<Utc>>,
}

impl Periods {
    pub fn read(columns: &[&Column<'_>], order: DateOrder) -> Self {
        let rows = columns.first().map_or(0, |column| column.cells.len());
        let period = |row: usize| {
            let orders = Orders::of_slashes(order);
            let when = dates::read(columns.first()?.cells[row], orders)?;
            let end = columns.get(1).and_then(|column| dates::read(column.cells[row], orders));
            Some(Stated { when, end: end.map(|end| end.end.unwrap_or(end.start)) })
        };
        Self((0..rows).filter_map(period).collect())
    }

    /// What the column of ends means, or the last date of a range, as most rows have it: an end that is the start of another row, or
    /// that makes a whole week or month, is the day behind the last; one that is a day before such is the last.
    pub fn end_is(&self) -> LastDay {
        let starts: Vec<DateTime<Utc>> = self.0.iter().map(|period| period.when.start).collect();
        let (mut included, mut excluded) = (0, 0);
        for stated in &self.0 {
            let (when, Some(end)) = (&stated.when, stated.last()) else { continue };
            let Some(next) = end.checked_add_days(Days::new(1)) else { continue };
            let is_midnight = |time: DateTime<Utc>| time.time() == NaiveTime::MIN;
            let is_month = |end: DateTime<Utc>| when.start.day() == 1 && end.day() == 1 && end > when.start;
            let days = (end - when.start).num_days();
            if !is_midnight(when.start) || !is_midnight(end) {
                // Of hours, a midnight is the end of the last one.
                excluded += 1;
            } else if days == 0 || days == 6 || is_month(next) {
                included += 1;
            } else if days == 7 || is_month(end) {
                excluded += 1;
            } else {
                included += usize::from(starts.contains(&next));
                excluded += usize::from(starts.contains(&end));
            }
        }
        if excluded > included { LastDay::Excluded } else { LastDay::Included }
    }

    /// How long a charge lasts that has a date alone: as its column is called, else as its dates lie, else as long as the bill, where
    /// a line above the header names a month that they lie in. A day where nothing tells.
    pub fn length(&self, start: &Column<'_>, above: &[String]) -> Length {
        let words = names::words(start.name);
        let is_named = |of: &[&str]| words.iter().any(|word| of.contains(&word.as_str()));
        let starts: Vec<DateTime<Utc>> = self.0.iter().map(|period| period.when.start).collect();
        if starts.is_empty() || self.0.iter().any(|period| period.when.form != Form::Date) {
            return Length::default();
        }
        let is_clock = starts.iter().any(|time| time.time() != NaiveTime::MIN);
        if is_clock {
            let on_the_hour = starts.iter().all(|time| time.minute() == 0 && time.second() == 0);
            return if on_the_hour { Length::Hour } else { Length::Day };
        }
        if is_named(&["week", "weekly", "woche", "kw", "semaine", "semana"]) {
            return Length::Week;
        }
        let is_first = |time: &DateTime<Utc>| time.day() == 1;
        if is_named(&["month", "monthly", "monat", "mois", "mes"]) || starts.iter().all(is_first) {
            return Length::Month;
        }
        if are_weeks(&starts) {
            return Length::Week;
        }
        let is_in = |month: &When| {
            let end = month.end.unwrap_or(month.start);
            month.form == Form::Month && starts.iter().all(|time| (month.start..end).contains(time))
        };
        if above.iter().flat_map(|line| times_in(line)).any(|month| is_in(&month)) {
            return Length::Month;
        }
        Length::Day
    }
}

impl Stated {
    /// The end as the row writes it.
    fn last(&self) -> Option<DateTime<Utc>> {
        self.end.or(self.when.end.filter(|_| self.when.form == Form::Range))
    }

    /// The period that a row states: a date alone does where it is that of a week.
    pub fn stated(&self, end_is: LastDay, length: Length) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
        let start = self.when.start;
        let end = match (self.end, self.when.end) {
            (Some(end), _) => dates::behind(end, end_is),
            (None, Some(_)) => self.when.behind(end_is).map(|end| end.time),
            (None, None) if length == Length::Week => start.checked_add_days(Days::new(7)),
            (None, None) => None,
        };
        end.filter(|end| *end >= start).map(|end| (start, end))
    }
}

/// Whether days lie a week apart, of more than two that could by chance.
fn are_weeks(starts: &[DateTime<Utc>]) -> bool {
    let days: BTreeSet<DateTime<Utc>> = starts.iter().copied().collect();
    let mut steps = days.iter().zip(days.iter().skip(1));
    days.len() > 2 && steps.all(|(day, next)| (*next - *day).num_days() == 7)
}

/// The months that a title names: `Leistungszeitraum September 2026`.
fn times_in(line: &str) -> Vec<When> {
    let words: Vec<&str> = line
        .split([' ', ',', ';', '\t', ':', '(', ')'])
        .filter(|word| !word.is_empty())
        .take(WORDS)
        .collect();
    let alone = words.iter().filter_map(|word| cells::time(word));
    alone.chain(words.windows(2).filter_map(|pair| cells::time(&pair.join(" ")))).collect()
}

/// Words of a title that are looked at.
const WORDS: usize = 40;
