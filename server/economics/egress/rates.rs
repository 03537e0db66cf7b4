//! What clouds ask for data that leaves them, towards the internet in North America.

use serde::{Deserialize, Serialize};

use crate::economics::figure::Unit;
use crate::money::Decimal;
use crate::money::arithmetic::{decimal, product, quotient};

/// Whose prices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rates {
    #[default]
    Aws,
    Azure,
    /// Over Google's own network.
    GooglePremium,
    /// Over the internet from the region on.
    GoogleStandard,
    /// Suppliers that take nothing, as Lambda.
    Free,
    /// The same for each GB: as offered, or as people estimate it.
    Flat {
        price: Decimal,
    },
}

/// A supplier's tiers of a month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tariff {
    pub name: &'static str,
    pub unit: ByteUnit,
    /// From the first byte on, each where the one before ends.
    pub tiers: Vec<Tier>,
    /// Where it was read, and when.
    pub source: &'static str,
    pub date: &'static str,
}

/// What a supplier counts data in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteUnit {
    /// 10^9.
    Gigabyte,
    /// 2^30.
    Gibibyte,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// What the month has sent where it ends, with what was free; none for the last.
    pub up_to: Option<u32>,
    /// Money for a unit of what lies in it.
    pub price: Decimal,
}

impl Rates {
    pub const LISTED: [Self; 4] = [Self::Aws, Self::Azure, Self::GooglePremium, Self::GoogleStandard];

    /// Whether a supplier lists them, in US dollars.
    pub fn is_listed(self) -> bool {
        Self::LISTED.contains(&self)
    }

    pub fn tariff(self) -> Tariff {
        let tier = |up_to, thousandths| Tier { up_to, price: decimal(thousandths, 3) };
        let listed = |name, unit, tiers, source, date| Tariff { name, unit, tiers, source, date };
        match self {
            Self::Aws => listed(
                "AWS",
                ByteUnit::Gigabyte,
                vec![
                    tier(Some(100), 0),
                    tier(Some(10_240), 90),
                    tier(Some(51_200), 85),
                    tier(Some(153_600), 70),
                    tier(None, 50),
                ],
                "Amazon EC2 price list, data transfer out: tiers of 10, 40 and 100 TiB; 100 GB are free in each month",
                "2026-11-21",
            ),
            Self::Azure => listed(
                "Azure",
                ByteUnit::Gigabyte,
                vec![
                    tier(Some(100), 0),
                    tier(Some(10_240), 87),
                    tier(Some(51_200), 83),
                    tier(Some(153_600), 70),
                    tier(None, 50),
                ],
                "Azure bandwidth pricing: tiers of 10, 40 and 100 TiB; 100 GB are free in each month",
                "2026-11-21",
            ),
            Self::GooglePremium => listed(
                "Google Cloud, premium tier",
                ByteUnit::Gibibyte,
                vec![tier(Some(1), 0), tier(Some(1024), 120), tier(Some(10_240), 110), tier(None, 80)],
                "Google VPC network pricing, as kept by api-evangelist",
                "2026-09-20",
            ),
            Self::GoogleStandard => listed(
                "Google Cloud, standard tier",
                ByteUnit::Gibibyte,
                vec![tier(None, 85)],
                "Google VPC network pricing, as kept by api-evangelist",
                "2026-09-20",
            ),
            Self::Free => {
                listed("Free", ByteUnit::Gigabyte, vec![tier(None, 0)], "Lambda, vendor page", "2026-09-20")
            }
            Self::Flat { price } => {
                listed("Flat", ByteUnit::Gigabyte, vec![Tier { up_to: None, price }], "as entered", "")
            }
        }
    }
}

impl ByteUnit {
    pub(super) fn figure(self) -> Unit {
        match self {
            Self::Gigabyte => Unit::Gigabytes,
            Self::Gibibyte => Unit::Gibibytes,
        }
    }

    pub(super) fn price(self) -> Unit {
        match self {
            Self::Gigabyte => Unit::MoneyPerGigabyte,
            Self::Gibibyte => Unit::MoneyPerGibibyte,
        }
    }
}

impl Tier {
    pub(super) fn name(&self) -> &'static str {
        if self.price.is_zero() { "Free" } else { "To the internet" }
    }
}

impl Tariff {
    /// So many GB of 10^9 bytes, in what the supplier counts.
    pub fn units(&self, gigabytes: Decimal) -> Decimal {
        match self.unit {
            ByteUnit::Gigabyte => gigabytes,
            ByteUnit::Gibibyte => {
                quotient(gigabytes.times(1_000_000_000), (1i64 << 30).into()).unwrap_or_default()
            }
        }
    }

    /// What a month of so many units lays into each tier.
    pub fn filled(&self, units: Decimal) -> Vec<Decimal> {
        let mut from = Decimal::ZERO;
        let mut filled = Vec::new();
        for tier in &self.tiers {
            let end = tier.up_to.map_or(units, |bound| units.min(i64::from(bound).into()));
            filled.push((end - from).max(Decimal::ZERO));
            from = tier.up_to.map_or(from, |bound| i64::from(bound).into());
        }
        filled
    }

    /// f, what a month of so many units costs.
    pub fn cost(&self, units: Decimal) -> Decimal {
        let filled = self.filled(units);
        self.tiers.iter().zip(filled).map(|(tier, inside)| product(&[tier.price, inside])).sum()
    }
}
