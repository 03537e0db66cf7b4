//! Uploads: files that arrive piece by piece. Each waits in the data directory, in a folder of the person who sends it, until it
//! is imported or a day has passed since its last piece.
//!
//! How far one is, is the size of its file, and nothing else has to agree with that: what arrived before a connection was lost,
//! or the server was killed, is there. A piece says where it begins, and is not written anywhere else.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::inbox::clean;
use super::samples::gone_is_fine;
use super::upload_limits::{NotTaken, UploadLimits};
use crate::accounts::UserId;

/// How long an upload waits for its next piece, and then to be imported.
const KEPT: TimeDelta = TimeDelta::days(1);
/// What a person has at a time: more files than an export is written in.
const MOST: usize = 200;
const ABOUT: &str = "about.json";
const CONTENT: &str = "content";

/// The uploads of everybody.
#[derive(Clone, Debug)]
pub struct Uploads {
    folder: PathBuf,
}

/// Those of one person, who sees no others.
#[derive(Clone, Debug)]
pub struct UploadsOf {
    folder: PathBuf,
}

/// What the same file is recognized by when it is chosen again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFile {
    pub name: String,
    pub size: u64,
    /// When it was changed last, in milliseconds since 1970, as the sender's computer says.
    pub modified: i64,
}

/// A file that has not arrived, or is not imported yet.
#[derive(Clone, Debug)]
pub struct Upload {
    pub id: Uuid,
    pub file: SentFile,
    /// Bytes that are here.
    pub arrived: u64,
    folder: PathBuf,
}

/// What became of a part of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// It is here, and this is where the next one begins.
    To(u64),
    /// It is not: the next one begins there.
    Elsewhere(u64),
    /// It is not: the file would be larger than it was announced.
    TooLong,
    /// The upload was canceled, or imported.
    Gone,
}

impl Uploads {
    pub fn new(data_dir: &Path) -> Self {
        let folder = data_dir.join("uploads");
        Self { folder: std::path::absolute(&folder).unwrap_or(folder) }
    }

    pub fn of(&self, person: UserId) -> UploadsOf {
        UploadsOf { folder: self.folder.join(person.0.to_string()) }
    }

    /// Removes those that have waited too long.
    pub fn remove_old(&self, now: DateTime<Utc>) -> io::Result<()> {
        for person in entries(&self.folder)? {
            for upload in entries(&person)? {
                let Some(since) = waits_since(&upload)? else { continue };
                if now.signed_duration_since(DateTime::<Utc>::from(since)) > KEPT {
                    gone_is_fine(fs::remove_dir_all(&upload))?;
                }
            }
        }
        Ok(())
    }
}

fn waits_since(upload: &Path) -> io::Result<Option<std::time::SystemTime>> {
    let content = fs::metadata(upload.join(CONTENT));
    match content.or_else(|_| fs::metadata(upload)).and_then(|about| about.modified()) {
        Ok(since) => Ok(Some(since)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What is in a folder, which need not be there.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

impl UploadsOf {
    /// By their names.
    pub fn all(&self) -> io::Result<Vec<Upload>> {
        let mut found = Vec::new();
        for path in entries(&self.folder)? {
            let id = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
            if let Some(id) = id {
                found.extend(self.find(id)?);
            }
        }
        found.sort_by(|a: &Upload, b| (&a.file.name, a.id).cmp(&(&b.file.name, b.id)));
        Ok(found)
    }

    /// One of them; `None` where it has gone, or is somebody else's.
    pub fn find(&self, id: Uuid) -> io::Result<Option<Upload>> {
        let folder = self.folder.join(id.to_string());
        let content = fs::metadata(folder.join(CONTENT));
        let read = content.and_then(|content| Ok((content.len(), fs::read(folder.join(ABOUT))?)));
        match read {
            // A description that was cut off with the power is none.
            Ok((arrived, about)) => {
                let file = serde_json::from_slice(&about).ok();
                Ok(file.map(|file| Upload { id, file, arrived, folder }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The upload of this file: the one that was begun, or else a new one. Refused before anything is sent where the file, beside
    /// what else this person is sending, would not fit.
    pub fn begin(&self, mut file: SentFile, limits: &UploadLimits) -> Result<Upload, NotTaken> {
        file.name = clean(&file.name);
        let mut others = self.all()?;
        let begun = others.iter().position(|it| it.file == file).map(|at| others.swap_remove(at));
        if begun.is_none() && others.len() >= MOST {
            return Err(NotTaken::TooMany(MOST));
        }
        let arrived = begun.as_ref().map_or(0, |it| it.arrived);
        let to_come = others.iter().fold(file.size.saturating_sub(arrived), |sum, other| {
            sum.saturating_add(other.file.size.saturating_sub(other.arrived))
        });
        limits.check_size(&file.name, Some(file.size), 0)?;
        make_folder(&self.folder)?;
        limits.check_room(&self.folder, &file.name, Some(file.size), to_come)?;
        if let Some(begun) = begun {
            return Ok(begun);
        }
        let id = Uuid::new_v4();
        let folder = self.folder.join(id.to_string());
        make_folder(&folder)?;
        File::create_new(folder.join(CONTENT))?;
        fs::write(folder.join(ABOUT), serde_json::to_vec(&file).map_err(io::Error::from)?)?;
        Ok(Upload { id, file, arrived: 0, folder })
    }
}

/// Bills are nobody else's business.
fn make_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

impl Upload {
    pub fn is_whole(&self) -> bool {
        self.arrived == self.file.size
    }

    /// In whole percent, and 100 only of what is whole.
    pub fn percent(&self) -> u64 {
        let parts = u128::from(self.arrived) * 100;
        parts.checked_div(u128::from(self.file.size)).map_or(100, |percent| percent as u64)
    }

    pub fn content(&self) -> PathBuf {
        self.folder.join(CONTENT)
    }

    /// Appends a part of a piece, which begins there.
    ///
    /// The file is locked for this one write only, so that a request whose connection was lost without notice does not block the
    /// one that resumes the upload. Its own next write is refused, since the file is longer by then.
    pub async fn append(
        &self,
        offset: u64,
        part: Bytes,
        limits: &UploadLimits,
    ) -> Result<Appended, NotTaken> {
        let (upload, limits) = (self.clone(), *limits);
        let writing = tokio::task::spawn_blocking(move || upload.write(offset, &part, &limits));
        match writing.await.map_err(io::Error::other)? {
            Err(NotTaken::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(Appended::Gone),
            other => other,
        }
    }

    fn write(&self, offset: u64, part: &[u8], limits: &UploadLimits) -> Result<Appended, NotTaken> {
        let end = offset.saturating_add(part.len() as u64);
        if end > self.file.size {
            return Ok(Appended::TooLong);
        }
        limits.check_room(&self.folder, &self.file.name, Some(self.file.size), part.len() as u64)?;
        let mut file = File::options().append(true).open(self.content())?;
        file.lock()?;
        let arrived = file.metadata()?.len();
        if arrived != offset {
            return Ok(Appended::Elsewhere(arrived));
        }
        file.write_all(part)?;
        Ok(Appended::To(end))
    }

    /// On the disk when this returns, since whoever sent it may delete it then.
    pub async fn sync(&self) -> io::Result<()> {
        gone_is_fine(match tokio::fs::File::open(self.content()).await {
            Ok(file) => file.sync_data().await,
            Err(error) => Err(error),
        })
    }

    /// Removes it, which may have gone.
    pub fn remove(&self) -> io::Result<()> {
        gone_is_fine(fs::remove_dir_all(&self.folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bill(size: u64) -> SentFile {
        SentFile { name: "../bill.csv".to_owned(), size, modified: 1_700_000_000_000 }
    }

    #[tokio::test]
    async fn file_that_is_chosen_again_is_resumed() {
        let data = tempfile::tempdir().unwrap();
        let uploads = Uploads::new(data.path());
        let (ada, bob) = (uploads.of(UserId(1)), uploads.of(UserId(2)));
        let limits = UploadLimits { kept_free: 0, ..UploadLimits::default() };
        let begun = ada.begin(bill(7), &limits).unwrap();
        assert_eq!(begun.append(0, Bytes::from_static(b"a,b\n"), &limits).await.unwrap(), Appended::To(4));

        let again = ada.begin(bill(7), &limits).unwrap();
        assert_eq!((again.id, again.arrived, again.percent()), (begun.id, 4, 57));
        assert_ne!(ada.begin(bill(8), &limits).unwrap().id, begun.id);
        assert_ne!(bob.begin(bill(7), &limits).unwrap().id, begun.id);
        assert!(bob.find(begun.id).unwrap().is_none());

        for (offset, part, expected) in [
            (0, "a,b\n", Appended::Elsewhere(4)),
            (5, ",2", Appended::Elsewhere(4)),
            (4, "1,2,3", Appended::TooLong),
            (u64::MAX, "1", Appended::TooLong),
            (4, "1,2", Appended::To(7)),
            (7, "", Appended::To(7)),
        ] {
            assert_eq!(
                again.append(offset, part.into(), &limits).await.unwrap(),
                expected,
                "{offset} {part}"
            );
        }
        let whole = ada.find(begun.id).unwrap().unwrap();
        assert!(whole.is_whole());
        assert_eq!((whole.file.name.as_str(), whole.percent()), ("bill.csv", 100));
        assert_eq!(fs::read_to_string(whole.content()).unwrap(), "a,b\n1,2");
        whole.remove().unwrap();
        assert_eq!(whole.append(7, Bytes::new(), &limits).await.unwrap(), Appended::Gone);
        whole.sync().await.unwrap();
    }

    #[test]
    fn upload_waits_for_a_day_after_its_last_piece() {
        let data = tempfile::tempdir().unwrap();
        let uploads = Uploads::new(data.path());
        let limits = UploadLimits { kept_free: 0, ..UploadLimits::default() };
        uploads.remove_old(DateTime::UNIX_EPOCH).unwrap();
        let begun = uploads.of(UserId(1)).begin(bill(7), &limits).unwrap();
        let last: DateTime<Utc> = fs::metadata(begun.content()).unwrap().modified().unwrap().into();
        for (after, is_there) in [(KEPT, true), (KEPT + TimeDelta::seconds(1), false)] {
            uploads.remove_old(last + after).unwrap();
            assert_eq!(uploads.of(UserId(1)).find(begun.id).unwrap().is_some(), is_there, "{after}");
        }
    }

    #[test]
    fn person_has_so_many_uploads_at_a_time_and_no_more_than_fit_together() {
        let data = tempfile::tempdir().unwrap();
        let of = Uploads::new(data.path()).of(UserId(1));
        let limits = UploadLimits { kept_free: 0, ..UploadLimits::default() };
        for size in 0..MOST as u64 {
            of.begin(bill(size), &limits).unwrap();
        }
        assert!(matches!(of.begin(bill(MOST as u64), &limits), Err(NotTaken::TooMany(MOST))));
        assert!(of.begin(bill(0), &limits).is_ok());

        let of = Uploads::new(data.path()).of(UserId(2));
        // Each would fit alone.
        let half = crate::store::disk::room(data.path()).unwrap() / 100 * 60;
        of.begin(bill(half), &limits).unwrap();
        assert!(matches!(of.begin(bill(half + 1), &limits), Err(NotTaken::NoRoom { .. })));
    }
}
