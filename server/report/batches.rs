//! Batches: what was submitted together through the browser, how far it is, what became of each file.

use crate::money::Decimal;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;
use uuid::Uuid;

/// Files submitted together, as the queue knows them.
#[derive(Clone, Debug, Serialize)]
pub struct JobLine {
    #[serde(rename = "batch")]
    pub batch_id: Uuid,
    /// `queued`, `running`, `done`, `failed` or `cancelled`.
    pub status: String,
    pub files: Vec<String>,
    /// The archived import whose rows it loads again, from its kept files; none for an upload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reloads: Option<i64>,
    pub total_bytes: i64,
    /// Of the files as they arrived; about.
    pub bytes_read: i64,
    pub rows_read: i64,
    /// Uploads that wait before it, while it waits.
    pub ahead: i64,
    /// Who cancelled it, or wished to.
    pub cancelled_by: Option<String>,
    pub message: Option<String>,
    pub created_at: DateTime<Utc>,
    pub created_by: String,
    pub started_at: Option<DateTime<Utc>>,
    pub finished_at: Option<DateTime<Utc>>,
}

/// A batch, and once it is done what became of each of its deliveries.
#[derive(Clone, Debug, Serialize)]
pub struct Batch {
    #[serde(flatten)]
    pub line: JobLine,
    pub deliveries: Vec<Outcome>,
}

/// What became of one delivery of a batch, as it was said when it ended: an entry of what
/// `gpuledger import --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub delivery: Option<i64>,
    pub status: String,
    pub message: Option<String>,
    pub files: Vec<OutcomeFile>,
    /// The first few.
    pub rejections: Vec<OutcomeRejection>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<OutcomeUsage>,
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

/// What a file said about who used accelerators.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OutcomeUsage {
    pub import: i64,
    pub jobs: i64,
    #[serde(default)]
    pub samples: i64,
    pub accelerator_hours: Decimal,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OutcomeFile {
    pub file: String,
    pub sha256: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OutcomeRejection {
    pub file: String,
    pub row: u64,
    pub column: String,
    pub found: String,
    pub expected: String,
}

/// Batches that wait or run, and those that failed as a whole since then; oldest first.
pub async fn jobs(db: &mut PgConnection, failed_since: DateTime<Utc>) -> sqlx::Result<Vec<JobLine>> {
    sqlx::query_as!(
        JobLine,
        r#"select batch_id, status,
                  array(select file ->> 'name' from jsonb_array_elements(files) file) as "files!: Vec<String>",
                  reloads, total_bytes, bytes_read, rows_read, cancelled_by,
                  (select count(*) from jobs ahead where ahead.status = 'queued' and ahead.job_id < jobs.job_id)
                      as "ahead!",
                  message, created_at, created_by, started_at, finished_at
           from jobs
           where status in ('queued', 'running')
              or (status = 'failed' and coalesce(finished_at, started_at) > $1)
           order by job_id"#,
        failed_since,
    )
    .fetch_all(db)
    .await
}

/// A batch by its id; `None` where there is none.
pub async fn batch(db: &mut PgConnection, batch_id: Uuid) -> sqlx::Result<Option<Batch>> {
    let row = sqlx::query!(
        r#"select status,
                  array(select file ->> 'name' from jsonb_array_elements(files) file) as "files!: Vec<String>",
                  reloads, total_bytes, bytes_read, rows_read, cancelled_by,
                  (select count(*) from jobs ahead where ahead.status = 'queued' and ahead.job_id < jobs.job_id)
                      as "ahead!",
                  message, created_at, created_by, started_at, finished_at,
                  result as "result: sqlx::types::Json<Vec<Outcome>>"
           from jobs where batch_id = $1"#,
        batch_id,
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| Batch {
        line: JobLine {
            batch_id,
            status: row.status,
            files: row.files,
            reloads: row.reloads,
            total_bytes: row.total_bytes,
            bytes_read: row.bytes_read,
            rows_read: row.rows_read,
            ahead: row.ahead,
            cancelled_by: row.cancelled_by,
            message: row.message,
            created_at: row.created_at,
            created_by: row.created_by,
            started_at: row.started_at,
            finished_at: row.finished_at,
        },
        deliveries: row.result.map(|result| result.0).unwrap_or_default(),
    }))
}

impl JobLine {
    /// Whether it waits or runs: its page changes by itself.
    pub fn is_under_way(&self) -> bool {
        matches!(self.status.as_str(), "queued" | "running")
    }

    /// Whether it ended without all of its files having been tried to the end; they are kept.
    pub fn has_failed(&self) -> bool {
        self.status == "failed"
    }

    /// How much of its files is read, about; 100 only when nothing is left to do.
    pub fn percent(&self) -> i64 {
        if self.status == "done" {
            return 100;
        }
        (self.bytes_read.saturating_mul(100) / self.total_bytes.max(1)).clamp(0, 99)
    }

    /// Seconds until all is read, at the pace until now. `None` before there is one.
    pub fn remaining(&self, now: DateTime<Utc>) -> Option<i64> {
        let (seconds, _) = self.pace(now)?;
        let left = (self.total_bytes - self.bytes_read).max(0);
        (self.bytes_read > 0)
            .then(|| (i128::from(seconds) * i128::from(left) / i128::from(self.bytes_read)) as i64)
    }

    /// Seconds since it began, and rows read in each of them. `None` in the first second, and before.
    pub fn pace(&self, now: DateTime<Utc>) -> Option<(i64, i64)> {
        let seconds = (self.finished_at.unwrap_or(now) - self.started_at?).num_seconds();
        (seconds > 0).then(|| (seconds, self.rows_read / seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_estimates_from_the_bytes_that_were_read() {
        let began: DateTime<Utc> = "2026-09-01T10:00:00Z".parse().unwrap();
        let mut job = JobLine {
            batch_id: Uuid::nil(),
            status: "running".into(),
            files: Vec::new(),
            reloads: None,
            total_bytes: 1_000,
            bytes_read: 0,
            rows_read: 0,
            ahead: 0,
            cancelled_by: None,
            message: None,
            created_at: began,
            created_by: String::new(),
            started_at: Some(began),
            finished_at: None,
        };
        let at = |seconds| began + chrono::Duration::seconds(seconds);
        assert_eq!((job.percent(), job.remaining(at(0)), job.remaining(at(9))), (0, None, None));
        (job.bytes_read, job.rows_read) = (250, 5_000);
        assert_eq!((job.percent(), job.pace(at(10)), job.remaining(at(10))), (25, Some((10, 500)), Some(30)));
        // A manifest, and what a container holds beside its content, are read or not: about is about.
        job.bytes_read = 1_003;
        assert_eq!((job.percent(), job.remaining(at(10))), (99, Some(0)));
    }
}
