//! `/imports/{delivery}/changes/{by}`: what a delivery changed in its months, line by line.

use askama::Template;
use serde::{Deserialize, Serialize};

use super::super::format::{File, Format};
use super::at;
use crate::report::{self, Change, Changes, ChangesBy, CostMetric};
use crate::web::csv;
use crate::web::error::{Error, Result};
use crate::web::extract::Reading;
use crate::web::layout::{Layout, Pages};
use crate::web::respond;
use crate::web::{filters, paths};

/// Lines on a page.
const PAGE: i64 = 100;
/// Lines in one file: a spreadsheet opens no more.
const LARGEST_FILE: i64 = 1_000_000;

#[derive(Debug, Serialize, Deserialize)]
pub struct ChangesQuery {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page: Option<i64>,
}

#[derive(Template)]
#[template(path = "imports/changes.html")]
struct Page {
    layout: Layout,
    changes: Changes,
    number: i64,
}

pub async fn show(path: paths::DeliveryChanges, format: Format, reading: Reading<ChangesQuery>) -> Result {
    let Reading { layout, query, mut db, .. } = reading;
    let by = path.by;
    let cost = match &query.cost {
        None => CostMetric::Billed,
        Some(cost) => cost.parse().map_err(|error| Error::BadRequest(format!("cost: {error}.")))?,
    };
    report::lines_of(&mut db, &[path.delivery]).await?.pop().ok_or(Error::NotFound)?;
    let page = query.page.unwrap_or(1).clamp(1, LARGEST_FILE);
    let which = match format {
        Format::Csv => report::Page { first: 0, size: LARGEST_FILE },
        Format::Html | Format::Json => report::Page { first: (page - 1) * PAGE, size: PAGE },
    };
    let changes = report::changes(&mut db, path.delivery, by, cost, which).await?;
    match format {
        Format::Html => respond::html(Page { layout, changes, number: page }),
        Format::Json => respond::json(&changes),
        Format::Csv => csv::answer(&format!("delivery-{}-changes-by-{by}", path.delivery), &changes.lines),
    }
}

impl Page {
    fn trail(&self) -> [(String, String); 2] {
        let delivery = self.changes.delivery;
        [
            ("Imports".to_owned(), paths::Imports.to_string()),
            (format!("Import {delivery}"), at(delivery).to_string()),
        ]
    }

    /// Whether the list is longer than nothing, but ends before this page.
    fn is_beyond(&self) -> bool {
        self.number > 1
    }

    fn here(&self) -> String {
        changes_page(&self.changes, self.changes.by, self.changes.cost)
    }

    /// The same as a file: the suffix stands before the question.
    fn file(&self, file: File) -> String {
        file.of(self.here())
    }

    fn by(&self) -> Vec<(&'static str, String, bool)> {
        let choice = |by: ChangesBy| {
            let href = changes_page(&self.changes, by, self.changes.cost);
            (by.label(), href, by == self.changes.by)
        };
        ChangesBy::ALL.map(choice).to_vec()
    }

    fn costs(&self) -> Vec<(String, String, bool)> {
        let choice = |cost: CostMetric| {
            let href = changes_page(&self.changes, self.changes.by, cost);
            (cost.label(), href, cost == self.changes.cost)
        };
        CostMetric::ALL.map(choice).to_vec()
    }

    fn pages(&self) -> Pages {
        let here = self.here();
        let joint = if here.contains('?') { '&' } else { '?' };
        Pages {
            page: self.number as u64,
            count: (self.changes.count as u64).div_ceil(PAGE as u64).max(1),
            href: format!("{here}{joint}page="),
        }
    }
}

/// The page of changes by this.
pub fn changes_page(changes: &Changes, by: ChangesBy, cost: CostMetric) -> String {
    let path = paths::DeliveryChanges { delivery: changes.delivery, by };
    let cost = (cost != CostMetric::Billed).then(|| cost.as_str().to_owned());
    match cost {
        None => path.to_string(),
        cost => paths::with_query(path, &ChangesQuery { cost, page: None }),
    }
}

/// The charges that a line had before, or has after. `None` where there are none to look at: of what is new, gone,
/// or not published yet.
pub fn charges_of(changes: &Changes, line: &Change, is_after: bool) -> Option<String> {
    let is_there = if is_after { !line.is_gone && !changes.is_preview } else { !line.is_new };
    if !is_there {
        return None;
    }
    let mut pairs = vec![
        ("cost", changes.cost.as_str().to_owned()),
        ("currency", line.currency.clone()),
        ("provider", line.provider.clone()),
    ];
    if let Some(team) = &line.team {
        // A shared cost, and what is unallocated, have no page of charges of their own.
        let handle = team.key.clone().filter(|key| !key.starts_with(report::SHARED))?;
        pairs.retain(|(name, _)| *name != "provider");
        pairs.push(("team", handle));
    } else if let Some(key) = &line.key {
        pairs.push(("key", key.charge_key.to_string()));
    } else {
        pairs.extend(line.account.clone().map(|account| ("account", account)));
        pairs.extend(line.service.clone().map(|service| ("service", service)));
    }
    let sequence = changes.sequence.map(|sequence| if is_after { sequence } else { sequence - 1 });
    pairs.extend(sequence.map(|sequence| ("sequence", sequence.to_string())));
    let path = paths::Charges { period: line.billing_period.into() };
    Some(paths::with_query(path, &pairs))
}

/// What a line is about, in words: its dimensions that have a value.
pub fn words(line: &Change) -> Vec<&str> {
    let Some(key) = &line.key else {
        return Vec::new();
    };
    let resource = key.resource.as_deref().unwrap_or_default();
    let words = [&*key.meter, &key.region, resource, &key.category, &key.pricing];
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

csv::record! {
    |it: Change|
    "billing_period" => it.billing_period,
    "provider" => &it.provider,
    "account" => &it.account,
    "service" => &it.service,
    "meter" => it.key.as_ref().map(|key| &key.meter),
    "sku" => it.key.as_ref().map(|key| &key.sku),
    "region" => it.key.as_ref().map(|key| &key.region),
    "category" => it.key.as_ref().map(|key| &key.category),
    "pricing" => it.key.as_ref().map(|key| &key.pricing),
    "resource" => it.key.as_ref().map(|key| &key.resource),
    "tags" => it.key.as_ref().map(|key| key.tags.to_string()),
    "charge_key" => it.key.as_ref().map(|key| key.charge_key.to_string()),
    "currency" => it.currency.as_str(),
    "before" => it.before,
    "after" => it.after,
    "difference" => it.difference,
    "state" => match (it.is_new, it.is_gone) {
        (true, _) => "new",
        (_, true) => "gone",
        _ => "changed",
    },
    "team" => it.team.as_ref().map(|team| &team.label),
}
