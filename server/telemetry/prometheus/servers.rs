//! The servers that are asked, as somebody entered them, and how far each was read.

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
use serde::Serialize;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use super::window::MOST_HOURS;
use crate::audit::{self, Act, Object, Verb};
use crate::money::Decimal;
use crate::period::BillingMonth;

/// How far behind what is read is more than the quarter of a day that is to be read next.
const BEHIND: TimeDelta = TimeDelta::hours(9);
/// After so long without a series of a GPU something is wrong with its exporters, or with the label matchers.
const SILENT_AFTER: TimeDelta = TimeDelta::hours(24);

/// A server that is asked.
#[derive(Clone, Debug, Serialize)]
pub struct Server {
    pub server_id: i64,
    /// Also what a cluster is called whose series have no label `cluster`.
    pub name: String,
    pub address: String,
    #[serde(skip)]
    pub sealed_token: Option<Vec<u8>>,
    pub matchers: String,
    /// Every hour before was read.
    pub read_until: DateTime<Utc>,
    pub window_hours: i32,
    /// Until when it had series of GPUs.
    pub seen_until: Option<DateTime<Utc>>,
    pub problem: Option<String>,
    pub failing_since: Option<DateTime<Utc>>,
    pub retry_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub created_by: String,
    /// It is asked no more.
    pub removed_at: Option<DateTime<Utc>>,
    pub removed_by: Option<String>,
}

/// What somebody has to look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Trouble {
    /// It could not be read since then.
    Failing { since: DateTime<Utc>, problem: String },
    /// It answers, and has had no series of a GPU since then, or never.
    Silent { since: Option<DateTime<Utc>> },
}

impl Server {
    pub fn trouble(&self) -> Option<Trouble> {
        if let (Some(since), Some(problem)) = (self.failing_since, &self.problem) {
            return Some(Trouble::Failing { since, problem: problem.clone() });
        }
        let seen = self.seen_until.unwrap_or(self.created_at.min(self.read_until));
        (self.read_until - seen >= SILENT_AFTER).then_some(Trouble::Silent { since: self.seen_until })
    }

    /// Whether hours are left that were over a while ago.
    pub fn is_behind(&self, now: DateTime<Utc>) -> bool {
        now - self.read_until > BEHIND
    }
}

/// What is entered of a server.
#[derive(Clone, Debug)]
pub struct Entered<'a> {
    pub name: &'a str,
    pub address: &'a str,
    /// `None`: as it was.
    pub sealed_token: Option<&'a [u8]>,
    pub matchers: &'a str,
}

/// Those that were not removed, by name.
pub async fn servers(db: &mut PgConnection) -> sqlx::Result<Vec<Server>> {
    find(db, None).await
}

/// One, even if it was removed.
pub async fn server(db: &mut PgConnection, server_id: i64) -> sqlx::Result<Option<Server>> {
    Ok(find(db, Some(server_id)).await?.pop())
}

async fn find(db: &mut PgConnection, only: Option<i64>) -> sqlx::Result<Vec<Server>> {
    sqlx::query_as!(
        Server,
        "select server_id, name, address, sealed_token, matchers, read_until, window_hours, seen_until, problem, failing_since,
             retry_at, created_at, created_by, removed_at, removed_by
         from prometheus_servers
         where case when $1::bigint is null then removed_at is null else server_id = $1 end
         order by lower(name)",
        only,
    )
    .fetch_all(db)
    .await
}

/// Adds a server, which is read from a day on. `None` where another one has its name.
pub async fn add(
    db: &mut PgConnection,
    entered: &Entered<'_>,
    from: NaiveDate,
    act: Act<'_>,
) -> sqlx::Result<Option<i64>> {
    let mut tx = db.begin().await?;
    let added = sqlx::query_scalar!(
        "insert into prometheus_servers (name, address, sealed_token, matchers, read_until, window_hours, created_at, created_by)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
         on conflict do nothing
         returning server_id",
        entered.name,
        entered.address,
        entered.sealed_token,
        entered.matchers,
        from.and_time(NaiveTime::MIN).and_utc(),
        MOST_HOURS,
        act.at,
        act.by.name,
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(server_id) = added else { return Ok(None) };
    let details = json!({ "name": entered.name, "address": entered.address, "from": from });
    audit::record(
        &mut tx,
        act,
        Verb::PrometheusAdded,
        &Object::Prometheus(server_id, entered.name.to_owned()),
        details,
    )
    .await?;
    tx.commit().await?;
    Ok(Some(server_id))
}

/// Changes how a server is asked; what was read stays. False where another one has its name.
pub async fn change(
    db: &mut PgConnection,
    server_id: i64,
    entered: &Entered<'_>,
    act: Act<'_>,
) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let changed = sqlx::query!(
        "update prometheus_servers s
         set name = $2, address = $3, sealed_token = coalesce($4, sealed_token), matchers = $5, retry_at = null, window_hours = $6
         where server_id = $1 and removed_at is null
           and not exists (
               select from prometheus_servers other
               where other.server_id <> $1 and other.removed_at is null and lower(other.name) = lower($2)
           )",
        server_id,
        entered.name,
        entered.address,
        entered.sealed_token,
        entered.matchers,
        MOST_HOURS,
    )
    .execute(&mut *tx)
    .await?;
    if changed.rows_affected() == 0 {
        return Ok(false);
    }
    let details = json!({ "name": entered.name, "address": entered.address, "token_changed": entered.sealed_token.is_some() });
    let object = Object::Prometheus(server_id, entered.name.to_owned());
    audit::record(&mut tx, act, Verb::PrometheusChanged, &object, details).await?;
    tx.commit().await?;
    Ok(true)
}

/// Asks a server no more. What was read of it stays until somebody undoes it.
pub async fn remove(db: &mut PgConnection, server: &Server, act: Act<'_>) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    sqlx::query!(
        "update prometheus_servers set removed_at = $2, removed_by = $3, sealed_token = null where server_id = $1",
        server.server_id,
        act.at,
        act.by.name,
    )
    .execute(&mut *tx)
    .await?;
    let object = Object::Prometheus(server.server_id, server.name.clone());
    audit::record(&mut tx, act, Verb::PrometheusRemoved, &object, json!(null)).await?;
    tx.commit().await
}

/// Has a server read again from a day on: what it says then takes the place of what it said.
pub async fn read_again(
    db: &mut PgConnection,
    server: &Server,
    from: NaiveDate,
    act: Act<'_>,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    sqlx::query!(
        "update prometheus_servers set read_until = least(read_until, $2), retry_at = null where server_id = $1",
        server.server_id,
        from.and_time(NaiveTime::MIN).and_utc(),
    )
    .execute(&mut *tx)
    .await?;
    let object = Object::Prometheus(server.server_id, server.name.clone());
    audit::record(&mut tx, act, Verb::PrometheusReadAgain, &object, json!({ "from": from })).await?;
    tx.commit().await
}

/// Months of which a server is being read, whose usage is not whole before.
pub async fn unfinished_months(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Vec<BillingMonth>> {
    let behind = servers(db).await?.into_iter().filter(|it| it.problem.is_none() && it.is_behind(now));
    Ok(behind.map(|it| BillingMonth::of(it.read_until.date_naive())).collect())
}

/// What was read of a day.
#[derive(Clone, Debug, Serialize)]
pub struct ServerDay {
    pub import_id: i64,
    pub day: NaiveDate,
    /// Series.
    pub samples: i64,
    /// Hours of GPUs that it saw, held or not.
    pub accelerator_hours: Decimal,
    pub last_at: Option<DateTime<Utc>>,
    pub status: String,
    pub message: Option<String>,
}

/// The last days that were read of a server, the latest first.
pub async fn days(db: &mut PgConnection, server_id: i64, most: i64) -> sqlx::Result<Vec<ServerDay>> {
    sqlx::query_as!(
        ServerDay,
        r#"select import_id, day as "day!", samples, accelerator_hours as "accelerator_hours: Decimal", last_at, status, message
           from usage_imports
           where server_id = $1
           order by day desc, import_id desc
           limit $2"#,
        server_id,
        most,
    )
    .fetch_all(db)
    .await
}
