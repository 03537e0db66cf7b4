//! GPU usage: what schedulers, meters and clusters say about who held accelerators, for how long, and how busy these were.
//!
//! Reading is pure ([`slurm`]): bytes to [`Job`]s, rejections and skips. [`import`] writes them down under the
//! source that they are from.

pub mod format;
pub mod hours;
mod import;
pub mod job;
mod lines;
mod local_time;
mod match_nodes;
pub mod metered;
mod nvidia_smi;
mod opencost;
mod openshift;
mod prometheus;
pub mod read;
pub mod reading;
mod resolve;
pub mod share;
pub mod slurm;
mod store;
mod walk_json;

pub use format::{Format, recognize, recognize_file};
pub use import::{ImportUsage, Undone, hours_of, undo, usage_among};
pub use job::{FULLY_USED, Holding, Job, JobState};
pub use match_nodes::{Matched, match_node};
pub use reading::{Item, Skip, Zones};
pub use resolve::NOBODY;
