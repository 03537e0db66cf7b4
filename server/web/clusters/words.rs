//! The words of clusters: capacity, cooling, and owning against a price.

use super::super::filters::figure;
use super::super::words::{FINE, break_even};
pub(super) use super::super::words::{finding, term};
use crate::economics::capacity::{Full, Order};
use crate::economics::owning::{Component, Cooling, Hours};
use crate::economics::{BreakEven, Verdict};
use crate::enum_words::words;
use crate::money::Decimal;
use crate::onprem::{Comparison, Economics};

// Such an hour as pages call it, and what is meant with it.
words! {
    impl Hours: on_page, meaning {
        Owned = "on-prem GPU-hour", "On-prem GPU-hours: accelerators in service, day and night";
        Available = "available hour", "Available: without downtime";
        Allocated = "allocated hour", "Allocated: held by a job";
        Productive = "productive hour", "Productive: doing work";
        Useful = "useful hour", "Useful: without repeated work";
    }
}

/// From when on owning costs less than a price, or what a commitment is against it.
pub(super) fn verdict(comparison: &Comparison) -> String {
    break_even(&comparison.break_even)
}

/// Whether owning costs less at the utilization that was entered.
pub(super) fn pays(comparison: &Comparison, economics: &Economics) -> bool {
    match &comparison.break_even {
        BreakEven::PerUse { verdict: Verdict::At { utilization }, .. } => {
            *utilization <= economics.utilization
        }
        BreakEven::PerUse { .. } => false,
        BreakEven::Committed { ratio, .. } => ratio.is_some_and(|ratio| ratio <= Decimal::from(1)),
    }
}

impl Full {
    pub fn in_words(self) -> String {
        match self {
            Self::Already => "already".to_owned(),
            Self::In { months: 1 } => "in a month".to_owned(),
            Self::In { months } => format!("in {months} months"),
            Self::Never => "never at this growth".to_owned(),
        }
    }
}

impl Order {
    pub fn in_words(self) -> String {
        match self {
            Self::Now { months_late: 0 } => "now".to_owned(),
            Self::Now { months_late: 1 } => "now, one month late".to_owned(),
            Self::Now { months_late } => format!("now, {months_late} months late"),
            Self::In { months: 1 } => "within a month".to_owned(),
            Self::In { months } => format!("within {months} months"),
            Self::Never => "nothing to order".to_owned(),
        }
    }
}

words! {
    impl Cooling: name {
        Air = "air";
        Liquid = "liquid";
    }
}

/// A price of a kWh, which is a fraction of a unit.
pub(super) fn fine(price: &Decimal) -> String {
    figure(*price, FINE)
}

/// Components with what each shows of the total in cents.
pub(super) fn rows(economics: &Economics) -> Vec<(&Component, Decimal)> {
    economics.components.iter().zip(economics.displayed()).collect()
}
