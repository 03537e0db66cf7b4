//! `/imports`: what waits for a decision, what runs, and the history of what was delivered.

pub mod batch;
pub mod decide;
pub mod delivery;
pub mod download;
pub mod import_changes;
pub mod limits;
pub mod list_query;
pub mod receive;
pub mod review;
pub mod uploads;

use askama::Template;
use axum::http::HeaderValue;
use axum::response::Response;
use chrono::{DateTime, Duration, Utc};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::csv;
use super::error::Result;
use super::extract::{Htmx, Reading};
use super::filters::Bare;
use super::form::Fields;
use super::format::{File, Format};
use super::layout::{Layout, Pages};
use super::{filters, paths, respond};
use crate::billing::{ANY_OTHER, FORMATS, Guide};
use crate::jobs::Upload;
use crate::period::BillingMonth;
use crate::report::{self, History, HistoryChoices, ImportLine, JobLine};

use list_query::HistoryQuery;

/// For how long a batch that failed as a whole is shown.
const FAILED_SHOWN: Duration = Duration::days(1);
/// Deliveries in one file.
const LARGEST_FILE: i64 = 100_000;

/// What the page shows; also its JSON.
#[derive(Serialize)]
struct Imports {
    running: Vec<JobLine>,
    waiting: Vec<ImportLine>,
    #[serde(flatten)]
    history: History,
}

#[derive(Template)]
#[template(path = "imports/index.html", blocks = ["running", "live"])]
struct Page {
    layout: Layout,
    imports: Imports,
    /// What this person has begun to upload.
    uploads: Vec<Upload>,
    fields: Fields,
    query: HistoryQuery,
    is_narrowed: bool,
    choices: HistoryChoices,
    now: DateTime<Utc>,
}

pub async fn index(
    _: paths::Imports,
    format: Format,
    Htmx(is_fragment): Htmx,
    reading: Reading<HistoryQuery>,
) -> Result {
    let Reading { now, layout, person, query, app, mut db } = reading;
    match format {
        Format::Html => {}
        Format::Json => return respond::json(&Imports::find(&mut db, &query, now).await?),
        Format::Csv => {
            let (filter, order) = (query.filter()?, query.order()?);
            let history = report::history(&mut db, &filter, order, 0, LARGEST_FILE).await?;
            return csv::answer("imports", &list_query::rows(&history.lines));
        }
    }
    let uploads = app.uploads.of(person.user_id).all()?;
    let page = Page::find(layout, &mut db, &query, (Fields::default(), uploads), now).await?;
    match (is_fragment, page.is_under_way()) {
        (false, _) => respond::html(page),
        (true, true) => respond::html(page.as_running()),
        // What ran is history now: the whole of what changes is shown anew.
        (true, false) => Ok(in_place_of("#live", respond::html(page.as_live())?)),
    }
}

impl Imports {
    async fn find(db: &mut PgConnection, query: &HistoryQuery, now: DateTime<Utc>) -> Result<Self> {
        let (filter, order) = (query.filter()?, query.order()?);
        let first = (query.page() - 1) * report::HISTORY_PAGE;
        Ok(Self {
            running: report::jobs(db, now - FAILED_SHOWN).await?,
            waiting: report::waiting(db).await?,
            history: report::history(db, &filter, order, first, report::HISTORY_PAGE).await?,
        })
    }
}

/// The exports that are read, those of a provider together.
fn guides() -> Vec<&'static Guide> {
    let mut guides: Vec<_> = FORMATS.iter().flat_map(|format| format.guides()).collect();
    guides.sort_by_key(|guide| (guide.provider == ANY_OTHER, guide.provider));
    guides
}

impl Page {
    async fn find(
        layout: Layout,
        db: &mut PgConnection,
        query: &HistoryQuery,
        (fields, uploads): (Fields, Vec<Upload>),
        now: DateTime<Utc>,
    ) -> Result<Self> {
        let imports = Imports::find(db, query, now).await?;
        let choices = report::history_choices(db).await?;
        let is_narrowed = !query.filter()?.is_empty();
        Ok(Self { layout, imports, uploads, fields, query: query.clone(), is_narrowed, choices, now })
    }

    fn is_under_way(&self) -> bool {
        self.imports.running.iter().any(JobLine::is_under_way)
    }

    /// The page with what narrows it, to ask again for the part that changes.
    fn here(&self) -> String {
        self.query.link()
    }

    fn selects(&self) -> Vec<list_query::Select> {
        list_query::selects(&self.query, &self.choices)
    }

    fn pages(&self) -> Pages {
        let first = HistoryQuery { page: None, ..self.query.clone() }.link();
        let joint = if first.contains('?') { '&' } else { '?' };
        let count = self.imports.history.count as u64;
        Pages {
            page: self.query.page() as u64,
            count: count.div_ceil(report::HISTORY_PAGE as u64).max(1),
            href: format!("{first}{joint}page="),
        }
    }

    fn is_empty(&self) -> bool {
        self.imports.history.count == 0 && self.imports.waiting.is_empty() && !self.is_narrowed
    }
}

/// Tells htmx to put the answer elsewhere than it had meant to.
fn in_place_of(element: &'static str, mut response: Response) -> Response {
    response.headers_mut().insert("hx-retarget", HeaderValue::from_static(element));
    response
}

/// What became of a delivery: a word or two, and the kind of its badge.
pub fn state(line: &ImportLine) -> (&'static str, &'static str) {
    let counted = line.scopes.iter().filter(|scope| scope.is_counted).count();
    match line.status.as_str() {
        "loaded" if line.scopes.is_empty() => ("no charges", ""),
        "loaded" if counted == line.scopes.len() => ("active", "good"),
        "loaded" if counted > 0 => ("partly replaced", ""),
        // What it corrects is not active.
        "loaded" if line.superseded_by.is_empty() => ("inactive", ""),
        "loaded" => ("replaced", ""),
        "waiting" => ("needs review", "wait"),
        "loading" => ("importing", "wait"),
        "refused" => ("refused", "bad"),
        "failed" => ("failed", "bad"),
        "discarded" => ("discarded", ""),
        "cancelled" => ("cancelled", ""),
        _ => ("undone", ""),
    }
}

/// The state of an import and its look, as pages spell it.
pub fn state_on_page(line: &ImportLine) -> (&'static str, &'static str) {
    match state(line) {
        ("cancelled", look) => ("canceled", look),
        other => other,
    }
}

/// What was said about a file, as a sentence beside the file's name.
pub fn sentence(message: &str, files: &[String]) -> String {
    let own = match files {
        [file] => message.strip_prefix(file.as_str()).and_then(|rest| rest.strip_prefix(": ")),
        _ => None,
    };
    let text = own.unwrap_or(message);
    let end = if text.ends_with('.') { "" } else { "." };
    // The name of a file keeps its spelling.
    if files.iter().any(|file| text.starts_with(file.as_str())) {
        return format!("{text}{end}");
    }
    let mut letters = text.chars();
    let first: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}{end}", letters.as_str())
}

/// The page of a delivery.
pub fn at(delivery: impl Bare<i64>) -> paths::Delivery {
    paths::Delivery { delivery: delivery.bare() }
}

/// Where an upload is gone on with.
pub fn upload_at(upload: &Upload) -> paths::Upload {
    paths::Upload { upload: upload.id }
}

/// Where the rows of an archived import are loaded again.
pub fn load_again(delivery: impl Bare<i64>) -> paths::DeliveryLoadAgain {
    paths::DeliveryLoadAgain { delivery: delivery.bare() }
}

/// The page of a batch.
pub fn batch_page(batch: &Uuid) -> paths::Batch {
    paths::Batch { batch: *batch }
}

/// The month page.
pub fn month_page(month: impl Bare<BillingMonth>) -> paths::Spend {
    paths::Spend { period: month.bare().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_was_wrong_as_a_sentence() {
        let files = ["a.csv".to_owned(), "b.csv".to_owned()];
        assert_eq!(sentence("a.csv: row 3: found “é”", &files[..1]), "Row 3: found “é”.");
        assert_eq!(sentence("b.csv: found it.", &files), "b.csv: found it.");
        assert_eq!(sentence("écart", &files), "Écart.");
        assert_eq!(sentence("", &[]), ".");
    }
}
