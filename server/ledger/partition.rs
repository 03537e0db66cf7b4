//! Monthly partitions of charges and rollups, made in a short transaction of their own before loading. Large imports have
//! tables of their own beside them ([`own_table`](super::own_table)).

use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::period::BillingMonth;

/// A table that is partitioned by billing month.
pub(super) struct Table {
    pub name: &'static str,
    /// What identifies a row, where each partition says it for itself: all of them together can only be identified by their
    /// bounds, too.
    pub key: Option<&'static str>,
    /// Whether large imports have tables of their own beside that of the month.
    pub may_be_own: bool,
}

impl Table {
    const fn with_own(name: &'static str, key: Option<&'static str>) -> Self {
        Self { name, key, may_be_own: true }
    }

    const fn of_months(name: &'static str) -> Self {
        Self { name, key: None, may_be_own: false }
    }
}

pub(super) const TABLES: [Table; 6] = [
    Table::with_own("charges", Some("primary key (delivery_id, charge_key_id, file_no, row_no)")),
    Table::with_own("monthly_costs", Some("primary key (delivery_id, charge_key_id, part)")),
    Table::with_own(
        "daily_costs",
        Some("primary key (delivery_id, charge_key_id, day, is_whole_period, part)"),
    ),
    // A resource may be longer than an index holds.
    Table::with_own("daily_resources", None),
    Table::of_months("monthly_totals"),
    Table::of_months("daily_totals"),
];
/// One importer at a time makes partitions; any number that names this lock and no other.
const LOCK: i64 = 0x6770_755f_7061_7274;

/// The partition of `table` for a month.
pub fn name(table: &str, month: BillingMonth) -> String {
    format!("{table}_{}", month.first_day().format("%Y_%m"))
}

/// Makes the partitions of a month where they are missing. A table made apart and then attached never
/// makes readers of other months wait, as `create table … partition of` would.
pub async fn ensure(db: &mut PgConnection, month: BillingMonth) -> sqlx::Result<()> {
    if exists(db, month).await? {
        return Ok(());
    }
    let mut tx = db.begin().await?;
    sqlx::query!("select pg_advisory_xact_lock($1)", LOCK).execute(&mut *tx).await?;
    if !exists(&mut tx, month).await? {
        for table in &TABLES {
            create(&mut tx, table, month).await?;
        }
    }
    tx.commit().await
}

async fn exists(db: &mut PgConnection, month: BillingMonth) -> sqlx::Result<bool> {
    // The last one made: all are made together. Not `to_regclass`, which may remember that a table
    // was not there before this transaction waited for the lock.
    let last = name(TABLES[TABLES.len() - 1].name, month);
    sqlx::query_scalar!(
        r#"select exists (
               select from pg_class where relname = $1 and relnamespace = current_schema()::regnamespace
           ) as "exists!""#,
        last,
    )
    .fetch_one(db)
    .await
}

async fn create(db: &mut PgConnection, table: &Table, month: BillingMonth) -> sqlx::Result<()> {
    let Table { name: table, key, may_be_own } = table;
    let partition = name(table, month);
    let (from, to) = (month.days().start, month.days().end);
    // Names and dates come from a BillingMonth, never from outside.
    let mut statements = vec![match key {
        Some(key) => format!("create table {partition} (like {table} including all, {key})"),
        None => format!("create table {partition} (like {table} including all)"),
    }];
    if *may_be_own && key.is_none() {
        // By which the rows of an import are found and removed.
        statements.push(format!("create index on {partition} (delivery_id)"));
    }
    let bounds = if *may_be_own {
        format!("from ('{from}', 0) to ('{from}', 1)")
    } else {
        format!("from ('{from}') to ('{to}')")
    };
    statements.push(format!("alter table {table} attach partition {partition} for values {bounds}"));
    for statement in statements {
        sqlx::query(AssertSqlSafe(statement)).execute(&mut *db).await?;
    }
    Ok(())
}
