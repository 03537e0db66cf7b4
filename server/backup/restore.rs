//! Restoring a backup where there is nothing yet.

use std::path::Path;

use anyhow::{Context, ensure};
use sqlx::{Connection as _, PgConnection};

use super::room::Room;
use super::{DUMP, Manifest, Progress};
use crate::store::{Client, Filling, MIGRATOR, Store};

/// A restore that has begun. The database and the folder of originals are marked as unfinished until
/// [`Restore::finish`], however the process ends.
#[derive(Debug)]
pub struct Restore<'a> {
    store: &'a Store,
    client: Client,
    database: Filling,
    originals: Room,
}

impl<'a> Restore<'a> {
    /// Marks an empty database beside the data folder, which is marked already; what a restore that was broken off left in
    /// it goes. The parts of the backup have been verified. Where it fails, the folder is as it was.
    pub async fn begin(store: &'a Store, manifest: &Manifest, originals: Room) -> anyhow::Result<Self> {
        match Self::mark(store, manifest).await {
            Ok((client, database)) => Ok(Self { store, client, database, originals }),
            Err(error) => {
                originals.undo().await?;
                Err(error)
            }
        }
    }

    async fn mark(store: &Store, manifest: &Manifest) -> anyhow::Result<(Client, Filling)> {
        let newest = MIGRATOR.iter().map(|step| step.version).max().unwrap_or_default();
        ensure!(
            manifest.migration <= newest,
            "it was made by gpuledger {}, whose tables this version does not know: restore it with that version or \
             a later one",
            manifest.version
        );
        let client = store.client().await?;
        ensure!(
            client.major >= manifest.postgres,
            "it was made with PostgreSQL {}; this is PostgreSQL {}",
            manifest.postgres,
            client.major
        );
        Ok((client, store.begin_filling().await?))
    }

    /// Brings the originals, then the database, in one transaction; then the tables to this version. Answers how many
    /// API tokens of the backup have ended.
    pub async fn fill(
        &mut self,
        manifest: &Manifest,
        backup: &Path,
        progress: &Progress,
    ) -> anyhow::Result<u64> {
        self.originals.fill(manifest.clone(), backup.to_owned(), progress.clone()).await?;
        fill(&self.client, &backup.join(DUMP)).await?;
        self.store.migrate().await?;
        let mut db = self.store.connect().await?;
        forget_uploads(&mut db).await?;
        let tokens = end_access(&mut db).await?;
        // A dump has no statistics. Without them PostgreSQL takes a large ledger for an empty one until it has looked
        // for itself, and pages and `check` take thirty times as long.
        sqlx::query("analyze").execute(&mut db).await?;
        Ok(tokens)
    }

    /// All of it is there.
    pub async fn finish(self) -> anyhow::Result<()> {
        self.database.finish().await?;
        // After the database: where this is not reached, the next command removes the mark.
        Ok(self.originals.finish()?)
    }

    /// Leaves both as they were. The progress that was given to [`Restore::fill`] has been stopped where that did not
    /// end.
    pub async fn undo(self) -> anyhow::Result<()> {
        self.originals.undo().await?;
        Ok(self.database.undo().await?)
    }
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

/// Uploads that waited are not part of a backup: whoever uploaded them is told to do so again.
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

/// What was signed out, used or revoked since the backup must not come back: everybody signs in with a password, and
/// scripts get new tokens. A backup leaves most of this out; one of an earlier version has it. Answers how many tokens
/// there were.
async fn end_access(db: &mut PgConnection) -> sqlx::Result<u64> {
    let mut tx = db.begin().await?;
    sqlx::query!("delete from sessions").execute(&mut *tx).await?;
    sqlx::query!("delete from password_links").execute(&mut *tx).await?;
    sqlx::query!("delete from setup_links").execute(&mut *tx).await?;
    sqlx::query!("delete from sign_in_failures").execute(&mut *tx).await?;
    let tokens = sqlx::query!("delete from api_tokens").execute(&mut *tx).await?.rows_affected();
    tx.commit().await?;
    Ok(tokens)
}
