//! `/imports/batches/{batch}`: how far an upload is, then what became of each file; cancelling it, and trying again
//! what the machine failed.

use askama::Template;
use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::Connection;

use super::super::format::Format;
use super::batch_page;
use crate::audit::{self, Actor, Object, Verb};
use crate::jobs::{self, Cancelled};
use crate::period::BillingMonth;
use crate::report::{self, Batch, ImportLine, Outcome};
use crate::web::error::{Error, Result};
use crate::web::extract::{Db, Htmx, Now, Reading, Writing};
use crate::web::layout::Layout;
use crate::web::respond;
use crate::web::usage::import::UsageResult;
use crate::web::{filters, paths};

#[derive(Template)]
#[template(path = "imports/batch.html", blocks = ["live"])]
struct Page {
    layout: Layout,
    path: paths::Batch,
    batch: Batch,
    /// The deliveries of the batch, and those that its duplicates repeat, as they are now.
    lines: Vec<ImportLine>,
    usage: Vec<UsageResult>,
    now: DateTime<Utc>,
}

pub async fn show(path: paths::Batch, format: Format, Htmx(is_fragment): Htmx, reading: Reading) -> Result {
    let Reading { now, layout, mut db, .. } = reading;
    let batch = report::batch(&mut db, path.batch).await?.ok_or(Error::NotFound)?;
    match format {
        Format::Html => {}
        Format::Json => return respond::json(&batch),
        Format::Csv => return Err(Error::NotFound),
    }
    let deliveries: Vec<i64> = batch.deliveries.iter().filter_map(|outcome| outcome.delivery).collect();
    let lines = report::lines_of(&mut db, &deliveries).await?;
    let of_usage = batch.deliveries.iter().filter_map(|outcome| Some(outcome.usage.as_ref()?.import));
    let usage = UsageResult::find(&mut db, &of_usage.collect::<Vec<_>>()).await?;
    let page = Page { layout, path, batch, lines, usage, now };
    if is_fragment { respond::html(page.as_live()) } else { respond::html(page) }
}

pub async fn cancel(path: paths::BatchCancel, Now(now): Now, by: Actor, mut db: Db) -> Result {
    let batch = report::batch(&mut db, path.batch).await?.ok_or(Error::NotFound)?;
    let is_reload = batch.line.reloads.is_some();
    let mut tx = db.begin().await?;
    let cancelled = jobs::cancel(&mut tx, path.batch, &by.name, now).await?;
    if cancelled != Cancelled::TooLate {
        let (verb, object) = (Verb::ImportCancelled, Object::Batch(path.batch));
        audit::record(&mut tx, by.at(now), verb, &object, json!(null)).await?;
    }
    tx.commit().await?;
    let sentence = match cancelled {
        Cancelled::Now(leftover) => {
            leftover.remove();
            if is_reload { "Stopped. The import stays archived." } else { CANCELLED }
        }
        Cancelled::Soon if is_reload => "Stopping. The import stays archived.",
        Cancelled::Soon => "Stopping the import. Nothing becomes active.",
        Cancelled::TooLate => "Nothing changed: the import had ended before.",
    };
    Ok(respond::flash(batch_page(&path.batch), sentence))
}

const CANCELLED: &str = "Upload canceled and files removed. Nothing was imported.";

pub async fn retry(path: paths::BatchRetry, writing: Writing) -> Result {
    let Writing { now, by, app, mut db, .. } = writing;
    report::batch(&mut db, path.batch).await?.ok_or(Error::NotFound)?;
    let mut tx = db.begin().await?;
    let is_retried = jobs::retry(&mut tx, path.batch).await?;
    if is_retried {
        let (verb, object) = (Verb::ImportRetried, Object::Batch(path.batch));
        audit::record(&mut tx, by.at(now), verb, &object, json!(null)).await?;
    }
    tx.commit().await?;
    let sentence = if is_retried {
        app.notifier.notify();
        "The import is in the queue again."
    } else {
        "Nothing changed: the import has not failed, or is in the queue again."
    };
    Ok(respond::flash(batch_page(&path.batch), sentence))
}

impl Page {
    /// The delivery of an outcome as it is now. `None` where it has none.
    fn line(&self, outcome: &Outcome) -> Option<&ImportLine> {
        self.lines.iter().find(|line| Some(line.delivery) == outcome.delivery)
    }

    /// What a file of usage states, as it is now.
    fn usage(&self, outcome: &Outcome) -> Option<&UsageResult> {
        let of_file = outcome.usage.as_ref()?;
        self.usage.iter().find(|it| it.line.import_id == of_file.import)
    }

    /// The month that an active import of usage ends in.
    fn month(&self, outcome: &Outcome) -> Option<BillingMonth> {
        Some(self.usage(outcome)?.period?.last())
    }

    fn title(&self) -> String {
        match self.batch.line.files.as_slice() {
            [file] => file.clone(),
            files => format!("{} files", files.len()),
        }
    }
}
