//! Tables that a large import fills alone: of its charges, and of its sums by key and by resource.
//!
//! In a month's table, each row costs an entry of an index that is too large for the cache, and a line of the log. A table
//! that nobody else knows yet needs neither: its rows are on the disk when its transaction commits (PostgreSQL's manual, "Disable
//! WAL Archival and Streaming Replication", in "Populating a Database"), and its index is built when they are there. The server
//! that we start leaves the log out, another does where its `wal_level` is `minimal`. The index of charges is built when the import
//! is done. And what is removed with its table leaves no gaps.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::sync::mpsc;

use crate::period::BillingMonth;
use crate::store::{self, CopyRows};

use super::partition::{TABLES, Table};
use super::read::{Block, CHARGE_COLUMNS};
use super::rollup::{Grain, Part};
use super::write::write_block;

/// Charges on their way to a table.
pub(super) enum Charges {
    Rows {
        month: BillingMonth,
        rows: CopyRows,
    },
    /// No more follow. Where this is missing, the import has failed.
    End,
}

fn name(table: &str, delivery_id: i64, month: BillingMonth) -> String {
    format!("{table}_of_{delivery_id}_{}", month.first_day().format("%Y_%m"))
}

fn tables() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().filter(|table| table.may_be_own)
}

/// Makes the empty tables of a delivery and a month, which are no part of the ledger yet. Committed before they are filled, since
/// who makes a table like `charges` holds a lock on that until the end.
pub(super) async fn create(db: &mut PgConnection, delivery_id: i64, month: BillingMonth) -> sqlx::Result<()> {
    let first = month.first_day();
    let mut tx = db.begin().await?;
    for Table { name: table, .. } in tables() {
        let own = name(table, delivery_id, month);
        for statement in [
            // The check spares queries about other deliveries this table, and attaching it to read its rows.
            format!(
                "create table {own} (
                     like {table} including all,
                     check (billing_month = '{first}' and own_table = {delivery_id} and delivery_id = {delivery_id})
                 )"
            ),
            format!("alter table {own} alter own_table set default {delivery_id}"),
        ] {
            sqlx::query(AssertSqlSafe(statement)).execute(&mut *tx).await?;
        }
    }
    tx.commit().await
}

/// The tables of a delivery that one transaction fills.
struct Filling<'c> {
    tx: sqlx::Transaction<'c, sqlx::Postgres>,
    delivery_id: i64,
    /// With what identifies their rows.
    begun: Vec<(String, Option<&'static str>)>,
}

impl<'c> Filling<'c> {
    async fn begin(db: &'c mut PgConnection, delivery_id: i64) -> sqlx::Result<Self> {
        Ok(Self { tx: db.begin().await?, delivery_id, begun: Vec::new() })
    }

    async fn copy(
        &mut self,
        (table, columns): (&str, &str),
        month: BillingMonth,
        rows: CopyRows,
    ) -> sqlx::Result<()> {
        let own = name(table, self.delivery_id, month);
        if !self.begun.iter().any(|(begun, _)| *begun == own) {
            // What is new to the transaction needs no log, and its rows are as good as old.
            sqlx::query(AssertSqlSafe(format!("truncate {own}"))).execute(&mut *self.tx).await?;
            let key = tables().find(|it| it.name == table).and_then(|it| it.key);
            // That of charges takes a tenth of the import, and no sum needs it.
            self.begun.push((own.clone(), key.filter(|_| table != "charges")));
        }
        let copy = format!("copy {own} ({columns}) from stdin (format binary, freeze)");
        store::copy_rows(&mut self.tx, &copy, rows).await?;
        Ok(())
    }

    /// Builds the indexes, but that of charges.
    async fn commit(mut self) -> sqlx::Result<()> {
        for (own, key) in &self.begun {
            if let Some(key) = key {
                let add = format!("alter table {own} add {key}");
                sqlx::query(AssertSqlSafe(add)).execute(&mut *self.tx).await?;
            }
        }
        self.tx.commit().await
    }
}

/// Fills the tables of charges of a delivery, in one transaction. Answers their months.
pub(super) async fn fill(
    db: &mut PgConnection,
    delivery_id: i64,
    incoming: &mut mpsc::Receiver<Charges>,
) -> sqlx::Result<BTreeSet<BillingMonth>> {
    let mut filling = Filling::begin(db, delivery_id).await?;
    let mut months = BTreeSet::new();
    while let Some(charges) = incoming.recv().await {
        let Charges::Rows { month, rows } = charges else {
            filling.commit().await?;
            return Ok(months);
        };
        months.insert(month);
        filling.copy(("charges", CHARGE_COLUMNS), month, rows).await?;
    }
    // Nothing of it is kept.
    Ok(BTreeSet::new())
}

/// The same of the sums of a delivery, which are the last that comes.
pub(super) async fn fill_sums(
    db: &mut PgConnection,
    delivery_id: i64,
    first: Part,
    incoming: &mut mpsc::Receiver<Block>,
) -> sqlx::Result<()> {
    let mut filling = Filling::begin(db, delivery_id).await?;
    let mut next = Some(Block::Rollup(first));
    while let Some(block) = next {
        match block {
            Block::Rollup(Part {
                grain: grain @ (Grain::Keys | Grain::Resources),
                month,
                daily,
                monthly,
            }) => {
                filling.copy(grain.daily(), month, daily).await?;
                if let Some(table) = grain.monthly() {
                    filling.copy(table, month, monthly).await?;
                }
            }
            other => write_block(&mut filling.tx, delivery_id, other).await?,
        }
        next = incoming.recv().await;
    }
    filling.commit().await
}

/// Makes the tables of a delivery part of the ledger. Nobody sees them until it is published.
pub(super) async fn attach(
    db: &mut PgConnection,
    delivery_id: i64,
    months: &BTreeSet<BillingMonth>,
) -> sqlx::Result<()> {
    for month in months {
        let (first, next) = (month.first_day(), delivery_id + 1);
        for Table { name: table, .. } in tables() {
            let own = name(table, delivery_id, *month);
            let attach = format!(
                "alter table {table} attach partition {own} for values from ('{first}', {delivery_id}) to ('{first}', {next})"
            );
            sqlx::query(AssertSqlSafe(attach)).execute(&mut *db).await?;
        }
    }
    Ok(())
}

/// Builds the indexes of tables of charges that have none yet: by them a list of charges, and the page of one, reads a hundred rows
/// and not all. Whoever reads goes on meanwhile.
pub async fn index_charges(db: &mut PgConnection) -> sqlx::Result<()> {
    let new = sqlx::query_scalar!(
        r#"select c.relname as "name!"
           from pg_class c
           where c.relname ~ '^charges_of_[0-9]+_[0-9]{4}_[0-9]{2}$' and c.relkind = 'r' and c.relispartition
             and c.relnamespace = current_schema()::regnamespace
             and not exists (select from pg_index i where i.indrelid = c.oid)
           order by 1"#,
    )
    .fetch_all(&mut *db)
    .await?;
    for table in new {
        let index = format!(
            "create unique index if not exists {table}_by_row on {table} (delivery_id, charge_key_id, file_no, row_no)"
        );
        sqlx::query(AssertSqlSafe(index)).execute(&mut *db).await?;
    }
    Ok(())
}

/// The tables that are no part of the ledger yet. Who fills one needs it for themselves at the end.
pub async fn unattached(db: &mut PgConnection) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar!(
        r#"select relname as "name!"
           from pg_class
           where relnamespace = current_schema()::regnamespace and relkind = 'r' and not relispartition
             and relname ~ '^(charges|monthly_costs|daily_costs|daily_resources)_of_[0-9]+_[0-9]{4}_[0-9]{2}$'"#,
    )
    .fetch_all(db)
    .await
}

/// Removes the tables of a delivery that are no part of the ledger yet.
pub(super) async fn remove(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<()> {
    let of_delivery = format!("_of_{delivery_id}_");
    for table in unattached(&mut *db).await?.iter().filter(|table| table.contains(&of_delivery)) {
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
           join pg_class c
             on c.relname ~ ('^(charges|monthly_costs|daily_costs|daily_resources)_of_' || d.delivery_id || '_')
           where d.status not in ('loading', 'waiting', 'loaded', 'undone')
             and c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relispartition"#,
    )
    .fetch_all(&mut *db)
    .await?;
    remove_tables(db, &discarded).await?;
    Ok(())
}

/// Removes the tables of a delivery that are part of the ledger. False where somebody reads at the moment: then some of them stay.
pub(super) async fn remove_attached(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<bool> {
    let attached = sqlx::query_scalar!(
        r#"select relname as "name!"
           from pg_class
           where relname ~ ('^(charges|monthly_costs|daily_costs|daily_resources)_of_' || $1::bigint || '_')
             and relnamespace = current_schema()::regnamespace and relkind = 'r' and relispartition
           order by 1"#,
        delivery_id,
    )
    .fetch_all(&mut *db)
    .await?;
    remove_tables(db, &attached).await
}

async fn remove_tables(db: &mut PgConnection, tables: &[String]) -> sqlx::Result<bool> {
    for table in tables {
        let mut tx = db.begin().await?;
        sqlx::query!("set local lock_timeout = '100ms'").execute(&mut *tx).await?;
        // Two may be at it.
        match sqlx::query(AssertSqlSafe(format!("drop table if exists {table}"))).execute(&mut *tx).await {
            Ok(_) => tx.commit().await?,
            // Whoever reads one reads them all: the others would only hold up more readers.
            Err(error) if store::is_locked(&error) => {
                tx.rollback().await?;
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
