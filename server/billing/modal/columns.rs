//! Which columns Modal's billing report has, and which of them may be missing.

use crate::billing::header::Known;

/// What is said of every file.
pub(super) const KNOWN: Known = Known {
    names: COLUMNS,
    optional: OPTIONAL,
    notes: &[
        "before credits: costs are those of the usage, and what Modal bills is in `modal billing summary`",
        "without hours: the report has costs alone, and no GPU-hours follow from it",
        "without workspace: two workspaces of Modal are one here, and importing one replaces the other's months unless it is added",
        "without list prices: list and contracted cost are the billed cost",
    ],
};

/// Every column of a report, and which one of FOCUS it becomes. JSON has the same names in snake case.
const COLUMNS: &[(&str, &str)] = &[
    ("Object ID", "ResourceId"),
    ("Description", "Tags"),
    ("Environment", "SubAccountId"),
    ("environment_name", "SubAccountId"),
    ("Interval Start", "ChargePeriodStart, ChargePeriodEnd, BillingPeriodStart"),
    ("Resource", "SkuMeter"),
    ("Cost", "BilledCost, EffectiveCost, ListCost, ContractedCost"),
    ("Tags", "Tags"),
];

/// Columns that feed a charge and may be missing.
const OPTIONAL: &[&str] = &["Description", "Resource", "Tags"];
