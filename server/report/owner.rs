//! Whose a single charge is, and by which rule.

use crate::changes::Document as _;
use serde::Serialize;
use sqlx::PgConnection;

use super::Grouping;
use super::snapshot::{Names, teams};
use crate::accounts::Viewer;
use crate::allocation::{self, Facts, RuleEngine};
use crate::ledger;
use crate::period::BillingMonth;

/// What a charge is attributed to now, by names; null where it has none of it.
#[derive(Clone, Debug, Serialize)]
pub struct Owner {
    pub team: Option<String>,
    pub project: Option<String>,
    pub experiment: Option<String>,
    pub cost_centre: Option<String>,
    /// The shared cost that it is a part of.
    pub pool: Option<String>,
    /// The rule that claimed it. Null: it is unallocated.
    pub rule: Option<String>,
    pub rule_id: Option<i64>,
}

/// Whose a charge of a month is. `None` while there are no teams. The second: whether the viewer may see it.
pub(super) async fn owner(
    db: &mut PgConnection,
    month: BillingMonth,
    facts: &Facts,
    viewer: &Viewer,
) -> sqlx::Result<Option<(Owner, bool)>> {
    let sequence = ledger::sequence(&mut *db).await?;
    let configuration = allocation::Configuration::as_of(db, sequence).await?;
    if !configuration.has_teams() {
        return Ok(None);
    }
    let of_month = configuration.of_month(month);
    // A pattern that is none is refused before it is kept.
    let attributor = RuleEngine::new(&of_month).map_err(|error| sqlx::Error::Decode(error.into()))?;
    let found = attributor.attribute(facts);
    let theirs = teams(&configuration, viewer, month, month);
    let may_see = *viewer == Viewer::Everything || theirs.iter().any(|(_, team)| *team == found.team);
    let names = Names::of(&configuration, month, month);
    let name = |by: Grouping, key: &str| {
        Some(key).filter(|key| !key.is_empty()).map(|key| names.label(&by, Some(key)))
    };
    let rule_id = Some(found.rule).filter(|rule| *rule != 0);
    let owner = Owner {
        team: name(Grouping::Team, &found.team),
        project: name(Grouping::Project, &found.project),
        experiment: name(Grouping::Experiment, &found.experiment),
        cost_centre: name(Grouping::CostCentre, &found.cost_centre),
        pool: name(Grouping::Pool, &found.pool),
        rule: rule_id.map(|rule| names.label(&Grouping::Rule, Some(&rule.to_string()))),
        rule_id,
    };
    Ok(Some((owner, may_see)))
}
