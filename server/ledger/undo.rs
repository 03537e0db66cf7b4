//! Undoing an import: from the next version of the ledger on it is active nowhere, and what it had replaced is active again.

use chrono::{DateTime, Utc};
use sqlx::{Connection, PgConnection};

use super::overlap::{self, Change, Overlap};
use super::publish::{advance, begin_version};

/// What happened on [`undo`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// The delivery is inactive from this sequence on.
    At(i64),
    /// Nothing happened: rows of what would be active again are active in a delivery that was published since.
    Overlaps(Overlap),
    /// Nothing happened: these would be active again, and are archived.
    Archived(Vec<i64>),
    /// It was not published, or undone before.
    Already,
}

/// Makes a published delivery inactive from the next sequence on; what it had replaced is active again. So are all deliveries that
/// priced the same files: what leads back from other rates is undoing their change.
pub async fn undo(
    db: &mut PgConnection,
    delivery_id: i64,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Undone> {
    // Of what is archived now nothing was compared, even where it has its rows by the time that it would be active.
    let not_compared =
        sqlx::query_scalar!("select delivery_id from deliveries where archived_at is not null")
            .fetch_all(&mut *db)
            .await?;
    // Of those that priced the same files the last one says where they are active.
    let latest = sqlx::query_scalar!(
        "select delivery_id
         from deliveries
         where status = 'loaded'
           and coalesce(reprices, delivery_id) = (select coalesce(d.reprices, d.delivery_id) from deliveries d where d.delivery_id = $1)
         order by published_sequence desc
         limit 1",
        delivery_id,
    )
    .fetch_optional(&mut *db)
    .await?;
    let delivery_id = latest.unwrap_or(delivery_id);
    let compared = overlap::compare(&mut *db, delivery_id, Change::Undo).await?;
    let mut tx = db.begin().await?;
    let sequence = begin_version(&mut tx).await?;
    let undone = sqlx::query!(
        "update deliveries set status = 'undone', undone_sequence = $2
         where status = 'loaded'
           and coalesce(reprices, delivery_id) = (select coalesce(d.reprices, d.delivery_id) from deliveries d where d.delivery_id = $1)",
        delivery_id,
        sequence,
    )
    .execute(&mut *tx)
    .await?;
    if undone.rows_affected() == 0 {
        return Ok(Undone::Already);
    }
    if let Some(overlap) = compared.now(&mut tx).await? {
        return Ok(Undone::Overlaps(overlap));
    }
    advance(&mut tx, sequence, delivery_id, "undo", by, now).await?;
    let archived = sqlx::query_scalar!(
        "select distinct delivery_id
         from visibility
         join deliveries using (delivery_id)
         where until_sequence is null and (archived_at is not null or delivery_id = any($1))
         order by 1",
        &not_compared,
    )
    .fetch_all(&mut *tx)
    .await?;
    if !archived.is_empty() {
        return Ok(Undone::Archived(archived));
    }
    tx.commit().await?;
    Ok(Undone::At(sequence))
}
