//! Who held the accelerators of a month, job by job: what pages of jobs add up. Remembered until its bills or its usage change.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::PgConnection;

use super::usage::{Sums, Usage};
use crate::cache::SizeInCache;
use crate::money::Decimal;
use crate::period::BillingMonth;
use crate::report::cache::Remembered;
use crate::report::snapshot::Snapshot;
use crate::report::{Answers, Error, Question};
use crate::telemetry::read::{self, Node};
use crate::telemetry::{GpuUse, MachineUsage, NOBODY, STRANDED, share};

/// What accelerators were used for in some months.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    pub jobs: BTreeMap<i64, HeldByJob>,
    /// Of machines that have charges.
    pub on_machines: Sums,
    /// Accelerator-milliseconds: paid for where it is known who held them, of these held by nobody; held beyond them.
    pub paid: i128,
    pub unheld: i128,
    pub beyond: i128,
    pub unheld_cost: Decimal,
    /// Of accelerators that are cut into slices, what no slice has.
    pub stranded: i128,
    pub stranded_cost: Decimal,
    /// Charges of machines, without what they are for in hours of which nobody says who held them.
    pub covered: Decimal,
    /// By node that is no machine, what was held of it, and by which jobs.
    pub unmatched: BTreeMap<i64, (i128, BTreeSet<i64>)>,
}

/// What a job held.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldByJob {
    pub sums: Sums,
    pub used: Decimal,
    pub idle: Decimal,
    pub unmeasured: Decimal,
    /// Accelerator-milliseconds on machines whose charges are not known.
    pub without_cost: i128,
    /// What of all that is of each node.
    pub nodes: BTreeMap<i64, HeldOnNode>,
}

/// What a job held of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldOnNode {
    pub sums: Sums,
    /// Of a machine that is two nodes, all of it is at the first.
    pub cost: Decimal,
    pub idle: Decimal,
    pub without_cost: i128,
}

/// What decides it.
#[derive(PartialEq, Eq, Hash)]
struct MonthKey {
    question: Question,
    snapshot: Snapshot,
    /// Imports of usage, each with the version that last changed what it says.
    imports: Vec<(i64, i64)>,
    machines: Vec<(i64, Option<String>, bool)>,
}

impl Remembered for MonthKey {
    type Answer = Held;
}

impl SizeInCache for Held {
    fn size_in_cache(&self) -> usize {
        let of =
            |it: &HeldByJob| size_of::<(i64, HeldByJob)>() + size_of::<(i64, HeldOnNode)>() * it.nodes.len();
        let jobs: usize = self.jobs.values().map(of).sum();
        jobs + self.unmatched.values().map(|(_, jobs)| 64 + 8 * jobs.len()).sum::<usize>()
    }
}

impl Answers {
    /// What accelerators were used for in the months of a question, which names a currency or converts.
    pub(super) async fn held(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
        nodes: &[Node],
    ) -> Result<Held, Error> {
        let mut whole = Held::default();
        for month in question.period.months() {
            let of_month = Question { period: month.into(), ..question.clone() };
            let key = MonthKey {
                question: of_month.timeless(),
                snapshot: self.snapshot(&mut *db, &of_month, sequence).await?,
                imports: read::imports_of(&mut *db, &month.days(), sequence).await?,
                machines: nodes
                    .iter()
                    .map(|it| (it.node_id, it.resource.clone(), it.names_holders))
                    .collect(),
            };
            let find = Box::pin(self.held_in_month(&mut *db, &of_month, month, sequence, nodes));
            whole.add(&*self.remember(key, find).await?);
        }
        Ok(whole)
    }

    async fn held_in_month(
        &self,
        db: &mut PgConnection,
        question: &Question,
        month: BillingMonth,
        sequence: i64,
        nodes: &[Node],
    ) -> Result<Held, Error> {
        let days = read::held(&mut *db, sequence, &month.days(), nodes, None).await?;
        let usage = self.usage(&mut *db, question, sequence, nodes.to_vec(), days).await?;
        Ok(usage.held(month))
    }
}

impl Held {
    fn add(&mut self, other: &Self) {
        for (job, held) in &other.jobs {
            let known = self.jobs.entry(*job).or_default();
            known.sums.plus(held.sums);
            known.used += held.used;
            known.idle += held.idle;
            known.unmeasured += held.unmeasured;
            known.without_cost += held.without_cost;
            for (node, held) in &held.nodes {
                let known = known.nodes.entry(*node).or_default();
                known.sums.plus(held.sums);
                known.cost += held.cost;
                known.idle += held.idle;
                known.without_cost += held.without_cost;
            }
        }
        self.on_machines.plus(other.on_machines);
        self.paid += other.paid;
        self.unheld += other.unheld;
        self.beyond += other.beyond;
        self.unheld_cost += other.unheld_cost;
        self.stranded += other.stranded;
        self.stranded_cost += other.stranded_cost;
        self.covered += other.covered;
        for (node, (held, jobs)) in &other.unmatched {
            let known = self.unmatched.entry(*node).or_default();
            known.0 += held;
            known.1.extend(jobs);
        }
    }
}

impl Held {
    /// Keeps the jobs that cost most; what the others come to, and how many they are.
    pub fn keep_costliest(&mut self, most: usize) -> Option<(usize, HeldByJob)> {
        if self.jobs.len() <= most {
            return None;
        }
        let mut order: Vec<(Decimal, i128, i64)> =
            self.jobs.iter().map(|(job, it)| (it.cost(), it.sums.held, *job)).collect();
        order.sort_unstable_by(|a, b| b.cmp(a));
        let mut others = HeldByJob::default();
        for (.., job) in &order[most..] {
            let Some(it) = self.jobs.remove(job) else { continue };
            others.sums.plus(it.sums);
            others.used += it.used;
            others.idle += it.idle;
            others.unmeasured += it.unmeasured;
            others.without_cost += it.without_cost;
        }
        Some((order.len() - most, others))
    }
}

impl HeldByJob {
    pub fn cost(&self) -> Decimal {
        self.used + self.idle + self.unmeasured
    }
}

impl Usage {
    fn held(&self, month: BillingMonth) -> Held {
        let mut whole = Held::default();
        for day in self.days.iter().filter(|day| day.job_no > NOBODY) {
            let Some(node) = self.nodes.get(&day.node_id) else { continue };
            let job = whole.jobs.entry(day.job_no).or_default();
            let mut of_day = Sums::default();
            of_day.add(day);
            job.sums.plus(of_day);
            let on_node = job.nodes.entry(day.node_id).or_default();
            on_node.sums.plus(of_day);
            if node.resource.as_ref().is_some_and(|it| self.rows.contains_key(it)) {
                whole.on_machines.plus(of_day);
            } else {
                job.without_cost += of_day.held;
                on_node.without_cost += of_day.held;
            }
            if node.resource.is_none() {
                let unmatched = whole.unmatched.entry(day.node_id).or_default();
                unmatched.0 += of_day.held;
                unmatched.1.insert(day.job_no);
            }
        }
        let machines = self.by_machine(month.into());
        let mut nodes_of: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
        for (node_id, node) in &self.nodes {
            if let Some(resource) = &node.resource {
                nodes_of.entry(resource).or_default().insert(*node_id);
            }
        }
        let empty = MachineUsage::default();
        for (resource, rows) in &self.rows {
            let machine = machines.get(resource).unwrap_or(&empty);
            let held = machine.held_of(rows);
            let shared = share::share(rows, &held, |hour| machine.is_known(hour));
            for ((holder, held), part) in machine.holders.iter().zip(&held).zip(&shared.jobs) {
                let milliseconds = || held.values().map(|ms| i128::from(*ms)).sum::<i128>();
                match holder.job_no {
                    // A meter saw that nobody held it.
                    NOBODY => {
                        whole.unheld += milliseconds();
                        whole.unheld_cost += *part;
                        continue;
                    }
                    STRANDED => {
                        whole.stranded += milliseconds();
                        whole.stranded_cost += *part;
                        continue;
                    }
                    _ => {}
                }
                let job = whole.jobs.entry(holder.job_no).or_default();
                let nodes = nodes_of.get(resource.as_str());
                if let Some((_, on_node)) =
                    job.nodes.iter_mut().find(|(node, _)| nodes.is_some_and(|it| it.contains(node)))
                {
                    on_node.cost += *part;
                    if holder.gpu_use == GpuUse::Idle {
                        on_node.idle += *part;
                    }
                }
                *match holder.gpu_use {
                    GpuUse::Used => &mut job.used,
                    GpuUse::Idle => &mut job.idle,
                    GpuUse::Unmeasured | GpuUse::Unheld | GpuUse::Stranded => &mut job.unmeasured,
                } += *part;
            }
            whole.covered += rows.iter().map(|it| it.cost).sum::<Decimal>() - shared.unknown;
            whole.unheld_cost += shared.nobody;
            whole.paid += shared.paid - shared.unknown_hours;
            whole.unheld += shared.unheld;
            whole.beyond += shared.beyond;
        }
        whole
    }
}
