//! A team's part of a period: `/teams/vision/2026-09`, its `.json` and `.csv`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sqlx::PgConnection;

use super::as_of::Error;
use super::data_status::DataStatus;
use super::onprem_unit_cost_parts::{OwnedPrice, owned_price};
use super::over_time::{Series, Step};
use super::seen_team::SeenTeam;
use super::shared_movement::{SharedMovement, TeamParts, shared_movements};
use super::snapshot::months;
use super::statement::{Cents, Finality, Restated, months_in_cents, restated_months};
use super::token_costs::TokenCost;
use super::unit_costs::{TeamUnit, units};
use super::{
    Answers, BudgetLine, Completeness, Group, Grouping, HourChain, Movement, Question, Spend, Variance,
};
use crate::allocation::{BudgetOf, Configuration};
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
    /// What became of its GPU-hours, where machines are divided by use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hours: Option<HourChain>,
    /// Jobs that cost most, where machines are divided by use; what they cost is in what is direct.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<(String, Decimal)>,
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
    /// What tokens of language models cost it directly: of shared costs nobody is told what they are made of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<TokenCost>,
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

    let job_costs = answers.job_costs(db, &question.direct(), None).await?;
    // Without machines that are divided there is nothing to say of who used them.
    let of_usage = job_costs.breakdowns();
    let hours = answers.hours_if_divided(&mut *db, &question, &job_costs).await?;
    let mut breakdowns = Vec::new();
    for by in [
        Grouping::Project,
        Grouping::Experiment,
        Grouping::Accelerator,
        Grouping::ModelSize,
        Grouping::Workload,
        Grouping::Pricing,
    ]
    .into_iter()
    .chain(of_usage)
    {
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
    let of_year =
        Question { period: Period::up_to(question.period.last(), MONTHS), ..question.by(Grouping::Pool) };
    let year = answers.spend(db, &of_year).await?;
    let series = answers.over_time(db, &of_year, Step::Month, &year, COLORED).await?;
    let completeness = answers.completeness(db, question.period, &question.viewer, by_pool.sequence).await?;
    let sequence = by_pool.sequence;
    let state = Finality::find(db, answers, question.period, by_pool.sequence).await?;
    let restated = restated_months(db, answers, &who, &question, &asked_by, sequence).await?;
    let tokens = answers.token_costs(db, &question.direct(), &by_pool).await?;
    let units = if is_now { units(db, answers, &who.team, &question).await? } else { Vec::new() };
    // What it may spend is shown to whoever sees what it spent.
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
        tokens,
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
        hours,
        jobs: job_costs.largest(NAMED),
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
            previous: groups.iter().map(Group::previous_cost).sum(),
            accelerator_hours: groups.iter().map(|group| group.accelerator_hours).sum(),
            owned_hours: groups.iter().map(|group| group.owned_hours).sum(),
            share: cost.divide(total, PLACES),
        }
    }
}
