//! Finding PostgreSQL's programs.

use super::error::{Error, Result};
use super::place::Place;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian and its descendants put PostgreSQL: `<here>/<major>/bin`.
pub const DEBIAN: &str = "/usr/lib/postgresql";

/// A directory with `postgres` and `initdb` of one major version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    bin: PathBuf,
    major: u32,
}

impl Programs {
    /// The programs for a place: those in `chosen` (GPULEDGER_PG_BIN) if it is said; else the newest of the
    /// distribution's whose major version made the data; else those in `PATH`.
    pub fn find(chosen: Option<&Path>, place: &Place) -> Result<Programs> {
        let candidates = match chosen {
            Some(bin) => {
                vec![Programs::in_directory(bin).ok_or_else(|| Error::NoProgramsIn(bin.to_owned()))?]
            }
            None => installed(),
        };
        select(candidates, place)
    }

    pub fn postgres(&self) -> PathBuf {
        self.bin.join("postgres")
    }

    pub fn initdb(&self) -> PathBuf {
        self.bin.join("initdb")
    }

    /// The programs in a directory, asked for their version; `None` when they are missing or do not run.
    fn in_directory(bin: &Path) -> Option<Programs> {
        if !bin.join("initdb").is_file() {
            return None;
        }
        let answer = Command::new(bin.join("postgres")).arg("--version").output().ok()?;
        let major = parse_major(&String::from_utf8_lossy(&answer.stdout))?;
        Some(Programs { bin: bin.canonicalize().ok()?, major })
    }
}

fn select(candidates: Vec<Programs>, place: &Place) -> Result<Programs> {
    let Some(made_by) = place.major()? else {
        return candidates.into_iter().next().ok_or(Error::NoPrograms);
    };
    let found: Vec<String> = candidates.iter().map(|programs| programs.major.to_string()).collect();
    if found.is_empty() {
        return Err(Error::NoPrograms);
    }
    candidates.into_iter().find(|programs| programs.major == made_by).ok_or_else(|| Error::OtherMajor {
        data: place.data(),
        made_by,
        found: found.join(", "),
    })
}

/// What the distribution installed, newest first, then what `PATH` holds.
fn installed() -> Vec<Programs> {
    let mut found = debian();
    let in_path = env::var_os("PATH").unwrap_or_default();
    found.extend(env::split_paths(&in_path).find_map(|bin| Programs::in_directory(&bin)));
    found
}

fn debian() -> Vec<Programs> {
    let majors = fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let mut found: Vec<Programs> = majors
        .filter_map(|entry| {
            Some(Programs { bin: entry.path().join("bin"), major: entry.file_name().to_str()?.parse().ok()? })
        })
        .filter(|programs| programs.postgres().is_file() && programs.initdb().is_file())
        .collect();
    found.sort_by_key(|programs| std::cmp::Reverse(programs.major));
    found
}

/// `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)` → 15; `postgres (PostgreSQL) 18beta1` → 18.
pub fn parse_major(answer: &str) -> Option<u32> {
    let version =
        answer.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parse_major;

    #[test]
    fn it_reads_the_major_version_from_what_postgres_says() {
        assert_eq!(parse_major("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"), Some(15));
        assert_eq!(parse_major("postgres (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(parse_major("no such thing\n"), None);
    }
}
