//! Which columns FOCUS knows, which may be missing, and what that means.

use crate::billing::header::{Columns, Header, feeds_by, key_of};

/// The names of a quantity that was consumed.
pub(super) const CONSUMED: &[&str] = &["consumedquantity", "usagequantity"];

/// What the reader does not know and what it misses.
pub(super) fn columns(header: &Header) -> Columns {
    let mut columns = Columns::default();
    for name in header.names() {
        let (key, is_custom) = key_of(name);
        if !is_custom && !key.starts_with("oci") && KNOWN.iter().all(|(column, _)| key_of(column).0 != key) {
            columns.unknown.push(name.clone());
        }
    }
    for (name, keys) in OPTIONAL {
        if !header.has_any(keys) {
            columns.absent.push((*name).to_owned());
        }
    }
    let states_cost = header.has("billedcost");
    if !states_cost {
        columns
            .notes
            .push("without BilledCost, what was used has no cost until a rate card covers it".to_owned());
    }
    for (name, key) in [("ListCost", "listcost"), ("ContractedCost", "contractedcost")] {
        if states_cost && !header.has(key) {
            columns.notes.push(format!("without {name}, that cost counts 0"));
        }
    }
    if header.has("skudetails") && header.has("skumeter") && !header.has("skupricedetails") {
        columns.notes.push(
            "the columns of Azure's 1.2-preview, without SkuPriceDetails: machines are read out of x_SkuDetails, \
             SkuMeter, x_SkuDescription and ChargeDescription"
                .to_owned(),
        );
    }
    if header.has("amortizedcost") || header.has("chargetype") {
        columns.notes.push(
            "the names of FOCUS 0.5: AmortizedCost is EffectiveCost, ChargeType is ChargeCategory".to_owned(),
        );
    }
    columns
}

/// Columns that feed a charge and may be missing.
const OPTIONAL: &[(&str, &[&str])] = &[
    ("ListCost", &["listcost"]),
    ("ContractedCost", &["contractedcost"]),
    ("ChargeClass", &["chargeclass"]),
    ("PricingCategory", &["pricingcategory"]),
    ("SubAccountId", &["subaccountid"]),
    ("ServiceName", &["servicename"]),
    ("ServiceCategory", &["servicecategory"]),
    ("SkuId", &["skuid"]),
    ("SkuMeter", &["skumeter", "skumetername", "usagetype"]),
    ("SkuPriceDetails", &["skupricedetails", "skudetails"]),
    ("RegionId", &["regionid", "region"]),
    ("ConsumedQuantity", CONSUMED),
    ("ConsumedUnit", &["consumedunit", "usageunit"]),
    ("CommitmentDiscountId", &["commitmentdiscountid"]),
    ("CommitmentDiscountStatus", &["commitmentdiscountstatus"]),
    ("InvoiceId", &["invoiceid"]),
    ("ResourceId", &["resourceid"]),
    ("Tags", &["tags"]),
];

/// Every column of FOCUS 0.5 to 1.4 cost and usage, and which one it becomes, mostly the one whose name it has, in its latest
/// spelling; nothing of those that become none.
const KNOWN: &[(&str, &str)] = &[
    ("AllocatedMethodDetails", ""),
    ("AllocatedMethodId", ""),
    ("AllocatedResourceId", "ResourceId"),
    ("AllocatedResourceName", ""),
    ("AllocatedTags", "Tags"),
    ("AmortizedCost", "EffectiveCost"),
    ("AvailabilityZone", ""),
    ("BilledCost", "BilledCost"),
    ("BilledCurrency", ""),
    ("BillingAccountId", "BillingAccountId"),
    ("BillingAccountName", ""),
    ("BillingAccountType", ""),
    ("BillingCurrency", "BillingCurrency"),
    ("BillingPeriodEnd", "BillingPeriodEnd"),
    ("BillingPeriodStart", "BillingPeriodStart"),
    ("CapacityReservationId", ""),
    ("CapacityReservationStatus", ""),
    ("ChargeCategory", "ChargeCategory"),
    ("ChargeClass", "ChargeClass"),
    ("ChargeDescription", "instance type, SkuMeter"),
    ("ChargeFrequency", ""),
    ("ChargePeriodEnd", "ChargePeriodEnd"),
    ("ChargePeriodStart", "ChargePeriodStart"),
    ("ChargeSubcategory", ""),
    ("ChargeType", "ChargeCategory"),
    ("CommitmentDiscountCategory", ""),
    ("CommitmentDiscountId", "CommitmentDiscountId"),
    ("CommitmentDiscountName", ""),
    ("CommitmentDiscountQuantity", ""),
    ("CommitmentDiscountStatus", "CommitmentDiscountStatus"),
    ("CommitmentDiscountType", ""),
    ("CommitmentDiscountUnit", ""),
    ("CommitmentProgramEligibilityDetails", ""),
    ("ConsumedQuantity", "ConsumedQuantity"),
    ("ConsumedUnit", "ConsumedUnit"),
    ("ContractApplied", ""),
    ("ContractedCost", "ContractedCost"),
    ("ContractedUnitPrice", ""),
    ("EffectiveCost", "EffectiveCost"),
    ("HostProviderName", ""),
    ("InvoiceDetailId", ""),
    ("InvoiceId", "InvoiceId"),
    ("InvoiceIssuer", ""),
    ("InvoiceIssuerName", ""),
    ("ListCost", "ListCost"),
    ("ListUnitPrice", ""),
    ("PricingCategory", "PricingCategory"),
    ("PricingCurrency", ""),
    ("PricingCurrencyContractedUnitPrice", ""),
    ("PricingCurrencyEffectiveCost", ""),
    ("PricingCurrencyListUnitPrice", ""),
    ("PricingQuantity", ""),
    ("PricingUnit", ""),
    ("Provider", "ServiceProviderName"),
    ("ProviderName", "ServiceProviderName"),
    ("Publisher", ""),
    ("PublisherName", ""),
    ("Region", "RegionId"),
    ("RegionId", "RegionId"),
    ("RegionName", ""),
    ("ResourceId", "ResourceId"),
    ("ResourceName", ""),
    ("ResourceType", ""),
    ("ServiceCategory", "ServiceCategory"),
    ("ServiceName", "ServiceName"),
    ("ServiceProviderName", "ServiceProviderName"),
    ("ServiceSubcategory", ""),
    ("SkuId", "SkuId"),
    ("SkuMeter", "SkuMeter"),
    ("SkuPriceDetails", "instance type, accelerators"),
    ("SkuPriceId", ""),
    ("SubAccountId", "SubAccountId"),
    ("SubAccountName", ""),
    ("SubAccountType", ""),
    ("Tags", "Tags"),
    ("UsageQuantity", "ConsumedQuantity"),
    ("UsageUnit", "ConsumedUnit"),
];

/// The same of columns that publishers add, with `x_` before their names.
const CUSTOM: &[(&str, &str)] = &[
    ("x_BillingProfileId", "BillingAccountId"),
    ("x_CostCategories", "Tags"),
    ("oci_CompartmentId", "SubAccountId"),
    ("x_InstanceType", "instance type"),
    ("x_Labels", "Tags"),
    ("x_Project.id", "SubAccountId"),
    ("x_ProjectLabels", "Tags"),
    ("x_ServiceCode", "ServiceName"),
    ("x_SkuDescription", "SkuMeter"),
    ("x_SkuDetails", "instance type"),
    ("x_SkuMeterCategory", "ServiceName"),
    ("x_SkuMeterName", "SkuMeter"),
    ("x_SystemLabels", "instance type"),
    ("x_UsageType", "SkuMeter"),
];

/// Columns that the reader looks at.
pub(super) fn names() -> Vec<&'static str> {
    let is_read = |(name, focus): &(&'static str, &str)| (!focus.is_empty()).then_some(*name);
    KNOWN.iter().chain(CUSTOM).filter_map(is_read).chain(OTHERS.iter().copied()).collect()
}

/// Read, and no column of FOCUS by themselves.
const OTHERS: &[&str] = &[
    "AllocatedMethodId",
    "AllocatedResourceName",
    "CommitmentDiscountType",
    "InvoiceIssuerName",
    "PricingQuantity",
    "PricingUnit",
    "PublisherName",
    "RegionName",
    "x_PricingCategory",
];

/// Which column of FOCUS a column of an export becomes. `key` as of [`key_of`].
pub(super) fn feeds(key: &str) -> Option<&'static str> {
    feeds_by(KNOWN.iter().chain(CUSTOM), key)
}
