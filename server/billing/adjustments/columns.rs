//! The columns of a bill of adjustments, in the order of its file, and which column of FOCUS each becomes.

use crate::billing::header::Known;

pub(super) const KNOWN: Known = Known { names: COLUMNS, optional: &[], notes: &[] };

/// What marks a row as computed here: why it is there.
pub(super) const WHY: &str = "x_GpuledgerAdjustment";

pub(super) const COLUMNS: &[(&str, &str)] = &[
    ("ProviderName", "ProviderName"),
    ("BillingAccountId", "BillingAccountId"),
    ("SubAccountId", "SubAccountId"),
    ("BillingCurrency", "BillingCurrency"),
    ("BillingPeriodStart", "BillingPeriodStart"),
    ("BillingPeriodEnd", "BillingPeriodEnd"),
    ("ChargePeriodStart", "ChargePeriodStart"),
    ("ChargePeriodEnd", "ChargePeriodEnd"),
    ("ChargeCategory", "ChargeCategory"),
    (WHY, "ChargeDescription"),
    ("BilledCost", "BilledCost"),
    ("EffectiveCost", "EffectiveCost"),
    ("ListCost", "ListCost"),
    ("ContractedCost", "ContractedCost"),
    ("InvoiceId", "InvoiceId"),
    ("ServiceName", "ServiceName"),
    ("ServiceCategory", "ServiceCategory"),
    ("SkuId", "SkuId"),
    ("SkuMeter", "SkuMeter"),
    ("x_InstanceType", "SkuPriceDetails"),
    ("x_Accelerators", "SkuPriceDetails"),
    ("ConsumedUnit", "ConsumedUnit"),
    ("RegionId", "RegionId"),
    ("ResourceId", "ResourceId"),
    ("PricingCategory", "PricingCategory"),
    ("CommitmentDiscountId", "CommitmentDiscountId"),
    ("CommitmentDiscountStatus", "CommitmentDiscountStatus"),
    ("ChargeClass", "ChargeClass"),
    ("Tags", "Tags"),
];
