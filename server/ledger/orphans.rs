//! Originals that no delivery refers to: of imports that were cancelled, refused or cut off.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use sqlx::PgConnection;

use super::original::{Originals, Sha256};

/// Held shared by every session that loads, since what it keeps is referred to only when it is done; alone by
/// whoever removes.
const LOCK: i64 = 0x6770_755f_6b65_6570;

/// Lets nobody remove originals until [`release`], or the end of the session.
pub async fn hold(db: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query!("select pg_advisory_lock_shared($1)", LOCK).execute(db).await?;
    Ok(())
}

pub async fn release(db: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query_scalar!("select pg_advisory_unlock_shared($1)", LOCK).fetch_one(db).await?;
    Ok(())
}

/// Removes them, and files that were only half kept. Answers how many bytes that freed; `None` where an import is
/// running, whose originals nobody refers to yet.
pub async fn remove_orphans(db: &mut PgConnection, originals: &Originals) -> anyhow::Result<Option<u64>> {
    let is_alone = sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "alone!""#, LOCK)
        .fetch_one(&mut *db)
        .await?;
    if !is_alone {
        return Ok(None);
    }
    let removed = remove(db, originals).await;
    sqlx::query_scalar!("select pg_advisory_unlock($1)", LOCK).fetch_one(&mut *db).await?;
    removed.map(Some)
}

async fn remove(db: &mut PgConnection, originals: &Originals) -> anyhow::Result<u64> {
    let referred = sqlx::query_scalar!(
        r#"select distinct sha256 as "sha256!" from delivery_files where sha256 is not null"#
    )
    .fetch_all(&mut *db)
    .await?;
    let referred: BTreeSet<Sha256> =
        referred.into_iter().filter_map(|bytes| Sha256::try_from(bytes).ok()).collect();
    sqlx::query!(
        "delete from originals o where not exists (select from delivery_files f where f.sha256 = o.sha256)"
    )
    .execute(&mut *db)
    .await?;
    let originals = originals.clone();
    Ok(tokio::task::spawn_blocking(move || remove_files(&originals, &referred)).await??)
}

fn remove_files(originals: &Originals, referred: &BTreeSet<Sha256>) -> io::Result<u64> {
    let mut freed = 0;
    for path in originals.every_file()? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_referred = name
            .split_once('.')
            .and_then(|(hex, _)| hex.parse().ok())
            .is_some_and(|sha256| referred.contains(&sha256));
        if !is_referred {
            freed += fs::metadata(&path)?.len();
            fs::remove_file(&path)?;
        }
    }
    Ok(freed)
}
