//! What a cluster of one's own costs in a year, and an hour of it.
//!
//! [`Owning`] is what is entered, [`Owning::cost`] the answer. A(u), the cost of a year at utilization u, is the sum of
//!
//! - capital, annualized ([`capital`]),
//! - the lease of nodes that are not bought,
//! - maintenance: share × purchase and price of what is leased,
//! - energy, demand charge or colocation ([`power`]),
//! - staff: full-time staff × loaded cost ([`staff`]), and those who are hired before it runs, annualized,
//! - software: per GPU in service,
//! - whatever else is entered, by the year, GPU or productive hour, and once.
//!
//! c(u) = A(u) ÷ productive hours ([`hours`]).
//!
//! [`Owning::cost`] refuses what [`check`](super::check) refuses. Everything else here takes inputs that passed it.

pub mod capital;
pub mod cost;
pub mod hours;
pub mod power;
pub mod racks;
pub mod staff;

use serde::{Deserialize, Serialize};

pub use capital::{Fabric, Purchase, Residual, Tenure};
pub use cost::{Component, OwningCost, Part};
pub use hours::{Hours, Link};
pub use power::{Draw, Energy, Housing};
pub use racks::{Cooling, Racks};
pub use staff::{Staff, Step};

pub use super::figure::{Term, Unit};
use crate::money::Decimal;
use crate::money::arithmetic::{decimal, one, product};

/// What is asked about owning. Amounts are in one currency; the defaults are US dollars of 2025 for H100 and hold only
/// until someone enters their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Owning {
    /// G, GPUs that are needed in service. 64: a common first cluster.
    pub gpus: u32,
    /// g, GPUs of a node. 8: DGX and HGX of the H100.
    pub gpus_per_node: u32,
    /// Money for a node. 375,000: list price of a DGX H100 in March 2025 (Epoch AI, machine learning hardware); H100
    /// nodes went for 230,000 to 375,000.
    pub node_price: Decimal,
    /// Whether nodes are bought or leased. Bought.
    pub tenure: Tenure,
    /// What connects the nodes. 50,000 a node: in common use for InfiniBand; 20,000 to 80,000.
    pub fabric: Fabric,
    /// Money, once. 0: not priced by anyone who publishes; enter yours.
    pub storage: Decimal,
    /// Money, once. 0, as for storage.
    pub installation: Decimal,
    /// Money for the room, once: power lines, cooling, racks. 0, as for storage.
    pub building: Decimal,
    /// σ, spare nodes as a share of those in service, rounded up to whole nodes. 0.05; 0.05 to 0.10 is common.
    pub spare_share: Decimal,
    /// Whether spares are switched on, and idle. They then draw power, and unavailability is lower than without.
    pub hot_spares: bool,
    /// L, years until it is replaced, and the term of a lease. 3 in most published examples; cloud companies book 5 to 6 (annual reports).
    pub life_years: Decimal,
    /// What nodes, fabric and storage are still worth then.
    pub residual: Residual,
    /// r, what money costs in a year. 0.10, an assumption: take your own.
    pub cost_of_capital: Decimal,
    /// m, maintenance and support a year as a share of the purchase. 0.05, an assumption; a published calculator
    /// (gpu-tco) takes 0.10.
    pub maintenance_share: Decimal,
    /// δ, share of owned hours in which a GPU cannot be used. 0.05; 0.05 to 0.10 is common.
    pub unavailability: Decimal,
    /// a, share of available hours in which a job holds a GPU. Unknown unless entered; at least the utilization.
    pub allocated_share: Option<Decimal>,
    /// u, share of available hours in which a GPU does work. 0.80: what a pooled cluster is planned for; 0.70 to 0.85.
    pub utilization: Decimal,
    /// F, productive hours for a useful one: checkpoints, restarts, work that is done twice. 1: none.
    pub rework: Decimal,
    /// What the machines draw, idle and at work.
    pub draw: Draw,
    /// kW that a node can draw at most: what racks and contracts are made for. 10.2: rated power of a DGX H100 (NVIDIA,
    /// DGX H100 data sheet).
    pub rated_kw: Decimal,
    /// Power usage effectiveness: what the room draws for a kW of its machines. 1.30; hyperscale 1.10, average of 1.58
    /// in a survey (Uptime Institute, 2023).
    pub pue: Decimal,
    /// e, money for a kWh. 0.10; US industry paid 0.0826 in 2025 (as Epoch AI takes it).
    pub tariff: Decimal,
    /// d, money for a kW of the month's peak. 0: depends on the tariff, and most industrial ones have it.
    pub demand_charge: Decimal,
    pub housing: Housing,
    pub staff: Staff,
    /// Months from order to service. 12; 3 to 18 were seen. No cost of a year, but what capacity is planned with.
    pub lead_months: u32,
    /// Money for a GPU and year: schedulers, licenses, monitoring. 0: enter yours.
    pub software_per_gpu: Decimal,
    /// kW that a rack can hold. 40; air cools up to 50, liquid up to about 130.
    pub rack_kw: Decimal,
    /// Degrees Fahrenheit by which air that cools a rack gets warmer. 20: common for planning.
    pub air_rise: Decimal,
    /// Whatever else it costs to run.
    pub others: Vec<Other>,
    /// Whatever else is paid once for a life: migration, training.
    pub one_offs: Vec<OneOff>,
}

/// A cost of running it that has no field of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Other {
    pub name: String,
    pub about: About,
    pub amount: Decimal,
    pub per: Per,
}

/// What a cost is for, so that one that is counted already is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    Network,
    Power,
    Housing,
    Staff,
    Software,
    Support,
    SomethingElse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    Year,
    GpuYear,
    ProductiveHour,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneOff {
    pub name: String,
    pub amount: Decimal,
}

impl Owning {
    /// The same in a scenario, which says itself how many there are, how much they are used, what money costs and how much
    /// is done twice, and in which capacity begins with the first month.
    #[must_use]
    pub fn in_a_scenario(self) -> Self {
        let Self {
            gpus, cost_of_capital, allocated_share, utilization, rework, lead_months, air_rise, ..
        } = Self::default();
        Self { gpus, cost_of_capital, allocated_share, utilization, rework, lead_months, air_rise, ..self }
    }

    /// The same in another currency, of which one unit of this one is worth so many.
    #[must_use]
    pub fn at_rate(&self, rate: Decimal) -> Self {
        let mut it = self.clone();
        // No finer than an amount may be entered with.
        let scaled = |amount: Decimal| product(&[amount, rate]).round(12).normalize();
        for amount in [
            &mut it.node_price,
            &mut it.storage,
            &mut it.installation,
            &mut it.building,
            &mut it.tariff,
            &mut it.demand_charge,
            &mut it.staff.loaded_cost,
            &mut it.software_per_gpu,
        ] {
            *amount = scaled(*amount);
        }
        if let Tenure::Leased { price } = &mut it.tenure {
            *price = scaled(*price);
        }
        let (Fabric::Node { price } | Fabric::Port { price, .. }) = &mut it.fabric;
        *price = scaled(*price);
        if let Housing::Colocation { price, .. } = &mut it.housing {
            *price = scaled(*price);
        }
        it.others.iter_mut().for_each(|other| other.amount = scaled(other.amount));
        it.one_offs.iter_mut().for_each(|once| once.amount = scaled(once.amount));
        it
    }
}

impl Default for Owning {
    fn default() -> Self {
        Self {
            gpus: 64,
            gpus_per_node: 8,
            node_price: 375_000.into(),
            tenure: Tenure::default(),
            fabric: Fabric::default(),
            storage: Decimal::ZERO,
            installation: Decimal::ZERO,
            building: Decimal::ZERO,
            spare_share: decimal(5, 2),
            hot_spares: false,
            life_years: 3.into(),
            residual: Residual::default(),
            cost_of_capital: decimal(10, 2),
            maintenance_share: decimal(5, 2),
            unavailability: decimal(5, 2),
            allocated_share: None,
            utilization: decimal(80, 2),
            rework: one(),
            draw: Draw::default(),
            rated_kw: decimal(102, 1),
            pue: decimal(130, 2),
            tariff: decimal(10, 2),
            demand_charge: Decimal::ZERO,
            housing: Housing::default(),
            staff: Staff::default(),
            lead_months: 12,
            software_per_gpu: Decimal::ZERO,
            rack_kw: 40.into(),
            air_rise: 20.into(),
            others: Vec::new(),
            one_offs: Vec::new(),
        }
    }
}
