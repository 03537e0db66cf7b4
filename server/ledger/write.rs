//! The writing half of an import: blocks go to PostgreSQL as they come.
//!
//! Everything is written under a delivery that nobody sees; each block commits by itself. The commits
//! do not wait for the disk: publishing does, and its flush covers all that was written before it.

use std::collections::BTreeSet;

use sqlx::postgres::PgConnection;
use sqlx::{PgPool, Postgres};
use tokio::sync::mpsc;

use crate::period::BillingMonth;

use super::new_keys;
use super::own_table::{self, Charges};
use super::reading::{Block, CHARGE_COLUMNS};
use super::write_block::{copy, write_block};

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
