//! What is kept as a sheet.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::super::entry::Entry;
use super::field::{self, Field};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Clusters,
    Assets,
    Events,
    Utilization,
    #[serde(rename = "pue")]
    Power,
    Meters,
    Tariffs,
    Colocation,
    Staff,
    StaffHours,
    Costs,
}

impl Kind {
    pub const ALL: [Self; 11] = [
        Self::Clusters,
        Self::Assets,
        Self::Events,
        Self::Utilization,
        Self::Power,
        Self::Meters,
        Self::Tariffs,
        Self::Colocation,
        Self::Staff,
        Self::StaffHours,
        Self::Costs,
    ];

    pub fn of(entry: &Entry) -> Self {
        match entry {
            Entry::Cluster(_) => Self::Clusters,
            Entry::Asset(_) => Self::Assets,
            Entry::Event(_) => Self::Events,
            Entry::Utilization(_) => Self::Utilization,
            Entry::Pue(_) => Self::Power,
            Entry::Meter(_) => Self::Meters,
            Entry::Tariff(_) => Self::Tariffs,
            Entry::Colocation(_) => Self::Colocation,
            Entry::Staff(_) => Self::Staff,
            Entry::StaffHours(_) => Self::StaffHours,
            Entry::Cost(_) => Self::Costs,
        }
    }

    /// In addresses and file names.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Clusters => "clusters",
            Self::Assets => "assets",
            Self::Events => "events",
            Self::Utilization => "utilization",
            Self::Power => "pue",
            Self::Meters => "meters",
            Self::Tariffs => "tariffs",
            Self::Colocation => "colocation",
            Self::Staff => "staff",
            Self::StaffHours => "staff-hours",
            Self::Costs => "costs",
        }
    }

    /// Over a list of them.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clusters => "Clusters",
            Self::Assets => "Hardware",
            Self::Events => "Disposals, write-offs, moves",
            Self::Utilization => "Utilization and downtime",
            Self::Power => "Power usage effectiveness",
            Self::Meters => "Meters",
            Self::Tariffs => "Energy tariffs",
            Self::Colocation => "Colocation",
            Self::Staff => "Staff",
            Self::StaffHours => "Hours worked",
            Self::Costs => "Everything else",
        }
    }

    /// `asset`, as in “New asset”.
    pub fn one(self) -> &'static str {
        match self {
            Self::Clusters => "cluster",
            Self::Assets => "asset",
            Self::Events => "event",
            Self::Utilization => "utilization",
            Self::Power => "PUE",
            Self::Meters => "meter",
            Self::Tariffs => "tariff",
            Self::Colocation => "colocation",
            Self::Staff => "role",
            Self::StaffHours => "hours of a month",
            Self::Costs => "cost",
        }
    }

    /// In the order of forms and files.
    pub fn fields(self) -> &'static [Field] {
        match self {
            Self::Clusters => field::CLUSTER,
            Self::Assets => field::ASSET,
            Self::Events => field::EVENT,
            Self::Utilization => field::UTILIZATION,
            Self::Power => field::PUE,
            Self::Meters => field::METER,
            Self::Tariffs => field::TARIFF,
            Self::Colocation => field::COLOCATION,
            Self::Staff => field::STAFF,
            Self::StaffHours => field::STAFF_HOURS,
            Self::Costs => field::COST,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected clusters, assets, events, utilization, pue, meters, tariffs, colocation, staff, staff-hours or costs"
)]
pub struct ParseKindError;

impl FromStr for Kind {
    type Err = ParseKindError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(ParseKindError)
    }
}
