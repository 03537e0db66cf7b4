//! How many GPUs are enough, and until when.
//!
//! - demand of a month after n months = demand × (1 + growth)^n, in productive GPU-hours
//! - GPUs in service = ⌈demand ÷ (730 × (1 − δ) × target)⌉, rounded up to whole nodes; demand is that of the month in
//!   which they go into service and of however many months more they are to last
//! - they are full in the first month whose demand is more than GPUs × 730 × (1 − δ) × target
//! - more have to be ordered the lead time before that
//!
//! A target of 0.75 to 0.80 is in common use: what is planned fuller makes jobs wait.

use serde::{Deserialize, Serialize};

use super::check::{self, Refused};
use crate::money::Decimal;
use crate::money::arithmetic::{
    HOURS_PER_MONTH, HOURS_PER_YEAR, ceiling, count, decimal, growth, one, product, quotient, whole,
};

/// A century. What takes longer never happens.
const LONGEST: u32 = 1200;

/// What work asks for, and what it is served with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Demand {
    /// Productive GPU-hours of the month that is now.
    pub hours_per_month: Decimal,
    /// By which share a month's demand is more than the month's before. 0: it stays.
    pub monthly_growth: Decimal,
    /// Utilization of available hours that is planned for. 0.80; 0.75 to 0.80 is common.
    pub target: Decimal,
    /// δ, share of hours in which a GPU cannot be used. 0.05; 0.05 to 0.10 is common.
    pub unavailability: Decimal,
    /// 8: DGX and HGX of the H100.
    pub gpus_per_node: u32,
    /// Spare nodes as a share of those in service, rounded up. 0.05; 0.05 to 0.10 is common.
    pub spare_share: Decimal,
    /// Months from order to service. 12; 3 to 18 were seen.
    pub lead_months: u32,
    /// Months of service after which they may be full. 0: only the month in which they go into service.
    pub horizon_months: u32,
}

impl Default for Demand {
    fn default() -> Self {
        Self {
            hours_per_month: Decimal::ZERO,
            monthly_growth: Decimal::ZERO,
            target: decimal(80, 2),
            unavailability: decimal(5, 2),
            gpus_per_node: 8,
            spare_share: decimal(5, 2),
            lead_months: 12,
            horizon_months: 0,
        }
    }
}

/// What to have for a demand.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sizing {
    /// Productive GPU-hours of the month that it is sized for.
    pub hours_per_month: Decimal,
    /// GPUs that work takes, before whole nodes.
    pub gpus: u32,
    pub nodes_in_service: u32,
    pub spare_nodes: u32,
    /// Of available hours of the nodes in service, in that month. None without nodes.
    pub utilization: Option<Decimal>,
}

/// When demand outgrows what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Full {
    Already,
    In { months: u32 },
    Never,
}

/// When to order, that more is there before it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Order {
    /// What is ordered now comes in time, or so many months late.
    Now {
        months_late: u32,
    },
    In {
        months: u32,
    },
    Never,
}

impl Demand {
    /// Productive hours of the month that is so many months from now.
    pub fn after(&self, months: u32) -> Decimal {
        product(&[self.hours_per_month, growth(self.monthly_growth, count(months))])
    }

    /// What to have when what is ordered now goes into service.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn size(&self) -> Result<Sizing, Refused> {
        check::demand(self).warnings_or_refused()?;
        let hours = self.sized_for();
        let gpus = self.gpus_needed().map_or(0, |gpus| whole(ceiling(gpus)));
        let nodes = gpus.div_ceil(self.gpus_per_node);
        Ok(Sizing {
            hours_per_month: hours,
            gpus,
            nodes_in_service: nodes,
            spare_nodes: whole(ceiling(product(&[self.spare_share, count(nodes)]))),
            utilization: quotient(hours, self.available(nodes.saturating_mul(self.gpus_per_node))),
        })
    }

    /// When so many GPUs in service are full.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn full(&self, gpus: u32) -> Result<Full, Refused> {
        check::demand(self).warnings_or_refused()?;
        let planned = self.planned(gpus);
        let mut hours = self.hours_per_month;
        if hours > planned {
            return Ok(Full::Already);
        }
        if self.monthly_growth <= Decimal::ZERO || hours.is_zero() {
            return Ok(Full::Never);
        }
        for months in 1..=LONGEST {
            hours = product(&[hours, one() + self.monthly_growth]);
            if hours > planned {
                return Ok(Full::In { months });
            }
        }
        Ok(Full::Never)
    }

    /// When more has to be ordered.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn order(&self, gpus: u32) -> Result<Order, Refused> {
        Ok(match self.full(gpus)? {
            Full::Never => Order::Never,
            Full::Already => Order::Now { months_late: self.lead_months },
            Full::In { months } if months > self.lead_months => {
                Order::In { months: months - self.lead_months }
            }
            Full::In { months } => Order::Now { months_late: self.lead_months - months },
        })
    }

    /// Productive hours of the most demanding month of service: the first where demand falls.
    fn sized_for(&self) -> Decimal {
        let last = if self.monthly_growth.is_negative() { 0 } else { self.horizon_months };
        self.after(self.lead_months.saturating_add(last))
    }

    /// GPUs that work takes then, and parts of one.
    pub(super) fn gpus_needed(&self) -> Option<Decimal> {
        quotient(self.sized_for(), self.planned(1))
    }

    /// Hours of a month that so many GPUs can be used.
    fn available(&self, gpus: u32) -> Decimal {
        product(&[count(gpus), HOURS_PER_MONTH.into(), one() - self.unavailability])
    }

    /// Hours of a month that they are planned to be used.
    fn planned(&self, gpus: u32) -> Decimal {
        product(&[self.available(gpus), self.target])
    }
}

/// GPU-hours of jobs that hold so many GPUs for so many days, so many times.
pub fn gpu_hours(gpus: u32, days: Decimal, times: Decimal) -> Decimal {
    product(&[count(gpus), days, 24.into(), times])
}

/// What share of all hours of a year of so many GPUs those are; more than 1 where they are too few. None without GPUs.
pub fn share_of_year(gpu_hours: Decimal, gpus: u32) -> Option<Decimal> {
    quotient(gpu_hours, product(&[count(gpus), HOURS_PER_YEAR.into()]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::money::number;

    fn demand(hours: &str, growth: &str) -> Demand {
        Demand { hours_per_month: number(hours), monthly_growth: number(growth), ..Demand::default() }
    }

    #[test]
    fn a_demand_is_served_by_whole_nodes_at_the_target() {
        // 730 × 0.95 × 0.80 is 554.8 hours of a GPU.
        for (hours, gpus, nodes, spares) in [
            ("0", 0, 0, 0),
            ("554.8", 1, 1, 1),
            ("4438.4", 8, 1, 1),
            ("4438.5", 9, 2, 1),
            ("88768", 160, 20, 1),
            ("93000", 168, 21, 2),
        ] {
            let sized = demand(hours, "0").size().unwrap();
            assert_eq!(
                (sized.gpus, sized.nodes_in_service, sized.spare_nodes),
                (gpus, nodes, spares),
                "{hours}"
            );
        }
        assert_eq!(demand("4438.4", "0").size().unwrap().utilization, Some(number("0.8")));
        assert_eq!(demand("0", "0").size().unwrap().utilization, None);
    }

    #[test]
    fn it_is_sized_for_the_month_in_which_it_goes_into_service_and_the_months_it_is_to_last() {
        let growing = Demand { lead_months: 2, ..demand("4000", "0.10") };
        assert_eq!(growing.size().unwrap().hours_per_month, number("4840"));
        let lasting = Demand { horizon_months: 1, ..growing.clone() };
        assert_eq!(lasting.size().unwrap().hours_per_month, number("5324"));
        let falling = Demand { monthly_growth: number("-0.10"), horizon_months: 6, ..growing };
        assert_eq!(falling.size().unwrap().hours_per_month, number("3240"));
    }

    #[test]
    fn it_is_full_already_in_some_months_or_never() {
        // 64 GPUs are planned for 35,507.2 hours a month.
        for (hours, growth, full, order) in [
            ("35507.3", "0", Full::Already, Order::Now { months_late: 12 }),
            ("35507.2", "0", Full::Never, Order::Never),
            ("35507.2", "0.01", Full::In { months: 1 }, Order::Now { months_late: 11 }),
            ("20000", "0.05", Full::In { months: 12 }, Order::Now { months_late: 0 }),
            ("20000", "0.03", Full::In { months: 20 }, Order::In { months: 8 }),
            ("20000", "-0.03", Full::Never, Order::Never),
            ("0", "0.5", Full::Never, Order::Never),
            ("20000", "0.0001", Full::Never, Order::Never),
        ] {
            let demand = demand(hours, growth);
            assert_eq!(demand.full(64).unwrap(), full, "{hours} growing by {growth}");
            assert_eq!(demand.order(64).unwrap(), order, "{hours} growing by {growth}");
        }
        assert_eq!(demand("1", "0").full(0).unwrap(), Full::Already);
    }

    #[test]
    fn what_cannot_be_planned_is_refused() {
        let refused = Demand { target: Decimal::ZERO, ..demand("1", "0") }.size().unwrap_err();
        assert!(refused.to_string().contains("target"), "{refused}");
        let yearly = Demand { horizon_months: 60, ..demand("20000", "0.5") }.size().unwrap_err();
        assert!(yearly.to_string().contains("is this growth per year?"), "{yearly}");
        assert!(Demand { gpus_per_node: 0, ..Demand::default() }.full(8).is_err());
        assert!(Demand { unavailability: one(), ..Demand::default() }.order(8).is_err());
    }

    proptest! {
        #[test]
        fn what_was_sized_is_not_full_when_it_goes_into_service(
            hours in 1i64..1_000_000,
            growth in 0i64..100,
            lead_months in 0u32..24,
            horizon_months in 0u32..24,
        ) {
            let monthly_growth = decimal(growth, 3);
            let demand =
                Demand { hours_per_month: hours.into(), monthly_growth, lead_months, horizon_months, ..Demand::default() };
            let sized = demand.size().unwrap();
            let gpus = sized.nodes_in_service * demand.gpus_per_node;
            prop_assert!(sized.utilization.unwrap() <= demand.target);
            match demand.full(gpus).unwrap() {
                Full::Already => prop_assert!(false, "full before it is there"),
                Full::In { months } => prop_assert!(months > lead_months + horizon_months),
                Full::Never => prop_assert!(demand.after(LONGEST) <= demand.planned(gpus)),
            }
        }
    }
}
