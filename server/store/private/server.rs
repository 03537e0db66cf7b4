//! One run of the PostgreSQL server.

use super::account::Account;
use super::error::{About, Error, Result};
use super::place::{Place, log_tail};
use super::processes;
use super::{PATIENCE, PORT, TICK};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What differs from PostgreSQL's defaults. No TCP; a socket for nobody else; sized for loading on a small machine.
/// `fsync` stays on.
const SETTINGS: [&str; 9] = [
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "cluster_name=gpuledger",
    "shared_buffers=256MB",
    "maintenance_work_mem=256MB",
    "max_wal_size=4GB",
    // Tables that an import makes and fills are written once and not into the log as well.
    "wal_level=minimal",
    "max_wal_senders=0",
    // A question about a month of many large imports locks the table of each.
    "max_locks_per_transaction=256",
];

/// How long a fast shutdown may take before it becomes an immediate one.
const SHUTDOWN: Duration = Duration::from_mins(1);

/// A PostgreSQL that we started and that was ready.
pub struct Server {
    child: Child,
}

impl Server {
    /// Starts PostgreSQL, once nobody else works in its directory, and waits until it takes connections.
    ///
    /// The thread that calls this must live as long as the server is wanted: the kernel ends a child with the thread
    /// that spawned it.
    pub fn start(place: &Place, postgres: &Path, account: &Account) -> Result<Server> {
        processes::evict(&place.data())?;
        remove_stale_locks(place)?;
        let log = place.open_log()?;
        let log_length = log.metadata().about("cannot read", &place.log())?.len();
        let mut server = Server { child: spawn(place, postgres, account, log)? };
        server.wait_until_ready(place, log_length)?;
        Ok(server)
    }

    /// Blocks until the server ended, and leaves it unreaped so that its pid stays its own.
    pub fn end_of(pid: Pid) {
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Ends the server if it still runs, and reaps it: a zombie would seem alive to the next one.
    pub fn stop(mut self) {
        self.end(Signal::INT, SHUTDOWN);
        self.end(Signal::QUIT, SHUTDOWN);
    }

    fn end(&mut self, signal: Signal, patience: Duration) {
        let began = Instant::now();
        let mut described = false;
        while began.elapsed() < patience {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            if !described {
                described = kill_process(self.pid(), signal).is_ok();
            }
            sleep(TICK);
        }
    }

    fn wait_until_ready(&mut self, place: &Place, log_length: u64) -> Result<()> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().about("cannot wait for", &place.data())? {
                return Err(ended(status, place, log_length));
            }
            if is_ready(&place.data(), self.child.id()) {
                return Ok(());
            }
            sleep(TICK);
        }
        self.end(Signal::QUIT, SHUTDOWN);
        Err(Error::NotReady { seconds: PATIENCE.as_secs(), log: place.log() })
    }
}

/// Once nobody works in the data directory, the files by which PostgreSQL keeps another from it are stale. PostgreSQL
/// itself would believe them if their pid is a zombie, or another program's by now.
fn remove_stale_locks(place: &Place) -> Result<()> {
    for stale in [place.data().join("postmaster.pid"), place.socket().join(format!(".s.PGSQL.{PORT}.lock"))] {
        match fs::remove_file(&stale) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).about("cannot remove", &stale);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The socket's directory is given relative to the data directory, where PostgreSQL works: so its path is short
/// enough for a socket however long the data directory's path is.
fn spawn(place: &Place, postgres: &Path, account: &Account, log: File) -> Result<Child> {
    let for_errors = log.try_clone().about("cannot write", &place.log())?;
    let mut command = account.command(postgres);
    command.arg("-D").arg(place.data()).args(["-k", "../socket", "-p"]).arg(PORT.to_string());
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command.stdout(log).stderr(for_errors).spawn().about("cannot run", postgres)
}

/// PostgreSQL says so itself: line 1 of its pid file is its pid, line 8 its state.
fn is_ready(data: &Path, pid: u32) -> bool {
    let Ok(file) = fs::read_to_string(data.join("postmaster.pid")) else { return false };
    let mut lines = file.lines();
    lines.next() == Some(&pid.to_string()) && lines.nth(6).is_some_and(|state| state.trim() == "ready")
}

fn ended(status: ExitStatus, place: &Place, log_length: u64) -> Error {
    Error::Ended { status: status.to_string(), log: place.log(), tail: log_tail(&place.log(), log_length) }
}
