//! What happened to the ledger: changes of the allocation, deliveries, rates and quantities, in one list.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use crate::allocation::{self, Change, Stage};

/// Something that happened, or was drafted and waits.
#[derive(Clone, Debug)]
pub struct Event {
    pub at: DateTime<Utc>,
    pub by: String,
    /// The step of the ledger that it is; null for what changed nothing yet, or never.
    pub sequence: Option<i64>,
    /// What it is about was undone by it.
    pub is_undo: bool,
    pub of: EventOf,
}

#[derive(Clone, Debug)]
pub enum EventOf {
    Change { change: Box<Change> },
    Delivery { delivery: i64, files: Vec<String>, is_undone: bool },
    Rates,
    Quantities,
    ReportingCurrency,
}

/// What happened, the latest first, `limit` lines from `first` on, and how many lines there are: what stands so, by
/// this person, where asked.
pub async fn events(
    db: &mut PgConnection,
    stage: Option<Stage>,
    author: Option<&str>,
    first: i64,
    limit: i64,
) -> sqlx::Result<(Vec<Event>, i64)> {
    found(db, stage, author, None, first, limit).await
}

/// What these steps of the ledger are, the latest first.
pub(super) async fn events_at(db: &mut PgConnection, steps: &[i64]) -> sqlx::Result<Vec<Event>> {
    Ok(found(db, None, None, Some(steps), 0, i64::MAX).await?.0)
}

async fn found(
    db: &mut PgConnection,
    stage: Option<Stage>,
    author: Option<&str>,
    steps: Option<&[i64]>,
    first: i64,
    limit: i64,
) -> sqlx::Result<(Vec<Event>, i64)> {
    let rows = sqlx::query_file!(
        "server/report/events.sql",
        stage.map(Stage::as_str),
        author,
        steps as Option<&[i64]>,
        limit,
        first,
    )
    .fetch_all(&mut *db)
    .await?;
    let lines = rows.first().map_or(0, |row| row.lines);
    let ids: Vec<i64> = rows.iter().filter_map(|row| row.change_id).collect();
    let changes = allocation::changes(db, &ids).await?;
    let changes: HashMap<i64, Change> = changes.into_iter().map(|change| (change.id, change)).collect();
    let mut found = Vec::new();
    for row in rows {
        let of = match (row.change_id, row.delivery_id, row.kind.as_str()) {
            (Some(id), ..) => {
                let Some(change) = changes.get(&id) else { continue };
                EventOf::Change { change: Box::new(change.clone()) }
            }
            (_, Some(delivery), _) => {
                EventOf::Delivery { delivery, files: row.files, is_undone: row.stage == "undone" }
            }
            (.., "rates") => EventOf::Rates,
            (.., "quantities") => EventOf::Quantities,
            _ => EventOf::ReportingCurrency,
        };
        found.push(Event { at: row.at, by: row.by, sequence: row.sequence, is_undo: row.is_undo, of });
    }
    Ok((found, lines))
}

impl Event {
    /// Why it happened, or is wanted, where somebody said so.
    pub fn reason(&self) -> Option<&str> {
        let change = self.of.change()?;
        let decided = if self.is_undo { &change.undo_reason } else { &change.reason };
        decided.as_deref().or(change.draft_reason.as_deref().filter(|_| !self.is_undo))
    }
}

impl EventOf {
    pub fn change(&self) -> Option<&Change> {
        match self {
            Self::Change { change } => Some(change),
            _ => None,
        }
    }

    pub fn delivery(&self) -> Option<i64> {
        match self {
            Self::Delivery { delivery, .. } => Some(*delivery),
            _ => None,
        }
    }

    /// As files tell it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Change { .. } => "change",
            Self::Delivery { .. } => "delivery",
            Self::Rates => "rates",
            Self::Quantities => "quantities",
            Self::ReportingCurrency => "reporting-currency",
        }
    }

    /// Where it stands now: `proposed`, `applied`, `undone`.
    pub fn state(&self) -> &'static str {
        match self {
            Self::Change { change } => change.stage().as_str(),
            Self::Delivery { is_undone: true, .. } => "undone",
            _ => "applied",
        }
    }
}
