//! Originals that nobody needs: of imports that were cancelled, refused or cut off, and of files that were uploaded to load an
//! archived import again, and did not.

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

/// Removes what a load that failed has kept. Where another import runs, or that fails, it stays until the next failed load.
pub async fn remove_after_failure(db: &mut PgConnection, originals: &Originals) {
    if let Err(error) = remove_orphans(db, originals).await {
        tracing::warn!(%error, "originals of what was not loaded could not be removed");
    }
}

/// Removes them, and files that were only half kept. Answers how many bytes that freed; `None` where an import is
/// running, whose originals nobody refers to yet.
pub async fn remove_orphans(db: &mut PgConnection, originals: &Originals) -> anyhow::Result<Option<u64>> {
    if !lock_alone(db).await? {
        return Ok(None);
    }
    let removed = remove(db, originals).await;
    unlock_alone(db).await?;
    removed.map(Some)
}

/// Removes files that were only half kept when their process ended. Answers as [`remove_orphans`]. An original that is
/// whole stays, whoever refers to it: at a start, the database may be the wrong one.
pub async fn remove_unfinished(db: &mut PgConnection, originals: &Originals) -> anyhow::Result<Option<u64>> {
    if !lock_alone(db).await? {
        return Ok(None);
    }
    let originals = originals.clone();
    let removed = tokio::task::spawn_blocking(move || remove_files(&originals, |_| true)).await;
    unlock_alone(db).await?;
    Ok(Some(removed??))
}

pub(super) async fn lock_alone(db: &mut PgConnection) -> sqlx::Result<bool> {
    sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "alone!""#, LOCK).fetch_one(db).await
}

pub(super) async fn unlock_alone(db: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query_scalar!("select pg_advisory_unlock($1)", LOCK).fetch_one(db).await?;
    Ok(())
}

async fn remove(db: &mut PgConnection, originals: &Originals) -> anyhow::Result<u64> {
    sqlx::query!(
        "delete from originals o
         where not exists (select from delivery_files f where f.sha256 = o.sha256)
           and not exists (select from usage_imports u where u.sha256 = o.sha256 and u.status <> 'refused')"
    )
    .execute(&mut *db)
    .await?;
    let kept = sqlx::query_scalar!("select sha256 from originals").fetch_all(&mut *db).await?;
    let kept: BTreeSet<Sha256> = kept.into_iter().filter_map(|bytes| Sha256::try_from(bytes).ok()).collect();
    let originals = originals.clone();
    Ok(tokio::task::spawn_blocking(move || remove_files(&originals, |sha256| kept.contains(sha256)))
        .await??)
}

/// Removes what is no whole original, and whole ones that are not to be kept.
fn remove_files(originals: &Originals, is_kept: impl Fn(&Sha256) -> bool) -> io::Result<u64> {
    let mut freed = 0;
    for path in originals.every_file()? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let sha256 = name.split_once('.').and_then(|(hex, _)| hex.parse().ok());
        if !sha256.is_some_and(|sha256| is_kept(&sha256)) {
            // The thread that wrote half of it may remove it, too, when it hears that nobody waits.
            let removed = fs::metadata(&path).and_then(|file| fs::remove_file(&path).map(|()| file.len()));
            match removed {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => freed += removed?,
            }
        }
    }
    Ok(freed)
}
