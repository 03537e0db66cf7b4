//! A line of a cluster's month.

use std::collections::BTreeMap;
use std::ops::Range;

use chrono::NaiveDate;
use serde::Serialize;

use crate::money::{Currency, Decimal};

/// Something that a month is charged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    pub component: Component,
    /// The number of the entry that it comes from.
    pub input: i64,
    /// What that is called.
    pub name: String,
    /// The unit, where it is one's.
    pub resource: Option<String>,
    /// What it is for: a day, or the month.
    #[serde(skip)]
    pub days: Range<NaiveDate>,
    pub billed: Decimal,
    pub effective: Decimal,
    pub currency: Currency,
    /// So many, of this unit: hours in service, kWh.
    pub quantity: Option<(Decimal, &'static str)>,
    pub machine: Option<Machine>,
    pub tags: BTreeMap<String, String>,
    pub basis: Basis,
    /// How it came about.
    pub description: String,
}

/// A node whose accelerators are in service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    pub model: String,
    pub accelerator: String,
    pub accelerators: u32,
}

/// What it is a cost of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Component {
    Purchase,
    Depreciation,
    Interest,
    Lease,
    Disposal,
    Energy,
    Demand,
    Colocation,
    Staff,
    Maintenance,
    Licences,
    Space,
    Links,
    Insurance,
    Spares,
    Other,
}

/// What a line rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    Entered,
    Measured,
    /// Reckoned from what machines draw at rest and at work.
    Modelled,
}

impl Component {
    pub const ALL: [Self; 16] = [
        Self::Purchase,
        Self::Depreciation,
        Self::Interest,
        Self::Lease,
        Self::Disposal,
        Self::Energy,
        Self::Demand,
        Self::Colocation,
        Self::Staff,
        Self::Maintenance,
        Self::Licences,
        Self::Space,
        Self::Links,
        Self::Insurance,
        Self::Spares,
        Self::Other,
    ];

    /// The FOCUS ServiceName of its charges.
    pub fn name(self) -> &'static str {
        match self {
            Self::Purchase => "Purchase",
            Self::Depreciation => "Depreciation",
            Self::Interest => "Interest",
            Self::Lease => "Lease",
            Self::Disposal => "Disposal",
            Self::Energy => "Energy",
            Self::Demand => "Demand charge",
            Self::Colocation => "Colocation",
            Self::Staff => "Staff",
            Self::Maintenance => "Maintenance",
            Self::Licences => "Licences",
            Self::Space => "Space",
            Self::Links => "Links",
            Self::Insurance => "Insurance",
            Self::Spares => "Spare parts",
            Self::Other => "Other",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|component| component.name() == name)
    }
}

impl Basis {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Entered => "entered",
            Self::Measured => "measured",
            Self::Modelled => "modelled",
        }
    }
}

impl Line {
    pub(super) fn says_nothing(&self) -> bool {
        self.billed.is_zero() && self.effective.is_zero() && self.machine.is_none()
    }
}
