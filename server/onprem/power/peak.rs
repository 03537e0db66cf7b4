//! Peak demand: what utilities charge for each kW of, however short it was.

use std::collections::BTreeMap;

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

/// The highest demand of a calendar month (UTC): the facility's mean power in kW over a window, exact, summed over the
/// meters; `None` without readings. A reading across several windows is spread over them evenly.
pub fn peak<'a>(
    month: BillingMonth,
    readings: impl IntoIterator<Item = &'a Reading>,
    at: MeterLocation,
    pue: Pue,
    window: Window,
) -> Option<Decimal> {
    let length = window.seconds();
    let (first, last) = (start_of(month.days().start), start_of(month.days().end));
    // Months begin and end with a window.
    let months = first.timestamp().div_euclid(length)..last.timestamp().div_euclid(length);
    let mut sums: BTreeMap<i64, Decimal> = BTreeMap::new();
    for reading in readings.into_iter().filter(|it| it.from < last && first < it.until) {
        let (from, until) = (reading.from.timestamp(), reading.until.timestamp());
        let windows = from.div_euclid(length)..=(until - 1).div_euclid(length);
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
    let measured = sums.into_values().max()?.times(60 / window.minutes());
    Some(at.facility(measured, pue).normalize())
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
        let kw = peak("2026-09".parse().unwrap(), readings, at, pue, window);
        kw.map_or("none".to_owned(), |kw| kw.to_string())
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
        // 3 kWh in a quarter of an hour, two times.
        assert_eq!(described(&readings, MeterLocation::Facility, Window::QuarterHour), "12");
        assert_eq!(described(&readings, MeterLocation::It, Window::QuarterHour), "18");
        assert_eq!(described(&readings, MeterLocation::Facility, Window::HalfHour), "11");
        assert_eq!(described(&readings, MeterLocation::Facility, Window::Hour), "11");
        assert_eq!(described(&readings[..1], MeterLocation::Facility, Window::Hour), "none");
    }

    #[test]
    fn what_lies_across_windows_and_months_is_divided_by_time() {
        // Ten minutes before the month, five in it, at 12 kW.
        let readings = [reading("a", "08-31T23:50", "09-01T00:05", "3")];
        assert_eq!(described(&readings, MeterLocation::Facility, Window::QuarterHour), "4");
        let month = [reading("a", "09-01T00:00", "10-01T00:00", "7200")];
        assert_eq!(described(&month, MeterLocation::Facility, Window::QuarterHour), "10");
    }
}
