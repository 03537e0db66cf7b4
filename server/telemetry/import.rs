//! Writes down what files of usage say, and takes it back. Both are versions of the ledger, since they change whose costs are.
//!
//! Every import keeps what it says of a job. Of several that describe the same job the one that knows most holds: that it is over,
//! else the one that saw it longest, else the last. So windows that overlap count once, in any order, and undo is exact.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde_json::json;
use sqlx::{Connection as _, PgConnection, PgPool};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::format::{Format, recognize_file};
use super::hours::{self, NodeDay, OF_AN_HOUR};
use super::job::{Holding, Job};
use super::metered::{Device, Holder, Metered};
use super::reading::{Item, Zones};
use super::resolve;
use super::store::{self, Names};
use crate::audit::{self, Act, Object, Verb};
use crate::billing::{self, Content, Refusal, RefusalKind, Rejection};
use crate::ledger::{
    self, Originals, Report, ReportFile, ReportRejection, Sha256, Source, Status, UsageOfFile,
};
use crate::money::Decimal;

/// One import of usage at a time: each compares its jobs with those of all others.
const LOCK: i64 = 0x6770_755f_7573_6167;
/// Jobs that go to the database together.
const BATCH: usize = 2_000;
/// Rejected rows that are kept; more of them than anybody would correct are counted.
const MOST_REJECTIONS: u64 = 10_000;
/// Days of devices that are held in memory; each is less than a kilobyte.
const MOST_DAYS: usize = 60_000;
/// Rejected rows that a report shows.
const SHOWN: usize = 20;

/// How files of usage are imported, and on whose word.
#[derive(Clone, Copy, Debug)]
pub struct ImportUsage<'a> {
    /// What their cluster is called, where they do not say so themselves.
    pub source: Option<&'a str>,
    /// Where the clocks stand of a cluster that is new. Those of a known one are remembered.
    pub zone: Tz,
    pub batch_id: Uuid,
    pub act: Act<'a>,
}

/// What a file amounted to while it was read.
#[derive(Clone, Debug, Default)]
struct Counts {
    rows: u64,
    jobs: u64,
    samples: u64,
    rejected: u64,
    skipped: BTreeMap<&'static str, i64>,
    /// Accelerator-milliseconds.
    held: i128,
    without_time: u64,
    first: Option<DateTime<Utc>>,
    last: Option<DateTime<Utc>>,
    rejections: Vec<Rejection>,
}

/// The files of usage among these, with what each is; and the others, which are bills or nothing that is known.
pub async fn usage_among(files: Vec<Source>) -> (Vec<(Source, Format)>, Vec<Source>) {
    let sorted = tokio::task::spawn_blocking(move || {
        let (mut usage, mut others) = (Vec::new(), Vec::new());
        for file in files {
            // What cannot be read is said by whoever reads bills.
            match recognize_file(&file.path) {
                Ok(Some(format)) => usage.push((file, format)),
                _ => others.push(file),
            }
        }
        (usage, others)
    });
    sorted.await.unwrap_or_default()
}

impl ImportUsage<'_> {
    /// Imports files one after the other, and reports on each. One that fails holds up none of the others.
    pub async fn all(
        self,
        pool: &PgPool,
        originals: &Originals,
        files: Vec<(Source, Format)>,
    ) -> Vec<Report> {
        let mut reports = Vec::with_capacity(files.len());
        for (file, format) in files {
            reports.push(match self.one(pool, originals, &file, format).await {
                Ok(report) => report,
                Err(error) => {
                    let message = format!("nothing was imported: {error}");
                    Report::ended(std::slice::from_ref(&file), Status::Failed, None, message)
                }
            });
        }
        reports
    }

    /// Imports a file. What is wrong with it is in the report; an error is the database's, or the disk's.
    async fn one(
        self,
        pool: &PgPool,
        originals: &Originals,
        file: &Source,
        format: Format,
    ) -> anyhow::Result<Report> {
        let path = file.path.clone();
        let sha256 = tokio::task::spawn_blocking(move || ledger::hash(&path)).await??;
        let mut db = pool.acquire().await?;
        sqlx::query!("select pg_advisory_lock($1)", LOCK).execute(&mut *db).await?;
        ledger::hold_originals(&mut db).await?;
        let importing = Importing { of: self, file, format, sha256 };
        let imported = importing.run(&mut db, originals).await;
        if imported.is_err() {
            // Ends the session and with it the locks; what is unfinished counts nowhere.
            let _ = db.close().await;
            return imported;
        }
        ledger::release_originals(&mut db).await?;
        sqlx::query!("select pg_advisory_unlock($1)", LOCK).fetch_one(&mut *db).await?;
        imported
    }
}

/// A file that is imported while no other one is.
struct Importing<'a> {
    of: ImportUsage<'a>,
    file: &'a Source,
    format: Format,
    sha256: Sha256,
}

impl Importing<'_> {
    async fn run(&self, db: &mut PgConnection, originals: &Originals) -> anyhow::Result<Report> {
        let act = self.of.act;
        sweep(db).await?;
        let known = sqlx::query_scalar!(
            "select import_id from usage_imports where sha256 = $1 and status = 'active'",
            &self.sha256.0[..],
        )
        .fetch_optional(&mut *db)
        .await?;
        if let Some(known) = known {
            let message = format!("the same file as usage import {known}; nothing was imported again");
            return Ok(self.report(known, Status::Duplicate, &Counts::default(), Some(message)));
        }
        let import_id = sqlx::query_scalar!(
            "insert into usage_imports (batch_id, format, file_name, sha256, status, imported_at, imported_by)
             values ($1, $2, $3, $4, 'loading', $5, $6)
             returning import_id",
            self.of.batch_id,
            self.format.as_str(),
            self.file.name,
            &self.sha256.0[..],
            act.at,
            act.by.name,
        )
        .fetch_one(&mut *db)
        .await?;
        let kind = self.format.kind();
        let zones = Zones { by_cluster: store::zones(&mut *db, kind).await?, other: self.of.zone };
        let (path, format, originals) = (self.file.path.clone(), self.format, originals.clone());
        let (sender, mut batches) = mpsc::channel::<Batch>(2);
        let reading = Reading { path, format, zones, originals };
        let reader = tokio::task::spawn_blocking(move || reading.run(&sender));
        let mut names = Names::new(kind, self.of.source, self.of.zone);
        while let Some(batch) = batches.recv().await {
            match batch {
                Batch::Jobs(jobs) => names.write(&mut *db, import_id, &jobs, act).await?,
                Batch::Metered(metered) => names.write_metered(&mut *db, import_id, &metered, act).await?,
            }
        }
        let (counts, kept) = reader.await?;
        let (content_bytes, received_bytes) = match kept {
            Ok(kept) => kept,
            Err(refusal) => return self.refuse(db, import_id, &counts, &refusal).await,
        };
        if counts.jobs == 0 && counts.samples == 0 && counts.rejected > 0 {
            let found = format!("no row that can be read of {}", counts.rows);
            return self
                .refuse(db, import_id, &counts, &Refusal::new(found, "jobs with GPUs, or samples of GPUs"))
                .await;
        }
        let mut tx = db.begin().await?;
        sqlx::query!(
            "insert into originals (sha256, received_bytes, content_bytes, content_rows, stored_at)
             values ($1, $2, $3, $4, $5) on conflict do nothing",
            &self.sha256.0[..],
            received_bytes,
            content_bytes,
            counts.rows as i64,
            act.at,
        )
        .execute(&mut *tx)
        .await?;
        write_counts(&mut tx, import_id, &counts).await?;
        write_coverage(&mut tx, import_id).await?;
        let sequence = ledger::begin_version(&mut tx).await?;
        sqlx::query!(
            "update usage_imports set status = 'active', from_sequence = $2 where import_id = $1",
            import_id,
            sequence,
        )
        .execute(&mut *tx)
        .await?;
        republish(&mut tx, import_id, sequence).await?;
        ledger::end_version(&mut tx, sequence, None, "usage", &act.by.name, act.at).await?;
        let details = json!({ "jobs": counts.jobs, "accelerator_hours": hours_of(counts.held) });
        audit::record(&mut tx, act, Verb::UsageImported, &Object::Usage(import_id), details).await?;
        tx.commit().await?;
        Ok(self.report(import_id, Status::Loaded, &counts, counts.remark()))
    }

    async fn refuse(
        &self,
        db: &mut PgConnection,
        import_id: i64,
        counts: &Counts,
        refusal: &Refusal,
    ) -> anyhow::Result<Report> {
        let message = refusal.message();
        let mut tx = db.begin().await?;
        sqlx::query!("delete from meter_days where import_id = $1", import_id).execute(&mut *tx).await?;
        sqlx::query!("delete from job_descriptions where import_id = $1", import_id)
            .execute(&mut *tx)
            .await?;
        write_counts(&mut tx, import_id, counts).await?;
        sqlx::query!(
            "update usage_imports set status = 'refused', message = $2 where import_id = $1",
            import_id,
            message,
        )
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        let status = match refusal.kind {
            RefusalKind::Refused => Status::Refused,
            RefusalKind::Failed(_) => Status::Failed,
        };
        Ok(self.report(import_id, status, counts, Some(message)))
    }

    fn report(&self, import: i64, status: Status, counts: &Counts, message: Option<String>) -> Report {
        let name = &self.file.name;
        let shown = counts.rejections.iter().take(SHOWN).map(|it| ReportRejection {
            file: name.clone(),
            row: it.row,
            column: it.column.clone(),
            found: it.found.clone(),
            expected: it.expected.clone(),
        });
        Report {
            files: vec![ReportFile { file: name.clone(), sha256: Some(self.sha256) }],
            format: Some(self.format.as_str().to_owned()),
            delivery: None,
            status,
            scopes: Vec::new(),
            rows_read: counts.rows,
            charges: 0,
            further_charges: 0,
            rejected: counts.rejected,
            skipped: counts.skipped.values().sum::<i64>().unsigned_abs(),
            rejections: shown.collect(),
            message,
            usage: Some(UsageOfFile {
                import,
                jobs: counts.jobs,
                samples: counts.samples,
                accelerator_hours: hours_of(counts.held),
            }),
        }
    }
}

/// Accelerator-milliseconds as accelerator-hours.
pub fn hours_of(milliseconds: i128) -> Decimal {
    let hours = Decimal::new(milliseconds, 0).divide(Decimal::from(OF_AN_HOUR), HOURS_PLACES);
    hours.unwrap_or(Decimal::ZERO).normalize()
}

/// Decimals of accelerator-hours.
const HOURS_PLACES: u8 = 6;

/// Marks what broke off, and removes what it had written.
async fn sweep(db: &mut PgConnection) -> sqlx::Result<()> {
    let broken = sqlx::query_scalar!(
        "update usage_imports set status = 'refused', message = 'the import was interrupted'
         where status = 'loading' returning import_id"
    )
    .fetch_all(&mut *db)
    .await?;
    if !broken.is_empty() {
        sqlx::query!("delete from meter_days where import_id = any($1)", &broken).execute(&mut *db).await?;
        sqlx::query!("delete from job_descriptions where import_id = any($1)", &broken).execute(db).await?;
    }
    Ok(())
}

async fn write_counts(db: &mut PgConnection, import_id: i64, counts: &Counts) -> sqlx::Result<()> {
    sqlx::query!(
        "update usage_imports
         set rows_read = $2, jobs = $3, samples = $11, rejected = $4, skipped = $5, accelerator_hours = $6, jobs_without_time = $7,
             first_at = $8, last_at = $9, message = $10
         where import_id = $1",
        import_id,
        counts.rows as i64,
        counts.jobs as i64,
        counts.rejected as i64,
        counts.skipped.values().sum::<i64>(),
        hours_of(counts.held) as Decimal,
        counts.without_time as i64,
        counts.first,
        counts.last,
        counts.remark(),
        counts.samples as i64,
    )
    .execute(&mut *db)
    .await?;
    let (reasons, skipped): (Vec<String>, Vec<i64>) =
        counts.skipped.iter().map(|(reason, rows)| ((*reason).to_owned(), *rows)).unzip();
    sqlx::query!(
        "insert into usage_skips (import_id, reason, row_count)
         select $1, * from unnest($2::text[], $3::bigint[])",
        import_id,
        &reasons,
        &skipped,
    )
    .execute(&mut *db)
    .await?;
    let rejections = &counts.rejections;
    sqlx::query!(
        "insert into usage_rejections (import_id, row_no, column_name, found, expected)
         select $1, * from unnest($2::bigint[], $3::text[], $4::text[], $5::text[])",
        import_id,
        &rejections.iter().map(|it| it.row as i64).collect::<Vec<_>>(),
        &rejections.iter().map(|it| it.column.clone()).collect::<Vec<_>>(),
        &rejections.iter().map(|it| without_nul(&it.found)).collect::<Vec<_>>(),
        &rejections.iter().map(|it| it.expected.clone()).collect::<Vec<_>>(),
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Of which time an export says everything: it has every job that ran in its window, so it begins no later than the first of them
/// ended, and ends no earlier than the last.
async fn write_coverage(db: &mut PgConnection, import_id: i64) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into usage_coverage (import_id, source_id, begins_at, ends_at)
         select $1, j.source_id, min(d.held_until), max(d.held_until)
         from job_descriptions d
         join jobs_seen j using (job_no)
         where d.import_id = $1 and d.held_until is not null and not d.is_metered
         group by 2",
        import_id,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// PostgreSQL takes no text with that character.
pub(super) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// What the reading thread needs.
struct Reading {
    path: PathBuf,
    format: Format,
    zones: Zones,
    originals: Originals,
}

/// The sizes of a file that was read to its end and kept: of its content, and as it arrived.
type Kept = Result<(i64, i64), Refusal>;

impl Reading {
    fn run(self, batches: &mpsc::Sender<Batch>) -> (Counts, Kept) {
        let mut counts = Counts::default();
        let kept = self.read(&mut counts, batches);
        (counts, kept)
    }

    fn read(self, counts: &mut Counts, batches: &mpsc::Sender<Batch>) -> Kept {
        let failed = |error: io::Error| {
            Refusal::new(format!("that the file cannot be read or kept ({error})"), "a readable file")
                .failed(&error)
        };
        let received = std::fs::metadata(&self.path).map_err(failed)?.len();
        let Content::Text(text) = billing::unpack(File::open(&self.path).map_err(failed)?)? else {
            return Err(Refusal::new("no text", "an export of usage as text"));
        };
        let mut kept = KeepingReader { text, writer: self.originals.write().map_err(failed)?, failure: None };
        let mut batch = Vec::with_capacity(BATCH);
        let mut meters = Meters::default();
        let read = self.format.read(&mut kept, &self.zones, &mut |item| {
            counts.rows += u64::from(!matches!(item, Item::Metered(_)));
            match item {
                Item::Sample => counts.samples += 1,
                Item::Metered(metered) => {
                    counts.meter(&metered);
                    if meters.add(*metered) {
                        let _ = batches.blocking_send(Batch::Metered(meters.take()));
                    }
                }
                Item::Job(job) => {
                    counts.add(&job);
                    batch.push(*job);
                    if batch.len() == BATCH {
                        // Nobody takes them only where the import has failed.
                        let _ = batches.blocking_send(Batch::Jobs(std::mem::take(&mut batch)));
                    }
                }
                Item::Skipped(skip) => *counts.skipped.entry(skip.as_str()).or_default() += 1,
                Item::Rejected(rejection) => {
                    counts.rejected += 1;
                    if counts.rejected <= MOST_REJECTIONS {
                        counts.rejections.push(rejection);
                    }
                }
            }
        });
        read?;
        if !batch.is_empty() {
            let _ = batches.blocking_send(Batch::Jobs(batch));
        }
        for part in meters.take().chunks(BATCH) {
            let _ = batches.blocking_send(Batch::Metered(part.to_vec()));
        }
        // What stands behind the end of what was read is kept, too.
        io::copy(&mut kept, &mut io::sink()).map_err(failed)?;
        if let Some(error) = kept.failure.take() {
            return Err(failed(error));
        }
        let packed = ledger::hash(&self.path).map_err(failed)?;
        let (_, content) = kept.writer.finish(&self.originals, Some((packed, &self.path))).map_err(failed)?;
        Ok((content as i64, received as i64))
    }
}

/// Hands out a text, and keeps what it hands out.
struct KeepingReader {
    text: Box<dyn Read + Send>,
    writer: ledger::OriginalWriter,
    failure: Option<io::Error>,
}

impl Read for KeepingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(buffer)?;
        if self.failure.is_none()
            && let Err(error) = self.writer.write_all(&buffer[..read])
        {
            self.failure = Some(error);
        }
        Ok(read)
    }
}

/// What goes to the database together.
enum Batch {
    Jobs(Vec<Job>),
    Metered(Vec<Metered>),
}

/// What meters say, by device and holder, until there is much of it.
#[derive(Default)]
struct Meters {
    of: BTreeMap<(Device, Option<Holder>), Metered>,
    days: usize,
}

impl Meters {
    /// Whether it is time to hand them on.
    fn add(&mut self, metered: Metered) -> bool {
        self.days += metered.days.len();
        let of = self.of.entry((metered.device.clone(), metered.holder.clone())).or_insert_with(|| Metered {
            device: metered.device.clone(),
            holder: metered.holder.clone(),
            ..Metered::default()
        });
        of.merge(metered);
        self.days >= MOST_DAYS
    }

    fn take(&mut self) -> Vec<Metered> {
        self.days = 0;
        std::mem::take(&mut self.of).into_values().collect()
    }
}

impl Counts {
    fn meter(&mut self, metered: &Metered) {
        let time = DateTime::from_timestamp_millis;
        if let Some((Some(from), Some(until))) = metered.seen().map(|(from, until)| (time(from), time(until)))
        {
            self.first = Some(self.first.map_or(from, |first| first.min(from)));
            self.last = Some(self.last.map_or(until, |last| last.max(until)));
        }
    }

    /// What is said of jobs that were placed in no month.
    fn remark(&self) -> Option<String> {
        if self.rows == 0 {
            return Some("there is nothing in it: no row, no series".to_owned());
        }
        (self.without_time > 0).then(|| {
            format!(
                "{} of {} jobs do not say when they ran and count in no month: export Submit, Start and End, too",
                self.without_time, self.jobs
            )
        })
    }

    fn add(&mut self, job: &Job) {
        self.jobs += 1;
        self.held += i128::from(job.accelerators()) * i128::from(job.held_seconds);
        match job.held() {
            Some((begins, ends)) => {
                self.first = Some(self.first.map_or(begins, |first| first.min(begins)));
                self.last = Some(self.last.map_or(ends, |last| last.max(ends)));
            }
            None => self.without_time += 1,
        }
    }
}

/// Brings up to date what the jobs of an import held, as from a version on: those that no import describes any more held
/// nothing.
async fn republish(db: &mut PgConnection, import_id: i64, sequence: i64) -> sqlx::Result<()> {
    resolve::republish(&mut *db, import_id, sequence).await?;
    let mut after = 0;
    loop {
        let jobs = sqlx::query_scalar!(
            "select job_no from job_descriptions
             where import_id = $1 and job_no > $2 and not is_metered
             order by job_no limit $3",
            import_id,
            after,
            BATCH as i64,
        )
        .fetch_all(&mut *db)
        .await?;
        let Some(last) = jobs.last() else { return Ok(()) };
        after = *last;
        republish_jobs(&mut *db, &jobs, sequence).await?;
    }
}

async fn republish_jobs(db: &mut PgConnection, jobs: &[i64], sequence: i64) -> sqlx::Result<()> {
    let rows = sqlx::query!(
        "select distinct on (job_no) job_no, started_at, held_seconds, nodes, node_accelerators, node_utilization
         from job_descriptions
         join usage_imports i using (import_id)
         where job_no = any($1) and i.status = 'active' and not is_metered
         order by job_no, is_over desc, held_until desc nulls last, import_id desc",
        jobs,
    )
    .fetch_all(&mut *db)
    .await?;
    let mut new: Vec<(i64, i64, NodeDay)> = Vec::new();
    for row in rows {
        let holdings = row.node_accelerators.iter().zip(&row.node_utilization);
        let job = Job {
            started_at: row.started_at,
            held_seconds: row.held_seconds.unsigned_abs(),
            holdings: holdings
                .map(|(accelerators, utilization)| Holding {
                    node: String::new(),
                    accelerators: accelerators.unsigned_abs(),
                    // Less than nothing: nobody measured it.
                    utilization: u32::try_from(*utilization).ok(),
                })
                .collect(),
            ..Job::default()
        };
        for (node, days) in row.nodes.iter().zip(hours::days(&job)) {
            new.extend(days.into_iter().map(|day| (row.job_no, *node, day)));
        }
    }
    store::replace_days(db, jobs, &new, sequence).await
}

/// What undoing an import did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    Done,
    /// It was not active.
    NotActive,
}

/// Takes back what an import says. What others say of its jobs holds again.
///
/// # Errors
/// The database's.
pub async fn undo(db: &mut PgConnection, import_id: i64, act: Act<'_>) -> sqlx::Result<Undone> {
    let mut tx = db.begin().await?;
    sqlx::query!("select pg_advisory_xact_lock($1)", LOCK).execute(&mut *tx).await?;
    let sequence = ledger::begin_version(&mut tx).await?;
    let undone = sqlx::query!(
        "update usage_imports
         set status = 'undone', until_sequence = $2, undone_at = $3, undone_by = $4
         where import_id = $1 and status = 'active'",
        import_id,
        sequence,
        act.at,
        act.by.name,
    )
    .execute(&mut *tx)
    .await?;
    if undone.rows_affected() == 0 {
        return Ok(Undone::NotActive);
    }
    republish(&mut tx, import_id, sequence).await?;
    ledger::end_version(&mut tx, sequence, None, "usage", &act.by.name, act.at).await?;
    audit::record(&mut tx, act, Verb::UsageUndone, &Object::Usage(import_id), json!(null)).await?;
    tx.commit().await?;
    Ok(Undone::Done)
}
