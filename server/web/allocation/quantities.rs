//! `/quantities`: training runs, tokens, requests by day and owner, and what each of them costs.

use askama::Template;
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::{Form, Reading, Sending, Upload, Writing};
use super::super::form::Fields;
use super::super::format::Format;
use super::super::layout::Layout;
use super::super::{filters, paths, respond};
use crate::allocation::{self, Entered, Quantity, QuantityKind};
use crate::ledger;
use crate::money::Decimal;
use crate::period::{BillingMonth, Period};
use crate::report::{Answers, UnitCost};

/// A year of a thousand owners' days is half of it.
const LARGEST_FILE: usize = 40 << 20;
/// Months of the table; a file has them all.
const MONTHS: u32 = 13;
/// How one goes back, since quantities are no part of the configuration that changes are undone of.
const KEPT: &str = "To undo, enter the earlier quantity, or remove it below.";

#[derive(Template)]
#[template(path = "quantities.html")]
struct Page {
    layout: Layout,
    sequence: i64,
    costs: Vec<UnitCost>,
    /// Of all time.
    entered: usize,
    /// What has been counted before: offered by the form.
    units: Vec<String>,
    has_teams: bool,
    fields: Fields,
}

/// What the page shows, for scripts.
#[derive(Serialize)]
struct Everything {
    sequence: i64,
    quantities: Vec<Quantity>,
    unit_costs: Vec<UnitCost>,
}

impl Everything {
    async fn find(db: &mut PgConnection, answers: &Answers) -> Result<Self> {
        let sequence = ledger::sequence(&mut *db).await?;
        let quantities = allocation::quantities(&mut *db, None, sequence).await?;
        let unit_costs = match quantities.first() {
            None => Vec::new(),
            Some(latest) => {
                let last = BillingMonth::of(latest.day);
                let period = Period::up_to(last, MONTHS);
                answers.every_unit_cost(db, period).await?
            }
        };
        Ok(Self { sequence, quantities, unit_costs })
    }
}

impl Page {
    async fn find(layout: Layout, db: &mut PgConnection, answers: &Answers, fields: Fields) -> Result<Self> {
        let Everything { sequence, quantities, unit_costs } = Everything::find(db, answers).await?;
        let configuration = answers.configuration(db, sequence).await?;
        let mut units: Vec<String> = quantities.iter().map(|it| it.unit.clone()).collect();
        units.sort();
        units.dedup();
        Ok(Self {
            layout,
            sequence,
            costs: unit_costs,
            entered: quantities.len(),
            units,
            has_teams: configuration.has_teams(),
            fields,
        })
    }
}

pub async fn index(_: paths::Quantities, format: Format, reading: Reading) -> Result {
    let Reading { layout, app, mut db, .. } = reading;
    match format {
        Format::Html => {
            respond::html(Page::find(layout, &mut db, &app.answers, Fields::new([("kind", "team")])).await?)
        }
        Format::Json => respond::json(&Everything::find(&mut db, &app.answers).await?),
        // What was entered, as a file that reads back.
        Format::Csv => {
            let sequence = ledger::sequence(&mut db).await?;
            csv::answer("quantities", &allocation::quantities(&mut db, None, sequence).await?)
        }
    }
}

#[derive(Deserialize)]
pub struct QuantityForm {
    day: String,
    kind: String,
    owner: String,
    unit: String,
    quantity: String,
}

pub async fn set(_: paths::Quantities, writing: Writing, Form(form): Form<QuantityForm>) -> Result {
    const NAMES: [&str; 5] = ["day", "kind", "owner", "unit", "quantity"];
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let texts = [&*form.day, &form.kind, &form.owner, &form.unit, &form.quantity];
    let mut fields = Fields::new([0, 1, 2, 3, 4].map(|i| (NAMES[i], texts[i])));
    let sequence = ledger::sequence(&mut db).await?;
    let configuration = app.answers.configuration(&mut db, sequence).await?;
    let quantity = match allocation::read_quantity(&configuration, texts) {
        Ok(quantity) => quantity,
        Err((place, expected)) => {
            fields.refuse(NAMES[place], format!("Enter {expected}."));
            return respond::refused(Page::find(layout, &mut db, &app.answers, fields).await?);
        }
    };
    let entered = allocation::set_quantities(&mut db, std::slice::from_ref(&quantity), by.at(now)).await?;
    let Quantity { day, kind, owner, unit, quantity } = quantity;
    let name = kind.name_of(&configuration, &owner);
    let said = format!("{quantity} {unit} of {kind} {name} on {}", day.format("%b %-d, %Y"));
    let sentence = match entered.sequence {
        Some(step) => format!("Saved: {said}. Version {step}. {KEPT}"),
        None => format!("Nothing changed: {said} was saved before."),
    };
    Ok(respond::flash(paths::Quantities, &sentence))
}

/// All of a file, or nothing.
pub async fn load(_: paths::QuantitiesFile, sending: Sending, mut upload: Upload) -> Result {
    let Sending { now, layout, by, app, .. } = sending;
    let (name, content) = upload.one_file(LARGEST_FILE).await?;
    let mut db = app.db.acquire().await?;
    let sequence = ledger::sequence(&mut db).await?;
    let configuration = app.answers.configuration(&mut db, sequence).await?;
    let mut fields = Fields::new([("kind", "team")]);
    let quantities = match allocation::read_quantities(&content, &configuration) {
        _ if name.is_empty() => Err("Choose a file to import.".to_owned()),
        Err(refused) => Err(format!("{name}, {refused}. Nothing was imported.")),
        Ok(quantities) if quantities.is_empty() => {
            Err(format!("{name} has no quantities. Nothing was imported."))
        }
        Ok(quantities) => Ok(quantities),
    };
    let Some(quantities) = fields.check("files", quantities) else {
        return respond::refused(Page::find(layout, &mut db, &app.answers, fields).await?);
    };
    let Entered { sequence, changed, unchanged } =
        allocation::set_quantities(&mut db, &quantities, by.at(now)).await?;
    let counted = match changed {
        1 => "1 quantity added or changed".to_owned(),
        changed => format!("{changed} quantities added or changed"),
    };
    let known = format!("{unchanged} unchanged");
    let step = sequence.map(|step| format!(" Version {step}. {KEPT}")).unwrap_or_default();
    let sentence = format!("{name}: {counted}, {known}.{step}");
    Ok(respond::flash(paths::Quantities, &sentence))
}

#[derive(Deserialize)]
pub struct RemoveForm {
    month: String,
    kind: String,
    owner: String,
    unit: String,
}

pub async fn remove(_: paths::QuantitiesRemove, writing: Writing, Form(form): Form<RemoveForm>) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let month: BillingMonth = form
        .month
        .parse()
        .map_err(|error: crate::period::ParsePeriodError| Error::BadRequest(error.to_string()))?;
    let kind = QuantityKind::parse(&form.kind)
        .ok_or_else(|| Error::BadRequest("Kind: enter team, project or experiment.".to_owned()))?;
    let RemoveForm { owner, unit, .. } = form;
    let days = allocation::remove_quantities(&mut db, kind, &owner, &unit, month, by.at(now)).await?;
    let sentence = match days {
        0 => "Nothing changed: there are no such quantities.".to_owned(),
        days => {
            let days = if days == 1 { "one day".to_owned() } else { format!("{days} days") };
            format!("Removed: {unit} of {kind} {owner} in {}, {days}. {KEPT}", month.name())
        }
    };
    Ok(respond::flash(paths::Quantities, &sentence))
}

impl UnitCost {
    /// What a unit costs, as pages write it.
    pub fn price(&self) -> Option<String> {
        self.per_unit.map(price)
    }
}

/// What a unit costs, with as many digits as tell something of a token.
pub fn price(price: Decimal) -> String {
    let places = if price.abs() < Decimal::new(1, 2) { 8 } else { 4 };
    filters::figure(price.round(places).normalize(), places)
}

impl UnitCost {
    /// Experiments need no entry in the configuration, so a slip is decided by what it costs alone.
    pub fn has_no_charges(&self) -> bool {
        self.of.kind == QuantityKind::Experiment && self.cost.is_none() && !self.is_incomplete
    }
}

csv::record! {
    |it: Quantity|
    "day" => it.day,
    "kind" => it.kind.as_str(),
    "owner" => &it.owner,
    "unit" => &it.unit,
    "quantity" => it.quantity,
}
