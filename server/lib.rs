//! gpuledger: what an organization spends on GPUs, wherever they run.
//!
//! Data flows one way: file → charges → ledger → report → page. One line per room:
#![warn(clippy::print_stdout, clippy::print_stderr)]

/// GPU catalog: models, instance types, recognition. Pure.
pub mod accelerator;
/// People: passwords, sessions, roles.
pub mod accounts;
/// Discounts, markups and minimums that bills do not have: computed beside them.
pub mod adjustments;
/// Who every charge belongs to: the allocation configuration, rules, shared costs.
pub mod allocation;
/// The trail of everything that writes: who did what, when, from where.
pub mod audit;
/// Everything in one folder, and back.
pub mod backup;
/// Billing exports: bytes to charges. Pure.
pub mod billing;
/// Answers that are remembered by what decides them, in bounded memory.
mod cache;
/// Work that ends when nobody waits for it any more. Pure.
pub mod cancellation;
/// Changes that people make to what is configured: draft, propose, apply, undo, history.
pub mod changes;
/// Figures to SVG: themable, readable, accessible. Pure.
pub mod chart;
/// The command line: each command calls one room.
pub mod cli;
/// The one place that asks what time it is.
pub mod clock;
/// What commands print, to whoever still reads.
mod command_output;
/// Computing beside the threads that answer.
mod compute;
/// Settings: flags, environment, defaults.
pub mod config;
/// An invented organization: its thirteen months, its rules and clusters, and the mark of a folder that holds it.
pub mod demonstration;
/// The economics: what owning costs, when it pays, how many are enough. Pure.
pub mod economics;
/// CSV files that people enter things with: rows, and what is wrong in which place. Pure.
mod entered_csv;
/// Enums whose variants are words, as tables. Pure.
mod enum_words;
/// Exchange rates: what was entered or read, and what follows from it.
pub mod exchange;
/// A queue for each person, so that nobody waits for all that another one asks.
mod fair_queue;
/// Invented billing files, of any size. Pure.
pub mod generate;
/// Background work: a queue in PostgreSQL, with progress.
pub mod jobs;
/// Charges to PostgreSQL: originals, deliveries, keys, rollups, publish, undo, check.
pub mod ledger;
/// Exact decimals and currencies.
pub mod money;
/// On-premises clusters: what our own racks cost, month by month.
pub mod onprem;
/// Billing months and charge periods, always half-open.
pub mod period;
/// Prices of accelerators elsewhere: what comes with the program, what people entered, and lists that others publish.
pub mod price_catalogue;
/// Rate cards: what was entered, and what a change of it moves.
pub mod rate_cards;
/// What usage costs that arrives without cost. Pure.
pub mod rating;
/// The questions pages ask of the ledger.
pub mod report;
/// Scenarios that people saved: versions, and whom they are shown to.
pub mod saved_scenarios;
/// Secrets of other systems, sealed with a key in the data directory.
pub mod secrets;
/// Disk space: what takes it, and archiving imports that were replaced.
pub mod storage;
/// PostgreSQL: the private server, the pool, the migrations, typed COPY.
pub mod store;
/// GPU usage: who held accelerators, and how busy these were.
pub mod telemetry;
/// Tokens of language models on a bill: which model's, what for, how many. Pure.
pub mod tokens;
/// Pages: one file each.
pub mod web;

pub use store::MIGRATOR;
