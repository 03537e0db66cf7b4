//! Slurm's accounting: `sacct --parsable2`, `--parsable` and `--json` (<https://slurm.schedmd.com/sacct.html>).
//!
//! A job holds what `AllocTRES` says on the nodes of its allocation, for `ElapsedRaw` seconds from its start: suspended time is
//! left out there. Only rows of allocations count; those of steps repeat them. Accelerators are spread over a job's nodes evenly,
//! since the accounting does not say how many each has.

mod entry;
mod host_list;
mod job_stats;
mod json;
mod text;
mod tres;

pub use json::read as read_json;
pub use text::{is_sacct, read as read_text};
