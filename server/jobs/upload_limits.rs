//! How large an uploaded file may be, and how much of the disk uploads leave free.

use std::io;
use std::path::Path;

use sqlx::PgConnection;

use crate::store::disk;

/// What uploads leave free unless an administrator says otherwise: room for the rows that are made of what was uploaded.
const KEPT_FREE: u64 = 1_000_000_000;
/// The least that can be set: where an import would stop.
pub const LEAST_KEPT_FREE: u64 = 200_000_000;

const _: () = assert!(LEAST_KEPT_FREE > disk::KEPT_FREE);

/// What administrators set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UploadLimits {
    /// Bytes of a file; `None`: as many as fit.
    pub largest_file: Option<u64>,
    /// Bytes of the disk of the data folder.
    pub kept_free: u64,
}

impl Default for UploadLimits {
    fn default() -> Self {
        Self { largest_file: None, kept_free: KEPT_FREE }
    }
}

/// Why a file is not taken.
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    #[error("{name} is larger than {largest} bytes")]
    TooLarge {
        name: String,
        /// `None` where it was not announced.
        size: Option<u64>,
        largest: u64,
    },
    #[error("{name} does not fit: {free} bytes of the disk are free, and {kept_free} stay so")]
    NoRoom { name: String, size: Option<u64>, free: u64, kept_free: u64 },
    /// The person has as many uploads as they can have at a time.
    #[error("{0} uploads are unfinished")]
    TooMany(usize),
    #[error(transparent)]
    Io(#[from] io::Error),
}

pub async fn upload_limits(db: &mut PgConnection) -> sqlx::Result<UploadLimits> {
    let set = sqlx::query!("select largest_file_bytes, kept_free_bytes from upload_limits");
    let set = set.fetch_optional(db).await?;
    Ok(set.map_or_else(UploadLimits::default, |set| UploadLimits {
        largest_file: set.largest_file_bytes.map(|bytes| bytes as u64),
        kept_free: set.kept_free_bytes as u64,
    }))
}

/// Answers whether this is something else than before.
pub async fn set_upload_limits(db: &mut PgConnection, to: UploadLimits) -> sqlx::Result<bool> {
    if upload_limits(&mut *db).await? == to {
        return Ok(false);
    }
    let set = sqlx::query!(
        "insert into upload_limits (largest_file_bytes, kept_free_bytes) values ($1, $2)
         on conflict (is_upload_limits) do update
         set largest_file_bytes = excluded.largest_file_bytes, kept_free_bytes = excluded.kept_free_bytes",
        to.largest_file.map(|bytes| bytes as i64),
        to.kept_free as i64,
    );
    set.execute(db).await?;
    Ok(true)
}

impl UploadLimits {
    /// Refuses a file of this size, or, where that was not announced, of which so much has arrived.
    pub(super) fn check_size(&self, name: &str, size: Option<u64>, arrived: u64) -> Result<(), NotTaken> {
        match self.largest_file {
            Some(largest) if size.unwrap_or(arrived) > largest => {
                Err(NotTaken::TooLarge { name: name.to_owned(), size, largest })
            }
            _ => Ok(()),
        }
    }

    /// Refuses what the disk of this folder has no room for, with so many bytes to come.
    pub(super) fn check_room(
        &self,
        folder: &Path,
        name: &str,
        size: Option<u64>,
        to_come: u64,
    ) -> Result<(), NotTaken> {
        let free = disk::room(folder)?;
        if free >= self.kept_free.saturating_add(to_come) {
            return Ok(());
        }
        Err(NotTaken::NoRoom { name: name.to_owned(), size, free, kept_free: self.kept_free })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_checked_as_announced_or_as_it_arrives() {
        let limits = UploadLimits { largest_file: Some(10), ..UploadLimits::default() };
        for (size, arrived, is_taken) in
            [(Some(10), 0, true), (Some(11), 0, false), (None, 10, true), (None, 11, false)]
        {
            assert_eq!(limits.check_size("a.csv", size, arrived).is_ok(), is_taken, "{size:?} {arrived}");
        }
        assert!(UploadLimits::default().check_size("a.csv", Some(u64::MAX), 0).is_ok());
    }

    #[test]
    fn room_is_what_is_free_without_the_floor() {
        let folder = tempfile::tempdir().unwrap();
        let check = |kept_free, to_come| {
            let limits = UploadLimits { kept_free, ..UploadLimits::default() };
            limits.check_room(folder.path(), "a.csv", None, to_come)
        };
        assert!(check(0, 1).is_ok());
        for refused in [check(u64::MAX, 0), check(1, u64::MAX)] {
            assert!(matches!(refused, Err(NotTaken::NoRoom { .. })), "{refused:?}");
        }
    }
}
