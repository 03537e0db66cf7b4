//! What the pools of a month are divided by: what the month cost whom, whose accelerator time it was, who used what, and what
//! was entered.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use uuid::Uuid;

use super::{MonthConfiguration, Recipient, Split, Time, Weights};
use crate::exchange::{self, Rates};
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// What costs were weighed in.
#[derive(Default)]
pub(super) struct WeighedIn {
    /// `None` where nothing was.
    pub currency: Option<Currency>,
    /// Currencies whose costs have no weight, because the month has no rate for them.
    pub without_rate: Vec<Currency>,
}

/// Looks at what the pools of a month ask for, and at no more.
pub(super) async fn weigh(
    db: &mut PgConnection,
    configuration: &MonthConfiguration<'_>,
    parts: &[Uuid],
    rates: &Rates,
    sequence: i64,
) -> sqlx::Result<(Weights, WeighedIn)> {
    let asks = |wanted: fn(&Split) -> bool| configuration.pools.iter().any(|pool| wanted(&pool.split));
    let (mut weights, mut weighed_in) = (Weights::default(), WeighedIn::default());
    let asks_use = asks(|split| *split == Split::WhoUsedIt);
    if asks_use || asks(|split| matches!(split, Split::DirectCost | Split::AcceleratorHours(_))) {
        let spent = spent(&mut *db, parts).await?;
        weighed_in.currency = match exchange::reporting_currency_as_of(&mut *db, sequence).await? {
            Some(chosen) => Some(chosen),
            None => most_used(&spent),
        };
        for of_owner in spent {
            weights.add(of_owner, configuration.month, rates, &mut weighed_in);
        }
    }
    if asks_use {
        for used in used(&mut *db, parts).await? {
            weights.add_use(&used, configuration.month, rates, &mut weighed_in);
        }
    }
    if asks(|split| matches!(split, Split::AcceleratorHours(_))) {
        weights.time = time(&mut *db, parts).await?;
    }
    if asks(|split| matches!(split, Split::Quantity { .. })) {
        weights.quantities = quantities(db, configuration.month, sequence).await?;
    }
    weighed_in.without_rate.sort();
    Ok((weights, weighed_in))
}

impl WeighedIn {
    /// A cost of another currency, where the month has a rate for it; else nothing, and the currency is named.
    fn convert(&mut self, cost: Decimal, from: &Currency, month: BillingMonth, rates: &Rates) -> Decimal {
        let rate = self.currency.as_ref().and_then(|into| rates.find(month, from, into));
        if rate.is_none() && !self.without_rate.contains(from) {
            self.without_rate.push(from.clone());
        }
        rate.map_or(Decimal::ZERO, |used| used.convert(cost))
    }
}

/// What an owner was charged directly, or went to a part of a pool, of one currency.
struct Spent {
    team: String,
    pool: String,
    part: String,
    currency: Currency,
    cost: Decimal,
    charges: i64,
}

async fn spent(db: &mut PgConnection, parts: &[Uuid]) -> sqlx::Result<Vec<Spent>> {
    let rows = sqlx::query!(
        r#"select team, pool, pool_part, currency, sum(effective_cost) as "cost!: Decimal",
               sum(charges)::bigint as "charges!"
           from item_costs
           join items using (item_id)
           where part_id = any($1)
           group by 1, 2, 3, 4
           having sum(charges) <> 0"#,
        parts,
    )
    .fetch_all(db)
    .await?;
    let spent = rows.into_iter().map(|row| Spent {
        team: row.team,
        pool: row.pool,
        part: row.pool_part,
        currency: Currency::exactly(&row.currency),
        cost: row.cost,
        charges: row.charges,
    });
    Ok(spent.collect())
}

fn most_used(spent: &[Spent]) -> Option<Currency> {
    let mut charges: BTreeMap<&Currency, i64> = BTreeMap::new();
    for of_owner in spent {
        *charges.entry(&of_owner.currency).or_default() += of_owner.charges;
    }
    let most = charges.into_iter().max_by_key(|(currency, count)| (*count, std::cmp::Reverse(*currency)));
    most.map(|(currency, _)| currency.clone())
}

/// Accelerator time of teams and pools. Asked only where a pool is divided by it.
async fn time(db: &mut PgConnection, parts: &[Uuid]) -> sqlx::Result<BTreeMap<Recipient, Vec<Time>>> {
    let rows = sqlx::query!(
        r#"select team, pool, billing_account, sub_account, pricing = 'Owned' as "is_owned!",
               sum(part_seconds) as "part_seconds!: Decimal"
           from item_costs
           join items using (item_id)
           where part_id = any($1) and (team <> '' or pool <> '')
           group by 1, 2, 3, 4, 5
           having sum(part_seconds) <> 0"#,
        parts,
    )
    .fetch_all(db)
    .await?;
    let mut found: BTreeMap<Recipient, Vec<Time>> = BTreeMap::new();
    for row in rows {
        let of = if row.pool.is_empty() { Recipient::Team(row.team) } else { Recipient::Pool(row.pool) };
        found.entry(of).or_default().push(Time {
            is_owned: row.is_owned,
            billing_account: row.billing_account,
            sub_account: row.sub_account,
            part_seconds: row.part_seconds,
        });
    }
    Ok(found)
}

/// What a team used of a commitment or an account.
struct Used {
    team: String,
    commitment: String,
    account: String,
    currency: Currency,
    cost: Decimal,
}

/// Asked only where a pool is divided by it.
async fn used(db: &mut PgConnection, parts: &[Uuid]) -> sqlx::Result<Vec<Used>> {
    let rows = sqlx::query!(
        r#"select i.team, i.commitment_discount_id, i.billing_account, i.currency,
               sum(c.effective_cost) as "cost!: Decimal"
           from item_costs c
           join items i using (item_id)
           where c.part_id = any($1) and i.category = 'Usage' and i.team <> ''
           group by 1, 2, 3, 4
           having sum(c.charges) <> 0"#,
        parts,
    )
    .fetch_all(db)
    .await?;
    let used = rows.into_iter().map(|row| Used {
        team: row.team,
        commitment: row.commitment_discount_id,
        account: row.billing_account,
        currency: Currency::exactly(&row.currency),
        cost: row.cost,
    });
    Ok(used.collect())
}

impl Weights {
    fn add(&mut self, spent: Spent, month: BillingMonth, rates: &Rates, weighed_in: &mut WeighedIn) {
        if spent.team.is_empty() && spent.pool.is_empty() {
            // What is unallocated weighs nothing, in whatever currency.
            return;
        }
        let cost = weighed_in.convert(spent.cost, &spent.currency, month, rates);
        if spent.pool.is_empty() {
            *self.cost.entry(spent.team).or_default() += cost;
            return;
        }
        *self.pool_cost.entry(spent.pool.clone()).or_default() += cost;
        if !spent.part.is_empty() {
            self.parts.insert((spent.pool, spent.part));
        }
    }

    fn add_use(&mut self, used: &Used, month: BillingMonth, rates: &Rates, weighed_in: &mut WeighedIn) {
        let cost = weighed_in.convert(used.cost, &used.currency, month, rates);
        let commitment = (!used.commitment.is_empty()).then(|| format!("commitment:{}", used.commitment));
        for what in commitment.into_iter().chain([format!("account:{}", used.account)]) {
            *self.use_of.entry(what).or_default().entry(used.team.clone()).or_default() += cost;
        }
    }
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
