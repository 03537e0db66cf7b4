//! Making the data directory of a new PostgreSQL.

use super::account::Account;
use super::error::{About, Error, Result};
use super::place::Place;
use super::processes;
use super::programs::Programs;
use super::{TICK, USER};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::thread::sleep;

const UNFINISHED: &str = "data.new.";
/// How often a directory is removed anew into which somebody still writes.
const TRIES: u32 = 400;

/// Makes `data/` unless it is there.
///
/// initdb works in a directory of another name, which is renamed when it is whole: `data/` is never half made, however
/// initdb ends. The name is new each time, because an initdb that is being killed still tidies up under its own.
pub fn create(place: &Place, programs: &Programs, account: &Account) -> Result<()> {
    if place.major()?.is_some() {
        return Ok(());
    }
    remove_unfinished(place)?;
    let unfinished = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempdir_in(place.root())
        .about("cannot write in", place.root())?;
    account.own(unfinished.path())?;
    run_initdb(unfinished.path(), programs, account)?;
    sync(unfinished.path())?;
    fs::rename(unfinished.keep(), place.data()).about("cannot move into place", &place.data())?;
    File::open(place.root()).and_then(|root| root.sync_all()).about("cannot sync", place.root())
}

/// Removes what a killed initdb left, whose helper may still be at work in there.
fn remove_unfinished(place: &Place) -> Result<()> {
    let entries = fs::read_dir(place.root()).about("cannot read", place.root())?.flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(UNFINISHED)) {
        processes::evict(&entry.path())?;
        let mut tries = 0;
        while let Err(error) = fs::remove_dir_all(entry.path()) {
            match error.kind() {
                ErrorKind::NotFound => break,
                // An initdb that is being killed has just written another file.
                ErrorKind::DirectoryNotEmpty if tries < TRIES => sleep(TICK),
                _ => return Err(error).about("cannot remove", &entry.path()),
            }
            tries += 1;
        }
    }
    Ok(())
}

/// Brings what initdb wrote to the disk. All at once: file by file, as initdb does it, took two to three times as long
/// as everything else on a busy disk.
fn sync(directory: &Path) -> Result<()> {
    let file = File::open(directory).about("cannot open", directory)?;
    rustix::fs::syncfs(file).about("cannot sync", directory)
}

/// Trust is enough: the socket's directory lets in nobody but the account and root. Collation C builds indexes
/// faster, and what people read is sorted by rules of our own; the character types are Unicode's, so that
/// `lower` knows more letters than those of English.
fn run_initdb(directory: &Path, programs: &Programs, account: &Account) -> Result<()> {
    let output = account
        .command(&programs.initdb())
        .args([
            "--no-sync",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--lc-ctype=C.UTF-8",
            "--username",
            USER,
            "--pgdata",
        ])
        .arg(directory)
        .output()
        .about("cannot run", &programs.initdb())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Error::Init { output: if said.is_empty() { output.status.to_string() } else { said } })
}
