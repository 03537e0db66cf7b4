//! Which columns FOCUS knows, which may be missing, and what that means.

use crate::billing::header::{Columns, Header, key_of};

/// The names of a quantity that was consumed.
pub(super) const CONSUMED: &[&str] = &["consumedquantity", "usagequantity"];

/// What the reader does not know and what it misses.
pub(super) fn columns(header: &Header) -> Columns {
    let mut columns = Columns::default();
    for name in header.names() {
        let (key, is_custom) = key_of(name);
        if !is_custom && !key.starts_with("oci") && KNOWN.iter().all(|(column, _)| *column != key) {
            columns.unknown.push(name.clone());
        }
    }
    for (name, keys) in OPTIONAL {
        if header.find_any(keys).is_none() {
            columns.absent.push((*name).to_owned());
        }
    }
    for (name, key) in [("ListCost", "listcost"), ("ContractedCost", "contractedcost")] {
        if !header.has(key) {
            columns.notes.push(format!("without {name}, that cost counts 0"));
        }
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
    ("allocatedmethoddetails", ""),
    ("allocatedmethodid", ""),
    ("allocatedresourceid", ""),
    ("allocatedresourcename", ""),
    ("allocatedtags", ""),
    ("amortizedcost", "EffectiveCost"),
    ("availabilityzone", ""),
    ("billedcost", "BilledCost"),
    ("billedcurrency", ""),
    ("billingaccountid", "BillingAccountId"),
    ("billingaccountname", ""),
    ("billingaccounttype", ""),
    ("billingcurrency", "BillingCurrency"),
    ("billingperiodend", "BillingPeriodEnd"),
    ("billingperiodstart", "BillingPeriodStart"),
    ("capacityreservationid", ""),
    ("capacityreservationstatus", ""),
    ("chargecategory", "ChargeCategory"),
    ("chargeclass", "ChargeClass"),
    ("chargedescription", "instance type, SkuMeter"),
    ("chargefrequency", ""),
    ("chargeperiodend", "ChargePeriodEnd"),
    ("chargeperiodstart", "ChargePeriodStart"),
    ("chargesubcategory", ""),
    ("chargetype", "ChargeCategory"),
    ("commitmentdiscountcategory", ""),
    ("commitmentdiscountid", "CommitmentDiscountId"),
    ("commitmentdiscountname", ""),
    ("commitmentdiscountquantity", ""),
    ("commitmentdiscountstatus", "CommitmentDiscountStatus"),
    ("commitmentdiscounttype", ""),
    ("commitmentdiscountunit", ""),
    ("commitmentprogrameligibilitydetails", ""),
    ("consumedquantity", "ConsumedQuantity"),
    ("consumedunit", "ConsumedUnit"),
    ("contractapplied", ""),
    ("contractedcost", "ContractedCost"),
    ("contractedunitprice", ""),
    ("effectivecost", "EffectiveCost"),
    ("hostprovidername", ""),
    ("invoicedetailid", ""),
    ("invoiceid", "InvoiceId"),
    ("invoiceissuer", ""),
    ("invoiceissuername", ""),
    ("listcost", "ListCost"),
    ("listunitprice", ""),
    ("pricingcategory", "PricingCategory"),
    ("pricingcurrency", ""),
    ("pricingcurrencycontractedunitprice", ""),
    ("pricingcurrencyeffectivecost", ""),
    ("pricingcurrencylistunitprice", ""),
    ("pricingquantity", ""),
    ("pricingunit", ""),
    ("provider", "ServiceProviderName"),
    ("providername", "ServiceProviderName"),
    ("publisher", ""),
    ("publishername", ""),
    ("region", "RegionId"),
    ("regionid", "RegionId"),
    ("regionname", ""),
    ("resourceid", "ResourceId"),
    ("resourcename", ""),
    ("resourcetype", ""),
    ("servicecategory", "ServiceCategory"),
    ("servicename", "ServiceName"),
    ("serviceprovidername", "ServiceProviderName"),
    ("servicesubcategory", ""),
    ("skuid", "SkuId"),
    ("skumeter", "SkuMeter"),
    ("skupricedetails", "instance type, accelerators"),
    ("skupriceid", ""),
    ("subaccountid", "SubAccountId"),
    ("subaccountname", ""),
    ("subaccounttype", ""),
    ("tags", "Tags"),
    ("usagequantity", "ConsumedQuantity"),
    ("usageunit", "ConsumedUnit"),
];

/// The same of columns that publishers add, with `x_` before their names.
const CUSTOM: &[(&str, &str)] = &[
    ("billingprofileid", "BillingAccountId"),
    ("instancetype", "instance type"),
    ("servicecode", "ServiceName"),
    ("skudescription", "SkuMeter"),
    ("skudetails", "instance type"),
    ("skumetername", "SkuMeter"),
    ("usagetype", "SkuMeter"),
];

/// Which column of FOCUS a column of an export becomes. `key` as of [`key_of`].
pub(super) fn feeds(key: &str) -> Option<&'static str> {
    let (_, focus) = KNOWN.iter().chain(CUSTOM).find(|(column, _)| *column == key)?;
    (!focus.is_empty()).then_some(*focus)
}
