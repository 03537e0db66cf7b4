//! Who used the accelerators, and the files that say so.

use crate::period::Period;

paths! {
    "/jobs" => AnyJobs;
    #[derive(Copy)]
    "/jobs/{period}" => Jobs { period: Period };
    #[derive(Copy)]
    "/jobs/job/{job}" => Job { job: i64 };
    "/jobs/hours" => AnyGpuHours;
    #[derive(Copy)]
    "/jobs/hours/{period}" => GpuHours { period: Period };
    "/usage" => Usage;
    #[derive(Copy)]
    "/usage/imports/{import}" => UsageImport { import: i64 };
    "/usage/imports/{import}/undo" => UsageUndo { import: i64 };
    /// The machines of a bill are divided by use again.
    "/usage/bills/{scope}/divide" => UsageDivide { scope: i64 };
    "/usage/prometheus/new" => NewPrometheus;
    /// Asks a server, and writes nothing down.
    "/usage/prometheus/test" => PrometheusTest;
    #[derive(Copy)]
    "/usage/prometheus/{server}" => Prometheus { server: i64 };
    #[derive(Copy)]
    "/usage/prometheus/{server}/read-again" => PrometheusReadAgain { server: i64 };
    "/usage/prometheus/{server}/remove" => PrometheusRemove { server: i64 };
    /// Where the clocks of a source stand.
    "/usage/sources/{source}/clock" => UsageClock { source: i64 };
    /// Which machine a node is.
    "/usage/nodes/{node}" => UsageNode { node: i64 };
}
