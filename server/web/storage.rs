//! `/storage`: what takes disk space, what archiving would free, when imports are archived, how long their files are kept, and what
//! uploads are held to.

use std::ops::RangeInclusive;

use askama::Template;
use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use super::error::{Error, Result};
use super::extract::{Form, Now, Reading, Writing};
use super::form::{Fields, amount};
use super::format::Format;
use super::layout::Layout;
use super::{Access, App, filters, paths, respond};
use crate::audit::{self, Actor, Object, Verb};
use crate::jobs::{self, LEAST_KEPT_FREE, UploadLimits};
use crate::money::Decimal;
use crate::storage::{self, Archiving, Usage};
use crate::store::disk;

#[derive(Template)]
#[template(path = "storage.html")]
struct Page {
    layout: Layout,
    usage: Usage,
    /// Bytes of the disk of the data folder.
    free: u64,
    fields: Fields,
}

pub async fn show(_: paths::Storage, format: Format, reading: Reading) -> Result {
    let Reading { now, layout, app, mut db, .. } = reading;
    let usage = storage::usage(&mut db, now).await?;
    match format {
        Format::Html => {}
        Format::Json => return respond::json(&usage),
        Format::Csv => return Err(Error::NotFound),
    }
    let (fields, free) = (saved(&mut db).await?, disk::room(&app.settings.data_dir)?);
    respond::html(Page { layout, usage, free, fields })
}

/// What is set, as it would be typed.
async fn saved(db: &mut PgConnection) -> Result<Fields> {
    let set = storage::archiving(&mut *db).await?;
    let limits = jobs::upload_limits(db).await?;
    let text = |number: Option<i32>| number.map_or_else(String::new, |number| number.to_string());
    let largest = limits.largest_file.map_or_else(String::new, in_gigabytes);
    Ok(Fields::new([
        ("hours", &*text(set.after_hours)),
        ("days", &*text(set.files_after_days)),
        ("largest", &*largest),
        ("free", &*in_gigabytes(limits.kept_free)),
    ]))
}

#[derive(Deserialize)]
pub struct ArchivingForm {
    hours: String,
    #[serde(default)]
    days: String,
}

pub async fn save(_: paths::Storage, writing: Writing, Form(form): Form<ArchivingForm>) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let mut fields = saved(&mut db).await?.with("hours", &form.hours).with("days", &form.days);
    let hours = fields.check("hours", number(&form.hours, 0..=storage::MOST_HOURS, HOURS));
    let days = fields.check("days", number(&form.days, 1..=storage::MOST_DAYS, DAYS));
    let (Some(after_hours), Some(files_after_days)) = (hours, days) else {
        let usage = storage::usage(&mut db, now).await?;
        let free = disk::room(&app.settings.data_dir)?;
        return respond::refused(Page { layout, usage, free, fields });
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

#[derive(Deserialize)]
pub struct UploadsForm {
    largest: String,
    free: String,
}

pub async fn save_uploads(
    _: paths::StorageUploads,
    writing: Writing,
    Form(form): Form<UploadsForm>,
) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let mut fields = saved(&mut db).await?.with("largest", &form.largest).with("free", &form.free);
    let largest = match form.largest.trim() {
        "" => Some(None),
        typed => fields.check("largest", gigabytes(typed, SMALLEST_LARGEST).ok_or(LARGEST)).map(Some),
    };
    let free = fields.check("free", gigabytes(&form.free, LEAST_KEPT_FREE).ok_or(FREE));
    let (Some(largest_file), Some(kept_free)) = (largest, free) else {
        let usage = storage::usage(&mut db, now).await?;
        let free = disk::room(&app.settings.data_dir)?;
        return respond::refused(Page { layout, usage, free, fields });
    };
    let mut tx = db.begin().await?;
    if jobs::set_upload_limits(&mut tx, UploadLimits { largest_file, kept_free }).await? {
        let (verb, object) = (Verb::UploadLimitsSet, Object::Other("upload limits"));
        let details = json!({ "largest_file_gb": largest_file.map(in_gigabytes), "kept_free_gb": in_gigabytes(kept_free) });
        audit::record(&mut tx, by.at(now), verb, &object, details).await?;
    }
    tx.commit().await?;
    Ok(respond::flash(paths::Storage, "Saved. The limits apply to new uploads."))
}

const LARGEST: &str = "Enter a size in GB from 0.001 to 1000000, or leave empty for no limit.";
const FREE: &str = "Enter a size in GB from 0.2 to 1000000.";
const SMALLEST_LARGEST: u64 = 1_000_000;
const LARGEST_SIZE: u64 = 1_000_000_000_000_000;

/// Bytes of a size that is typed in GB, from this many on.
fn gigabytes(text: &str, least: u64) -> Option<u64> {
    let size = amount(text.trim().trim_end_matches("GB").trim_end())?;
    let bytes = size.checked_multiply(Decimal::from(1_000_000_000)).ok()?.normalize();
    bytes.to_string().parse().ok().filter(|bytes| (least..=LARGEST_SIZE).contains(bytes))
}

fn in_gigabytes(bytes: u64) -> String {
    Decimal::new(i128::from(bytes), 9).normalize().to_string()
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
    fn sizes_are_typed_in_gigabytes() {
        for (text, expected) in [
            ("1", Some(1_000_000_000)),
            (" 2.5 GB", Some(2_500_000_000)),
            ("0.001", Some(1_000_000)),
            ("1,000,000", Some(LARGEST_SIZE)),
            ("1000000.1", None),
            ("0.0009", None),
            ("1.0000000001", None),
            ("-1", None),
            ("a lot", None),
            ("", None),
        ] {
            assert_eq!(gigabytes(text, SMALLEST_LARGEST), expected, "{text}");
        }
        assert_eq!([1_000_000_000, 2_500_000_000].map(in_gigabytes), ["1", "2.5"]);
    }

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
