//! A stop that was asked for is no failure: what was running goes back in the queue as if it had not begun.

use std::time::Duration;

use sqlx::PgConnection;

use super::LOCK;

/// PostgreSQL takes a moment to notice that the connection which held a lock is closed.
const LOOKS: u32 = 40;
const BETWEEN: Duration = Duration::from_millis(50);

/// Puts every job that was running, and that nobody works on any more, back in the queue, and answers how many. The
/// broken-off attempt does not count. What it had loaded counts nowhere; the next import removes it.
pub async fn put_back(db: &mut PgConnection) -> sqlx::Result<u64> {
    let mut count = 0;
    let running = sqlx::query_scalar!("select job_id from jobs where status = 'running' order by job_id")
        .fetch_all(&mut *db)
        .await?;
    for job_id in running {
        if !lock(db, job_id).await? {
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
        sqlx::query_scalar!("select pg_advisory_unlock($1)", LOCK + job_id).fetch_one(&mut *db).await?;
    }
    Ok(count)
}

/// False where somebody else still works on the job.
async fn lock(db: &mut PgConnection, job_id: i64) -> sqlx::Result<bool> {
    for _ in 0..LOOKS {
        let is_ours = sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "ours!""#, LOCK + job_id)
            .fetch_one(&mut *db)
            .await?;
        if is_ours {
            return Ok(true);
        }
        tokio::time::sleep(BETWEEN).await;
    }
    Ok(false)
}
