//! `/mappings`: how files are read that no format knows, and where a file is sent to say it.

mod filled;
pub(super) mod mapping;
pub(super) mod new;
pub(super) mod usage;

use askama::Template;
use serde::Deserialize;
use serde_json::json;

use super::error::{Error, Result};
use super::extract::{Db, Form, Sending, Upload, Writing};
use super::form::Fields;
use super::format::Format;
use super::layout::Layout;
use super::{csv, filters, paths, respond};
use crate::billing::mapping::{Field, Mapping, Shipped, is_built_in, shipped};
use crate::ledger::{self, SavedMapping};
use crate::telemetry::{self, UsageMapping};
use crate::web::imports::receive;

#[derive(Template)]
#[template(path = "mappings/index.html")]
struct Page {
    layout: Layout,
    mappings: Vec<SavedMapping>,
    /// Columns of files that say who used GPUs.
    of_usage: Vec<UsageMapping>,
    fields: Fields,
}

#[expect(clippy::unused_self, reason = "templates ask the page")]
impl Page {
    fn built_in(&self) -> &'static [Shipped] {
        shipped()
    }
}

pub async fn index(_: paths::Mappings, format: Format, layout: Layout, mut db: Db) -> Result {
    let mappings = ledger::mappings(&mut db).await?;
    match format {
        Format::Html => {
            let of_usage = telemetry::usage_mappings(&mut db).await?;
            respond::html(Page { layout, mappings, of_usage, fields: Fields::default() })
        }
        Format::Json => {
            respond::json(&json!({ "mappings": mappings.iter().map(in_json).collect::<Vec<_>>() }))
        }
        Format::Csv => csv::answer("mappings", &mappings),
    }
}

/// A file that is to be mapped.
pub async fn send(_: paths::MappingFiles, sending: Sending, upload: Upload) -> Result {
    let Sending { now, layout, app, .. } = sending;
    let arriving = receive::receive(&app, upload).await?;
    if let Some(sample) = arriving.into_sample(&app.samples, now)? {
        return Ok(respond::see_other(paths::NewMapping { sample }));
    }
    let mut fields = Fields::default();
    fields.refuse("files", "Choose a file.");
    let mut db = app.db.acquire().await?;
    let mappings = ledger::mappings(&mut db).await?;
    let of_usage = telemetry::usage_mappings(&mut db).await?;
    respond::refused(Page { layout, mappings, of_usage, fields })
}

/// The text of a mapping.
#[derive(Deserialize)]
pub struct Text {
    text: String,
}

/// Saves a mapping that was exported elsewhere.
pub async fn save_text(_: paths::MappingText, writing: Writing, Form(form): Form<Text>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let mut fields = Fields::new([("text", &form.text)]);
    let Some(mapping) = fields.check("text", own(&form.text)) else {
        let mappings = ledger::mappings(&mut db).await?;
        let of_usage = telemetry::usage_mappings(&mut db).await?;
        return respond::refused(Page { layout, mappings, of_usage, fields });
    };
    let said = match ledger::save_mapping(&mut db, &mapping, by.at(now)).await? {
        Some(version) => format!("Saved: mapping {}, version {version}.", mapping.name),
        None => format!("Mapping {} is as it was.", mapping.name),
    };
    Ok(respond::flash(paths::Mapping { mapping: mapping.name }, &said))
}

/// A mapping with a name that no format has which is built in.
fn own(text: &str) -> std::result::Result<Mapping, String> {
    let mapping = Mapping::parse(text)?;
    if is_built_in(&mapping.name) { Err(built_in_name(&mapping.name)) } else { Ok(mapping) }
}

fn built_in_name(name: &str) -> String {
    format!("{name} is the name of a format that is built in. Enter another name.")
}

/// Whose bills a mapping reads, as a page shows it.
fn provider(mapping: &Mapping) -> String {
    match &mapping.fields.provider {
        Field::Text(text) => text.clone(),
        Field::Column(name) => format!("by column {name}"),
    }
}

fn in_json(saved: &SavedMapping) -> serde_json::Value {
    json!({
        "name": saved.mapping.name,
        "version": saved.version,
        "provider": provider(&saved.mapping),
        "columns": saved.mapping.file.columns,
        "saved_at": saved.saved_at,
        "saved_by": saved.saved_by,
    })
}

csv::record! {
    |it: SavedMapping|
    "name" => &it.mapping.name,
    "version" => i64::from(it.version),
    "provider" => provider(&it.mapping),
    "columns" => it.mapping.file.columns.len() as i64,
    "saved_at" => it.saved_at.to_rfc3339(),
    "saved_by" => &it.saved_by,
}

/// The newest version of a mapping.
fn find(every: &[SavedMapping], name: &str) -> Result<SavedMapping> {
    every.iter().find(|it| it.mapping.name == name).cloned().ok_or(Error::NotFound)
}
