//! What people decide about a delivery. Each is done once: sent again it changes nothing and says so.

use axum::extract::State;
use axum::response::Response;
use sqlx::PgConnection;

use super::at;
use crate::clock;
use crate::ledger::{self, Decision, Ended, Published};
use crate::report;
use crate::web::error::{Error, Result};
use crate::web::extract::{CurrentUser, Db, cookie};
use crate::web::{App, paths, respond};

pub async fn replace(
    path: paths::DeliveryReplace,
    CurrentUser(person): CurrentUser,
    State(app): State<App>,
    mut db: Db,
) -> Result {
    let sentence = publish(&mut db, path.delivery, Decision::Replace, &person.email).await?;
    Ok(back_to(path.delivery, &sentence, &app))
}

pub async fn add(
    path: paths::DeliveryAdd,
    CurrentUser(person): CurrentUser,
    State(app): State<App>,
    mut db: Db,
) -> Result {
    let sentence = publish(&mut db, path.delivery, Decision::Add, &person.email).await?;
    Ok(back_to(path.delivery, &sentence, &app))
}

/// Removing millions of rows may take longer than a page: it has the connections of imports.
pub async fn discard(
    path: paths::DeliveryDiscard,
    CurrentUser(person): CurrentUser,
    State(app): State<App>,
) -> Result {
    let mut db = app.jobs.acquire().await?;
    let delivery = path.delivery;
    let reason = format!("Discarded by {}; nothing of it ever counted.", person.email);
    let is_discarded = status(&mut db, delivery).await? == "waiting"
        && ledger::discard(&mut db, delivery, Ended::Discarded, &reason).await?;
    let sentence = if is_discarded {
        format!("Delivery {delivery} is discarded. Nothing of it ever counted.")
    } else {
        already(delivery)
    };
    Ok(back_to(delivery, &sentence, &app))
}

pub async fn undo(
    path: paths::DeliveryUndo,
    CurrentUser(person): CurrentUser,
    State(app): State<App>,
    mut db: Db,
) -> Result {
    let delivery = path.delivery;
    status(&mut db, delivery).await?;
    let sentence = match ledger::undo(&mut db, delivery, &person.email, clock::now()).await? {
        Some(_) => {
            format!("Delivery {delivery} is undone and counts no longer. Its file is kept, and loads again.")
        }
        None => already(delivery),
    };
    Ok(back_to(delivery, &sentence, &app))
}

async fn publish(db: &mut PgConnection, delivery: i64, decision: Decision, by: &str) -> Result<String> {
    // One that is still being loaded is nobody's to decide about; none begins to load again.
    if status(db, delivery).await? != "waiting" {
        return Ok(already(delivery));
    }
    let published = ledger::publish(db, delivery, Some(decision), by, clock::now()).await?;
    Ok(match (published, decision) {
        (Published::At(_), Decision::Replace) => {
            format!("Delivery {delivery} counts now, in place of what its months held.")
        }
        (Published::At(_), Decision::Add) => {
            format!("Delivery {delivery} counts now, beside what its months held.")
        }
        (Published::Asks(_) | Published::Already, _) => already(delivery),
    })
}

fn already(delivery: i64) -> String {
    format!("Nothing changed: delivery {delivery} had been decided about before.")
}

async fn status(db: &mut PgConnection, delivery: i64) -> Result<String> {
    let line = report::lines_of(db, &[delivery]).await?.pop();
    Ok(line.ok_or(Error::NotFound)?.status)
}

fn back_to(delivery: i64, sentence: &str, app: &App) -> Response {
    let mut response = respond::see_other(at(delivery));
    cookie::leave_flash(&mut response, sentence, &app.settings);
    response
}
