//! `/prices/changes/7`: a change of the list, or what a file would change: what is new, by how much it changes, what was
//! skipped and why, what was rejected in which row and column.

use askama::Template;
use chrono::NaiveDate;
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::super::format::Format;
use super::frame::Frame;
use crate::changes::{self, Change, Document as _, Outline, Problem, Status};
use crate::money::Decimal;
use crate::money::arithmetic::{one, quotient};
use crate::price_catalogue::Price;
use crate::price_catalogue::{Edit, Entries, Report};
use crate::web::csv;
use crate::web::error::{Error, Result};
use crate::web::extract::{Db, Reading};
use crate::web::layout::Layout;
use crate::web::prices::words;
use crate::web::{filters, paths, respond};

/// So many changes are in the list for scripts.
const LISTED: i64 = 200;
/// So many are shown; the file has them all.
const SHOWN: usize = 500;

/// An edit as people read it.
struct Line {
    price: Price,
    /// What held before it.
    held: Option<Price>,
    is_removal: bool,
    marks: Vec<(&'static str, String)>,
}

impl Line {
    fn words(&self) -> Vec<(&'static str, String)> {
        self.marks.clone()
    }

    fn model(&self) -> String {
        words::model(&self.price.accelerator)
    }

    /// By which share it is more, or less, than what held.
    fn share(&self) -> Option<Decimal> {
        let is_comparable = |held: &&Price| !self.is_removal && held.currency == self.price.currency;
        let held = self.held.as_ref().filter(is_comparable)?;
        quotient(self.price.amount, held.amount).map(|it| it - one())
    }

    fn difference(&self) -> String {
        match (self.is_removal, &self.held, self.share()) {
            (true, ..) => "removed".to_owned(),
            (_, Some(held), _) if held.currency != self.price.currency => "in another currency".to_owned(),
            (_, Some(held), _) if held.date > self.price.date => "older than what holds".to_owned(),
            (_, Some(_), Some(share)) if share.is_zero() => "the same, read again".to_owned(),
            (_, Some(_), Some(share)) => words::more_or_less(share),
            _ => "new".to_owned(),
        }
    }
}

#[derive(Template)]
#[template(path = "changes/prices.html")]
pub struct Page {
    layout: Layout,
    frame: Frame,
    lines: Vec<Line>,
    edits: Vec<Edit>,
    /// Of the file that it was read from.
    report: Option<Report>,
}

pub async fn find(
    layout: Layout,
    db: &mut PgConnection,
    id: i64,
    problems: Vec<Problem>,
    today: NaiveDate,
) -> Result<Page> {
    let change = changes::find::<Entries>(&mut *db, id).await?.ok_or(Error::NotFound)?;
    let (_, current) = Entries::current(&mut *db).await?;
    let frame = Frame::new(&layout, &change, &current, problems);
    let list = current.catalogue();
    let line = |edit: &Edit| {
        let price = edit.price()?.clone();
        let is_removal = edit.sets().is_none();
        let marks = if is_removal { Vec::new() } else { list.marks_of(&price, edit.held.as_ref(), today) };
        let marks = marks.iter().map(|mark| words::mark(mark, &price)).collect();
        Some(Line { price, held: edit.held.clone(), is_removal, marks })
    };
    let lines = change.edits.iter().filter_map(line).collect();
    Ok(Page { layout, frame, lines, report: report_of(&change)?, edits: change.edits })
}

impl Page {
    fn shown(&self) -> &[Line] {
        &self.lines[..self.lines.len().min(SHOWN)]
    }

    fn here(&self) -> paths::PriceChange {
        paths::PriceChange { change: self.frame.outline.id }
    }
}

fn report_of(change: &Change<Edit>) -> Result<Option<Report>> {
    Ok(change.report.clone().map(serde_json::from_value).transpose()?)
}

pub async fn show(path: paths::PriceChange, format: Format, reading: Reading) -> Result {
    let Reading { now, layout, mut db, .. } = reading;
    let id = path.change;
    let page = find(layout, &mut db, id, Vec::new(), now.date_naive()).await?;
    match format {
        Format::Html => respond::html(page),
        Format::Json => {
            let mut change = as_json(&page.frame.outline);
            change["edits"] = json!(page.edits);
            change["report"] = json!(page.report);
            respond::json(&json!({
                "change": change, "conflicts": page.frame.conflicts, "overtaken": page.frame.conflicts,
            }))
        }
        Format::Csv => csv::answer(&format!("price-change-{id}"), &page.lines),
    }
}

/// The latest of them, with how many there are.
pub async fn list(_: paths::PriceChanges, format: Format, mut db: Db) -> Result {
    if format != Format::Json {
        return Err(Error::NotFound);
    }
    let total = changes::count(&mut db, Entries::KIND).await?;
    let latest = changes::latest_outlines(&mut db, Entries::KIND, LISTED).await?;
    let lines = latest.iter().map(|(outline, edits)| {
        let mut line = as_json(outline);
        line["prices"] = (*edits).into();
        line
    });
    let lines: Vec<Value> = lines.collect();
    respond::json(&json!({ "changes": lines, "total": total, "limit": LISTED }))
}

fn as_json(it: &Outline) -> Value {
    json!({
        "id": it.id,
        // The word that scripts know.
        "status": if it.status == Status::Draft { "drafted" } else { it.status.as_str() },
        "summary": it.summary,
        "reason": it.reason,
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
    |it: Line|
    "accelerator" => &it.price.accelerator,
    "supplier" => &it.price.supplier,
    "tier" => it.price.tier.as_str(),
    "sku" => &it.price.sku,
    "region" => &it.price.region,
    "date" => it.price.date,
    "before" => it.held.as_ref().map(|held| held.amount),
    "before_currency" => it.held.as_ref().map(|held| &held.currency),
    "after" => (!it.is_removal).then_some(it.price.amount),
    "currency" => &it.price.currency,
    "what" => it.difference(),
}
