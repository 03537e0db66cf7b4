//! PostgreSQL.

mod copy;

pub use copy::{CopyRows, send as copy_rows};
