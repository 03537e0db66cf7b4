//! `/prices/new` and `/prices/offers/…`: a price that is entered, changed or removed, and files of them.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use chrono::NaiveDate;
use serde::Deserialize;
use sqlx::PgConnection;

use super::{right, to_change, told, words};
use crate::accelerator;
use crate::audit::Actor;
use crate::clock;
use crate::config::Settings;
use crate::prices::{self, Edit, Entries, Report, Right};
use crate::scenario::price::read::{self, About};
use crate::scenario::price::{Listed, Mark, Paid, Price, Tier};
use crate::web::error::{Error, Result};
use crate::web::extract::{Db, Form, Upload};
use crate::web::form::Fields;
use crate::web::layout::Layout;
use crate::web::{filters, paths, respond};

/// A catalogue of the largest cloud with all its regions has some 20 MB.
const LARGEST_FILE: usize = 40 << 20;
/// A file changes so many prices at most.
const MOST_EDITS: usize = 20_000;

#[derive(Template)]
#[template(path = "prices/entry.html")]
struct Page {
    layout: Layout,
    /// What is changed; none of a new one.
    listed: Option<Listed>,
    marks: Vec<Mark>,
    fields: Fields,
    overtaken: Vec<String>,
}

#[expect(clippy::unused_self, reason = "templates ask the page")]
impl Page {
    fn new(layout: Layout, listed: Option<Listed>, fields: Fields) -> Self {
        Self { layout, listed, fields, marks: Vec::new(), overtaken: Vec::new() }
    }

    fn action(&self) -> String {
        match &self.listed {
            Some(it) => paths::PriceOffer { offer: it.id.clone() }.to_string(),
            None => paths::NewPrice.to_string(),
        }
    }

    fn removal(&self) -> Option<paths::PriceRemove> {
        self.listed.as_ref().map(|it| paths::PriceRemove { offer: it.id.clone() })
    }

    fn models(&self) -> Vec<(&'static str, String)> {
        let mut models: Vec<_> = accelerator::models()
            .iter()
            .filter(|it| it.id != "unknown")
            .map(|it| (it.id, format!("{} {}, {}", it.vendor, it.name, it.variant)))
            .collect();
        models.sort_by(|a, b| a.1.cmp(&b.1));
        models
    }

    fn tiers(&self) -> [(&'static str, &'static str); 6] {
        Tier::ALL.map(|it| (it.as_str(), it.name()))
    }

    fn ways(&self) -> Vec<(&'static str, &'static str)> {
        let usual = ("", "as is usual of the tier");
        std::iter::once(usual).chain(Paid::ALL.map(|it| (it.as_str(), it.name()))).collect()
    }

    fn is_proposal(&self) -> bool {
        right(&self.layout) == Right::Propose
    }

    fn words(&self) -> Vec<(&'static str, String)> {
        let of = |it: &Listed| self.marks.iter().map(|mark| words::mark(mark, &it.price)).collect();
        self.listed.as_ref().map(of).unwrap_or_default()
    }
}

/// What is typed of a price. Its names are the columns of the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Typed {
    accelerator: String,
    supplier: String,
    tier: String,
    paid: String,
    price: String,
    currency: String,
    gpus: String,
    sku: String,
    region: String,
    term_months: String,
    increment_seconds: String,
    date: String,
    source: String,
    reason: String,
    /// Ticked by who was asked whether an odd price is meant.
    sure: Option<String>,
}

impl Typed {
    fn new(today: NaiveDate) -> Self {
        Self {
            tier: Tier::OnDemand.as_str().to_owned(),
            currency: super::DOLLARS.to_owned(),
            date: today.to_string(),
            ..Self::default()
        }
    }

    fn of(price: &Price) -> Self {
        let number = |it: Option<u32>| it.map(|it| it.to_string()).unwrap_or_default();
        Self {
            accelerator: price.accelerator.clone(),
            supplier: price.supplier.clone(),
            tier: price.tier.as_str().to_owned(),
            paid: price.paid.as_str().to_owned(),
            price: price.amount.to_string(),
            currency: price.currency.to_string(),
            gpus: price.gpus.map(|it| it.to_string()).unwrap_or_default(),
            sku: price.sku.clone(),
            region: price.region.clone(),
            term_months: number(price.term_months),
            increment_seconds: number(price.increment_seconds),
            date: price.date.to_string(),
            source: price.source.clone(),
            ..Self::default()
        }
    }

    /// By the names of columns; a file has no reason, and none is read of one.
    fn cells(&self) -> [(&'static str, &str); 14] {
        [
            ("accelerator", &self.accelerator),
            ("supplier", &self.supplier),
            ("tier", &self.tier),
            ("paid", &self.paid),
            ("price", &self.price),
            ("currency", &self.currency),
            ("gpus", &self.gpus),
            ("sku", &self.sku),
            ("region", &self.region),
            ("term_months", &self.term_months),
            ("increment_seconds", &self.increment_seconds),
            ("date", &self.date),
            ("source", &self.source),
            ("reason", &self.reason),
        ]
    }

    fn fields(&self) -> Fields {
        Fields::new(self.cells())
    }

    fn reason(&self) -> Option<&str> {
        Some(self.reason.trim()).filter(|it| !it.is_empty())
    }

    /// Reads it as a file of one row is read, so that a form takes what a file does.
    fn read(&self, fields: &mut Fields, today: NaiveDate) -> Option<Price> {
        let cells = self.cells();
        if self.source.trim().is_empty() {
            fields.refuse("source", "Expected where it was read, or who offered it.");
        }
        let mut writer = csv::Writer::from_writer(Vec::new());
        let written = writer
            .write_record(cells.map(|it| it.0))
            .and_then(|()| writer.write_record(cells.map(|it| it.1.trim())));
        let content = written.ok().and_then(|()| writer.into_inner().ok())?;
        let about = About { supplier: None, date: today, source: String::new(), today };
        let found = match read::read(&content, &about) {
            Ok(found) => found,
            Err(sentence) => {
                fields.refuse("price", sentence);
                return None;
            }
        };
        for it in &found.rejected {
            let name = cells.iter().find(|(name, _)| *name == it.column).map_or("price", |it| it.0);
            fields.refuse(name, format!("Expected {}.", it.expected));
        }
        if !found.skipped.is_empty() {
            let sentence = "Lists say 0 where something is not sold: enter what an hour of it costs.";
            fields.refuse("price", sentence);
        }
        if fields.is_refused() {
            return None;
        }
        found.prices.into_iter().next().map(|(_, price)| price)
    }

    /// Asks once more where a price is odd.
    fn ask(&self, price: &Price, entries: &Entries, fields: &mut Fields, today: NaiveDate) {
        if self.sure.is_some() {
            return;
        }
        let list = entries.catalogue();
        let before = list.find(&price.offer()).map(|it| &it.price);
        let odd: Vec<String> = list
            .marks_of(price, before, today)
            .iter()
            .filter(|mark| !matches!(mark, Mark::Stale { .. }))
            .map(|mark| words::mark(mark, price).1)
            .collect();
        if !odd.is_empty() {
            fields.refuse("price", format!("That is {}. Nothing is changed yet.", odd.join("; ")));
            fields.refuse("sure", format!("An hour of one GPU is {} {}", price.amount, price.currency));
        }
    }
}

async fn entries(db: &mut PgConnection) -> sqlx::Result<Entries> {
    let revision = prices::revision(&mut *db).await?;
    prices::entries(db, revision).await
}

pub async fn new(_: paths::NewPrice, layout: Layout) -> Result {
    let fields = Typed::new(clock::now().date_naive()).fields();
    respond::html(Page::new(layout, None, fields))
}

pub async fn create(
    _: paths::NewPrice,
    layout: Layout,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
    Form(typed): Form<Typed>,
) -> Result {
    save(layout, &mut db, None, &typed, &by, &settings).await
}

pub async fn edit(path: paths::PriceOffer, layout: Layout, mut db: Db) -> Result {
    let (_, list) = prices::current(&mut db).await?;
    let listed = list.find(&path.offer).ok_or(Error::NotFound)?.clone();
    let marks = list.marks(&listed, clock::now().date_naive());
    let fields = Typed::of(&listed.price).fields();
    respond::html(Page { marks, ..Page::new(layout, Some(listed), fields) })
}

pub async fn change(
    path: paths::PriceOffer,
    layout: Layout,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
    Form(typed): Form<Typed>,
) -> Result {
    let listed = prices::current(&mut db).await?.1.find(&path.offer).ok_or(Error::NotFound)?.clone();
    save(layout, &mut db, Some(listed), &typed, &by, &settings).await
}

async fn save(
    layout: Layout,
    db: &mut PgConnection,
    listed: Option<Listed>,
    typed: &Typed,
    by: &Actor,
    settings: &Settings,
) -> Result {
    let today = clock::now().date_naive();
    let entries = entries(&mut *db).await?;
    let mut fields = typed.fields();
    let price = typed.read(&mut fields, today);
    if let Some(price) = &price {
        typed.ask(price, &entries, &mut fields, today);
    }
    let Some(price) = price.filter(|_| !fields.is_refused()) else {
        return respond::refused(Page::new(layout, listed, fields));
    };
    let summary = summary(&price, if listed.is_some() { "changed" } else { "added" });
    let edits = match &listed {
        Some(listed) => prices::edits_of_replacement(&entries, &listed.id, price),
        None => prices::edits_of_file(&entries, vec![price]),
    };
    write(layout, db, listed, fields, edits, &summary, typed.reason(), by, settings).await
}

/// `AWS p5.48xlarge, us-east-1, on demand: added`.
fn summary(price: &Price, done: &str) -> String {
    let what = price.what();
    let what = if what.is_empty() { words::model(&price.accelerator) } else { what };
    format!("{} {what}, {}: {done}", price.supplier, price.tier.name())
}

#[expect(clippy::too_many_arguments, reason = "what a form is shown again with")]
async fn write(
    layout: Layout,
    db: &mut PgConnection,
    listed: Option<Listed>,
    fields: Fields,
    edits: Vec<Edit>,
    summary: &str,
    reason: Option<&str>,
    by: &Actor,
    settings: &Settings,
) -> Result {
    let about = prices::About { summary, reason };
    let outcome = prices::change(db, edits, about, right(&layout), by, clock::now()).await?;
    match told(outcome, summary, settings) {
        Ok(response) => Ok(response),
        Err(overtaken) => respond::refused(Page { overtaken, ..Page::new(layout, listed, fields) }),
    }
}

#[derive(Deserialize)]
pub struct Why {
    #[serde(default)]
    reason: String,
}

pub async fn remove(
    path: paths::PriceRemove,
    layout: Layout,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
    Form(why): Form<Why>,
) -> Result {
    let entries = entries(&mut db).await?;
    let listed = entries.catalogue().find(&path.offer).ok_or(Error::NotFound)?.clone();
    let summary = summary(&listed.price, "removed");
    let edits = prices::edits_of_removal(&entries, &path.offer);
    let fields = Typed::of(&listed.price).fields();
    let reason = Some(why.reason.trim()).filter(|it| !it.is_empty());
    write(layout, &mut db, Some(listed), fields, edits, &summary, reason, &by, &settings).await
}

/// A file with what stands beside it in the form.
#[derive(Default)]
struct Sent {
    name: String,
    content: Vec<u8>,
    supplier: String,
    read_on: String,
    read_at: String,
}

impl Sent {
    async fn receive(mut upload: Upload) -> Result<Self> {
        let mut sent = Self::default();
        while let Some(mut field) = upload.next_field().await? {
            let of = field.name().unwrap_or_default().to_owned();
            let file = field.file_name().map(str::to_owned);
            let most = if file.is_some() { LARGEST_FILE } else { 1000 };
            let mut content = Vec::new();
            while let Some(chunk) = field.chunk().await.map_err(|error| Upload::broken_off(&error))? {
                if content.len() + chunk.len() > most {
                    return Err(Error::TooLarge);
                }
                content.extend_from_slice(&chunk);
            }
            let text = || String::from_utf8_lossy(&content).trim().to_owned();
            match of.as_str() {
                "supplier" => sent.supplier = text(),
                "read_on" => sent.read_on = text(),
                "read_at" => sent.read_at = text(),
                _ => {
                    if let Some(name) = file.filter(|it| !it.is_empty()) {
                        (sent.name, sent.content) = (name, content);
                    }
                }
            }
        }
        Ok(sent)
    }

    fn read(&self, today: NaiveDate) -> Result<read::Read, String> {
        if self.name.is_empty() {
            return Err("No file came along.".to_owned());
        }
        let date = match self.read_on.as_str() {
            "" => today,
            text => text.parse::<NaiveDate>().map_err(|_| "Read on: expected a date such as 2026-09-30.")?,
        };
        if date > today {
            return Err("Read on: expected a day that is over, or today.".to_owned());
        }
        let source = if self.read_at.is_empty() { self.name.clone() } else { self.read_at.clone() };
        let about = About { supplier: Some(self.supplier.clone()), date, source, today };
        read::read(&self.content, &about).map_err(|error| format!("{}: {error}.", self.name))
    }
}

/// Reads a file and shows what it would change; nothing is changed yet.
pub async fn load(_: paths::PricesFile, layout: Layout, by: Actor, mut db: Db, upload: Upload) -> Result {
    let now = clock::now();
    let sent = Sent::receive(upload).await?;
    let found = sent.read(now.date_naive());
    let entries = entries(&mut db).await?;
    let edits = found.map(|found| {
        let read::Read { format, rows, prices, skipped, rejected, rejected_count } = found;
        let count = prices.len();
        let edits = prices::edits_of_file(&entries, prices.into_iter().map(|(_, it)| it).collect());
        let known = count - edits.len();
        (edits, Report { format: Some(format), rows, known, skipped, rejected, rejected_count })
    });
    let refused = match edits {
        Ok((edits, _)) if edits.len() > MOST_EDITS => {
            format!("{}: it changes {} prices, expected at most {MOST_EDITS}.", sent.name, edits.len())
        }
        Ok((edits, report)) => {
            let prices =
                if edits.len() == 1 { "one price".to_owned() } else { format!("{} prices", edits.len()) };
            let summary = format!("{}: {prices}", sent.name);
            let about = prices::About { summary: &summary, reason: None };
            let change = prices::draft(&mut db, &edits, &report, about, &by, now).await?;
            return Ok(respond::see_other(to_change(&change)));
        }
        Err(sentence) => sentence,
    };
    let typed = Typed::new(now.date_naive());
    let mut fields = typed.fields();
    fields.refuse("files", refused);
    respond::refused(Page::new(layout, None, fields))
}
