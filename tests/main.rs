//! Everything that needs more than one file of the library, in one binary.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod layering;
mod support;
mod web;
