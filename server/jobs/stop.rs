//! A stop that was asked for is no failure: what was running goes back in the queue as if it had not begun.

use std::time::Duration;

use sqlx::PgConnection;

use super::lock;

/// PostgreSQL takes a moment to notice that the connection which held a lock is closed.
const LOOKS: u32 = 40;
const BETWEEN: Duration = Duration::from_millis(50);

/// Puts every job that was running, and that nobody works on any more, back in the queue, and answers how many. The
/// broken-off attempt does not count. What it had loaded is active nowhere; the next import removes it.
pub async fn put_back(db: &mut PgConnection) -> sqlx::Result<u64> {
    let mut count = 0;
    let running = sqlx::query_scalar!("select job_id from jobs where status = 'running' order by job_id")
        .fetch_all(&mut *db)
        .await?;
    for job_id in running {
        if !wait(db, job_id).await? {
            continue;
        }
        let put = sqlx::query!(
            "update jobs
             set status = 'queued', attempts = greatest(attempts - 1, 0), rows_read = 0, started_at = null
             where job_id = $1 and status = 'running'",
            job_id,
        )
        .execute(&mut *db)
        .await?;
        count += put.rows_affected();
        lock::unlock(db, job_id).await?;
    }
    Ok(count)
}

/// Locks the job; false where somebody else still works on it.
async fn wait(db: &mut PgConnection, job_id: i64) -> sqlx::Result<bool> {
    for _ in 0..LOOKS {
        if lock::try_lock(db, job_id).await? {
            return Ok(true);
        }
        tokio::time::sleep(BETWEEN).await;
    }
    Ok(false)
}
