//! Which columns Crusoe's billing export has, and which of them may be missing.

use crate::billing::header::Known;

/// What is said of every file.
pub(super) const KNOWN: Known = Known {
    names: COLUMNS,
    optional: OPTIONAL,
    notes: &[
        "without list prices: list and contracted cost are the billed cost",
        "without reservations, taxes and credits: those are on Crusoe's invoice alone",
    ],
};

/// Columns that feed a charge and may be missing.
const OPTIONAL: &[&str] = &["resource_name", "region", "unit_price", "total_price"];

/// Every column of the export, and which one of FOCUS it becomes; nothing of those that become none.
const COLUMNS: &[(&str, &str)] = &[
    ("date", "ChargePeriodStart, ChargePeriodEnd, BillingPeriodStart"),
    ("project_name", ""),
    ("project_id", "SubAccountId"),
    ("resource_name", "ResourceId"),
    ("resource_id", "ResourceId"),
    ("resource_type", "SkuId, instance type"),
    ("region", "RegionId"),
    ("quantity", "ConsumedQuantity"),
    ("billable_metric", "SkuMeter, ConsumedUnit, ServiceName, ServiceCategory"),
    ("unit_price", ""),
    ("total_price", "BilledCost, EffectiveCost, ListCost, ContractedCost"),
];
