//! A line of a rate card.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::accelerator::{self, Recognized};
use crate::billing::{ChargeKey, PricingCategory};
use crate::money::{Currency, Decimal, from_cell};

/// The unit of prices for an hour of one accelerator, whatever the bill counts.
pub const GPU_HOUR: &str = "GPU-hour";

/// What a unit of some usage costs from one day to another. An empty condition holds for everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// As charges have it.
    pub provider: String,
    #[serde(default)]
    pub billing_account: String,
    /// The SKU, meter or instance type, as the bill writes one of them.
    #[serde(default)]
    pub sku: String,
    /// The id of a model in the catalog of accelerators.
    #[serde(default)]
    pub accelerator: String,
    #[serde(default)]
    pub region: String,
    /// A word of FOCUS.
    #[serde(default)]
    pub pricing: String,
    /// [`GPU_HOUR`], or the unit as the bill writes it.
    pub unit: String,
    /// For what lies above this quantity of the month.
    #[serde(default, deserialize_with = "from_cell")]
    pub from_quantity: Decimal,
    /// Of a unit.
    #[serde(deserialize_with = "from_cell")]
    pub price: Decimal,
    pub currency: Currency,
    /// The first day.
    pub valid_from: NaiveDate,
    /// The last day; none where it holds on.
    #[serde(default)]
    pub valid_to: Option<NaiveDate>,
    /// Where it is known from: an order form, a price list, a mail.
    #[serde(default)]
    pub source: String,
    /// The contract it belongs to, as people refer to it.
    #[serde(default)]
    pub contract: String,
}

/// Everything that decides which usage a rate is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Conditions([String; 8]);

impl Rate {
    pub(super) fn conditions(&self) -> Conditions {
        let Self { provider, billing_account, sku, accelerator, region, pricing, unit, currency, .. } = self;
        let currency = currency.to_string();
        let texts = [provider, billing_account, sku, accelerator, region, pricing, unit, &currency];
        Conditions(texts.map(|text| text.to_lowercase()))
    }

    /// Whether its prices are for hours of accelerators.
    pub fn is_per_gpu_hour(&self) -> bool {
        self.unit.eq_ignore_ascii_case(GPU_HOUR)
    }

    /// How particular it is for usage of a key that it fits: the number of its conditions, then which they are, whether it names the
    /// unit of the bill, and which of its columns the SKU is.
    pub(super) fn particularity(&self, key: &ChargeKey) -> (usize, [bool; 5], bool, [bool; 2]) {
        let conditions = [&self.billing_account, &self.sku, &self.accelerator, &self.region, &self.pricing]
            .map(|it| !it.is_empty());
        let count = conditions.into_iter().filter(|it| *it).count();
        let sku = [&key.sku, &key.meter].map(|it| self.sku.eq_ignore_ascii_case(it));
        (count, conditions, !self.is_per_gpu_hour(), sku)
    }

    /// Whether it is for usage of such a key, whatever the day and currency.
    pub(super) fn fits(&self, key: &ChargeKey, accelerator: Option<Recognized>) -> bool {
        let is = |condition: &str, found: &str| condition.is_empty() || condition.eq_ignore_ascii_case(found);
        let model = accelerator.map_or("", |it| it.model.id);
        let unit = if self.is_per_gpu_hour() {
            accelerator.is_some()
        } else {
            self.unit.trim().eq_ignore_ascii_case(key.unit.trim())
        };
        unit && self.provider.eq_ignore_ascii_case(&key.provider)
            && is(&self.billing_account, &key.billing_account)
            && [&key.sku, &key.meter, &key.instance_type].into_iter().any(|it| is(&self.sku, it))
            && is(&self.accelerator, model)
            && is(&self.region, &key.region)
            && is(&self.pricing, key.pricing.as_str())
    }

    pub fn holds_on(&self, day: NaiveDate) -> bool {
        self.valid_from <= day && self.valid_to.is_none_or(|last| day <= last)
    }

    /// Whether it is for the same usage, as a tier of the same price is.
    pub fn is_tier_with(&self, other: &Self) -> bool {
        self.conditions() == other.conditions()
    }

    pub(super) fn holds_with(&self, other: &Self) -> bool {
        let ends_before = |a: &Self, b: &Self| a.valid_to.is_some_and(|last| last < b.valid_from);
        !ends_before(self, other) && !ends_before(other, self)
    }

    /// Whether it begins where another one of the same usage holds on, and holds on itself: the next price of the same. One that ends
    /// would leave nothing behind it.
    pub fn follows(&self, other: &Self) -> bool {
        other.valid_to.is_none()
            && self.valid_to.is_none()
            && other.valid_from < self.valid_from
            && other.from_quantity == self.from_quantity
            && other.conditions() == self.conditions()
    }

    /// For a person: `CoreWeave, H100 SXM, Standard: 2.49 USD per GPU-hour`.
    pub fn title(&self) -> String {
        let mut words = vec![self.provider.as_str(), &self.billing_account, &self.sku];
        words.push(accelerator::model(&self.accelerator).map_or(&self.accelerator, |it| it.name));
        words.extend([self.region.as_str(), &self.pricing]);
        words.retain(|word| !word.is_empty());
        format!("{}: {} {} per {}", words.join(", "), self.price, self.currency, self.unit)
    }

    /// What is wrong with it by itself, and in which field.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let is_known = self.pricing.is_empty()
            || PricingCategory::parse(&self.pricing).is_some_and(|it| it.as_str() == self.pricing);
        if self.provider.is_empty() {
            return Some((
                "provider",
                "Enter the provider as imports name it, such as CoreWeave.".to_owned(),
            ));
        }
        if self.unit.is_empty() {
            return Some(("unit", format!("Enter {GPU_HOUR}, or the unit as the bill writes it.")));
        }
        if !is_known {
            return Some((
                "pricing",
                "Enter Standard, Committed, Dynamic or Other, or leave it empty.".to_owned(),
            ));
        }
        if !self.accelerator.is_empty() && accelerator::model(&self.accelerator).is_none() {
            let sentence = "Choose a model of the catalog, such as nvidia-h100-sxm, or leave it empty.";
            return Some(("accelerator", sentence.to_owned()));
        }
        if self.price.is_negative() {
            return Some(("price", "Enter 0 or more.".to_owned()));
        }
        if self.from_quantity.is_negative() {
            return Some(("from_quantity", "Enter 0 or more.".to_owned()));
        }
        match self.valid_to {
            Some(last) if last < self.valid_from => {
                Some(("valid_to", format!("Ends on {last}, before it begins on {}.", self.valid_from)))
            }
            _ => None,
        }
    }
}
