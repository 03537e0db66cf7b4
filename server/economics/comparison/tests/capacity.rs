//! Whether capacity is there: what is not served, spot, blocks.

use super::*;

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
    let described =
        "43800 GPU-hours are expected to be unavailable at AWS, and the cost of an unserved hour is empty";
    assert_eq!(nobody_said.options[0].fails, [described]);
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
    let described = scenario(asked(Some(-one())), places()).compare().unwrap_err().to_string();
    assert!(described.contains("work.0.unserved_cost is -1"), "{described}");
    let never = Place { obtainable: Decimal::ZERO, ..on_demand("2") };
    let described = scenario(asked(None), [never]).compare().unwrap_err().to_string();
    assert!(described.contains("option.0.place.0.obtainable is 0: expected more than 0"), "{described}");
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
fn an_hour_that_is_not_served_costs_something_or_is_left_out_and_few_are_told_as_they_are() {
    let of = |cost| {
        let asked = Work { unserved_cost: cost, ..work(flat(1, 24)) };
        let place = Place { obtainable: number("0.9995"), ..on_demand("2") };
        Scenario { months: 1, ..scenario(asked, [place]) }.compare()
    };
    let described = of(Some(Decimal::ZERO)).unwrap_err().to_string();
    assert!(described.starts_with("work.0.unserved_cost is 0: expected more than 0"), "{described}");
    let fails = &of(None).unwrap().options[0].fails;
    assert!(fails[0].starts_with("0.36 GPU-hours are expected to be unavailable"), "{fails:?}");
}

pub(super) fn block(price: &str, gpus: u32, hours: u32) -> Block {
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
    // The first of the two goes on into the third month; of the second 30 hours lie before the end of the last.
    assert_eq!((found[0].paid_hours, found[0].cost), (520.into(), 2600.into()));
    assert_eq!(found[0].used_hours, Decimal::from(4 * 100 + 4 * 30));
    assert_eq!(found[0].utilization, Some(one()));
    assert_eq!(found[1].used_hours, compared.work[0].gpu_hours - 520.into());
    let paid = |month: usize| blocks.payments.months()[month].first;
    assert_eq!([0, 1, 2, 3].map(paid), [0, 2000, 0, 2000].map(Decimal::from));
    // With support, a tenth: 2,600 for hours that would have cost 1,560. What is paid for later hours counts as sold.
    assert_eq!(blocks.total, product(&[without.total - 1560.into() + 2600.into(), number("1.1")]));
    assert_eq!(blocks.payments.months()[3].last, (-1400).into());
    assert_eq!(blocks.paid, blocks.total);
    let [warning] = &compared.warnings[..] else { panic!("{:?}", compared.warnings) };
    assert_eq!(warning.field, "option.0.place.0.blocks.0.hours");
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
fn another_base_costs_more_by_as_much_as_the_present_values_do() {
    // 10 GPUs always and 20 more in one hour of four, beside a block, with support: none, 10 or 30 of them reserved.
    let shape = Shape::Hours { gpus: [30, 10, 10, 10].map(Decimal::from).to_vec() };
    let place = |gpus| Place {
        gpus_per_node: 10,
        support: number("0.1"),
        blocks: vec![block("5", 4, 100)],
        on_demand: Some(rate("8")),
        ..reserved("3", 12, gpus)
    };
    let places = [Gpus::Best, Gpus::Number(0), Gpus::Number(10), Gpus::Number(30)].map(place);
    let compared = Scenario { months: 12, ..scenario(work(shape), places) }.compare().unwrap();
    let worth = |at: usize| compared.options[at].present_value;
    // The block serves four of them for a while, so that less than ten are always asked for.
    let policies = &compared.options[0].places[0].policies;
    let more: Vec<Decimal> = policies.iter().map(|it| it.more.round(9)).collect();
    let than_best = |at| (worth(at) - worth(0)).round(9);
    assert_eq!((more.len(), more[0], more[2]), (3, than_best(1), than_best(3)));
    assert_eq!(worth(0), worth(2));
    assert!(more.iter().all(|it| !it.is_negative()), "{more:?}");
}

#[test]
fn a_block_that_cannot_be_is_refused() {
    for (change, expected) in [
        (Block { gpus: 0, ..block("5", 4, 100) }, "blocks.0.gpus is 0: expected 1 to a million"),
        (block("5", 4, 9000), "blocks.0.hours is 9000: expected 1 to 8,760"),
        (Block { every_months: 1, ..block("5", 4, 731) }, "the next block begins before this one ends"),
        (
            Block { first_month: 36, ..block("5", 4, 100) },
            "blocks.0.first_month is 36: outside the compared months",
        ),
        (Block { starts_at_hour: 730, ..block("5", 4, 100) }, "expected an hour of the month, from 0 to 729"),
        (block("0", 4, 100), "blocks.0.rate.price is 0"),
    ] {
        let place = Place { blocks: vec![change], ..on_demand("3") };
        let described = scenario(work(flat(1, 24)), [place]).compare().unwrap_err().to_string();
        assert!(described.contains(expected), "{expected} is not in {described}");
    }
}
