//! Changing the list: proposed by whoever may, applied and undone by whoever may decide. Each makes a revision.

use chrono::{DateTime, Duration, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::types::Json;
use sqlx::{Connection, PgConnection};

use super::entry::{Edit, Said};
use super::keep::entries;
use crate::audit::{self, Actor, Object, Verb};
use crate::scenario::price::read::{Format, Rejected, Skipped};

/// So long a file that was read waits for whoever sent it.
const DRAFT_DAYS: i64 = 30;

/// What became of a wish to change the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is as wished from this revision on.
    At { change: i64, revision: i64 },
    /// It waits under this number for whoever decides.
    Proposed(i64),
    /// Nothing happened: it is so already, or was decided before.
    Nothing,
    /// Nothing happened: these prices are not as they were when it was made, or applied.
    Conflict(Vec<String>),
}

/// Whether a change holds at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    Apply,
    Propose,
}

/// How a change stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum Status {
    /// A file was read; whoever sent it looks at what it would change.
    Drafted,
    Proposed,
    Applied,
    Undone,
    Discarded,
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Drafted => "preview",
            Self::Proposed => "proposed",
            Self::Applied => "applied",
            Self::Undone => "undone",
            Self::Discarded => "discarded",
        }
    }

    /// Whether nobody decided yet.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Drafted | Self::Proposed)
    }
}

/// What a file had besides prices that change something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub format: Option<Format>,
    pub rows: usize,
    /// Prices that were in the list already.
    pub known: usize,
    pub skipped: Vec<Skipped>,
    /// The first of them.
    pub rejected: Vec<Rejected>,
    pub rejected_count: usize,
}

/// A change of the list, and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    pub id: i64,
    pub status: Status,
    pub summary: String,
    pub reason: Option<String>,
    pub edits: Json<Vec<Edit>>,
    /// Of a file.
    pub report: Option<Json<Report>>,
    pub made_at: DateTime<Utc>,
    pub made_by: String,
    pub decided_at: Option<DateTime<Utc>>,
    pub decided_by: Option<String>,
    pub applied_revision: Option<i64>,
    pub undone_revision: Option<i64>,
    pub undone_at: Option<DateTime<Utc>>,
    pub undone_by: Option<String>,
}

/// A change as lists tell it, without the prices it changes.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    pub id: i64,
    pub status: Status,
    pub summary: String,
    pub reason: Option<String>,
    /// How many prices it changes.
    pub prices: i32,
    pub made_at: DateTime<Utc>,
    pub made_by: String,
    pub decided_at: Option<DateTime<Utc>>,
    pub decided_by: Option<String>,
    pub applied_revision: Option<i64>,
    pub undone_revision: Option<i64>,
    pub undone_at: Option<DateTime<Utc>>,
    pub undone_by: Option<String>,
}

/// What is to be changed, and why.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    pub summary: &'a str,
    pub reason: Option<&'a str>,
}

/// Changes the list, or proposes to. Edits that change nothing are left out.
pub async fn change(
    db: &mut PgConnection,
    edits: Vec<Edit>,
    about: About<'_>,
    right: Right,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<Outcome> {
    let edits: Vec<Edit> = edits.into_iter().filter(|edit| edit.before != edit.after).collect();
    if edits.is_empty() {
        return Ok(Outcome::Nothing);
    }
    let mut tx = db.begin().await?;
    let last = begin(&mut tx).await?;
    let conflicts = entries(&mut tx, last).await?.conflicts(&edits);
    if !conflicts.is_empty() {
        return Ok(Outcome::Conflict(conflicts));
    }
    let id = insert(&mut tx, Status::Proposed, &edits, about, None, by, now).await?;
    let decision = Decision { change: id, summary: about.summary, by, now };
    let outcome = match right {
        Right::Propose => {
            decision.record(&mut tx, Verb::PricesProposed, json!({ "reason": about.reason })).await?;
            Outcome::Proposed(id)
        }
        Right::Apply => {
            write(&mut tx, &edits, last + 1).await?;
            decision.apply(&mut tx, last + 1).await?
        }
    };
    tx.commit().await?;
    Ok(outcome)
}

/// Keeps what a file would change, for whoever sent it to look at. Answers its number; that of before where they sent
/// the same already. Those that nobody proposed or applied for long go.
pub async fn draft(
    db: &mut PgConnection,
    edits: &[Edit],
    report: &Report,
    about: About<'_>,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<i64> {
    let mut tx = db.begin().await?;
    sqlx::query!(
        "delete from price_changes where status = 'drafted' and made_at < $1",
        now - Duration::days(DRAFT_DAYS),
    )
    .execute(&mut *tx)
    .await?;
    let same = sqlx::query_scalar!(
        "select change_id from price_changes
         where status = 'drafted' and made_by = $1 and summary = $2 and edits = $3 and report = $4
         order by change_id desc limit 1",
        by.name,
        about.summary,
        Json(edits) as _,
        Json(report) as _,
    )
    .fetch_optional(&mut *tx)
    .await?;
    if let Some(id) = same {
        tx.commit().await?;
        return Ok(id);
    }
    let id = insert(&mut tx, Status::Drafted, edits, about, Some(report), by, now).await?;
    let decision = Decision { change: id, summary: about.summary, by, now };
    decision.record(&mut tx, Verb::PricesImported, json!({ "prices": edits.len() })).await?;
    tx.commit().await?;
    Ok(id)
}

/// Hands what a file would change to whoever decides. Nothing where that was done before, or it changes nothing.
pub async fn propose(
    db: &mut PgConnection,
    id: i64,
    reason: Option<&str>,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<Outcome> {
    let mut tx = db.begin().await?;
    let last = begin(&mut tx).await?;
    let found = find(&mut tx, id).await?;
    let Some(change) = found.filter(|it| it.status == Status::Drafted && !it.edits.is_empty()) else {
        return Ok(Outcome::Nothing);
    };
    let conflicts = entries(&mut tx, last).await?.conflicts(&change.edits);
    if !conflicts.is_empty() {
        return Ok(Outcome::Conflict(conflicts));
    }
    sqlx::query!(
        "update price_changes set status = 'proposed', reason = $2 where change_id = $1",
        id,
        reason
    )
    .execute(&mut *tx)
    .await?;
    let decision = Decision { change: id, summary: &change.summary, by, now };
    decision.record(&mut tx, Verb::PricesProposed, json!({ "reason": reason })).await?;
    tx.commit().await?;
    Ok(Outcome::Proposed(id))
}

/// Makes a change hold that waits.
pub async fn apply(db: &mut PgConnection, id: i64, by: &Actor, now: DateTime<Utc>) -> sqlx::Result<Outcome> {
    let mut tx = db.begin().await?;
    let last = begin(&mut tx).await?;
    let Some(change) = find(&mut tx, id).await?.filter(|change| change.status.is_open()) else {
        return Ok(Outcome::Nothing);
    };
    let conflicts = entries(&mut tx, last).await?.conflicts(&change.edits);
    if !conflicts.is_empty() {
        return Ok(Outcome::Conflict(conflicts));
    }
    if change.edits.is_empty() {
        return Ok(Outcome::Nothing);
    }
    write(&mut tx, &change.edits, last + 1).await?;
    let outcome = Decision { change: id, summary: &change.summary, by, now }.apply(&mut tx, last + 1).await?;
    tx.commit().await?;
    Ok(outcome)
}

/// Makes what a change changed as it was before. Where a later one has touched the same, that must be undone first.
pub async fn undo(db: &mut PgConnection, id: i64, by: &Actor, now: DateTime<Utc>) -> sqlx::Result<Outcome> {
    let mut tx = db.begin().await?;
    let last = begin(&mut tx).await?;
    let Some(change) = find(&mut tx, id).await?.filter(|change| change.status == Status::Applied) else {
        return Ok(Outcome::Nothing);
    };
    let revision = last + 1;
    let back: Vec<Edit> = change.edits.0.into_iter().map(Edit::undone).collect();
    let conflicts = entries(&mut tx, last).await?.conflicts(&back);
    if !conflicts.is_empty() {
        return Ok(Outcome::Conflict(conflicts));
    }
    write(&mut tx, &back, revision).await?;
    sqlx::query!(
        "update price_changes set status = 'undone', undone_revision = $2, undone_at = $3, undone_by = $4
         where change_id = $1",
        id,
        revision,
        now,
        by.name,
    )
    .execute(&mut *tx)
    .await?;
    end(&mut tx, revision).await?;
    let decision = Decision { change: id, summary: &change.summary, by, now };
    decision.record(&mut tx, Verb::PricesUndone, json!({ "revision": revision })).await?;
    tx.commit().await?;
    Ok(Outcome::At { change: id, revision })
}

/// Discards a change that waits. False where it was decided before.
pub async fn discard(db: &mut PgConnection, id: i64, by: &Actor, now: DateTime<Utc>) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    // Who applies it at the same moment is waited for.
    begin(&mut tx).await?;
    let summary = sqlx::query_scalar!(
        "update price_changes set status = 'discarded', decided_at = $2, decided_by = $3
         where change_id = $1 and status in ('drafted', 'proposed')
         returning summary",
        id,
        now,
        by.name,
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(summary) = summary else { return Ok(false) };
    let decision = Decision { change: id, summary: &summary, by, now };
    decision.record(&mut tx, Verb::PricesDiscarded, json!({})).await?;
    tx.commit().await?;
    Ok(true)
}

/// The changes there were, the latest first.
pub async fn changes(db: &mut PgConnection, limit: i64) -> sqlx::Result<Vec<Line>> {
    sqlx::query_as!(
        Line,
        r#"select change_id as id, status as "status: Status", summary, reason,
                  jsonb_array_length(edits) as "prices!", made_at, made_by, decided_at, decided_by, applied_revision,
                  undone_revision, undone_at, undone_by
           from price_changes order by change_id desc limit $1"#,
        limit,
    )
    .fetch_all(db)
    .await
}

/// How many changes there were.
pub async fn count(db: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!(r#"select count(*) as "count!" from price_changes"#).fetch_one(db).await
}

/// How many proposals wait for a decision.
pub async fn waiting(db: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!(r#"select count(*) as "count!" from price_changes where status = 'proposed'"#)
        .fetch_one(db)
        .await
}

/// A change by its number.
pub async fn find(db: &mut PgConnection, id: i64) -> sqlx::Result<Option<Change>> {
    sqlx::query_as!(
        Change,
        r#"select change_id as id, status as "status: Status", summary, reason, edits as "edits: Json<Vec<Edit>>",
                  report as "report: Json<Report>", made_at, made_by, decided_at, decided_by, applied_revision,
                  undone_revision, undone_at, undone_by
           from price_changes where change_id = $1"#,
        id,
    )
    .fetch_optional(db)
    .await
}

async fn insert(
    db: &mut PgConnection,
    status: Status,
    edits: &[Edit],
    about: About<'_>,
    report: Option<&Report>,
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<i64> {
    let status = if status == Status::Drafted { "drafted" } else { "proposed" };
    sqlx::query_scalar!(
        "insert into price_changes (status, summary, reason, edits, report, made_at, made_by)
         values ($1, $2, $3, $4, $5, $6, $7)
         returning change_id",
        status,
        about.summary,
        about.reason,
        Json(edits) as _,
        report.map(Json) as _,
        now,
        by.name,
    )
    .fetch_one(db)
    .await
}

/// Locks the list, so that revisions are made one after another; answers the last.
async fn begin(db: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!("select revision from price_list for update").fetch_one(db).await
}

async fn end(db: &mut PgConnection, revision: i64) -> sqlx::Result<()> {
    sqlx::query!("update price_list set revision = $1", revision).execute(db).await?;
    Ok(())
}

async fn write(db: &mut PgConnection, edits: &[Edit], revision: i64) -> sqlx::Result<()> {
    let touched: Vec<String> = edits.iter().map(Edit::entry).collect();
    sqlx::query!(
        "update price_entries set until_revision = $2 where entry = any($1) and until_revision is null",
        &touched,
        revision,
    )
    .execute(&mut *db)
    .await?;
    let set: Vec<&Said> = edits.iter().filter_map(|edit| edit.after.as_ref()).collect();
    let names: Vec<String> = set.iter().map(|said| said.entry()).collect();
    let contents: Vec<Json<&Said>> = set.into_iter().map(Json).collect();
    sqlx::query!(
        "insert into price_entries (entry, from_revision, content)
         select entry, $3, content from unnest($1::text[], $2::jsonb[]) as new (entry, content)",
        &names,
        &contents as _,
        revision,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// What somebody decided about a change.
struct Decision<'a> {
    change: i64,
    summary: &'a str,
    by: &'a Actor,
    now: DateTime<Utc>,
}

impl Decision<'_> {
    /// Notes that it holds from this revision on, and ends that.
    async fn apply(&self, db: &mut PgConnection, revision: i64) -> sqlx::Result<Outcome> {
        sqlx::query!(
            "update price_changes
             set status = 'applied', decided_at = $2, decided_by = $3, applied_revision = $4
             where change_id = $1",
            self.change,
            self.now,
            self.by.name,
            revision,
        )
        .execute(&mut *db)
        .await?;
        end(db, revision).await?;
        self.record(db, Verb::PricesChanged, json!({ "revision": revision })).await?;
        Ok(Outcome::At { change: self.change, revision })
    }

    async fn record(
        &self,
        db: &mut PgConnection,
        verb: Verb,
        mut details: serde_json::Value,
    ) -> sqlx::Result<()> {
        details["summary"] = self.summary.into();
        audit::record(db, self.by, verb, &Object::PriceChange(self.change), details, self.now).await
    }
}
