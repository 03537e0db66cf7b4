//! `/rates`: exchange rates, and the currency that everything can be converted into.

use askama::Template;
use serde::Deserialize;
use sqlx::PgConnection;

use super::csv;
use super::error::{Error, Result};
use super::extract::{Db, Form, Sending, Upload, Writing};
use super::form::Fields;
use super::format::Format;
use super::layout::Layout;
use super::{filters, paths, respond};
use crate::exchange::{self, Change, Held, Missing, Rate};
use crate::money::Currency;
use crate::period::BillingMonth;

/// The bank's whole history since 1999 is a third of it.
const LARGEST_FILE: usize = 10 << 20;
/// Months of the table; a file has them all.
const MONTHS: usize = 24;

#[derive(Template)]
#[template(path = "rates.html")]
struct Page {
    layout: Layout,
    rates: Vec<Held>,
    missing: Vec<Missing>,
    reporting_currency: Option<Currency>,
    chosen: Option<Currency>,
    fields: Fields,
}

impl Page {
    async fn find(layout: Layout, db: &mut PgConnection, fields: Fields) -> sqlx::Result<Self> {
        let rates = exchange::table(db).await?;
        let reporting_currency = exchange::reporting_currency(db).await?;
        let missing = match &reporting_currency {
            Some(currency) => exchange::missing(db, currency).await?,
            None => Vec::new(),
        };
        let chosen = exchange::chosen_reporting_currency(db).await?;
        Ok(Self { layout, rates, missing, reporting_currency, chosen, fields })
    }

    /// The rates of the latest months.
    fn shown(&self) -> &[Held] {
        let mut months = 0;
        let mut last = None;
        let end = self.rates.iter().position(|held| {
            if last != Some(held.rate.month) {
                last = Some(held.rate.month);
                months += 1;
            }
            months > MONTHS
        });
        &self.rates[..end.unwrap_or(self.rates.len())]
    }
}

pub async fn index(_: paths::Rates, format: Format, layout: Layout, mut db: Db) -> Result {
    match format {
        Format::Html => respond::html(Page::find(layout, &mut db, Fields::default()).await?),
        Format::Json => respond::json(&exchange::table(&mut db).await?),
        Format::Csv => csv::answer("exchange-rates", &exchange::table(&mut db).await?),
    }
}

#[derive(Deserialize)]
pub struct RateForm {
    month: String,
    currency: String,
    rate: String,
    quoted_in: String,
    /// Ticked by who was asked whether an unlikely rate is meant.
    sure: Option<String>,
}

pub async fn set(_: paths::Rates, writing: Writing, Form(form): Form<RateForm>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let mut fields = Fields::new([
        ("month", &form.month),
        ("currency", &form.currency),
        ("rate", &form.rate),
        ("quoted_in", &form.quoted_in),
    ]);
    let Some(rate) = form.read(&mut fields) else {
        return respond::refused(Page::find(layout, &mut db, fields).await?);
    };
    if form.sure.is_none()
        && let Some(near) = exchange::nearest(&mut db, &rate).await?
        && !rate.is_near(&near)
    {
        let known = format!("in {} the rate was {}", near.month.name(), near.rate);
        fields.refuse("rate", format!("Check the rate: {known}. Nothing was saved yet."));
        fields.refuse(
            "sure",
            format!("One {} is {} {} in {}", rate.currency, rate.rate, rate.quoted_in, rate.month.name()),
        );
        return respond::refused(Page::find(layout, &mut db, fields).await?);
    }
    let change = exchange::set(&mut db, std::slice::from_ref(&rate), by.at(now)).await?;
    let Rate { month, currency, quoted_in, rate, .. } = rate;
    let sentence = match change.sequence {
        Some(_) => format!("Saved: in {} one {currency} is {rate} {quoted_in}.", month.name()),
        None => format!("Nothing changed: in {} one {currency} was {rate} {quoted_in} before.", month.name()),
    };
    Ok(respond::flash(paths::Rates, &sentence))
}

impl RateForm {
    fn read(&self, fields: &mut Fields) -> Option<Rate> {
        let month = fields.check(
            "month",
            self.month.trim().parse::<BillingMonth>().map_err(|_| "Enter a month such as 2026-09."),
        );
        let currency =
            fields.check("currency", Currency::parse(&self.currency).ok_or("Enter a currency such as EUR."));
        let rate = fields.check(
            "rate",
            exchange::parse_rate(&self.rate).ok_or("Enter a number above zero such as 1.0843."),
        );
        let quoted_in = fields
            .check("quoted_in", Currency::parse(&self.quoted_in).ok_or("Enter a currency such as USD."));
        if currency.is_some() && currency == quoted_in {
            fields.refuse("quoted_in", "Enter another currency than the first.");
        }
        if fields.is_refused() {
            return None;
        }
        let source = "entered".to_owned();
        Some(Rate { month: month?, currency: currency?, quoted_in: quoted_in?, rate: rate?, source })
    }
}

/// A file of the European Central Bank, or one of ours: all of it, or nothing.
pub async fn load(_: paths::RatesFile, sending: Sending, mut upload: Upload) -> Result {
    let Sending { now, layout, by, app, .. } = sending;
    let mut fields = Fields::default();
    let (name, content) = upload.one_file(LARGEST_FILE).await?;
    let mut db = app.db.acquire().await?;
    let rates = match exchange::read(&content) {
        _ if name.is_empty() => Err("Choose a file to import.".to_owned()),
        Err(refused) => Err(format!("{name}, {refused}. Nothing was imported.")),
        Ok(rates) if rates.is_empty() => Err(format!("{name} has no rates. Nothing was imported.")),
        Ok(rates) => Ok(rates),
    };
    let Some(rates) = fields.check("files", rates) else {
        return respond::refused(Page::find(layout, &mut db, fields).await?);
    };
    let Change { changed, unchanged, .. } = exchange::set(&mut db, &rates, by.at(now)).await?;
    let sentence = format!("{name}: {changed} rates added or changed, {unchanged} unchanged.");
    Ok(respond::flash(paths::Rates, &sentence))
}

#[derive(Deserialize)]
pub struct PairForm {
    month: String,
    currency: String,
    quoted_in: String,
}

pub async fn remove(_: paths::RatesRemove, writing: Writing, Form(form): Form<PairForm>) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let month: BillingMonth = form
        .month
        .parse()
        .map_err(|error: crate::period::ParsePeriodError| Error::BadRequest(error.to_string()))?;
    let (currency, quoted_in) = (Currency::exactly(&form.currency), Currency::exactly(&form.quoted_in));
    let removed = exchange::remove(&mut db, month, &currency, &quoted_in, by.at(now)).await?;
    let sentence = match removed {
        Some(_) => format!("Removed the rate from {currency} to {quoted_in} in {}.", month.name()),
        None => "Nothing changed: there is no such rate.".to_owned(),
    };
    Ok(respond::flash(paths::Rates, &sentence))
}

#[derive(Deserialize)]
pub struct CurrencyForm {
    reporting_currency: String,
}

pub async fn set_reporting_currency(
    _: paths::ReportingCurrency,
    writing: Writing,
    Form(form): Form<CurrencyForm>,
) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let text = form.reporting_currency.trim();
    let mut fields = Fields::default();
    let currency = match text {
        "" => None,
        _ => fields.check("reporting_currency", Currency::parse(text).ok_or("Enter a currency such as USD.")),
    };
    if fields.is_refused() {
        return respond::refused(Page::find(layout, &mut db, fields).await?);
    }
    exchange::set_reporting_currency(&mut db, currency.as_ref(), by.at(now)).await?;
    let sentence = match &currency {
        Some(currency) => format!("Saved. The overview is in {currency}."),
        None => "Saved. The overview is in the currency of most charges.".to_owned(),
    };
    Ok(respond::flash(paths::Rates, &sentence))
}

csv::record! {
    |it: Held|
    "month" => it.rate.month,
    "currency" => &it.rate.currency,
    "quoted_in" => &it.rate.quoted_in,
    "rate" => it.rate.rate,
    "source" => &it.rate.source,
    "set_at" => it.set_at.to_rfc3339(),
    "set_by" => &it.set_by,
}
