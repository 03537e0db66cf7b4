//! What people changed: deliveries, the allocation, the asset register, prices, rates and quantities, in one list.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

use crate::changes::{self, Kind, Outline, Status};
use crate::enum_words::words;

/// Something that happened, or was drafted and waits.
#[derive(Clone, Debug)]
pub struct Event {
    pub at: DateTime<Utc>,
    pub by: String,
    /// The version of the ledger that it is; null for what changed nothing yet, or never.
    pub sequence: Option<i64>,
    /// What it is about was undone by it.
    pub is_undo: bool,
    pub of: EventOf,
}

#[derive(Clone, Debug)]
pub enum EventOf {
    Change { change: Box<Outline> },
    Delivery { delivery: i64, files: Vec<String>, is_undone: bool },
    Rates,
    Usage,
    Quantities,
    ReportingCurrency,
}

words! {
    /// What an event is about; `name` is what pages say.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
    #[serde(rename_all = "kebab-case")]
    #[sqlx(type_name = "text", rename_all = "kebab-case")]
    pub enum EventKind: name {
        Imports = "Import";
        Allocation = "Allocation";
        AssetRegister = "Asset register";
        Prices = "Prices";
        RateCards = "Rate cards";
        Adjustments = "Adjustments";
        Rates = "Exchange rates";
        Usage = "Usage";
        Quantities = "Quantities";
        ReportingCurrency = "Reporting currency";
    }
}

/// Which events are asked for: what stands so, by this person, of this kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Events<'a> {
    pub status: Option<Status>,
    pub author: Option<&'a str>,
    pub kind: Option<EventKind>,
}

/// What happened, the latest first, `limit` lines from `first` on, and how many lines there are.
pub async fn events(
    db: &mut PgConnection,
    asked: Events<'_>,
    first: i64,
    limit: i64,
) -> sqlx::Result<(Vec<Event>, i64)> {
    found(db, asked, None, first, limit).await
}

/// What these versions of the ledger are, the latest first.
pub(super) async fn events_at(db: &mut PgConnection, steps: &[i64]) -> sqlx::Result<Vec<Event>> {
    Ok(found(db, Events::default(), Some(steps), 0, i64::MAX).await?.0)
}

async fn found(
    db: &mut PgConnection,
    asked: Events<'_>,
    steps: Option<&[i64]>,
    first: i64,
    limit: i64,
) -> sqlx::Result<(Vec<Event>, i64)> {
    let rows = sqlx::query_file!(
        "server/report/events.sql",
        asked.status.map(Status::as_str),
        asked.author,
        asked.kind as Option<EventKind>,
        steps as Option<&[i64]>,
        limit,
        first,
    )
    .fetch_all(&mut *db)
    .await?;
    let lines = rows.first().map_or(0, |row| row.lines);
    let listed: Vec<(Kind, i64)> =
        rows.iter().filter_map(|row| Some((row.kind.of_change()?, row.change_id?))).collect();
    let outlines = changes::outlines(db, &listed).await?;
    let outlines: HashMap<(Kind, i64), Outline> =
        outlines.into_iter().map(|change| ((change.kind, change.id), change)).collect();
    let mut found = Vec::new();
    for row in rows {
        let of = match (row.kind, row.change_id, row.delivery_id) {
            (
                EventKind::Allocation
                | EventKind::AssetRegister
                | EventKind::Prices
                | EventKind::RateCards
                | EventKind::Adjustments,
                Some(id),
                _,
            ) => {
                let change = row.kind.of_change().and_then(|kind| outlines.get(&(kind, id)));
                let Some(change) = change else { continue };
                EventOf::Change { change: Box::new(change.clone()) }
            }
            (EventKind::Imports, _, Some(delivery)) => {
                EventOf::Delivery { delivery, files: row.files, is_undone: row.status == "undone" }
            }
            (EventKind::Rates, ..) => EventOf::Rates,
            (EventKind::Usage, ..) => EventOf::Usage,
            (EventKind::Quantities, ..) => EventOf::Quantities,
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
        let decided = if self.is_undo { &change.undo_reason } else { &change.decision_reason };
        decided.as_deref().or(change.reason.as_deref().filter(|_| !self.is_undo))
    }

    /// The version of what was changed that it made.
    pub fn version(&self) -> Option<i64> {
        match self.of.change() {
            Some(change) if self.is_undo => change.undone_version,
            Some(change) => change.applied_version,
            None => self.sequence,
        }
    }
}

impl EventKind {
    /// The kind of change that it is, if it is one.
    pub fn of_change(self) -> Option<Kind> {
        match self {
            Self::Allocation => Some(Kind::Allocation),
            Self::AssetRegister => Some(Kind::AssetRegister),
            Self::Prices => Some(Kind::Prices),
            Self::RateCards => Some(Kind::RateCards),
            Self::Adjustments => Some(Kind::Adjustments),
            Self::Imports | Self::Rates | Self::Usage | Self::Quantities | Self::ReportingCurrency => None,
        }
    }
}

impl From<Kind> for EventKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Allocation => Self::Allocation,
            Kind::AssetRegister => Self::AssetRegister,
            Kind::Prices => Self::Prices,
            Kind::RateCards => Self::RateCards,
            Kind::Adjustments => Self::Adjustments,
        }
    }
}

impl EventOf {
    pub fn change(&self) -> Option<&Outline> {
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

    pub fn kind(&self) -> EventKind {
        match self {
            Self::Change { change } => change.kind.into(),
            Self::Delivery { .. } => EventKind::Imports,
            Self::Rates => EventKind::Rates,
            Self::Usage => EventKind::Usage,
            Self::Quantities => EventKind::Quantities,
            Self::ReportingCurrency => EventKind::ReportingCurrency,
        }
    }

    /// Where it stands now.
    pub fn status(&self) -> Status {
        match self {
            Self::Change { change } => change.status,
            Self::Delivery { is_undone: true, .. } => Status::Undone,
            _ => Status::Applied,
        }
    }
}
