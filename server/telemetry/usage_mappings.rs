//! Column names of CSV files of usage that somebody saved.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::types::Json;
use sqlx::{Connection as _, PgConnection};

use super::columns::ColumnNames;
use crate::audit::{self, Act, Object, Verb};

/// Column names under the name that people call them by.
#[derive(Clone, Debug)]
pub struct UsageMapping {
    pub mapping_id: i64,
    pub name: String,
    pub columns: ColumnNames,
    pub saved_at: DateTime<Utc>,
    pub saved_by: String,
}

/// All that are in use, by name.
pub async fn usage_mappings(db: &mut PgConnection) -> sqlx::Result<Vec<UsageMapping>> {
    let rows = sqlx::query!(
        r#"select mapping_id, name, columns as "columns: Json<ColumnNames>", saved_at, saved_by
           from usage_mappings
           where removed_at is null
           order by lower(name)"#
    )
    .fetch_all(db)
    .await?;
    let mapping = rows.into_iter().map(|row| UsageMapping {
        mapping_id: row.mapping_id,
        name: row.name,
        columns: row.columns.0,
        saved_at: row.saved_at,
        saved_by: row.saved_by,
    });
    Ok(mapping.collect())
}

/// The column names of all of them, the latest first.
pub async fn column_names(db: &mut PgConnection) -> sqlx::Result<Vec<ColumnNames>> {
    let mut mappings = usage_mappings(db).await?;
    mappings.sort_by_key(|it| std::cmp::Reverse(it.mapping_id));
    Ok(mappings.into_iter().map(|it| it.columns).collect())
}

/// Saves column names in place of those of the same name.
pub async fn save_usage_mapping(
    db: &mut PgConnection,
    name: &str,
    columns: &ColumnNames,
    act: Act<'_>,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    sqlx::query!(
        "update usage_mappings set removed_at = $2, removed_by = $3 where lower(name) = lower($1) and removed_at is null",
        name,
        act.at,
        act.by.name,
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "insert into usage_mappings (name, columns, saved_at, saved_by) values ($1, $2, $3, $4)",
        name,
        Json(columns) as _,
        act.at,
        act.by.name,
    )
    .execute(&mut *tx)
    .await?;
    let details = json!({ "mapping": name, "columns": columns });
    audit::record(&mut tx, act, Verb::MappingSaved, &Object::Other("mapping of usage"), details).await?;
    tx.commit().await
}

/// False where there is none.
pub async fn remove_usage_mapping(
    db: &mut PgConnection,
    mapping_id: i64,
    act: Act<'_>,
) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let removed = sqlx::query_scalar!(
        "update usage_mappings set removed_at = $2, removed_by = $3
         where mapping_id = $1 and removed_at is null
         returning name",
        mapping_id,
        act.at,
        act.by.name,
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(name) = removed else { return Ok(false) };
    let details = json!({ "mapping": name });
    audit::record(&mut tx, act, Verb::MappingRemoved, &Object::Other("mapping of usage"), details).await?;
    tx.commit().await?;
    Ok(true)
}
