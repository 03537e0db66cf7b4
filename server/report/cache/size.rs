//! How much memory takes what decides answers.

use crate::allocation::{Configuration, MonthAllocation};
use crate::cache::SizeInCache;
use crate::exchange::Rates;
use crate::ledger::ActiveImports;
use crate::money::Currency;
use crate::price_catalogue::{Catalogue, Listed, Reading};

impl SizeInCache for Currency {}
impl SizeInCache for MonthAllocation {}

impl SizeInCache for Configuration {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.entries.len() * 640
    }
}

impl SizeInCache for Rates {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.len() * 160
    }
}

impl SizeInCache for ActiveImports {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + size_of_val(self.deliveries())
    }
}

impl SizeInCache for Catalogue {
    fn size_in_cache(&self) -> usize {
        // With their texts, and what finds them.
        let of = |it: &Listed| 2 * size_of_val(it) + 2 * it.others.len() * size_of::<Reading>();
        self.listed().iter().map(of).sum()
    }
}
