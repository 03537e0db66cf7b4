//! The data folder's half of a restore: what may lie there already, and the originals that come there.
//!
//! While originals are put in their place a file marks their folder. It is made where there are none, so whatever lies
//! beside it came from a restore.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use tokio::task::JoinHandle;

use super::manifest::copy;
use super::{Manifest, ORIGINALS, Progress};

/// Marks originals that are not all there. No original is called so: whatever tidies up afterwards removes it.
const MARK: &str = "unfinished-restore";
/// The private PostgreSQL, whose database is looked at by itself.
const POSTGRES: &str = "postgres";
/// Which database is used, and what a file system has in its topmost folder.
const HARMLESS: [&str; 2] = ["database-url", "lost+found"];

/// Names that are listed.
const NAMED: usize = 8;

/// Refuses a data folder that holds anything which a restore could mix up with what it brings, and says what.
pub fn expect_room(data_dir: &Path, backup: &Path, is_private: bool) -> anyhow::Result<()> {
    let entries = match fs::read_dir(data_dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(|| format!("{} cannot be read", data_dir.display()))?,
    };
    let mut others = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let may_stay = HARMLESS.contains(&name.as_str())
            || (is_private && name == POSTGRES)
            || (name == ORIGINALS && entry.path().join(MARK).exists())
            || is_empty_folder(&entry.path())
            || holds(&entry.path(), backup);
        if !may_stay {
            others.push(name);
        }
    }
    others.sort();
    ensure!(
        others.is_empty(),
        "{} holds other files ({}); a backup is restored into a new data folder only. Name another one with \
         --data-dir, or move them away",
        data_dir.display(),
        listed(&others)
    );
    Ok(())
}

/// Whether a restore has begun to fill this data folder, and if so, whether it still runs.
pub fn restore_of(data_dir: &Path) -> Option<bool> {
    let mark = File::open(data_dir.join(ORIGINALS).join(MARK)).ok()?;
    Some(matches!(mark.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The first few.
fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let few = names[..names.len() - more].join(", ");
    if more == 0 { few } else { format!("{few} and {more} more") }
}

fn is_empty_folder(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Whether the backup is this folder or lies in it.
fn holds(path: &Path, backup: &Path) -> bool {
    let paths = path.canonicalize().and_then(|path| Ok((path, backup.canonicalize()?)));
    paths.is_ok_and(|(path, backup)| backup.starts_with(path))
}

/// The folder of originals while they come there.
#[derive(Debug)]
pub struct Room {
    folder: PathBuf,
    /// Locked, so that no other restore takes it for one that was broken off.
    _mark: File,
    copying: Option<JoinHandle<io::Result<()>>>,
}

impl Room {
    /// Marks the folder, and removes what a restore that was broken off left in it.
    pub fn begin(data_dir: &Path) -> anyhow::Result<Self> {
        let folder = data_dir.join(ORIGINALS);
        ensure!(
            folder.join(MARK).exists() || !folder.exists() || is_empty_folder(&folder),
            "{} holds files; a backup is restored into a new data folder only",
            folder.display()
        );
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let mark = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(folder.join(MARK))
            .with_context(|| format!("nothing can be written in {}", folder.display()))?;
        match mark.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("another restore is writing to {}", folder.display()),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        mark.sync_all()?;
        File::open(&folder)?.sync_all()?;
        let room = Self { folder, _mark: mark, copying: None };
        room.remove_originals()?;
        Ok(room)
    }

    /// Copies the originals of a backup, each of which is on the disk then.
    pub async fn fill(
        &mut self,
        manifest: Manifest,
        backup: PathBuf,
        progress: Progress,
    ) -> anyhow::Result<()> {
        let folder = self.folder.clone();
        let copying =
            tokio::task::spawn_blocking(move || copy_originals(&manifest, &backup, &folder, &progress));
        let copied = self.copying.insert(copying).await;
        self.copying = None;
        copied?.context("the originals cannot be copied")
    }

    /// Takes the mark away: the originals are all there.
    pub fn finish(self) -> io::Result<()> {
        fs::remove_file(self.folder.join(MARK))?;
        // There were none.
        let _ = fs::remove_dir(&self.folder);
        Ok(())
    }

    /// Leaves the folder as empty as it was. Whatever copies has been stopped.
    pub async fn undo(mut self) -> io::Result<()> {
        if let Some(copying) = self.copying.take() {
            let _ = copying.await;
        }
        self.remove_originals()?;
        self.finish()
    }

    /// All but the mark: what is broken off here must be seen, too.
    fn remove_originals(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else if entry.file_name() != MARK {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

fn copy_originals(manifest: &Manifest, backup: &Path, folder: &Path, progress: &Progress) -> io::Result<()> {
    for part in &manifest.parts {
        let Some(below) = part.path.strip_prefix(ORIGINALS) else { continue };
        let target = folder.join(below.trim_start_matches('/'));
        if let Some(parent) = target.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        let file = File::create_new(&target)?;
        let found = copy(File::open(backup.join(&part.path))?, &file, part.path.clone(), progress)?;
        if found != *part {
            return Err(io::Error::other(format!("{} has changed meanwhile", part.path)));
        }
        file.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_other_files_is_refused_by_their_names() {
        let data_dir = tempfile::tempdir().unwrap();
        let backup = data_dir.path().join("backups/2026-11-21");
        fs::create_dir_all(&backup).unwrap();
        for name in ["incoming", "originals", "postgres"] {
            fs::create_dir(data_dir.path().join(name)).unwrap();
        }
        fs::write(data_dir.path().join("database-url"), "").unwrap();
        expect_room(data_dir.path(), &backup, false).unwrap();
        expect_room(&data_dir.path().join("new"), &backup, false).unwrap();

        fs::write(data_dir.path().join("postgres/users.lock"), "").unwrap();
        fs::write(data_dir.path().join("originals/some"), "").unwrap();
        fs::write(data_dir.path().join("demonstration.json"), "").unwrap();
        expect_room(data_dir.path(), &backup, true).unwrap_err();
        let refused = expect_room(data_dir.path(), &backup, false).unwrap_err().to_string();
        assert!(refused.contains("(demonstration.json, originals, postgres)"), "{refused}");
    }

    #[tokio::test]
    async fn what_a_restore_left_goes_with_the_next() {
        let data_dir = tempfile::tempdir().unwrap();
        let folder = data_dir.path().join(ORIGINALS);
        let first = Room::begin(data_dir.path()).unwrap();
        fs::create_dir(folder.join("ab")).unwrap();
        fs::write(folder.join("ab/abc.zst"), "half").unwrap();
        let refused = Room::begin(data_dir.path()).unwrap_err().to_string();
        assert!(refused.contains("another restore"), "{refused}");
        drop(first);
        expect_room(data_dir.path(), data_dir.path(), false).unwrap();
        let second = Room::begin(data_dir.path()).unwrap();
        assert!(!folder.join("ab").exists());
        second.undo().await.unwrap();
        assert!(!folder.exists());

        fs::create_dir_all(folder.join("ab")).unwrap();
        let refused = Room::begin(data_dir.path()).unwrap_err().to_string();
        assert!(refused.contains("holds files"), "{refused}");
    }
}
