//! What pages by owner read is made when the ledger has changed, before anybody asks for it.

use chrono::NaiveDate;
use sqlx::PgConnection;

use super::{Answers, completeness};
use crate::allocation;
use crate::period::BillingMonth;

/// The months that are prepared: those of the overview's chart and, since a period is compared with the one before, as many
/// before them.
const MONTHS: i64 = 26;
/// The months that most people open, changed or not: the latest may have hardly begun.
const LATEST: usize = 2;
/// Months whose pages are asked for in all. A file may change years.
const FIRST: i64 = 6;

impl Answers {
    /// Allocates the latest months as of a sequence, the last one first: whose each of their keys is, how their shared costs
    /// are divided, and what they cost by owner and by what was bought; and whose the keys of what waits for somebody are.
    /// What exists is taken as it is.
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
        let configuration = self.configuration(db, sequence).await?;
        for month in latest.into_iter().map(BillingMonth::of) {
            self.month(db, &configuration, month, sequence).await?;
        }
        allocation::cover_waiting(db, &configuration).await
    }
}

/// The months whose pages are asked for first: the latest, and those in which other imports are active than at an earlier
/// sequence; of these also the month after, which is compared with them. At most a few, the last one first.
pub async fn first_months(
    db: &mut PgConnection,
    since: Option<i64>,
    sequence: i64,
) -> sqlx::Result<Vec<BillingMonth>> {
    // Not a month that has hardly begun.
    let latest: Vec<NaiveDate> =
        completeness::months(&mut *db).await?.into_iter().take(LATEST).map(BillingMonth::first_day).collect();
    let months = sqlx::query_scalar!(
        r#"with visible as (
               select distinct billing_month
               from scopes
               join visibility using (scope_id)
               where from_sequence <= $1 and (until_sequence is null or until_sequence > $1)
           ), changed as (
               select billing_month
               from scopes
               join visibility using (scope_id)
               where from_sequence > $2 and from_sequence <= $1 or until_sequence > $2 and until_sequence <= $1
           )
           select billing_month as "month!"
           from visible
           where billing_month = any($3)
             or billing_month in (select billing_month from changed)
             or (billing_month - interval '1 month')::date in (select billing_month from changed)
           order by 1 desc
           limit $4"#,
        sequence,
        since,
        &latest,
        FIRST,
    )
    .fetch_all(db)
    .await?;
    Ok(months.into_iter().map(BillingMonth::of).collect())
}
