//! What held accelerators, where and for how long: a job of a scheduler, or a pod.

use chrono::{DateTime, Duration, Utc};

use crate::enum_words::words;

/// A job as its scheduler describes it at the time of an export. Empty text means "not stated".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// What tells it from every other job of its source: schedulers use their numbers again.
    pub key: String,
    /// The cluster that the scheduler runs. Empty where the export names none.
    pub cluster: String,
    /// What people call it: `4711`, `4711_3` of an array, `4711+1` of a job that asks for several kinds of nodes.
    pub id: String,
    pub name: String,
    pub user: String,
    pub account: String,
    /// Slurm's wckey.
    pub project: String,
    /// Slurm's partition.
    pub queue: String,
    pub qos: String,
    pub comment: String,
    pub namespace: String,
    pub state: JobState,
    pub submitted_at: Option<DateTime<Utc>>,
    pub started_at: Option<DateTime<Utc>>,
    /// `None` while it runs.
    pub ended_at: Option<DateTime<Utc>>,
    /// For how many seconds from its start it held what it held; of one that runs, until the export.
    pub held_seconds: u64,
    /// As the scheduler names the model: `h100`.
    pub model: String,
    /// MIG profile of the slices that it held; empty: whole accelerators.
    pub profile: String,
    pub holdings: Vec<Holding>,
}

/// What a job held on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Empty where the export names no nodes.
    pub node: String,
    /// In thousandths of an accelerator.
    pub accelerators: u64,
    /// How much of the time its accelerators worked, in hundredths of a percent. `None` where nobody measured it.
    pub utilization: Option<u32>,
    /// Of how much of the time that is known, in hundredths of a percent.
    pub measured: u32,
}

/// All of [`Holding::utilization`].
pub const FULLY_USED: u32 = 10_000;

words! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum JobState: as_str, label {
        Pending = "pending", "Waiting";
        Running = "running", "Running";
        Completed = "completed", "Completed";
        Failed = "failed", "Failed";
        Cancelled = "cancelled", "Canceled";
        Timeout = "timeout", "Timed out";
        OutOfMemory = "out-of-memory", "Out of memory";
        NodeFailed = "node-failed", "Node failed";
        Preempted = "preempted", "Preempted";
        Requeued = "requeued", "Requeued";
        #[default]
        Unknown = "unknown", "Not stated";
    }
}

impl JobState {
    /// Whether nothing of it changes any more.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Pending | Self::Running | Self::Unknown)
    }
}

impl Job {
    /// Thousandths of an accelerator, on all nodes.
    pub fn accelerators(&self) -> u64 {
        self.holdings.iter().map(|it| it.accelerators).sum()
    }

    /// For how long it held them: half-open. `None` where its start is not known.
    pub fn held(&self) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
        let begins = self.started_at?;
        let seconds = i64::try_from(self.held_seconds).ok()?;
        let ends = begins.checked_add_signed(Duration::try_seconds(seconds)?)?;
        Some((begins, ends))
    }
}

/// Spreads accelerators over nodes evenly, in thousandths whose sum is exact: the first nodes have the rest.
pub fn spread(accelerators: u64, nodes: &[String]) -> Vec<Holding> {
    let count = nodes.len().max(1) as u64;
    let (each, rest) = (accelerators / count, accelerators % count);
    nodes
        .iter()
        .zip(0..)
        .map(|(node, place)| Holding {
            node: node.clone(),
            accelerators: each + u64::from(place < rest),
            utilization: None,
            measured: FULLY_USED,
        })
        .collect()
}
