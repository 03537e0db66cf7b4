//! Where changes stand.

use serde::{Deserialize, Serialize};

use crate::enum_words::words;

words! {
    /// Where a change stands, in the order in which people look for them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
    #[serde(rename_all = "lowercase")]
    #[sqlx(type_name = "text", rename_all = "lowercase")]
    pub enum Status: as_str {
        /// It waits for whoever decides.
        Proposed = "proposed";
        /// Whoever made it looks at what it would change.
        Draft = "draft";
        Applied = "applied";
        Undone = "undone";
        Discarded = "discarded";
    }
}

impl Status {
    /// Whether nobody decided yet.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Draft | Self::Proposed)
    }
}
