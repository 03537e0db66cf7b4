//! Which columns of an AWS report are known, which may be missing, and what looks wrong about a header.

use super::effective::Amortization;
use super::tag_key;
use crate::billing::header::{Columns, Header, key_of};

/// Columns of the report outside the open sets (`product/…`, tags, cost categories).
const KNOWN: &[&str] = &[
    "identitylineitemid",
    "identitytimeinterval",
    "billbilltype",
    "billbillingentity",
    "billbillingperiodenddate",
    "billbillingperiodstartdate",
    "billinvoiceid",
    "billinvoicingentity",
    "billpayeraccountid",
    "billpayeraccountname",
    "lineitemavailabilityzone",
    "lineitemblendedcost",
    "lineitemblendedrate",
    "lineitemcurrencycode",
    "lineitemlegalentity",
    "lineitemlineitemdescription",
    "lineitemlineitemtype",
    "lineitemnetunblendedcost",
    "lineitemnetunblendedrate",
    "lineitemnormalizationfactor",
    "lineitemnormalizedusageamount",
    "lineitemoperation",
    "lineitemproductcode",
    "lineitemresourceid",
    "lineitemtaxtype",
    "lineitemunblendedcost",
    "lineitemunblendedrate",
    "lineitemusageaccountid",
    "lineitemusageaccountname",
    "lineitemusageamount",
    "lineitemusageenddate",
    "lineitemusagestartdate",
    "lineitemusagetype",
    "lineitemiamprincipal",
    "lineitemuseridentifier",
    "pricingcurrency",
    "pricingleasecontractlength",
    "pricingofferingclass",
    "pricingpublicondemandcost",
    "pricingpublicondemandrate",
    "pricingpurchaseoption",
    "pricingratecode",
    "pricingrateid",
    "pricingterm",
    "pricingunit",
    "year",
    "month",
];

/// Families of which AWS adds members now and then; distinguished from slips by their own prefix twice over.
const FAMILIES: &[&str] =
    &["product", "reservation", "savingsplan", "discount", "splitlineitem", "resourcetags", "costcategory"];

/// What this reader does not know, what it misses, and what looks wrong about the header.
pub(in crate::billing) fn columns(header: &Header) -> Columns {
    let mut columns = Columns::default();
    for name in header.names() {
        let (key, _) = key_of(name);
        let is_family = FAMILIES.iter().any(|family| key.starts_with(family))
            && name.matches('/').count() <= 1
            || name.starts_with("resourceTags/")
            || name.starts_with("costCategory/");
        if !KNOWN.contains(&key.as_str()) && !is_family {
            columns.unknown.push(name.clone());
        }
        if let Some((first, second)) = glued(name) {
            columns.notes.push(format!(
                "{name} looks like two column names, {first} and {second}, without the comma between them"
            ));
        }
    }
    let has_tags = header.names().iter().any(|name| tag_key(name).is_some());
    for (name, key) in OPTIONAL {
        let is_elsewhere =
            (header.has("product") && name.starts_with("product/")) || (*name == "resourceTags" && has_tags);
        if !header.has(key) && !is_elsewhere {
            columns.absent.push((*name).to_owned());
        }
    }
    columns.notes.extend(Amortization::new(header).notes());
    columns
}

/// Columns that feed a charge and may be missing.
const OPTIONAL: &[(&str, &str)] = &[
    ("lineItem/UsageAccountId", "lineitemusageaccountid"),
    ("lineItem/ProductCode", "lineitemproductcode"),
    ("lineItem/UsageType", "lineitemusagetype"),
    ("lineItem/Operation", "lineitemoperation"),
    ("lineItem/UsageAmount", "lineitemusageamount"),
    ("lineItem/ResourceId", "lineitemresourceid"),
    ("bill/InvoiceId", "billinvoiceid"),
    ("pricing/unit", "pricingunit"),
    ("pricing/publicOnDemandCost", "pricingpublicondemandcost"),
    ("product/instanceType", "productinstancetype"),
    ("product/gpu", "productgpu"),
    ("product/region", "productregion"),
    ("product/sku", "productsku"),
    ("reservation/ReservationARN", "reservationreservationarn"),
    ("reservation/EffectiveCost", "reservationeffectivecost"),
    ("savingsPlan/SavingsPlanARN", "savingsplansavingsplanarn"),
    ("savingsPlan/SavingsPlanEffectiveCost", "savingsplansavingsplaneffectivecost"),
    ("resourceTags", "resourcetags"),
];

/// `pricing/OfferingClasspricing/PurchaseOption` into its two names.
fn glued(name: &str) -> Option<(&str, &str)> {
    const CATEGORIES: &[&str] =
        &["identity/", "bill/", "lineItem/", "pricing/", "product/", "reservation/", "savingsPlan/"];
    if name.matches('/').count() != 2 {
        return None;
    }
    let begins = CATEGORIES.iter().any(|category| name.starts_with(category));
    let second = CATEGORIES.iter().filter_map(|category| name.rfind(category)).filter(|at| *at > 0).min()?;
    begins.then(|| name.split_at(second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sees_two_names_in_one() {
        assert_eq!(
            glued("pricing/OfferingClasspricing/PurchaseOption"),
            Some(("pricing/OfferingClass", "pricing/PurchaseOption"))
        );
        assert_eq!(glued("pricing/unit"), None);
        assert_eq!(glued("resourceTags/user:a/b"), None);
    }
}
