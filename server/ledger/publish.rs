//! Publishing and undoing: the only moments at which what the ledger counts changes.
//!
//! *Visible* is a function of the published deliveries that were not undone, in order of publishing, per
//! scope: from the last one that replaced, with every addition since; mended rows count while the delivery
//! does that lacked them. Because it is recomputed from that order, undo is exact in any order. Each publish and undo advances the ledger's sequence by one;
//! `visibility` keeps from which sequence to which a delivery counted, so a page can be asked as of one.

use chrono::{DateTime, NaiveDate, Utc};
use sqlx::{Connection, PgConnection};

use crate::period::BillingMonth;

use super::{Scope, mend};

/// What to do with what a scope holds already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The delivery takes the place of what is there.
    Replace,
    /// The delivery counts beside what is there.
    Add,
}

impl Decision {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Add => "add",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        [Self::Replace, Self::Add].into_iter().find(|decision| decision.as_str() == word)
    }
}

/// What happened on [`publish`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// The ledger counts the delivery from this sequence on.
    At(i64),
    /// Nothing happened: these scopes hold what the delivery lacks, and nobody said what to do.
    Asks(Vec<Shortfall>),
    /// Nothing happened: mended rows do more than complete a delivery, and nobody said what to do.
    Doubts(&'static str),
    /// It was published or undone before; nothing happened.
    Already,
}

/// What a delivery lacks of the one it would replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortfall {
    pub scope: Scope,
    pub replaces_delivery: i64,
    pub sub_accounts: Vec<String>,
    pub days: Vec<NaiveDate>,
    pub currencies: Vec<String>,
    /// Nothing is lacking: a slice meets a statement of the whole month.
    pub is_slice: bool,
    /// Nothing is lacking: it was handed in after this one, and was ready before.
    pub came_later: bool,
    /// More rejected rows of this one are missing: how many here, and how many there.
    pub rejected: Option<(i64, i64)>,
}

impl std::fmt::Display for Shortfall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Scope { provider, billing_account, month } = &self.scope;
        write!(
            f,
            "{provider} {billing_account} {month}: delivery {} {}",
            self.replaces_delivery,
            match (self.is_slice, self.came_later) {
                _ if self.rejected.is_some() => "lacks fewer rows:",
                (true, _) => "states the whole month, and this file is a slice of it",
                (false, true) => "was handed in later than this one, and counts already",
                (false, false) => "holds what this one lacks:",
            }
        )?;
        if let Some((here, there)) = self.rejected {
            write!(f, " {there} rejected there, {here} here")?;
        }
        let mut first = true;
        for (what, values) in [
            ("sub-accounts", self.sub_accounts.clone()),
            ("days", self.days.iter().map(ToString::to_string).collect()),
            ("currencies", self.currencies.clone()),
        ] {
            if !values.is_empty() {
                write!(f, "{} {what} {}", if first { "" } else { ";" }, shorten(&values))?;
                first = false;
            }
        }
        Ok(())
    }
}

fn shorten(values: &[String]) -> String {
    match values {
        [.., _] if values.len() > 5 => format!("{} and {} more", values[..4].join(", "), values.len() - 4),
        _ => values.join(", "),
    }
}

/// Makes a loaded delivery count. Without a decision it replaces, unless it lacks what is there.
pub async fn publish(
    db: &mut PgConnection,
    delivery_id: i64,
    decision: Option<Decision>,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Published> {
    let mut tx = db.begin().await?;
    let sequence = begin_step(&mut tx).await?;
    if !is_undecided(&mut tx, delivery_id).await? {
        return Ok(Published::Already);
    }
    let asks = shortfalls(&mut tx, delivery_id).await?;
    let meets_whole_month = asks.iter().any(|ask| ask.is_slice);
    if decision.is_none() && !asks.is_empty() {
        return Ok(Published::Asks(asks));
    }
    let is_addition = decision == Some(Decision::Add);
    let is_whole = decision == Some(Decision::Replace) && meets_whole_month;
    count(&mut tx, sequence, delivery_id, is_addition, is_whole).await?;
    advance(&mut tx, sequence, delivery_id, "publish", by, now).await?;
    tx.commit().await?;
    Ok(Published::At(sequence))
}

/// Makes a loaded delivery of mended rows count beside those that it completes and as long as they do, unless there is
/// a doubt.
pub async fn publish_mended(
    db: &mut PgConnection,
    delivery_id: i64,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Published> {
    let mut tx = db.begin().await?;
    let sequence = begin_step(&mut tx).await?;
    if !is_undecided(&mut tx, delivery_id).await? {
        return Ok(Published::Already);
    }
    if let Some(doubt) = mend::doubt(&mut tx, delivery_id).await? {
        return Ok(Published::Doubts(doubt));
    }
    count(&mut tx, sequence, delivery_id, true, false).await?;
    sqlx::query!("update deliveries set completes = true where delivery_id = $1", delivery_id)
        .execute(&mut *tx)
        .await?;
    advance(&mut tx, sequence, delivery_id, "publish", by, now).await?;
    tx.commit().await?;
    Ok(Published::At(sequence))
}

/// Whether the delivery is loaded, and neither counts nor did.
async fn is_undecided(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<bool> {
    let status =
        sqlx::query_scalar!("select status from deliveries where delivery_id = $1 for update", delivery_id)
            .fetch_one(db)
            .await?;
    Ok(matches!(status.as_str(), "loading" | "waiting"))
}

/// Writes down that the delivery counts from this sequence on, and how. A slice that `is_whole` stands for the whole
/// month from then on: it was told to replace one.
async fn count(
    db: &mut PgConnection,
    sequence: i64,
    delivery_id: i64,
    is_addition: bool,
    is_whole: bool,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update deliveries set status = 'loaded', published_sequence = $2, message = null where delivery_id = $1",
        delivery_id,
        sequence,
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!(
        "update delivery_scopes set is_addition = $2, slice = case when not $3 then slice end where delivery_id = $1",
        delivery_id,
        is_addition,
        is_whole,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Takes a published delivery out of what the ledger counts, from the next sequence on; what it had
/// replaced counts again. `None` where it was not published, or undone before.
pub async fn undo(
    db: &mut PgConnection,
    delivery_id: i64,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Option<i64>> {
    let mut tx = db.begin().await?;
    let sequence = begin_step(&mut tx).await?;
    let undone = sqlx::query!(
        "update deliveries set status = 'undone', undone_sequence = $2
         where delivery_id = $1 and status = 'loaded'",
        delivery_id,
        sequence,
    )
    .execute(&mut *tx)
    .await?;
    if undone.rows_affected() == 0 {
        return Ok(None);
    }
    advance(&mut tx, sequence, delivery_id, "undo", by, now).await?;
    tx.commit().await?;
    Ok(Some(sequence))
}

/// The deliveries that stopped counting somewhere when this one was published.
pub async fn superseded_by(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!(
        "select distinct v.delivery_id
         from visibility v
         join deliveries d on d.published_sequence = v.until_sequence
         where d.delivery_id = $1
         order by 1",
        delivery_id,
    )
    .fetch_all(db)
    .await
}

/// The sequence that the ledger stands at.
pub async fn sequence(db: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!("select sequence from ledger").fetch_one(db).await
}

/// The sequence of a step about to be made. Locks the ledger's one row, so that steps happen one after the
/// other; the transaction ends with [`end_step`], or nothing happened.
pub async fn begin_step(db: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!(r#"select sequence + 1 as "next!" from ledger for update"#).fetch_one(db).await
}

/// Writes a step down and moves the ledger on to its sequence.
pub async fn end_step(
    db: &mut PgConnection,
    sequence: i64,
    delivery_id: Option<i64>,
    action: &str,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into ledger_log (sequence, delivery_id, action, happened_at, happened_by) values ($1, $2, $3, $4, $5)",
        sequence,
        delivery_id,
        action,
        now,
        by,
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!("update ledger set sequence = $1", sequence).execute(&mut *db).await?;
    Ok(())
}

/// Brings what counts up to date, as a step of the ledger.
async fn advance(
    db: &mut PgConnection,
    sequence: i64,
    delivery_id: i64,
    action: &str,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    sqlx::query_file!("server/ledger/close_visibility.sql", sequence).execute(&mut *db).await?;
    sqlx::query_file!("server/ledger/open_visibility.sql", sequence).execute(&mut *db).await?;
    end_step(db, sequence, Some(delivery_id), action, by, now).await
}

/// What the delivery lacks of what is visible in each of its scopes.
async fn shortfalls(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Vec<Shortfall>> {
    let rows = sqlx::query_file!("server/ledger/shortfalls.sql", delivery_id).fetch_all(db).await?;
    Ok(rows
        .into_iter()
        .map(|row| Shortfall {
            scope: Scope {
                provider: row.provider,
                billing_account: row.billing_account,
                month: BillingMonth::of(row.billing_month),
            },
            replaces_delivery: row.replaces,
            sub_accounts: row.sub_accounts,
            days: row.days,
            currencies: row.currencies,
            is_slice: row.is_slice,
            came_later: row.came_later,
            rejected: row.rejected_here.zip(row.rejected_there),
        })
        .collect())
}
