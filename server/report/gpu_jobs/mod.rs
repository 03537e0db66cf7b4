//! Who held the accelerators of a period, and what of their machines' charges is for whom: by job, and what nobody held.

mod job;
mod machine_rows;
mod month;
mod usage;

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use sqlx::PgConnection;

use self::month::{Held, HeldByJob};
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
    /// What is not listed, because there is so much of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<OtherJobs>,
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

/// Jobs that cost less than those that are listed.
#[derive(Clone, Debug, Serialize)]
pub struct OtherJobs {
    pub jobs: usize,
    pub accelerator_hours: Decimal,
    pub used_hours: Decimal,
    pub measured_hours: Decimal,
    pub cost: Decimal,
    pub idle_cost: Decimal,
    pub hours_without_cost: Decimal,
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

impl GpuJob {
    /// What of it is of one node alone.
    pub fn keep_node(&mut self, node: &str) {
        self.on_nodes.retain(|it| it.node == node);
        let sum = |of: fn(&GpuJobOnNode) -> Decimal| self.on_nodes.iter().map(of).sum::<Decimal>();
        self.accelerator_hours = sum(|it| it.accelerator_hours);
        self.used_hours = sum(|it| it.used_hours);
        self.measured_hours = sum(|it| it.measured_hours);
        self.cost = sum(|it| it.cost);
        self.idle_cost = sum(|it| it.idle_cost);
        self.hours_without_cost = sum(|it| it.hours_without_cost);
        self.utilization = self.used_hours.divide(self.measured_hours, 4);
        self.nodes = vec![node.to_owned()];
    }
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
        Box::pin(self.costliest_gpu_jobs(db, question, usize::MAX)).await
    }

    /// The same with no more jobs than these, those that cost most; the others are added up. Who sees some jobs only is shown all of them.
    ///
    /// # Errors
    /// A version that is still to come.
    pub async fn costliest_gpu_jobs(
        &self,
        db: &mut PgConnection,
        question: &Question,
        most: usize,
    ) -> Result<GpuJobs, Error> {
        let most = if question.viewer == Viewer::Everything { most } else { usize::MAX };
        let mut it = Box::pin(self.all_gpu_jobs(&mut *db, &question.of_organization(), most)).await?;
        let labels: Option<HashSet<String>> =
            it.others.as_ref().map(|_| it.jobs.iter().map(|job| job.job.label()).collect());
        let costs = self.job_costs_among(&mut *db, question, labels.as_ref()).await?;
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
            it.hours_without_bill = it.jobs.iter().map(|job| job.hours_without_cost).sum();
            let with_accelerator = question.filtered(Filter::no_value(Grouping::Accelerator).left_out());
            (it.hours, it.cost) = self.lines_by_use(&mut *db, &with_accelerator).await?;
        }
        Ok(it)
    }

    /// What all accelerators of the organization were used for.
    async fn all_gpu_jobs(
        &self,
        db: &mut PgConnection,
        question: &Question,
        most: usize,
    ) -> Result<GpuJobs, Error> {
        let with_accelerator = question.filtered(Filter::no_value(Grouping::Accelerator).left_out());
        let spend = self.spend(&mut *db, &with_accelerator.by(Grouping::Accelerator)).await?;
        let sequence = spend.sequence;
        let asked = with_accelerator.beside(&spend).by(Grouping::Month);
        let nodes = read::nodes(&mut *db, sequence).await?;
        let mut held = self.held(&mut *db, &asked, sequence, &nodes).await?;
        let others = held.keep_costliest(most);
        let numbers: Vec<i64> = held.jobs.keys().copied().collect();
        let descriptions = read::descriptions(&mut *db, sequence, &numbers).await?;
        let is_known = read::version(&mut *db, sequence).await? > 0;
        let total = spend.total.as_ref().map_or(Decimal::ZERO, |it| it.amount);
        let hours = spend.accelerator_hours + spend.owned_hours;
        let nodes = nodes.into_iter().map(|node| (node.node_id, node)).collect();
        let status = DataStatus::from(&spend);
        let of_period = (question.period, status);
        Ok(GpuJobs::new(of_period, (total, hours), (held, others), &nodes, descriptions, is_known))
    }
}

impl GpuJobs {
    fn new(
        (period, data_status): (Period, DataStatus),
        (total, all_hours): (Decimal, Decimal),
        (held, others): (Held, Option<(usize, HeldByJob)>),
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
        let mut jobs = Vec::with_capacity(held.jobs.len());
        for (job_no, it) in held.jobs {
            cost.used += it.used;
            cost.idle += it.idle;
            cost.unmeasured += it.unmeasured;
            let Some(job) = descriptions.remove(&job_no) else { continue };
            let on_nodes: Vec<GpuJobOnNode> = it
                .nodes
                .iter()
                .filter_map(|(node, held)| {
                    Some(GpuJobOnNode {
                        node_id: *node,
                        node: nodes.get(node)?.name.clone(),
                        accelerator_hours: hours_of(held.sums.held),
                        used_hours: hours_of(held.sums.busy),
                        measured_hours: hours_of(held.sums.measured),
                        cost: held.cost,
                        idle_cost: held.idle,
                        hours_without_cost: hours_of(held.without_cost),
                    })
                })
                .collect();
            let mut nodes: Vec<String> = on_nodes.iter().map(|it| it.node.clone()).collect();
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
                on_nodes,
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
        let others = others.map(|(jobs, it)| {
            cost.used += it.used;
            cost.idle += it.idle;
            cost.unmeasured += it.unmeasured;
            OtherJobs {
                jobs,
                accelerator_hours: hours_of(it.sums.held),
                used_hours: hours_of(it.sums.busy),
                measured_hours: hours_of(it.sums.measured),
                cost: it.cost(),
                idle_cost: it.idle,
                hours_without_cost: hours_of(it.without_cost),
            }
        });
        let of_others = others.as_ref().map_or(Decimal::ZERO, |it| it.hours_without_cost);
        let hours_without_bill = jobs.iter().map(|job| job.hours_without_cost).sum::<Decimal>() + of_others;
        let has_hours_without_bill = !hours_without_bill.is_zero();
        Self {
            period,
            data_status,
            hours,
            cost,
            jobs,
            others,
            hours_without_bill,
            has_hours_without_bill,
            unmatched,
            is_known,
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
