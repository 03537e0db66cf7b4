//! A reading divided by UTC day and by the bands of a tariff, by time.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};

use super::{Prices, Reading};
use crate::money::Decimal;

/// Places of the parts of a reading in kWh.
pub const PLACES: u8 = 18;
const DAY: i64 = 86_400;

/// A UTC day, and the place of a band on it.
pub(super) type Part = (NaiveDate, Option<usize>);

/// Adds a reading's parts up; they sum to it.
pub(super) fn add(reading: &Reading, prices: &Prices, sums: &mut BTreeMap<Part, Decimal>) {
    let (from, until) = (reading.from.timestamp(), reading.until.timestamp());
    let mut seconds: BTreeMap<Part, i64> = BTreeMap::new();
    let mut at = from;
    while at < until {
        let midnight = (at.div_euclid(DAY) + 1) * DAY;
        let next = midnight.min(prices.next_change(at)).min(until);
        if let Some(time) = DateTime::from_timestamp(at, 0) {
            *seconds.entry((time.date_naive(), prices.band_at(time))).or_default() += next - at;
        }
        at = next;
    }
    let weights: Vec<i64> = seconds.values().copied().collect();
    for (part, kwh) in seconds.keys().zip(apportioned(reading.kwh, &weights)) {
        *sums.entry(*part).or_default() += kwh;
    }
}

/// A reading's energy by so many seconds each; the parts sum to it.
pub(super) fn apportioned(kwh: Decimal, seconds: &[i64]) -> Vec<Decimal> {
    if seconds.len() == 1 {
        return vec![kwh];
    }
    let weights: Vec<Decimal> = seconds.iter().copied().map(Decimal::from).collect();
    kwh.apportion(&weights, PLACES.max(kwh.scale())).unwrap_or_default()
}

/// Seconds of a UTC day that a reading covers.
pub(super) fn seconds_on(reading: &Reading, day: NaiveDate) -> i64 {
    let midnight = start_of(day).timestamp();
    let (from, until) = (reading.from.timestamp(), reading.until.timestamp());
    (until.min(midnight + DAY) - from.max(midnight)).max(0)
}

/// The UTC days that a reading touches.
pub(super) fn days(reading: &Reading) -> impl Iterator<Item = NaiveDate> + use<> {
    let until = reading.until;
    reading.from.date_naive().iter_days().take_while(move |day| start_of(*day) < until)
}

/// Midnight (UTC).
pub(in super::super) fn start_of(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(NaiveTime::MIN).and_utc()
}
