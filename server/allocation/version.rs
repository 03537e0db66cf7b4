//! What PostgreSQL knows of the configuration beside its entries.

use sqlx::PgConnection;

use super::{Configuration, Label};
use crate::changes::Document as _;
use crate::ledger;
use crate::period::BillingMonth;

/// The last version of the ledger up to this one that changed the configuration or quantities; 0: none. Books between two such
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
    let configuration = Configuration::as_of(db, sequence).await?;
    // Meanings hold for all months.
    let of_any_month = configuration.of_month(BillingMonth::of(chrono::NaiveDate::default()));
    Ok(Label::ALL.into_iter().flat_map(|label| of_any_month.keys_of(label)).collect())
}
