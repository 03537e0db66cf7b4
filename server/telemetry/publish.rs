//! What holds of all that imports say, as a version of the ledger: written down when one is imported, and when one is taken back.

use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use super::hours::{self, NodeDay};
use super::import::LOCK;
use super::job::{FULLY_USED, Holding, Job};
use super::read_file::BATCH;
use super::{resolve, store};
use crate::audit::{self, Act, Object, Verb};
use crate::ledger;

/// Brings up to date what the jobs of an import held, as from a version on: those that no import describes any more held
/// nothing.
pub async fn republish(db: &mut PgConnection, import_id: i64, sequence: i64) -> sqlx::Result<()> {
    let days = resolve::days_of(&mut *db, import_id).await?;
    resolve::republish(&mut *db, days, sequence).await?;
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
        let Some(last) = jobs.last() else { return Ok(()) };
        after = *last;
        republish_jobs(&mut *db, &jobs, sequence).await?;
    }
}

async fn republish_jobs(db: &mut PgConnection, jobs: &[i64], sequence: i64) -> sqlx::Result<()> {
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
    store::replace_days(db, jobs, &new, sequence).await
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
    let sequence = ledger::begin_version(&mut tx).await?;
    let undone = sqlx::query!(
        "update usage_imports
         set status = 'undone', until_sequence = $2, undone_at = $3, undone_by = $4
         where import_id = $1 and status = 'active'",
        import_id,
        sequence,
        act.at,
        act.by.name,
    )
    .execute(&mut *tx)
    .await?;
    if undone.rows_affected() == 0 {
        return Ok(Undone::NotActive);
    }
    republish(&mut tx, import_id, sequence).await?;
    ledger::end_version(&mut tx, sequence, None, "usage", &act.by.name, act.at).await?;
    audit::record(&mut tx, act, Verb::UsageUndone, &Object::Usage(import_id), json!(null)).await?;
    tx.commit().await?;
    Ok(Undone::Done)
}
