//! `/changes`: everything that changed figures, the allocation's changes among them.

use std::num::NonZeroU32;

use askama::Template;
use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use super::super::csv::{self, Cell, Record};
use super::super::error::{Error, Result};
use super::super::extract::{Db, Query};
use super::super::layout::{Layout, Pages};
use super::super::respond::As;
use super::super::{filters, paths, respond};
use super::change::state;
use crate::allocation::{self, Stage};
use crate::report::{self, Event, EventOf};

/// Lines on a page.
const PAGE: u64 = 50;

#[derive(Template)]
#[template(path = "allocation/changes.html")]
struct Index {
    layout: Layout,
    asked: Asked,
    lines: Vec<Event>,
    pages: Pages,
    /// Proposals that wait for a decision.
    waiting: i64,
}

/// `?status=proposed&by=ada@example.com&page=2`: those that stand so, drafted by them.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Stage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<NonZeroU32>,
}

impl Asked {
    fn link(&self) -> String {
        paths::with_query(paths::Changes, self).trim_end_matches('?').to_owned()
    }

    /// All of them: a file has no pages.
    async fn lines(&self, db: &mut Db) -> Result<Vec<Line>> {
        if self.page.is_some() {
            return Err(Error::BadRequest("page: a file has no pages; leave it off.".into()));
        }
        let (events, _) = report::events(db, self.status, self.by.as_deref(), 0, i64::MAX).await?;
        Ok(events.into_iter().map(Line::of).collect())
    }
}

/// What happened, for files.
#[derive(Serialize)]
struct Line {
    at: DateTime<Utc>,
    by: String,
    sequence: Option<i64>,
    what: &'static str,
    is_undo: bool,
    state: &'static str,
    title: String,
    change: Option<i64>,
    delivery: Option<i64>,
    reason: Option<String>,
}

/// The list of what waits for whoever decides.
pub fn proposed() -> String {
    Asked { status: Some(Stage::Proposed), ..Asked::default() }.link()
}

pub async fn index(_: paths::Changes, layout: Layout, Query(asked): Query<Asked>, mut db: Db) -> Result {
    let page = asked.page.map_or(1, |page| u64::from(page.get()));
    let first = ((page - 1) * PAGE).cast_signed();
    let (lines, count) =
        report::events(&mut db, asked.status, asked.by.as_deref(), first, PAGE.cast_signed()).await?;
    let all = Asked { page: None, ..asked.clone() }.link();
    let pages = Pages::of(page, count.unsigned_abs(), PAGE, &all);
    let waiting = allocation::proposals(&mut db).await?;
    respond::html(Index { layout, asked, lines, pages, waiting })
}

pub async fn json(_: paths::ChangesJson, Query(asked): Query<Asked>, mut db: Db) -> Result {
    respond::json(&asked.lines(&mut db).await?)
}

pub async fn csv(_: paths::ChangesCsv, Query(asked): Query<Asked>, mut db: Db) -> Result {
    csv::answer("changes", &asked.lines(&mut db).await?)
}

impl Index {
    fn file(&self, suffix: &str) -> String {
        Asked { page: None, ..self.asked.clone() }.link().replacen(
            "/changes",
            &format!("/changes.{suffix}"),
            1,
        )
    }

    fn stages(&self) -> Vec<(String, String, bool)> {
        let all = std::iter::once(None).chain(Stage::ALL.map(Some));
        let choice = |status: Option<Stage>| {
            let label = match status {
                None => "all".to_owned(),
                Some(Stage::Proposed) if self.waiting > 0 => format!("proposed ({})", self.waiting),
                Some(stage) => stage.as_str().to_owned(),
            };
            let asked = Asked { status, page: None, ..self.asked.clone() };
            (label, asked.link(), status == self.asked.status)
        };
        all.map(choice).collect()
    }

    /// Everybody's, or those of who looks.
    fn authors(&self) -> Vec<(String, String, bool)> {
        let Some(person) = &self.layout.person else { return Vec::new() };
        let own = Some(person.email.clone());
        let choice = |label: &str, by: Option<String>| {
            let is_current = by == self.asked.by;
            (label.to_owned(), Asked { by, page: None, ..self.asked.clone() }.link(), is_current)
        };
        vec![choice("everybody", None), choice("you", own)]
    }

    fn is_narrowed(&self) -> bool {
        self.asked.status.is_some() || self.asked.by.is_some()
    }
}

impl EventOf {
    /// What it is about where that is no change of the allocation, and where one sees more of it.
    pub fn elsewhere(&self) -> (String, String) {
        match self {
            Self::Change { change } => {
                (change.summary.clone(), paths::Change { change: As::page(change.id) }.to_string())
            }
            Self::Delivery { delivery, files, .. } => {
                let at = paths::Delivery { delivery: As::page(*delivery) }.to_string();
                (format!("Import {delivery}: {}", files.join(", ")), at)
            }
            Self::Rates => ("Exchange rates".to_owned(), paths::Rates.to_string()),
            Self::ReportingCurrency => ("The reporting currency".to_owned(), paths::Rates.to_string()),
            Self::Quantities => ("Quantities".to_owned(), paths::Quantities.to_string()),
        }
    }

    fn is_undone(&self) -> bool {
        matches!(self, Self::Delivery { is_undone: true, .. })
    }
}

impl Line {
    fn of(event: Event) -> Self {
        Self {
            what: event.of.kind(),
            state: event.of.state(),
            title: event.of.elsewhere().0,
            change: event.of.change().map(|change| change.id),
            delivery: event.of.delivery(),
            reason: event.reason().map(str::to_owned),
            at: event.at,
            by: event.by,
            sequence: event.sequence,
            is_undo: event.is_undo,
        }
    }
}

impl Record for Line {
    const COLUMNS: &'static [&'static str] =
        &["at", "by", "sequence", "what", "is_undo", "state", "title", "change", "delivery", "reason"];

    fn cells(&self) -> Vec<Cell<'_>> {
        let number = |number: Option<i64>| number.map_or(Cell::Empty, |number| Cell::Number(number.into()));
        vec![
            Cell::text(self.at.to_rfc3339_opts(SecondsFormat::Secs, true)),
            Cell::text(self.by.as_str()),
            number(self.sequence),
            Cell::text(self.what),
            Cell::text(if self.is_undo { "yes" } else { "no" }),
            Cell::text(self.state),
            Cell::text(self.title.as_str()),
            number(self.change),
            number(self.delivery),
            self.reason.as_deref().map_or(Cell::Empty, Cell::text),
        ]
    }
}
