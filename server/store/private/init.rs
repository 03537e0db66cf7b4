//! Making the data directory of a new PostgreSQL.

use super::USER;
use super::account::Account;
use super::error::{About, Error, Result};
use super::place::Place;
use super::programs::Programs;
use super::tenants;
use std::fs::{self, File};
use std::io::ErrorKind;

/// Makes `data/` unless it is there.
///
/// initdb works in `data.new/`, which is renamed when it is whole: `data/` is never half made, however initdb ends.
pub fn create(place: &Place, programs: &Programs, account: &Account) -> Result<()> {
    if place.major()?.is_some() {
        return Ok(());
    }
    clear_half_made(place)?;
    account.make_directory(&place.data_new())?;
    run_initdb(place, programs, account)?;
    fs::rename(place.data_new(), place.data()).about("cannot move into place", &place.data_new())?;
    File::open(place.root()).and_then(|root| root.sync_all()).about("cannot sync", place.root())
}

/// Removes what a killed initdb left, whose helper may still be at work in there.
fn clear_half_made(place: &Place) -> Result<()> {
    let half_made = place.data_new();
    tenants::evict(&half_made)?;
    match fs::remove_dir_all(&half_made) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).about("cannot remove", &half_made),
        _ => Ok(()),
    }
}

/// Trust is enough: the socket's directory lets in nobody but the account and root. Collation C builds indexes
/// faster, and what people read is sorted by rules of our own.
fn run_initdb(place: &Place, programs: &Programs, account: &Account) -> Result<()> {
    let output = account
        .command(&programs.initdb())
        .args(["--auth=trust", "--encoding=UTF8", "--locale=C", "--username", USER, "--pgdata"])
        .arg(place.data_new())
        .output()
        .about("cannot run", &programs.initdb())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Error::Init { output: if said.is_empty() { output.status.to_string() } else { said } })
}
