//! When a cluster is full, when to order more at the latest, and how much. Pure.
//!
//! Demand is what is entered of the cluster: so many productive hours of those available now, and so much more each month. What was
//! not entered is what is measured: hours that jobs held, and how they grew. Where neither its usage from a month on nor a growth was
//! entered and no growth is measured, all there is of it are the assumptions a cluster begins with, and nothing is advised.
//! What is ordered goes into service when it is full, or when it can at the earliest, and is to last a year.

use chrono::NaiveDate;
use serde::Serialize;

use super::asset_register::AssetRegister;
use super::entry::Cluster;
use super::tco::owning;
use crate::economics::Finding;
use crate::economics::capacity::{Demand, Full, Order};
use crate::economics::check::Refused;
use crate::money::arithmetic::{HOURS_PER_MONTH, ceiling, count, one, product, whole};
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// Months that more is to last.
const LASTS: u32 = 12;
/// Decimals of a share.
const SHARE_PLACES: u8 = 6;
/// Months that can be planned ahead.
const PLANNED: u32 = 60;

/// Use of a cluster, as schedulers and meters say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredDemand {
    /// Accelerators that jobs hold, on average of so many weeks.
    pub held: Decimal,
    pub held_weeks: u32,
    /// Of few weeks nobody knows.
    pub monthly_growth: Option<Decimal>,
    pub growth_weeks: u32,
}

/// What is there, and until when it is enough.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Capacity {
    /// As it stands in this month.
    pub month: BillingMonth,
    pub accelerators: u32,
    /// Productive hours of a month of 730 hours; where that is measured, the ones that jobs hold.
    pub productive_hours: Decimal,
    /// Of available hours: what is entered, and what is planned for.
    pub utilization: Decimal,
    pub target: Decimal,
    pub monthly_growth: Decimal,
    pub lead_months: u32,
    /// Weeks from which hours, and growth, are measured; none: they are entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hours_measured: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth_measured: Option<u32>,
    /// Neither usage nor growth was entered, and no growth is measured, so that nothing is said of when it is full or what to order.
    pub is_assumed: bool,
    pub full: Full,
    pub full_in: Option<BillingMonth>,
    pub order: Order,
    /// The last month in which what is ordered comes in time.
    pub order_in: Option<BillingMonth>,
    pub more: Option<More>,
    pub warnings: Vec<Finding>,
}

/// What to order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct More {
    /// When it goes into service.
    pub in_service: BillingMonth,
    /// Until when it is enough.
    pub enough_until: BillingMonth,
    /// Productive hours of that month.
    pub productive_hours: Decimal,
    pub accelerators_needed: u32,
    pub nodes: u32,
    pub accelerators_per_node: u32,
    pub spare_nodes: u32,
}

/// Of a cluster as it stands on a day; `None` where nothing is in service.
///
/// # Errors
/// What cannot be planned with, in words.
pub fn capacity(
    asset_register: &AssetRegister,
    cluster: &Cluster,
    today: NaiveDate,
    measured: Option<&MeasuredDemand>,
) -> Option<Result<Capacity, Refused>> {
    // No money is in it.
    let stands = owning(asset_register, &cluster.handle, today, &Currency::exactly("USD"))?;
    if stands.gpus == 0 {
        return None;
    }
    let month = BillingMonth::of(today);
    let available = product(&[count(stands.gpus), HOURS_PER_MONTH.into(), one() - stands.unavailability]);
    let has_usage = asset_register.has_usage(&cluster.handle, month);
    let of_use = measured.filter(|_| !has_usage);
    let held = of_use.map(|it| product(&[it.held, HOURS_PER_MONTH.into()]));
    let share = held.and_then(|held| held.divide(available, SHARE_PLACES));
    let (hours_per_month, utilization) = match (held, share) {
        (Some(held), Some(share)) => (held, share),
        _ => (product(&[available, stands.utilization]), stands.utilization),
    };
    let of_growth = measured.filter(|_| cluster.growth.is_zero());
    // What shrinks is not planned for.
    let grown = of_growth.and_then(|it| it.monthly_growth).map(|growth| growth.max(Decimal::ZERO));
    let demand = Demand {
        hours_per_month,
        monthly_growth: grown.unwrap_or(cluster.growth),
        unavailability: stands.unavailability,
        gpus_per_node: stands.gpus_per_node,
        lead_months: cluster.lead_months,
        ..Demand::default()
    };
    let planned = plan(&demand, stands.gpus, utilization, month).map(|capacity| Capacity {
        hours_measured: of_use.map(|it| it.held_weeks),
        growth_measured: grown.and(of_growth).map(|it| it.growth_weeks),
        ..capacity
    });
    let is_assumed = cluster.growth.is_zero() && !has_usage && grown.is_none();
    Some(planned.map(|capacity| if is_assumed { capacity.without_advice() } else { capacity }))
}

impl Capacity {
    /// What is there, and nothing of what may come.
    fn without_advice(self) -> Self {
        Self {
            is_assumed: true,
            full: Full::Never,
            full_in: None,
            order: Order::Never,
            order_in: None,
            more: None,
            warnings: Vec::new(),
            ..self
        }
    }
}

fn plan(demand: &Demand, gpus: u32, utilization: Decimal, month: BillingMonth) -> Result<Capacity, Refused> {
    let warnings = crate::economics::check::demand(demand).warnings_or_refused()?;
    let (full, order) = (demand.full(gpus)?, demand.order(gpus)?);
    Ok(Capacity {
        month,
        accelerators: gpus,
        productive_hours: demand.hours_per_month,
        utilization,
        target: demand.target,
        monthly_growth: demand.monthly_growth,
        lead_months: demand.lead_months,
        hours_measured: None,
        growth_measured: None,
        is_assumed: false,
        full,
        full_in: match full {
            Full::Already => Some(month),
            Full::In { months } => Some(month.plus(months)),
            Full::Never => None,
        },
        order,
        order_in: match order {
            Order::Now { .. } => Some(month),
            Order::In { months } => Some(month.plus(months)),
            Order::Never => None,
        },
        more: more(demand, gpus, full, month)?,
        warnings,
    })
}

fn more(demand: &Demand, gpus: u32, full: Full, month: BillingMonth) -> Result<Option<More>, Refused> {
    let months = match full {
        Full::Never => return Ok(None),
        Full::Already => demand.lead_months,
        Full::In { months } => months.max(demand.lead_months),
    };
    if months > PLANNED {
        return Ok(None);
    }
    let then = Demand { lead_months: months, horizon_months: LASTS, ..demand.clone() };
    let sized = then.size()?;
    let nodes = sized.gpus.saturating_sub(gpus).div_ceil(demand.gpus_per_node.max(1));
    Ok(Some(More {
        in_service: month.plus(months),
        enough_until: month.plus(months + LASTS),
        productive_hours: sized.hours_per_month,
        accelerators_needed: sized.gpus,
        nodes,
        accelerators_per_node: demand.gpus_per_node,
        spare_nodes: whole(ceiling(product(&[demand.spare_share, count(nodes)]))),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::number;

    fn month(text: &str) -> BillingMonth {
        text.parse().unwrap()
    }

    /// Of 64 GPUs, which are planned for 35,507.2 hours a month.
    fn planned(hours: &str, growth: &str, lead_months: u32) -> Capacity {
        let demand = Demand {
            hours_per_month: number(hours),
            monthly_growth: number(growth),
            lead_months,
            ..Demand::default()
        };
        plan(&demand, 64, number("0.5"), month("2026-11")).unwrap()
    }

    #[test]
    fn months_are_counted_from_the_one_it_stands_in() {
        // 20,000 × 1.03^20 is the first above.
        let growing = planned("20000", "0.03", 12);
        assert_eq!((growing.full_in, growing.order_in), (Some(month("2028-07")), Some(month("2027-07"))));
        let late = planned("20000", "0.03", 24);
        assert_eq!(late.order, Order::Now { months_late: 4 });
        assert_eq!(late.order_in, Some(month("2026-11")));
        let never = planned("20000", "0", 12);
        assert_eq!((never.full_in, never.order_in, never.more), (None, None, None));
    }

    #[test]
    fn more_is_what_a_year_of_service_takes_beyond_what_is_there() {
        let more = planned("20000", "0.03", 12).more.unwrap();
        assert_eq!((more.in_service, more.enough_until), (month("2028-07"), month("2029-07")));
        // 20,000 × 1.03^32 = 51,501.7 hours ÷ 554.8 = 92.8 GPUs; 29 more are 4 nodes, and one stands by.
        assert_eq!(more.productive_hours.round(1), number("51501.7"));
        assert_eq!((more.accelerators_needed, more.nodes, more.spare_nodes), (93, 4, 1));
        let already = planned("40000", "0.03", 12).more.unwrap();
        assert_eq!(already.in_service, month("2027-11"));
        // Too far ahead to plan.
        assert_eq!(planned("20000", "0.005", 12).more, None);
    }
}
