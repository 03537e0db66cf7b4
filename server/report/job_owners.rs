//! Whose jobs are: what the parts of machines that they held belong to, by the rules.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::PgConnection;

use super::as_of::Error;
use super::gpu_jobs::{CostLines, HourLines};
use super::{Answers, Filter, Group, Grouping, Question};
use crate::accounts::Viewer;
use crate::billing::usage_tags;
use crate::money::Decimal;
use crate::telemetry::GpuUse;

/// Whose a job is. Empty where it is nobody's; of several the one that most of its cost belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JobOwner {
    pub team: String,
    pub project: String,
    pub experiment: String,
}

/// Owners by the label of a job: what the tag of its charges says.
pub(super) type JobOwners = BTreeMap<String, JobOwner>;

impl Answers {
    /// Whose the jobs of a question's period are, of those that its viewer sees something of.
    pub(super) async fn job_owners(
        &self,
        db: &mut PgConnection,
        question: &Question,
    ) -> Result<JobOwners, Error> {
        let mut owners = JobOwners::new();
        let by_job = of_jobs(question).by(job());
        for then in [Grouping::Team, Grouping::Project, Grouping::Experiment] {
            let asked = Question { then: Some(then.clone()), ..by_job.clone() };
            for group in self.spend(&mut *db, &asked).await?.groups {
                let Some(label) = group.key else { continue };
                let owner = owners.entry(label).or_default();
                let of_owner = match then {
                    Grouping::Team => &mut owner.team,
                    Grouping::Project => &mut owner.project,
                    _ => &mut owner.experiment,
                };
                largest(&group.groups).unwrap_or_default().clone_into(of_owner);
            }
        }
        Ok(owners)
    }

    /// The jobs that a viewer may see: those of which something is theirs. `None`: all.
    pub(super) async fn seen_jobs(
        &self,
        db: &mut PgConnection,
        question: &Question,
    ) -> Result<Option<BTreeSet<String>>, Error> {
        if question.viewer == Viewer::Everything {
            return Ok(None);
        }
        let groups = self.spend(db, &of_jobs(question).by(job())).await?.groups;
        Ok(Some(groups.into_iter().filter_map(|group| group.key).collect()))
    }

    /// What became of the accelerator-hours that are a viewer's, and their cost.
    pub(super) async fn lines_by_use(
        &self,
        db: &mut PgConnection,
        question: &Question,
    ) -> Result<(HourLines, CostLines), Error> {
        let spend = self.spend(db, &question.by(Grouping::Tag(usage_tags::USE.to_owned()))).await?;
        let of = |gpu_use: Option<GpuUse>| {
            let key = gpu_use.map(GpuUse::as_str);
            let group = spend.groups.iter().find(|group| group.key.as_deref() == key);
            group.map_or((Decimal::ZERO, Decimal::ZERO), |it| {
                (it.accelerator_hours + it.owned_hours, it.cost.amount)
            })
        };
        let [used, idle, unmeasured, unheld] = GpuUse::ALL.map(|it| of(Some(it)));
        let without_usage = of(None);
        let hours = HourLines {
            paid: used.0 + idle.0 + unmeasured.0 + unheld.0,
            held: used.0 + idle.0 + unmeasured.0,
            used: used.0,
            idle: idle.0,
            unmeasured: unmeasured.0,
            unheld: unheld.0,
            beyond: Decimal::ZERO,
            without_usage: without_usage.0,
        };
        let cost = CostLines {
            total: spend.total.as_ref().map_or(Decimal::ZERO, |it| it.amount),
            used: used.1,
            idle: idle.1,
            unmeasured: unmeasured.1,
            unheld: unheld.1,
            without_usage: without_usage.1,
        };
        Ok((hours, cost))
    }
}

fn job() -> Grouping {
    Grouping::Tag(usage_tags::JOB.to_owned())
}

/// Only what somebody is known to have used.
fn of_jobs(question: &Question) -> Question {
    question.filtered(Filter::no_value(Grouping::Tag(usage_tags::USE.to_owned())).left_out())
}

fn largest(groups: &[Group]) -> Option<&str> {
    groups.iter().max_by_key(|group| group.cost.amount)?.key.as_deref()
}
