//! Why an hour owned costs a team what it does, beside what it costs everyone: what is direct, by what it was paid for and
//! for which accelerators, and what is its part of each shared cost. Each is divided by all on-prem GPU-hours; they sum to the price.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::PgConnection;

use super::as_of::Error;
use super::{Answers, Filter, Grouping, Question, Spend};
use crate::money::Decimal;

/// Decimals of a price.
const PLACES: u8 = 6;
/// Decimals of what is added up before it is rounded to those.
const FINE: u8 = 18;
/// Decimals of what is stated.
const CENTS: u8 = 2;

/// The parts of a price, which sum to it. Of everyone the price of what is direct is shown in one figure: by its parts it
/// would tell what another team's machines cost.
#[derive(Clone, Debug, Serialize)]
pub struct OwnedPrice {
    pub parts: Vec<OwnedPart>,
    /// The direct parts together; with the shared ones they sum to both prices.
    pub direct: OwnedPart,
    pub cost: Decimal,
    pub owned_hours: Decimal,
    /// Of them, those of machines that are the team's alone. The others are its part of machines that are shared.
    pub direct_hours: Decimal,
    pub per_hour: Decimal,
    pub organization_per_hour: Decimal,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct OwnedPart {
    /// The shared cost that it is a part of.
    pub pool: Option<String>,
    pub label: String,
    pub cost: Decimal,
    /// In cents that sum to those of all.
    pub stated: Decimal,
    pub per_hour: Decimal,
    /// None of a part of what is direct.
    pub organization_per_hour: Option<Decimal>,
    /// Of everyone what the team has no part of.
    #[serde(skip)]
    pub is_of_others: bool,
}

/// What something that is owned cost: of a pool, or direct; and what it is called.
type Costs = BTreeMap<(Option<String>, String), Decimal>;

/// Takes the price of a team apart. `None` where it has none: without on-prem GPU-hours, and for billed cost.
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
    let of_all = costs(db, answers, &of_team.of_organization(), everyone).await?;
    let is_direct = |((pool, _), _): &(&(Option<String>, String), &Decimal)| pool.is_none();
    let direct_of_all: Decimal = of_all.iter().filter(is_direct).map(|(_, cost)| *cost).sum();
    let (mut direct, mut shared): (Vec<_>, Vec<_>) =
        theirs.into_iter().map(|(key, cost)| OwnedPart::new(key, cost)).partition(|it| it.pool.is_none());
    for parts in [&mut direct, &mut shared] {
        parts.sort_by_key(|part| std::cmp::Reverse(part.cost));
    }
    let of_pool = |part: &OwnedPart| {
        let key = (part.pool.clone(), part.label.clone());
        of_all.get(&key).copied().unwrap_or_default()
    };
    let mut shared_of_all: Vec<Decimal> = shared.iter().map(of_pool).collect();
    let all: Decimal = of_all.values().copied().sum();
    let others = all - direct_of_all - shared_of_all.iter().copied().sum::<Decimal>();
    if !others.is_zero() {
        let key = (None, "Shared costs that it has no part of".to_owned());
        shared.push(OwnedPart { is_of_others: true, ..OwnedPart::new(key, Decimal::ZERO) });
        shared_of_all.push(others);
    }

    // What is direct first, in one figure.
    let cost_of = |parts: &[OwnedPart]| parts.iter().map(|it| it.cost).collect::<Vec<Decimal>>();
    let direct_cost: Decimal = cost_of(&direct).into_iter().sum();
    let prices = each_hour(&[&[direct_cost][..], &cost_of(&shared)].concat(), by_pool.owned_hours, per_hour);
    let of_everyone = [&[direct_of_all][..], &shared_of_all].concat();
    let of_everyone = each_hour(&of_everyone, everyone.owned_hours, organization_per_hour);
    for ((part, per_hour), of_all) in shared.iter_mut().zip(&prices[1..]).zip(&of_everyone[1..]) {
        (part.per_hour, part.organization_per_hour) = (*per_hour, Some(*of_all));
    }
    let each = each_hour(&cost_of(&direct), by_pool.owned_hours, prices[0]);
    for (part, per_hour) in direct.iter_mut().zip(each) {
        part.per_hour = per_hour;
    }
    let mut parts = [direct, shared].concat();
    let stated = Decimal::round_parts(&cost_of(&parts), CENTS);
    for (part, stated) in parts.iter_mut().zip(stated) {
        part.stated = stated;
    }
    let direct = OwnedPart {
        stated: parts.iter().filter(|it| it.organization_per_hour.is_none()).map(|it| it.stated).sum(),
        per_hour: prices[0],
        organization_per_hour: Some(of_everyone[0]),
        ..OwnedPart::new((None, "Direct".to_owned()), direct_cost)
    };
    Ok(Some(OwnedPrice {
        cost: parts.iter().map(|it| it.cost).sum(),
        parts,
        direct,
        owned_hours: by_pool.owned_hours,
        // What has no pool.
        direct_hours: by_pool.groups.iter().filter(|it| it.key.is_none()).map(|it| it.owned_hours).sum(),
        per_hour,
        organization_per_hour,
    }))
}

/// What everything owned cost whom a question is about, with their parts of shared costs, of which one is shown no more than
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
    let direct = question.direct().filtered(Filter::owned());
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
        Self { pool, label, cost, ..Self::default() }
    }

    /// How much more an hour costs the team by it; none of a part of what is direct.
    pub fn difference(&self) -> Option<Decimal> {
        self.organization_per_hour.map(|of_everyone| self.per_hour - of_everyone)
    }
}

impl OwnedPrice {
    pub fn difference(&self) -> Decimal {
        self.per_hour - self.organization_per_hour
    }

    pub fn shared_hours(&self) -> Decimal {
        self.owned_hours - self.direct_hours
    }

    /// The parts of what is direct.
    pub fn of_direct(&self) -> impl Iterator<Item = &OwnedPart> {
        self.parts.iter().filter(|part| part.organization_per_hour.is_none())
    }

    /// What is direct together, and each shared cost.
    pub fn compared(&self) -> impl Iterator<Item = &OwnedPart> {
        let shared = self.parts.iter().filter(|part| part.organization_per_hour.is_some());
        std::iter::once(&self.direct).chain(shared)
    }

    pub fn stated(&self) -> Decimal {
        self.parts.iter().map(|part| part.stated).sum()
    }
}
