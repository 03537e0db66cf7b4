//! Which members charges of Vast.ai have, and what each becomes.

use crate::billing::header::Known;

/// What is said of every file.
pub(super) const KNOWN: Known = Known {
    names: COLUMNS,
    optional: &["metadata.label"],
    notes: &[
        "without account: two accounts of Vast.ai are one here, and importing one replaces the other's months unless it is added",
        "without models and numbers of GPUs: their hours are of machines that are not recognized",
        "without list prices: list and contracted cost are the billed cost",
    ],
};

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

/// The members that become tags, as [`Header::find`](crate::billing::header::Header::find) wants them, and the name of each tag.
pub(super) const TAGS: &[(&str, &str)] = &[
    ("metadatalabel", "label"),
    ("metadatatemplateid", "template_id"),
    ("metadataendpointid", "endpoint_id"),
    ("metadataworkergroupid", "workergroup_id"),
];
