//! The list of prices that holds. The program brings one; what people enter or import is laid over it, so that a later
//! version adds its prices and overwrites nothing. Every change is a revision: who, when, why. It is proposed by whoever
//! may, applied or discarded by whoever decides, and undone exactly, in any order as long as nobody touched the same since.

mod entry;
mod keep;
mod report;

pub use entry::{Edit, Entries, Said, edits_of_file, edits_of_removal, edits_of_replacement};
pub use keep::{as_of, current};
pub use report::Report;
