//! Which column of FOCUS a column of an AWS report becomes, for people who look at a row.

const FEEDS: &[(&str, &str)] = &[
    ("billbillingentity", "ServiceName"),
    ("billbillingperiodenddate", "BillingPeriodEnd"),
    ("billbillingperiodstartdate", "BillingPeriodStart"),
    ("billinvoiceid", "InvoiceId"),
    ("billpayeraccountid", "BillingAccountId"),
    ("lineitemavailabilityzone", "RegionId"),
    ("lineitemcurrencycode", "BillingCurrency"),
    ("lineitemlineitemtype", "ChargeCategory, PricingCategory"),
    ("lineitemproductcode", "ServiceName"),
    ("lineitemresourceid", "ResourceId"),
    ("lineitemunblendedcost", "BilledCost"),
    ("lineitemusageaccountid", "SubAccountId"),
    ("lineitemusageamount", "ConsumedQuantity"),
    ("lineitemusageenddate", "ChargePeriodEnd"),
    ("lineitemusagestartdate", "ChargePeriodStart"),
    ("lineitemusagetype", "SkuMeter"),
    ("pricingpublicondemandcost", "ListCost"),
    ("pricingunit", "ConsumedUnit"),
    ("productgpu", "accelerators"),
    ("productinstancetype", "instance type"),
    ("productproductname", "ServiceName"),
    ("productregion", "RegionId"),
    ("productregioncode", "RegionId"),
    ("productsku", "SkuId"),
    ("reservationeffectivecost", "EffectiveCost"),
    ("reservationreservationarn", "CommitmentDiscountId"),
    ("reservationunusedamortizedupfrontfeeforbillingperiod", "EffectiveCost"),
    ("reservationunusedrecurringfee", "EffectiveCost"),
    ("savingsplansavingsplanarn", "CommitmentDiscountId"),
    ("savingsplansavingsplaneffectivecost", "EffectiveCost"),
    ("savingsplantotalcommitmenttodate", "EffectiveCost"),
    ("savingsplanusedcommitment", "EffectiveCost"),
];

/// `key` as of [`crate::billing::header::key_of`].
pub(in crate::billing) fn feeds(key: &str) -> Option<&'static str> {
    if ["resourcetags", "costcategory"].iter().any(|family| key.starts_with(family)) {
        return Some("Tags");
    }
    FEEDS.iter().find(|(column, _)| *column == key).map(|(_, focus)| *focus)
}
