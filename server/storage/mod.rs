//! Disk space: what takes it, and archiving what is needed no more.

mod archive;
mod usage;

pub use archive::{
    Archiving, MOST_DAYS, MOST_HOURS, archivable, archive, archive_since, archiving, kept_until,
    set_archiving,
};
pub use usage::{MonthOfUsage, Usage, usage};
