//! A team's parts of shared costs, and the arithmetic behind each.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use uuid::Uuid;

use super::weight::{Reader, Scales, Weighed};
use super::{Item, Line, StatedPart, Way};
use crate::allocation::{Division, HoursOf, MonthConfiguration, Portion, Recipient, Split, division_of};
use crate::money::{Currency, Decimal};
use crate::report::as_of::Error;
use crate::report::{Answers, Grouping, Question};

/// The pools of a month: what each amounts to, and how it was divided.
pub(super) struct Pools<'a> {
    configuration: MonthConfiguration<'a>,
    division: Option<Division>,
    scales: Scales,
    /// By pool and part.
    totals: BTreeMap<(String, String), Decimal>,
}

impl<'a> Pools<'a> {
    pub async fn find(
        db: &mut PgConnection,
        answers: &Answers,
        asked: &Question,
        configuration: MonthConfiguration<'a>,
        division_id: Uuid,
    ) -> Result<Self, Error> {
        let division = division_of(db, division_id).await?;
        // Of a pool its whole is shown to everyone who pays a part of it.
        let totals = by_part(db, answers, &asked.of_organization()).await?;
        let scales = Scales::find(db, answers, asked, division.as_ref()).await?;
        Ok(Self { configuration, division, scales, totals })
    }

    /// A team's parts of them.
    pub async fn items(
        &self,
        db: &mut PgConnection,
        answers: &Answers,
        of_team: &Question,
        team: &str,
    ) -> Result<Vec<Item>, Error> {
        let mut parts = by_part(db, answers, of_team).await?;
        parts.retain(|_, exact| !exact.is_zero());
        let by_cost = |pool: &str| self.split(pool).is_some_and(|split| *split == Split::DirectCost);
        let own_cost = if parts.keys().any(|(pool, _)| by_cost(pool)) {
            self.scales.own_cost(db, answers, of_team).await?
        } else {
            Vec::new()
        };
        let item = |((pool, part), exact): ((String, String), Decimal)| Item {
            line: Line::Shared(Box::new(self.arithmetic(&pool, &part, team, &own_cost))),
            exact,
        };
        Ok(parts.into_iter().map(item).collect())
    }

    fn split(&self, pool: &str) -> Option<&Split> {
        self.configuration.pool(pool).map(|pool| &pool.split)
    }

    /// How a team's share of a pool came about.
    fn arithmetic(&self, pool: &str, part: &str, team: &str, own_cost: &[Weighed]) -> StatedPart {
        let named = |handle: &str| self.configuration.pool(handle).map_or(handle, |it| &it.name).to_owned();
        let split = self.split(pool);
        let pools = self.division.as_ref().map_or(&[][..], |division| &division.pools);
        let divided = pools.iter().find(|it| it.pool == pool && it.part == part);
        let portions = divided.map_or(&[][..], |divided| &divided.first);
        let to_pools = portions.iter().filter_map(|portion| match &portion.to {
            Recipient::Pool(next) => Some((next, portion.share)),
            Recipient::Team(_) => None,
        });
        let by_way_of = to_pools.filter_map(|(next, share)| {
            let onward = pools.iter().find(|it| it.pool == *next)?;
            Some(Way { name: named(next), share, handed_on: own(&onward.first, team)?.share })
        });
        let in_words = |reader| split.map(|split| self.scales.in_words(split, reader)).unwrap_or_default();
        let weight = own(portions, team).map(|portion| portion.weight);
        let shares = divided.into_iter().flat_map(|divided| &divided.shares);
        StatedPart {
            month: self.configuration.month,
            pool: pool.to_owned(),
            name: named(pool),
            part: Some(part.to_owned()).filter(|part| !part.is_empty()),
            total: self.totals.get(&(pool.to_owned(), part.to_owned())).copied().unwrap_or_default(),
            split: split.map(Split::in_words).unwrap_or_default(),
            split_on_page: split.map(Split::on_page).unwrap_or_default(),
            unit: split.map(|split| unit(split, self.scales.currency.as_ref())).unwrap_or_default(),
            weighs: in_words(Reader::Script),
            weighs_on_page: in_words(Reader::Person),
            weight_made_of: weight.and(split).map_or_else(Vec::new, |split| match split {
                Split::DirectCost => own_cost.to_vec(),
                _ => Vec::new(),
            }),
            weight,
            sum_of_weights: portions.iter().map(|portion| portion.weight).sum(),
            by_way_of: by_way_of.collect(),
            share: shares.filter(|it| it.team == team).map(|it| it.share).sum(),
            amount: Decimal::ZERO,
        }
    }
}

fn own<'a>(portions: &'a [Portion], team: &str) -> Option<&'a Portion> {
    portions.iter().find(|portion| matches!(&portion.to, Recipient::Team(to) if to == team))
}

/// What a question amounts to by pool and part; without what is in none.
async fn by_part(
    db: &mut PgConnection,
    answers: &Answers,
    asked: &Question,
) -> Result<BTreeMap<(String, String), Decimal>, Error> {
    let asked = Question { then: Some(Grouping::PoolPart), ..asked.by(Grouping::Pool) };
    let groups = answers.spend(db, &asked).await?.groups;
    let pools = groups.into_iter().filter_map(|group| Some((group.key?, group.groups)));
    let parts = pools.flat_map(|(pool, parts)| {
        parts.into_iter().map(move |part| ((pool.clone(), part.key.unwrap_or_default()), part.cost.amount))
    });
    Ok(parts.collect())
}

fn unit(split: &Split, currency: Option<&Currency>) -> String {
    match split {
        Split::Evenly | Split::Fixed { .. } => String::new(),
        Split::AcceleratorHours(hours) => match hours.of {
            HoursOf::All => "hours".to_owned(),
            one => one.in_words().to_owned(),
        },
        Split::Quantity { unit } => unit.clone(),
        Split::DirectCost | Split::WhoUsedIt => currency.map(ToString::to_string).unwrap_or_default(),
    }
}
