//! Which columns Crusoe's billing export has, and which of them may be missing.

use crate::billing::header::{Columns, Header, absent, feeds_by, key_of};

/// What the reader does not know and what it misses.
pub(super) fn columns(header: &Header) -> Columns {
    let is_known = |name: &&String| {
        let key = key_of(name).0;
        COLUMNS.iter().any(|(column, _)| key_of(column).0 == key)
    };
    let notes = [
        "without list prices: list and contracted cost are the billed cost",
        "without reservations, taxes and credits: those are on Crusoe's invoice alone",
    ];
    Columns {
        unknown: header.names().iter().filter(|name| !is_known(name)).cloned().collect(),
        absent: absent(header, OPTIONAL),
        notes: notes.map(str::to_owned).into(),
        ..Columns::default()
    }
}

/// Which column of FOCUS a column becomes. `key` as of [`key_of`].
pub(super) fn feeds(key: &str) -> Option<&'static str> {
    feeds_by(COLUMNS.iter(), key)
}

pub(super) fn names() -> Vec<&'static str> {
    COLUMNS.iter().map(|(name, _)| *name).collect()
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
