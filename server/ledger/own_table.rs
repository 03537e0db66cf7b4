//! Tables that a large import fills alone: of its charges, and of its sums by key and by resource.
//!
//! In a month's table, each row costs an entry of an index that is too large for the cache, and a line of the log. A table
//! that nobody else knows yet needs neither: its rows are on the disk when its transaction commits (PostgreSQL's manual, "Disable
//! WAL Archival and Streaming Replication", in "Populating a Database"). The server that we start leaves the log out, another does
//! where its `wal_level` is `minimal`. Keys are indexed when the import is done: that takes a tenth of it, and no sum needs it. And
//! what is removed with its table leaves no gaps.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::sync::mpsc;

use crate::period::BillingMonth;
use crate::store::{self, CopyRows, Copying};

use super::partition::{self, CHARGES, OF, Partition, TABLES, Table};
use super::reading::{Block, CHARGE_COLUMNS};
use super::rollup::{Grain, Part};
use super::write_block::write_block;

/// Charges on their way to a table.
pub(super) enum Charges {
    Rows {
        month: BillingMonth,
        rows: CopyRows,
    },
    /// No more follow. Where this is missing, the import has failed.
    End,
    /// What they sum to by resource, behind the end.
    OfResources {
        month: BillingMonth,
        rows: CopyRows,
    },
}

fn tables() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().filter(|table| table.may_be_own)
}

/// Blocks of charges that one statement copies. PostgreSQL makes room for a thousand rows at its beginning, and says at its end
/// what is wrong.
const TOGETHER: u32 = 16;

/// Held by whoever builds indexes; any number that names this lock and no other.
const INDEXING: i64 = 0x6770_755f_696e_6478;

/// Makes the empty tables of a delivery and a month, which are no part of the ledger yet. Committed before they are filled, since
/// who makes a table like `charges` holds a lock on that until the end.
pub(super) async fn create(db: &mut PgConnection, delivery_id: i64, month: BillingMonth) -> sqlx::Result<()> {
    let first = month.first_day();
    let mut tx = db.begin().await?;
    for Table { name: table, .. } in tables() {
        let own = partition::own_name(table, delivery_id, month);
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
    begun: Vec<String>,
}

impl<'c> Filling<'c> {
    async fn begin(db: &'c mut PgConnection, delivery_id: i64) -> sqlx::Result<Self> {
        Ok(Self { tx: db.begin().await?, delivery_id, begun: Vec::new() })
    }

    /// Copies a block into a table of a month, and answers the statement, which takes more of them.
    async fn copy(
        &mut self,
        (table, columns): (&str, &str),
        month: BillingMonth,
        rows: CopyRows,
    ) -> sqlx::Result<Copying<'_>> {
        let own = partition::own_name(table, self.delivery_id, month);
        if !self.begun.contains(&own) {
            // What is new to the transaction needs no log, and its rows are as good as old.
            sqlx::query(AssertSqlSafe(format!("truncate {own}"))).execute(&mut *self.tx).await?;
            self.begun.push(own.clone());
        }
        let copy = format!("copy {own} ({columns}) from stdin (format binary, freeze)");
        Copying::begin(&mut self.tx, &copy, rows).await
    }

    async fn commit(self) -> sqlx::Result<()> {
        self.tx.commit().await
    }
}

/// Fills the tables of charges of a delivery in one transaction, and in another those of their sums by resource. Answers the months
/// of the charges.
pub(super) async fn fill(
    db: &mut PgConnection,
    delivery_id: i64,
    incoming: &mut mpsc::Receiver<Charges>,
) -> sqlx::Result<BTreeSet<BillingMonth>> {
    let mut filling = Filling::begin(&mut *db, delivery_id).await?;
    let mut months = BTreeSet::new();
    let mut next = incoming.recv().await;
    while let Some(Charges::Rows { month, rows }) = next {
        months.insert(month);
        let mut copying = filling.copy((CHARGES.name, CHARGE_COLUMNS), month, rows).await?;
        let mut blocks = 1;
        next = loop {
            match incoming.recv().await {
                Some(Charges::Rows { month: same, rows }) if same == month && blocks < TOGETHER => {
                    copying.send(rows).await?;
                    blocks += 1;
                }
                other => break other,
            }
        };
        copying.end().await?;
    }
    let Some(Charges::End) = next else {
        // Nothing of it is kept.
        return Ok(BTreeSet::new());
    };
    filling.commit().await?;
    // Those come when the sums by key are sent, and until then nothing is open.
    let mut next = incoming.recv().await;
    if next.is_some() {
        let mut filling = Filling::begin(db, delivery_id).await?;
        while let Some(Charges::OfResources { month, rows }) = next {
            filling.copy(Grain::Resources.daily(), month, rows).await?.end().await?;
            next = incoming.recv().await;
        }
        filling.commit().await?;
    }
    Ok(months)
}

/// The same of the sums of a delivery by key, which are the last that comes.
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
            Block::Rollup(Part { grain: Grain::Keys, month, daily, monthly }) => {
                filling.copy(Grain::Keys.daily(), month, daily).await?.end().await?;
                if let Some(table) = Grain::Keys.monthly() {
                    filling.copy(table, month, monthly).await?.end().await?;
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
            let own = partition::own_name(table, delivery_id, *month);
            let attach = format!(
                "alter table {table} attach partition {own} for values from ('{first}', {delivery_id}) to ('{first}', {next})"
            );
            sqlx::query(AssertSqlSafe(attach)).execute(&mut *db).await?;
        }
    }
    Ok(())
}

/// A table that a delivery has for itself.
struct OwnTable {
    name: String,
    of: &'static Table,
    delivery_id: i64,
    /// Whether it is part of the ledger.
    is_attached: bool,
    /// By its key; of some tables the partitioned one has other indexes, which these get when they are made.
    is_indexed: bool,
}

async fn all(db: &mut PgConnection) -> sqlx::Result<Vec<OwnTable>> {
    let found = sqlx::query!(
        r#"select c.relname as "name!", c.relispartition as is_attached,
               exists (select from pg_index i where i.indrelid = c.oid and i.indisunique) as "is_indexed!"
           from pg_class c
           where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and strpos(c.relname, '_' || $1) > 0
           order by 1"#,
        OF,
    )
    .fetch_all(db)
    .await?;
    let own = found.into_iter().filter_map(|found| {
        let Partition { table, delivery_id: Some(delivery_id), .. } = Partition::read(&found.name)? else {
            return None;
        };
        let (is_attached, is_indexed) = (found.is_attached, found.is_indexed);
        Some(OwnTable { name: found.name, of: table, delivery_id, is_attached, is_indexed })
    });
    Ok(own.collect())
}

/// Indexes the keys of tables that were filled since: by that of charges a list of them, and the page of one, reads a hundred rows
/// and not all. Pages read on meanwhile. Waits for another session that builds them: all are there when this returns.
pub async fn index_keys(db: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query!("select pg_advisory_lock($1)", INDEXING).execute(&mut *db).await?;
    let indexed = index_all(&mut *db).await;
    sqlx::query_scalar!("select pg_advisory_unlock($1)", INDEXING).fetch_one(db).await?;
    indexed
}

async fn index_all(db: &mut PgConnection) -> sqlx::Result<()> {
    let is_due = |it: &OwnTable| it.is_attached && !it.is_indexed && it.of.key.is_some();
    for OwnTable { name, of, .. } in all(&mut *db).await?.into_iter().filter(is_due) {
        if let Some(key) = of.key {
            let index = format!("create unique index if not exists {name}_by_row on {name} ({key})");
            sqlx::query(AssertSqlSafe(index)).execute(&mut *db).await?;
        }
    }
    Ok(())
}

/// The tables that are no part of the ledger yet. Who fills one needs it for themselves at the end.
pub async fn unattached(db: &mut PgConnection) -> sqlx::Result<Vec<String>> {
    let all = all(db).await?.into_iter();
    Ok(all.filter(|table| !table.is_attached).map(|table| table.name).collect())
}

/// Removes the tables of a delivery that are no part of the ledger yet.
pub(super) async fn remove(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<()> {
    for table in all(&mut *db).await?.iter().filter(|it| it.delivery_id == delivery_id && !it.is_attached) {
        // A name that was read as one that we gave.
        sqlx::query(AssertSqlSafe(format!("drop table {}", table.name))).execute(&mut *db).await?;
    }
    Ok(())
}

/// Removes the rows of a delivery from the tables of their months. Those of a table of its own go with it.
pub(super) async fn remove_shared_rows(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<()> {
    for Table { name: table, .. } in tables() {
        let delete = format!("delete from {table} where delivery_id = $1 and own_table = 0");
        sqlx::query(AssertSqlSafe(delete)).bind(delivery_id).execute(&mut *db).await?;
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
    let attached: Vec<OwnTable> = all(&mut *db).await?.into_iter().filter(|it| it.is_attached).collect();
    let discarded = sqlx::query_scalar!(
        "select delivery_id
         from deliveries
         where delivery_id = any($1) and status not in ('loading', 'waiting', 'loaded', 'undone')",
        &attached.iter().map(|it| it.delivery_id).collect::<Vec<_>>(),
    )
    .fetch_all(&mut *db)
    .await?;
    remove_tables(db, attached.into_iter().filter(|it| discarded.contains(&it.delivery_id))).await?;
    Ok(())
}

/// Removes the tables of a delivery that are part of the ledger. False where somebody reads at the moment: then some of them stay.
pub(super) async fn remove_attached(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<bool> {
    let all = all(&mut *db).await?.into_iter();
    remove_tables(db, all.filter(|it| it.delivery_id == delivery_id && it.is_attached)).await
}

async fn remove_tables(
    db: &mut PgConnection,
    tables: impl IntoIterator<Item = OwnTable>,
) -> sqlx::Result<bool> {
    for OwnTable { name, .. } in tables {
        let mut tx = db.begin().await?;
        sqlx::query!("set local lock_timeout = '100ms'").execute(&mut *tx).await?;
        // Two may be at it.
        match sqlx::query(AssertSqlSafe(format!("drop table if exists {name}"))).execute(&mut *tx).await {
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
