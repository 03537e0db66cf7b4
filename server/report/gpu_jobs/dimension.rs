//! What jobs are filtered and added up by.

use super::GpuJob;
use crate::enum_words::{words, written_as_str};

words! {
    /// Something that a job has: who ran it, where, for what.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum JobDimension: as_str, label, heading {
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
written_as_str!(JobDimension);

impl JobDimension {
    /// The rules decide it, and not what a scheduler or a meter says.
    pub(super) fn is_of_rules(self) -> bool {
        matches!(self, Self::Team | Self::Project | Self::Experiment)
    }
}

impl GpuJob {
    /// What it has in a dimension; empty where it has nothing there. A job that ran on several nodes is on each.
    pub(super) fn values(&self, dimension: JobDimension) -> Vec<&str> {
        vec![match dimension {
            JobDimension::Job => &self.job.job_id,
            JobDimension::User => &self.job.user_name,
            JobDimension::Account => &self.job.account,
            JobDimension::Queue => &self.job.queue,
            JobDimension::Team => &self.team,
            JobDimension::Project => &self.project,
            JobDimension::Experiment => &self.experiment,
            JobDimension::Wckey => &self.job.wckey,
            JobDimension::Namespace => &self.job.namespace,
            JobDimension::Slice => &self.job.profile,
            JobDimension::State => &self.job.state,
            JobDimension::Node => return self.nodes.iter().map(String::as_str).collect(),
        }]
    }
}
