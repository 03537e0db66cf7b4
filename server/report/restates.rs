//! What a delivery that waits would restate: accounts and months that are final.

use serde::Serialize;
use sqlx::PgConnection;

use super::completeness::final_since;
use crate::ledger;
use crate::period::BillingMonth;

/// An account and month that is final, and would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restates {
    pub provider: String,
    pub billing_account: String,
    pub month: BillingMonth,
    /// All bills of the month are final, so its statements tell what they said before.
    pub is_whole_month: bool,
}

/// The final ones among the accounts and months that a delivery states.
pub async fn restates(db: &mut PgConnection, delivery: i64) -> sqlx::Result<Vec<Restates>> {
    let rows = sqlx::query!(
        "select s.provider, s.billing_account, s.billing_month
         from delivery_scopes own
         join scopes s using (scope_id)
         where own.delivery_id = $1
           and exists (select from visibility v where v.scope_id = s.scope_id and v.until_sequence is null)
           and (
               exists (select from invoices i where i.scope_id = s.scope_id)
               or not exists (
                   select
                   from visibility v
                   join delivery_scopes ds on ds.scope_id = v.scope_id and ds.delivery_id = v.delivery_id
                   where v.scope_id = s.scope_id and v.until_sequence is null and ds.is_provisional
               )
           )
         order by 3, 1, 2",
        delivery,
    )
    .fetch_all(&mut *db)
    .await?;
    let sequence = ledger::sequence(db).await?;
    let mut found = Vec::new();
    for row in rows {
        let month = BillingMonth::of(row.billing_month);
        found.push(Restates {
            provider: row.provider,
            billing_account: row.billing_account,
            month,
            is_whole_month: final_since(db, month, sequence).await?.is_some(),
        });
    }
    Ok(found)
}
