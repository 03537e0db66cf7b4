//! Imports: what was delivered, by whom, what it holds, what became of it.

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use sqlx::PgConnection;
use sqlx::types::Json;

use crate::audit::{Object, Verb};
use crate::ledger::Sha256;
use crate::money::Decimal;
use crate::period::BillingMonth;

use super::RowAddress;

/// Rejected rows that a page shows; a file has them all.
const SHOWN_REJECTIONS: i64 = 100;

/// A delivery as a line of the history.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ImportLine {
    pub delivery: i64,
    pub status: String,
    pub format: Option<String>,
    pub files: Vec<String>,
    pub rows_read: i64,
    pub charges: i64,
    /// Of the charges, those beyond the first of a row: its credits.
    #[serde(skip_serializing_if = "is_zero")]
    pub further_charges: i64,
    pub rejected: i64,
    pub skipped: i64,
    pub message: Option<String>,
    pub created_at: DateTime<Utc>,
    pub created_by: String,
    /// Whether the ledger counts any of it now; a loaded delivery that does not was replaced.
    pub is_counted: bool,
    /// Deliveries that ceased to count somewhere when it was published.
    pub replaced: Vec<i64>,
    /// Deliveries that took its place somewhere, where it is not active now.
    pub superseded_by: Vec<i64>,
    /// Since when its rows are removed, or about to be; null where they are there.
    pub archived_at: Option<DateTime<Utc>>,
    pub scopes: Vec<ImportScope>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &i64) -> bool {
    *count == 0
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
#[derive(Clone, Debug, Default, Serialize)]
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
    pub log: Vec<LogLine>,
    /// What is offered first where it waits: `add` where it looks like another part of what is there.
    pub suggested_decision: Option<String>,
    /// It waits only to be looked at: to publish it loses nothing.
    pub awaits_review: bool,
    /// Usage of it that came without cost was priced before the rate cards changed last.
    #[serde(skip)]
    pub is_priced_before: bool,
    /// Months that it made smaller than the limits allow, and why.
    pub shrank: Vec<Shrank>,
    /// Rejected rows that no active delivery corrects.
    pub missing_rows: i64,
    /// Rejected rows that say what another row of the delivery says.
    pub repeated_rows: i64,
    /// Rejected rows that were to correct rejected rows of another delivery, and are missing from that.
    pub rejected_again: i64,
    /// Active deliveries that correct rejected rows of this one.
    #[serde(rename = "mended_by")]
    pub corrected_by: Vec<i64>,
    /// Deliveries whose rejected rows this one corrects, once it is active.
    #[serde(rename = "mends")]
    pub corrects: Vec<i64>,
    /// The first of them; all in the `.csv`.
    pub rejections: Vec<RejectedRow>,
}

#[derive(Clone, Debug, Serialize)]
pub struct DeliveryFile {
    pub file_no: i16,
    pub name: String,
    pub rows_read: i64,
    /// As received; none where the file was not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_bytes: Option<i64>,
    /// Unpacked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_bytes: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
}

impl Delivery {
    /// The first of its files that was removed when the import was archived long enough.
    pub fn removed_file(&self) -> Option<&str> {
        let removed = self.kept_files.iter().find(|file| file.sha256.is_some() && file.kept().is_none());
        removed.map(|file| file.name.as_str())
    }
}

impl DeliveryFile {
    /// By what it is found; `None` where nothing of it was loaded, or where it was removed.
    pub fn kept(&self) -> Option<Sha256> {
        self.sha256.filter(|_| self.received_bytes.is_some())
    }
}

/// A month of an account that lost more than the limits when a delivery replaced what it held.
#[derive(Clone, Debug, Serialize)]
pub struct Shrank {
    pub provider: String,
    pub billing_account: String,
    pub billing_month: NaiveDate,
    /// The delivery with which it was lost; later ones brought nothing back.
    pub lost_by: i64,
    /// In words.
    pub loss: String,
    /// The services that lost the most, in words; empty where none did.
    pub by_service: String,
    pub explanation: Option<String>,
    pub explained_by: Option<String>,
    pub explained_at: Option<DateTime<Utc>>,
}

/// When a delivery became active or inactive, was discarded before it did, or lost its rows or files.
#[derive(Clone, Debug, Serialize)]
pub struct LogLine {
    /// `None` where the ledger stayed as it was.
    pub sequence: Option<i64>,
    /// `publish`, `undo`, `discard`, `archive`, `remove_files`, or `load_again` when somebody asked for it.
    pub action: String,
    pub happened_at: DateTime<Utc>,
    pub happened_by: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct RejectedRow {
    pub file: String,
    #[serde(skip)]
    pub file_no: i16,
    pub row: i64,
    pub column: String,
    pub found: String,
    pub expected: String,
    /// It says what another row says that counts.
    #[serde(skip)]
    pub is_repeated: bool,
    /// An active delivery that holds it again, corrected or as wrong as before.
    #[serde(rename = "mended_by")]
    pub corrected_by: Option<i64>,
}

/// Deliveries that are active only once someone says whether they replace or add, newest first.
pub async fn waiting(db: &mut PgConnection) -> sqlx::Result<Vec<ImportLine>> {
    lines(db, Which::Waiting).await
}

/// These deliveries, newest first.
pub async fn lines_of(db: &mut PgConnection, deliveries: &[i64]) -> sqlx::Result<Vec<ImportLine>> {
    lines(db, Which::These(deliveries)).await
}

/// One delivery; `None` where there is none of that number.
pub async fn delivery(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Option<Delivery>> {
    let Some(mut delivery) = rows(db, Which::These(&[delivery_id])).await?.pop() else {
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
    delivery.log = log(db, delivery_id).await?;
    delivery.shrank = shrank(db, delivery_id).await?;
    corrected(db, &mut delivery).await?;
    delivery.rejections = rejections(db, delivery_id, None, SHOWN_REJECTIONS).await?;
    Ok(Some(delivery))
}

/// All deliveries that are archived.
pub async fn archived(db: &mut PgConnection) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!("select delivery_id from deliveries where archived_at is not null order by 1")
        .fetch_all(db)
        .await
}

async fn shrank(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Vec<Shrank>> {
    sqlx::query_as!(
        Shrank,
        "select s.provider, s.billing_account, s.billing_month, shrunk.lost_by, shrunk.loss, shrunk.by_service,
             shrunk.explanation, shrunk.explained_by, shrunk.explained_at
         from shrunk_scopes shrunk
         join scopes s using (scope_id)
         where shrunk.delivery_id = $1
         order by s.billing_month, s.provider, s.billing_account, shrunk.lost_by",
        delivery_id,
    )
    .fetch_all(db)
    .await
}

async fn corrected(db: &mut PgConnection, delivery: &mut Delivery) -> sqlx::Result<()> {
    let delivery_id = delivery.delivery;
    let found = sqlx::query!(
        r#"with now as (select sequence from ledger)
           select
               coalesce((select missing from missing_rows((select sequence from now)) where delivery_id = $1), 0)
                   as "missing!",
               (select count(*) from rejections where delivery_id = $1 and is_repeated) as "repeated!",
               (
                   select count(*) from rejections join corrected_rejections using (delivery_id, file_no, row_no)
                   where delivery_id = $1
               ) as "rejected_again!",
               array(
                   select distinct by_delivery_id from corrected_rows((select sequence from now))
                   where delivery_id = $1 order by 1
               ) as "corrected_by!",
               array(
                   select distinct corrects_delivery_id from corrected_rejections where delivery_id = $1 order by 1
               ) as "corrects!""#,
        delivery_id,
    )
    .fetch_one(db)
    .await?;
    (delivery.missing_rows, delivery.repeated_rows, delivery.rejected_again) =
        (found.missing, found.repeated, found.rejected_again);
    (delivery.corrected_by, delivery.corrects) = (found.corrected_by, found.corrects);
    Ok(())
}

/// One file of a delivery; `None` where there is none of that number.
pub async fn delivery_file(
    db: &mut PgConnection,
    delivery_id: i64,
    file_no: i16,
) -> sqlx::Result<Option<DeliveryFile>> {
    let files = files(db, delivery_id).await?;
    Ok(files.into_iter().find(|file| file.file_no == file_no))
}

/// The rejected rows of a delivery in the order of its files: those behind file and row `after`, at most `limit`.
pub async fn rejections(
    db: &mut PgConnection,
    delivery_id: i64,
    after: Option<(i16, i64)>,
    limit: i64,
) -> sqlx::Result<Vec<RejectedRow>> {
    let (file_no, row_no) = after.unwrap_or((-1, 0));
    sqlx::query_as!(
        RejectedRow,
        r#"with corrected as (
               select file_no, row_no, min(by_delivery_id) as corrected_by
               from corrected_rows((select sequence from ledger))
               where delivery_id = $1
               group by 1, 2
           )
           select f.name as file, f.file_no, r.row_no as row, r.column_name as "column", r.found, r.expected,
               r.is_repeated, m.corrected_by as "corrected_by?"
           from rejections r
           join delivery_files f using (delivery_id, file_no)
           left join corrected m using (file_no, row_no)
           where r.delivery_id = $1 and (r.file_no, r.row_no) > ($3, $4)
           order by r.file_no, r.row_no
           limit $2"#,
        delivery_id,
        limit,
        file_no,
        row_no,
    )
    .fetch_all(db)
    .await
}

/// Why a row was rejected; `None` where it was not.
pub async fn rejection(db: &mut PgConnection, at: RowAddress) -> sqlx::Result<Option<RejectedRow>> {
    let before = Some((at.file, at.row - 1));
    let next = rejections(db, at.delivery, before, 1).await?.pop();
    Ok(next.filter(|row| (row.file_no, row.row) == (at.file, at.row)))
}

/// Which deliveries.
#[derive(Clone, Copy)]
enum Which<'a> {
    These(&'a [i64]),
    Waiting,
}

async fn lines(db: &mut PgConnection, which: Which<'_>) -> sqlx::Result<Vec<ImportLine>> {
    Ok(rows(db, which).await?.into_iter().map(|row| row.line).collect())
}

/// The deliveries as lists show them: what more there is of one (files, reasons, rejected rows) is read for one delivery.
async fn rows(db: &mut PgConnection, which: Which<'_>) -> sqlx::Result<Vec<Delivery>> {
    let only = match which {
        Which::These(deliveries) => Some(deliveries),
        Which::Waiting => None,
    };
    let rows = sqlx::query_file!("server/report/imports.sql", only).fetch_all(db).await?;
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
                further_charges: row.further_charges,
                rejected: row.rejected,
                skipped: row.skipped,
                message: row.message,
                created_at: row.created_at,
                created_by: row.created_by,
                is_counted: row.scopes.iter().any(|scope| scope.is_counted),
                replaced: row.replaced,
                superseded_by: row.superseded_by,
                archived_at: row.archived_at,
                scopes: row.scopes.0,
            },
            unknown_columns: row.unknown_columns,
            absent_columns: row.absent_columns,
            notes: row.notes,
            noisy_tags: row.noisy_tags,
            published_sequence: row.published_sequence,
            undone_sequence: row.undone_sequence,
            suggested_decision: row.suggested_decision,
            awaits_review: row.awaits_review,
            is_priced_before: row.is_priced_before,
            ..Delivery::default()
        })
        .collect())
}

async fn files(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Vec<DeliveryFile>> {
    let files = sqlx::query!(
        r#"select f.file_no, f.name, f.rows_read, f.sha256,
                  o.received_bytes as "received_bytes?", o.content_bytes as "content_bytes?"
           from delivery_files f
           left join originals o using (sha256)
           where f.delivery_id = $1
           order by f.file_no"#,
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
            received_bytes: file.received_bytes,
            content_bytes: file.content_bytes,
            sha256: file.sha256.and_then(|bytes| Sha256::try_from(bytes).ok()),
        })
        .collect())
}

async fn log(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Vec<LogLine>> {
    let (kind, id, name) = Object::Delivery(delivery_id).parts();
    sqlx::query_as!(
        LogLine,
        r#"select sequence as "sequence?", action as "action!", happened_at as "happened_at!", happened_by as "happened_by!"
           from ledger_log
           where delivery_id = $1
           union all
           select null, case verb when $5 then 'discard' else 'load_again' end, happened_at, actor
           from audit_log
           where object_kind = $2 and lower(object_name) = lower($3) and object_id = $4 and verb in ($5, $6)
           union all
           -- What is done to several imports at once names them.
           select null, case verb when $7 then 'archive' else 'remove_files' end, happened_at, actor
           from audit_log
           where verb in ($7, $8) and details -> 'imports' @> to_jsonb($1::bigint)
           order by 3, 1"#,
        delivery_id,
        kind,
        name,
        id,
        Verb::DeliveryDiscarded.as_str(),
        Verb::DeliveryLoadedAgain.as_str(),
        Verb::ImportsArchived.as_str(),
        Verb::FilesRemoved.as_str(),
    )
    .fetch_all(db)
    .await
}

impl Shrank {
    pub fn month(&self) -> BillingMonth {
        BillingMonth::of(self.billing_month)
    }
}

impl ImportScope {
    pub fn month(&self) -> BillingMonth {
        BillingMonth::of(self.billing_month)
    }

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
