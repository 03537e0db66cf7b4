//! Moving data.

use super::Findings;
use crate::economics::egress::{Hop, Rates, Transfer};
use crate::money::Decimal;
use crate::money::arithmetic::decimal;

/// Money for a GB at most, in whatever currency.
const MOST_PRICE: i64 = 1_000_000;
/// GB that are moved at most: a trillion.
pub(in crate::economics) const MOST_GIGABYTES: i64 = 1_000_000_000_000;

/// What is odd about what is moved.
pub fn transfer(it: &Transfer) -> Findings {
    let mut found = Findings::default();
    let most = Decimal::from(MOST_GIGABYTES);
    for (field, amount) in [("gigabytes", it.gigabytes), ("other_gigabytes", it.other_gigabytes)] {
        found.between(field, amount, Decimal::ZERO, most, "expected GB, from 0 to a trillion");
    }
    if !(1..=600).contains(&it.months) {
        found.refuse("months", it.months, "expected 1 to 600 months");
    }
    let mut price = |field: &str, price| {
        let message = "expected a price per GB, from 0 to a million";
        found.between(field, price, Decimal::ZERO, MOST_PRICE.into(), message);
    };
    if let Rates::Flat { price: flat } = it.rates {
        price("rates.price", flat);
    }
    for (at, hop) in it.hops.iter().enumerate() {
        if let Hop::Region { price: between } = hop {
            price(&format!("hops.{at}.price"), *between);
        }
    }
    let message = "expected 0.001 to a million Gbit/s";
    found.between("line", it.line, decimal(1, 3), 1_000_000.into(), message);
    let message = "expected a share of the bandwidth, from 0.01 to 1";
    found.between("line_share", it.line_share, decimal(1, 2), 1.into(), message);
    found.sorted()
}
