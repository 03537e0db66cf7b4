//! `/asset-register/changes/7`: a change of the asset register with what it would move, or moved, by cluster and month; undo.

use std::collections::BTreeMap;

use askama::Template;
use chrono::NaiveDate;
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::super::clusters::cluster::to_month;
use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::{Db, Reading};
use super::super::format::Format;
use super::super::layout::Layout;
use super::super::{filters, paths, respond};
use super::frame::Frame;
use crate::changes::{self, Document as _, Edit as _, Outline, Problem};
use crate::compute::compute;
use crate::onprem::{self, AmountImpact, AssetRegister, Edit, Impact, RegisterBeforeAfter, cells};

#[derive(Template)]
#[template(path = "changes/asset_register.html")]
pub struct Page {
    layout: Layout,
    frame: Frame,
    edits: Vec<Edit>,
    /// What it would move, or moved; none of one that was discarded.
    moves: Option<Impact>,
    /// What undoing it would move, where that is not the same backwards.
    undoing: Option<Impact>,
}

pub async fn find(
    layout: Layout,
    db: &mut PgConnection,
    id: i64,
    problems: Vec<Problem>,
    today: NaiveDate,
) -> Result<Page> {
    let change = changes::find::<AssetRegister>(&mut *db, id).await?.ok_or(Error::NotFound)?;
    let moves = computed(onprem::before_after(&mut *db, &change).await?, today).await?;
    let (revision, current) = AssetRegister::current(&mut *db).await?;
    let frame = Frame::new(&layout, &change, &current, problems);
    let undoing = match change.outline.applied_version {
        Some(applied) if applied < revision && frame.conflicts.is_empty() => {
            computed(onprem::before_after_undoing(&mut *db, &change).await?, today).await?
        }
        _ => None,
    };
    Ok(Page { layout, frame, edits: change.edits, moves, undoing })
}

impl Page {
    fn here(&self) -> paths::AssetRegisterChange {
        paths::AssetRegisterChange { change: self.frame.outline.id }
    }
}

fn to_impact(it: &AmountImpact) -> String {
    to_month(&it.cluster, it.month)
}

/// Every line of every month is made twice, which takes long of many machines.
async fn computed(before_after: Option<RegisterBeforeAfter>, today: NaiveDate) -> Result<Option<Impact>> {
    let Some(before_after) = before_after else { return Ok(None) };
    Ok(Some(compute(move || before_after.impact(today)).await?))
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

pub async fn show(path: paths::AssetRegisterChange, format: Format, reading: Reading) -> Result {
    let Reading { now, layout, mut db, .. } = reading;
    let id = path.change;
    let page = find(layout, &mut db, id, Vec::new(), now.date_naive()).await?;
    match format {
        Format::Html => respond::html(page),
        Format::Json => respond::json(&json!({
            "change": as_json(&page.frame.outline, &page.edits),
            "conflicts": page.frame.conflicts, "overtaken": page.frame.conflicts,
            "moves": page.moves,
            "undoing": page.undoing,
        })),
        Format::Csv => {
            let amounts = page.moves.map(|moves| moves.amounts).unwrap_or_default();
            csv::answer(&format!("register-change-{id}"), &amounts)
        }
    }
}

/// All of them, the latest first.
pub async fn list(_: paths::AssetRegisterChanges, format: Format, mut db: Db) -> Result {
    if format != Format::Json {
        return Err(Error::NotFound);
    }
    let all = changes::latest::<AssetRegister>(&mut db, i64::MAX).await?;
    let lines: Vec<Value> = all.iter().map(|it| as_json(&it.outline, &it.edits)).collect();
    respond::json(&lines)
}

fn as_json(it: &Outline, edits: &[Edit]) -> Value {
    json!({
        "id": it.id,
        "status": it.status,
        "summary": it.summary,
        "reason": it.reason,
        "edits": edits,
        "made_at": it.made_at,
        "made_by": it.made_by,
        "decided_at": it.decided_at,
        "decided_by": it.decided_by,
        "applied_revision": it.applied_version,
        "undone_revision": it.undone_version,
        "undone_at": it.undone_at,
        "undone_by": it.undone_by,
        "decision_reason": it.decision_reason,
        "undo_reason": it.undo_reason,
    })
}

csv::record! {
    |it: AmountImpact|
    "cluster" => &it.cluster,
    "month" => it.month,
    "currency" => &it.currency,
    "effective_before" => it.effective.before,
    "effective_after" => it.effective.after,
    "effective_difference" => it.effective.difference,
    "billed_before" => it.billed.before,
    "billed_after" => it.billed.after,
    "billed_difference" => it.billed.difference,
    "counts" => it.counts,
}
