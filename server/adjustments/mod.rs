//! Adjustments: what an organization adds to what a provider bills, or takes from it: discounts, markups and minimums of a month,
//! which people enter as a document, and internal prices of its own machines, which stand in the rate cards.
//!
//! From them and a bill of the ledger, a bill of adjustments is [computed](bill), which is imported [beside](compute) it and computed
//! again whenever either changes ([why](../../docs/decisions/adjustments-are-a-bill-beside-the-bill.md)).

mod bill;
mod check;
mod compute;
mod document;
mod due;
mod entry;
mod internal_price;
#[cfg(test)]
mod tests;

pub use bill::MINIMUM;
pub use check::check;
pub use compute::{compute, days};
pub use document::{Adjustments, Edit};
pub use due::{
    AdjustedBill, Due, Noted, bills, compute_again, due, follows_bill, note, note_problem, pending,
};
pub use entry::{Adjustment, Terms};
pub use internal_price::{DIFFERENCE, InternalPricing, internal_rates};
