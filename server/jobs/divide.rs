//! Dividing the machines of bills among those who used them, one bill after the other, while nothing else waits.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{Connection as _, PgConnection, PgPool};

use super::beside::{Beside, Imported};
use super::lock;
use crate::audit::{self, Actor, Object, Verb};
use crate::billing::{ComputedBill, usage_tags};
use crate::clock::Clock;
use crate::ledger::{self, Originals};
use crate::telemetry::divide::{self, Due};
use crate::telemetry::is_importing;

/// Under which nobody else divides machines: no job has this number.
const LOCK: i64 = -2;

/// Divides the machines of all bills, as a command does where no server is.
pub async fn divide_machines(pool: &PgPool, originals: &Originals, clock: Clock) -> sqlx::Result<()> {
    let mut db = pool.acquire().await?;
    while next(pool, &mut db, originals, clock.now()).await? {}
    Ok(())
}

/// Divides the machines of the next bill; false where there is none, others are at it, or more usage is about to come.
pub(super) async fn next(
    pool: &PgPool,
    db: &mut PgConnection,
    originals: &Originals,
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    if is_importing(&mut *db).await? {
        return Ok(false);
    }
    if divide::due(&mut *db, now).await?.is_empty() || !lock::try_lock(&mut *db, LOCK).await? {
        return Ok(false);
    }
    // What was due before the lock may be done by now.
    let next = divide::due(&mut *db, now).await?.into_iter().next();
    // What is computed is written beside originals, and whoever removes what imports left is not to take it away.
    ledger::hold_originals(&mut *db).await?;
    if let Some(due) = &next
        && let Err(error) = divide(pool, &mut *db, originals, due, now).await
    {
        // Other bills wait behind it. Where the database is gone, this fails, too.
        tracing::error!(%error, scope = due.bill.scope_id, "machines could not be divided; it is tried again later");
        let mut db = pool.acquire().await?;
        divide::note_problem(&mut db, due, "the database or the disk failed", now).await?;
    }
    ledger::release_originals(&mut *db).await?;
    lock::unlock(db, LOCK).await?;
    Ok(next.is_some())
}

async fn divide(
    pool: &PgPool,
    db: &mut PgConnection,
    originals: &Originals,
    due: &Due,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let bill = &due.bill;
    let beside = Beside {
        computed: ComputedBill::Usage,
        scope_id: bill.scope_id,
        provider: &bill.provider,
        billing_account: &bill.billing_account,
        month: bill.month,
        scopes: &bill.scopes,
        deliveries: &bill.active,
    };
    if due.is_nothing() {
        return take_out(db, due, beside, None, now).await;
    }
    let file = tempfile::NamedTempFile::new_in(originals.scratch()?)?;
    let rows = divide::compute(&mut *db, due, file.path()).await?;
    if rows == 0 {
        return take_out(db, due, beside, None, now).await;
    }
    let before = beside.loaded(&mut *db).await?.pop();
    if let Some(before) = before
        && is_kept(&mut *db, before, ledger::hash(file.path())?).await?
    {
        return divide::note(db, due, Some(before), None, now).await;
    }
    let follows_bill = divide::follows_bill(&mut *db, due).await?;
    let tags = usage_tags::ALL.map(|(tag, _)| tag);
    let delivery = match beside.import((pool, &mut *db), originals, (file.path(), &tags), now).await? {
        Imported::Loaded(delivery) => delivery,
        Imported::Refused { message, has_failed: true } => {
            return divide::note_problem(db, due, &message, now).await;
        }
        Imported::Refused { message, has_failed: false } => {
            return take_out(db, due, beside, Some(&message), now).await;
        }
    };
    let by = Actor::server();
    let mut tx = db.begin().await?;
    beside.supersede(&mut tx, (before, delivery), follows_bill).await?;
    let details = json!({ "of": bill.active, "rows": rows });
    audit::record(&mut tx, by.at(now), Verb::UsageDivided, &Object::Delivery(delivery), details).await?;
    divide::note(&mut tx, due, Some(delivery), None, now).await?;
    tx.commit().await
}

/// Whether an import is of exactly this file.
async fn is_kept(db: &mut PgConnection, delivery: i64, sha256: ledger::Sha256) -> sqlx::Result<bool> {
    let hash: &[u8] = &sha256.0;
    sqlx::query_scalar!(
        r#"select exists (
               select from delivery_files where delivery_id = $1 and sha256 = $2
           ) as "is_kept!""#,
        delivery,
        hash,
    )
    .fetch_one(db)
    .await
}

/// Takes what divided a bill out.
async fn take_out(
    db: &mut PgConnection,
    due: &Due,
    beside: Beside<'_>,
    problem: Option<&str>,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    if !beside.take_out(&mut tx, now).await? {
        tx.rollback().await?;
        let problem = "how it was divided before cannot be taken out: undo the import of it at Imports";
        return divide::note_problem(db, due, problem, now).await;
    }
    divide::note(&mut tx, due, None, problem, now).await?;
    tx.commit().await
}
