//! Accelerators by the hour of a period, by what they are and how they are paid for: what a scenario begins with.

use std::sync::Arc;

use sqlx::PgConnection;

use super::as_of::{Error, as_of};
use super::hourly_ways::{FindWays, Ways};
use super::snapshot::Snapshot;
use super::sql::{Source, rollup_of};
use super::{Answers, Grouping, Question, Spend, onprem_unit_cost};
use crate::money::Decimal;

/// Use of accelerators, hour by hour.
#[derive(Clone, Debug)]
pub struct Hourly {
    /// Spend of the same question, by accelerator, shared costs included.
    pub spend: Spend,
    /// The same without them; as `spend` where nothing is divided.
    pub direct: Spend,
    /// Shared with whoever asked the same: they have every hour of the period.
    pub ways: Arc<Ways>,
    /// What each of them cost: its use, or of what is owned what everything of its cluster did.
    pub costs: Vec<Decimal>,
    /// What our own machines cost by that beyond what `direct` has of it.
    pub running: Decimal,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum HourlyError {
    /// A dimension that rows of days do not have.
    #[error("{} has too many values for rows of days, which hours are read from", .0.label())]
    TooFine(Grouping),
    #[error(transparent)]
    Report(#[from] Error),
}

impl From<sqlx::Error> for HourlyError {
    fn from(error: sqlx::Error) -> Self {
        Self::Report(error.into())
    }
}

impl Answers {
    /// The hours of a question's period, and what they cost.
    ///
    /// # Errors
    /// A filter by what rows of days do not know.
    pub async fn hourly(&self, db: &mut PgConnection, question: &Question) -> Result<Hourly, HourlyError> {
        let sequence = as_of(db, question.sequence).await?;
        let asked = Question { sequence: Some(sequence), ..question.by(Grouping::Accelerator) };
        let snapshot = self.snapshot(db, &asked, sequence).await?;
        refuse_tags(db, &asked, &snapshot).await?;
        let spend = self.spend(&mut *db, &asked).await?;
        // Its parts, and what it is a part of, in the same currency.
        let asked = asked.beside(&spend);
        let is_divided = snapshot.allocation.divides(&asked);
        let direct = if is_divided { asked.direct() } else { asked.clone() };
        let of_direct = self.spend(&mut *db, &direct).await?;
        let ways = self.ask(db, &direct, sequence, FindWays).await?;
        let divided = is_divided.then_some(&direct);
        let costs = onprem_unit_cost::costs(&mut *db, self, &asked, divided, &ways.all).await?;
        Ok(Hourly { spend, direct: of_direct, costs: costs.of_ways, running: costs.running, ways })
    }
}

/// Tags that are kept with charges are not in rows of days.
async fn refuse_tags(
    db: &mut PgConnection,
    question: &Question,
    snapshot: &Snapshot,
) -> Result<(), HourlyError> {
    for filter in &question.filters {
        let by = std::iter::once(&filter.dimension);
        let is_tag = matches!(filter.dimension, Grouping::Tag(_));
        if is_tag && rollup_of(db, by, &snapshot.visible).await? == Source::Charges {
            return Err(HourlyError::TooFine(filter.dimension.clone()));
        }
    }
    Ok(())
}
