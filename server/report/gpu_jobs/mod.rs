//! Who held the accelerators of a period, and what of their machines' charges is for whom: by job, and what nobody held.

mod job;
mod machine_rows;
mod month;
mod usage;

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::PgConnection;

use self::month::Held;
use super::{Answers, DataStatus, Error, Filter, Grouping, Question};
use crate::accounts::Viewer;
use crate::money::Decimal;
use crate::period::Period;
use crate::telemetry::read::{self, JobDescription, Node};
use crate::telemetry::{JobState, hours_of};

pub use job::{GpuJobDay, GpuJobReport, GpuJobStretch};

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
    /// Of those that are cut into slices, what no slice has.
    pub stranded: Decimal,
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
    pub stranded: Decimal,
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

impl Answers {
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
        let held = self.held(&mut *db, &asked, sequence, &nodes).await?;
        let numbers: Vec<i64> = held.jobs.keys().copied().collect();
        let descriptions = read::descriptions(&mut *db, sequence, &numbers).await?;
        let is_known = read::version(&mut *db, sequence).await? > 0;
        let total = spend.total.as_ref().map_or(Decimal::ZERO, |it| it.amount);
        let hours = spend.accelerator_hours + spend.owned_hours;
        let nodes = nodes.into_iter().map(|node| (node.node_id, node)).collect();
        let status = DataStatus::from(&spend);
        Ok(GpuJobs::new((question.period, status), (total, hours), held, &nodes, descriptions, is_known))
    }
}

impl GpuJobs {
    fn new(
        (period, data_status): (Period, DataStatus),
        (total, all_hours): (Decimal, Decimal),
        held: Held,
        nodes: &BTreeMap<i64, Node>,
        mut descriptions: BTreeMap<i64, JobDescription>,
        is_known: bool,
    ) -> Self {
        let mut cost = CostLines {
            total,
            unheld: held.unheld_cost,
            stranded: held.stranded_cost,
            without_usage: total - held.covered,
            ..CostLines::default()
        };
        let name = |node: &i64| nodes.get(node).map(|it| it.name.clone());
        let mut jobs = Vec::with_capacity(held.jobs.len());
        for (job_no, it) in held.jobs {
            cost.used += it.used;
            cost.idle += it.idle;
            cost.unmeasured += it.unmeasured;
            let Some(job) = descriptions.remove(&job_no) else { continue };
            let mut nodes: Vec<String> = it.nodes.iter().filter_map(name).collect();
            nodes.sort_unstable();
            nodes.dedup();
            jobs.push(GpuJob {
                accelerators: Decimal::new(job.thousandths.into(), 3).normalize(),
                job,
                accelerator_hours: hours_of(it.sums.held),
                utilization: ratio(it.sums.busy, it.sums.measured),
                used_hours: hours_of(it.sums.busy),
                measured_hours: hours_of(it.sums.measured),
                cost: it.cost(),
                idle_cost: it.idle,
                hours_without_cost: hours_of(it.without_cost),
                nodes,
                team: String::new(),
                project: String::new(),
                experiment: String::new(),
            });
        }
        jobs.sort_by(|a, b| {
            b.cost
                .cmp(&a.cost)
                .then(b.accelerator_hours.cmp(&a.accelerator_hours))
                .then(a.job.job_no.cmp(&b.job.job_no))
        });
        let on_machines = held.on_machines;
        let hours = HourLines {
            paid: hours_of(held.paid),
            held: hours_of(on_machines.held),
            used: hours_of(on_machines.busy),
            idle: hours_of(on_machines.measured - on_machines.busy),
            unmeasured: hours_of(on_machines.held - on_machines.measured),
            unheld: hours_of(held.unheld),
            stranded: hours_of(held.stranded),
            beyond: hours_of(held.beyond),
            without_usage: all_hours - hours_of(held.paid),
        };
        let mut unmatched: Vec<UnmatchedNode> = held
            .unmatched
            .into_iter()
            .filter_map(|(node_id, (held, jobs))| {
                let node = nodes.get(&node_id)?.clone();
                Some(UnmatchedNode { node, accelerator_hours: hours_of(held), jobs: jobs.len() })
            })
            .collect();
        unmatched.sort_by_key(|it| std::cmp::Reverse(it.accelerator_hours));
        Self { period, data_status, hours, cost, jobs, unmatched, is_known }
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
