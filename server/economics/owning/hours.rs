//! The hours that a cluster delivers, link by link.
//!
//! - owned = G × 8,760
//! - available = owned × (1 − δ)
//! - allocated = a × available: a job holds the GPU
//! - productive = u × available: it does work
//! - useful = productive ÷ F
//!
//! All in GPU-hours a year. Spares add cost and no hours; hot ones lower δ.

use serde::Serialize;

use super::Owning;
use crate::enum_words::words;
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_YEAR, count, one, product, quotient};

words! {
    /// Which hours are meant. Every cost of an hour says so.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Hours: label {
        Owned = "owned";
        Available = "available";
        Allocated = "allocated";
        Productive = "productive";
        Useful = "useful";
    }
}

/// A link of the chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    pub of: Hours,
    /// GPU-hours a year.
    pub hours: Decimal,
    /// Money for one of them; none where there are no hours.
    pub cost_per_hour: Option<Decimal>,
}

impl Owning {
    /// GPU-hours a year, from what is paid for to what is useful. Allocated hours only where they are known.
    pub fn hours(&self) -> Vec<(Hours, Decimal)> {
        let owned = product(&[count(self.gpus), HOURS_PER_YEAR.into()]);
        let available = product(&[owned, one() - self.unavailability]);
        let productive = product(&[available, self.utilization]);
        let mut chain = vec![(Hours::Owned, owned), (Hours::Available, available)];
        chain.extend(self.allocated_share.map(|share| (Hours::Allocated, product(&[available, share]))));
        chain.push((Hours::Productive, productive));
        chain.extend(quotient(productive, self.rework).map(|useful| (Hours::Useful, useful)));
        chain
    }

    pub(super) fn hours_of(&self, which: Hours) -> Decimal {
        let found = self.hours().into_iter().find(|(of, _)| *of == which);
        found.map_or(Decimal::ZERO, |(_, hours)| hours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::arithmetic::decimal;

    #[test]
    fn each_link_is_a_part_of_the_one_before() {
        let owning = Owning {
            gpus: 8,
            unavailability: decimal(5, 2),
            allocated_share: Some(decimal(75, 2)),
            utilization: decimal(30, 2),
            rework: decimal(12, 1),
            ..Owning::default()
        };
        let described: Vec<String> = owning
            .hours()
            .iter()
            .map(|(of, hours)| format!("{} {}", of.label(), hours.normalize()))
            .collect();
        let expected =
            ["owned 70080", "available 66576", "allocated 49932", "productive 19972.8", "useful 16644"];
        assert_eq!(described, expected);
        let unknown = Owning { allocated_share: None, ..owning };
        assert!(unknown.hours().iter().all(|(of, _)| *of != Hours::Allocated));
    }
}
