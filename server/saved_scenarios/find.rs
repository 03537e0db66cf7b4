//! Reading what is kept, by whoever may see it.

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::PgConnection;
use sqlx::types::Json;

use super::{Headline, Reader, Share};
use crate::accounts::UserId;
use crate::economics::comparison::Scenario;
use crate::money::Decimal;

/// One of a list.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    pub scenario: i64,
    pub name: String,
    pub version: i64,
    pub currency: String,
    pub months: i64,
    #[serde(flatten)]
    pub headline: Headline,
    pub saved_at: DateTime<Utc>,
    pub saved_by: String,
    /// Whom it belongs to.
    pub owner: String,
}

/// A version of a scenario.
#[derive(Clone, Debug, Serialize)]
pub struct Kept {
    pub id: i64,
    pub owner_id: UserId,
    pub owner: String,
    /// Which version this is, and which is the last.
    pub version: i64,
    pub last_version: i64,
    pub scenario: Scenario,
    pub reason: Option<String>,
    pub saved_at: DateTime<Utc>,
    pub saved_by: String,
    pub removed_at: Option<DateTime<Utc>>,
    pub removed_by: Option<String>,
}

/// A version in the list of all.
#[derive(Clone, Debug, Serialize)]
pub struct Version {
    pub version: i64,
    #[serde(flatten)]
    pub headline: Headline,
    pub reason: Option<String>,
    pub saved_at: DateTime<Utc>,
    pub saved_by: String,
}

/// Every scenario that someone sees, the newest first; or those that were removed.
pub async fn list(db: &mut PgConnection, reader: &Reader, removed: bool) -> sqlx::Result<Vec<Line>> {
    let rows = sqlx::query!(
        r#"select s.scenario_id, s.version, v.content ->> 'name' as "name!", v.content ->> 'currency' as "currency!",
                  (v.content ->> 'months')::bigint as "months!", v.cheapest, v.cost_per_hour as "cost_per_hour: Decimal",
                  v.saved_at, v.saved_by, u.email as owner
           from scenarios s
           join scenario_versions v using (scenario_id, version)
           join users u on u.user_id = s.owner_id
           where (s.removed_at is not null) = $5
             and ($1 or s.owner_id = $2
                  or s.removed_at is null
                     and exists (select from scenario_shares h
                                 where h.scenario_id = s.scenario_id
                                   and (h.kind = 'team' and h.name = any($3)
                                        or h.kind = 'person' and lower(h.name) = lower($4))))
           order by v.saved_at desc, s.scenario_id desc"#,
        reader.sees_all,
        reader.user_id.0,
        &reader.teams,
        reader.email,
        removed,
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Line {
            scenario: row.scenario_id,
            name: row.name,
            version: row.version,
            currency: row.currency,
            months: row.months,
            headline: Headline { cheapest: row.cheapest, cost_per_hour: row.cost_per_hour },
            saved_at: row.saved_at,
            saved_by: row.saved_by,
            owner: row.owner,
        })
        .collect())
}

/// A version of a scenario, the last one unless another is named. `None` where there is none, or not for this reader;
/// one that was removed is there for who may bring it back.
pub async fn find(
    db: &mut PgConnection,
    id: i64,
    version: Option<i64>,
    reader: &Reader,
) -> sqlx::Result<Option<Kept>> {
    let row = sqlx::query!(
        r#"select s.scenario_id, s.owner_id as "owner_id: UserId", u.email as owner, v.version,
                  s.version as last_version, v.content as "content: Json<Scenario>", v.reason, v.saved_at, v.saved_by,
                  s.removed_at, s.removed_by
           from scenarios s
           join scenario_versions v on v.scenario_id = s.scenario_id and v.version = coalesce($2, s.version)
           join users u on u.user_id = s.owner_id
           where s.scenario_id = $1
             and ($3 or s.owner_id = $4
                  or s.removed_at is null
                     and exists (select from scenario_shares h
                                 where h.scenario_id = s.scenario_id
                                   and (h.kind = 'team' and h.name = any($5)
                                        or h.kind = 'person' and lower(h.name) = lower($6))))"#,
        id,
        version,
        reader.sees_all,
        reader.user_id.0,
        &reader.teams,
        reader.email,
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| Kept {
        id: row.scenario_id,
        owner_id: row.owner_id,
        owner: row.owner,
        version: row.version,
        last_version: row.last_version,
        scenario: row.content.0.without_what_has_no_effect(),
        reason: row.reason,
        saved_at: row.saved_at,
        saved_by: row.saved_by,
        removed_at: row.removed_at,
        removed_by: row.removed_by,
    }))
}

/// All versions of a scenario, the last one first.
pub async fn versions(db: &mut PgConnection, id: i64) -> sqlx::Result<Vec<Version>> {
    let rows = sqlx::query!(
        r#"select version, cheapest, cost_per_hour as "cost_per_hour: Decimal", reason, saved_at, saved_by
           from scenario_versions where scenario_id = $1 order by version desc"#,
        id,
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Version {
            version: row.version,
            headline: Headline { cheapest: row.cheapest, cost_per_hour: row.cost_per_hour },
            reason: row.reason,
            saved_at: row.saved_at,
            saved_by: row.saved_by,
        })
        .collect())
}

/// Whom a scenario is shown to besides its owner and who sees everything.
pub async fn shared_with(db: &mut PgConnection, id: i64) -> sqlx::Result<Vec<Share>> {
    let rows = sqlx::query!(
        "select kind, name from scenario_shares where scenario_id = $1 order by kind desc, name",
        id,
    )
    .fetch_all(db)
    .await?;
    let share = |kind: &str, name| if kind == "team" { Share::Team(name) } else { Share::Person(name) };
    Ok(rows.into_iter().map(|row| share(&row.kind, row.name)).collect())
}
