//! The same figures as files: JSON, CSV, and the document itself.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use super::super::super::csv;
use super::super::super::format::File;
use super::super::super::respond;
use super::super::address::Base;
use super::super::answer::Answer;
use super::super::edit::Edited;
use super::super::ledger::FromLedger;
use crate::economics::comparison::{Line, OptionAnswer, Scenario};
use crate::economics::file;
use crate::money::{Currency, Decimal};
use crate::web::error::{Error, Result};

/// What scripts get.
#[derive(Serialize)]
struct Whole<'a> {
    scenario: &'a Scenario,
    version: Option<i64>,
    /// Of one of the ledger, what it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    made_of: Option<&'a FromLedger>,
    #[serde(flatten)]
    answer: &'a Answer,
}

/// The same figures as a file.
pub(super) fn hand_out(base: &Base, edited: Edited, file: File) -> Result {
    if let Some(wrong) = edited.misread.first() {
        let sentence = format!("{}: found “{}”; {}.", wrong.pointer, wrong.text, wrong.expected);
        return Err(Error::BadRequest(sentence));
    }
    let scenario = edited.scenario;
    let name = scenario.name.clone();
    if file == File::Toml {
        let text = file::write(&scenario)
            .map_err(|error| anyhow::Error::new(error).context("a scenario was not written"))?;
        return Ok(toml(&name, text));
    }
    let answer = Answer::of(&scenario).map_err(|refused| Error::BadRequest(format!("{refused}.")))?;
    if file == File::Json {
        let version = if let Base::Kept(kept) = base { Some(kept.version) } else { None };
        let made_of = if let Base::Ledger(it) = base { Some(it.as_ref()) } else { None };
        return respond::json(&Whole { scenario: &scenario, version, made_of, answer: &answer });
    }
    csv::answer(&name, &rows(&answer))
}

fn toml(name: &str, text: String) -> Response {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let mut response = ([(header::CONTENT_TYPE, "application/toml; charset=utf-8")], text).into_response();
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}.toml\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

/// A cost line of an option, for files. Those of an option sum to its total.
struct Row<'a> {
    option: &'a str,
    supplier: &'a str,
    /// Works that are done there; empty: all.
    serves: String,
    line: &'a str,
    cost: Decimal,
    currency: &'a Currency,
    formula: &'a str,
    is_cheapest: bool,
}

fn rows(answer: &Answer) -> Vec<Row<'_>> {
    let lines = answer
        .options()
        .into_iter()
        .flat_map(|(at, option)| option.lines.iter().map(move |line| row(answer, (at, option), line)));
    lines.collect()
}

fn row<'a>(answer: &'a Answer, (at, option): (usize, &'a OptionAnswer), line: &'a Line) -> Row<'a> {
    let place = option.places.get(line.place);
    Row {
        option: &option.name,
        supplier: place.map_or("", |it| it.supplier.as_str()),
        serves: place.map_or_else(String::new, |it| it.serves.join(", ")),
        line: &line.name,
        cost: line.cost,
        currency: answer.currency(),
        formula: &line.formula,
        is_cheapest: answer.is_cheapest(&at),
    }
}

csv::record! {
    |it: Row<'_>|
    "option" => it.option,
    "supplier" => it.supplier,
    "serves" => &it.serves,
    "line" => it.line,
    "cost" => it.cost,
    "currency" => it.currency,
    "formula" => it.formula,
    "is_cheapest" => it.is_cheapest,
}
