//! How what is committed to is used.
//!
//! - coverage = hours that commitments serve ÷ hours that are asked for
//! - utilization = their hours used ÷ their hours
//! - waste = of each, cost × (1 + support) × (its hours − its hours used) ÷ its hours
//!
//! Machines of one's own are no commitment, whether a place buys them or has them already.
//!
//! A spend commitment covers hours at several prices and in several places: it has a part in the coverage, and what of it
//! is not used is a line of its own.

use super::answer::{Layer, LayerKind};
use super::entered::{Committed, Place};
use crate::economics::figure::{Figure, Unit, figure, term};
use crate::money::Decimal;
use crate::money::arithmetic::{one, product, quotient};

/// Of a place that so many GPU-hours are asked of; empty where it commits to nothing.
pub(super) fn coverage(place: &Place, layers: &[Layer], asked: Decimal) -> Vec<Figure> {
    let entered = |it: &Layer| it.entered.and_then(|at| place.committed.get(at));
    let is_owned =
        |it: &Layer| it.kind == LayerKind::Committed && entered(it).is_some_and(Committed::is_owned);
    let is_committed = |it: &&Layer| {
        matches!(it.kind, LayerKind::Committed | LayerKind::Block)
            && !it.paid_hours.is_zero()
            && !is_owned(it)
    };
    let committed: Vec<&Layer> = layers.iter().filter(is_committed).collect();
    let by_spend = layers.iter().filter(|it| it.kind == LayerKind::Spend);
    let by_spend: Decimal = by_spend.map(|it| it.used_hours).sum();
    if committed.is_empty() && by_spend.is_zero() {
        return Vec::new();
    }
    let hours = |name, value| term(name, value, Unit::Hours);
    let used: Decimal = committed.iter().map(|it| it.used_hours).sum();
    let covered = used + by_spend;
    let of_all = figure(
        "Coverage by commitments",
        quotient(covered, asked),
        Unit::Share,
        "covered hours ÷ hours asked for",
        vec![hours("covered hours", covered), hours("hours asked for", asked)],
    );
    if committed.is_empty() {
        return vec![of_all];
    }
    let paid: Decimal = committed.iter().map(|it| it.paid_hours).sum();
    let utilization = figure(
        "Use of commitments",
        quotient(used, paid),
        Unit::Share,
        "used hours ÷ committed hours",
        vec![hours("used hours", used), hours("committed hours", paid)],
    );
    let with_support = one() + place.support;
    let unused = |it: &&Layer| product(&[it.cost, with_support, it.paid_hours - it.used_hours]);
    let waste = committed.iter().filter_map(|it| quotient(unused(it), it.paid_hours)).sum();
    let mut terms = vec![term("support", place.support, Unit::Share)];
    terms.extend(committed.iter().flat_map(|it| {
        let cost = term("cost", it.cost, Unit::Money);
        [cost, hours("committed hours", it.paid_hours), hours("used hours", it.used_hours)]
    }));
    let formula = "of each: cost × (1 + support) × (committed hours − used hours) ÷ committed hours";
    let waste = figure("Paid and not used", Some(waste), Unit::Money, formula, terms);
    vec![of_all, utilization, waste]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::economics::comparison::{BY_THE_BOOKS, Scenario};
    use crate::economics::file::read;
    use crate::money::arithmetic::count;

    /// Four GPUs half of the time, ten in the other half, with so many committed to in two ways.
    fn scenario(one: u32, other: u32, percent: i64) -> Scenario {
        let text = format!(
            r#"
months = 12
[[work]]
name = "w"
demand = {{ shape = "levels", levels = [{{ gpus = 4, share = 0.5 }}, {{ gpus = 10, share = 0.5 }}] }}
[[option]]
name = "Reserved"
[[option.place]]
support = {}
committed = [
    {{ rate = {{ price = 2 }}, months = 12, gpus = {one} }},
    {{ rate = {{ price = 3 }}, months = 6, gpus = {other} }},
]
on_demand = {{ price = 9 }}
"#,
            Decimal::new(percent.into(), 2)
        );
        read(&text).unwrap()
    }

    fn figures(scenario: &Scenario) -> Vec<Figure> {
        scenario.compare().unwrap().options.remove(0).places.remove(0).coverage
    }

    fn described(scenario: &Scenario) -> Vec<(&'static str, String)> {
        figures(scenario).iter().map(|it| (it.name, it.value.unwrap().round(4).to_string())).collect()
    }

    #[test]
    fn what_is_committed_to_covers_a_part_and_is_used_in_part() {
        // Of 4 and 10 GPUs 4 and 8: 12 of 14. Of 8 and 8 as many; four of the dearer ones wait for half of 8,760 hours.
        for (percent, waste) in [(0, "52560.0000"), (10, "57816.0000")] {
            let expected = [
                ("Coverage by commitments", "0.8571"),
                ("Use of commitments", "0.7500"),
                ("Paid and not used", waste),
            ];
            let expected = expected.map(|(name, value)| (name, value.to_owned()));
            assert_eq!(described(&scenario(4, 4, percent)), expected, "{percent}");
        }
    }

    #[test]
    fn machines_that_are_there_already_are_no_commitment() {
        let mut entered = scenario(4, 4, 0);
        entered.options[0].places[0].committed[0].rate.source = format!("{BY_THE_BOOKS}, Q3 2026");
        let expected = [
            ("Coverage by commitments", "0.2857"),
            ("Use of commitments", "0.5000"),
            ("Paid and not used", "52560.0000"),
        ];
        assert_eq!(described(&entered), expected.map(|(name, value)| (name, value.to_owned())));
        entered.options[0].places[0].committed.truncate(1);
        assert_eq!(figures(&entered), []);
        let place = entered.compare().unwrap().options.remove(0).places.remove(0);
        assert_eq!(place.layers[0].name, "Our own machines");
    }

    #[test]
    fn without_commitments_there_is_nothing_to_tell() {
        assert_eq!(figures(&scenario(0, 0, 0)), []);
    }

    proptest! {
        #[test]
        fn what_is_committed_to_is_used_as_far_as_the_demand_reaches(
            one in 0u32..12,
            other in 0u32..12,
            percent in 0i64..30,
        ) {
            // Each level is asked for in half of a year, and the longer term serves it first.
            let used = |below: u32, gpus: u32| -> Decimal {
                [4, 10].map(|level: u32| count(level.saturating_sub(below).min(gpus)).times(4380)).into_iter().sum()
            };
            let (used_one, used_other) = (used(0, one), used(one, other));
            let waste = (count(one).times(8760) - used_one).times(2)
                + (count(other).times(8760) - used_other).times(3);
            let waste = waste.multiply(Decimal::new((100 + percent).into(), 2));
            let used = used_one + used_other;
            let expected = [
                quotient(used, (14 * 4380).into()),
                quotient(used, count(one + other).times(8760)),
                Some(waste),
            ];
            let found = figures(&scenario(one, other, percent));
            prop_assert_eq!(found.len(), if one + other == 0 { 0 } else { 3 });
            for (figure, expected) in found.iter().zip(expected) {
                prop_assert!((figure.value.unwrap() - expected.unwrap()).abs() < Decimal::new(1, 9), "{:?}", figure);
            }
        }
    }
}
