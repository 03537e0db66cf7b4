//! `/experiments/compare?experiment=a&experiment=b`: up to six experiments side by side.

use askama::Template;
use sqlx::PgConnection;

use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::{Pairs, Reading};
use super::super::format::{File, Format};
use super::super::layout::Layout;
use super::super::question::Asked;
use super::super::spend::chart;
use super::super::{choices, filters, paths, respond};
use super::experiment::{find, take_period};
use super::{HANDED_ON, to_experiment, with_period};
use crate::accounts::Viewer;
use crate::chart::Stack;
use crate::exchange;
use crate::money::Currency;
use crate::period::Period;
use crate::report::{Answers, ExperimentReport, Filter, Grouping, PerUnit, Question, Step};

/// Experiments that fit beside each other.
pub(super) const MOST: usize = 6;

#[derive(Template)]
#[template(path = "experiments/compare.html")]
struct Page {
    layout: Layout,
    asked: Asked,
    period: Option<Period>,
    compared: Vec<ExperimentReport>,
    /// Labels that nothing is known of, or nothing that the viewer sees.
    unknown: Vec<String>,
    chart: Option<Stack>,
    reporting_currency: Option<Currency>,
}

/// What an address compares.
struct Compared {
    asked: Asked,
    period: Option<Period>,
    reports: Vec<ExperimentReport>,
    unknown: Vec<String>,
}

pub async fn show(_: paths::CompareExperiments, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: pairs, app, mut db, .. } = reading;
    let viewer = person.viewer();
    let compared = compared(&mut db, &app.answers, pairs, &viewer).await?;
    match format {
        Format::Json => return respond::json(&compared.all()?),
        Format::Csv => return csv::answer("experiments-compared", &compared.all()?),
        Format::Html => {}
    }
    let Compared { asked, period, reports, unknown } = compared;
    let chart = draw(&mut db, &app.answers, &asked, &reports, &viewer).await?;
    let reporting_currency = exchange::reporting_currency(&mut db).await?;
    respond::html(Page { layout, asked, period, compared: reports, unknown, chart, reporting_currency })
}

impl Compared {
    /// For scripts, which would take what is missing for nothing.
    fn all(self) -> Result<Vec<ExperimentReport>> {
        match self.unknown.as_slice() {
            [] => Ok(self.reports),
            names => Err(Error::BadRequest(format!(
                "experiment: found “{}”. Enter labels of charges that you can see.",
                names.join("”, “")
            ))),
        }
    }
}

/// Those that the viewer sees, in the order of the address.
async fn compared(
    db: &mut PgConnection,
    answers: &Answers,
    mut pairs: Vec<(String, String)>,
    viewer: &Viewer,
) -> Result<Compared> {
    let period = take_period(&mut pairs)?;
    let mut names: Vec<String> = Vec::new();
    pairs.retain(|(name, value)| {
        let is_one = name == "experiment";
        if is_one && !value.is_empty() && !names.contains(value) {
            names.push(value.clone());
        }
        !is_one
    });
    if names.len() > MOST {
        return Err(Error::BadRequest(format!("experiment: found {}. Compare at most {MOST}.", names.len())));
    }
    let mut asked = Asked::read_only(pairs, HANDED_ON)?;
    let (mut reports, mut unknown): (Vec<ExperimentReport>, Vec<String>) = (Vec::new(), Vec::new());
    for name in names {
        let Some(found) = find(db, answers, &name, period, &asked, viewer).await? else {
            unknown.push(name);
            continue;
        };
        // Figures stand beside each other in one currency: that of the first.
        if !found.data_status.is_converted && asked.currency.is_none() {
            asked.currency.clone_from(&found.data_status.currency);
        }
        if reports.iter().all(|known| known.experiment != found.experiment) {
            reports.push(found);
        }
    }
    Ok(Compared { asked, period, reports, unknown })
}

/// All of them over the months that any has.
async fn draw(
    db: &mut PgConnection,
    answers: &Answers,
    asked: &Asked,
    reports: &[ExperimentReport],
    viewer: &Viewer,
) -> Result<Option<Stack>> {
    let periods = || reports.iter().map(|it| it.period);
    let (first, last) = (periods().map(|it| it.first()).min(), periods().map(|it| it.last()).max());
    let Some(period) = first.zip(last).and_then(|(first, last)| Period::new(first, last)) else {
        return Ok(None);
    };
    let names = reports.iter().map(|it| it.experiment.clone()).collect();
    let filters = vec![Filter::keep(Grouping::Experiment, names)];
    let question = Question { by: Grouping::Experiment, filters, ..asked.question(period, viewer.clone()) };
    let spend = answers.spend(db, &question).await?;
    let step = if period.is_one_month() { Step::Day } else { Step::Month };
    let series = answers.over_time(db, &question, step, &spend, MOST).await?;
    Ok(Some(chart::stack(&spend, step, series)).filter(|stack| !stack.is_empty()))
}

impl Page {
    fn at(&self, asked: &Asked) -> String {
        with_period(paths::CompareExperiments, self.period, self.names(None), asked.pairs_of(HANDED_ON))
    }

    /// The experiments as an address has them, without one of them.
    fn names(&self, without: Option<&str>) -> Vec<(String, String)> {
        let names = self.compared.iter().map(|it| it.experiment.clone());
        let others = names.filter(|name| Some(name.as_str()) != without);
        others.map(|name| ("experiment".to_owned(), name)).collect()
    }

    fn without(&self, it: &ExperimentReport) -> String {
        let asked = self.asked.pairs_of(HANDED_ON);
        with_period(paths::CompareExperiments, self.period, self.names(Some(&it.experiment)), asked)
    }

    fn to_experiment(&self, it: &ExperimentReport) -> String {
        to_experiment(&it.experiment, self.period.or(Some(it.period)), &self.asked)
    }

    fn file(&self, file: File) -> String {
        file.of(self.at(&self.asked))
    }

    fn costs(&self) -> Vec<choices::Choice> {
        choices::costs(&self.asked, |asked| self.at(asked))
    }

    fn currencies(&self) -> Vec<choices::Choice> {
        match self.compared.first() {
            Some(it) => {
                choices::currencies(&self.asked, &it.data_status, self.reporting_currency.as_ref(), |asked| {
                    self.at(asked)
                })
            }
            None => Vec::new(),
        }
    }

    fn currency(&self) -> String {
        let first = self.compared.iter().find_map(|it| it.data_status.currency.as_ref());
        first.map(ToString::to_string).unwrap_or_default()
    }

    fn has_owned(&self) -> bool {
        self.compared.iter().any(|it| !it.owned_hours.is_zero())
    }

    /// The units that any of them has quantities of.
    fn units(&self) -> Vec<&str> {
        let mut units: Vec<&str> =
            self.compared.iter().flat_map(|it| &it.units).map(|it| it.unit.as_str()).collect();
        units.sort_unstable();
        units.dedup();
        units
    }
}

impl ExperimentReport {
    pub fn of_unit(&self, unit: &str) -> Option<&PerUnit> {
        self.units.iter().find(|found| found.unit == unit)
    }
}

csv::record! {
    |it: ExperimentReport|
    "experiment" => &it.experiment,
    "name" => &it.name,
    "period" => it.period.to_string(),
    "cost" => it.total.as_ref().map(|total| total.amount),
    "currency" => it.total.as_ref().map(|total| &total.currency),
    "accelerator_hours" => it.accelerator_hours,
    "owned_hours" => it.owned_hours,
    "cost_per_accelerator_hour" => it.cost_per_accelerator_hour,
    "cost_per_owned_hour" => it.cost_per_owned_hour,
    "spot_share" => it.spot_share,
    "first_day" => it.days.as_ref().map(|days| days.first),
    "last_day" => it.days.as_ref().map(|days| days.last),
    "days" => it.days.as_ref().map(|days| days.count as i64),
    "machines" => it.machines_in_words().join(", "),
}
