//! Rows that would be active twice. Where a format states what identifies a row, no two deliveries that are active together
//! hold the same row: neither after one is published, however, nor after one is undone.

use std::collections::BTreeSet;

use sqlx::PgConnection;

use super::Decision;

/// What makes deliveries active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Publish(Decision),
    Undo,
}

impl Change {
    fn as_str(self) -> &'static str {
        match self {
            Self::Publish(decision) => decision.as_str(),
            Self::Undo => "undo",
        }
    }
}

/// Rows that two deliveries hold of which only one may be active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    pub rows: i64,
    /// Active from the change on.
    pub opened: Vec<i64>,
    /// Active beside them.
    pub others: Vec<i64>,
}

impl Overlap {
    /// `import 3`, `imports 3, 4`.
    pub fn others(&self) -> String {
        imports(&self.others)
    }

    /// Why a delivery is not undone.
    pub fn of_undo(&self, delivery: i64) -> String {
        let (opened, others) = (imports(&self.opened), self.others());
        let (rows, are) = if self.rows == 1 { ("row", "is") } else { ("rows", "are") };
        format!(
            "undoing import {delivery} would make {opened} active again, of which {} {rows} {are} active already in \
             {others}. Undo {others} first",
            self.rows
        )
    }
}

impl std::fmt::Display for Overlap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let are = if self.rows == 1 { "is" } else { "are" };
        write!(f, "{} of its rows {are} active already, in {}", self.rows, self.others())
    }
}

fn imports(ids: &[i64]) -> String {
    let word = if ids.len() == 1 { "import" } else { "imports" };
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    format!("{word} {}", ids.join(", "))
}

/// What was compared, and what was found.
pub struct Compared {
    delivery_id: i64,
    change: Change,
    pairs: BTreeSet<(i64, i64)>,
    overlap: Option<Overlap>,
}

/// Compares the rows of deliveries that would be active together for the first time. Large ones take seconds, so this
/// is done before the ledger is locked, and [`Compared::now`] behind that.
pub async fn compare(db: &mut PgConnection, delivery_id: i64, change: Change) -> sqlx::Result<Compared> {
    let pairs = pairs(&mut *db, delivery_id, change).await?;
    let overlap = overlap(db, &pairs).await?;
    Ok(Compared { delivery_id, change, pairs, overlap })
}

impl Compared {
    /// What overlaps as of now: compared again only where something else was published or undone meanwhile.
    pub async fn now(self, db: &mut PgConnection) -> sqlx::Result<Option<Overlap>> {
        let pairs = pairs(&mut *db, self.delivery_id, self.change).await?;
        if pairs == self.pairs { Ok(self.overlap) } else { overlap(db, &pairs).await }
    }
}

/// Each delivery that the change makes active, with each that is active in one of its scopes then. What was active
/// together before was compared then.
async fn pairs(
    db: &mut PgConnection,
    delivery_id: i64,
    change: Change,
) -> sqlx::Result<BTreeSet<(i64, i64)>> {
    let rows = sqlx::query_file!("server/ledger/active_together.sql", delivery_id, change.as_str())
        .fetch_all(db)
        .await?;
    Ok(rows.into_iter().map(|row| (row.opened, row.other)).collect())
}

/// The rows that both of a pair hold; `None` where there are none, or where the formats do not say what identifies a row.
async fn overlap(db: &mut PgConnection, pairs: &BTreeSet<(i64, i64)>) -> sqlx::Result<Option<Overlap>> {
    if pairs.is_empty() {
        return Ok(None);
    }
    let (opened, others): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
    let found = sqlx::query!(
        r#"with pairs as (
               select * from unnest($1::bigint[], $2::bigint[]) pair (opened, other)
           ),
           opened as (
               select delivery_id as opened, unnest(identities) as identity
               from row_identities
               where delivery_id = any($1)
           ),
           others as (
               select delivery_id as other, unnest(identities) as identity
               from row_identities
               where delivery_id = any($2)
           )
           select count(distinct identity) as "rows!",
               coalesce(array_agg(distinct opened order by opened), '{}') as "opened!",
               coalesce(array_agg(distinct other order by other), '{}') as "others!"
           from opened
           join others using (identity)
           join pairs using (opened, other)"#,
        &opened,
        &others,
    )
    .fetch_one(db)
    .await?;
    Ok((found.rows > 0).then_some(Overlap { rows: found.rows, opened: found.opened, others: found.others }))
}
