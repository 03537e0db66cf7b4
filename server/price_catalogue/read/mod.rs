//! Prices that others publish as CSV: catalogues of SkyPilot and of gpuhunt, and ours. Each row is a price, is skipped for
//! a reason, or is rejected with what was found and expected. What such files are known to get wrong is a test by name.

mod gpuhunt;
mod model;
mod plain;
mod skypilot;
mod supplier;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::{Paid, Price, Tier};
use crate::accelerator::{Accelerators, PARTS};
use crate::billing::canonical_provider;
use crate::entered_csv::{EnteredCsv, RefusedRow};
use crate::money::arithmetic::{one, quotient};
use crate::money::{Currency, Decimal};
use supplier::is_marketplace;

/// Rejected rows that are shown one by one.
const TOLD: usize = 200;
/// The dearest hour of one accelerator that is believed.
const MOST: i64 = 10_000;
/// A catalogue of the largest cloud with all its regions has some 100,000.
const MOST_ROWS: usize = 300_000;
/// Reasons that rows are skipped for that are shown one by one.
const REASONS: usize = 50;
/// Characters of a name in a sentence.
const NAME: usize = 100;
/// Characters of a text that is kept of a price.
pub const LONGEST: usize = 200;
/// What lists are mostly in.
pub const DOLLARS: &str = "USD";
const GOOGLE: &str = "Google Cloud";
/// Machines that Google lists a price on demand for, and sells as spot and flex-start alone.
const SPOT_ALONE: &[&str] = &["a3-highgpu-1g", "a3-highgpu-2g", "a3-highgpu-4g"];

/// Who wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    SkyPilot,
    GpuHunt,
    Plain,
}

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Self::SkyPilot => "a SkyPilot catalog",
            Self::GpuHunt => "a gpuhunt catalog",
            Self::Plain => "a list of prices",
        }
    }
}

/// What a file does not say of itself.
#[derive(Clone, Debug)]
pub struct About {
    /// Whose prices they are, where rows do not say.
    pub supplier: Option<String>,
    /// When they were read, where rows do not say.
    pub date: NaiveDate,
    /// Where, where rows do not say.
    pub source: String,
    /// No row was read later.
    pub today: NaiveDate,
}

/// Quotes that are no prices, for a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    pub reason: String,
    pub count: usize,
    pub first_row: usize,
}

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub format: Format,
    pub rows: usize,
    /// Each with its row. Of one offer and day there is one.
    pub prices: Vec<(usize, Price)>,
    /// By reason, as they first came.
    pub skipped: Vec<Skipped>,
    /// The first of them.
    pub rejected: Vec<RefusedRow>,
    pub rejected_count: usize,
}

/// Reads a file.
///
/// # Errors
/// In words, where it is no table of prices, or lacks what all its rows need.
pub fn read(content: &[u8], about: &About) -> Result<Read, String> {
    let mut file =
        EnteredCsv::open(content).map_err(|error| format!("it is no CSV file in UTF-8: {error}"))?;
    let head = file.header.clone();
    let table = Table::of(&head);
    let format = table.format()?;
    let mut rows = Vec::new();
    let mut taken = Taken::new(format);
    for (number, record) in file.all_rows() {
        if number > MOST_ROWS {
            return Err("it has more than 300,000 rows: send it in parts".to_owned());
        }
        taken.rows += 1;
        match record {
            Ok(record) => match record.iter().enumerate().find(|(_, text)| text.contains('\0')) {
                None => rows.push((number, record)),
                // No database keeps one, in whichever column it stands.
                Some((column, found)) => {
                    let name = head.get(column).unwrap_or("the row");
                    taken.reject(number, name, found, "text without a NUL character");
                }
            },
            Err(_) => taken.reject(number, "the row", "bytes that are no text", "a row of CSV in UTF-8"),
        }
    }
    let rows: Vec<Row<'_>> =
        rows.iter().map(|(number, record)| Row { number: *number, record, table: &table }).collect();
    match format {
        Format::SkyPilot => skypilot::read(&rows, about, &mut taken)?,
        Format::GpuHunt => gpuhunt::read(&rows, about, &mut taken)?,
        Format::Plain => plain::read(&rows, about, &mut taken),
    }
    Ok(taken.finish())
}

/// Where each column stands, whatever the spelling of its name.
struct Table {
    columns: BTreeMap<String, usize>,
}

impl Table {
    fn of(head: &csv::StringRecord) -> Self {
        let name = |text: &str| text.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        let mut columns = BTreeMap::new();
        for (at, text) in head.iter().enumerate() {
            // Of two columns of one name the first.
            columns.entry(name(text)).or_insert(at);
        }
        Self { columns }
    }

    fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.columns.contains_key(*name))
    }

    fn format(&self) -> Result<Format, String> {
        if self.has(&["instancetype", "acceleratorname", "acceleratorcount", "price"]) {
            return Ok(Format::SkyPilot);
        }
        if self.has(&["gpu_name", "gpu_count", "price"]) {
            return Ok(Format::GpuHunt);
        }
        if self.has(&["accelerator", "supplier", "tier", "price"]) {
            return Ok(Format::Plain);
        }
        let found: Vec<&str> = self.columns.keys().map(String::as_str).take(12).collect();
        Err(format!(
            "its first line names no columns of a list of prices. Found: {}. Expected accelerator, supplier, tier and \
             price; or InstanceType, AcceleratorName, AcceleratorCount and Price of SkyPilot; or gpu_name, gpu_count and \
             price of gpuhunt",
            found.join(", ")
        ))
    }
}

#[derive(Clone, Copy)]
struct Row<'a> {
    number: usize,
    record: &'a csv::StringRecord,
    table: &'a Table,
}

impl<'a> Row<'a> {
    /// A cell; empty where there is none.
    fn get(&self, column: &str) -> &'a str {
        let at = self.table.columns.get(column);
        at.and_then(|at| self.record.get(*at)).unwrap_or_default().trim()
    }
}

/// What a cell says an hour costs.
enum Quote {
    /// Nobody says.
    None,
    /// Lists say 0 where something is not sold.
    NotSold,
    Price(Decimal),
}

/// What was taken of a file so far.
struct Taken {
    format: Format,
    rows: usize,
    prices: Vec<(usize, Price)>,
    by_reading: BTreeMap<(String, NaiveDate), usize>,
    skipped: Vec<Skipped>,
    /// Where each reason stands in it.
    by_reason: BTreeMap<String, usize>,
    rejected: Vec<RefusedRow>,
    rejected_count: usize,
}

impl Taken {
    fn new(format: Format) -> Self {
        Self {
            format,
            rows: 0,
            prices: Vec::new(),
            by_reading: BTreeMap::new(),
            skipped: Vec::new(),
            by_reason: BTreeMap::new(),
            rejected: Vec::new(),
            rejected_count: 0,
        }
    }

    fn reject(&mut self, row: usize, column: &str, found: &str, expected: impl Into<String>) {
        self.rejected_count += 1;
        if self.rejected.len() < TOLD {
            self.rejected.push(RefusedRow::new(row, &name_of(column), &name_of(found), expected));
        }
    }

    fn skip(&mut self, row: usize, reason: impl Into<String>) {
        let mut reason = reason.into();
        if self.skipped.len() >= REASONS && !self.by_reason.contains_key(&reason) {
            "other reasons".clone_into(&mut reason);
        }
        if let Some(it) = self.by_reason.get(&reason).and_then(|at| self.skipped.get_mut(*at)) {
            it.count += 1;
            return;
        }
        self.by_reason.insert(reason.clone(), self.skipped.len());
        self.skipped.push(Skipped { reason, count: 1, first_row: row });
    }

    /// Skips a row whose accelerator nobody knows.
    fn unknown(&mut self, row: usize, name: &str) {
        self.skip(row, format!("no model of the catalog is called “{}”", name_of(name)));
    }

    /// Reads an amount; a text that is none is rejected.
    fn quote(&mut self, row: &Row<'_>, column: &str) -> Option<Quote> {
        let text = row.get(column);
        if text.is_empty() || text.eq_ignore_ascii_case("nan") {
            return Some(Quote::None);
        }
        match text.parse::<Decimal>() {
            Ok(amount) if amount.is_zero() => Some(Quote::NotSold),
            Ok(amount) if !amount.is_negative() && amount < Decimal::from(MOST * 1000) => {
                Some(Quote::Price(amount.significant(30)))
            }
            _ => {
                self.reject(
                    row.number,
                    column,
                    text,
                    "an amount of money above zero, with a point before decimals",
                );
                None
            }
        }
    }

    /// A price; of several of one offer and day, as in the zones of a region, the cheapest.
    fn price(&mut self, row: usize, price: Price) {
        if price.amount > MOST.into() || price.amount.is_zero() {
            let found = price.amount.to_string();
            return self.reject(row, "price", &found, "an hour of one accelerator that costs at most 10,000");
        }
        let Price { supplier, sku, region, source, .. } = &price;
        let texts = [("supplier", supplier), ("sku", sku), ("region", region), ("source", source)];
        if let Some((column, found)) = texts.into_iter().find(|it| is_long(it.1)) {
            return self.reject(row, column, found, format!("{LONGEST} characters at most"));
        }
        let is_spot_alone = price.supplier == GOOGLE && SPOT_ALONE.contains(&price.sku.as_str());
        if is_spot_alone && price.tier == Tier::OnDemand {
            return self.skip(row, "a price on demand of what is sold as spot alone");
        }
        let reading = (price.offer(), price.date);
        let Some(at) = self.by_reading.get(&reading).copied() else {
            self.by_reading.insert(reading, self.prices.len());
            self.prices.push((row, price));
            return;
        };
        let same = self.prices[at].1.amount == price.amount;
        if price.amount < self.prices[at].1.amount {
            self.prices[at] = (row, price);
        }
        let reason = if same {
            "another row says the same"
        } else {
            "another row of the same offer, as of another zone, is cheaper"
        };
        self.skip(row, reason);
    }

    /// A price of spot that is not below what the same machine costs by use is no quote.
    fn drop_spot_that_is_none(&mut self) {
        let key = |price: &Price| {
            let (supplier, place) =
                (price.supplier.to_lowercase(), (price.sku.clone(), price.region.clone()));
            (price.accelerator.clone(), supplier, place, price.currency.clone(), price.date)
        };
        let mut by_use = BTreeMap::new();
        for (_, price) in
            self.prices.iter().filter(|(_, it)| it.paid == Paid::PerUse || it.tier == Tier::Marketplace)
        {
            let least = by_use.entry(key(price)).or_insert(price.amount);
            *least = price.amount.min(*least);
        }
        let is_none = |(_, price): &(usize, Price)| {
            price.tier == Tier::Spot && by_use.get(&key(price)).is_some_and(|it| price.amount >= *it)
        };
        let (none, prices) = std::mem::take(&mut self.prices).into_iter().partition(is_none);
        self.prices = prices;
        let none: Vec<(usize, Price)> = none;
        for (row, _) in none {
            self.skip(row, "a price of spot that is not below on demand: no quote");
        }
    }

    fn finish(mut self) -> Read {
        self.drop_spot_that_is_none();
        let Self { format, rows, prices, skipped, rejected, rejected_count, .. } = self;
        Read { format, rows, prices, skipped, rejected, rejected_count }
    }
}

/// A text as it is shown: no longer than is read, and without what no database keeps.
fn name_of(text: &str) -> String {
    text.chars().take(NAME).map(|it| if it == '\0' { '\u{fffd}' } else { it }).collect()
}

/// Whether a text is longer than is kept of a price.
pub fn is_long(text: &str) -> bool {
    text.chars().nth(LONGEST).is_some()
}

/// The price of one accelerator of a machine that has so many, or a part of one.
fn of_one(amount: Decimal, gpus: Accelerators) -> Option<Decimal> {
    let each = amount.multiply(PARTS.into());
    quotient(each, gpus.parts().into()).map(|it| it.round(8).normalize())
}

/// The supplier whose prices a file without names has.
fn supplier(about: &About) -> Result<String, String> {
    let named = about.supplier.as_deref().map(str::trim).filter(|it| !it.is_empty());
    let message = "its rows do not say whose prices they are: enter the supplier";
    named.map(|it| canonical_provider(it).into_owned()).ok_or_else(|| message.to_owned())
}

/// A price of a machine as others publish it.
struct Machine<'a> {
    supplier: &'a str,
    sku: &'a str,
    region: &'a str,
    model: &'a str,
    gpus: Accelerators,
}

impl Machine<'_> {
    /// `None` where it amounts to nothing for one accelerator.
    fn price(&self, amount: Decimal, is_spot: bool, about: &About) -> Option<Price> {
        let tier = match (is_spot, is_marketplace(self.supplier, self.sku)) {
            (true, _) => Tier::Spot,
            (false, true) => Tier::Marketplace,
            (false, false) => Tier::OnDemand,
        };
        Some(Price {
            accelerator: self.model.to_owned(),
            supplier: self.supplier.to_owned(),
            tier,
            paid: tier.usually(),
            amount: of_one(amount, self.gpus)?,
            currency: Currency::exactly(DOLLARS),
            gpus: Some(self.gpus),
            sku: self.sku.to_owned(),
            region: self.region.to_owned(),
            term_months: None,
            increment_seconds: None,
            date: about.date,
            source: about.source.clone(),
        })
    }
}

/// How it is paid where nothing is said.
fn paid(tier: Tier, text: &str) -> Option<Paid> {
    if text.is_empty() { Some(tier.usually()) } else { Paid::parse(text).filter(|it| tier.takes(*it)) }
}

/// The simplest text of a number of accelerators that is more than none.
fn gpus(text: &str) -> Option<Accelerators> {
    text.parse::<Accelerators>().ok().filter(|it| !it.is_zero())
}

/// A share of 1 by which two memories may differ and be of one model.
fn within(a: Decimal, b: Decimal, share: Decimal) -> bool {
    quotient(a, b).is_some_and(|ratio| (ratio - one()).abs() <= share)
}
