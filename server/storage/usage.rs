//! What takes disk space: by month and kind, from PostgreSQL's catalog, and the files of imports.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::PgConnection;

use super::archivable;
use crate::ledger::{self, Partition};
use crate::period::BillingMonth;

/// Bytes of a month in the database.
#[derive(Clone, Debug, Serialize)]
pub struct MonthOfUsage {
    pub month: BillingMonth,
    pub charges: i64,
    pub sums: i64,
    /// Of both, what is of imports that can be archived; of tables that several share, by their numbers of charges.
    pub inactive: i64,
}

impl MonthOfUsage {
    pub fn total(&self) -> i64 {
        self.charges + self.sums
    }
}

/// Bytes, all of them.
#[derive(Clone, Debug, Serialize)]
pub struct Usage {
    /// The latest first.
    pub months: Vec<MonthOfUsage>,
    /// Charge keys, tags, and whose each key is.
    pub keys: i64,
    /// What pages by owner read, which can be made again.
    pub prepared: i64,
    /// Everything else in the database.
    pub other: i64,
    /// Of the database as a whole.
    pub database: i64,
    /// Of the files of imports as they were received; they are kept compressed.
    pub originals: i64,
    /// Of these, the files that only archived imports have.
    pub archived_files: i64,
}

impl Usage {
    /// What archiving everything that is inactive would free.
    pub fn inactive(&self) -> i64 {
        self.months.iter().map(|month| month.inactive).sum()
    }
}

/// A table, and what it is of.
struct Table {
    name: String,
    bytes: i64,
}

/// What takes space; of inactive imports what could be archived at this time, or is about to be.
pub async fn usage(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Usage> {
    let tables = sqlx::query_as!(
        Table,
        r#"select relname::text as "name!", coalesce(pg_total_relation_size(oid), 0) as "bytes!"
           from pg_class
           where relnamespace = current_schema()::regnamespace and relkind = 'r'
             -- An import holds those that it fills until its end.
             and (relispartition or relname !~ '_of_[0-9]+_[0-9]{4}_[0-9]{2}$')"#
    )
    .fetch_all(&mut *db)
    .await?;
    let inactive = archivable(&mut *db, now).await?;
    let shares = shares(&mut *db, inactive).await?;
    let database = sqlx::query_scalar!(r#"select pg_database_size(current_database()) as "bytes!""#)
        .fetch_one(&mut *db)
        .await?;
    let originals =
        sqlx::query_scalar!(r#"select coalesce(sum(received_bytes), 0)::bigint as "bytes!" from originals"#)
            .fetch_one(&mut *db)
            .await?;
    let archived_files = ledger::old_files(db, now).await?.bytes;
    let mut months: BTreeMap<BillingMonth, MonthOfUsage> = BTreeMap::new();
    let (mut keys, mut prepared) = (0, 0);
    for Table { name, bytes } in &tables {
        if let Some(partition) = Partition::read(name) {
            let month = partition.month;
            let of_month =
                months.entry(month).or_insert(MonthOfUsage { month, charges: 0, sums: 0, inactive: 0 });
            if partition.is_of_charges() {
                of_month.charges += bytes;
            } else {
                of_month.sums += bytes;
            }
            of_month.inactive += shares.inactive(partition.delivery_id, month, *bytes);
        } else if KEYS.contains(&name.as_str()) {
            keys += bytes;
        } else if PREPARED.contains(&name.as_str()) {
            prepared += bytes;
        }
    }
    let of_months: i64 = months.values().map(MonthOfUsage::total).sum();
    Ok(Usage {
        months: months.into_values().rev().collect(),
        keys,
        prepared,
        other: (database - of_months - keys - prepared).max(0),
        database,
        originals,
        archived_files,
    })
}

const KEYS: [&str; 4] = ["charge_keys", "tag_sets", "key_attributions", "row_identities"];
const PREPARED: [&str; 7] = [
    "attributed_costs",
    "attributed_days",
    "charged_days",
    "charged_items",
    "item_costs",
    "item_days",
    "keyed_costs",
];

/// Which imports have rows that nobody needs.
struct Shares {
    inactive: Vec<i64>,
    /// Of the charges of a month in shared tables, those of such imports, and all.
    shared: BTreeMap<BillingMonth, (i64, i64)>,
}

impl Shares {
    fn inactive(&self, delivery: Option<i64>, month: BillingMonth, bytes: i64) -> i64 {
        match delivery {
            Some(delivery) if self.inactive.contains(&delivery) => bytes,
            Some(_) => 0,
            None => match self.shared.get(&month) {
                Some((inactive, all)) if *all > 0 => {
                    (i128::from(bytes) * i128::from(*inactive) / i128::from(*all)) as i64
                }
                _ => 0,
            },
        }
    }
}

async fn shares(db: &mut PgConnection, inactive: Vec<i64>) -> sqlx::Result<Shares> {
    let rows = sqlx::query!(
        r#"select ds.delivery_id, s.billing_month, sum(ds.charges)::bigint as "charges!",
               d.archived_at is not null or d.delivery_id = any($1) as "is_inactive!",
               exists (
                   select from pg_class
                   where relnamespace = current_schema()::regnamespace
                     and relname = 'charges_of_' || ds.delivery_id || '_' || to_char(s.billing_month, 'YYYY_MM')
               ) as "has_own!"
           from delivery_scopes ds
           join scopes s using (scope_id)
           join deliveries d using (delivery_id)
           where d.rows_removed_at is null
           group by ds.delivery_id, s.billing_month, d.delivery_id, d.archived_at"#,
        &inactive,
    )
    .fetch_all(db)
    .await?;
    let mut shares = Shares { inactive: Vec::new(), shared: BTreeMap::new() };
    for row in rows {
        if row.is_inactive {
            shares.inactive.push(row.delivery_id);
        }
        if !row.has_own {
            let (inactive, all) = shares.shared.entry(BillingMonth::of(row.billing_month)).or_default();
            *all += row.charges;
            *inactive += if row.is_inactive { row.charges } else { 0 };
        }
    }
    Ok(shares)
}
