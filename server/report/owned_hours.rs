//! What hours of our own machines cost, with what runs them.
//!
//! Power, space and staff are charges of their own: of no accelerator, of no project, and often a shared cost. So an hour
//! costs what everything owned of its account, which is its cluster, cost those whom a question is about ÷ their hours on it,
//! as their page says. Of the filters only those by who is charged say what it costs; the others choose among hours.
//! What leads are told of shared costs names no account, and goes with all of them by their hours.

use sqlx::PgConnection;

use super::question::SHARED;
use super::{Answers, Error, Group, Grouping, HourlyWay, Question};
use crate::accelerator::accelerator_hours;
use crate::accounts::Viewer;
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

/// `direct` is the question without shared costs, whose ways these are.
pub(super) async fn costs(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
    direct: &Question,
    ways: &[HourlyWay],
) -> Result<Costs, Error> {
    let mut of_ways: Vec<Decimal> = ways.iter().map(|it| it.cost).collect();
    if !ways.iter().any(HourlyWay::is_owned) {
        return Ok(Costs { of_ways, running: Decimal::ZERO });
    }
    let mut of_whom = question.by(Grouping::Account);
    of_whom.filters.retain(|it| it.dimension.divides());
    let of_whom = answers.spend(&mut *db, &of_whom).await?;
    divide(&mut of_ways, ways, &of_whom.groups, question.viewer != Viewer::Everything);
    let charged = answers.spend(db, &direct.by(Grouping::Account)).await?;
    let has_ways = |group: &&Group| ways.iter().any(|it| it.is_owned() && it.account == account(group));
    let charged: Decimal = charged.groups.iter().filter(has_ways).map(|it| it.owned_cost).sum();
    let owned = ways.iter().zip(&of_ways).filter(|(way, _)| way.is_owned());
    let owned: Decimal = owned.map(|(_, cost)| *cost).sum();
    Ok(Costs { of_ways, running: owned - charged })
}

fn account(group: &Group) -> &str {
    group.key.as_deref().unwrap_or_default()
}

/// Gives each way that is owned its part of what its account cost, by hours. What names no account goes with all of them,
/// by their hours.
fn divide(costs: &mut [Decimal], ways: &[HourlyWay], groups: &[Group], hides_pools: bool) {
    let is_shared = |group: &&Group| hides_pools && account(group).starts_with(SHARED);
    let (shared, of_accounts): (Vec<&Group>, Vec<&Group>) = groups.iter().partition(is_shared);
    let weights: Vec<Decimal> = of_accounts.iter().map(|it| it.owned_hours).collect();
    let by_hours = |whole: Decimal| {
        let parts = whole.apportion(&weights, PLACES.max(whole.scale()));
        parts.unwrap_or_else(|| vec![Decimal::ZERO; weights.len()])
    };
    let shared_costs = by_hours(shared.iter().map(|it| it.owned_cost).sum());
    let shared_hours = by_hours(shared.iter().map(|it| it.owned_hours).sum());
    for (group, (cost, hours)) in of_accounts.into_iter().zip(shared_costs.into_iter().zip(shared_hours)) {
        let among = |way: &HourlyWay| way.is_owned() && way.account == account(group);
        let parts = parts(ways, among, group.owned_cost + cost, group.owned_hours + hours);
        for (at, part) in parts.into_iter().flatten() {
            costs[at] = part;
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
