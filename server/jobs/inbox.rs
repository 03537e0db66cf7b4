//! The inbox: files that arrived and wait in the data directory until they are imported.
//!
//! A batch is a folder. While it arrives its folder is locked, and goes away again unless the batch is
//! handed over to the queue; so an upload that breaks off, however it does, leaves nothing behind.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::types::Json;
use sqlx::{Connection as _, PgConnection};
use tokio::io::{AsyncWriteExt as _, BufWriter};
use uuid::Uuid;

use super::Incoming;
use super::samples::{Samples, gone_is_fine};
use super::upload_limits::{NotTaken, UploadLimits};
use crate::audit::{self, Act, Object, Verb};
use crate::ledger::Decision;
use crate::store::disk;

/// Bytes written at once.
const BLOCK: usize = 1 << 18;
/// Longest name of a file that is kept.
const LONGEST_NAME: usize = 255;

/// The folder of what arrives.
#[derive(Clone, Debug)]
pub struct Inbox {
    folder: PathBuf,
}

impl Inbox {
    pub fn new(data_dir: &Path) -> Self {
        let folder = data_dir.join("incoming");
        Self { folder: std::path::absolute(&folder).unwrap_or(folder) }
    }

    /// Room for files that are about to arrive together.
    pub fn open(&self, batch_id: Uuid) -> io::Result<Arriving> {
        let folder = self.folder.join(batch_id.to_string());
        // Bills are nobody else's business, and the data folder itself can be passed by PostgreSQL's user.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let lock = File::open(&folder)?;
        lock.lock()?;
        Ok(Arriving {
            batch_id,
            folder,
            files: Vec::new(),
            bytes: 0,
            taken: Vec::new(),
            limits: UploadLimits { largest_file: None, kept_free: disk::KEPT_FREE },
            decision: None,
            reloads: None,
            mapping: None,
            is_reviewed: false,
            is_kept: false,
            _lock: lock,
        })
    }

    /// Removes what a server left behind that was killed while files arrived: nobody writes it, and no
    /// import waits for it.
    pub async fn sweep(&self, db: &mut PgConnection) -> anyhow::Result<()> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for entry in entries {
            let path = entry?.path();
            let batch = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
            let Some(batch_id) = batch else { continue };
            // Locked first, asked for second: a batch is in the queue before its lock is gone.
            let lock = File::open(&path)?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            if !is_awaited(db, batch_id).await? {
                fs::remove_dir_all(&path)?;
            }
        }
        Ok(())
    }
}

async fn is_awaited(db: &mut PgConnection, batch_id: Uuid) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"select exists (
               select from jobs where batch_id = $1 and status in ('queued', 'running', 'failed')
           ) as "is_awaited!""#,
        batch_id,
    )
    .fetch_one(db)
    .await
}

/// A batch on its way in. Dropped, it takes its files with it.
#[derive(Debug)]
pub struct Arriving {
    pub batch_id: Uuid,
    folder: PathBuf,
    files: Vec<Incoming>,
    bytes: u64,
    /// Folders of files that waited elsewhere.
    taken: Vec<PathBuf>,
    limits: UploadLimits,
    decision: Option<Decision>,
    /// The archived import whose files these are.
    reloads: Option<i64>,
    /// The mapping that reads them, by its name and version.
    mapping: Option<String>,
    is_reviewed: bool,
    is_kept: bool,
    _lock: File,
}

impl Arriving {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The next file, under what its sender calls it. The name is for people: on disk it has a number.
    pub fn file(&mut self, name: &str) -> io::Result<ArrivingFile<'_>> {
        let path = self.folder.join(self.files.len().to_string());
        // At once, and not on a thread that may be about to when the upload breaks off and its folder goes.
        let file = tokio::fs::File::from_std(File::create_new(&path)?);
        let name = clean(name);
        self.files.push(Incoming { name: name.clone(), path });
        let file = BufWriter::with_capacity(BLOCK, file);
        let (folder, limits) = (&*self.folder, self.limits);
        Ok(ArrivingFile { folder, name, file, size: 0, limits, bytes: &mut self.bytes })
    }

    /// What its files are held to, since people send them.
    #[must_use]
    pub fn within(mut self, limits: UploadLimits) -> Self {
        self.limits = limits;
        self
    }

    /// What its sender has decided about what its months hold already.
    #[must_use]
    pub fn decided(mut self, decision: Decision) -> Self {
        self.decision = Some(decision);
        self
    }

    /// For an archived import, whose rows are loaded from these files again.
    #[must_use]
    pub fn reloading(mut self, delivery: i64) -> Self {
        self.reloads = Some(delivery);
        self
    }

    /// To be read by a mapping, `name@version`, whatever other one knows the columns.
    #[must_use]
    pub fn mapped_by(mut self, mapping: String) -> Self {
        self.mapping = Some(mapping);
        self
    }

    /// Its sender looks at what it states before that is published.
    pub fn review_first(&mut self) {
        self.is_reviewed = true;
    }

    /// Keeps its first file for somebody to look at, instead; `None` where nothing arrived.
    pub fn into_sample(self, samples: &Samples, now: DateTime<Utc>) -> io::Result<Option<Uuid>> {
        let first = self.files.first();
        first.map(|file| samples.take(&file.name, &file.path, now.into())).transpose()
    }

    /// A file that waits in a folder of its own, as the next one. It stays there until the batch is in the queue; where the disk
    /// knows no links, it moves.
    pub fn take(&mut self, name: &str, from: &Path) -> io::Result<()> {
        let path = self.folder.join(self.files.len().to_string());
        fs::hard_link(from, &path).or_else(|_| fs::rename(from, &path))?;
        self.bytes += fs::metadata(&path)?.len();
        self.taken.extend(from.parent().map(Path::to_owned));
        self.files.push(Incoming { name: clean(name), path });
        Ok(())
    }

    /// Puts the batch in the queue. From here on its files belong to the import. The caller notifies the worker after
    /// its transaction is committed.
    pub async fn enqueue(mut self, db: &mut PgConnection, act: Act<'_>) -> sqlx::Result<()> {
        let names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        let (verb, object) = match self.reloads {
            Some(delivery) => (Verb::DeliveryLoadedAgain, Object::Delivery(delivery)),
            None => (Verb::ImportUploaded, Object::Batch(self.batch_id)),
        };
        let details = json!({ "files": names });
        let mut tx = db.begin().await?;
        sqlx::query!(
            "insert into jobs (batch_id, files, total_bytes, decision, reloads, mapping, is_reviewed, created_at, created_by)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            self.batch_id,
            Json(&self.files) as _,
            self.bytes as i64,
            self.decision.map(Decision::as_str),
            self.reloads,
            self.mapping,
            self.is_reviewed,
            act.at,
            act.by.name,
        )
        .execute(&mut *tx)
        .await?;
        audit::record(&mut tx, act, verb, &object, details).await?;
        tx.commit().await?;
        self.is_kept = true;
        for folder in &self.taken {
            if let Err(error) = gone_is_fine(fs::remove_dir_all(folder)) {
                tracing::warn!(%error, folder = %folder.display(), "a file that is in the queue was not removed where it waited");
            }
        }
        Ok(())
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            tracing::warn!(%error, folder = %self.folder.display(), "a broken-off upload could not be removed");
        }
    }
}

/// A file being written.
#[derive(Debug)]
pub struct ArrivingFile<'a> {
    folder: &'a Path,
    name: String,
    file: BufWriter<tokio::fs::File>,
    /// Of what was written.
    size: u64,
    limits: UploadLimits,
    bytes: &'a mut u64,
}

impl ArrivingFile<'_> {
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), NotTaken> {
        let more = bytes.len() as u64;
        self.size += more;
        self.limits.check_size(&self.name, None, self.size)?;
        self.limits.check_room(self.folder, &self.name, None, more)?;
        self.file.write_all(bytes).await?;
        *self.bytes += more;
        Ok(())
    }

    /// On the disk when this returns, since whoever sent the file may delete it then.
    pub async fn finish(mut self) -> io::Result<()> {
        self.file.flush().await?;
        self.file.get_ref().sync_data().await
    }
}

/// A name that can be shown and compared with those of a manifest: folders stay, but lead nowhere; nothing
/// in it is invisible or turns the text around.
pub(super) fn clean(name: &str) -> String {
    let is_shown = |c: &char| {
        !c.is_control()
            && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let parts: Vec<String> = name
        .split(['/', '\\'])
        .map(|part| part.chars().filter(is_shown).collect::<String>().trim().to_owned())
        .filter(|part| !matches!(part.as_str(), "" | "." | ".."))
        .collect();
    let whole = parts.join("/");
    let surplus = whole.chars().count().saturating_sub(LONGEST_NAME);
    let kept: String = whole.chars().skip(surplus).collect();
    if kept.is_empty() { "unnamed".to_owned() } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_names_for_names() {
        for (name, kept) in [
            ("cur.csv.gz", "cur.csv.gz"),
            ("../../etc/passwd", "etc/passwd"),
            ("C:\\Users\\me\\Müller.csv", "C:/Users/me/Müller.csv"),
            ("/20260901-20261001/part-1.csv", "20260901-20261001/part-1.csv"),
            ("a\r\nb\0\u{202e}vsc.csv", "abvsc.csv"),
            ("..", "unnamed"),
            ("", "unnamed"),
        ] {
            assert_eq!(clean(name), kept);
        }
        assert_eq!(clean(&format!("{}.csv", "é".repeat(1000))).chars().count(), LONGEST_NAME);
    }

    #[tokio::test]
    async fn what_is_not_handed_over_goes_away() {
        let folder = tempfile::tempdir().unwrap();
        let inbox = Inbox::new(folder.path());
        let mut arriving = inbox.open(Uuid::new_v4()).unwrap();
        let mut file = arriving.file("../a.csv").unwrap();
        file.write(b"half a fi").await.unwrap();
        file.file.flush().await.unwrap();
        assert_eq!(fs::read_dir(&arriving.folder).unwrap().count(), 1);
        drop(arriving);
        assert_eq!(fs::read_dir(folder.path().join("incoming")).unwrap().count(), 0);
    }
}
