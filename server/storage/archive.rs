//! Which imports are archived, and when.

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::PgConnection;

use crate::allocation;
use crate::ledger;
use crate::report;

/// The most hours that can be set: ten years.
pub const LONGEST: i32 = 87_600;

/// Hours that an import keeps its rows after it was replaced or undone; `None`: it keeps them for ever.
pub async fn archive_after(db: &mut PgConnection) -> sqlx::Result<Option<i32>> {
    sqlx::query_scalar!("select after_hours from archiving").fetch_one(db).await
}

/// Answers whether these are others than before.
pub async fn set_archive_after(db: &mut PgConnection, hours: Option<i32>) -> sqlx::Result<bool> {
    let set =
        sqlx::query!("update archiving set after_hours = $1 where after_hours is distinct from $1", hours);
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

/// Archives all that is inactive, whenever that began. Answers which.
pub async fn archive_all(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Vec<i64>> {
    let mut archived = Vec::new();
    for delivery in archivable(&mut *db, now).await? {
        if ledger::archive(&mut *db, delivery, now).await? {
            archived.push(delivery);
        }
    }
    Ok(archived)
}

/// Archives what has been inactive for long enough, and removes the rows of what was archived a while ago.
pub async fn archive(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<()> {
    if let Some(hours) = archive_after(&mut *db).await? {
        for delivery in archivable(&mut *db, now - TimeDelta::hours(hours.into())).await? {
            ledger::archive(&mut *db, delivery, now).await?;
        }
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
    if removed.is_empty() { Ok(()) } else { allocation::forget_with(db, &removed).await }
}
