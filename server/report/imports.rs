//! Imports: what was delivered, by whom, what it holds, what became of it.

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use crate::ledger::Sha256;
use crate::money::Decimal;

/// A delivery as a line of the history.
#[derive(Clone, Debug, Serialize)]
pub struct ImportLine {
    pub delivery: i64,
    pub status: String,
    pub format: Option<String>,
    pub files: Vec<String>,
    pub rows_read: i64,
    pub charges: i64,
    pub rejected: i64,
    pub skipped: i64,
    pub message: Option<String>,
    pub created_at: DateTime<Utc>,
    pub created_by: String,
    /// Whether the ledger counts any of it now; a loaded delivery that does not was superseded.
    pub is_counted: bool,
    pub scopes: Vec<ImportScope>,
}

/// What a delivery states about one account and month, in one currency.
#[derive(Clone, Debug, Serialize, serde::Deserialize)]
pub struct ImportScope {
    pub provider: String,
    pub billing_account: String,
    pub billing_month: NaiveDate,
    pub currency: String,
    pub billed_cost: String,
    pub effective_cost: String,
    pub charges: i64,
    pub is_counted: bool,
    pub is_provisional: bool,
}

/// Everything about one delivery.
#[derive(Clone, Debug, Serialize)]
pub struct Delivery {
    #[serde(flatten)]
    pub line: ImportLine,
    pub kept_files: Vec<DeliveryFile>,
    pub unknown_columns: Vec<String>,
    pub absent_columns: Vec<String>,
    pub notes: Vec<String>,
    pub noisy_tags: Vec<String>,
    pub skips: Vec<(String, i64)>,
    pub published_sequence: Option<i64>,
    pub undone_sequence: Option<i64>,
    /// The first of them; all in the `.csv`.
    pub rejections: Vec<RejectedRow>,
}

#[derive(Clone, Debug, Serialize)]
pub struct DeliveryFile {
    pub file_no: i16,
    pub name: String,
    pub rows_read: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
}

#[derive(Clone, Debug, Serialize)]
pub struct RejectedRow {
    pub file: String,
    pub row: i64,
    pub column: String,
    pub found: String,
    pub expected: String,
}

/// An import that waits or runs, or that ended without a delivery.
#[derive(Clone, Debug, Serialize)]
pub struct JobLine {
    pub job: i64,
    pub batch_id: Uuid,
    pub status: String,
    pub files: Vec<String>,
    pub total_bytes: i64,
    pub rows_read: i64,
    pub message: Option<String>,
    pub created_at: DateTime<Utc>,
    pub created_by: String,
    pub started_at: Option<DateTime<Utc>>,
}

/// The latest deliveries, newest first; those before `before`, 50 at a time.
pub async fn imports(db: &mut PgConnection, before: Option<i64>) -> sqlx::Result<Vec<ImportLine>> {
    Ok(rows(db, None, before).await?.into_iter().map(|row| row.line).collect())
}

/// One delivery; `None` where there is none of that number.
pub async fn delivery(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Option<Delivery>> {
    let Some(mut delivery) = rows(db, Some(delivery_id), None).await?.pop() else {
        return Ok(None);
    };
    delivery.kept_files = files(db, delivery_id).await?;
    delivery.skips =
        sqlx::query!("select reason, skipped_rows from skips where delivery_id = $1 order by 1", delivery_id)
            .fetch_all(&mut *db)
            .await?
            .into_iter()
            .map(|skip| (skip.reason, skip.skipped_rows))
            .collect();
    delivery.rejections = rejections(db, delivery_id, 100).await?;
    Ok(Some(delivery))
}

/// The rejected rows of a delivery in the order of its files, at most `limit`.
pub async fn rejections(
    db: &mut PgConnection,
    delivery_id: i64,
    limit: i64,
) -> sqlx::Result<Vec<RejectedRow>> {
    sqlx::query_as!(
        RejectedRow,
        r#"select f.name as file, r.row_no as row, r.column_name as "column", r.found, r.expected
           from rejections r
           join delivery_files f using (delivery_id, file_no)
           where r.delivery_id = $1
           order by r.file_no, r.row_no
           limit $2"#,
        delivery_id,
        limit,
    )
    .fetch_all(db)
    .await
}

/// Imports that wait or run, oldest first.
pub async fn jobs(db: &mut PgConnection) -> sqlx::Result<Vec<JobLine>> {
    sqlx::query_as!(
        JobLine,
        r#"select job_id as job, batch_id, status,
                  array(select file ->> 'name' from jsonb_array_elements(files) file) as "files!: Vec<String>",
                  total_bytes, rows_read, message, created_at, created_by, started_at
           from jobs where status in ('queued', 'running') order by job_id"#
    )
    .fetch_all(db)
    .await
}

/// One import by its batch, and what came of it (the JSON of `gpuledger import`) once it ended.
pub async fn job(
    db: &mut PgConnection,
    batch_id: Uuid,
) -> sqlx::Result<Option<(JobLine, Option<serde_json::Value>)>> {
    let row = sqlx::query!(
        r#"select job_id as job, batch_id, status,
                  array(select file ->> 'name' from jsonb_array_elements(files) file) as "files!: Vec<String>",
                  total_bytes, rows_read, message, created_at, created_by, started_at, result
           from jobs where batch_id = $1"#,
        batch_id
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| {
        let line = JobLine {
            job: row.job,
            batch_id: row.batch_id,
            status: row.status,
            files: row.files,
            total_bytes: row.total_bytes,
            rows_read: row.rows_read,
            message: row.message,
            created_at: row.created_at,
            created_by: row.created_by,
            started_at: row.started_at,
        };
        (line, row.result)
    }))
}

async fn rows(db: &mut PgConnection, only: Option<i64>, before: Option<i64>) -> sqlx::Result<Vec<Delivery>> {
    let rows = sqlx::query_file!("server/report/imports.sql", only, before).fetch_all(db).await?;
    Ok(rows
        .into_iter()
        .map(|row| Delivery {
            line: ImportLine {
                delivery: row.delivery_id,
                status: row.status,
                format: row.format,
                files: row.files,
                rows_read: row.rows_read,
                charges: row.charges,
                rejected: row.rejected,
                skipped: row.skipped,
                message: row.message,
                created_at: row.created_at,
                created_by: row.created_by,
                is_counted: row.scopes.iter().any(|scope| scope.is_counted),
                scopes: row.scopes.0,
            },
            kept_files: Vec::new(),
            unknown_columns: row.unknown_columns,
            absent_columns: row.absent_columns,
            notes: row.notes,
            noisy_tags: row.noisy_tags,
            skips: Vec::new(),
            published_sequence: row.published_sequence,
            undone_sequence: row.undone_sequence,
            rejections: Vec::new(),
        })
        .collect())
}

async fn files(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Vec<DeliveryFile>> {
    let files = sqlx::query!(
        "select file_no, name, rows_read, sha256 from delivery_files where delivery_id = $1 order by file_no",
        delivery_id
    )
    .fetch_all(db)
    .await?;
    Ok(files
        .into_iter()
        .map(|file| DeliveryFile {
            file_no: file.file_no,
            name: file.name,
            rows_read: file.rows_read,
            sha256: file.sha256.and_then(|bytes| Sha256::try_from(bytes).ok()),
        })
        .collect())
}

impl ImportScope {
    pub fn billed(&self) -> Decimal {
        self.billed_cost.parse().unwrap_or_default()
    }

    pub fn effective(&self) -> Decimal {
        self.effective_cost.parse().unwrap_or_default()
    }
}

impl std::ops::Deref for Delivery {
    type Target = ImportLine;

    fn deref(&self) -> &ImportLine {
        &self.line
    }
}
