//! Who held the accelerators of a month, job by job: what pages of jobs add up. Remembered until its bills or its usage change.

use std::cmp::Reverse;
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
    /// Sorted by job and node. A list without trees: a year of a large fleet has half a million.
    parts: Vec<HeldOnNode>,
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

/// What a job held of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldOnNode {
    pub job_no: i64,
    pub node_id: i64,
    pub sums: Sums,
    /// Of a machine that is two nodes, all of its cost is at the first.
    pub used: Decimal,
    pub idle: Decimal,
    pub unmeasured: Decimal,
    /// Accelerator-milliseconds on machines whose charges are not known.
    pub without_cost: i128,
}

/// What a job held, node by node.
#[derive(Clone, Copy)]
pub(super) struct HeldByJob<'h>(pub &'h [HeldOnNode]);

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
        let unmatched = self.unmatched.values().map(|(_, jobs)| 64 + 16 * jobs.len()).sum::<usize>();
        size_of_val(self) + size_of_val(&self.parts[..]) + unmatched
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
        // All months of a year would take the place of everything else that is remembered.
        let is_long = question.is_long();
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
            let is_kept = !is_long || self.remembers(&key);
            let find = Box::pin(self.held_in_month(&mut *db, &of_month, month, sequence, nodes));
            if is_kept {
                whole.add(&*self.remember(key, find).await?);
            } else {
                whole.add(&find.await?);
            }
        }
        whole.merge();
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
    /// Adds another month. What its jobs held is [merged](Self::merge) when all are there.
    fn add(&mut self, other: &Self) {
        self.parts.extend_from_slice(&other.parts);
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
    fn merge(&mut self) {
        self.parts.sort_by_key(HeldOnNode::place);
        self.parts.dedup_by(|other, kept| {
            let is_same = other.place() == kept.place();
            if is_same {
                kept.sums.plus(other.sums);
                kept.used += other.used;
                kept.idle += other.idle;
                kept.unmeasured += other.unmeasured;
                kept.without_cost += other.without_cost;
            }
            is_same
        });
    }

    /// Its jobs in the order of their numbers.
    pub fn jobs(&self) -> impl Iterator<Item = HeldByJob<'_>> {
        self.parts.chunk_by(|a, b| a.job_no == b.job_no).map(HeldByJob)
    }

    /// Its jobs, those that cost most first; of some nodes those that cost most there.
    pub fn costliest(&self, nodes: Option<&BTreeSet<i64>>) -> Vec<HeldByJob<'_>> {
        let is_asked = |part: &&HeldOnNode| nodes.is_none_or(|nodes| nodes.contains(&part.node_id));
        let order_of = |job: HeldByJob<'_>| {
            let parts = || job.0.iter().filter(is_asked);
            let held: i128 = parts().map(|it| it.sums.held).sum();
            parts().next()?;
            Some((Reverse(parts().map(HeldOnNode::cost).sum::<Decimal>()), Reverse(held), job.job_no()))
        };
        let mut order: Vec<_> = self.jobs().filter_map(|job| Some((order_of(job)?, job))).collect();
        order.sort_unstable_by_key(|(order, _)| *order);
        order.into_iter().map(|(_, it)| it).collect()
    }
}

impl HeldOnNode {
    fn place(&self) -> (i64, i64) {
        (self.job_no, self.node_id)
    }

    pub fn cost(&self) -> Decimal {
        self.used + self.idle + self.unmeasured
    }
}

impl HeldByJob<'_> {
    /// It is of one job, and has a part at least.
    pub fn job_no(self) -> i64 {
        self.0.first().map_or(NOBODY, |it| it.job_no)
    }

    pub fn sums(self) -> Sums {
        let mut sums = Sums::default();
        self.0.iter().for_each(|it| sums.plus(it.sums));
        sums
    }

    pub fn sum(self, of: fn(&HeldOnNode) -> Decimal) -> Decimal {
        self.0.iter().map(of).sum()
    }

    pub fn cost(self) -> Decimal {
        self.sum(HeldOnNode::cost)
    }

    pub fn without_cost(self) -> i128 {
        self.0.iter().map(|it| it.without_cost).sum()
    }
}

impl Usage {
    fn held(&self, month: BillingMonth) -> Held {
        let mut whole = Held::default();
        for day in self.days.iter().filter(|day| day.job_no > NOBODY) {
            let Some(node) = self.nodes.get(&day.node_id) else { continue };
            let mut of_day = Sums::default();
            of_day.add(day);
            let mut part = HeldOnNode {
                job_no: day.job_no,
                node_id: day.node_id,
                sums: of_day,
                ..HeldOnNode::default()
            };
            if node.resource.as_ref().is_some_and(|it| self.rows.contains_key(it)) {
                whole.on_machines.plus(of_day);
            } else {
                part.without_cost = of_day.held;
            }
            whole.parts.push(part);
            if node.resource.is_none() {
                let unmatched = whole.unmatched.entry(day.node_id).or_default();
                unmatched.0 += of_day.held;
                unmatched.1.insert(day.job_no);
            }
        }
        whole.merge();
        let machines = self.by_machine(month.into());
        let mut nodes_of: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for (node_id, node) in &self.nodes {
            if let Some(resource) = &node.resource {
                nodes_of.entry(resource).or_default().push(*node_id);
            }
        }
        let empty = MachineUsage::default();
        for (resource, rows) in &self.rows {
            let machine = machines.get(resource).unwrap_or(&empty);
            let held = machine.held_of(rows);
            let shared = share::share(rows, &held, |hour| machine.is_known(hour));
            for ((holder, held), part) in machine.holders.iter().zip(&held).zip(&shared.jobs) {
                match holder.job_no {
                    // A meter saw that nobody held it.
                    NOBODY => {
                        whole.unheld += held.sum();
                        whole.unheld_cost += *part;
                        continue;
                    }
                    STRANDED => {
                        whole.stranded += held.sum();
                        whole.stranded_cost += *part;
                        continue;
                    }
                    _ => {}
                }
                // Whoever held a machine held one of its nodes.
                let mut nodes = nodes_of.get(resource.as_str()).into_iter().flatten();
                let Some(on_node) = nodes.find_map(|node| {
                    whole.parts.binary_search_by_key(&(holder.job_no, *node), HeldOnNode::place).ok()
                }) else {
                    continue;
                };
                let on_node = &mut whole.parts[on_node];
                *match holder.gpu_use {
                    GpuUse::Used => &mut on_node.used,
                    GpuUse::Idle => &mut on_node.idle,
                    GpuUse::Unmeasured | GpuUse::Unheld | GpuUse::Stranded => &mut on_node.unmeasured,
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
