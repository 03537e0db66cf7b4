use super::*;
use crate::economics::Answer;
use crate::economics::break_even::{BreakEven, Verdict};
use crate::economics::cash::Payback;
use crate::economics::comparison::{Comparison, LayerKind, Rate, Scenario};
use crate::economics::egress::Rates;
use crate::economics::file;
use crate::money::arithmetic::quotient;
use crate::money::{Decimal, number};

fn read(handle: &str) -> Scenario {
    file::read(template(handle).unwrap().text).unwrap()
}

fn compared(handle: &str) -> Comparison {
    read(handle).compare().unwrap()
}

/// Totals in thousands, in the order of the options.
fn thousands(compared: &Comparison) -> Vec<i64> {
    let in_thousands = |it: Decimal| quotient(it, 1000.into()).unwrap().round(0).to_string().parse().unwrap();
    compared.options.iter().map(|it| in_thousands(it.total)).collect()
}

fn rates(scenario: &Scenario) -> Vec<Rate> {
    let places = scenario.options.iter().flat_map(|it| &it.places);
    let of = |place: &crate::economics::comparison::Place| {
        let committed = place.committed.iter().map(|it| it.rate.clone());
        let spot = place.spot.iter().map(|it| it.rate.clone());
        let used = place.on_demand.iter().chain(&place.per_million_tokens).cloned();
        committed.chain(spot).chain(used).collect::<Vec<_>>()
    };
    places.flat_map(of).collect()
}

/// From which utilization on an option that owns costs less than another's price per use.
fn breaks_even(compared: &Comparison, owning: usize, renting: usize) -> Decimal {
    let against = compared.break_evens.iter().find(|it| (it.owning, it.renting) == (owning, renting));
    match against.unwrap().break_even {
        BreakEven::PerUse { verdict: Verdict::At { utilization }, .. } => utilization,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn each_can_be_read_and_compared_and_says_what_it_is_about() {
    for it in templates() {
        let scenario = file::read(it.text).unwrap_or_else(|wrong| panic!("{}: {wrong:#?}", it.handle));
        assert_eq!(template(it.handle), Some(it));
        assert_eq!(it.name, scenario.name);
        assert!(scenario.note.chars().count() > 300, "{}", it.handle);
        assert!(scenario.options.len() >= 3, "{}", it.handle);
        for rate in rates(&scenario) {
            assert!(rate.date.is_some() && rate.source.chars().count() > 5, "{}: {rate:?}", it.handle);
        }
        let compared = scenario.compare().unwrap();
        assert!(compared.warnings.is_empty(), "{}: {:?}", it.handle, compared.warnings);
        assert!(compared.cheapest.is_some(), "{}", it.handle);
        for option in &compared.options {
            assert_eq!(option.lines.iter().map(|it| it.cost).sum::<Decimal>(), option.total);
        }
        let written = file::write(&scenario).unwrap();
        assert_eq!(file::read(&written).unwrap(), scenario, "{written}");
    }
    assert_eq!((templates().len(), template("none")), (8, None));
}

#[test]
fn each_says_what_moves_its_answer() {
    let moves = |handle: &str| {
        let answer = Answer::of(&read(handle)).unwrap();
        let sensitivities = answer.cheapest_option.unwrap().sensitivities;
        sensitivities.into_iter().map(|it| it.input.label).collect::<Vec<_>>()
    };
    for it in templates() {
        assert!(!moves(it.handle).is_empty(), "{}", it.handle);
    }
    assert!(moves("wrong-cloud").contains(&"Storing 500 TB, CoreWeave".to_owned()));
    assert!(moves("inference-cliff").contains(&"Worth of an hour, Lambda".to_owned()));
    assert!(moves("custom-silicon").contains(&"Worth of an hour, AWS Trainium".to_owned()));
}

#[test]
fn ten_nodes_are_four_too_many() {
    let compared = compared("ten-nodes");
    let percent = |renting| breaks_even(&compared, 0, renting).round(3);
    assert_eq!((percent(2), percent(4)), (number("0.512"), number("0.893")));
    let used = compared.options[0].places[0].layers[0].utilization.unwrap();
    assert_eq!(used.round(2), number("0.53"), "of all hours, with downtime");
    assert_eq!(compared.options[1].places[0].layers[0].gpus, Some(48.into()));
    assert_eq!(thousands(&compared), [7049, 5050, 7690, 6697, 4460]);
    assert_eq!(compared.cheapest, Some(4));
}

#[test]
fn eight_million_is_less_than_two_only_where_it_is_reserved() {
    let compared = compared("eight-million");
    assert_eq!(thousands(&compared)[..4], [8000, 4478, 4007, 1677]);
    assert_eq!(compared.cheapest, Some(3));
}

#[test]
fn four_runs_are_twelve_times_the_hours_that_were_printed() {
    let compared = compared("four-runs");
    assert_eq!(compared.work[0].gpu_hours, Decimal::from(3 * 7168 * 12));
    let hardware = &compared.options[4];
    let Some((2, Payback::After { months })) = hardware.paybacks.last() else {
        panic!("{:?}", hardware.paybacks)
    };
    assert_eq!(months.round(1), number("33.6"), "not fifty years");
    assert!(compared.options[3].paybacks.iter().all(|(_, it)| *it == Payback::Never));
    assert_eq!(
        compared.options[3].places[0].layers[0].utilization.unwrap().round(4),
        number("0.1534"),
        "R07"
    );
    assert_eq!(compared.cheapest, Some(1));
}

#[test]
fn serving_overtakes_training_after_two_and_a_half_months() {
    let compared = compared("inference-cliff");
    let [training, serving] = &compared.options[0].lines[..] else { panic!() };
    let month = quotient(serving.cost, 12.into()).unwrap();
    assert_eq!(quotient(training.cost, month).unwrap().round(1), number("2.5"), "L01");
    assert_eq!(quotient(serving.cost, compared.options[0].total).unwrap().round(2), number("0.83"), "L02");
    let by_tokens = &compared.options[3].places[1].layers[0];
    assert_eq!(by_tokens.kind, LayerKind::Tokens);
    assert_eq!(thousands(&compared), [290, 210, 223, 290]);
    // 306,000 tokens for 45 % of the hours that the server is paid for, at 28.976 a million: what it costs itself.
    assert_eq!(by_tokens.per_used_hour.unwrap().round(4), number("3.9900"));
}

#[test]
fn half_a_petabyte_is_stored_in_every_option_and_that_decides() {
    let compared = compared("wrong-cloud");
    let moved = &compared.options[1].places[0].moved[0];
    assert_eq!(moved.cost, number("28882.2"), "G06");
    assert_eq!(moved.each.time.value.unwrap().round(4), number("4.6296"), "G08");
    assert_eq!(compared.options[2].places[0].moved[0].cost, number("187444.8"), "24 × 7,810.20");
    let stored = |at: usize| {
        let mut lines = compared.options[at].lines.iter().filter(|it| it.name == "Storing 500 TB");
        lines.next().unwrap().cost.round(0).to_string()
    };
    assert_eq!([0, 1, 2, 3].map(stored), ["265229", "2235174", "265229", "268221"]);
    assert_eq!(thousands(&compared), [2194, 3383, 1571, 2022]);
    assert_eq!(compared.cheapest, Some(2));
    // Whoever reads nine tenths of it every month pays less than by moving it.
    let most = Rates::Aws.tariff().cost(450_000.into());
    let of_month = |at: usize| quotient(compared.options[at].total, 24.into()).unwrap();
    assert!(of_month(2) - number("7810.2") + most < of_month(3));
}

#[test]
fn batch_goes_to_the_second_cloud_and_the_service_does_not() {
    let compared = compared("second-cloud");
    assert_eq!(thousands(&compared), [11_687, 7643, 6232, 6190]);
    assert_eq!(compared.cheapest, Some(2), "the cheapest of all does not do the work");
    assert!(compared.options[3].fails[0].contains("nothing is guaranteed"));
    let moved = &compared.options[1].places[1].moved[0];
    let of_a_terabyte = quotient(moved.each.total.value.unwrap(), 20.into()).unwrap();
    assert!(of_a_terabyte > 80.into() && of_a_terabyte < 90.into());
}

#[test]
fn what_costs_least_is_to_reserve_what_is_exceeded_as_often_as_prices_relate() {
    let compared = compared("base-and-burst");
    let base = |at: usize| compared.options[at].places[0].layers[0].gpus.unwrap();
    assert_eq!(base(3), 632.into());
    assert!(base(4) < base(3), "with spot for a part of it");
    assert!(base(5) > base(3), "what is owned costs less than the reservation");
    let total: Vec<Decimal> = compared.options.iter().map(|it| it.total).collect();
    assert!(total[3] < total[2] && total[2] < total[1] && total[1] < total[0]);
    assert!(total[4] < total[3] && total[5] < total[3]);
    // N02 and N04: 5,262 and 3,751 for an hour, of whole nodes.
    let hour = |at: usize| quotient(total[at], Decimal::from(36 * 730)).unwrap().round(0);
    assert_eq!((hour(1), hour(3)), (5262.into(), 3752.into()));
}

#[test]
fn porting_is_repaid_late_and_another_supplier_costs_less() {
    let compared = compared("custom-silicon");
    let total = |at: usize| compared.options[at].total;
    let porting = Decimal::from(125_000);
    let fallback = compared.options[1].fallback.as_ref().unwrap();
    let saved = quotient(total(0) - fallback.if_it_works + porting, 24.into()).unwrap();
    assert_eq!(quotient(porting, saved).unwrap().round(1), number("15.6"), "X02");
    assert_eq!((compared.options[1].chance, compared.options[2].chance), (number("0.8"), 1.into()));
    // In one case of five the 125,000 are lost, and it runs where that costs least.
    assert_eq!((fallback.option, fallback.if_it_fails), (2, porting + total(2)));
    let parts = [fallback.if_it_works.times(4), fallback.if_it_fails];
    assert_eq!(total(1).round(6), quotient(parts[0] + parts[1], 5.into()).unwrap().round(6));
    assert!(total(2) < total(1) && total(1) < total(0), "what the note says");
    assert_eq!(compared.cheapest, Some(2));
}

#[test]
fn no_claim_is_drawn_around_its_best_case() {
    let drawn = |handle: &str, label: &str| {
        let found = crate::economics::uncertainty::inputs(&read(handle));
        let it = found.into_iter().find(|it| it.label == label).unwrap();
        assert!(it.source.as_ref().is_some_and(|it| it.len() > 10), "{handle}: {label}");
        assert!(it.low < it.value && it.value < it.high, "{handle}: {label}");
        [it.low, it.high].map(|end| end.normalize().to_string())
    };
    assert_eq!(drawn("inference-cliff", "Worth of an hour, Lambda"), ["1", "2"]);
    // 30 to 50 % less than 6.88 by the hour of an H100, in what a chip of 1.34375 does.
    assert_eq!(drawn("custom-silicon", "Worth of an hour, AWS Trainium"), ["0.27901993", "0.390625"]);
    // 75 and 41 % off 12.29.
    assert_eq!(drawn("base-and-burst", "Spot, AWS"), ["3.0725", "7.2511"]);
    let answer = Answer::of(&read("inference-cliff")).unwrap();
    let sure = answer.simulation.options[answer.comparison.cheapest.unwrap()].cheapest.unwrap();
    assert!(sure > number("0.6") && sure < number("0.7"), "{sure}");
}

#[test]
fn each_is_about_figures_that_others_print() {
    let known = crate::economics::published_figures::published_figures();
    for template in templates() {
        let about = published_figures_about(template.handle);
        assert!(!about.is_empty(), "{}", template.handle);
        for id in about {
            assert!(known.iter().any(|it| it.id == *id), "{}: {id}", template.handle);
        }
    }
}
