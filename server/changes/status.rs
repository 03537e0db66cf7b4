//! Where changes stand.

use serde::{Deserialize, Serialize};

/// Where a change stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum Status {
    /// Whoever made it looks at what it would change.
    Draft,
    /// It waits for whoever decides.
    Proposed,
    Applied,
    Undone,
    Discarded,
}

impl Status {
    /// In the order in which people look for them.
    pub const ALL: [Self; 5] = [Self::Proposed, Self::Draft, Self::Applied, Self::Undone, Self::Discarded];

    /// The word that addresses and pages say.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Proposed => "proposed",
            Self::Applied => "applied",
            Self::Undone => "undone",
            Self::Discarded => "discarded",
        }
    }

    /// Whether nobody decided yet.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Draft | Self::Proposed)
    }
}
