//! Usage that arrived without cost and that no rate is for: how much of it there is, and what. It is in no cost, and its hours are
//! none that were paid for, since whether they will be is not known.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row as _};
use uuid::Uuid;

use crate::accelerator::accelerator_hours;
use crate::ledger::{self, UsageOfKey, Which};
use crate::money::Decimal;
use crate::period::{BillingMonth, Period};
use crate::rating::{Rates, quantity_of};

/// Digits that accelerator-hours are shown with.
const PLACES: u8 = 6;

/// How much of a period is unpriced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unpriced {
    pub charges: i64,
    /// Of those that pay for accelerators. For whoever sees some teams alone, those of theirs.
    pub accelerator_hours: Decimal,
}

/// Whose unpriced usage somebody may hear of.
#[derive(Clone, Debug)]
pub(super) enum SeenBy {
    Everybody,
    /// These teams, by what keys were attributed in these sets.
    Teams {
        sets: Vec<Uuid>,
        teams: Vec<String>,
    },
}

/// What of a period's active imports is unpriced, as of a version of the ledger.
pub(super) async fn unpriced(
    db: &mut PgConnection,
    period: Period,
    seen_by: &SeenBy,
    sequence: i64,
) -> sqlx::Result<Unpriced> {
    let mut query = QueryBuilder::<Postgres>::new(
        "select coalesce(sum(u.charges), 0)::bigint as charges,
             coalesce(sum((u.quantity - u.priced_quantity) * (k.accelerator_parts * k.unit_seconds)), 0) as part_seconds
         from usage_without_cost u
         join visibility v using (delivery_id, scope_id)
         join scopes s using (scope_id)
         join charge_keys k using (charge_key_id)
         where u.quantity <> u.priced_quantity",
    );
    query.push(" and s.billing_month >= ").push_bind(period.days().start);
    query.push(" and s.billing_month < ").push_bind(period.days().end);
    query.push(" and v.from_sequence <= ").push_bind(sequence);
    query.push(" and (v.until_sequence is null or v.until_sequence > ").push_bind(sequence).push(")");
    // Named only where it is needed: whose keys are may be being written down.
    if let SeenBy::Teams { sets, teams } = seen_by {
        query.push(
            " and exists (
                 select
                 from key_attributions ka
                 join attributions a using (attribution_id)
                 where ka.charge_key_id = u.charge_key_id and ka.set_id = any(",
        );
        query.push_bind(sets).push(") and a.team = any(").push_bind(teams).push("))");
    }
    let found = query.build().fetch_one(db).await?;
    let part_seconds: Decimal = found.try_get("part_seconds")?;
    let hours = accelerator_hours(part_seconds, PLACES).normalize();
    Ok(Unpriced { charges: found.try_get("charges")?, accelerator_hours: hours })
}

/// Usage of a month that no rate is for, of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UnpricedUsage {
    pub month: BillingMonth,
    pub provider: String,
    pub billing_account: String,
    pub sku: String,
    /// What the provider meters, where that says more.
    pub meter: String,
    pub region: String,
    pub pricing: String,
    /// The id of its model; empty where it pays for none.
    pub accelerator: String,
    pub unit: String,
    pub currency: String,
    pub quantity: Decimal,
    pub accelerator_hours: Decimal,
    /// The first day of it, from which a rate has to hold.
    pub first_day: NaiveDate,
    /// Rates that would be for it, were it billed in their currency.
    pub rates_in: Vec<String>,
}

/// All usage that no rate is for as the ledger stands, the latest month first.
pub async fn unpriced_usage(db: &mut PgConnection, rates: &Rates) -> sqlx::Result<Vec<UnpricedUsage>> {
    let mut found: BTreeMap<UnpricedUsage, UnpricedUsage> = BTreeMap::new();
    for usage in ledger::usage_without_cost(db, Which::Unpriced).await? {
        let left = usage.quantity - usage.priced_quantity;
        let sum = found
            .entry(kind(&usage, rates))
            .or_insert_with_key(|kind| UnpricedUsage { first_day: usage.day, ..kind.clone() });
        sum.quantity += left;
        sum.accelerator_hours += usage.accelerator.map(|it| quantity_of(it, left)).unwrap_or_default();
        sum.first_day = sum.first_day.min(usage.day);
    }
    let mut found: Vec<UnpricedUsage> = found.into_values().collect();
    found.sort_by(|a, b| {
        (b.month, &a.provider, &a.billing_account)
            .cmp(&(a.month, &b.provider, &b.billing_account))
            .then_with(|| b.accelerator_hours.cmp(&a.accelerator_hours))
            .then_with(|| a.cmp(b))
    });
    Ok(found)
}

fn kind(usage: &UsageOfKey, rates: &Rates) -> UnpricedUsage {
    let UsageOfKey { key, accelerator, month, day, .. } = usage;
    let elsewhere = rates.in_other_currencies(key, *accelerator, *day);
    let mut rates_in: Vec<String> = elsewhere.iter().map(|rate| rate.currency.as_str().to_owned()).collect();
    rates_in.sort_unstable();
    rates_in.dedup();
    UnpricedUsage {
        month: *month,
        provider: key.provider.clone(),
        billing_account: key.billing_account.clone(),
        sku: if key.sku.is_empty() { key.meter.clone() } else { key.sku.clone() },
        meter: if key.sku.is_empty() { String::new() } else { key.meter.clone() },
        region: key.region.clone(),
        pricing: key.pricing.as_str().to_owned(),
        accelerator: accelerator.map(|it| it.model.id).unwrap_or_default().to_owned(),
        unit: key.unit.clone(),
        currency: key.currency.clone(),
        quantity: Decimal::ZERO,
        accelerator_hours: Decimal::ZERO,
        first_day: month.first_day(),
        rates_in,
    }
}

/// Whether active imports are priced by the rate cards of now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateState {
    /// Imports that are being compared with them.
    pub pending: usize,
    /// Imports that could not be priced by them, each with the reason.
    pub problems: Vec<(i64, String)>,
}

/// How far imports are priced by the rate cards of now.
pub async fn rate_state(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<RateState> {
    let pending = ledger::outdated(&mut *db, now).await?.len();
    let problems = sqlx::query!(
        r#"select delivery_id, rates_problem as "problem!"
           from deliveries d
           where rates_problem is not null
             and exists (select from visibility v where v.delivery_id = d.delivery_id and v.until_sequence is null)
           order by delivery_id desc"#
    )
    .fetch_all(db)
    .await?;
    let problems = problems.into_iter().map(|row| (row.delivery_id, row.problem)).collect();
    Ok(RateState { pending, problems })
}
