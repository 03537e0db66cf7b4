//! What is committed to: paid upfront, and spend over several places.

use super::*;

#[test]
fn whether_to_pay_upfront_is_told_by_what_all_is_worth_today() {
    // A year of one GPU with nothing, half and all of it upfront, as AWS sells it.
    let variant = |price: &str, upfront: i64| Place {
        committed: vec![Committed {
            rate: rate(price),
            upfront: upfront.into(),
            months: 12,
            gpus: Gpus::Number(1),
        }],
        ..Place::default()
    };
    let places = [variant("5.4", 0), variant("2.6", 23_000), variant("0", 45_200)];
    let entered = Scenario { months: 12, ..scenario(work(flat(1, 24)), places) };
    let worth = |yearly: &str| -> Vec<Decimal> {
        let compared = Scenario { cost_of_capital: number(yearly), ..entered.clone() }.compare().unwrap();
        compared.options.iter().map(|it| it.present_value.round(2)).collect()
    };
    let free = worth("0");
    assert_eq!(free, [number("47304"), number("45776"), number("45200")]);
    let monthly = |first: i64, hour: &str| {
        Payments::level(first.into(), product(&[number(hour), 730.into()]), 12)
            .present_value(number("0.2"))
            .round(2)
    };
    let dear = worth("0.2");
    assert_eq!(dear, [monthly(0, "5.4"), monthly(23_000, "2.6"), monthly(45_200, "0")]);
    assert!(dear[0] < dear[1] && dear[1] < dear[2], "where money is dear, what is paid late costs less");
}

#[test]
fn how_much_is_paid_upfront_for_follows_what_that_is_worth() {
    // A GPU is asked for in 60 % of all hours: 42,048 by use in three years, and 41,500 at once.
    let demand = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0];
    let upfront = Committed { rate: rate("0"), upfront: 41_500.into(), months: 36, gpus: Gpus::Best };
    let place = Place { committed: vec![upfront], gpus_per_node: 1, ..on_demand("2.6666666667") };
    let entered = Scenario { months: 36, ..scenario(work(levels(&demand)), [place]) };
    let committed = |yearly: &str| {
        let compared = Scenario { cost_of_capital: number(yearly), ..entered.clone() }.compare().unwrap();
        compared.options[0].places[0].layers.iter().any(|it| it.kind == LayerKind::Committed)
    };
    assert!(committed("0"), "it totals less");
    assert!(!committed("0.1"), "what is paid by use is worth less than what is paid at once");
}

/// Two works that are asked for as they say, each in a place of its own, under one commitment.
fn under_spend(gpus: [&[i64]; 2], prices: [(&str, &str); 2], per_hour: &str) -> Scenario {
    let named = |name: &str, gpus: &[i64]| Work { name: name.to_owned(), ..work(levels(gpus)) };
    let works = [named("a", gpus[0]), named("b", gpus[1])];
    let place = |(name, (list, under)): (&str, (&str, &str))| Place {
        serves: vec![name.to_owned()],
        spend_rate: Some(rate(under)),
        ..on_demand(list)
    };
    let places = ["a", "b"].into_iter().zip(prices).map(place).collect();
    let spend = Some(Spend { per_hour: number(per_hour), months: 12 });
    let option = Alternative { name: "plan".to_owned(), spend, places };
    Scenario {
        name: "spend".to_owned(),
        months: 1,
        work: works.to_vec(),
        options: vec![option],
        ..Scenario::default()
    }
}

#[test]
fn a_spend_commitment_pays_first_where_it_saves_most() {
    let compared = |prices, per_hour| under_spend([&[10], &[10]], prices, per_hour).compare().unwrap();
    let total = |prices, per_hour| compared(prices, per_hour).options[0].total;
    let hours = Decimal::from(730);
    // b saves three quarters, a half: 10 of b cost 10 of the 35, and 25 pay for 5 of a; 5 of a are left at 10.
    assert_eq!(total([("10", "5"), ("4", "1")], "35"), product(&[hours, (35 + 50).into()]));
    // Both save half; b costs less: 20 pay for b, and 15 for 3 of a.
    assert_eq!(total([("10", "5"), ("4", "2")], "35"), product(&[hours, (35 + 70).into()]));
    // What is left of it is lost, and reported.
    let found = compared([("10", "5"), ("4", "2")], "100");
    assert_eq!(found.options[0].total, product(&[hours, 100.into()]));
    let lines: Vec<(usize, &str, Decimal)> =
        found.options[0].lines.iter().map(|it| (it.place, it.name.as_str(), it.cost)).collect();
    // Where as much of it is paid for.
    let unused = hours.times(30).apportion(&[50.into(), 20.into()], 20).unwrap();
    let expected = [
        (0, "Spend commitment", hours.times(50)),
        (0, "Spend commitment, not used", unused[0]),
        (1, "Spend commitment", hours.times(20)),
        (1, "Spend commitment, not used", unused[1]),
    ];
    assert_eq!(lines, expected);
    assert_eq!(found.options[0].paid, found.options[0].total);
}

#[test]
fn the_order_of_places_changes_nothing_under_a_spend_commitment() {
    for per_hour in ["35", "100"] {
        let mut entered = under_spend([&[10, 0], &[10, 0]], [("10", "5"), ("4", "2")], per_hour);
        entered.options[0].places[0].support = number("0.1");
        let mut turned = entered.options[0].clone();
        turned.places.reverse();
        entered.options.push(turned);
        let compared = entered.compare().unwrap();
        assert_eq!(compared.options[0].total.round(9), compared.options[1].total.round(9));
        let unused = compared.options[0].lines.iter().find(|it| it.name.ends_with("not used")).unwrap();
        let [per_hour, hours, used, share] = &unused.terms[..] else { panic!("{unused:?}") };
        let left = per_hour.value.multiply(hours.value) - used.value;
        assert_eq!(product(&[left, share.value]).round(9), unused.cost.round(9));
    }
}

#[test]
fn a_spend_commitment_that_cannot_be_is_refused() {
    let fine = || under_spend([&[10], &[10]], [("10", "5"), ("4", "2")], "35");
    let refused = |change: fn(&mut Alternative)| {
        let mut changed = fine();
        change(&mut changed.options[0]);
        changed.compare().unwrap_err().to_string()
    };
    for (described, expected) in [
        (
            refused(|it| it.spend.as_mut().unwrap().per_hour = Decimal::ZERO),
            "per_hour is 0: expected an amount above 0",
        ),
        (refused(|it| it.spend.as_mut().unwrap().months = 0), "spend.months is 0"),
        (refused(|it| it.spend = None), "this option has none"),
        (refused(|it| it.places.iter_mut().for_each(|it| it.spend_rate = None)), "not used by any place"),
        (refused(|it| it.places[0].obtainable = number("0.9")), "cannot be combined with"),
    ] {
        assert!(described.contains(expected), "{expected} is not in {described}");
    }
    let dear = under_spend([&[10], &[10]], [("10", "11"), ("4", "2")], "35").compare().unwrap();
    assert_eq!(dear.warnings[0].field, "option.0.place.0.spend_rate.price");
}

#[test]
fn terms_shorter_than_a_year_save_nothing_on_levels_that_a_year_does_not() {
    // 100 GPUs in a quarter of the hours, 20 in the rest.
    let demand = Shape::Levels {
        levels: vec![
            Level { gpus: 100.into(), share: number("0.25") },
            Level { gpus: 20.into(), share: number("0.75") },
        ],
        order: Order::Spread,
    };
    let place =
        |months| Place { gpus_per_node: 1, on_demand: Some(rate("10")), ..reserved("4", months, Gpus::Best) };
    let hours =
        |months: u32| Scenario { months, ..scenario(work(demand.clone()), [place(1), place(3), place(12)]) };
    for months in [1, 3, 7, 12, 36] {
        let compared = hours(months).compare().unwrap();
        let exact = product(&[count(months), 730.into(), 40.into()]);
        assert!((compared.work[0].gpu_hours - exact).abs() <= 80.into(), "{}", compared.work[0].gpu_hours);
        let [monthly, quarterly, yearly] = [0, 1, 2].map(|at| compared.options[at].total);
        assert_eq!((monthly, quarterly), (yearly, yearly), "{months} months");
    }
}
