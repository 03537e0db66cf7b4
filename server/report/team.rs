//! A team's part of a period: `/teams/vision/2026-09`, its `.json` and `.csv`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sqlx::PgConnection;

use super::as_of::Error;
use super::data_status::DataStatus;
use super::onprem_unit_cost_parts::{OwnedPrice, owned_price};
use super::over_time::{Series, Step};
use super::shared_movement::{SharedMovement, TeamParts, shared_movements};
use super::snapshot::{months, teams};
use super::statement::{Cents, Finality, Restated, months_in_cents, restated_months};
use super::unit_costs::{TeamUnit, units};
use super::{Answers, BudgetLine, Completeness, Group, Grouping, Movement, Question, Spend, Variance};
use crate::accounts::Viewer;
use crate::allocation::{BudgetOf, Configuration, Entry};
use crate::money::{Decimal, Money};
use crate::period::{BillingMonth, Period};

/// Groups of a breakdown that are named; the others are added up.
const NAMED: usize = 8;
/// Movements that are shown.
const MOVEMENTS: usize = 10;
/// Months of the chart.
const MONTHS: u32 = 12;
/// Pools with a color of their own in it.
const COLORED: usize = 7;
/// Decimals of what is stated.
const CENTS: u8 = 2;
/// Decimals of shares.
const PLACES: u8 = 6;

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

/// The answer. Direct and shared sum to the total, each breakdown to what is direct, the parts to the change.
#[derive(Clone, Debug, Serialize)]
pub struct TeamReport {
    #[serde(flatten)]
    pub who: SeenTeam,
    pub period: Period,
    pub previous_period: Period,
    #[serde(flatten)]
    pub data_status: DataStatus,
    pub total: Option<Money>,
    pub previous: Option<Money>,
    /// The total, what is direct and what is shared in cents, as on the statement.
    pub stated: Cents,
    pub direct: Part,
    pub shared: Part,
    pub accelerator_hours: Decimal,
    pub owned_hours: Decimal,
    pub cost_per_accelerator_hour: Option<Decimal>,
    /// What everything owned costs it, shared costs included, per hour owned.
    pub cost_per_owned_hour: Option<Decimal>,
    /// The same of everything that the organization pays for.
    pub organization_cost_per_accelerator_hour: Option<Decimal>,
    pub organization_cost_per_owned_hour: Option<Decimal>,
    /// Why the one is not the other.
    pub owned_price: Option<OwnedPrice>,
    /// Why it changed since the period before.
    pub parts: TeamParts,
    /// Its part of each pool.
    pub shared_costs: Vec<Group>,
    /// The same in cents, which sum to those of what is shared.
    pub stated_shared_costs: Vec<Decimal>,
    /// Why each of these changed.
    pub shared_movements: Vec<SharedMovement>,
    /// By the teams inside it, shared costs included; empty where there are none.
    pub by_team: Vec<Group>,
    /// The same in cents, as on their statements.
    pub stated_by_team: Vec<Decimal>,
    /// What is direct, by one dimension after the other.
    pub breakdowns: Vec<Breakdown>,
    /// The largest first, up or down.
    pub movements: Vec<Movement>,
    pub movements_in_all: usize,
    #[serde(rename = "standing")]
    pub completeness: Vec<Completeness>,
    /// Of every bill, also of those that the viewer sees nothing of but a part of shared costs.
    pub state: Finality,
    /// Months that were final as something else; what made them so stands on the statement.
    pub restated: Vec<Restated>,
    /// What units cost it, as quantities and rates stand now; none as of earlier versions of the ledger.
    pub units: Vec<TeamUnit>,
    /// Its budgets of a month, as they stand now; none of longer periods and of earlier versions of the ledger.
    pub budgets: Vec<BudgetLine>,
    #[serde(skip)]
    pub year: Spend,
    #[serde(skip)]
    pub series: Series,
}

/// A part of what a team is charged.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Part {
    pub cost: Decimal,
    pub previous: Decimal,
    pub accelerator_hours: Decimal,
    pub owned_hours: Decimal,
    pub share: Option<Decimal>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Breakdown {
    pub by: Grouping,
    pub groups: Vec<Group>,
    /// What each of them amounts to in cents, which sum to those of what is broken down.
    pub stated: Vec<Decimal>,
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

/// Asks for everything that a team's page shows.
pub async fn team_report(
    db: &mut PgConnection,
    answers: &Answers,
    who: SeenTeam,
    question: &Question,
) -> Result<TeamReport, Error> {
    let is_now = question.sequence.is_none();
    let asked_by = question.viewer.clone();
    let question = who.question(question);
    let by_pool = answers.spend(db, &question.by(Grouping::Pool)).await?;
    let question = question.beside(&by_pool);
    let (own, shared_costs): (Vec<Group>, Vec<Group>) =
        by_pool.groups.iter().cloned().partition(|group| group.key.is_none());
    let total = by_pool.total.as_ref().map(|total| total.amount).unwrap_or_default();

    let mut breakdowns = Vec::new();
    for by in [
        Grouping::Project,
        Grouping::Experiment,
        Grouping::Accelerator,
        Grouping::ModelSize,
        Grouping::Workload,
        Grouping::Pricing,
    ] {
        let asked = Question { limit: Some(NAMED), ..question.direct().by(by.clone()) };
        let mut groups = answers.spend(db, &asked).await?.groups;
        for group in &mut groups {
            group.share = group.cost.amount.divide(total, PLACES);
        }
        breakdowns.push(Breakdown { by, groups, stated: Vec::new() });
    }
    let by_team = if who.teams_inside.is_empty() {
        Vec::new()
    } else {
        answers.spend(db, &question.by(Grouping::Team)).await?.groups
    };
    let everyone = answers.spend(db, &question.of_organization().by(Grouping::Pool)).await?;
    let owned_price = owned_price(db, answers, &question, &by_pool, &everyone).await?;
    let configuration = answers.configuration(db, by_pool.sequence).await?;
    let direct = Part::of(&own, total);
    let who_stayed = match who_stayed(&question, &configuration) {
        Some(teams) => question.direct().only(Grouping::Team, teams),
        None => question.direct(),
    };
    let variance = answers.variance(db, &who_stayed).await?;
    let shared_movements = shared_movements(db, answers, &question, &shared_costs).await?;
    let moved = moved_teams(&direct, &variance, &by_pool);
    let in_cents = months_in_cents(db, answers, &question, &configuration).await?;
    let of_teams = || in_cents.iter().flat_map(|(_, teams)| teams);
    let stated: Cents = of_teams().map(|(_, cents)| *cents).sum();
    let stated_by_team = by_team
        .iter()
        .map(|group| of_teams().filter(|(team, _)| **team == group.key).map(|(_, cents)| cents.total).sum())
        .collect();
    let costs = |groups: &[Group]| groups.iter().map(|group| group.cost.amount).collect::<Vec<_>>();
    for breakdown in &mut breakdowns {
        breakdown.stated = Decimal::round_parts_to(&costs(&breakdown.groups), stated.direct, CENTS);
    }
    let stated_shared_costs = Decimal::round_parts_to(&costs(&shared_costs), stated.shared, CENTS);
    let last = question.period.last();
    let year = Period::new(last.minus(MONTHS - 1), last).unwrap_or(question.period);
    let of_year = Question { period: year, ..question.by(Grouping::Pool) };
    let year = answers.spend(db, &of_year).await?;
    let series = answers.over_time(db, &of_year, Step::Month, &year, COLORED).await?;
    let completeness = answers.completeness(db, question.period, &question.viewer, by_pool.sequence).await?;
    let sequence = by_pool.sequence;
    let state = Finality::find(db, answers, question.period, by_pool.sequence).await?;
    let restated = restated_months(db, answers, &who, &question, &asked_by, sequence).await?;
    let units = if is_now { units(db, answers, &who.team, &question).await? } else { Vec::new() };
    // What it may spend is told to who sees what it spent.
    let is_seen = !who.in_month(question.period.first()).is_empty();
    let budgets = if is_seen && is_now && question.period.is_one_month() {
        let of = BudgetOf::Team(who.team.clone());
        answers.budgets_of(db, &question.viewer, &of, question.period.first()).await?
    } else {
        Vec::new()
    };
    Ok(TeamReport {
        budgets,
        restated,
        state,
        units,
        period: question.period,
        previous_period: question.period.previous(),
        data_status: DataStatus::from(&by_pool),
        direct,
        shared: Part::of(&shared_costs, total),
        accelerator_hours: by_pool.accelerator_hours,
        owned_hours: by_pool.owned_hours,
        cost_per_accelerator_hour: by_pool.cost_per_accelerator_hour,
        cost_per_owned_hour: by_pool.cost_per_owned_hour,
        organization_cost_per_accelerator_hour: everyone.cost_per_accelerator_hour,
        organization_cost_per_owned_hour: everyone.cost_per_owned_hour,
        owned_price,
        stated,
        stated_by_team,
        stated_shared_costs,
        parts: TeamParts::of(&variance.parts, moved.as_ref(), &shared_movements),
        movements: largest(&variance.movements, moved.as_ref(), &shared_movements),
        movements_in_all: variance.movements.len() + usize::from(moved.is_some()) + shared_movements.len(),
        shared_movements,
        shared_costs,
        by_team,
        breakdowns,
        completeness,
        total: by_pool.total,
        previous: by_pool.previous,
        year,
        series,
        who,
    })
}

/// The teams that are inside it in every month of a period and of the one before. `None`: all that ever are.
fn who_stayed(question: &Question, configuration: &Configuration) -> Option<Vec<String>> {
    let (first, last) = (question.period.previous().first(), question.period.last());
    let mut by_month: BTreeMap<BillingMonth, BTreeSet<String>> =
        months(first, last).map(|month| (month, BTreeSet::new())).collect();
    for (month, team) in question.teams(configuration, first, last) {
        by_month.entry(month).or_default().insert(team);
    }
    let ever: BTreeSet<&String> = by_month.values().flatten().collect();
    let is_always = |team: &&&String| by_month.values().all(|teams| teams.contains(**team));
    let always: Vec<String> = ever.iter().filter(is_always).map(|team| (**team).clone()).collect();
    (always.len() < ever.len()).then_some(always)
}

/// What is direct of teams that joined or left; nothing where none did.
fn moved_teams(direct: &Part, stayed: &Variance, spend: &Spend) -> Option<Movement> {
    let amount = |money: &Option<Money>| money.as_ref().map(|money| money.amount).unwrap_or_default();
    let (previous, cost) = (direct.previous - amount(&stayed.previous), direct.cost - amount(&stayed.total));
    let currency = spend.currency.clone().filter(|_| !previous.is_zero() || !cost.is_zero())?;
    Some(Movement::named("Teams that joined or left".to_owned(), previous, cost, currency))
}

/// What did not move is no movement. Shared costs, of which no provider is shown, go by their names.
fn largest(direct: &[Movement], teams: Option<&Movement>, shared: &[SharedMovement]) -> Vec<Movement> {
    let shared = shared.iter().map(SharedMovement::as_movement);
    let moved = direct.iter().chain(teams).cloned().chain(shared).filter(|it| !it.change.is_zero());
    let mut moved: Vec<Movement> = moved.collect();
    moved.sort_by_key(|it| std::cmp::Reverse((it.change.abs(), it.cost.abs())));
    moved.truncate(MOVEMENTS);
    moved
}

impl Part {
    fn of(groups: &[Group], total: Decimal) -> Self {
        let cost: Decimal = groups.iter().map(|group| group.cost.amount).sum();
        Self {
            cost,
            previous: groups.iter().filter_map(|group| Some(group.previous.as_ref()?.amount)).sum(),
            accelerator_hours: groups.iter().map(|group| group.accelerator_hours).sum(),
            owned_hours: groups.iter().map(|group| group.owned_hours).sum(),
            share: cost.divide(total, PLACES),
        }
    }
}
