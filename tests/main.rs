//! One binary: tests that cross rooms, one module per room.

mod accelerator;
mod generate;
//! One test binary: linking once is faster than once per file.

mod formats;
