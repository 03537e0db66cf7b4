use proptest::prelude::*;

use super::*;
use crate::scenario::arithmetic::{count, decimal};
use crate::scenario::break_even::{BreakEven, Verdict};
use crate::scenario::cash::Payback;
use crate::scenario::claim::{complete_example, worked_example};
use crate::scenario::owning::Owning;
use crate::scenario::profile::{Level, Shape};
use crate::scenario::spot::Interruptions;

fn number(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn flat(gpus: i64, hours_per_day: u32) -> Shape {
    Shape::Flat { gpus: gpus.into(), hours_per_day }
}

fn work(demand: Shape) -> Work {
    Work {
        name: "training".to_owned(),
        accelerator: "nvidia-h100-sxm".to_owned(),
        demand,
        monthly_growth: Decimal::ZERO,
        interruptible: Decimal::ZERO,
        within_hours: 0,
        productive: one(),
        availability: None,
        unserved_cost: None,
        tokens_per_hour: None,
    }
}

fn rate(price: &str) -> Rate {
    Rate { price: number(price), ..Rate::default() }
}

fn on_demand(price: &str) -> Place {
    Place { on_demand: Some(rate(price)), ..Place::default() }
}

fn reserved(price: &str, months: u32, gpus: Gpus) -> Place {
    let committed = Committed { rate: rate(price), upfront: Decimal::ZERO, months, gpus };
    Place { committed: vec![committed], ..Place::default() }
}

fn own(machines: Owning, gpus: Gpus) -> Place {
    Place { owned: Some(Owned { gpus, machines, ..Owned::default() }), ..Place::default() }
}

fn scenario(work: Work, places: impl IntoIterator<Item = Place>) -> Scenario {
    let options = places
        .into_iter()
        .enumerate()
        .map(|(at, place)| Alternative { name: format!("option {at}"), spend: None, places: vec![place] })
        .collect();
    Scenario { name: "a scenario".to_owned(), work: vec![work], options, ..Scenario::default() }
}

#[test]
fn what_is_owned_costs_what_owning_costs() {
    // 60.8 of 64 GPUs are there, and are asked for 80 % of the time: 16 of 20 hours of every 24, rounded.
    let demand = Shape::Levels {
        levels: vec![
            Level { gpus: number("60.8"), share: number("0.8") },
            Level { gpus: Decimal::ZERO, share: number("0.2") },
        ],
    };
    let scenario = Scenario {
        months: 12,
        ..scenario(work(demand), [own(complete_example(), Gpus::Number(64)), on_demand("12.29")])
    };
    let compared = scenario.compare().unwrap();
    let [ours, theirs] = &compared.options[..] else { panic!() };
    assert_eq!(ours.per_productive_hour.unwrap().round(4), number("4.5436"), "F26");
    assert_eq!(ours.total.round(4), number("1935973.7343"), "F24");
    assert_eq!(theirs.per_productive_hour.unwrap(), number("12.29"));
    assert_eq!(compared.cheapest, Some(0));
    assert_eq!(ours.lines.iter().map(|it| it.cost).sum::<Decimal>(), ours.total);
    let Some(Against { break_even: BreakEven::PerUse { verdict, .. }, .. }) = compared.break_evens.first()
    else {
        panic!()
    };
    let Verdict::At { utilization } = verdict else { panic!() };
    assert_eq!(utilization.round(4), number("0.2915"), "F31");
}

#[test]
fn a_reservation_is_paid_whether_it_is_used_or_not() {
    let places =
        [reserved("5.25", 36, Gpus::Number(64)), on_demand("12.29"), reserved("5.25", 36, Gpus::Best)];
    let compared = scenario(work(flat(64, 12)), places).compare().unwrap();
    let [fixed, used, best] = &compared.options[..] else { panic!() };
    let hours = count(64 * 730 * 36);
    assert_eq!(fixed.total, product(&[hours, number("5.25")]));
    assert_eq!(fixed.paid_hours, hours);
    assert_eq!(fixed.per_paid_hour, Some(number("5.25")));
    let day = quotient(fixed.served_hours, hours).unwrap();
    assert!((day - decimal(5, 1)).abs() < decimal(1, 2));
    assert_eq!(used.total, product(&[used.served_hours, number("12.29")]));
    assert_eq!(best.total, fixed.total, "with nothing for the rest it is as large as the highest hour");
    assert!(best.fails.is_empty());
}

#[test]
fn what_is_too_little_says_so_and_is_not_the_cheapest() {
    let places = [reserved("5.25", 36, Gpus::Number(32)), on_demand("12.29")];
    let compared = scenario(work(flat(64, 24)), places).compare().unwrap();
    assert_eq!(compared.cheapest, Some(1));
    assert!(
        compared.options[0].fails[0].contains("GPU-hours are not served"),
        "{:?}",
        compared.options[0].fails
    );
    let half = quotient(compared.options[0].served_hours, compared.options[1].served_hours).unwrap();
    assert_eq!(half, decimal(5, 1));
    let needed = Work { availability: Some(number("0.999")), ..work(flat(8, 24)) };
    let promised = Place { availability: Some(number("0.99")), ..on_demand("2") };
    let compared = scenario(needed, [promised]).compare().unwrap();
    assert_eq!(compared.cheapest, None);
    let fails = "training has to be there 99.9 % of the time (away 8.8 hours a year at most), and 99 % is promised (away \
                 3.6 days a year)";
    assert_eq!(compared.options[0].fails, [fails]);
    let promised = Place { availability: Some(number("0.9995")), ..on_demand("2") };
    let needed = Work { availability: Some(number("0.999")), ..work(flat(8, 24)) };
    let compared = scenario(needed, [promised, on_demand("3")]).compare().unwrap();
    let told = "Promised: there 99.95 % of the time, away 4.4 hours a year at most; training needs 99.9 % of the time, away \
                8.8 hours a year.";
    assert_eq!(compared.options[0].places[0].promise.as_deref(), Some(told));
    assert_eq!(compared.options[1].places[0].promise, None);
    assert!(compared.options[1].fails[0].ends_with("and nothing is promised"));
}

#[test]
fn owning_is_paid_back_when_its_payments_come_down_to_those_of_renting() {
    // As K02: 64 GPUs for 3.4 million, 80 % used, no residual, nothing for capital.
    let machines = worked_example();
    let asked = work(Shape::Levels {
        levels: vec![
            Level { gpus: 64.into(), share: number("0.8") },
            Level { gpus: Decimal::ZERO, share: number("0.2") },
        ],
    });
    let places = [own(machines, Gpus::Number(64)), on_demand("12.29"), on_demand("2")];
    let compared = Scenario { cost_of_capital: Decimal::ZERO, ..scenario(asked, places) }.compare().unwrap();
    let [(first, dear), (second, cheap)] = compared.options[0].paybacks[..] else { panic!() };
    assert_eq!((first, second), (1, 2));
    let Payback::After { months } = dear else { panic!("{dear:?}") };
    // A year's hours begin with those that are asked for, so that the first months are full: sooner than 8.0767.
    assert!(months > 6.into() && months < number("8.0767"), "{months}");
    assert_eq!(cheap, Payback::Never);
    let ours = &compared.options[0];
    assert_eq!(ours.paid.round(6), ours.total.round(6), "without interest what is paid is what it costs");
}

#[test]
fn work_may_run_in_several_places() {
    let serving = Work { name: "serving".to_owned(), ..work(flat(16, 24)) };
    let mut both = scenario(work(flat(64, 24)), [on_demand("10")]);
    both.work.push(serving);
    let split = vec![
        Place { serves: vec!["training".to_owned()], ..on_demand("10") },
        Place { serves: vec!["serving".to_owned()], performance: decimal(5, 1), ..on_demand("2") },
    ];
    both.options.push(Alternative { name: "split".to_owned(), spend: None, places: split.clone() });
    both.options.push(Alternative { name: "half".to_owned(), spend: None, places: split[..1].to_vec() });
    let compared = both.compare().unwrap();
    let month = count(730 * 36);
    assert_eq!(compared.options[0].total, product(&[month, 800.into()]));
    // Two of the slower ones for one.
    assert_eq!(compared.options[1].total, product(&[month, count(640 + 16 * 2 * 2)]));
    assert_eq!(compared.options[1].served_hours, product(&[month, 80.into()]));
    assert_eq!(compared.options[2].fails, ["serving runs nowhere"]);
    assert_eq!(compared.cheapest, Some(1));
}

#[test]
fn what_cannot_be_compared_is_refused_beside_its_field() {
    let fine = scenario(work(flat(64, 24)), [on_demand("10")]);
    assert!(fine.compare().unwrap().warnings.is_empty());
    let refused = |change: fn(&mut Scenario)| {
        let mut changed = fine.clone();
        change(&mut changed);
        changed.compare().unwrap_err().to_string()
    };
    for (told, expected) in [
        (refused(|it| it.months = 0), "months is 0"),
        (refused(|it| it.work.clear()), "work is 0 of them"),
        (refused(|it| it.options.clear()), "option is 0 of them"),
        (refused(|it| it.options[0].places[0].on_demand = None), "has no price"),
        (refused(|it| it.options[0].places[0].performance = Decimal::ZERO), "performance is 0"),
        (refused(|it| it.options[0].places[0].support = number("1.4")), "support is 1.4"),
        (refused(|it| it.options[0].places[0].serves = vec!["x".to_owned()]), "no work has this name"),
        (refused(|it| it.work[0].accelerator = "h100".to_owned()), "expected the id of a model"),
    ] {
        assert!(told.contains(expected), "{expected} is not in {told}");
    }
}

#[test]
fn what_is_paid_by_the_token_has_to_say_how_many_an_hour_makes() {
    let by_tokens = |price: &str| Place { per_million_tokens: Some(rate(price)), ..Place::default() };
    let asked = Work { tokens_per_hour: Some(300_000.into()), ..work(flat(8, 24)) };
    let fine = scenario(asked, [by_tokens("5"), own(complete_example(), Gpus::Number(16)), on_demand("3")]);
    let compared = fine.compare().unwrap();
    assert_eq!(compared.options[0].total, product(&[count(8 * 730 * 36), number("1.5")]));
    assert!(compared.break_evens.iter().any(|it| it.renting == 0 && it.price == number("1.5")));
    let refused = |change: fn(&mut Scenario)| {
        let mut changed = fine.clone();
        change(&mut changed);
        changed.compare().unwrap_err().to_string()
    };
    for (told, expected) in [
        (refused(|it| it.work[0].tokens_per_hour = None), "work.0.tokens_per_hour is nothing"),
        (refused(|it| it.options[0].places[0].on_demand = Some(rate("3"))), "enter one"),
        (refused(|it| it.options[0].places[0].performance = number("2")), "leave performance"),
        (refused(|it| it.work[0].tokens_per_hour = Some(Decimal::ZERO)), "1 to a billion tokens"),
        (
            refused(|it| {
                let other = it.work[0].clone();
                let tokens_per_hour = Some(5.into());
                it.work.push(Work { name: "other".to_owned(), tokens_per_hour, ..other });
            }),
            "take a place for each",
        ),
    ] {
        assert!(told.contains(expected), "{expected} is not in {told}");
    }
}

#[test]
fn what_is_not_there_when_asked_for_costs_what_it_is_said_to() {
    let half = |place: Place| Place { obtainable: decimal(5, 1), supplier: "AWS".to_owned(), ..place };
    let asked = |unserved_cost| Work { unserved_cost, ..work(flat(10, 24)) };
    let places = || [half(on_demand("2")), on_demand("3"), reserved("1", 12, Gpus::Number(4))];
    let of = |cost: Option<i64>| {
        let asked = asked(cost.map(Decimal::from));
        Scenario { months: 12, ..scenario(asked, places()) }.compare().unwrap()
    };
    let hours = count(10 * 730 * 12);
    let half_of = |hours: Decimal| quotient(hours, 2.into()).unwrap();
    let nobody_said = of(None);
    let told = "43800 GPU-hours are expected not to be there when asked for at AWS, and the work does not say what such an \
                hour costs";
    assert_eq!(nobody_said.options[0].fails, [told]);
    assert_eq!(nobody_said.options[0].total, hours, "half of the hours at 2");
    assert_eq!(nobody_said.options[0].served_hours, half_of(hours));
    assert_eq!(nobody_said.cheapest, Some(1));
    let said = of(Some(5));
    let [risky, sure, few] = &said.options[..] else { panic!() };
    assert!(risky.fails.is_empty() && few.fails.is_empty());
    assert_eq!(risky.total, hours + half_of(hours).times(5));
    assert_eq!(risky.places[0].unserved_hours, half_of(hours));
    assert_eq!(risky.lines.last().unwrap().name, "Not served");
    assert_eq!(risky.paid, risky.total, "it is paid as the hours go by");
    assert_eq!(sure.total, hours.times(3));
    // Four of ten are reserved, and six are nowhere to be had.
    assert_eq!(few.total, count(730 * 12 * 4) + count(730 * 12 * 6 * 5));
    assert_eq!(said.cheapest, Some(1));
    let told = scenario(asked(Some(-one())), places()).compare().unwrap_err().to_string();
    assert!(told.contains("work.0.unserved_cost is -1"), "{told}");
    let never = Place { obtainable: Decimal::ZERO, ..on_demand("2") };
    let told = scenario(asked(None), [never]).compare().unwrap_err().to_string();
    assert!(told.contains("option.0.place.0.obtainable is 0: what is never there is not sold"), "{told}");
}

#[test]
fn a_base_grows_where_what_comes_after_it_is_less_sure() {
    // 10 GPUs always and 20 more in one hour of four: 2 is a quarter of 8, and the price of a base.
    let shape = Shape::Hours { gpus: [30, 10, 10, 10].map(Decimal::from).to_vec() };
    let base = |obtainable: &str, cost: Option<i64>| {
        let asked = Work { unserved_cost: cost.map(Decimal::from), ..work(shape.clone()) };
        let place = Place {
            obtainable: number(obtainable),
            gpus_per_node: 10,
            on_demand: Some(rate("8")),
            ..reserved("2.01", 12, Gpus::Best)
        };
        let compared = Scenario { months: 12, ..scenario(asked, [place]) }.compare().unwrap();
        compared.options[0].places[0].layers[0].gpus.unwrap()
    };
    assert_eq!(base("1", Some(100)), 10.into());
    assert_eq!(base("0.99", Some(100)), 30.into());
    assert_eq!(base("0.99", Some(8)), 10.into());
    assert_eq!(base("0.5", None), 10.into(), "what is missing for nothing is no saving, and no cost");
}

#[test]
fn spot_serves_where_nothing_else_is_sold() {
    let spot = |gpus: i64| Place {
        spot: Some(Spot {
            rate: rate("2"),
            rework: Some(one()),
            interruptions: Interruptions::default(),
            gpus: Some(gpus.into()),
        }),
        ..Place::default()
    };
    let asked = Work { interruptible: one(), ..work(flat(10, 24)) };
    let compared = scenario(asked, [spot(10), spot(6)]).compare().unwrap();
    let hours = count(10 * 730 * 36);
    assert_eq!(compared.options[0].total, hours.times(2));
    assert!(compared.options[0].fails.is_empty());
    assert!(compared.options[1].fails[0].contains("105120 GPU-hours are not served"));
}

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
    // What is left of it is lost, and told.
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
fn what_grows_to_more_than_anyone_has_is_refused() {
    let of = |growth: &str, shape: Shape| {
        let asked = Work { monthly_growth: number(growth), ..work(shape) };
        scenario(asked, [on_demand("2")]).compare().err().map(|it| it.to_string())
    };
    let swinging = || Shape::Swinging {
        base: 64.into(),
        day_swing: number("0.4"),
        weekend: one(),
        noise: number("0.1"),
        seed: 1,
    };
    for shape in [flat(64, 24), levels(&[1, 64]), swinging()] {
        let told = of("0.5", shape.clone()).unwrap();
        assert!(
            told.starts_with("work.0.monthly_growth is 0.5: grows to more than a million GPUs"),
            "{told}"
        );
        assert_eq!(of("0.05", shape), None);
    }
}

#[test]
fn an_hour_that_is_not_served_costs_something_or_is_left_out_and_few_are_told_as_they_are() {
    let of = |cost| {
        let asked = Work { unserved_cost: cost, ..work(flat(1, 24)) };
        let place = Place { obtainable: number("0.9995"), ..on_demand("2") };
        Scenario { months: 1, ..scenario(asked, [place]) }.compare()
    };
    let told = of(Some(Decimal::ZERO)).unwrap_err().to_string();
    assert!(told.starts_with("work.0.unserved_cost is 0: what is not served would cost nothing"), "{told}");
    let fails = &of(None).unwrap().options[0].fails;
    assert!(fails[0].starts_with("0.36 GPU-hours are expected not to be there"), "{fails:?}");
}

#[test]
fn a_spend_commitment_that_cannot_be_is_refused() {
    let fine = || under_spend([&[10], &[10]], [("10", "5"), ("4", "2")], "35");
    let refused = |change: fn(&mut Alternative)| {
        let mut changed = fine();
        change(&mut changed.options[0]);
        changed.compare().unwrap_err().to_string()
    };
    for (told, expected) in [
        (
            refused(|it| it.spend.as_mut().unwrap().per_hour = Decimal::ZERO),
            "per_hour is 0: nothing is committed",
        ),
        (refused(|it| it.spend.as_mut().unwrap().months = 0), "spend.months is 0"),
        (refused(|it| it.spend = None), "the option has none"),
        (refused(|it| it.places.iter_mut().for_each(|it| it.spend_rate = None)), "buys nothing"),
        (refused(|it| it.places[0].obtainable = number("0.9")), "leave one of the two out"),
    ] {
        assert!(told.contains(expected), "{expected} is not in {told}");
    }
    let dear = under_spend([&[10], &[10]], [("10", "11"), ("4", "2")], "35").compare().unwrap();
    assert_eq!(dear.warnings[0].field, "option.0.place.0.spend_rate.price");
}

fn block(price: &str, gpus: u32, hours: u32) -> Block {
    Block { rate: rate(price), gpus, hours, every_months: 0, first_month: 0, starts_at_hour: 0 }
}

#[test]
fn a_block_is_paid_whole_and_serves_its_hours() {
    // 10 GPUs in every hour; a block of 4 for 100 hours of every second month from the second on.
    let monthly = Block { every_months: 2, first_month: 1, starts_at_hour: 700, ..block("5", 4, 100) };
    let place = Place { blocks: vec![monthly], support: number("0.1"), ..on_demand("3") };
    let idle = Place { blocks: vec![block("5", 4, 100)], ..on_demand("3") };
    let asked = work(flat(10, 24));
    let compared =
        Scenario { months: 4, ..scenario(asked, [place, on_demand("3"), idle.clone()]) }.compare().unwrap();
    let [blocks, without, _] = &compared.options[..] else { panic!() };
    let found = &blocks.places[0].layers;
    assert_eq!((found[0].name.as_str(), found[0].kind), ("Blocks of 100 hours", LayerKind::Block));
    assert_eq!((found[0].paid_hours, found[0].cost), (800.into(), 4000.into()));
    // The first of the two goes on into the third month, the second ends with the last: 30 of its hours.
    assert_eq!(found[0].used_hours, Decimal::from(4 * 100 + 4 * 30));
    assert_eq!(found[0].utilization, Some(number("0.65")));
    assert_eq!(found[1].used_hours, compared.work[0].gpu_hours - 520.into());
    let paid = |month: usize| blocks.payments.months()[month].first;
    assert_eq!([0, 1, 2, 3].map(paid), [0, 2000, 0, 2000].map(Decimal::from));
    // With support, a tenth: 4,000 for hours that would have cost 1,560.
    assert_eq!(blocks.total, product(&[without.total - 1560.into() + 4000.into(), number("1.1")]));
    assert_eq!(blocks.served_hours, compared.work[0].gpu_hours);
    // In hours that ask for nothing it costs its price, and nothing else changes.
    let night =
        Shape::Hours { gpus: (0..730).map(|hour| Decimal::from(if hour < 100 { 0 } else { 10 })).collect() };
    let compared = Scenario { months: 4, ..scenario(work(night), [idle, on_demand("3")]) }.compare().unwrap();
    let [with, without] = &compared.options[..] else { panic!() };
    assert_eq!(with.total, without.total + 2000.into());
    assert_eq!(with.places[0].layers[0].used_hours, Decimal::ZERO);
}

#[test]
fn a_block_that_cannot_be_is_refused() {
    for (change, expected) in [
        (Block { gpus: 0, ..block("5", 4, 100) }, "blocks.0.gpus is 0: expected 1 to a million"),
        (block("5", 4, 9000), "blocks.0.hours is 9000: expected 1 to 8,760"),
        (Block { every_months: 1, ..block("5", 4, 731) }, "the next one begins before it ends"),
        (Block { first_month: 36, ..block("5", 4, 100) }, "blocks.0.first_month is 36: no month of those"),
        (Block { starts_at_hour: 730, ..block("5", 4, 100) }, "expected an hour of 730: 0 to 729"),
        (block("0", 4, 100), "blocks.0.rate.price is 0"),
    ] {
        let place = Place { blocks: vec![change], ..on_demand("3") };
        let told = scenario(work(flat(1, 24)), [place]).compare().unwrap_err().to_string();
        assert!(told.contains(expected), "{expected} is not in {told}");
    }
}

#[test]
fn prices_follow_their_paths_and_a_commitment_that_of_its_start() {
    let path = |text: &str| text.parse::<crate::scenario::path::Path>().unwrap();
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
    let told = scenario(work(flat(1, 24)), [rented("6: 0.5, 3: 0.2")]).compare().unwrap_err().to_string();
    assert!(
        told.contains("option.0.place.0.on_demand.path is 3 of steps.1.month: expected a later"),
        "{told}"
    );
}

#[test]
fn moving_data_and_porting_are_paid_when_they_happen() {
    let moved = |gigabytes: i64, every| Moved {
        name: "Data".to_owned(),
        rates: crate::scenario::egress::Rates::Aws,
        gigabytes: gigabytes.into(),
        every,
        other_gigabytes: Decimal::ZERO,
        hops: Vec::new(),
    };
    let port = Port { releases_per_year: 2.into(), ported_anew: number("0.1"), ..Port::default() };
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
    let expected = [("Porting", "125000"), ("Porting anew", "75000"), ("Data", "28632"), ("Data", "13284")];
    assert_eq!(found[1..], expected.map(|(name, cost)| (name, number(cost).round(4))));
    assert_eq!(with.payments.months()[0].first, Decimal::from(28_632 + 125_000));
    assert_eq!(with.paid.round(6), with.total.round(6));
    assert_eq!((with.chance, without.chance), (number("0.8"), one()));
    let place = Place {
        moved: vec![Moved { gigabytes: (-1).into(), ..moved(1, Every::Once) }],
        porting: Some(Port { chance: 2.into(), ..Port::default() }),
        ..on_demand("3")
    };
    let told = scenario(work(flat(8, 24)), [place]).compare().unwrap_err().to_string();
    assert!(told.contains("option.0.place.0.moved.0.gigabytes"), "{told}");
    assert!(told.contains("option.0.place.0.porting.chance"), "{told}");
}

#[test]
fn a_refresh_is_a_step_and_the_annuity_is_no_payment() {
    let machines = Owning {
        residual: crate::scenario::owning::Residual::Share { share: Decimal::ZERO },
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

#[test]
fn curves_cross_where_both_cost_the_same() {
    let machines = own(complete_example(), Gpus::Number(64));
    let slower = Place { performance: decimal(5, 1), ..on_demand("3") };
    let mixed = Place { on_demand: Some(rate("12.29")), ..reserved("5.25", 36, Gpus::Best) };
    let entered = scenario(work(flat(48, 24)), [machines, on_demand("12.29"), slower, mixed]);
    let compared = entered.compare().unwrap();
    let found = curves(&entered, &compared);
    let kinds: Vec<(usize, LayerKind)> = found.curves.iter().map(|it| (it.option, it.kind)).collect();
    let expected = [
        (0, LayerKind::Owned),
        (1, LayerKind::OnDemand),
        (2, LayerKind::OnDemand),
        // Its price on demand is that of the second option.
        (3, LayerKind::Committed),
    ];
    assert_eq!(kinds, expected);
    assert!(found.curves.iter().all(|it| it.points.len() == 20));
    assert_eq!(found.curves[1].points[0], (number("0.05"), number("12.29")));
    // Two of its hours for one of the work's.
    assert_eq!(found.curves[2].points[0], (number("0.05"), 6.into()));
    assert_eq!(found.curves[3].points[19], (one(), number("5.25")));
    let of = |curve: usize, than: usize| {
        found.crossings.iter().find(|it| (it.curve, it.than) == (curve, than)).unwrap()
    };
    assert_eq!(of(0, 1).utilization.round(4), number("0.2915"), "F31");
    assert_eq!(of(3, 1).utilization.round(4), number("0.4272"), "C02");
    for crossing in found.crossings.iter().filter(|it| it.curve == 0) {
        let owning = compared.options[0].places[0].owning.unwrap();
        let own = owning.per_productive_hour(crossing.utilization).unwrap();
        assert!((own - crossing.cost).abs() < decimal(1, 9), "{own} {crossing:?}");
    }
    assert_eq!(found.top, number("24.58"));
    for repaid in repaid(&compared) {
        let other = compared.options[repaid.other].payments.paid_after(repaid.months);
        assert!((repaid.paid - other).abs() < decimal(1, 6), "{repaid:?} {other}");
    }
    assert!(!repaid(&compared).is_empty());
}

#[test]
fn a_price_that_follows_from_interruptions_is_compared_with_owning() {
    let spot = Spot { rate: rate("1.60"), rework: None, interruptions: Interruptions::default(), gpus: None };
    let upfront = Committed { rate: rate("2.1"), upfront: 1000.into(), months: 7, gpus: Gpus::Best };
    let rented = Place { spot: Some(spot), committed: vec![upfront], ..on_demand("3") };
    let asked = Work { interruptible: one(), ..work(flat(64, 24)) };
    let compared = scenario(asked, [own(complete_example(), Gpus::Number(72)), rented]).compare().unwrap();
    let prices: Vec<String> = compared.break_evens.iter().map(|it| it.price.round(3).to_string()).collect();
    assert_eq!(prices, ["3.000", "1.606", "2.296"]);
}

fn levels(gpus: &[i64]) -> Shape {
    Shape::Hours { gpus: gpus.iter().map(|gpus| Decimal::from(*gpus)).collect() }
}

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
        let total: Vec<Decimal> = compared.options.iter().map(|it| it.total).collect();
        prop_assert!(total[2] <= total[0] && total[2] <= total[1] && total[2] <= total[4]);
        prop_assert!(total[3] <= total[2], "more to choose from never costs more");
        for policy in &compared.options[2].places[0].policies {
            prop_assert!(total[2] <= policy.cost, "{policy:?}");
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
    ) {
        let asked = |gpus: &[i64]| Work {
            interruptible: decimal(interruptible, 1),
            unserved_cost: Some(unserved.into()),
            ..work(levels(gpus))
        };
        let place = |gpus, obtainable: Decimal| Place {
            obtainable,
            committed: vec![Committed {
                rate: Rate { price: decimal(base, 1), ..Rate::default() },
                upfront: Decimal::ZERO,
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
            let compared = Scenario { months: 12, ..scenario(work, places) }.compare().unwrap();
            compared.options.into_iter().map(|it| it.total).collect::<Vec<_>>()
        };
        let best = of(asked(&gpus), vec![place(Gpus::Best, chance)])[0];
        let tried = (0..=8u32).map(|nodes| place(Gpus::Number(nodes * 8), chance)).collect();
        let least = of(asked(&gpus), tried).into_iter().min().unwrap();
        prop_assert!((best - least).abs() < decimal(1, 6), "{best} {least}");
        let compared =
            Scenario { months: 12, ..scenario(asked(&gpus), [place(Gpus::Best, chance)]) }.compare().unwrap();
        for policy in &compared.options[0].places[0].policies {
            prop_assert!(best <= policy.cost + decimal(1, 6), "{policy:?} {best}");
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
        let total: Vec<Decimal> = compared.options.iter().map(|it| it.total).collect();
        prop_assert_eq!(Some(&total[0]), total[1..].iter().min());
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
        let found = duration(&entered, &compared, (0, 0), steps).unwrap();
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
        prop_assert!(tops.windows(2).all(|it| it[1] <= it[0] + decimal(1, 9)));
    }

    #[test]
    fn the_best_number_of_nodes_is_that_of_trying_all(
        gpus in prop::collection::vec(0i64..120, 3..20),
        price in 20i64..140,
    ) {
        let on_demand = Some(Rate { price: decimal(price, 1), ..Rate::default() });
        let place = |gpus| Place { on_demand: on_demand.clone(), ..own(complete_example(), gpus) };
        let all = (0..=16u32).map(|nodes| place(Gpus::Number(nodes * 8)));
        let places: Vec<Place> = std::iter::once(place(Gpus::Best)).collect();
        let best = Scenario { months: 12, ..scenario(work(levels(&gpus)), places) }.compare().unwrap();
        let tried: Vec<Decimal> = all
            .map(|place| {
                let compared = Scenario { months: 12, ..scenario(work(levels(&gpus)), [place]) }.compare();
                compared.unwrap().options[0].total
            })
            .collect();
        prop_assert_eq!(Some(&best.options[0].total), tried.iter().min());
    }

    #[test]
    fn scaling_all_money_scales_every_total(times in 2i64..9, hours in 1u32..24) {
        let machines = Owning { one_offs: Vec::new(), ..complete_example() };
        let of = |times: i64| {
            let scaled = |amount: Decimal| amount.times(times);
            let machines = Owning {
                node_price: scaled(machines.node_price),
                fabric: crate::scenario::owning::Fabric::Node { price: scaled(50_000.into()) },
                tariff: scaled(machines.tariff),
                staff: crate::scenario::owning::Staff {
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
