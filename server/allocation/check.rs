//! The equations of the allocation: every charge is somebody's or unallocated, and every pool is handed out whole.

use sqlx::{Connection, PgConnection};

use super::{Configuration, allocate, problems};
use crate::changes::Document as _;
use crate::exchange;
use crate::ledger::{self, ActiveImports, Equation};
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Checks every month that has charges, as it is allocated now.
pub async fn check(db: &mut PgConnection) -> sqlx::Result<Vec<Equation>> {
    // What is missing of the mappings is made first; then all is read at one moment.
    let sequence = ledger::sequence(&mut *db).await?;
    let configuration = Configuration::as_of(&mut *db, sequence).await?;
    let found = problems(&configuration).len();
    let of = format!("{} entries", configuration.entries.len());
    let mut equations =
        vec![Equation::new("problems of the allocation rules = 0", of, count(found), Decimal::ZERO)];
    let months = sqlx::query_scalar!(
        "select distinct s.billing_month
         from scopes s
         join visibility v using (scope_id)
         where v.from_sequence <= $1 and (v.until_sequence is null or v.until_sequence > $1)
         order by 1",
        sequence,
    )
    .fetch_all(&mut *db)
    .await?;
    for first_day in months {
        let month = BillingMonth::of(first_day);
        let visible = ActiveImports::find(db, month, month, sequence).await?;
        let rates = exchange::rates(db, month, month, sequence).await?;
        let allocated = allocate(db, &configuration, month, &visible, &rates, sequence).await?;
        let mut tx = db.begin_with("begin isolation level repeatable read read only").await?;
        let sides = sqlx::query_file!(
            "server/allocation/allocated.sql",
            first_day,
            sequence,
            allocated.set_id,
            allocated.division_id
        )
        .fetch_all(&mut *tx)
        .await?;
        for side in sides {
            let of = format!("{month}, {} {}", side.cost, side.currency);
            equations.push(Equation::new(
                "charges = allocated + unallocated",
                of,
                side.charges,
                side.allocated,
            ));
        }
        let keys =
            sqlx::query_file!("server/allocation/keys_attributed.sql", first_day, sequence, allocated.set_id)
                .fetch_one(&mut *tx)
                .await?;
        equations.push(Equation::new(
            "keys of the month = keys attributed",
            month.to_string(),
            keys.keys.into(),
            keys.attributed.into(),
        ));
        let sums = sqlx::query_file!(
            "server/allocation/sums_that_differ.sql",
            first_day,
            sequence,
            allocated.set_id,
            &*allocated.parts,
            allocated.basis_id
        )
        .fetch_all(&mut *tx)
        .await?;
        for sums in sums {
            equations.push(Equation::new(
                "sums that pages read and that are not those of the rollups = 0",
                format!("{month}, {} by {}", sums.sums, sums.kind),
                sums.that_differ.into(),
                Decimal::ZERO,
            ));
        }
        let pools = sqlx::query!(
            r#"select pool, pool_part, sum(share) as "share!: Decimal"
               from pool_shares where division_id = $1 group by 1, 2 order by 1, 2"#,
            allocated.division_id,
        )
        .fetch_all(&mut *tx)
        .await?;
        for pool in pools {
            let of = format!("{month}, {} {}", pool.pool, pool.pool_part);
            equations.push(Equation::new(
                "shares of shared costs = 1",
                of.trim_end().to_owned(),
                pool.share,
                1.into(),
            ));
        }
    }
    Ok(equations)
}

fn count(number: usize) -> Decimal {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}
