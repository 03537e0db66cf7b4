//! Common systems: what a node holds, draws and costs, each figure with its source. Where a form begins, not what is
//! charged.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::money::{Decimal, from_cell};

/// A node as it is sold. Prices in USD.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    pub id: String,
    pub name: String,
    /// As the catalog of accelerators recognizes it.
    pub accelerator: String,
    pub accelerators: u32,
    #[serde(deserialize_with = "from_cell")]
    pub price: Decimal,
    #[serde(deserialize_with = "from_cell")]
    pub price_low: Decimal,
    #[serde(deserialize_with = "from_cell")]
    pub price_high: Decimal,
    /// Of the fabric, per node.
    #[serde(deserialize_with = "from_cell")]
    pub network_price: Decimal,
    #[serde(deserialize_with = "from_cell")]
    pub idle_kw: Decimal,
    #[serde(deserialize_with = "from_cell")]
    pub load_kw: Decimal,
    /// What the power supply and the rack must bear.
    #[serde(deserialize_with = "from_cell")]
    pub rated_kw: Decimal,
    pub price_source: String,
    pub power_source: String,
}

static SYSTEMS: LazyLock<Vec<System>> = LazyLock::new(|| {
    let mut rows = csv::Reader::from_reader(include_bytes!("catalog/systems.csv").as_slice());
    // The file is a part of the program; a test reads all of it.
    rows.deserialize().filter_map(Result::ok).collect()
});

/// Every system that is known, the usual one first.
pub fn systems() -> &'static [System] {
    &SYSTEMS
}

pub fn system(id: &str) -> Option<&'static System> {
    systems().iter().find(|system| system.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_catalog_is_read_and_makes_sense() {
        let lines = include_str!("catalog/systems.csv").lines().count() - 1;
        assert_eq!(systems().len(), lines);
        for it in systems() {
            assert!(it.price_low <= it.price && it.price <= it.price_high, "{}", it.name);
            assert!(it.idle_kw < it.load_kw && it.load_kw < it.rated_kw, "{}", it.name);
            assert!(!it.price_source.is_empty() && !it.power_source.is_empty(), "{}", it.name);
        }
        assert_eq!(system("dgx-h100").map(|it| it.accelerators), Some(8));
    }
}
