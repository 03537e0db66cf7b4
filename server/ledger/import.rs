//! Importing: the verb behind the CLI's `import` and the browser's upload.
//!
//! All deliveries of a call are loaded first, unseen; then each is published. What is unclear (two of
//! them state the same month, or one lacks what it would replace) is published only on a decision.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;
use sqlx::{Connection as _, PgConnection, PgPool};
use uuid::Uuid;

use crate::audit::{self, Actor, Object, Verb};
use crate::billing::Statement;
use crate::enum_words::words;
use crate::money::{Currency, Money};

use super::correction::{self, CORRECTED};
use super::decision::Decision;
use super::delivery::{self, Ended};
use super::group_files::Bundle;
use super::halves;
use super::load::{self, Load, LoadError};
use super::loaded::{Loaded, Source};
use super::low_priority::at_low_priority;
use super::original::{Originals, Sha256};
use super::orphans::remove_after_failure;
use super::overlap::Overlap;
use super::own_table;
use super::progress::Progress;
use super::publish::{self, Published};
use super::read::Reading;
use super::scope::Scope;

/// What to import, and on whose word.
pub struct Import<'a> {
    /// One entry a delivery.
    pub deliveries: Vec<Bundle>,
    pub as_format: Option<&'a str>,
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

/// What becomes of a delivery that needs a decision and has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenUnsure {
    /// It stays loaded and unseen until someone decides (the browser).
    Wait,
    /// Nothing of it is kept (the command line, which says how to ask again).
    Discard,
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Status: as_str {
        Loaded = "loaded";
        /// The same bytes are active already.
        Duplicate = "duplicate";
        /// The file is not what it should be.
        Refused = "refused";
        /// The file may be good, the machine was not.
        Failed = "failed";
        /// Someone must say whether it replaces or adds.
        Waiting = "waiting";
        /// Someone cancelled it while it was loaded. Never on the command line.
        Cancelled = "cancelled";
    }
}

/// What became of one delivery: the JSON of `gpuledger import --json`.
#[derive(Debug, Serialize)]
pub struct Report {
    pub files: Vec<ReportFile>,
    pub format: Option<&'static str>,
    pub delivery: Option<i64>,
    pub status: Status,
    pub scopes: Vec<ReportScope>,
    pub rows_read: u64,
    pub charges: u64,
    /// Of the charges, those beyond the first of a row; left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub further_charges: u64,
    pub rejected: u64,
    pub skipped: u64,
    /// The first few; all of what was loaded are in the ledger.
    pub rejections: Vec<ReportRejection>,
    pub message: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Debug, Serialize)]
pub struct ReportFile {
    pub file: String,
    pub sha256: Option<Sha256>,
}

#[derive(Debug, Serialize)]
pub struct ReportScope {
    #[serde(flatten)]
    pub scope: Scope,
    /// One amount per currency.
    pub billed_cost: Vec<Money>,
    pub effective_cost: Vec<Money>,
}

#[derive(Debug, Serialize)]
pub struct ReportRejection {
    pub file: String,
    pub row: u64,
    pub column: String,
    pub found: String,
    pub expected: String,
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
    import.deliveries = halves::complete(db, originals, &import.deliveries, import.as_format, alone).await?;
    let import = &*import;
    let mut loaded = Vec::new();
    let mut passed = 0;
    for bundle in &import.deliveries {
        loaded.push(match (bundle, import.progress.cancelled_by()) {
            (Bundle::Files(sources), Some(by)) => Outcome::Ended(cancelled(sources, None, by)),
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
    let shared = shared_scopes(&loaded);
    for outcome in loaded {
        reports.push(settle(db, import, outcome, &shared).await?);
    }
    Ok(())
}

/// Takes back what was loaded and not yet published.
async fn cancel(db: &mut PgConnection, outcome: Outcome, by: &str) -> sqlx::Result<Report> {
    let (delivery_id, loaded) = match outcome {
        Outcome::Ended(report) => return Ok(report),
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
enum Outcome {
    Loaded { delivery_id: i64, loaded: Box<Loaded> },
    Ended(Report),
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
        return Ok(Outcome::Ended(report));
    }
    let delivery_id = delivery::begin(db, import.batch_id, import.by, import.submitted_at).await?;
    let load = Load {
        delivery_id,
        sources,
        as_format: import.as_format,
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
    match completed {
        Ok(loaded) => Ok(Outcome::Loaded { delivery_id, loaded: Box::new(loaded) }),
        Err(error) => {
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
            Ok(Outcome::Ended(report))
        }
    }
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
    Ok(Outcome::Ended(Report::ended(sources, Status::Refused, Some(delivery_id), message.to_owned())))
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

/// Scopes that more than one delivery of this call states. Different slices of a scope are no two statements, unless they are
/// of different exports.
fn shared_scopes(outcomes: &[Outcome]) -> BTreeSet<Scope> {
    let mut seen: BTreeMap<Scope, Vec<(&str, Option<&str>)>> = BTreeMap::new();
    let mut shared = BTreeSet::new();
    for outcome in outcomes {
        if let Outcome::Loaded { loaded, .. } = outcome {
            let own = (loaded.format.name(), loaded.slice.as_deref());
            let is_other_slice = |other: &(&str, Option<&str>)| {
                other.0 == own.0 && other.1.is_some() && own.1.is_some() && *other != own
            };
            for (scope, _) in loaded.reading.scopes.values() {
                let slices = seen.entry(scope.clone()).or_default();
                if !slices.iter().all(is_other_slice) {
                    shared.insert(scope.clone());
                }
                slices.push(own);
            }
        }
    }
    shared
}

/// Publishes what was loaded, or says why not.
async fn settle(
    db: &mut PgConnection,
    import: &Import<'_>,
    outcome: Outcome,
    shared: &BTreeSet<Scope>,
) -> sqlx::Result<Report> {
    let (delivery_id, loaded) = match outcome {
        Outcome::Ended(report) => return Ok(report),
        Outcome::Loaded { delivery_id, loaded } => (delivery_id, loaded),
    };
    let is_corrected = loaded.columns.names.iter().any(|name| name == CORRECTED);
    let together = match import.decision {
        // Corrected rows add to what they were missing from.
        None if is_corrected => None,
        // The last of them would be all that counts.
        None | Some(Decision::Replace) => together(&loaded, shared),
        Some(Decision::Add) => None,
    };
    let question = match together {
        Some(said) => Some(of_several(db, delivery_id, said, import.decision).await?),
        None => match publish_and_record(db, import, delivery_id, is_corrected).await? {
            Published::Asks(question) => {
                let suggested = question.part.map(|_| Decision::Add);
                Some((format!("{question}. {}", choices(suggested)), suggested))
            }
            Published::Overlaps(overlap) => Some((counts_twice(&overlap, import.decision), None)),
            Published::Doubts(doubt) => Some((
                format!(
                    "these are rows that were rejected in an earlier import, and {doubt}: adding counts them with \
                     the active rows, replacing leaves only these rows. {}",
                    choices(None)
                ),
                None,
            )),
            Published::At(_) | Published::Already => None,
        },
    };
    let completes = loaded.files.iter().any(|file| file.half != Statement::Whole);
    let question = question.map(|(message, suggested)| {
        if completes && !is_corrected {
            let message = format!("{message} Adding would count what is active already twice.");
            (message, Some(Decision::Replace))
        } else {
            (message, suggested)
        }
    });
    let report = match question {
        None => {
            let superseded = publish::superseded_by(db, delivery_id).await?;
            let mut report = Report::loaded(delivery_id, &loaded);
            if !superseded.is_empty() {
                let list: Vec<String> = superseded.iter().map(ToString::to_string).collect();
                report.message = Some(format!("replaces import {}", list.join(", ")));
            } else if is_corrected {
                let corrects: Vec<String> =
                    correction::corrects(db, delivery_id).await?.iter().map(ToString::to_string).collect();
                report.message = Some(format!("adds corrected rows to import {}", corrects.join(", ")));
            }
            if loaded.reading.rejected.repeated > 0 {
                let sentence = repeated_rows(loaded.reading.rejected.repeated);
                report.message =
                    Some(report.message.map_or_else(|| sentence.clone(), |it| format!("{it}; {sentence}")));
            }
            report
        }
        Some((message, suggested)) => {
            let kept = match import.when_unsure {
                WhenUnsure::Wait => {
                    delivery::wait(db, delivery_id, &message, suggested).await?;
                    Some(delivery_id)
                }
                WhenUnsure::Discard => {
                    delivery::discard(db, delivery_id, Ended::Discarded, &message).await?;
                    None
                }
            };
            Report {
                status: Status::Waiting,
                delivery: kept,
                message: Some(message),
                ..Report::loaded(delivery_id, &loaded)
            }
        }
    };
    delivery::release(db, delivery_id).await?;
    Ok(report)
}

/// What a file that holds itself twice amounts to.
fn repeated_rows(rows: u64) -> String {
    let (are, count) = if rows == 1 { ("row is", "counts") } else { ("rows are", "count") };
    format!(
        "{rows} {are} the same as others of the import, as in a file that was appended to itself; they {count} once, and nothing \
         is missing"
    )
}

/// The question that one of several files of a month raises, and what to offer first. Files that were sent together are
/// parts of the month, or nobody would have sent more than one; where something of it is active already, they may be those
/// very parts again, and are measured as any other file.
async fn of_several(
    db: &mut PgConnection,
    delivery_id: i64,
    said: String,
    decision: Option<Decision>,
) -> sqlx::Result<(String, Option<Decision>)> {
    let asks = publish::ask(db, delivery_id).await?;
    if decision.is_some() {
        let undo = if asks.meets_active { "Undo the active imports and add these" } else { "Add these" };
        let message = format!("{said}, so only the last would be active. {undo}, or import one at a time.");
        return Ok((message, None));
    }
    let adds = !asks.meets_active || asks.part.is_some();
    let question = if asks.shortfalls.is_empty() { said } else { format!("{said}; {asks}") };
    let question = if adds {
        question
    } else {
        format!(
            "{question}. If these are all parts of the month, undo the active imports first, then add these"
        )
    };
    let suggested = adds.then_some(Decision::Add);
    Ok((format!("{question}. {}", choices(suggested)), suggested))
}

/// Why an import is not published whose rows are active already, and what to do.
fn counts_twice(overlap: &Overlap, decision: Option<Decision>) -> String {
    let others = overlap.others();
    if decision == Some(Decision::Add) {
        format!(
            "{overlap}: adding this one would count them twice. Undo {others} first, replace the active imports, or leave these rows out"
        )
    } else {
        format!(
            "{overlap}, which stays active: they would count twice. Undo {others} and add this one, or discard it"
        )
    }
}

/// What to decide, the likelier first.
fn choices(suggested: Option<Decision>) -> &'static str {
    match suggested {
        Some(Decision::Add) => "Choose whether to add the file or to replace the active imports.",
        Some(Decision::Replace) | None => "Choose whether to replace the active imports or to add the file.",
    }
}

async fn publish_and_record(
    db: &mut PgConnection,
    import: &Import<'_>,
    delivery_id: i64,
    is_corrected: bool,
) -> sqlx::Result<Published> {
    let mut tx = db.begin().await?;
    let published = match import.decision {
        None if is_corrected => {
            publish::publish_corrected(&mut tx, delivery_id, import.by, import.now).await?
        }
        decision => {
            publish::publish(&mut tx, delivery_id, decision, import.reason, import.by, import.now).await?
        }
    };
    if let Published::At(sequence) = published {
        let (by, object) = (Actor::on_behalf_of(import.by), Object::Delivery(delivery_id));
        let details = json!({ "sequence": sequence });
        audit::record(&mut tx, by.at(import.now), Verb::DeliveryPublished, &object, details).await?;
    }
    tx.commit().await?;
    Ok(published)
}

/// The question that two deliveries of one month, submitted together, raise.
fn together(loaded: &Loaded, shared: &BTreeSet<Scope>) -> Option<String> {
    let scope =
        loaded.reading.scopes.values().map(|(scope, _)| scope).find(|scope| shared.contains(*scope))?;
    Some(format!(
        "several of these files state {} {} {}, and no manifest says that they belong together",
        scope.provider, scope.billing_account, scope.month
    ))
}

impl Report {
    /// A delivery that the database failed.
    pub fn failed(bundle: &Bundle, error: &sqlx::Error) -> Self {
        let sources = match bundle {
            Bundle::Files(sources) => sources.as_slice(),
            Bundle::Refused { manifest, .. } => std::slice::from_ref(manifest),
        };
        Self::ended(
            sources,
            Status::Failed,
            None,
            format!("nothing was imported: {}", load::of_database(error)),
        )
    }

    fn ended(sources: &[Source], status: Status, delivery: Option<i64>, message: String) -> Self {
        Self {
            files: sources
                .iter()
                .map(|source| ReportFile { file: source.name.clone(), sha256: None })
                .collect(),
            format: None,
            delivery,
            status,
            scopes: Vec::new(),
            rows_read: 0,
            charges: 0,
            further_charges: 0,
            rejected: 0,
            skipped: 0,
            rejections: Vec::new(),
            message: Some(message),
        }
    }

    fn loaded(delivery_id: i64, loaded: &Loaded) -> Self {
        let reading = &loaded.reading;
        let report = Self {
            files: loaded
                .files
                .iter()
                .map(|file| ReportFile { file: file.name.clone(), sha256: Some(file.sha256) })
                .collect(),
            format: Some(loaded.format.name()),
            delivery: Some(delivery_id),
            status: Status::Loaded,
            scopes: reading
                .scopes
                .iter()
                .map(|(id, (scope, _))| ReportScope::new(*id, scope, loaded))
                .collect(),
            rows_read: 0,
            charges: 0,
            further_charges: 0,
            rejected: 0,
            skipped: 0,
            rejections: Vec::new(),
            message: (reading.rows_read == 0).then(|| "the file has a header and no rows".to_owned()),
        };
        report.with_rows(reading)
    }

    /// The same with what its rows were.
    fn with_rows(self, reading: &Reading) -> Self {
        let rejections = reading.rejected.first.iter().map(|(file_no, rejection)| ReportRejection {
            file: self.files.get(*file_no as usize).map(|file| file.file.clone()).unwrap_or_default(),
            row: rejection.row,
            column: rejection.column.clone(),
            found: rejection.found.clone(),
            expected: rejection.expected.clone(),
        });
        Self {
            rows_read: reading.rows_read,
            charges: reading.charges,
            further_charges: reading.further_charges,
            rejected: reading.rejected.count,
            skipped: reading.skips.values().sum(),
            rejections: rejections.collect(),
            ..self
        }
    }
}

impl ReportScope {
    fn new(scope_id: i64, scope: &Scope, loaded: &Loaded) -> Self {
        let totals = || loaded.reading.totals.iter().filter(|((of, _), _)| *of == scope_id);
        let money = |amount, currency: &Currency| Money { amount, currency: currency.clone() };
        Self {
            scope: scope.clone(),
            billed_cost: totals().map(|((_, c), sums)| money(sums.billed_cost, c)).collect(),
            effective_cost: totals().map(|((_, c), sums)| money(sums.effective_cost, c)).collect(),
        }
    }
}
