//! `/scenarios`: where work should run. Those that are kept, templates to begin with, and files.

mod address;
mod answer;
pub(super) mod begin;
pub(super) mod calculators;
mod charts;
pub(super) mod claims;
mod edit;
mod field;
mod ledger;
mod prices;
mod prospects;
pub(super) mod save;
mod scope;
pub(super) mod show;
pub(super) mod versions;
mod words;

use std::borrow::Borrow;

use askama::Template;
use chrono::NaiveDate;
use sqlx::PgConnection;

use super::csv;
use super::error::Result;
use super::extract::Reading;
use super::format::Format;
use super::layout::Layout;
use super::{Access, filters, paths, respond};
use crate::accounts::Person;
use crate::economics::file::Wrong;
use crate::economics::template::{Template as Beginning, templates};
use crate::period::Period;
use crate::report::Answers;
use crate::saved_scenarios::{self, Line};
use crate::{ledger as charges, telemetry};
use scope::seen_by;

#[derive(Template)]
#[template(path = "scenarios/index.html")]
struct Page {
    layout: Layout,
    scenarios: Vec<Line>,
    removed: Vec<Line>,
    templates: &'static [Beginning],
    /// What a scenario of the ledger is of, where nothing else is chosen.
    usual: Period,
    /// Teams that this person sees, by handle and name.
    teams: Vec<(String, String)>,
    /// Whether it is known of some hours who held them.
    has_usage: bool,
    /// Of a file that was not taken: its name, and what is wrong with it.
    refused: Option<(String, Vec<Wrong>)>,
}

impl Page {
    async fn of(
        layout: Layout,
        (db, answers): (&mut PgConnection, &Answers),
        person: &Person,
        refused: Option<(String, Vec<Wrong>)>,
        today: NaiveDate,
    ) -> Result<Self> {
        let usual = ledger::usual_period(&mut *db, answers, &person.viewer(), today).await?;
        let teams = ledger::teams(&mut *db, answers, &person.viewer(), usual).await?;
        let sequence = charges::sequence(&mut *db).await?;
        let has_usage = telemetry::read::version(&mut *db, sequence).await? > 0;
        let reader = seen_by(db, person, today).await?;
        let scenarios = saved_scenarios::list(&mut *db, &reader, false).await?;
        let removed = saved_scenarios::list(db, &reader, true).await?;
        Ok(Self { layout, scenarios, removed, templates: templates(), usual, teams, has_usage, refused })
    }

    /// Periods to begin with, the usual one first.
    fn periods(&self) -> Vec<(String, String, bool)> {
        let mut periods = vec![self.usual, self.usual.previous()];
        for period in self.usual.around() {
            if !periods.contains(&period) {
                periods.push(period);
            }
        }
        periods.into_iter().map(|it| (it.to_string(), it.name(), it == self.usual)).collect()
    }

    /// Everything that one sees, and each team of it.
    fn whose(&self) -> Vec<(String, String, bool)> {
        let all = if self.layout.may(Access::Finance) { "Everything" } else { "All your teams" };
        let all = (String::new(), all.to_owned(), true);
        let teams = self.teams.iter().map(|(handle, name)| (handle.clone(), name.clone(), false));
        std::iter::once(all).chain(teams).collect()
    }

    /// Which hours are its work.
    #[expect(clippy::unused_self, reason = "as the page's other choices")]
    fn which_hours(&self) -> Vec<(String, String, bool)> {
        let all = ledger::WhichHours::ALL.into_iter();
        all.map(|it| (it.to_string(), it.label().to_owned(), it == ledger::WhichHours::All)).collect()
    }

    /// Of those that were removed the ones that this person may bring back: their own, or any.
    fn is_own(&self, line: &Line) -> bool {
        self.layout.person.as_ref().is_some_and(|it| it.email == line.owner)
    }
}

/// The address of a scenario's page.
fn to(scenario: impl Borrow<i64>) -> String {
    paths::Scenario { scenario: *scenario.borrow() }.to_string()
}

/// An address of what belongs to a scenario: its versions, or a form that writes.
fn below(scenario: impl Borrow<i64>, what: &str) -> String {
    format!("{}/{what}", to(scenario))
}

fn to_template(handle: &str) -> String {
    paths::ScenarioTemplate { template: handle.to_owned() }.to_string()
}

pub async fn index(_: paths::Scenarios, format: Format, reading: Reading) -> Result {
    let Reading { now, layout, person, app, mut db, .. } = reading;
    let today = now.date_naive();
    if format == Format::Html {
        return respond::html(Page::of(layout, (&mut db, &app.answers), &person, None, today).await?);
    }
    let reader = seen_by(&mut db, &person, today).await?;
    let list = saved_scenarios::list(&mut db, &reader, false).await?;
    if format == Format::Csv { csv::answer("scenarios", &list) } else { respond::json(&list) }
}

csv::record! {
    |it: Line|
    "scenario" => it.scenario,
    "name" => &it.name,
    "version" => it.version,
    "months" => it.months,
    "cheapest" => &it.headline.cheapest,
    "cost_per_productive_gpu_hour" => it.headline.cost_per_hour,
    "currency" => it.currency.as_str(),
    "owner" => &it.owner,
    "saved_by" => &it.saved_by,
    "saved_at" => it.saved_at.to_rfc3339(),
}
