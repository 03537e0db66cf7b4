//! What a backup holds, and whether it is what it says.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Progress;

const FILE: &str = "manifest.json";
/// The database, as `pg_dump --format=custom` writes it.
pub const DUMP: &str = "database.dump";
/// The folder of kept files, as in the data folder.
pub const ORIGINALS: &str = "originals";
/// The shape of this file and of the folder around it.
const LAYOUT: u32 = 1;
const BLOCK: usize = 1 << 18;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub layout: u32,
    /// Of the gpuledger that made the backup.
    pub version: String,
    pub made_at: DateTime<Utc>,
    pub postgres: u32,
    /// The last migration that the database has.
    pub migration: i64,
    /// The ledger's sequence number: every page of the restored ledger stands as of this.
    pub sequence: i64,
    pub parts: Vec<Part>,
}

/// A file of the backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Below the backup's folder.
    pub path: String,
    pub bytes: u64,
    pub sha256: String,
}

/// What every layout begins with.
#[derive(Deserialize)]
struct Head {
    layout: u32,
    version: String,
}

/// Why a folder cannot be restored from.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("{0} is no backup: it has no manifest.json. A backup that was broken off has none, either")]
    NoManifest(String),
    #[error("the manifest cannot be read: {0}")]
    Unreadable(#[source] serde_json::Error),
    #[error(
        "it was made by gpuledger {0}, which lays backups out in another way: restore it with that version"
    )]
    Layout(String),
    #[error("the manifest names {0:?}, which is no file of a backup")]
    StrangePath(String),
    #[error("{path} is damaged: its SHA-256 is {found}, the manifest says {expected}")]
    Damaged { path: String, found: String, expected: String },
    #[error("{path}: {error}")]
    File { path: String, error: io::Error },
}

impl Manifest {
    pub fn new(made_at: DateTime<Utc>, postgres: u32, migration: i64, sequence: i64) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { layout: LAYOUT, version, made_at, postgres, migration, sequence, parts: Vec::new() }
    }

    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// Written last: a folder without it is no backup.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let mut file = new_file(&folder.join(FILE))?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.write_all(b"\n")?;
        file.sync_all()
    }

    pub fn read(folder: &Path) -> Result<Self, Problem> {
        let bytes = match fs::read(folder.join(FILE)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Problem::NoManifest(folder.display().to_string()));
            }
            Err(error) => return Err(Problem::File { path: FILE.to_owned(), error }),
        };
        // The layout first: what comes after it may be of another shape.
        let head: Head = serde_json::from_slice(&bytes).map_err(Problem::Unreadable)?;
        if head.layout != LAYOUT {
            return Err(Problem::Layout(head.version));
        }
        let manifest: Self = serde_json::from_slice(&bytes).map_err(Problem::Unreadable)?;
        for part in &manifest.parts {
            let is_below = Path::new(&part.path).components().all(|c| matches!(c, Component::Normal(_)));
            if !is_below || !(part.path == DUMP || part.path.starts_with("originals/")) {
                return Err(Problem::StrangePath(part.path.clone()));
            }
        }
        Ok(manifest)
    }

    /// Reads every part and compares its hash.
    pub fn verify(&self, folder: &Path, progress: &Progress) -> Result<(), Problem> {
        for part in &self.parts {
            let read = File::open(folder.join(&part.path))
                .and_then(|file| copy(file, io::sink(), part.path.clone(), progress));
            let found = read.map_err(|error| Problem::File { path: part.path.clone(), error })?;
            if found != *part {
                let (found, expected) = (found.sha256, part.sha256.clone());
                return Err(Problem::Damaged { path: part.path.clone(), found, expected });
            }
        }
        Ok(())
    }
}

/// A file of a backup, for its owner only.
pub(super) fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Copies, and says what it was.
pub(super) fn copy(
    mut from: impl Read,
    mut to: impl Write,
    path: String,
    progress: &Progress,
) -> io::Result<Part> {
    let mut hash = Sha256::new();
    let mut block = vec![0; BLOCK];
    let mut bytes = 0;
    loop {
        let read = match from.read(&mut block) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(&block[..read]);
        to.write_all(&block[..read])?;
        bytes += read as u64;
        progress.add(read as u64)?;
    }
    to.flush()?;
    Ok(Part { path, bytes, sha256: format!("{:x}", hash.finalize()) })
}
