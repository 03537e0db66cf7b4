//! `/prices/changes/7`: a change of the list, or what a file would change: what is new, by how much it changes, what was
//! skipped and why, what was rejected in which row and column.

use askama::Template;
use serde_json::json;
use sqlx::PgConnection;

use super::changes::look;
use super::words;
use crate::clock;
use crate::money::Decimal;
use crate::prices::{self, Change, Edit, Report, Status};
use crate::scenario::arithmetic::{one, quotient};
use crate::scenario::price::Price;
use crate::web::csv::{self, Cell, Record};
use crate::web::error::{Error, Result};
use crate::web::extract::Db;
use crate::web::layout::Layout;
use crate::web::respond::{As, Format};
use crate::web::{Access, filters, paths, respond};

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
#[template(path = "prices/change.html")]
struct Page {
    layout: Layout,
    change: Change,
    lines: Vec<Line>,
    /// Prices that are not as it found them, or left them, so that it cannot be applied or undone.
    conflicts: Vec<String>,
}

impl Page {
    async fn find(layout: Layout, db: &mut PgConnection, id: i64) -> Result<Self> {
        let change = prices::find(&mut *db, id).await?.ok_or(Error::NotFound)?;
        let revision = prices::revision(&mut *db).await?;
        let now = prices::entries(db, revision).await?;
        let conflicts = match change.status {
            Status::Drafted | Status::Proposed => now.conflicts(&change.edits),
            Status::Applied => {
                let back: Vec<Edit> = change.edits.iter().cloned().map(Edit::undone).collect();
                now.conflicts(&back)
            }
            Status::Undone | Status::Discarded => Vec::new(),
        };
        let list = now.catalogue();
        let today = clock::now().date_naive();
        let line = |edit: &Edit| {
            let price = edit.price()?.clone();
            let is_removal = edit.sets().is_none();
            let marks =
                if is_removal { Vec::new() } else { list.marks_of(&price, edit.held.as_ref(), today) };
            let marks = marks.iter().map(|mark| words::mark(mark, &price)).collect();
            Some(Line { price, held: edit.held.clone(), is_removal, marks })
        };
        let lines = change.edits.iter().filter_map(line).collect();
        Ok(Self { layout, change, lines, conflicts })
    }

    fn may_decide(&self) -> bool {
        self.layout.may(Access::Admin)
    }

    fn is_open(&self) -> bool {
        self.change.status.is_open()
    }

    fn is_draft(&self) -> bool {
        self.change.status == Status::Drafted
    }

    fn is_applied(&self) -> bool {
        self.change.status == Status::Applied
    }

    fn shown(&self) -> &[Line] {
        &self.lines[..self.lines.len().min(SHOWN)]
    }

    fn report(&self) -> Option<&Report> {
        self.change.report.as_ref().map(|it| &it.0)
    }

    fn here(&self) -> paths::PriceChange {
        paths::PriceChange { change: As::page(self.change.id) }
    }

    fn propose(&self) -> paths::PricePropose {
        paths::PricePropose { change: self.change.id }
    }

    fn apply(&self) -> paths::PriceApply {
        paths::PriceApply { change: self.change.id }
    }

    fn discard(&self) -> paths::PriceDiscard {
        paths::PriceDiscard { change: self.change.id }
    }

    fn undo(&self) -> paths::PriceUndo {
        paths::PriceUndo { change: self.change.id }
    }
}

pub async fn show(path: paths::PriceChange, layout: Layout, mut db: Db) -> Result {
    let As { value: id, format } = path.change;
    let page = Page::find(layout, &mut db, id).await?;
    match format {
        Format::Html => respond::html(page),
        Format::Json => respond::json(
            &json!({ "change": page.change, "conflicts": page.conflicts, "overtaken": page.conflicts }),
        ),
        Format::Csv => csv::answer(&format!("price-change-{id}"), &page.lines),
    }
}

impl Record for Line {
    const COLUMNS: &'static [&'static str] = &[
        "accelerator",
        "supplier",
        "tier",
        "sku",
        "region",
        "date",
        "before",
        "before_currency",
        "after",
        "currency",
        "what",
    ];

    fn cells(&self) -> Vec<Cell<'_>> {
        let price = &self.price;
        vec![
            Cell::text(price.accelerator.as_str()),
            Cell::text(price.supplier.as_str()),
            Cell::text(price.tier.as_str()),
            Cell::text(price.sku.as_str()),
            Cell::text(price.region.as_str()),
            Cell::text(price.date.to_string()),
            self.held.as_ref().map_or(Cell::Empty, |it| Cell::Number(it.amount)),
            self.held.as_ref().map_or(Cell::Empty, |it| Cell::text(it.currency.as_str())),
            if self.is_removal { Cell::Empty } else { Cell::Number(price.amount) },
            Cell::text(price.currency.as_str()),
            Cell::text(self.difference()),
        ]
    }
}
