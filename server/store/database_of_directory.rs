//! Which database belongs to a data directory. Originals lie in the directory and their deliveries in the
//! database, so commands beside a server must find the one that it uses.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{Database, private};

/// Holds the connection string, readable by its owner only.
const FILE: &str = "database-url";

impl Database {
    /// The database of a data directory: the one named, and remembered from then on; else the one remembered;
    /// else the private one.
    pub fn of(data_dir: &Path, url: Option<&str>) -> io::Result<Self> {
        let file = data_dir.join(FILE);
        if let Some(url) = url {
            if read(&file)?.as_deref() != Some(url) {
                write(&file, url)?;
            }
            return Ok(Self::Url(url.to_owned()));
        }
        Ok(match read(&file)? {
            Some(url) => Self::Url(url),
            None => Self::Private(private::Setup::new(data_dir)),
        })
    }
}

fn read(file: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(file) {
        Ok(url) => Ok(Some(url.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Through a new file, so that a reader never sees half of it, and so that its mode is ours.
fn write(file: &PathBuf, url: &str) -> io::Result<()> {
    let new = file.with_extension("new");
    let _ = fs::remove_file(&new);
    let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    writeln!(out, "{url}")?;
    fs::rename(new, file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn commands_without_a_url_use_the_one_of_the_server() {
        let folder = tempfile::tempdir().unwrap();
        let url_of = |given| match Database::of(folder.path(), given).unwrap() {
            Database::Url(url) => Some(url),
            Database::Private(_) => None,
        };
        assert_eq!(url_of(None), None);
        assert_eq!(url_of(Some("postgres://a")).as_deref(), Some("postgres://a"));
        assert_eq!(url_of(None).as_deref(), Some("postgres://a"));
        assert_eq!(url_of(Some("postgres://b")).as_deref(), Some("postgres://b"));
        assert_eq!(url_of(None).as_deref(), Some("postgres://b"));
        let mode = fs::metadata(folder.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
