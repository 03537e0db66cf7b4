//! Every experiment of a period: `/experiments/during/2026-09`, its `.json` and `.csv`.

use serde::Serialize;
use sqlx::PgConnection;

use super::as_of::Error;
use super::over_time::{Days, FindDays};
use super::table_line::{Figures, Whole};
use super::{Answers, Group, Grouping, Question};

/// The answer. Experiments, and what belongs to none, sum to the total exactly.
#[derive(Clone, Debug, Serialize)]
pub struct Experiments {
    #[serde(flatten)]
    pub whole: Whole,
    pub experiments: Vec<ExperimentLine>,
}

/// What an experiment cost.
#[derive(Clone, Debug, Serialize)]
pub struct ExperimentLine {
    /// Null: no experiment, shared costs among it.
    pub experiment: Option<String>,
    pub name: String,
    /// The names of the teams that pay for it.
    pub teams: Vec<String>,
    #[serde(flatten)]
    pub figures: Figures,
    /// In this period; null where no charge belongs to a day.
    pub days: Option<Days>,
    /// Stands for several that were not looked for.
    #[serde(skip)]
    pub is_folded: bool,
}

/// Asks for the experiments that a question's filters leave, of those that the viewer sees.
pub async fn experiments(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
) -> Result<Experiments, Error> {
    let asked = Question { by: Grouping::Experiment, then: Some(Grouping::Team), ..question.clone() };
    let spend = answers.spend(db, &asked).await?;
    let by_day = question.by(Grouping::Experiment).beside(&spend);
    let days = answers.ask(db, &by_day, spend.sequence, FindDays).await?;
    let line = |group: Group| {
        let teams = group.groups.iter().filter(|team| !team.cost.amount.is_zero());
        ExperimentLine {
            teams: teams.map(|team| team.label.clone()).collect(),
            figures: Figures::from(&group),
            days: days.get(&group.key).copied().filter(|_| !group.is_folded),
            is_folded: group.is_folded,
            name: group.label,
            experiment: group.key,
        }
    };
    Ok(Experiments {
        whole: Whole::of(question, &spend),
        experiments: spend.groups.into_iter().map(line).collect(),
    })
}
