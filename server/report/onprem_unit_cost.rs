//! What hours of our own machines cost, with what runs them: one price, however hours are chosen and grouped.
//!
//! Power, space and staff are charges of their own: of no accelerator, of no project, and often a shared cost. So an hour
//! costs what everything owned of its account, which is its cluster, cost those whom a question is about ÷ their hours on it,
//! as their page says. Of the filters only those by who is charged say what it costs; the others choose among hours. What is
//! owned of accounts without hours goes with all of their hours. Where shared costs are divided, what is shared does so as
//! well, whoever looks: leads are shown no account of it.

use std::collections::BTreeMap;

use sqlx::PgConnection;

use super::{Answers, CostMetric, Error, Filter, Group, Grouping, HourlyWay, Question, Spend};
use crate::accelerator::accelerator_hours;
use crate::accounts::Viewer;
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Decimals of hours, and of a price.
const HOURS: u8 = 6;
/// Decimals of the cost of a way at least, and of what a price is made from.
const PLACES: u8 = 12;

impl Answers {
    /// Spend in groups, where on-prem GPU-hours of groups have no price.
    pub async fn spend(&self, db: &mut PgConnection, question: &Question) -> Result<Spend, Error> {
        let mut spend = self.added_up(&mut *db, question).await?;
        // Apart from those who wait for it: most answers have nothing of one's own.
        Box::pin(price(db, self, question, &mut spend)).await?;
        Ok(spend)
    }

    /// Spend in groups.
    pub async fn priced_spend(&self, db: &mut PgConnection, question: &Question) -> Result<Spend, Error> {
        let mut spend = self.spend(&mut *db, question).await?;
        Box::pin(price_groups(db, self, question, &mut spend)).await?;
        Ok(spend)
    }
}

/// Prices the on-prem GPU-hours of an answer, where its filters choose among what they cost. Without such filters what is owned
/// in it is all that they cost.
async fn price(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
    spend: &mut Spend,
) -> Result<(), Error> {
    if has_price(spend) && chooses(question) {
        let asked = question.of_everything().beside(spend);
        spend.cost_per_owned_hour = price_of(db, answers, &asked, spend.owned_hours).await?;
    }
    Ok(())
}

/// Prices the on-prem GPU-hours of each group of an answer. Days have none, since what is owned is paid for by the month.
async fn price_groups(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
    spend: &mut Spend,
) -> Result<(), Error> {
    if !has_price(spend) || question.by == Grouping::Day {
        return Ok(());
    }
    let asked = question.of_everything().beside(spend);
    if question.by == Grouping::Month {
        for group in &mut spend.groups {
            let month = group.key.as_deref().and_then(|key| key.parse::<BillingMonth>().ok());
            let Some(month) = month else { continue };
            let of_month = Question { period: month.into(), ..asked.clone() };
            group.cost_per_owned_hour = price_of(&mut *db, answers, &of_month, group.owned_hours).await?;
        }
        return Ok(());
    }
    if question.by.divides() {
        // Who is charged says what an hour costs them.
        let is_one = |group: &&mut Group| !group.is_folded;
        for group in spend.groups.iter_mut().filter(is_one) {
            let key = group.key.clone().unwrap_or_default();
            let theirs = asked.only(question.by.clone(), vec![key]);
            group.cost_per_owned_hour = price_of(&mut *db, answers, &theirs, group.owned_hours).await?;
        }
        return Ok(());
    }
    let is_divided = is_divided(&mut *db, answers, &asked).await?;
    let owned = Owned::of(&mut *db, answers, &asked, is_divided).await?;
    let on_accounts =
        Question { then: Some(Grouping::Account), ..direct(&asked, is_divided).by(asked.by.clone()) };
    let mut of_groups: BTreeMap<Option<String>, Vec<Group>> = BTreeMap::new();
    for group in answers.added_up(db, &on_accounts).await?.groups {
        of_groups.insert(group.key, group.groups);
    }
    for group in spend.groups.iter_mut().filter(|group| !group.is_folded) {
        let on_accounts = of_groups.remove(&group.key).unwrap_or_default();
        group.cost_per_owned_hour = owned.price(&on_accounts, group.owned_hours);
    }
    let rest: Vec<Group> = of_groups.into_values().flatten().collect();
    for group in spend.groups.iter_mut().filter(|group| group.is_folded) {
        group.cost_per_owned_hour = owned.price(&rest, group.owned_hours);
    }
    Ok(())
}

/// Billed cost has no price of an hour: a machine is billed when it is bought.
fn has_price(spend: &Spend) -> bool {
    spend.cost != CostMetric::Billed && !spend.owned_hours.is_zero()
}

/// Whether some filter chooses among charges, and not who is charged.
fn chooses(question: &Question) -> bool {
    question.filters.iter().any(|it| !it.dimension.divides())
}

/// What so many on-prem GPU-hours of a question cost each.
async fn price_of(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
    hours: Decimal,
) -> Result<Option<Decimal>, Error> {
    if hours.is_zero() {
        return Ok(None);
    }
    let is_divided = is_divided(&mut *db, answers, question).await?;
    let owned = Owned::of(&mut *db, answers, question, is_divided).await?;
    let on_accounts = answers.added_up(db, &direct(question, is_divided).by(Grouping::Account)).await?;
    Ok(owned.price(&on_accounts.groups, hours))
}

/// What of a question is owned and of accounts that are shown.
fn direct(question: &Question, is_divided: bool) -> Question {
    let owned = question.filtered(Filter::owned());
    if is_divided { owned.direct() } else { owned }
}

/// Whether shared costs are divided among those whom a question is about.
async fn is_divided(db: &mut PgConnection, answers: &Answers, question: &Question) -> Result<bool, Error> {
    if question.viewer == Viewer::Everything && !question.filters.iter().any(|it| it.dimension.divides()) {
        return Ok(false);
    }
    let sequence = super::as_of::as_of(&mut *db, question.sequence).await?;
    Ok(answers.snapshot(db, &question.by(Grouping::Pool), sequence).await?.allocation.is_needed())
}

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
    let charged = answers.added_up(db, &direct.unwrap_or(question).by(Grouping::Account)).await?;
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
        let direct = if is_divided { of_whom.direct() } else { of_whom.clone() };
        let direct = answers.added_up(&mut *db, &direct.by(Grouping::Account)).await?.groups;
        let (of_accounts, mut shared): (Vec<Group>, Vec<Group>) =
            direct.into_iter().partition(|it| !it.owned_hours.is_zero());
        if is_divided {
            let pools = answers.added_up(db, &of_whom.by(Grouping::Pool)).await?.groups;
            shared.extend(pools.into_iter().filter(|it| it.key.is_some()));
        }
        Ok(Self { of_accounts, shared })
    }

    /// What an hour costs of which so many are on each account, and the others shared; none where nothing of what they cost
    /// is known: an hour for 0 would be wrong, not cheap.
    fn price(&self, on_accounts: &[Group], hours: Decimal) -> Option<Decimal> {
        let sum = |groups: &[Group], of: fn(&Group) -> Decimal| groups.iter().map(of).sum::<Decimal>();
        let (shared_cost, shared_hours) =
            (sum(&self.shared, |it| it.owned_cost), sum(&self.shared, |it| it.owned_hours));
        let on_any = sum(&self.of_accounts, |it| it.owned_hours);
        let (cost, all) = (sum(&self.of_accounts, |it| it.owned_cost) + shared_cost, on_any + shared_hours);
        if cost.is_zero() {
            return None;
        }
        let (mut of_hours, mut rest) = (Decimal::ZERO, hours);
        for of_whom in &self.of_accounts {
            let on_account = on_accounts.iter().filter(|it| it.key == of_whom.key);
            let on_account: Decimal = on_account.map(|it| it.owned_hours).sum();
            // What is shared goes with the hours of all accounts alike.
            let alone = of_whom.owned_cost.multiply(on_any).divide(of_whom.owned_hours, PLACES)?;
            of_hours += (alone + shared_cost).divide(all, PLACES)?.multiply(on_account);
            rest -= on_account;
        }
        of_hours += cost.divide(all, PLACES)?.multiply(rest);
        of_hours.divide(hours, HOURS)
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
