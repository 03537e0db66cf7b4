//! What accelerators were offered for elsewhere: a list of prices, each with the date and place it was read at. What to
//! compare with until somebody has offers of their own, and never what anything is charged.
//!
//! Of each supplier, model and tier the newest that is known, of nodes of eight where they sell them. Where a source
//! says no more than the year, the price is of its first day.

use std::sync::LazyLock;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::break_even::Payment;
use crate::money::{Decimal, from_cell};

/// After so many days a price is to be asked for again.
const FRESH_DAYS: i64 = 180;

/// An hour of one accelerator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// The id of its model in the catalog of accelerators.
    pub accelerator: String,
    pub supplier: String,
    pub tier: Tier,
    pub paid: Paid,
    #[serde(deserialize_with = "from_cell")]
    pub usd_per_hour: Decimal,
    /// What the supplier calls it; empty where that is not known.
    pub sku: String,
    pub region: String,
    /// When it was read.
    pub date: NaiveDate,
    pub source: String,
}

/// What one agrees to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    OnDemand,
    #[serde(rename = "1-year")]
    OneYear,
    #[serde(rename = "3-years")]
    ThreeYears,
    Spot,
    /// Of machines of many hosts.
    Marketplace,
}

/// For which hours a price is paid, and whether it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Paid {
    /// For those that are used, at a price that holds.
    PerUse,
    /// For every hour of the term.
    Committed,
    /// For those that are used, at a price of the day, and until somebody pays more.
    Market,
}

impl Price {
    pub fn is_stale(&self, today: NaiveDate) -> bool {
        (today - self.date).num_days() > FRESH_DAYS
    }
}

impl Paid {
    /// A price of this kind, as break-even asks for it.
    pub fn payment(self, price: Decimal) -> Payment {
        match self {
            Self::PerUse | Self::Market => Payment::PerUse { price },
            Self::Committed => Payment::Committed { price },
        }
    }
}

impl Tier {
    pub fn name(self) -> &'static str {
        match self {
            Self::OnDemand => "on demand",
            Self::OneYear => "1 year",
            Self::ThreeYears => "3 years",
            Self::Spot => "spot",
            Self::Marketplace => "marketplace",
        }
    }
}

static PRICES: LazyLock<Vec<Price>> = LazyLock::new(|| {
    let mut rows = csv::Reader::from_reader(include_bytes!("catalog/prices.csv").as_slice());
    // The file is a part of the program; a test reads all of it.
    rows.deserialize().filter_map(Result::ok).collect()
});

/// Every price that is known.
pub fn prices() -> &'static [Price] {
    &PRICES
}

/// Those of a model, by its id in the catalog of accelerators: by tier, the cheapest first.
pub fn prices_of(accelerator: &str) -> Vec<&'static Price> {
    let mut found: Vec<&Price> = prices().iter().filter(|price| price.accelerator == accelerator).collect();
    found.sort_by_key(|price| (price.tier, price.usd_per_hour));
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::accelerator;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn every_line_of_the_list_is_read_and_makes_sense() {
        assert_eq!(prices().len(), include_str!("catalog/prices.csv").lines().count() - 1);
        let mut seen = BTreeSet::new();
        for price in prices() {
            assert!(accelerator::model(&price.accelerator).is_some(), "{}", price.accelerator);
            assert!(price.usd_per_hour > Decimal::ZERO && price.usd_per_hour < 20.into(), "{price:?}");
            assert!(price.source.len() > 4 && price.date >= day("2024-11-21"), "{price:?}");
            let is_committed = matches!(price.tier, Tier::OneYear | Tier::ThreeYears);
            assert_eq!(price.paid == Paid::Committed, is_committed, "{price:?}");
            assert!(seen.insert((&price.accelerator, &price.supplier, price.tier)), "twice: {price:?}");
        }
    }

    #[test]
    fn the_models_that_clusters_are_built_of_have_prices() {
        for id in ["nvidia-h100-sxm", "nvidia-h200-sxm", "nvidia-b200", "nvidia-a100-sxm-80", "amd-mi300x"] {
            assert!(prices_of(id).iter().any(|price| price.tier == Tier::OnDemand), "{id}");
        }
        let h100 = prices_of("nvidia-h100-sxm");
        let tiers: Vec<Tier> = h100.iter().map(|price| price.tier).collect();
        assert!(tiers.is_sorted() && tiers.contains(&Tier::ThreeYears) && tiers.contains(&Tier::Spot));
        assert!(prices_of("nvidia-k80").is_empty());
    }

    #[test]
    fn a_price_is_stale_after_half_a_year() {
        let price = Price { date: day("2026-01-01"), ..prices()[0].clone() };
        assert!(!price.is_stale(day("2026-06-30")));
        assert!(price.is_stale(day("2026-07-01")));
    }
}
