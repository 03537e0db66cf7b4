//! `/asset-register/changes`: who changed what of the asset register, when and why; proposals, and undo.

use std::collections::BTreeMap;

use askama::Template;

use super::super::error::{Error, Result};
use super::super::extract::{Db, cookie};
use super::super::layout::Layout;
use super::super::respond::As;
use super::super::{Access, filters, paths, respond};
use super::{Sent, described};
use crate::audit::Actor;
use crate::clock;
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

    fn page(&self, change: &i64) -> paths::AssetRegisterChange {
        paths::AssetRegisterChange { change: As::page(*change) }
    }

    fn undo(&self, change: &Change) -> Option<String> {
        undo_of(&self.layout, change)
    }

    fn apply(&self, change: &i64) -> paths::AssetRegisterApply {
        paths::AssetRegisterApply { change: *change }
    }

    fn discard(&self, change: &i64) -> paths::AssetRegisterDiscard {
        paths::AssetRegisterDiscard { change: *change }
    }

    fn waits(&self, change: &Change) -> bool {
        change.status == Status::Proposed
    }
}

/// The look of a state's badge.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(super) fn look(status: &Status) -> &'static str {
    match status {
        Status::Applied => "good",
        Status::Proposed => "wait",
        Status::Undone | Status::Discarded => "",
    }
}

/// Where whoever looks undoes a change, if they may: readings whoever loads them, anything else who applies it.
pub(super) fn undo_of(layout: &Layout, it: &Change) -> Option<String> {
    let is_of_readings = it.edits.is_empty();
    let access = if is_of_readings { Access::Finance } else { Access::Admin };
    let may_undo = it.status == Status::Applied && layout.may(access);
    let way = if is_of_readings {
        paths::AssetRegisterTakeBack { change: it.id }.to_string()
    } else {
        paths::AssetRegisterUndo { change: it.id }.to_string()
    };
    may_undo.then_some(way)
}

/// What an edit changes, field by field: its name, before, after.
pub(super) fn differences(edit: &Edit) -> Vec<(String, String, String)> {
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

pub async fn index(_: paths::AssetRegisterChanges, layout: Layout, mut db: Db) -> Result {
    respond::html(Page::find(layout, &mut db).await?)
}

pub async fn json(_: paths::AssetRegisterChangesJson, mut db: Db) -> Result {
    respond::json(&onprem::changes(&mut db, i64::MAX).await?)
}

pub async fn apply(path: paths::AssetRegisterApply, layout: Layout, by: Actor, mut db: Db) -> Result {
    let outcome = onprem::apply(&mut db, path.change, &by, clock::now()).await?;
    decided(outcome, "applied", layout, db).await
}

pub async fn undo(path: paths::AssetRegisterUndo, layout: Layout, by: Actor, mut db: Db) -> Result {
    let outcome = onprem::undo(&mut db, path.change, &by, clock::now()).await?;
    decided(outcome, "undone", layout, db).await
}

/// Undoes the loading of readings, and nothing else.
pub async fn take_back(path: paths::AssetRegisterTakeBack, layout: Layout, by: Actor, mut db: Db) -> Result {
    let change = onprem::find(&mut db, path.change).await?.ok_or(Error::NotFound)?;
    if !change.edits.is_empty() {
        return Err(Error::MayNotWrite);
    }
    let outcome = onprem::undo(&mut db, path.change, &by, clock::now()).await?;
    decided(outcome, "undone", layout, db).await
}

async fn decided(outcome: onprem::Outcome, what: &str, layout: Layout, mut db: Db) -> Result {
    match described(outcome, what, &paths::AssetRegisterChanges.to_string()) {
        Sent::To(response) => Ok(response),
        Sent::Refused(problems) => {
            let page = Page::find(layout, &mut db).await?;
            respond::refused(Page { problems, ..page })
        }
    }
}

pub async fn discard(path: paths::AssetRegisterDiscard, by: Actor, mut db: Db) -> Result {
    let is_done = onprem::discard(&mut db, path.change, &by, clock::now()).await?;
    let sentence = if is_done { "The proposal is discarded." } else { "It was decided before." };
    let mut response = respond::see_other(paths::AssetRegisterChanges);
    cookie::leave_flash(&mut response, sentence);
    Ok(response)
}
