//! A price: an hour of one accelerator, as it was offered on a day; and the list that comes with the program.

use std::sync::LazyLock;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::accelerator::Accelerators;
use crate::enum_words::words;
use crate::money::{Currency, Decimal, from_cell};

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
    /// Of one accelerator and hour.
    #[serde(rename = "price", deserialize_with = "from_cell")]
    pub amount: Decimal,
    pub currency: Currency,
    /// Of the machine it is sold in, which may be a part of one; none where that is not known.
    #[serde(default, with = "parts")]
    pub gpus: Option<Accelerators>,
    /// What the supplier calls it; empty where that is not known.
    pub sku: String,
    pub region: String,
    /// That one agrees to, where it is known.
    #[serde(default)]
    pub term_months: Option<u32>,
    /// What is billed at least, and in steps of, where it is known.
    #[serde(default)]
    pub increment_seconds: Option<u32>,
    /// When it was read.
    pub date: NaiveDate,
    pub source: String,
}

words! {
    /// What one agrees to; `as_str` as files and addresses have it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Tier: as_str, name {
        OnDemand = "on-demand", "on demand";
        #[serde(rename = "1-year")]
        OneYear = "1-year", "1 year";
        #[serde(rename = "3-years")]
        ThreeYears = "3-years", "3 years";
        /// So many for some days or weeks, from a day on.
        Block = "block", "block";
        Spot = "spot", "spot";
        /// Of machines of many hosts.
        Marketplace = "marketplace", "marketplace";
    }
}

words! {
    /// For which hours a price is paid, and whether it holds; `as_str` as files have it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Paid: as_str, name {
        /// For those that are used, at a price that holds.
        PerUse = "per-use", "per hour used";
        /// For every hour of the term.
        Committed = "committed", "for every hour of the term";
        /// So much money an hour of the term, whatever it is used for.
        SpendCommitment = "spend-commitment", "a fixed amount per hour of the term";
        /// All of it before it begins.
        PrepaidBlock = "prepaid-block", "in advance";
        /// For those that are used, at a price of the day, and until somebody pays more.
        Market = "market", "per hour used, at the daily price";
    }
}

/// A price of a GPU-hour, and for which hours it is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "paid", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Payment {
    /// For the hours that are used: on demand, or spot at what an hour of it amounts to.
    PerUse { price: Decimal },
    /// For every hour of a term: a reservation, a committed use discount.
    Committed { price: Decimal },
}

impl Price {
    pub fn is_stale(&self, today: NaiveDate) -> bool {
        (today - self.date).num_days() > FRESH_DAYS
    }

    /// What makes two prices readings of one offer: the same of the same supplier, sold in the same way, whichever the
    /// day. Sixteen digits, for addresses.
    pub fn offer(&self) -> String {
        let Self { accelerator, supplier, tier, paid, currency, sku, region, term_months, .. } = self;
        let (tier, paid) = (tier.as_str(), paid.as_str());
        let term = term_months.map(|it| it.to_string()).unwrap_or_default();
        let mut hash = Sha256::new();
        for part in [accelerator, supplier, tier, paid, currency.as_str(), sku, region, &term] {
            hash.update(part.trim().to_lowercase());
            hash.update([0]);
        }
        let first = hash.finalize().iter().take(8).fold(0u64, |id, byte| id << 8 | u64::from(*byte));
        format!("{first:016x}")
    }

    /// For a person: `p5.48xlarge, us-east-1`; empty where neither is known.
    pub fn what(&self) -> String {
        let parts = [self.sku.as_str(), self.region.as_str()];
        parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

impl Paid {
    /// A price of this kind, as break-even asks for it.
    pub fn payment(self, price: Decimal) -> Payment {
        if self.is_of_every_hour() { Payment::Committed { price } } else { Payment::PerUse { price } }
    }

    /// Whether it is paid for hours that are not used, too.
    pub fn is_of_every_hour(self) -> bool {
        match self {
            Self::PerUse | Self::Market => false,
            Self::Committed | Self::SpendCommitment | Self::PrepaidBlock => true,
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str().eq_ignore_ascii_case(text.trim()))
    }
}

impl Tier {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str().eq_ignore_ascii_case(text.trim()))
    }

    /// How it is mostly paid.
    pub fn usually(self) -> Paid {
        match self {
            Self::OnDemand => Paid::PerUse,
            Self::OneYear | Self::ThreeYears => Paid::Committed,
            Self::Block => Paid::PrepaidBlock,
            Self::Spot | Self::Marketplace => Paid::Market,
        }
    }

    /// Whether something of this tier can be paid so.
    pub fn takes(self, paid: Paid) -> bool {
        match self {
            Self::OnDemand => paid == Paid::PerUse,
            Self::OneYear | Self::ThreeYears => matches!(paid, Paid::Committed | Paid::SpendCommitment),
            Self::Block => matches!(paid, Paid::PrepaidBlock | Paid::Committed),
            Self::Spot => paid == Paid::Market,
            Self::Marketplace => matches!(paid, Paid::Market | Paid::PerUse),
        }
    }

    pub fn months(self) -> Option<u32> {
        match self {
            Self::OneYear => Some(12),
            Self::ThreeYears => Some(36),
            _ => None,
        }
    }

    /// What FOCUS calls what is bought so.
    pub fn category(self) -> &'static str {
        match self {
            Self::OnDemand => "Standard",
            Self::OneYear | Self::ThreeYears | Self::Block => "Committed",
            Self::Spot | Self::Marketplace => "Dynamic",
        }
    }
}

static PRICES: LazyLock<Vec<Price>> = LazyLock::new(|| {
    let mut rows = csv::Reader::from_reader(include_bytes!("shipped.csv").as_slice());
    // The file is a part of the program; a test reads all of it.
    rows.deserialize().filter_map(Result::ok).collect()
});

/// Every price that comes with the program.
pub(super) fn shipped() -> &'static [Price] {
    &PRICES
}

/// `8`, or `1/6` of one; nothing where it is not known.
mod parts {
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    use crate::accelerator::Accelerators;

    #[expect(clippy::ref_option, reason = "serde passes the field")]
    pub(super) fn serialize<S: Serializer>(
        gpus: &Option<Accelerators>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match gpus {
            Some(gpus) => serializer.collect_str(gpus),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Accelerators>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?.filter(|it| !it.is_empty());
        text.map(|it| it.parse().map_err(de::Error::custom)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accelerator;
    use crate::price_catalogue::Catalogue;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn every_line_of_the_list_is_read_and_makes_sense() {
        assert_eq!(shipped().len(), include_str!("shipped.csv").lines().count() - 1);
        for price in shipped() {
            assert!(accelerator::model(&price.accelerator).is_some(), "{}", price.accelerator);
            assert!(price.amount > Decimal::ZERO && price.amount < 30.into(), "{price:?}");
            assert!(price.source.len() > 4 && price.date >= day("2024-11-21"), "{price:?}");
            assert!(price.tier.takes(price.paid), "{price:?}");
            assert_eq!(price.term_months, price.tier.months(), "{price:?}");
            assert_eq!(price.currency.as_str(), "USD");
        }
    }

    #[test]
    fn a_supplier_has_one_offer_of_a_model_and_tier_in_the_list() {
        let mut seen = std::collections::BTreeSet::new();
        for listed in Catalogue::shipped().listed() {
            let price = &listed.price;
            assert!(seen.insert((&price.accelerator, &price.supplier, price.tier)), "twice: {price:?}");
        }
    }

    /// An instance type has as many accelerators as the catalog of accelerators says.
    #[test]
    fn machines_of_the_list_are_those_of_the_catalog_of_accelerators() {
        let mut known = 0;
        for price in shipped() {
            let Some(instance) = accelerator::find_instance(&price.supplier, &price.sku) else { continue };
            assert_eq!(instance.model.id, price.accelerator, "{price:?}");
            // Some prices are stated for one accelerator of the machine.
            if price.gpus.is_some() {
                known += usize::from(price.gpus == Some(instance.accelerators));
            }
        }
        assert!(known > 30, "{known}");
    }

    #[test]
    fn words_of_files_are_read_back() {
        for tier in Tier::ALL {
            assert_eq!(Tier::parse(tier.as_str()), Some(tier));
            assert_eq!(serde_json::to_value(tier).unwrap(), tier.as_str());
            assert!(tier.takes(tier.usually()));
        }
        for paid in Paid::ALL {
            assert_eq!(Paid::parse(paid.as_str()), Some(paid));
            assert_eq!(serde_json::to_value(paid).unwrap(), paid.as_str());
            assert!(Tier::ALL.iter().any(|tier| tier.takes(paid)));
        }
    }

    #[test]
    fn a_price_is_the_same_after_it_was_written_down() {
        for price in shipped() {
            let text = serde_json::to_string(price).unwrap();
            assert_eq!(serde_json::from_str::<Price>(&text).unwrap(), *price);
        }
    }

    #[test]
    fn two_readings_are_of_one_offer_whatever_their_day_and_amount() {
        let first = shipped()[0].clone();
        let later = Price { date: day("2030-01-01"), amount: 1.into(), source: "x".into(), ..first.clone() };
        let shouted = Price { supplier: first.supplier.to_uppercase(), ..first.clone() };
        let elsewhere = Price { region: "eu-north-1".into(), ..first.clone() };
        assert_eq!(first.offer(), later.offer());
        assert_eq!(first.offer(), shouted.offer());
        assert_ne!(first.offer(), elsewhere.offer());
    }

    #[test]
    fn a_price_is_stale_after_half_a_year() {
        let price = Price { date: day("2026-01-01"), ..shipped()[0].clone() };
        assert!(!price.is_stale(day("2026-06-30")));
        assert!(price.is_stale(day("2026-07-01")));
    }
}
