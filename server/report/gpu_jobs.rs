//! Who held the accelerators of a period, and what of their machines' charges is for whom: by job, and what nobody held.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row as _};

use super::cache::Ask;
use super::denominate::denominate;
use super::snapshot::AsOf;
use super::sql::{Column, Measure, Rows, Source};
use super::{Answers, DataStatus, Error, Filter, Grouping, Question};
use crate::accounts::Viewer;
use crate::cache::SizeInCache;
use crate::money::{Currency, Decimal};
use crate::period::{BillingMonth, Period};
use crate::telemetry::read::{self, HeldDay, JobDescription, Node};
use crate::telemetry::share::{self, Paid};
use crate::telemetry::{GpuUse, JobState, MachineUsage, NOBODY, by_machine, hours_of};

/// What accelerators were used for in a period.
#[derive(Debug, Serialize)]
pub struct GpuJobs {
    pub period: Period,
    #[serde(flatten)]
    pub data_status: DataStatus,
    /// Every hour of the accelerators that were paid for or owned, and what their charges are.
    pub hours: HourLines,
    pub cost: CostLines,
    /// By cost, the largest first.
    pub jobs: Vec<GpuJob>,
    /// Nodes that held jobs and are no machine of the ledger.
    pub unmatched: Vec<UnmatchedNode>,
    /// There is usage at all, of whichever period.
    #[serde(skip)]
    pub is_known: bool,
}

/// Accelerator-hours of machines that some node is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HourLines {
    /// Paid for or owned, in hours of which it is known who held them.
    pub paid: Decimal,
    pub held: Decimal,
    /// Of those held, the ones at work.
    pub used: Decimal,
    pub idle: Decimal,
    /// Of those held, the ones of which nobody measured how busy they were.
    pub unmeasured: Decimal,
    pub unheld: Decimal,
    /// Held beyond what was paid for: bills and schedulers disagree.
    pub beyond: Decimal,
    /// Of machines that no node is, and of times of which no import says who held them.
    pub without_usage: Decimal,
}

/// What the charges of accelerators are for. They sum to all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CostLines {
    /// All charges for accelerators of the period.
    pub total: Decimal,
    pub used: Decimal,
    pub idle: Decimal,
    pub unmeasured: Decimal,
    pub unheld: Decimal,
    /// The same, and charges that name no machine.
    pub without_usage: Decimal,
}

/// What a job held in the period.
#[derive(Clone, Debug, Serialize)]
pub struct GpuJob {
    #[serde(flatten)]
    pub job: JobDescription,
    pub accelerators: Decimal,
    pub accelerator_hours: Decimal,
    /// Null where nobody measured any of them.
    pub utilization: Option<Decimal>,
    pub used_hours: Decimal,
    pub measured_hours: Decimal,
    pub cost: Decimal,
    pub idle_cost: Decimal,
    /// Held on machines whose charges are not known, and in no cost.
    pub hours_without_cost: Decimal,
    pub nodes: Vec<String>,
    /// Whose its part of the machines is, by the rules; empty where it is nobody's.
    pub team: String,
    pub project: String,
    pub experiment: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct UnmatchedNode {
    #[serde(flatten)]
    pub node: Node,
    pub accelerator_hours: Decimal,
    pub jobs: usize,
}

/// A job on a node on a day.
#[derive(Clone, Debug, Serialize)]
pub struct GpuJobDay {
    pub day: NaiveDate,
    pub node: String,
    pub resource: Option<String>,
    pub accelerator_hours: Decimal,
    pub measured_hours: Decimal,
    pub used_hours: Decimal,
    /// Null where the charges of the node are not known.
    pub cost: Option<Decimal>,
}

/// A job with its days.
#[derive(Debug, Serialize)]
pub struct GpuJobReport {
    #[serde(flatten)]
    pub job: JobDescription,
    pub currency: Option<Currency>,
    pub sequence: i64,
    pub accelerators: Decimal,
    pub accelerator_hours: Decimal,
    pub measured_hours: Decimal,
    pub used_hours: Decimal,
    pub cost: Decimal,
    pub hours_without_cost: Decimal,
    pub days: Vec<GpuJobDay>,
}

/// Milliseconds of a job on a node.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    held: i128,
    measured: i128,
    busy: i128,
}

impl Sums {
    fn add(&mut self, day: &HeldDay) {
        let sum = |hours: &[i32]| hours.iter().map(|it| i128::from(*it)).sum::<i128>();
        self.held += sum(&day.held);
        self.measured += sum(&day.measured);
        self.busy += sum(&day.busy);
    }
}

/// Charges of a machine on a day or from it, and what accelerators they pay for.
#[derive(Clone, Debug)]
struct MachineRow {
    resource: String,
    paid: Paid,
}

/// The rows of some machines.
#[derive(Clone, Debug, Default)]
struct MachineRows(Vec<MachineRow>);

impl SizeInCache for MachineRows {
    fn size_in_cache(&self) -> usize {
        let of = |it: &MachineRow| size_of_val(it) + it.resource.len() + 8 * it.paid.by_hour.len();
        self.0.iter().map(of).sum()
    }
}

/// What the charges of accelerators of some machines are, by day.
#[derive(Clone, PartialEq, Eq, Hash)]
struct FindMachineRows {
    resources: Vec<String>,
}

impl Ask for FindMachineRows {
    type Answer = MachineRows;

    async fn ask(&self, db: &mut PgConnection, asked: AsOf<'_>) -> sqlx::Result<MachineRows> {
        let AsOf { question, snapshot, .. } = asked;
        let Some(denomination) = denominate(db, asked).await?.denomination else {
            return Ok(MachineRows::default());
        };
        let of_these =
            Filter { dimension: Grouping::Resource, values: self.resources.clone(), leaves_out: false };
        let question = question.filtered(of_these);
        let rows = Rows::of_period(&question, snapshot, Source::Days, Some(&denomination));
        let columns = [
            Column::Sql("day", "c.day"),
            Column::Sql("is_whole_period", "c.is_whole_period"),
            Column::Sql("resource", "k.resource_id"),
            Column::Sql(
                "weight",
                "case when k.category = 'Usage' and not k.is_unused_commitment \
                 then coalesce(k.unit_seconds * k.accelerator_parts, 0) else 0 end",
            ),
        ];
        let mut query = QueryBuilder::<Postgres>::new(
            "select c.billing_month, c.day, c.is_whole_period, c.resource, c.weight, c.hours, c.quantity, ",
        );
        query.push(rows.amount("cost"));
        query.push(" as cost");
        rows.push(&mut query, &[Measure::Cost, Measure::Hours, Measure::Quantity], &columns);
        let found = query.build().fetch_all(db).await?;
        let mut machines = Vec::with_capacity(found.len());
        for row in &found {
            let month = BillingMonth::of(row.try_get("billing_month")?);
            let (day, is_whole_period): (NaiveDate, bool) =
                (row.try_get("day")?, row.try_get("is_whole_period")?);
            let paid = Paid::new(
                question.period.hours_of_row(month, day, is_whole_period),
                &row.try_get::<Vec<Decimal>, _>("hours")?,
                row.try_get("quantity")?,
                row.try_get("weight")?,
                row.try_get("cost")?,
            );
            machines.push(MachineRow { resource: row.try_get("resource")?, paid });
        }
        Ok(MachineRows(machines))
    }
}

/// What is known of the usage of a period.
struct Usage {
    nodes: BTreeMap<i64, Node>,
    days: Vec<HeldDay>,
    /// By machine.
    rows: BTreeMap<String, Vec<Paid>>,
    /// Of which times a source says everything.
    coverage: BTreeMap<i64, Vec<Range<DateTime<Utc>>>>,
}

impl Answers {
    async fn usage(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
        nodes: Vec<Node>,
        days: Vec<HeldDay>,
    ) -> Result<Usage, Error> {
        let resources: BTreeSet<String> = nodes.iter().filter_map(|it| it.resource.clone()).collect();
        let mut rows: BTreeMap<String, Vec<Paid>> = BTreeMap::new();
        if !resources.is_empty() {
            let find = FindMachineRows { resources: resources.into_iter().collect() };
            for row in &self.ask(db, question, sequence, find).await?.0 {
                rows.entry(row.resource.clone()).or_default().push(row.paid.clone());
            }
        }
        let coverage = read::coverage(&mut *db, sequence).await?;
        Ok(Usage {
            nodes: nodes.into_iter().map(|node| (node.node_id, node)).collect(),
            days,
            rows,
            coverage,
        })
    }

    /// What accelerators were used for in a question's period.
    ///
    /// # Errors
    /// A version that is still to come.
    pub async fn gpu_jobs(&self, db: &mut PgConnection, question: &Question) -> Result<GpuJobs, Error> {
        let mut it = self.all_gpu_jobs(&mut *db, &question.of_organization()).await?;
        let costs = self.job_costs(&mut *db, question).await?;
        let owners = costs.owners();
        for job in &mut it.jobs {
            if let Some(owner) = owners.get(job.job.label().as_str()) {
                job.team.clone_from(&owner.team);
                job.project.clone_from(&owner.project);
                job.experiment.clone_from(&owner.experiment);
            }
        }
        if question.viewer != Viewer::Everything {
            // What others held, and what no team is known to have held, is not theirs to see.
            it.jobs.retain(|job| owners.contains_key(job.job.label().as_str()));
            it.unmatched.clear();
            let with_accelerator = question.filtered(Filter::no_value(Grouping::Accelerator).left_out());
            (it.hours, it.cost) = self.lines_by_use(&mut *db, &with_accelerator).await?;
        }
        Ok(it)
    }

    /// What all accelerators of the organization were used for.
    async fn all_gpu_jobs(&self, db: &mut PgConnection, question: &Question) -> Result<GpuJobs, Error> {
        let with_accelerator = question.filtered(Filter::no_value(Grouping::Accelerator).left_out());
        let spend = self.spend(&mut *db, &with_accelerator.by(Grouping::Accelerator)).await?;
        let sequence = spend.sequence;
        let asked = with_accelerator.beside(&spend).by(Grouping::Month);
        let nodes = read::nodes(&mut *db, sequence).await?;
        let days = read::held(&mut *db, sequence, &question.period.days(), &nodes, None).await?;
        let is_known = !days.is_empty() || read::version(&mut *db, sequence).await? > 0;
        let usage = self.usage(&mut *db, &asked, sequence, nodes, days).await?;
        let numbers: BTreeSet<i64> = usage.days.iter().map(|it| it.job_no).collect();
        let numbers: Vec<i64> = numbers.into_iter().collect();
        let descriptions = read::descriptions(&mut *db, sequence, &numbers).await?;
        let total = spend.total.as_ref().map_or(Decimal::ZERO, |it| it.amount);
        let hours = spend.accelerator_hours + spend.owned_hours;
        Ok(usage.jobs(question.period, DataStatus::from(&spend), (total, hours), &descriptions, is_known))
    }

    /// A job with its days. `None` where no import describes it.
    ///
    /// # Errors
    /// A version that is still to come.
    pub async fn gpu_job(
        &self,
        db: &mut PgConnection,
        question: &Question,
        job_no: i64,
    ) -> Result<Option<GpuJobReport>, Error> {
        let sequence = super::as_of::as_of(&mut *db, question.sequence).await?;
        let Some(job) = read::descriptions(&mut *db, sequence, &[job_no]).await?.remove(&job_no) else {
            return Ok(None);
        };
        let own = read::days_of(&mut *db, sequence, job_no).await?;
        if !self.may_see(&mut *db, question, sequence, &job, &own).await? {
            return Ok(None);
        }
        let question = &question.of_organization();
        let mut report = GpuJobReport {
            accelerators: Decimal::new(job.thousandths.into(), 3).normalize(),
            job,
            currency: None,
            sequence,
            accelerator_hours: Decimal::ZERO,
            measured_hours: Decimal::ZERO,
            used_hours: Decimal::ZERO,
            cost: Decimal::ZERO,
            hours_without_cost: Decimal::ZERO,
            days: Vec::new(),
        };
        let months: BTreeSet<BillingMonth> = own.iter().map(|(day, _)| BillingMonth::of(*day)).collect();
        let nodes = read::nodes(&mut *db, sequence).await?;
        let mut whole = Sums::default();
        for month in months {
            let question = Question { period: month.into(), sequence: Some(sequence), ..question.clone() };
            let question = question.filtered(Filter::no_value(Grouping::Accelerator).left_out());
            let spend = self.spend(&mut *db, &question.by(Grouping::Accelerator)).await?;
            let asked = question.beside(&spend).by(Grouping::Month);
            report.currency = report.currency.or(spend.currency);
            // Whoever held the same machines, too: they share what was paid. And whatever meters saw of them.
            let mine: BTreeSet<i64> =
                own.iter().filter(|(day, _)| month.contains(*day)).map(|(_, node)| *node).collect();
            let machines = read::of_same_machines(&nodes, &mine);
            let days = read::held(&mut *db, sequence, &month.days(), &nodes, Some(&machines)).await?;
            days.iter().filter(|it| it.job_no == job_no).for_each(|day| whole.add(day));
            let usage = self.usage(&mut *db, &asked, sequence, nodes.clone(), days).await?;
            report.days.extend(usage.days_of(month.into(), job_no));
        }
        report.accelerator_hours = hours_of(whole.held);
        report.measured_hours = hours_of(whole.measured);
        report.used_hours = hours_of(whole.busy);
        report.cost = report.days.iter().filter_map(|it| it.cost).sum();
        report.hours_without_cost =
            report.days.iter().filter(|it| it.cost.is_none()).map(|it| it.accelerator_hours).sum();
        Ok(Some(report))
    }
}

impl Answers {
    /// Whether something of a job is the viewer's.
    async fn may_see(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
        job: &JobDescription,
        days: &[(NaiveDate, i64)],
    ) -> Result<bool, Error> {
        if question.viewer == Viewer::Everything {
            return Ok(true);
        }
        let label = job.label();
        let months: BTreeSet<BillingMonth> = days.iter().map(|(day, _)| BillingMonth::of(*day)).collect();
        for month in months {
            let asked = Question { period: month.into(), sequence: Some(sequence), ..question.clone() };
            if self.job_costs(&mut *db, &asked).await?.jobs.iter().any(|it| it.job == label) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Usage {
    fn by_machine(&self, period: Period) -> BTreeMap<String, MachineUsage> {
        by_machine(&self.days, self.nodes.values(), &self.coverage, period.days().start, true)
    }

    fn jobs(
        &self,
        period: Period,
        data_status: DataStatus,
        (total, all_hours): (Decimal, Decimal),
        descriptions: &BTreeMap<i64, JobDescription>,
        is_known: bool,
    ) -> GpuJobs {
        let mut sums: BTreeMap<i64, Sums> = BTreeMap::new();
        let mut without_cost: BTreeMap<i64, i128> = BTreeMap::new();
        let mut nodes: BTreeMap<i64, BTreeSet<&str>> = BTreeMap::new();
        let mut unmatched: BTreeMap<i64, (i128, BTreeSet<i64>)> = BTreeMap::new();
        let mut on_machines = Sums::default();
        let mut seen_unheld = 0;
        for day in &self.days {
            let Some(node) = self.nodes.get(&day.node_id) else { continue };
            if day.job_no == NOBODY {
                continue;
            }
            sums.entry(day.job_no).or_default().add(day);
            nodes.entry(day.job_no).or_default().insert(&node.name);
            let mut of_day = Sums::default();
            of_day.add(day);
            let has_rows = node.resource.as_ref().is_some_and(|it| self.rows.contains_key(it));
            if has_rows {
                on_machines.add(day);
            } else {
                *without_cost.entry(day.job_no).or_default() += of_day.held;
            }
            if node.resource.is_none() {
                let of_node = unmatched.entry(day.node_id).or_default();
                of_node.0 += of_day.held;
                of_node.1.insert(day.job_no);
            }
        }
        let machines = self.by_machine(period);
        let mut costs: BTreeMap<i64, BTreeMap<GpuUse, Decimal>> = BTreeMap::new();
        let (mut paid, mut unheld, mut beyond) = (0, 0, 0);
        let mut cost = CostLines { total, ..CostLines::default() };
        let mut covered = Decimal::ZERO;
        for (resource, rows) in &self.rows {
            let empty = MachineUsage::default();
            let machine = machines.get(resource).unwrap_or(&empty);
            let held = machine.held_of(rows);
            let shared = share::share(rows, &held, |hour| machine.is_known(hour));
            for ((holder, held), part) in machine.holders.iter().zip(&held).zip(&shared.jobs) {
                if holder.job_no == NOBODY {
                    seen_unheld += held.values().map(|ms| i128::from(*ms)).sum::<i128>();
                }
                *costs.entry(holder.job_no).or_default().entry(holder.gpu_use).or_default() += *part;
            }
            covered += rows.iter().map(|it| it.cost).sum::<Decimal>() - shared.unknown;
            cost.unheld += shared.nobody;
            paid += shared.paid - shared.unknown_hours;
            unheld += shared.unheld;
            beyond += shared.beyond;
        }
        // A meter saw that nobody held it.
        cost.unheld += costs.remove(&NOBODY).into_iter().flat_map(BTreeMap::into_values).sum::<Decimal>();
        cost.without_usage = total - covered;
        let mut lines = Vec::with_capacity(sums.len());
        for (job_no, Sums { held, measured, busy }) in sums {
            let Some(job) = descriptions.get(&job_no) else { continue };
            let of_job = costs.remove(&job_no).unwrap_or_default();
            let of_use = |gpu_use| of_job.get(&gpu_use).copied().unwrap_or_default();
            let [used, idle, unmeasured] = [GpuUse::Used, GpuUse::Idle, GpuUse::Unmeasured].map(of_use);
            cost.used += used;
            cost.idle += idle;
            cost.unmeasured += unmeasured;
            let names = nodes.remove(&job_no).unwrap_or_default();
            lines.push(GpuJob {
                accelerators: Decimal::new(job.thousandths.into(), 3).normalize(),
                job: job.clone(),
                accelerator_hours: hours_of(held),
                utilization: ratio(busy, measured),
                used_hours: hours_of(busy),
                measured_hours: hours_of(measured),
                cost: used + idle + unmeasured,
                idle_cost: idle,
                hours_without_cost: hours_of(without_cost.get(&job_no).copied().unwrap_or_default()),
                nodes: names.into_iter().map(str::to_owned).collect(),
                team: String::new(),
                project: String::new(),
                experiment: String::new(),
            });
        }
        lines.sort_by(|a, b| {
            b.cost
                .cmp(&a.cost)
                .then(b.accelerator_hours.cmp(&a.accelerator_hours))
                .then(a.job.job_no.cmp(&b.job.job_no))
        });
        let hours = HourLines {
            paid: hours_of(paid),
            held: hours_of(on_machines.held),
            used: hours_of(on_machines.busy),
            idle: hours_of(on_machines.measured - on_machines.busy),
            unmeasured: hours_of(on_machines.held - on_machines.measured),
            unheld: hours_of(unheld + seen_unheld),
            beyond: hours_of(beyond),
            without_usage: all_hours - hours_of(paid),
        };
        let mut unmatched: Vec<UnmatchedNode> = unmatched
            .into_iter()
            .filter_map(|(node_id, (held, jobs))| {
                let node = self.nodes.get(&node_id)?.clone();
                Some(UnmatchedNode { node, accelerator_hours: hours_of(held), jobs: jobs.len() })
            })
            .collect();
        unmatched.sort_by_key(|it| std::cmp::Reverse(it.accelerator_hours));
        GpuJobs { period, data_status, hours, cost, jobs: lines, unmatched, is_known }
    }

    /// The days of a job, each with its part of what the node was charged for that day.
    fn days_of(&self, period: Period, job_no: i64) -> Vec<GpuJobDay> {
        let mut costs: BTreeMap<(NaiveDate, &str), Decimal> = BTreeMap::new();
        let machines = self.by_machine(period);
        for (resource, machine) in &machines {
            let Some(rows) = self.rows.get(resource) else { continue };
            let shared = share::share(rows, &machine.held_of(rows), |hour| machine.is_known(hour));
            for (holder, cost) in machine.holders.iter().zip(shared.jobs) {
                if let Some(day) = holder.day.filter(|_| holder.job_no == job_no) {
                    *costs.entry((day, resource)).or_default() += cost;
                }
            }
        }
        let mut lines: Vec<GpuJobDay> = Vec::new();
        for day in self.days.iter().filter(|it| it.job_no == job_no) {
            let Some(node) = self.nodes.get(&day.node_id) else { continue };
            let mut sums = Sums::default();
            sums.add(day);
            let resource = node.resource.as_deref().filter(|it| self.rows.contains_key(*it));
            // Two nodes that are one machine: all of it is said once.
            let cost = resource.map(|it| costs.remove(&(day.day, it)).unwrap_or_default());
            lines.push(GpuJobDay {
                day: day.day,
                node: node.name.clone(),
                resource: node.resource.clone(),
                accelerator_hours: hours_of(sums.held),
                measured_hours: hours_of(sums.measured),
                used_hours: hours_of(sums.busy),
                cost,
            });
        }
        lines.sort_by(|a, b| a.day.cmp(&b.day).then_with(|| a.node.cmp(&b.node)));
        lines
    }
}

/// A part of one, in ten-thousandths.
fn ratio(part: i128, whole: i128) -> Option<Decimal> {
    Decimal::new(part, 0).divide(Decimal::new(whole, 0), 4)
}

impl GpuJob {
    pub fn state(&self) -> JobState {
        self.job.state()
    }
}

impl GpuJobReport {
    /// ` × h100`, where the scheduler names a model.
    pub fn title_of_model(&self) -> String {
        if self.job.model.is_empty() { String::new() } else { format!(" × {}", self.job.model) }
    }

    pub fn utilization(&self) -> Option<Decimal> {
        self.used_hours.divide(self.measured_hours, 4)
    }

    pub fn price(&self) -> Option<Decimal> {
        self.cost.divide(self.accelerator_hours - self.hours_without_cost, 6)
    }
}

impl GpuJobDay {
    pub fn utilization(&self) -> Option<Decimal> {
        self.used_hours.divide(self.measured_hours, 4)
    }
}
