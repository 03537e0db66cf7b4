//! Which columns Modal's billing report has, and which of them may be missing.

use crate::billing::header::{Columns, Header, absent, feeds_by, names_of, unknown};

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

pub(super) fn names() -> Vec<&'static str> {
    names_of(COLUMNS)
}

/// What the reader does not know and what it misses.
pub(super) fn columns(header: &Header) -> Columns {
    Columns {
        unknown: unknown(header, COLUMNS),
        absent: absent(header, OPTIONAL),
        notes: vec![
            "before credits: costs are those of the usage, and what Modal bills is in `modal billing summary`".to_owned(),
            "without hours: the report has costs alone, and no GPU-hours follow from it".to_owned(),
            "without workspace: two workspaces of Modal are one here, and importing one replaces the other's months unless it is added"
                .to_owned(),
            "without list prices: list and contracted cost are the billed cost".to_owned(),
        ],
        ..Columns::default()
    }
}

/// Which column of FOCUS a column becomes. `key` as [`Header::find`] wants it.
pub(super) fn feeds(key: &str) -> Option<&'static str> {
    feeds_by(COLUMNS.iter(), key)
}
