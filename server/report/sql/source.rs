//! The tables that hold what was charged, from the coarsest on, and where a row of each says what.

use crate::allocation::{IS_ACCELERATED, IS_CREDIT, IS_UNUSED_COMMITMENT};
use crate::report::Grouping;

/// Days of keys that bear accelerators, which are distinguished by resource; and those of the others with the resource that their
/// charges name. The former have hours.
const RESOURCES: &str = "(select billing_month, charge_key_id, delivery_id, scope_id, day, is_whole_period, charges, billed_cost, \
     effective_cost, list_cost, contracted_cost, metered_quantity, null as resource_id from daily_costs \
     where hourly_quantity is not null \
     union all \
     select billing_month, charge_key_id, delivery_id, scope_id, day, is_whole_period, charges, billed_cost, effective_cost, \
     list_cost, contracted_cost, metered_quantity, resource_id from daily_resources)";

/// The rows a question needs, from the coarsest that holds its dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// By month and owner: what a month was summed to when it was allocated.
    Attributed,
    /// By day and who is charged: a team, its cost centre, or a part of a pool.
    ChargedDays,
    /// By day and owner.
    AttributedDays,
    /// By month, who is charged and what was bought, however many machines that are.
    Items,
    /// The same by day.
    ItemDays,
    /// By month and key, for months that were allocated: each key once, with what it says.
    Keyed,
    /// By month and what keys say without machine and tags.
    Totals,
    /// The same by day.
    TotalDays,
    Months,
    Days,
    /// By day, key and resource.
    Resources,
    Charges,
}

/// What of the charges of a period is in no rollup.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfCharges {
    /// A tag that is asked for is kept with charges.
    pub tag: bool,
    /// What resources cost was not summed.
    pub resource: bool,
}

impl Source {
    /// The coarsest rollup with these dimensions.
    pub fn rollup<'a>(dimensions: impl Iterator<Item = &'a Grouping>, only: OfCharges) -> Self {
        dimensions
            .map(|dimension| match dimension {
                Grouping::Resource if only.resource => Self::Charges,
                Grouping::Resource => Self::Resources,
                Grouping::Tag(_) if only.tag => Self::Charges,
                Grouping::Day => Self::Days,
                _ => Self::Months,
            })
            .max()
            .unwrap_or(Self::Months)
    }

    pub(super) fn table(self) -> &'static str {
        match self {
            Self::Attributed => "attributed_costs",
            Self::ChargedDays => "charged_days",
            Self::AttributedDays => "attributed_days",
            Self::Items => "item_costs",
            Self::ItemDays => "item_days",
            Self::Keyed => "keyed_costs",
            Self::Totals => "monthly_totals",
            Self::TotalDays => "daily_totals",
            Self::Months => "monthly_costs",
            Self::Days => "daily_costs",
            Self::Resources => RESOURCES,
            Self::Charges => "full_charges",
        }
    }

    /// Whether its rows are of owners and know no keys.
    pub(super) fn is_of_owners(self) -> bool {
        matches!(
            self,
            Self::Attributed | Self::ChargedDays | Self::AttributedDays | Self::Items | Self::ItemDays
        )
    }

    /// Whether a row says what was bought, as a key does.
    pub(super) fn says_what(self) -> bool {
        !matches!(self, Self::Attributed | Self::ChargedDays | Self::AttributedDays)
    }

    /// Where the currency of a row stands.
    pub(super) fn currency(self) -> &'static str {
        if self.says_what() { "k.currency" } else { "c.currency" }
    }

    /// Accelerator time of a row in part-seconds: an exact whole, divided once at display.
    pub fn part_seconds(self) -> &'static str {
        match self {
            Self::Attributed
            | Self::ChargedDays
            | Self::AttributedDays
            | Self::Items
            | Self::ItemDays
            | Self::Keyed => "c.part_seconds",
            Self::Totals | Self::TotalDays | Self::Months | Self::Days | Self::Resources => {
                "c.metered_quantity * (k.unit_seconds * k.accelerator_parts)"
            }
            Self::Charges => {
                "case when c.is_metered then c.consumed_quantity * (k.unit_seconds * k.accelerator_parts) end"
            }
        }
    }

    /// The day of a row, and whether it belongs to none. Of rows that have days.
    pub fn day(self) -> (&'static str, &'static str) {
        match self {
            Self::Charges => (
                "(c.charge_period_start at time zone 'UTC')::date",
                "c.charge_period_end - c.charge_period_start > interval '1 day'",
            ),
            _ => ("c.day", "c.is_whole_period"),
        }
    }

    /// The charge category and the service of a row that belongs to no day.
    pub fn category_and_service(self) -> &'static str {
        match self {
            Self::ChargedDays | Self::AttributedDays => "c.category, c.service",
            _ => "k.category, k.service",
        }
    }

    /// Whether a row is of a key that amounts to less than nothing. Not of totals, in which there are several.
    pub fn is_credit(self) -> &'static str {
        match self {
            Self::Attributed | Self::Items | Self::ItemDays => "c.is_credit",
            _ => IS_CREDIT,
        }
    }

    /// Whether a row is of what the organization has of its own.
    pub(super) fn is_owned(self) -> &'static str {
        if self.says_what() { "k.pricing = 'Owned'" } else { "c.is_owned" }
    }

    /// Whether a row is the use of accelerators.
    pub(super) fn is_accelerated(self) -> &'static str {
        if self.says_what() { IS_ACCELERATED } else { "c.is_accelerated" }
    }

    /// Whether a row's effective cost is of a commitment that nothing used.
    pub fn is_unused(self) -> &'static str {
        if self.says_what() { IS_UNUSED_COMMITMENT } else { "c.is_unused" }
    }
}
