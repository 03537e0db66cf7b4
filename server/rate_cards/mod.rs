//! Rate cards: what an organization agreed to pay for usage that arrives without cost. A document of [rates](crate::rating::Rate) that
//! people change as they change prices: drafted, looked at with what it moves, applied, undone.
//!
//! Applying prices nothing by itself: imports whose usage has other rates then are [priced again](crate::ledger::reprice) by a job,
//! each as a new version of itself.

mod document;
pub mod read;

pub use document::{Edit, RateCards, Report, edits_of, edits_of_addition};
