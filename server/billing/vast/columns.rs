//! Which members charges of Vast.ai have, and what each becomes.

use crate::billing::header::{Columns, Header, absent, feeds_by, names_of, unknown};

/// Members of a charge by their path, and which column of FOCUS each becomes; nothing of those that become none.
const COLUMNS: &[(&str, &str)] = &[
    ("start", "ChargePeriodStart, BillingPeriodStart"),
    ("end", "ChargePeriodEnd"),
    ("type", "ServiceName, ServiceCategory"),
    ("source", "ResourceId"),
    ("description", ""),
    ("amount", "BilledCost, EffectiveCost, ListCost, ContractedCost"),
    ("items", "BilledCost of charges of their own, SkuMeter, ConsumedQuantity"),
    ("metadata.label", "Tags"),
    ("metadata.template_id", "Tags"),
    ("metadata.endpoint_id", "Tags"),
    ("metadata.workergroup_id", "Tags"),
];

/// The members that become tags, as [`Header::find`] wants them, and the name of each tag.
pub(super) const TAGS: &[(&str, &str)] = &[
    ("metadatalabel", "label"),
    ("metadatatemplateid", "template_id"),
    ("metadataendpointid", "endpoint_id"),
    ("metadataworkergroupid", "workergroup_id"),
];

pub(super) fn names() -> Vec<&'static str> {
    names_of(COLUMNS)
}

/// What the reader does not know and what it misses.
pub(super) fn columns(header: &Header) -> Columns {
    Columns {
        unknown: unknown(header, COLUMNS),
        absent: absent(header, &["metadata.label"]),
        notes: vec![
            "without account: two accounts of Vast.ai are one here, and importing one replaces the other's months unless it is added"
                .to_owned(),
            "without models and numbers of GPUs: their hours are of machines that are not recognized".to_owned(),
            "without list prices: list and contracted cost are the billed cost".to_owned(),
        ],
        ..Columns::default()
    }
}

/// Which column of FOCUS a member becomes. `key` as [`Header::find`] wants it.
pub(super) fn feeds(key: &str) -> Option<&'static str> {
    feeds_by(COLUMNS.iter(), key)
}
