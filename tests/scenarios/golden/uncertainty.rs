//! The tornado of the worked example.

use gpuledger::economics::Owning;
use gpuledger::economics::owning::{Fabric, Hours};
use gpuledger::economics::published_figures::worked_example;
use gpuledger::economics::uncertainty::{Input, Sensitivity, tornado};
use gpuledger::money::Decimal;

use super::{Computed, number};

fn productive_hour(owning: &Owning) -> Option<Decimal> {
    owning.cost().ok()?.per_hour(Hours::Productive)
}

/// The example with nodes and fabric at one price, as they are moved together.
fn example() -> Owning {
    let example = worked_example();
    let node_price = example.node_price + example.fabric.per_node();
    let one_price = Owning { node_price, fabric: Fabric::Node { price: Decimal::ZERO }, ..example };
    assert_eq!(productive_hour(&one_price), productive_hour(&worked_example()));
    one_price
}

fn sensitivities() -> Vec<Sensitivity> {
    let input = |key: &str, value: &str, low: &str, high: &str| Input {
        source: None,
        keys: vec![key.to_owned()],
        label: key.to_owned(),
        value: number(value),
        low: number(low),
        high: number(high),
        least: number(low),
        most: number(high),
        in_percent: false,
    };
    let inputs = [
        input("/utilization", "0.80", "0.64", "0.96"),
        input("/node_price", "425000", "340000", "510000"),
        input("/life_years", "3", "2", "4"),
        input("/staff/loaded_cost", "250000", "200000", "300000"),
        input("/others/0/amount", "700.8", "560.64", "840.96"),
        input("/tariff", "0.10", "0.08", "0.12"),
    ];
    tornado(&inputs, |at, value| {
        let mut tree = serde_json::to_value(example()).ok()?;
        *tree.pointer_mut(&inputs[at].keys[0])? = value.to_string().into();
        productive_hour(&serde_json::from_value(tree).ok()?)
    })
}

/// An hour with an input at its low and at its high.
fn ends(key: &str) -> [Decimal; 2] {
    let sensitivities = sensitivities();
    let sensitivity = sensitivities.iter().find(|it| it.input.label == key).unwrap();
    [sensitivity.low, sensitivity.high]
}

pub fn computed() -> Vec<Computed> {
    // The file names first what costs less of life: four years.
    let [two_years, four_years] = ends("/life_years");
    vec![
        ("TO_UTI_hi", ends("/utilization")[1]),
        ("TO_CAP_lo", ends("/node_price")[0]),
        ("TO_LIF_lo", four_years),
        ("TO_LIF_hi", two_years),
        ("TO_STA_hi", ends("/staff/loaded_cost")[1]),
        ("TO_NET_lo", ends("/others/0/amount")[0]),
        ("TO_POW_lo", ends("/tariff")[0]),
        ("TO_POW_hi", ends("/tariff")[1]),
    ]
}

pub fn described() -> Vec<Computed> {
    vec![("TO_UTI_lo", ends("/utilization")[0]), ("TO_CAP_hi", ends("/node_price")[1])]
}

#[test]
fn what_moves_an_hour_most_comes_first() {
    let sensitivities = sensitivities();
    let labels: Vec<&str> = sensitivities.iter().map(|it| it.input.label.as_str()).collect();
    let expected =
        ["/life_years", "/utilization", "/node_price", "/staff/loaded_cost", "/others/0/amount", "/tariff"];
    assert_eq!(labels, expected);
}
