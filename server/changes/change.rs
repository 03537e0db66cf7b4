//! A change and what became of it.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use sqlx::types::Json;

use super::{Document, Kind, Status};

/// A change of a document whose edits are `E`, and what became of it.
#[derive(Clone, Debug)]
pub struct Change<E> {
    pub outline: Outline,
    /// None where something else was written at a version, such as readings of meters.
    pub edits: Vec<E>,
    /// What a file that it was read from had besides, as the document's room writes it.
    pub report: Option<serde_json::Value>,
}

/// What became of a change, without what it is made of.
#[derive(Clone, Debug)]
pub struct Outline {
    pub kind: Kind,
    pub id: i64,
    pub status: Status,
    pub summary: String,
    /// Why somebody wants it.
    pub reason: Option<String>,
    pub made_at: DateTime<Utc>,
    pub made_by: String,
    /// Since when it waits for whoever decides.
    pub proposed_at: Option<DateTime<Utc>>,
    /// When it was applied or discarded.
    pub decided_at: Option<DateTime<Utc>>,
    pub decided_by: Option<String>,
    pub decision_reason: Option<String>,
    pub applied_version: Option<i64>,
    pub undone_at: Option<DateTime<Utc>>,
    pub undone_by: Option<String>,
    pub undo_reason: Option<String>,
    pub undone_version: Option<i64>,
}

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

/// A change of a document; `None` where there is none of this number.
pub async fn find<D: Document>(db: &mut PgConnection, id: i64) -> sqlx::Result<Option<Change<D::Edit>>> {
    let Some(outline) = outlines(&mut *db, &[(D::KIND, id)]).await?.pop() else { return Ok(None) };
    let content = sqlx::query_as!(
        Content::<D::Edit>,
        r#"select edits as "edits: Json<Vec<D::Edit>>", report from changes where kind = $1 and change_id = $2"#,
        D::KIND as Kind,
        id,
    )
    .fetch_one(db)
    .await?;
    Ok(Some(Change { outline, edits: content.edits.0, report: content.report }))
}

/// What a change is made of, as the database has it.
struct Content<E> {
    edits: Json<Vec<E>>,
    report: Option<serde_json::Value>,
}

/// The latest changes of a document, the last first, so many at most.
pub async fn latest<D: Document>(db: &mut PgConnection, limit: i64) -> sqlx::Result<Vec<Change<D::Edit>>> {
    let ids = sqlx::query_scalar!(
        "select change_id from changes where kind = $1 order by change_id desc limit $2",
        D::KIND as Kind,
        limit,
    )
    .fetch_all(&mut *db)
    .await?;
    let changes: Vec<(Kind, i64)> = ids.iter().map(|id| (D::KIND, *id)).collect();
    let mut outlines = outlines(&mut *db, &changes).await?;
    outlines.sort_unstable_by_key(|outline| outline.id);
    let contents = sqlx::query_as!(
        Content::<D::Edit>,
        r#"select edits as "edits: Json<Vec<D::Edit>>", report
           from changes
           where kind = $1 and change_id = any($2)
           order by change_id"#,
        D::KIND as Kind,
        &ids,
    )
    .fetch_all(db)
    .await?;
    let change = |(outline, content): (Outline, Content<D::Edit>)| Change {
        outline,
        edits: content.edits.0,
        report: content.report,
    };
    Ok(outlines.into_iter().zip(contents).map(change).rev().collect())
}

/// The latest changes of a kind, the last first, so many at most: what became of each and how many edits it has.
pub async fn latest_outlines(
    db: &mut PgConnection,
    kind: Kind,
    limit: i64,
) -> sqlx::Result<Vec<(Outline, i32)>> {
    let rows = sqlx::query!(
        r#"select change_id, jsonb_array_length(edits) as "edits!"
           from changes
           where kind = $1
           order by change_id desc
           limit $2"#,
        kind as Kind,
        limit,
    )
    .fetch_all(&mut *db)
    .await?;
    let changes: Vec<(Kind, i64)> = rows.iter().map(|row| (kind, row.change_id)).collect();
    let mut outlines = outlines(db, &changes).await?;
    outlines.sort_unstable_by_key(|outline| std::cmp::Reverse(outline.id));
    Ok(outlines.into_iter().zip(rows.iter().map(|row| row.edits)).collect())
}

/// What became of these changes, in no order.
pub async fn outlines(db: &mut PgConnection, changes: &[(Kind, i64)]) -> sqlx::Result<Vec<Outline>> {
    let (kinds, ids): (Vec<Kind>, Vec<i64>) = changes.iter().copied().unzip();
    sqlx::query_as!(
        Outline,
        r#"select kind as "kind: Kind", change_id as id, status as "status: Status", summary, reason, made_at, made_by,
               proposed_at, decided_at, decided_by, decision_reason, applied_version, undone_at, undone_by, undo_reason,
               undone_version
           from changes
           where (kind, change_id) in (select * from unnest($1::text[], $2::bigint[]))"#,
        &kinds as &[Kind],
        &ids,
    )
    .fetch_all(db)
    .await
}

/// How many changes of a kind, or of all, wait for whoever decides.
pub async fn waiting(db: &mut PgConnection, kind: Option<Kind>) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"select count(*) as "count!"
           from changes
           where status = 'proposed' and ($1::text is null or kind = $1)"#,
        kind as Option<Kind>,
    )
    .fetch_one(db)
    .await
}

/// How many changes of a kind there were.
pub async fn count(db: &mut PgConnection, kind: Kind) -> sqlx::Result<i64> {
    sqlx::query_scalar!(r#"select count(*) as "count!" from changes where kind = $1"#, kind as Kind)
        .fetch_one(db)
        .await
}
