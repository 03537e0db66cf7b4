//! Pricing again what arrived without cost, after a change of the rate cards: the kept files of an import are read once more with the
//! rates of now, as a delivery that takes the place of the one before
//! ([why](../../docs/decisions/changed-rates-are-a-new-version-of-the-imports-they-price.md)).

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::catalog::{catalog_of_version, catalog_revision};
use super::decision::Decision;
use super::delivery::{self, Ended};
use super::group_files::Bundle;
use super::import::{Import, WhenUnsure, load_under};
use super::import_report::Status;
use super::loaded::{Kept, Source};
use super::mappings::read_as_of;
use super::original::{Originals, Sha256};
use super::orphans::remove_after_failure;
use super::own_table;
use super::progress::Progress;
use super::publish::{self, Published};
use super::rates::{VersionedRates, rates, rates_as_of};
use super::usage_without_cost::{Which, usage_without_cost};
use crate::accelerator::version_of;
use crate::rating::{Rates, is_priced_alike};

/// After what the machine failed at.
const RETRY: TimeDelta = TimeDelta::minutes(5);

/// What became of an import.
#[derive(Debug, PartialEq, Eq)]
pub enum Repriced {
    /// This delivery stands for it now, from this version of the ledger on.
    As { delivery: i64, sequence: i64 },
    /// All of its usage costs what it cost.
    Unchanged,
    /// It stays as it is; why, for people.
    Problem(String),
    /// The machine failed; it is tried again.
    Failed(String),
    /// Somebody else works on it, or it is not active any more.
    Already,
}

/// What an import is compared with.
struct Now {
    rates: VersionedRates,
    catalog: i64,
}

impl Now {
    async fn find(db: &mut PgConnection) -> sqlx::Result<Self> {
        let catalog = i64::from(version_of(catalog_revision(&mut *db).await?));
        Ok(Self { rates: rates(db).await?, catalog })
    }
}

/// The active imports that were not compared with the rate cards and the catalog of now yet, the oldest first.
pub async fn outdated(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Vec<i64>> {
    let catalog = i64::from(version_of(catalog_revision(&mut *db).await?));
    sqlx::query_scalar!(
        "select delivery_id
         from deliveries d
         where rates_version is not null
           and (
               rates_compared is distinct from (select version from documents where kind = 'rate-cards')
               or rates_catalog is distinct from $1
           )
           and (rates_retry_at is null or rates_retry_at <= $2)
           and exists (select from visibility v where v.delivery_id = d.delivery_id and v.until_sequence is null)
         order by delivery_id",
        catalog,
        now,
    )
    .fetch_all(db)
    .await
}

/// Prices an import by the rates of now, on the word of whoever changed them. `labels`: tags by which rules decide whose a charge is.
///
/// # Errors
/// Of the database. The import is as it was then.
pub async fn reprice(
    (pool, originals): (&PgPool, &Originals),
    delivery_id: i64,
    labels: &[String],
    (by, now): (&str, DateTime<Utc>),
) -> sqlx::Result<Repriced> {
    let mut db = pool.acquire().await?;
    if !delivery::try_lock(&mut db, delivery_id).await? {
        return Ok(Repriced::Already);
    }
    let repriced = reprice_locked((pool, originals), &mut db, delivery_id, labels, (by, now)).await;
    let repriced = match repriced {
        Ok(repriced) => repriced,
        Err(error) => {
            // Ends the session and with it its locks, so that what was begun is known to be abandoned.
            let _ = db.close().await;
            return Err(error);
        }
    };
    delivery::release(&mut db, delivery_id).await?;
    if let Repriced::Failed(message) = &repriced {
        postpone(&mut db, delivery_id, message, now).await?;
    }
    if !matches!(repriced, Repriced::As { .. } | Repriced::Unchanged) {
        own_table::remove_discarded(&mut db).await;
        remove_after_failure(&mut db, originals).await;
    }
    Ok(repriced)
}

/// Schedules another try of an import that could not be priced because the disk or the database failed, and notes why.
pub async fn postpone(
    db: &mut PgConnection,
    delivery_id: i64,
    message: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update deliveries set rates_problem = $2, rates_retry_at = $3 where delivery_id = $1",
        delivery_id,
        message,
        now + RETRY,
    )
    .execute(db)
    .await?;
    Ok(())
}

async fn reprice_locked(
    (pool, originals): (&PgPool, &Originals),
    db: &mut PgConnection,
    delivery_id: i64,
    labels: &[String],
    (by, now): (&str, DateTime<Utc>),
) -> sqlx::Result<Repriced> {
    if !outdated(&mut *db, now).await?.contains(&delivery_id) {
        return Ok(Repriced::Already);
    }
    let current = Now::find(&mut *db).await?;
    if !is_changed(&mut *db, delivery_id, &current).await? {
        note(&mut *db, delivery_id, &current, None).await?;
        return Ok(Repriced::Unchanged);
    }
    if let Some(problem) = obstacle(&mut *db, delivery_id).await? {
        note(&mut *db, delivery_id, &current, Some(&problem)).await?;
        return Ok(Repriced::Problem(problem));
    }
    let sources = match kept_files(&mut *db, delivery_id).await? {
        Ok(sources) => sources,
        // It went just now.
        Err(removed) => return Ok(Repriced::Failed(file_is_gone(&removed))),
    };
    let import = Import {
        deliveries: vec![Bundle::Files(sources.clone())],
        read_as: read_as_of(&mut *db, delivery_id).await?,
        labels: labels.to_vec(),
        decision: Some(Decision::Replace),
        reason: None,
        when_unsure: WhenUnsure::Discard,
        batch_id: Uuid::new_v4(),
        by,
        submitted_at: now,
        now,
        progress: Progress::default(),
    };
    let again = delivery::begin(&mut *db, import.batch_id, by, now).await?;
    if let Err(report) = load_under(pool, &mut *db, originals, &import, (again, &sources)).await? {
        let message = report.message.unwrap_or_else(|| "its files cannot be read".to_owned());
        if report.status == Status::Refused {
            note(&mut *db, delivery_id, &current, Some(&message)).await?;
            return Ok(Repriced::Problem(message));
        }
        return Ok(Repriced::Failed(message));
    }
    let published = publish::publish_repriced(&mut *db, again, delivery_id, by, now).await?;
    let became = match published {
        Published::At(sequence) => Repriced::As { delivery: again, sequence },
        Published::Doubts(problem) => {
            note(&mut *db, delivery_id, &current, Some(problem)).await?;
            Repriced::Problem(problem.to_owned())
        }
        _ => Repriced::Already,
    };
    if !matches!(became, Repriced::As { .. }) {
        let message = format!("import {delivery_id} changed while it was priced again");
        delivery::discard(&mut *db, again, Ended::Discarded, &message).await?;
    }
    delivery::release(&mut *db, again).await?;
    Ok(became)
}

/// Whether any usage of an import, also where it is not active, costs something else by now.
async fn is_changed(db: &mut PgConnection, delivery_id: i64, now: &Now) -> sqlx::Result<bool> {
    let row = sqlx::query!(
        "select rates_version, catalog_version from deliveries where delivery_id = $1",
        delivery_id
    )
    .fetch_one(&mut *db)
    .await?;
    let before = rates_as_of(&mut *db, row.rates_version.unwrap_or_default()).await?.rates;
    let catalog = catalog_of_version(&mut *db, row.catalog_version).await?;
    let usage = usage_without_cost(&mut *db, Which::Of(delivery_id)).await?;
    Ok(usage.iter().any(|it| {
        let then = catalog.recognize(&it.key);
        let after: &Rates = &now.rates.rates;
        !is_priced_alike((&before, then), (after, it.accelerator), &it.key, it.day)
    }))
}

/// Why an import cannot be replaced by another version of it: rows that were corrected count beside it, by their numbers; or its file
/// is gone.
pub async fn obstacle(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Option<String>> {
    if publish::is_corrected(&mut *db, delivery_id).await? {
        return Ok(Some(publish::CORRECTED_ROWS.to_owned()));
    }
    Ok(kept_files(db, delivery_id).await?.err().map(|removed| file_is_gone(&removed)))
}

fn file_is_gone(name: &str) -> String {
    format!("its file “{name}” was removed to save space: import it again")
}

/// The files of an import; the name of one that is not kept any more.
async fn kept_files(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Result<Vec<Source>, String>> {
    let files = sqlx::query!(
        r#"select f.name, f.sha256, f.read_as, o.received_bytes as "received_bytes?", o.content_bytes as "content_bytes?"
           from delivery_files f
           left join originals o using (sha256)
           where f.delivery_id = $1
           order by f.file_no"#,
        delivery_id,
    )
    .fetch_all(db)
    .await?;
    let source = |name: String, sha256: Option<Vec<u8>>, bytes: Option<(i64, i64)>| {
        let sha256 = sha256.and_then(|bytes| Sha256::try_from(bytes).ok());
        let Some((sha256, (received, content))) = sha256.zip(bytes) else { return Err(name) };
        let (received_bytes, content_bytes) = (received.unsigned_abs(), content.unsigned_abs());
        Ok(Source::of_kept(name, Kept { sha256, received_bytes, content_bytes }))
    };
    let sources = files.into_iter().map(|file| {
        let half = file.read_as.and_then(|half| half.parse().ok()).unwrap_or_default();
        let found = source(file.name, file.sha256, file.received_bytes.zip(file.content_bytes))?;
        Ok(found.read_as(half))
    });
    Ok(sources.collect())
}

/// Writes down that an import was compared with what is now, and what kept it from being priced by that.
async fn note(db: &mut PgConnection, delivery_id: i64, now: &Now, problem: Option<&str>) -> sqlx::Result<()> {
    sqlx::query!(
        "update deliveries
         set rates_compared = $2, rates_catalog = $3, rates_problem = $4, rates_retry_at = null
         where delivery_id = $1",
        delivery_id,
        now.rates.version,
        now.catalog,
        problem,
    )
    .execute(db)
    .await?;
    Ok(())
}
