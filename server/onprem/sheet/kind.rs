//! What is kept as a sheet.

use serde::{Deserialize, Serialize};

use super::super::entry::Entry;
use super::field::{self, Field};
use crate::enum_words::{words, written_as_str};

words! {
    /// What is kept as a sheet: `as_str` in addresses and names of files, `name` over a list of them, `one` in “New asset”.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Kind: as_str, name, one {
        Clusters = "clusters", "Clusters", "cluster";
        Assets = "assets", "Hardware", "asset";
        Events = "events", "Disposals, write-offs, moves", "event";
        Utilization = "utilization", "Utilization and downtime", "utilization";
        #[serde(rename = "pue")]
        Power = "pue", "Power usage effectiveness", "PUE";
        Meters = "meters", "Meters", "meter";
        Tariffs = "tariffs", "Energy tariffs", "tariff";
        Colocation = "colocation", "Colocation", "colocation";
        Staff = "staff", "Staff", "role";
        StaffHours = "staff-hours", "Hours worked", "hours of a month";
        Costs = "costs", "Everything else", "cost";
    }
}

written_as_str!(Kind);

impl Kind {
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
