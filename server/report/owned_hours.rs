//! What hours of our own machines cost, with what runs them.
//!
//! Power, space and staff are charges of their own: of no accelerator, of no project, and often a shared cost. So an hour
//! costs what everything owned of its account, which is its cluster, cost those whom a question is about ÷ their hours on it,
//! as their page says. Of the filters only those by who is charged say what it costs; the others choose among hours.
//! Where shared costs are divided, what is shared goes with all of their hours, whoever looks: leads are told no account of
//! it. So does what is theirs of clusters that they have no hours on.

use sqlx::PgConnection;

use super::{Answers, Error, Group, Grouping, HourlyWay, Question};
use crate::accelerator::accelerator_hours;
use crate::money::Decimal;

/// Decimals of hours.
const HOURS: u8 = 6;
/// Decimals of the cost of a way at least.
const PLACES: u8 = 12;

/// What the ways of a question cost.
pub(super) struct Costs {
    pub of_ways: Vec<Decimal>,
    /// What our own machines cost in them beyond what the question has of it.
    pub running: Decimal,
}

/// What everything owned cost those whom a question is about, and their hours on it.
struct Owned {
    /// The accounts that they have hours on.
    of_accounts: Vec<Group>,
    /// What goes with the hours of all of these.
    shared: Vec<Group>,
}

/// `direct` is the question without shared costs, whose ways these are; none where nothing is divided.
pub(super) async fn costs(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
    direct: Option<&Question>,
    ways: &[HourlyWay],
) -> Result<Costs, Error> {
    let mut of_ways: Vec<Decimal> = ways.iter().map(|it| it.cost).collect();
    if !ways.iter().any(HourlyWay::is_owned) {
        return Ok(Costs { of_ways, running: Decimal::ZERO });
    }
    let owned = Owned::of(&mut *db, answers, question, direct.is_some()).await?;
    owned.divide(&mut of_ways, ways);
    let charged = answers.spend(db, &direct.unwrap_or(question).by(Grouping::Account)).await?;
    let is_in_ways = |group: &&Group| {
        let has_ways = ways.iter().any(|it| it.is_owned() && it.account == account(group));
        has_ways || owned.of_accounts.iter().all(|it| it.key != group.key)
    };
    let charged: Decimal = charged.groups.iter().filter(is_in_ways).map(|it| it.owned_cost).sum();
    let owned = ways.iter().zip(&of_ways).filter(|(way, _)| way.is_owned());
    let owned: Decimal = owned.map(|(_, cost)| *cost).sum();
    Ok(Costs { of_ways, running: owned - charged })
}

fn account(group: &Group) -> &str {
    group.key.as_deref().unwrap_or_default()
}

impl Owned {
    async fn of(
        db: &mut PgConnection,
        answers: &Answers,
        question: &Question,
        is_divided: bool,
    ) -> Result<Self, Error> {
        let mut of_whom = question.clone();
        of_whom.filters.retain(|it| it.dimension.divides());
        if !is_divided {
            let of_accounts = answers.spend(db, &of_whom.by(Grouping::Account)).await?.groups;
            return Ok(Self { of_accounts, shared: Vec::new() });
        }
        let direct = answers.spend(&mut *db, &of_whom.direct().by(Grouping::Account)).await?.groups;
        let (of_accounts, mut shared): (Vec<Group>, Vec<Group>) =
            direct.into_iter().partition(|it| !it.owned_hours.is_zero());
        let pools = answers.spend(db, &of_whom.by(Grouping::Pool)).await?.groups;
        shared.extend(pools.into_iter().filter(|it| it.key.is_some()));
        Ok(Self { of_accounts, shared })
    }

    /// Gives each way that is owned its part of what its account and what is shared cost, by hours.
    fn divide(&self, costs: &mut [Decimal], ways: &[HourlyWay]) {
        let weights: Vec<Decimal> = self.of_accounts.iter().map(|it| it.owned_hours).collect();
        let by_hours = |of: fn(&Group) -> Decimal| {
            let whole: Decimal = self.shared.iter().map(of).sum();
            let parts = whole.apportion(&weights, PLACES.max(whole.scale()));
            parts.unwrap_or_else(|| vec![Decimal::ZERO; weights.len()])
        };
        let shared = by_hours(|it| it.owned_cost).into_iter().zip(by_hours(|it| it.owned_hours));
        for (group, (cost, hours)) in self.of_accounts.iter().zip(shared) {
            let among = |way: &HourlyWay| way.is_owned() && way.account == account(group);
            let parts = parts(ways, among, group.owned_cost + cost, group.owned_hours + hours);
            for (at, part) in parts.into_iter().flatten() {
                costs[at] = part;
            }
        }
    }
}

/// Of what so many hours cost, the parts of these ways; the hours that are no way's keep theirs.
fn parts(
    ways: &[HourlyWay],
    is_among: impl Fn(&HourlyWay) -> bool,
    cost: Decimal,
    of_hours: Decimal,
) -> Option<Vec<(usize, Decimal)>> {
    let among: Vec<usize> = (0..ways.len()).filter(|at| is_among(&ways[*at])).collect();
    let hours = |at: &usize| accelerator_hours(ways[*at].hours.iter().copied().sum(), HOURS);
    let mut weights: Vec<Decimal> = among.iter().map(hours).collect();
    let rest = of_hours - weights.iter().copied().sum::<Decimal>();
    weights.push(rest.max(Decimal::ZERO));
    let parts = cost.apportion(&weights, PLACES.max(cost.scale()))?;
    Some(among.into_iter().zip(parts).collect())
}
