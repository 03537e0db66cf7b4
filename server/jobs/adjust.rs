//! Computing the adjustments of bills again, one bill after the other, while nothing else waits.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{Connection as _, PgConnection, PgPool};

use super::beside::{Beside, Imported};
use super::lock;
use crate::adjustments::{self, Due, Noted};
use crate::audit::{self, Actor, Object, Verb};
use crate::billing::ComputedBill;
use crate::clock::Clock;
use crate::ledger::{self, Originals};

/// Under which nobody else computes adjustments: no job has this number.
const LOCK: i64 = -1;
/// Computes the adjustments of all bills, as a command does where no server is.
pub async fn adjust_bills(pool: &PgPool, originals: &Originals, clock: Clock) -> sqlx::Result<()> {
    let mut db = pool.acquire().await?;
    while next(pool, &mut db, originals, clock.now()).await? {}
    Ok(())
}

/// Computes the adjustments of the next bill; false where there is none, or others are at it.
pub(super) async fn next(
    pool: &PgPool,
    db: &mut PgConnection,
    originals: &Originals,
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    if adjustments::due(&mut *db, now).await?.is_empty() || !lock::try_lock(&mut *db, LOCK).await? {
        return Ok(false);
    }
    // What was due before the lock may be done by now.
    let next = adjustments::due(&mut *db, now).await?.into_iter().next();
    // What is computed is written beside originals, and whoever removes what imports left is not to take it away.
    ledger::hold_originals(&mut *db).await?;
    if let Some(due) = &next
        && let Err(error) = adjust(pool, &mut *db, originals, due, now).await
    {
        // Other bills wait behind it. Where the database is gone, this fails, too.
        tracing::error!(%error, scope = due.bill.scope_id, "a bill could not be adjusted; it is tried again later");
        let mut db = pool.acquire().await?;
        adjustments::note_problem(&mut db, due, "the database or the disk failed", now).await?;
    }
    ledger::release_originals(&mut *db).await?;
    lock::unlock(db, LOCK).await?;
    Ok(next.is_some())
}

async fn adjust(
    pool: &PgPool,
    db: &mut PgConnection,
    originals: &Originals,
    due: &Due,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let bill = &due.bill;
    let beside = Beside {
        computed: ComputedBill::Adjustments,
        scope_id: bill.scope_id,
        provider: &bill.provider,
        billing_account: &bill.billing_account,
        month: bill.month,
        scopes: std::slice::from_ref(&bill.scope_id),
        deliveries: &bill.active,
    };
    if due.is_nothing() {
        return take_out(db, due, beside, Noted::default(), now).await;
    }
    let file = tempfile::NamedTempFile::new_in(originals.scratch()?)?;
    let computed = adjustments::compute(&mut *db, due, file.path()).await?;
    let (note, problem) = (computed.note.as_deref(), computed.problem.as_deref());
    if computed.rows == 0 {
        return take_out(db, due, beside, Noted { delivery: None, note, problem }, now).await;
    }
    let follows_bill = adjustments::follows_bill(&mut *db, due).await?;
    let before = beside.loaded(&mut *db).await?.pop();
    let delivery = match beside.import((pool, &mut *db), originals, (file.path(), &[]), now).await? {
        Imported::Loaded(delivery) => delivery,
        Imported::Refused { message, has_failed: true } => {
            return adjustments::note_problem(db, due, &message, now).await;
        }
        Imported::Refused { message, has_failed: false } => {
            return take_out(db, due, beside, Noted { problem: Some(&message), ..Noted::default() }, now)
                .await;
        }
    };
    let by = Actor::server();
    let mut tx = db.begin().await?;
    beside.supersede(&mut tx, (before, delivery), follows_bill).await?;
    let details = json!({ "of": due.bill.active, "rows": computed.rows });
    let object = Object::Delivery(delivery);
    audit::record(&mut tx, by.at(now), Verb::AdjustmentsComputed, &object, details).await?;
    adjustments::note(&mut tx, due, Noted { delivery: Some(delivery), note, problem }, now).await?;
    tx.commit().await
}

/// Takes the adjustments of a bill out.
async fn take_out(
    db: &mut PgConnection,
    due: &Due,
    beside: Beside<'_>,
    noted: Noted<'_>,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    if !beside.take_out(&mut tx, now).await? {
        tx.rollback().await?;
        let problem = "its former adjustments cannot be taken out: undo the import of them at Imports";
        return adjustments::note_problem(db, due, problem, now).await;
    }
    adjustments::note(&mut tx, due, noted, now).await?;
    tx.commit().await
}
