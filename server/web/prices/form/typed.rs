//! What is typed of a price, and what it means.

use chrono::NaiveDate;
use serde::Deserialize;

use super::super::words;
use crate::price_catalogue::Entries;
use crate::price_catalogue::read::{self, About, DOLLARS};
use crate::price_catalogue::{Mark, Price, Tier};
use crate::web::form::Fields;

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
    pub(super) reason: String,
    /// Ticked by who was asked whether an odd price is meant: which.
    sure: Option<String>,
    /// Of the list that they saw; what holds where nobody says.
    pub(super) revision: Option<i64>,
}

impl Typed {
    pub(super) fn new(today: NaiveDate, revision: i64) -> Self {
        Self {
            revision: Some(revision),
            tier: Tier::OnDemand.as_str().to_owned(),
            currency: DOLLARS.to_owned(),
            date: today.to_string(),
            ..Self::default()
        }
    }

    pub(super) fn of(price: &Price, revision: i64) -> Self {
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

    /// The same, sent by who has seen the list of this revision.
    pub(super) fn having_seen(self, revision: i64) -> Self {
        Self { revision: Some(revision), ..self }
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

    pub(super) fn fields(&self) -> Fields {
        let revision = self.revision.map(|it| it.to_string()).unwrap_or_default();
        Fields::new(self.cells()).with("revision", &revision)
    }

    /// Reads it as a file of one row is read, so that a form takes what a file does.
    pub(super) fn read(&self, fields: &mut Fields, today: NaiveDate) -> Option<Price> {
        let cells = self.cells();
        if self.source.trim().is_empty() {
            fields.refuse("source", "Enter where the price was read, or who offered it.");
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
            fields.refuse(name, format!("Enter {}.", it.expected));
        }
        if !found.skipped.is_empty() {
            let sentence = "Enter a price above 0.";
            fields.refuse("price", sentence);
        }
        if fields.is_refused() {
            return None;
        }
        found.prices.into_iter().next().map(|(_, price)| price)
    }

    /// Asks once more where a price is odd.
    pub(super) fn ask(&self, price: &Price, entries: &Entries, fields: &mut Fields, today: NaiveDate) {
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
            fields.refuse("price", format!("Check the price: {}. Nothing was saved yet.", odd.join("; ")));
            fields.refuse("sure", claim);
        }
    }
}
