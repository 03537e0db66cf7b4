//! Which imports are archived, and when; and how long their files are kept.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use serde_json::json;
use sqlx::PgConnection;

use crate::allocation;
use crate::audit::{self, Act, Actor, Object, Verb};
use crate::ledger::{self, Originals};
use crate::report;

/// The most hours that can be set: ten years.
pub const MOST_HOURS: i32 = 87_600;
/// And the most days.
pub const MOST_DAYS: i32 = 3650;
/// Between the setting and the first file that is removed: who has mistyped it can still change it.
const FIRST_FILES_AFTER: TimeDelta = TimeDelta::days(1);

/// What administrators set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Archiving {
    /// Hours that an import keeps its rows after it was replaced or undone; `None`: it keeps them for ever.
    pub after_hours: Option<i32>,
    /// Days that a file is kept when all imports that have it are archived; `None`: for ever.
    pub files_after_days: Option<i32>,
}

pub async fn archiving(db: &mut PgConnection) -> sqlx::Result<Archiving> {
    sqlx::query_as!(Archiving, "select after_hours, files_after_days from archiving").fetch_one(db).await
}

/// Answers whether this is something else than before.
pub async fn set_archiving(db: &mut PgConnection, to: Archiving, now: DateTime<Utc>) -> sqlx::Result<bool> {
    let set = sqlx::query!(
        "update archiving
         set after_hours = $1, files_after_days = $2,
             files_set_at = case when files_after_days is distinct from $2 then $3 else files_set_at end
         where (after_hours, files_after_days) is distinct from ($1, $2)",
        to.after_hours,
        to.files_after_days,
        now,
    );
    Ok(set.execute(db).await?.rows_affected() > 0)
}

/// Imports that are inactive since before then; but those that were active in a month, or in the month before it, when that was
/// final or since: its statements say what it was.
pub async fn archivable(db: &mut PgConnection, then: DateTime<Utc>) -> sqlx::Result<Vec<i64>> {
    let sequence = ledger::sequence(&mut *db).await?;
    let mut found = Vec::new();
    for inactive in ledger::inactive_since(&mut *db, then).await? {
        let mut is_stated = false;
        for (month, until) in inactive.months {
            // A month is compared with the one before it.
            for of in [month, month.next()] {
                let since = report::final_since(&mut *db, of, sequence).await?;
                is_stated |= since.is_some_and(|since| since < until);
            }
        }
        if !is_stated {
            found.push(inactive.delivery);
        }
    }
    Ok(found)
}

/// Archives all that is inactive since before then. Answers which.
pub async fn archive_since(
    db: &mut PgConnection,
    then: DateTime<Utc>,
    act: Act<'_>,
) -> sqlx::Result<Vec<i64>> {
    let mut archived = Vec::new();
    for delivery in archivable(&mut *db, then).await? {
        if ledger::archive(&mut *db, delivery, act.at).await? {
            archived.push(delivery);
        }
    }
    if !archived.is_empty() {
        let (verb, object) = (Verb::ImportsArchived, Object::Other("archiving"));
        audit::record(&mut *db, act, verb, &object, json!({ "imports": archived })).await?;
    }
    Ok(archived)
}

/// Archives what has been inactive for long enough; removes the rows of what was archived a while ago, and the files of what was
/// archived long ago.
pub async fn archive(db: &mut PgConnection, originals: &Originals, now: DateTime<Utc>) -> anyhow::Result<()> {
    let set = archiving(&mut *db).await?;
    if let Some(hours) = set.after_hours {
        archive_since(&mut *db, now - TimeDelta::hours(hours.into()), Actor::server().at(now)).await?;
    }
    let mut removed = Vec::new();
    for delivery in ledger::due(&mut *db, now).await? {
        // One that cannot be removed must not keep the others.
        match ledger::remove_archived(&mut *db, delivery, now).await {
            Ok(true) => removed.push(delivery),
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, delivery, "rows of an archived import could not be removed"),
        }
    }
    if !removed.is_empty() {
        allocation::forget_with(&mut *db, &removed).await?;
        ledger::remove_unused_keys(&mut *db).await?;
    }
    if let Some(then) = files_until(&mut *db, now).await? {
        ledger::remove_old_files(db, originals, then, now).await?;
    }
    Ok(())
}

/// Until when a file of an import that was archived then stays at least; `None`: for ever.
pub async fn kept_until(
    db: &mut PgConnection,
    archived_at: DateTime<Utc>,
) -> sqlx::Result<Option<DateTime<Utc>>> {
    let set = sqlx::query!("select files_after_days, files_set_at from archiving").fetch_one(db).await?;
    let (Some(days), Some(set_at)) = (set.files_after_days, set.files_set_at) else { return Ok(None) };
    Ok(Some((archived_at + TimeDelta::days(days.into())).max(set_at + FIRST_FILES_AFTER)))
}

/// Before when imports must have been archived so that their files are removed now; `None`: none are.
async fn files_until(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Option<DateTime<Utc>>> {
    let days = sqlx::query_scalar!(
        "select files_after_days from archiving where files_set_at <= $1",
        now - FIRST_FILES_AFTER
    );
    let days = days.fetch_optional(db).await?.flatten();
    Ok(days.map(|days| now - TimeDelta::days(days.into())))
}
