//! `/jobs/2026-10`: what ran on accelerators, who ran it, and what of their machines' charges it is.

pub mod hours;
pub mod job;
mod query;

use askama::Template;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use self::query::{JobsQuery, SortBy};
use super::csv::{self, RowInCurrency};
use super::error::Result;
use super::extract::{Pairs, Reading};
use super::format::{File, Format};
use super::layout::{Layout, Pages};
use super::question::Asked;
use super::route_builder::Access;
use super::table::page_of;
use super::{choices, default_month, filters, paths, respond};
use crate::billing::usage_tags;
use crate::money::{Currency, Decimal};
use crate::period::Period;
pub use crate::report::JobDimension as By;
use crate::report::{CostMetric, GpuJob, GpuJobs, Grouping, JobGroup};
use crate::telemetry::GpuUse;

/// Jobs on a page.
const PAGE: usize = 100;
/// Jobs of a period that are listed.
const LISTED: usize = 5_000;
/// What the address takes beside what is its own.
const TAKES: &str = "cost currency in sequence find page";

#[derive(Template)]
#[template(path = "jobs/index.html")]
struct Page {
    layout: Layout,
    period: Period,
    asked: Asked,
    query: JobsQuery,
    it: GpuJobs,
}

/// The latest month.
pub async fn latest(_: paths::AnyJobs, reading: Reading<Pairs>) -> Result {
    let Reading { person, query: pairs, app, mut db, .. } = reading;
    let (query, asked) = read(pairs)?;
    let viewer = person.viewer();
    let Some((month, asked)) = default_month::latest(&mut db, &app.answers, asked, &viewer).await? else {
        return Ok(respond::see_other(paths::Overview));
    };
    Ok(respond::see_other(address(&asked, &query, month.into())))
}

pub async fn show(path: paths::Jobs, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: pairs, app, mut db, .. } = reading;
    let period = path.period;
    let (query, asked) = read(pairs)?;
    let question = asked.question(period, person.viewer());
    // A file has all jobs.
    let most = (format == Format::Html).then_some(LISTED);
    let mut it =
        Box::pin(app.answers.some_gpu_jobs(&mut db, &question, query.jobs(asked.find.as_deref(), most)))
            .await?;
    query.sort(&mut it);
    match format {
        Format::Json => respond::json(&Answer { by: it.groups.as_ref().map(|_| query.by.as_str()), it: &it }),
        Format::Csv => {
            let currency = it.data_status.currency.as_ref();
            match &it.groups {
                Some(groups) => csv::answer(
                    &format!("jobs-by-{}-{period}", query.by),
                    &RowInCurrency::all(groups, currency),
                ),
                None => csv::answer(&format!("jobs-{period}"), &RowInCurrency::all(&it.jobs, currency)),
            }
        }
        Format::Html => {
            // One behind the end is the last.
            let last = it.jobs.len().div_ceil(PAGE).max(1) as u64;
            let asked = Asked { page: asked.page.min(last), ..asked };
            respond::html(Page { layout, period, asked, query, it })
        }
    }
}

fn read(mut pairs: Vec<(String, String)>) -> Result<(JobsQuery, Asked)> {
    let query = JobsQuery::take(&mut pairs)?;
    // A message names all that can be asked; what is its own is taken already.
    let filters = By::ALL.into_iter().filter(|by| *by != By::Job).map(By::as_str);
    let names = ["by", "sort"].into_iter().chain(filters).chain([TAKES]).collect::<Vec<_>>().join(" ");
    let asked = Asked::read_only(pairs, &names)?;
    Ok((query, asked))
}

/// What a script is answered.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    it: &'a GpuJobs,
    /// What jobs are added up by.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
}

impl Page {
    fn currency(&self) -> Option<&Currency> {
        self.it.data_status.currency.as_ref()
    }

    /// The currency behind the head of a column.
    fn unit(&self) -> String {
        self.currency().map(ToString::to_string).unwrap_or_default()
    }

    fn at(&self, query: &JobsQuery) -> String {
        address(&Asked { page: 1, ..self.asked.clone() }, query, self.period)
    }

    fn during(&self, period: Period) -> String {
        address(&Asked { page: 1, ..self.asked.clone() }, &self.query, period)
    }

    fn named(&self, period: Period) -> (String, String) {
        (period.name(), self.during(period))
    }

    fn periods(&self) -> Vec<choices::Choice> {
        choices::periods(self.period, |period| self.during(period))
    }

    /// What GPUs cost that did not work, held or not.
    fn idle(&self) -> Decimal {
        let cost = &self.it.cost;
        cost.idle + cost.unheld + cost.stranded
    }

    /// The charges of a line, where it is a use.
    fn in_spend(&self, label: &&str) -> Option<String> {
        GpuUse::ALL.iter().find(|it| it.as_str() == *label)?;
        let by_use = Grouping::Tag(usage_tags::USE.to_owned());
        let asked = Asked { page: 1, find: None, ..self.asked.clone() };
        Some(
            asked.only(&by_use, Some(label)).by(Grouping::Account).link(paths::Spend { period: self.period }),
        )
    }

    fn gpu_hours(&self) -> String {
        let asked = Asked { page: 1, find: None, ..self.asked.clone() };
        hours::address(&asked.by(Grouping::Provider), self.period)
    }

    fn file(&self, file: File) -> String {
        file.of(self.at(&self.query))
    }

    fn costs(&self) -> Vec<(String, String, bool)> {
        choices::costs(&self.asked, |asked| address(asked, &self.query, self.period))
    }

    /// What jobs can be added up by.
    fn ways(&self) -> Vec<(String, String, bool)> {
        let is_there = |by: &By| *by == self.query.by || *by == By::Job || self.it.dimensions.contains(by);
        let of = |by: By| {
            let query = JobsQuery { by, sort: SortBy::Cost, is_reversed: false, ..self.query.clone() };
            (by.label().to_owned(), self.at(&query), by == self.query.by)
        };
        By::ALL.into_iter().filter(is_there).map(of).collect()
    }

    /// What the jobs are narrowed to, each with the address without it.
    fn chips(&self) -> Vec<(String, String)> {
        let chips = self.query.only.iter().map(|chip| {
            let mut query = self.query.clone();
            query.only.retain(|it| it != chip);
            let value = match chip.1.as_str() {
                "" => "none",
                value => value,
            };
            (format!("{}: {value}", chip.0.label()), self.at(&query))
        });
        let found = self.asked.find.iter().map(|find| {
            let asked = self.asked.find(None);
            (format!("Search: {find}"), address(&asked, &self.query, self.period))
        });
        chips.chain(found).collect()
    }

    fn hidden(&self) -> Vec<(String, String)> {
        let mut pairs = self.query.pairs();
        pairs.extend(self.asked.pairs_of("cost currency in sequence"));
        pairs
    }

    fn action(&self) -> String {
        paths::Jobs { period: self.period }.to_string()
    }

    /// A head that sorts: its label, address and whether the table is sorted by it.
    fn head(&self, label: impl Into<String>, sort: &str) -> (String, String, &'static str) {
        let sort: SortBy = sort.parse().unwrap_or_default();
        let is_current = self.query.sort == sort;
        let query =
            JobsQuery { sort, is_reversed: is_current && !self.query.is_reversed, ..self.query.clone() };
        let rises = (sort == SortBy::Name) != self.query.is_reversed;
        let sorted = match (is_current, rises) {
            (false, _) => "none",
            (true, true) => "ascending",
            (true, false) => "descending",
        };
        (label.into(), self.at(&query), sorted)
    }

    /// Heads of what groups of jobs sum to.
    fn heads_of_groups(&self) -> Vec<(String, String, &'static str)> {
        let unit = self.unit();
        vec![
            self.head("GPU-hours", "hours"),
            self.head("Used", "used"),
            self.head(format!("Cost {unit}"), "cost"),
            self.head(format!("Idle {unit}"), "idle"),
        ]
    }

    fn rows(&self) -> &[GpuJob] {
        page_of(&self.it.jobs, self.asked.page, PAGE)
    }

    fn pages(&self) -> Pages {
        Pages::of(self.asked.page, self.it.jobs.len() as u64, PAGE as u64, &self.at(&self.query))
    }

    /// The jobs of a group.
    fn inside(&self, group: &JobGroup) -> String {
        let mut query = JobsQuery { by: By::Job, ..self.query.clone() };
        query.only.push((self.query.by, group.key.clone()));
        self.at(&query)
    }

    /// The lines that every hour and every amount stands in: label, hours, cost, what it means.
    fn lines(&self) -> Vec<(&'static str, Option<Decimal>, Decimal, &'static str)> {
        let (hours, cost) = (&self.it.hours, &self.it.cost);
        let stranded = (
            GpuUse::Stranded.as_str(),
            Some(hours.stranded),
            cost.stranded,
            "Of GPUs that are cut into slices, what no slice has.",
        );
        let mut lines = vec![
            (GpuUse::Used.as_str(), Some(hours.used), cost.used, "Held by a job, and at work."),
            ("Held but idle", Some(hours.idle), cost.idle, "Held by a job, and measured not to work."),
            (
                "Held, not measured",
                Some(hours.unmeasured),
                cost.unmeasured,
                "Held by a job; nobody measured whether it worked.",
            ),
            ("Held by nobody", Some(hours.unheld), cost.unheld, "Paid for, and no job held it."),
        ];
        // Where nothing is cut, nobody needs to know of it.
        lines.extend((!hours.stranded.is_zero() || !cost.stranded.is_zero()).then_some(stranded));
        lines.push((
            "Without usage data",
            Some(hours.without_usage),
            cost.without_usage,
            "No import says who held it, no node is matched to the machine, or the charge names no machine.",
        ));
        lines
    }

    fn share(&self, cost: &Decimal) -> Option<Decimal> {
        cost.divide(self.it.cost.total, 4)
    }

    fn job(&self, job: &GpuJob) -> String {
        job_address(job.job.job_no, &self.asked)
    }
}

/// A list of jobs, narrowed to one by the name that its charges have: `east/4711`.
pub fn found(all: &str, job: &str) -> String {
    let id = job.rsplit('/').next().unwrap_or(job);
    let sign = if all.contains('?') { '&' } else { '?' };
    format!("{all}{sign}find={}", utf8_percent_encode(id, NON_ALPHANUMERIC))
}

/// The jobs of a period that have something in a dimension.
pub(super) fn only(asked: &Asked, period: Period, by: By, value: &str) -> String {
    let query = JobsQuery { only: vec![(by, value.to_owned())], ..JobsQuery::default() };
    address(asked, &query, period)
}

/// The address that asks this.
fn address(asked: &Asked, query: &JobsQuery, period: Period) -> String {
    let mut pairs = query.pairs();
    pairs.extend(asked.pairs_of(TAKES));
    let path = paths::Jobs { period };
    if pairs.is_empty() { path.to_string() } else { paths::with_query(path, &pairs) }
}

/// The page of a job, asked as this one is.
fn job_address(job: i64, asked: &Asked) -> String {
    let pairs = asked.pairs_of(job::TAKES);
    let path = paths::Job { job };
    if pairs.is_empty() { path.to_string() } else { paths::with_query(path, &pairs) }
}

csv::record! {
    |it: RowInCurrency<'_, JobGroup>|
    "key" => &it.row.key,
    "label" => &it.row.label,
    "jobs" => Decimal::from(it.row.sums.jobs as i64),
    "accelerator_hours" => it.row.sums.accelerator_hours,
    "measured_hours" => it.row.sums.measured_hours,
    "used_hours" => it.row.sums.used_hours,
    "utilization" => it.row.utilization,
    "currency" => it.currency,
    "cost" => it.row.sums.cost,
    "idle_cost" => it.row.sums.idle_cost,
}

csv::record! {
    |it: RowInCurrency<'_, GpuJob>|
    "job" => &it.row.job.job_id,
    "name" => &it.row.job.name,
    "user" => &it.row.job.user_name,
    "account" => &it.row.job.account,
    "wckey" => &it.row.job.wckey,
    "namespace" => &it.row.job.namespace,
    "queue" => &it.row.job.queue,
    "qos" => &it.row.job.qos,
    "state" => &it.row.job.state,
    "cluster" => &it.row.job.source,
    "nodes" => it.row.nodes.join(" "),
    "model" => &it.row.job.model,
    "slice" => &it.row.job.profile,
    "started_at" => it.row.job.started_at.map(|at| at.to_rfc3339()).unwrap_or_default(),
    "ended_at" => it.row.job.ended_at.map(|at| at.to_rfc3339()).unwrap_or_default(),
    "accelerators" => it.row.accelerators,
    "accelerator_hours" => it.row.accelerator_hours,
    "utilization" => it.row.utilization,
    "currency" => it.currency,
    "cost" => it.row.cost,
    "idle_cost" => it.row.idle_cost,
    "hours_without_cost" => it.row.hours_without_cost,
    "team" => &it.row.team,
    "project" => &it.row.project,
    "experiment" => &it.row.experiment,
}
