//! What writes: each verb in a transaction of its own, with its line in the audit trail.

use serde_json::json;
use sqlx::types::Json;
use sqlx::{Connection as _, PgConnection};

use super::{Headline, Share};
use crate::accounts::UserId;
use crate::audit::{self, Act, Object, Verb};
use crate::economics::comparison::Scenario;
use crate::money::Decimal;

/// What became of saving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    As(i64),
    /// The last version says the same already.
    Nothing,
    /// Somebody saved this version meanwhile, and nothing was saved.
    Conflict(i64),
}

/// Keeps a scenario; answers its number.
pub async fn create(
    db: &mut PgConnection,
    scenario: &Scenario,
    headline: &Headline,
    owner: UserId,
    act: Act<'_>,
) -> sqlx::Result<i64> {
    let mut tx = db.begin().await?;
    let id = sqlx::query_scalar!(
        "insert into scenarios (owner_id, version, made_at, made_by) values ($1, 1, $2, $3) returning scenario_id",
        owner.0,
        act.at,
        act.by.name,
    )
    .fetch_one(&mut *tx)
    .await?;
    add_version(&mut tx, (id, 1), (scenario, headline), None, act).await?;
    let object = Object::Scenario { id, name: scenario.name.clone() };
    audit::record(&mut tx, act, Verb::ScenarioMade, &object, json!({ "version": 1 })).await?;
    tx.commit().await?;
    Ok(id)
}

/// Keeps another version, made by somebody who knew `last` as the last one.
pub async fn save(
    db: &mut PgConnection,
    (id, last): (i64, i64),
    (scenario, headline): (&Scenario, &Headline),
    reason: Option<&str>,
    act: Act<'_>,
) -> sqlx::Result<Saved> {
    let mut tx = db.begin().await?;
    let row = sqlx::query!(
        r#"select s.version, v.content as "content: Json<Scenario>"
           from scenarios s
           join scenario_versions v using (scenario_id, version)
           where s.scenario_id = $1
           for update of s"#,
        id,
    )
    .fetch_one(&mut *tx)
    .await?;
    if row.version != last {
        return Ok(Saved::Conflict(row.version));
    }
    if row.content.0.without_what_has_no_effect() == *scenario {
        return Ok(Saved::Nothing);
    }
    let version = last + 1;
    add_version(&mut tx, (id, version), (scenario, headline), reason, act).await?;
    sqlx::query!("update scenarios set version = $2 where scenario_id = $1", id, version)
        .execute(&mut *tx)
        .await?;
    let object = Object::Scenario { id, name: scenario.name.clone() };
    let details = json!({ "version": version, "reason": reason });
    audit::record(&mut tx, act, Verb::ScenarioSaved, &object, details).await?;
    tx.commit().await?;
    Ok(Saved::As(version))
}

async fn add_version(
    db: &mut PgConnection,
    (id, version): (i64, i64),
    (scenario, headline): (&Scenario, &Headline),
    reason: Option<&str>,
    act: Act<'_>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into scenario_versions
           (scenario_id, version, content, cheapest, cost_per_hour, reason, saved_at, saved_by)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        id,
        version,
        Json(scenario) as _,
        headline.cheapest,
        headline.cost_per_hour as Option<Decimal>,
        reason,
        act.at,
        act.by.name,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// What came of sharing a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    Now,
    Before,
    /// With [`MOST_SHARES`] others already.
    TooOften,
}

/// Whom one scenario is shown to, at most.
pub const MOST_SHARES: i64 = 50;

/// Shows a scenario to more people. Addresses are the same in small letters and in capitals.
pub async fn share(db: &mut PgConnection, id: i64, with: &Share, act: Act<'_>) -> sqlx::Result<Shared> {
    let (kind, name) = with.parts();
    let mut tx = db.begin().await?;
    // One after the other, so that what is counted stays so.
    sqlx::query!("select from scenarios where scenario_id = $1 for update", id).fetch_one(&mut *tx).await?;
    let before = sqlx::query!(
        r#"select count(*) as "count!",
                  coalesce(bool_or(kind = $2 and lower(name) = lower($3)), false) as "is_known!"
           from scenario_shares where scenario_id = $1"#,
        id,
        kind,
        name,
    )
    .fetch_one(&mut *tx)
    .await?;
    if before.is_known {
        return Ok(Shared::Before);
    }
    if before.count >= MOST_SHARES {
        return Ok(Shared::TooOften);
    }
    sqlx::query!("insert into scenario_shares (scenario_id, kind, name) values ($1, $2, $3)", id, kind, name)
        .execute(&mut *tx)
        .await?;
    let object = named(&mut tx, id).await?;
    audit::record(&mut tx, act, Verb::ScenarioShared, &object, json!({ kind: name })).await?;
    tx.commit().await?;
    Ok(Shared::Now)
}

/// Shows it to these people no more. False: they did not see it.
pub async fn unshare(db: &mut PgConnection, id: i64, with: &Share, act: Act<'_>) -> sqlx::Result<bool> {
    let (kind, name) = with.parts();
    let mut tx = db.begin().await?;
    let gone = sqlx::query!(
        "delete from scenario_shares where scenario_id = $1 and kind = $2 and lower(name) = lower($3)",
        id,
        kind,
        name,
    )
    .execute(&mut *tx)
    .await?;
    let was_there = gone.rows_affected() > 0;
    if was_there {
        let object = named(&mut tx, id).await?;
        audit::record(&mut tx, act, Verb::ScenarioUnshared, &object, json!({ kind: name })).await?;
    }
    tx.commit().await?;
    Ok(was_there)
}

/// Takes a scenario off every list. False: it was removed before.
pub async fn remove(db: &mut PgConnection, id: i64, act: Act<'_>) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let gone = sqlx::query!(
        "update scenarios set removed_at = $2, removed_by = $3 where scenario_id = $1 and removed_at is null",
        id,
        act.at,
        act.by.name,
    )
    .execute(&mut *tx)
    .await?;
    described(tx, gone.rows_affected() > 0, id, Verb::ScenarioRemoved, act).await
}

/// Puts a scenario back that was removed. False: it was not.
pub async fn bring_back(db: &mut PgConnection, id: i64, act: Act<'_>) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let back = sqlx::query!(
        "update scenarios set removed_at = null, removed_by = null where scenario_id = $1 and removed_at is not null",
        id,
    )
    .execute(&mut *tx)
    .await?;
    described(tx, back.rows_affected() > 0, id, Verb::ScenarioBroughtBack, act).await
}

async fn described(
    mut tx: sqlx::Transaction<'_, sqlx::Postgres>,
    is_changed: bool,
    id: i64,
    verb: Verb,
    act: Act<'_>,
) -> sqlx::Result<bool> {
    if is_changed {
        let object = named(&mut tx, id).await?;
        audit::record(&mut tx, act, verb, &object, json!({})).await?;
    }
    tx.commit().await?;
    Ok(is_changed)
}

/// A scenario as the trail names it.
async fn named(db: &mut PgConnection, id: i64) -> sqlx::Result<Object> {
    let name = sqlx::query_scalar!(
        r#"select v.content ->> 'name' as "name!"
           from scenarios join scenario_versions v using (scenario_id, version)
           where scenario_id = $1"#,
        id,
    )
    .fetch_one(db)
    .await?;
    Ok(Object::Scenario { id, name })
}
