//! Against trying all of it.

use proptest::prelude::*;

use super::capacity::block;
use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_mix_costs_no_more_than_its_parts(
        gpus in prop::collection::vec(0i64..64, 3..30),
        base in 1i64..90,
        interruptible in 0i64..11,
    ) {
        let asked = Work { interruptible: decimal(interruptible, 1), ..work(levels(&gpus)) };
        let committed = |gpus| Committed { rate: rate("1"), upfront: Decimal::ZERO, months: 12, gpus };
        let price = decimal(base, 1);
        let priced = |gpus| Committed { rate: Rate { price, ..Rate::default() }, ..committed(gpus) };
        let spot = Spot { rate: rate("3"), rework: Some(decimal(105, 2)), interruptions: Interruptions::default(), gpus: Some(9.into()) };
        let mixed = Place { committed: vec![priced(Gpus::Best)], ..on_demand("8") };
        let places = vec![
            on_demand("8"),
            Place { committed: vec![priced(Gpus::Best)], ..Place::default() },
            mixed.clone(),
            Place { spot: Some(spot), ..mixed.clone() },
            Place { committed: vec![priced(Gpus::Number(8))], ..mixed.clone() },
        ];
        let compared = Scenario { months: 12, ..scenario(asked, places) }.compare().unwrap();
        let worth: Vec<Decimal> = compared.options.iter().map(|it| it.present_value.round(9)).collect();
        prop_assert!(worth[2] <= worth[0] && worth[2] <= worth[1] && worth[2] <= worth[4]);
        prop_assert!(worth[3] <= worth[2], "more to choose from never costs more");
        for policy in &compared.options[2].places[0].policies {
            prop_assert!(worth[2] <= policy.cost.round(9), "{policy:?}");
        }
        for option in &compared.options {
            prop_assert_eq!(option.lines.iter().map(|it| it.cost).sum::<Decimal>(), option.total);
            prop_assert!(option.fails.is_empty());
            prop_assert_eq!(option.served_hours.round(6), compared.work[0].gpu_hours.round(6));
        }
    }

    #[test]
    fn the_best_base_is_that_of_trying_all_where_capacity_may_be_missing(
        gpus in prop::collection::vec(0i64..64, 3..30),
        base in 1i64..90,
        interruptible in 0i64..11,
        obtainable in 1i64..11,
        unserved in 1i64..40,
        spot in 0i64..24,
        support in 0i64..50,
        (interest, upfront) in (0i64..40, 0i64..9000),
    ) {
        let asked = |gpus: &[i64]| Work {
            interruptible: decimal(interruptible, 1),
            unserved_cost: Some(unserved.into()),
            ..work(levels(gpus))
        };
        let place = |gpus, obtainable: Decimal| Place {
            obtainable,
            support: decimal(support, 2),
            committed: vec![Committed {
                rate: Rate { price: decimal(base, 1), ..Rate::default() },
                upfront: upfront.into(),
                months: 12,
                gpus,
            }],
            spot: Some(Spot {
                rate: rate("3"),
                rework: Some(decimal(105, 2)),
                interruptions: Interruptions::default(),
                gpus: Some(spot.into()),
            }),
            ..on_demand("8")
        };
        let chance = decimal(obtainable, 1);
        let of = |work: Work, places: Vec<Place>| {
            let cost_of_capital = decimal(interest, 2);
            let compared = Scenario { months: 12, cost_of_capital, ..scenario(work, places) }.compare().unwrap();
            compared.options.into_iter().map(|it| it.present_value).collect::<Vec<_>>()
        };
        let best = of(asked(&gpus), vec![place(Gpus::Best, chance)])[0];
        let tried = (0..=8u32).map(|nodes| place(Gpus::Number(nodes * 8), chance)).collect();
        let least = of(asked(&gpus), tried).into_iter().min().unwrap();
        prop_assert!((best - least).abs() < decimal(1, 6), "{best} {least}");
        let cost_of_capital = decimal(interest, 2);
        let entered = Scenario { months: 12, cost_of_capital, ..scenario(asked(&gpus), [place(Gpus::Best, chance)]) };
        let compared = entered.compare().unwrap();
        for policy in &compared.options[0].places[0].policies {
            prop_assert!(best <= policy.cost + decimal(1, 6), "{policy:?} {best}");
            prop_assert!((policy.cost - best - policy.more).abs() < decimal(1, 6), "{policy:?} {best}");
        }
        // What is always there is as if nobody had said anything about it.
        let sure = place(Gpus::Best, one());
        let unasked = Work { unserved_cost: None, ..asked(&gpus) };
        prop_assert_eq!(of(asked(&gpus), vec![sure.clone()]), of(unasked, vec![sure]));
        // The order of hours changes nothing: those of whole months, as the last may be cut off.
        let whole: Vec<i64> = gpus.iter().copied().cycle().take(730).collect();
        let mut turned = whole.clone();
        turned.reverse();
        let places = || vec![place(Gpus::Best, chance)];
        prop_assert_eq!(of(asked(&whole), places()), of(asked(&turned), places()));
    }

    #[test]
    fn a_best_base_beside_a_block_is_that_of_trying_all(
        gpus in prop::collection::vec(0i64..64, 3..30),
        base in 1i64..90,
        interruptible in 0i64..11,
        hours in 1u32..1400,
        size in 1u32..40,
    ) {
        let asked = Work { interruptible: decimal(interruptible, 1), ..work(levels(&gpus)) };
        let spot = Spot {
            rate: rate("3"),
            rework: Some(one()),
            interruptions: Interruptions::default(),
            gpus: Some(9.into()),
        };
        let place = |gpus| Place {
            committed: vec![Committed {
                rate: Rate { price: decimal(base, 1), ..Rate::default() },
                upfront: Decimal::ZERO,
                months: 12,
                gpus,
            }],
            blocks: vec![Block { every_months: 2, ..block("2", size, hours) }],
            spot: Some(spot.clone()),
            ..on_demand("8")
        };
        let all = (0..=8u32).map(|nodes| place(Gpus::Number(nodes * 8)));
        let places: Vec<Place> = std::iter::once(place(Gpus::Best)).chain(all).collect();
        let compared = Scenario { months: 12, ..scenario(asked, places) }.compare().unwrap();
        let worth: Vec<Decimal> = compared.options.iter().map(|it| it.present_value.round(9)).collect();
        prop_assert_eq!(Some(&worth[0]), worth[1..].iter().min());
        for option in &compared.options {
            prop_assert_eq!(option.lines.iter().map(|it| it.cost).sum::<Decimal>(), option.total);
            prop_assert!(option.fails.is_empty());
        }
    }

    #[test]
    fn spend_for_one_price_is_a_commitment_to_as_many(
        gpus in prop::collection::vec(0i64..20, 1..40),
        committed in 1u32..24,
    ) {
        prop_assume!(gpus.iter().any(|it| *it > 0));
        let plan = Place { spend_rate: Some(rate("1.2")), ..on_demand("2") };
        let same = Place { on_demand: Some(rate("2")), ..reserved("1.2", 3, Gpus::Number(committed)) };
        let mut entered = Scenario { months: 3, ..scenario(work(levels(&gpus)), [plan, same]) };
        entered.options[0].spend = Some(Spend { per_hour: number("1.2").times(committed.into()), months: 3 });
        let compared = entered.compare().unwrap();
        let [plan, same] = &compared.options[..] else { panic!() };
        prop_assert!((plan.total - same.total).abs() < decimal(1, 9), "{} {}", plan.total, same.total);
        prop_assert_eq!(plan.lines.iter().map(|it| it.cost).sum::<Decimal>(), plan.total);
        prop_assert_eq!(plan.served_hours, same.served_hours);
    }

    #[test]
    fn layers_of_a_duration_curve_are_the_hours_they_serve(
        gpus in prop::collection::vec(0i64..64, 3..30),
        interruptible in 0i64..11,
        growth in -5i64..6,
        steps in 1usize..130,
        overflows in any::<bool>(),
        chance in 1u32..101,
    ) {
        let monthly_growth = decimal(growth, 2);
        let asked = Work { interruptible: decimal(interruptible, 1), monthly_growth, ..work(levels(&gpus)) };
        let committed = |months, gpus| Committed { rate: rate("4"), upfront: Decimal::ZERO, months, gpus };
        let spot = Spot { rate: rate("3"), rework: Some(one()), interruptions: Interruptions::default(), gpus: Some(9.into()) };
        let place = Place {
            owned: Some(Owned {
                gpus: Gpus::Number(16),
                machines: complete_example(),
                ..Owned::default()
            }),
            committed: vec![committed(4, Gpus::Best), committed(12, Gpus::Number(8))],
            blocks: vec![Block { every_months: 5, starts_at_hour: 3, ..block("2", 5, 900) }],
            spot: Some(spot),
            on_demand: overflows.then(|| rate("8")),
            obtainable: decimal(i64::from(chance), 2),
            ..Place::default()
        };
        let entered = Scenario { months: 12, ..scenario(asked, [place]) };
        let compared = entered.compare().unwrap();
        let found = duration(&entered, (&entered.demands(), &compared), (0, 0), steps).unwrap();
        let answer = &compared.options[0].places[0];
        let hours = |layer: &DurationLayer| {
            let of = layer.gpus.iter().zip(&found.hours);
            of.map(|(gpus, hours)| gpus.times(*hours as i64)).sum::<Decimal>()
        };
        prop_assert_eq!(found.hours.iter().sum::<usize>(), 12 * 730);
        let mut all = Decimal::ZERO;
        for layer in &found.layers {
            let same = answer.layers.iter().find(|it| it.name == layer.name);
            let used = same.map_or(Decimal::ZERO, |it| it.used_hours);
            let served = if layer.kind.is_none() { answer.unserved_hours } else { used };
            prop_assert!((hours(layer) - served).abs() < decimal(1, 9), "{} {}", layer.name, served);
            all += hours(layer);
        }
        prop_assert!((all - answer.gpu_hours).abs() < decimal(1, 9));
        // Each step asks for no more than the one before.
        let tops: Vec<Decimal> =
            (0..found.hours.len()).map(|at| found.layers.iter().map(|it| it.gpus[at]).sum()).collect();
        let highest: Decimal = found.layers.iter().map(|it| it.highest).sum();
        prop_assert!((highest - compared.work[0].peak).abs() < decimal(1, 9), "{} is not the peak", highest);
        prop_assert!(tops.windows(2).all(|it| it[1] <= it[0] + decimal(1, 9)));
    }

    #[test]
    fn the_best_number_of_nodes_is_that_of_trying_all(
        gpus in prop::collection::vec(0i64..120, 3..20),
        price in 20i64..140,
        support in 0i64..50,
        interest in 0i64..40,
    ) {
        let cost_of_capital = decimal(interest, 2);
        let compared = |places| {
            let entered = Scenario { months: 12, cost_of_capital, ..scenario(work(levels(&gpus)), places) };
            entered.compare().unwrap().options.remove(0).present_value
        };
        let on_demand = Some(Rate { price: decimal(price, 1), ..Rate::default() });
        let support = decimal(support, 2);
        let place = |gpus| Place { on_demand: on_demand.clone(), support, ..own(complete_example(), gpus) };
        let all = (0..=16u32).map(|nodes| place(Gpus::Number(nodes * 8)));
        let best = compared(vec![place(Gpus::Best)]);
        let least = all.map(|place| compared(vec![place])).min().unwrap();
        prop_assert!((best - least).abs() < decimal(1, 6), "{best} {least}");
    }

    #[test]
    fn scaling_all_money_scales_every_total(times in 2i64..9, hours in 1u32..24) {
        let machines = Owning { one_offs: Vec::new(), ..complete_example() };
        let of = |times: i64| {
            let scaled = |amount: Decimal| amount.times(times);
            let machines = Owning {
                node_price: scaled(machines.node_price),
                fabric: crate::economics::owning::Fabric::Node { price: scaled(50_000.into()) },
                tariff: scaled(machines.tariff),
                staff: crate::economics::owning::Staff {
                    loaded_cost: scaled(machines.staff.loaded_cost),
                    ..machines.staff.clone()
                },
                ..machines.clone()
            };
            let rented = Place {
                on_demand: Some(Rate { price: scaled(7.into()), ..Rate::default() }),
                ..Place::default()
            };
            let compared = scenario(work(flat(64, hours)), [own(machines, Gpus::Number(72)), rented]).compare();
            compared.unwrap().options.into_iter().map(|it| it.total).collect::<Vec<_>>()
        };
        for (one, many) in of(1).into_iter().zip(of(times)) {
            prop_assert!((one.times(times) - many).abs() < decimal(1, 6), "{one} {many}");
        }
    }
}
