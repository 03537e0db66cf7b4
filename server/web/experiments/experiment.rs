//! `/experiments/exp-7`: an experiment over all its months, or in `?period=2026-09`.

use askama::Template;
use sqlx::PgConnection;

use super::super::allocation::configuration_now;
use super::super::choices::Choices;
use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::{Pairs, Reading};
use super::super::format::{File, Format};
use super::super::layout::Layout;
use super::super::question::Asked;
use super::super::spend::chart;
use super::super::{Access, filters, jobs, paths, respond};
use super::edit::Forms;
use super::{HANDED_ON, OF_ONE, to_experiment, with_period};
use crate::accounts::Viewer;
use crate::allocation::normalized;
use crate::chart::Stack;
use crate::period::Period;
use crate::report::{self, Answers, Breakdown, ExperimentReport, Group, Grouping, Machine, Siblings, Step};

#[derive(Template)]
#[template(path = "experiments/experiment.html")]
pub struct Page {
    layout: Layout,
    choices: Choices,
    /// The period that was asked for; all its months without one.
    period: Option<Period>,
    it: ExperimentReport,
    siblings: Option<Siblings>,
    chart: Stack,
    /// For who may change it.
    forms: Option<Forms>,
}

/// An answer with the experiments beside it.
#[derive(serde::Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    it: &'a ExperimentReport,
    siblings: Option<&'a Siblings>,
}

pub async fn show(path: paths::Experiment, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: mut pairs, app, mut db, .. } = reading;
    let paths::Named(label) = path.experiment;
    let period = take_period(&mut pairs)?;
    let asked = Asked::read_only(pairs, OF_ONE)?;
    let viewer = person.viewer();
    let Some(it) = find(&mut db, &app.answers, &label, period, &asked, &viewer).await? else {
        let moved = moved_to(&mut db, &app.answers, &label, &asked, &viewer).await?.ok_or(Error::NotFound)?;
        let to = to_experiment(&moved, period, &asked);
        return Ok(respond::see_other(format.of(to)));
    };
    if format == Format::Csv {
        let name = format!("experiment-{}", it.experiment);
        let months: Vec<Month<'_>> = it.months.iter().map(Month).collect();
        return csv::answer(&name, &months);
    }
    let question = asked.question(it.period, viewer);
    let siblings = report::siblings(&mut db, &app.answers, &it, &question).await?;
    if format == Format::Json {
        return respond::json(&Whole { it: &it, siblings: siblings.as_ref() });
    }
    let forms = if layout.may(Access::Finance) {
        Some(Forms::of(&configuration_now(&mut db).await?, &it.experiment))
    } else {
        None
    };
    respond::html(Page::of(layout, &mut db, asked, period, it, siblings, forms).await?)
}

/// Where an experiment is that was merged into another or is called otherwise now. `None`: nowhere that the viewer sees.
async fn moved_to(
    db: &mut PgConnection,
    answers: &Answers,
    label: &str,
    asked: &Asked,
    viewer: &Viewer,
) -> Result<Option<String>> {
    let configuration = configuration_now(db).await?;
    let Some(handle) = configuration.experiment_called(label) else { return Ok(None) };
    let is_seen = find(db, answers, handle, None, asked, viewer).await?.is_some();
    Ok(is_seen.then(|| handle.to_owned()))
}

impl Page {
    async fn of(
        layout: Layout,
        db: &mut PgConnection,
        asked: Asked,
        period: Option<Period>,
        it: ExperimentReport,
        siblings: Option<Siblings>,
        forms: Option<Forms>,
    ) -> Result<Self> {
        let experiment = it.experiment.clone();
        let address = move |asked: &Asked, _| to_experiment(&experiment, period, asked);
        let choices = Choices::find(db, asked, it.period, &it.data_status, address).await?;
        let step = if it.period.is_one_month() { Step::Day } else { Step::Month };
        let chart = chart::stack(&it.by_pricing, step, it.series.clone());
        Ok(Self { layout, choices, period, it, siblings, chart, forms })
    }

    /// The page with forms that were not taken.
    pub(super) async fn refused(
        layout: Layout,
        db: &mut PgConnection,
        answers: &Answers,
        label: &str,
        viewer: &Viewer,
        forms: Forms,
    ) -> Result<Self> {
        let asked = Asked::default();
        let it = find(db, answers, label, None, &asked, viewer).await?.ok_or(Error::NotFound)?;
        let question = asked.question(it.period, viewer.clone());
        let siblings = report::siblings(db, answers, &it, &question).await?;
        Self::of(layout, db, asked, None, it, siblings, Some(forms)).await
    }
}

/// `period=2026-Q3`, taken out of the pairs of an address.
pub(super) fn take_period(pairs: &mut Vec<(String, String)>) -> Result<Option<Period>> {
    let Some(at) = pairs.iter().position(|(name, _)| name == "period") else { return Ok(None) };
    let (_, text) = pairs.remove(at);
    let read = text.parse::<Period>();
    read.map(Some).map_err(|error| Error::BadRequest(format!("period: found “{text}”, {error}.")))
}

/// An experiment in a period, else in all its months. `None` where the viewer sees nothing of it.
pub(super) async fn find(
    db: &mut PgConnection,
    answers: &Answers,
    label: &str,
    period: Option<Period>,
    asked: &Asked,
    viewer: &Viewer,
) -> Result<Option<ExperimentReport>> {
    let experiment = normalized(label);
    let Some(latest) = answers.latest_month(db, viewer).await? else { return Ok(None) };
    let question = asked.question(latest.into(), viewer.clone());
    // An empty page does not say that there is one either.
    let Some(all) = report::months_of_experiment(db, answers, &experiment, &question).await? else {
        return Ok(None);
    };
    let question = asked.question(period.unwrap_or(all), viewer.clone());
    Ok(Some(Box::pin(report::experiment_report(db, answers, &experiment, &question)).await?))
}

impl Page {
    fn of_all_months(&self) -> String {
        to_experiment(&self.it.experiment, None, &self.choices.asked)
    }

    fn in_month(&self, month: &Group) -> Option<String> {
        let month: Period = month.key.as_deref()?.parse().ok()?;
        Some(to_experiment(&self.it.experiment, Some(month), &self.choices.asked))
    }

    fn all_experiments(&self) -> String {
        let asked = self.choices.asked.without(&Grouping::Pool, false);
        asked.link(paths::Experiments { period: self.it.period.last().into() })
    }

    fn has_hours(&self) -> bool {
        !self.it.accelerator_hours.is_zero()
    }

    fn has_owned(&self) -> bool {
        !self.it.owned_hours.is_zero()
    }

    /// Whether any of the others has hours of machines that are owned.
    fn others_have_owned(&self) -> bool {
        let mut others = self.siblings.iter().flat_map(|siblings| &siblings.experiments);
        others.any(|group| !group.owned_hours.is_zero())
    }

    /// Breakdowns of which there is something to see.
    fn divided(&self) -> impl Iterator<Item = &Breakdown> {
        self.it.breakdowns.iter().filter(|breakdown| breakdown.groups.len() > 1)
    }

    /// Its jobs, with their hours.
    fn jobs(&self) -> String {
        jobs::only(&self.choices.asked, self.it.period, jobs::By::Experiment, &self.it.experiment)
    }

    /// What all of it belongs to, of the other dimensions.
    fn only(&self) -> Vec<(&Breakdown, &Group)> {
        let only = self.it.breakdowns.iter().filter_map(|breakdown| match breakdown.groups.as_slice() {
            [only] => Some((breakdown, only)),
            _ => None,
        });
        only.collect()
    }

    /// What a group is made of.
    fn to_group(&self, breakdown: &Breakdown, group: &Group) -> String {
        let asked = self.of_experiment().only(&breakdown.by, group.key.as_deref());
        asked.link(paths::Spend { period: self.it.period })
    }

    fn spend(&self) -> String {
        self.of_experiment().link(paths::Spend { period: self.it.period })
    }

    fn scenario(&self) -> String {
        self.of_experiment().scenario(self.it.period)
    }

    fn of_experiment(&self) -> Asked {
        self.choices.asked.only(&Grouping::Experiment, Some(&self.it.experiment))
    }

    fn to_sibling(&self, group: &Group) -> String {
        to_experiment(group.key.as_deref().unwrap_or_default(), self.period, &self.choices.asked)
    }

    /// Machines that bills distinguish.
    fn machines(&self) -> i64 {
        self.it.machines.iter().map(|machine| machine.count).sum()
    }

    /// What the form that compares takes along.
    fn handed_on(&self) -> Vec<(String, String)> {
        let mut pairs = self.choices.asked.pairs_of(HANDED_ON);
        pairs.extend(self.period.map(|period| ("period".to_owned(), period.to_string())));
        pairs
    }

    /// Beside the largest of the others.
    fn beside_others(&self) -> Option<String> {
        let others = self.siblings.as_ref()?.experiments.iter().filter_map(|group| group.key.as_ref());
        let all = std::iter::once(&self.it.experiment).chain(others.take(super::compare::MOST - 1));
        let pairs: Vec<_> = all.map(|name| ("experiment".to_owned(), name.clone())).collect();
        let asked = self.choices.asked.pairs_of(HANDED_ON);
        (pairs.len() > 1).then(|| with_period(paths::CompareExperiments, self.period, pairs, asked))
    }

    fn change(&self) -> paths::ExperimentChange {
        paths::ExperimentChange { experiment: self.it.experiment.clone() }
    }

    fn merge(&self) -> paths::ExperimentMerge {
        paths::ExperimentMerge { experiment: self.it.experiment.clone() }
    }

    /// Experiments that it can be merged into: the ones beside it, and those that something is written of.
    fn others(&self) -> Vec<(String, String)> {
        let beside = self.siblings.iter().flat_map(|siblings| &siblings.experiments);
        let beside = beside.filter_map(|group| Some((group.key.clone()?, group.label.clone())));
        let mut others: Vec<_> =
            self.forms.iter().flat_map(|forms| forms.others.clone()).chain(beside).collect();
        others.sort();
        others.dedup_by(|a, b| a.0 == b.0);
        others
    }
}

impl ExperimentReport {
    /// The names of the teams that pay for it.
    pub fn paid_by(&self) -> Vec<&str> {
        let by_team = self.breakdowns.iter().filter(|breakdown| breakdown.by == Grouping::Team);
        let paying =
            by_team.flat_map(|breakdown| &breakdown.groups).filter(|group| !group.cost.amount.is_zero());
        paying.map(|group| group.label.as_str()).collect()
    }

    /// `3 × p5.48xlarge`, the most expensive first.
    pub fn machines_in_words(&self) -> Vec<String> {
        self.machines.iter().map(Machine::in_words).collect()
    }
}

impl Machine {
    /// `3 × p5.48xlarge`.
    pub fn in_words(&self) -> String {
        let name = if self.instance_type.is_empty() {
            self.accelerator.as_deref().unwrap_or_default()
        } else {
            &self.instance_type
        };
        if self.count > 0 { format!("{} × {name}", self.count) } else { name.to_owned() }
    }
}

/// A month of an experiment, for a spreadsheet.
struct Month<'a>(&'a Group);

csv::record! {
    |it: Month<'_>|
    "month" => &it.0.key,
    "cost" => it.0.cost.amount,
    "currency" => &it.0.cost.currency,
    "accelerator_hours" => it.0.accelerator_hours,
    "owned_hours" => it.0.owned_hours,
    "cost_per_accelerator_hour" => it.0.cost_per_accelerator_hour,
    "share" => it.0.share,
}
