//! Disk space: what takes it, and archiving what is needed no more.

mod archive;
mod usage;

pub use archive::{LONGEST, archivable, archive, archive_after, archive_all, set_archive_after};
pub use usage::{MonthOfUsage, Usage, usage};
