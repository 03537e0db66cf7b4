//! Why a document cannot be as somebody wishes.

use serde::Serialize;

/// A sentence for whoever wishes it, and what it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// `rule Support`.
    pub of: String,
    pub message: String,
}
