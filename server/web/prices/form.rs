//! `/prices/new` and `/prices/offers/…`: a price that is entered, changed or removed, and files of them.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use chrono::NaiveDate;
use serde::Deserialize;
use sqlx::{PgConnection, PgPool};

use super::{Why, right, to_change, told, words};
use crate::accelerator;
use crate::audit::Actor;
use crate::clock;
use crate::config::Settings;
use crate::prices::{self, Edit, Entries, Outcome, Report, Right};
use crate::scenario::price::read::{self, About, DOLLARS, LONGEST, is_long};
use crate::scenario::price::{Listed, Mark, Paid, Price, Tier};
use crate::web::error::{Error, Result};
use crate::web::extract::{Db, Form, Query, Upload};
use crate::web::form::Fields;
use crate::web::layout::Layout;
use crate::web::{filters, paths, respond};

/// A catalogue of the largest cloud with all its regions has some 20 MB.
const LARGEST_FILE: usize = 40 << 20;
/// Of what stands beside a file, so that what is too long is refused in words.
const LARGEST_TEXT: usize = 10_000;
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

    fn removal(&self) -> Option<String> {
        let to = |it: &Listed| paths::PriceRemove { offer: it.id.clone() };
        self.listed.as_ref().map(|it| format!("{}?revision={}", to(it), self.fields.value("revision")))
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
    /// Ticked by who was asked whether an odd price is meant: which.
    sure: Option<String>,
    /// Of the list that they saw; what holds where nobody says.
    revision: Option<i64>,
}

impl Typed {
    fn new(today: NaiveDate, revision: i64) -> Self {
        Self {
            revision: Some(revision),
            tier: Tier::OnDemand.as_str().to_owned(),
            currency: DOLLARS.to_owned(),
            date: today.to_string(),
            ..Self::default()
        }
    }

    fn of(price: &Price, revision: i64) -> Self {
        let number = |it: Option<u32>| it.map(|it| it.to_string()).unwrap_or_default();
        Self {
            revision: Some(revision),
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
        let revision = self.revision.map(|it| it.to_string()).unwrap_or_default();
        Fields::new(self.cells()).with("revision", &revision)
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
        let claim = format!("An hour of one GPU is {} {}", price.amount, price.currency);
        if self.sure.as_ref() == Some(&claim) {
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
            fields.refuse("sure", claim);
        }
    }
}

/// The list as whoever sends a form saw it, and as it is now.
struct Seen {
    then: Entries,
    now: Entries,
    last: i64,
}

impl Seen {
    async fn find(db: &mut PgConnection, revision: Option<i64>) -> Result<Self> {
        let last = prices::revision(&mut *db).await?;
        let revision = revision.unwrap_or(last);
        if !(0..=last).contains(&revision) {
            return Err(Error::BadRequest(format!("revision: found {revision}, expected 0 to {last}.")));
        }
        let now = prices::entries(&mut *db, last).await?;
        let then = if revision == last { now.clone() } else { prices::entries(db, revision).await? };
        Ok(Self { then, now, last })
    }

    /// The offer that they saw.
    fn listed(&self, offer: &str) -> Result<Listed> {
        self.then.catalogue().find(offer).cloned().ok_or(Error::NotFound)
    }
}

async fn entries(db: &mut PgConnection) -> sqlx::Result<Entries> {
    let revision = prices::revision(&mut *db).await?;
    prices::entries(db, revision).await
}

pub async fn new(_: paths::NewPrice, layout: Layout, mut db: Db) -> Result {
    let revision = prices::revision(&mut db).await?;
    let fields = Typed::new(clock::now().date_naive(), revision).fields();
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
    let (revision, list) = prices::current(&mut db).await?;
    let listed = list.find(&path.offer).ok_or(Error::NotFound)?.clone();
    let marks = list.marks(&listed, clock::now().date_naive());
    let fields = Typed::of(&listed.price, revision).fields();
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
    save(layout, &mut db, Some(&path.offer), &typed, &by, &settings).await
}

async fn save(
    layout: Layout,
    db: &mut PgConnection,
    offer: Option<&str>,
    typed: &Typed,
    by: &Actor,
    settings: &Settings,
) -> Result {
    let today = clock::now().date_naive();
    let seen = Seen::find(&mut *db, typed.revision).await?;
    let listed = offer.map(|offer| seen.listed(offer)).transpose()?;
    let mut fields = typed.fields();
    let reason = fields.check("reason", super::reason(&typed.reason)).flatten();
    let price = typed.read(&mut fields, today);
    if let Some(price) = &price {
        typed.ask(price, &seen.then, &mut fields, today);
    }
    let Some(price) = price.filter(|_| !fields.is_refused()) else {
        return respond::refused(Page::new(layout, listed, fields));
    };
    let summary = summary(&price, if listed.is_some() { "changed" } else { "added" });
    let id = price.offer();
    let offers: Vec<&str> = listed.iter().map(|it| it.id.as_str()).chain([id.as_str()]).collect();
    let overtaken = seen.now.changed_since(&seen.then, &offers);
    let edits = match &listed {
        Some(listed) => prices::edits_of_replacement(&seen.then, &listed.id, price),
        None => prices::edits_of_file(&seen.then, vec![price]),
    };
    let wish = Wish { listed, typed, edits, overtaken, summary: &summary, reason };
    wish.write(layout, db, &seen, by, settings).await
}

/// `AWS p5.48xlarge, us-east-1, on demand: added`.
fn summary(price: &Price, done: &str) -> String {
    let what = price.what();
    let what = if what.is_empty() { words::model(&price.accelerator) } else { what };
    format!("{} {what}, {}: {done}", price.supplier, price.tier.name())
}

/// What a form asks for.
struct Wish<'a> {
    /// What is changed; none of a new one.
    listed: Option<Listed>,
    typed: &'a Typed,
    edits: Vec<Edit>,
    /// Prices that are not as whoever sends it saw them.
    overtaken: Vec<String>,
    summary: &'a str,
    reason: Option<&'a str>,
}

impl Wish<'_> {
    async fn write(
        self,
        layout: Layout,
        db: &mut PgConnection,
        seen: &Seen,
        by: &Actor,
        settings: &Settings,
    ) -> Result {
        let Self { listed, typed, edits, overtaken, summary, reason } = self;
        let outcome = if overtaken.is_empty() {
            let about = prices::About { summary, reason };
            prices::change(db, edits, about, right(&layout), by, clock::now()).await?
        } else {
            Outcome::Overtaken(overtaken)
        };
        match told(outcome, summary, settings) {
            Ok(response) => Ok(response),
            // What they typed, beside what holds now, which they have seen then.
            Err(overtaken) => {
                let fields = Typed { revision: Some(seen.last), ..typed.clone() }.fields();
                let listed = listed.and_then(|it| seen.now.catalogue().find(&it.id).cloned());
                respond::refused(Page { overtaken, ..Page::new(layout, listed, fields) })
            }
        }
    }
}

/// The list that whoever removes an offer saw.
#[derive(Deserialize)]
pub struct AsOf {
    revision: Option<i64>,
}

pub async fn remove(
    path: paths::PriceRemove,
    layout: Layout,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    Query(as_of): Query<AsOf>,
    mut db: Db,
    Form(why): Form<Why>,
) -> Result {
    let reason = why.reason()?;
    let seen = Seen::find(&mut db, as_of.revision).await?;
    let listed = seen.listed(&path.offer)?;
    let summary = summary(&listed.price, "removed");
    let wish = Wish {
        typed: &Typed::of(&listed.price, seen.last),
        edits: prices::edits_of_removal(&seen.then, &path.offer),
        overtaken: seen.now.changed_since(&seen.then, &[&path.offer]),
        listed: Some(listed),
        summary: &summary,
        reason,
    };
    wish.write(layout, &mut db, &seen, &by, &settings).await
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
            let most = if file.is_some() { LARGEST_FILE } else { LARGEST_TEXT };
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
        let texts =
            [("Supplier", &self.supplier), ("Source", &self.read_at), ("The name of the file", &self.name)];
        for (label, text) in texts {
            if text.contains('\0') {
                return Err(format!("{label}: expected text without a NUL character."));
            }
            if is_long(text) {
                return Err(format!("{label}: expected {LONGEST} characters at most."));
            }
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

    /// What it would change, and what it has besides.
    fn edits(&self, entries: &Entries, today: NaiveDate) -> Result<(Vec<Edit>, Report), String> {
        let read::Read { format, rows, prices, skipped, rejected, rejected_count } = self.read(today)?;
        let count = prices.len();
        let edits = prices::edits_of_file(entries, prices.into_iter().map(|(_, it)| it).collect());
        if edits.len() > MOST_EDITS {
            let (name, found) = (&self.name, edits.len());
            return Err(format!("{name}: it changes {found} prices, expected at most {MOST_EDITS}."));
        }
        let known = count - edits.len();
        Ok((edits, Report { format: Some(format), rows, known, skipped, rejected, rejected_count }))
    }
}

/// Reads a file and shows what it would change; nothing is changed yet. Nobody holds a connection while it arrives, or is
/// read.
pub async fn load(
    _: paths::PricesFile,
    layout: Layout,
    by: Actor,
    State(pool): State<PgPool>,
    upload: Upload,
) -> Result {
    let now = clock::now();
    let today = now.date_naive();
    let sent = Sent::receive(upload).await?;
    let entries = entries(&mut *pool.acquire().await?).await?;
    let (name, found) = tokio::task::spawn_blocking(move || {
        let found = sent.edits(&entries, today);
        (sent.name, found)
    })
    .await
    .map_err(|error| anyhow::Error::new(error).context("a file of prices was not read"))?;
    let mut db = pool.acquire().await?;
    let refused = match found {
        Ok((edits, report)) => {
            let prices =
                if edits.len() == 1 { "one price".to_owned() } else { format!("{} prices", edits.len()) };
            let summary = format!("{name}: {prices}");
            let about = prices::About { summary: &summary, reason: None };
            let change = prices::draft(&mut db, &edits, &report, about, &by, now).await?;
            return Ok(respond::see_other(to_change(&change)));
        }
        Err(sentence) => sentence,
    };
    let mut fields = Typed::new(today, prices::revision(&mut db).await?).fields();
    fields.refuse("files", refused);
    respond::refused(Page::new(layout, None, fields))
}
