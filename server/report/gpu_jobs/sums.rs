//! What several jobs sum to.

use std::collections::BTreeMap;

use serde::Serialize;

use super::month::HeldByJob;
use super::{GpuJob, GpuJobOnNode, JobDimension};
use crate::money::Decimal;
use crate::telemetry::hours_of;

/// What jobs sum to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct JobSums {
    pub jobs: usize,
    pub accelerator_hours: Decimal,
    pub measured_hours: Decimal,
    pub used_hours: Decimal,
    pub cost: Decimal,
    pub idle_cost: Decimal,
    /// Held on machines whose charges are not known, and in no cost.
    pub hours_without_cost: Decimal,
}

/// Jobs that have the same in a dimension. Of a job on several nodes each has what was held there.
#[derive(Clone, Debug, Serialize)]
pub struct JobGroup {
    pub key: String,
    pub label: String,
    #[serde(flatten)]
    pub sums: JobSums,
    /// Null where nobody measured any of them.
    pub utilization: Option<Decimal>,
}

impl JobSums {
    /// The part of the measured hours in which they worked. None where nothing was measured.
    pub fn utilization(&self) -> Option<Decimal> {
        self.used_hours.divide(self.measured_hours, 4)
    }

    pub(super) fn add(&mut self, job: &GpuJob) {
        self.jobs += 1;
        self.accelerator_hours += job.accelerator_hours;
        self.measured_hours += job.measured_hours;
        self.used_hours += job.used_hours;
        self.cost += job.cost;
        self.idle_cost += job.idle_cost;
        self.hours_without_cost += job.hours_without_cost;
    }

    fn add_part(&mut self, part: &GpuJobOnNode) {
        self.jobs += 1;
        self.accelerator_hours += part.accelerator_hours;
        self.measured_hours += part.measured_hours;
        self.used_hours += part.used_hours;
        self.cost += part.cost;
        self.idle_cost += part.idle_cost;
        self.hours_without_cost += part.hours_without_cost;
    }

    /// A job that nobody needs to know more of.
    pub(super) fn add_held(&mut self, job: HeldByJob<'_>) {
        let sums = job.sums();
        self.jobs += 1;
        self.accelerator_hours += hours_of(sums.held);
        self.measured_hours += hours_of(sums.measured);
        self.used_hours += hours_of(sums.busy);
        self.cost += job.cost();
        self.idle_cost += job.sum(|it| it.idle);
        self.hours_without_cost += hours_of(job.without_cost());
    }
}

/// Adds jobs up by what they have in a dimension.
pub(super) struct Grouped {
    by: JobDimension,
    groups: BTreeMap<String, JobGroup>,
}

impl Grouped {
    pub fn by(by: JobDimension) -> Self {
        Self { by, groups: BTreeMap::new() }
    }

    pub fn add(&mut self, job: &GpuJob) {
        if self.by == JobDimension::Node {
            for part in &job.on_nodes {
                self.group(&part.node, job).sums.add_part(part);
            }
        } else if let Some(key) = job.values(self.by).first() {
            self.group(key, job).sums.add(job);
        }
    }

    fn group(&mut self, key: &str, job: &GpuJob) -> &mut JobGroup {
        let by = self.by;
        self.groups.entry(key.to_owned()).or_insert_with(|| {
            let label = match (key, by) {
                ("", JobDimension::Slice) => "Whole GPUs".to_owned(),
                ("", by) => format!("No {}", by.label().to_lowercase()),
                (_, JobDimension::State) => job.state().label().to_owned(),
                (key, _) => key.to_owned(),
            };
            JobGroup { key: key.to_owned(), label, sums: JobSums::default(), utilization: None }
        })
    }

    /// By cost, the largest first.
    pub fn sorted(self) -> Vec<JobGroup> {
        let mut groups: Vec<JobGroup> = self.groups.into_values().collect();
        for group in &mut groups {
            group.utilization = group.sums.utilization();
        }
        groups.sort_by(|a, b| {
            let (of_a, of_b) = (&a.sums, &b.sums);
            of_b.cost
                .cmp(&of_a.cost)
                .then(of_b.accelerator_hours.cmp(&of_a.accelerator_hours))
                .then_with(|| a.key.cmp(&b.key))
        });
        groups
    }
}
