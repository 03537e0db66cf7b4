//! What people decide about a delivery. Each is done once: sent again it changes nothing and says so.

use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use super::at;
use crate::audit::{self, Act, Actor, Object, Verb};
use crate::jobs::{self, Reloading};
use crate::ledger::{self, Decision, Ended, Overlap, Published, Reviewed, Undone};
use crate::report;
use crate::web::error::{Error, Result};
use crate::web::extract::{Form, Now, Sending, Writing};
use crate::web::{App, paths, respond};

/// Why a month becomes smaller.
#[derive(Debug, Default, Deserialize)]
pub struct Why {
    #[serde(default)]
    reason: String,
}

/// Characters of a reason.
const LONGEST_REASON: usize = 1000;

impl Why {
    fn reason(&self) -> Result<Option<&str>> {
        let reason = self.reason.trim();
        if reason.chars().count() > LONGEST_REASON || reason.contains('\0') {
            return Err(Error::BadRequest(format!("Reason: enter at most {LONGEST_REASON} characters.")));
        }
        Ok((!reason.is_empty()).then_some(reason))
    }
}

/// Publishes what somebody has reviewed. Rows are compared with those of large imports: it has the connections of imports.
pub async fn publish(
    path: paths::DeliveryPublish,
    Now(now): Now,
    by: Actor,
    State(app): State<App>,
) -> Result {
    let mut db = app.jobs.acquire().await?;
    let delivery = path.delivery;
    status(&mut db, delivery).await?;
    let mut tx = db.begin().await?;
    let reviewed = ledger::publish_reviewed(&mut tx, delivery, &by.name, now).await?;
    let line = match reviewed {
        Reviewed::Published(sequence) => Some((Verb::DeliveryPublished, json!({ "sequence": sequence }))),
        Reviewed::Asks => Some((Verb::DeliveryKept, json!(null))),
        Reviewed::Overlaps(_) | Reviewed::OtherHalf | Reviewed::Already => None,
    };
    if let Some((verb, details)) = line {
        audit::record(&mut tx, by.at(now), verb, &Object::Delivery(delivery), details).await?;
    }
    tx.commit().await?;
    let sentence = match reviewed {
        Reviewed::Published(_) => format!("Import {delivery} is published and active."),
        Reviewed::Asks => format!(
            "Import {delivery} was not published: other imports were published meanwhile. Choose whether to replace them or to add it."
        ),
        Reviewed::Overlaps(overlap) => would_count_twice(&overlap, delivery),
        Reviewed::OtherHalf => other_half(delivery),
        Reviewed::Already => already(delivery),
    };
    Ok(respond::flash(at(delivery), &sentence))
}

pub async fn replace(path: paths::DeliveryReplace, writing: Writing, Form(why): Form<Why>) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let sentence = decide(&mut db, path.delivery, Decision::Replace, why.reason()?, by.at(now)).await?;
    Ok(respond::flash(at(path.delivery), &sentence))
}

/// Its rows are compared with those of large imports, which may take longer than a page: it has the connections of imports.
pub async fn add(path: paths::DeliveryAdd, Now(now): Now, by: Actor, State(app): State<App>) -> Result {
    let mut db = app.jobs.acquire().await?;
    let sentence = decide(&mut db, path.delivery, Decision::Add, None, by.at(now)).await?;
    Ok(respond::flash(at(path.delivery), &sentence))
}

/// Says why a delivery made its months smaller.
pub async fn explain(path: paths::DeliveryExplain, writing: Writing, Form(why): Form<Why>) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let delivery = path.delivery;
    status(&mut db, delivery).await?;
    let Some(reason) = why.reason()? else {
        let sentence = "Reason: enter why the month became smaller. Nothing was saved.";
        return Ok(respond::flash(at(delivery), sentence));
    };
    let mut tx = db.begin().await?;
    let is_explained = ledger::explain(&mut tx, delivery, reason, &by.name, now).await?;
    if is_explained {
        let (verb, object) = (Verb::DeliveryExplained, Object::Delivery(delivery));
        audit::record(&mut tx, by.at(now), verb, &object, json!({ "reason": reason })).await?;
    }
    tx.commit().await?;
    let sentence = if is_explained { "Saved." } else { "Nothing changed: there was nothing to explain." };
    Ok(respond::flash(at(delivery), sentence))
}

/// Removing millions of rows may take longer than a page: it has the connections of imports.
pub async fn discard(path: paths::DeliveryDiscard, sending: Sending) -> Result {
    let Sending { now, by, app, .. } = sending;
    let mut db = app.jobs.acquire().await?;
    let delivery = path.delivery;
    let reason = format!("Discarded by {}; it was never active.", by.name);
    let mut tx = db.begin().await?;
    let is_discarded = status(&mut tx, delivery).await? == "waiting"
        && ledger::discard(&mut tx, delivery, Ended::Discarded, &reason).await?;
    if is_discarded {
        let (verb, object) = (Verb::DeliveryDiscarded, Object::Delivery(delivery));
        audit::record(&mut tx, by.at(now), verb, &object, json!(null)).await?;
    }
    tx.commit().await?;
    ledger::remove_discarded(&mut db).await;
    let sentence = if is_discarded {
        format!("Import {delivery} is discarded. It was never active.")
    } else {
        already(delivery)
    };
    Ok(respond::flash(at(delivery), &sentence))
}

/// What becomes active again is compared with what was added since: it has the connections of imports, as [`add`] has.
pub async fn undo(path: paths::DeliveryUndo, Now(now): Now, by: Actor, State(app): State<App>) -> Result {
    let mut db = app.jobs.acquire().await?;
    let delivery = path.delivery;
    status(&mut db, delivery).await?;
    let mut tx = db.begin().await?;
    let sentence = match ledger::undo(&mut tx, delivery, &by.name, now).await? {
        Undone::At(sequence) => {
            let (verb, object) = (Verb::DeliveryUndone, Object::Delivery(delivery));
            let details = json!({ "sequence": sequence });
            audit::record(&mut tx, by.at(now), verb, &object, details).await?;
            format!("Import {delivery} is undone and inactive. Its file can be imported again.")
        }
        Undone::Overlaps(overlap) => format!("Nothing changed: {}.", overlap.of_undo(delivery)),
        Undone::Archived(others) => {
            let others: Vec<String> = others.iter().map(ToString::to_string).collect();
            format!("Nothing changed. Restore the rows of import {} first, then undo.", others.join(" and "))
        }
        Undone::Already => already(delivery),
    };
    tx.commit().await?;
    Ok(respond::flash(at(delivery), &sentence))
}

/// Loads the rows of an archived import again, as a job.
pub async fn load_again(path: paths::DeliveryLoadAgain, sending: Sending) -> Result {
    let Sending { now, by, app, .. } = sending;
    let mut db = app.jobs.acquire().await?;
    let delivery = path.delivery;
    status(&mut db, delivery).await?;
    let mut tx = db.begin().await?;
    let reload = jobs::reload(&mut tx, delivery, by.at(now)).await?;
    tx.commit().await?;
    Ok(match reload {
        Reloading::Queued(batch_id) => {
            app.notifier.notify();
            respond::see_other(paths::Batch { batch: batch_id })
        }
        Reloading::NotArchived => {
            respond::flash(at(delivery), &format!("Nothing changed: import {delivery} has its rows."))
        }
        Reloading::FileRemoved(name) => respond::flash(
            at(delivery),
            &format!("The file was removed to save space. Choose {name} below to restore the rows."),
        ),
    })
}

async fn decide(
    db: &mut PgConnection,
    delivery: i64,
    decision: Decision,
    reason: Option<&str>,
    act: Act<'_>,
) -> Result<String> {
    // One that is still being loaded is nobody's to decide about; none begins to load again.
    if status(db, delivery).await? != "waiting" {
        return Ok(already(delivery));
    }
    let mut tx = db.begin().await?;
    let published = ledger::publish(&mut tx, delivery, Some(decision), reason, &act.by.name, act.at).await?;
    if let Published::At(sequence) = published {
        let verb = match decision {
            Decision::Replace => Verb::DeliveryReplaced,
            Decision::Add => Verb::DeliveryAdded,
        };
        let mut details = json!({ "sequence": sequence });
        if let (Some(reason), Some(details)) = (reason, details.as_object_mut()) {
            details.insert("reason".to_owned(), reason.into());
        }
        audit::record(&mut tx, act, verb, &Object::Delivery(delivery), details).await?;
    }
    tx.commit().await?;
    Ok(match (published, decision) {
        (Published::At(_), Decision::Replace) => {
            format!("Import {delivery} is active and replaces the earlier imports of its months.")
        }
        (Published::At(_), Decision::Add) => {
            format!("Import {delivery} is active and added to its months.")
        }
        (Published::Overlaps(overlap), _) => would_count_twice(&overlap, delivery),
        (Published::OtherHalf(_), _) => other_half(delivery),
        (Published::Asks(_) | Published::Doubts(_) | Published::Already, _) => already(delivery),
    })
}

fn would_count_twice(overlap: &Overlap, delivery: i64) -> String {
    let others = overlap.others();
    format!(
        "Nothing changed: {overlap}, and would count twice. Undo {others} first, or discard import {delivery}."
    )
}

fn other_half(delivery: i64) -> String {
    format!(
        "Nothing changed: the other cost of these months was imported again after import {delivery} was loaded. Discard it and \
         import its file again."
    )
}

fn already(delivery: i64) -> String {
    format!("Nothing changed: import {delivery} was decided before.")
}

async fn status(db: &mut PgConnection, delivery: i64) -> Result<String> {
    let line = report::lines_of(db, &[delivery]).await?.pop();
    Ok(line.ok_or(Error::NotFound)?.status)
}
