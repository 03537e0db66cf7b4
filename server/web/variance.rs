//! `/variance/2026-09`: why spend changed since the period before, down to what was bought.

use askama::Template;

use super::csv::{self, RowInCurrency};
use super::error::Result;
use super::extract::{Pairs, Reading};
use super::format::{File, Format};
use super::layout::{Layout, Pages};
use super::question::Asked;
use super::{choices, filters, paths, respond, table};
use crate::chart;
use crate::money::{Decimal, Money};
use crate::period::Period;
use crate::report::{Grouping, Movement, Variance};

/// Movements on a page.
const PAGE: usize = 50;

#[derive(Template)]
#[template(path = "variance.html")]
struct Page {
    layout: Layout,
    period: Period,
    asked: Asked,
    variance: Variance,
    chart: chart::Stack,
}

pub async fn show(path: paths::Variance, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: pairs, app, mut db, .. } = reading;
    let period = path.period;
    let asked = Asked::read(pairs)?;
    let question = asked.question(period, person.viewer());
    let variance = app.answers.variance(&mut db, &question).await?;
    match format {
        Format::Json => respond::json(&variance),
        Format::Csv => {
            let currency = variance.currency.as_ref();
            let lines = RowInCurrency::all(&variance.movements, currency);
            csv::answer(&format!("variance-{period}"), &lines)
        }
        Format::Html => {
            let chart = bridge(&variance);
            respond::html(Page { layout, period, asked, variance, chart })
        }
    }
}

impl Page {
    fn at(&self, asked: &Asked) -> String {
        asked.link(paths::Variance { period: self.period })
    }

    /// What was spent, and what before. `None` where nothing was.
    fn totals(&self) -> Option<(&Money, &Money)> {
        Some((self.variance.total.as_ref()?, self.variance.previous.as_ref()?))
    }

    fn during(&self, period: Period) -> String {
        Asked { page: 1, ..self.asked.clone() }.link(paths::Variance { period })
    }

    fn spend(&self) -> String {
        Asked { page: 1, ..self.asked.clone() }.link(paths::Spend { period: self.period })
    }

    fn file(&self, file: File) -> String {
        let asked = Asked { page: 1, ..self.asked.clone() };
        file.of(asked.link(paths::Variance { period: self.period }))
    }

    fn costs(&self) -> Vec<(String, String, bool)> {
        choices::costs(&self.asked, |asked| self.at(asked))
    }

    fn chips(&self) -> Vec<(String, String)> {
        self.asked.chips(|asked| self.at(asked))
    }

    fn rows(&self) -> &[Movement] {
        table::page_of(&self.variance.movements, self.asked.page, PAGE)
    }

    fn pages(&self) -> Pages {
        let first = self.at(&Asked { page: 1, ..self.asked.clone() });
        Pages::of(self.asked.page, self.variance.movements.len() as u64, PAGE as u64, &first)
    }

    /// The charges of a movement.
    fn inside(&self, movement: &Movement) -> String {
        let value = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let asked = Asked { page: 1, sort: None, find: None, ..self.asked.clone() };
        let asked = match &movement.shared {
            Some(pool) => asked.only(&Grouping::Pool, Some(pool)),
            None => asked
                .only(&Grouping::Provider, value(&movement.provider).as_deref())
                .only(&Grouping::Service, value(&movement.service).as_deref())
                .only(&Grouping::Region, value(&movement.region).as_deref())
                .only(&Grouping::Category, Some(&movement.category))
                .only(&Grouping::Accelerator, movement.accelerator.as_deref())
                .only(&Grouping::UsageType, value(&movement.item).as_deref()),
        };
        let asked = asked.by(Grouping::Sku);
        // A movement is of one currency, whatever it is shown in.
        let is_converted = !self.variance.rates.is_empty();
        let only = Some(movement.price_currency.clone()).filter(|_| is_converted).or(asked.currency.clone());
        let into = self.variance.currency.clone().filter(|_| is_converted).or(asked.convert_into.clone());
        let asked = Asked { currency: only, convert_into: into, ..asked };
        asked.link(paths::Spend { period: self.period })
    }
}

impl Movement {
    /// The parts of the change that can be seen at two decimals; the file has them all.
    pub fn why(&self) -> Vec<(&'static str, Decimal)> {
        let is_seen = |part: &Decimal| !part.round(2).is_zero();
        self.parts.named().into_iter().filter(|(_, part)| is_seen(part)).collect()
    }

    pub fn quantities(&self) -> String {
        from_to(self.previous_quantity, self.quantity, 1)
    }

    /// What a unit cost and costs, as far as there were any.
    pub fn prices(&self) -> Option<String> {
        let now = self.price.or(self.previous_price)?;
        let before = self.previous_price.unwrap_or(now);
        // Of a request one wants to see more than zeros.
        let cents = Decimal::new(1, 2);
        let places = if now.abs() < cents && before.abs() < cents { 6 } else { 4 };
        Some(from_to(before, now, places))
    }
}

/// A figure before and now; once where it looks the same.
fn from_to(before: Decimal, now: Decimal, places: u8) -> String {
    let (before, now) = (filters::figure(before, places), filters::figure(now, places));
    if before == now { now } else { format!("{before} → {now}") }
}

/// The parts of the change side by side, above and below nothing.
fn bridge(variance: &Variance) -> chart::Stack {
    let parts = variance.parts.named();
    chart::Stack {
        title: format!("{}: parts of the change", variance.cost.label()),
        description: format!(
            "Parts of the change from {} to {}; the table below has the same figures.",
            variance.previous_period.name(),
            variance.period.name()
        ),
        unit: variance.currency.as_ref().map(ToString::to_string).unwrap_or_default(),
        buckets: parts
            .iter()
            .zip(["New", "Gone", "Usage", "Price", "Exchange", "Other"])
            .map(|((name, _), label)| chart::Bucket {
                label: label.to_owned(),
                name: (*name).to_owned(),
                is_apart: false,
                names_year: false,
            })
            .collect(),
        series: vec![chart::Series {
            label: "Change".to_owned(),
            values: parts.iter().map(|(_, part)| *part).collect(),
            is_other: false,
        }],
        format: |amount: Decimal| filters::figure(amount, 2),
    }
}

csv::record! {
    |it: RowInCurrency<'_, Movement>|
    "provider" => &it.row.provider,
    "service" => &it.row.service,
    "item" => &it.row.item,
    "region" => &it.row.region,
    "category" => &it.row.category,
    "accelerator" => &it.row.accelerator,
    "previous" => it.row.previous,
    "cost" => it.row.cost,
    "change" => it.row.change,
    "new" => it.row.parts.new,
    "gone" => it.row.parts.gone,
    "usage" => it.row.parts.usage,
    "price" => it.row.parts.price,
    "exchange_rate" => it.row.parts.exchange_rate,
    "other" => it.row.parts.other,
    "unit" => &it.row.unit,
    "previous_quantity" => it.row.previous_quantity,
    "quantity" => it.row.quantity,
    "price_currency" => it.row.price_currency.as_str(),
    "previous_price_per_unit" => it.row.previous_price,
    "price_per_unit" => it.row.price,
    "currency" => it.currency,
}
