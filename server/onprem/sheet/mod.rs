//! Entries as forms and as rows of a sheet: one list of fields for each kind, which a form shows, a CSV file has as
//! columns, and what is wrong with either is decided by. Pure.

mod bands;
mod cells;
mod field;
mod file;
mod identity;
mod kind;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use cells::{Cells, RefusedCell, Texts};
pub(super) use field::START;
pub use field::{Field, Takes};
pub use file::{read_file, write_file};
pub use identity::identity;
pub use kind::Kind;
pub use read::read;
pub use write::cells;
