//! Every team's part of a period side by side: `/chargeback/2026-09`, its `.json` and `.csv`.

use std::collections::HashMap;

use serde::Serialize;
use sqlx::PgConnection;

use super::as_of::Error;
use super::basis::teams;
use super::footing::Footing;
use super::statement::{Cents, period_in_cents};
use super::{Answers, Grouping, Question};
use crate::accounts::Viewer;
use crate::allocation::MonthBook;
use crate::money::{Decimal, Money};
use crate::period::Period;

/// The answer. Lines sum to the total exactly, and so do direct and shared.
#[derive(Clone, Debug, Serialize)]
pub struct Chargeback {
    pub period: Period,
    pub previous_period: Period,
    #[serde(flatten)]
    pub footing: Footing,
    pub total: Option<Money>,
    pub previous: Option<Money>,
    pub direct: Decimal,
    pub shared: Decimal,
    /// What the page shows: in cents that add up.
    pub stated: Cents,
    pub accelerator_hours: Decimal,
    pub cost_per_accelerator_hour: Option<Decimal>,
    pub teams: Vec<TeamLine>,
}

/// What a team is charged.
#[derive(Clone, Debug, Serialize)]
pub struct TeamLine {
    /// Null: nobody's, the unallocated part.
    pub team: Option<String>,
    pub name: String,
    /// The name of the team that it is a part of, as of the last month, where the viewer sees that.
    pub part_of: Option<String>,
    /// Its own; of the unallocated part what no rule claims.
    pub direct: Decimal,
    /// Its part of shared costs; of the unallocated part what could not be divided.
    pub shared: Decimal,
    pub cost: Decimal,
    /// The same in cents, as on its statement.
    pub stated: Cents,
    pub share: Option<Decimal>,
    pub previous: Decimal,
    pub change: Decimal,
    pub accelerator_hours: Decimal,
    pub cost_per_accelerator_hour: Option<Decimal>,
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
    let stated = period_in_cents(db, answers, &asked.beside(&whole)).await?;
    let direct: HashMap<Option<&str>, Decimal> =
        direct.groups.iter().map(|group| (group.key.as_deref(), group.cost.amount)).collect();
    let book = answers.book(db, whole.sequence).await?;
    let last = question.period.last();
    let month = book.of_month(last);
    let theirs = teams(&book, &question.viewer, last, last);
    let is_seen =
        |handle: &str| question.viewer == Viewer::Everything || theirs.iter().any(|(_, team)| team == handle);
    let costs: HashMap<&str, Decimal> =
        whole.groups.iter().filter_map(|group| Some((group.key.as_deref()?, group.cost.amount))).collect();
    let seen = stated.iter().filter_map(|(team, cents)| Some((team.as_deref()?, cents.total)));
    let totals: HashMap<&str, Decimal> = seen.collect();
    let lines: Vec<TeamLine> = whole
        .groups
        .iter()
        .map(|group| {
            let own = direct.get(&group.key.as_deref()).copied().unwrap_or_default();
            let previous = group.previous.as_ref().map(|previous| previous.amount).unwrap_or_default();
            let handle = group.key.as_deref();
            TeamLine {
                team: group.key.clone(),
                name: group.label.clone(),
                part_of: handle.and_then(|handle| parent(&month, handle, is_seen)),
                direct: own,
                shared: group.cost.amount - own,
                cost: group.cost.amount,
                stated: stated.get(&group.key).copied().unwrap_or_default(),
                share: group.share,
                previous,
                change: group.cost.amount - previous,
                accelerator_hours: group.accelerator_hours,
                cost_per_accelerator_hour: group.cost_per_accelerator_hour,
                with_teams_inside: handle.and_then(|handle| with_teams_inside(&month, handle, &costs)),
                stated_with_teams_inside: handle
                    .and_then(|handle| with_teams_inside(&month, handle, &totals)),
            }
        })
        .collect();
    Ok(Chargeback {
        period: question.period,
        previous_period: question.period.previous(),
        footing: Footing::from(&whole),
        direct: lines.iter().map(|line| line.direct).sum(),
        shared: lines.iter().map(|line| line.shared).sum(),
        stated: lines.iter().map(|line| line.stated).sum(),
        total: whole.total,
        previous: whole.previous,
        accelerator_hours: whole.accelerator_hours,
        cost_per_accelerator_hour: whole.cost_per_accelerator_hour,
        teams: lines,
    })
}

fn parent(month: &MonthBook<'_>, handle: &str, is_seen: impl Fn(&str) -> bool) -> Option<String> {
    let parent = month.team(handle)?.parent.as_deref().filter(|parent| is_seen(parent))?;
    Some(month.team(parent)?.name.clone())
}

fn with_teams_inside(month: &MonthBook<'_>, handle: &str, costs: &HashMap<&str, Decimal>) -> Option<Decimal> {
    let inside = month.has_teams_inside(handle).then(|| month.with_teams_inside(handle))?;
    Some(inside.iter().filter_map(|team| costs.get(team)).copied().sum())
}
