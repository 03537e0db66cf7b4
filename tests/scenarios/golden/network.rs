//! Moving data.

use gpuledger::economics::egress::{Rates, Transfer, TransferCost};
use gpuledger::economics::published_figures::{price_of_all_units, subtracted_bounds};
use gpuledger::money::Decimal;

use super::{Computed, number};

fn moved(rates: Rates, gigabytes: i64) -> TransferCost {
    Transfer { rates, gigabytes: gigabytes.into(), ..Transfer::default() }.cost().unwrap()
}

fn total(rates: Rates, gigabytes: i64) -> Decimal {
    moved(rates, gigabytes).total.value.unwrap()
}

fn flat(price: &str) -> Rates {
    Rates::Flat { price: number(price) }
}

pub fn computed() -> Vec<Computed> {
    vec![
        ("G01", total(flat("0.09"), 140 * 30)),
        ("G02", total(Rates::Aws, 4200)),
        ("G04", total(Rates::Azure, 4200)),
        ("G05", total(flat("0.09"), 500_000)),
        ("G06", total(Rates::Aws, 500_000)),
        ("G08", moved(Rates::Aws, 500_000).time.value.unwrap()),
        ("G09", total(flat("0.08"), 1000)),
        ("G10", subtracted_bounds(10_240.into())),
        ("G12", price_of_all_units(1025.into())),
    ]
}

pub fn described() -> Vec<Computed> {
    vec![
        ("G07", total(flat("0.09"), 500_000)),
        ("G11", price_of_all_units(1024.into())),
        ("G13", total(Rates::Aws, 512_000)),
    ]
}
