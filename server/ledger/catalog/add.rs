//! Adding to the catalog, and removing what was added: each with the keys that it changes, in one transaction.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use super::recognize_again::recognize_changed;
use super::{Added, addition, begin_change, catalog_of, every_addition};
use crate::accelerator::{Accelerators, Addition, Model, NotAdded};
use crate::audit::{self, Act, Object, Verb};

/// What is added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAddition {
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
}

impl NewAddition {
    /// What the catalog would know of it.
    pub fn addition(&self) -> Addition {
        addition(&self.provider, &self.name, self.model, self.accelerators)
    }

    fn added(&self, addition_id: i64, at: DateTime<Utc>, by: &str) -> Added {
        let Self { provider, name, model, accelerators, same_as, source } = self.clone();
        let (added_at, added_by, removed) = (at, by.to_owned(), None);
        Added {
            addition_id,
            provider,
            name,
            model,
            accelerators,
            same_as,
            source,
            added_at,
            added_by,
            removed,
        }
    }
}

/// Adds to the catalog, and recognizes what is recorded by it. Answers its number; or why nothing was added.
pub async fn add(
    db: &mut PgConnection,
    new: &NewAddition,
    act: Act<'_>,
) -> sqlx::Result<Result<i64, NotAdded>> {
    let mut tx = db.begin().await?;
    begin_change(&mut tx).await?;
    let mut every = every_addition(&mut tx).await?;
    let before = catalog_of(&every);
    if let Some(refused) = before.refuses(&new.addition()) {
        tx.rollback().await?;
        return Ok(Err(refused));
    }
    let by = act.by.name.clone();
    let addition_id = sqlx::query_scalar!(
        "insert into catalog_additions (provider, name, model, accelerators, same_as, source, added_at, added_by)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
         returning addition_id",
        new.provider,
        new.name,
        new.model.id,
        new.accelerators.map(|count| count.to_string()),
        new.same_as,
        new.source,
        act.at,
        by,
    )
    .fetch_one(&mut *tx)
    .await?;
    every.push(new.added(addition_id, act.at, &by));
    let keys = recognize_changed(&mut tx, &before, &catalog_of(&every)).await?;
    let object = Object::Catalog { id: addition_id, name: new.name.clone() };
    audit::record(&mut tx, act, Verb::CatalogAdded, &object, details(&every[every.len() - 1], keys)).await?;
    tx.commit().await?;
    Ok(Ok(addition_id))
}

/// Removes what was added, so that what is recorded is as if it never had been. Answers what it was; `None` where there is none
/// of that number, or it was removed before.
pub async fn remove(db: &mut PgConnection, addition_id: i64, act: Act<'_>) -> sqlx::Result<Option<Added>> {
    let mut tx = db.begin().await?;
    begin_change(&mut tx).await?;
    let mut every = every_addition(&mut tx).await?;
    let before = catalog_of(&every);
    let by = act.by.name.clone();
    let Some(removed) = every.iter_mut().find(|it| it.addition_id == addition_id && it.removed.is_none())
    else {
        tx.rollback().await?;
        return Ok(None);
    };
    removed.removed = Some((act.at, by.clone()));
    let removed = removed.clone();
    sqlx::query!(
        "update catalog_additions set removed_at = $2, removed_by = $3 where addition_id = $1",
        addition_id,
        act.at,
        by,
    )
    .execute(&mut *tx)
    .await?;
    let keys = recognize_changed(&mut tx, &before, &catalog_of(&every)).await?;
    let object = Object::Catalog { id: addition_id, name: removed.name.clone() };
    audit::record(&mut tx, act, Verb::CatalogRemoved, &object, details(&removed, keys)).await?;
    tx.commit().await?;
    Ok(Some(removed))
}

fn details(of: &Added, keys: u64) -> serde_json::Value {
    json!({
        "provider": of.provider,
        "model": of.model.id,
        "accelerators": of.accelerators.map(|count| count.to_string()),
        "same_as": of.same_as,
        "source": of.source,
        "keys": keys,
    })
}
