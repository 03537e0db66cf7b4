//! A job as both forms of an export state it, and what it becomes.

use chrono::{DateTime, NaiveDateTime, Utc};
use chrono_tz::Tz;

use super::host_list;
use super::job_stats;
use super::tres::Gpus;
use crate::telemetry::hours::MOST_OF_A_NODE;
use crate::telemetry::job::{Job, JobState, spread};
use crate::telemetry::local_time;
use crate::telemetry::reading::Skip;

/// A time of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    At(DateTime<Utc>),
    /// Of the cluster's clock.
    Local(NaiveDateTime),
}

/// What an export says of an allocation.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Names and texts; `id`, `key` and times are made here.
    pub job: Job,
    pub raw_id: String,
    pub submitted: Option<Time>,
    pub started: Option<Time>,
    pub ended: Option<Time>,
    pub elapsed: Option<u64>,
    /// Whether the export says when jobs start at all.
    pub states_times: bool,
    /// `None` where it says nothing of accelerators.
    pub gpus: Option<Gpus>,
    pub nodes: String,
    pub admin_comment: String,
}

/// No job ran for longer: what says so is no time.
const LONGEST_SECONDS: u64 = 10 * 366 * 86_400;

/// Which column is wrong, what it holds, and what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    pub column: &'static str,
    pub found: String,
    pub expected: String,
}

impl Wrong {
    pub fn new(column: &'static str, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { column, found: found.into(), expected: expected.into() }
    }
}

/// The job, or why it holds no accelerators.
pub fn job(entry: Entry, zone: Tz) -> Result<Result<Job, Skip>, Wrong> {
    let Entry {
        mut job,
        raw_id,
        submitted,
        started,
        ended,
        elapsed,
        states_times,
        gpus,
        nodes,
        admin_comment,
    } = entry;
    let gpus = gpus.unwrap_or_default();
    if started.is_none() && (states_times || gpus.count == 0) {
        // An allocation without resources never was one, whether or not the export has times.
        let is_never = states_times || job.state == JobState::Cancelled;
        return Ok(Err(if is_never { Skip::NeverStarted } else { Skip::WithoutAccelerators }));
    }
    if gpus.count == 0 {
        return Ok(Err(Skip::WithoutAccelerators));
    }
    (job.started_at, job.ended_at) = times(started, ended, elapsed, zone)?;
    job.submitted_at = submitted.and_then(|it| instant(it, zone));
    job.held_seconds = match (elapsed, job.started_at, job.ended_at) {
        (Some(seconds), ..) => seconds,
        (None, Some(begins), Some(ends)) => u64::try_from((ends - begins).num_seconds()).unwrap_or(0),
        _ => return Err(Wrong::new("ElapsedRaw", "nothing", "the seconds that the job ran")),
    };
    if job.held_seconds > LONGEST_SECONDS {
        let found = format!("{} seconds", job.held_seconds);
        return Err(Wrong::new("ElapsedRaw", found, "at most ten years"));
    }
    job.key = match job.submitted_at {
        Some(at) => format!("{raw_id}@{}", at.timestamp()),
        None => raw_id,
    };
    let mut nodes = host_list::nodes(&nodes)
        .map_err(|found| Wrong::new("NodeList", found, "nodes as Slurm writes them: gpu-[01-04,07]"))?;
    if nodes.is_empty() {
        nodes.push(String::new());
    }
    let most = MOST_OF_A_NODE * nodes.len() as u64;
    if gpus.count > most {
        let found = format!("{} GPUs on {} nodes", gpus.count, nodes.len());
        return Err(Wrong::new("AllocTRES", found, format!("no more than {MOST_OF_A_NODE} on each node")));
    }
    job.model = gpus.model;
    job.profile = gpus.profile;
    job.holdings = spread(gpus.thousandths, &nodes);
    let measured = job_stats::utilization(&admin_comment);
    for holding in &mut job.holdings {
        holding.utilization = measured.get(&holding.node).copied();
    }
    Ok(Ok(job))
}

/// When a job began and when it ended, as far as that is known.
type Span = (Option<DateTime<Utc>>, Option<DateTime<Utc>>);

fn times(started: Option<Time>, ended: Option<Time>, elapsed: Option<u64>, zone: Tz) -> Result<Span, Wrong> {
    let (begins, ends) = match (started, ended) {
        (Some(Time::Local(begins)), Some(Time::Local(ends))) => {
            let span = local_time::span(begins, ends, elapsed, zone);
            (span.map(|it| it.0), span.map(|it| it.1))
        }
        (begins, ends) => (begins.and_then(|it| instant(it, zone)), ends.and_then(|it| instant(it, zone))),
    };
    match (begins, ends) {
        (Some(begins), Some(ends)) if ends < begins => Err(Wrong::new(
            "End",
            ends.to_rfc3339(),
            format!("an end that is not before the start, {}", begins.to_rfc3339()),
        )),
        times => Ok(times),
    }
}

fn instant(time: Time, zone: Tz) -> Option<DateTime<Utc>> {
    match time {
        Time::At(at) => Some(at),
        Time::Local(local) => local_time::instant(local, zone),
    }
}

/// `CANCELLED by 1001`, `COMPLETED`, `CANCELLED+`.
pub fn state(text: &str) -> JobState {
    let word = text.split(' ').next().unwrap_or_default().trim_end_matches('+');
    match word {
        "PENDING" | "CONFIGURING" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => {
            JobState::Pending
        }
        "RUNNING" | "COMPLETING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "STAGE_OUT" | "RESIZING" => {
            JobState::Running
        }
        "COMPLETED" => JobState::Completed,
        "FAILED" | "LAUNCH_FAILED" | "RECONFIG_FAIL" => JobState::Failed,
        "CANCELLED" | "REVOKED" => JobState::Cancelled,
        "TIMEOUT" | "DEADLINE" => JobState::Timeout,
        "OUT_OF_MEMORY" => JobState::OutOfMemory,
        "NODE_FAIL" | "BOOT_FAIL" => JobState::NodeFailed,
        "PREEMPTED" => JobState::Preempted,
        "REQUEUED" => JobState::Requeued,
        _ => JobState::Unknown,
    }
}
