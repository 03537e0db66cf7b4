//! Background work: imports that were handed in through the browser, one after the other.
//!
//! The queue is a table. A worker holds a session lock on what it works on, so that a job whose worker
//! was killed is known as such and started again; an import that broke off left nothing behind.

mod inbox;
mod stop;

pub use inbox::{Arriving, ArrivingFile, Inbox};
pub use stop::put_back;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::clock;
use crate::ledger::{self, Import, LookIn, Originals, Progress, Source, WhenUnsure};

/// Session locks of running jobs: this plus the job's id.
const LOCK: i64 = 0x6770_756a_0000_0000;
/// How often a waiting worker looks, should a call to wake it have gone astray.
const POLL: Duration = Duration::from_secs(2);
/// How often a running job says how far it is.
const TELL: Duration = Duration::from_millis(400);
/// A job that broke off this often is not started again: the machine, not the moment, is the reason.
const ATTEMPTS: i32 = 3;

/// A file that waits in the data directory to be imported.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Incoming {
    pub name: String,
    pub path: PathBuf,
}

/// Wakes the worker of this process when there is something to do.
#[derive(Clone, Debug, Default)]
pub struct Bell(Arc<Notify>);

impl Bell {
    pub fn ring(&self) {
        self.0.notify_one();
    }
}

/// Puts an import in the queue. The caller rings the bell after its transaction is committed.
pub async fn enqueue(
    db: &mut PgConnection,
    batch_id: Uuid,
    files: &[Incoming],
    total_bytes: u64,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        "insert into jobs (batch_id, files, total_bytes, created_at, created_by)
         values ($1, $2, $3, $4, $5) returning job_id",
        batch_id,
        Json(files) as _,
        total_bytes as i64,
        now,
        by,
    )
    .fetch_one(db)
    .await
}

/// Works until the process ends. Errors of the database are logged and waited out.
pub async fn work(pool: PgPool, originals: Originals, bell: Bell) {
    loop {
        match run_next(&pool, &originals).await {
            Ok(true) => {}
            Ok(false) => {
                let _ = tokio::time::timeout(POLL, bell.0.notified()).await;
            }
            Err(error) => {
                tracing::error!(%error, "a job could not be run; trying again");
                tokio::time::sleep(POLL).await;
            }
        }
    }
}

/// Runs everything that waits, then returns: for tests and for a graceful stop.
pub async fn run_pending(pool: &PgPool, originals: &Originals) -> sqlx::Result<()> {
    while run_next(pool, originals).await? {}
    Ok(())
}

struct Claimed {
    job_id: i64,
    batch_id: Uuid,
    files: Vec<Incoming>,
    by: String,
}

/// False when nothing waits.
async fn run_next(pool: &PgPool, originals: &Originals) -> sqlx::Result<bool> {
    let mut db = pool.acquire().await?;
    let ran = run_next_on(pool, &mut db, originals).await;
    if ran.is_err() {
        // Ends the session and with it the lock, so that the job is taken up again.
        let _ = db.close().await;
    }
    ran
}

async fn run_next_on(pool: &PgPool, db: &mut PgConnection, originals: &Originals) -> sqlx::Result<bool> {
    let Some(job) = claim(db).await? else {
        return Ok(false);
    };
    let progress = Progress::default();
    // Stops with this function, however that ends.
    let mut telling = JoinSet::new();
    telling.spawn(tell(pool.clone(), job.job_id, progress.clone()));
    let files = job.files.iter().map(|file| Source { name: file.name.clone(), path: file.path.clone() });
    let deliveries = ledger::gather(files.collect(), LookIn::Given);
    let import = Import {
        deliveries,
        as_format: None,
        decision: None,
        when_unsure: WhenUnsure::Wait,
        batch_id: job.batch_id,
        by: &job.by,
        now: clock::now(),
        progress: progress.clone(),
    };
    let outcome = ledger::import(pool, originals, import).await;
    telling.abort_all();
    let reports = outcome.map_err(|interrupted| interrupted.error)?;
    finish(db, &job, &reports, progress.load(Ordering::Relaxed)).await?;
    sqlx::query_scalar!("select pg_advisory_unlock($1)", LOCK + job.job_id).fetch_one(&mut *db).await?;
    remove_incoming(&job.files);
    Ok(true)
}

/// The oldest job that waits, or whose worker is gone; marked as running and locked by this session.
async fn claim(db: &mut PgConnection) -> sqlx::Result<Option<Claimed>> {
    let candidates = sqlx::query!(
        r#"select job_id, batch_id, files as "files: Json<Vec<Incoming>>", created_by, attempts
           from jobs where status in ('queued', 'running') order by job_id"#
    )
    .fetch_all(&mut *db)
    .await?;
    for candidate in candidates {
        let is_mine =
            sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "mine!""#, LOCK + candidate.job_id)
                .fetch_one(&mut *db)
                .await?;
        if !is_mine {
            continue;
        }
        let is_hopeless = candidate.attempts >= ATTEMPTS;
        let claimed = sqlx::query!(
            "update jobs
             set status = case when $3 then 'failed' else 'running' end,
                 message = case when $3 then 'The import was interrupted again and again; nothing was loaded.' end,
                 finished_at = case when $3 then $2::timestamptz end,
                 started_at = $2, attempts = attempts + 1, rows_read = 0
             where job_id = $1 and status in ('queued', 'running')",
            candidate.job_id,
            clock::now(),
            is_hopeless,
        )
        .execute(&mut *db)
        .await?;
        if is_hopeless {
            remove_incoming(&candidate.files);
        } else if claimed.rows_affected() == 1 {
            return Ok(Some(Claimed {
                job_id: candidate.job_id,
                batch_id: candidate.batch_id,
                files: candidate.files.0,
                by: candidate.created_by,
            }));
        }
        sqlx::query_scalar!("select pg_advisory_unlock($1)", LOCK + candidate.job_id)
            .fetch_one(&mut *db)
            .await?;
    }
    Ok(None)
}

async fn finish(
    db: &mut PgConnection,
    job: &Claimed,
    reports: &[ledger::Report],
    rows_read: u64,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update jobs set status = 'done', result = $2, rows_read = $3, finished_at = $4 where job_id = $1",
        job.job_id,
        Json(reports) as _,
        rows_read as i64,
        clock::now(),
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Writes down how far a job is, until aborted.
async fn tell(pool: PgPool, job_id: i64, progress: Progress) {
    loop {
        tokio::time::sleep(TELL).await;
        let rows = progress.load(Ordering::Relaxed) as i64;
        let told = sqlx::query!("update jobs set rows_read = $2 where job_id = $1", job_id, rows)
            .execute(&pool)
            .await;
        if let Err(error) = told {
            tracing::warn!(%error, job_id, "progress was not written");
        }
    }
}

/// The originals are kept by now; the copies that waited are not needed any more.
fn remove_incoming(files: &[Incoming]) {
    let folders: std::collections::BTreeSet<&Path> =
        files.iter().filter_map(|file| file.path.parent()).collect();
    for folder in folders {
        if let Err(error) = std::fs::remove_dir_all(folder) {
            tracing::warn!(%error, folder = %folder.display(), "uploaded files could not be removed");
        }
    }
}
