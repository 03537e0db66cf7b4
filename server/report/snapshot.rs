//! What decides an answer besides the question: what counts, what it is converted with, whose it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use sqlx::PgConnection;

use super::compared::SameDays;
use super::question::SHARED;
use super::show_spaces::with_visible_ends;
use super::{Answers, Grouping, Question};
use crate::accounts::Viewer;
use crate::allocation::{self, Configuration, MonthAllocation};
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
pub(super) struct Names(BTreeMap<(&'static str, String), String>);

impl Allocation {
    /// What a question needs of the allocation of its period and the one before, of which nothing is remembered.
    pub async fn find(db: &mut PgConnection, question: &Question, sequence: i64) -> sqlx::Result<Arc<Self>> {
        Answers::default().allocation(db, question, sequence).await
    }

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
            for it in &of_month.teams {
                name("team", &it.handle, &it.name);
            }
            for it in &of_month.projects {
                name("project", &it.handle, &it.name);
            }
            for it in &of_month.cost_centres {
                name("cost-centre", &it.handle, &it.name);
            }
            for it in &of_month.experiments {
                name("experiment", &it.handle, &it.name);
            }
            for it in &of_month.pools {
                name("pool", &it.handle, &it.name);
            }
            for (id, rule) in &of_month.rules {
                name("rule", &id.to_string(), &rule.name);
            }
        }
        Self(names)
    }

    /// With these, which win.
    pub fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// How a value of a dimension reads on a page.
    pub fn label(&self, dimension: &Grouping, value: Option<&str>) -> String {
        let Some(value) = value else { return dimension.missing() };
        let named = |kind: &'static str, key: &str| self.0.get(&(kind, key.to_owned()));
        if let Some(pool) = value.strip_prefix(SHARED) {
            let name = named("pool", pool).map_or(pool, String::as_str);
            return format!("Shared: {}", with_visible_ends(name));
        }
        let kind = match dimension {
            Grouping::Team => "team",
            Grouping::Project => "project",
            Grouping::CostCentre => "cost-centre",
            Grouping::Experiment => "experiment",
            Grouping::Pool => "pool",
            Grouping::Rule => "rule",
            _ => "",
        };
        match named(kind, value) {
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
