//! Readings of meters from a CSV file: of a utility, a PDU, or a node's own controller (BMC, Redfish).
//!
//! - `meter,from,until,kwh`: what was used between two times. With power instead (`watts`), its mean between them. An
//!   interval that ends a second before the next begins ends with it: its end was written as its last second.
//! - `meter,at,total_kwh` (or `kwh`): a register that grows. What it grew by between two rows was used between them.
//! - `meter,at,watts`: samples of power. Each holds until the next one, but where that is more than twice the meter's
//!   usual (median) step away for one usual step only, as the last one does.
//!
//! Columns may stand in any order and have other names (`columns.rs`), beside others that are not read. Without a
//! column for the meter the file is of one. Times are RFC 3339, or `2026-09-30 14:15` in UTC, in whole seconds.
//! Nothing is filled in: where a meter says nothing, there is a [`Gap`].

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, NaiveDateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::columns::{Columns, Kind, Times, Unit};
use crate::entered_csv::{EnteredCsv, RefusedRow};
use crate::money::{Decimal, grouped};

/// So much energy passed a meter between two times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    pub meter: String,
    pub from: DateTime<Utc>,
    pub until: DateTime<Utc>,
    pub kwh: Decimal,
}

/// What a file of readings says, and what was not taken of it. Every row that is not empty is a reading, refused, a
/// duplicate or a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadingsFile {
    pub kind: Kind,
    /// By meter, then by time; those of a meter do not overlap.
    pub readings: Vec<Reading>,
    /// In the order of the file.
    pub refused: Vec<RefusedRow>,
    pub resets: Vec<Reset>,
    pub gaps: Vec<Gap>,
    /// Rows that say again what another said.
    pub duplicates: usize,
    /// Rows that tell no energy by themselves: where a register begins, and a single sample of power.
    pub starts: usize,
    /// Rows that are not empty.
    pub rows: usize,
}

/// A register began anew: its value was counted from zero. What it counted between its last value and that is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reset {
    pub row: usize,
    pub meter: String,
    pub from: DateTime<Utc>,
    pub until: DateTime<Utc>,
    /// In kWh, as `after` is.
    pub before: Decimal,
    pub after: Decimal,
}

/// Between these times a meter says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub meter: String,
    pub from: DateTime<Utc>,
    pub until: DateTime<Utc>,
}

/// What a meter is called in a file that does not say.
const THE_METER: &str = "meter";
/// Nobody's meter counts further, in whatever unit.
const MAX_WHOLE: usize = 12;
/// Places of a reading in kWh; what is finer is rounded.
const PLACES: u8 = 15;
/// A reading over a longer time says nothing about a month.
const LONGEST: TimeDelta = TimeDelta::days(366);
/// Some write the last second of an interval as its end.
const INCLUDED: TimeDelta = TimeDelta::seconds(1);
/// A register that begins anew shows less than this part of what it showed; one that falls to more runs backwards.
const ANEW: i64 = 10;

/// A row that is right by itself.
struct Row {
    number: usize,
    from: DateTime<Utc>,
    /// Where the file has two times.
    until: DateTime<Utc>,
    /// kWh, or kW in samples of power.
    value: Decimal,
    /// As the file has it.
    found: String,
}

/// The readings of a file.
///
/// # Errors
/// A header that is not understood, or a column that is not what it is taken for. Rows that are wrong are
/// [`ReadingsFile::refused`].
pub fn read(content: &[u8]) -> Result<ReadingsFile, RefusedRow> {
    let mut csv = EnteredCsv::open(content).map_err(|error| RefusedRow::broken(0, &error))?;
    let columns = Columns::of(&csv)?;
    let header = csv.header.clone();
    let mut file = ReadingsFile {
        kind: columns.kind,
        readings: Vec::new(),
        refused: Vec::new(),
        resets: Vec::new(),
        gaps: Vec::new(),
        duplicates: 0,
        starts: 0,
        rows: 0,
    };
    let mut meters: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for (number, record) in csv.rows() {
        let read = match record {
            Ok(record) => read_row(&columns, &header, &record, number),
            Err(error) => Err(RefusedRow::broken(number, &error)),
        };
        file.rows += 1;
        match read {
            Ok((meter, row)) => meters.entry(meter).or_default().push(row),
            Err(refused) => file.refused.push(refused),
        }
    }
    let name = |place: usize| header.get(place).unwrap_or_default();
    let time = match columns.times {
        Times::Between(from, _) => name(from),
        Times::At(at) => name(at),
    };
    for (meter, mut rows) in meters {
        rows.sort_by_key(|row| (row.from, row.number));
        let mut reader = Meter { name: &meter, time, value: name(columns.value), file: &mut file };
        match columns.kind {
            Kind::Intervals => reader.intervals(&rows),
            Kind::Register => reader.register(&rows)?,
            Kind::Power => reader.power(&rows),
        }
    }
    file.refused.sort_by_key(|refused| refused.row);
    Ok(file)
}

fn read_row(
    columns: &Columns,
    header: &csv::StringRecord,
    record: &csv::StringRecord,
    number: usize,
) -> Result<(String, Row), RefusedRow> {
    let cell = |place: usize| record.get(place).unwrap_or_default();
    let refused = |place: usize, expected: &str| {
        RefusedRow::new(number, header.get(place).unwrap_or_default(), cell(place), expected)
    };
    let meter = match columns.meter {
        Some(place) if cell(place).is_empty() => return Err(refused(place, "the name of a meter")),
        Some(place) => cell(place),
        None => THE_METER,
    };
    let time = |place: usize| {
        parse_time(cell(place))
            .ok_or_else(|| refused(place, "a time such as 2026-09-30T14:15:00Z, or 2026-09-30 14:15 in UTC"))
    };
    let (from, until) = match columns.times {
        Times::At(at) => (time(at)?, time(at)?),
        Times::Between(start, end) => {
            let (from, until) = (time(start)?, time(end)?);
            if until <= from {
                return Err(refused(end, &format!("a time after {}", cell(start))));
            }
            if until - from > LONGEST {
                return Err(refused(end, &format!("a time at most a year after {}", cell(start))));
            }
            (from, until)
        }
    };
    let found = cell(columns.value);
    let value = parse_value(found).ok_or_else(|| refused(columns.value, expected(found)))?;
    let value = match (columns.unit, columns.kind) {
        (Unit::Power(unit), Kind::Intervals) => energy(value.multiply(unit), until - from),
        // Divided by time only once it is energy.
        (Unit::Power(unit), _) => value.multiply(unit),
        (Unit::Energy(unit), _) => rounded(value.multiply(unit)),
    };
    Ok((meter.to_owned(), Row { number, from, until, value, found: found.to_owned() }))
}

/// In whole seconds; no clock of a meter is better.
fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    const FORMATS: [&str; 4] = ["%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
    // RFC 3339 wants seconds, and many write `2026-09-30T14:15Z` all the same.
    let plain = text.strip_suffix('Z').unwrap_or(text);
    let in_utc = || FORMATS.iter().find_map(|format| NaiveDateTime::parse_from_str(plain, format).ok());
    let time = DateTime::parse_from_rfc3339(text)
        .map(|time| time.to_utc())
        .ok()
        .or_else(|| in_utc().map(|time| time.and_utc()))?;
    (1970..=9999).contains(&time.year()).then(|| DateTime::from_timestamp(time.timestamp(), 0)).flatten()
}

fn parse_value(text: &str) -> Option<Decimal> {
    let value = grouped(text, false)?;
    let digits = value.to_string();
    let whole = digits.split('.').next().unwrap_or_default();
    (whole.len() <= MAX_WHOLE).then_some(value)
}

fn expected(found: &str) -> &'static str {
    if found.contains(',') {
        "a number such as 1200 or 1,200.5; a single comma is ambiguous"
    } else if found.starts_with('-') {
        "a number of zero or more; what is fed back needs a meter of its own"
    } else {
        "a number of zero or more such as 12.5"
    }
}

fn rounded(kwh: Decimal) -> Decimal {
    if kwh.scale() > PLACES { kwh.round(PLACES) } else { kwh }
}

/// kW over so long a time, as kWh.
fn energy(kilowatts: Decimal, time: TimeDelta) -> Decimal {
    let seconds = kilowatts.times(time.num_seconds());
    seconds.divide(Decimal::from(3600), PLACES).unwrap_or_default()
}

/// The rows of one meter, by time, become readings.
struct Meter<'a> {
    name: &'a str,
    /// What the columns are called.
    time: &'a str,
    value: &'a str,
    file: &'a mut ReadingsFile,
}

impl Meter<'_> {
    fn intervals(&mut self, rows: &[Row]) {
        let mut last: Option<&Row> = None;
        for row in rows {
            match last {
                Some(before) if (before.from, before.until) == (row.from, row.until) => {
                    self.again(before, row);
                    continue;
                }
                Some(before) if row.from < before.until => {
                    let (from, until) = (time_text(row.from), time_text(row.until));
                    let expected = format!(
                        "an interval that does not overlap that of row {}, {} to {}",
                        before.number,
                        time_text(before.from),
                        time_text(before.until)
                    );
                    self.refuse(row, self.time, &format!("{from} to {until}"), expected);
                    continue;
                }
                Some(before) if row.from - before.until == INCLUDED => {
                    if let Some(reading) = self.file.readings.last_mut() {
                        reading.until = row.from;
                    }
                }
                Some(before) if before.until < row.from => self.gap(before.until, row.from),
                _ => {}
            }
            self.take(row.from, row.until, row.value);
            last = Some(row);
        }
    }

    /// # Errors
    /// What falls again and again is no register.
    fn register(&mut self, rows: &[Row]) -> Result<(), RefusedRow> {
        let falls = rows.windows(2).filter(|pair| pair[1].value < pair[0].value).count();
        if falls >= 3 && falls * 10 > rows.len() {
            let found = format!("values of {} that fall in {falls} of {} rows", self.name, rows.len());
            let expected = "a register that grows; for the energy of intervals say from and until";
            return Err(RefusedRow::new(0, self.value, &found, expected));
        }
        let mut last: Option<&Row> = None;
        for row in rows {
            let Some(before) = last else {
                self.file.starts += 1;
                last = Some(row);
                continue;
            };
            if before.from == row.from {
                self.again(before, row);
                continue;
            }
            if row.from - before.from > LONGEST {
                self.gap(before.from, row.from);
                self.file.starts += 1;
            } else if row.value >= before.value {
                self.take(before.from, row.from, row.value - before.value);
            } else if row.value.times(ANEW) >= before.value {
                let expected = format!(
                    "no less than in row {}, {}: a meter does not run backwards",
                    before.number, before.found
                );
                self.refuse(row, self.value, &row.found, expected);
                continue;
            } else {
                self.file.resets.push(Reset {
                    row: row.number,
                    meter: self.name.to_owned(),
                    from: before.from,
                    until: row.from,
                    before: before.value,
                    after: row.value,
                });
                self.take(before.from, row.from, row.value);
            }
            last = Some(row);
        }
        Ok(())
    }

    fn power(&mut self, rows: &[Row]) {
        let mut samples: Vec<&Row> = Vec::new();
        for row in rows {
            match samples.last() {
                Some(before) if before.from == row.from => self.again(before, row),
                _ => samples.push(row),
            }
        }
        let mut steps: Vec<TimeDelta> = samples.windows(2).map(|pair| pair[1].from - pair[0].from).collect();
        steps.sort();
        let Some(usual) = steps.get(steps.len().saturating_sub(1) / 2).copied().map(|step| step.min(LONGEST))
        else {
            self.file.starts += samples.len();
            return;
        };
        for (i, row) in samples.iter().enumerate() {
            let next = samples.get(i + 1).map(|next| next.from);
            let holds = match next.map(|next| next - row.from) {
                Some(step) if step <= usual * 2 && step <= LONGEST => step,
                _ => usual,
            };
            let until = row.from + holds;
            self.take(row.from, until, energy(row.value, holds));
            if let Some(next) = next.filter(|next| until < *next) {
                self.gap(until, next);
            }
        }
    }

    /// A row about the same time as one that was taken.
    fn again(&mut self, before: &Row, row: &Row) {
        if before.value == row.value {
            self.file.duplicates += 1;
        } else {
            let expected = format!("{}, as row {} states for this time", before.found, before.number);
            self.refuse(row, self.value, &row.found, expected);
        }
    }

    fn take(&mut self, from: DateTime<Utc>, until: DateTime<Utc>, kwh: Decimal) {
        self.file.readings.push(Reading { meter: self.name.to_owned(), from, until, kwh: kwh.normalize() });
    }

    fn gap(&mut self, from: DateTime<Utc>, until: DateTime<Utc>) {
        self.file.gaps.push(Gap { meter: self.name.to_owned(), from, until });
    }

    fn refuse(&mut self, row: &Row, column: &str, found: &str, expected: String) {
        self.file.refused.push(RefusedRow::new(row.number, column, found, expected));
    }
}

fn time_text(time: DateTime<Utc>) -> String {
    time.format("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests;
