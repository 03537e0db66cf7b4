//! What changes over the months: prices, moves, replacements.

use proptest::prelude::*;

use super::*;

#[test]
fn prices_follow_their_paths_and_a_commitment_that_of_its_start() {
    let path = |text: &str| text.parse::<crate::economics::price_path::Path>().unwrap();
    let priced = |text: &str| Rate { path: path(text), ..rate("2") };
    let rented = |text: &str| Place { on_demand: Some(priced(text)), ..Place::default() };
    let yearly = |text: &str| Place {
        committed: vec![Committed {
            rate: priced(text),
            upfront: 730.into(),
            months: 12,
            gpus: Gpus::Number(1),
        }],
        ..Place::default()
    };
    let steps = "6: 0.5, 18: 0.25";
    let places = vec![rented("0 %"), rented("-20 %"), rented(steps), rented("prices: 3, 1"), yearly(steps)];
    let compared = Scenario { months: 24, ..scenario(work(flat(1, 24)), places) }.compare().unwrap();
    let total: Vec<Decimal> =
        compared.options.iter().map(|it| quotient(it.total, 730.into()).unwrap().round(4)).collect();
    assert_eq!(total[0], 48.into());
    // Twelve months from 2 to 1.6, and twelve to 1.28: less than at the price of now, more than at the last.
    assert!(total[1] > number("33") && total[1] < number("40"), "{}", total[1]);
    assert_eq!(total[2], Decimal::from(6 * 2 + 12) + number("3"));
    assert_eq!(total[3], Decimal::from(3 + 23));
    // A term at 2, one at 1, and what is paid at their starts: 1 and a half of it.
    assert_eq!(total[4], Decimal::from(24 + 12 + 1) + number("0.5"));
    assert_eq!(compared.warnings[0].field, "option.3.place.0.on_demand.path");
    let described =
        scenario(work(flat(1, 24)), [rented("6: 0.5, 3: 0.2")]).compare().unwrap_err().to_string();
    assert!(
        described.contains("option.0.place.0.on_demand.path is 3 of steps.1.month: expected a later"),
        "{described}"
    );
}

#[test]
fn moving_data_and_porting_are_paid_when_they_happen() {
    let moved = |gigabytes: i64, every| Moved {
        name: "Data".to_owned(),
        rates: crate::economics::egress::Rates::Aws,
        gigabytes: gigabytes.into(),
        every,
        other_gigabytes: Decimal::ZERO,
        hops: Vec::new(),
    };
    let port =
        Port { releases_per_year: 2.into(), ported_anew: number("0.1"), chance: one(), ..Port::default() };
    let place = Place {
        moved: vec![moved(500_000, Every::Once), moved(4200, Every::Month)],
        porting: Some(port),
        ..on_demand("3")
    };
    let compared = scenario(work(flat(8, 24)), [place, on_demand("3")]).compare().unwrap();
    let [with, without] = &compared.options[..] else { panic!() };
    let found: Vec<(&str, Decimal)> =
        with.lines.iter().map(|it| (it.name.as_str(), it.cost.round(4))).collect();
    // G02 in each month, and what comes to G06 on top of the first of them; half a year of an engineer, and a fifth of
    // that a year.
    let expected = [("Porting", "125000"), ("Porting anew", "75000"), ("Data", "28723.2"), ("Data", "13284")];
    assert_eq!(found[1..], expected.map(|(name, cost)| (name, number(cost).round(4))));
    assert_eq!(with.payments.months()[0].first, number("153723.2"));
    assert_eq!(with.paid.round(6), with.total.round(6));
    assert_eq!((with.chance, without.chance), (one(), one()));
    let place = Place {
        moved: vec![Moved { gigabytes: (-1).into(), ..moved(1, Every::Once) }],
        porting: Some(Port { chance: 2.into(), ..Port::default() }),
        ..on_demand("3")
    };
    let described = scenario(work(flat(8, 24)), [place]).compare().unwrap_err().to_string();
    assert!(described.contains("option.0.place.0.moved.0.gigabytes"), "{described}");
    assert!(described.contains("option.0.place.0.porting.chance"), "{described}");
}

#[test]
fn a_lease_is_paid_by_the_month_and_leaves_nothing() {
    let tenure = Tenure::Leased { price: 9000.into() };
    let leased = Owning { tenure, fabric: Fabric::Node { price: Decimal::ZERO }, ..complete_example() };
    let staffed = Owning { staff: Staff { months_before: Decimal::ZERO, ..leased.staff.clone() }, ..leased };
    let nodes = i64::from(staffed.purchase().nodes_bought());
    let of_machines = scenario(work(flat(48, 24)), [own(staffed, Gpus::Number(64))]);
    let described = |months: u32| Scenario { months, ..of_machines.clone() }.compare().unwrap();
    assert_eq!(described(36).warnings, []);
    let compared = described(48);
    let warnings: Vec<String> = compared.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings[0].contains("life_years is 3: the lease continues after the 48"), "{warnings:?}");
    let option = &compared.options[0];
    let lease = option.lines.iter().find(|it| it.name == "Lease of nodes").unwrap();
    // Leased again when the term is over.
    assert_eq!(lease.cost, Decimal::from(9000 * 48 * nodes));
    let paid = option.payments.cumulative();
    let month = paid[1] - paid[0];
    assert_eq!(paid[48].round(9), month.times(48).round(9));
    assert_eq!(option.paid.round(9), option.total.round(9));
}

#[test]
fn a_refresh_is_a_step_and_the_annuity_is_no_payment() {
    let machines = Owning {
        residual: crate::economics::owning::Residual::Share { share: Decimal::ZERO },
        ..complete_example()
    };
    let lives = |years: i64| Owning { life_years: years.into(), ..machines.clone() };
    let places = [own(lives(3), Gpus::Number(64)), own(lives(6), Gpus::Number(64)), on_demand("12.29")];
    let compared = Scenario { months: 60, ..scenario(work(flat(48, 24)), places) }.compare().unwrap();
    let [short, long, _] = &compared.options[..] else { panic!() };
    let purchase = machines.purchase().total;
    let paid = |option: &OptionAnswer| option.payments.cumulative();
    // A month before and after the life is over, and what any month adds.
    let step = |option: &OptionAnswer| paid(option)[36] - paid(option)[35];
    let month = paid(long)[20] - paid(long)[19];
    assert_eq!((step(short) - month).round(9), purchase.round(9));
    assert_eq!(step(long).round(9), month.round(9));
    // A longer life costs less a year, and is paid the same until the shorter one is over.
    assert!(long.total < short.total);
    assert_eq!(paid(short)[..36], paid(long)[..36]);
    assert_eq!(short.paybacks, long.paybacks);
    let &[(2, Payback::After { months })] = &long.paybacks[..] else { panic!("{:?}", long.paybacks) };
    let rented = paid(&compared.options[2])[1];
    let first = paid(long)[0];
    assert_eq!(months.round(6), quotient(first, rented - month).unwrap().round(6));
}

/// What an option costs by its lines, were all of it paid in equal parts at the end of each month, as worth today.
fn evenly(option: &OptionAnswer, months: u32, rate: Decimal) -> Decimal {
    let each = quotient(option.total, count(months)).unwrap();
    Payments::level(Decimal::ZERO, each, months).present_value(rate)
}

#[test]
fn owning_beside_rents_at_ten_percent_costs_least_where_its_present_value_is_least() {
    // 64 GPUs, always busy, at 5.05 an hour: with capital as a yearly annuity renting totals less, and is worth more.
    let machines =
        Owning { staff: Staff { months_before: Decimal::ZERO, ..Staff::default() }, ..complete_example() };
    for price in ["3", "3.4", "3.45", "3.5", "3.55", "3.6", "4"] {
        let places = [own(machines.clone(), Gpus::Number(64)), on_demand(price)];
        let entered = Scenario { months: 36, ..scenario(work(flat(60, 24)), places) };
        let compared = entered.compare().unwrap();
        let [ours, rented] = &compared.options[..] else { panic!() };
        let least = usize::from(rented.present_value < ours.present_value);
        assert_eq!(compared.cheapest, Some(least), "{price}");
        assert_eq!(ours.total < rented.total, least == 0, "level payments rank alike: {price}");
        // What the lines say is what is paid, to a cent in millions.
        for option in [ours, rented] {
            let lines = evenly(option, 36, entered.cost_of_capital);
            assert!((lines - option.present_value).abs() < decimal(1, 2), "{lines} {}", option.present_value);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_costs_least_has_the_least_present_value(
        months in 1u32..49,
        rate_of_capital in 0i64..31,
        gpus in 8i64..65,
        growth in -3i64..4,
        prices in prop::collection::vec((100i64..900, -40i64..41), 3),
        upfront in 0i64..20_000,
        life in 1i64..6,
    ) {
        let moving = |(price, yearly): (i64, i64)| Rate {
            path: format!("{yearly} %").parse().unwrap(),
            ..rate(&decimal(price, 2).to_string())
        };
        let rented = |at: usize| Place { on_demand: Some(moving(prices[at])), ..Place::default() };
        let committed = Committed { rate: moving(prices[2]), upfront: upfront.into(), months: 12, gpus: Gpus::Number(16) };
        let places = [
            rented(0),
            rented(1),
            Place { committed: vec![committed], ..rented(0) },
            Place { on_demand: Some(rate("9")), ..own(Owning { life_years: life.into(), ..Owning::default() }, Gpus::Number(64)) },
        ];
        let asked = Work { monthly_growth: decimal(growth, 2), ..work(flat(gpus, 20)) };
        let entered = Scenario { months, cost_of_capital: decimal(rate_of_capital, 2), ..scenario(asked, places) };
        let answer = crate::economics::Answer::of(&entered).unwrap();
        let compared = &answer.comparison;
        let least = (0..compared.options.len()).min_by_key(|at| compared.options[*at].present_value);
        prop_assert_eq!(compared.cheapest, least);
        let cheapest_option = answer.cheapest_option.unwrap();
        prop_assert!(!cheapest_option.ahead.is_negative());
        // What is owned is paid by the month as its lines say. Downtime leaves 60.8 of the 64 GPUs: what is rented beyond them
        // has other hours in each month.
        if growth == 0 && months <= 12 && gpus <= 60 {
            let ours = &compared.options[3];
            let off = evenly(ours, months, entered.cost_of_capital) - ours.present_value;
            prop_assert!(off.abs() < decimal(1, 2), "{off}");
        }
    }
}

#[test]
fn machines_that_are_not_sold_are_worth_at_the_end_what_the_table_of_resale_says() {
    let machines =
        Owning { staff: Staff { loaded_cost: Decimal::ZERO, ..Staff::default() }, ..Owning::default() };
    let compared = |months: u32, rate: &str, machines: &Owning| {
        let asked = scenario(work(flat(8, 24)), [own(machines.clone(), Gpus::Number(8))]);
        let asked = Scenario { months, cost_of_capital: number(rate), ..asked };
        asked.compare().unwrap().options.remove(0)
    };
    // A node and its spare with their fabric: 850,000, of which the table leaves 0.65, 0.45 and 0.30 after 1, 2 and 3 years.
    for (months, left) in [(12, "0.65"), (24, "0.45"), (36, "0.30"), (18, "0.55"), (48, "0.65")] {
        let found = compared(months, "0", &machines);
        let sold = found.payments.months().last().unwrap().last;
        assert_eq!(sold, product(&[(-850_000).into(), number(left)]), "{months}");
        assert_eq!(found.paid.round(6), found.total.round(6), "{months}");
        let capital: Decimal =
            found.lines.iter().filter(|it| it.name.starts_with("Capital")).map(|it| it.cost).sum();
        let lives = if months == 48 { number("1.05") } else { one() - number(left) };
        assert_eq!(
            capital.round(6),
            product(&[850_000.into(), lives]),
            "{months}: 0.70 and 0.35 for four years"
        );
    }
    // A share at the end of life is reached as used machines lose value: 0.2 + 0.8 × (0.65 − 0.30) ÷ 0.70 after a year.
    let share = Owning { residual: Residual::Share { share: number("0.2") }, ..machines.clone() };
    let found = compared(12, "0", &share);
    assert_eq!(found.payments.months()[11].last.round(6), product(&[(-850_000).into(), number("0.6")]));
}
