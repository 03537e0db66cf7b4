//! A team as somebody sees it in a period: its name, what it is a part of, and who is charged with it in each month.

use serde::Serialize;

use super::Question;
use super::snapshot::teams;
use crate::accounts::Viewer;
use crate::allocation::{Configuration, Entry};
use crate::period::{BillingMonth, Period};

/// A team and those inside it, as of a month.
#[derive(Clone, Debug, Serialize)]
pub struct SeenTeam {
    pub team: String,
    pub name: String,
    /// The team that it is a part of, where the viewer sees that.
    pub part_of: Option<TeamName>,
    /// In any month of the period, as far as the viewer sees them.
    pub teams_inside: Vec<TeamName>,
    /// The month that these are as of.
    #[serde(skip)]
    pub month: BillingMonth,
    /// Who is charged together in each month of the period: the team, and those inside it then.
    #[serde(skip)]
    months: Vec<(BillingMonth, Vec<String>)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TeamName {
    pub team: String,
    pub name: String,
}

/// A team as of the last month of a period that has it, else as of the last that ever had it. `None` where there
/// never was one, or the viewer may not see it, by a configuration and by that of today.
pub fn seen_team(
    configuration: &Configuration,
    today: &Configuration,
    viewer: &Viewer,
    handle: &str,
    period: Period,
) -> Option<SeenTeam> {
    let mut months: Vec<BillingMonth> = period.months().collect();
    months.reverse();
    let others = configuration.entries.values().filter_map(|entry| match entry {
        Entry::Team(team) if team.handle == handle => team.months.last.or(team.months.first),
        _ => None,
    });
    let mut others: Vec<BillingMonth> = others.collect();
    others.sort_unstable_by(|a, b| b.cmp(a));
    let mut who = months
        .iter()
        .copied()
        .chain(others)
        .find_map(|month| seen_in(configuration, today, viewer, handle, month))?;
    for month in months {
        let Some(then) = seen_in(configuration, today, viewer, handle, month) else { continue };
        who.months.push((month, then.handles()));
        for team in then.teams_inside {
            if who.teams_inside.iter().all(|known| known.team != team.team) {
                who.teams_inside.push(team);
            }
        }
    }
    Some(who)
}

/// A team as of one month.
fn seen_in(
    configuration: &Configuration,
    today: &Configuration,
    viewer: &Viewer,
    handle: &str,
    month: BillingMonth,
) -> Option<SeenTeam> {
    let of_month = configuration.of_month(month);
    let team = of_month.team(handle)?;
    let mut theirs = teams(configuration, viewer, month, month);
    let theirs_today = teams(today, viewer, month, month);
    theirs.retain(|team| theirs_today.contains(team));
    let is_seen =
        |handle: &str| *viewer == Viewer::Everything || theirs.iter().any(|(_, team)| team == handle);
    let named = |handle: &str| {
        let team = of_month.team(handle)?;
        Some(TeamName { team: team.handle.clone(), name: team.name.clone() })
    };
    is_seen(handle).then(|| SeenTeam {
        team: team.handle.clone(),
        name: team.name.clone(),
        part_of: team.parent.as_deref().filter(|parent| is_seen(parent)).and_then(named),
        teams_inside: of_month
            .with_teams_inside(handle)
            .into_iter()
            .skip(1)
            .filter(|inside| is_seen(inside))
            .filter_map(named)
            .collect(),
        month,
        months: Vec::new(),
    })
}

impl SeenTeam {
    /// Whether the viewer sees it in a period at all.
    pub fn is_there(&self) -> bool {
        !self.months.is_empty()
    }

    /// The first and the last month of a period in which the viewer sees it, where that is not all of it.
    pub fn months_there(&self, period: Period) -> Option<Period> {
        let months = || self.months.iter().map(|(month, _)| *month);
        let there = Period::new(months().min()?, months().max()?)?;
        (there != period).then_some(there)
    }

    /// The team and those inside it.
    pub fn handles(&self) -> Vec<String> {
        std::iter::once(&self.team).chain(self.teams_inside.iter().map(|it| &it.team)).cloned().collect()
    }

    /// The team and those inside it, with their names.
    pub(super) fn names(&self) -> impl Iterator<Item = TeamName> {
        let own = TeamName { team: self.team.clone(), name: self.name.clone() };
        std::iter::once(own).chain(self.teams_inside.iter().cloned())
    }

    /// The last month of the period in which one of them is charged with the others.
    pub(super) fn last_month_of(&self, team: &str) -> BillingMonth {
        let with_it = self.months.iter().filter(|(_, teams)| teams.iter().any(|it| it == team));
        with_it.map(|(month, _)| *month).max().unwrap_or(self.month)
    }

    /// Those that are charged together in a month; none where the viewer does not see the team in it.
    pub(super) fn in_month(&self, month: BillingMonth) -> &[String] {
        self.months.iter().find(|(it, _)| *it == month).map_or(&[], |(_, teams)| teams)
    }

    /// What these teams are charged, in each month those that are inside it then, as their lead sees it: on the page of a
    /// team everybody reads the same, and who may see what its shared costs are made of finds that on other pages.
    pub(super) fn question(&self, asked: &Question) -> Question {
        let viewer = match &asked.viewer {
            Viewer::Everything => Viewer::Teams(vec![self.team.clone()]),
            theirs @ Viewer::Teams(_) => theirs.clone(),
        };
        let of_team = Some(self.team.clone());
        let sees_everything = asked.sees_everything || asked.viewer == Viewer::Everything;
        Question { viewer, of_team, sees_everything, ..asked.clone() }
    }
}
