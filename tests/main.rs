//! One binary: tests that cross rooms, one module per room.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod accelerator;
mod generate;
