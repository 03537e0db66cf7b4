//! A user's part: holding the users' lock, and seeing to it that there is a keeper.

use super::account::Account;
use super::error::{About, Result};
use super::place::Place;
use super::programs::Programs;
use super::{PORT, Setup, TICK, init, keeper};
use std::fs::{File, TryLockError};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

/// Longest path of a socket, by the kernel.
const SOCKET_PATH: usize = 107;

/// The users' lock, held shared, and with it PostgreSQL.
#[derive(Debug)]
pub struct Seat {
    setup: Setup,
    place: Place,
    _users: File,
    socket: File,
}

impl Seat {
    /// Waits while a keeper stops PostgreSQL after its last user, then makes sure that there is a keeper.
    pub fn take(setup: Setup) -> Result<Seat> {
        let place = Place::prepare(&setup.data_dir)?;
        let users = place.users_lock()?;
        users.lock_shared().about("cannot lock", place.root())?;
        ensure_keeper(&setup, &place)?;
        let socket = File::open(place.socket()).about("cannot open", &place.socket())?;
        Ok(Seat { setup, place, _users: users, socket })
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The socket's directory, by a path that is short enough for a socket while the seat lasts.
    ///
    /// Where the data directory's path is too long, the way leads through the open directory: a short directory
    /// elsewhere, in `/tmp` for example, would be anyone's to occupy or to clean away.
    pub fn socket(&self) -> PathBuf {
        let direct = self.place.socket();
        if direct.join(format!(".s.PGSQL.{PORT}")).as_os_str().len() <= SOCKET_PATH {
            return direct;
        }
        format!("/proc/self/fd/{}", self.socket.as_raw_fd()).into()
    }

    /// Hires a keeper unless there is one.
    pub fn ensure_keeper(&self) -> Result<()> {
        ensure_keeper(&self.setup, &self.place)
    }
}

/// Has another keeper hired should this one be killed, for as long as the seat lasts.
pub fn watch(seat: &Arc<Seat>) {
    let (place, seat) = (seat.place.clone(), Arc::downgrade(seat));
    thread::spawn(move || while wait_for_end_of_keeper(&place).is_ok() && hire_another(&seat) {});
}

/// Waits until the keeper has ended, unless there are users for it to serve.
pub fn wait_until_stopped(place: &Place) -> Result<()> {
    while !has_users(place)? && place.keeper_lock()?.try_lock_shared().is_err() {
        thread::sleep(TICK);
    }
    Ok(())
}

/// For holders of the users' lock: a keeper that lives stays with them.
fn ensure_keeper(setup: &Setup, place: &Place) -> Result<()> {
    let start = place.start_lock()?;
    start.lock().about("cannot lock", place.root())?;
    let lock = place.keeper_lock()?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(()),
        Err(error) => return Err(error).about("cannot lock", place.root()),
    }
    let account = Account::choose(place)?;
    account.check_reach(place)?;
    let programs = Programs::find(setup.programs.as_deref(), place)?;
    init::create(place, &programs, &account)?;
    account.make_directory(&place.socket())?;
    keeper::hire(place, &setup.keeper, &programs, lock)
}

fn wait_for_end_of_keeper(place: &Place) -> Result<()> {
    place.keeper_lock()?.lock_shared().about("cannot lock", place.root())
}

/// Whether the seat still lasts; if so, there is a keeper again or another attempt is due.
fn hire_another(seat: &Weak<Seat>) -> bool {
    let Some(seat) = seat.upgrade() else { return false };
    if let Err(error) = seat.ensure_keeper() {
        tracing::error!(%error, "PostgreSQL is gone and could not be started again; trying on");
        thread::sleep(Duration::from_secs(1));
    }
    true
}

/// Users share their lock; the keeper has it alone while it stops PostgreSQL.
fn has_users(place: &Place) -> Result<bool> {
    let users = place.users_lock()?;
    Ok(users.try_lock().is_err() && users.try_lock_shared().is_ok())
}
