//! What a cluster is charged in a month: a line for everything, from what was entered and read. Pure.
//!
//! The book view: what was paid (billed cost) and what belongs to the month (effective cost). Cost of capital is no
//! part of it; that is the economic view, for comparisons, and the two are never added.
//!
//! | what | billed cost | effective cost |
//! |---|---|---|
//! | bought | the price, on the day in service | depreciation, day by day, to price less residual value |
//! | financed | each installment | depreciation; interest with each installment |
//! | leased | each payment | the payments, day by day |
//! | sold | less the proceeds | what it was still worth, less the proceeds |
//! | written off | nothing | what it was still worth |
//! | energy, demand, colocation, staff | as effective | what belongs to the month |
//! | costs by month, quarter or year | each payment, in its first month; one that the last month cuts off, for those months alone | the payment, spread over its months |

mod energy;
mod hardware;
mod line;
mod running;
#[cfg(test)]
mod tests;

pub use energy::{UnpricedEnergy, unpriced_energy};
pub use line::{Amounts, Basis, Component, Line, Machine, Units};

use super::asset_register::AssetRegister;
use super::entry::{Asset, Entry};
use super::location_history::LocationHistory;
use super::power::Reading;
use crate::cancellation;
use crate::period::BillingMonth;

/// The lines of a cluster's month. `readings` are those of its meters in the month, and may be more.
pub fn lines(
    asset_register: &AssetRegister,
    readings: &[Reading],
    cluster: &str,
    month: BillingMonth,
) -> Vec<Line> {
    let mut lines = Vec::new();
    let events = asset_register.events();
    for (id, asset) in asset_register.assets() {
        cancellation::check();
        hardware::push(&mut lines, (id, asset), &events.location_history(asset), cluster, month);
    }
    for (id, entry) in &asset_register.entries {
        if entry.cluster() != Some(cluster) {
            continue;
        }
        match entry {
            Entry::Staff(it) => running::staff(&mut lines, *id, it, month),
            Entry::StaffHours(it) => running::staff_hours(&mut lines, *id, it, month),
            Entry::Cost(it) => running::cost(&mut lines, *id, it, month),
            Entry::Colocation(it) => running::colocation(&mut lines, *id, it, month),
            _ => {}
        }
    }
    energy::push(&mut lines, asset_register, readings, cluster, month);
    lines.retain(|line| !line.says_nothing());
    lines
}

/// What an asset is charged in a month, in whichever clusters its units are.
pub fn lines_of_asset(
    (id, asset): (i64, &Asset),
    location_history: &LocationHistory<'_>,
    month: BillingMonth,
) -> Vec<Line> {
    let mut lines = Vec::new();
    for cluster in location_history.clusters(asset) {
        hardware::push(&mut lines, (id, asset), location_history, cluster, month);
    }
    lines
}
