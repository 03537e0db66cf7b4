//! Comparisons whose answers are known. What several of its files begin with stands here.

mod capacity;
mod commitments;
mod time;
mod trial;

use super::*;
use crate::economics::break_even::{BreakEven, Verdict};
use crate::economics::cash::Payback;
use crate::economics::owning::{Fabric, Owning, Residual, Staff, Tenure};
use crate::economics::profile::{Level, Order, Shape};
use crate::economics::published_figures::{complete_example, worked_example};
use crate::economics::spot::Interruptions;
use crate::money::arithmetic::{count, decimal};
use crate::money::number;

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
        ranges: Ranges::new(),
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
    let machines = machines.in_a_scenario();
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
        order: Order::Spread,
    };
    let scenario = Scenario {
        months: 36,
        ..scenario(work(demand), [own(complete_example(), Gpus::Number(64)), on_demand("12.29")])
    };
    let compared = scenario.compare().unwrap();
    let [ours, theirs] = &compared.options[..] else { panic!() };
    // F24 and F26 of the yearly view; beside rents, the same machines by the month.
    let yearly = complete_example().cost().unwrap();
    assert_eq!(yearly.total.round(4), number("1935973.7343"), "F24");
    let monthly = complete_example().cost_by_the_month().unwrap();
    let of_year = quotient(ours.total, 3.into()).unwrap();
    assert!((of_year - monthly.total).abs() < decimal(1, 6), "{of_year} {}", monthly.total);
    assert_eq!(ours.per_productive_hour.unwrap().round(4), number("4.4114"));
    assert_eq!(theirs.per_productive_hour.unwrap(), number("12.29"));
    assert_eq!(compared.cheapest, Some(0));
    assert_eq!(ours.lines.iter().map(|it| it.cost).sum::<Decimal>(), ours.total);
    let Some(Against { break_even: BreakEven::PerUse { verdict, .. }, .. }) = compared.break_evens.first()
    else {
        panic!()
    };
    let Verdict::At { utilization } = verdict else { panic!() };
    assert_eq!(utilization.round(4), number("0.2828"), "0.2915 by the year, F31");
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
    let fails = "training requires 99.9% availability (unavailable 8.8 hours a year at most), and 99% is guaranteed \
                 (unavailable 3.6 days a year)";
    assert_eq!(compared.options[0].fails, [fails]);
    let promised = Place { availability: Some(number("0.9995")), ..on_demand("2") };
    let needed = Work { availability: Some(number("0.999")), ..work(flat(8, 24)) };
    let compared = scenario(needed, [promised, on_demand("3")]).compare().unwrap();
    let described = "Guaranteed availability: 99.95%, unavailable 4.4 hours a year at most; training requires 99.9%, unavailable \
                8.8 hours a year.";
    assert_eq!(compared.options[0].places[0].promise.as_deref(), Some(described));
    assert_eq!(compared.options[1].places[0].promise, None);
    assert!(compared.options[1].fails[0].ends_with("and nothing is guaranteed"));
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
        order: Order::Spread,
    });
    let places = [own(machines, Gpus::Number(64)), on_demand("12.29"), on_demand("2")];
    let compared = Scenario { cost_of_capital: Decimal::ZERO, ..scenario(asked, places) }.compare().unwrap();
    let [(first, dear), (second, cheap)] = compared.options[0].paybacks[..] else { panic!() };
    assert_eq!((first, second), (1, 2));
    let Payback::After { months } = dear else { panic!("{dear:?}") };
    assert_eq!(months.round(4), number("8.0767"), "K02");
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
    for (described, expected) in [
        (refused(|it| it.months = 0), "months is 0"),
        (refused(|it| it.work.clear()), "work is 0 of them"),
        (refused(|it| it.options.clear()), "option is 0 of them"),
        (refused(|it| it.options[0].places[0].on_demand = None), "is without a price: add a price"),
        (refused(|it| it.options[0].places[0].performance = Decimal::ZERO), "performance is 0"),
        (refused(|it| it.options[0].places[0].support = number("1.4")), "support is 1.4"),
        (refused(|it| it.options[0].places[0].serves = vec!["x".to_owned()]), "no work has this name"),
        (refused(|it| it.work[0].accelerator = "h100".to_owned()), "expected an accelerator ID"),
    ] {
        assert!(described.contains(expected), "{expected} is not in {described}");
    }
}

#[test]
fn what_is_odd_but_can_be_compared_is_told_beside_its_field() {
    let with = |place| scenario(work(flat(8, 24)), [place, on_demand("4")]);
    let mut alike = with(on_demand("3"));
    alike.options[1].name = alike.options[0].name.clone();
    for (entered, field) in [
        (with(own(Owning::default(), Gpus::Number(0))), "option.0.place.0.owned.gpus"),
        (with(own(Owning::default(), Gpus::Number(7))), "option.0.place.0.owned.gpus"),
        (with(reserved("2", 60, Gpus::Number(8))), "option.0.place.0.committed.0.months"),
        (alike, "option.1.name"),
    ] {
        let warnings: Vec<String> = check::scenario(&entered).iter().map(|it| it.field.clone()).collect();
        assert!(warnings.contains(&field.to_owned()), "{field}: {warnings:?}");
        assert!(entered.compare().is_ok(), "{field}");
    }
    let whole = with(own(Owning::default(), Gpus::Number(8)));
    assert!(check::scenario(&whole).is_empty(), "{:?}", check::scenario(&whole));
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
    for (described, expected) in [
        (refused(|it| it.work[0].tokens_per_hour = None), "work.0.tokens_per_hour is nothing"),
        (refused(|it| it.options[0].places[0].on_demand = Some(rate("3"))), "remove one"),
        (refused(|it| it.options[0].places[0].performance = number("2")), "tokens are counted in hours"),
        (refused(|it| it.work[0].tokens_per_hour = Some(Decimal::ZERO)), "1 to a billion tokens"),
        (
            refused(|it| {
                let other = it.work[0].clone();
                let tokens_per_hour = Some(5.into());
                it.work.push(Work { name: "other".to_owned(), tokens_per_hour, ..other });
            }),
            "add a place for each",
        ),
    ] {
        assert!(described.contains(expected), "{expected} is not in {described}");
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
        let described = of("0.5", shape.clone()).unwrap();
        assert!(
            described.starts_with("work.0.monthly_growth is 0.5: grows to more than a million GPUs"),
            "{described}"
        );
        assert_eq!(of("0.05", shape), None);
    }
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
    assert_eq!(of(0, 1).utilization.round(4), number("0.2828"), "0.2915 by the year, F31");
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
