//! The conservation equations: every sum agrees with the one before it, from the file to the page.
//!
//! `gpuledger check` prints each with both sides. A difference of one unit in the last place is a bug.

mod costs;
mod deep;
mod kept_files;
mod parquet_costs;
mod rows;
mod workbook_costs;

use serde::Serialize;
use sqlx::{Connection, PgConnection, Row};

use crate::money::Decimal;

pub use deep::check_originals;
pub use kept_files::check_kept;

/// Two sides that must be the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Equation {
    /// What is compared, in words: `rows read = charges + rejected + skipped`.
    pub name: &'static str,
    /// Of what: a delivery, a month, a file.
    pub of: String,
    pub left: Decimal,
    pub right: Decimal,
    pub holds: bool,
}

impl Equation {
    pub fn new(name: &'static str, of: String, left: Decimal, right: Decimal) -> Self {
        Self { name, of, left, right, holds: left == right }
    }
}

/// An equation and the query that answers `of`, `left_side` and `right_side` for everything it speaks of.
const EQUATIONS: [(&str, &str); 13] = [
    ("rows read + further charges = charges + rejected + skipped", include_str!("rows_read.sql")),
    ("rows stated = rows stored", include_str!("rows_stored.sql")),
    ("costs of the file = costs of its charges", include_str!("file_to_charges.sql")),
    ("usage without cost = its charges", include_str!("usage_without_cost.sql")),
    ("charges = monthly rollup", include_str!("charges_to_months.sql")),
    ("charges of a key = its monthly rollup", include_str!("keys_to_months.sql")),
    ("sums by key = sums by plain key", include_str!("keys_to_totals.sql")),
    ("monthly rollup = daily rollup", include_str!("months_to_days.sql")),
    ("daily rollup = sums by resource", include_str!("days_to_resources.sql")),
    ("month on the page = files that are active for it", include_str!("page_to_files.sql")),
    ("what is active = last replacement and later additions", include_str!("visible.sql")),
    ("rows that state an identity = rows that are active once", include_str!("active_twice.sql")),
    ("ledger sequence = steps of its log", include_str!("sequence.sql")),
];

/// Runs every equation over the whole ledger, in one snapshot.
pub async fn check(db: &mut PgConnection) -> sqlx::Result<Vec<Equation>> {
    let mut equations = Vec::new();
    let mut tx = db.begin_with("begin isolation level repeatable read read only").await?;
    for (name, query) in EQUATIONS {
        ask(&mut tx, name, query, &mut equations).await?;
    }
    Ok(equations)
}

/// Runs the query of an equation.
async fn ask(
    db: &mut PgConnection,
    name: &'static str,
    query: &'static str,
    equations: &mut Vec<Equation>,
) -> sqlx::Result<()> {
    for row in sqlx::query(query).fetch_all(db).await? {
        let (left, right) = (row.try_get("left_side")?, row.try_get("right_side")?);
        equations.push(Equation::new(name, row.try_get("of")?, left, right));
    }
    Ok(())
}
