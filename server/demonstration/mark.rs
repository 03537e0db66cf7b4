//! The mark of a data folder that holds a demonstration: its figures are invented, and pages say so.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

const FILE: &str = "demonstration.json";

/// Which demonstration a folder holds, and how much of it is loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub seed: u64,
    /// The day it was made for.
    pub today: NaiveDate,
    pub months: usize,
    /// Deliveries that are loaded, from the first.
    pub loaded: usize,
    /// Which [`STORY`] its deliveries tell.
    #[serde(default)]
    pub story: u32,
}

/// Counted up with each change of what arrives: the rest of one story does not go on with that of another.
pub const STORY: u32 = 4;

/// What a folder holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holds {
    Nothing,
    Demonstration(Mark),
    /// Somebody's data.
    SomethingElse,
}

impl Holds {
    pub fn of(data_dir: &Path) -> io::Result<Self> {
        match fs::read(data_dir.join(FILE)) {
            Ok(bytes) => return Ok(Self::Demonstration(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Err(_) => {}
        }
        match fs::read_dir(data_dir) {
            Ok(mut entries) => Ok(if entries.next().is_none() { Self::Nothing } else { Self::SomethingElse }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::Nothing),
            Err(error) => Err(error),
        }
    }
}

impl Mark {
    /// Whether a folder is marked.
    pub fn is_in(data_dir: &Path) -> bool {
        data_dir.join(FILE).exists()
    }

    /// Through a new file, so that a stop in the middle leaves the old mark.
    pub fn write(&self, data_dir: &Path) -> io::Result<()> {
        let new = data_dir.join(FILE).with_extension("new");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        fs::rename(new, data_dir.join(FILE))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_folder_is_empty_or_marked_or_somebody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = folder.path().join("demo");
        assert_eq!(Holds::of(&data_dir).unwrap(), Holds::Nothing);
        fs::create_dir(&data_dir).unwrap();
        assert_eq!(Holds::of(&data_dir).unwrap(), Holds::Nothing);
        fs::create_dir(data_dir.join("originals")).unwrap();
        assert_eq!(Holds::of(&data_dir).unwrap(), Holds::SomethingElse);
        assert!(!Mark::is_in(&data_dir));
        let mark =
            Mark { seed: 7, today: "2026-11-21".parse().unwrap(), months: 13, loaded: 3, story: STORY };
        mark.write(&data_dir).unwrap();
        assert_eq!(Holds::of(&data_dir).unwrap(), Holds::Demonstration(mark));
        assert!(Mark::is_in(&data_dir));
        let mode = fs::metadata(data_dir.join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
