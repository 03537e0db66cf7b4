//! `/prices/changes`: who changed what of the list, when and why; proposals, and undo.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::{to_change, told};
use crate::audit::Actor;
use crate::clock;
use crate::config::Settings;
use crate::prices::{self, Change, Outcome, Status};
use crate::web::error::Result;
use crate::web::extract::{Db, Form, cookie};
use crate::web::layout::Layout;
use crate::web::{filters, paths, respond};

/// At most so many are listed.
const LISTED: i64 = 200;

#[derive(Template)]
#[template(path = "prices/changes.html")]
struct Page {
    layout: Layout,
    changes: Vec<Change>,
    overtaken: Vec<String>,
}

/// The look of a state's badge.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(super) fn look(status: &Status) -> &'static str {
    match status {
        Status::Applied => "good",
        Status::Drafted | Status::Proposed => "wait",
        Status::Undone | Status::Discarded => "",
    }
}

pub async fn index(_: paths::PriceChanges, layout: Layout, mut db: Db) -> Result {
    let changes = prices::changes(&mut db, LISTED).await?;
    respond::html(Page { layout, changes, overtaken: Vec::new() })
}

pub async fn json(_: paths::PriceChangesJson, mut db: Db) -> Result {
    respond::json(&prices::changes(&mut db, i64::MAX).await?)
}

#[derive(Deserialize)]
pub struct Why {
    #[serde(default)]
    reason: String,
}

/// Hands what a file would change to whoever decides.
pub async fn propose(
    path: paths::PricePropose,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
    Form(why): Form<Why>,
) -> Result {
    let reason = Some(why.reason.trim()).filter(|it| !it.is_empty());
    let is_done = prices::propose(&mut db, path.change, reason, &by, clock::now()).await?;
    let sentence = if is_done { "Proposed. An administrator decides." } else { "It was proposed before." };
    Ok(back(&to_change(&path.change), sentence, &settings))
}

pub async fn apply(
    path: paths::PriceApply,
    layout: Layout,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
) -> Result {
    let outcome = prices::apply(&mut db, path.change, &by, clock::now()).await?;
    decided(outcome, "the change is applied", layout, db, &settings).await
}

pub async fn undo(
    path: paths::PriceUndo,
    layout: Layout,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
) -> Result {
    let outcome = prices::undo(&mut db, path.change, &by, clock::now()).await?;
    decided(outcome, "the change is undone", layout, db, &settings).await
}

async fn decided(outcome: Outcome, what: &str, layout: Layout, mut db: Db, settings: &Settings) -> Result {
    match told(outcome, what, settings) {
        Ok(response) => Ok(response),
        Err(overtaken) => {
            let changes = prices::changes(&mut db, LISTED).await?;
            respond::refused(Page { layout, changes, overtaken })
        }
    }
}

pub async fn discard(
    path: paths::PriceDiscard,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
) -> Result {
    let is_done = prices::discard(&mut db, path.change, &by, clock::now()).await?;
    let sentence = if is_done { "It is set aside." } else { "It was decided before." };
    Ok(back(&paths::PriceChanges.to_string(), sentence, &settings))
}

fn back(next: &str, sentence: &str, settings: &Settings) -> Response {
    let mut response = respond::see_other(next);
    cookie::leave_flash(&mut response, sentence, settings);
    response
}
