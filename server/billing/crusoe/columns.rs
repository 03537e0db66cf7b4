//! Which columns Crusoe's billing export has, and which of them may be missing.

use crate::billing::header::{Columns, Header, absent, feeds_by, names_of, unknown};

/// What the reader does not know and what it misses.
pub(super) fn columns(header: &Header) -> Columns {
    let notes = [
        "without list prices: list and contracted cost are the billed cost",
        "without reservations, taxes and credits: those are on Crusoe's invoice alone",
    ];
    Columns {
        unknown: unknown(header, COLUMNS),
        absent: absent(header, OPTIONAL),
        notes: notes.map(str::to_owned).into(),
        ..Columns::default()
    }
}

/// Which column of FOCUS a column becomes. `key` as [`Header::find`] wants it.
pub(super) fn feeds(key: &str) -> Option<&'static str> {
    feeds_by(COLUMNS.iter(), key)
}

pub(super) fn names() -> Vec<&'static str> {
    names_of(COLUMNS)
}

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
