//! Who used the accelerators, and the files that say so.

use crate::period::Period;

paths! {
    "/jobs" => AnyJobs;
    #[derive(Copy)]
    "/jobs/{period}" => Jobs { period: Period };
    #[derive(Copy)]
    "/jobs/job/{job}" => Job { job: i64 };
    "/usage" => Usage;
    #[derive(Copy)]
    "/usage/imports/{import}" => UsageImport { import: i64 };
    "/usage/imports/{import}/undo" => UsageUndo { import: i64 };
    /// Which machine a node is.
    "/usage/nodes/{node}" => UsageNode { node: i64 };
}
