//! What a month would lose if a delivery replaced what it holds: measured before anyone decides, so that nobody shrinks a
//! month unseen ([why](../../docs/decisions/imports-that-would-shrink-a-month-need-a-decision.md)).
//!
//! Measured are rows, cost, what was bought (keys without their tags), services, and machines with accelerators. Tags and
//! the order of rows may change freely.

use std::collections::BTreeSet;
use std::fmt;

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::PgConnection;

use super::Scope;
use super::part::{self, PartBy};
use super::renamed_scopes::Formerly;
use crate::enum_words::{words, written_as_str};
use crate::money::{Decimal, written};
use crate::period::BillingMonth;

/// Services named with what they would lose.
const NAMED: usize = 3;

words! {
    /// What is measured of a month, and has a limit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Measure: as_str {
        Rows = "rows";
        Cost = "cost";
        Keys = "keys";
        Services = "services";
        Resources = "resources";
    }
}

written_as_str!(Measure);

/// Of each measure, the percentage that an import may lose of what it replaces before somebody is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Limits(Vec<(Measure, Decimal)>);

impl Limits {
    pub fn of(&self, measure: Measure) -> Decimal {
        self.0.iter().find(|(of, _)| *of == measure).map_or(Decimal::ZERO, |(_, percent)| *percent)
    }

    fn are_exceeded(&self, measure: Measure, lost: Decimal, before: Decimal) -> bool {
        lost.times(100) > before.multiply(self.of(measure))
    }
}

/// The limits in force.
pub async fn limits(db: &mut PgConnection) -> sqlx::Result<Limits> {
    let rows = sqlx::query!(r#"select measure, percent as "percent: Decimal" from replacement_limits"#)
        .fetch_all(db)
        .await?;
    Ok(Limits(rows.into_iter().filter_map(|row| Some((row.measure.parse().ok()?, row.percent))).collect()))
}

/// Decimals of a limit. More would mean nothing, and amounts are multiplied by it.
const LIMIT_DECIMALS: u8 = 2;

/// Whether this can be a limit: a percentage from 0 to 100 with at most two decimals.
pub fn is_limit(percent: Decimal) -> bool {
    percent.normalize().scale() <= LIMIT_DECIMALS && !percent.is_negative() && percent <= Decimal::from(100)
}

/// Sets the limit of a measure. True where it was another one; the database refuses what [is none](is_limit).
pub async fn set_limit(db: &mut PgConnection, measure: Measure, percent: Decimal) -> sqlx::Result<bool> {
    let set = sqlx::query!(
        "update replacement_limits set percent = $2 where measure = $1 and percent <> $2",
        measure.as_str(),
        percent as Decimal,
    )
    .execute(db)
    .await?;
    Ok(set.rows_affected() > 0)
}

/// What a month of an account would lose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    rows: Lost,
    keys: Lost,
    services: Lost,
    resources: Lost,
    /// Machines that are not there yet.
    new_resources: i64,
    /// Costs that would fall by more than the limit, or that it does not state.
    costs: Vec<CostLoss>,
    /// Largest first.
    by_service: Vec<ServiceLoss>,
    limits: Limits,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lost {
    lost: i64,
    of: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct CostLoss {
    kind: &'static str,
    currency: String,
    before: Decimal,
    /// `None` where the delivery does not state this cost.
    after: Option<Decimal>,
}

/// A service and what it was billed, now and afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ServiceLoss {
    service: String,
    currency: String,
    before: Decimal,
    after: Decimal,
}

/// A scope of a delivery, and what would be replaced there.
pub struct Replaced {
    pub scope_id: i64,
    pub scope: Scope,
    pub deliveries: Vec<i64>,
    /// The delivery is a slice, and what is there states the whole month.
    pub takes_whole: bool,
    pub loss: Option<Loss>,
    pub part: Option<PartBy>,
}

/// What a delivery would replace, as it was when this was measured.
#[derive(Default)]
pub struct Measured {
    pub replaced: Vec<Replaced>,
    /// A file of its name is among what it would replace: it was delivered before.
    pub is_again: bool,
    /// What it would replace is of another export: most likely it states the same.
    pub is_other_export: bool,
}

impl Measured {
    /// Whether what is active in its scopes is still what was measured.
    pub async fn still_holds(&self, db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<bool> {
        let now = replaced(db, delivery_id).await?;
        let pair = |scope: &Replaced| (scope.scope_id, scope.deliveries.clone(), scope.takes_whole);
        Ok(now.iter().map(|(scope, _)| pair(scope)).eq(self.replaced.iter().map(pair)))
    }

    /// The scopes in which a slice that is published to replace stands for the whole month.
    pub fn whole_scopes(&self) -> Vec<i64> {
        self.replaced.iter().filter(|scope| scope.takes_whole).map(|scope| scope.scope_id).collect()
    }
}

/// Measures what each scope of a delivery would lose if it replaced what is active there. A scope that has a new name, of
/// `formerly`, loses what is in none of those that the delivery calls it.
pub async fn measure(
    db: &mut PgConnection,
    delivery_id: i64,
    formerly: &[Formerly],
) -> sqlx::Result<Measured> {
    let limits = limits(&mut *db).await?;
    let own_files = files(&mut *db, delivery_id).await?;
    let found = replaced(&mut *db, delivery_id).await?;
    // What is delivered again is no other part, whichever file it looks like the next one of.
    let is_again = found.iter().any(|(_, context)| context.has_one_of(&own_files));
    let is_other_export = found.iter().any(|(_, context)| context.is_other_export);
    let mut measured = Vec::new();
    for (mut scope, context) in found {
        let mut after = Held::default();
        for renamed in formerly.iter().filter(|it| it.name == scope.scope) {
            after.push(renamed.now_id, delivery_id);
        }
        if after.scopes.is_empty() {
            after.push(scope.scope_id, delivery_id);
        }
        let before = Held::of(scope.scope_id, &scope.deliveries);
        let loss = if context.is_other_export {
            across_exports(&mut *db, &before, &after, &limits).await?
        } else {
            between(&mut *db, scope.scope.month, &before, &after, &limits).await?
        };
        scope.part = if is_again { None } else { context.part(&own_files, loss.as_ref()) };
        scope.loss = loss.filter(Loss::asks);
        measured.push(scope);
    }
    Ok(Measured { replaced: measured, is_again, is_other_export })
}

/// Deliveries, each in a scope.
#[derive(Default)]
pub(super) struct Held {
    scopes: Vec<i64>,
    deliveries: Vec<i64>,
}

impl Held {
    pub(super) fn of(scope_id: i64, deliveries: &[i64]) -> Self {
        Self { scopes: vec![scope_id; deliveries.len()], deliveries: deliveries.to_vec() }
    }

    pub(super) fn push(&mut self, scope_id: i64, delivery_id: i64) {
        self.scopes.push(scope_id);
        self.deliveries.push(delivery_id);
    }
}

/// What of a month is on one side and not on the other; `None` where there is nothing of the kind.
pub(super) async fn between(
    db: &mut PgConnection,
    month: BillingMonth,
    before: &Held,
    after: &Held,
    limits: &Limits,
) -> sqlx::Result<Option<Loss>> {
    let costs = costs(&mut *db, before, after, limits).await?;
    let by_key = sqlx::query_file!(
        "server/ledger/loss_by_key.sql",
        month.first_day(),
        &before.scopes,
        &before.deliveries,
        &after.scopes,
        &after.deliveries,
    )
    .fetch_one(&mut *db)
    .await?;
    let rows_are_lost = limits.are_exceeded(Measure::Rows, by_key.lost_rows.into(), by_key.rows.into());
    // Most imports of a month hold all that the one before held, and end here.
    if by_key.lost_keys == 0 && !rows_are_lost && costs.is_empty() {
        return Ok(None);
    }
    look_closer(db, month, (before, after), costs, limits).await.map(Some)
}

/// What a month would lose to another export of it: cost alone, since services, usage and machines have other names there, and
/// one row may be several.
async fn across_exports(
    db: &mut PgConnection,
    before: &Held,
    after: &Held,
    limits: &Limits,
) -> sqlx::Result<Option<Loss>> {
    let costs = costs(db, before, after, limits).await?;
    Ok((!costs.is_empty()).then(|| Loss { costs, limits: limits.clone(), ..Loss::default() }))
}

/// What is needed to recognize parts of one export.
struct Context {
    is_other_export: bool,
    files: BTreeSet<String>,
    days: BTreeSet<NaiveDate>,
    own_days: BTreeSet<NaiveDate>,
}

impl Context {
    fn has_one_of(&self, own_files: &[String]) -> bool {
        own_files.iter().any(|own| self.files.iter().any(|file| part::is_same_by_name(own, file)))
    }

    fn part(&self, own_files: &[String], loss: Option<&Loss>) -> Option<PartBy> {
        if self.is_other_export {
            return None;
        }
        let is_next = |own: &String| self.files.iter().any(|file| part::is_next_by_name(own, file));
        if !own_files.is_empty() && own_files.iter().all(is_next) {
            return Some(PartBy::Name);
        }
        if part::follows_by_days(&self.own_days, &self.days) {
            return Some(PartBy::Days);
        }
        loss.is_some_and(Loss::is_of_other_keys).then_some(PartBy::Keys)
    }
}

async fn files(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar!(
        "select name from delivery_files where delivery_id = $1 order by file_no",
        delivery_id
    )
    .fetch_all(db)
    .await
}

/// The scopes of a delivery in which others count that it would replace.
async fn replaced(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Vec<(Replaced, Context)>> {
    let rows = sqlx::query_file!("server/ledger/replaced.sql", delivery_id).fetch_all(db).await?;
    let mut found: Vec<(Replaced, Context)> = Vec::new();
    for row in rows {
        if found.last().is_none_or(|(scope, _)| scope.scope_id != row.scope_id) {
            let scope = Scope {
                provider: row.provider,
                billing_account: row.billing_account,
                month: BillingMonth::of(row.billing_month),
            };
            let replaced = Replaced {
                scope_id: row.scope_id,
                scope,
                deliveries: Vec::new(),
                takes_whole: row.takes_whole,
                loss: None,
                part: None,
            };
            let own_days = row.own_days.into_iter().collect();
            let (files, days) = (BTreeSet::new(), BTreeSet::new());
            found.push((replaced, Context { is_other_export: false, files, days, own_days }));
        }
        if let Some((scope, context)) = found.last_mut() {
            context.is_other_export |= row.is_other_export;
            scope.deliveries.push(row.delivery_id);
            context.files.extend(row.files);
            context.days.extend(row.days);
        }
    }
    Ok(found)
}

/// Costs that would fall by more than the limit or would be stated no more, from the totals of the deliveries.
async fn costs(
    db: &mut PgConnection,
    before: &Held,
    after: &Held,
    limits: &Limits,
) -> sqlx::Result<Vec<CostLoss>> {
    let rows = sqlx::query_file!(
        "server/ledger/loss_costs.sql",
        &before.scopes,
        &before.deliveries,
        &after.scopes,
        &after.deliveries,
    )
    .fetch_all(&mut *db)
    .await?;
    let [stated_before, stated_after] = [stating(&mut *db, before).await?, stating(&mut *db, after).await?];
    let mut costs = Vec::new();
    for row in rows {
        let billed = ("billed", row.billed_before, row.billed_after);
        let effective = ("effective", row.effective_before, row.effective_after);
        let is_same = stated_before.billed && (billed.1, billed.2) == (effective.1, effective.2);
        let compared = [
            stated_before.billed.then_some((billed, stated_after.billed)),
            (stated_before.effective && !is_same).then_some((effective, stated_after.effective)),
        ];
        for ((kind, before, after), is_stated) in compared.into_iter().flatten() {
            let lost = before - after;
            let falls = !before.is_negative()
                && !lost.is_negative()
                && limits.are_exceeded(Measure::Cost, lost, before);
            // What stands there instead is the other cost, whichever of the two is larger.
            let is_gone = !is_stated && !lost.is_zero();
            if falls || is_gone {
                let after = is_stated.then_some(after);
                costs.push(CostLoss { kind, currency: row.currency.clone(), before, after });
            }
        }
    }
    Ok(costs)
}

/// Which costs a side states.
struct Stating {
    billed: bool,
    effective: bool,
}

/// The costs that all of these deliveries state: files may state what was billed or what is effective. A cost that a side
/// does not state loses nothing.
async fn stating(db: &mut PgConnection, held: &Held) -> sqlx::Result<Stating> {
    sqlx::query_as!(
        Stating,
        r#"select coalesce(bool_and(billed), true) as "billed!", coalesce(bool_and(effective), true) as "effective!"
           from (
               select bool_or(states is distinct from 'effective') as billed,
                   bool_or(states is distinct from 'billed') as effective
               from delivery_files
               where delivery_id = any($1)
               group by delivery_id
           ) by_delivery"#,
        &held.deliveries,
    )
    .fetch_one(db)
    .await
}

async fn look_closer(
    db: &mut PgConnection,
    month: BillingMonth,
    (before, after): (&Held, &Held),
    costs: Vec<CostLoss>,
    limits: &Limits,
) -> sqlx::Result<Loss> {
    let lines = sqlx::query_file!(
        "server/ledger/loss_by_service.sql",
        month.first_day(),
        &before.scopes,
        &before.deliveries,
        &after.scopes,
        &after.deliveries,
    )
    .fetch_all(db)
    .await?;
    let [mut rows, mut keys, mut services, mut resources] = [Lost::default(); 4];
    let mut new_resources = 0;
    let mut by_service = Vec::new();
    for line in lines {
        rows.add(line.lost_rows, line.rows);
        keys.add(line.lost_keys, line.keys);
        services.add(i64::from(line.rows > 0 && line.rows_after == 0), i64::from(line.rows > 0));
        resources.add(line.lost_resources, line.resources);
        new_resources += line.new_resources;
        by_service.push(ServiceLoss {
            service: line.service,
            currency: line.currency,
            before: line.billed_before,
            after: line.billed_after,
        });
    }
    by_service.retain(|line| line.after < line.before);
    Ok(Loss { rows, keys, services, resources, new_resources, costs, by_service, limits: limits.clone() })
}

impl Lost {
    fn add(&mut self, lost: i64, of: i64) {
        self.lost += lost;
        self.of += of;
    }

    /// In percent, to one place; `0` where there was nothing.
    fn percent(self) -> String {
        percent(self.lost.into(), self.of.into())
    }
}

/// `99.9`: rounded to one place, though never to a hundred where something is left.
fn percent(lost: Decimal, of: Decimal) -> String {
    let all = Decimal::from(100);
    let share = lost.times(100).divide(of, 1).unwrap_or_default();
    let share = if share == all && lost < of { Decimal::new(999, 1) } else { share };
    written(share.normalize(), share.normalize().scale())
}

impl Loss {
    fn measured(&self) -> [(Measure, Lost); 4] {
        [
            (Measure::Rows, self.rows),
            (Measure::Keys, self.keys),
            (Measure::Services, self.services),
            (Measure::Resources, self.resources),
        ]
    }

    fn exceeding(&self) -> impl Iterator<Item = (Measure, Lost)> {
        self.measured()
            .into_iter()
            .filter(|(measure, lost)| self.limits.are_exceeded(*measure, lost.lost.into(), lost.of.into()))
    }

    /// Whether it is more than a small part.
    pub(super) fn asks(&self) -> bool {
        !self.costs.is_empty() || self.exceeding().next().is_some()
    }

    /// Whether hardly anything bought before, or hardly a machine of before, is in the delivery, which has others.
    fn is_of_other_keys(&self) -> bool {
        let is_other = |lost: Lost| lost.of > 0 && (lost.of - lost.lost) * 10 <= lost.of;
        is_other(self.keys) || (is_other(self.resources) && self.new_resources > 0)
    }

    /// `99.9% of the billed cost (313,772.07 to 447.48 CAD), 75% of the rows (3,000 of 4,000)`.
    pub(super) fn share(&self) -> String {
        let count = |n: i64| written(n.into(), 0);
        let mut parts: Vec<String> = self
            .costs
            .iter()
            .map(|CostLoss { kind, currency, before, after }| {
                let Some(after) = after else {
                    let before = written(*before, 2);
                    return format!(
                        "the {kind} cost of {before} {currency}, which this import does not state"
                    );
                };
                let share = percent(*before - *after, *before);
                format!(
                    "{share}% of the {kind} cost ({} to {} {currency})",
                    written(*before, 2),
                    written(*after, 2)
                )
            })
            .collect();
        parts.extend(self.exceeding().map(|(measure, lost)| match measure {
            Measure::Rows => {
                format!("{}% of the rows ({} of {})", lost.percent(), count(lost.lost), count(lost.of))
            }
            Measure::Cost | Measure::Keys => {
                format!("{} of {} kinds of usage", count(lost.lost), count(lost.of))
            }
            Measure::Services => format!("{} of {} services", count(lost.lost), count(lost.of)),
            Measure::Resources if lost.of == 1 => "its only machine".to_owned(),
            Measure::Resources => format!("{} of {} machines", count(lost.lost), count(lost.of)),
        }));
        parts.join(", ")
    }

    /// The services that lose the most: `GPU Cloud 110.00 to 10.00 USD`; empty where none does.
    pub(super) fn largest(&self) -> String {
        let named: Vec<String> = self.by_service.iter().take(NAMED).map(ToString::to_string).collect();
        named.join(", ")
    }
}

/// The share, and the services that lose the most.
impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.share())?;
        match self.largest() {
            largest if largest.is_empty() => Ok(()),
            largest => write!(f, ". Largest differences: {largest}"),
        }
    }
}

impl fmt::Display for ServiceLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { service, currency, before, after } = self;
        let service = if service.is_empty() { "no service" } else { service };
        write!(f, "{service} {} to {} {currency}", written(*before, 2), written(*after, 2))
    }
}
