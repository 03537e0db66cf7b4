//! `/adjustments/changes/7`: a change of the adjustments with what it moves, by month and team, before it is applied and after.

use askama::Template;
use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::PgConnection;

use super::super::format::Format;
use super::frame::Frame;
use super::{Asked, decide};
use crate::adjustments::{self, Adjustment, Adjustments, Edit, Terms};
use crate::changes::{self, Document as _, Kind, Problem, Status};
use crate::report::{Answers, MonthOfAdjustments, accounts_billed, adjustment_impact, providers_billed};
use crate::web::adjustments::{amount, kind};
use crate::web::error::{Error, Result};
use crate::web::extract::Reading;
use crate::web::layout::Layout;
use crate::web::{filters, paths, respond};

#[derive(Template)]
#[template(path = "changes/adjustments.html")]
pub struct Page {
    layout: Layout,
    frame: Frame,
    edits: Vec<Edit>,
    months: Vec<MonthOfAdjustments>,
    /// Other percentages that are computed of the same bills.
    beside: Vec<String>,
    /// Why it may be for no bill.
    unmatched: Vec<String>,
    /// Bills whose adjustments are being computed.
    pending: usize,
}

pub async fn find(
    layout: Layout,
    db: &mut PgConnection,
    answers: &Answers,
    id: i64,
    problems: Vec<Problem>,
    now: DateTime<Utc>,
) -> Result<Page> {
    let change = changes::find::<Adjustments>(&mut *db, id).await?.ok_or(Error::NotFound)?;
    let (_, current) = Adjustments::current(&mut *db).await?;
    // Of one that was applied, as they were then.
    let (before, after) = match change.outline.applied_version {
        Some(version) => {
            (Adjustments::as_of(&mut *db, version - 1).await?, Adjustments::as_of(&mut *db, version).await?)
        }
        None => (current.clone(), current.edited(&change.edits)),
    };
    let months = adjustment_impact(&mut *db, answers, (&before, &after), &change.edits, now).await?;
    let pending = adjustments::pending(&mut *db, now).await?;
    let beside = after.beside(&change.edits).into_iter().map(Adjustment::title).collect();
    let unmatched = if months.is_empty() { unmatched(&mut *db, &change.edits).await? } else { Vec::new() };
    let frame = Frame::new(&layout, &change, &current, problems);
    Ok(Page { layout, frame, edits: change.edits, months, beside, unmatched, pending })
}

/// What keeps adjustments from being for a bill: a provider of which there is none, or another account.
async fn unmatched(db: &mut PgConnection, edits: &[Edit]) -> sqlx::Result<Vec<String>> {
    let mut sentences = Vec::new();
    for entry in edits.iter().filter_map(|edit| edit.after.as_ref()) {
        let accounts = accounts_billed(&mut *db, &entry.provider).await?;
        let is_account = |it: &String| it.eq_ignore_ascii_case(&entry.billing_account);
        if accounts.is_empty() {
            let providers = providers_billed(&mut *db).await?.join(", ");
            sentences
                .push(format!("No bill of {} is imported; there are bills of {providers}.", entry.provider));
        } else if !entry.billing_account.is_empty() && !accounts.iter().any(is_account) {
            sentences.push(format!(
                "Bills of {} are of the accounts {}.",
                entry.provider,
                accounts.join(", ")
            ));
        }
    }
    Ok(sentences)
}

pub async fn apply(path: paths::AdjustmentApply, asked: Asked) -> Result {
    decide((Kind::Adjustments, path.change), Status::Applied, asked).await
}

pub async fn undo(path: paths::AdjustmentUndo, asked: Asked) -> Result {
    decide((Kind::Adjustments, path.change), Status::Undone, asked).await
}

pub async fn show(path: paths::AdjustmentChange, format: Format, reading: Reading) -> Result {
    let Reading { now, layout, app, mut db, .. } = reading;
    let page = find(layout, &mut db, &app.answers, path.change, Vec::new(), now).await?;
    match format {
        Format::Html => respond::html(page),
        Format::Json => {
            let it = &page.frame.outline;
            respond::json(&json!({
                "change": {
                    "id": it.id, "status": it.status, "summary": it.summary, "reason": it.reason, "made_at": it.made_at,
                    "made_by": it.made_by, "applied_revision": it.applied_version, "undone_revision": it.undone_version,
                    "edits": page.edits,
                },
                "impact": page.months,
            }))
        }
        Format::Csv => Err(Error::NotFound),
    }
}

impl Page {
    /// What an edit does, in a word.
    fn what(&self, edit: &Edit) -> &'static str {
        let _ = self;
        match (&edit.before, &edit.after) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        }
    }

    fn restates(&self) -> bool {
        self.months.iter().any(|it| it.was_final)
    }

    fn has_minimum(&self) -> bool {
        let entries = self.edits.iter().flat_map(|edit| [&edit.before, &edit.after]).flatten();
        entries.into_iter().any(|it| it.terms.is_minimum())
    }

    fn entry<'a>(&self, edit: &'a Edit) -> Option<&'a Adjustment> {
        let _ = self;
        edit.after.as_ref().or(edit.before.as_ref())
    }

    fn amount(&self, terms: &Terms) -> String {
        let _ = self;
        amount(terms)
    }

    fn kind(&self, terms: &Terms) -> &'static str {
        let _ = self;
        kind(terms)
    }
}
