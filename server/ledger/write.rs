//! The writing half of an import: blocks go to PostgreSQL as they come.
//!
//! Everything is written under a delivery that nobody sees; each block commits by itself. The commits
//! do not wait for the disk: publishing does, and its flush covers all that was written before it.

use std::collections::BTreeSet;

use sqlx::postgres::PgConnection;
use sqlx::{PgPool, Postgres};
use tokio::sync::mpsc;

use crate::billing::Rejection;
use crate::period::BillingMonth;
use crate::store;

use super::correction::Mark;
use super::new_keys;
use super::own_table::{self, Charges};
use super::partition;
use super::read::{Block, CHARGE_COLUMNS};

/// Where the charges of an import go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// To those of their months, beside others'.
    OfMonths,
    /// To tables of their own.
    Own,
}

/// Writes charges until the reader has hung up. Answers the months of tables of their own. On error the queue is closed, so that
/// the reader stops.
pub async fn write_charges(
    pool: PgPool,
    delivery_id: i64,
    tables: Tables,
    mut incoming: mpsc::Receiver<Charges>,
) -> sqlx::Result<BTreeSet<BillingMonth>> {
    without_waiting_for_the_disk(pool, async |db| match tables {
        Tables::Own => own_table::fill(db, delivery_id, &mut incoming).await,
        Tables::OfMonths => {
            while let Some(Charges::Rows { month, rows }) = incoming.recv().await {
                copy(db, ("charges", CHARGE_COLUMNS), month, rows).await?;
            }
            Ok(BTreeSet::new())
        }
    })
    .await
}

/// Writes everything else, likewise.
pub async fn write_others(
    pool: PgPool,
    delivery_id: i64,
    tables: Tables,
    mut incoming: mpsc::Receiver<Block>,
) -> sqlx::Result<()> {
    without_waiting_for_the_disk(pool, async |db| {
        new_keys::begin(db).await?;
        while let Some(block) = incoming.recv().await {
            match block {
                Block::Rollup(first) if tables == Tables::Own => {
                    return own_table::fill_sums(db, delivery_id, first, &mut incoming).await;
                }
                block => write_block(db, delivery_id, block).await?,
            }
        }
        Ok(())
    })
    .await
}

async fn without_waiting_for_the_disk<T>(
    pool: PgPool,
    work: impl AsyncFnOnce(&mut PgConnection) -> sqlx::Result<T>,
) -> sqlx::Result<T> {
    let mut db: sqlx::pool::PoolConnection<Postgres> = pool.acquire().await?;
    sqlx::query!("set synchronous_commit = off").execute(&mut *db).await?;
    let written = work(&mut db).await;
    match sqlx::raw_sql("reset synchronous_commit; discard temp").execute(&mut *db).await {
        Ok(_) => written,
        // Nobody else must get a connection whose commits do not wait, or that has tables of its own.
        Err(error) => {
            let _ = db.close().await;
            written.and(Err(error))
        }
    }
}

/// Writes a block of anything but charges to tables that imports share.
pub(super) async fn write_block(db: &mut PgConnection, delivery_id: i64, block: Block) -> sqlx::Result<()> {
    match block {
        // These have a queue of their own.
        Block::Charges { .. } | Block::ChargesEnd => Ok(()),
        Block::Rollup(part) => {
            copy(db, part.grain.daily(), part.month, part.daily).await?;
            match part.grain.monthly() {
                Some(monthly) => copy(db, monthly, part.month, part.monthly).await,
                None => Ok(()),
            }
        }
        Block::Keys(keys) => new_keys::insert(db, keys).await,
        Block::TagSets(sets) => insert_tag_sets(db, sets).await,
        Block::Identities { part, identities } => {
            sqlx::query!(
                "insert into row_identities (delivery_id, part, identities) values ($1, $2, $3)",
                delivery_id,
                part,
                &identities,
            )
            .execute(db)
            .await?;
            Ok(())
        }
        Block::Rejections { file_no, rejections } => {
            insert_rejections(db, delivery_id, file_no, rejections).await
        }
        Block::Corrected { file_no, rows } => insert_corrected(db, delivery_id, file_no, &rows).await,
    }
}

async fn copy(
    db: &mut PgConnection,
    (table, columns): (&str, &str),
    month: BillingMonth,
    rows: store::CopyRows,
) -> sqlx::Result<()> {
    let partition = partition::name(table, month);
    store::copy_rows(db, &format!("copy {partition} ({columns}) from stdin (format binary)"), rows).await?;
    Ok(())
}

/// In id order, so that imports side by side never wait for each other in a circle.
async fn insert_tag_sets(
    db: &mut PgConnection,
    mut sets: Vec<(uuid::Uuid, serde_json::Value)>,
) -> sqlx::Result<()> {
    sets.sort_unstable_by_key(|(id, _)| *id);
    let (ids, tags): (Vec<_>, Vec<_>) = sets.into_iter().unzip();
    sqlx::query!(
        "insert into tag_sets (tag_set_id, tags) select * from unnest($1::uuid[], $2::jsonb[]) on conflict do nothing",
        &ids,
        &tags,
    )
    .execute(db)
    .await?;
    Ok(())
}

pub(super) async fn insert_rejections(
    db: &mut PgConnection,
    delivery_id: i64,
    file_no: i16,
    rejections: Vec<Rejection>,
) -> sqlx::Result<()> {
    let rows: Vec<i64> = rejections.iter().map(|rejection| rejection.row as i64).collect();
    let text = |of: fn(&Rejection) -> &str| -> Vec<String> {
        // PostgreSQL's text holds no NUL, a broken file may.
        rejections.iter().map(|rejection| of(rejection).replace('\0', "\u{fffd}")).collect()
    };
    sqlx::query!(
        "insert into rejections (delivery_id, file_no, row_no, column_name, found, expected, is_repeated)
         select $1, $2, * from unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::boolean[])",
        delivery_id,
        file_no,
        &rows,
        &text(|r| &r.column),
        &text(|r| &r.found),
        &text(|r| &r.expected),
        &rejections.iter().map(|rejection| rejection.is_repeated).collect::<Vec<_>>(),
    )
    .execute(db)
    .await?;
    Ok(())
}

/// What a row claims to correct is kept only where that was rejected, before this delivery.
async fn insert_corrected(
    db: &mut PgConnection,
    delivery_id: i64,
    file_no: i16,
    rows: &[(u64, Mark)],
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into corrected_rejections
             (delivery_id, file_no, row_no, corrects_delivery_id, corrects_file_no, corrects_row_no)
         select $1, $2, m.row_no, r.delivery_id, r.file_no, r.row_no
         from unnest($3::bigint[], $4::bigint[], $5::smallint[], $6::bigint[])
             m (row_no, corrects_delivery_id, corrects_file_no, corrects_row_no)
         join rejections r
           on r.delivery_id = m.corrects_delivery_id and r.file_no = m.corrects_file_no and r.row_no = m.corrects_row_no
         where r.delivery_id < $1 and not r.is_repeated",
        delivery_id,
        file_no,
        &rows.iter().map(|(row, _)| *row as i64).collect::<Vec<_>>(),
        &rows.iter().map(|(_, mark)| mark.delivery).collect::<Vec<_>>(),
        &rows.iter().map(|(_, mark)| mark.file).collect::<Vec<_>>(),
        &rows.iter().map(|(_, mark)| mark.row).collect::<Vec<_>>(),
    )
    .execute(db)
    .await?;
    Ok(())
}
