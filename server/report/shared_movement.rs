//! Why a team's part of shared costs changed: because all of a cost did, or because the team's share of it did.

use serde::Serialize;
use sqlx::PgConnection;

use super::as_of::Error;
use super::variance::scaled;
use super::{Answers, Group, Grouping, Movement, Parts, Question};
use crate::money::{Currency, Decimal};

/// A team's part of a shared cost in a period and the one before. `by_total` and `by_share` sum to the change exactly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SharedMovement {
    pub pool: String,
    pub name: String,
    pub previous: Decimal,
    pub cost: Decimal,
    pub change: Decimal,
    /// The whole cost, before and now.
    pub pool_previous: Decimal,
    pub pool_cost: Decimal,
    /// More or less of the whole, at the share before.
    pub by_total: Decimal,
    /// Another share of it.
    pub by_share: Decimal,
    #[serde(skip)]
    currency: Currency,
}

/// Why what a team is charged changed: the parts of what is direct of the teams inside it all along, what is direct of those
/// that joined or left, and the two parts of what is shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TeamParts {
    #[serde(flatten)]
    pub direct: Parts,
    pub moved_teams: Decimal,
    pub shared_total: Decimal,
    pub shared_share: Decimal,
}

impl TeamParts {
    pub(super) fn of(direct: &Parts, moved_teams: Option<&Movement>, shared: &[SharedMovement]) -> Self {
        Self {
            direct: *direct,
            moved_teams: moved_teams.map(|moved| moved.change).unwrap_or_default(),
            shared_total: shared.iter().map(|it| it.by_total).sum(),
            shared_share: shared.iter().map(|it| it.by_share).sum(),
        }
    }

    pub fn total(&self) -> Decimal {
        self.direct.total() + self.moved_teams + self.shared_total + self.shared_share
    }
}

/// Of each shared cost that a team has a part in, why that part changed. Of the whole everybody with a part is shown
/// what it amounts to.
pub(super) async fn shared_movements(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
    parts: &[Group],
) -> Result<Vec<SharedMovement>, Error> {
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    let whole = answers.spend(db, &question.of_organization().by(Grouping::Pool)).await?.groups;
    let movement = |part: &Group| {
        let of_pool = whole.iter().find(|group| group.key == part.key);
        let pool_previous = of_pool.map(Group::previous_cost).unwrap_or_default();
        let pool_cost = of_pool.map(|group| group.cost.amount).unwrap_or_default();
        let (previous, cost) = (part.previous_cost(), part.cost.amount);
        let (by_total, by_share) = distinguished(previous, cost, pool_previous, pool_cost);
        SharedMovement {
            pool: part.key.clone().unwrap_or_default(),
            name: part.label.clone(),
            previous,
            cost,
            change: cost - previous,
            pool_previous,
            pool_cost,
            by_total,
            by_share,
            currency: part.cost.currency.clone(),
        }
    };
    Ok(parts.iter().map(movement).collect())
}

/// What a part would have become at the share before, and what is left. A cost that was not there before is new
/// altogether.
fn distinguished(
    previous: Decimal,
    cost: Decimal,
    pool_previous: Decimal,
    pool_cost: Decimal,
) -> (Decimal, Decimal) {
    let change = cost - previous;
    let by_total = scaled(previous, pool_cost, pool_previous)
        .map_or(change, |at_share_before| at_share_before - previous);
    (by_total, change - by_total)
}

impl SharedMovement {
    /// What the list of a team's movements calls it.
    pub fn title(&self) -> String {
        format!("Shared: {}", self.name)
    }

    pub(super) fn as_movement(&self) -> Movement {
        Movement::named(self.title(), self.previous, self.cost, self.currency.clone())
    }
}

impl Movement {
    /// Of something that is no item of a bill and goes by a name of its own.
    pub(super) fn named(item: String, previous: Decimal, cost: Decimal, currency: Currency) -> Self {
        let change = cost - previous;
        Self {
            provider: String::new(),
            service: String::new(),
            item,
            region: String::new(),
            category: String::new(),
            accelerator: None,
            shared: None,
            previous,
            cost,
            change,
            parts: Parts { other: change, ..Parts::default() },
            unit: String::new(),
            previous_quantity: Decimal::ZERO,
            quantity: Decimal::ZERO,
            price_currency: currency,
            previous_price: None,
            price: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_change_is_of_the_whole_or_of_the_share() {
        for (previous, cost, pool_previous, pool_cost, by_total, by_share) in [
            // A fifth of 100, then of 150.
            ("20", "30", "100", "150", "10", "0"),
            ("20", "40", "100", "100", "0", "20"),
            // A fifth of 100, then a tenth of 300.
            ("20", "30", "100", "300", "40", "-30"),
            ("0", "30", "0", "150", "30", "0"),
            ("0", "30", "100", "150", "0", "30"),
            ("20", "0", "100", "0", "-20", "0"),
            ("20", "0", "100", "50", "-10", "-10"),
        ] {
            let [previous, cost, pool_previous, pool_cost, by_total, by_share] =
                [previous, cost, pool_previous, pool_cost, by_total, by_share]
                    .map(|text| text.parse::<Decimal>().unwrap().normalize());
            let described = distinguished(previous, cost, pool_previous, pool_cost);
            assert_eq!((described.0.normalize(), described.1.normalize()), (by_total, by_share));
        }
    }

    proptest! {
        #[test]
        fn both_sum_to_the_change(amounts in any::<[i64; 4]>(), scale in 0u8..28) {
            let [previous, cost, before, now] = amounts.map(|amount| Decimal::new(amount.into(), scale));
            let (by_total, by_share) = distinguished(previous, cost, before, now);
            prop_assert_eq!(by_total + by_share, cost - previous);
        }
    }
}
