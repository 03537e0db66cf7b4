//! What is known of who used a machine, as tags of the part of its charges that is theirs. Rules, labels, filters and groups find it
//! as they find any tag.

/// Before the name of each.
const PREFIX: &str = "usage:";

/// Whether accelerators were at work, idle, or held by nobody.
pub const USE: &str = "usage:use";
/// The job, with its source: `east/4711`.
pub const JOB: &str = "usage:job";
pub const NODE: &str = "usage:node";
pub const USER: &str = "usage:user";
/// The scheduler's account: who asked for the accelerators.
pub const ACCOUNT: &str = "usage:account";
pub const QUEUE: &str = "usage:queue";
pub const QOS: &str = "usage:qos";
/// Slurm's wckey.
pub const WORKLOAD_KEY: &str = "usage:wckey";
pub const NAMESPACE: &str = "usage:namespace";
/// What people called the job.
pub const NAME: &str = "usage:name";
pub const COMMENT: &str = "usage:comment";

/// Each with what people call it.
pub const ALL: [(&str, &str); 11] = [
    (USE, "Use"),
    (JOB, "Job"),
    (NODE, "Node"),
    (USER, "User"),
    (ACCOUNT, "Job account"),
    (QUEUE, "Queue"),
    (QOS, "QOS"),
    (WORKLOAD_KEY, "Wckey"),
    (NAMESPACE, "Namespace"),
    (NAME, "Job name"),
    (COMMENT, "Job comment"),
];

/// Whether a tag, as names are compared, says who used a machine.
pub fn is_usage_tag(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// What people call a tag that says who used a machine.
pub fn usage_tag_label(name: &str) -> Option<&'static str> {
    ALL.iter().find(|(tag, _)| *tag == name).map(|(_, label)| *label)
}
