//! Files that only archived imports have. Rows are loaded from them again, so they are removed only if an administrator says so;
//! then whoever has such a file can upload it again.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use sqlx::{Connection as _, PgConnection};

use super::original::{Originals, Sha256};
use super::orphans;
use crate::audit::{self, Actor, Object, Verb};

/// Files, and their bytes as they were received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OldFiles {
    pub files: i64,
    pub bytes: i64,
}

/// The files that only archived imports have, all archived before then.
pub async fn old_files(db: &mut PgConnection, then: DateTime<Utc>) -> sqlx::Result<OldFiles> {
    let found = sqlx::query_file!("server/ledger/archive_files.sql", then).fetch_all(db).await?;
    Ok(OldFiles { files: found.len() as i64, bytes: found.iter().map(|file| file.received_bytes).sum() })
}

/// Removes them, with a line in the trail. Answers how many; none where an import is running, which may bring one of them.
pub async fn remove_old_files(
    db: &mut PgConnection,
    originals: &Originals,
    then: DateTime<Utc>,
    now: DateTime<Utc>,
) -> anyhow::Result<usize> {
    if !orphans::lock_alone(db).await? {
        return Ok(0);
    }
    let removed = remove(db, originals, then, now).await;
    orphans::unlock_alone(db).await?;
    removed
}

async fn remove(
    db: &mut PgConnection,
    originals: &Originals,
    then: DateTime<Utc>,
    now: DateTime<Utc>,
) -> anyhow::Result<usize> {
    let found = sqlx::query_file!("server/ledger/archive_files.sql", then).fetch_all(&mut *db).await?;
    if found.is_empty() {
        return Ok(0);
    }
    let hashes: Vec<Sha256> =
        found.iter().filter_map(|file| Sha256::try_from(file.sha256.clone()).ok()).collect();
    let originals = originals.clone();
    // Before their rows, so that what cannot be removed now is tried again.
    let removing = tokio::task::spawn_blocking(move || {
        let is_removed = |sha256: &Sha256| match originals.remove(sha256) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, %sha256, "a file of an archived import could not be removed");
                false
            }
        };
        hashes.into_iter().filter(is_removed).map(|sha256| sha256.0.to_vec()).collect::<Vec<_>>()
    });
    let removed = removing.await?;
    if removed.is_empty() {
        return Ok(0);
    }
    let gone = found.iter().filter(|file| removed.contains(&file.sha256));
    let imports: BTreeSet<i64> = gone.flat_map(|file| file.imports.iter().flatten().copied()).collect();
    let mut tx = db.begin().await?;
    sqlx::query!("delete from originals where sha256 = any($1)", &removed).execute(&mut *tx).await?;
    let details = serde_json::json!({ "files": removed.len(), "imports": imports });
    let object = Object::Other("archiving");
    audit::record(&mut tx, Actor::server().at(now), Verb::FilesRemoved, &object, details).await?;
    tx.commit().await?;
    Ok(removed.len())
}
