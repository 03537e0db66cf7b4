//! What the ledger and the queue hold, in a few counts for a monitoring system.

use sqlx::PgConnection;

/// Counts over everything there ever was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Deliveries by status.
    pub deliveries: Vec<(String, i64)>,
    /// Uploads by status.
    pub jobs: Vec<(String, i64)>,
    pub rows_read: i64,
    pub sequence: i64,
}

pub async fn activity(db: &mut PgConnection) -> sqlx::Result<Activity> {
    let deliveries = sqlx::query!(
        r#"select status, count(*) as "count!", coalesce(sum(rows_read), 0)::bigint as "rows!"
           from deliveries group by status order by status"#
    )
    .fetch_all(&mut *db)
    .await?;
    let jobs =
        sqlx::query!(r#"select status, count(*) as "count!" from jobs group by status order by status"#)
            .fetch_all(&mut *db)
            .await?;
    let sequence = crate::ledger::sequence(db).await?;
    Ok(Activity {
        rows_read: deliveries.iter().map(|line| line.rows).sum(),
        deliveries: deliveries.into_iter().map(|line| (line.status, line.count)).collect(),
        jobs: jobs.into_iter().map(|line| (line.status, line.count)).collect(),
        sequence,
    })
}
