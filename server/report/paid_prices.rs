//! What an hour of each accelerator cost the organization by how it was bought, to stand beside list prices.

use serde::Serialize;
use sqlx::PgConnection;

use super::{Answers, Error, Filter, Grouping, Question, Unconverted};
use crate::accelerator::Model;
use crate::accounts::Viewer;
use crate::money::{Currency, Decimal};
use crate::period::Period;
use crate::price_catalogue::Tier;

/// Effective prices of a period.
#[derive(Clone, Debug, Serialize)]
pub struct PaidPrices {
    pub period: Period,
    pub currency: Currency,
    /// Currencies of which amounts were converted.
    pub converted_from: Vec<Currency>,
    pub prices: Vec<PaidPrice>,
    /// What no rate converts, and is in none of them.
    pub unconverted: Vec<Unconverted>,
}

/// The effective cost of an accelerator-hour that was paid for.
#[derive(Clone, Debug, Serialize)]
pub struct PaidPrice {
    /// `H100`, whichever its form: bills rarely say more.
    pub accelerator: String,
    /// `Standard`, `Committed` or `Dynamic`, as FOCUS has it.
    pub pricing: String,
    pub per_hour: Decimal,
    pub accelerator_hours: Decimal,
}

impl PaidPrices {
    /// The price of a model bought as a tier is.
    pub fn of(&self, model: &Model, tier: Tier) -> Option<&PaidPrice> {
        self.prices.iter().find(|it| it.accelerator == model.name && it.pricing == tier.category())
    }

    /// Where such a price is from, for a person and for a scenario.
    pub fn source(&self) -> String {
        format!("our own effective price, {}{}", self.period.name(), self.converted())
    }

    /// `, converted from EUR`; nothing where nothing was.
    pub fn converted(&self) -> String {
        let from: Vec<&str> = self.converted_from.iter().map(Currency::as_str).collect();
        if from.is_empty() { String::new() } else { format!(", converted from {}", from.join(" and ")) }
    }
}

impl Answers {
    /// Prices of a period, in one currency.
    pub async fn paid_prices(
        &self,
        db: &mut PgConnection,
        period: Period,
        currency: &Currency,
        viewer: Viewer,
    ) -> Result<PaidPrices, Error> {
        let question = Question {
            by: Grouping::Accelerator,
            then: Some(Grouping::Pricing),
            convert_into: Some(currency.clone()),
            // No list sells what is our own.
            filters: vec![Filter::owned().left_out()],
            ..Question::of(period, viewer)
        };
        let spend = self.spend(db, &question).await?;
        let mut prices = Vec::new();
        for group in &spend.groups {
            let Some(accelerator) = &group.key else { continue };
            for of_pricing in &group.groups {
                // What was given for nothing is no price.
                let per_hour = of_pricing.cost_per_accelerator_hour.filter(|it| *it > Decimal::ZERO);
                let (Some(pricing), Some(per_hour)) = (of_pricing.key.clone(), per_hour) else { continue };
                prices.push(PaidPrice {
                    accelerator: accelerator.clone(),
                    pricing,
                    per_hour,
                    accelerator_hours: of_pricing.accelerator_hours,
                });
            }
        }
        let mut converted_from: Vec<Currency> = spend.rates.iter().map(|it| it.currency.clone()).collect();
        converted_from.sort();
        converted_from.dedup();
        Ok(PaidPrices {
            period,
            currency: currency.clone(),
            converted_from,
            prices,
            unconverted: spend.unconverted,
        })
    }
}
