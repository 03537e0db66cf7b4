//! GPU usage: what schedulers, meters and clusters say about who held accelerators, for how long, and how busy these were.
//!
//! Reading is pure ([`slurm`], `prometheus`, …): bytes to [`Job`]s and [`metered`] devices, rejections and skips. [`ImportUsage`] writes
//! them down under the source that they are from; `publish` makes what holds of all of them a version of the ledger.

mod by_machine;
pub mod by_week;
mod clock;
pub mod columns;
mod contradictions;
pub mod descriptions;
pub mod divide;
pub mod format;
mod gpu_use;
pub mod hours;
mod import;
pub mod job;
mod lines;
mod local_time;
mod match_nodes;
mod measure;
pub mod metered;
mod meters;
pub mod meters_of_job;
mod nvidia_smi;
mod one_source;
mod opencost;
mod openshift;
pub mod plain_csv;
pub mod prometheus;
mod publish;
pub mod read;
mod read_file;
pub mod reading;
mod resolve;
pub mod share;
mod slice;
pub mod slurm;
mod store;
mod store_meters;
mod table;
mod usage_mappings;
mod used_days;
mod walk_json;

pub use by_machine::{Holder, MachineUsage, by_machine};
pub use clock::{ClockSet, set_clock};
pub use format::{Format, recognize, recognize_file};
pub use gpu_use::GpuUse;
pub use hours::hours_of;
pub use import::{ImportUsage, is_importing, usage_among};
pub use job::{FULLY_USED, Holding, Job, JobState};
pub use match_nodes::{Matched, match_node};
pub use publish::{Undone, undo};
pub use reading::{Item, Skip, Zones};
pub use resolve::{NOBODY, STRANDED};
pub use store::unnamed_zone;
pub use usage_mappings::{
    UsageMapping, column_names, remove_usage_mapping, save_usage_mapping, usage_mappings,
};
