//! Peak demand: what utilities charge for each kW of, however short it was.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::interval::{apportioned, start_of};
use super::{MeterLocation, Pue, Reading};
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Over how long demand is averaged. Windows begin on the hour (UTC) and follow each other, as those of utilities do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Window {
    #[default]
    #[serde(rename = "15")]
    QuarterHour,
    #[serde(rename = "30")]
    HalfHour,
    #[serde(rename = "60")]
    Hour,
}

impl Window {
    pub fn minutes(self) -> i64 {
        match self {
            Self::QuarterHour => 15,
            Self::HalfHour => 30,
            Self::Hour => 60,
        }
    }

    fn seconds(self) -> i64 {
        self.minutes() * 60
    }
}

/// The highest demand of a month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Peak {
    /// Mean power of the facility over the window, exact.
    pub kw: Decimal,
    /// When the first window with that demand began; `None` in a model, which has no hours.
    pub from: Option<DateTime<Utc>>,
    /// Some reading of the month is longer than the window, so that what was higher within it cannot be seen.
    pub may_be_higher: bool,
}

/// The highest mean over a window of a calendar month (UTC), summed over the meters; `None` without readings. A reading
/// across several windows is spread over them evenly.
pub fn peak(
    month: BillingMonth,
    readings: &[Reading],
    at: MeterLocation,
    pue: Pue,
    window: Window,
) -> Option<Peak> {
    let length = window.seconds();
    let (first, last) = (start_of(month.days().start), start_of(month.days().end));
    // Months begin and end with a window.
    let months = first.timestamp().div_euclid(length)..last.timestamp().div_euclid(length);
    let mut sums: BTreeMap<i64, Decimal> = BTreeMap::new();
    let mut may_be_higher = false;
    for reading in readings.iter().filter(|it| it.from < last && first < it.until) {
        let (from, until) = (reading.from.timestamp(), reading.until.timestamp());
        let windows = from.div_euclid(length)..=(until - 1).div_euclid(length);
        may_be_higher |= until - from > length;
        let seconds: Vec<i64> = windows
            .clone()
            .map(|window| until.min((window + 1) * length) - from.max(window * length))
            .collect();
        for (window, kwh) in windows.zip(apportioned(reading.kwh, &seconds)) {
            if months.contains(&window) {
                *sums.entry(window).or_default() += kwh;
            }
        }
    }
    // The first of several that are as high.
    let (window_of_peak, kwh) = sums.into_iter().reduce(|most, it| if it.1 > most.1 { it } else { most })?;
    let measured = kwh.times(60 / window.minutes());
    let kw = at.facility(measured, pue).normalize();
    Some(Peak { kw, from: DateTime::from_timestamp(window_of_peak * length, 0), may_be_higher })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(meter: &str, from: &str, until: &str, kwh: &str) -> Reading {
        let at = |text: &str| format!("2026-{text}:00Z").parse().unwrap();
        Reading { meter: meter.into(), from: at(from), until: at(until), kwh: kwh.parse().unwrap() }
    }

    fn described(readings: &[Reading], at: MeterLocation, window: Window) -> String {
        let pue = Pue::new("1.5".parse().unwrap()).unwrap();
        match peak("2026-09".parse().unwrap(), readings, at, pue, window) {
            Some(Peak { kw, from, may_be_higher }) => {
                format!("{kw} {} {may_be_higher}", from.unwrap().format("%d %H:%M"))
            }
            None => "none".to_owned(),
        }
    }

    #[test]
    fn the_peak_is_the_highest_mean_of_a_window_over_all_meters() {
        let readings = [
            reading("a", "08-31T23:45", "09-01T00:00", "1000"),
            reading("a", "09-01T00:00", "09-01T00:15", "2"),
            reading("b", "09-01T00:00", "09-01T00:15", "1"),
            reading("a", "09-01T00:15", "09-01T00:30", "2.5"),
            reading("b", "09-01T00:30", "09-01T00:45", "2.5"),
            reading("b", "09-01T00:45", "09-01T01:00", "3"),
            reading("a", "10-01T00:00", "10-01T00:15", "1000"),
        ];
        // 3 kWh in a quarter of an hour, the first of two such.
        assert_eq!(described(&readings, MeterLocation::Facility, Window::QuarterHour), "12 01 00:00 false");
        assert_eq!(described(&readings, MeterLocation::It, Window::QuarterHour), "18 01 00:00 false");
        assert_eq!(described(&readings, MeterLocation::Facility, Window::HalfHour), "11 01 00:00 false");
        assert_eq!(described(&readings, MeterLocation::Facility, Window::Hour), "11 01 00:00 false");
        assert_eq!(described(&readings[..1], MeterLocation::Facility, Window::Hour), "none");
    }

    #[test]
    fn what_lies_across_windows_and_months_is_divided_by_time() {
        // Ten minutes before the month, five in it, at 12 kW.
        let readings = [reading("a", "08-31T23:50", "09-01T00:05", "3")];
        assert_eq!(described(&readings, MeterLocation::Facility, Window::QuarterHour), "4 01 00:00 false");
        let month = [reading("a", "09-01T00:00", "10-01T00:00", "7200")];
        assert_eq!(described(&month, MeterLocation::Facility, Window::QuarterHour), "10 01 00:00 true");
    }
}
