//! `/mappings/{mapping}`: what a mapping says, its versions, its text, and its removal.

use askama::Template;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse as _;
use serde_json::json;

use crate::billing::mapping::{Draft, PricedBy, Use, shipped};
use crate::ledger::{self, SavedMapping};
use crate::web::error::Result;
use crate::web::extract::{Db, Writing};
use crate::web::format::Format;
use crate::web::imports::download::attachment;
use crate::web::layout::Layout;
use crate::web::{csv, filters, paths, respond};

#[derive(Template)]
#[template(path = "mappings/mapping.html")]
struct Page {
    layout: Layout,
    path: paths::Mapping,
    saved: SavedMapping,
    /// The newest one first.
    versions: Vec<SavedMapping>,
    lines: Vec<Line>,
}

/// What a column, or all rows, are.
#[derive(Clone, Debug, serde::Serialize)]
struct Line {
    /// Empty: the same in all rows.
    column: String,
    text: String,
    label: String,
}

pub async fn show(path: paths::Mapping, format: Format, layout: Layout, mut db: Db) -> Result {
    let every = ledger::every_mapping(&mut db).await?;
    let saved = super::find(&every, &path.mapping)?;
    let lines = lines(&saved);
    match format {
        Format::Html => {
            let versions = every.into_iter().filter(|it| it.mapping.name == path.mapping).collect();
            respond::html(Page { layout, path, saved, versions, lines })
        }
        Format::Json => respond::json(&json!({ "mapping": super::in_json(&saved), "fields": lines })),
        Format::Csv => csv::answer(&format!("mapping-{}", path.mapping), &lines),
    }
}

csv::record! {
    |it: Line|
    "column" => &it.column,
    "text" => &it.text,
    "is" => &it.label,
}

/// What each column is, in their order, and then what is the same in all rows.
fn lines(saved: &SavedMapping) -> Vec<Line> {
    let draft = Draft::of(&saved.mapping);
    let columns = draft.names.iter().zip(&draft.uses).map(|(name, used)| Line {
        column: name.clone(),
        text: String::new(),
        label: used.map_or("not used", Use::label).to_owned(),
    });
    let texts = draft.texts.iter().map(|(of, text)| Line {
        column: String::new(),
        text: text.clone(),
        label: of.label().to_owned(),
    });
    let priced_by = draft.priced_by.map(|PricedBy::RateCards| Line {
        column: String::new(),
        text: "priced by rate cards".to_owned(),
        label: Use::Cost.label().to_owned(),
    });
    columns.chain(texts).chain(priced_by).collect()
}

/// The text, to be kept or read elsewhere; of one that is built in, with its comments.
pub async fn download(path: paths::MappingDownload, mut db: Db) -> Result {
    let built_in = shipped().iter().find(|it| it.mapping.name == path.mapping);
    let mut response = match built_in {
        Some(it) => it.text.into_response(),
        None => {
            super::find(&ledger::every_mapping(&mut db).await?, &path.mapping)?.mapping.text().into_response()
        }
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/toml; charset=utf-8"));
    headers.insert(header::CONTENT_DISPOSITION, attachment(&format!("{}.toml", path.mapping)));
    Ok(response)
}

pub async fn remove(path: paths::MappingRemove, writing: Writing) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let said = if ledger::remove_mapping(&mut db, &path.mapping, by.at(now)).await? {
        format!("Removed: no further file is read by {}. What was imported stays.", path.mapping)
    } else {
        "Nothing changed: it was removed before.".to_owned()
    };
    Ok(respond::flash(paths::Mappings, &said))
}
