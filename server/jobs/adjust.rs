//! Computing the adjustments of bills again, one bill after the other, while nothing else waits.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{Connection as _, PgConnection, PgPool};
use uuid::Uuid;

use super::lock;
use crate::adjustments::{self, Due, Noted};
use crate::audit::{self, Actor, Object, Verb};
use crate::billing::{ReadAs, normalized_key};
use crate::clock::Clock;
use crate::ledger::{
    self, Bundle, Decision, Import, Originals, Progress, Source, Status, Undone, WhenUnsure,
};

/// Under which nobody else computes adjustments: no job has this number.
const LOCK: i64 = -1;
/// Why a month of adjustments may become smaller.
const REASON: &str = "Computed again from its bill.";

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
    if let Some(due) = &next
        && let Err(error) = adjust(pool, &mut *db, originals, due, now).await
    {
        // Other bills wait behind it. Where the database is gone, this fails, too.
        tracing::error!(%error, scope = due.bill.scope_id, "a bill could not be adjusted; it is tried again later");
        let mut db = pool.acquire().await?;
        adjustments::note_problem(&mut db, due, "the database or the disk failed", now).await?;
    }
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
    if due.is_nothing() {
        return take_out(db, due, Noted::default(), now).await;
    }
    let file = tempfile::NamedTempFile::new_in(originals.scratch()?)?;
    let computed = adjustments::compute(&mut *db, due, file.path()).await?;
    let (note, problem) = (computed.note.as_deref(), computed.problem.as_deref());
    if computed.rows == 0 {
        return take_out(db, due, Noted { delivery: None, note, problem }, now).await;
    }
    let follows_bill = adjustments::follows_bill(&mut *db, due).await?;
    let before = loaded(&mut *db, due).await?.pop();
    let by = Actor::server();
    // All tags of it are those of keys: rules may ask for each of them.
    let labels = tags_of(&mut *db, due).await?;
    let import = Import {
        deliveries: vec![Bundle::Files(vec![Source::new(file_name(due), file.path())])],
        read_as: ReadAs::adjustments(),
        labels,
        decision: Some(Decision::Replace),
        reason: Some(REASON),
        when_unsure: WhenUnsure::Discard,
        batch_id: Uuid::new_v4(),
        by: &by.name,
        submitted_at: now,
        now,
        progress: Progress::default(),
    };
    let reports = ledger::import(pool, originals, import).await.map_err(|interrupted| interrupted.error)?;
    let Some(report) = reports.into_iter().next() else { return Ok(()) };
    let Some(delivery) = report.delivery.filter(|_| report.status == Status::Loaded) else {
        let message = report.message.unwrap_or_else(|| "they could not be imported".to_owned());
        tracing::warn!(scope = due.bill.scope_id, message, "adjustments could not be imported");
        if report.status == Status::Failed {
            return adjustments::note_problem(db, due, &message, now).await;
        }
        // The same file would be refused again.
        return take_out(db, due, Noted { problem: Some(&message), ..Noted::default() }, now).await;
    };
    let mut tx = db.begin().await?;
    // Versions of the same: undoing one undoes all, and none of the former becomes active again.
    sqlx::query!(
        "update deliveries again
         set follows_bill = $3, reprices = coalesce(before.reprices, before.delivery_id),
             place_sequence = coalesce(before.place_sequence, before.published_sequence)
         from (select $2::bigint as delivery_id) given
         left join deliveries before using (delivery_id)
         where again.delivery_id = $1",
        delivery,
        before,
        follows_bill,
    )
    .execute(&mut *tx)
    .await?;
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
    noted: Noted<'_>,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let by = Actor::server();
    let mut tx = db.begin().await?;
    // One of them undoes all versions.
    for delivery in loaded(&mut tx, due).await? {
        let sequence = match ledger::undo(&mut tx, delivery, &by.name, now).await? {
            Undone::At(sequence) => sequence,
            Undone::Already => continue,
            Undone::Overlaps(_) | Undone::Archived(_) => {
                tx.rollback().await?;
                let problem =
                    "its former adjustments cannot be taken out: undo the import of them at Imports";
                return adjustments::note_problem(db, due, problem, now).await;
            }
        };
        let (object, details) = (Object::Delivery(delivery), json!({ "sequence": sequence }));
        audit::record(&mut tx, by.at(now), Verb::DeliveryUndone, &object, details).await?;
    }
    adjustments::note(&mut tx, due, noted, now).await?;
    tx.commit().await
}

/// The imports of a bill's adjustments that were not undone, the latest last.
async fn loaded(db: &mut PgConnection, due: &Due) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!(
        "select d.delivery_id
         from deliveries d
         join delivery_scopes using (delivery_id)
         join scopes s using (scope_id)
         where s.adjusts = $1 and d.status = 'loaded'
         order by d.published_sequence",
        due.bill.scope_id,
    )
    .fetch_all(db)
    .await
}

/// The names of all tags in a bill's keys, as they are compared.
async fn tags_of(db: &mut PgConnection, due: &Due) -> sqlx::Result<Vec<String>> {
    let names = sqlx::query_scalar!(
        r#"select distinct tag as "tag!"
           from monthly_costs m
           join charge_keys k using (charge_key_id)
           cross join lateral jsonb_object_keys(k.tags) tag
           where m.billing_month = $1 and m.scope_id = $2 and m.delivery_id = any($3)"#,
        due.bill.month.first_day(),
        due.bill.scope_id,
        &due.bill.active,
    )
    .fetch_all(db)
    .await?;
    Ok(names.iter().map(|name| normalized_key(name)).collect())
}

fn file_name(due: &Due) -> String {
    let plain = |text: &str| -> String {
        text.chars().map(|it| if it.is_ascii_alphanumeric() || it == '-' { it } else { '-' }).collect()
    };
    let (provider, account) = (plain(&due.bill.provider), plain(&due.bill.billing_account));
    format!("adjustments-{provider}-{account}-{}.csv", due.bill.month)
}
