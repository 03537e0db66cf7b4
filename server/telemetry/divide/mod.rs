//! The charges of machines, divided among those who used them: a bill that is [computed](compute) from a bill of the ledger and what
//! is known of usage, and is imported beside it ([why](../../../docs/decisions/machines-are-divided-by-use-in-a-bill-beside-the-bill.md)).

mod bill;
mod check;
mod compute;
mod due;
mod tags;

pub use check::check;
pub use compute::compute;
pub use due::{Due, Problem, divide_again, due, follows_bill, is_pending, note, note_problem, problems};
