//! Files that only archived imports have. They are what rows are loaded from again, so they are removed only where an
//! administrator says so; who has such a file imports it again.

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

/// Those that only imports have whose archiving began before then.
pub async fn old_files(db: &mut PgConnection, then: DateTime<Utc>) -> sqlx::Result<OldFiles> {
    let found = sqlx::query_file!("server/ledger/old_files.sql", then).fetch_all(db).await?;
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
    let found = sqlx::query_file!("server/ledger/old_files.sql", then).fetch_all(&mut *db).await?;
    if found.is_empty() {
        return Ok(0);
    }
    let mut tx = db.begin().await?;
    let (mut hashes, mut imports) = (Vec::new(), Vec::<i64>::new());
    for file in &found {
        hashes.push(file.sha256.clone());
        imports.extend(file.imports.iter().flatten().copied());
    }
    sqlx::query!("delete from originals where sha256 = any($1)", &hashes).execute(&mut *tx).await?;
    let details = serde_json::json!({ "files": found.len(), "imports": imports });
    let object = Object::Other("archiving");
    audit::record(&mut tx, &Actor::server(), Verb::FilesRemoved, &object, details, now).await?;
    tx.commit().await?;
    // What is left where this breaks off is an orphan, and is removed as those are.
    let (originals, count) = (originals.clone(), hashes.len());
    let hashes: Vec<Sha256> = hashes.into_iter().filter_map(|bytes| Sha256::try_from(bytes).ok()).collect();
    tokio::task::spawn_blocking(move || hashes.iter().try_for_each(|sha256| originals.remove(sha256)))
        .await??;
    Ok(count)
}
