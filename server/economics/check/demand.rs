//! Capacity.

use super::{Findings, MOST_GPUS};
use crate::economics::capacity::Demand;
use crate::money::Decimal;
use crate::money::arithmetic::decimal;

/// Months that are planned ahead at most, each: five years.
const LONGEST: u32 = 60;

/// What is odd about a demand and what it is to be served with.
pub fn demand(demand: &Demand) -> Findings {
    let mut found = Findings::default();
    let hundredth = decimal(1, 2);
    let most_hours = Decimal::from(1_000_000_000);
    let message = "expected GPU-hours a month, from 0 to a billion";
    let mut fit =
        found.between("hours_per_month", demand.hours_per_month, Decimal::ZERO, most_hours, message);
    let message = "expected monthly growth from -0.9 to 0.5 (0.05 for 5%)";
    fit &= found.between("monthly_growth", demand.monthly_growth, decimal(-9, 1), decimal(5, 1), message);
    let message = "expected a target utilization from 0.01 to 1, mostly 0.75 to 0.80";
    let is_target = found.between("target", demand.target, hundredth, 1.into(), message);
    fit &= is_target;
    if is_target && demand.target > decimal(95, 2) {
        found.warn("target", demand.target, "jobs wait long above 0.95; usually 0.75 to 0.80");
    }
    let message = "expected a share from 0 to 0.99 (0.05 for 5%)";
    fit &= found.between("unavailability", demand.unavailability, Decimal::ZERO, decimal(99, 2), message);
    found.share("spare_share", demand.spare_share);
    found.whole("gpus_per_node", demand.gpus_per_node, 1..=1000, "expected 1 to 1,000");
    for (field, months) in [("lead_months", demand.lead_months), ("horizon_months", demand.horizon_months)] {
        fit &= found.whole(field, months, ..=LONGEST, "expected at most 60 months");
    }
    if fit && demand.gpus_needed().is_none_or(|gpus| gpus > MOST_GPUS.into()) {
        let message = "grows to more than a million GPUs within the planned months; is this growth per year?";
        found.refuse("monthly_growth", demand.monthly_growth, message);
    }
    found.sorted()
}
