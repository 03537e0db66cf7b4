//! The configuration in PostgreSQL: as it stood at a step of the ledger.

use sqlx::PgConnection;
use sqlx::types::Json;

use super::{Configuration, Entry, Label};
use crate::ledger;
use crate::period::BillingMonth;

/// The configuration as of a sequence of the ledger.
pub async fn configuration(db: &mut PgConnection, sequence: i64) -> sqlx::Result<Configuration> {
    let rows = sqlx::query!(
        r#"select entry_id, content as "content: Json<Entry>"
           from allocation_entries
           where from_sequence <= $1 and (until_sequence is null or until_sequence > $1)"#,
        sequence,
    )
    .fetch_all(db)
    .await?;
    Ok(Configuration { entries: rows.into_iter().map(|row| (row.entry_id, row.content.0)).collect() })
}

/// The last step of the ledger up to this one that changed the configuration or quantities; 0: none. Books between two such
/// steps are the same.
pub async fn version(db: &mut PgConnection, sequence: i64) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"select coalesce(max(sequence), 0) as "version!"
           from ledger_log
           where action = 'allocation' and sequence <= $1"#,
        sequence,
    )
    .fetch_one(db)
    .await
}

/// The tags that tell any label now, as they are compared. An import keeps them in the key.
pub async fn label_keys(db: &mut PgConnection) -> sqlx::Result<Vec<String>> {
    let sequence = ledger::sequence(&mut *db).await?;
    let configuration = configuration(db, sequence).await?;
    // Meanings hold for all months.
    let of_any_month = configuration.of_month(BillingMonth::of(chrono::NaiveDate::default()));
    Ok(Label::ALL.into_iter().flat_map(|label| of_any_month.keys_of(label)).collect())
}

/// Numbers for entries that are about to be drafted.
pub async fn entry_ids(db: &mut PgConnection, count: usize) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!(
        r#"select nextval('allocation_entry_ids') as "id!" from generate_series(1, $1)"#,
        i32::try_from(count).unwrap_or(i32::MAX),
    )
    .fetch_all(db)
    .await
}
