//! `/teams/vision/2026-09`: what a team is charged in a period, why it changed, and what it was spent on.

pub mod chargeback;
mod file;
pub mod latest;
pub mod statement;

use askama::Template;
use sqlx::PgConnection;

use super::choices::{self, Choices};
use super::error::Result;
use super::extract::{Pairs, Reading};
use super::format::{File, Format};
use super::layout::Layout;
use super::question::Asked;
use super::spend::chart;
use super::{Access, Error, experiments, filters, jobs, paths, respond};
use crate::accounts::Viewer;
use crate::chart::Stack;
use crate::ledger;
use crate::period::Period;
use crate::report::{
    self, Answers, Breakdown, Filter, Group, Grouping, Movement, SeenTeam, SharedMovement, Step, TeamName,
    TeamReport, TokenTable,
};

/// Kinds of tokens on the page.
const SHOWN_TOKENS: usize = 8;
/// What the addresses of these pages take.
const TAKES: &str = "cost currency in sequence";

#[derive(Template)]
#[template(path = "teams/team.html")]
struct Page {
    layout: Layout,
    period: Period,
    choices: Choices,
    it: TeamReport,
    chart: Stack,
}

pub async fn show(path: paths::Team, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: pairs, app, mut db, .. } = reading;
    let period = path.period;
    let asked = Asked::read_only(pairs, TAKES)?;
    let question = asked.question(period, person.viewer());
    let who = seen(&mut db, &app.answers, &question.viewer, &path.team, period, asked.sequence).await?;
    let mut it = Box::pin(report::team_report(&mut db, &app.answers, who, &question)).await?;
    it.completeness = choices::completeness_for(&person, it.completeness);
    match format {
        Format::Json => respond::json(&it),
        Format::Csv => file::csv(&it),
        Format::Html => {
            let team = it.who.team.clone();
            let address = move |asked: &Asked, period| asked.link(paths::Team { team: team.clone(), period });
            let choices = Choices::find(&mut db, asked, period, &it.data_status, address).await?;
            let chart = over_time(&it);
            respond::html(Page { layout, period, choices, it, chart })
        }
    }
}

/// The team of an address. One that the viewer may not see is not there, as one that never was.
pub(super) async fn seen(
    db: &mut PgConnection,
    answers: &Answers,
    viewer: &Viewer,
    handle: &str,
    period: Period,
    sequence: Option<i64>,
) -> Result<SeenTeam> {
    let current = ledger::sequence(db).await?;
    let configuration = answers.configuration(db, sequence.unwrap_or(current).clamp(0, current)).await?;
    let today = answers.configuration(db, current).await?;
    report::seen_team(&configuration, &today, viewer, handle, period).ok_or(Error::NotFound)
}

fn over_time(it: &TeamReport) -> Stack {
    let mut stack = chart::stack(&it.year, Step::Month, it.series.clone());
    stack.title = format!("{} by month, direct and shared", it.data_status.cost.label());
    stack.description = format!("{}, {}, stacked columns.", it.who.name, it.year.period.name());
    for series in &mut stack.series {
        if series.label == Grouping::Pool.missing() {
            "Direct".clone_into(&mut series.label);
        }
    }
    stack
}

impl Page {
    fn all_teams(&self) -> String {
        self.choices.asked.link(paths::Chargeback { period: self.period })
    }

    fn to_team(&self, team: &str) -> String {
        self.choices.asked.link(paths::Team { team: team.to_owned(), period: self.period })
    }

    fn inside(&self, group: &Group) -> Option<&TeamName> {
        self.it.who.teams_inside.iter().find(|team| Some(&team.team) == group.key.as_ref())
    }

    /// Its jobs, where there are some.
    fn jobs(&self) -> Option<String> {
        let all = || jobs::only(&self.choices.asked, self.period, jobs::By::Team, &self.it.who.team);
        (!self.it.jobs.is_empty()).then(all)
    }

    /// Its GPU-hours by project.
    fn hours(&self) -> String {
        let asked = self.choices.asked.only(&Grouping::Team, Some(&self.it.who.team)).by(Grouping::Project);
        jobs::hours::address(&asked, self.period)
    }

    fn statement(&self) -> String {
        let team = self.it.who.team.clone();
        self.choices.asked.link(paths::Statement { team, period: self.period })
    }

    fn against(&self) -> String {
        self.it.data_status.compared.against(self.period)
    }

    /// The shared cost that a movement is of, where it is one.
    fn shared_movement(&self, movement: &Movement) -> Option<&SharedMovement> {
        let of_pool = |it: &&SharedMovement| movement.provider.is_empty() && movement.item == it.title();
        self.it.shared_movements.iter().find(of_pool)
    }

    fn shared_movement_of(&self, group: &Group) -> Option<&SharedMovement> {
        self.it.shared_movements.iter().find(|it| group.key.as_ref() == Some(&it.pool))
    }

    fn has_hours(&self) -> bool {
        !self.it.accelerator_hours.is_zero()
    }

    fn has_owned(&self) -> bool {
        !self.it.owned_hours.is_zero()
    }

    /// What the team is charged, as pages of spend ask for it.
    fn of_team(&self) -> Asked {
        let filters = vec![Filter::keep(Grouping::Team, self.it.who.handles())];
        Asked { filters, ..self.choices.asked.clone() }
    }

    fn spend(&self) -> String {
        self.of_team().link(paths::Spend { period: self.period })
    }

    fn shown_tokens(&self) -> TokenTable<'_> {
        TokenTable::of(&self.it.tokens, SHOWN_TOKENS)
    }

    fn to_tokens(&self) -> String {
        self.of_team().only(&Grouping::Pool, None).link(paths::Tokens { period: self.period })
    }

    fn scenario(&self) -> String {
        self.of_team().scenario(self.period)
    }

    fn variance(&self) -> String {
        self.of_team().link(paths::Variance { period: self.period })
    }

    /// Breakdowns that tell something.
    fn described(&self) -> impl Iterator<Item = &Breakdown> {
        self.it.breakdowns.iter().filter(|breakdown| breakdown.groups.iter().any(|group| group.key.is_some()))
    }

    /// What nothing has a value for.
    fn not_described(&self) -> Vec<String> {
        let breakdowns = self.it.breakdowns.iter();
        let not_described =
            breakdowns.filter(|breakdown| breakdown.groups.iter().all(|group| group.key.is_none()));
        not_described.map(|breakdown| breakdown.by.label().to_lowercase()).collect()
    }

    /// What a pool is made of; a lead, who does not see that, is led to what it amounts to.
    fn to_pool(&self, group: &Group) -> String {
        let asked = self.of_team().only(&Grouping::Pool, group.key.as_deref());
        asked.link(paths::Spend { period: self.period })
    }

    /// What a group of a breakdown is made of. Nowhere for what was folded.
    fn to_group(&self, breakdown: &Breakdown, group: &Group) -> Option<String> {
        if let (Grouping::Experiment, Some(experiment), false) = (&breakdown.by, &group.key, group.is_folded)
        {
            let direct = self.of_team().only(&Grouping::Pool, None);
            return Some(experiments::to_experiment(experiment, Some(self.period), &direct));
        }
        let direct = self.of_team().only(&Grouping::Pool, None);
        let asked = direct.only(&breakdown.by, group.key.as_deref());
        (!group.is_folded).then(|| asked.link(paths::Spend { period: self.period }))
    }

    /// All groups of a breakdown.
    fn to_all(&self, breakdown: &Breakdown) -> String {
        if breakdown.by == Grouping::Experiment {
            return self.of_team().link(paths::Experiments { period: self.period });
        }
        let direct = self.of_team().only(&Grouping::Pool, None).by(breakdown.by.clone());
        direct.link(paths::Spend { period: self.period })
    }
}
