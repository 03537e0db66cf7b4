//! Reading the trail: newest first, narrowed by who, what and when.

use chrono::{DateTime, Days, NaiveDate, Utc};
use serde::Serialize;
use serde_json::Value;
use sqlx::PgConnection;

/// Lines on a page.
pub const PAGE: i64 = 100;

/// Which lines. What is `None` does not narrow.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Whoever did it, or the person to whom it was done.
    pub who: Option<String>,
    /// A verb, or a kind of them: `delivery.undone`, `delivery`.
    pub what: Option<String>,
    pub from: Option<NaiveDate>,
    /// The last day, itself included.
    pub to: Option<NaiveDate>,
    /// Lines before this one.
    pub before: Option<i64>,
    pub limit: i64,
}

/// A line of the trail.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    #[serde(rename = "id")]
    pub audit_id: i64,
    pub happened_at: DateTime<Utc>,
    pub actor: String,
    pub address: Option<String>,
    pub verb: String,
    pub object_kind: String,
    pub object_id: String,
    pub object_name: String,
    pub details: Value,
    /// Of an upload: whether it has a page. Files that a command made, and months of a demonstration, were never uploaded.
    #[serde(skip)]
    pub has_upload: bool,
    /// Of an upload: its first delivery.
    #[serde(skip)]
    pub first_delivery: Option<i64>,
}

/// A page of lines.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    pub lines: Vec<Line>,
    /// What the next page begins before. `None` on the last.
    pub older: Option<i64>,
}

/// The lines that a search finds, at most as many as it says.
pub async fn find(db: &mut PgConnection, search: &Search) -> sqlx::Result<Found> {
    let start = |day: NaiveDate| day.and_time(chrono::NaiveTime::MIN).and_utc();
    let until = search.to.map(|day| day.checked_add_days(Days::new(1)).unwrap_or(day));
    let mut lines = sqlx::query_as!(
        Line,
        r#"select audit_id, happened_at, actor, address, verb, object_kind, object_id, object_name, details,
               case when object_kind = 'batch' then
                   exists (select from jobs j where j.batch_id = object_id::uuid) else false
               end as "has_upload!",
               case when object_kind = 'batch' then
                   (select min(d.delivery_id) from deliveries d where d.batch_id = object_id::uuid)
               end as first_delivery
           from audit_log
           where ($1::text is null or lower(actor) = lower($1)
                  or (object_kind = 'person' and lower(object_name) = lower($1)))
             and ($2::text is null or verb = $2 or starts_with(verb, $2 || '.'))
             and ($3::timestamptz is null or happened_at >= $3)
             and ($4::timestamptz is null or happened_at < $4)
             and ($5::bigint is null or audit_id < $5)
           order by audit_id desc
           limit $6"#,
        search.who,
        search.what,
        search.from.map(start),
        until.map(start),
        search.before,
        search.limit + 1,
    )
    .fetch_all(db)
    .await?;
    let is_more = lines.len() as i64 > search.limit;
    lines.truncate(search.limit as usize);
    let older = if is_more { lines.last().map(|line| line.audit_id) } else { None };
    Ok(Found { lines, older })
}

/// Everyone who did anything, in the order of their names.
pub async fn actors(db: &mut PgConnection) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar!("select distinct actor from audit_log order by 1").fetch_all(db).await
}

/// Whether this person signed in from this address since then.
pub async fn signed_in_from(
    db: &mut PgConnection,
    email: &str,
    address: &str,
    since: DateTime<Utc>,
) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"select exists (
               select from audit_log
               where verb = 'sign_in.accepted' and lower(actor) = lower($1) and address = $2 and happened_at > $3
           ) as "known!""#,
        email,
        address,
        since,
    )
    .fetch_one(db)
    .await
}
