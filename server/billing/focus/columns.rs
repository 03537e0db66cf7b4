//! Which columns FOCUS knows, which may be missing, and what that means.

use super::CONSUMED;
use crate::billing::header::{Columns, Header, key_of};

/// What the reader does not know and what it misses.
pub(super) fn columns(header: &Header) -> Columns {
    let mut columns = Columns::default();
    for name in header.names() {
        let (key, is_custom) = key_of(name);
        if !is_custom && !key.starts_with("oci") && !KNOWN.contains(&key.as_str()) {
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

/// Every column of FOCUS 0.5 to 1.4 cost and usage.
const KNOWN: &[&str] = &[
    "allocatedmethoddetails",
    "allocatedmethodid",
    "allocatedresourceid",
    "allocatedresourcename",
    "allocatedtags",
    "amortizedcost",
    "availabilityzone",
    "billedcost",
    "billedcurrency",
    "billingaccountid",
    "billingaccountname",
    "billingaccounttype",
    "billingcurrency",
    "billingperiodend",
    "billingperiodstart",
    "capacityreservationid",
    "capacityreservationstatus",
    "chargecategory",
    "chargeclass",
    "chargedescription",
    "chargefrequency",
    "chargeperiodend",
    "chargeperiodstart",
    "chargesubcategory",
    "chargetype",
    "commitmentdiscountcategory",
    "commitmentdiscountid",
    "commitmentdiscountname",
    "commitmentdiscountquantity",
    "commitmentdiscountstatus",
    "commitmentdiscounttype",
    "commitmentdiscountunit",
    "commitmentprogrameligibilitydetails",
    "consumedquantity",
    "consumedunit",
    "contractapplied",
    "contractedcost",
    "contractedunitprice",
    "effectivecost",
    "hostprovidername",
    "invoicedetailid",
    "invoiceid",
    "invoiceissuer",
    "invoiceissuername",
    "listcost",
    "listunitprice",
    "pricingcategory",
    "pricingcurrency",
    "pricingcurrencycontractedunitprice",
    "pricingcurrencyeffectivecost",
    "pricingcurrencylistunitprice",
    "pricingquantity",
    "pricingunit",
    "provider",
    "providername",
    "publisher",
    "publishername",
    "region",
    "regionid",
    "regionname",
    "resourceid",
    "resourcename",
    "resourcetype",
    "servicecategory",
    "servicename",
    "serviceprovidername",
    "servicesubcategory",
    "skuid",
    "skumeter",
    "skupricedetails",
    "skupriceid",
    "subaccountid",
    "subaccountname",
    "subaccounttype",
    "tags",
    "usagequantity",
    "usageunit",
];
