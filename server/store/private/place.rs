//! Where a data directory keeps its PostgreSQL, and the locks that its users share.

use super::account::Account;
use super::error::{About, Error, Result};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Past this size the log of earlier runs is renamed at the next start.
const LOG_LIMIT: u64 = 8 << 20;

/// The directory `postgres/` in a data directory:
///
/// ```text
/// data/           PostgreSQL's own files
/// data.new.…/     the same, while initdb makes them
/// socket/         the socket, for the owner only
/// postgres.log    what PostgreSQL and its supervisor say
/// users.lock      held shared by everyone who uses this PostgreSQL
/// start.lock      held while somebody looks whether a supervisor is needed
/// keeper.lock     held by the supervisor for as long as it lives; versions before call it a keeper, and find it by this name
/// reserve         room on the disk for PostgreSQL when something else fills it
/// ```
#[derive(Clone, Debug)]
pub struct Place {
    data_dir: PathBuf,
    root: PathBuf,
}

impl Place {
    /// Makes the directories that are missing.
    pub fn prepare(data_dir: &Path) -> Result<Place> {
        make_directory(data_dir)?;
        let place = Place::of(data_dir)?;
        make_directory(&place.root)?;
        Ok(place)
    }

    /// The place in a data directory that exists.
    pub fn of(data_dir: &Path) -> Result<Place> {
        let data_dir = data_dir.canonicalize().about("cannot find the data directory", data_dir)?;
        Ok(Place { root: data_dir.join("postgres"), data_dir })
    }

    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    pub fn socket(&self) -> PathBuf {
        self.root.join("socket")
    }

    pub fn reserve(&self) -> PathBuf {
        self.root.join("reserve")
    }

    pub fn log(&self) -> PathBuf {
        self.root.join("postgres.log")
    }

    /// The major version whose files `data/` holds; `None` when there are none yet.
    pub fn major(&self) -> Result<Option<u32>> {
        let path = self.data().join("PG_VERSION");
        match fs::read_to_string(&path) {
            Ok(text) => {
                let major = text.trim().split('.').next().and_then(|major| major.parse().ok());
                major.map(Some).ok_or_else(|| Error::NotACluster(self.data()))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => self.expect_no_data().map(|()| None),
            Err(error) => Err(error).about("cannot read", &path),
        }
    }

    pub fn users_lock(&self) -> Result<File> {
        self.lock_file("users.lock")
    }

    pub fn start_lock(&self) -> Result<File> {
        self.lock_file("start.lock")
    }

    pub fn supervisor_lock(&self) -> Result<File> {
        self.lock_file("keeper.lock")
    }

    /// The log, for appending.
    pub fn open_log(&self) -> Result<File> {
        let path = self.log();
        if fs::metadata(&path).is_ok_and(|file| file.len() > LOG_LIMIT) {
            fs::rename(&path, path.with_extension("log.old")).about("cannot rename", &path)?;
        }
        OpenOptions::new().append(true).create(true).mode(0o600).open(&path).about("cannot write", &path)
    }

    fn expect_no_data(&self) -> Result<()> {
        let is_empty = fs::read_dir(self.data()).map_or(true, |mut files| files.next().is_none());
        if is_empty { Ok(()) } else { Err(Error::NotACluster(self.data())) }
    }

    /// A lock is the kernel's: it ends with the last process that holds the open file, however that one ends.
    fn lock_file(&self, name: &str) -> Result<File> {
        let path = self.root.join(name);
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .about("cannot open", &path)
    }
}

/// The part of the log that was written after it was `from` bytes long, at most its last few lines.
pub fn log_tail(log: &Path, from: u64) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(text.get(from as usize..).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

/// Makes a directory that others may pass through when PostgreSQL will be one of them.
pub fn make_directory(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(path).about("cannot make the directory", path)?;
    let mode = if Account::is_root() { 0o711 } else { 0o700 };
    fs::set_permissions(path, Permissions::from_mode(mode)).about("cannot set the permissions of", path)
}
