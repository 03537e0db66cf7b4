//! Rows of `sacct --parsable2` with the summaries of jobstats in their comments.

use std::io::{self, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chrono::{DateTime, Utc};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

/// What is asked for with `--format`. The name of a job is last, since a bar in it makes more cells.
pub(crate) const COLUMNS: &str = "JobID|JobIDRaw|Cluster|User|Account|WCKey|Partition|QOS|State|Submit|Start|End|ElapsedRaw|\
     AllocTRES|AdminComment|Comment|NodeList|JobName";

/// A job that has ended, or will.
#[derive(Clone, Debug)]
pub(crate) struct SlurmJob {
    pub(crate) id: u64,
    pub(crate) user: &'static str,
    pub(crate) account: &'static str,
    pub(crate) wckey: &'static str,
    pub(crate) partition: &'static str,
    pub(crate) state: &'static str,
    pub(crate) name: String,
    /// What its user says of it, as `sbatch --comment` does.
    pub(crate) comment: String,
    pub(crate) submitted: DateTime<Utc>,
    pub(crate) started: DateTime<Utc>,
    pub(crate) ended: DateTime<Utc>,
    pub(crate) model: &'static str,
    pub(crate) gpus_per_node: u64,
    pub(crate) nodes: Vec<String>,
    /// Tenths of a percent, of each of its accelerators; `None` where nothing measured it.
    pub(crate) utilization: Option<Vec<u64>>,
}

/// Writes a job as an export at `at` has it: one that has not ended yet runs.
pub(crate) fn write(
    out: &mut impl Write,
    cluster: &str,
    job: &SlurmJob,
    at: DateTime<Utc>,
) -> io::Result<()> {
    let time = |at: DateTime<Utc>| at.format("%Y-%m-%dT%H:%M:%S").to_string();
    let has_ended = job.ended <= at;
    let (state, end) =
        if has_ended { (job.state, time(job.ended)) } else { ("RUNNING", "Unknown".to_owned()) };
    let elapsed = (job.ended.min(at) - job.started).num_seconds();
    let (nodes, gpus) = (job.nodes.len() as u64, job.gpus_per_node * job.nodes.len() as u64);
    let cpus = gpus * 12;
    let tres = format!(
        "billing={},cpu={cpus},gres/gpu:{}={gpus},gres/gpu={gpus},mem={}G,node={nodes}",
        gpus * 100,
        job.model,
        gpus * 120
    );
    // The summary is made when a job ends.
    let summary = match &job.utilization {
        _ if !has_ended => String::new(),
        Some(tenths) => jobstats(job, tenths, elapsed)?,
        None => "JS1:None".to_owned(),
    };
    writeln!(
        out,
        "{id}|{id}|{cluster}|{}|{}|{}|{}|normal|{state}|{}|{}|{end}|{elapsed}|{tres}|{summary}|{}|{}|{}",
        job.user,
        job.account,
        job.wckey,
        job.partition,
        time(job.submitted),
        time(job.started),
        job.comment,
        job.nodes.join(","),
        job.name,
        id = job.id,
    )
}

fn jobstats(job: &SlurmJob, tenths: &[u64], elapsed: i64) -> io::Result<String> {
    let mut nodes = serde_json::Map::new();
    let per_node = usize::try_from(job.gpus_per_node).unwrap_or(1).max(1);
    for (node, tenths) in job.nodes.iter().zip(tenths.chunks(per_node)) {
        let mut utilization = serde_json::Map::new();
        for (index, tenths) in tenths.iter().enumerate() {
            let percent: serde_json::Value =
                serde_json::from_str(&format!("{}.{}", tenths / 10, tenths % 10))?;
            utilization.insert(index.to_string(), percent);
        }
        nodes.insert(node.clone(), json!({ "cpus": job.gpus_per_node * 12, "gpu_utilization": utilization }));
    }
    let text =
        json!({ "gpus": job.gpus_per_node * job.nodes.len() as u64, "nodes": nodes, "total_time": elapsed });
    let mut packed = GzEncoder::new(Vec::new(), Compression::new(6));
    packed.write_all(text.to_string().as_bytes())?;
    Ok(format!("JS1:{}", BASE64_STANDARD.encode(packed.finish()?)))
}
