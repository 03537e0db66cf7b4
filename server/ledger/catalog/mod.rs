//! The catalog of accelerators as it is now: what is shipped, and what was added in the browser.
//!
//! It is a value. Each import, check or command reads it once, when it begins, and passes it down. What keys say of their
//! accelerators is that of the catalog of now, always: who adds or removes something recognizes what it changes in the same
//! transaction, and an import that began with an earlier one recognizes its keys again before it is published. A lock of
//! PostgreSQL keeps the two apart.

mod add;
mod recognize_again;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

pub use add::{NewAddition, add, remove};
pub use recognize_again::recognize_again;
pub(super) use recognize_again::recognize_keys_of;

use crate::accelerator::{Accelerators, Addition, Catalog, Model, model, version_of};

/// Held by whoever changes the catalog, and shared by whoever recognizes keys by it and needs that it stays.
const LOCK: i64 = 0x6361_7461_6c6f_6701;

/// Something that was added, with who did.
#[derive(Clone, Debug)]
pub struct Added {
    pub addition_id: i64,
    /// Empty: a text, whoever bills it.
    pub provider: String,
    pub name: String,
    pub model: &'static Model,
    /// `None`: a text that names the model.
    pub accelerators: Option<Accelerators>,
    /// The machine whose other name it is.
    pub same_as: Option<String>,
    /// Where it is known from, in people's words.
    pub source: String,
    pub added_at: DateTime<Utc>,
    pub added_by: String,
    pub removed: Option<(DateTime<Utc>, String)>,
}

impl Added {
    /// What the catalog knows of it.
    pub fn addition(&self) -> Addition {
        addition(&self.provider, &self.name, self.model, self.accelerators)
    }
}

/// A machine that holds so many accelerators, or a text.
fn addition(
    provider: &str,
    name: &str,
    model: &'static Model,
    accelerators: Option<Accelerators>,
) -> Addition {
    let (provider, name) = (provider.to_owned(), name.to_owned());
    match accelerators {
        Some(accelerators) => Addition::Machine { provider, name, model, accelerators },
        None => Addition::Text { text: name, model },
    }
}

/// The catalog as it is now.
pub async fn catalog(db: &mut PgConnection) -> sqlx::Result<Arc<Catalog>> {
    Ok(Arc::new(catalog_of(&every_addition(db).await?)))
}

/// The catalog of all that was ever added, without what was removed.
pub fn catalog_of(every: &[Added]) -> Catalog {
    let removed = every.iter().filter(|it| it.removed.is_some()).count();
    let revision = u32::try_from(every.len() + removed).unwrap_or(u32::MAX);
    let present = every.iter().filter(|it| it.removed.is_none());
    Catalog::new(present.map(Added::addition), revision)
}

/// The catalog as it was at a version, as far as it can be told: what was shipped is that of this release.
pub(super) async fn catalog_of_version(
    db: &mut PgConnection,
    version: Option<i64>,
) -> sqlx::Result<Arc<Catalog>> {
    let every = every_addition(db).await?;
    let mut moments: Vec<DateTime<Utc>> = every.iter().map(|it| it.added_at).collect();
    moments.extend(every.iter().filter_map(|it| it.removed.as_ref().map(|(at, _)| *at)));
    moments.sort_unstable();
    let is_of = |revision: &usize| {
        let revision = u32::try_from(*revision).unwrap_or(u32::MAX);
        Some(i64::from(version_of(revision))) == version
    };
    let Some(revision) = (0..moments.len()).find(is_of) else { return Ok(Arc::new(catalog_of(&every))) };
    let until = revision.checked_sub(1).map(|last| moments[last]);
    let present = every.iter().filter(|it| {
        let was_there = |at: DateTime<Utc>| until.is_some_and(|until| at <= until);
        was_there(it.added_at) && !it.removed.as_ref().is_some_and(|(at, _)| was_there(*at))
    });
    Ok(Arc::new(Catalog::new(present.map(Added::addition), u32::try_from(revision).unwrap_or(u32::MAX))))
}

/// How often something was added or removed: [`Catalog::revision`] without the catalog.
pub async fn catalog_revision(db: &mut PgConnection) -> sqlx::Result<u32> {
    let count =
        sqlx::query_scalar!(r#"select count(*) + count(removed_at) as "revision!" from catalog_additions"#)
            .fetch_one(db)
            .await?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// All that was ever added, in that order.
pub async fn every_addition(db: &mut PgConnection) -> sqlx::Result<Vec<Added>> {
    let rows = sqlx::query!(
        "select addition_id, provider, name, model, accelerators, same_as, source, added_at, added_by, removed_at, removed_by
         from catalog_additions
         order by addition_id"
    )
    .fetch_all(db)
    .await?;
    let wrong = |column: &str, found: &str| sqlx::Error::Decode(format!("{column} {found}").into());
    rows.into_iter()
        .map(|row| {
            let accelerators = row.accelerators.as_deref().map(|text| {
                text.parse::<Accelerators>().map_err(|_| wrong("a number of accelerators:", text))
            });
            Ok(Added {
                addition_id: row.addition_id,
                provider: row.provider,
                name: row.name,
                model: model(&row.model).ok_or_else(|| wrong("an unknown model:", &row.model))?,
                accelerators: accelerators.transpose()?,
                same_as: row.same_as,
                source: row.source,
                added_at: row.added_at,
                added_by: row.added_by,
                removed: row.removed_at.zip(row.removed_by),
            })
        })
        .collect()
}

/// The catalog stays as it is until this transaction ends.
async fn keep(db: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query!("select pg_advisory_xact_lock_shared($1)", LOCK).execute(db).await?;
    Ok(())
}

/// Nobody else changes the catalog, or recognizes keys by it, until this transaction ends.
async fn begin_change(db: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query!("select pg_advisory_xact_lock($1)", LOCK).execute(db).await?;
    Ok(())
}
