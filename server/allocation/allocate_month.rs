//! The allocation of months as of a version of the ledger: for each its mapping, and how its pools were divided.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::cleanup::use_division;
use super::costs_by_key::key_costs;
use super::costs_by_owner::attribute_costs;
use super::rule_engine::content_id;
use super::weights::weigh;
use super::{Configuration, Divided, MonthConfiguration, divide, key_owners};
use crate::exchange::Rates;
use crate::ledger::ActiveImports;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// A month's mapping, what the month cost under it, and the division of its pools.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MonthAllocation {
    pub month: BillingMonth,
    pub set_id: Uuid,
    /// What is active in it, by key.
    pub basis_id: Uuid,
    /// What is active in it, by owner: the sum of these parts. PostgreSQL knows how many rows each has, and reads no others.
    pub parts: Arc<[Uuid]>,
    pub division_id: Uuid,
}

/// How the pools of a month were divided, with what they were divided by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Division {
    /// What costs were weighed in. `None` where nothing was.
    pub currency: Option<Currency>,
    /// Currencies whose costs have no weight, because the month has no rate for them.
    pub without_rate: Vec<Currency>,
    pub pools: Vec<Divided>,
}

/// Allocates a month: makes what is missing of its mapping, weighs, and divides its pools.
pub async fn allocate(
    db: &mut PgConnection,
    configuration: &Configuration,
    month: BillingMonth,
    visible: &ActiveImports,
    rates: &Rates,
    sequence: i64,
) -> sqlx::Result<MonthAllocation> {
    let of_month = configuration.of_month(month);
    let set_id = key_owners::cover(db, &of_month, visible).await?;
    let basis_id = key_costs(db, month, visible).await?;
    let parts = attribute_costs(db, month, basis_id, set_id, visible).await?;
    let division = division(db, &of_month, &parts, rates, sequence).await?;
    let centres: BTreeMap<&str, &str> = of_month
        .teams
        .iter()
        .filter_map(|team| Some((team.handle.as_str(), of_month.cost_centre_of(&team.handle)?)))
        .collect();
    let division_id = content_id(&(&division, &centres));
    keep(db, division_id, &division, &centres).await?;
    Ok(MonthAllocation { month, set_id, basis_id, parts: parts.into(), division_id })
}

/// Divides the pools of a month that was summed.
async fn division(
    db: &mut PgConnection,
    configuration: &MonthConfiguration<'_>,
    parts: &[Uuid],
    rates: &Rates,
    sequence: i64,
) -> sqlx::Result<Division> {
    let mut division = Division { currency: None, without_rate: Vec::new(), pools: Vec::new() };
    if !configuration.pools.is_empty() {
        let (weights, weighed_in) = weigh(db, configuration, parts, rates, sequence).await?;
        (division.currency, division.without_rate) = (weighed_in.currency, weighed_in.without_rate);
        division.pools = divide(configuration, &weights);
    }
    Ok(division)
}

/// Keeps a division under its number.
async fn keep(
    db: &mut PgConnection,
    id: Uuid,
    division: &Division,
    centres: &BTreeMap<&str, &str>,
) -> sqlx::Result<()> {
    if use_division(&mut *db, id).await? {
        return Ok(());
    }
    let mut tx = db.begin().await?;
    sqlx::query!(
        "insert into pool_divisions (division_id, arithmetic) values ($1, $2) on conflict do nothing",
        id,
        Json(division) as _,
    )
    .execute(&mut *tx)
    .await?;
    let shares = || division.pools.iter().flat_map(|pool| pool.shares.iter().map(move |share| (pool, share)));
    sqlx::query!(
        "insert into pool_shares (division_id, pool, pool_part, team, cost_centre, share)
         select $1, * from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[])
         on conflict do nothing",
        id,
        &shares().map(|(pool, _)| pool.pool.clone()).collect::<Vec<_>>(),
        &shares().map(|(pool, _)| pool.part.clone()).collect::<Vec<_>>(),
        &shares().map(|(_, share)| share.team.clone()).collect::<Vec<_>>(),
        &shares()
            .map(|(_, share)| centres.get(share.team.as_str()).copied().unwrap_or_default().to_owned())
            .collect::<Vec<_>>(),
        &shares().map(|(_, share)| share.share).collect::<Vec<_>>() as &[Decimal],
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await
}

/// The arithmetic of a division.
pub async fn division_of(db: &mut PgConnection, id: Uuid) -> sqlx::Result<Option<Division>> {
    let arithmetic = sqlx::query_scalar!(
        r#"select arithmetic as "arithmetic: Json<Division>" from pool_divisions where division_id = $1"#,
        id
    )
    .fetch_optional(db)
    .await?;
    Ok(arithmetic.map(|json| json.0))
}
