//! Why an hour owned costs a team what it does, beside what it costs everyone: what is direct, by what it was paid for and
//! for which accelerators, and what is its part of each shared cost. Each is divided by all hours owned; they sum to the price.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::PgConnection;

use super::as_of::Error;
use super::{Answers, Grouping, Question, Spend};
use crate::billing::PricingCategory;
use crate::money::Decimal;

/// Decimals of a price.
const PLACES: u8 = 6;
/// Decimals of what is added up before it is rounded to those.
const FINE: u8 = 18;
/// Decimals of what is stated.
const CENTS: u8 = 2;

/// The parts of a price. They sum to it, and those of everyone to that of everyone.
#[derive(Clone, Debug, Serialize)]
pub struct OwnedPrice {
    pub parts: Vec<OwnedPart>,
    pub cost: Decimal,
    pub owned_hours: Decimal,
    pub per_hour: Decimal,
    pub organization_per_hour: Decimal,
}

#[derive(Clone, Debug, Serialize)]
pub struct OwnedPart {
    /// The shared cost that it is a part of.
    pub pool: Option<String>,
    pub label: String,
    pub cost: Decimal,
    /// In cents that sum to those of all.
    pub stated: Decimal,
    pub per_hour: Decimal,
    pub organization_per_hour: Decimal,
    /// Of everyone what the team has nothing of.
    #[serde(skip)]
    pub is_of_others: bool,
}

/// What something that is owned cost: of a pool, or direct; and what it is called.
type Costs = BTreeMap<(Option<String>, String), Decimal>;

/// Takes the price of a team apart. `None` where it has none: without hours owned, and for billed cost.
pub(super) async fn owned_price(
    db: &mut PgConnection,
    answers: &Answers,
    of_team: &Question,
    by_pool: &Spend,
    everyone: &Spend,
) -> Result<Option<OwnedPrice>, Error> {
    let (Some(per_hour), Some(organization_per_hour)) =
        (by_pool.cost_per_owned_hour, everyone.cost_per_owned_hour)
    else {
        return Ok(None);
    };
    let theirs = costs(db, answers, of_team, by_pool).await?;
    let mut of_all = costs(db, answers, &of_team.of_organization(), everyone).await?;
    let mut parts: Vec<(OwnedPart, Decimal)> = Vec::new();
    for ((pool, label), cost) in theirs {
        let key = (pool, label);
        let of_everyone = of_all.remove(&key).unwrap_or_default();
        parts.push((OwnedPart::new(key, cost), of_everyone));
    }
    parts.sort_by_key(|(part, _)| (part.pool.is_some(), std::cmp::Reverse(part.cost)));
    let others: Decimal = of_all.into_values().sum();
    if !others.is_zero() {
        let label = "What others have and it has not".to_owned();
        parts
            .push((OwnedPart { is_of_others: true, ..OwnedPart::new((None, label), Decimal::ZERO) }, others));
    }
    let costs: Vec<Decimal> = parts.iter().map(|(part, _)| part.cost).collect();
    let of_everyone: Vec<Decimal> = parts.iter().map(|(_, cost)| *cost).collect();
    let stated = Decimal::round_parts(&costs, CENTS);
    let prices = each_hour(&costs, by_pool.owned_hours, per_hour);
    let of_everyone = each_hour(&of_everyone, everyone.owned_hours, organization_per_hour);
    let figures = stated.into_iter().zip(prices).zip(of_everyone);
    let parts = parts.into_iter().zip(figures).map(|((part, _), ((stated, per_hour), of_everyone))| {
        OwnedPart { stated, per_hour, organization_per_hour: of_everyone, ..part }
    });
    Ok(Some(OwnedPrice {
        parts: parts.collect(),
        cost: costs.into_iter().sum(),
        owned_hours: by_pool.owned_hours,
        per_hour,
        organization_per_hour,
    }))
}

/// What everything owned cost whom a question is about, with their parts of shared costs, of which one is told no more than
/// that.
async fn costs(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
    by_pool: &Spend,
) -> Result<Costs, Error> {
    let mut costs = Costs::new();
    for group in by_pool.groups.iter().filter(|group| group.key.is_some()) {
        *costs.entry((group.key.clone(), group.label.clone())).or_default() += group.owned_cost;
    }
    let direct = question.direct().only(Grouping::Pricing, vec![PricingCategory::Owned.as_str().to_owned()]);
    let direct = Question { then: Some(Grouping::Accelerator), ..direct.by(Grouping::Service) };
    for service in answers.spend(db, &direct).await?.groups {
        for group in service.groups {
            let label = match &group.key {
                Some(_) => format!("{}, {}", service.label, group.label),
                None => service.label.clone(),
            };
            *costs.entry((None, label)).or_default() += group.cost.amount;
        }
    }
    costs.retain(|_, cost| !cost.is_zero());
    Ok(costs)
}

/// Costs by the hour, such that they sum to the price of all.
fn each_hour(costs: &[Decimal], hours: Decimal, price: Decimal) -> Vec<Decimal> {
    let exact: Vec<Decimal> = costs.iter().map(|cost| cost.divide(hours, FINE).unwrap_or_default()).collect();
    Decimal::round_parts_to(&exact, price, PLACES)
}

impl OwnedPart {
    fn new((pool, label): (Option<String>, String), cost: Decimal) -> Self {
        Self {
            pool,
            label,
            cost,
            stated: Decimal::ZERO,
            per_hour: Decimal::ZERO,
            organization_per_hour: Decimal::ZERO,
            is_of_others: false,
        }
    }

    /// How much more an hour costs the team by it.
    pub fn difference(&self) -> Decimal {
        self.per_hour - self.organization_per_hour
    }
}

impl OwnedPrice {
    pub fn difference(&self) -> Decimal {
        self.per_hour - self.organization_per_hour
    }

    pub fn stated(&self) -> Decimal {
        self.parts.iter().map(|part| part.stated).sum()
    }
}
