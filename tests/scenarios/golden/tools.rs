//! Worked examples of other people's tools, from the inputs that they publish.

use gpuledger::economics::Owning;
use gpuledger::economics::commitment::Commitment;
use gpuledger::economics::owning::{
    Draw, Energy, Fabric, Hours, Housing, OneOff, Part, Residual, Staff, Step,
};
use gpuledger::economics::price_path::Progress;
use gpuledger::economics::published_figures::{calculator, only_a_gpu};
use gpuledger::economics::rent;
use gpuledger::money::Decimal;
use gpuledger::money::arithmetic::{HOURS_PER_MONTH, HOURS_PER_YEAR, one, product, quotient};

use super::owning::cost;
use super::{Computed, number};

fn monthly(amount: Decimal) -> Decimal {
    quotient(amount, 12.into()).unwrap()
}

/// gpu-tco by chanthaphan, as it opens: 17 nodes of eight H200 over five years, neither interest nor residual value,
/// under full power in every hour, colocated and with its own electricity.
fn gpu_tco() -> Owning {
    let load = number("10.2");
    Owning {
        gpus: 136,
        node_price: 340_000.into(),
        fabric: Fabric::Node { price: Decimal::ZERO },
        storage: 1_600_000.into(),
        spare_share: Decimal::ZERO,
        life_years: 5.into(),
        residual: Residual::Share { share: Decimal::ZERO },
        cost_of_capital: Decimal::ZERO,
        maintenance_share: number("0.10"),
        unavailability: Decimal::ZERO,
        utilization: one(),
        draw: Draw::Node { idle_kw: load, load_kw: load },
        rated_kw: load,
        pue: number("1.5"),
        tariff: number("0.13"),
        housing: Housing::Colocation { price: 200.into(), contracted_kw: None, energy: Energy::Separate },
        staff: Staff {
            loaded_cost: 45_000.into(),
            steps: vec![Step { up_to_gpus: 136, people: 4.into() }],
            months_before: Decimal::ZERO,
            ..Staff::default()
        },
        one_offs: vec![OneOff { name: "Spares".to_owned(), amount: 1_000_000.into() }],
        ..Owning::default()
    }
}

/// Its five years of a cloud: 110.24 an hour of a node, less a discount, and 7.5 % for traffic and storage.
fn of_cloud(discount: &str) -> Decimal {
    let price = rent::discounted(number("110.24"), number(discount));
    product(&[rent::cost(17, Decimal::from(HOURS_PER_YEAR).times(5), price), number("1.075")])
}

/// Its months until the purchase is paid back by what the cloud costs more.
fn paid_back(discount: &str) -> Decimal {
    let own = cost(&gpu_tco());
    let running = own.total - own.of(Part::Capital);
    let cloud = quotient(of_cloud(discount), 60.into()).unwrap();
    quotient(own.purchase.total, cloud - monthly(running)).unwrap()
}

/// Hours of chips that Llama 3.1 405B took: 16,384 over 2,142 hours.
fn chip_hours() -> Decimal {
    Decimal::from(16_384).times(2142)
}

/// Epoch AI, amortized: what the servers lose in value over the training. A year has 8,766 hours. An eighth of a DGX
/// H100 cost 44,489.88, and was 432 days old when the training began.
fn servers() -> Decimal {
    let hazard = Progress::default().hazard();
    let price = number("44489.88");
    let age = quotient(432.into(), number("365.25")).unwrap();
    let left = product(&[price, Progress::default().left(age).unwrap()]);
    let hour = quotient(product(&[left.round(15), hazard]), 8766.into()).unwrap();
    product(&[hour, chip_hours()])
}

/// The same of what connects them, 19 % of the whole.
fn interconnect() -> Decimal {
    quotient(product(&[servers(), number("0.19")]), number("0.81")).unwrap()
}

/// Electricity: an eighth of a node of 10.2 kW at three quarters, with a PUE of 1.1 at 0.0771.
fn electricity() -> Decimal {
    let load = product(&[number("10.2"), number("0.75")]);
    let owning = Owning {
        gpus: 8,
        spare_share: Decimal::ZERO,
        draw: Draw::Node { idle_kw: load, load_kw: load },
        pue: number("1.1"),
        tariff: number("0.0771"),
        ..Owning::default()
    };
    let hour = cost(&owning).part_per_hour(Part::Energy, Hours::Owned).unwrap();
    product(&[hour, chip_hours()])
}

/// A productive hour of a GPU of 30,000 that is used to 70 %.
fn straight_line(years: i64) -> Decimal {
    let owning = Owning { life_years: years.into(), utilization: number("0.7"), ..only_a_gpu(30_000.into()) };
    cost(&owning).per_hour(Hours::Productive).unwrap()
}

fn calculated() -> (Decimal, Decimal, Decimal) {
    let own = cost(&calculator());
    (own.purchase.total, monthly(own.total), monthly(own.of(Part::Capital)))
}

fn rented() -> Decimal {
    rent::cost(8, 400.into(), number("4.50"))
}

pub fn computed() -> Vec<Computed> {
    let tco = cost(&gpu_tco());
    let (purchase, own, depreciation) = calculated();
    let epoch = servers() + interconnect() + electricity();
    let five_years = |amount: Decimal| amount.times(5);
    vec![
        ("E02", depreciation),
        ("E03", monthly(cost(&calculator()).of(Part::Energy))),
        ("E05", rented()),
        ("E06", quotient(purchase, rented() - own).unwrap()),
        ("E10", tco.purchase.total),
        ("E11", five_years(tco.of(Part::Energy))),
        ("E13", five_years(tco.of(Part::Maintenance))),
        ("E14", five_years(tco.total)),
        ("E16", of_cloud("0.35")),
        ("E17", of_cloud("0.55")),
        ("E19", paid_back("0.35")),
        ("E20", paid_back("0.55")),
        ("E31", servers()),
        ("E32", interconnect()),
        ("E34", epoch),
        ("E35", quotient(epoch, chip_hours()).unwrap()),
        ("E41", straight_line(3)),
        ("E42", straight_line(5)),
        // SemiAnalysis: months of 720 hours, and two suppliers compared.
        ("E44", quotient(rent::per_accelerator(5_898_240.into(), 4096).unwrap(), 720.into()).unwrap()),
        ("E45", quotient(251_618_208.into(), 199_408_973.into()).unwrap()),
    ]
}

pub fn described() -> Vec<Computed> {
    let (purchase, own, depreciation) = calculated();
    // cloudcostkit: 0.60 against 1.00.
    let rule = Commitment { hourly: number("0.60"), on_demand: one(), ..Commitment::default() };
    vec![
        ("E04", own),
        ("E07", quotient(purchase, rented() - (own - depreciation)).unwrap()),
        ("E12", cost(&gpu_tco()).of(Part::Colocation).times(5)),
        ("E15", of_cloud("0")),
        ("E18", paid_back("0")),
        ("E33", electricity()),
        // Lenovo: 39.3 million GPU-hours at 12.29.
        ("E40", rent::cost(1, 39_300_000.into(), number("12.29"))),
        ("E45 gold", quotient(223_224_957.into(), 199_408_973.into()).unwrap()),
        ("E46", rule.terms().unwrap().break_even.value.unwrap()),
    ]
}

#[test]
fn a_month_of_ours_is_longer_than_that_of_others() {
    // What E44 shares with nobody: 5,898,240 for 4,096 GPUs are 1.97 an hour of a twelfth of a year.
    let gpu = rent::per_accelerator(5_898_240.into(), 4096).unwrap();
    let ours = quotient(gpu, HOURS_PER_MONTH.into()).unwrap();
    assert_eq!(ours.round(4), number("1.9726"));
}
