//! `/storage`: what takes disk space, what archiving would free, and when imports are archived.

use askama::Template;
use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use sqlx::Connection as _;

use super::error::Result;
use super::extract::{Db, Form, cookie};
use super::form::Fields;
use super::layout::Layout;
use super::{Access, App, filters, paths, respond};
use crate::audit::{self, Actor, Object, Verb};
use crate::clock;
use crate::storage::{self, Usage};

#[derive(Template)]
#[template(path = "storage.html")]
struct Page {
    layout: Layout,
    usage: Usage,
    fields: Fields,
}

pub async fn show(_: paths::Storage, layout: Layout, mut db: Db) -> Result {
    let hours = storage::archive_after(&mut db).await?;
    let usage = storage::usage(&mut db, clock::now()).await?;
    let hours = hours.map_or_else(String::new, |hours| hours.to_string());
    respond::html(Page { layout, usage, fields: Fields::new([("hours", hours.as_str())]) })
}

pub async fn json(_: paths::StorageJson, mut db: Db) -> Result {
    respond::json(&storage::usage(&mut db, clock::now()).await?)
}

#[derive(Deserialize)]
pub struct ArchivingForm {
    hours: String,
}

pub async fn save(
    _: paths::Storage,
    layout: Layout,
    by: Actor,
    mut db: Db,
    Form(form): Form<ArchivingForm>,
) -> Result {
    let mut fields = Fields::new([("hours", &*form.hours)]);
    let Some(hours) = fields.check("hours", hours(&form.hours)) else {
        let usage = storage::usage(&mut db, clock::now()).await?;
        return respond::refused(Page { layout, usage, fields });
    };
    let mut tx = db.begin().await?;
    if storage::set_archive_after(&mut tx, hours).await? {
        let (verb, object) = (Verb::ArchivingSet, Object::Other("archiving"));
        audit::record(&mut tx, &by, verb, &object, json!({ "hours": hours }), clock::now()).await?;
    }
    tx.commit().await?;
    let mut response = respond::see_other(paths::Storage);
    cookie::leave_flash(&mut response, "Saved.");
    Ok(response)
}

/// Nothing: never.
fn hours(text: &str) -> std::result::Result<Option<i32>, &'static str> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let hours = text.trim().parse().ok().filter(|hours| (0..=storage::LONGEST).contains(hours));
    hours.map(Some).ok_or("Enter a whole number of hours from 0 to 87600, or nothing for never.")
}

/// Archives all that is inactive, whenever that began.
pub async fn archive(_: paths::StorageArchive, by: Actor, State(app): State<App>) -> Result {
    let mut db = app.jobs.acquire().await?;
    let now = clock::now();
    let archived = storage::archive_all(&mut db, now).await?;
    if !archived.is_empty() {
        let (verb, object) = (Verb::ImportsArchived, Object::Other("archiving"));
        audit::record(&mut db, &by, verb, &object, json!({ "imports": archived }), now).await?;
    }
    let sentence = match archived.len() {
        0 => "Nothing changed: no import is inactive that could be archived.".to_owned(),
        1 => format!("Import {} is archived. Its space is free in a few minutes.", archived[0]),
        many => format!("{many} imports are archived. Their space is free in a few minutes."),
    };
    let mut response = respond::see_other(paths::Storage);
    cookie::leave_flash(&mut response, &sentence);
    Ok(response)
}

impl Page {
    fn may_save(&self) -> bool {
        self.layout.may(Access::Admin)
    }
}

#[cfg(test)]
mod tests {
    use super::hours;

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
            assert_eq!(hours(text).ok(), expected, "{text}");
        }
    }
}
