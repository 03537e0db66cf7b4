//! The month that a row is billed in.

use std::ops::RangeInclusive;

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};

use super::date_order::{DateColumns, DateOrder};
use super::row::{Column, Problem, Row};
use super::value::TimeColumn;
use crate::period::BillingMonth;

/// A typing error in a single row is not to become the latest month of everybody's pages.
const YEARS: RangeInclusive<i32> = 2000..=2100;
/// No bill is for longer; which month such a row belongs to is anybody's guess.
const LONGEST: TimeDelta = TimeDelta::days(366);

/// The columns of a billing period, and the month that was read from them last: most rows repeat it.
pub(super) struct BillingPeriod {
    start: Column,
    end: Column,
    /// Whether the end is the last day and not the one behind it.
    ends_with_last_day: bool,
    times: [TimeColumn; 2],
    last: Option<(DateTime<Utc>, Option<DateTime<Utc>>, BillingMonth)>,
}

impl BillingPeriod {
    pub fn new(start: Column, end: Column) -> Self {
        Self { start, end, ends_with_last_day: false, times: Default::default(), last: None }
    }

    /// Of a provider that names the last day of a period.
    pub fn with_last_day(start: Column, last: Column) -> Self {
        Self { ends_with_last_day: true, ..Self::new(start, last) }
    }

    /// Its columns of dates, and the others of a file.
    pub fn dates(&self, others: [Column; 2]) -> DateColumns {
        let columns = [self.start, self.end].into_iter().chain(others).flatten();
        DateColumns {
            columns: columns.collect(),
            billing_period: self.start.zip(self.end),
            usual: DateOrder::Undecided,
        }
    }

    /// The month that most of the row's period lies in. Without an end, or with one before the start, the
    /// period is taken to last a month.
    pub fn month(&mut self, row: &Row<'_>) -> Result<BillingMonth, Problem> {
        let [start, end] = &mut self.times;
        let start = row.time(self.start, start)?;
        let end = if self.end.is_some() { row.time(self.end, end).ok() } else { None };
        let behind = TimeDelta::days(i64::from(self.ends_with_last_day));
        let end = end.and_then(|end| end.checked_add_signed(behind));
        if let Some((known_start, known_end, month)) = self.last
            && (known_start, known_end) == (start, end)
        {
            return Ok(month);
        }
        if !YEARS.contains(&start.year()) {
            return Err(row.problem(self.start, "a billing period of the years 2000 to 2100"));
        }
        // An end before the start is taken for a column that was mixed up, as in a published sample of FOCUS 0.5.
        match end.map(|end| end - start) {
            Some(length) if length.is_zero() => {
                return Err(row.problem(self.end, "an end after the start of the billing period"));
            }
            Some(length) if length.abs() > LONGEST => {
                return Err(row.problem(self.end, "an end within a year of the start of the billing period"));
            }
            _ => {}
        }
        let month = BillingMonth::of_period(start, end);
        self.last = Some((start, end, month));
        Ok(month)
    }
}

/// The month of a time in a column, for rows that state no billing period.
pub(super) fn month_of(row: &Row<'_>, column: Column, time: DateTime<Utc>) -> Result<BillingMonth, Problem> {
    if YEARS.contains(&time.year()) {
        Ok(BillingMonth::of(time.date_naive()))
    } else {
        Err(row.problem(column, "a time in the years 2000 to 2100"))
    }
}
