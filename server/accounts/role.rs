//! What a person may do, and whose rows they may see.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The three kinds of people. Stored, printed and typed in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum Role {
    Admin,
    Finance,
    Lead,
}

/// Whose rows a person may see. Every report takes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Viewer {
    Everything,
    /// Rows of these teams only, in normalized spelling. Empty: nothing.
    Teams(Vec<String>),
}

/// A text that names no role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected admin, finance or lead")]
pub struct ParseRoleError;

impl Role {
    pub const ALL: [Self; 3] = [Self::Admin, Self::Finance, Self::Lead];

    /// For a form: what is stored, and what it means.
    pub const CHOICES: [(&'static str, &'static str); 3] = [
        ("lead", "lead: the spend of their teams"),
        ("finance", "finance: all spend, and imports"),
        ("admin", "admin: everything, including people"),
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Finance => "finance",
            Self::Lead => "lead",
        }
    }

    /// One line for the person who chooses.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Admin => "everything, including people",
            Self::Finance => "all spend, and imports",
            Self::Lead => "the spend of their teams",
        }
    }

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

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = ParseRoleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(ParseRoleError)
    }
}
