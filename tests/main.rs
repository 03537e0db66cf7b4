//! The tests that cross rooms or need a real PostgreSQL, in one binary: linking once is faster than once a file.

mod accelerator;
mod formats;
mod generate;
mod store;
