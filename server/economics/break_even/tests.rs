use proptest::prelude::*;

use super::*;
use crate::money::arithmetic::{decimal, one};

fn line(fixed: i64, variable: i64) -> YearlyCost {
    YearlyCost {
        fixed: fixed.into(),
        variable: variable.into(),
        owned_hours: 8760.into(),
        available_hours: 8000.into(),
    }
}

fn per_use(price: Decimal) -> Question {
    Question {
        payment: Payment::PerUse { price },
        efficiency: one(),
        utilization: decimal(80, 2),
        most: decimal(95, 2),
    }
}

fn verdict(cost: &YearlyCost, question: &Question) -> Verdict {
    match cost.break_even(question).unwrap() {
        BreakEven::PerUse { verdict, .. } => verdict,
        BreakEven::Committed { .. } => panic!("asked about a price per use"),
    }
}

#[test]
fn a_price_per_use_has_a_break_even_or_never_has() {
    let at = |utilization| Verdict::At { utilization: decimal(utilization, 2) };
    let table = [
        // 8,000 hours at 2 save 16,000 less the 1,000 of power.
        (line(7500, 1000), 200, at(50)),
        (line(0, 1000), 200, at(0)),
        (line(15_000, 1000), 200, Verdict::Never { would_take: Some(one()) }),
        (line(7500, 16_000), 200, Verdict::Never { would_take: None }),
        (line(7500, 20_000), 200, Verdict::Never { would_take: None }),
    ];
    for (cost, cents, expected) in table {
        assert_eq!(verdict(&cost, &per_use(decimal(cents, 2))), expected);
    }
    let none = YearlyCost { owned_hours: Decimal::ZERO, available_hours: Decimal::ZERO, ..line(7500, 0) };
    assert_eq!(verdict(&none, &per_use(2.into())), Verdict::Undefined);
}

#[test]
fn an_hour_that_does_less_work_moves_the_break_even_down() {
    // Renting at 2 with half of the efficiency is renting at 4.
    let half = Question { efficiency: decimal(5, 1), ..per_use(2.into()) };
    assert_eq!(verdict(&line(7500, 1000), &half), verdict(&line(7500, 1000), &per_use(4.into())));
}

#[test]
fn against_a_commitment_utilization_cancels() {
    let ask = |utilization, efficiency| {
        let payment = Payment::Committed { price: 2.into() };
        let question = Question { payment, efficiency, utilization, ..per_use(1.into()) };
        match line(8760, 0).break_even(&question).unwrap() {
            BreakEven::Committed { ratio, price, .. } => (ratio.unwrap(), price.unwrap()),
            BreakEven::PerUse { .. } => panic!("asked about a commitment"),
        }
    };
    let expected = (decimal(5, 1), one());
    assert_eq!(ask(decimal(20, 2), one()), expected);
    assert_eq!(ask(decimal(90, 2), one()), expected);
    assert_eq!(ask(Decimal::ZERO, one()), expected);
    // Rented hours that are worth two make owning twice as dear.
    assert_eq!(ask(decimal(90, 2), 2.into()), (one(), 2.into()));
}

#[test]
fn what_work_adds_decides_where_a_commitment_costs_almost_as_much() {
    let within = |fixed, variable, cents| {
        let payment = Payment::Committed { price: decimal(cents, 2) };
        match line(fixed, variable).break_even(&Question { payment, ..per_use(1.into()) }).unwrap() {
            BreakEven::Committed { verdict, .. } => verdict,
            BreakEven::PerUse { .. } => panic!("asked about a commitment"),
        }
    };
    // 8,760 hours at 1.00.
    assert_eq!(within(8000, 700, 100), Within::Always);
    assert_eq!(within(8760, 700, 100), Within::Never);
    assert_eq!(within(8360, 800, 100), Within::Below { utilization: decimal(5, 1) });
    assert_eq!(within(8760, 0, 101), Within::Always);
}

#[test]
fn without_utilization_there_is_no_price_to_break_even_with() {
    let idle = Question { utilization: Decimal::ZERO, ..per_use(2.into()) };
    let BreakEven::PerUse { price, .. } = line(7500, 0).break_even(&idle).unwrap() else { panic!("per use") };
    assert_eq!(price, None);
}

#[test]
fn a_price_of_nothing_is_refused() {
    let refused = line(1, 1).break_even(&per_use(Decimal::ZERO)).unwrap_err();
    assert!(refused.to_string().starts_with("price is 0: expected the price of a GPU-hour"), "{refused}");
    let worthless = Question { efficiency: Decimal::ZERO, ..per_use(one()) };
    assert!(line(1, 1).break_even(&worthless).is_err());
}

#[test]
fn answers_are_written_by_name() {
    let json = serde_json::to_value(line(7500, 1000).break_even(&per_use(2.into())).unwrap()).unwrap();
    let expected = serde_json::json!({
        "paid": "per-use", "verdict": {"is": "at", "utilization": "0.5"}, "price": "1.296875"
    });
    assert_eq!(json, expected);
}

prop_compose! {
    /// A cost, and a question about a price per use that has a break-even below 1,000,000 %.
    fn comparisons()(
        fixed in 1i64..100_000_000,
        variable in 0i64..1_000_000,
        hours in 1000i64..10_000_000,
        cents in 1i64..10_000,
        efficiency in 20i64..300,
    ) -> (YearlyCost, Question) {
        let cost = YearlyCost {
            fixed: fixed.into(), variable: variable.into(), owned_hours: hours.into(), available_hours: hours.into(),
        };
        (cost, Question { efficiency: decimal(efficiency, 2), ..per_use(decimal(cents, 2)) })
    }
}

fn takes(cost: &YearlyCost, question: &Question) -> Option<Decimal> {
    match verdict(cost, question) {
        Verdict::At { utilization } => Some(utilization),
        Verdict::Never { would_take } => would_take,
        Verdict::Undefined => None,
    }
}

fn close(a: Decimal, b: Decimal) -> bool {
    (a - b).abs() <= product(&[a.abs().max(b.abs()), Decimal::new(1, 9)])
}

proptest! {
    #[test]
    fn at_the_break_even_both_cost_the_same((cost, question) in comparisons()) {
        let Payment::PerUse { price } = question.payment else { unreachable!() };
        if let Some(utilization) = takes(&cost, &question).filter(|it| *it <= one()) {
            let own = cost.per_productive_hour(utilization).unwrap();
            prop_assert!(close(product(&[own, question.efficiency]), price), "{own} at {utilization}");
            let again = Question { utilization, ..question };
            let BreakEven::PerUse { price: found, .. } = cost.break_even(&again).unwrap() else { unreachable!() };
            prop_assert!(close(found.unwrap(), price));
        }
    }

    #[test]
    fn a_higher_price_breaks_even_earlier_and_a_higher_cost_later(
        (cost, question) in comparisons(),
        more in 1i64..1000,
    ) {
        if let Some(found) = takes(&cost, &question) {
            let Payment::PerUse { price } = question.payment else { unreachable!() };
            let dearer = Question { payment: Payment::PerUse { price: price + more.into() }, ..question };
            prop_assert!(takes(&cost, &dearer).unwrap() < found);
            let fixed = YearlyCost { fixed: cost.fixed + more.into(), ..cost };
            prop_assert!(takes(&fixed, &question).unwrap() > found);
            let variable = YearlyCost { variable: cost.variable + more.into(), ..cost };
            prop_assert!(takes(&variable, &question).is_none_or(|it| it > found));
        }
    }
}
