//! Reads some hours of a server: all of what it says of them is written down with how far it was read, or nothing is.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Seek as _};
use std::ops::Range;
use std::path::Path;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use super::ask::{Endpoint, Failure};
use super::series::{METRICS, read_within};
use super::servers::Server;
use super::window;
use crate::audit::{self, Actor, Object, Verb};
use crate::ledger;
use crate::telemetry::Format;
use crate::telemetry::hours::HOURS;
use crate::telemetry::import::LOCK;
use crate::telemetry::metered::Metered;
use crate::telemetry::meters::Meters;
use crate::telemetry::reading::{Item, Remark};
use crate::telemetry::resolve;
use crate::telemetry::store::{self, Names};
use crate::telemetry::store_meters;
use crate::telemetry::used_days::Changes;

/// After a server could not be read.
const RETRY: TimeDelta = TimeDelta::minutes(5);

/// What became of asking a server for its next hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// They were read. There may be more.
    Hours,
    /// They were too many at once: fewer are asked for next.
    Fewer,
    /// It could not be read, which is noted with the reason.
    Failed,
    /// None are over yet.
    Nothing,
}

/// Asks a server for the next hours that were not read. `endpoint`: how, or why it cannot be asked.
///
/// # Errors
/// The database's.
pub async fn fetch(
    db: &mut PgConnection,
    server: &Server,
    endpoint: Result<Endpoint, String>,
    scratch: &Path,
    now: DateTime<Utc>,
) -> sqlx::Result<Fetched> {
    let Some(hours) = window::next(server.read_until, server.window_hours, now) else {
        return Ok(Fetched::Nothing);
    };
    let said = match endpoint {
        Ok(endpoint) => ask(&endpoint, &hours, scratch).await,
        Err(problem) => Err(Failure::Other(problem)),
    };
    let failure = match said {
        Ok(said) => {
            write(db, server, &hours, said, now).await?;
            return Ok(Fetched::Hours);
        }
        Err(failure) => failure,
    };
    if let (Failure::TooMuch(_), Some(fewer)) = (&failure, window::shorter(&hours)) {
        ask_for_fewer(db, server.server_id, fewer).await?;
        return Ok(Fetched::Fewer);
    }
    tracing::warn!(server = server.name, problem = failure.sentence(), "a Prometheus could not be read");
    note_problem(db, server.server_id, failure.sentence(), now).await?;
    Ok(Fetched::Failed)
}

/// What a server says of some hours.
struct Said {
    metered: Vec<Metered>,
    series: i64,
    /// Series that could not be read, and why one of them.
    rejected: i64,
    rejection: Option<String>,
    skipped: i64,
    remarks: BTreeSet<Remark>,
}

async fn ask(endpoint: &Endpoint, hours: &Range<DateTime<Utc>>, scratch: &Path) -> Result<Said, Failure> {
    let failed = |error: std::io::Error| Failure::Other(format!("the answer cannot be kept: {error}"));
    let mut reading = Reading::default();
    for metric in METRICS {
        // Without a name, so that nothing of it stays and nobody takes it for what is left of an import.
        let mut file = tempfile::tempfile_in(scratch).map_err(failed)?;
        endpoint.series(metric, hours, file.try_clone().map_err(failed)?).await?;
        file.rewind().map_err(failed)?;
        let within = hours.start.timestamp_millis()..hours.end.timestamp_millis();
        let read = tokio::task::spawn_blocking(move || reading.read(file, &within).map(|()| reading));
        reading = read.await.map_err(|_| Failure::Other("its answer could not be read".to_owned()))??;
    }
    Ok(reading.end())
}

/// What is read of several answers.
#[derive(Default)]
struct Reading {
    meters: Meters,
    series: i64,
    rejected: i64,
    rejection: Option<String>,
    skipped: i64,
    remarks: BTreeSet<Remark>,
}

impl Reading {
    fn read(&mut self, file: File, hours: &Range<i64>) -> Result<(), Failure> {
        let mut are_too_many = false;
        let warnings = read_within(BufReader::new(file), Some(hours), &mut |item| match item {
            Item::Sample => self.series += 1,
            Item::Metered(metered) => are_too_many = are_too_many || self.meters.add(*metered),
            Item::Rejected(rejection) => {
                self.rejected += 1;
                self.rejection.get_or_insert(rejection.found);
            }
            Item::Remark(remark) => _ = self.remarks.insert(remark),
            Item::Skipped(_) | Item::Job(_) | Item::UnreadColumn(_) => self.skipped += 1,
        });
        // One that asks several stores warns where one of them did not answer: what is missing is not idle.
        match warnings.map_err(|refusal| Failure::Other(format!("its answer is {}", refusal.found)))?.first() {
            Some(warning) => Err(Failure::Other(format!("its answer is not whole: {warning}"))),
            None if are_too_many => Err(Failure::TooMuch(
                "there are more GPUs, and pods that held them, than are read at once: narrow the label matchers".to_owned(),
            )),
            None => Ok(()),
        }
    }

    fn end(mut self) -> Said {
        Said {
            metered: self.meters.take(),
            series: self.series,
            rejected: self.rejected,
            rejection: self.rejection,
            skipped: self.skipped,
            remarks: self.remarks,
        }
    }
}

async fn write(
    db: &mut PgConnection,
    server: &Server,
    hours: &Range<DateTime<Utc>>,
    said: Said,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    sqlx::query!("select pg_advisory_xact_lock($1)", LOCK).execute(&mut *tx).await?;
    let read = sqlx::query!(
        "update prometheus_servers
         set read_until = $3, window_hours = $4, problem = null, failing_since = null, retry_at = null,
             seen_until = case when $5 then greatest(seen_until, $3) else seen_until end
         where server_id = $1 and read_until = $2 and removed_at is null and address = $6 and matchers = $7",
        server.server_id,
        hours.start,
        hours.end,
        window::longer(server.window_hours),
        !said.metered.is_empty(),
        server.address,
        server.matchers,
    )
    .execute(&mut *tx)
    .await?;
    // Somebody changed what it is asked and from when on, or removed it, while it was asked.
    if read.rows_affected() == 0 {
        return Ok(());
    }
    let day = hours.start.date_naive();
    let known = import_of(&mut tx, server.server_id, day).await?;
    if said.metered.is_empty() && said.rejected == 0 && known.is_none() {
        return tx.commit().await;
    }
    let by = Actor::server();
    let act = by.at(now);
    let import_id = match known {
        Some(import_id) => import_id,
        None => begin_import(&mut tx, server, day, now).await?,
    };
    // What is said of an hour anew takes the place of what was said of it, maybe of other nodes. What a server has no more stays.
    let mut days = resolve::days_of(&mut tx, import_id).await?;
    forget(&mut tx, import_id, &hours_seen(&said)).await?;
    let mut names = Names::of_further_hours(Format::Prometheus.kind(), &server.name, Tz::UTC);
    names.write_metered(&mut tx, import_id, &said.metered, act).await?;
    days.extend(resolve::days_of(&mut tx, import_id).await?);
    add_counts(&mut tx, import_id, hours, &said).await?;
    let mut changes = Changes::begin(&mut tx).await?;
    resolve::find_changes(&mut tx, days, &mut changes).await?;
    let sequence = ledger::begin_version(&mut tx).await?;
    sqlx::query!(
        "update usage_imports
         set from_sequence = coalesce(from_sequence, $2), grown_sequence = $2
         where import_id = $1",
        import_id,
        sequence,
    )
    .execute(&mut *tx)
    .await?;
    changes.publish(&mut tx, sequence).await?;
    ledger::end_version(&mut tx, sequence, None, "usage", &act.by.name, now).await?;
    if known.is_none() {
        let details = json!({ "server": server.name, "day": day });
        audit::record(&mut tx, act, Verb::UsageImported, &Object::Usage(import_id), details).await?;
    }
    tx.commit().await
}

async fn import_of(db: &mut PgConnection, server_id: i64, day: NaiveDate) -> sqlx::Result<Option<i64>> {
    sqlx::query_scalar!(
        "select import_id from usage_imports where server_id = $1 and day = $2 and status = 'active'",
        server_id,
        day,
    )
    .fetch_optional(db)
    .await
}

async fn begin_import(
    db: &mut PgConnection,
    server: &Server,
    day: NaiveDate,
    now: DateTime<Utc>,
) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        "insert into usage_imports (
             batch_id, format, file_name, status, imported_at, imported_by, server_id, day
         )
         values ($1, $2, $3, 'active', $4, $5, $6, $7)
         returning import_id",
        Uuid::new_v4(),
        Format::Prometheus.as_str(),
        format!("{}, {day}", server.name),
        now,
        Actor::server().name,
        server.server_id,
        day,
    )
    .fetch_one(db)
    .await
}

/// The hours of the day of which it is said that something was there.
fn hours_seen(said: &Said) -> Vec<i32> {
    let days = || said.metered.iter().flat_map(|it| it.days.values());
    (0..)
        .zip(0..HOURS)
        .filter(|(_, hour)| days().any(|day| day.present[*hour] > 0))
        .map(|(hour, _)| hour)
        .collect()
}

/// Takes back what an import says of these hours. Of what is kept by the day alone, the part of the other hours stays.
async fn forget(db: &mut PgConnection, import_id: i64, hours: &[i32]) -> sqlx::Result<()> {
    let is_all = hours.len() == HOURS;
    sqlx::query!(
        "update meter_days
         set present = outside(present, $2), measured = outside(measured, $2), busy = outside(busy, $2),
             tensor_measured = outside(tensor_measured, $2), tensor = outside(tensor, $2),
             memory_mib_seconds = (memory_mib_seconds * part.kept)::bigint,
             memory_seconds = (memory_seconds * part.kept)::bigint, joules = (joules * part.kept)::bigint
         from (
             select import_id, day, node_id, device, slice, job_no,
                 coalesce(
                     (select sum(a)::numeric from unnest(outside(present, $2)) a)
                         / nullif((select sum(a) from unnest(present) a), 0),
                     0
                 ) as kept
             from meter_days
             where import_id = $1
         ) part
         where meter_days.import_id = $1 and not $3
           and (meter_days.day, meter_days.node_id, meter_days.device, meter_days.slice, meter_days.job_no)
             = (part.day, part.node_id, part.device, part.slice, part.job_no)",
        import_id,
        hours,
        is_all,
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!(
        "delete from meter_days where import_id = $1 and ($2 or 0 = all(present))",
        import_id,
        is_all,
    )
    .execute(&mut *db)
    .await?;
    if is_all {
        sqlx::query!("delete from job_descriptions where import_id = $1", import_id)
            .execute(&mut *db)
            .await?;
        sqlx::query!(
            "update usage_imports
             set rows_read = 0, samples = 0, rejected = 0, skipped = 0, first_at = null, last_at = null, message = null
             where import_id = $1",
            import_id,
        )
        .execute(db)
        .await?;
    }
    Ok(())
}

async fn add_counts(
    db: &mut PgConnection,
    import_id: i64,
    hours: &Range<DateTime<Utc>>,
    said: &Said,
) -> sqlx::Result<()> {
    let rejected = said
        .rejection
        .as_ref()
        .map(|found| format!("{} series could not be read, such as one with: {found}", said.rejected));
    let remarks: Vec<&str> = said.remarks.iter().map(|it| it.sentence()).collect();
    let remarks = (!remarks.is_empty()).then(|| remarks.join("; "));
    sqlx::query!(
        "update usage_imports
         set rows_read = rows_read + $2, samples = samples + $3, rejected = rejected + $4, skipped = skipped + $5,
             first_at = least(first_at, $6), last_at = greatest(last_at, $7),
             message = case
                 when position($9 in coalesce($8, message)) > 0 then coalesce($8, message)
                 else nullif(concat_ws('; ', coalesce($8, message), $9), '')
             end
         where import_id = $1",
        import_id,
        said.series + said.rejected + said.skipped,
        said.series,
        said.rejected,
        said.skipped,
        hours.start,
        hours.end,
        rejected,
        remarks,
    )
    .execute(&mut *db)
    .await?;
    store::note_sources(&mut *db, import_id).await?;
    store_meters::count_seen_hours(db, import_id).await
}

async fn ask_for_fewer(db: &mut PgConnection, server_id: i64, hours: i32) -> sqlx::Result<()> {
    sqlx::query!("update prometheus_servers set window_hours = $2 where server_id = $1", server_id, hours)
        .execute(db)
        .await?;
    Ok(())
}

/// Notes why a server could not be read, and when that is tried again.
async fn note_problem(
    db: &mut PgConnection,
    server_id: i64,
    problem: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update prometheus_servers
         set problem = $2, failing_since = coalesce(failing_since, $3), retry_at = $4
         where server_id = $1",
        server_id,
        problem.replace('\0', "\u{fffd}"),
        now,
        now + RETRY,
    )
    .execute(db)
    .await?;
    Ok(())
}
