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
    found.whole("months", it.months, 1..=600, "expected 1 to 600 months");
    if let Rates::Flat { price } = it.rates {
        found.within("rates", |found| of_gigabyte(price, found));
    }
    found.each("hops", &it.hops, |hop, found| {
        if let Hop::Region { price } = hop {
            of_gigabyte(*price, found);
        }
    });
    let message = "expected 0.001 to a million Gbit/s";
    found.between("line", it.line, decimal(1, 3), 1_000_000.into(), message);
    let message = "expected a share of the bandwidth, from 0.01 to 1";
    found.between("line_share", it.line_share, decimal(1, 2), 1.into(), message);
    found.sorted()
}

fn of_gigabyte(price: Decimal, found: &mut Findings) {
    let message = "expected a price per GB, from 0 to a million";
    found.between("price", price, Decimal::ZERO, MOST_PRICE.into(), message);
}
