//! Which columns Oracle's cost reports have, and which of them may be missing.

use crate::billing::header::{Columns, Header, absent, feeds_by, key_of};

/// What the reader does not know and what it misses.
pub(super) fn columns(header: &Header) -> Columns {
    let mut columns = Columns::default();
    for name in header.names() {
        let (key, _) = key_of(name);
        if tag_key(name).is_none() && COLUMNS.iter().all(|(column, _)| key_of(column).0 != key) {
            columns.unknown.push(name.clone());
        }
    }
    columns.absent = absent(header, OPTIONAL);
    columns.notes.push("without list prices: list and contracted cost are the billed cost".to_owned());
    columns
}

/// The key of the tag that a column holds: `tags/Oracle-Tags.CreatedBy` is `Oracle-Tags.CreatedBy`, as in Oracle's FOCUS report.
pub(super) fn tag_key(name: &str) -> Option<&str> {
    name.strip_prefix("tags/").filter(|key| !key.is_empty())
}

/// Which column of FOCUS a column becomes. `key` as of [`key_of`].
pub(super) fn feeds(key: &str) -> Option<&'static str> {
    if key.starts_with("tags") {
        return Some("Tags");
    }
    feeds_by(COLUMNS.iter(), key)
}

/// Columns that feed a charge and may be missing.
const OPTIONAL: &[&str] = &[
    "product/service",
    "product/compartmentId",
    "product/region",
    "product/resourceId",
    "usage/billedQuantity",
    "cost/productSku",
    "product/Description",
    "cost/skuUnitDescription",
    "lineItem/isCorrection",
];

/// Every column of a cost report, and which one of FOCUS it becomes; nothing of those that become none.
const COLUMNS: &[(&str, &str)] = &[
    ("lineItem/referenceNo", ""),
    ("lineItem/tenantId", "BillingAccountId"),
    ("lineItem/intervalUsageStart", "ChargePeriodStart, BillingPeriodStart"),
    ("lineItem/intervalUsageEnd", "ChargePeriodEnd"),
    ("product/service", "ServiceName, ServiceCategory"),
    ("product/compartmentId", "SubAccountId"),
    ("product/compartmentName", ""),
    ("product/region", "RegionId"),
    ("product/availabilityDomain", ""),
    ("product/resourceId", "ResourceId"),
    ("usage/billedQuantity", "ConsumedQuantity"),
    ("usage/billedQuantityOverage", ""),
    ("cost/subscriptionId", ""),
    ("cost/productSku", "SkuId"),
    ("product/Description", "SkuMeter"),
    ("cost/unitPrice", ""),
    ("cost/unitPriceOverage", ""),
    ("cost/myCost", "BilledCost, EffectiveCost, ListCost, ContractedCost"),
    ("cost/myCostOverage", ""),
    ("cost/currencyCode", "BillingCurrency"),
    ("cost/billingUnitReadable", "ConsumedUnit"),
    ("cost/skuUnitDescription", "ConsumedUnit"),
    ("cost/overageFlag", ""),
    ("cost/attributedCost", ""),
    ("usage/attributedUsage", ""),
    ("lineItem/isCorrection", "ChargeClass"),
    ("lineItem/backreferenceNo", ""),
    ("lineItem/backReference", ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_tags_as_oracle_does() {
        for (column, key) in [
            ("tags/Oracle-Tags.CreatedBy", Some("Oracle-Tags.CreatedBy")),
            ("tags/orcl-cloud.free-tier-retained", Some("orcl-cloud.free-tier-retained")),
            (r"tags/DevRel\redbull hol.release", Some(r"DevRel\redbull hol.release")),
            ("tags/free-form-tag", Some("free-form-tag")),
            ("tags/", None),
            ("resourceTags/user:Team", None),
            ("product/Description", None),
        ] {
            assert_eq!(tag_key(column), key, "{column}");
        }
    }
}
