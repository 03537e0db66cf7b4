//! The charges behind a figure (`/charges/2026-09?service=AmazonEC2`), and one of them with the row of the
//! file it comes from (`/charges/12/0/4711`).

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use futures_util::{StreamExt as _, stream};

use super::error::Result;
use super::extract::{CurrentUser, Db, Query};
use super::layout::{Layout, Pages};
use super::question::Asked;
use super::respond::{As, Cell, Format, Record};
use super::{Access, Error, Files, filters, paths, respond};
use crate::ledger::Originals;
use crate::money::Decimal;
use crate::period::Period;
use crate::report::{self, Answers, ChargeLine, Charges, EveryCharge, Grouping, Question, Spend, Trace};

#[derive(Template)]
#[template(path = "charges.html")]
struct ListPage {
    layout: Layout,
    period: Period,
    asked: Asked,
    charges: Option<Charges>,
}

pub async fn list(
    path: paths::Charges,
    layout: Layout,
    CurrentUser(person): CurrentUser,
    Query(pairs): Query<Vec<(String, String)>>,
    State(answers): State<Arc<Answers>>,
    State(files): State<Files>,
    mut db: Db,
) -> Result {
    let As { value: period, format } = path.period;
    let asked = Asked::read(pairs)?;
    let mut question = asked.question(period, person.viewer());
    // Charges keep their currency.
    (question.by, question.then, question.convert_into) = (Grouping::Provider, None, None);
    let spend = answers.spend(&mut db, &question).await?;
    if format == Format::Csv {
        drop(db);
        return download(&files, &question, &spend).await;
    }
    let page = report::Page { first: (asked.page - 1) as i64 * report::PAGE_SIZE, size: report::PAGE_SIZE };
    let charges = match &spend.currency {
        Some(currency) => Some(report::charges(&mut db, &question, currency, spend.sequence, page).await?),
        None => None,
    };
    match format {
        Format::Html => respond::html(ListPage { layout, period, asked, charges }),
        Format::Json | Format::Csv => respond::json(&charges),
    }
}

/// All of them, however many, on one of the connections for downloads. Whoever goes away ends the query.
async fn download(Files(files): &Files, question: &Question, spend: &Spend) -> Result {
    let name = format!("charges-{}", question.period);
    let Some(currency) = &spend.currency else { return respond::csv::<ChargeLine>(&name, []) };
    let mut charges = EveryCharge::open(files, question, currency, spend.sequence).await?;
    // The first part before the answer begins: what is wrong by then is told as an error. It is written even where
    // it is empty, for the names of the columns.
    let first = charges.next().await?;
    let rest = stream::try_unfold(charges, async |mut charges| {
        let part = charges.next().await?;
        Ok((!part.is_empty()).then_some((part, charges)))
    });
    let parts = stream::once(async { Ok(first) }).chain(rest);
    Ok(respond::csv_parts(&name, parts))
}

impl ListPage {
    fn at(&self, asked: &Asked) -> String {
        asked.link(paths::Charges { period: As::page(self.period) })
    }

    fn chips(&self) -> Vec<(String, String)> {
        self.asked.chips(|asked| self.at(asked))
    }

    fn spend(&self) -> String {
        Asked { page: 1, ..self.asked.clone() }.link(paths::Spend { period: As::page(self.period) })
    }

    fn file(&self, suffix: &str) -> String {
        format!("/charges/{}.{suffix}{}", self.period, self.asked.suffix())
    }

    fn pages(&self) -> Pages {
        let count = self.charges.as_ref().map_or(0, |charges| charges.count as u64);
        let first = self.at(&Asked { page: 1, ..self.asked.clone() });
        Pages::of(self.asked.page, count, report::PAGE_SIZE as u64, &first)
    }
}

impl ChargeLine {
    fn address(&self) -> paths::Charge {
        paths::Charge { delivery: self.delivery, file: self.file_no, row: As::page(self.row) }
    }
}

#[derive(Template)]
#[template(path = "charge.html")]
struct TracePage {
    layout: Layout,
    trace: Trace,
    /// The row as the file writes it; `None` where the original cannot be read.
    original: Option<Vec<(String, String)>>,
}

pub async fn show(
    path: paths::Charge,
    layout: Layout,
    CurrentUser(person): CurrentUser,
    State(originals): State<Originals>,
    mut db: Db,
) -> Result {
    let As { value: row, format } = path.row;
    let trace = report::trace(&mut db, path.delivery, path.file, row, &person.viewer()).await?;
    let trace = trace.ok_or(Error::NotFound)?;
    let original = read_original(originals, &trace).await;
    match format {
        Format::Csv => Err(Error::NotFound),
        Format::Json => {
            let original: Option<serde_json::Map<_, _>> = original
                .map(|columns| columns.into_iter().map(|(name, value)| (name, value.into())).collect());
            respond::json(&serde_json::json!({ "charge": trace, "original": original }))
        }
        Format::Html => respond::html(TracePage { layout, trace, original }),
    }
}

async fn read_original(originals: Originals, trace: &Trace) -> Option<Vec<(String, String)>> {
    let (sha256, row) = (trace.sha256?, trace.row as u64);
    let read = tokio::task::spawn_blocking(move || originals.row(&sha256, row)).await;
    match read {
        Ok(Ok(columns)) => Some(columns),
        Ok(Err(error)) => {
            tracing::warn!(%error, %sha256, row, "an original could not be read");
            None
        }
        Err(_) => None,
    }
}

impl TracePage {
    fn tags(&self) -> Vec<(String, String)> {
        let tags = self.trace.tags.as_object().into_iter().flatten();
        tags.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
    }

    fn month(&self) -> String {
        format!("/spend/{}", self.trace.billing_period)
    }

    fn may_see_delivery(&self) -> bool {
        self.layout.may(Access::Finance)
    }
}

impl Record for ChargeLine {
    const COLUMNS: &'static [&'static str] = &[
        "delivery",
        "file",
        "row",
        "charge_period_start",
        "charge_period_end",
        "provider",
        "account",
        "service",
        "region",
        "category",
        "pricing",
        "meter",
        "accelerator",
        "resource",
        "quantity",
        "unit",
        "billed_cost",
        "effective_cost",
        "contracted_cost",
        "list_cost",
        "currency",
        "tags",
    ];

    fn cells(&self) -> Vec<Cell<'_>> {
        let number = |number: i64| Cell::Number(Decimal::from(number));
        let text = |text: &Option<String>| text.clone().map_or(Cell::Empty, Cell::text);
        vec![
            number(self.delivery),
            number(self.file_no.into()),
            number(self.row),
            Cell::text(self.charge_period_start.to_rfc3339()),
            Cell::text(self.charge_period_end.to_rfc3339()),
            Cell::text(self.provider.as_str()),
            Cell::text(self.account.as_str()),
            Cell::text(self.service.as_str()),
            Cell::text(self.region.as_str()),
            Cell::text(self.category.as_str()),
            Cell::text(self.pricing.as_str()),
            Cell::text(self.meter.as_str()),
            text(&self.accelerator),
            text(&self.resource),
            self.quantity.map_or(Cell::Empty, Cell::Number),
            Cell::text(self.unit.as_str()),
            Cell::Number(self.billed_cost),
            Cell::Number(self.effective_cost),
            Cell::Number(self.contracted_cost),
            Cell::Number(self.list_cost),
            Cell::text(self.currency.as_str()),
            Cell::text(self.tags.to_string()),
        ]
    }
}
