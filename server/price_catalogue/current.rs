//! The list of prices in PostgreSQL, as it stood at a revision.

use sqlx::PgConnection;

use super::entry::Entries;
use crate::changes::Document as _;
use crate::price_catalogue::Catalogue;

/// The list as of a revision, over what comes with this version of the program.
pub async fn as_of(db: &mut PgConnection, revision: i64) -> sqlx::Result<Catalogue> {
    Ok(Entries::as_of(db, revision).await?.catalogue())
}

/// The list that holds, with its revision.
pub async fn current(db: &mut PgConnection) -> sqlx::Result<(i64, Catalogue)> {
    let (revision, entries) = Entries::current(db).await?;
    Ok((revision, entries.catalogue()))
}
