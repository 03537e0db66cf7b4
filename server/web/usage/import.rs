//! `/usage/imports/7`: what a file of usage was, which of its rows were rejected, and taking it back.

use std::collections::BTreeSet;

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

/// An import of usage, where it is active the months that it is of, and which of them it changes although their bills are final.
pub(in crate::web) struct UsageResult {
    pub line: ImportLine,
    pub period: Option<Period>,
    pub final_months: Vec<BillingMonth>,
}

impl UsageResult {
    /// Those with these numbers that there are.
    pub async fn find(db: &mut PgConnection, imports: &[i64]) -> sqlx::Result<Vec<Self>> {
        let lines = read::imports(&mut *db, Some(imports), i64::MAX).await?;
        let periods: Vec<Option<Period>> = lines.iter().map(period_of).collect();
        let months: BTreeSet<BillingMonth> = periods.iter().flatten().flat_map(Period::months).collect();
        let all_final = report::final_months(db, months.into_iter()).await?;
        let results = lines.into_iter().zip(periods).map(|(line, period)| {
            let is_own =
                |month: &&BillingMonth| period.is_some_and(|it| it.months().any(|own| own == **month));
            Self { line, period, final_months: all_final.iter().filter(is_own).copied().collect() }
        });
        Ok(results.collect())
    }
}

fn period_of(line: &ImportLine) -> Option<Period> {
    let (first, last) = line.first_at.zip(line.last_at).filter(|_| line.status == "active")?;
    // What ends at midnight ends on the day before.
    let last = first.max(last - TimeDelta::milliseconds(1));
    Period::new(BillingMonth::of(first.date_naive()), BillingMonth::of(last.date_naive()))
}

pub async fn show(path: paths::UsageImport, format: Format, reading: Reading) -> Result {
    let Reading { layout, mut db, .. } = reading;
    let found = UsageResult::find(&mut db, &[path.import]).await?.pop().ok_or(Error::NotFound)?;
    let UsageResult { line, final_months, .. } = found;
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
