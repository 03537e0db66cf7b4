//! How much memory answers take.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::allocation::{Configuration, MonthAllocation};
use crate::cache::SizeInCache;
use crate::exchange::Rates;
use crate::ledger::ActiveImports;
use crate::money::{Currency, Decimal};
use crate::price_catalogue::{Catalogue, Listed, Reading};
use crate::report::charges::Ranked;
use crate::report::charges_and_credits::MonthChargesAndCredits;
use crate::report::compared::SameDays;
use crate::report::completeness::Completeness;
use crate::report::hourly::{HourlyWay, Ways};
use crate::report::machines::Machine;
use crate::report::over_time::{Days, Series};
use crate::report::reconciliation::Booked;
use crate::report::sums::{Sum, Sums};
use crate::report::unallocated::Keys;
use crate::report::variance::Variance;

impl SizeInCache for Sums {
    fn size_in_cache(&self) -> usize {
        fn of(sums: &[Sum]) -> usize {
            let text = |sum: &Sum| sum.key.as_ref().map_or(0, String::len);
            size_of_val(sums) + sums.iter().map(|sum| text(sum) + of(&sum.inside)).sum::<usize>()
        }
        size_of_val(self) + of(&self.groups)
    }
}

impl SizeInCache for Variance {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.movements.len() * 640
    }
}

impl SizeInCache for Keys {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.found.len() * 2048
    }
}

impl SizeInCache for Ranked {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + size_of_val(self.keys.as_slice())
    }
}

impl SizeInCache for MonthChargesAndCredits {
    fn size_in_cache(&self) -> usize {
        size_of_val(self)
    }
}

impl SizeInCache for Booked {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.len() * 160
    }
}

impl SizeInCache for i64 {
    fn size_in_cache(&self) -> usize {
        size_of_val(self)
    }
}

impl SizeInCache for Configuration {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.entries.len() * 640
    }
}

impl SizeInCache for MonthAllocation {
    fn size_in_cache(&self) -> usize {
        size_of_val(self)
    }
}

impl SizeInCache for Rates {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.len() * 160
    }
}

impl SizeInCache for Option<Arc<SameDays>> {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.as_ref().map_or(0, |it| it.bytes())
    }
}

impl SizeInCache for Option<Currency> {
    fn size_in_cache(&self) -> usize {
        size_of_val(self)
    }
}

impl SizeInCache for Series {
    fn size_in_cache(&self) -> usize {
        let costs = self.groups.len() * self.buckets.len() * size_of::<Decimal>();
        size_of_val(self) + costs + self.groups.iter().map(|(label, _)| label.len()).sum::<usize>()
    }
}

impl SizeInCache for ActiveImports {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + size_of_val(self.deliveries())
    }
}

impl SizeInCache for Vec<i64> {
    fn size_in_cache(&self) -> usize {
        size_of_val(self.as_slice())
    }
}

impl SizeInCache for Vec<Completeness> {
    fn size_in_cache(&self) -> usize {
        size_of_val(self.as_slice()) + self.len() * 80
    }
}

impl SizeInCache for BTreeMap<Option<String>, Days> {
    fn size_in_cache(&self) -> usize {
        self.keys().flatten().map(String::len).sum::<usize>()
            + self.len() * size_of::<(Option<String>, Days)>()
    }
}

impl SizeInCache for Vec<Machine> {
    fn size_in_cache(&self) -> usize {
        size_of_val(self.as_slice()) + self.len() * 60
    }
}

impl SizeInCache for Ways {
    fn size_in_cache(&self) -> usize {
        let hours = |it: &HourlyWay| size_of_val(it.hours.as_slice());
        let ways: usize = self.all.iter().map(|it| size_of_val(it) + hours(it)).sum();
        size_of_val(self) + ways + 2 * size_of_val(self.instances.as_slice())
    }
}

impl SizeInCache for Catalogue {
    fn size_in_cache(&self) -> usize {
        // With their texts, and what finds them.
        let of = |it: &Listed| 2 * size_of_val(it) + 2 * it.others.len() * size_of::<Reading>();
        self.listed().iter().map(of).sum()
    }
}

impl SizeInCache for Vec<String> {
    fn size_in_cache(&self) -> usize {
        self.iter().map(|name| name.len() + size_of::<String>()).sum()
    }
}
