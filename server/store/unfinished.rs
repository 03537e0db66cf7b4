//! A database that a restore fills is marked until it is whole: whatever would work with it is refused meanwhile, and
//! also when the restore was broken off.
//!
//! The mark is a table, made in an empty database only. So whatever else is in a database that has it came from a
//! restore, and may be cleared by the next. Whoever restores holds a lock beside it, by which a restore that runs
//! is distinguished from one that was broken off.

use std::time::{Duration, Instant};

use sqlx::migrate::Migrate as _;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::Error;
use super::client::application_name;

const LOCK: i64 = 0x6770_755f_7265_7374;
/// How long PostgreSQL may take to notice that whoever held the lock has ended, or that it is to end a session.
const PATIENCE: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(20);

/// Refuses a database that a restore has not finished.
pub(super) async fn refuse(db: &mut PgConnection) -> Result<(), Error> {
    if !is_marked(db).await? {
        return Ok(());
    }
    Err(if lock(db).await? { Error::BrokenOff } else { Error::IsRestored })
}

/// Whether there is nothing in it, not even tables.
pub(super) async fn is_blank(db: &mut PgConnection) -> Result<bool, Error> {
    Ok(things(db).await?.is_empty())
}

/// A database that is being filled, and marked. Ends with [`Filling::finish`] or [`Filling::undo`]; dropped, it stays
/// marked.
#[derive(Debug)]
pub struct Filling {
    /// Holds the lock.
    db: PgConnection,
}

impl Filling {
    /// Marks an empty database, or empties a marked one whose restore was broken off.
    pub(super) async fn begin(mut db: PgConnection) -> Result<Self, Error> {
        // Nobody makes tables between the look and the mark.
        db.lock().await?;
        if is_marked(&mut db).await? {
            if !lock(&mut db).await? {
                return Err(Error::IsRestored);
            }
            empty(&mut db).await?;
        } else {
            if !things(&mut db).await?.is_empty() {
                return Err(Error::NotEmpty);
            }
            if !lock(&mut db).await? {
                return Err(Error::IsRestored);
            }
            run(&mut db, "create table unfinished_restore (begun_at timestamptz not null default now())")
                .await?;
        }
        db.unlock().await?;
        Ok(Self { db })
    }

    /// Takes the mark away: the database is whole.
    pub async fn finish(mut self) -> Result<(), Error> {
        run(&mut self.db, "drop table unfinished_restore").await?;
        self.db.close().await.map_err(Error::Query)
    }

    /// Leaves the database as empty as it was.
    pub async fn undo(mut self) -> Result<(), Error> {
        empty(&mut self.db).await?;
        self.finish().await
    }
}

async fn is_marked(db: &mut PgConnection) -> Result<bool, Error> {
    let query = "select to_regclass('unfinished_restore') is not null";
    sqlx::query_scalar(query).fetch_one(db).await.map_err(Error::Query)
}

/// Whether nobody else holds the lock; held until the session ends.
async fn lock(db: &mut PgConnection) -> Result<bool, Error> {
    let began = Instant::now();
    loop {
        let query = sqlx::query_scalar("select pg_try_advisory_lock($1)").bind(LOCK);
        let is_ours = query.fetch_one(&mut *db).await.map_err(Error::Query)?;
        if is_ours || began.elapsed() > PATIENCE {
            return Ok(is_ours);
        }
        tokio::time::sleep(TICK).await;
    }
}

/// Removes everything but the mark, in one transaction.
async fn empty(db: &mut PgConnection) -> Result<(), Error> {
    end_leftover_sessions(db).await?;
    let mut tx = db.begin().await.map_err(Error::Query)?;
    for (kind, name) in things(&mut tx).await? {
        // Quoted by PostgreSQL.
        run(&mut tx, &format!("drop {kind} if exists {name} cascade")).await?;
    }
    tx.commit().await.map_err(Error::Query)
}

/// PostgreSQL may still be at work for a pg_restore that is gone.
async fn end_leftover_sessions(db: &mut PgConnection) -> Result<(), Error> {
    let began = Instant::now();
    loop {
        let query = sqlx::query_scalar(
            "select count(pg_terminate_backend(pid)) from pg_stat_activity
             where datname = current_database() and application_name = $1",
        );
        let left: i64 =
            query.bind(application_name("pg_restore")).fetch_one(&mut *db).await.map_err(Error::Query)?;
        if left == 0 {
            return Ok(());
        }
        if began.elapsed() > PATIENCE {
            return Err(Error::IsRestored);
        }
        tokio::time::sleep(TICK).await;
    }
}

/// The kind and the quoted name of each.
async fn things(db: &mut PgConnection) -> Result<Vec<(String, String)>, Error> {
    sqlx::query_as(include_str!("user_objects.sql")).fetch_all(db).await.map_err(Error::Query)
}

async fn run(db: &mut PgConnection, statement: &str) -> Result<(), Error> {
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(db).await.map_err(Error::Query)?;
    Ok(())
}
