//! Mappings that people saved: every version of each, since what was imported by one is read by it again.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use crate::audit::{self, Act, Object, Verb};
use crate::billing::mapping::{self, Mapping};
use crate::billing::{FORMATS, Format, ReadAs};

/// A version of a mapping.
#[derive(Clone, Debug)]
pub struct SavedMapping {
    pub version: i32,
    pub mapping: Mapping,
    pub saved_at: DateTime<Utc>,
    pub saved_by: String,
    /// When and by whom it was removed: no further file is recognized by it.
    pub removed: Option<(DateTime<Utc>, String)>,
}

impl SavedMapping {
    /// What the ledger stores of an import that was read by it.
    pub fn format_name(&self) -> String {
        self.format().name().to_owned()
    }

    fn format(&self) -> Arc<dyn Format> {
        mapping::read_by(self.mapping.clone(), self.version)
    }
}

/// A version as it is stored: `None` where this program cannot read its document.
struct Stored {
    name: String,
    saved: Option<SavedMapping>,
}

/// All versions of all mappings, by name, the newest first. One that cannot be read stops nobody who imports by another.
async fn stored(db: &mut PgConnection) -> sqlx::Result<Vec<Stored>> {
    let rows = sqlx::query!(
        "select name, version, document, saved_at, saved_by, removed_at, removed_by
         from mappings
         order by name, version desc"
    )
    .fetch_all(db)
    .await?;
    let stored = rows.into_iter().map(|row| {
        let mapping = Mapping::parse(&row.document);
        if let Err(error) = &mapping {
            tracing::warn!(mapping = %row.name, version = row.version, %error, "a saved mapping cannot be read; no file is read by it");
        }
        let removed = row.removed_at.zip(row.removed_by);
        let (version, saved_at, saved_by) = (row.version, row.saved_at, row.saved_by);
        let saved = |mapping| SavedMapping { version, mapping, saved_at, saved_by, removed };
        Stored { name: row.name, saved: mapping.ok().map(saved) }
    });
    Ok(stored.collect())
}

/// All versions of all mappings that can be read, by name, the newest first.
pub async fn every_mapping(db: &mut PgConnection) -> sqlx::Result<Vec<SavedMapping>> {
    Ok(stored(db).await?.into_iter().filter_map(|it| it.saved).collect())
}

/// The newest version of each mapping that was not removed. Where that cannot be read, no older one takes its place.
pub async fn mappings(db: &mut PgConnection) -> sqlx::Result<Vec<SavedMapping>> {
    let mut newest = stored(db).await?;
    newest.dedup_by(|older, newer| older.name == newer.name);
    let newest = newest.into_iter().filter_map(|it| it.saved);
    Ok(newest.filter(|it| it.removed.is_none()).collect())
}

/// What files may be: any format and any mapping of now, or the one of this name. That of a mapping alone is its newest version,
/// and `name@3` its third.
pub async fn read_as(db: &mut PgConnection, name: Option<&str>) -> sqlx::Result<ReadAs> {
    let is_built_in = name.is_some_and(|name| FORMATS.iter().any(|format| format.name() == name));
    if is_built_in {
        return Ok(ReadAs::named(name));
    }
    let Some(name) = name else {
        let formats: Vec<_> = mappings(db).await?.iter().map(SavedMapping::format).collect();
        return Ok(ReadAs::any().with_mappings(formats.into()));
    };
    let stored = stored(db).await?;
    let mut formats = stored.iter().filter_map(|it| it.saved.as_ref()).map(SavedMapping::format);
    let of_version = formats.find(|format| format.name() == name);
    let newest = || stored.iter().find(|it| it.name == name)?.saved.as_ref().map(SavedMapping::format);
    let found = of_version.or_else(newest);
    let full = found.as_ref().map_or(name, |format| format.name());
    Ok(ReadAs::named(Some(full)).with_mappings(found.iter().cloned().collect()))
}

/// What the files of an import were read as.
pub async fn read_as_of(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<ReadAs> {
    let format = sqlx::query_scalar!("select format from deliveries where delivery_id = $1", delivery_id)
        .fetch_optional(&mut *db)
        .await?;
    read_as(db, format.flatten().as_deref()).await
}

/// Saves a mapping as the next version of its name. Answers the version; `None` where it is the same as the newest one.
pub async fn save_mapping(
    db: &mut PgConnection,
    mapping: &Mapping,
    act: Act<'_>,
) -> sqlx::Result<Option<i32>> {
    let mut tx = db.begin().await?;
    let document = mapping.text();
    // Two who save the same name at once are one behind the other.
    sqlx::query!("lock table mappings in share row exclusive mode").execute(&mut *tx).await?;
    let newest = sqlx::query!(
        "select version, document, removed_at from mappings where name = $1 order by version desc limit 1",
        mapping.name
    )
    .fetch_optional(&mut *tx)
    .await?;
    if newest.as_ref().is_some_and(|it| it.document == document && it.removed_at.is_none()) {
        return Ok(None);
    }
    let version = newest.map_or(0, |it| it.version) + 1;
    sqlx::query!(
        "insert into mappings (name, version, document, saved_at, saved_by) values ($1, $2, $3, $4, $5)",
        mapping.name,
        version,
        document,
        act.at,
        act.by.name
    )
    .execute(&mut *tx)
    .await?;
    let object = Object::Mapping(mapping.name.clone());
    audit::record(&mut tx, act, Verb::MappingSaved, &object, json!({ "version": version })).await?;
    tx.commit().await?;
    Ok(Some(version))
}

/// Removes a mapping: the next file is not read by it any more; what was imported stays. False where there is none.
pub async fn remove_mapping(db: &mut PgConnection, name: &str, act: Act<'_>) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let removed = sqlx::query!(
        "update mappings
         set removed_at = $2, removed_by = $3
         where name = $1 and removed_at is null
           and version = (select max(version) from mappings newest where newest.name = $1)",
        name,
        act.at,
        act.by.name
    )
    .execute(&mut *tx)
    .await?;
    if removed.rows_affected() == 0 {
        return Ok(false);
    }
    audit::record(&mut tx, act, Verb::MappingRemoved, &Object::Mapping(name.to_owned()), json!(null)).await?;
    tx.commit().await?;
    Ok(true)
}
