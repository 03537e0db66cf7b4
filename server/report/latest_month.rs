//! The month that pages begin with.

use std::collections::BTreeSet;

use sqlx::PgConnection;

use super::completeness::{months, months_summed_for};
use super::snapshot::teams;
use super::{Answers, Error, Grouping, Question};
use crate::accounts::Viewer;
use crate::ledger;
use crate::period::BillingMonth;

/// Months that are allocated to find out which is the latest in which a lead is charged something.
const LOOKED_INTO: usize = 3;

impl Answers {
    /// The latest month in which the viewer is charged something that is active now.
    pub async fn latest_month(
        &self,
        db: &mut PgConnection,
        viewer: &Viewer,
    ) -> Result<Option<BillingMonth>, Error> {
        let sequence = ledger::sequence(db).await?;
        for month in self.months_to_look_in(db, viewer, sequence).await? {
            let scopes = self.scopes(db, month.into(), viewer, sequence).await?;
            if scopes.is_none_or(|scopes| !scopes.is_empty()) {
                return Ok(Some(month));
            }
            // A part of shared costs is no charge that they see.
            let question = Question { by: Grouping::Team, ..Question::of(month.into(), viewer.clone()) };
            if self.spend(db, &question).await?.total.is_some() {
                return Ok(Some(month));
            }
        }
        Ok(None)
    }

    /// The months that are looked into for a viewer's latest one, from the last on. To look into a month for a lead
    /// allocates it, so these are the last few, and of those before the ones that are summed already and name their teams:
    /// whoever has no charge at all must not set off the allocation of all history.
    async fn months_to_look_in(
        &self,
        db: &mut PgConnection,
        viewer: &Viewer,
        sequence: i64,
    ) -> sqlx::Result<Vec<BillingMonth>> {
        let mut months = months(db).await?;
        let configuration = self.configuration(db, sequence).await?;
        if *viewer == Viewer::Everything || !configuration.has_teams() || months.len() <= LOOKED_INTO {
            return Ok(months);
        }
        let before = months.split_off(LOOKED_INTO);
        if let (Some(last), Some(first)) = (before.first(), before.last()) {
            let seen: BTreeSet<String> =
                teams(&configuration, viewer, *first, *last).into_iter().map(|(_, team)| team).collect();
            let seen: Vec<String> = seen.into_iter().collect();
            let summed = months_summed_for(db, &seen).await?;
            months.extend(before.into_iter().filter(|month| summed.contains(month)));
        }
        Ok(months)
    }
}
