//! `/register/changes`: who changed what of the register, when and why; proposals, and undo.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;

use super::super::error::Result;
use super::super::extract::{Db, cookie};
use super::super::layout::Layout;
use super::super::respond::As;
use super::super::{Access, filters, paths, respond};
use super::{Sent, told};
use crate::audit::Actor;
use crate::clock;
use crate::config::Settings;
use crate::onprem::{self, Change, Edit, Problem, Status, cells};

/// At most so many are listed.
const LISTED: i64 = 200;

#[derive(Template)]
#[template(path = "clusters/changes.html")]
struct Page {
    layout: Layout,
    changes: Vec<Change>,
    problems: Vec<Problem>,
}

#[expect(clippy::trivially_copy_pass_by_ref, clippy::unused_self, reason = "templates pass references")]
impl Page {
    async fn find(layout: Layout, db: &mut Db) -> Result<Self> {
        Ok(Self { layout, changes: onprem::changes(db, LISTED).await?, problems: Vec::new() })
    }

    fn may_decide(&self) -> bool {
        self.layout.may(Access::Admin)
    }

    fn undo(&self, change: &i64) -> paths::RegisterUndo {
        paths::RegisterUndo { change: *change }
    }

    fn apply(&self, change: &i64) -> paths::RegisterApply {
        paths::RegisterApply { change: *change }
    }

    fn discard(&self, change: &i64) -> paths::RegisterDiscard {
        paths::RegisterDiscard { change: *change }
    }

    fn look(&self, status: &Status) -> &'static str {
        match status {
            Status::Applied => "good",
            Status::Proposed => "wait",
            Status::Undone | Status::Discarded => "",
        }
    }

    fn may_undo(&self, change: &Change) -> bool {
        change.status == Status::Applied && self.may_decide()
    }

    fn waits(&self, change: &Change) -> bool {
        change.status == Status::Proposed
    }
}

/// What an edit changes, field by field: its name, before, after.
fn differences(edit: &Edit) -> Vec<(String, String, String)> {
    let of = |entry: &Option<onprem::Entry>| entry.as_ref().map(cells).unwrap_or_default();
    let (before, after): (BTreeMap<String, String>, BTreeMap<String, String>) =
        (of(&edit.before), of(&edit.after));
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let text = |texts: &BTreeMap<String, String>, name: &String| texts.get(name).cloned().unwrap_or_default();
    names
        .into_iter()
        .map(|name| (name.clone(), text(&before, name), text(&after, name)))
        .filter(|(_, before, after)| before != after)
        .collect()
}

pub async fn index(_: paths::RegisterChanges, layout: Layout, mut db: Db) -> Result {
    respond::html(Page::find(layout, &mut db).await?)
}

pub async fn json(_: paths::RegisterChangesJson, mut db: Db) -> Result {
    respond::json(&onprem::changes(&mut db, i64::MAX).await?)
}

pub async fn apply(
    path: paths::RegisterApply,
    layout: Layout,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
) -> Result {
    let outcome = onprem::apply(&mut db, path.change, &by, clock::now()).await?;
    decided(outcome, "applied", layout, db, &settings).await
}

pub async fn undo(
    path: paths::RegisterUndo,
    layout: Layout,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
) -> Result {
    let outcome = onprem::undo(&mut db, path.change, &by, clock::now()).await?;
    decided(outcome, "undone", layout, db, &settings).await
}

async fn decided(
    outcome: onprem::Outcome,
    what: &str,
    layout: Layout,
    mut db: Db,
    settings: &Settings,
) -> Result {
    match told(outcome, what, &paths::RegisterChanges.to_string(), settings) {
        Sent::To(response) => Ok(response),
        Sent::Refused(problems) => {
            let page = Page::find(layout, &mut db).await?;
            respond::refused(Page { problems, ..page })
        }
    }
}

pub async fn discard(
    path: paths::RegisterDiscard,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
) -> Result {
    let is_done = onprem::discard(&mut db, path.change, &by, clock::now()).await?;
    let sentence = if is_done { "The proposal is set aside." } else { "It was decided before." };
    let mut response = respond::see_other(paths::RegisterChanges);
    cookie::leave_flash(&mut response, sentence, &settings);
    Ok(response)
}
