//! The jobs of a period that are asked for, listed or added up.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sqlx::PgConnection;

use super::sums::Grouped;
use super::{GpuJob, GpuJobOnNode, GpuJobs, JobDimension, JobSums, Known};
use crate::accounts::Viewer;
use crate::money::Decimal;
use crate::report::job_costs::JobCost;
use crate::report::{Answers, Error, Question};
use crate::telemetry::descriptions;
use crate::telemetry::read::Node;

/// Jobs that are described together.
const BATCH: usize = 10_000;

/// Which jobs of a period are asked for, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobsAsked<'a> {
    /// Only jobs with these.
    pub only: &'a [(JobDimension, String)],
    /// Only jobs that this is found in: their number, name, user, account, wckey, namespace, comment, nodes, and whose they are.
    pub find: Option<&'a str>,
    /// They are added up by this, and not listed.
    pub by: Option<JobDimension>,
    /// No more are listed than these, those that cost most; the others are added up. None: all are.
    pub most: Option<usize>,
}

impl JobsAsked<'_> {
    /// What it needs to know of jobs.
    fn dimensions(&self) -> impl Iterator<Item = JobDimension> {
        self.only.iter().map(|(dimension, _)| *dimension).chain(self.by)
    }

    /// The numbers of the nodes that it asks for, by name. None: it asks for all.
    fn nodes(&self, nodes: &BTreeMap<i64, Node>) -> Option<BTreeSet<i64>> {
        let is_node = |it: &&(JobDimension, String)| it.0 == JobDimension::Node;
        self.only.iter().find(is_node)?;
        let asked: Vec<&String> = self.only.iter().filter(is_node).map(|it| &it.1).collect();
        Some(nodes.values().filter(|it| asked.contains(&&it.name)).map(|it| it.node_id).collect())
    }

    fn asks_for(&self, job: &GpuJob) -> bool {
        let is_found = self.find.is_none_or(|find| {
            let of = &job.job;
            let rules = [&job.team, &job.project, &job.experiment];
            let texts =
                [&of.job_id, &of.name, &of.user_name, &of.account, &of.wckey, &of.namespace, &of.comment];
            let find = find.to_lowercase();
            texts.into_iter().chain(rules).chain(&job.nodes).any(|text| text.to_lowercase().contains(&find))
        });
        is_found
            && self.only.iter().all(|(dimension, value)| job.values(*dimension).contains(&value.as_str()))
    }
}

impl Answers {
    /// Lists the jobs that are asked for, or adds them up, those that cost most first.
    pub(super) async fn list_jobs(
        &self,
        db: &mut PgConnection,
        question: &Question,
        asked: JobsAsked<'_>,
        known: &Known,
        it: &mut GpuJobs,
    ) -> Result<(), Error> {
        let is_of_some = question.viewer != Viewer::Everything;
        // Of a long period that is much, and read only where it decides something.
        let asks_rules = is_of_some
            || !question.is_long()
            || asked.find.is_some()
            || asked.dimensions().any(JobDimension::is_of_rules);
        let costs = if asks_rules { Some(self.job_costs(&mut *db, question, None).await?) } else { None };
        let owners = costs.as_ref().map(|it| it.owners());
        let most = asked.most.unwrap_or(usize::MAX);
        let mut grouped = asked.by.map(Grouped::by);
        let mut others = JobSums::default();
        let mut dimensions = BTreeSet::new();
        let mut theirs = Decimal::ZERO;
        let order = known.held.costliest(asked.nodes(&known.nodes).as_ref());
        let is_all = !is_of_some && asked.only.is_empty() && asked.find.is_none() && asked.by.is_none();
        let described = if is_all { order.len().min(most) } else { order.len() };
        for batch in order[..described].chunks(BATCH) {
            let numbers: Vec<i64> = batch.iter().map(|held| held.job_no()).collect();
            let mut described = descriptions::of_jobs(&mut *db, known.sequence, &numbers).await?;
            for held in batch {
                let Some(description) = described.remove(&held.job_no()) else { continue };
                let mut job = GpuJob::new(description, *held, &known.nodes);
                let is_theirs = owners.as_ref().is_some_and(|owners| job.charge_to(owners));
                if is_of_some && !is_theirs {
                    continue;
                }
                theirs += job.hours_without_cost;
                dimensions.extend(job.dimensions());
                if !asked.asks_for(&job) {
                    continue;
                }
                job.keep_nodes(asked.only);
                it.sums.add(&job);
                match &mut grouped {
                    Some(grouped) => grouped.add(&job),
                    None if it.jobs.len() < most => it.jobs.push(job),
                    None => others.add(&job),
                }
            }
        }
        for held in &order[described..] {
            it.sums.add_held(*held);
            others.add_held(*held);
        }
        if owners.is_none() && it.jobs.is_empty() {
            // What the rules say of jobs that are added up by something else is not looked up: it can be asked for.
            dimensions.extend(JobDimension::ALL.into_iter().filter(|it| it.is_of_rules()));
        } else if owners.is_none() {
            let listed: HashSet<String> = it.jobs.iter().map(|job| job.job.label()).collect();
            let costs = self.job_costs(&mut *db, question, Some(&listed)).await?;
            let owners = costs.owners();
            for job in &mut it.jobs {
                job.charge_to(&owners);
                dimensions.extend(job.dimensions());
            }
        }
        if is_of_some {
            it.hours_without_bill = theirs;
        }
        it.others = (others.jobs > 0).then_some(others);
        it.groups = grouped.map(Grouped::sorted);
        it.dimensions = dimensions.into_iter().collect();
        Ok(())
    }
}

impl GpuJob {
    /// Says whose it is; whether that is known.
    fn charge_to(&mut self, owners: &BTreeMap<&str, &JobCost>) -> bool {
        let Some(owner) = owners.get(self.job.label().as_str()) else { return false };
        self.team.clone_from(&owner.team);
        self.project.clone_from(&owner.project);
        self.experiment.clone_from(&owner.experiment);
        true
    }

    /// In which dimensions it has something.
    fn dimensions(&self) -> impl Iterator<Item = JobDimension> {
        JobDimension::ALL.into_iter().filter(|of| self.values(*of).iter().any(|it| !it.is_empty()))
    }

    /// Keeps what of it is of some nodes, where only these are asked for.
    fn keep_nodes(&mut self, only: &[(JobDimension, String)]) {
        let asked: Vec<&str> = only
            .iter()
            .filter(|(dimension, _)| *dimension == JobDimension::Node)
            .map(|(_, node)| node.as_str())
            .collect();
        if asked.is_empty() {
            return;
        }
        self.on_nodes.retain(|it| asked.contains(&it.node.as_str()));
        let sum = |of: fn(&GpuJobOnNode) -> Decimal| self.on_nodes.iter().map(of).sum::<Decimal>();
        self.accelerator_hours = sum(|it| it.accelerator_hours);
        self.used_hours = sum(|it| it.used_hours);
        self.measured_hours = sum(|it| it.measured_hours);
        self.cost = sum(|it| it.cost);
        self.idle_cost = sum(|it| it.idle_cost);
        self.hours_without_cost = sum(|it| it.hours_without_cost);
        self.utilization = self.used_hours.divide(self.measured_hours, 4);
        self.nodes.retain(|it| asked.contains(&it.as_str()));
    }
}
