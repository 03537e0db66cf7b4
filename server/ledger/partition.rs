//! Monthly partitions of charges and rollups, made in a short transaction of their own before loading. Large imports have
//! tables of their own beside them ([`own_table`](super::own_table)).

use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::period::BillingMonth;

/// A table that is partitioned by billing month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub name: &'static str,
    /// The columns that identify a row, where each partition says it for itself: all of them together can only be identified by
    /// their bounds, too.
    pub key: Option<&'static str>,
    /// Whether large imports have tables of their own beside that of the month.
    pub may_be_own: bool,
}

pub(super) const CHARGES: Table = Table {
    name: "charges",
    key: Some("delivery_id, charge_key_id, file_no, row_no, charge_period_start"),
    may_be_own: true,
};

pub(super) static TABLES: [Table; 6] = [
    CHARGES,
    Table { name: "monthly_costs", key: Some("delivery_id, charge_key_id, part"), may_be_own: true },
    Table {
        name: "daily_costs",
        key: Some("delivery_id, charge_key_id, day, is_whole_period, part"),
        may_be_own: true,
    },
    // A resource may be longer than an index holds.
    Table { name: "daily_resources", key: None, may_be_own: true },
    Table { name: "monthly_totals", key: None, may_be_own: false },
    Table { name: "daily_totals", key: None, may_be_own: false },
];
/// One importer at a time makes partitions; any number that names this lock and no other.
const LOCK: i64 = 0x6770_755f_7061_7274;

/// The partition of `table` for a month.
pub fn name(table: &str, month: BillingMonth) -> String {
    format!("{table}_{}", month.first_day().format("%Y_%m"))
}

/// The same that a delivery has for itself.
pub(super) fn own_name(table: &str, delivery_id: i64, month: BillingMonth) -> String {
    name(&format!("{table}_{OF}{delivery_id}"), month)
}

/// In the names of tables that a delivery has for itself.
pub(super) const OF: &str = "of_";

/// What a partition is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    pub(super) table: &'static Table,
    /// The delivery that has it for itself.
    pub delivery_id: Option<i64>,
    pub month: BillingMonth,
}

impl Partition {
    /// Reads the name of one; `None` where a table is none.
    pub fn read(name: &str) -> Option<Self> {
        TABLES.iter().find_map(|table| {
            let rest = name.strip_prefix(table.name)?.strip_prefix('_')?;
            let (delivery_id, month) = match rest.strip_prefix(OF) {
                Some(own) => {
                    let (delivery, month) = own.split_once('_')?;
                    (Some(delivery.parse().ok()?), month)
                }
                None => (None, rest),
            };
            Some(Self { table, delivery_id, month: month.replace('_', "-").parse().ok()? })
        })
    }

    /// Whether its rows are charges, and not sums of them.
    pub fn is_of_charges(&self) -> bool {
        *self.table == CHARGES
    }
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
        Some(key) => format!("create table {partition} (like {table} including all, primary key ({key}))"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_partitions_tell_what_they_are_of() {
        for (table, expected) in [
            ("charges_2026_09", Some(("charges", None, "2026-09"))),
            ("charges_of_57_2026_09", Some(("charges", Some(57), "2026-09"))),
            ("daily_resources_of_57_2026_12", Some(("daily_resources", Some(57), "2026-12"))),
            ("monthly_totals_2026_01", Some(("monthly_totals", None, "2026-01"))),
            ("charge_keys", None),
            ("charges_of_x_2026_09", None),
            ("charges", None),
        ] {
            let read = Partition::read(table);
            let expected = expected.map(|(of, delivery, month)| (of, delivery, month.parse().unwrap()));
            assert_eq!(read.map(|it| (it.table.name, it.delivery_id, it.month)), expected, "{table}");
            let written = read.map(|it| match it.delivery_id {
                Some(delivery) => own_name(it.table.name, delivery, it.month),
                None => name(it.table.name, it.month),
            });
            assert!(written.is_none_or(|written| written == table), "{table}");
        }
    }
}
