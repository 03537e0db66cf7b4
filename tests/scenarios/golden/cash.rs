//! What is paid when: the worked example of owning against prices of an hour.

use gpuledger::economics::Payback;
use gpuledger::economics::cash::Payments;
use gpuledger::economics::owning::{OwningCost, Part};
use gpuledger::economics::published_figures::worked_example;
use gpuledger::money::Decimal;
use gpuledger::money::arithmetic::{product, quotient};

use super::{Computed, number, owning};

/// Months of the example's life.
const LIFE: u32 = 36;

fn example() -> OwningCost {
    owning::cost(&worked_example())
}

/// What it takes to run it for a month: all but capital, which is paid at the start.
fn running() -> Decimal {
    let cost = example();
    quotient(cost.total - cost.of(Part::Capital), 12.into()).unwrap()
}

fn owned(months: u32) -> Payments {
    Payments::level(example().purchase.total, running(), months)
}

/// 64 GPUs at a price of an hour, for so many hours a year.
fn rented(price: &str, hours: i64, months: u32) -> Payments {
    let monthly = quotient(product(&[64.into(), number(price), hours.into()]), 12.into()).unwrap();
    Payments::level(Decimal::ZERO, monthly, months)
}

fn payback(price: &str, hours: i64) -> Decimal {
    // Longer than the life, so that what comes too late has its month, too.
    let months = 2 * LIFE;
    match owned(months).payback(&rented(price, hours, months)) {
        Payback::After { months } => months,
        other => panic!("{other:?}"),
    }
}

fn present_value(payments: &Payments) -> Decimal {
    payments.present_value(number("0.10"))
}

pub fn computed() -> Vec<Computed> {
    assert_eq!(owned(LIFE).payback(&rented("2.00", 8760, LIFE)), Payback::Never);
    vec![
        ("K02", payback("12.29", 7008)),
        ("K03", payback("5.25", 8760)),
        ("K05", payback("3.99", 7008)),
        ("K06", payback("2.00", 8760)),
        ("NP2", present_value(&Payments::level(Decimal::ZERO, 1.into(), LIFE))),
        ("NP3", present_value(&owned(LIFE))),
        ("NP5", present_value(&rented("3.99", 7008, LIFE))),
        ("NP6", present_value(&rented("2.50", 7008, LIFE))),
    ]
}

pub fn described() -> Vec<Computed> {
    vec![("K04", payback("6.88", 7008))]
}
