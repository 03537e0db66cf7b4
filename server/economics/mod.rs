//! The economics: what owning accelerators costs and what renting them costs, from which utilization on the one pays, how
//! many are enough, and what the work on them costs. Pure.
//!
//! Every figure is a formula over named inputs, stated with its unit and source where it is computed, and every answer
//! carries the terms it was computed from, so that a page can open a figure. What is undefined (the cost of an hour
//! where there are no hours) is `None`, never 0 and never infinite.
//!
//! Conventions that all of it shares: a year has 8,760 hours and a month 730, a twelfth of it; amounts are in one
//! currency, whichever it is, and what is [`shipped`] in dollars is converted or asked for; nothing is rounded but to
//! [`crate::money::arithmetic`]'s digits, money only where it is displayed.
//!
//! What is computed in each file stands at its top, with its formulas. Owning: [`owning`], [`break_even`], [`capacity`].
//! Renting: [`rent`], [`spot`], [`commitment`]; moving data away from it: [`egress`]. The work itself:
//! [`work_unit`], [`serving`], [`sizing`], [`memory`], [`slices`], [`vector_search`], and on other chips [`silicon`]. What
//! becomes of prices and machines: [`price_path`]. What others print of all that: [`published_figures`].
//! All of it on the same work, as somebody would ask: [`comparison`], of a [`profile`] of hours served by a [`mix`], paid
//! when [`cash`] says, as sure as [`uncertainty`] says, and all of that is its [`answer`]; read from a [`file`], to begin
//! with a [`template`] or with what was [`measured`].
//!
//! An hour is one of a chain, and a cost of an hour says of which:
//! owned (paid for) → available (without downtime) → allocated (a job holds it) → productive (doing work) → useful
//! (without work that is lost and done again).

pub mod answer;
pub mod break_even;
pub mod capacity;
pub mod cash;
pub mod check;
pub mod commitment;
pub mod comparison;
pub mod egress;
pub mod figure;
pub mod file;
pub mod measured;
pub mod memory;
pub mod mix;
pub mod owning;
pub mod price_path;
pub mod profile;
pub mod published_figures;
pub mod rent;
pub mod serving;
pub mod shipped;
pub mod silicon;
pub mod sizing;
pub mod slices;
pub mod spot;
pub mod template;
pub mod uncertainty;
pub mod vector_search;
pub mod work_unit;

pub use answer::Answer;
pub use break_even::{BreakEven, Verdict, Within, YearlyCost};
pub use cash::Payback;
pub use check::{Finding, Severity};
pub use figure::{Figure, Term, Unit};
pub use owning::{Owning, OwningCost};
