//! Experiments that a change of the configuration makes one, though different teams pay for them.

use serde::Serialize;
use sqlx::PgConnection;

use super::as_of::Error;
use super::{Answers, CostMetric, Filter, Grouping, Question};
use crate::accounts::Viewer;
use crate::allocation::{Edit, Entry, Experiment, normalized};
use crate::exchange;
use crate::money::{Currency, Decimal};
use crate::period::Period;

/// Months up to the latest whose costs are shown.
const MONTHS: u32 = 12;

/// Two experiments that become one, with who pays for each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Merge {
    pub from: Merged,
    pub into: Merged,
    pub period: Period,
    pub currency: Currency,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Merged {
    pub experiment: String,
    pub name: String,
    /// Teams by name, with their effective cost; the largest first.
    pub teams: Vec<(String, Decimal)>,
}

/// Of edits those merges that bring costs of different teams together, as these are as of a step.
pub async fn merges(
    db: &mut PgConnection,
    answers: &Answers,
    edits: &[Edit],
    sequence: i64,
) -> Result<Vec<Merge>, Error> {
    let pairs: Vec<(String, String)> = edits.iter().flat_map(merged).collect();
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let Some(last) = answers.latest_month(db, &Viewer::Everything).await? else { return Ok(Vec::new()) };
    let period = Period::up_to(last, MONTHS);
    let configuration = answers.configuration(db, sequence).await?;
    let mut asked = Question {
        by: Grouping::Team,
        cost: CostMetric::Effective,
        convert_into: exchange::reporting_currency(db).await?,
        sequence: Some(sequence),
        ..Question::of(period, Viewer::Everything)
    };
    let mut found = Vec::new();
    for (from, into) in pairs {
        let mut both = Vec::new();
        for experiment in [from, into] {
            asked.filters = vec![Filter::keep(Grouping::Experiment, vec![experiment.clone()])];
            let spend = answers.spend(db, &asked).await?;
            // Both are shown in one currency.
            asked.currency =
                asked.currency.or_else(|| spend.currency.filter(|_| asked.convert_into.is_none()));
            let teams = spend.groups.into_iter().filter(|group| !group.cost.amount.is_zero());
            let teams = teams.map(|group| (group.label, group.cost.amount)).collect();
            both.push(Merged { name: configuration.experiment_name(&experiment), experiment, teams });
        }
        let currency = asked.convert_into.clone().or_else(|| asked.currency.clone());
        let (Some(into), Some(from), Some(currency)) = (both.pop(), both.pop(), currency) else { continue };
        if from.is_of_others(&into) {
            found.push(Merge { from, into, period, currency });
        }
    }
    Ok(found)
}

/// What an edit makes another spelling of an experiment, and that.
fn merged(edit: &Edit) -> Vec<(String, String)> {
    let experiment = |entry: &Option<Entry>| match entry {
        Some(Entry::Experiment(it)) => it.clone(),
        _ => Experiment::default(),
    };
    let (before, after) = (experiment(&edit.before), experiment(&edit.after));
    let is_known = |label: &String| {
        let mut known = before.spellings.iter().chain([&before.name, &after.handle]);
        known.any(|text| normalized(text) == *label)
    };
    let labels = after.spellings.iter().map(|text| normalized(text));
    labels.filter(|label| !is_known(label)).map(|label| (label, after.handle.clone())).collect()
}

impl Merged {
    fn is_of_others(&self, other: &Self) -> bool {
        let names = |it: &Self| {
            let mut names: Vec<String> = it.teams.iter().map(|(team, _)| team.clone()).collect();
            names.sort();
            names
        };
        !self.teams.is_empty() && !other.teams.is_empty() && names(self) != names(other)
    }
}
