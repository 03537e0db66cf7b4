//! What a resource cost over time: a list of `{datetime, value}`.

use std::borrow::Cow;

use chrono::{DateTime, NaiveTime, TimeDelta, Utc};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::billing::date_order::DateOrder;
use crate::billing::value::{self, is_null};
use crate::money::Decimal;
use crate::period::ChargePeriod;

/// The datapoints of a row that cost something, in order.
#[derive(Default)]
pub(super) struct Points {
    points: Vec<Point>,
    remark: Option<&'static str>,
}

#[derive(Clone, Copy)]
pub(super) struct Point {
    pub period: ChargePeriod,
    pub value: Decimal,
}

pub(super) enum NoPoints {
    /// What was expected.
    Unreadable(Cow<'static, str>),
    OtherSum(Decimal),
}

/// As Hyperstack writes one.
#[derive(Deserialize)]
struct Written<'a> {
    #[serde(borrow)]
    datetime: Cow<'a, str>,
    /// Never read as a binary fraction.
    #[serde(borrow)]
    value: &'a RawValue,
}

/// Datapoints of a row: those of every hour of a year.
const MOST: usize = 10_000;
const EXPECTED: &str =
    "a list of times and values: [{\"datetime\": \"2026-09-01T00:00:00Z\", \"value\": 1.25}]";
const ALONE: &str = "a single datapoint: it is read as a day at midnight, else as an hour";

/// What is less than a millionth of a dollar between amounts that should be equal, binary floats all of them.
fn noise() -> Decimal {
    Decimal::new(1, 6)
}

impl From<&'static str> for NoPoints {
    fn from(expected: &'static str) -> Self {
        Self::Unreadable(expected.into())
    }
}

impl Points {
    /// Reads those of the next row, which sum to `bill`.
    pub fn read(&mut self, cell: &[u8], bill: Decimal) -> Result<(), NoPoints> {
        self.points.clear();
        self.remark = None;
        let cell = cell.trim_ascii();
        let written: Vec<Written<'_>> =
            if is_null(cell) { Vec::new() } else { serde_json::from_slice(cell).map_err(|_| EXPECTED)? };
        if written.len() > MOST {
            return Err(NoPoints::Unreadable(format!("at most {MOST} datapoints").into()));
        }
        let mut points = written.iter().map(read_point).collect::<Result<Vec<_>, _>>()?;
        points.sort_unstable_by_key(|(start, _)| *start);
        let gaps = points.windows(2).map(|two| two[1].0 - two[0].0);
        let length = match gaps.min() {
            Some(gap) if gap.is_zero() => return Err("datapoints of different times".into()),
            Some(gap) => gap,
            None => points.first().map_or(TimeDelta::zero(), |(start, _)| self.length_alone(*start)),
        };
        for (start, value) in points.iter().filter(|(_, value)| !value.is_zero()) {
            let end = start.checked_add_signed(length).ok_or(EXPECTED)?;
            self.points.push(Point { period: ChargePeriod { start: *start, end }, value: *value });
        }
        self.settle(bill)
    }

    fn length_alone(&mut self, start: DateTime<Utc>) -> TimeDelta {
        self.remark = Some(ALONE);
        if start.time() == NaiveTime::MIN { TimeDelta::days(1) } else { TimeDelta::hours(1) }
    }

    /// Lets the values sum to what was billed, if they do but for the noise of binary floats.
    fn settle(&mut self, bill: Decimal) -> Result<(), NoPoints> {
        let mut values = self.points.iter().map(|point| point.value);
        let sum = values.try_fold(Decimal::ZERO, Decimal::checked_add).map_err(|error| unreadable(&error))?;
        let rest = bill.checked_sub(sum).map_err(|error| unreadable(&error))?;
        if rest.abs() >= noise() || self.points.is_empty() && !rest.is_zero() {
            return Err(NoPoints::OtherSum(sum));
        }
        if let Some(largest) = self.points.iter_mut().max_by_key(|point| point.value.abs()) {
            largest.value = largest.value.checked_add(rest).map_err(|error| unreadable(&error))?;
        }
        Ok(())
    }

    pub fn get(&self, at: usize) -> Option<&Point> {
        self.points.get(at)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Point> {
        self.points.iter()
    }

    /// What is odd about the row.
    pub fn remark(&self) -> Option<&'static str> {
        self.remark
    }
}

fn read_point(written: &Written<'_>) -> Result<(DateTime<Utc>, Decimal), NoPoints> {
    let start = value::time(written.datetime.as_bytes(), DateOrder::Undecided).ok_or(EXPECTED)?;
    let text = written.value.get().trim_matches('"');
    if is_null(text.as_bytes()) {
        return Ok((start, Decimal::ZERO));
    }
    Ok((start, Decimal::parse(text.as_bytes()).map_err(|error| unreadable(&error))?))
}

fn unreadable(expected: &impl ToString) -> NoPoints {
    NoPoints::Unreadable(expected.to_string().into())
}
