//! What an organization writes down about its own hardware: clusters, and everything that they cost.

use std::collections::BTreeMap;

use chrono::{Months, NaiveDate};
use serde::{Deserialize, Serialize};

use super::depreciation::Method;
use super::power::{self, MeterLocation};
use crate::changes;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// Accelerators in one place under one name; what they cost is entered beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// What addresses, rules and bills call it; stays when it is renamed.
    pub handle: String,
    pub name: String,
    /// FOCUS RegionId.
    pub site: String,
    /// Nothing of it costs anything before; what is paid by the month counts for the whole month of this day.
    pub since: NaiveDate,
    /// The share of time in which its accelerators cannot be used: repair, upgrades. From its beginning, until an entry
    /// of [`Utilization`] says otherwise.
    pub downtime: Decimal,
    /// The share of available hours in which they do work, likewise; entered, until usage is known.
    pub utilization: Decimal,
    /// The share of productive hours that was lost to work done again, likewise: restarts, checkpoints. Unknown where nobody entered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Decimal>,
    /// What a rack can feed and cool, in kW.
    pub rack_kw: Decimal,
    /// What a year of capital costs, as a share: of the economic view alone.
    pub cost_of_capital: Decimal,
    /// By how much demand grows in a month, as a share.
    pub growth: Decimal,
    /// From order to service.
    pub lead_months: u32,
}

/// Something that was bought, or is leased: so many alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asset {
    pub cluster: String,
    /// Unlike any other asset's. Its units are numbered: `node-03`.
    pub name: String,
    pub what: AssetKind,
    /// The machine, for nodes: `DGX H100`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Which accelerator it bears: `H100 SXM`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub accelerator: String,
    /// Accelerators in one unit.
    #[serde(default)]
    pub accelerators: u32,
    pub count: u32,
    /// Of one unit; of a lease, what it would cost to buy, or 0.
    pub price: Decimal,
    pub currency: Currency,
    pub in_service: NaiveDate,
    pub life_months: u32,
    /// What one unit is worth at the end of its life.
    pub residual: Decimal,
    pub depreciation: Method,
    pub paid: Paid,
    /// Of one unit, in kW: at rest, at work, and what the rack must bear.
    #[serde(default)]
    pub idle_kw: Decimal,
    #[serde(default)]
    pub load_kw: Decimal,
    #[serde(default)]
    pub rated_kw: Decimal,
    /// Tags of its charges, by which rules and labels tell whose it is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AssetKind {
    /// Bears accelerators, whose hours are owned.
    Node,
    /// A node that stands by: it costs, and adds no hours.
    SpareNode,
    Fabric,
    Storage,
    Installation,
    Facility,
}

/// How an asset is paid for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "how", deny_unknown_fields)]
pub enum Paid {
    /// At once, when it goes into service.
    Bought,
    /// In equal monthly installments, with interest on what is left.
    Financed { yearly_rate: Decimal, months: u32 },
    /// By the month, and given back: nothing of it is depreciated.
    Leased { monthly: Decimal, months: u32 },
}

/// What happened to units of an asset after they went into service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    pub asset: String,
    /// Numbers of units; none: all that are there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<u32>,
    /// From this day on.
    pub day: NaiveDate,
    pub what: EventKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "what", deny_unknown_fields)]
pub enum EventKind {
    /// Sold, for so much a unit.
    Disposal {
        proceeds: Decimal,
    },
    /// Lost or broken: what it was still worth is charged at once.
    WriteOff,
    Move {
        to: String,
    },
}

/// A meter whose readings say what a cluster draws.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meter {
    pub cluster: String,
    /// What files of readings call it; unlike any other meter's.
    pub name: String,
    pub place: MeterLocation,
}

/// Power usage effectiveness: what the site draws for each kWh of the machines, from a month on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pue {
    pub cluster: String,
    pub first: BillingMonth,
    pub value: Decimal,
}

/// How a cluster's hours are used from a month on: in place of what its own entry says, and of those before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Utilization {
    pub cluster: String,
    pub first: BillingMonth,
    pub downtime: Decimal,
    pub utilization: Decimal,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Decimal>,
}

/// What holds of a month: how much of a cluster's time is lost, and in how much of the rest it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shares {
    pub downtime: Decimal,
    pub utilization: Decimal,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Decimal>,
}

/// What energy costs, for some months.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tariff {
    pub cluster: String,
    pub name: String,
    pub months: Span,
    pub price: power::Tariff,
}

/// Space and power in somebody else's building.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Colocation {
    pub cluster: String,
    pub name: String,
    pub months: Span,
    pub contracted_kw: Decimal,
    /// Of a contracted kW in a month.
    pub price_per_kw: Decimal,
    pub currency: Currency,
    /// Whether energy is in the price: then none is charged beside it.
    pub includes_energy: bool,
}

/// People who run a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Staff {
    pub cluster: String,
    pub role: String,
    pub months: Span,
    /// Full-time equivalents.
    pub fte: Decimal,
    /// Of a full-time equivalent in a year, with everything.
    pub loaded_cost: Decimal,
    pub currency: Currency,
    /// How much of the role is this cluster's.
    pub share: Decimal,
}

/// Hours that were worked for a cluster in a month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaffHours {
    pub cluster: String,
    pub role: String,
    pub month: BillingMonth,
    pub hours: Decimal,
    pub hourly_cost: Decimal,
    pub currency: Currency,
}

/// Anything else, once or again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    pub cluster: String,
    pub name: String,
    pub what: CostKind,
    /// Of one payment.
    pub amount: Decimal,
    pub currency: Currency,
    pub every: Every,
    pub months: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostKind {
    Maintenance,
    Licence,
    Space,
    Link,
    Insurance,
    Spares,
    Other,
}

/// How often a cost is paid: at the beginning of what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Every {
    Once,
    Month,
    Quarter,
    Year,
}

/// Months, both included; without a last one they go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    pub first: BillingMonth,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<BillingMonth>,
}

/// One thing that was written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Entry {
    Cluster(Cluster),
    Asset(Asset),
    Event(Event),
    Utilization(Utilization),
    Meter(Meter),
    Pue(Pue),
    Tariff(Tariff),
    Colocation(Colocation),
    Staff(Staff),
    StaffHours(StaffHours),
    Cost(Cost),
}

impl Shares {
    /// Of the on-prem GPU-hours.
    pub fn available(self) -> Decimal {
        Decimal::from(1) - self.downtime
    }

    /// Of the on-prem GPU-hours, too.
    pub fn productive(self) -> Decimal {
        self.utilization.multiply(self.available())
    }

    /// Of productive hours; `None` where nobody entered how much of the work was done again.
    pub fn useful(self) -> Option<Decimal> {
        self.repeated.map(|repeated| Decimal::from(1) - repeated)
    }
}

impl Span {
    pub fn contains(self, month: BillingMonth) -> bool {
        self.first <= month && self.last.is_none_or(|last| month <= last)
    }

    pub fn overlaps(self, other: Self) -> bool {
        let ends_before = |a: Self, b: Self| a.last.is_some_and(|last| last < b.first);
        !ends_before(self, other) && !ends_before(other, self)
    }
}

impl Every {
    /// Months that one payment is for.
    pub fn months(self) -> u32 {
        match self {
            Self::Once | Self::Month => 1,
            Self::Quarter => 3,
            Self::Year => 12,
        }
    }
}

impl Cost {
    /// How many months the last payment is for, where the last month cuts it off.
    pub fn cut_off(&self) -> Option<u32> {
        let months = self.months.last?.months_after(self.months.first)? + 1;
        Some(months % self.every.months()).filter(|left| *left > 0)
    }
}

impl Asset {
    pub fn bears_accelerators(&self) -> bool {
        self.what == AssetKind::Node && self.accelerators > 0
    }

    /// The day on which a lease is over, and nothing of it is there any more.
    pub fn given_back(&self) -> Option<NaiveDate> {
        match self.paid {
            Paid::Leased { months, .. } => self.in_service.checked_add_months(Months::new(months)),
            Paid::Bought | Paid::Financed { .. } => None,
        }
    }

    /// What bills call a unit, from 1.
    pub fn unit(&self, number: u32) -> String {
        unit_name(&self.name, self.count > 1, number)
    }
}

/// What bills call a unit of an asset: by its number where it is one of several.
pub(super) fn unit_name(asset: &str, is_one_of_several: bool, number: u32) -> String {
    if is_one_of_several { format!("{asset}-{number:02}") } else { asset.to_owned() }
}

impl Entry {
    /// Whose it is; of an event it is its asset's.
    pub fn cluster(&self) -> Option<&str> {
        Some(match self {
            Self::Cluster(it) => &it.handle,
            Self::Asset(it) => &it.cluster,
            Self::Event(_) => return None,
            Self::Utilization(it) => &it.cluster,
            Self::Meter(it) => &it.cluster,
            Self::Pue(it) => &it.cluster,
            Self::Tariff(it) => &it.cluster,
            Self::Colocation(it) => &it.cluster,
            Self::Staff(it) => &it.cluster,
            Self::StaffHours(it) => &it.cluster,
            Self::Cost(it) => &it.cluster,
        })
    }
}

impl changes::Entry for Entry {
    fn title(&self) -> String {
        match self {
            Self::Cluster(it) => format!("cluster “{}”", it.name),
            Self::Asset(it) => format!("asset “{}”", it.name),
            Self::Event(it) => format!("{} of “{}” on {}", it.what.name(), it.asset, it.day),
            Self::Utilization(it) => format!("utilization of {} from {}", it.cluster, it.first),
            Self::Meter(it) => format!("meter “{}”", it.name),
            Self::Pue(it) => format!("PUE of {} from {}", it.cluster, it.first),
            Self::Tariff(it) => format!("tariff “{}”", it.name),
            Self::Colocation(it) => format!("colocation “{}”", it.name),
            Self::Staff(it) => format!("role “{}”", it.role),
            Self::StaffHours(it) => format!("hours of “{}” in {}", it.role, it.month),
            Self::Cost(it) => format!("cost “{}”", it.name),
        }
    }
}

impl EventKind {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Disposal { .. } => "disposal",
            Self::WriteOff => "write-off",
            Self::Move { .. } => "move",
        }
    }
}
