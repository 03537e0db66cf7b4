//! Background work: imports that were submitted through the browser, two at a time.
//!
//! The queue is a table. A worker holds a session lock on what it works on, so that a job whose worker
//! was killed is known as such and started again; an import that broke off left nothing behind. What the
//! machine failed keeps its files, and is started again when someone asks for it.

mod adjust;
mod beside;
mod cluster;
mod divide;
mod inbox;
mod lock;
pub mod prometheus;
mod reprice;
mod samples;
mod stop;
mod upload_limits;
mod uploads;

pub use adjust::adjust_bills;
pub use cluster::{Submitted, submit_cluster};
pub use divide::divide_machines;
pub use inbox::{Arriving, ArrivingFile, Inbox};
pub use samples::{Sample, Samples};
pub use stop::put_back;
pub use upload_limits::{LEAST_KEPT_FREE, NotTaken, UploadLimits, set_upload_limits, upload_limits};
pub use uploads::{Appended, SentFile, Upload, Uploads, UploadsOf};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::allocation::{self, Configuration};
use crate::audit::{self, Act, Actor, Object, Verb};
use crate::changes::Document as _;
use crate::clock::Clock;
use crate::ledger::{
    self, Decision, Import, LoadedAgain, LookIn, Originals, Progress, Report, Source, Status, WhenUnsure,
};
use crate::telemetry::{self, ImportUsage};

/// How often a waiting worker looks, should a call to wake it have gone astray.
const POLL: Duration = Duration::from_secs(2);
/// How often a running job says how far it is.
const REPORT_EVERY: Duration = Duration::from_millis(400);
/// A job that broke off this often is not started again by itself: the machine, not the moment, is the reason.
const ATTEMPTS: i32 = 3;
/// Imports at a time, so that a small file need not wait for a large one.
const WORKERS: usize = 2;

/// A file that waits in the data directory to be imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incoming {
    pub name: String,
    pub path: PathBuf,
}

impl Incoming {
    fn source(&self) -> Source {
        Source::new(&self.name, &self.path)
    }
}

/// Wakes the worker of this process when there is something to do.
#[derive(Clone, Debug, Default)]
pub struct Notifier(Arc<Notify>);

impl Notifier {
    pub fn notify(&self) {
        self.0.notify_one();
    }
}

/// What became of the wish to load the rows of an archived import again.
#[derive(Debug, PartialEq, Eq)]
pub enum Reloading {
    /// The job does it, perhaps for somebody who asked before.
    Queued(Uuid),
    /// It has its rows.
    NotArchived,
    /// The first of its files that is needed for it and was removed.
    FileRemoved(String),
}

/// Puts the loading of an archived import's rows in the queue, unless it waits there already. The caller notifies the worker.
pub async fn reload(db: &mut PgConnection, delivery_id: i64, act: Act<'_>) -> sqlx::Result<Reloading> {
    let archived = sqlx::query_scalar!(
        "select delivery_id from deliveries where delivery_id = $1 and archived_at is not null for update",
        delivery_id,
    )
    .fetch_optional(&mut *db)
    .await?;
    if archived.is_none() {
        return Ok(Reloading::NotArchived);
    }
    let waiting = sqlx::query_scalar!(
        "select batch_id from jobs where reloads = $1 and status in ('queued', 'running')",
        delivery_id,
    )
    .fetch_optional(&mut *db)
    .await?;
    if let Some(batch_id) = waiting {
        return Ok(Reloading::Queued(batch_id));
    }
    let removed = sqlx::query_scalar!(
        "select name
         from delivery_files f
         where delivery_id = $1 and sha256 is not null
           and not exists (select from originals o where o.sha256 = f.sha256)
         order by file_no
         limit 1",
        delivery_id,
    )
    .fetch_optional(&mut *db)
    .await?;
    if let Some(name) = removed {
        return Ok(Reloading::FileRemoved(name));
    }
    let batch_id = sqlx::query_scalar!(
        r#"insert into jobs (batch_id, files, total_bytes, reloads, created_at, created_by)
           select gen_random_uuid(),
               coalesce(jsonb_agg(jsonb_build_object('name', f.name, 'path', '') order by f.file_no), '[]'),
               coalesce(sum(o.content_bytes), 0)::bigint, $1, $2, $3
           from delivery_files f
           left join originals o using (sha256)
           where f.delivery_id = $1
           returning batch_id"#,
        delivery_id,
        act.at,
        act.by.name,
    )
    .fetch_one(&mut *db)
    .await?;
    let (verb, object) = (Verb::DeliveryLoadedAgain, Object::Delivery(delivery_id));
    audit::record(db, act, verb, &object, json!(null)).await?;
    Ok(Reloading::Queued(batch_id))
}

/// What became of the wish to cancel.
#[derive(Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// It had not begun, or had broken off.
    Now(Leftover),
    /// It is running and stops at the next rows.
    Soon,
    /// It had ended before.
    TooLate,
}

/// Files of a job that nobody works on any more.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the caller removes them once its transaction is committed"]
pub struct Leftover(Vec<Incoming>);

impl Leftover {
    /// After the commit, and not before: a job that stays in the queue needs its files. What is not removed because the
    /// process ends here, the next one sweeps.
    pub fn remove(self) {
        remove_incoming(&self.0);
    }
}

/// Cancels what waits, runs or has failed. Nothing of it is active; the caller removes its files.
pub async fn cancel(
    db: &mut PgConnection,
    batch_id: Uuid,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Cancelled> {
    let cancelled = sqlx::query!(
        r#"update jobs
           set cancelled_by = coalesce(cancelled_by, $2),
               status = case when status = 'running' then status else 'cancelled' end,
               finished_at = case when status = 'running' then finished_at else $3::timestamptz end
           where batch_id = $1 and status in ('queued', 'running', 'failed')
           returning status, files as "files: Json<Vec<Incoming>>""#,
        batch_id,
        by,
        now,
    )
    .fetch_optional(db)
    .await?;
    Ok(match cancelled {
        None => Cancelled::TooLate,
        Some(job) if job.status == "running" => Cancelled::Soon,
        Some(job) => Cancelled::Now(Leftover(job.files.0)),
    })
}

/// Puts what failed in the queue again, with the files that were kept. False where it had not failed. The caller
/// notifies the worker.
pub async fn retry(db: &mut PgConnection, batch_id: Uuid) -> sqlx::Result<bool> {
    let retried = sqlx::query!(
        "update jobs
         set status = 'queued', attempts = 0, rows_read = 0, bytes_read = 0, message = null, result = null,
             started_at = null, finished_at = null
         where batch_id = $1 and status = 'failed'",
        batch_id,
    )
    .execute(db)
    .await?;
    Ok(retried.rows_affected() == 1)
}

/// Works until it is dropped.
pub async fn work(pool: PgPool, originals: Originals, notifier: Notifier, clock: Clock) {
    let mut workers = JoinSet::new();
    for _ in 0..WORKERS {
        workers.spawn(work_alone(pool.clone(), originals.clone(), notifier.clone(), clock));
    }
    workers.join_all().await;
}

/// Errors of the database are logged and waited out.
async fn work_alone(pool: PgPool, originals: Originals, notifier: Notifier, clock: Clock) {
    loop {
        match run_next(&pool, &originals, clock).await {
            Ok(true) => {}
            Ok(false) => {
                let _ = tokio::time::timeout(POLL, notifier.0.notified()).await;
            }
            Err(error) => {
                tracing::error!(%error, "a job could not be run; trying again");
                tokio::time::sleep(POLL).await;
            }
        }
    }
}

/// Runs everything that waits, then returns: for tests and for a graceful stop.
pub async fn run_pending(pool: &PgPool, originals: &Originals, clock: Clock) -> sqlx::Result<()> {
    while run_next(pool, originals, clock).await? {}
    Ok(())
}

struct Claimed {
    job_id: i64,
    batch_id: Uuid,
    files: Vec<Incoming>,
    decision: Option<Decision>,
    /// The archived delivery whose rows are loaded again, instead of files that arrived.
    reloads: Option<i64>,
    /// What reads the files, where somebody said so.
    mapping: Option<String>,
    /// Their sender looks at them before they are published.
    is_reviewed: bool,
    by: String,
    submitted_at: DateTime<Utc>,
}

/// False when nothing waits.
async fn run_next(pool: &PgPool, originals: &Originals, clock: Clock) -> sqlx::Result<bool> {
    let mut db = pool.acquire().await?;
    let ran = run_next_on(pool, &mut db, originals, clock).await;
    if ran.is_err() {
        // Ends the session and with it the lock, so that the job is taken up again.
        let _ = db.close().await;
    }
    ran
}

async fn run_next_on(
    pool: &PgPool,
    db: &mut PgConnection,
    originals: &Originals,
    clock: Clock,
) -> sqlx::Result<bool> {
    let Some(job) = claim(db, clock.now()).await? else {
        return Ok(reprice::next(pool, db, originals, clock.now()).await?
            || adjust::next(pool, db, originals, clock.now()).await?
            || divide::next(pool, db, originals, clock.now()).await?);
    };
    let progress = Progress::default();
    // Stops with this function, however that ends.
    let mut reporting = JoinSet::new();
    reporting.spawn(report_progress(pool.clone(), job.job_id, progress.clone()));
    let outcome = match job.reloads {
        Some(delivery) => reload_rows(pool, originals, delivery, &job.files, &progress, clock.now()).await,
        None => import(pool, db, originals, &job, &progress, clock.now()).await,
    };
    reporting.abort_all();
    let reports = outcome?;
    let ended = finish(db, &job, &reports, &progress, clock.now()).await?;
    lock::unlock(db, job.job_id).await?;
    if ended != Ended::Failed {
        remove_incoming(&job.files);
    }
    Ok(true)
}

async fn import(
    pool: &PgPool,
    db: &mut PgConnection,
    originals: &Originals,
    job: &Claimed,
    progress: &Progress,
    now: DateTime<Utc>,
) -> sqlx::Result<Vec<Report>> {
    let named = telemetry::column_names(&mut *db).await?;
    let files = job.files.iter().map(Incoming::source).collect();
    let (usage, bills) = telemetry::usage_among(files, &named).await;
    let by = Actor::on_behalf_of(&job.by);
    let importing = ImportUsage { source: None, zone: None, batch_id: job.batch_id, act: by.at(now) };
    let mut reports = importing.all(pool, originals, usage).await;
    if bills.is_empty() {
        return Ok(reports);
    }
    let deliveries = ledger::gather(bills, LookIn::Given);
    let import = Import {
        deliveries,
        read_as: ledger::read_as(&mut *db, job.mapping.as_deref()).await?,
        labels: allocation::label_keys(&mut *db).await?,
        decision: job.decision,
        // Only months of our own clusters come with a decision, and what changed them is in the asset register.
        reason: job.decision.map(|_| "Published from the asset register."),
        when_unsure: if job.is_reviewed { WhenUnsure::Review } else { WhenUnsure::Wait },
        batch_id: job.batch_id,
        by: &job.by,
        submitted_at: job.submitted_at,
        now,
        progress: progress.clone(),
    };
    reports.extend(ledger::import(pool, originals, import).await.map_err(|interrupted| interrupted.error)?);
    if reports.iter().any(|report| report.status == Status::Waiting)
        && let Err(error) = attribute_waiting(db).await
    {
        tracing::warn!(%error, "whose the charges of waiting imports are was not written down; their pages do so");
    }
    Ok(reports)
}

/// Writes down whose each charge of the imports that wait is, so that the pages on which somebody decides about them need not.
async fn attribute_waiting(db: &mut PgConnection) -> sqlx::Result<()> {
    let sequence = ledger::sequence(&mut *db).await?;
    let configuration = Configuration::as_of(&mut *db, sequence).await?;
    allocation::cover_waiting(db, &configuration).await
}

/// Loads the rows of an archived delivery again, and reports it as an import does.
async fn reload_rows(
    pool: &PgPool,
    originals: &Originals,
    delivery: i64,
    files: &[Incoming],
    progress: &Progress,
    now: DateTime<Utc>,
) -> sqlx::Result<Vec<Report>> {
    // Files that are kept have only their names here.
    let uploaded = files.iter().filter(|file| !file.path.as_os_str().is_empty());
    let uploaded: Vec<Source> = uploaded.map(Incoming::source).collect();
    let reload =
        ledger::Reload { pool, originals, delivery_id: delivery, uploaded: &uploaded, progress, now };
    let loaded = reload.run().await?;
    let (status, message) = match loaded {
        LoadedAgain::Done => (Status::Loaded, Some("its rows are back".to_owned())),
        LoadedAgain::Already => (Status::Loaded, Some("its rows were there".to_owned())),
        LoadedAgain::Failed(_) if progress.cancelled_by().is_some() => (Status::Cancelled, None),
        LoadedAgain::Failed(message) => (Status::Refused, Some(message)),
    };
    Ok(vec![Report {
        files: Vec::new(),
        format: None,
        delivery: Some(delivery),
        status,
        scopes: Vec::new(),
        rows_read: progress.rows(),
        charges: 0,
        further_charges: 0,
        rejected: 0,
        skipped: 0,
        rejections: Vec::new(),
        message,
        usage: None,
    }])
}

/// The oldest job that waits, or whose worker is gone; marked as running and locked by this session.
async fn claim(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Option<Claimed>> {
    let candidates = sqlx::query!(
        r#"select job_id, batch_id, files as "files: Json<Vec<Incoming>>", decision, reloads, mapping, is_reviewed,
               created_by, created_at, attempts
           from jobs where status in ('queued', 'running') order by job_id"#
    )
    .fetch_all(&mut *db)
    .await?;
    for candidate in candidates {
        if !lock::try_lock(db, candidate.job_id).await? {
            continue;
        }
        let is_hopeless = candidate.attempts >= ATTEMPTS;
        let message =
            format!("The import was interrupted {ATTEMPTS} times; nothing was imported. The upload is kept.");
        let claimed = sqlx::query!(
            "update jobs
             set status = case when cancelled_by is not null then 'cancelled' when $3 then 'failed' else 'running' end,
                 message = case when $3 then $4 end,
                 finished_at = case when $3 or cancelled_by is not null then $2::timestamptz end,
                 started_at = $2, attempts = attempts + 1, rows_read = 0, bytes_read = 0
             where job_id = $1 and status in ('queued', 'running')
             returning status",
            candidate.job_id,
            now,
            is_hopeless,
            message,
        )
        .fetch_optional(&mut *db)
        .await?;
        match claimed.as_ref().map(|job| job.status.as_str()) {
            Some("running") => {
                return Ok(Some(Claimed {
                    job_id: candidate.job_id,
                    batch_id: candidate.batch_id,
                    files: candidate.files.0,
                    decision: candidate.decision.as_deref().and_then(|word| word.parse().ok()),
                    reloads: candidate.reloads,
                    mapping: candidate.mapping,
                    is_reviewed: candidate.is_reviewed,
                    by: candidate.created_by,
                    submitted_at: candidate.created_at,
                }));
            }
            // It was cancelled while nobody worked on it.
            Some("cancelled") => remove_incoming(&candidate.files),
            _ => {}
        }
        lock::unlock(db, candidate.job_id).await?;
    }
    Ok(None)
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Done,
    /// The machine failed; the files are kept.
    Failed,
    Cancelled,
}

async fn finish(
    db: &mut PgConnection,
    job: &Claimed,
    reports: &[Report],
    progress: &Progress,
    now: DateTime<Utc>,
) -> sqlx::Result<Ended> {
    let any = |status: Status| reports.iter().any(|report| report.status == status);
    let (ended, status, message) = if any(Status::Cancelled) {
        (Ended::Cancelled, "cancelled", None)
    } else if any(Status::Failed) {
        let message = "The machine failed, not the file. The upload is kept: try again once that is fixed.";
        (Ended::Failed, "failed", Some(message))
    } else {
        (Ended::Done, "done", None)
    };
    sqlx::query!(
        "update jobs
         set status = $2, message = $3, result = $4, rows_read = $5, bytes_read = $6, finished_at = $7
         where job_id = $1",
        job.job_id,
        status,
        message,
        Json(reports) as _,
        progress.rows() as i64,
        progress.bytes() as i64,
        now,
    )
    .execute(db)
    .await?;
    Ok(ended)
}

/// Writes down how far a job is, and hears whether it should stop, until aborted.
async fn report_progress(pool: PgPool, job_id: i64, progress: Progress) {
    loop {
        tokio::time::sleep(REPORT_EVERY).await;
        let described = sqlx::query_scalar!(
            "update jobs set rows_read = $2, bytes_read = $3 where job_id = $1 returning cancelled_by",
            job_id,
            progress.rows() as i64,
            progress.bytes() as i64,
        )
        .fetch_one(&pool)
        .await;
        match described {
            Ok(Some(by)) => progress.cancel(&by),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, job_id, "progress was not written"),
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
