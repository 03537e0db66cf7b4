//! PostgreSQL: which one, its tables, and connections to it.

/// The private PostgreSQL in a data directory.
pub mod private;

mod child;
mod client;
mod copy;
mod database_of_directory;
pub mod disk;
mod error;
mod sqlstate;
mod unfinished;

pub use client::Client;
pub use copy::{CopyRows, Copying, send as copy_rows};
pub use error::Error;
pub use sqlstate::{is_disk_full, is_locked, is_restarting};
pub use unfinished::Filling;

use private::Private;
use sqlx::migrate::{Migrate as _, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgConnection, PgPool};
use std::str::FromStr;
use std::time::Duration;

/// The tables, step by step; see `migrations/README.md`.
pub static MIGRATOR: Migrator = sqlx::migrate!();

/// What suits sums over a month's keys: enough memory to join and group them without files, no compiling
/// of a query that takes a tenth of a second, and a plan for the values that are asked. Who closes a connection in the middle
/// of a query is noticed before that ends.
pub const SESSION: [(&str, &str); 4] = [
    ("work_mem", "32MB"),
    ("jit", "off"),
    ("plan_cache_mode", "force_custom_plan"),
    ("client_connection_check_interval", "500ms"),
];

/// How long a page waits for a connection.
const BUSY: Duration = Duration::from_secs(5);

/// A connection that rested for longer is asked whether it still answers before anyone relies on it. It answered when
/// it was given back, and a page that asks three short questions should not wait for two more answers.
const RESTED: Duration = Duration::from_secs(1);

/// Whether a database has the tables of this version: neither fewer steps nor others.
pub async fn is_migrated(db: &mut PgConnection) -> sqlx::Result<bool> {
    let run: Vec<(i64, Vec<u8>)> =
        sqlx::query_as("select version, checksum from _sqlx_migrations where success order by version")
            .fetch_all(db)
            .await?;
    let ours = MIGRATOR.iter().map(|step| (step.version, step.checksum.to_vec()));
    Ok(ours.eq(run))
}

/// In any other encoding a name with an accent, or in another script, fails in the middle of an import.
async fn refuse_other_encodings(db: &mut PgConnection) -> Result<(), Error> {
    let found: String =
        sqlx::query_scalar("show server_encoding").fetch_one(db).await.map_err(Error::Query)?;
    if found == "UTF8" { Ok(()) } else { Err(Error::Encoding(found)) }
}

/// Where the ledger is kept.
#[derive(Clone, Debug)]
pub enum Database {
    /// In a PostgreSQL that somebody else runs: DATABASE_URL.
    Url(String),
    /// In a PostgreSQL of its own.
    Private(private::Setup),
}

/// A database that is there and has the tables of this version.
#[derive(Debug)]
pub struct Store {
    options: PgConnectOptions,
    private: Option<Private>,
}

impl Database {
    /// Whether there is nothing in it yet, as far as one can see without changing it.
    pub async fn is_blank(url: &str) -> Result<bool, Error> {
        let mut db = PgConnectOptions::from_str(url)
            .map_err(Error::Address)?
            .connect()
            .await
            .map_err(Error::Connect)?;
        let tables = "select not exists (select from pg_catalog.pg_tables
                      where schemaname not in ('pg_catalog', 'information_schema'))";
        let is_blank = sqlx::query_scalar(tables).fetch_one(&mut db).await.map_err(Error::Connect)?;
        db.close().await.map_err(Error::Connect)?;
        Ok(is_blank)
    }
}

impl Store {
    /// Finds or starts the database and runs the migrations that it lacks. One process at a time runs them; others
    /// wait. A database that a restore has not finished is refused.
    pub async fn open(database: &Database) -> Result<Store, Error> {
        let store = Store::find(database).await?;
        let mut db = store.connect().await?;
        // No restore begins between the look and the first migration.
        db.lock().await?;
        unfinished::refuse(&mut db).await?;
        refuse_other_encodings(&mut db).await?;
        MIGRATOR.run(&mut db).await?;
        db.close().await.map_err(Error::Connect)?;
        Ok(store)
    }

    /// Finds or starts the database, and leaves its tables as they are.
    pub async fn find(database: &Database) -> Result<Store, Error> {
        Ok(match database {
            Database::Url(url) => {
                Store { options: PgConnectOptions::from_str(url).map_err(Error::Address)?, private: None }
            }
            Database::Private(setup) => {
                let private = private::join(setup).await?;
                Store { options: private.connect_options(), private: Some(private) }
            }
        })
    }

    /// Refuses a database that nothing has come to, of a data folder in which a restore has begun: whatever is made in it now
    /// would be in the way of the next.
    pub async fn refuse_blank(&self, is_running: bool) -> Result<(), Error> {
        if !unfinished::is_blank(&mut self.connect().await?).await? {
            return Ok(());
        }
        Err(if is_running { Error::IsRestored } else { Error::BrokenOff })
    }

    /// A connection of its own.
    pub async fn connect(&self) -> Result<PgConnection, Error> {
        self.options.connect().await.map_err(Error::Connect)
    }

    /// Marks the database as one that a restore fills; what a restore that was broken off left in it goes. Refuses any
    /// that is not empty.
    pub async fn begin_filling(&self) -> Result<Filling, Error> {
        Filling::begin(self.connect().await?).await
    }

    /// PostgreSQL's own tools for this database.
    pub async fn client(&self) -> Result<Client, Error> {
        Client::find(&self.options).await
    }

    /// Connections for one kind of work. Each kind has its own, so that imports cannot starve pages. A statement that
    /// takes longer than `statement_timeout` is cancelled; `None`: it may take as long as it needs.
    ///
    /// Close the pool before the store: the private PostgreSQL stops with the last store.
    pub fn pool(&self, connections: u32, statement_timeout: Option<Duration>) -> PgPool {
        let millis = statement_timeout.map_or(0, |timeout| timeout.as_millis());
        let options = self.options.clone().options([("statement_timeout", millis)]).options(SESSION);
        // Work in the background takes its time, which is nothing to warn of.
        let options = if statement_timeout.is_some() { options } else { options.disable_statement_logging() };
        let pool =
            PgPoolOptions::new().max_connections(connections).test_before_acquire(false).before_acquire(
                |db, about| Box::pin(async move { Ok(about.idle_for <= RESTED || db.ping().await.is_ok()) }),
            );
        // Who waits for a page is told soon that it is too busy; work in the background can wait.
        let pool = if statement_timeout.is_some() { pool.acquire_timeout(BUSY) } else { pool };
        pool.connect_lazy_with(options)
    }

    /// Room beside the private PostgreSQL for when the disk is full. The disk of a given database is looked after by whoever
    /// gave it.
    pub fn reserve(&self) -> Option<private::Reserve> {
        self.private.as_ref().map(private::Private::reserve)
    }

    /// Leaves; when this was the last use of a private PostgreSQL, waits until that has stopped.
    pub async fn close(self) -> Result<(), Error> {
        match self.private {
            Some(private) => Ok(private.leave().await?),
            None => Ok(()),
        }
    }

    /// Brings the tables to this version.
    pub async fn migrate(&self) -> Result<(), Error> {
        let mut db = self.connect().await?;
        MIGRATOR.run(&mut db).await?;
        db.close().await.map_err(Error::Connect)
    }
}
