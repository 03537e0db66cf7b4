//! Restoring a backup where there is nothing yet.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use sqlx::PgConnection;
use tempfile::TempDir;

use super::manifest::copy;
use super::{DUMP, Manifest, ORIGINALS, Progress};
use crate::store::{Client, MIGRATOR, Store};

/// Fills an empty database and a data folder without originals from a backup whose parts have been verified. The
/// database is filled in one transaction: where anything fails, both are as before.
pub async fn restore(
    store: &Store,
    manifest: &Manifest,
    backup: &Path,
    data_dir: &Path,
    progress: &Progress,
) -> anyhow::Result<()> {
    let newest = MIGRATOR.iter().map(|step| step.version).max().unwrap_or_default();
    ensure!(
        manifest.migration <= newest,
        "it was made by gpuledger {}, whose tables this version does not know: restore it with that version or a \
         later one",
        manifest.version
    );
    let mut db = store.connect().await?;
    ensure!(
        is_empty(&mut db).await?,
        "the database is not empty; a backup is restored into a new data folder or an empty database only"
    );
    let originals = data_dir.join(ORIGINALS);
    ensure!(
        is_empty_folder(&originals)?,
        "{} holds files; a backup is restored into a new data folder only",
        originals.display()
    );
    let client = store.client().await?;
    ensure!(
        client.major >= manifest.postgres,
        "it was made with PostgreSQL {}; this is PostgreSQL {}",
        manifest.postgres,
        client.major
    );

    let copied =
        copy_originals(manifest.clone(), backup.to_owned(), data_dir.to_owned(), progress.clone()).await?;
    fill(&client, &backup.join(DUMP)).await?;
    if let Some(folder) = copied {
        let _ = fs::remove_dir(&originals);
        fs::rename(folder.keep(), &originals)?;
    }
    store.migrate().await?;
    forget_uploads(&mut db).await?;
    Ok(())
}

/// Nobody's tables are there, ours or others'.
async fn is_empty(db: &mut PgConnection) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"select not exists (
               select from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where c.relkind in ('r', 'p', 'v', 'm', 'S') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
           ) as "empty!""#
    )
    .fetch_one(db)
    .await
}

fn is_empty_folder(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Into a folder beside, which takes its place when the database is filled; removed where that fails.
async fn copy_originals(
    manifest: Manifest,
    backup: PathBuf,
    data_dir: PathBuf,
    progress: Progress,
) -> anyhow::Result<Option<TempDir>> {
    let copied = tokio::task::spawn_blocking(move || {
        let folder = tempfile::Builder::new()
            .prefix(".originals-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(&data_dir)?;
        let parts = manifest.parts.iter().filter_map(|part| {
            Some((part, part.path.strip_prefix(ORIGINALS)?.trim_start_matches('/').to_owned()))
        });
        let mut count = 0;
        for (part, below) in parts {
            let target = folder.path().join(below);
            if let Some(parent) = target.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
            }
            let file = File::create_new(&target)?;
            let found = copy(File::open(backup.join(&part.path))?, &file, part.path.clone(), &progress)?;
            if found != *part {
                return Err(io::Error::other(format!("{} has changed meanwhile", part.path)));
            }
            file.sync_all()?;
            count += 1;
        }
        Ok((count > 0).then_some(folder))
    });
    copied.await?.context("the originals cannot be copied")
}

async fn fill(client: &Client, dump: &Path) -> anyhow::Result<()> {
    let mut pg_restore = client.command("pg_restore");
    let ended = pg_restore
        .args(["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--no-password"])
        .arg(format!("--dbname={}", client.database()))
        .arg(dump)
        .output()
        .await
        .context("pg_restore does not start")?;
    ensure!(
        ended.status.success(),
        "the database could not be filled, and is as before: {}",
        String::from_utf8_lossy(&ended.stderr).trim()
    );
    Ok(())
}

/// Uploads that waited are not part of a backup: whoever handed them in is told to do so again.
async fn forget_uploads(db: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query!(
        "update jobs
         set status = 'failed', files = '[]', finished_at = created_at,
             message = 'The server was restored from a backup before this was loaded. Hand the files in again.'
         where status in ('queued', 'running')"
    )
    .execute(db)
    .await?;
    Ok(())
}
