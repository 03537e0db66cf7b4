use proptest::prelude::*;

use super::*;
use crate::money::number;

/// Of the worked example: 2 % an hour, a minute for a checkpoint and ten for a restart.
fn example(instances: u32) -> Interruptions {
    Interruptions {
        preemptions: Preemptions::Hour { rate: decimal(2, 2) },
        failures: Decimal::ZERO,
        instances,
        ..Interruptions::default()
    }
}

#[test]
fn a_share_of_a_month_is_a_rate_of_an_hour() {
    for (share, rate) in [("0", "0"), ("0.15", "0.000223"), ("0.2", "0.000306"), ("0.99", "0.006308")] {
        let found = Preemptions::Month { share: number(share) }.per_hour();
        assert_eq!(found.round(6), number(rate), "{share}");
    }
}

#[test]
fn a_factor_is_what_was_computed_apart_from_this() {
    for (interval, factor) in [("0.25", "1.0731"), ("0.5", "1.0422"), ("4", "1.0491"), ("0", "")] {
        let found = example(1).factor(number(interval)).map(|it| it.round(4));
        assert_eq!(found, factor.parse().ok(), "{interval}");
    }
}

#[test]
fn where_there_is_time_for_a_checkpoint_preemptions_cost_only_a_restart() {
    let described = Interruptions { notice_minutes: 2.into(), ..example(1) };
    assert_eq!((described.young(), described.daly(), described.best_interval()), (None, None, None));
    let short = Interruptions { notice_minutes: decimal(5, 1), ..example(1) };
    assert_eq!(short.best_interval(), example(1).best_interval());
    let cost = Spot { interruptions: described.clone(), ..Spot::default() }.cost().unwrap();
    // e^(0.02 ÷ 6).
    assert_eq!(cost.factor.value.unwrap().round(6), number("1.003339"));
    // Failures are not announced.
    let failing = Interruptions { failures: decimal(1, 2), ..described };
    assert!(failing.best_interval() > example(1).best_interval());
    assert!(
        failing.factor(one()).unwrap()
            < Interruptions { notice_minutes: Decimal::ZERO, ..failing }.factor(one()).unwrap()
    );
}

#[test]
fn a_job_that_is_stopped_all_the_time_is_never_done() {
    let stops = Interruptions { restart_minutes: 60.into(), ..example(1000) };
    assert_eq!(stops.factor(one()), None);
    let job = Job {
        useful_hours: 1.into(),
        speed: one(),
        wait_hours: Decimal::ZERO,
        deadline_hours: Some(9.into()),
    };
    let cost = Spot { interruptions: stops, job: Some(job), ..Spot::default() }.cost().unwrap();
    assert_eq!((cost.price.value, cost.pays, cost.in_time), (None, None, Some(false)));
    assert_eq!(cost.hours.unwrap().value, None);
}

#[test]
fn a_job_is_late_or_in_time() {
    let job = Job {
        useful_hours: 100.into(),
        speed: 2.into(),
        wait_hours: 3.into(),
        deadline_hours: Some(55.into()),
    };
    let spot = Spot {
        interruptions: example(1),
        interval_hours: Some(decimal(5, 1)),
        job: Some(job.clone()),
        ..Spot::default()
    };
    let cost = spot.cost().unwrap();
    assert_eq!(cost.hours.unwrap().value.unwrap().round(1), number("55.1"));
    assert_eq!((cost.in_time, cost.pays), (Some(false), Some(true)));
    let later = Job { deadline_hours: Some(56.into()), ..job };
    assert_eq!(Spot { job: Some(later), ..spot }.cost().unwrap().in_time, Some(true));
}

#[test]
fn what_cannot_be_is_refused_and_what_is_odd_is_reported() {
    let with = |interruptions| Spot { interruptions, ..Spot::default() };
    let table = [
        ("price", Spot { price: Decimal::ZERO, ..Spot::default() }),
        ("interval_hours", Spot { interval_hours: Some(Decimal::ZERO), ..Spot::default() }),
        ("interruptions.instances", with(example(0))),
        ("interruptions.pause_minutes", with(Interruptions { pause_minutes: number("-1"), ..example(1) })),
        (
            "interruptions.preemptions.share",
            with(Interruptions { preemptions: Preemptions::Month { share: one() }, ..example(1) }),
        ),
    ];
    for (field, spot) in table {
        assert_eq!(spot.cost().unwrap_err().0[0].field, field);
    }
    for (price, described) in [("7", "not interrupted"), ("0.3", "whole instance")] {
        let odd = Spot { price: number(price), ..Spot::default() }.cost().unwrap();
        assert!(odd.warnings[0].message.contains(described));
    }
    assert!(Spot::default().cost().unwrap().warnings.is_empty());
}

#[test]
fn what_was_entered_is_read_back() {
    let text = r#"{"job":{"useful_hours":"3","deadline_hours":null},"interruptions":{"preemptions":{"by":"month","share":"0.1"}}}"#;
    let spot: Spot = serde_json::from_str(text).unwrap();
    assert_eq!(spot.job.as_ref().unwrap().speed, one());
    assert_eq!(serde_json::from_str::<Spot>(&serde_json::to_string(&spot).unwrap()).unwrap(), spot);
    assert!(serde_json::from_str::<Spot>(r#"{"prize":1}"#).is_err());
}

prop_compose! {
    fn interruptions()(
        rate in 1i64..1000,
        instances in 1u32..16,
        pause in 1i64..100,
        restart in 0i64..300,
    ) -> Interruptions {
        Interruptions {
            preemptions: Preemptions::Hour { rate: decimal(rate, 5) },
            failures: Decimal::ZERO,
            instances,
            pause_minutes: decimal(pause, 1),
            restart_minutes: decimal(restart, 1),
            notice_minutes: Decimal::ZERO,
        }
    }
}

fn hour(hundredths: i64) -> Decimal {
    decimal(hundredths, 2)
}

proptest! {
    #[test]
    fn a_useful_hour_is_never_less_than_an_hour(stops in interruptions(), interval in 2i64..1000) {
        prop_assert!(stops.factor(hour(interval)).unwrap() >= one());
        let cost = Spot { interruptions: stops, ..Spot::default() }.cost().unwrap();
        prop_assert!(cost.price.value.unwrap() >= Spot::default().price);
    }

    #[test]
    fn a_factor_rises_with_interruptions_pauses_and_restarts(stops in interruptions(), interval in 2i64..1000) {
        let interval = hour(interval);
        let base = stops.factor(interval).unwrap();
        let more = [
            Interruptions { instances: stops.instances + 1, ..stops.clone() },
            Interruptions { pause_minutes: stops.pause_minutes + one(), ..stops.clone() },
            Interruptions { restart_minutes: stops.restart_minutes + one(), ..stops.clone() },
        ];
        for more in more {
            prop_assert!(more.factor(interval).unwrap() > base);
        }
    }

    #[test]
    fn no_interval_is_better_than_the_best(stops in interruptions(), interval in 2i64..3000) {
        let best = stops.factor(stops.best_interval().unwrap()).unwrap();
        // 16 digits are known of either.
        prop_assert!(best <= stops.factor(hour(interval)).unwrap() + Decimal::new(1, 13));
        for known in [stops.young(), stops.daly()] {
            prop_assert!(best <= stops.factor(known.unwrap()).unwrap() + Decimal::new(1, 13));
        }
    }

    #[test]
    fn factors_are_convex_in_the_interval(stops in interruptions(), interval in 2i64..1000, step in 1i64..100) {
        let at = |hundredths| stops.factor(hour(hundredths)).unwrap();
        prop_assert!(at(interval) + at(interval + 2 * step) >= at(interval + step).times(2) - Decimal::new(1, 12));
    }

    #[test]
    fn four_times_the_interruptions_halve_the_interval_of_young(stops in interruptions()) {
        let four = Interruptions { instances: stops.instances * 4, ..stops.clone() };
        let difference = stops.young().unwrap() - four.young().unwrap().times(2);
        prop_assert!(difference.abs() < Decimal::new(1, 12));
    }

    #[test]
    fn without_interruptions_and_pauses_an_hour_is_an_hour(restart in 0i64..60, interval in 2i64..1000) {
        let none = Interruptions {
            preemptions: Preemptions::Hour { rate: Decimal::ZERO },
            pause_minutes: Decimal::ZERO,
            restart_minutes: restart.into(),
            ..example(1)
        };
        prop_assert_eq!(none.factor(hour(interval)), Some(one()));
        let rare = Interruptions { preemptions: Preemptions::Hour { rate: Decimal::new(1, 12) }, ..none };
        prop_assert!(rare.factor(hour(interval)).unwrap() - one() < Decimal::new(1, 9));
    }
}
