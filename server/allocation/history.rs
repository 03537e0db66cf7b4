//! What became of the changes of the configuration: who drafted, applied, undid or discarded each, when and why.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;
use sqlx::types::Json;

use super::Edit;

/// A change of the configuration, and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    pub id: i64,
    pub status: Status,
    pub summary: String,
    pub edits: Vec<Edit>,
    pub drafted_at: DateTime<Utc>,
    pub drafted_by: String,
    /// Why somebody wants it.
    pub draft_reason: Option<String>,
    /// Since when it waits for whoever decides.
    pub proposed_at: Option<DateTime<Utc>>,
    /// When it was applied or discarded.
    pub decided_at: Option<DateTime<Utc>>,
    pub decided_by: Option<String>,
    pub reason: Option<String>,
    pub applied_sequence: Option<i64>,
    pub undone_at: Option<DateTime<Utc>>,
    pub undone_by: Option<String>,
    pub undo_reason: Option<String>,
    pub undone_sequence: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum Status {
    Draft,
    Applied,
    Undone,
    Discarded,
}

/// Where a change stands, for who looks for some: a draft that was proposed waits for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Proposed,
    Draft,
    Applied,
    Undone,
    Discarded,
}

impl Change {
    pub fn stage(&self) -> Stage {
        match self.status {
            Status::Draft if self.proposed_at.is_some() => Stage::Proposed,
            Status::Draft => Stage::Draft,
            Status::Applied => Stage::Applied,
            Status::Undone => Stage::Undone,
            Status::Discarded => Stage::Discarded,
        }
    }
}

impl Stage {
    pub const ALL: [Self; 5] = [Self::Proposed, Self::Draft, Self::Applied, Self::Undone, Self::Discarded];

    /// The word that addresses and pages say.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Draft => "draft",
            Self::Applied => "applied",
            Self::Undone => "undone",
            Self::Discarded => "discarded",
        }
    }
}

/// One change; `None` where there is none of this number.
pub async fn change(db: &mut PgConnection, id: i64) -> sqlx::Result<Option<Change>> {
    Ok(changes(db, &[id]).await?.pop())
}

/// The changes of these numbers, in no order.
pub async fn changes(db: &mut PgConnection, ids: &[i64]) -> sqlx::Result<Vec<Change>> {
    let rows = sqlx::query_as!(
        Row,
        r#"select change_id, status as "status: Status", summary, edits as "edits: Json<Vec<Edit>>", drafted_at,
               drafted_by, draft_reason, proposed_at, decided_at, decided_by, reason, applied_sequence, undone_at,
               undone_by, undo_reason, undone_sequence
           from allocation_changes
           where change_id = any($1)"#,
        ids,
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(Change::from).collect())
}

/// How many changes were proposed and wait for a decision.
pub async fn proposals(db: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"select count(*) as "count!" from allocation_changes where status = 'draft' and proposed_at is not null"#
    )
    .fetch_one(db)
    .await
}

/// A line as the database has it.
struct Row {
    change_id: i64,
    status: Status,
    summary: String,
    edits: Json<Vec<Edit>>,
    drafted_at: DateTime<Utc>,
    drafted_by: String,
    draft_reason: Option<String>,
    proposed_at: Option<DateTime<Utc>>,
    decided_at: Option<DateTime<Utc>>,
    decided_by: Option<String>,
    reason: Option<String>,
    applied_sequence: Option<i64>,
    undone_at: Option<DateTime<Utc>>,
    undone_by: Option<String>,
    undo_reason: Option<String>,
    undone_sequence: Option<i64>,
}

impl From<Row> for Change {
    fn from(row: Row) -> Self {
        Self {
            id: row.change_id,
            status: row.status,
            summary: row.summary,
            edits: row.edits.0,
            drafted_at: row.drafted_at,
            drafted_by: row.drafted_by,
            draft_reason: row.draft_reason,
            proposed_at: row.proposed_at,
            decided_at: row.decided_at,
            decided_by: row.decided_by,
            reason: row.reason,
            applied_sequence: row.applied_sequence,
            undone_at: row.undone_at,
            undone_by: row.undone_by,
            undo_reason: row.undo_reason,
            undone_sequence: row.undone_sequence,
        }
    }
}
