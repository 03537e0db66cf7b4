use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;

use super::*;
use crate::money::Currency;
use crate::onprem::power::{Band, Pue, Tariff, Weekdays};

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn reading(from: &str, until: &str, kwh: &str) -> Reading {
    Reading { meter: "in".into(), from: at(from), until: at(until), kwh: kwh.parse().unwrap() }
}

fn tariff(zone: &str, price: &str, bands: Vec<Band>) -> Prices {
    let flat = Tariff::flat(Currency::exactly("EUR"), price.parse().unwrap());
    Tariff { bands, time_zone: zone.parse().unwrap(), ..flat }.prices().unwrap()
}

fn band(days: Weekdays, from_hour: u8, until_hour: u8, price: &str) -> Band {
    Band { days, from_hour, until_hour, price_per_kwh: price.parse().unwrap() }
}

fn pue(text: &str) -> Pue {
    Pue::new(text.parse().unwrap()).unwrap()
}

fn lines(days: &[DayEnergy]) -> String {
    let line = |it: &DayEnergy| {
        let parts = it.by_band.iter().map(|part| {
            let band = part.band.map_or("-".to_owned(), |band| band.to_string());
            format!(" [{band}: {} × {} = {}]", part.facility_kwh, part.price_per_kwh, part.cost)
        });
        let it_kwh = it.it_kwh.map_or("?".to_owned(), |kwh| kwh.to_string());
        format!("{} {it_kwh} {} {}{}", it.day, it.facility_kwh, it.cost, parts.collect::<String>())
    };
    days.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_interval_across_bands_and_midnight_is_divided_by_time() {
    let prices = tariff("UTC", "0.10", vec![band(Weekdays::EveryDay, 6, 22, "0.30")]);
    let readings = [reading("2026-09-01T21:30:00Z", "2026-09-02T06:30:00Z", "18")];
    insta::assert_snapshot!(lines(&by_day(&readings, MeterLocation::It, pue("1.3"), &prices)), @r"
    2026-09-01 5 6.5 0.91 [-: 5.2 × 0.10 = 0.52] [0: 1.3 × 0.30 = 0.39]
    2026-09-02 13 16.9 1.95 [-: 15.6 × 0.10 = 1.56] [0: 1.3 × 0.30 = 0.39]
    ");
    insta::assert_snapshot!(lines(&by_day(&readings, MeterLocation::Facility, pue("1.3"), &prices)), @r"
    2026-09-01 ? 5 0.7 [-: 4 × 0.10 = 0.4] [0: 1 × 0.30 = 0.3]
    2026-09-02 ? 13 1.5 [-: 12 × 0.10 = 1.2] [0: 1 × 0.30 = 0.3]
    ");
}

#[test]
fn a_day_on_which_the_clock_is_set_has_23_or_25_hours() {
    let prices = tariff("Europe/Berlin", "0.10", vec![band(Weekdays::EveryDay, 2, 3, "1")]);
    // One kWh an hour for a day of Berlin's: the hour from two to three is not there in March and twice in October.
    for (from, until, hours, between_two_and_three) in [
        ("2026-03-27T23:00:00Z", "2026-03-28T23:00:00Z", 24, 1),
        ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", 23, 0),
        ("2026-10-23T22:00:00Z", "2026-10-24T22:00:00Z", 24, 1),
        ("2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", 25, 2),
    ] {
        let readings = [reading(from, until, &hours.to_string())];
        let days = by_day(&readings, MeterLocation::Facility, pue("1"), &prices);
        let kwh = |band| -> Decimal {
            let parts = days.iter().flat_map(|day| &day.by_band);
            parts.filter(|part| part.band == band).map(|part| part.facility_kwh).sum()
        };
        assert_eq!(kwh(Some(0)), Decimal::from(between_two_and_three), "{from}");
        assert_eq!(kwh(None), Decimal::from(hours - between_two_and_three), "{from}");
    }
}

#[test]
fn being_paid_for_taking_power_is_a_negative_cost() {
    let prices = tariff("UTC", "-0.05", vec![]);
    let days = by_day(
        &[reading("2026-09-01T00:00:00Z", "2026-09-01T01:00:00Z", "100")],
        MeterLocation::Facility,
        pue("1.3"),
        &prices,
    );
    assert_eq!(days[0].cost.to_string(), "-5");
}

#[test]
fn the_largest_figures_that_are_taken_stay_exact() {
    let readings = crate::onprem::power::read(
        b"from,until,mwh\n2026-01-01 00:00:00,2027-01-01 00:00:01,999999999999.999999999999999999\n",
    );
    let readings = readings.unwrap().readings;
    let largest = "999999999.999999999999";
    let prices = tariff("Europe/Berlin", largest, vec![band(Weekdays::Workdays, 7, 22, largest)]);
    let days = by_day(&readings, MeterLocation::It, pue("9.999999"), &prices);
    let facility = readings[0].kwh.multiply("9.999999".parse().unwrap());
    assert_eq!(readings[0].kwh.to_string(), "999999999999999.999999999999999");
    assert_eq!(sum(&days, |day| day.facility_kwh), facility);
    assert_eq!(sum(&days, |day| day.cost), facility.multiply(largest.parse().unwrap()));
}

/// Readings of several lengths, up to forty days, of whole watts that make every part a finite number of kWh.
fn readings() -> impl Strategy<Value = Vec<Reading>> {
    let one = (0i64..4_000_000_000, 1i64..3_456_000, 0i64..2_000_000).prop_map(|(from, seconds, tenths)| {
        let from = DateTime::from_timestamp(from, 0).unwrap();
        // 3.6 W for one second are a millionth of a kWh.
        let kwh = Decimal::new(i128::from(tenths * seconds), 6);
        Reading { meter: "in".into(), from, until: from + TimeDelta::seconds(seconds), kwh }
    });
    proptest::collection::vec(one, 0..6)
}

fn any_prices() -> impl Strategy<Value = Prices> {
    let zones = &["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "America/New_York"][..];
    (prop::sample::select(zones), 0u8..24, 1u8..25, -200i64..900, -200i64..900).prop_map(
        |(zone, from_hour, until_hour, day, night)| {
            let until_hour = if until_hour == from_hour { until_hour + 1 } else { until_hour };
            let price = |thousandths| Decimal::new(i128::from(thousandths), 3).to_string();
            let bands = vec![band(Weekdays::Workdays, from_hour, until_hour, &price(day))];
            tariff(zone, &price(night), bands)
        },
    )
}

fn sum(days: &[DayEnergy], of: impl Fn(&DayEnergy) -> Decimal) -> Decimal {
    days.iter().map(of).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn energy_is_conserved_over_days_and_bands(readings in readings(), prices in any_prices()) {
        let days = by_day(&readings, MeterLocation::It, pue("1.3"), &prices);
        let kwh: Decimal = readings.iter().map(|reading| reading.kwh).sum();
        prop_assert_eq!(sum(&days, |day| day.it_kwh.unwrap()), kwh);
        prop_assert_eq!(sum(&days, |day| day.facility_kwh), kwh.multiply("1.3".parse().unwrap()));
        for day in &days {
            prop_assert_eq!(day.by_band.iter().map(|part| part.facility_kwh).sum::<Decimal>(), day.facility_kwh);
            prop_assert_eq!(day.by_band.iter().map(|part| part.cost).sum::<Decimal>(), day.cost);
        }
    }

    /// Also where the parts of a reading have no end.
    #[test]
    fn energy_that_does_not_divide_is_conserved(
        seconds in 1i64..3_456_000, from in 0i64..4_000_000_000, mantissa in 0i128..1_000_000_000_000_000, prices in any_prices(),
    ) {
        let from = DateTime::from_timestamp(from, 0).unwrap();
        let until = from + TimeDelta::seconds(seconds);
        let kwh = Decimal::new(mantissa, 15);
        let days = by_day(&[Reading { meter: "in".into(), from, until, kwh }], MeterLocation::Facility, pue("1"), &prices);
        prop_assert_eq!(sum(&days, |day| day.facility_kwh), kwh);
        prop_assert!(days.iter().all(|day| !day.facility_kwh.is_negative() && day.it_kwh.is_none()));
    }

    #[test]
    fn at_one_price_the_cost_is_energy_times_the_price(readings in readings(), price in -500i64..5000) {
        let price = Decimal::new(i128::from(price), 4);
        let days = by_day(&readings, MeterLocation::It, pue("1.25"), &tariff("Europe/Berlin", &price.to_string(), vec![]));
        let kwh: Decimal = readings.iter().map(|reading| reading.kwh).sum();
        prop_assert_eq!(sum(&days, |day| day.cost), kwh.multiply("1.25".parse().unwrap()).multiply(price));
    }

    #[test]
    fn a_reading_in_two_halves_comes_to_the_same(readings in readings(), at in 1i64..1000, prices in any_prices()) {
        let halves = readings.iter().flat_map(|whole| {
            let seconds = (whole.until - whole.from).num_seconds();
            let middle = whole.from + TimeDelta::seconds(seconds * at / 1000);
            // What a second holds is a whole number of millionths, so this is exact.
            let first = Decimal::new(whole.kwh.mantissa().as_i128() / i128::from(seconds) * i128::from((middle - whole.from).num_seconds()), 6);
            let before = Reading { until: middle, kwh: first, ..whole.clone() };
            let after = Reading { from: middle, kwh: whole.kwh - first, ..whole.clone() };
            [before, after].into_iter().filter(|half| half.from < half.until)
        });
        let halves: Vec<Reading> = halves.collect();
        let of = |readings: &[Reading]| by_day(readings, MeterLocation::It, pue("1.3"), &prices);
        prop_assert_eq!(of(&halves), of(&readings));
    }

    #[test]
    fn at_a_pue_of_one_the_facility_draws_what_the_machines_draw(readings in readings(), prices in any_prices()) {
        let it = by_day(&readings, MeterLocation::It, Pue::one(), &prices);
        for day in &it {
            prop_assert_eq!(day.it_kwh, Some(day.facility_kwh));
        }
        let facility = by_day(&readings, MeterLocation::Facility, pue("1.7"), &prices);
        prop_assert_eq!(sum(&it, |day| day.cost), sum(&facility, |day| day.cost));
    }
}
