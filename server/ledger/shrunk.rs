//! What published deliveries made smaller, written down with the reason: until somebody says why, or it is back.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use super::loss::{Held, Loss, Measured, between, limits};
use super::renamed_scopes;
use super::scope::Scope;
use crate::period::BillingMonth;

/// Writes down what a published delivery removed, with the reason if one was given.
pub async fn record(
    db: &mut PgConnection,
    delivery_id: i64,
    measured: &Measured,
    (reason, by, now): (Option<&str>, &str, DateTime<Utc>),
) -> sqlx::Result<()> {
    for scope in &measured.replaced {
        let Some(loss) = &scope.loss else { continue };
        sqlx::query!(
            "insert into shrunk_scopes
                 (delivery_id, scope_id, lost_by, loss, by_service, explanation, explained_by, explained_at)
             values ($1, $2, $1, $3, $4, $5, case when $5::text is not null then $6 end,
                 case when $5::text is not null then $7::timestamptz end)",
            delivery_id,
            scope.scope_id,
            loss.share(),
            loss.largest(),
            reason,
            by,
            now,
        )
        .execute(&mut *db)
        .await?;
    }
    Ok(())
}

/// Carries what was lost, and nobody explained, over to the delivery that replaced the one that lost it at this sequence;
/// unless the month is back, within the limits, at what it was before. Under the ledger's lock, since it compares what
/// counts from now on; there is rarely anything to carry.
pub async fn carry_over(db: &mut PgConnection, delivery_id: i64, sequence: i64) -> sqlx::Result<()> {
    let open =
        sqlx::query_file!("server/ledger/carried.sql", delivery_id, sequence).fetch_all(&mut *db).await?;
    if open.is_empty() {
        return Ok(());
    }
    let limits = limits(&mut *db).await?;
    for row in open {
        let month = BillingMonth::of(row.billing_month);
        let scope = Scope { provider: row.provider, billing_account: row.billing_account, month };
        let before = Held::of(row.scope_id, &row.before);
        let mut after = Held::default();
        for (scope_id, delivery, name) in
            counting(&mut *db, month, row.scope_id, row.slice.as_deref()).await?
        {
            if scope_id == row.scope_id || (row.is_renamed && renamed_scopes::is_former_name(&scope, &name)) {
                after.push(scope_id, delivery);
            }
        }
        let Some(loss) = between(&mut *db, month, &before, &after, &limits).await?.filter(Loss::asks) else {
            continue;
        };
        sqlx::query!(
            "insert into shrunk_scopes (delivery_id, scope_id, lost_by, loss, by_service)
             values ($1, $2, $3, $4, $5)",
            delivery_id,
            row.scope_id,
            row.lost_by,
            loss.share(),
            loss.largest(),
        )
        .execute(&mut *db)
        .await?;
    }
    Ok(())
}

/// What is active now in the scopes of a month; in `scope_id` the same slice alone, where there is one.
async fn counting(
    db: &mut PgConnection,
    month: BillingMonth,
    scope_id: i64,
    slice: Option<&str>,
) -> sqlx::Result<Vec<(i64, i64, Scope)>> {
    let rows = sqlx::query!(
        "select v.scope_id, v.delivery_id, s.provider, s.billing_account
         from visibility v
         join scopes s using (scope_id)
         join delivery_scopes theirs using (scope_id, delivery_id)
         where v.until_sequence is null
           and s.billing_month = $1
           and (v.scope_id <> $2 or $3::text is null or theirs.slice = $3)
         order by 1, 2",
        month.first_day(),
        scope_id,
        slice,
    )
    .fetch_all(db)
    .await?;
    let scope = |provider, billing_account| Scope { provider, billing_account, month };
    Ok(rows
        .into_iter()
        .map(|row| (row.scope_id, row.delivery_id, scope(row.provider, row.billing_account)))
        .collect())
}

/// Says why a delivery made its months smaller, or one of which it carries the loss on. False where it did not, or where
/// it has been said. A loss is explained once, whichever delivery is active now or after an undo.
pub async fn explain(
    db: &mut PgConnection,
    delivery_id: i64,
    explanation: &str,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    let explained = sqlx::query!(
        "update shrunk_scopes set explanation = $2, explained_by = $3, explained_at = $4
         where explanation is null
           and (scope_id, lost_by) in (
               select own.scope_id, own.lost_by from shrunk_scopes own where own.delivery_id = $1
           )",
        delivery_id,
        explanation,
        by,
        now,
    )
    .execute(db)
    .await?;
    Ok(explained.rows_affected() > 0)
}
