//! One binary: tests that cross rooms, one module per room.

mod accelerator;
mod generate;
