//! Tables that a large import fills alone.
//!
//! In a month's table, each row costs an entry of an index that is too large for the cache, and a line of the log. A table
//! that nobody else knows yet needs neither: its rows are on the disk when its transaction commits (PostgreSQL's manual, "Disable
//! WAL Archival and Streaming Replication", in "Populating a Database"), and its index is built when they are there. The server
//! that we start leaves the log out, another does where its `wal_level` is `minimal`.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::sync::mpsc;

use crate::period::BillingMonth;
use crate::store::{self, CopyRows};

use super::partition::CHARGES_KEY;
use super::read::CHARGE_COLUMNS;

/// Charges on their way to a table.
pub(super) enum Charges {
    Rows {
        month: BillingMonth,
        rows: CopyRows,
    },
    /// No more follow. Where this is missing, the import has failed.
    End,
}

fn name(delivery_id: i64, month: BillingMonth) -> String {
    format!("{}_{}", prefix(delivery_id), month.first_day().format("%Y_%m"))
}

fn prefix(delivery_id: i64) -> String {
    format!("charges_of_{delivery_id}")
}

/// Makes the empty table of a delivery and a month, which is no part of the ledger yet. Committed before it is filled, since
/// who makes a table like `charges` holds a lock on that until the end.
pub(super) async fn create(db: &mut PgConnection, delivery_id: i64, month: BillingMonth) -> sqlx::Result<()> {
    let table = name(delivery_id, month);
    let first = month.first_day();
    let mut tx = db.begin().await?;
    for statement in [
        // The check spares queries about other deliveries this table, and attaching it to read its rows.
        format!(
            "create table {table} (
                 like charges including all,
                 check (billing_month = '{first}' and own_table = {delivery_id} and delivery_id = {delivery_id})
             )"
        ),
        format!("alter table {table} alter own_table set default {delivery_id}"),
    ] {
        sqlx::query(AssertSqlSafe(statement)).execute(&mut *tx).await?;
    }
    tx.commit().await
}

/// Fills the tables of a delivery and builds their indexes, in one transaction. Answers their months.
pub(super) async fn fill(
    db: &mut PgConnection,
    delivery_id: i64,
    incoming: &mut mpsc::Receiver<Charges>,
) -> sqlx::Result<BTreeSet<BillingMonth>> {
    let mut tx = db.begin().await?;
    let mut months = BTreeSet::new();
    while let Some(charges) = incoming.recv().await {
        let Charges::Rows { month, rows } = charges else {
            for month in &months {
                let key = format!("alter table {} add {CHARGES_KEY}", name(delivery_id, *month));
                sqlx::query(AssertSqlSafe(key)).execute(&mut *tx).await?;
            }
            tx.commit().await?;
            return Ok(months);
        };
        let table = name(delivery_id, month);
        if months.insert(month) {
            // What is new to the transaction needs no log, and its rows are as good as old.
            sqlx::query(AssertSqlSafe(format!("truncate {table}"))).execute(&mut *tx).await?;
        }
        let copy = format!("copy {table} ({CHARGE_COLUMNS}) from stdin (format binary, freeze)");
        store::copy_rows(&mut tx, &copy, rows).await?;
    }
    tx.rollback().await?;
    Ok(BTreeSet::new())
}

/// Makes the tables of a delivery part of the ledger. Nobody sees them until it is published.
pub(super) async fn attach(
    db: &mut PgConnection,
    delivery_id: i64,
    months: &BTreeSet<BillingMonth>,
) -> sqlx::Result<()> {
    for month in months {
        let (table, first, next) = (name(delivery_id, *month), month.first_day(), delivery_id + 1);
        let attach = format!(
            "alter table charges attach partition {table} for values from ('{first}', {delivery_id}) to ('{first}', {next})"
        );
        sqlx::query(AssertSqlSafe(attach)).execute(&mut *db).await?;
    }
    Ok(())
}

/// The tables that are no part of the ledger yet. Who fills one needs it for themselves at the end.
pub async fn unattached(db: &mut PgConnection) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar!(
        r#"select relname as "name!"
           from pg_class
           where relnamespace = current_schema()::regnamespace and relkind = 'r' and not relispartition
             and starts_with(relname, 'charges_of_')"#,
    )
    .fetch_all(db)
    .await
}

/// Removes the tables of a delivery that are no part of the ledger yet.
pub(super) async fn remove(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<()> {
    let of_delivery = prefix(delivery_id) + "_";
    for table in unattached(&mut *db).await?.iter().filter(|table| table.starts_with(&of_delivery)) {
        // A name that this module gave.
        sqlx::query(AssertSqlSafe(format!("drop table {table}"))).execute(&mut *db).await?;
    }
    Ok(())
}

/// Removes the tables of deliveries that were never published, unless somebody reads charges at the moment: removing a table from
/// the ledger waits for all who do, and everybody else waits behind it. What stays belongs to nobody and is removed another time,
/// so nothing fails here.
pub async fn remove_discarded(db: &mut PgConnection) {
    if let Err(error) = try_remove_discarded(db).await {
        tracing::warn!(%error, "tables of discarded imports could not be removed; the next import tries again");
    }
}

async fn try_remove_discarded(db: &mut PgConnection) -> sqlx::Result<()> {
    let discarded = sqlx::query_scalar!(
        r#"select c.relname as "name!"
           from deliveries d
           join pg_class c on starts_with(c.relname, 'charges_of_' || d.delivery_id || '_')
           where d.status not in ('loading', 'waiting', 'loaded', 'undone')
             and c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relispartition"#,
    )
    .fetch_all(&mut *db)
    .await?;
    for table in discarded {
        let mut tx = db.begin().await?;
        sqlx::query!("set local lock_timeout = '100ms'").execute(&mut *tx).await?;
        // Two may be at it.
        match sqlx::query(AssertSqlSafe(format!("drop table if exists {table}"))).execute(&mut *tx).await {
            Ok(_) => tx.commit().await?,
            // Whoever reads one reads them all: the others would only hold up more readers.
            Err(error) if store::is_locked(&error) => return tx.rollback().await,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
