//! Archived imports: their rows and sums by key are removed, and loaded again from their files when somebody needs them
//! ([why](../../docs/decisions/replaced-imports-are-archived.md)). What stays is their files, their totals by scope, and their sums by
//! plain key.

use std::io;

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{Connection, PgConnection};

use crate::period::BillingMonth;

use super::{delivery, own_table};

/// Between the mark and the removal of rows: longer than a page, or the sums of a page, may take.
const GRACE: TimeDelta = TimeDelta::minutes(2);

/// Rows are asked for of an import that is archived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("import {delivery} is archived")]
pub struct Archived {
    pub delivery: i64,
}

impl From<Archived> for sqlx::Error {
    /// For what asks the database: [`Archived::of`] finds it again.
    fn from(cause: Archived) -> Self {
        Self::Io(io::Error::other(cause))
    }
}

impl Archived {
    /// Whether this is why the database was not asked.
    pub fn of(error: &sqlx::Error) -> Option<Self> {
        let sqlx::Error::Io(error) = error else { return None };
        error.get_ref()?.downcast_ref::<Self>().copied()
    }

    /// That none of these deliveries is archived. Answers when one of them was loaded again last.
    ///
    /// # Errors
    /// Where one is, too.
    pub async fn check(db: &mut PgConnection, deliveries: &[i64]) -> sqlx::Result<Option<DateTime<Utc>>> {
        let found = sqlx::query!(
            "select min(delivery_id) filter (where archived_at is not null) as archived, max(loaded_again_at) as again
             from deliveries
             where delivery_id = any($1)",
            deliveries,
        )
        .fetch_one(db)
        .await?;
        found.archived.map_or(Ok(found.again), |delivery| Err(Self { delivery }.into()))
    }
}

/// An import that has its rows and is active nowhere.
pub struct Inactive {
    pub delivery: i64,
    /// Its months, and at which version of the ledger it ceased to be active in each.
    pub months: Vec<(BillingMonth, i64)>,
}

/// The imports that are inactive at that moment and ever since, and were not loaded again since.
pub async fn inactive_since(db: &mut PgConnection, then: DateTime<Utc>) -> sqlx::Result<Vec<Inactive>> {
    let months = sqlx::query!(
        r#"with inactive as (
               select d.delivery_id
               from deliveries d
               join visibility v using (delivery_id)
               left join ledger_log l on l.sequence = v.until_sequence
               where d.status in ('loaded', 'undone') and d.archived_at is null
                 and (d.loaded_again_at is null or d.loaded_again_at <= $1)
               group by d.delivery_id
               having bool_and(coalesce(l.happened_at <= $1, false))
           )
           select v.delivery_id, s.billing_month, max(v.until_sequence) as "until!"
           from inactive
           join visibility v using (delivery_id)
           join scopes s using (scope_id)
           group by 1, 2
           order by 1, 2"#,
        then,
    )
    .fetch_all(db)
    .await?;
    let of_delivery = months.chunk_by(|a, b| a.delivery_id == b.delivery_id).map(|months| Inactive {
        delivery: months[0].delivery_id,
        months: months.iter().map(|row| (BillingMonth::of(row.billing_month), row.until)).collect(),
    });
    Ok(of_delivery.collect())
}

/// Marks an import as archived, unless it has become active meanwhile. Whoever reads its rows has a while to finish.
pub async fn archive(db: &mut PgConnection, delivery_id: i64, now: DateTime<Utc>) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    // Nothing is published or undone meanwhile.
    sqlx::query!("select from ledger for update").execute(&mut *tx).await?;
    let archived = sqlx::query!(
        "update deliveries d set archived_at = $2
         where delivery_id = $1 and archived_at is null and status in ('loaded', 'undone')
           and not exists (select from visibility v where v.delivery_id = d.delivery_id and v.until_sequence is null)",
        delivery_id,
        now,
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(archived.rows_affected() > 0)
}

/// The archived imports whose rows are due to be removed, or are left of something that broke off.
pub async fn due(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!(
        "select delivery_id
         from deliveries
         where archived_at <= $1 and rows_removed_at is null or needs_cleaning
         order by 1",
        now - GRACE,
    )
    .fetch_all(db)
    .await
}

/// Removes the rows of an archived import. False where that waits: somebody reads at the moment, or loads them again.
pub async fn remove_archived(
    db: &mut PgConnection,
    delivery_id: i64,
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    if !delivery::try_lock(&mut *db, delivery_id).await? {
        return Ok(false);
    }
    let removed = remove_locked(&mut *db, delivery_id, now).await;
    delivery::release(db, delivery_id).await?;
    removed
}

async fn remove_locked(db: &mut PgConnection, delivery_id: i64, now: DateTime<Utc>) -> sqlx::Result<bool> {
    // First, so that nobody takes what is left for whole.
    let marked = sqlx::query!(
        "update deliveries
         set rows_removed_at = coalesce(rows_removed_at, $2), needs_cleaning = true
         where delivery_id = $1 and archived_at is not null and (archived_at <= $3 or needs_cleaning)",
        delivery_id,
        now,
        now - GRACE,
    )
    .execute(&mut *db)
    .await?;
    // Somebody has loaded it again.
    if marked.rows_affected() == 0 {
        return Ok(false);
    }
    clean(db, delivery_id).await
}

/// Removes all that is loaded under an archived import. False where somebody reads at the moment.
pub(super) async fn clean(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<bool> {
    if !own_table::remove_attached(&mut *db, delivery_id).await? {
        return Ok(false);
    }
    own_table::remove(&mut *db, delivery_id).await?;
    let mut tx = db.begin().await?;
    own_table::remove_shared_rows(&mut tx, delivery_id).await?;
    sqlx::query!("delete from row_identities where delivery_id = $1", delivery_id).execute(&mut *tx).await?;
    sqlx::query!("update deliveries set needs_cleaning = false where delivery_id = $1", delivery_id)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(true)
}
