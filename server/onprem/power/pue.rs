//! Power usage effectiveness: what the facility draws for each kWh that reaches the machines.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Serialize;

use super::Reading;
use super::interval::{apportioned, days, seconds_on};
use super::problem::{Problem, fits};
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Total energy of the facility over energy of the machines, 1 or more (ISO/IEC 30134-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pue(Decimal);

/// Beyond this someone wrote percents.
const MOST: i64 = 10;
const PLACES: u8 = 6;
const DAY: i64 = 86_400;

impl Pue {
    /// Everything that is drawn reaches the machines.
    pub fn one() -> Self {
        Self(Decimal::from(1))
    }

    /// # Errors
    /// Under 1 the machines would get more than the facility draws.
    pub fn new(pue: Decimal) -> Result<Self, Problem> {
        let is_right = Decimal::from(1) <= pue && pue <= Decimal::from(MOST) && fits(pue, 2, PLACES);
        let expected =
            format!("a PUE from 1 to {MOST} such as 1.3, of at most {PLACES} digits after the point");
        if is_right { Ok(Self(pue.normalize())) } else { Err(Problem::new("pue", pue, expected)) }
    }

    pub fn get(self) -> Decimal {
        self.0
    }
}

/// What meters before and behind the cooling say of a month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MeasuredPue {
    pub month: BillingMonth,
    /// Days on which the meters of both kinds say something of every second; only these count.
    pub days: u32,
    pub it_kwh: Decimal,
    pub facility_kwh: Decimal,
    /// Rounded to six places; `None` where the machines used nothing. Under 1 the meters measure different things.
    pub ratio: Option<Decimal>,
}

/// The PUE of each month from readings of both kinds, by UTC day.
pub fn measured_pue<'a>(
    it: impl IntoIterator<Item = &'a Reading>,
    facility: impl IntoIterator<Item = &'a Reading>,
) -> Vec<MeasuredPue> {
    let (it, mut facility) = (energy_of_covered_days(it), energy_of_covered_days(facility));
    let mut months: BTreeMap<BillingMonth, MeasuredPue> = BTreeMap::new();
    for (day, it_kwh) in it {
        let Some(facility_kwh) = facility.remove(&day) else { continue };
        let month = BillingMonth::of(day);
        let nothing =
            MeasuredPue { month, days: 0, it_kwh: Decimal::ZERO, facility_kwh: Decimal::ZERO, ratio: None };
        let sum = months.entry(month).or_insert(nothing);
        sum.days += 1;
        sum.it_kwh += it_kwh;
        sum.facility_kwh += facility_kwh;
    }
    let ratio = |measured: MeasuredPue| MeasuredPue {
        it_kwh: measured.it_kwh.normalize(),
        facility_kwh: measured.facility_kwh.normalize(),
        ratio: measured.facility_kwh.divide(measured.it_kwh, PLACES),
        ..measured
    };
    months.into_values().map(ratio).collect()
}

/// Energy by UTC day, of the days of which every meter says everything. A day of which one of them says a part only is
/// not known: what it lacks is not nothing.
pub(in super::super) fn energy_of_covered_days<'a>(
    readings: impl IntoIterator<Item = &'a Reading>,
) -> BTreeMap<NaiveDate, Decimal> {
    let mut meters: BTreeMap<&str, BTreeMap<NaiveDate, (i64, Decimal)>> = BTreeMap::new();
    for reading in readings {
        let days: Vec<NaiveDate> = days(reading).collect();
        let seconds: Vec<i64> = days.iter().map(|day| seconds_on(reading, *day)).collect();
        let sums = meters.entry(&reading.meter).or_default();
        for ((day, seconds), kwh) in days.iter().zip(&seconds).zip(apportioned(reading.kwh, &seconds)) {
            let sum = sums.entry(*day).or_default();
            sum.0 += seconds;
            sum.1 += kwh;
        }
    }
    let mut sums: BTreeMap<NaiveDate, (usize, Decimal)> = BTreeMap::new();
    for (day, (seconds, kwh)) in meters.values().flatten() {
        if *seconds >= DAY {
            let sum = sums.entry(*day).or_default();
            sum.0 += 1;
            sum.1 += *kwh;
        }
    }
    let is_whole = |(day, (count, kwh)): (_, (usize, _))| (count == meters.len()).then_some((day, kwh));
    sums.into_iter().filter_map(is_whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pue_under_one_is_refused_and_so_are_percents() {
        for (text, is_pue) in [
            ("1", true),
            ("1.3", true),
            ("10", true),
            ("0.99", false),
            ("130", false),
            ("-1.3", false),
            ("1.1234567", false),
        ] {
            assert_eq!(Pue::new(text.parse().unwrap()).is_ok(), is_pue, "{text}");
        }
        let refused = Pue::new("0.99".parse().unwrap()).unwrap_err().to_string();
        assert_eq!(
            refused,
            r#"pue: found "0.99", expected a PUE from 1 to 10 such as 1.3, of at most 6 digits after the point"#
        );
    }

    fn reading(meter: &str, from: &str, until: &str, kwh: i64) -> Reading {
        let at = |text: &str| format!("2026-{text}:00Z").parse().unwrap();
        Reading { meter: meter.into(), from: at(from), until: at(until), kwh: Decimal::from(kwh) }
    }

    #[test]
    fn only_days_that_every_meter_of_both_kinds_covers_count() {
        let it = [
            reading("a", "08-31T00:00", "09-03T00:00", 300),
            reading("b", "08-31T00:00", "09-01T12:00", 15),
            // Two hours are missing on the first of September.
            reading("b", "09-01T14:00", "09-03T00:00", 34),
        ];
        let facility = [
            reading("in", "08-31T00:00", "09-01T00:00", 143),
            reading("in", "09-01T00:00", "09-02T00:00", 500),
            reading("in", "09-02T00:00", "09-02T12:00", 100),
            reading("in", "09-02T12:00", "09-03T00:00", 61),
            reading("in", "09-03T00:00", "09-04T00:00", 900),
        ];
        let measured = measured_pue(&it, &facility);
        let line = |it: &MeasuredPue| {
            format!(
                "{} {} days {} / {} = {}",
                it.month,
                it.days,
                it.facility_kwh,
                it.it_kwh,
                it.ratio.unwrap().normalize()
            )
        };
        insta::assert_snapshot!(measured.iter().map(line).collect::<Vec<_>>().join("\n"), @r"
        2026-08 1 days 143 / 110 = 1.3
        2026-09 1 days 161 / 124 = 1.298387
        ");
        let idle = measured_pue(&[reading("a", "09-01T00:00", "09-02T00:00", 0)], &facility);
        assert_eq!(idle[0].ratio, None);
        assert!(measured_pue(&[], &facility).is_empty() && measured_pue(&it, &[]).is_empty());
    }
}
