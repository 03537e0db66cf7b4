//! `/changes`: everything that people changed, whatever it is of.

use std::num::NonZeroU32;

use askama::Template;
use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::{Db, Reading};
use super::super::format::{File, Format};
use super::super::layout::{Layout, Pages};
use super::super::{filters, paths, respond};
use super::frame::look;
use crate::changes::{self, Kind, Status};
use crate::report::{self, Event, EventKind, EventOf, Events};

/// Lines on a page.
const PAGE: u64 = 50;

#[derive(Template)]
#[template(path = "changes/list.html")]
struct Index {
    layout: Layout,
    asked: Asked,
    lines: Vec<Event>,
    pages: Pages,
    /// Proposals of the kind asked for that wait for a decision.
    waiting: i64,
}

/// `?kind=prices&status=proposed&by=ada@example.com&page=2`: those of this kind that stand so, made by them.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<EventKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<NonZeroU32>,
}

impl Asked {
    fn link(&self) -> String {
        paths::with_query(paths::Changes, self).trim_end_matches('?').to_owned()
    }

    fn events(&self) -> Events<'_> {
        Events { status: self.status, author: self.by.as_deref(), kind: self.kind }
    }

    /// All of them: a file has no pages.
    async fn lines(&self, db: &mut Db) -> Result<Vec<Line>> {
        if self.page.is_some() {
            return Err(Error::BadRequest(
                "page: downloads have no pages; remove page from the address.".into(),
            ));
        }
        let (events, _) = report::events(db, self.events(), 0, i64::MAX).await?;
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

/// All changes of a kind.
pub fn of_kind(kind: Kind) -> String {
    Asked { kind: Some(kind.into()), ..Asked::default() }.link()
}

/// Those that wait for whoever decides.
pub fn proposed(kind: Kind) -> String {
    Asked { kind: Some(kind.into()), status: Some(Status::Proposed), ..Asked::default() }.link()
}

pub async fn index(_: paths::Changes, format: Format, reading: Reading<Asked>) -> Result {
    let Reading { layout, query: asked, mut db, .. } = reading;
    match format {
        Format::Html => {}
        Format::Json => return respond::json(&asked.lines(&mut db).await?),
        Format::Csv => return csv::answer("changes", &asked.lines(&mut db).await?),
    }
    let page = asked.page.map_or(1, |page| u64::from(page.get()));
    let first = ((page - 1) * PAGE).cast_signed();
    let (lines, count) = report::events(&mut db, asked.events(), first, PAGE.cast_signed()).await?;
    let all = Asked { page: None, ..asked.clone() }.link();
    let pages = Pages::of(page, count.unsigned_abs(), PAGE, &all);
    let waiting = match asked.kind.map(EventKind::of_change) {
        // Nobody proposes imports, rates and quantities.
        Some(None) => 0,
        Some(kind) => changes::waiting(&mut db, kind).await?,
        None => changes::waiting(&mut db, None).await?,
    };
    respond::html(Index { layout, asked, lines, pages, waiting })
}

impl Index {
    fn file(&self, file: File) -> String {
        file.of(Asked { page: None, ..self.asked.clone() }.link())
    }

    fn kinds(&self) -> Vec<(String, String, bool)> {
        let all = std::iter::once(None).chain(EventKind::ALL.map(Some));
        let choice = |kind: Option<EventKind>| {
            let label = kind.map_or("everything", EventKind::name).to_owned();
            let asked = Asked { kind, page: None, ..self.asked.clone() };
            (label, asked.link(), kind == self.asked.kind)
        };
        all.map(choice).collect()
    }

    fn statuses(&self) -> Vec<(String, String, bool)> {
        let all = std::iter::once(None).chain(Status::ALL.map(Some));
        let choice = |status: Option<Status>| {
            let label = match status {
                None => "all".to_owned(),
                Some(Status::Proposed) if self.waiting > 0 => format!("proposed ({})", self.waiting),
                Some(status) => status.as_str().to_owned(),
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
        self.asked.kind.is_some() || self.asked.status.is_some() || self.asked.by.is_some()
    }
}

impl EventOf {
    /// What it is about, and where one sees more of it.
    pub fn elsewhere(&self) -> (String, String) {
        match self {
            Self::Change { change } => (change.summary.clone(), super::page(change.kind, change.id)),
            Self::Delivery { delivery, files, .. } => {
                let at = paths::Delivery { delivery: *delivery }.to_string();
                (format!("Import {delivery}: {}", files.join(", ")), at)
            }
            Self::Rates => ("Exchange rates".to_owned(), paths::Rates.to_string()),
            Self::ReportingCurrency => ("The reporting currency".to_owned(), paths::Rates.to_string()),
            Self::Usage => ("Usage".to_owned(), paths::Usage.to_string()),
            Self::Quantities => ("Quantities".to_owned(), paths::Quantities.to_string()),
        }
    }

    /// The word of files, which scripts know.
    fn word(&self) -> &'static str {
        match self.kind() {
            EventKind::Imports => "delivery",
            EventKind::Allocation => "change",
            EventKind::AssetRegister => "asset-register",
            EventKind::Prices => "prices",
            EventKind::RateCards => "rate-cards",
            EventKind::Adjustments => "adjustments",
            EventKind::Rates => "rates",
            EventKind::Usage => "usage",
            EventKind::Quantities => "quantities",
            EventKind::ReportingCurrency => "reporting-currency",
        }
    }
}

impl Line {
    fn of(event: Event) -> Self {
        Self {
            what: event.of.word(),
            state: event.of.status().as_str(),
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

csv::record! {
    |it: Line|
    "at" => it.at.to_rfc3339_opts(SecondsFormat::Secs, true),
    "by" => &it.by,
    "sequence" => it.sequence,
    "what" => it.what,
    "is_undo" => it.is_undo,
    "state" => it.state,
    "title" => &it.title,
    "change" => it.change,
    "delivery" => it.delivery,
    "reason" => &it.reason,
}
