//! `/jobs/2026-10`: what ran on accelerators, who ran it, and what of their machines' charges it is.

pub mod hours;
pub mod job;

use std::collections::BTreeMap;

use askama::Template;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use super::csv::{self, RowInCurrency};
use super::error::{Error, Result};
use super::extract::{Pairs, Reading};
use super::format::{File, Format};
use super::layout::{Layout, Pages};
use super::question::Asked;
use super::route_builder::Access;
use super::table::page_of;
use super::{choices, default_month, filters, paths, respond};
use crate::billing::usage_tags;
use crate::enum_words::{words, written_as_str};
use crate::money::{Currency, Decimal};
use crate::period::Period;
use crate::report::{CostMetric, GpuJob, GpuJobs, Grouping, OtherJobs};
use crate::telemetry::GpuUse;

/// Jobs on a page.
const PAGE: usize = 100;
/// Jobs of a period that are listed.
const LISTED: usize = 20_000;
/// What the address takes beside what is its own.
const TAKES: &str = "cost currency in sequence find page";

words! {
    /// What jobs are added up by.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum By: as_str, label, heading {
        #[default]
        Job = "job", "Job", "Job";
        User = "user", "User", "User";
        Account = "account", "Account", "Account";
        Queue = "queue", "Queue", "Queue";
        Team = "team", "Team", "Team";
        Project = "project", "Project", "Project";
        Experiment = "experiment", "Experiment", "Experiment";
        Wckey = "wckey", "Wckey", "Wckey";
        Namespace = "namespace", "Namespace", "Namespace";
        Node = "node", "Node", "Nodes";
        Slice = "slice", "MIG slice", "MIG slice";
        State = "state", "State", "State";
    }
}
written_as_str!(By);

words! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SortBy: as_str {
        #[default]
        Cost = "cost";
        Idle = "idle";
        Hours = "hours";
        Used = "used";
        Started = "started";
        Name = "name";
    }
}
written_as_str!(SortBy);

/// What is asked of jobs, beside what every page is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobsQuery {
    by: By,
    sort: SortBy,
    is_reversed: bool,
    /// Only jobs with these; each dimension with its value.
    only: Vec<(By, String)>,
}

impl JobsQuery {
    /// Takes what is its own out of the pairs of an address.
    fn take(pairs: &mut Vec<(String, String)>) -> Result<Self> {
        let mut query = Self::default();
        let refused = |name: &str, error: &crate::enum_words::UnknownWord| {
            Error::BadRequest(format!("{name}: use {}.", error.expected.join(", ")))
        };
        let mut rest = Vec::new();
        for (name, value) in std::mem::take(pairs) {
            match name.as_str() {
                "by" => query.by = value.parse().map_err(|error| refused("by", &error))?,
                "sort" => {
                    let word = value.strip_prefix('-');
                    query.is_reversed = word.is_some();
                    query.sort = word.unwrap_or(&value).parse().map_err(|error| refused("sort", &error))?;
                }
                _ => match name.parse::<By>() {
                    Ok(by) if by != By::Job => query.only.push((by, value)),
                    _ => rest.push((name, value)),
                },
            }
        }
        *pairs = rest;
        Ok(query)
    }

    fn pairs(&self) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        if self.by != By::default() {
            pairs.push(("by".to_owned(), self.by.to_string()));
        }
        if self.sort != SortBy::default() || self.is_reversed {
            let sign = if self.is_reversed { "-" } else { "" };
            pairs.push(("sort".to_owned(), format!("{sign}{}", self.sort)));
        }
        pairs.extend(self.only.iter().map(|(by, value)| (by.to_string(), value.clone())));
        pairs
    }
}

/// Jobs that have the same in what they are added up by.
#[derive(Debug, Default, Serialize)]
struct Group {
    key: String,
    label: String,
    jobs: usize,
    accelerator_hours: Decimal,
    measured_hours: Decimal,
    used_hours: Decimal,
    /// Null where nobody measured any of them.
    utilization: Option<Decimal>,
    cost: Decimal,
    idle_cost: Decimal,
}

/// An answer of jobs that are added up.
#[derive(Serialize)]
struct AddedUp<'a> {
    #[serde(flatten)]
    it: &'a GpuJobs,
    by: &'static str,
    groups: Vec<Group>,
}

#[derive(Template)]
#[template(path = "jobs/index.html")]
struct Page {
    layout: Layout,
    period: Period,
    asked: Asked,
    query: JobsQuery,
    /// Without its jobs.
    it: GpuJobs,
    /// What some job of the period has.
    there: Vec<By>,
    /// In the order of the page, those that were not asked for left out.
    shown: Vec<GpuJob>,
}

/// The latest month.
pub async fn latest(_: paths::AnyJobs, reading: Reading<Pairs>) -> Result {
    let Reading { person, query: mut pairs, app, mut db, .. } = reading;
    let query = JobsQuery::take(&mut pairs)?;
    let asked = Asked::read_only(pairs, TAKES)?;
    let viewer = person.viewer();
    let Some((month, asked)) = default_month::latest(&mut db, &app.answers, asked, &viewer).await? else {
        return Ok(respond::see_other(paths::Overview));
    };
    Ok(respond::see_other(address(&asked, &query, month.into())))
}

pub async fn show(path: paths::Jobs, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: mut pairs, app, mut db, .. } = reading;
    let period = path.period;
    let query = JobsQuery::take(&mut pairs)?;
    let asked = Asked::read_only(pairs, TAKES)?;
    let question = asked.question(period, person.viewer());
    // Of a year of a large fleet nobody looks through all; who searches, adds up or downloads has all.
    let is_plain = query.by == By::Job && query.only.is_empty() && asked.find.is_none();
    let most = if is_plain && format == Format::Html { LISTED } else { usize::MAX };
    let mut it = Box::pin(app.answers.costliest_gpu_jobs(&mut db, &question, most)).await?;
    let there = ways_there(&it.jobs);
    let shown = shown(std::mem::take(&mut it.jobs), &query, asked.find.as_deref());
    match format {
        Format::Json if query.by != By::Job => {
            respond::json(&AddedUp { it: &it, by: query.by.as_str(), groups: groups(&shown, &query) })
        }
        Format::Json => {
            it.jobs = shown;
            respond::json(&it)
        }
        Format::Csv => {
            let currency = it.data_status.currency.as_ref();
            if query.by == By::Job {
                return csv::answer(&format!("jobs-{period}"), &RowInCurrency::all(&shown, currency));
            }
            let groups = groups(&shown, &query);
            csv::answer(&format!("jobs-by-{}-{period}", query.by), &RowInCurrency::all(&groups, currency))
        }
        Format::Html => respond::html(Page { layout, period, asked, query, it, there, shown }),
    }
}

/// What a job has in a dimension. A job that ran on several nodes is on each.
fn values(job: &GpuJob, by: By) -> Vec<&str> {
    vec![match by {
        By::Job => &job.job.job_id,
        By::User => &job.job.user_name,
        By::Account => &job.job.account,
        By::Queue => &job.job.queue,
        By::Team => &job.team,
        By::Project => &job.project,
        By::Experiment => &job.experiment,
        By::Wckey => &job.job.wckey,
        By::Namespace => &job.job.namespace,
        By::Slice => &job.job.profile,
        By::State => &job.job.state,
        By::Node => return job.nodes.iter().map(String::as_str).collect(),
    }]
}

/// What jobs can be added up by: what none of them has is nothing to add up by.
fn ways_there(jobs: &[GpuJob]) -> Vec<By> {
    let is_there = |by: &By| jobs.iter().any(|job| values(job, *by).iter().any(|it| !it.is_empty()));
    By::ALL.into_iter().filter(is_there).collect()
}

fn shown(mut shown: Vec<GpuJob>, query: &JobsQuery, find: Option<&str>) -> Vec<GpuJob> {
    let find = find.map(str::to_lowercase);
    let is_found = |job: &GpuJob| {
        let texts =
            [&job.job.job_id, &job.job.name, &job.job.user_name, &job.job.account, &job.job.namespace];
        let mut texts = texts.into_iter().chain(&job.nodes);
        find.as_ref().is_none_or(|find| texts.any(|text| text.to_lowercase().contains(find)))
    };
    let is_asked =
        |job: &GpuJob| query.only.iter().all(|(by, value)| values(job, *by).contains(&value.as_str()));
    shown.retain(|it| is_found(it) && is_asked(it));
    for (_, node) in query.only.iter().filter(|(by, _)| *by == By::Node) {
        for job in &mut shown {
            job.keep_node(node);
        }
    }
    // What is left of them may cost less than that of others.
    shown.sort_by(|a, b| b.cost.cmp(&a.cost).then(b.accelerator_hours.cmp(&a.accelerator_hours)));
    // Stable: what is equal stays by cost.
    match query.sort {
        SortBy::Cost => {}
        SortBy::Idle => shown.sort_by_key(|it| std::cmp::Reverse(it.idle_cost)),
        SortBy::Hours => shown.sort_by_key(|it| std::cmp::Reverse(it.accelerator_hours)),
        SortBy::Used => shown.sort_by_key(|it| std::cmp::Reverse(it.utilization)),
        SortBy::Started => shown.sort_by_key(|it| std::cmp::Reverse(it.job.started_at)),
        SortBy::Name => shown.sort_by(|a, b| a.job.name.cmp(&b.job.name)),
    }
    if query.is_reversed {
        shown.reverse();
    }
    shown
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
        let is_there = |by: &By| *by == self.query.by || self.there.contains(by);
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
        page_of(&self.shown, self.asked.page, PAGE)
    }

    fn pages(&self) -> Pages {
        Pages::of(self.asked.page, self.shown.len() as u64, PAGE as u64, &self.at(&self.query))
    }

    fn groups(&self) -> Vec<Group> {
        groups(&self.shown, &self.query)
    }

    /// The jobs of a group.
    fn inside(&self, group: &Group) -> String {
        let mut query = JobsQuery { by: By::Job, ..self.query.clone() };
        query.only.push((self.query.by, group.key.clone()));
        self.at(&query)
    }

    fn sum(&self, of: fn(&GpuJob) -> Decimal) -> Decimal {
        self.shown.iter().map(of).sum()
    }

    /// What is not listed.
    fn of_others(&self, of: fn(&OtherJobs) -> Decimal) -> Decimal {
        self.it.others.as_ref().map_or(Decimal::ZERO, of)
    }

    fn total_jobs(&self) -> usize {
        self.shown.len() + self.it.others.as_ref().map_or(0, |it| it.jobs)
    }

    fn total_hours(&self) -> Decimal {
        self.sum(|it| it.accelerator_hours) + self.of_others(|it| it.accelerator_hours)
    }

    fn total_cost(&self) -> Decimal {
        self.sum(|it| it.cost) + self.of_others(|it| it.cost)
    }

    fn total_idle(&self) -> Decimal {
        self.sum(|it| it.idle_cost) + self.of_others(|it| it.idle_cost)
    }

    fn total_used(&self) -> Option<Decimal> {
        let used = self.sum(|it| it.used_hours) + self.of_others(|it| it.used_hours);
        used.divide(self.sum(|it| it.measured_hours) + self.of_others(|it| it.measured_hours), 4)
    }

    fn without_cost(&self) -> Decimal {
        self.sum(|it| it.hours_without_cost) + self.of_others(|it| it.hours_without_cost)
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

/// Jobs by something, in the order that is asked for. A job of several nodes is on each with what it held there.
fn groups(jobs: &[GpuJob], query: &JobsQuery) -> Vec<Group> {
    let by = query.by;
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    for job in jobs {
        if by == By::Node {
            for part in &job.on_nodes {
                let group = groups.entry(&part.node).or_insert_with(|| Group::new(&part.node, by, job));
                group.jobs += 1;
                group.accelerator_hours += part.accelerator_hours;
                group.measured_hours += part.measured_hours;
                group.used_hours += part.used_hours;
                group.cost += part.cost;
                group.idle_cost += part.idle_cost;
            }
            continue;
        }
        let Some(key) = values(job, by).first().copied() else { continue };
        let group = groups.entry(key).or_insert_with(|| Group::new(key, by, job));
        group.jobs += 1;
        group.accelerator_hours += job.accelerator_hours;
        group.measured_hours += job.measured_hours;
        group.used_hours += job.used_hours;
        group.cost += job.cost;
        group.idle_cost += job.idle_cost;
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    for group in &mut groups {
        group.utilization = group.used_hours.divide(group.measured_hours, 4);
    }
    groups.sort_by(|a, b| {
        b.cost.cmp(&a.cost).then(b.accelerator_hours.cmp(&a.accelerator_hours)).then(a.key.cmp(&b.key))
    });
    // Stable: what is equal stays by cost.
    match query.sort {
        SortBy::Cost | SortBy::Started => {}
        SortBy::Idle => groups.sort_by_key(|it| std::cmp::Reverse(it.idle_cost)),
        SortBy::Hours => groups.sort_by_key(|it| std::cmp::Reverse(it.accelerator_hours)),
        SortBy::Used => groups.sort_by_key(|it| std::cmp::Reverse(it.utilization)),
        SortBy::Name => groups.sort_by(|a, b| a.label.cmp(&b.label)),
    }
    if query.is_reversed {
        groups.reverse();
    }
    groups
}

impl Group {
    fn new(key: &str, by: By, job: &GpuJob) -> Self {
        let label = match (key, by) {
            ("", By::Slice) => "Whole GPUs".to_owned(),
            ("", by) => format!("No {}", by.label().to_lowercase()),
            (_, By::State) => job.state().label().to_owned(),
            (key, _) => key.to_owned(),
        };
        Self { key: key.to_owned(), label, ..Self::default() }
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
    |it: RowInCurrency<'_, Group>|
    "key" => &it.row.key,
    "label" => &it.row.label,
    "jobs" => Decimal::from(it.row.jobs as i64),
    "accelerator_hours" => it.row.accelerator_hours,
    "measured_hours" => it.row.measured_hours,
    "used_hours" => it.row.used_hours,
    "utilization" => it.row.utilization,
    "currency" => it.currency,
    "cost" => it.row.cost,
    "idle_cost" => it.row.idle_cost,
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
