//! `/audit`: everything that writes, newest first.

use askama::Template;
use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::csv;
use super::error::{Error, Result};
use super::extract::Reading;
use super::form::Fields;
use super::format::{File, Format};
use super::layout::Layout;
use super::{filters, paths, respond};
use crate::audit::{self, Found, Line, Search, Verb};
use crate::period::BillingMonth;

/// Lines in one file.
const LARGEST_FILE: i64 = 100_000;

/// What the address narrows to. A field of the form that was left empty does not.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Asked {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    who: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    what: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    from: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<i64>,
}

#[derive(Template)]
#[template(path = "audit.html")]
struct Page {
    layout: Layout,
    asked: Asked,
    found: Found,
    actors: Vec<String>,
    fields: Fields,
}

pub async fn show(_: paths::Audit, format: Format, reading: Reading<Asked>) -> Result {
    let Reading { layout, query: asked, mut db, .. } = reading;
    let limit = if format == Format::Csv { LARGEST_FILE } else { audit::PAGE };
    let found = audit::find(&mut db, &asked.search(limit)?).await?;
    match format {
        Format::Html => {}
        Format::Json => return respond::json(&found),
        Format::Csv if found.older.is_some() => {
            return Err(Error::BadRequest("Too many entries for one file. Choose a shorter period.".into()));
        }
        Format::Csv => return csv::answer("audit", &found.lines),
    }
    let actors = audit::actors(&mut db).await?;
    let fields =
        Fields::new([("who", &asked.who), ("what", &asked.what), ("from", &asked.from), ("to", &asked.to)]);
    respond::html(Page { layout, asked, found, actors, fields })
}

impl Asked {
    fn search(&self, limit: i64) -> Result<Search> {
        let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let date = |name: &str, text: &str| -> Result<Option<NaiveDate>> {
            let read =
                || text.trim().parse().map_err(|_| format!("{name}: enter a date such as 2026-09-30."));
            if text.trim().is_empty() { Ok(None) } else { read().map(Some).map_err(Error::BadRequest) }
        };
        Ok(Search {
            who: text(&self.who),
            what: text(&self.what),
            from: date("from", &self.from)?,
            to: date("to", &self.to)?,
            before: self.before,
            limit,
        })
    }

    /// What a printed page would not tell otherwise: `by or about ada@example.org, token made, from 2026-09-01`.
    fn in_words(&self) -> String {
        let what = self.what.parse::<Verb>();
        let what = what.map_or_else(|_| self.what.replace('_', "-"), |verb| verb.meaning().to_owned());
        let parts = [("by or about ", &self.who), ("", &what), ("from ", &self.from), ("to ", &self.to)];
        let said = parts.iter().filter(|(_, value)| !value.is_empty());
        said.map(|(word, value)| format!("{word}{value}")).collect::<Vec<_>>().join(", ")
    }

    fn is_narrowed(&self) -> bool {
        [&self.who, &self.what, &self.from, &self.to].iter().any(|text| !text.is_empty())
    }
}

impl Page {
    fn older(&self) -> Option<String> {
        let before = Some(self.found.older?);
        Some(paths::with_query(paths::Audit, &Asked { before, ..self.asked.clone() }))
    }

    fn newest(&self) -> String {
        paths::with_query(paths::Audit, &Asked { before: None, ..self.asked.clone() })
    }

    fn file(&self, file: File) -> String {
        // A file of rows has all of them; JSON is the page that is shown.
        let before = self.asked.before.filter(|_| file == File::Json);
        file.of(paths::with_query(paths::Audit, &Asked { before, ..self.asked.clone() }))
    }
}

/// Kinds of verbs with the verbs of each.
fn kinds() -> Vec<(&'static str, Vec<Verb>)> {
    let mut kinds: Vec<(&'static str, Vec<Verb>)> = Vec::new();
    for verb in Verb::ALL {
        match kinds.iter_mut().find(|(kind, _)| *kind == verb.kind()) {
            Some((_, verbs)) => verbs.push(verb),
            None => kinds.push((verb.kind(), vec![verb])),
        }
    }
    kinds
}

/// A kind of verbs, as pages call it.
fn kind_on_page(kind: &str) -> &str {
    match kind {
        "delivery" => "import",
        "sign_in" => "sign-in",
        other => other,
    }
}

impl Line {
    /// What it was done to, as pages call it.
    fn object(&self) -> String {
        match self.object_kind.as_str() {
            "delivery" => format!("import {}", self.object_id),
            _ => self.object_name.clone(),
        }
    }

    /// What was done in words.
    fn what(&self) -> &str {
        self.verb.parse::<Verb>().map_or(self.verb.as_str(), |verb| verb.meaning())
    }

    /// The page of what it was done to, or the list that it is in.
    fn href(&self) -> Option<String> {
        let id = &self.object_id;
        match (self.object_kind.as_str(), self.object_name.as_str()) {
            ("delivery", _) => Some(format!("/imports/{id}")),
            ("batch", _) if self.has_upload => Some(format!("/imports/batches/{id}")),
            ("batch", _) => self.first_delivery.map(|delivery| format!("/imports/{delivery}")),
            ("person", _) => Some(format!("/people/{id}")),
            ("scenario", _) => Some(format!("/scenarios/{id}")),
            ("change", _) => Some(format!("/changes/{id}")),
            ("register-change", _) => Some(format!("/asset-register/changes/{id}")),
            ("price-change", _) => Some(format!("/prices/changes/{id}")),
            ("adjustment-change", _) => Some(format!("/adjustments/changes/{id}")),
            ("rate-card-change", _) => Some(format!("/rate-cards/changes/{id}")),
            ("invoices", _) => Some(format!("/invoices/{id}")),
            ("mapping", _) => Some(format!("/mappings/{id}")),
            ("usage", _) => Some(format!("/usage/imports/{id}")),
            ("catalog", _) => Some(format!("/catalog/additions/{id}")),
            (_, "adjustments") => Some(paths::Adjustments.to_string()),
            (_, "import limits") => Some(paths::ImportLimits.to_string()),
            (_, "token prices") => Some(paths::TokenPrices.to_string()),
            (_, "import review") => Some(paths::ImportReview.to_string()),
            (_, "archiving" | "upload limits") => Some(paths::Storage.to_string()),
            (_, "exchange rates" | "reporting currency") => Some(paths::Rates.to_string()),
            ("prometheus", _) => Some(format!("/usage/prometheus/{id}")),
            (_, "node of usage" | "division by use") => Some(paths::Usage.to_string()),
            (_, "quantities") => Some(paths::Quantities.to_string()),
            _ => None,
        }
    }

    /// `role: lead → finance`, `token: nightly`.
    fn notes(&self) -> Vec<(String, String)> {
        let pairs = self.details.as_object().into_iter().flatten();
        let said = pairs.filter(|(_, value)| !value.is_null());
        said.map(|(name, value)| (label(name), written(name, value))).collect()
    }
}

/// What pages call a detail. Those that are not named here are called as they are stored.
fn label(name: &str) -> String {
    match name {
        "sequence" => "version",
        "after" => "now",
        "expires_at" => "expires",
        "until" => "blocked until",
        "has_password" => "password chosen",
        "keys" => "kinds of charges recognized again",
        "hours" => "archive after hours",
        "days" => "remove files after days",
        "largest_file_gb" => "largest file, GB",
        "kept_free_gb" => "disk space kept free, GB",
        other => return other.replace('_', " "),
    }
    .to_owned()
}

/// A detail as people read it. `name` says what it is: a number of an invoice may look like a month.
fn written(name: &str, value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => moment_or_month(name, text).unwrap_or_else(|| text.clone()),
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Array(values) => {
            values.iter().map(|value| written(name, value)).collect::<Vec<_>>().join(", ")
        }
        Value::Object(pair) => match (pair.get("from"), pair.get("to")) {
            (Some(from), Some(to)) => format!("{} → {}", written(name, from), written(name, to)),
            _ => amount(value).unwrap_or_else(|| {
                let pairs =
                    pair.iter().map(|(name, value)| format!("{} {}", label(name), written(name, value)));
                pairs.collect::<Vec<_>>().join(", ")
            }),
        },
        Value::Number(number) => number.to_string(),
    }
}

/// Moments are kept to the nanosecond, months as numbers: people read `Sep 30, 2026, 14:00 UTC` and `September 2026`.
fn moment_or_month(name: &str, text: &str) -> Option<String> {
    if matches!(name, "month" | "months") {
        return text.parse().map(BillingMonth::name).ok();
    }
    let moment = text.parse::<DateTime<Utc>>().ok()?;
    Some(moment.format("%b %-d, %Y, %H:%M UTC").to_string())
}

/// `1,204.10 USD`, where a value is an amount in a currency.
fn amount(value: &Value) -> Option<String> {
    let (amount, currency) = (value.get("amount")?.as_str()?, value.get("currency")?.as_str()?);
    Some(format!("{} {currency}", filters::figure(amount.parse().ok()?, 2)))
}

csv::record! {
    |it: Line|
    "id" => it.audit_id,
    "happened_at" => it.happened_at.to_rfc3339(),
    "actor" => &it.actor,
    "address" => &it.address,
    "verb" => &it.verb,
    "object_kind" => &it.object_kind,
    "object_id" => &it.object_id,
    "object_name" => &it.object_name,
    "details" => it.details.to_string(),
}
