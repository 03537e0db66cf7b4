//! What the part of a charge says of who used the machine. Pure.

use serde_json::{Map, Value};

use crate::billing::usage_tags as tag;
use crate::telemetry::descriptions::JobDescription;
use crate::telemetry::gpu_use::GpuUse;

/// The tags of a machine's charge, a JSON object, and those of a part of it.
pub(super) fn with_usage(tags: &str, node: &str, gpu_use: GpuUse, job: Option<&JobDescription>) -> String {
    // The ledger keeps tags as an object.
    let mut all: Map<String, Value> = serde_json::from_str(tags).unwrap_or_default();
    let mut set = |name: &str, value: &str| {
        if !value.trim().is_empty() {
            all.insert(name.to_owned(), Value::String(value.to_owned()));
        }
    };
    set(tag::USE, gpu_use.as_str());
    set(tag::NODE, node);
    if let Some(job) = job {
        set(tag::JOB, &job.label());
        set(tag::USER, &job.user_name);
        set(tag::ACCOUNT, &job.account);
        set(tag::QUEUE, &job.queue);
        set(tag::QOS, &job.qos);
        set(tag::WORKLOAD_KEY, &job.wckey);
        set(tag::NAMESPACE, &job.namespace);
        set(tag::NAME, &job.name);
        set(tag::COMMENT, &job.comment);
    }
    Value::Object(all).to_string()
}

/// Why a part of a charge is whose it is, for people who look at the row.
pub(super) fn why(gpu_use: GpuUse, job: Option<&JobDescription>) -> String {
    match job {
        Some(job) => format!("Job {}: {}", job.label(), gpu_use.as_str().to_lowercase()),
        None => gpu_use.as_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_the_tags_of_its_machine_and_of_its_job() {
        let job = JobDescription {
            source: "east".to_owned(),
            job_id: "4711".to_owned(),
            user_name: "ada".to_owned(),
            account: "vision".to_owned(),
            ..JobDescription::default()
        };
        assert_eq!(
            with_usage(r#"{"team":"platform"}"#, "east-a-01", GpuUse::Idle, Some(&job)),
            r#"{"team":"platform","usage:use":"Held but idle","usage:node":"east-a-01","usage:job":"east/4711","usage:user":"ada","usage:account":"vision"}"#
        );
        assert_eq!(
            with_usage("{}", "east-a-01", GpuUse::Unheld, None),
            r#"{"usage:use":"Held by nobody","usage:node":"east-a-01"}"#
        );
    }
}
