//! Room on the disk that is given back when it is full, so that people can sign in, undo and look while somebody makes more.
//!
//! PostgreSQL needs a little room for everything that it writes, and ends where its log finds none.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use rustix::fs::{FallocateFlags, fallocate};

use super::place::Place;
use crate::store::disk;

/// Eight segments of PostgreSQL's log.
const SIZE: u64 = 128 << 20;
/// With less room than two segments of the log the reserve is given back.
const LITTLE: u64 = 32 << 20;
/// With this much it is reserved again.
const ENOUGH: u64 = 2 * SIZE;
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// A file that holds nothing and takes room beside the private PostgreSQL.
#[derive(Clone, Debug)]
pub struct Reserve {
    path: PathBuf,
}

impl Reserve {
    pub(super) fn of(place: &Place) -> Self {
        Self { path: place.reserve() }
    }

    /// Reserves it while there is room and gives it back once there is little, for as long as this is awaited.
    pub async fn keep(self) {
        loop {
            let reserve = self.clone();
            let looked = tokio::task::spawn_blocking(move || reserve.settle(reserve.room()?));
            match looked.await {
                Ok(Err(error)) if error.kind() == ErrorKind::Unsupported => {
                    tracing::info!("this file system reserves no room: there is no reserve for a full disk");
                    return;
                }
                Ok(Err(error)) => {
                    tracing::debug!(%error, "the reserve of the disk could not be looked after");
                }
                _ => {}
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }

    /// Bytes that are free on its disk.
    fn room(&self) -> io::Result<u64> {
        disk::room(self.path.parent().unwrap_or(&self.path))
    }

    fn settle(&self, room: u64) -> io::Result<()> {
        match fs::metadata(&self.path) {
            // A process that ended while it made the reserve left a part.
            Ok(file) if file.len() != SIZE => fs::remove_file(&self.path),
            Ok(_) if room < LITTLE => {
                fs::remove_file(&self.path)?;
                tracing::warn!(
                    megabytes = room >> 20,
                    "the disk of the data folder is nearly full: {} MB that were kept for this are given back, so that \
                     people can sign in and undo. Make room on it; imports fail until then",
                    SIZE >> 20
                );
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::NotFound && room >= ENOUGH => self.make(),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn make(&self) -> io::Result<()> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.path)?;
        let outcome = take(&file);
        if outcome.is_err() {
            fs::remove_file(&self.path)?;
        }
        outcome
    }
}

/// A file system that cannot reserve room would have to be written to, and may pack zeros: there is no reserve on it.
fn take(file: &File) -> io::Result<()> {
    Ok(fallocate(file, FallocateFlags::empty(), 0, SIZE)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn it_is_given_back_when_there_is_little_room_and_made_when_there_is_enough() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = Reserve::of(&Place::prepare(folder.path()).unwrap());
        let length = || fs::metadata(&reserve.path).map(|it| it.len()).ok();
        let before = reserve.room().unwrap();
        for (room, expected) in [
            (ENOUGH - 1, None),
            (ENOUGH, Some(SIZE)),
            (LITTLE, Some(SIZE)),
            (LITTLE - 1, None),
            (0, None),
            (ENOUGH - 1, None),
            (ENOUGH, Some(SIZE)),
        ] {
            reserve.settle(room).unwrap();
            assert_eq!(length(), expected, "{room}");
        }
        let file = fs::metadata(&reserve.path).unwrap();
        assert_eq!(file.mode() & 0o777, 0o600);
        // It takes the room, and is not only as long.
        let taken = file.blocks() * 512;
        assert!(taken >= SIZE, "{taken} of {before}");
    }
}
