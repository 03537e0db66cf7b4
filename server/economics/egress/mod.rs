//! What it costs to take data out of a cloud, and how long it takes.
//!
//! - each gigabyte of a month costs what its tier says: the price of a tier holds only for what lies in it. Tiers count
//!   all that the account sends in the month, so what is moved fills them after what is sent anyway
//! - cost = Σ over months of (cost of everything − cost of what is sent anyway)
//! - on the way, a NAT gateway, a crossing of zones or another region may each take a price for a gigabyte
//! - time = bytes × 8 ÷ line rate
//!
//! Beyond what is free, f is continuous, rises, and its marginal price never does. AWS and Azure count in GB of 10^9
//! bytes, Google Cloud in GiB of 2^30. The tiers of AWS and Azure end at 10,240, 51,200 and 153,600 GB, as their price lists
//! say, and what is free in a month is a part of the first: 512,000 GB out of AWS cost 10,140 × 0.09 + 40,960 × 0.085 +
//! 102,400 × 0.07 + 358,400 × 0.05 = 29,482.20.

mod rates;

use serde::{Deserialize, Serialize};

pub use rates::{Rates, Tariff, Tier};

use super::check::{self, Refused};
use super::figure::{Figure, Unit, figure, term};
use crate::money::Decimal;
use crate::money::arithmetic::{count, decimal, one, product, quotient};

/// What is moved, and by which way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Transfer {
    pub rates: Rates,
    /// 10^9 bytes, in all.
    pub gigabytes: Decimal,
    /// Months over which that is spread evenly. 1.
    pub months: u32,
    /// What the account sends in a month anyway. 0.
    pub other_gigabytes: Decimal,
    /// What else takes a price for a gigabyte on its way.
    pub hops: Vec<Hop>,
    /// 10^9 bits a second. 10: an ordinary dedicated line.
    pub line: Decimal,
    /// Of the line, what data gets. 1.
    pub line_share: Decimal,
}

/// Something on the way that takes a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Hop {
    /// A NAT gateway: 0.045 for each GB it passes on (AWS, us-east-1).
    Nat,
    /// From a zone to another: 0.01 for each GB on either side (AWS).
    Zones,
    /// From a region to another. 0.02 to 0.08 are asked, by the two regions.
    Region { price: Decimal },
}

impl Default for Transfer {
    fn default() -> Self {
        Self {
            rates: Rates::Aws,
            gigabytes: Decimal::ZERO,
            months: 1,
            other_gigabytes: Decimal::ZERO,
            hops: Vec::new(),
            line: 10.into(),
            line_share: one(),
        }
    }
}

impl Hop {
    /// Money for a GB.
    pub fn price(self) -> Decimal {
        match self {
            Self::Nat => decimal(45, 3),
            Self::Zones => decimal(2, 2),
            Self::Region { price } => price,
        }
    }

    /// Whether its price is AWS's, in US dollars, and not an entered one.
    pub fn is_listed(self) -> bool {
        !matches!(self, Self::Region { .. })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Nat => "NAT gateway",
            Self::Zones => "Between zones",
            Self::Region { .. } => "Between regions",
        }
    }
}

/// What moving it costs. The parts sum exactly to the total.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransferCost {
    /// Each tier that is reached, and each hop.
    pub parts: Vec<Figure>,
    pub total: Figure,
    /// What each GB amounts to. None where nothing is moved.
    pub per_gigabyte: Figure,
    /// What it takes at the line's rate.
    pub time: Figure,
}

impl Transfer {
    /// What it costs.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn cost(&self) -> Result<TransferCost, Refused> {
        // Prices that are odd are shown where it is known what a dollar is worth.
        check::transfer(self).warnings_or_refused()?;
        let mut parts = self.tiers();
        parts.extend(self.hops.iter().map(|hop| {
            figure(
                hop.name(),
                Some(product(&[self.gigabytes, hop.price()])),
                Unit::Money,
                "GB × price",
                vec![
                    term("GB", self.gigabytes, Unit::Gigabytes),
                    term("price", hop.price(), Unit::MoneyPerGigabyte),
                ],
            )
        }));
        let total: Decimal = parts.iter().filter_map(|part| part.value).sum();
        let moved = term("GB", self.gigabytes, Unit::Gigabytes);
        let bits = self.gigabytes.times(8);
        let seconds = quotient(bits, product(&[self.line, self.line_share]));
        Ok(TransferCost {
            total: figure("Moving it", Some(total), Unit::Money, "the sum of its parts", vec![moved.clone()]),
            per_gigabyte: figure(
                "A gigabyte",
                quotient(total, self.gigabytes),
                Unit::MoneyPerGigabyte,
                "cost ÷ GB",
                vec![term("cost", total, Unit::Money), moved.clone()],
            ),
            time: figure(
                "On the line",
                seconds.and_then(|seconds| quotient(seconds, 86_400.into())),
                Unit::Days,
                "GB × 8 ÷ (line × share) ÷ 86,400",
                vec![
                    moved,
                    term("line", self.line, Unit::GigabitsPerSecond),
                    term("share", self.line_share, Unit::Share),
                ],
            ),
            parts,
        })
    }

    /// What lies in each tier, in all months, and costs.
    fn tiers(&self) -> Vec<Figure> {
        let tariff = self.rates.tariff();
        let months = count(self.months);
        let monthly = quotient(tariff.units(self.gigabytes), months).unwrap_or_default();
        let before = tariff.units(self.other_gigabytes);
        let (sent, anyway) = (tariff.filled(before + monthly), tariff.filled(before));
        let tiers = tariff.tiers.iter().zip(sent.into_iter().zip(anyway));
        let reached = tiers.map(|(tier, (sent, anyway))| (tier, product(&[sent - anyway, months])));
        reached
            .filter(|(_, inside)| !inside.is_zero())
            .map(|(tier, inside)| {
                let price = term("price", tier.price, tariff.unit.price());
                let terms = vec![term("in the tier", inside, tariff.unit.figure()), price];
                let cost = product(&[inside, tier.price]);
                figure(tier.name(), Some(cost), Unit::Money, "in the tier × price", terms)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
