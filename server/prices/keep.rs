//! Prices in PostgreSQL, as they stood at a revision.

use sqlx::PgConnection;
use sqlx::types::Json;

use super::entry::{Entries, Said};
use crate::scenario::price::Catalogue;

/// The last revision.
pub async fn revision(db: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!("select revision from price_list").fetch_one(db).await
}

/// What people said as of a revision.
pub async fn entries(db: &mut PgConnection, revision: i64) -> sqlx::Result<Entries> {
    let rows = sqlx::query!(
        r#"select entry, content as "content: Json<Said>"
           from price_entries
           where from_revision <= $1 and (until_revision is null or until_revision > $1)"#,
        revision,
    )
    .fetch_all(db)
    .await?;
    Ok(Entries { said: rows.into_iter().map(|row| (row.entry, row.content.0)).collect() })
}

/// The list as of a revision, over what comes with this version of the program.
pub async fn as_of(db: &mut PgConnection, revision: i64) -> sqlx::Result<Catalogue> {
    Ok(entries(db, revision).await?.catalogue())
}

/// The list that holds, with its revision.
pub async fn current(db: &mut PgConnection) -> sqlx::Result<(i64, Catalogue)> {
    let revision = revision(&mut *db).await?;
    Ok((revision, as_of(db, revision).await?))
}
