//! Session locks: a worker holds one on the job that it works on. It ends with the worker's session at the latest.

use sqlx::PgConnection;

/// This plus the job's id.
const LOCK: i64 = 0x6770_756a_0000_0000;

/// False where another session holds it.
pub async fn try_lock(db: &mut PgConnection, job_id: i64) -> sqlx::Result<bool> {
    sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "mine!""#, LOCK + job_id).fetch_one(db).await
}

pub async fn unlock(db: &mut PgConnection, job_id: i64) -> sqlx::Result<()> {
    sqlx::query_scalar!("select pg_advisory_unlock($1)", LOCK + job_id).fetch_one(db).await?;
    Ok(())
}
