//! `/experiments/during/2026-09`: every experiment of a period, and what belongs to none.

pub mod compare;
pub mod edit;
pub mod experiment;

use askama::Template;

use super::choices::Choices;
use super::csv::{self, RowInCurrency};
use super::error::Result;
use super::extract::{Pairs, Reading};
use super::format::{File, Format};
use super::layout::{Layout, Pages};
use super::question::Asked;
use super::table::{self, Head};
use super::{Access, default_month, filters, paths, respond};
use crate::period::Period;
use crate::report::{self, ExperimentLine, Experiments, SortBy};

/// Experiments on a page.
const PAGE: usize = 100;
/// What the address of the list takes.
const TAKES: &str = "cost currency in sequence sort find page team project cost-centre";
/// What stands side by side is asked by.
const HANDED_ON: &str = "cost currency in sequence";
/// What the page of an experiment takes: who leads there with a figure of some of its charges finds that figure.
const OF_ONE: &str = "cost currency in sequence team project cost-centre pool";

#[derive(Template)]
#[template(path = "experiments/index.html")]
struct Page {
    layout: Layout,
    period: Period,
    choices: Choices,
    it: Experiments,
}

/// The latest month.
pub async fn latest(_: paths::AnyExperiments, reading: Reading<Pairs>) -> Result {
    let Reading { person, query: pairs, app, mut db, .. } = reading;
    let asked = Asked::read_only(pairs, TAKES)?;
    let viewer = person.viewer();
    let Some((month, asked)) = default_month::latest(&mut db, &app.answers, asked, &viewer).await? else {
        return Ok(respond::see_other(paths::Overview));
    };
    Ok(respond::see_other(asked.link(paths::Experiments { period: month.into() })))
}

pub async fn show(path: paths::Experiments, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: pairs, app, mut db, .. } = reading;
    let period = path.period;
    let asked = Asked::read_only(pairs, TAKES)?;
    let it = report::experiments(&mut db, &app.answers, &asked.question(period, person.viewer())).await?;
    match format {
        Format::Json => respond::json(&it),
        Format::Csv => {
            let currency = it.whole.data_status.currency.as_ref();
            let lines = RowInCurrency::all(&it.experiments, currency);
            csv::answer(&format!("experiments-{period}"), &lines)
        }
        Format::Html => {
            let address = |asked: &Asked, period| asked.link(paths::Experiments { period });
            let choices = Choices::find(&mut db, asked, period, &it.whole.data_status, address).await?;
            respond::html(Page { layout, period, choices, it })
        }
    }
}

/// The address of an experiment's page, which shows all its months where no period is named.
pub(super) fn to_experiment(experiment: &str, period: Option<Period>, asked: &Asked) -> String {
    let path = paths::Experiment { experiment: paths::Named(experiment.to_owned()) };
    with_period(path, period, Vec::new(), asked.pairs_of(OF_ONE))
}

/// An address with what comes first in its query, a period, and what is asked.
fn with_period(
    path: impl axum_extra::routing::TypedPath,
    period: Option<Period>,
    mut pairs: Vec<(String, String)>,
    asked: Vec<(String, String)>,
) -> String {
    pairs.extend(period.map(|period| ("period".to_owned(), period.to_string())));
    pairs.extend(asked);
    if pairs.is_empty() { path.to_string() } else { paths::with_query(path, &pairs) }
}

impl Page {
    /// Where the form that searches leads.
    fn action(&self) -> String {
        paths::Experiments { period: self.period }.to_string()
    }

    fn of_all(&self) -> String {
        self.choices.at(&self.choices.asked.find(None))
    }

    /// What the form that compares takes along.
    fn handed_on(&self) -> Vec<(String, String)> {
        self.choices.asked.pairs_of(HANDED_ON)
    }

    fn to_line(&self, line: &ExperimentLine) -> Option<String> {
        let experiment = line.experiment.as_ref().filter(|_| !line.is_folded)?;
        Some(to_experiment(experiment, Some(self.period), &self.choices.asked))
    }

    /// Experiments that cost something in this period.
    fn count(&self) -> usize {
        let is_one = |line: &&ExperimentLine| line.experiment.is_some() && !line.is_folded;
        self.it.experiments.iter().filter(is_one).filter(|line| !line.figures.cost.is_zero()).count()
    }

    fn rows(&self) -> &[ExperimentLine] {
        table::page_of(&self.it.experiments, self.choices.asked.page, PAGE)
    }

    fn pages(&self) -> Pages {
        let first = self.choices.at(&Asked { page: 1, ..self.choices.asked.clone() });
        Pages::of(self.choices.asked.page, self.it.experiments.len() as u64, PAGE as u64, &first)
    }

    fn heads(&self) -> Vec<Head> {
        let currency =
            self.it.whole.data_status.currency.as_ref().map(ToString::to_string).unwrap_or_default();
        let head = table::heads(&self.choices.asked, SortBy::Cost, |asked| self.choices.at(asked));
        let mut heads = vec![
            head(SortBy::Name, "Experiment".to_owned()),
            head(SortBy::Cost, format!("{} {currency}", self.it.whole.data_status.cost.label())),
            Head::plain("Share"),
        ];
        if self.has_hours() {
            heads.push(head(SortBy::Hours, "Cloud GPU-hours".to_owned()));
            heads.push(head(SortBy::Price, "Per hour".to_owned()));
        }
        if self.has_owned() {
            heads.push(Head::plain("On-prem GPU-hours"));
        }
        let against = self.it.whole.data_status.compared.against(self.period);
        heads.push(head(SortBy::Change, format!("Change {against}")));
        heads
    }

    fn has_hours(&self) -> bool {
        !self.it.whole.accelerator_hours.is_zero()
    }

    fn has_owned(&self) -> bool {
        self.it.experiments.iter().any(|line| !line.figures.owned_hours.is_zero())
    }
}

csv::record! {
    |it: RowInCurrency<'_, ExperimentLine>|
    "experiment" => &it.row.experiment,
    "name" => &it.row.name,
    "teams" => it.row.teams.join(", "),
    "cost" => it.row.figures.cost,
    "share" => it.row.figures.share,
    "previous" => it.row.figures.previous,
    "change" => it.row.figures.change,
    "accelerator_hours" => it.row.figures.accelerator_hours,
    "owned_hours" => it.row.figures.owned_hours,
    "cost_per_accelerator_hour" => it.row.figures.cost_per_accelerator_hour,
    "first_day" => it.row.days.as_ref().map(|days| days.first),
    "last_day" => it.row.days.as_ref().map(|days| days.last),
    "days" => it.row.days.as_ref().map(|days| days.count as i64),
    "currency" => it.currency,
}
