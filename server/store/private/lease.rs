//! A user's part: holding the users' lock, and seeing to it that there is a supervisor.

use super::account::Account;
use super::error::{About, Result};
use super::place::Place;
use super::programs::Programs;
use super::{PORT, Setup, TICK, init, supervisor};
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
pub struct Lease {
    setup: Setup,
    place: Place,
    _users: File,
    socket: File,
}

impl Lease {
    /// Waits while a supervisor stops PostgreSQL after its last user, then makes sure that there is a supervisor.
    pub fn take(setup: Setup) -> Result<Lease> {
        let place = Place::prepare(&setup.data_dir)?;
        let users = place.users_lock()?;
        users.lock_shared().about("cannot lock", place.root())?;
        ensure_supervisor(&setup, &place)?;
        let socket = File::open(place.socket()).about("cannot open", &place.socket())?;
        Ok(Lease { setup, place, _users: users, socket })
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The socket's directory, by a path that is short enough for a socket while the lease lasts.
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

    /// Starts a supervisor unless there is one.
    pub fn ensure_supervisor(&self) -> Result<()> {
        ensure_supervisor(&self.setup, &self.place)
    }
}

/// Has another supervisor started should this one be killed, for as long as the lease lasts.
pub fn watch(lease: &Arc<Lease>) {
    let (place, lease) = (lease.place.clone(), Arc::downgrade(lease));
    thread::spawn(move || while wait_for_end_of_supervisor(&place).is_ok() && start_another(&lease) {});
}

/// Waits until the supervisor has ended, unless there are users for it to serve.
pub fn wait_until_stopped(place: &Place) -> Result<()> {
    while !has_users(place)? && place.supervisor_lock()?.try_lock_shared().is_err() {
        thread::sleep(TICK);
    }
    Ok(())
}

/// For holders of the users' lock: a supervisor that lives stays with them.
fn ensure_supervisor(setup: &Setup, place: &Place) -> Result<()> {
    let start = place.start_lock()?;
    start.lock().about("cannot lock", place.root())?;
    let lock = place.supervisor_lock()?;
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
    supervisor::start(place, &setup.supervisor, &programs, lock)
}

fn wait_for_end_of_supervisor(place: &Place) -> Result<()> {
    place.supervisor_lock()?.lock_shared().about("cannot lock", place.root())
}

/// Whether the lease still lasts; if so, there is a supervisor again or another attempt is due.
fn start_another(lease: &Weak<Lease>) -> bool {
    let Some(lease) = lease.upgrade() else { return false };
    if let Err(error) = lease.ensure_supervisor() {
        tracing::error!(%error, "PostgreSQL is gone and could not be started again; trying on");
        thread::sleep(Duration::from_secs(1));
    }
    true
}

/// Users share their lock; the supervisor has it alone while it stops PostgreSQL.
fn has_users(place: &Place) -> Result<bool> {
    let users = place.users_lock()?;
    Ok(users.try_lock().is_err() && users.try_lock_shared().is_ok())
}
