//! Samples: files that somebody looks at before they say how they are read. They wait in the data directory, each under a name
//! that nobody guesses, and go away after a day.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use uuid::Uuid;

/// How long a sample waits for somebody to go on.
const KEPT: Duration = Duration::from_hours(24);
const FILE: &str = "file";
const NAME: &str = "name";

/// The folder of samples.
#[derive(Clone, Debug)]
pub struct Samples {
    folder: PathBuf,
}

/// A file that waits.
#[derive(Clone, Debug)]
pub struct Sample {
    /// What its sender calls it.
    pub name: String,
    pub path: PathBuf,
}

impl Samples {
    pub fn new(data_dir: &Path) -> Self {
        let folder = data_dir.join("samples");
        Self { folder: std::path::absolute(&folder).unwrap_or(folder) }
    }

    /// Takes a file that has arrived, and removes those that have waited too long.
    pub(super) fn take(&self, name: &str, from: &Path, now: SystemTime) -> io::Result<Uuid> {
        self.remove_old(now)?;
        let id = Uuid::new_v4();
        let folder = self.folder.join(id.to_string());
        // Bills are nobody else's business.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        fs::write(folder.join(NAME), name)?;
        fs::rename(from, folder.join(FILE))?;
        Ok(id)
    }

    /// One that waits; `None` where it has gone.
    pub fn find(&self, id: Uuid) -> io::Result<Option<Sample>> {
        let folder = self.folder.join(id.to_string());
        match fs::read_to_string(folder.join(NAME)) {
            Ok(name) => Ok(Some(Sample { name, path: folder.join(FILE) })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn remove_old(&self, now: SystemTime) -> io::Result<()> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let age = now.duration_since(entry.metadata()?.modified()?).unwrap_or_default();
            if age > KEPT {
                gone_is_fine(fs::remove_dir_all(entry.path()))?;
            }
        }
        Ok(())
    }
}

/// Whatever was to go.
pub(super) fn gone_is_fine(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_waits_for_a_day() {
        let data = tempfile::tempdir().unwrap();
        let samples = Samples::new(data.path());
        let arrived = data.path().join("0");
        fs::write(&arrived, "a,b").unwrap();
        let id = samples.take("../bill.csv", &arrived, SystemTime::UNIX_EPOCH).unwrap();
        let sample = samples.find(id).unwrap().unwrap();
        assert_eq!(
            (sample.name.as_str(), fs::read_to_string(&sample.path).unwrap().as_str()),
            ("../bill.csv", "a,b")
        );
        let written = fs::metadata(&sample.path).unwrap().modified().unwrap();
        samples.remove_old(written + KEPT / 2).unwrap();
        assert!(samples.find(id).unwrap().is_some());
        samples.remove_old(written + KEPT + Duration::from_mins(1)).unwrap();
        assert!(samples.find(id).unwrap().is_none());
    }
}
