//! Importing: the verb behind the CLI's `import` and the browser's upload.
//!
//! All deliveries of a call are loaded first, unseen; then each is [published](settle). What is unclear (two of
//! them state the same month, or one lacks what it would replace) is published only on a decision.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::billing::ReadAs;

use super::decision::Decision;
use super::delivery::{self, Ended};
use super::group_files::Bundle;
use super::halves;
use super::import_report::{Report, Status};
use super::load::{self, Load, LoadError};
use super::loaded::{Loaded, Source};
use super::look_through::Looking;
use super::low_priority::at_low_priority;
use super::original::{Originals, Sha256};
use super::orphans::remove_after_failure;
use super::own_table;
use super::progress::Progress;
use super::settle::{Shared, settle};

/// What to import, and on whose word.
pub struct Import<'a> {
    /// One entry a delivery.
    pub deliveries: Vec<Bundle>,
    /// What its files may be.
    pub read_as: ReadAs,
    /// Tags by which rules decide whose a charge is, as they are compared.
    pub labels: Vec<String>,
    pub decision: Option<Decision>,
    /// Why months become smaller, where the decision makes them so.
    pub reason: Option<&'a str>,
    pub when_unsure: WhenUnsure,
    pub batch_id: Uuid,
    pub by: &'a str,
    /// When the files came. Imports run side by side: one that came later may be done before.
    pub submitted_at: DateTime<Utc>,
    pub now: DateTime<Utc>,
    pub progress: Progress,
}

impl Import<'_> {
    /// How its files are looked through before they are loaded.
    pub(super) fn looking<'a>(&'a self, originals: &'a Originals) -> Looking<'a> {
        Looking { originals, read_as: &self.read_as, progress: &self.progress }
    }
}

/// What becomes of a delivery that needs a decision and has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenUnsure {
    /// It stays loaded and unseen until someone decides (the browser).
    Wait,
    /// The same, and somebody looks at every delivery first, also where nothing is to decide.
    Review,
    /// Nothing of it is kept (the command line, which says how to ask again).
    Discard,
}

/// The database failed in the middle of an import.
#[derive(Debug)]
pub struct Interrupted {
    /// What became of the deliveries before that.
    pub reports: Vec<Report>,
    /// The others, which were not loaded.
    pub rest: Vec<Bundle>,
    pub error: sqlx::Error,
}

/// Imports, and reports one entry a delivery. An error here is the database's; a file's is a [`Report`].
pub async fn import(
    pool: &PgPool,
    originals: &Originals,
    mut import: Import<'_>,
) -> Result<Vec<Report>, Interrupted> {
    let mut reports = Vec::new();
    match import_into(pool, originals, &mut import, &mut reports).await {
        Ok(()) => Ok(reports),
        Err(error) => Err(Interrupted { rest: import.deliveries.split_off(reports.len()), reports, error }),
    }
}

async fn import_into(
    pool: &PgPool,
    originals: &Originals,
    import: &mut Import<'_>,
    reports: &mut Vec<Report>,
) -> sqlx::Result<()> {
    let mut db = pool.acquire().await?;
    let done = import_on(pool, &mut db, originals, import, reports).await;
    if done.is_err() {
        // Ends the session and with it its locks, so that what was begun is known to be abandoned.
        let _ = db.close().await;
        return done;
    }
    let is_kept = |it: &Report| !matches!(it.status, Status::Refused | Status::Failed | Status::Cancelled);
    if !reports.iter().all(is_kept) {
        own_table::remove_discarded(&mut db).await;
        remove_after_failure(&mut db, originals).await;
    }
    Ok(())
}

async fn import_on(
    pool: &PgPool,
    db: &mut PgConnection,
    originals: &Originals,
    import: &mut Import<'_>,
    reports: &mut Vec<Report>,
) -> sqlx::Result<()> {
    delivery::sweep(db).await?;
    own_table::remove_discarded(db).await;
    // What is added stands beside what is active, and completes none of it.
    let alone = import.decision == Some(Decision::Add);
    import.deliveries = halves::complete(db, import.looking(originals), &import.deliveries, alone).await?;
    let import = &*import;
    let mut loaded = Vec::new();
    let mut passed = 0;
    for bundle in &import.deliveries {
        loaded.push(match (bundle, import.progress.cancelled_by()) {
            (Bundle::Files(sources), Some(by)) => Outcome::Ended(Box::new(cancelled(sources, None, by))),
            (Bundle::Files(sources), None) => load_one(pool, db, originals, import, sources).await?,
            (Bundle::Refused { manifest, message }, _) => refuse(db, import, manifest, message).await?,
        });
        passed += bundle.bytes();
        import.progress.pass(passed);
    }
    // The last moment: what is published counts.
    if let Some(by) = import.progress.cancelled_by() {
        for outcome in loaded {
            reports.push(cancel(db, outcome, by).await?);
        }
        return Ok(());
    }
    let shared = Shared::of(&loaded);
    for of_bundle in import.deliveries.iter().zip(loaded) {
        reports.push(settle((pool, originals), db, import, of_bundle, &shared).await?);
    }
    Ok(())
}

/// Takes back what was loaded and not yet published.
async fn cancel(db: &mut PgConnection, outcome: Outcome, by: &str) -> sqlx::Result<Report> {
    let (delivery_id, loaded) = match outcome {
        Outcome::Ended(report) => return Ok(*report),
        Outcome::Loaded { delivery_id, loaded } => (delivery_id, loaded),
    };
    let files: Vec<Source> =
        loaded.files.iter().map(|file| Source::new(&file.name, PathBuf::new())).collect();
    let report = cancelled(&files, Some(delivery_id), by);
    delivery::discard(db, delivery_id, Ended::Cancelled, report.message.as_deref().unwrap_or_default())
        .await?;
    delivery::release(db, delivery_id).await?;
    Ok(report)
}

fn cancelled(sources: &[Source], delivery: Option<i64>, by: &str) -> Report {
    Report::ended(
        sources,
        Status::Cancelled,
        delivery,
        format!("Canceled by {by}; nothing was imported, and the files were removed."),
    )
}

/// What loading a delivery led to.
pub(super) enum Outcome {
    Loaded { delivery_id: i64, loaded: Box<Loaded> },
    Ended(Box<Report>),
}

async fn load_one(
    pool: &PgPool,
    db: &mut PgConnection,
    originals: &Originals,
    import: &Import<'_>,
    sources: &[Source],
) -> sqlx::Result<Outcome> {
    if import.decision.is_none()
        && let Some(report) = find_duplicate(db, originals, sources, import.batch_id).await?
    {
        return Ok(Outcome::Ended(Box::new(report)));
    }
    let delivery_id = delivery::begin(db, import.batch_id, import.by, import.submitted_at).await?;
    Ok(match load_under(pool, db, originals, import, (delivery_id, sources)).await? {
        Ok(loaded) => Outcome::Loaded { delivery_id, loaded },
        Err(report) => Outcome::Ended(Box::new(report)),
    })
}

/// Loads files under a delivery that was begun. The delivery of what was not loaded is ended.
pub(super) async fn load_under(
    pool: &PgPool,
    db: &mut PgConnection,
    originals: &Originals,
    import: &Import<'_>,
    (delivery_id, sources): (i64, &[Source]),
) -> sqlx::Result<Result<Box<Loaded>, Report>> {
    let load = Load {
        delivery_id,
        sources,
        read_as: &import.read_as,
        labels: &import.labels,
        progress: import.progress.clone(),
    };
    let completed = match load::load(pool, originals, &load).await {
        Ok(loaded) => delivery::complete(db, delivery_id, &loaded, import.now)
            .await
            .map(|()| loaded)
            .map_err(LoadError::from),
        Err(error) => Err(error),
    };
    let error = match completed {
        Ok(loaded) => return Ok(Ok(Box::new(loaded))),
        Err(error) => error,
    };
    let (status, ended) = match &error {
        LoadError::Refused(_) | LoadError::Rejected(_) => (Status::Refused, Ended::Refused),
        LoadError::File { .. } | LoadError::Reading(_) | LoadError::Database(_) => {
            (Status::Failed, Ended::Failed)
        }
        LoadError::Cancelled => (Status::Cancelled, Ended::Cancelled),
    };
    let mut report = match (ended, import.progress.cancelled_by()) {
        (Ended::Cancelled, Some(by)) => cancelled(sources, Some(delivery_id), by),
        _ => Report::ended(sources, status, Some(delivery_id), error.to_string()),
    };
    delivery::discard(db, delivery_id, ended, report.message.as_deref().unwrap_or_default()).await?;
    delivery::name_files(db, delivery_id, sources).await?;
    if let LoadError::Rejected(reading) = &error {
        delivery::keep_rejections(db, delivery_id, &reading.rejected.first).await?;
        report = report.with_rows(reading);
    }
    delivery::release(db, delivery_id).await?;
    if error.is_disk_full() {
        delivery::give_room_back(db).await;
    }
    Ok(Err(report))
}

/// Keeps the refusal of a manifest in the history.
async fn refuse(
    db: &mut PgConnection,
    import: &Import<'_>,
    manifest: &Source,
    message: &str,
) -> sqlx::Result<Outcome> {
    let sources = std::slice::from_ref(manifest);
    let delivery_id = delivery::begin(db, import.batch_id, import.by, import.submitted_at).await?;
    delivery::discard(db, delivery_id, Ended::Refused, message).await?;
    delivery::name_files(db, delivery_id, sources).await?;
    delivery::release(db, delivery_id).await?;
    let report = Report::ended(sources, Status::Refused, Some(delivery_id), message.to_owned());
    Ok(Outcome::Ended(Box::new(report)))
}

/// The delivery that these very files made, if it is active or may become so. Hashes only where a kept original has
/// the same size and begins with the same bytes, since a hash costs as much time as reading.
async fn find_duplicate(
    db: &mut PgConnection,
    originals: &Originals,
    sources: &[Source],
    batch_id: Uuid,
) -> sqlx::Result<Option<Report>> {
    let mut hashes = Vec::new();
    for source in sources {
        if let Some(kept) = source.kept {
            hashes.push(kept.sha256);
            continue;
        }
        let Ok(metadata) = std::fs::metadata(&source.path) else {
            return Ok(None);
        };
        let of_this_size = sqlx::query_scalar!(
            "select sha256 from originals where received_bytes = $1",
            metadata.len() as i64,
        )
        .fetch_all(&mut *db)
        .await?;
        let of_this_size: Vec<_> = of_this_size.into_iter().flat_map(Sha256::try_from).collect();
        let (path, originals) = (source.path.clone(), originals.clone());
        let hash =
            move || originals.any_begins_like(&of_this_size, &path)?.then(|| load::hash(&path)).transpose();
        match at_low_priority("hashing", hash).await {
            Ok(Ok(Some(sha256))) => hashes.push(sha256),
            // No original is the same. Or loading will meet the same error and name it.
            Ok(Ok(None) | Err(_)) | Err(_) => return Ok(None),
        }
    }
    let Some((delivery_id, status)) = delivery::find_same(db, &hashes, batch_id).await? else {
        return Ok(None);
    };
    let also = match status.as_str() {
        "loaded" => " and is active",
        "waiting" => " and needs review",
        _ => "",
    };
    let message = format!("import {delivery_id} has the same bytes{also}; nothing was imported again");
    let mut report = Report::ended(sources, Status::Duplicate, Some(delivery_id), message);
    for (file, sha256) in report.files.iter_mut().zip(hashes) {
        file.sha256 = Some(sha256);
    }
    Ok(Some(report))
}
