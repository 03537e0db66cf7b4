//! Which deliveries count: looked up before a question is asked, and written into it.

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder};

use crate::accelerator;
use crate::period::BillingMonth;

use super::Archived;
use super::catalog::catalog_revision;

/// The deliveries that count in a span of months as of a sequence. With a question it decides the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct ActiveImports {
    deliveries: Vec<i64>,
    /// Deliveries and their scopes that do not count, of deliveries that count in other scopes.
    hidden: Vec<(i64, i64)>,
    /// When one of them was loaded again last: what was made of its rows before is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    loaded_again: Option<DateTime<Utc>>,
    /// How often the catalog of accelerators was changed, by which keys are recognized now.
    #[serde(skip_serializing_if = "is_zero")]
    catalog_revision: u32,
}

/// What was made before anything could be added stays as it is.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(revision: &u32) -> bool {
    *revision == 0
}

impl ActiveImports {
    /// # Errors
    /// Where one of them is archived, too: its rows are not there.
    pub async fn find(
        db: &mut PgConnection,
        first: BillingMonth,
        last: BillingMonth,
        sequence: i64,
    ) -> sqlx::Result<Self> {
        // First: what is read by a later one is asked for by that.
        let catalog_revision = catalog_revision(&mut *db).await?;
        let stated = sqlx::query!(
            r#"select ds.delivery_id, ds.scope_id, exists (
                   select
                   from visibility v
                   where v.scope_id = ds.scope_id and v.delivery_id = ds.delivery_id
                     and v.from_sequence <= $3 and (v.until_sequence is null or v.until_sequence > $3)
               ) as "counts!"
               from delivery_scopes ds
               join scopes s using (scope_id)
               where s.billing_month >= $1 and s.billing_month <= $2
               order by 1, 2"#,
            first.first_day(),
            last.first_day(),
            sequence,
        )
        .fetch_all(&mut *db)
        .await?;
        let mut deliveries: Vec<i64> =
            stated.iter().filter(|row| row.counts).map(|row| row.delivery_id).collect();
        deliveries.dedup();
        let loaded_again = Archived::check(db, &deliveries).await?;
        let is_hidden = |counts: bool, delivery: i64| !counts && deliveries.binary_search(&delivery).is_ok();
        let hidden = stated
            .iter()
            .filter(|row| is_hidden(row.counts, row.delivery_id))
            .map(|row| (row.delivery_id, row.scope_id))
            .collect();
        Ok(Self { deliveries, hidden, loaded_again, catalog_revision })
    }

    /// These deliveries, whether they count or not: what is made of their keys is made of them.
    pub async fn of_deliveries(db: &mut PgConnection, mut deliveries: Vec<i64>) -> sqlx::Result<Self> {
        let catalog_revision = catalog_revision(&mut *db).await?;
        deliveries.sort_unstable();
        deliveries.dedup();
        let loaded_again = Archived::check(db, &deliveries).await?;
        Ok(Self { deliveries, hidden: Vec::new(), loaded_again, catalog_revision })
    }

    /// Without some of them.
    #[must_use]
    pub fn without(&self, these: &[i64]) -> Self {
        let mut rest = self.clone();
        rest.deliveries.retain(|it| !these.contains(it));
        rest
    }

    pub fn deliveries(&self) -> &[i64] {
        &self.deliveries
    }

    /// The version of the catalog by which their accelerators are recognized.
    pub fn catalog_version(&self) -> u32 {
        accelerator::version_of(self.catalog_revision)
    }

    /// When one of them was loaded again last.
    pub fn loaded_again(&self) -> Option<DateTime<Utc>> {
        self.loaded_again
    }

    /// `and …` that keeps what is active. Numbers and not a join nor parameters: they let PostgreSQL know how
    /// many rows to expect, without which it looks every row's key up in the index; a month of 100,000 keys
    /// takes four times as long then.
    pub fn push(&self, query: &mut QueryBuilder<Postgres>) {
        let list = |ids: &mut dyn Iterator<Item = String>| ids.collect::<Vec<_>>().join(", ");
        let deliveries = list(&mut self.deliveries.iter().map(ToString::to_string));
        query.push(format!(" and c.delivery_id = any(array[{deliveries}]::bigint[])"));
        if !self.hidden.is_empty() {
            let hidden =
                list(&mut self.hidden.iter().map(|(delivery, scope)| format!("({delivery}, {scope})")));
            query.push(format!(" and (c.delivery_id, c.scope_id) not in ({hidden})"));
        }
    }
}
