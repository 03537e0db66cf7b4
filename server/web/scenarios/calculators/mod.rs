//! `/scenarios/calculators/spot`: one question, answered with its formula.
//!
//! What a comparison computes many times can be asked once here: each formula of [`crate::economics`] by itself. The
//! address says the numbers that were entered, so that an answer can be sent to somebody.

mod input;
mod models;
mod other_chips;
mod renting;
mod takes;

use std::sync::LazyLock;

use askama::Template;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::{Pairs, Reading};
use super::super::format::File;
use super::super::layout::Layout;
use super::super::words::{number, term};
use super::super::{filters, paths, respond};
use super::prices::Exchange;
use super::show::{capital, said};
use crate::compute::compute;
use crate::economics::check::{Finding, Refused};
use crate::economics::figure::{Figure, Term};
use crate::money::Currency;
use input::{Input, Values};
use takes::Takes;

/// One question.
struct Calculator {
    /// What its address ends with.
    handle: &'static str,
    /// The question.
    name: &'static str,
    about: &'static str,
    /// What is entered. Their names are those of the fields that a finding speaks of.
    inputs: Vec<Input>,
    answer: fn(&Values<'_>) -> Result<Answered, Refused>,
}

/// What a calculator answers.
#[derive(Debug, Serialize)]
struct Answered {
    /// In words.
    sentence: String,
    figures: Vec<Row>,
    warnings: Vec<Finding>,
}

/// A figure under a name that no other of its answer has: scripts distinguish figures by it.
#[derive(Debug)]
struct Row {
    name: String,
    figure: Figure,
}

/// What is said beside a field.
struct Note {
    name: String,
    sentence: String,
    is_refusal: bool,
}

/// What scripts get.
#[derive(Serialize)]
struct Whole<'a> {
    calculator: &'static str,
    currency: &'a str,
    #[serde(flatten)]
    answered: &'a Answered,
}

static CALCULATORS: LazyLock<Vec<Calculator>> = LazyLock::new(|| {
    [renting::calculators(), models::calculators(), other_chips::calculators()]
        .into_iter()
        .flatten()
        .collect()
});

#[derive(Template)]
#[template(path = "scenarios/calculators.html")]
struct Index {
    layout: Layout,
    calculators: &'static [Calculator],
}

#[derive(Template)]
#[template(path = "scenarios/calculator.html")]
struct Page {
    layout: Layout,
    calculator: &'static Calculator,
    values: Values<'static>,
    notes: Vec<Note>,
    answered: Option<Answered>,
}

pub async fn index(_: paths::Calculators, layout: Layout) -> Result {
    respond::html(Index { layout, calculators: &CALCULATORS })
}

pub async fn show(path: paths::Calculator, file: Option<File>, reading: Reading<Pairs>) -> Result {
    let Reading { now, layout, query: pairs, mut db, .. } = reading;
    let handle = &path.calculator;
    let calculator = CALCULATORS.iter().find(|it| it.handle == handle).ok_or(Error::NotFound)?;
    let mut values =
        Values::read(&calculator.inputs, pairs, &Exchange::load(&mut db, now.date_naive()).await?)?;
    drop(db);
    let mut notes: Vec<Note> = values
        .misread()
        .map(|(name, expected)| Note {
            name: name.to_owned(),
            sentence: format!("{}.", filters::capital(expected)),
            is_refusal: true,
        })
        .collect();
    let mut answered = None;
    if notes.is_empty() {
        let found;
        (values, found) = compute(move || {
            let found = (calculator.answer)(&values);
            (values, found)
        })
        .await?;
        match found {
            Ok(found) => {
                notes.extend(found.warnings.iter().map(|it| note(it, &values, false)));
                answered = Some(found);
            }
            Err(refused) => notes.extend(refused.0.iter().map(|it| note(it, &values, true))),
        }
    }
    let Some(file) = file else {
        return respond::html(Page { layout, calculator, values, notes, answered });
    };
    let answered = answered.ok_or_else(|| {
        let described: Vec<String> = notes.iter().map(|it| format!("{}: {}", it.name, it.sentence)).collect();
        Error::BadRequest(described.join(" "))
    })?;
    let currency = values.currency();
    match file {
        File::Json => {
            let (calculator, currency) = (calculator.handle, currency.as_str());
            respond::json(&Whole { calculator, currency, answered: &answered })
        }
        File::Csv => {
            let rows: Vec<Line<'_>> = answered.figures.iter().map(|it| Line(it, &currency)).collect();
            csv::answer(calculator.handle, &rows)
        }
        File::Toml => Err(Error::NotFound),
    }
}

/// What is said of a field; shares are entered as percentages.
fn note(finding: &Finding, values: &Values<'_>, is_refusal: bool) -> Note {
    // What is wrong with one of several that are entered as one text, or with what was looked up for a field.
    let field = finding.field.replace(".performance.", ".");
    let is_of = |it: &&Input| {
        field.strip_prefix(it.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let input = values.inputs().iter().find(is_of);
    let is_share = input.is_some_and(|it| matches!(it.takes, Takes::Percent));
    let (found, message) = match finding.found.parse::<crate::money::Decimal>() {
        Ok(share) if is_share => (
            format!("{}%", number(share.times(100), 4)),
            finding
                .message
                .replace("a share from 0 to 1 (0.8 for 80%)", "0 to 100%")
                .replace("a share from 0 to 1", "0 to 100%"),
        ),
        _ => (finding.found.clone(), finding.message.clone()),
    };
    let name = input.map_or_else(|| finding.field.clone(), |it| it.name.to_owned());
    Note { name, sentence: capital(&said(&found, &message)), is_refusal }
}

impl From<Figure> for Row {
    fn from(figure: Figure) -> Self {
        Self { name: figure.name.to_owned(), figure }
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_struct("Figure", 5)?;
        row.serialize_field("name", &self.name)?;
        row.serialize_field("value", &self.figure.value)?;
        row.serialize_field("unit", &self.figure.unit)?;
        row.serialize_field("formula", self.figure.formula)?;
        row.serialize_field("terms", &self.figure.terms)?;
        row.end()
    }
}

/// A row as a table has it.
struct Line<'a>(&'a Row, &'a Currency);

csv::record! {
    |it: Line<'_>|
    "figure" => &it.0.name,
    "value" => it.0.figure.value,
    "unit" => unit(&it.0.figure),
    "currency" => it.1,
    "formula" => it.0.figure.formula,
    "terms" => it.0.figure.terms.iter().map(|term| said_term(term, it.1)).collect::<Vec<_>>().join("; "),
}

/// `money-per-hour`, as JSON has it.
fn unit(figure: &Figure) -> String {
    let unit = serde_json::to_value(figure.unit).unwrap_or_default();
    unit.as_str().unwrap_or_default().to_owned()
}

fn said_term(it: &Term, currency: &Currency) -> String {
    format!("{} {}", it.name, term(it, currency))
}

impl Page {
    fn address(&self, suffix: &str) -> String {
        format!("{}{suffix}{}", to(self.calculator.handle), self.values.query())
    }

    fn path(&self) -> String {
        to(self.calculator.handle)
    }

    fn notes_of(&self, input: &Input) -> Vec<&Note> {
        self.notes.iter().filter(|it| it.name == input.name).collect()
    }

    fn is_refused(&self, input: &Input) -> bool {
        self.notes.iter().any(|it| it.is_refusal && it.name == input.name)
    }

    /// What is said of no field that the form has.
    fn other_notes(&self) -> Vec<&Note> {
        let has = |note: &&Note| !self.calculator.inputs.iter().any(|it| it.name == note.name);
        self.notes.iter().filter(has).collect()
    }

    fn refusals(&self) -> Vec<&Note> {
        self.notes.iter().filter(|it| it.is_refusal).collect()
    }

    fn label<'a>(&self, note: &'a Note) -> &'a str {
        let input = self.calculator.inputs.iter().find(|it| it.name == note.name);
        input.map_or(note.name.as_str(), |it| it.label)
    }

    fn terms(&self, figure: &Figure) -> String {
        let currency = self.values.currency();
        let terms: Vec<String> = figure.terms.iter().map(|it| said_term(it, &currency)).collect();
        terms.join("; ")
    }

    /// Every place beside a field where something may be said, for htmx.
    fn spots(&self) -> String {
        let spots: Vec<String> = self.calculator.inputs.iter().map(|it| format!("#n-{}", it.id())).collect();
        spots.join(",")
    }
}

/// The address of a calculator.
fn to(handle: &str) -> String {
    paths::Calculator { calculator: handle.to_owned() }.to_string()
}

#[cfg(test)]
mod tests;
