//! Which members answers of Hyperstack have, and what each becomes.

use crate::billing::header::Known;

/// What is said of every file.
pub(super) const KNOWN: Known = Known {
    names: COLUMNS,
    optional: OPTIONAL,
    notes: &[
        "without account: two accounts of Hyperstack are one here, and importing one replaces the other's months unless it is added",
        "without hours and models of GPUs: no GPU-hours are counted",
        "without list prices: list and contracted cost are the billed cost",
    ],
};

/// Members of a resource by their path, and which column of FOCUS each becomes; nothing of those that become none.
const COLUMNS: &[(&str, &str)] = &[
    ("attributes.id", "ResourceId"),
    ("attributes.infrahub_id", "ResourceId"),
    ("attributes.resource_name", "Tags"),
    ("attributes.status", ""),
    ("attributes.contract_id", ""),
    ("metrics.incurred_bill", ""),
    (
        "metrics.incurred_bill_graph",
        "ChargePeriodStart, BillingPeriodStart, BilledCost, EffectiveCost, ListCost, ContractedCost",
    ),
    ("metrics.non_discounted_bill", ""),
    ("metrics.price_per_hour", ""),
    ("metrics.non_discounted_price_per_hour", ""),
    ("metrics.usage_time", ""),
    ("metrics.usage_time_ACTIVE", ""),
    ("metrics.usage_time_SHUTOFF", ""),
    ("metrics.usage_time_HIBERNATED", ""),
];

/// Members that feed a charge and may be missing.
const OPTIONAL: &[&str] = &["attributes.id", "attributes.infrahub_id", "attributes.resource_name"];
