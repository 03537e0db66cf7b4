//! What a person may do, and whose rows they may see.

use serde::{Deserialize, Serialize};

use crate::enum_words::{words, written_as_str};

words! {
    /// The three kinds of people. Stored, printed and typed in lower case; `meaning` is for the person who chooses.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type, clap::ValueEnum)]
    #[serde(rename_all = "lowercase")]
    #[sqlx(type_name = "text", rename_all = "lowercase")]
    pub enum Role: as_str, meaning {
        Admin = "admin", "everything, including people";
        Finance = "finance", "all spend, and imports";
        Lead = "lead", "the spend of their teams";
    }
}

written_as_str!(Role);

/// Whose rows a person may see. Every report takes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Viewer {
    Everything,
    /// Rows of these teams only, in normalized spelling. Empty: nothing.
    Teams(Vec<String>),
}

impl Role {
    /// For a form: what is stored, and what it means.
    pub const CHOICES: [(&'static str, &'static str); 3] = [
        ("lead", "lead: the spend of their teams"),
        ("finance", "finance: all spend, and imports"),
        ("admin", "admin: everything, including people"),
    ];

    /// The teams that mean anything for this role: only a lead's.
    pub fn keeps(self, teams: &[String]) -> &[String] {
        if self == Self::Lead { teams } else { &[] }
    }

    /// What a person of this role sees, given their teams.
    pub fn viewer(self, teams: &[String]) -> Viewer {
        match self {
            Self::Admin | Self::Finance => Viewer::Everything,
            Self::Lead => Viewer::Teams(teams.to_vec()),
        }
    }
}
