//! The tests that cross rooms or need a real PostgreSQL, in one binary: linking once is faster than once a file.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod accelerator;
mod allocation;
mod browser;
mod formats;
mod fuzz;
mod generate;
mod journeys;
mod layering;
mod ledger;
mod operations;
mod reference;
mod report;
mod scenarios;
mod store;
mod support;
mod telemetry;
mod upgrade;
mod web;
