//! What a kWh costs, by day of the week and hour in local time, and what a kW of demand does.

use std::fmt;

use chrono::{DateTime, Offset, TimeZone, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::Window;
use super::problem::{Problem, price};
use crate::enum_words::{words, written_as_str};
use crate::money::{Currency, Decimal};

/// A price list of a utility. Public holidays are days like others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tariff {
    pub currency: Currency,
    /// Hours with a price of their own; no two may share an hour.
    #[serde(default)]
    pub bands: Vec<Band>,
    /// Outside the bands. Negative where a spot market pays for taking power.
    pub price_per_kwh: Decimal,
    /// For each kW of the highest demand of a calendar month.
    #[serde(default)]
    pub demand_per_kw_month: Decimal,
    /// Over how long demand is averaged.
    #[serde(default)]
    pub demand_window: Window,
    /// What clock the hours of the bands are read from, by its IANA name.
    #[serde(default = "utc")]
    pub time_zone: Tz,
}

/// Hours of some days of the week. Each hour counts as that of the day it lies on: workdays from 22 to 6 are Monday's
/// first six hours and Friday's last two, and none of Saturday.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Band {
    pub days: Weekdays,
    /// 0 to 23.
    pub from_hour: u8,
    /// 1 to 24, not included; before `from_hour` where the band runs past midnight. 0 is midnight, too.
    pub until_hour: u8,
    /// Negative where a spot market pays for taking power.
    pub price_per_kwh: Decimal,
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Weekdays: as_str, name {
        /// Monday to Friday.
        Workdays = "workdays", "workdays";
        /// Saturday and Sunday.
        Weekend = "weekend", "weekends";
        EveryDay = "every-day", "every day";
    }
}

written_as_str!(Weekdays);

/// A tariff that was found right: which band each hour of a week has.
#[derive(Clone, Debug)]
pub struct Prices {
    bands: Vec<Decimal>,
    otherwise: Decimal,
    zone: Tz,
    /// By weekday from Monday and hour; the place of its band.
    week: [[Option<usize>; 24]; 7],
}

fn utc() -> Tz {
    Tz::UTC
}

impl Weekdays {
    /// From Monday.
    fn contains(self, weekday: usize) -> bool {
        match self {
            Self::Workdays => weekday < 5,
            Self::Weekend => weekday >= 5,
            Self::EveryDay => true,
        }
    }
}

impl Band {
    fn has_hour(&self, hour: u8) -> bool {
        let (from, until) = (self.from_hour, self.until_hour);
        if from < until { (from..until).contains(&hour) } else { hour >= from || hour < until }
    }
}

/// `workdays 07:00 to 22:00`.
impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:02}:00 to {:02}:00", self.days.name(), self.from_hour, self.until_hour)
    }
}

impl Tariff {
    /// One price at all times.
    pub fn flat(currency: Currency, price_per_kwh: Decimal) -> Self {
        Self {
            currency,
            bands: Vec::new(),
            price_per_kwh,
            demand_per_kw_month: Decimal::ZERO,
            demand_window: Window::default(),
            time_zone: utc(),
        }
    }

    /// The tariff by hour of the week.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn prices(&self) -> Result<Prices, Vec<Problem>> {
        let mut problems = Vec::new();
        problems.extend(price("price_per_kwh", self.price_per_kwh, true));
        problems.extend(price("demand_per_kw_month", self.demand_per_kw_month, false));
        let mut week = [[None; 24]; 7];
        for (place, band) in self.bands.iter().enumerate() {
            let field = format!("band {}", place + 1);
            problems.extend(price(&format!("{field}, price_per_kwh"), band.price_per_kwh, true));
            if band.from_hour > 23 || band.until_hour > 24 || band.from_hour == band.until_hour {
                let expected =
                    "a first hour from 0 to 23 and another as its end, up to 24; the whole day is 0 to 24";
                problems.push(Problem::new(field, band, expected));
                continue;
            }
            // Two bands share many hours, and are shown once.
            let mut described = None;
            for (weekday, hours) in week.iter_mut().enumerate() {
                for (hour, taken) in (0u8..).zip(hours.iter_mut()) {
                    if !band.days.contains(weekday) || !band.has_hour(hour) {
                        continue;
                    }
                    match *taken {
                        Some(other) if described != Some(other) => {
                            described = Some(other);
                            let expected = format!(
                                "hours that band {}, {}, does not have",
                                other + 1,
                                self.bands[other]
                            );
                            problems.push(Problem::new(field.clone(), band, expected));
                        }
                        Some(_) => {}
                        None => *taken = Some(place),
                    }
                }
            }
        }
        if !problems.is_empty() {
            problems.dedup();
            return Err(problems);
        }
        let bands = self.bands.iter().map(|band| band.price_per_kwh).collect();
        Ok(Prices { bands, otherwise: self.price_per_kwh, zone: self.time_zone, week })
    }
}

impl Prices {
    /// Of a band, or outside the bands.
    pub fn of(&self, band: Option<usize>) -> Decimal {
        band.and_then(|band| self.bands.get(band)).copied().unwrap_or(self.otherwise)
    }

    /// Of a kWh that is drawn as evenly as the hours of a week pass.
    pub fn mean(&self) -> Decimal {
        let hours = self.week.iter().flatten();
        let sum: Decimal = hours.clone().map(|band| self.of(*band)).sum();
        sum.divide(Decimal::from(hours.count() as i64), 12).unwrap_or_default().normalize()
    }

    /// The place of the band that a moment lies in.
    pub fn band_at(&self, time: DateTime<Utc>) -> Option<usize> {
        const DAY: i64 = 86_400;
        let seconds = time.timestamp();
        let local = seconds + self.offset_at(seconds);
        // The first of January 1970 was a Thursday.
        let weekday = (local.div_euclid(DAY) + 3).rem_euclid(7) as usize;
        let hour = (local.rem_euclid(DAY) / 3600) as usize;
        self.week[weekday][hour]
    }

    /// Seconds of a time after which the band may be another: where the hour of the clock ends, or the clock is set.
    pub(super) fn next_change(&self, seconds: i64) -> i64 {
        const NEVER: i64 = i64::MAX;
        if self.bands.is_empty() {
            return NEVER;
        }
        let offset = self.offset_at(seconds);
        let end_of_hour = seconds + 3600 - (seconds + offset).rem_euclid(3600);
        if self.offset_at(end_of_hour) == offset {
            return end_of_hour;
        }
        let (mut before, mut after) = (seconds, end_of_hour);
        while after - before > 1 {
            let middle = before.midpoint(after);
            if self.offset_at(middle) == offset {
                before = middle;
            } else {
                after = middle;
            }
        }
        after
    }

    /// Local time less UTC.
    fn offset_at(&self, seconds: i64) -> i64 {
        let Some(time) = DateTime::from_timestamp(seconds, 0) else { return 0 };
        i64::from(self.zone.offset_from_utc_datetime(&time.naive_utc()).fix().local_minus_utc())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn band(days: Weekdays, from_hour: u8, until_hour: u8, price: &str) -> Band {
        Band { days, from_hour, until_hour, price_per_kwh: price.parse().unwrap() }
    }

    fn tariff(zone: &str, bands: Vec<Band>) -> Tariff {
        let flat = Tariff::flat(Currency::exactly("EUR"), "0.10".parse().unwrap());
        Tariff { bands, time_zone: zone.parse().unwrap(), ..flat }
    }

    fn price_at(tariff: &Tariff, time: &str) -> String {
        let prices = tariff.prices().unwrap();
        prices.of(prices.band_at(time.parse().unwrap())).to_string()
    }

    #[test]
    fn a_mean_price_is_that_of_a_week() {
        let flat = tariff("UTC", Vec::new());
        assert_eq!(flat.prices().unwrap().mean().to_string(), "0.1");
        // 5 × 15 hours at 0.30 and 93 at 0.10: 31.8 ÷ 168.
        let by_day = tariff("UTC", vec![band(Weekdays::Workdays, 7, 22, "0.30")]);
        assert_eq!(by_day.prices().unwrap().mean().round(6).to_string(), "0.189286");
    }

    #[test]
    fn a_price_follows_the_clock_of_the_place() {
        let bands = vec![
            band(Weekdays::Workdays, 7, 22, "0.30"),
            band(Weekdays::Workdays, 22, 7, "0.20"),
            band(Weekdays::Weekend, 12, 15, "-0.01"),
        ];
        let berlin = tariff("Europe/Berlin", bands.clone());
        for (time, price) in [
            // Wednesday in summer, two hours ahead of UTC.
            ("2026-07-01T04:59:59Z", "0.20"),
            ("2026-07-01T05:00:00Z", "0.30"),
            ("2026-07-01T19:59:59Z", "0.30"),
            ("2026-07-01T20:00:00Z", "0.20"),
            // In winter one.
            ("2026-01-07T05:59:59Z", "0.20"),
            ("2026-01-07T06:00:00Z", "0.30"),
            // Friday's night ends with Friday; Monday's begins with Monday.
            ("2026-07-03T21:59:59Z", "0.20"),
            ("2026-07-03T22:00:00Z", "0.10"),
            ("2026-07-05T21:59:59Z", "0.10"),
            ("2026-07-05T22:00:00Z", "0.20"),
            ("2026-07-05T10:00:00Z", "-0.01"),
        ] {
            assert_eq!(price_at(&berlin, time), price, "{time}");
        }
        // Half an hour beside everybody else.
        let india = tariff("Asia/Kolkata", bands.clone());
        assert_eq!(price_at(&india, "2026-07-01T01:29:59Z"), "0.20");
        assert_eq!(price_at(&india, "2026-07-01T01:30:00Z"), "0.30");
        assert_eq!(price_at(&tariff("UTC", bands), "2026-07-01T07:00:00Z"), "0.30");
    }

    #[test]
    fn the_next_change_is_the_end_of_an_hour_or_where_the_clock_is_set() {
        let next = |zone: &str, time: &str| {
            let prices = tariff(zone, vec![band(Weekdays::EveryDay, 1, 2, "1")]).prices().unwrap();
            let seconds = time.parse::<DateTime<Utc>>().unwrap().timestamp();
            DateTime::from_timestamp(prices.next_change(seconds), 0).unwrap().to_rfc3339()
        };
        assert_eq!(next("UTC", "2026-07-01T04:10:00Z"), "2026-07-01T05:00:00+00:00");
        assert_eq!(next("Asia/Kolkata", "2026-07-01T04:10:00Z"), "2026-07-01T04:30:00+00:00");
        // At two in the morning, which is fifteen hours UTC, Lord Howe's clock goes back by half an hour.
        assert_eq!(next("Australia/Lord_Howe", "2026-04-04T14:40:00Z"), "2026-04-04T15:00:00+00:00");
        assert_eq!(next("Australia/Lord_Howe", "2026-04-04T15:00:00Z"), "2026-04-04T15:30:00+00:00");
        // At half past two Venezuela's went forward by half an hour.
        assert_eq!(next("America/Caracas", "2016-05-01T06:10:00Z"), "2016-05-01T06:30:00+00:00");
        assert_eq!(next("America/Caracas", "2016-05-01T06:40:00Z"), "2016-05-01T07:00:00+00:00");
        assert_eq!(next("America/Caracas", "2016-05-01T07:00:00Z"), "2016-05-01T08:00:00+00:00");
    }

    #[test]
    fn it_says_what_is_wrong_with_a_tariff() {
        let problems = |tariff: &Tariff| -> String {
            let problems = tariff.prices().unwrap_err();
            problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        let overlapping = tariff(
            "UTC",
            vec![
                band(Weekdays::Workdays, 7, 22, "0.30"),
                band(Weekdays::Weekend, 7, 22, "0.20"),
                band(Weekdays::EveryDay, 21, 2, "0.10"),
            ],
        );
        insta::assert_snapshot!(problems(&overlapping), @r#"
        band 3: found "every day 21:00 to 02:00", expected hours that band 1, workdays 07:00 to 22:00, does not have
        band 3: found "every day 21:00 to 02:00", expected hours that band 2, weekends 07:00 to 22:00, does not have
        "#);
        let odd = tariff(
            "UTC",
            vec![
                band(Weekdays::EveryDay, 7, 7, "0.30"),
                band(Weekdays::EveryDay, 24, 2, "0.1234567890123"),
                band(Weekdays::EveryDay, 8, 25, "1"),
            ],
        );
        let odd = Tariff { demand_per_kw_month: Decimal::from(-1), ..odd };
        insta::assert_snapshot!(problems(&odd), @r#"
        demand_per_kw_month: found "-1", expected a price of zero or more such as 15, of at most 9 digits before and 12 after the point
        band 1: found "every day 07:00 to 07:00", expected a first hour from 0 to 23 and another as its end, up to 24; the whole day is 0 to 24
        band 2, price_per_kwh: found "0.1234567890123", expected a price such as 0.085, of at most 9 digits before and 12 after the point
        band 2: found "every day 24:00 to 02:00", expected a first hour from 0 to 23 and another as its end, up to 24; the whole day is 0 to 24
        band 3: found "every day 08:00 to 25:00", expected a first hour from 0 to 23 and another as its end, up to 24; the whole day is 0 to 24
        "#);
        let midnight =
            tariff("UTC", vec![band(Weekdays::EveryDay, 22, 0, "1"), band(Weekdays::EveryDay, 0, 22, "2")]);
        assert!(midnight.prices().is_ok());
    }

    #[test]
    fn a_tariff_is_written_with_the_name_of_its_clock_and_reads_utc_without() {
        let berlin = tariff("Europe/Berlin", vec![band(Weekdays::EveryDay, 22, 6, "0.05")]);
        let text = serde_json::to_string(&berlin).unwrap();
        insta::assert_snapshot!(text, @r#"{"currency":"EUR","bands":[{"days":"every-day","from_hour":22,"until_hour":6,"price_per_kwh":"0.05"}],"price_per_kwh":"0.10","demand_per_kw_month":"0","demand_window":"15","time_zone":"Europe/Berlin"}"#);
        assert_eq!(serde_json::from_str::<Tariff>(&text).unwrap(), berlin);
        let short: Tariff = serde_json::from_str(r#"{"currency":"EUR","price_per_kwh":"0.10"}"#).unwrap();
        assert_eq!(short, tariff("UTC", vec![]));
        assert!(
            serde_json::from_str::<Tariff>(r#"{"currency":"EUR","price_per_kwh":"1","time_zone":"Mars"}"#)
                .is_err()
        );
    }

    proptest! {
        #[test]
        fn within_a_change_the_band_stays(
            zone in prop::sample::select(&["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns"][..]),
            start in 0i64..4_000_000_000,
            inside in 0i64..3600,
            from_hour in 0u8..24,
            until_hour in 0u8..25,
        ) {
            prop_assume!(from_hour != until_hour);
            let prices = tariff(zone, vec![band(Weekdays::Workdays, from_hour, until_hour, "1")]).prices().unwrap();
            let next = prices.next_change(start);
            prop_assert!(start < next && next <= start + 3600);
            let at = |seconds| prices.band_at(DateTime::from_timestamp(seconds, 0).unwrap());
            prop_assert_eq!(at(start), at((start + inside).min(next - 1)));
        }
    }
}
