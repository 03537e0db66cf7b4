//! What decides an answer besides the question: what is active, what it is converted with, whose it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::compared::SameDays;
use super::question::SHARED;
use super::show_spaces::with_visible_ends;
use super::unpriced::SeenBy;
use super::{Grouping, Question};
use crate::accounts::Viewer;
use crate::allocation::{self, Configuration, MonthAllocation, MonthConfiguration};
use crate::exchange::Rates;
use crate::ledger::ActiveImports;
use crate::money::Currency;
use crate::period::BillingMonth;

/// Equal bases give equal answers to equal questions, whatever the sequence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Snapshot {
    pub visible: Arc<ActiveImports>,
    pub rates: Arc<Rates>,
    /// What amounts are converted into: what was asked for, else the reporting currency. `None`: they stay as they are.
    pub into: Option<Currency>,
    /// How far a period has come that is not over: so far it is compared with the one before.
    pub same_days: Option<Arc<SameDays>>,
    pub allocation: Arc<Allocation>,
}

/// A question, what decides its answer besides, and the version of the ledger that this is as of.
#[derive(Clone, Copy)]
pub(super) struct AsOf<'a> {
    pub question: &'a Question,
    pub snapshot: &'a Snapshot,
    pub sequence: i64,
}

/// The allocation of the months of a question; nothing where it does not ask for any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Allocation {
    pub months: Vec<MonthAllocation>,
    /// The teams whose rows the viewer may see, those inside theirs included, by month. For a viewer of teams only.
    pub teams: Vec<(BillingMonth, String)>,
    pub names: Names,
}

/// What people call what the configuration has numbers and handles for, as of the last month of a question that has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Names(BTreeMap<(Grouping, String), String>);

impl Allocation {
    /// Whether a viewer of teams sees others in one month than in another.
    pub fn teams_moved(&self) -> bool {
        let of = |month: BillingMonth| {
            self.teams.iter().filter(move |(it, _)| *it == month).map(|(_, team)| team).collect::<Vec<_>>()
        };
        !self.teams.is_empty() && self.months.windows(2).any(|pair| of(pair[0].month) != of(pair[1].month))
    }

    /// Whether shared costs are divided among teams before a question is answered: where it is about teams, or asked by who
    /// sees some alone.
    pub fn divides(&self, question: &Question) -> bool {
        let is_about_teams = question.dimensions().any(Grouping::divides);
        self.is_needed() && (is_about_teams || question.viewer != Viewer::Everything)
    }

    /// Whose keys a viewer may hear of. Until there are teams, those of nobody for whoever sees some alone.
    pub fn seen_by(&self, viewer: &Viewer) -> SeenBy {
        match viewer {
            Viewer::Everything => SeenBy::Everybody,
            Viewer::Teams(_) => SeenBy::Teams {
                sets: self.months.iter().map(|month| month.set_id).collect(),
                teams: self.teams.iter().map(|(_, team)| team.clone()).collect(),
            },
        }
    }

    /// Whether there is one.
    pub fn is_needed(&self) -> bool {
        !self.months.is_empty()
    }
}

impl Names {
    pub fn of(configuration: &Configuration, first: BillingMonth, last: BillingMonth) -> Self {
        let mut names = BTreeMap::new();
        let mut name = |kind, key: &str, name: &str| names.insert((kind, key.to_owned()), name.to_owned());
        for month in months(first, last) {
            let of_month = configuration.of_month(month);
            for (of, handle, title) in named(&of_month) {
                name(of, handle, title);
            }
            for (id, rule) in &of_month.rules {
                name(Grouping::Rule, &id.to_string(), &rule.name);
            }
        }
        Self(names)
    }

    /// With these, which win.
    pub fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// How the owner of a key reads on a page: its team, or the shared costs that it belongs to.
    pub fn owner(&self, team: &str, pool: &str) -> String {
        let value = if pool.is_empty() { team.to_owned() } else { format!("{SHARED}{pool}") };
        self.label(&Grouping::Team, Some(value.as_str()).filter(|it| !it.is_empty()))
    }

    /// How a value of a dimension reads on a page.
    pub fn label(&self, dimension: &Grouping, value: Option<&str>) -> String {
        let Some(value) = value else { return dimension.missing() };
        let named = |of: &Grouping, key: &str| self.0.get(&(of.clone(), key.to_owned()));
        if let Some(pool) = value.strip_prefix(SHARED) {
            let name = named(&Grouping::Pool, pool).map_or(pool, String::as_str);
            return format!("Shared: {}", with_visible_ends(name));
        }
        match named(dimension, value) {
            Some(name) => with_visible_ends(name),
            None => dimension.value_label(Some(value)),
        }
    }
}

impl Question {
    /// Whether it asks for owners, or is asked by somebody who sees only what some of them own.
    pub(super) fn may_need_allocation(&self) -> bool {
        self.dimensions().any(Grouping::is_allocated) || self.viewer != Viewer::Everything
    }

    /// The teams whose rows it is about, by month, where the viewer sees only those of some.
    pub(super) fn teams(
        &self,
        configuration: &Configuration,
        first: BillingMonth,
        last: BillingMonth,
    ) -> Vec<(BillingMonth, String)> {
        let mut seen = teams(configuration, &self.viewer, first, last);
        if let Some(team) = &self.of_team {
            let inside = teams(configuration, &Viewer::Teams(vec![team.clone()]), first, last);
            seen.retain(|of_month| inside.contains(of_month));
        }
        seen
    }

    /// Until there are teams, what a lead sees is decided by tags alone.
    pub(super) fn needs_allocation(&self, configuration: &Configuration) -> bool {
        self.dimensions().any(Grouping::is_allocated)
            || (self.viewer != Viewer::Everything && configuration.has_teams())
    }
}

pub(super) fn months(first: BillingMonth, last: BillingMonth) -> impl Iterator<Item = BillingMonth> {
    std::iter::successors(Some(first), move |month| (*month < last).then(|| month.next()))
}

/// What a month has a name for: its dimension, its handle and the name.
pub(super) fn named<'a>(
    of_month: &'a MonthConfiguration<'_>,
) -> impl Iterator<Item = (Grouping, &'a str, &'a str)> {
    let teams = of_month.teams.iter().map(|it| (Grouping::Team, &it.handle, &it.name));
    let projects = of_month.projects.iter().map(|it| (Grouping::Project, &it.handle, &it.name));
    let centres = of_month.cost_centres.iter().map(|it| (Grouping::CostCentre, &it.handle, &it.name));
    let experiments = of_month.experiments.iter().map(|it| (Grouping::Experiment, &it.handle, &it.name));
    let pools = of_month.pools.iter().map(|it| (Grouping::Pool, &it.handle, &it.name));
    let all = teams.chain(projects).chain(centres).chain(experiments).chain(pools);
    all.map(|(of, handle, name)| (of, handle.as_str(), name.as_str()))
}

/// The viewer's teams and all inside them, month by month.
pub(super) fn teams(
    configuration: &Configuration,
    viewer: &Viewer,
    first: BillingMonth,
    last: BillingMonth,
) -> Vec<(BillingMonth, String)> {
    let Viewer::Teams(theirs) = viewer else { return Vec::new() };
    let mut found = Vec::new();
    for month in months(first, last) {
        let of_month = configuration.of_month(month);
        let mut teams: Vec<String> = theirs
            .iter()
            .flat_map(|team| of_month.with_teams_inside(&allocation::handle_of(team)))
            .map(str::to_owned)
            .collect();
        teams.sort();
        teams.dedup();
        found.extend(teams.into_iter().map(|team| (month, team)));
    }
    found
}
