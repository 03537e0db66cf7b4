//! Changes that people make to what is configured: drafted, proposed, applied, undone or discarded, with who did it, when and
//! why. The allocation, the asset register and the price list are each a [`Document`] of entries; this is what they share.

mod change;
mod document;
mod edit;
mod kind;
mod lifecycle;
mod problem;
mod status;

pub use change::{About, Change, Outline, count, find, latest, latest_outlines, outlines, waiting};
pub use document::{Document, additions, entry_ids};
pub use edit::{Edit, Entry, NumberedEdit};
pub use kind::Kind;
pub use lifecycle::{Outcome, Right, apply, begin, change, discard, draft, propose, undo, wrote};
pub use problem::Problem;
pub use status::Status;
