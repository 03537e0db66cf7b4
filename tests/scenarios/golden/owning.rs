//! Owning.

use gpuledger::economics::Owning;
use gpuledger::economics::capacity::{gpu_hours, share_of_year};
use gpuledger::economics::owning::capital::{annualized, capital_recovery_factor, port_price};
use gpuledger::economics::owning::racks::airflow;
use gpuledger::economics::owning::{Hours, OwningCost, Part, Staff};
use gpuledger::economics::published_figures::{
    complete_example, corrected_example, hardware_and_power, only_a_gpu, ratio, takes, without_staff,
    worked_example,
};
use gpuledger::money::Decimal;
use gpuledger::money::arithmetic::{count, product, quotient};
use gpuledger::onprem::{Method, Schedule};

use super::{Computed, number};

pub fn cost(owning: &Owning) -> OwningCost {
    owning.cost().unwrap()
}

fn per_gpu(cost: &OwningCost, part: Part) -> Decimal {
    quotient(cost.of(part), 64.into()).unwrap()
}

fn at(utilization: &str) -> Decimal {
    let used = Owning { utilization: number(utilization), ..worked_example() };
    cost(&used).per_hour(Hours::Productive).unwrap()
}

fn declining(year: usize) -> Decimal {
    let method = Method::DecliningBalance { factor: 2.into() };
    let start = "2026-01-01".parse().unwrap();
    Schedule::new(53_125.into(), Decimal::ZERO, start, 36, method).unwrap().years()[year - 1].depreciation
}

fn staff_of_a_gpu(gpus: u32) -> Decimal {
    let staff = Staff::default();
    quotient(product(&[staff.people(gpus), staff.loaded_cost]), count(gpus)).unwrap()
}

/// Racks for eight nodes of 10.2 kW.
fn racks(kilowatts: i64) -> Decimal {
    let owning = Owning { spare_share: Decimal::ZERO, rack_kw: kilowatts.into(), ..Owning::default() };
    count(owning.racks().racks.unwrap())
}

pub fn computed() -> Vec<Computed> {
    let article = cost(&worked_example());
    let short = cost(&hardware_and_power());
    let corrected = cost(&corrected_example());
    let complete = cost(&complete_example());
    let hour = |part| article.part_per_hour(part, Hours::Productive).unwrap();
    let hours = article.hours.iter().find(|link| link.of == Hours::Productive).unwrap().hours;
    let training = gpu_hours(64, 14.into(), 4.into());
    let paid_for = quotient(number("4700000"), number("4.096575")).unwrap();
    let tenth = number("0.10");
    let (price, fifth) = (Decimal::from(53_125), Decimal::from(10_625));
    vec![
        ("P01", quotient(article.purchase.total, 8.into()).unwrap()),
        ("P02", quotient(article.purchase.total, 64.into()).unwrap()),
        ("P03", per_gpu(&article, Part::Capital)),
        ("P04", quotient(hours, 64.into()).unwrap()),
        ("P05", hour(Part::Capital)),
        ("P06", hours),
        ("P07", hour(Part::Staff)),
        ("P08", per_gpu(&article, Part::Staff)),
        ("P09", per_gpu(&article, Part::Energy)),
        ("P10", hour(Part::Energy)),
        ("P11", per_gpu(&article, Part::Other)),
        ("P12", article.per_hour(Hours::Productive).unwrap()),
        (
            "P13",
            hour(Part::Capital).round(2)
                + hour(Part::Staff).round(2)
                + hour(Part::Energy).round(3)
                + hour(Part::Other).round(2),
        ),
        ("P14", article.per_gpu().unwrap()),
        ("P15", takes(&short, number("5.25")).unwrap()),
        ("P16", short.per_gpu().unwrap()),
        ("P17", cost(&without_staff(worked_example())).per_gpu().unwrap()),
        ("P19", cost(&only_a_gpu(10_000.into())).per_hour(Hours::Owned).unwrap()),
        ("P20", cost(&only_a_gpu(15_000.into())).per_hour(Hours::Owned).unwrap()),
        ("B01", takes(&article, number("5.25")).unwrap()),
        ("B02", takes(&article, number("8.05")).unwrap()),
        ("B04", takes(&article, number("6.88")).unwrap()),
        ("B05", takes(&article, number("2.50")).unwrap()),
        ("B07", quotient(article.per_gpu().unwrap(), ratio(&article, number("5.25")).unwrap()).unwrap()),
        ("B08", ratio(&article, number("5.25")).unwrap()),
        ("U01", at("0.20")),
        ("U02", at("0.40")),
        ("U04", at("0.80")),
        ("U05", at("0.95")),
        ("F01", capital_recovery_factor(tenth, 3.into()).unwrap()),
        ("F03", annualized(price, fifth, tenth, 3.into()).unwrap()),
        ("F04", annualized(price, fifth, Decimal::ZERO, 3.into()).unwrap()),
        ("F06", declining(2)),
        ("F07", declining(3)),
        ("F11", per_gpu(&corrected, Part::Energy)),
        ("F12", corrected.per_gpu().unwrap()),
        ("F20", complete.purchase.total),
        ("F21", complete.of(Part::Capital)),
        ("F23", complete.of(Part::Maintenance)),
        ("F24", complete.total),
        ("F26", complete.per_hour(Hours::Productive).unwrap()),
        ("F31", takes(&complete, number("12.29")).unwrap()),
        ("F33", takes(&complete, number("3.99")).unwrap()),
        ("F34", takes(&complete, number("2.50")).unwrap()),
        ("RK2", racks(40)),
        ("RK3", racks(15)),
        ("RK5", {
            let charged = Owning { demand_charge: 15.into(), ..Owning::default() };
            cost(&charged).of(Part::DemandCharge)
        }),
        ("RK6", airflow(50_000.into(), 20.into()).unwrap()),
        ("FT2", quotient(staff_of_a_gpu(64), staff_of_a_gpu(256)).unwrap()),
        ("FT5", port_price(50_000.into(), 40).unwrap()),
        ("R02", quotient(training, 7168.into()).unwrap()),
        ("R07", share_of_year(training, 64).unwrap()),
        ("R08", quotient(500_000.into(), product(&[training, 2.into()])).unwrap()),
        ("R10", share_of_year(product(&[400.into(), 365.into()]), 1000).unwrap()),
        ("Q04", paid_for),
        ("Q06", share_of_year(paid_for, 1).unwrap()),
        ("Q07", gpu_hours(80, 1.into(), 1.into())),
        ("L18", count(Owning { rack_kw: 50.into(), ..Owning::default() }.racks().nodes_per_rack)),
        ("L19", count(Owning { rack_kw: 130.into(), ..Owning::default() }.racks().nodes_per_rack)),
    ]
}

/// Told in the specification, and not in the file.
pub fn described() -> Vec<Computed> {
    let article = cost(&worked_example());
    let corrected = cost(&corrected_example());
    let complete = cost(&complete_example());
    vec![
        ("B03", takes(&article, number("12.29")).unwrap()),
        ("B06", takes(&article, number("3.99")).unwrap()),
        ("F13", corrected.per_hour(Hours::Productive).unwrap()),
        ("F32", takes(&complete, number("6.88")).unwrap()),
        ("F05", declining(1)),
        ("FT1", staff_of_a_gpu(256)),
    ]
}

#[test]
fn without_interest_a_year_of_capital_is_a_year_on_the_books() {
    let (price, residual) = (number("53125"), number("10625"));
    let capital = annualized(price, residual, Decimal::ZERO, 3.into()).unwrap();
    let start = "2026-01-01".parse().unwrap();
    let configurations = Schedule::new(price, residual, start, 36, Method::StraightLine).unwrap();
    for year in configurations.years() {
        assert_eq!(year.depreciation.round(10), capital.round(10));
    }
    let interest = annualized(price, residual, number("0.10"), 3.into()).unwrap();
    assert!(interest > capital);
}
