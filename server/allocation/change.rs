//! Changing the configuration: drafted by whoever may propose, applied and undone by whoever may decide. Applying and undoing
//! are steps of the ledger; a draft changes nothing.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::types::Json;
use sqlx::{Connection, PgConnection};

use super::history::{Status, change};
use super::keep::configuration;
use super::{Configuration, Edit, Problem, problems};
use crate::audit::{self, Actor, Object, Verb};
use crate::compute::{self, compute};
use crate::ledger;

/// What a change is about, and why somebody wants it.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    pub summary: &'a str,
    pub reason: Option<&'a str>,
}

impl<'a> From<&'a str> for About<'a> {
    fn from(summary: &'a str) -> Self {
        Self { summary, reason: None }
    }
}

impl<'a> From<&'a String> for About<'a> {
    fn from(summary: &'a String) -> Self {
        Self::from(summary.as_str())
    }
}

/// What became of a wish to change the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The configuration is as wished from this sequence on.
    At(i64),
    /// Nothing happened: the configuration would have these problems.
    Refused(Vec<Problem>),
    /// Nothing happened: these entries are not as they were when it was drafted, or applied.
    Conflict(Vec<String>),
    /// Nothing happened: it was decided before.
    Already,
}

/// What became of a wish to draft a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drafted {
    /// Under this number.
    As(i64),
    /// Nothing was kept: the configuration would have these problems.
    Refused(Vec<Problem>),
    /// Nothing was kept: the configuration is so already.
    Nothing,
}

/// What became of a change that was to hold at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enacted {
    /// The change of this number holds from this sequence on.
    As { change: i64, sequence: i64 },
    /// Nothing happened: the configuration is so already.
    Nothing,
    /// Nothing happened: the configuration would have these problems.
    Refused(Vec<Problem>),
    /// Nothing happened: these entries are not as they were when it was asked for.
    Conflict(Vec<String>),
}

/// Keeps a change that nobody has decided about. Edits that change nothing are left out.
pub async fn draft(
    db: &mut PgConnection,
    edits: Vec<Edit>,
    about: impl Into<About<'_>>,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<Drafted> {
    let About { summary, reason } = about.into();
    let edits: Vec<Edit> = edits.into_iter().filter(|edit| edit.before != edit.after).collect();
    if edits.is_empty() {
        return Ok(Drafted::Nothing);
    }
    let mut tx = db.begin().await?;
    let sequence = ledger::sequence(&mut tx).await?;
    let current = configuration(&mut tx, sequence).await?;
    let edited = current.edited(&edits);
    let found = compute(move || problems(&edited)).await?;
    if !found.is_empty() {
        return Ok(Drafted::Refused(found));
    }
    let id = sqlx::query_scalar!(
        "insert into allocation_changes (status, summary, edits, drafted_at, drafted_by, draft_reason)
         values ('draft', $1, $2, $3, $4, $5)
         returning change_id",
        summary,
        Json(&edits) as _,
        now,
        by.name,
        reason,
    )
    .fetch_one(&mut *tx)
    .await?;
    let details = json!({ "summary": summary, "entries": edits.len(), "reason": reason });
    audit::record(&mut tx, by, Verb::ChangeDrafted, &Object::Change(id), details, now).await?;
    tx.commit().await?;
    Ok(Drafted::As(id))
}

/// Hands a draft to whoever decides, with the reason for it. False where it was decided before.
pub async fn propose(
    db: &mut PgConnection,
    id: i64,
    reason: Option<&str>,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let summary = sqlx::query_scalar!(
        "update allocation_changes set proposed_at = $2, draft_reason = coalesce($3, draft_reason)
         where change_id = $1 and status = 'draft'
         returning summary",
        id,
        now,
        reason,
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(summary) = summary else { return Ok(false) };
    Decision { change: id, reason, by, now }.record(&mut tx, Verb::ChangeProposed, &summary).await?;
    tx.commit().await?;
    Ok(true)
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
    // Who discards it at the same moment is waited for.
    sqlx::query!("select from allocation_changes where change_id = $1 for update", id)
        .fetch_optional(&mut *tx)
        .await?;
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
    let decision = Decision { change: id, reason, by, now };
    decision.end_step(&mut tx, Verb::ChangeApplied, &change.summary, sequence).await?;
    tx.commit().await?;
    Ok(Outcome::At(sequence))
}

/// Drafts and applies at once, for what needs no preview.
pub async fn enact(
    db: &mut PgConnection,
    edits: Vec<Edit>,
    about: impl Into<About<'_>>,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<Enacted> {
    let About { summary, reason } = about.into();
    let mut tx = db.begin().await?;
    let change = match draft(&mut tx, edits, summary, by, now).await? {
        Drafted::As(change) => change,
        Drafted::Refused(found) => return Ok(Enacted::Refused(found)),
        Drafted::Nothing => return Ok(Enacted::Nothing),
    };
    Ok(match apply(&mut tx, change, reason, by, now).await? {
        Outcome::At(sequence) => {
            tx.commit().await?;
            Enacted::As { change, sequence }
        }
        Outcome::Refused(found) => Enacted::Refused(found),
        Outcome::Conflict(of) => Enacted::Conflict(of),
        Outcome::Already => Enacted::Nothing,
    })
}

/// Makes what an applied change changed as it was before, from the next sequence on. Where a later change has touched
/// the same entries, that one must be undone first.
pub async fn undo(
    db: &mut PgConnection,
    id: i64,
    reason: Option<&str>,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<Outcome> {
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
        "update allocation_changes
         set status = 'undone', undone_sequence = $2, undone_at = $3, undone_by = $4, undo_reason = $5
         where change_id = $1",
        id,
        sequence,
        now,
        by.name,
        reason,
    )
    .execute(&mut *tx)
    .await?;
    let decision = Decision { change: id, reason, by, now };
    decision.end_step(&mut tx, Verb::ChangeUndone, &change.summary, sequence).await?;
    tx.commit().await?;
    Ok(Outcome::At(sequence))
}

/// Discards a draft. False where it was decided before.
pub async fn discard(
    db: &mut PgConnection,
    id: i64,
    reason: Option<&str>,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let summary = sqlx::query_scalar!(
        "update allocation_changes set status = 'discarded', reason = $2, decided_at = $3, decided_by = $4
         where change_id = $1 and status = 'draft'
         returning summary",
        id,
        reason,
        now,
        by.name,
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(summary) = summary else { return Ok(false) };
    Decision { change: id, reason, by, now }.record(&mut tx, Verb::ChangeDiscarded, &summary).await?;
    tx.commit().await?;
    Ok(true)
}

/// What somebody decided about a change, as the trail has it.
struct Decision<'a> {
    change: i64,
    reason: Option<&'a str>,
    by: &'a Actor,
    now: DateTime<Utc>,
}

impl Decision<'_> {
    async fn record(&self, db: &mut PgConnection, verb: Verb, summary: &str) -> sqlx::Result<()> {
        let details = json!({ "summary": summary, "reason": self.reason });
        audit::record(db, self.by, verb, &Object::Change(self.change), details, self.now).await
    }

    /// Ends the step of the ledger that it was.
    async fn end_step(
        &self,
        db: &mut PgConnection,
        verb: Verb,
        summary: &str,
        sequence: i64,
    ) -> sqlx::Result<()> {
        ledger::end_step(db, sequence, None, "allocation", &self.by.name, self.now).await?;
        let details = json!({ "summary": summary, "reason": self.reason, "sequence": sequence });
        audit::record(db, self.by, verb, &Object::Change(self.change), details, self.now).await
    }
}

/// Writes edits into the configuration while the ledger is locked; the refusal where that cannot be, and then nothing is written.
async fn write(db: &mut PgConnection, edits: &[Edit], sequence: i64) -> sqlx::Result<Option<Outcome>> {
    let current: Configuration = configuration(&mut *db, sequence).await?;
    let conflicts = current.conflicts(edits);
    if !conflicts.is_empty() {
        return Ok(Some(Outcome::Conflict(conflicts)));
    }
    let edited = current.edited(edits);
    // Nobody publishes meanwhile, so this does not wait for a core.
    let found = compute::at_once(move || problems(&edited)).await?;
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

impl Edit {
    /// What it is about: `team Vision`.
    pub fn title(&self) -> String {
        self.after.as_ref().or(self.before.as_ref()).map(super::Entry::title).unwrap_or_default()
    }
}
