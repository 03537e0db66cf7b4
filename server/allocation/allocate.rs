//! The allocation of months as of a step of the ledger: for each its mapping, and how its pools were divided.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use sqlx::{Connection, PgConnection, Postgres, QueryBuilder, Row};
use uuid::Uuid;

use super::attribute::content_id;
use super::{Book, Divided, MonthBook, Split, Weights, divide, mapping};
use crate::accelerator::accelerator_hours;
use crate::exchange::{self, Rates};
use crate::ledger::Visible;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// A month's mapping, and the division of its pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MonthAllocation {
    pub month: BillingMonth,
    pub set_id: Uuid,
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

/// Decimals of the accelerator-hours that weigh.
const HOURS_PLACES: u8 = 6;

/// Allocates a month: makes what is missing of its mapping, weighs, and divides its pools.
pub async fn allocate(
    db: &mut PgConnection,
    book: &Book,
    month: BillingMonth,
    visible: &Visible,
    rates: &Rates,
    sequence: i64,
) -> sqlx::Result<MonthAllocation> {
    let of_month = book.of_month(month);
    let set_id = mapping::cover(db, &of_month, visible.deliveries()).await?;
    let division = division(db, &of_month, set_id, visible, rates, sequence).await?;
    let centres: BTreeMap<&str, &str> = of_month
        .teams
        .iter()
        .filter_map(|team| Some((team.handle.as_str(), of_month.cost_centre_of(&team.handle)?)))
        .collect();
    let division_id = content_id(&(&division, &centres));
    keep(db, division_id, &division, &centres).await?;
    Ok(MonthAllocation { month, set_id, division_id })
}

/// Divides the pools of a month that is mapped.
async fn division(
    db: &mut PgConnection,
    book: &MonthBook<'_>,
    set_id: Uuid,
    visible: &Visible,
    rates: &Rates,
    sequence: i64,
) -> sqlx::Result<Division> {
    let mut division = Division { currency: None, without_rate: Vec::new(), pools: Vec::new() };
    if book.pools.is_empty() {
        return Ok(division);
    }
    let mut weights = Weights::default();
    let by_spend =
        |split: &Split| matches!(split, Split::DirectCost | Split::AcceleratorHours | Split::WhoUsedIt);
    if book.pools.iter().any(|pool| by_spend(&pool.split)) {
        let spend = spend(db, book.month, set_id, visible).await?;
        division.currency = match exchange::reporting_currency_as_of(db, sequence).await? {
            Some(chosen) => Some(chosen),
            None => most_used(&spend),
        };
        weigh(&spend, book, rates, &mut division, &mut weights);
    }
    if book.pools.iter().any(|pool| matches!(pool.split, Split::Quantity { .. })) {
        weights.quantities = quantities(db, book.month, sequence).await?;
    }
    division.pools = divide(book, &weights);
    Ok(division)
}

/// What was spent for whom on what, of one currency.
struct Spent {
    team: String,
    pool: String,
    part: String,
    currency: Currency,
    commitment: String,
    account: String,
    is_usage: bool,
    cost: Decimal,
    part_seconds: Decimal,
    charges: i64,
}

async fn spend(
    db: &mut PgConnection,
    month: BillingMonth,
    set_id: Uuid,
    visible: &Visible,
) -> sqlx::Result<Vec<Spent>> {
    let mut query = QueryBuilder::<Postgres>::new(
        "select a.team, a.pool, a.pool_part, c.currency, c.commitment_discount_id, c.billing_account, c.category, \
         sum(c.cost) as cost, sum(c.part_seconds) as part_seconds, sum(c.charges)::bigint as charges \
         from (select ka.attribution_id, k.currency, k.commitment_discount_id, k.billing_account, k.category, \
         sum(c.effective_cost) as cost, sum(c.charges) as charges, \
         coalesce(sum(c.metered_quantity * (k.unit_seconds * k.accelerator_parts)), 0) as part_seconds \
         from monthly_costs c join charge_keys k on k.charge_key_id = c.charge_key_id \
         join key_attributions ka on ka.charge_key_id = c.charge_key_id and ka.set_id = ",
    );
    query.push_bind(set_id);
    query.push(" where c.billing_month = ");
    query.push_bind(month.first_day());
    visible.push(&mut query);
    query.push(
        " group by 1, 2, 3, 4, 5) c join attributions a on a.attribution_id = c.attribution_id \
         group by 1, 2, 3, 4, 5, 6, 7",
    );
    let rows = query.build().fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            Ok(Spent {
                team: row.try_get("team")?,
                pool: row.try_get("pool")?,
                part: row.try_get("pool_part")?,
                currency: Currency::exactly(row.try_get("currency")?),
                commitment: row.try_get("commitment_discount_id")?,
                account: row.try_get("billing_account")?,
                is_usage: row.try_get::<&str, _>("category")? == "Usage",
                cost: row.try_get("cost")?,
                part_seconds: row.try_get("part_seconds")?,
                charges: row.try_get("charges")?,
            })
        })
        .collect()
}

fn most_used(spend: &[Spent]) -> Option<Currency> {
    let mut charges: BTreeMap<&Currency, i64> = BTreeMap::new();
    for spent in spend {
        *charges.entry(&spent.currency).or_default() += spent.charges;
    }
    let most = charges.into_iter().max_by_key(|(currency, count)| (*count, std::cmp::Reverse(*currency)));
    most.map(|(currency, _)| currency.clone())
}

fn weigh(
    spend: &[Spent],
    book: &MonthBook<'_>,
    rates: &Rates,
    division: &mut Division,
    weights: &mut Weights,
) {
    let Some(into) = division.currency.clone() else { return };
    for spent in spend {
        let hours = accelerator_hours(spent.part_seconds, HOURS_PLACES);
        let rate = rates.find(book.month, &spent.currency, &into);
        if rate.is_none() && !division.without_rate.contains(&spent.currency) {
            division.without_rate.push(spent.currency.clone());
        }
        let cost = rate.map_or(Decimal::ZERO, |used| spent.cost.multiply(used.rate));
        if !spent.pool.is_empty() {
            *weights.pool_cost.entry(spent.pool.clone()).or_default() += cost;
            *weights.pool_hours.entry(spent.pool.clone()).or_default() += hours;
            if !spent.part.is_empty() {
                weights.parts.insert((spent.pool.clone(), spent.part.clone()));
            }
        } else if !spent.team.is_empty() {
            *weights.cost.entry(spent.team.clone()).or_default() += cost;
            *weights.hours.entry(spent.team.clone()).or_default() += hours;
            if spent.is_usage {
                let commitment =
                    (!spent.commitment.is_empty()).then(|| format!("commitment:{}", spent.commitment));
                for used in commitment.into_iter().chain([format!("account:{}", spent.account)]) {
                    let of_team = weights.use_of.entry(used).or_default();
                    *of_team.entry(spent.team.clone()).or_default() += cost;
                }
            }
        }
    }
    division.without_rate.sort();
}

/// Quantities of a month, by unit and team.
async fn quantities(
    db: &mut PgConnection,
    month: BillingMonth,
    sequence: i64,
) -> sqlx::Result<BTreeMap<String, BTreeMap<String, Decimal>>> {
    let days = month.days();
    let rows = sqlx::query!(
        r#"select unit, owner, sum(quantity) as "quantity!: Decimal"
           from quantities
           where owner_kind = 'team' and day >= $1 and day < $2
             and from_sequence <= $3 and (until_sequence is null or until_sequence > $3)
           group by 1, 2"#,
        days.start,
        days.end,
        sequence,
    )
    .fetch_all(db)
    .await?;
    let mut found: BTreeMap<String, BTreeMap<String, Decimal>> = BTreeMap::new();
    for row in rows {
        found.entry(row.unit).or_default().insert(row.owner, row.quantity);
    }
    Ok(found)
}

/// Keeps a division under its number.
async fn keep(
    db: &mut PgConnection,
    id: Uuid,
    division: &Division,
    centres: &BTreeMap<&str, &str>,
) -> sqlx::Result<()> {
    let is_kept = sqlx::query_scalar!(
        r#"select exists (select from pool_divisions where division_id = $1) as "kept!""#,
        id
    )
    .fetch_one(&mut *db)
    .await?;
    if is_kept {
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
