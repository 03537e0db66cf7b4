//! The private PostgreSQL of a data directory: gpuledger's database when nobody gave it another.
//!
//! Several processes may use one data directory at once. Each holds `users.lock` shared. One of them, the first,
//! starts a supervisor ([`supervisor`]), a process that holds `keeper.lock`, runs PostgreSQL and starts it again should it
//! die. The supervisor waits for `users.lock` to itself; the kernel grants it when the last user is gone, however it
//! went. Then the supervisor stops PostgreSQL and ends, and whoever wants to join meanwhile waits for that.
//!
//! What may happen:
//! - Two join at once: `start.lock` lets one look for a supervisor at a time.
//! - The supervisor is killed: the kernel ends PostgreSQL with it ([`account`]), and a user that is left, which watches
//!   `keeper.lock`, starts another.
//! - PostgreSQL is killed: the supervisor starts another as soon as the processes of the old one are gone ([`processes`]).
//! - Everything is killed: the next to join finds no supervisor, and its supervisor clears up first.

mod account;
mod error;
mod init;
mod lease;
mod place;
mod processes;
mod programs;
mod reserve;
mod server;
mod supervisor;

pub use error::Error;
pub use place::make_directory;
pub(super) use programs::{DEBIAN, parse_major};
pub use reserve::Reserve;
pub use supervisor::{SUBCOMMAND, keep};

use super::sqlstate::{has_code, is_restarting};
use account::Account;
use error::Result;
use lease::Lease;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions, Connection, Executor};
use std::env;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// PostgreSQL's superuser and the database, both ours alone.
const USER: &str = "gpuledger";
/// Only part of the socket's name: there is no TCP.
const PORT: u16 = 5432;
/// How long PostgreSQL may take to answer. Recovery after a crash can take minutes; a hint is better than a hang.
const PATIENCE: Duration = Duration::from_mins(5);
const TICK: Duration = Duration::from_millis(5);

/// What it takes to run the private PostgreSQL of a data directory.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Made when it is missing.
    pub data_dir: PathBuf,
    /// The gpuledger program, which the supervisor is started from.
    pub supervisor: PathBuf,
    /// GPULEDGER_PG_BIN: the directory of PostgreSQL's programs, when they are not to be searched for.
    pub programs: Option<PathBuf>,
}

impl Setup {
    /// The private PostgreSQL in `data_dir`, with this program as its supervisor and the programs that the environment
    /// names.
    pub fn new(data_dir: &Path) -> Setup {
        // Not `current_exe()`: this path leads to the program we run even after an upgrade replaced its file.
        let supervisor = "/proc/self/exe".into();
        let programs = env::var_os("GPULEDGER_PG_BIN").map(PathBuf::from);
        Setup { data_dir: data_dir.to_owned(), supervisor, programs }
    }
}

/// Where the data directory is when nobody said: for root in `/var/lib`, because PostgreSQL steps down from root and
/// could not reach a directory under `/root`; for everyone else in the working directory.
pub fn default_data_dir() -> PathBuf {
    PathBuf::from(if Account::is_root() { "/var/lib/gpuledger" } else { "data" })
}

/// The use of a private PostgreSQL, which runs until the last of these is dropped.
#[derive(Debug)]
pub struct Private {
    lease: Arc<Lease>,
    options: PgConnectOptions,
}

/// Makes sure that the private PostgreSQL runs, and that it has the database.
pub async fn join(setup: &Setup) -> Result<Private> {
    let setup = setup.clone();
    let lease = Arc::new(blocking(move || Lease::take(setup)).await?);
    let private = Private { options: connect_options(lease.socket()), lease };
    private.wait_for_database().await?;
    lease::watch(&private.lease);
    Ok(private)
}

impl Private {
    /// How to connect. Good for as long as `self` lives.
    pub fn connect_options(&self) -> PgConnectOptions {
        self.options.clone()
    }

    /// Room beside it for when the disk is full.
    pub fn reserve(&self) -> Reserve {
        Reserve::of(self.lease.place())
    }

    /// Leaves; when nobody else is left, waits until PostgreSQL has stopped.
    ///
    /// Dropping is as good, except where our own end takes every other process along, as in a container: there
    /// PostgreSQL would not get to its shutdown.
    pub async fn leave(self) -> Result<()> {
        let place = self.lease.place().clone();
        drop(self);
        blocking(move || lease::wait_until_stopped(&place)).await
    }

    /// PostgreSQL may be on its way: starting, recovering, or about to be started again.
    async fn wait_for_database(&self) -> Result<()> {
        let began = Instant::now();
        loop {
            let error = match self.ensure_database().await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            if !is_passing(&error) || began.elapsed() > PATIENCE {
                return Err(error.into());
            }
            tokio::time::sleep(TICK).await;
            let lease = Arc::clone(&self.lease);
            blocking(move || lease.ensure_supervisor()).await?;
        }
    }

    async fn ensure_database(&self) -> sqlx::Result<()> {
        match self.options.connect().await {
            Ok(db) => return db.close().await,
            Err(error) if has_code(&error, &["3D000"]) => {} // no such database
            Err(error) => return Err(error),
        }
        let mut db = self.options.clone().database("postgres").connect().await?;
        match db.execute("create database gpuledger").await {
            // Another one who joined was first: "exists", or "is being made".
            Err(error) if !has_code(&error, &["42P04", "23505"]) => Err(error),
            _ => db.close().await,
        }
    }
}

fn connect_options(socket: PathBuf) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .socket(socket)
        .port(PORT)
        .username(USER)
        .database(USER)
        .ssl_mode(PgSslMode::Disable)
}

/// Whether trying again may help: no socket yet, or a server that starts, stops or just crashed.
fn is_passing(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => error.kind() != ErrorKind::PermissionDenied,
        error => is_restarting(error),
    }
}

/// Locks and processes are waited for on a thread where that hinders nobody.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_cancelled) => Err(Error::Interrupted),
        },
    }
}
