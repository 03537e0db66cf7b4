//! Bases beside other bases: several commitments, machines of one's own, blocks.

use proptest::prelude::*;

use super::*;
use crate::economics::break_even::BreakEven;
use crate::economics::file::read;
use crate::money::arithmetic::decimal;

/// A year of hours that repeat and grow, and options of a place each.
fn scenario(gpus: &[i64], growth: i64, places: &[String]) -> Scenario {
    let options: Vec<String> = places
        .iter()
        .enumerate()
        .map(|(at, place)| format!("[[option]]\nname = \"{at}\"\nplace = [{{ {place} }}]\n"))
        .collect();
    let text = format!(
        "months = 12\n[[work]]\nname = \"w\"\nmonthly_growth = {}\ninterruptible = 0.3\n\
         demand = {{ shape = \"hours\", gpus = {gpus:?} }}\n{}",
        decimal(growth, 2),
        options.concat()
    );
    read(&text).unwrap_or_else(|wrong| panic!("{wrong:?}\n{text}"))
}

/// The best of which one size is left open, where money costs so many percent a year, and the least that any number of nodes
/// is worth that does the work.
fn best_and_tried(
    gpus: &[i64],
    (growth, interest): (i64, i64),
    place: &str,
) -> (OptionAnswer, Option<Decimal>) {
    let sized = |size: String| place.replace("OPEN", &size);
    let tried = (0..=8).map(|nodes| sized((nodes * 8).to_string()));
    let places: Vec<String> = std::iter::once(sized("\"best\"".to_owned())).chain(tried).collect();
    let entered = Scenario { cost_of_capital: decimal(interest, 2), ..scenario(gpus, growth, &places) };
    let mut options = entered.compare().unwrap().options;
    let tried = options.split_off(1);
    let least = tried.iter().filter(|it| it.fails.is_empty()).map(|it| it.present_value).min();
    (options.remove(0), least)
}

fn close(a: Decimal, b: Decimal) -> bool {
    (a - b).abs() < decimal(1, 6)
}

fn committed(months: u32, price: i64, gpus: &str) -> String {
    format!("{{ months = {months}, gpus = {gpus}, rate = {{ price = {} }} }}", decimal(price, 1))
}

#[test]
fn terms_that_are_renewed_at_other_times_are_refused_where_the_longer_is_as_large_as_is_best() {
    let of = |months: u32, long: &str, short: u32| {
        let both = [committed(36, 20, long), committed(short, 30, "\"best\"")].join(", ");
        let place = format!("on_demand = {{ price = 8 }}, committed = [{both}]");
        let entered = Scenario { months, ..scenario(&[8, 3], 2, &[place]) };
        entered.compare().err().map(|it| it.0[0].to_string())
    };
    let described = of(72, "\"best\"", 24).unwrap();
    assert_eq!(
        described,
        "option.0.place.0.committed.1.months is 24: renews at other times than the term of 36 months, whose size is best: \
         enter a number of GPUs there, or terms that divide each other"
    );
    assert_eq!(of(72, "\"best\"", 12), None);
    assert_eq!(of(72, "8", 24), None, "what has a size has it in each month");
    assert_eq!(of(36, "\"best\"", 24), None, "it is not renewed");
}

#[test]
fn a_block_beside_machines_does_not_change_how_much_they_are_used() {
    let night: Vec<i64> = (0..730).map(|hour| if hour < 100 { 0 } else { 10 }).collect();
    let own = "owned = { gpus = 16 }";
    let places = [
        own.to_owned(),
        format!("{own}, blocks = [{{ gpus = 4, hours = 100, rate = {{ price = 2 }} }}]"),
        "on_demand = { price = 9 }, committed = [{ months = 12, gpus = 8, rate = { price = 6 } }]".to_owned(),
    ];
    let compared = scenario(&night, 0, &places).compare().unwrap();
    let of = |owning: usize| -> Vec<(Decimal, BreakEven)> {
        let all = compared.break_evens.iter().filter(|it| it.owning == owning);
        all.map(|it| (it.price, it.break_even.clone())).collect()
    };
    let rented: Vec<_> = of(0).into_iter().filter(|(price, _)| *price != 2.into()).collect();
    assert_eq!(rented.len(), 2);
    assert_eq!(rented, of(1).into_iter().filter(|(price, _)| *price != 2.into()).collect::<Vec<_>>());
}

#[test]
fn what_does_not_do_the_work_is_paid_back_by_nothing_and_pays_nothing_back() {
    let places = [
        "owned = { gpus = 16 }",
        "owned = { gpus = 8 }",
        "on_demand = { price = 9 }",
        "on_demand = { price = 9 }, obtainable = 0.9",
    ];
    let compared = scenario(&[10], 0, &places.map(str::to_owned)).compare().unwrap();
    let others = |at: usize| compared.options[at].paybacks.iter().map(|(at, _)| *at).collect::<Vec<_>>();
    assert_eq!((others(0), others(1)), (vec![2], Vec::new()));
}

#[test]
fn lines_of_machines_say_for_how_many_months_they_are() {
    let compared = scenario(&[10], 0, &["owned = { gpus = 16 }".to_owned()]).compare().unwrap();
    let line = compared.options[0].lines.iter().find(|it| it.name == "Staff").unwrap();
    assert_eq!(line.formula, "people × loaded cost × months in use ÷ 12");
    let all = product(&line.terms.iter().map(|it| it.value).collect::<Vec<_>>());
    assert_eq!(quotient(all, 12.into()), Some(line.cost));
    let energy = compared.options[0].lines.iter().find(|it| it.name == "Energy").unwrap();
    assert!(energy.formula.starts_with("((nodes ×") && energy.formula.ends_with(") × months in use ÷ 12"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_the_terms_a_bill_is_refused_or_serves_each_hour_once(
        gpus in prop::collection::vec(1i64..40, 2..12),
        terms in prop::collection::vec((1u32..14, 10i64..70, 0u32..4), 1..4),
        growth in -5i64..6,
        has_rest in any::<bool>(),
    ) {
        let rest = ["on_demand = { price = 8 }".to_owned()];
        let mut entered = scenario(&gpus, growth, &rest);
        let place = &mut entered.options[0].places[0];
        place.gpus_per_node = 4;
        place.committed = terms
            .iter()
            .map(|&(months, price, nodes)| Committed {
                rate: Rate { price: decimal(price, 1), ..Rate::default() },
                upfront: Decimal::ZERO,
                months,
                gpus: if nodes == 0 { Gpus::Best } else { Gpus::Number(nodes * 4) },
            })
            .collect();
        if !has_rest {
            place.on_demand = None;
        }
        let cuts = |long: &(u32, i64, u32)| {
            long.2 == 0 && long.0 < 12 && terms.iter().any(|it| it.0 < long.0 && !long.0.is_multiple_of(it.0))
        };
        let compared = match entered.compare() {
            Ok(compared) => compared,
            Err(refused) => {
                prop_assert!(terms.iter().any(cuts), "{refused}");
                return Ok(());
            }
        };
        prop_assert!(!terms.iter().any(cuts));
        let option = &compared.options[0];
        let place = &option.places[0];
        prop_assert_eq!(option.lines.iter().map(|it| it.cost).sum::<Decimal>(), option.total);
        prop_assert_eq!(option.paid.round(6), option.total.round(6));
        let used: Decimal = place.layers.iter().map(|it| it.used_hours).sum();
        prop_assert!(close(used + place.unserved_hours, place.gpu_hours));
        for layer in &place.layers {
            prop_assert!(layer.used_hours <= layer.paid_hours && layer.used_hours >= Decimal::ZERO);
        }
        if terms.iter().any(|it| it.2 == 0) {
            prop_assert!(option.fails.is_empty(), "{:?}", option.fails);
        }
    }

    #[test]
    fn the_best_number_of_machines_beside_commitments_is_that_of_trying_all(
        gpus in prop::collection::vec(1i64..40, 2..12),
        price in 10i64..90,
        nodes in 0i64..4,
        growth in 0i64..3,
        interest in 0i64..40,
        has_rest in any::<bool>(),
    ) {
        let size = if nodes == 0 { "\"best\"".to_owned() } else { (nodes * 8).to_string() };
        let rest = if has_rest { "on_demand = { price = 9 }, " } else { "" };
        let place = format!("{rest}owned = {{ gpus = OPEN }}, committed = [{}]", committed(6, price, &size));
        let (best, least) = best_and_tried(&gpus, (growth, interest), &place);
        prop_assert!(best.fails.is_empty());
        prop_assert!(close(best.present_value, least.unwrap()), "{} {least:?}", best.present_value);
    }

    #[test]
    fn the_best_of_a_term_below_others_is_that_of_trying_all(
        gpus in prop::collection::vec(1i64..40, 2..12),
        prices in (10i64..90, 10i64..90, 10i64..90),
        nodes in 0i64..4,
        growth in -3i64..3,
        interest in 0i64..40,
        has_rest in any::<bool>(),
    ) {
        let size = if nodes == 0 { "\"best\"".to_owned() } else { (nodes * 8).to_string() };
        let rest = if has_rest { "on_demand = { price = 8 }" } else { "spot = { gpus = 5, rework = 1, rate = { price = 3 } }" };
        let all = [
            committed(12, prices.0, "OPEN"),
            committed(6, prices.1, &size),
            committed(3, prices.2, "\"best\""),
        ];
        let place = format!("{rest}, committed = [{}]", all.join(", "));
        let (best, least) = best_and_tried(&gpus, (growth, interest), &place);
        prop_assert!(best.fails.is_empty());
        prop_assert!(close(best.present_value, least.unwrap()), "{} {least:?}", best.present_value);
        // Without the last of them something may be missing, whatever the first is.
        let place = format!("{rest}, committed = [{}]", all[..2].join(", "));
        let (best, least) = best_and_tried(&gpus, (growth, interest), &place);
        prop_assert_eq!(best.fails.is_empty(), least.is_some());
        prop_assert!(close(best.present_value, least.unwrap()), "{} {least:?}", best.present_value);
    }
}
