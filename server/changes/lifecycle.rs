//! What people do with a change: draft it, propose it, apply it, discard it, undo it. Applying and undoing each make a version of
//! the document; a draft and a proposal change nothing.

use chrono::Duration;
use serde_json::{Value, json};
use sqlx::types::Json;
use sqlx::{Connection, PgConnection};

use super::document::write;
use super::{About, Change, Document, Edit as _, Kind, Problem, Status, find};
use crate::audit::{self, Act};
use crate::compute::{self, compute};

/// So long what was read from a file waits for whoever sent it.
const FILE_DAYS: i64 = 30;

/// What became of a wish to change a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is as wished from this version on.
    At { change: i64, version: i64 },
    /// It waits under this number: as a draft, or for whoever decides.
    Waits(i64),
    /// Nothing happened: it is so already.
    Nothing,
    /// Nothing happened: it was decided before.
    Decided,
    /// Nothing happened: the document would have these problems.
    Refused(Vec<Problem>),
    /// Nothing happened: these entries are not as they were when it was made, or applied.
    Conflict(Vec<String>),
}

/// Whether a change holds at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    Apply,
    Propose,
}

/// Makes a change that nobody has decided about, for whoever made it to look at; with the report of the file that it was read
/// from, if it was, and then the one of before where they sent the same already. Edits that change nothing are left out.
pub async fn draft<D: Document>(
    db: &mut PgConnection,
    edits: Vec<D::Edit>,
    report: Option<&Value>,
    about: impl Into<About<'_>>,
    act: Act<'_>,
) -> sqlx::Result<Outcome> {
    let edits = that_change_something::<D>(edits);
    // What a file has besides is worth a look, even where nothing of it changes anything.
    if edits.is_empty() && report.is_none() {
        return Ok(Outcome::Nothing);
    }
    let about = about.into();
    let mut tx = db.begin().await?;
    let (_, current) = D::current(&mut tx).await?;
    let edited = current.edited(&edits);
    let problems = compute(move || edited.problems()).await?;
    if !problems.is_empty() {
        return Ok(Outcome::Refused(problems));
    }
    if let Some(report) = report
        && let Some(same) = same_file::<D>(&mut tx, &edits, report, about, act).await?
    {
        tx.commit().await?;
        return Ok(Outcome::Waits(same));
    }
    let new = New { status: Status::Draft, report, is_proposed: false };
    let decision = insert::<D>(&mut tx, &edits, new, about, act).await?;
    decision.record(&mut tx, Status::Draft, json!({ "entries": edits.len() })).await?;
    tx.commit().await?;
    Ok(Outcome::Waits(decision.change))
}

/// Hands a draft to whoever decides, with the reason for it.
pub async fn propose<D: Document>(
    db: &mut PgConnection,
    id: i64,
    reason: Option<&str>,
    act: Act<'_>,
) -> sqlx::Result<Outcome> {
    let mut tx = db.begin().await?;
    let Some(change) = locked::<D>(&mut tx, id, |status| status == Status::Draft).await? else {
        return Ok(Outcome::Decided);
    };
    if change.edits.is_empty() {
        return Ok(Outcome::Nothing);
    }
    let (_, current) = D::current(&mut tx).await?;
    let conflicts = current.conflicts(&change.edits);
    if !conflicts.is_empty() {
        return Ok(Outcome::Conflict(conflicts));
    }
    sqlx::query!(
        "update changes set status = 'proposed', proposed_at = $3, reason = coalesce($4, reason)
         where kind = $1 and change_id = $2",
        D::KIND as Kind,
        id,
        act.at,
        reason,
    )
    .execute(&mut *tx)
    .await?;
    let decision = Decision { kind: D::KIND, change: id, summary: &change.outline.summary, reason, act };
    decision.record(&mut tx, Status::Proposed, json!({})).await?;
    tx.commit().await?;
    Ok(Outcome::Waits(id))
}

/// Changes a document at once, or proposes to. Edits that change nothing are left out.
pub async fn change<D: Document>(
    db: &mut PgConnection,
    edits: Vec<D::Edit>,
    about: impl Into<About<'_>>,
    right: Right,
    act: Act<'_>,
) -> sqlx::Result<Outcome> {
    let edits = that_change_something::<D>(edits);
    if edits.is_empty() {
        return Ok(Outcome::Nothing);
    }
    let about = about.into();
    let mut tx = db.begin().await?;
    let version = D::KIND.begin(&mut tx).await?;
    if let Some(refusal) = refusal::<D>(&mut tx, &edits, version).await? {
        return Ok(refusal);
    }
    let new = New { status: Status::Proposed, report: None, is_proposed: right == Right::Propose };
    let decision = insert::<D>(&mut tx, &edits, new, about, act).await?;
    let outcome = match right {
        Right::Propose => {
            decision.record(&mut tx, Status::Proposed, json!({})).await?;
            Outcome::Waits(decision.change)
        }
        Right::Apply => {
            write::<D>(&mut tx, &edits, version).await?;
            decision.apply(&mut tx, version).await?;
            Outcome::At { change: decision.change, version }
        }
    };
    tx.commit().await?;
    Ok(outcome)
}

/// Makes a change hold that waits.
pub async fn apply<D: Document>(
    db: &mut PgConnection,
    id: i64,
    reason: Option<&str>,
    act: Act<'_>,
) -> sqlx::Result<Outcome> {
    let mut tx = db.begin().await?;
    let version = D::KIND.begin(&mut tx).await?;
    let Some(change) = locked::<D>(&mut tx, id, Status::is_open).await? else {
        return Ok(Outcome::Decided);
    };
    if change.edits.is_empty() {
        return Ok(Outcome::Nothing);
    }
    if let Some(refusal) = refusal::<D>(&mut tx, &change.edits, version).await? {
        return Ok(refusal);
    }
    write::<D>(&mut tx, &change.edits, version).await?;
    let decision = Decision { kind: D::KIND, change: id, summary: &change.outline.summary, reason, act };
    decision.apply(&mut tx, version).await?;
    tx.commit().await?;
    Ok(Outcome::At { change: id, version })
}

/// Makes what an applied change changed as it was before, from another version on. Where a later change has touched the same
/// entries, that one must be undone first.
pub async fn undo<D: Document>(
    db: &mut PgConnection,
    id: i64,
    reason: Option<&str>,
    act: Act<'_>,
) -> sqlx::Result<Outcome> {
    let mut tx = db.begin().await?;
    let version = D::KIND.begin(&mut tx).await?;
    let Some(change) = locked::<D>(&mut tx, id, |status| status == Status::Applied).await? else {
        return Ok(Outcome::Decided);
    };
    let back: Vec<D::Edit> = change.edits.into_iter().map(D::Edit::undone).collect();
    if let Some(refusal) = refusal::<D>(&mut tx, &back, version).await? {
        return Ok(refusal);
    }
    write::<D>(&mut tx, &back, version).await?;
    let summary = change.outline.summary;
    if let Some(applied) = change.outline.applied_version
        && !D::take_back(&mut tx, applied, version).await?
    {
        return Ok(Outcome::Conflict(vec![format!("readings of {summary}")]));
    }
    sqlx::query!(
        "update changes set status = 'undone', undone_version = $3, undone_at = $4, undone_by = $5, undo_reason = $6
         where kind = $1 and change_id = $2",
        D::KIND as Kind,
        id,
        version,
        act.at,
        act.by.name,
        reason,
    )
    .execute(&mut *tx)
    .await?;
    let decision = Decision { kind: D::KIND, change: id, summary: &summary, reason, act };
    decision.end(&mut tx, Status::Undone, version).await?;
    tx.commit().await?;
    Ok(Outcome::At { change: id, version })
}

/// Discards a change that waits. False where it was decided before.
pub async fn discard(
    db: &mut PgConnection,
    kind: Kind,
    id: i64,
    reason: Option<&str>,
    act: Act<'_>,
) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    // Who applies it at the same moment holds its row.
    let summary = sqlx::query_scalar!(
        "update changes set status = 'discarded', decision_reason = $3, decided_at = $4, decided_by = $5
         where kind = $1 and change_id = $2 and status in ('draft', 'proposed')
         returning summary",
        kind as Kind,
        id,
        reason,
        act.at,
        act.by.name,
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(summary) = summary else { return Ok(false) };
    let decision = Decision { kind, change: id, summary: &summary, reason, act };
    decision.record(&mut tx, Status::Discarded, json!({})).await?;
    tx.commit().await?;
    Ok(true)
}

/// Begins a version in which something else than entries is written, and answers it: what it is of is locked until the
/// transaction ends, with [`wrote`].
pub async fn begin(tx: &mut PgConnection, kind: Kind) -> sqlx::Result<i64> {
    kind.begin(tx).await
}

/// Ends a version in which something else than entries was written, as a change without edits.
pub async fn wrote<D: Document>(
    tx: &mut PgConnection,
    version: i64,
    about: About<'_>,
    act: Act<'_>,
) -> sqlx::Result<i64> {
    let new = New { status: Status::Proposed, report: None, is_proposed: false };
    let decision = insert::<D>(&mut *tx, &[], new, about, act).await?;
    decision.apply(tx, version).await?;
    Ok(decision.change)
}

fn that_change_something<D: Document>(edits: Vec<D::Edit>) -> Vec<D::Edit> {
    edits.into_iter().filter(|edit| edit.before() != edit.after()).collect()
}

/// A change that stands as it should, which nobody else decides about until the transaction ends.
async fn locked<D: Document>(
    tx: &mut PgConnection,
    id: i64,
    as_it_should: impl Fn(Status) -> bool,
) -> sqlx::Result<Option<Change<D::Edit>>> {
    sqlx::query!("select from changes where kind = $1 and change_id = $2 for update", D::KIND as Kind, id)
        .fetch_optional(&mut *tx)
        .await?;
    Ok(find::<D>(tx, id).await?.filter(|change| as_it_should(change.outline.status)))
}

/// Why edits cannot be made in the document as it is before a version.
async fn refusal<D: Document>(
    tx: &mut PgConnection,
    edits: &[D::Edit],
    version: i64,
) -> sqlx::Result<Option<Outcome>> {
    let current = D::as_of(&mut *tx, version - 1).await?;
    let conflicts = current.conflicts(edits);
    if !conflicts.is_empty() {
        return Ok(Some(Outcome::Conflict(conflicts)));
    }
    let edited = current.edited(edits);
    // Others wait for what is locked, so this does not wait for a core.
    let mut problems = compute::at_once(move || edited.problems()).await?;
    problems.extend(D::obstacles(tx, edits).await?);
    Ok((!problems.is_empty()).then_some(Outcome::Refused(problems)))
}

/// The draft that the same person made of the same file; those of long ago go.
async fn same_file<D: Document>(
    tx: &mut PgConnection,
    edits: &[D::Edit],
    report: &Value,
    about: About<'_>,
    act: Act<'_>,
) -> sqlx::Result<Option<i64>> {
    sqlx::query!(
        "delete from changes where kind = $1 and status = 'draft' and report is not null and made_at < $2",
        D::KIND as Kind,
        act.at - Duration::days(FILE_DAYS),
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query_scalar!(
        "select change_id from changes
         where kind = $1 and status = 'draft' and made_by = $2 and summary = $3 and edits = $4 and report = $5
         order by change_id desc limit 1",
        D::KIND as Kind,
        act.by.name,
        about.summary,
        Json(edits) as _,
        report,
    )
    .fetch_optional(tx)
    .await
}

/// How a change begins.
struct New<'a> {
    status: Status,
    /// Of the file that it was read from.
    report: Option<&'a Value>,
    /// It waits for whoever decides, and is not applied at once.
    is_proposed: bool,
}

/// Writes a change down, for what is decided about it.
async fn insert<'a, D: Document>(
    tx: &mut PgConnection,
    edits: &[D::Edit],
    New { status, report, is_proposed }: New<'_>,
    About { summary, reason }: About<'a>,
    act: Act<'a>,
) -> sqlx::Result<Decision<'a>> {
    let change = sqlx::query_scalar!(
        "insert into changes (kind, status, summary, reason, edits, report, made_at, made_by, proposed_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         returning change_id",
        D::KIND as Kind,
        status as Status,
        summary,
        reason,
        Json(edits) as _,
        report,
        act.at,
        act.by.name,
        is_proposed.then_some(act.at),
    )
    .fetch_one(tx)
    .await?;
    Ok(Decision { kind: D::KIND, change, summary, reason, act })
}

/// What somebody decided about a change, as the trail has it.
struct Decision<'a> {
    kind: Kind,
    change: i64,
    summary: &'a str,
    reason: Option<&'a str>,
    act: Act<'a>,
}

impl Decision<'_> {
    /// Notes that it holds from this version on, and ends that.
    async fn apply(&self, db: &mut PgConnection, version: i64) -> sqlx::Result<()> {
        sqlx::query!(
            "update changes
             set status = 'applied', decision_reason = $3, decided_at = $4, decided_by = $5, applied_version = $6
             where kind = $1 and change_id = $2",
            self.kind as Kind,
            self.change,
            self.reason,
            self.act.at,
            self.act.by.name,
            version,
        )
        .execute(&mut *db)
        .await?;
        self.end(db, Status::Applied, version).await
    }

    async fn end(&self, db: &mut PgConnection, status: Status, version: i64) -> sqlx::Result<()> {
        self.kind.end(&mut *db, version, self.act).await?;
        self.record(db, status, json!({ self.kind.version_name(): version })).await
    }

    async fn record(&self, db: &mut PgConnection, status: Status, mut details: Value) -> sqlx::Result<()> {
        details["summary"] = self.summary.into();
        details["reason"] = self.reason.into();
        let (verb, object) = (self.kind.verb(status), self.kind.object(self.change));
        audit::record(db, self.act, verb, &object, details).await
    }
}
