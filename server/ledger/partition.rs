//! Monthly partitions of charges and rollups, made in a short transaction of their own before loading. Large imports have
//! tables of charges of their own beside them ([`own_table`](super::own_table)).

use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::period::BillingMonth;

/// The tables that are partitioned by billing month.
const TABLES: [&str; 5] = ["charges", "monthly_costs", "daily_costs", "monthly_totals", "daily_totals"];
/// What identifies a charge. Each of its tables states it: all of them together can only be identified by their bounds, too.
pub(super) const CHARGES_KEY: &str = "primary key (delivery_id, charge_key_id, file_no, row_no)";
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
        for table in TABLES {
            create(&mut tx, table, month).await?;
        }
    }
    tx.commit().await
}

async fn exists(db: &mut PgConnection, month: BillingMonth) -> sqlx::Result<bool> {
    // The last one made: all are made together. Not `to_regclass`, which may remember that a table
    // was not there before this transaction waited for the lock.
    let last = name(TABLES[TABLES.len() - 1], month);
    sqlx::query_scalar!(
        r#"select exists (
               select from pg_class where relname = $1 and relnamespace = current_schema()::regnamespace
           ) as "exists!""#,
        last,
    )
    .fetch_one(db)
    .await
}

async fn create(db: &mut PgConnection, table: &str, month: BillingMonth) -> sqlx::Result<()> {
    let partition = name(table, month);
    // Names and dates come from a BillingMonth, never from outside.
    let made = if table == "charges" {
        format!("create table {partition} (like {table} including all, {CHARGES_KEY})")
    } else {
        format!("create table {partition} (like {table} including all)")
    };
    let days = month.days();
    let (from, to) = (days.start, days.end);
    let bounds = if table == "charges" {
        format!("from ('{from}', 0) to ('{from}', 1)")
    } else {
        format!("from ('{from}') to ('{to}')")
    };
    let attached = format!("alter table {table} attach partition {partition} for values {bounds}");
    for statement in [made, attached] {
        sqlx::query(AssertSqlSafe(statement)).execute(&mut *db).await?;
    }
    Ok(())
}
