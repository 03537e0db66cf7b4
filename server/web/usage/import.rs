//! `/usage/imports/7`: what a file of usage was, which of its rows were rejected, and taking it back.

use askama::Template;
use chrono::TimeDelta;
use serde_json::json;
use sqlx::PgConnection;

use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::{Reading, Writing};
use super::super::format::Format;
use super::super::layout::Layout;
use super::super::{Access, filters, paths, respond};
use crate::period::{BillingMonth, Period};
use crate::report;
use crate::telemetry::read::{self, ImportLine, RejectedRow};
use crate::telemetry::{self, Skip, Undone};

/// Rejected rows on the page.
const SHOWN: i64 = 100;
/// In a file.
const MOST: i64 = 100_000;

#[derive(Template)]
#[template(path = "usage/import.html")]
struct Page {
    layout: Layout,
    path: paths::UsageImport,
    line: ImportLine,
    rejections: Vec<RejectedRow>,
    skips: Vec<(String, i64)>,
    /// Months of which it says something and whose bills are final.
    final_months: Vec<BillingMonth>,
}

/// An import of usage, and which months it changes although their bills are final.
pub(in crate::web) struct UsageResult {
    pub line: ImportLine,
    pub final_months: Vec<BillingMonth>,
}

impl UsageResult {
    pub async fn of(db: &mut PgConnection, line: ImportLine) -> sqlx::Result<Self> {
        let times = line.first_at.zip(last_month(&line)).filter(|_| line.status == "active");
        let period = times.and_then(|(first, last)| Period::new(BillingMonth::of(first.date_naive()), last));
        let months = period.into_iter().flat_map(|period| period.months());
        Ok(Self { final_months: report::final_months(db, months).await?, line })
    }

    /// The month in which it ends.
    pub fn month(&self) -> Option<BillingMonth> {
        last_month(&self.line)
    }
}

fn last_month(line: &ImportLine) -> Option<BillingMonth> {
    // What ends at midnight ends on the day before.
    Some(BillingMonth::of((line.last_at? - TimeDelta::milliseconds(1)).date_naive()))
}

pub async fn show(path: paths::UsageImport, format: Format, reading: Reading) -> Result {
    let Reading { layout, mut db, .. } = reading;
    let line = read::imports(&mut db, Some(path.import), 1).await?.pop().ok_or(Error::NotFound)?;
    match format {
        Format::Csv => {
            let rows = read::rejections(&mut db, path.import, MOST).await?;
            csv::answer(&format!("usage-import-{}-rejected", path.import), &rows)
        }
        Format::Json => {
            let rejections = read::rejections(&mut db, path.import, MOST).await?;
            respond::json(&json!({ "import": line, "rejections": rejections }))
        }
        Format::Html => {
            let rejections = read::rejections(&mut db, path.import, SHOWN).await?;
            let skips = read::skips(&mut db, path.import).await?;
            let UsageResult { line, final_months } = UsageResult::of(&mut db, line).await?;
            respond::html(Page { layout, path, line, rejections, skips, final_months })
        }
    }
}

pub async fn undo(path: paths::UsageUndo, writing: Writing) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let page = paths::UsageImport { import: path.import };
    let said = match telemetry::undo(&mut db, path.import, by.at(now)).await? {
        Undone::Done => "Undone. Import the file again to bring it back.",
        Undone::NotActive => "Nothing changed: the import is not active.",
    };
    Ok(respond::flash(page, said))
}

impl Page {
    /// Why rows were skipped, in words.
    fn skipped(&self) -> Vec<(String, i64)> {
        let words = self.skips.iter().map(|(reason, rows)| {
            let known = Skip::ALL.into_iter().find(|it| it.as_str() == reason);
            (known.map_or_else(|| reason.clone(), |it| it.reason().to_owned()), *rows)
        });
        words.collect()
    }
}

csv::record! {
    |it: RejectedRow|
    "row" => it.row,
    "column" => &it.column,
    "found" => &it.found,
    "expected" => &it.expected,
}
