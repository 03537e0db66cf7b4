//! What pages by owner read is made when the ledger has changed, before anybody asks for it.

use sqlx::PgConnection;

use super::Answers;
use crate::period::BillingMonth;

/// The months that are prepared: those of the overview's chart and, since a period is compared with the one before, as many
/// before them.
const MONTHS: i64 = 26;

impl Answers {
    /// Allocates the latest months as of a sequence, the last one first: whose each of their keys is, how their shared costs
    /// are divided, and what they cost by owner and by what was bought. What exists is taken as it is.
    pub async fn prepare(&self, db: &mut PgConnection, sequence: i64) -> sqlx::Result<()> {
        let latest = sqlx::query_scalar!(
            "select distinct billing_month
             from scopes
             join visibility using (scope_id)
             where from_sequence <= $1 and (until_sequence is null or until_sequence > $1)
             order by 1 desc
             limit $2",
            sequence,
            MONTHS,
        )
        .fetch_all(&mut *db)
        .await?;
        let book = self.book(db, sequence).await?;
        for month in latest.into_iter().map(BillingMonth::of) {
            self.month(db, &book, month, sequence).await?;
        }
        Ok(())
    }
}
