//! `/prices/changes`: who changed what of the list, when and why; proposals, and undo.

use askama::Template;
use axum::response::Response;
use serde_json::json;
use sqlx::PgConnection;

use super::{Why, described, to_change};
use crate::audit::Actor;
use crate::clock;
use crate::prices::{self, Line, Outcome, Status};
use crate::web::error::{Error, Result};
use crate::web::extract::{Db, Form, cookie};
use crate::web::layout::Layout;
use crate::web::{filters, paths, respond};

/// At most so many are listed.
const LISTED: i64 = 200;

#[derive(Template)]
#[template(path = "prices/changes.html")]
struct Page {
    layout: Layout,
    changes: Vec<Line>,
    /// How many there are; the latest are listed.
    total: i64,
    conflicts: Vec<String>,
    /// They keep a change from being undone, not from being applied.
    is_undoing: bool,
}

impl Page {
    async fn find(layout: Layout, db: &mut PgConnection) -> Result<Self> {
        let (changes, total) = (prices::changes(&mut *db, LISTED).await?, prices::count(db).await?);
        Ok(Self { layout, changes, total, conflicts: Vec::new(), is_undoing: false })
    }

    fn is_cut(&self) -> bool {
        i64::try_from(self.changes.len()).is_ok_and(|listed| listed < self.total)
    }
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
    respond::html(Page::find(layout, &mut db).await?)
}

pub async fn json(_: paths::PriceChangesJson, mut db: Db) -> Result {
    let (changes, total) = (prices::changes(&mut db, LISTED).await?, prices::count(&mut db).await?);
    respond::json(&json!({ "changes": changes, "total": total, "limit": LISTED }))
}

/// Hands what a file would change to whoever decides.
pub async fn propose(
    path: paths::PricePropose,
    layout: Layout,
    by: Actor,
    mut db: Db,
    Form(why): Form<Why>,
) -> Result {
    let outcome = prices::propose(&mut db, path.change, why.reason()?, &by, clock::now()).await?;
    if let Outcome::Proposed(id) = outcome {
        return Ok(back(&to_change(&id), "Proposed. An administrator decides."));
    }
    decided(outcome, path.change, "the change is proposed", layout, db).await
}

pub async fn apply(path: paths::PriceApply, layout: Layout, by: Actor, mut db: Db) -> Result {
    let outcome = prices::apply(&mut db, path.change, &by, clock::now()).await?;
    decided(outcome, path.change, "the change is applied", layout, db).await
}

pub async fn undo(path: paths::PriceUndo, layout: Layout, by: Actor, mut db: Db) -> Result {
    let outcome = prices::undo(&mut db, path.change, &by, clock::now()).await?;
    if let Outcome::Conflict(conflicts) = outcome {
        return respond::refused(Page { conflicts, is_undoing: true, ..Page::find(layout, &mut db).await? });
    }
    decided(outcome, path.change, "the change is undone", layout, db).await
}

async fn decided(outcome: Outcome, id: i64, what: &str, layout: Layout, mut db: Db) -> Result {
    if outcome == Outcome::Nothing {
        return nothing(&mut db, id).await;
    }
    match described(outcome, what) {
        Ok(response) => Ok(response),
        Err(conflicts) => respond::refused(Page { conflicts, ..Page::find(layout, &mut db).await? }),
    }
}

/// Says why nothing happened to a change: what was decided of it, if there is one.
async fn nothing(db: &mut PgConnection, id: i64) -> Result {
    let change = prices::find(db, id).await?.ok_or(Error::NotFound)?;
    let who = |by: Option<String>| by.map(|by| format!(" by {by}")).unwrap_or_default();
    let sentence = match change.status {
        Status::Drafted | Status::Proposed if change.edits.is_empty() => {
            "Nothing of it changes the list.".to_owned()
        }
        Status::Drafted => "Nothing changed: it is a preview, and was never applied.".to_owned(),
        Status::Proposed => "Nothing changed: it is proposed and needs review.".to_owned(),
        Status::Applied => format!("Nothing changed: it was applied{}.", who(change.decided_by)),
        Status::Undone => format!("Nothing changed: it was undone{}.", who(change.undone_by)),
        Status::Discarded => format!("Nothing changed: it was discarded{}.", who(change.decided_by)),
    };
    Ok(back(&to_change(&id), &sentence))
}

pub async fn discard(path: paths::PriceDiscard, by: Actor, mut db: Db) -> Result {
    let is_done = prices::discard(&mut db, path.change, &by, clock::now()).await?;
    if !is_done {
        return nothing(&mut db, path.change).await;
    }
    Ok(back(&paths::PriceChanges.to_string(), "It is discarded."))
}

fn back(next: &str, sentence: &str) -> Response {
    let mut response = respond::see_other(next);
    cookie::leave_flash(&mut response, sentence);
    response
}
