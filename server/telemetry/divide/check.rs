//! The equations of divided machines: what users have is what was taken from the machines, for each bill, machine and day.

use sqlx::{Connection as _, PgConnection};

use crate::billing::usage_tags;
use crate::ledger::Equation;
use crate::money::Decimal;
use crate::period::BillingMonth;

const DIVIDED: &str = "charges divided by use = charges taken from machines";
const DAYS: &str = "machines and days whose parts do not sum to what they were charged = 0";
const BY_HOUR: &str = "machines and hours whose parts do not sum to what was taken from them = 0";
const USE: &str = "node days at work for longer than measured, or measured for longer than held = 0";
const HOURS: &str = "accelerator-hours beyond those that were paid for, by machine and day = 0";

/// Sums what divides each bill, in one snapshot.
pub async fn check(db: &mut PgConnection) -> sqlx::Result<Vec<Equation>> {
    let mut tx = db.begin_with("begin isolation level repeatable read read only").await?;
    let rows = sqlx::query!(
        r#"with divided as (
               select s.scope_id, k.currency, k.resource_id, d.day, d.is_whole_period,
                   sum(d.billed_cost) filter (where k.tags ? $1) as billed,
                   sum(d.effective_cost) filter (where k.tags ? $1) as effective,
                   sum(d.list_cost) filter (where k.tags ? $1) as list,
                   sum(d.contracted_cost) filter (where k.tags ? $1) as contracted,
                   sum(d.metered_quantity) filter (where k.tags ? $1) as quantity,
                   -sum(d.billed_cost) filter (where not k.tags ? $1) as of_billed,
                   -sum(d.effective_cost) filter (where not k.tags ? $1) as of_effective,
                   -sum(d.list_cost) filter (where not k.tags ? $1) as of_list,
                   -sum(d.contracted_cost) filter (where not k.tags ? $1) as of_contracted,
                   -sum(d.metered_quantity) filter (where not k.tags ? $1) as of_quantity
               from scopes s
               join visibility v on v.scope_id = s.scope_id and v.until_sequence is null
               join daily_costs d
                   on d.billing_month = s.billing_month and d.scope_id = v.scope_id and d.delivery_id = v.delivery_id
               join charge_keys k using (charge_key_id)
               where s.is_usage
               group by 1, 2, 3, 4, 5
           )
           select s.provider, s.billing_account, s.billing_month, d.currency as "currency!",
               coalesce(sum(effective), 0) as "effective!: Decimal", coalesce(sum(of_effective), 0) as "of_effective!: Decimal",
               coalesce(sum(billed), 0) as "billed!: Decimal", coalesce(sum(of_billed), 0) as "of_billed!: Decimal",
               count(*) filter (
                   where (billed, effective, list, contracted, quantity)
                       is distinct from (of_billed, of_effective, of_list, of_contracted, of_quantity)
               ) as "unequal!"
           from divided d
           join scopes s using (scope_id)
           group by 1, 2, 3, 4
           order by 3, 1, 2, 4"#,
        usage_tags::USE,
    )
    .fetch_all(&mut *tx)
    .await?;
    let mut equations = Vec::new();
    for row in rows {
        let of = format!("{} {} {}", row.provider, row.billing_account, BillingMonth::of(row.billing_month));
        let by_cost = [("billed", row.billed, row.of_billed), ("effective", row.effective, row.of_effective)];
        for (cost, divided, taken) in by_cost {
            equations.push(Equation::new(DIVIDED, format!("{of}, {cost} {}", row.currency), divided, taken));
        }
        equations.push(Equation::new(DAYS, of, row.unequal.into(), Decimal::ZERO));
    }
    equations.extend(by_hour(&mut tx).await?);
    equations.extend(hours(&mut tx).await?);
    equations.extend(uses(&mut tx).await?);
    Ok(equations)
}

/// In each hour the users of a machine have what was taken from it.
async fn by_hour(db: &mut PgConnection) -> sqlx::Result<Vec<Equation>> {
    let rows = sqlx::query!(
        r#"with by_key as (
               select s.billing_month, k.resource_id, k.sku, k.meter, k.unit, d.day,
                   generate_subscripts(d.hourly_quantity, 1) as hour, unnest(d.hourly_quantity) as quantity
               from scopes s
               join visibility v on v.scope_id = s.scope_id and v.until_sequence is null
               join daily_costs d
                   on d.billing_month = s.billing_month and d.scope_id = v.scope_id and d.delivery_id = v.delivery_id
               join charge_keys k using (charge_key_id)
               where s.is_usage
           ),
           by_machine as (
               select billing_month, sum(quantity) as left_over
               from by_key
               group by billing_month, resource_id, sku, meter, unit, day, hour
           )
           select billing_month, count(*) filter (where left_over <> 0) as "unequal!"
           from by_machine
           group by 1
           order by 1"#
    )
    .fetch_all(db)
    .await?;
    let equation = |month, unequal: i64| {
        Equation::new(BY_HOUR, BillingMonth::of(month).to_string(), unequal.into(), Decimal::ZERO)
    };
    Ok(rows.into_iter().map(|row| equation(row.billing_month, row.unequal)).collect())
}

/// 0 ≤ at work ≤ measured ≤ held, in each hour of each node. Nothing where nobody is known to have held any.
async fn uses(db: &mut PgConnection) -> sqlx::Result<Option<Equation>> {
    let days = sqlx::query!(
        r#"select count(*) as "days!",
               count(*) filter (where (
                   select bool_or(busy < 0 or busy > measured or measured > held)
                   from unnest(held, measured, busy) as of_hour (held, measured, busy)
               )) as "impossible!"
           from usage_days
           where until_sequence is null"#
    )
    .fetch_one(db)
    .await?;
    let equation = || Equation::new(USE, "all nodes".to_owned(), days.impossible.into(), Decimal::ZERO);
    Ok((days.days > 0).then(equation))
}

/// What was divided of each machine and day is no more than was paid for.
async fn hours(db: &mut PgConnection) -> sqlx::Result<Vec<Equation>> {
    let rows = sqlx::query!(
        r#"with months as (
               select distinct s.billing_month
               from scopes s
               join visibility v on v.scope_id = s.scope_id and v.until_sequence is null
               where s.is_usage
           ),
           by_day as (
               select d.billing_month, k.resource_id, d.day, d.is_whole_period,
                   sum(d.metered_quantity) as paid,
                   sum(d.metered_quantity) filter (where k.tags ? $1) as divided
               from daily_costs d
               join months using (billing_month)
               join visibility v
                   on v.scope_id = d.scope_id and v.delivery_id = d.delivery_id and v.until_sequence is null
               join charge_keys k using (charge_key_id)
               where k.accelerator is not null and k.resource_id is not null
               group by 1, 2, 3, 4
           )
           select billing_month, count(*) filter (where divided < 0 or divided > paid) as "beyond!"
           from by_day
           group by 1
           order by 1"#,
        usage_tags::USE,
    )
    .fetch_all(db)
    .await?;
    let equation = |month, beyond: i64| {
        Equation::new(HOURS, BillingMonth::of(month).to_string(), beyond.into(), Decimal::ZERO)
    };
    Ok(rows.into_iter().map(|row| equation(row.billing_month, row.beyond)).collect())
}
