//! Renting, spot, commitments.

use gpuledger::economics::Owning;
use gpuledger::economics::capacity::gpu_hours;
use gpuledger::economics::commitment::Commitment;
use gpuledger::economics::owning::{Fabric, Purchase};
use gpuledger::economics::published_figures::first_example_of_spot;
use gpuledger::economics::rent;
use gpuledger::economics::spot::{Interruptions, Spot};
use gpuledger::money::Decimal;
use gpuledger::money::arithmetic::{count, product, quotient};

use super::{Computed, number};

/// An hour of a GPU of an instance with eight, or so many.
fn hour(price: &str, gpus: u32) -> Decimal {
    rent::per_accelerator(number(price), gpus).unwrap()
}

fn a100() -> Decimal {
    hour("32.7726", 8)
}

fn discount(price: &str, list: &str) -> Decimal {
    rent::discount(number(price), number(list)).unwrap()
}

/// 2 % an hour, a minute for a checkpoint, ten for a restart.
fn example(instances: u32) -> Interruptions {
    let (pause_minutes, restart_minutes) = (1.into(), 10.into());
    Interruptions { pause_minutes, restart_minutes, instances, ..first_example_of_spot() }
}

/// Hours between 419 failures in 54 days.
fn between_failures() -> Decimal {
    quotient(gpu_hours(1, 54.into(), 1.into()), 419.into()).unwrap()
}

fn factor(hours: &str) -> Decimal {
    example(1).factor(number(hours)).unwrap()
}

fn spot_price() -> Decimal {
    rent::discounted(number("12.29"), number("0.70"))
}

fn committed(hourly: &str, years: i64, later: Option<&str>) -> Commitment {
    Commitment {
        hourly: number(hourly),
        years: years.into(),
        later_on_demand: later.map(number),
        ..Commitment::default()
    }
}

/// Share that breaks even, months of full use, and the share after the list price moved to 6.88.
fn terms(hourly: &str, years: i64) -> [Decimal; 3] {
    let terms = committed(hourly, years, Some("6.88")).terms().unwrap();
    [terms.break_even, terms.months_of_full_use, terms.later_break_even.unwrap()].map(|it| it.value.unwrap())
}

/// What a first vendor offered: ten nodes, a fabric of 800,000 and an installation of 200,000.
fn offered() -> Purchase {
    let owning = Owning {
        gpus: 80,
        spare_share: Decimal::ZERO,
        node_price: 280_000.into(),
        fabric: Fabric::Node { price: 80_000.into() },
        installation: 200_000.into(),
        ..Owning::default()
    };
    owning.purchase()
}

fn millions(amount: Decimal) -> Decimal {
    quotient(amount, 1_000_000.into()).unwrap()
}

/// GPUs that a limit of 128 nodes lets there be: as many as take 128 nodes.
fn limit() -> Decimal {
    let owning = Owning { gpus: 1024, spare_share: Decimal::ZERO, ..Owning::default() };
    assert_eq!(owning.nodes_in_service(), 128);
    count(owning.nodes_in_service() * owning.gpus_per_node)
}

pub fn computed() -> Vec<Computed> {
    let day = |price: &str| rent::cost(1000, 1.into(), number(price));
    let training = gpu_hours(64, 14.into(), 4.into());
    let own = offered().total + Decimal::from(500_000).times(2);
    let three_years = rent::cost(1, 3.into(), 4_700_000.into());
    let [one, one_months, one_later] = terms("8.05", 1);
    let [_, three_months, _] = terms("5.25", 3);
    let default = Spot { price: spot_price(), on_demand: number("12.29"), ..Spot::default() }.cost().unwrap();
    let between = between_failures();
    let half = number("0.5");
    vec![
        ("I01", a100()),
        ("I02", hour("98.32", 8)),
        ("I03", hour("16.288", 8)),
        ("I04", hour("73", 16)),
        ("I06", hour("88.4899999025753", 8)),
        ("I07", hour("55.04", 8)),
        ("I09", hour("43.16", 8)),
        ("I10", discount("5.25", "12.29")),
        ("I11", discount("8.05", "12.29")),
        ("I12", day("12.29")),
        ("I13", day("5.25")),
        ("I14", day("3.56")),
        ("I15", quotient(a100(), hour("16.288", 8)).unwrap()),
        ("I16", quotient(a100(), number("1.006")).unwrap()),
        ("Q01", millions(three_years)),
        ("Q02", millions(own)),
        ("Q03", millions(three_years - own)),
        ("Q09", rent::cost(800, 365.into(), a100())),
        ("Q10", millions(offered().nodes)),
        ("R03", rent::cost(1, 3584.into(), number("4.10"))),
        ("R04", rent::cost(1, 7168.into(), 2.into())),
        ("R05", rent::cost(1, training, a100())),
        ("R11", product(&[rent::hours_for(8_000_000.into(), number("12.29")).unwrap(), number("2.25")])),
        ("S01", spot_price()),
        ("S02", first_example_of_spot().lost_at_most(half)),
        ("S03", first_example_of_spot().lost(half)),
        ("S05", product(&[spot_price(), first_example_of_spot().factor(half).unwrap()])),
        ("S06", spot_price() + product(&[first_example_of_spot().lost_at_most(half), number("12.29")])),
        ("S07", example(1).young().unwrap()),
        ("S11", factor("0.25")),
        ("S12", factor("0.5")),
        ("S14", factor("4")),
        ("S15", example(8).young().unwrap()),
        ("S17", default.most.value.unwrap()),
        ("S18", between),
        ("S20", quotient(between.times(16_384), 64.into()).unwrap()),
        ("C01", one),
        ("C03", one_months),
        ("C04", three_months),
        ("C06", one_later),
        ("FT3", rent::cost(1, 40_000.into(), number("12.29"))),
        ("FT4", limit()),
        ("L03", rent::cost(1, 10.into(), 20_000.into())),
        ("L05", rent::cost(8, 72.into(), 32.into())),
        ("L06", rent::hours_for(47_000.into(), number("32.7726").times(8)).unwrap()),
        ("L12", rent::per_accelerator(10_000_000_000i64.into(), 350_000).unwrap()),
        ("L14", rent::cost(8, 1.into(), 30_000.into())),
        ("L15", discount("19.66", "98.32")),
        // Of a claim alone: the product computes nothing of it.
        ("L16", quotient(number("8.2"), number("0.71")).unwrap()),
        ("W01", quotient(number("12.29"), a100()).unwrap()),
    ]
}

pub fn described() -> Vec<Computed> {
    let [three, _, three_later] = terms("5.25", 3);
    let between = between_failures();
    vec![
        ("R01", gpu_hours(64, 14.into(), 4.into())),
        ("S04", first_example_of_spot().factor(number("0.5")).unwrap()),
        ("S13", example(1).factor(example(1).young().unwrap()).unwrap()),
        ("S16", example(8).factor(example(8).young().unwrap()).unwrap()),
        ("S19", between.times(16_384)),
        ("C02", three),
        ("C05", three_later),
        ("L04", rent::downtime(number("0.99999"))),
    ]
}
