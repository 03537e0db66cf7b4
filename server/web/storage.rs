//! `/storage`: what takes disk space, what archiving would free, when imports are archived, and how long their files are kept.

use std::ops::RangeInclusive;

use askama::Template;
use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use sqlx::Connection as _;

use super::error::{Error, Result};
use super::extract::{Db, Form, Now, Writing};
use super::form::Fields;
use super::format::Format;
use super::layout::Layout;
use super::{Access, App, filters, paths, respond};
use crate::audit::{self, Actor, Object, Verb};
use crate::storage::{self, Archiving, Usage};

#[derive(Template)]
#[template(path = "storage.html")]
struct Page {
    layout: Layout,
    usage: Usage,
    fields: Fields,
}

pub async fn show(_: paths::Storage, format: Format, Now(now): Now, layout: Layout, mut db: Db) -> Result {
    let usage = storage::usage(&mut db, now).await?;
    match format {
        Format::Html => {}
        Format::Json => return respond::json(&usage),
        Format::Csv => return Err(Error::NotFound),
    }
    let set = storage::archiving(&mut db).await?;
    let text = |number: Option<i32>| number.map_or_else(String::new, |number| number.to_string());
    let (hours, days) = (text(set.after_hours), text(set.files_after_days));
    let fields = Fields::new([("hours", hours.as_str()), ("days", days.as_str())]);
    respond::html(Page { layout, usage, fields })
}

#[derive(Deserialize)]
pub struct ArchivingForm {
    hours: String,
    #[serde(default)]
    days: String,
}

pub async fn save(_: paths::Storage, writing: Writing, Form(form): Form<ArchivingForm>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let mut fields = Fields::new([("hours", &*form.hours), ("days", &*form.days)]);
    let hours = fields.check("hours", number(&form.hours, 0..=storage::MOST_HOURS, HOURS));
    let days = fields.check("days", number(&form.days, 1..=storage::MOST_DAYS, DAYS));
    let (Some(after_hours), Some(files_after_days)) = (hours, days) else {
        let usage = storage::usage(&mut db, now).await?;
        return respond::refused(Page { layout, usage, fields });
    };
    let mut tx = db.begin().await?;
    let set = Archiving { after_hours, files_after_days };
    if storage::set_archiving(&mut tx, set, now).await? {
        let (verb, object) = (Verb::ArchivingSet, Object::Other("archiving"));
        let details = json!({ "hours": after_hours, "days": files_after_days });
        audit::record(&mut tx, by.at(now), verb, &object, details).await?;
    }
    tx.commit().await?;
    Ok(respond::flash(paths::Storage, "Saved."))
}

const HOURS: &str = "Enter a whole number of hours from 0 to 87600, or leave empty for never.";
const DAYS: &str = "Enter a whole number of days from 1 to 3650, or leave empty for never.";

/// Nothing: never.
fn number(
    text: &str,
    range: RangeInclusive<i32>,
    expected: &'static str,
) -> std::result::Result<Option<i32>, &'static str> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let number = text.trim().parse().ok().filter(|number| range.contains(number));
    number.map(Some).ok_or(expected)
}

/// Archives all that is inactive, whenever that began.
pub async fn archive(_: paths::StorageArchive, Now(now): Now, by: Actor, State(app): State<App>) -> Result {
    let mut db = app.jobs.acquire().await?;
    let archived = storage::archive_since(&mut db, now, by.at(now)).await?;
    let sentence = match archived.len() {
        0 => "Nothing changed: there are no inactive imports to archive.".to_owned(),
        1 => format!("Import {} is archived. Its space is free in a few minutes.", archived[0]),
        many => format!("{many} imports are archived. Their space is free in a few minutes."),
    };
    Ok(respond::flash(paths::Storage, &sentence))
}

impl Page {
    fn may_save(&self) -> bool {
        self.layout.may(Access::Admin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_whole_and_not_below_zero() {
        for (text, expected) in [
            ("6", Some(Some(6))),
            (" 0 ", Some(Some(0))),
            ("87600", Some(Some(87_600))),
            ("", Some(None)),
            ("87601", None),
            ("-1", None),
            ("1.5", None),
        ] {
            assert_eq!(number(text, 0..=storage::MOST_HOURS, HOURS).ok(), expected, "{text}");
        }
    }
}
