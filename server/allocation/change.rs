//! Changing the book: drafted by whoever may propose, applied and undone by whoever may decide. Applying and undoing
//! are steps of the ledger; a draft changes nothing.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;
use sqlx::types::Json;
use sqlx::{Connection, PgConnection};

use super::keep::book;
use super::{Book, Edit, Problem, problems};
use crate::audit::{self, Actor, Object, Verb};
use crate::ledger;

/// A change of the book, and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    pub id: i64,
    pub status: Status,
    pub summary: String,
    pub edits: Vec<Edit>,
    pub reason: Option<String>,
    pub drafted_at: DateTime<Utc>,
    pub drafted_by: String,
    pub decided_at: Option<DateTime<Utc>>,
    pub decided_by: Option<String>,
    pub applied_sequence: Option<i64>,
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

/// What became of a wish to change the book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The book is as wished from this sequence on.
    At(i64),
    /// Nothing happened: the book would have these problems.
    Refused(Vec<Problem>),
    /// Nothing happened: these entries are not as they were when it was drafted, or applied.
    Overtaken(Vec<String>),
    /// Nothing happened: it was decided before.
    Already,
}

/// What became of a wish to draft a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drafted {
    /// Under this number.
    As(i64),
    /// Nothing was kept: the book would have these problems.
    Refused(Vec<Problem>),
    /// Nothing was kept: the book is so already.
    Nothing,
}

/// Keeps a change that nobody has decided about. Edits that change nothing are left out.
pub async fn draft(
    db: &mut PgConnection,
    edits: Vec<Edit>,
    summary: &str,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<Drafted> {
    let edits: Vec<Edit> = edits.into_iter().filter(|edit| edit.before != edit.after).collect();
    if edits.is_empty() {
        return Ok(Drafted::Nothing);
    }
    let mut tx = db.begin().await?;
    let sequence = ledger::sequence(&mut tx).await?;
    let found = problems(&book(&mut tx, sequence).await?.edited(&edits));
    if !found.is_empty() {
        return Ok(Drafted::Refused(found));
    }
    let id = sqlx::query_scalar!(
        "insert into allocation_changes (status, summary, edits, drafted_at, drafted_by)
         values ('draft', $1, $2, $3, $4)
         returning change_id",
        summary,
        Json(&edits) as _,
        now,
        by.name,
    )
    .fetch_one(&mut *tx)
    .await?;
    let details = json!({ "summary": summary, "entries": edits.len() });
    audit::record(&mut tx, by, Verb::ChangeDrafted, &Object::Change(id), details, now).await?;
    tx.commit().await?;
    Ok(Drafted::As(id))
}

/// Makes a drafted change hold from the next sequence on.
pub async fn apply(
    db: &mut PgConnection,
    id: i64,
    reason: Option<&str>,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<Outcome> {
    let mut tx = db.begin().await?;
    let sequence = ledger::begin_step(&mut tx).await?;
    let Some(change) = change(&mut tx, id).await?.filter(|change| change.status == Status::Draft) else {
        return Ok(Outcome::Already);
    };
    if let Some(refusal) = write(&mut tx, &change.edits, sequence).await? {
        return Ok(refusal);
    }
    sqlx::query!(
        "update allocation_changes
         set status = 'applied', reason = $2, decided_at = $3, decided_by = $4, applied_sequence = $5
         where change_id = $1",
        id,
        reason,
        now,
        by.name,
        sequence,
    )
    .execute(&mut *tx)
    .await?;
    ledger::end_step(&mut tx, sequence, None, "allocation", &by.name, now).await?;
    let details = json!({ "summary": change.summary, "reason": reason, "sequence": sequence });
    audit::record(&mut tx, by, Verb::ChangeApplied, &Object::Change(id), details, now).await?;
    tx.commit().await?;
    Ok(Outcome::At(sequence))
}

/// Drafts and applies at once, for what needs no preview. `None`: the book is so already.
pub async fn enact(
    db: &mut PgConnection,
    edits: Vec<Edit>,
    summary: &str,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<Option<Outcome>> {
    let mut tx = db.begin().await?;
    let id = match draft(&mut tx, edits, summary, by, now).await? {
        Drafted::As(id) => id,
        Drafted::Refused(found) => return Ok(Some(Outcome::Refused(found))),
        Drafted::Nothing => return Ok(None),
    };
    let outcome = apply(&mut tx, id, None, by, now).await?;
    if matches!(outcome, Outcome::At(_)) {
        tx.commit().await?;
    }
    Ok(Some(outcome))
}

/// Makes what an applied change changed as it was before, from the next sequence on. Where a later change has touched
/// the same entries, that one must be undone first.
pub async fn undo(db: &mut PgConnection, id: i64, by: &Actor, now: DateTime<Utc>) -> sqlx::Result<Outcome> {
    let mut tx = db.begin().await?;
    let sequence = ledger::begin_step(&mut tx).await?;
    let Some(change) = change(&mut tx, id).await?.filter(|change| change.status == Status::Applied) else {
        return Ok(Outcome::Already);
    };
    let back: Vec<Edit> = change
        .edits
        .into_iter()
        .map(|edit| Edit { id: edit.id, before: edit.after, after: edit.before })
        .collect();
    if let Some(refusal) = write(&mut tx, &back, sequence).await? {
        return Ok(refusal);
    }
    sqlx::query!(
        "update allocation_changes set status = 'undone', undone_sequence = $2 where change_id = $1",
        id,
        sequence,
    )
    .execute(&mut *tx)
    .await?;
    ledger::end_step(&mut tx, sequence, None, "allocation", &by.name, now).await?;
    let details = json!({ "summary": change.summary, "sequence": sequence });
    audit::record(&mut tx, by, Verb::ChangeUndone, &Object::Change(id), details, now).await?;
    tx.commit().await?;
    Ok(Outcome::At(sequence))
}

/// Sets a draft aside. False where it was decided before.
pub async fn discard(db: &mut PgConnection, id: i64, by: &Actor, now: DateTime<Utc>) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let summary = sqlx::query_scalar!(
        "update allocation_changes set status = 'discarded', decided_at = $2, decided_by = $3
         where change_id = $1 and status = 'draft'
         returning summary",
        id,
        now,
        by.name,
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(summary) = summary else { return Ok(false) };
    audit::record(
        &mut tx,
        by,
        Verb::ChangeDiscarded,
        &Object::Change(id),
        json!({ "summary": summary }),
        now,
    )
    .await?;
    tx.commit().await?;
    Ok(true)
}

/// Writes edits into the book; the refusal where that cannot be, and then nothing is written.
async fn write(db: &mut PgConnection, edits: &[Edit], sequence: i64) -> sqlx::Result<Option<Outcome>> {
    let current: Book = book(&mut *db, sequence).await?;
    let overtaken: Vec<String> = edits
        .iter()
        .filter(|edit| current.entries.get(&edit.id) != edit.before.as_ref())
        .map(Edit::title)
        .collect();
    if !overtaken.is_empty() {
        return Ok(Some(Outcome::Overtaken(overtaken)));
    }
    let found = problems(&current.edited(edits));
    if !found.is_empty() {
        return Ok(Some(Outcome::Refused(found)));
    }
    let ids: Vec<i64> = edits.iter().map(|edit| edit.id).collect();
    sqlx::query!(
        "update allocation_entries set until_sequence = $2 where entry_id = any($1) and until_sequence is null",
        &ids,
        sequence,
    )
    .execute(&mut *db)
    .await?;
    for edit in edits {
        if let Some(entry) = &edit.after {
            sqlx::query!(
                "insert into allocation_entries (entry_id, from_sequence, content) values ($1, $2, $3)",
                edit.id,
                sequence,
                Json(entry) as _,
            )
            .execute(&mut *db)
            .await?;
        }
    }
    Ok(None)
}

/// One change; `None` where there is none of this number.
pub async fn change(db: &mut PgConnection, id: i64) -> sqlx::Result<Option<Change>> {
    Ok(changes_where(db, Some(id), i64::MAX, 1).await?.pop())
}

/// Changes with lower numbers than this one, the latest first.
pub async fn changes(db: &mut PgConnection, before: i64, limit: i64) -> sqlx::Result<Vec<Change>> {
    changes_where(db, None, before, limit).await
}

async fn changes_where(
    db: &mut PgConnection,
    id: Option<i64>,
    before: i64,
    limit: i64,
) -> sqlx::Result<Vec<Change>> {
    let rows = sqlx::query!(
        r#"select change_id, status as "status: Status", summary, edits as "edits: Json<Vec<Edit>>", reason, drafted_at,
               drafted_by, decided_at, decided_by, applied_sequence, undone_sequence
           from allocation_changes
           where ($1::bigint is null or change_id = $1) and change_id < $2
           order by change_id desc
           limit $3"#,
        id,
        before,
        limit,
    )
    .fetch_all(db)
    .await?;
    let changes = rows.into_iter().map(|row| Change {
        id: row.change_id,
        status: row.status,
        summary: row.summary,
        edits: row.edits.0,
        reason: row.reason,
        drafted_at: row.drafted_at,
        drafted_by: row.drafted_by,
        decided_at: row.decided_at,
        decided_by: row.decided_by,
        applied_sequence: row.applied_sequence,
        undone_sequence: row.undone_sequence,
    });
    Ok(changes.collect())
}

impl Edit {
    /// What it is about: `team Vision`.
    pub fn title(&self) -> String {
        self.after.as_ref().or(self.before.as_ref()).map(super::Entry::title).unwrap_or_default()
    }
}
