//! Writes down what files of usage say, and takes it back. Both are versions of the ledger, since they change whose costs are.
//!
//! Every import keeps what it says of a job. Of several that describe the same job the one that knows most holds: that it is over,
//! else the one that saw it longest, else the last. So windows that overlap count once, in any order, and undo is exact.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use chrono_tz::Tz;
use serde_json::json;
use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, PgConnection, PgPool, Postgres};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::columns::ColumnNames;
use super::contradictions::contradictions;
use super::format::{Format, recognize_file};
use super::hours::hours_of;
use super::publish::find_changes;
use super::read::has_local_times;
use super::read_file::{Batch, Counts, Reading};
use super::reading::Zones;
use super::store::{self, Names, UNNAMED};
use super::store_meters;
use super::usage_mappings::column_names;
use crate::audit::{self, Act, Object, Verb};
use crate::billing::{Refusal, RefusalKind};
use crate::ledger::{
    self, Originals, Report, ReportFile, ReportRejection, Sha256, Source, Status, UsageOfFile,
};
use crate::money::Decimal;

/// One import of usage at a time: each compares its jobs with those of all others.
pub const LOCK: i64 = 0x6770_755f_7573_6167;
/// Held by everybody who imports files of usage, until the last of them: machines are divided by all of them at once.
const BATCHES: i64 = 0x6770_755f_7573_6162;
/// Rejected rows that a report shows.
const SHOWN: usize = 20;

/// How files of usage are imported, and on whose word.
#[derive(Clone, Copy, Debug)]
pub struct ImportUsage<'a> {
    /// What their cluster is called, where they do not say so themselves.
    pub source: Option<&'a str>,
    /// Where the clocks stand of a cluster that is new; UTC, where nobody says so. Those of a known one are remembered.
    pub zone: Option<Tz>,
    pub batch_id: Uuid,
    pub act: Act<'a>,
}

/// The files of usage among these, with what each is; and the others, which are bills or nothing that is known.
pub async fn usage_among(files: Vec<Source>, named: &[ColumnNames]) -> (Vec<(Source, Format)>, Vec<Source>) {
    let (all, named) = (files.clone(), named.to_vec());
    let sorted = tokio::task::spawn_blocking(move || {
        let (mut usage, mut others) = (Vec::new(), Vec::new());
        for file in files {
            // What cannot be read is said by whoever reads bills.
            match recognize_file(&file.path, &named) {
                Ok(Some(format)) => usage.push((file, format)),
                _ => others.push(file),
            }
        }
        (usage, others)
    });
    sorted.await.unwrap_or_else(|error| {
        tracing::error!(%error, "files of usage could not be told from bills");
        (Vec::new(), all)
    })
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
        // Without it the same is divided more often.
        let batch = if files.len() > 1 { hold_batch(pool).await.ok() } else { None };
        for (file, format) in files {
            reports.push(match self.one(pool, originals, &file, format).await {
                Ok(report) => report,
                Err(error) => {
                    let message = format!("nothing was imported: {error}");
                    Report::ended(std::slice::from_ref(&file), Status::Failed, None, message)
                }
            });
        }
        if let Some(batch) = batch {
            // Ends the session and with it the lock.
            let _ = batch.close().await;
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
        let by_cluster = store::zones(&mut *db, kind).await?;
        let new = self.of.zone.unwrap_or(Tz::UTC);
        // A cluster that its exports do not name is known by what it is called here.
        let unnamed = by_cluster.get(self.of.source.unwrap_or(UNNAMED)).copied().unwrap_or(new);
        let zones = Zones { by_cluster: by_cluster.clone(), unnamed, new };
        let (path, format, originals) = (self.file.path.clone(), self.format, originals.clone());
        let (sender, mut batches) = mpsc::channel::<Batch>(2);
        // A day more: of times without an offset nobody knows better.
        let latest = act.at + TimeDelta::days(1);
        let said = column_names(&mut *db).await?;
        let reading = Reading { path, sha256: self.sha256, format, zones, said, originals, latest };
        let reader = tokio::task::spawn_blocking(move || reading.run(&sender));
        let mut names = Names::new(kind, self.of.source, new);
        while let Some(batch) = batches.recv().await {
            match batch {
                Batch::Jobs(jobs) => names.write(&mut *db, import_id, &jobs, act).await?,
                Batch::Metered(metered) => names.write_metered(&mut *db, import_id, &metered, act).await?,
            }
        }
        let (counts, kept) = reader.await?;
        let kept = match kept {
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
        ledger::note_original(&mut tx, &kept, counts.rows, act.at).await?;
        write_counts(&mut tx, import_id, &counts).await?;
        write_coverage(&mut tx, import_id).await?;
        store::note_sources(&mut tx, import_id).await?;
        if counts.samples > 0 {
            store_meters::count_seen_hours(&mut tx, import_id).await?;
        }
        sqlx::query!("update usage_imports set status = 'active' where import_id = $1", import_id)
            .execute(&mut *tx)
            .await?;
        let message = self.message(&mut tx, import_id, &counts, (&names, &by_cluster)).await?;
        let changes = find_changes(&mut tx, import_id).await?;
        let sequence = ledger::begin_version(&mut tx).await?;
        sqlx::query!("update usage_imports set from_sequence = $2 where import_id = $1", import_id, sequence)
            .execute(&mut *tx)
            .await?;
        changes.publish(&mut tx, sequence).await?;
        ledger::end_version(&mut tx, sequence, None, "usage", &act.by.name, act.at).await?;
        let details = json!({ "jobs": counts.jobs, "accelerator_hours": hours_of(counts.held) });
        audit::record(&mut tx, act, Verb::UsageImported, &Object::Usage(import_id), details).await?;
        tx.commit().await?;
        Ok(self.report(import_id, Status::Loaded, &counts, message))
    }

    /// Writes down what is to be said of an import beside its counts.
    async fn message(
        &self,
        db: &mut PgConnection,
        import_id: i64,
        counts: &Counts,
        (names, by_cluster): (&Names, &BTreeMap<String, Tz>),
    ) -> sqlx::Result<Option<String>> {
        let mut sentences: Vec<String> = counts.remark().into_iter().collect();
        sentences.extend(self.unused_zone(names, by_cluster));
        sentences.extend(contradictions(&mut *db, import_id, (counts.first, counts.last)).await?);
        let message = Some(sentences.join("; ")).filter(|it| !it.is_empty());
        sqlx::query!("update usage_imports set message = $2 where import_id = $1", import_id, message)
            .execute(db)
            .await?;
        Ok(message)
    }

    /// Says that a time zone was not used, because those of known clusters are remembered.
    fn unused_zone(&self, names: &Names, by_cluster: &BTreeMap<String, Tz>) -> Option<String> {
        let said = self.of.zone.filter(|_| has_local_times(self.format.kind()))?;
        let mut known: Vec<String> = names
            .sources()
            .filter_map(|name| Some((name, by_cluster.get(name).filter(|zone| **zone != said)?)))
            .map(|(name, zone)| format!("{name} uses {zone}"))
            .collect();
        known.sort_unstable();
        (!known.is_empty()).then(|| {
            format!(
                "time zone {said} was ignored: {}. Change it under Usage data, undo this import and import again",
                known.join(", ")
            )
        })
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

/// Says that several files are being imported, as long as the session lasts.
async fn hold_batch(pool: &PgPool) -> sqlx::Result<PoolConnection<Postgres>> {
    let mut db = pool.acquire().await?;
    sqlx::query!("select pg_advisory_lock_shared($1)", BATCHES).execute(&mut *db).await?;
    Ok(db)
}

/// Whether somebody imports several files of usage, and is not done yet.
pub async fn is_importing(db: &mut PgConnection) -> sqlx::Result<bool> {
    let is_free = sqlx::query_scalar!(r#"select pg_try_advisory_xact_lock($1) as "is_free!""#, BATCHES);
    Ok(!is_free.fetch_one(db).await?)
}

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
/// ended, and ends no earlier than the last. Of one with rows that could not be read, or jobs without a time, there is no such time: what
/// no other job held, one of these may have.
async fn write_coverage(db: &mut PgConnection, import_id: i64) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into usage_coverage (import_id, source_id, begins_at, ends_at)
         select $1, j.source_id, min(d.held_until), max(d.held_until)
         from job_descriptions d
         join jobs_seen j using (job_no)
         join usage_imports i using (import_id)
         where d.import_id = $1 and d.held_until is not null and not d.is_metered
           and i.rejected = 0 and i.jobs_without_time = 0
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
