//! Which bills have machines that were used otherwise than they are divided.

use std::collections::HashMap;

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use serde::Serialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, PgConnection};

use crate::accelerator;
use crate::audit::{self, Act, Object, Verb};
use crate::ledger;
use crate::period::BillingMonth;
use crate::telemetry::prometheus;
use crate::telemetry::read::{self, Node};

/// After what the machine failed at.
const RETRY: TimeDelta = TimeDelta::minutes(5);
/// Part of what a division is computed from: the way it is.
const COMPUTED_AS: i64 = 4;

/// A bill that is in the ledger, or was.
#[derive(Clone, Debug)]
pub struct UsedBill {
    pub scope_id: i64,
    pub provider: String,
    pub billing_account: String,
    pub month: BillingMonth,
    /// Of the bill, and of what adjusts it.
    pub scopes: Vec<i64>,
    /// The active imports of both; none where the bill was undone.
    pub active: Vec<i64>,
    /// Each charge of it has an invoice.
    pub is_final: bool,
}

/// A bill whose machines are to be divided, or no more where nobody is known to have used them.
#[derive(Clone, Debug)]
pub struct Due {
    pub bill: UsedBill,
    /// Nodes that are machines of it.
    pub nodes: Vec<Node>,
    inputs: Vec<u8>,
}

impl Due {
    /// Whether there is nothing to divide.
    pub fn is_nothing(&self) -> bool {
        self.bill.active.is_empty() || self.nodes.is_empty()
    }
}

/// The bills whose machines are not divided by the usage of now, the oldest month first. Where there are none, that is remembered.
pub async fn due(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Vec<Due>> {
    let unfinished = prometheus::unfinished_months(&mut *db, now).await?;
    let versions = versions(&mut *db, &unfinished).await?;
    if is_compared(&mut *db, versions, now).await? {
        return Ok(Vec::new());
    }
    let due = find(&mut *db, versions, &unfinished, now).await?;
    if due.is_empty() {
        note_compared(db, versions).await?;
    }
    Ok(due)
}

/// Of the ledger; and of the catalog that says what machines bear, with the way in which they are divided and which months are being
/// read: bills of one are looked at again once it is whole.
async fn versions(db: &mut PgConnection, unfinished: &[BillingMonth]) -> sqlx::Result<(i64, i64)> {
    let sequence = ledger::sequence(&mut *db).await?;
    let catalog = ledger::catalog_revision(db).await?;
    let of_month = |it: &BillingMonth| i64::from(it.first_day().num_days_from_ce());
    let unfinished = unfinished.iter().fold(0, |all, month| (all * 31 + of_month(month)) & 0x7f_ffff) << 40;
    Ok((sequence, unfinished + (COMPUTED_AS << 32) + i64::from(accelerator::version_of(catalog))))
}

async fn find(
    db: &mut PgConnection,
    (sequence, catalog): (i64, i64),
    unfinished: &[BillingMonth],
    now: DateTime<Utc>,
) -> sqlx::Result<Vec<Due>> {
    let computed = computed(&mut *db).await?;
    if computed.is_empty() && read::version(&mut *db, sequence).await? == 0 {
        return Ok(Vec::new());
    }
    let nodes = read::nodes(&mut *db, sequence).await?;
    let mut due = Vec::new();
    for bill in bills(&mut *db).await?.into_iter().filter(|it| !unfinished.contains(&it.month)) {
        let imports = read::imports_of(&mut *db, &bill.month.days(), sequence).await?;
        let nodes = if imports.is_empty() { Vec::new() } else { nodes_of(&mut *db, &bill, &nodes).await? };
        let machines: Vec<_> = nodes.iter().map(|it| (it.node_id, &it.resource, it.names_holders)).collect();
        let inputs = json!([bill.active, bill.is_final, imports, machines, catalog]);
        let it = Due { nodes, inputs: Sha256::digest(inputs.to_string()).to_vec(), bill };
        let is_due = match computed.get(&it.bill.scope_id) {
            None => !it.is_nothing(),
            Some(known) => match known.retry_at {
                Some(at) => at <= now,
                None => known.inputs != it.inputs,
            },
        };
        due.extend(is_due.then_some(it));
    }
    Ok(due)
}

/// All bills that are active, and those whose machines were divided.
async fn bills(db: &mut PgConnection) -> sqlx::Result<Vec<UsedBill>> {
    let rows = sqlx::query!(
        r#"select s.scope_id, s.provider, s.billing_account, s.billing_month,
               array_agg(distinct part.scope_id) as "scopes!",
               coalesce(array_agg(v.delivery_id order by v.delivery_id) filter (where v.delivery_id is not null), '{}') as "active!",
               coalesce(bool_and(not ds.is_provisional) filter (where part.scope_id = s.scope_id), false) as "is_final!"
           from scopes s
           join scopes part on (part.scope_id = s.scope_id or part.adjusts = s.scope_id) and not part.is_usage
           left join visibility v on v.scope_id = part.scope_id and v.until_sequence is null
           left join delivery_scopes ds on ds.scope_id = v.scope_id and ds.delivery_id = v.delivery_id
           where s.adjusts is null
           group by s.scope_id
           having count(v.delivery_id) filter (where part.scope_id = s.scope_id) > 0
               or s.scope_id in (select u.scope_id from usage_bills u)
           order by s.billing_month, s.scope_id"#
    )
    .fetch_all(db)
    .await?;
    let bills = rows.into_iter().map(|row| UsedBill {
        scope_id: row.scope_id,
        provider: row.provider,
        billing_account: row.billing_account,
        month: BillingMonth::of(row.billing_month),
        scopes: row.scopes,
        active: row.active,
        is_final: row.is_final,
    });
    Ok(bills.collect())
}

/// The nodes that are machines of a bill.
async fn nodes_of(db: &mut PgConnection, bill: &UsedBill, nodes: &[Node]) -> sqlx::Result<Vec<Node>> {
    let resources: Vec<String> = nodes.iter().filter_map(|it| it.resource.clone()).collect();
    if resources.is_empty() || bill.active.is_empty() {
        return Ok(Vec::new());
    }
    let machines = sqlx::query_scalar!(
        r#"select distinct k.resource_id as "resource_id!"
           from monthly_costs m
           join charge_keys k using (charge_key_id)
           where m.billing_month = $1 and m.scope_id = any($2) and m.delivery_id = any($3)
             and k.accelerator is not null and lower(k.resource_id) = any($5) and k.resource_id = any($4)"#,
        bill.month.first_day(),
        &bill.scopes,
        &bill.active,
        &resources,
        &resources.iter().map(|it| it.to_lowercase()).collect::<Vec<_>>(),
    )
    .fetch_all(db)
    .await?;
    let is_of_bill = |it: &&Node| it.resource.as_ref().is_some_and(|resource| machines.contains(resource));
    Ok(nodes.iter().filter(is_of_bill).cloned().collect())
}

/// Whether this is how the bill was divided from the beginning: some usage of its month was known when it became what it is, and
/// nothing of that has been divided yet. Else what is computed restates it.
pub async fn follows_bill(db: &mut PgConnection, due: &Due) -> sqlx::Result<bool> {
    let sequence = ledger::sequence(&mut *db).await?;
    let imports = read::imports_of(&mut *db, &due.bill.month.days(), sequence).await?;
    let imports: Vec<i64> = imports.into_iter().map(|(import, _)| import).collect();
    sqlx::query_scalar!(
        r#"with bill as (
               select coalesce(max(from_sequence), 0) as since
               from visibility
               where scope_id = $1 and until_sequence is null
           )
           select exists (
                   select from usage_imports i, bill where i.import_id = any($2) and i.from_sequence < bill.since
               )
               and not exists (
                   select
                   from scopes s
                   join delivery_scopes ds using (scope_id)
                   join deliveries d using (delivery_id)
                   cross join bill
                   where s.adjusts = $1 and s.is_usage and d.published_sequence > bill.since
               ) as "follows!""#,
        due.bill.scope_id,
        &imports,
    )
    .fetch_one(db)
    .await
}

async fn is_compared(
    db: &mut PgConnection,
    (sequence, catalog): (i64, i64),
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    let is_compared = sqlx::query_scalar!(
        r#"select sequence = $1 and catalog = $2
               and not exists (select from usage_bills where retry_at <= $3) as "is_compared!"
           from usage_bills_compared"#,
        sequence,
        catalog,
        now,
    )
    .fetch_optional(db)
    .await?;
    Ok(is_compared == Some(true))
}

async fn note_compared(db: &mut PgConnection, (sequence, catalog): (i64, i64)) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into usage_bills_compared (sequence, catalog) values ($1, $2)
         on conflict (is_only) do update set sequence = $1, catalog = $2",
        sequence,
        catalog,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Bills whose machines are not divided by the usage of now, and why: they could not be, or somebody undid it.
pub async fn problems(db: &mut PgConnection) -> sqlx::Result<Vec<Problem>> {
    let rows = sqlx::query!(
        r#"select u.scope_id, s.provider, s.billing_account, s.billing_month, u.problem, l.happened_by as "undone_by?"
           from usage_bills u
           join scopes s using (scope_id)
           left join deliveries d on d.delivery_id = u.delivery_id and d.status = 'undone'
           left join ledger_log l on l.sequence = d.undone_sequence
           where u.problem is not null or d.delivery_id is not null
           order by s.billing_month desc, s.provider, s.billing_account"#
    )
    .fetch_all(db)
    .await?;
    let problems = rows.into_iter().map(|row| Problem {
        scope_id: row.scope_id,
        provider: row.provider,
        billing_account: row.billing_account,
        month: BillingMonth::of(row.billing_month),
        is_undone: row.problem.is_none(),
        problem: row.problem.unwrap_or_else(|| format!("undone by {}", row.undone_by.unwrap_or_default())),
    });
    Ok(problems.collect())
}

/// Why the machines of a bill are not divided by the usage of now.
#[derive(Clone, Debug, Serialize)]
pub struct Problem {
    pub scope_id: i64,
    pub provider: String,
    pub billing_account: String,
    pub month: BillingMonth,
    pub problem: String,
    /// It was divided, and somebody undid that.
    pub is_undone: bool,
}

/// Has the machines of a bill divided again, whose division somebody undid or which could not be. False where it is divided.
pub async fn divide_again(db: &mut PgConnection, scope_id: i64, act: Act<'_>) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let before = sqlx::query_scalar!(
        "update usage_bills u
         set inputs = '', problem = null, retry_at = null
         where u.scope_id = $1 and (
             u.problem is not null
             or exists (select from deliveries d where d.delivery_id = u.delivery_id and d.status = 'undone')
         )
         returning delivery_id",
        scope_id,
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(before) = before else { return Ok(false) };
    sqlx::query!("delete from usage_bills_compared").execute(&mut *tx).await?;
    let object = before.map_or(Object::Other("division by use"), Object::Delivery);
    audit::record(&mut tx, act, Verb::UsageDivisionAsked, &object, json!(null)).await?;
    tx.commit().await?;
    Ok(true)
}

/// Whether bills or usage changed since all machines were last divided: the server is at it, within seconds.
pub async fn is_pending(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<bool> {
    let unfinished = prometheus::unfinished_months(&mut *db, now).await?;
    let (sequence, catalog) = versions(&mut *db, &unfinished).await?;
    sqlx::query_scalar!(
        r#"select exists (select from usage_imports where status = 'active')
               and not exists (select from usage_bills_compared where sequence = $1 and catalog = $2)
               as "is_pending!""#,
        sequence,
        catalog,
    )
    .fetch_one(db)
    .await
}

struct Known {
    inputs: Vec<u8>,
    retry_at: Option<DateTime<Utc>>,
}

async fn computed(db: &mut PgConnection) -> sqlx::Result<HashMap<i64, Known>> {
    let rows = sqlx::query!("select scope_id, inputs, retry_at from usage_bills").fetch_all(db).await?;
    let known =
        rows.into_iter().map(|row| (row.scope_id, Known { inputs: row.inputs, retry_at: row.retry_at }));
    Ok(known.collect())
}

/// Notes that a bill is divided, by an import, or not at all.
pub async fn note(
    db: &mut PgConnection,
    due: &Due,
    delivery: Option<i64>,
    problem: Option<&str>,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    if due.is_nothing() && problem.is_none() {
        sqlx::query!("delete from usage_bills where scope_id = $1", due.bill.scope_id).execute(db).await?;
        return Ok(());
    }
    sqlx::query!(
        "insert into usage_bills (scope_id, inputs, delivery_id, problem, computed_at) values ($1, $2, $3, $4, $5)
         on conflict (scope_id) do update
         set inputs = $2, delivery_id = $3, problem = $4, computed_at = $5, retry_at = null",
        due.bill.scope_id,
        &due.inputs,
        delivery,
        problem,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Notes that the machine failed at a bill, which is tried again later. How it was divided before stays.
pub async fn note_problem(
    db: &mut PgConnection,
    due: &Due,
    problem: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into usage_bills (scope_id, inputs, problem, retry_at, computed_at) values ($1, $2, $3, $4, $5)
         on conflict (scope_id) do update set inputs = $2, problem = $3, retry_at = $4, computed_at = $5",
        due.bill.scope_id,
        &due.inputs,
        problem,
        now + RETRY,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}
