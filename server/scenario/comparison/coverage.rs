//! How what is committed to is used.
//!
//! - coverage = hours that commitments serve ÷ hours that are asked for
//! - utilization = their hours used ÷ their hours
//! - waste = of each, cost × (its hours − its hours used) ÷ its hours
//!
//! A spend commitment covers hours at several prices and in several places: it has a part in the coverage, and what of it
//! is not used is a line of its own.

use super::answer::{Layer, LayerKind};
use crate::money::Decimal;
use crate::scenario::arithmetic::{product, quotient};
use crate::scenario::figure::{Figure, Unit, figure, term};

/// Of a place that so many GPU-hours are asked of; empty where it commits to nothing.
pub(super) fn coverage(layers: &[Layer], asked: Decimal) -> Vec<Figure> {
    let is_committed =
        |it: &&Layer| matches!(it.kind, LayerKind::Committed | LayerKind::Block) && !it.paid_hours.is_zero();
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
    let unused = |it: &&Layer| product(&[it.cost, it.paid_hours - it.used_hours]);
    let waste = committed.iter().filter_map(|it| quotient(unused(it), it.paid_hours)).sum();
    let terms = committed.iter().flat_map(|it| {
        let cost = term("cost", it.cost, Unit::Money);
        [cost, hours("committed hours", it.paid_hours), hours("used hours", it.used_hours)]
    });
    let formula = "of each: cost × (committed hours − used hours) ÷ committed hours";
    let waste = figure("Paid and not used", Some(waste), Unit::Money, formula, terms.collect());
    vec![of_all, utilization, waste]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scenario::comparison::Scenario;
    use crate::scenario::file::read;

    /// Four GPUs half of the time, ten in the other half, with so many committed to in two ways.
    fn scenario(one: u32, other: u32) -> Scenario {
        let text = format!(
            r#"
months = 12
[[work]]
name = "w"
demand = {{ shape = "levels", levels = [{{ gpus = 4, share = 0.5 }}, {{ gpus = 10, share = 0.5 }}] }}
[[option]]
name = "Reserved"
[[option.place]]
committed = [
    {{ rate = {{ price = 2 }}, months = 12, gpus = {one} }},
    {{ rate = {{ price = 3 }}, months = 6, gpus = {other} }},
]
on_demand = {{ price = 9 }}
"#
        );
        read(&text).unwrap()
    }

    fn figures(scenario: &Scenario) -> Vec<Figure> {
        scenario.compare().unwrap().options.remove(0).places.remove(0).coverage
    }

    #[test]
    fn what_is_committed_to_covers_a_part_and_is_used_in_part() {
        let told: Vec<(&str, String)> = figures(&scenario(4, 4))
            .iter()
            .map(|it| (it.name, it.value.unwrap().round(4).to_string()))
            .collect();
        // Of 4 and 10 GPUs 4 and 8: 12 of 14. Of 8 and 8 as many; four of the dearer ones wait for half of 8,760 hours.
        let expected = [
            ("Coverage by commitments", "0.8571"),
            ("Use of commitments", "0.7500"),
            ("Paid and not used", "52560.0000"),
        ];
        assert_eq!(told, expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn without_commitments_there_is_nothing_to_tell() {
        assert_eq!(figures(&scenario(0, 0)), []);
    }

    proptest! {
        #[test]
        fn what_is_committed_to_is_used_or_wasted(one in 0u32..12, other in 0u32..12) {
            let option = scenario(one, other).compare().unwrap().options.remove(0);
            let place = &option.places[0];
            for figure in &place.coverage[..place.coverage.len().min(2)] {
                prop_assert!(figure.value.is_some_and(|it| !it.is_negative() && it <= 1.into()));
            }
            if let [_, _, waste] = &place.coverage[..] {
                let committed = place.layers.iter().filter(|it| it.kind == LayerKind::Committed);
                let used: Decimal = committed.clone().map(|it| {
                    quotient(product(&[it.cost, it.used_hours]), it.paid_hours).unwrap_or_default()
                }).sum();
                let cost: Decimal = committed.map(|it| it.cost).sum();
                prop_assert!((cost - used - waste.value.unwrap()).abs() < Decimal::new(1, 9));
            }
        }
    }
}
