//! Who held the accelerators of a period, and what of their machines' charges is for whom: by job, and what nobody held.

mod dimension;
mod job;
mod list;
mod machine_rows;
mod month;
mod remembered;
mod sums;
mod usage;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sqlx::PgConnection;

use self::month::{Held, HeldByJob, HeldOnNode};
use super::{Answers, DataStatus, Error, Filter, Grouping, Question};
use crate::accounts::Viewer;
use crate::money::Decimal;
use crate::period::Period;
use crate::telemetry::descriptions::{self, JobDescription};
use crate::telemetry::read::{self, Node};
use crate::telemetry::{JobState, hours_of};

pub use dimension::JobDimension;
pub use job::{GpuJobDay, GpuJobReport, GpuJobStretch};
pub use list::JobsAsked;
pub use sums::{JobGroup, JobSums};

/// What accelerators were used for in a period.
#[derive(Clone, Debug, Serialize)]
pub struct GpuJobs {
    pub period: Period,
    #[serde(flatten)]
    pub data_status: DataStatus,
    /// Every hour of the accelerators that were paid for or owned, and what their charges are.
    pub hours: HourLines,
    pub cost: CostLines,
    /// By cost, the largest first.
    pub jobs: Vec<GpuJob>,
    /// What is not listed, because there is so much of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<JobSums>,
    /// Where they are added up: by cost, the largest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<JobGroup>>,
    /// Of all jobs that are asked for.
    #[serde(skip)]
    pub sums: JobSums,
    /// By what the jobs that were looked at can be added up.
    #[serde(skip)]
    pub dimensions: Vec<JobDimension>,
    /// Held by jobs on machines that no bill of the period has, and in none of the lines above.
    #[serde(skip_serializing_if = "Decimal::is_zero")]
    pub hours_without_bill: Decimal,
    /// There are some, whether or not the viewer sees whose they are.
    #[serde(skip)]
    pub has_hours_without_bill: bool,
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
    /// What of it is of each node; they sum to it.
    #[serde(skip)]
    pub on_nodes: Vec<GpuJobOnNode>,
    /// Whose its part of the machines is, by the rules; empty where it is nobody's.
    pub team: String,
    pub project: String,
    pub experiment: String,
}

/// What a job held of a node.
#[derive(Clone, Debug)]
pub struct GpuJobOnNode {
    pub node_id: i64,
    pub node: String,
    pub accelerator_hours: Decimal,
    pub used_hours: Decimal,
    pub measured_hours: Decimal,
    pub cost: Decimal,
    pub idle_cost: Decimal,
    pub hours_without_cost: Decimal,
}

#[derive(Clone, Debug, Serialize)]
pub struct UnmatchedNode {
    #[serde(flatten)]
    pub node: Node,
    pub accelerator_hours: Decimal,
    pub jobs: usize,
}

/// What is known of the machines and jobs of an organization in a period.
struct Known {
    held: Held,
    nodes: BTreeMap<i64, Node>,
    sequence: i64,
    /// What was asked, in the currency and as of the version of the answer.
    question: Question,
}

/// All charges of accelerators.
fn of_accelerators(question: &Question) -> Question {
    question.filtered(Filter::no_value(Grouping::Accelerator).left_out()).by(Grouping::Accelerator)
}

impl Answers {
    /// What accelerators were used for in a question's period, with all its jobs.
    ///
    /// # Errors
    /// A version that is still to come.
    pub async fn gpu_jobs(&self, db: &mut PgConnection, question: &Question) -> Result<GpuJobs, Error> {
        Box::pin(self.some_gpu_jobs(db, question, JobsAsked::default())).await
    }

    /// The same with some of its jobs. Of those that are not listed only what they held is in memory, and whose they are, where that is
    /// asked for.
    ///
    /// # Errors
    /// A version that is still to come.
    pub async fn some_gpu_jobs(
        &self,
        db: &mut PgConnection,
        question: &Question,
        asked: JobsAsked<'_>,
    ) -> Result<GpuJobs, Error> {
        // A file has all jobs, and is not remembered.
        if question.is_long() && asked.most.is_some() {
            return self.remembered_gpu_jobs(db, question, asked).await;
        }
        Box::pin(self.find_gpu_jobs(db, question, asked)).await
    }

    pub(super) async fn find_gpu_jobs(
        &self,
        db: &mut PgConnection,
        question: &Question,
        asked: JobsAsked<'_>,
    ) -> Result<GpuJobs, Error> {
        if question.viewer == Viewer::Everything {
            let (mut it, known) = Box::pin(self.gpu_use(&mut *db, &question.of_organization())).await?;
            // Owners of jobs in the currency of their costs, which need not be that of most charges.
            Box::pin(self.list_jobs(db, &known.question, asked, &known, &mut it)).await?;
            return Ok(it);
        }
        // All in the currency of what the viewer sees.
        let theirs = self.spend(&mut *db, &of_accelerators(question)).await?;
        let question = question.beside(&theirs);
        let (mut it, known) = Box::pin(self.gpu_use(&mut *db, &question.of_organization())).await?;
        Box::pin(self.list_jobs(&mut *db, &question, asked, &known, &mut it)).await?;
        // What others held, and what no team is known to have held, is not theirs to see.
        it.unmatched.clear();
        it.data_status = it.data_status.of_visible(&theirs);
        (it.hours, it.cost) = self.lines_by_use(db, &of_accelerators(&question)).await?;
        Ok(it)
    }

    /// Jobs that held slices of accelerators of some nodes, of the whole organization.
    pub(super) async fn jobs_in_slices(
        &self,
        db: &mut PgConnection,
        question: &Question,
        nodes: &BTreeSet<i64>,
    ) -> Result<(DataStatus, Vec<GpuJob>), Error> {
        let (it, known) = Box::pin(self.gpu_use(&mut *db, &question.of_organization())).await?;
        let held = || known.held.jobs().filter(|job| job.0.iter().any(|part| nodes.contains(&part.node_id)));
        let numbers: Vec<i64> = held().map(HeldByJob::job_no).collect();
        let in_slices = descriptions::in_slices(&mut *db, &numbers).await?;
        let mut described = descriptions::of_jobs(db, known.sequence, &in_slices).await?;
        let describe =
            |held: HeldByJob<'_>| Some(GpuJob::new(described.remove(&held.job_no())?, held, &known.nodes));
        Ok((it.data_status, held().filter_map(describe).collect()))
    }

    /// What all accelerators of the organization were used for, without its jobs.
    async fn gpu_use(&self, db: &mut PgConnection, question: &Question) -> Result<(GpuJobs, Known), Error> {
        let asked = of_accelerators(question);
        let spend = self.spend(&mut *db, &asked).await?;
        let sequence = spend.sequence;
        let question = question.beside(&spend);
        let asked = of_accelerators(&question).by(Grouping::Month);
        let nodes = read::nodes(&mut *db, sequence).await?;
        let held = self.held(&mut *db, &asked, sequence, &nodes).await?;
        let is_known = read::version(&mut *db, sequence).await? > 0;
        let total = spend.total.as_ref().map_or(Decimal::ZERO, |it| it.amount);
        let hours = spend.accelerator_hours + spend.owned_hours;
        let nodes = nodes.into_iter().map(|node| (node.node_id, node)).collect();
        let known = Known { held, nodes, sequence, question };
        let status = DataStatus::from(&spend);
        Ok((GpuJobs::new((known.question.period, status), (total, hours), &known, is_known), known))
    }
}

impl GpuJobs {
    fn new(
        (period, data_status): (Period, DataStatus),
        (total, all_hours): (Decimal, Decimal),
        known: &Known,
        is_known: bool,
    ) -> Self {
        let held = &known.held;
        let sum = |of: fn(&HeldOnNode) -> Decimal| held.jobs().map(|job| job.sum(of)).sum::<Decimal>();
        let cost = CostLines {
            total,
            used: sum(|it| it.used),
            idle: sum(|it| it.idle),
            unmeasured: sum(|it| it.unmeasured),
            unheld: held.unheld_cost,
            stranded: held.stranded_cost,
            without_usage: total - held.covered,
        };
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
            .iter()
            .filter_map(|(node_id, (held, jobs))| {
                let node = known.nodes.get(node_id)?.clone();
                Some(UnmatchedNode { node, accelerator_hours: hours_of(*held), jobs: jobs.len() })
            })
            .collect();
        unmatched.sort_by_key(|it| std::cmp::Reverse(it.accelerator_hours));
        let hours_without_bill = held.jobs().map(|it| hours_of(it.without_cost())).sum::<Decimal>();
        Self {
            period,
            data_status,
            hours,
            cost,
            jobs: Vec::new(),
            others: None,
            groups: None,
            sums: JobSums::default(),
            dimensions: Vec::new(),
            hours_without_bill,
            has_hours_without_bill: !hours_without_bill.is_zero(),
            unmatched,
            is_known,
        }
    }
}

impl GpuJob {
    /// Whose it is is not known yet.
    fn new(job: JobDescription, held: HeldByJob<'_>, nodes: &BTreeMap<i64, Node>) -> Self {
        let sums = held.sums();
        let on_nodes = held.0.iter().filter_map(|held| {
            Some(GpuJobOnNode {
                node_id: held.node_id,
                node: nodes.get(&held.node_id)?.name.clone(),
                accelerator_hours: hours_of(held.sums.held),
                used_hours: hours_of(held.sums.busy),
                measured_hours: hours_of(held.sums.measured),
                cost: held.cost(),
                idle_cost: held.idle,
                hours_without_cost: hours_of(held.without_cost),
            })
        });
        let on_nodes: Vec<GpuJobOnNode> = on_nodes.collect();
        let mut nodes: Vec<String> = on_nodes.iter().map(|it| it.node.clone()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        Self {
            accelerators: job.accelerators(),
            job,
            accelerator_hours: hours_of(sums.held),
            utilization: ratio(sums.busy, sums.measured),
            used_hours: hours_of(sums.busy),
            measured_hours: hours_of(sums.measured),
            cost: held.cost(),
            idle_cost: held.sum(|it| it.idle),
            hours_without_cost: hours_of(held.without_cost()),
            nodes,
            on_nodes,
            team: String::new(),
            project: String::new(),
            experiment: String::new(),
        }
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
