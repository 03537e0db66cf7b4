//! What holds of all that imports say, as a version of the ledger: written down when one is imported, and when one is taken back.

use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use super::hours::{self, NodeDay};
use super::import::LOCK;
use super::job::{FULLY_USED, Holding, Job};
use super::read_file::BATCH;
use super::resolve;
use super::used_days::{Changes, Which};
use crate::audit::{self, Act, Object, Verb};
use crate::ledger;

/// Finds what changes of what was held, now that an import is active or is not any more: jobs that no import describes held nothing.
pub async fn find_changes(db: &mut PgConnection, import_id: i64) -> sqlx::Result<Changes> {
    let mut changes = Changes::begin(&mut *db).await?;
    let days = resolve::days_of(&mut *db, import_id).await?;
    resolve::find_changes(&mut *db, days, &mut changes).await?;
    let mut after = 0;
    loop {
        let jobs = sqlx::query_scalar!(
            "select job_no from job_descriptions
             where import_id = $1 and job_no > $2 and not is_metered
             order by job_no limit $3",
            import_id,
            after,
            BATCH as i64,
        )
        .fetch_all(&mut *db)
        .await?;
        let Some(last) = jobs.last() else { return Ok(changes) };
        after = *last;
        find_changes_of_jobs(&mut *db, &jobs, &mut changes).await?;
    }
}

async fn find_changes_of_jobs(
    db: &mut PgConnection,
    jobs: &[i64],
    changes: &mut Changes,
) -> sqlx::Result<()> {
    let rows = sqlx::query!(
        "select distinct on (job_no) job_no, started_at, held_seconds, nodes, node_accelerators, node_utilization, node_measured
         from job_descriptions
         join usage_imports i using (import_id)
         where job_no = any($1) and i.status = 'active' and not is_metered
         order by job_no, is_over desc, held_until desc nulls last, import_id desc",
        jobs,
    )
    .fetch_all(&mut *db)
    .await?;
    let mut new: Vec<(i64, i64, NodeDay)> = Vec::new();
    for row in rows {
        let measured =
            row.node_measured.iter().map(|it| it.unsigned_abs()).chain(std::iter::repeat(FULLY_USED));
        let holdings = row.node_accelerators.iter().zip(&row.node_utilization).zip(measured);
        let job = Job {
            started_at: row.started_at,
            held_seconds: row.held_seconds.unsigned_abs(),
            holdings: holdings
                .map(|((accelerators, utilization), measured)| Holding {
                    measured,
                    node: String::new(),
                    accelerators: accelerators.unsigned_abs(),
                    // Less than nothing: nobody measured it.
                    utilization: u32::try_from(*utilization).ok(),
                })
                .collect(),
            ..Job::default()
        };
        for (node, days) in row.nodes.iter().zip(hours::days(&job)) {
            new.extend(days.into_iter().map(|day| (row.job_no, *node, day)));
        }
    }
    changes.replace(db, Which::Jobs(jobs), &new).await
}

/// What undoing an import did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    Done,
    /// It was not active.
    NotActive,
}

/// Takes back what an import says. What others say of its jobs holds again.
///
/// # Errors
/// The database's.
pub async fn undo(db: &mut PgConnection, import_id: i64, act: Act<'_>) -> sqlx::Result<Undone> {
    let mut tx = db.begin().await?;
    sqlx::query!("select pg_advisory_xact_lock($1)", LOCK).execute(&mut *tx).await?;
    let undone = sqlx::query!(
        "update usage_imports set status = 'undone', undone_at = $2, undone_by = $3
         where import_id = $1 and status = 'active'",
        import_id,
        act.at,
        act.by.name,
    )
    .execute(&mut *tx)
    .await?;
    if undone.rows_affected() == 0 {
        return Ok(Undone::NotActive);
    }
    let changes = find_changes(&mut tx, import_id).await?;
    let sequence = ledger::begin_version(&mut tx).await?;
    sqlx::query!("update usage_imports set until_sequence = $2 where import_id = $1", import_id, sequence)
        .execute(&mut *tx)
        .await?;
    changes.publish(&mut tx, sequence).await?;
    ledger::end_version(&mut tx, sequence, None, "usage", &act.by.name, act.at).await?;
    audit::record(&mut tx, act, Verb::UsageUndone, &Object::Usage(import_id), json!(null)).await?;
    tx.commit().await?;
    Ok(Undone::Done)
}
