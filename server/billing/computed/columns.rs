//! The columns of a computed bill, in the order of its file, and which column of FOCUS each becomes.

use super::ComputedBill;
use crate::billing::header::Known;

pub(super) const KNOWN: Known = Known { names: COLUMNS, optional: &[], notes: &[] };

/// Of the bill that a file is, without those that only others have.
pub(super) fn of(bill: ComputedBill) -> impl Iterator<Item = &'static str> {
    let of_others = move |name: &&str| ComputedBill::ALL.iter().any(|it| *it != bill && it.why() == *name);
    COLUMNS.iter().map(|(name, _)| *name).filter(move |name| !of_others(name))
}

const COLUMNS: &[(&str, &str)] = &[
    ("ProviderName", "ProviderName"),
    ("BillingAccountId", "BillingAccountId"),
    ("SubAccountId", "SubAccountId"),
    ("BillingCurrency", "BillingCurrency"),
    ("BillingPeriodStart", "BillingPeriodStart"),
    ("BillingPeriodEnd", "BillingPeriodEnd"),
    ("ChargePeriodStart", "ChargePeriodStart"),
    ("ChargePeriodEnd", "ChargePeriodEnd"),
    ("ChargeCategory", "ChargeCategory"),
    ("x_GpuledgerAdjustment", "ChargeDescription"),
    ("x_GpuledgerUsage", "ChargeDescription"),
    ("BilledCost", "BilledCost"),
    ("EffectiveCost", "EffectiveCost"),
    ("ListCost", "ListCost"),
    ("ContractedCost", "ContractedCost"),
    ("ConsumedQuantity", "ConsumedQuantity"),
    ("x_GpuledgerHours", "ConsumedQuantity"),
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
