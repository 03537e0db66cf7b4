//! Every team's part of a period side by side: `/chargeback/2026-09`, its `.json` and `.csv`.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use sqlx::PgConnection;

use super::as_of::Error;
use super::statement::{Cents, months_in_cents};
use super::table_line::{Figures, Whole};
use super::{Answers, Grouping, Question};
use crate::accounts::Viewer;
use crate::allocation::MonthConfiguration;
use crate::money::Decimal;
use crate::period::BillingMonth;

/// The answer. Lines sum to the total exactly, and so do direct and shared.
#[derive(Clone, Debug, Serialize)]
pub struct Chargeback {
    #[serde(flatten)]
    pub whole: Whole,
    pub direct: Decimal,
    pub shared: Decimal,
    /// What the page shows: in cents that add up.
    pub stated: Cents,
    pub teams: Vec<TeamLine>,
}

/// What a team is charged.
#[derive(Clone, Debug, Serialize)]
pub struct TeamLine {
    /// Null: the unallocated part.
    pub team: Option<String>,
    pub name: String,
    /// The name of the team that it is a part of, as of the last month, where the viewer sees that.
    pub part_of: Option<String>,
    /// Its own; of the unallocated part what no rule claims.
    pub direct: Decimal,
    /// Its part of shared costs; of the unallocated part what could not be divided.
    pub shared: Decimal,
    #[serde(flatten)]
    pub figures: Figures,
    /// Direct, shared and both in cents, as on its statement.
    pub stated: Cents,
    /// With all teams inside it, where it has some: what its page is about.
    pub with_teams_inside: Option<Decimal>,
    /// The same in cents.
    pub stated_with_teams_inside: Option<Decimal>,
}

/// Asks for the parts of all teams that the viewer sees.
pub async fn chargeback(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
) -> Result<Chargeback, Error> {
    let asked = Question { sort: question.sort, ..question.by(Grouping::Team) };
    let whole = answers.spend(db, &asked).await?;
    let direct = answers.spend(db, &asked.beside(&whole).direct()).await?;
    let direct: HashMap<Option<&str>, Decimal> =
        direct.groups.iter().map(|group| (group.key.as_deref(), group.cost.amount)).collect();
    let configuration = answers.configuration(db, whole.sequence).await?;
    let last = question.period.last();
    let month = configuration.of_month(last);
    let theirs = answers.teams(db, question, &configuration, (last, last), whole.sequence).await?;
    let is_seen =
        |handle: &str| question.viewer == Viewer::Everything || theirs.iter().any(|(_, team)| team == handle);
    let months = months_in_cents(db, answers, &asked.beside(&whole), &configuration).await?;
    let of_one = |team: &Option<String>| -> Cents {
        months.iter().filter_map(|(_, teams)| teams.get(team)).copied().sum()
    };
    // Which teams are inside one changes from month to month.
    let with_teams_inside = |handle: &str| -> Option<Cents> {
        let has_some =
            |(month, _): &(BillingMonth, _)| configuration.of_month(*month).has_teams_inside(handle);
        months.iter().any(has_some).then(|| {
            let of_month = |(month, teams): &(BillingMonth, BTreeMap<Option<String>, Cents>)| -> Cents {
                let then = configuration.of_month(*month);
                let inside = then.with_teams_inside(handle).into_iter();
                inside.filter_map(|team| teams.get(&Some(team.to_owned()))).copied().sum()
            };
            months.iter().map(of_month).sum()
        })
    };
    let lines: Vec<TeamLine> = whole
        .groups
        .iter()
        .map(|group| {
            let own = direct.get(&group.key.as_deref()).copied().unwrap_or_default();
            let handle = group.key.as_deref();
            let together = handle.and_then(&with_teams_inside);
            TeamLine {
                team: group.key.clone(),
                name: group.label.clone(),
                part_of: handle.and_then(|handle| parent(&month, handle, is_seen)),
                direct: own.normalize(),
                shared: (group.cost.amount - own).normalize(),
                figures: group.into(),
                stated: of_one(&group.key),
                with_teams_inside: together.map(|together| together.exact),
                stated_with_teams_inside: together.map(|together| together.total),
            }
        })
        .collect();
    Ok(Chargeback {
        whole: Whole::of(question, &whole),
        direct: lines.iter().map(|line| line.direct).sum(),
        shared: lines.iter().map(|line| line.shared).sum(),
        stated: lines.iter().map(|line| line.stated).sum(),
        teams: lines,
    })
}

fn parent(month: &MonthConfiguration<'_>, handle: &str, is_seen: impl Fn(&str) -> bool) -> Option<String> {
    let parent = month.team(handle)?.parent.as_deref().filter(|parent| is_seen(parent))?;
    Some(month.team(parent)?.name.clone())
}
