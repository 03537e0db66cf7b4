//! Making a backup.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, bail, ensure};
use chrono::{DateTime, Utc};
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

use super::manifest::{copy, new_file};
use super::{DUMP, Manifest, ORIGINALS, Part, Progress};
use crate::ledger::{self, Originals, Sha256};
use crate::store::Client;

/// What a folder is called until it is whole.
const UNFINISHED: &str = ".gpuledger-backup-";

/// Tables of which a backup has no rows: whoever reads it could try them, and a restore ends them.
const LEFT_OUT: [&str; 4] = ["sessions", "password_links", "setup_links", "sign_in_failures"];

/// Writes everything into a new folder `target`, from one snapshot, beside whatever else works on the ledger. The
/// folder gets its name when it is whole and on the disk; what breaks off is removed.
pub async fn make(
    db: &mut PgConnection,
    client: &Client,
    originals: &Originals,
    target: &Path,
    now: DateTime<Utc>,
    progress: &Progress,
) -> anyhow::Result<Manifest> {
    ensure!(!target.exists(), "{} is there already; name a folder that is not", target.display());
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    remove_broken_off(parent);
    // Beside the target, so that it can be renamed; readable by nobody else, since it holds everything.
    let folder = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(parent)
        .with_context(|| format!("nothing can be written in {}", parent.display()))?;
    // By which it is known that somebody is still at it.
    let lock = File::open(folder.path())?;
    lock.lock()?;

    // Nobody removes a file meanwhile that the snapshot speaks of.
    ledger::hold_originals(&mut *db).await?;
    let made = make_held(db, client, originals, folder.path(), now, progress).await;
    ledger::release_originals(db).await?;
    let manifest = made?;
    name_it(folder, target)?;
    Ok(manifest)
}

/// Writes everything into a folder.
async fn make_held(
    db: &mut PgConnection,
    client: &Client,
    originals: &Originals,
    folder: &Path,
    now: DateTime<Utc>,
    progress: &Progress,
) -> anyhow::Result<Manifest> {
    let mut snapshot = db.begin_with("begin isolation level repeatable read read only").await?;
    let sequence = ledger::sequence(&mut snapshot).await?;
    let migration: i64 =
        sqlx::query_scalar("select max(version) from _sqlx_migrations").fetch_one(&mut *snapshot).await?;
    let mut manifest = Manifest::new(now, client.major, migration, sequence);
    let name: String = sqlx::query_scalar("select pg_export_snapshot()").fetch_one(&mut *snapshot).await?;
    let left_out = ledger::unattached(&mut snapshot).await?;
    manifest.parts.push(dump(client, (&name, &left_out), folder, progress).await?);
    let kept: Vec<Vec<u8>> =
        sqlx::query_scalar!("select sha256 from originals order by sha256").fetch_all(&mut *snapshot).await?;
    snapshot.rollback().await?;

    for bytes in kept {
        let Ok(sha256) = Sha256::try_from(bytes) else { bail!("the database names a file by half a hash") };
        let files = copy_original(originals.clone(), sha256, folder.to_owned(), progress.clone()).await;
        manifest.parts.extend(files.with_context(|| format!("the original {sha256} cannot be read"))?);
    }
    manifest.write(folder)?;
    Ok(manifest)
}

/// Removes what backups left beside that were killed. It is in nobody's way, so what cannot be removed stays.
fn remove_broken_off(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_unfinished = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        if is_unfinished && File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// From a snapshot, without the tables of imports that are still loading in it: pg_dump would lock them to its end, and their
/// imports, and all that write charges, would wait for it.
async fn dump(
    client: &Client,
    (snapshot, loading): (&str, &[String]),
    folder: &Path,
    progress: &Progress,
) -> anyhow::Result<Part> {
    let mut pg_dump = client
        .command("pg_dump")
        .args(["--format=custom", "--compress=1", "--no-owner", "--no-privileges", "--no-password"])
        // A restore removes what is in these.
        .args(LEFT_OUT.map(|table| format!("--exclude-table-data={table}")))
        .args(loading.iter().map(|table| format!("--exclude-table={table}")))
        .arg(format!("--snapshot={snapshot}"))
        .stdout(Stdio::piped())
        .spawn()
        .context("pg_dump does not start")?;
    let output = pg_dump.stdout.take().context("pg_dump has no output")?.into_owned_fd()?;
    let (file, progress) = (new_file(&folder.join(DUMP))?, progress.clone());
    let copied = tokio::task::spawn_blocking(move || {
        let part = copy(File::from(output), &file, DUMP.to_owned(), &progress)?;
        file.sync_all()?;
        io::Result::Ok(part)
    });
    let ended = pg_dump.wait_with_output().await?;
    let part = copied.await??;
    ensure!(ended.status.success(), "pg_dump failed: {}", String::from_utf8_lossy(&ended.stderr).trim());
    Ok(part)
}

async fn copy_original(
    originals: Originals,
    sha256: Sha256,
    folder: PathBuf,
    progress: Progress,
) -> anyhow::Result<Vec<Part>> {
    let copied = tokio::task::spawn_blocking(move || {
        let mut parts = Vec::new();
        for path in originals.files(&sha256)? {
            let below = format!("{ORIGINALS}/{}", path.display());
            let target = folder.join(&below);
            // Step by step, so that nothing comes back of a backup that was broken off and removed meanwhile.
            for parent in [folder.join(ORIGINALS), target.parent().unwrap_or(&folder).to_owned()] {
                match DirBuilder::new().mode(0o700).create(parent) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                    _ => {}
                }
            }
            let file = new_file(&target)?;
            parts.push(copy(File::open(originals.folder().join(path))?, &file, below, &progress)?);
            file.sync_all()?;
        }
        io::Result::Ok(parts)
    });
    Ok(copied.await??)
}

fn name_it(folder: TempDir, target: &Path) -> anyhow::Result<()> {
    File::open(folder.path())?.sync_all()?;
    let parent = folder.path().parent().map(Path::to_owned);
    // A folder that is there now would be replaced only if it is empty, and then nothing is lost.
    fs::rename(folder.path(), target)
        .with_context(|| format!("the backup could not be named {}", target.display()))?;
    // It has moved away: there is nothing left to remove.
    let _ = folder.keep();
    if let Some(parent) = parent {
        File::open(parent)?.sync_all()?;
    }
    Ok(())
}
