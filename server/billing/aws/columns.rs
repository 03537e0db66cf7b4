//! Which columns of an AWS report are known, which may be missing, and what looks wrong about a header.

use super::effective::Amortization;
use super::tags::tag_key;
use crate::billing::header::{Columns, Header, feeds_by, key_of};

/// Columns of the report, and which column of FOCUS each becomes, for people who look at a row; nothing of those that become
/// none. Of the open sets (`product/…`, `reservation/…`, `savingsPlan/…`) only those that become one.
const COLUMNS: &[(&str, &str)] = &[
    ("identitylineitemid", ""),
    ("identitytimeinterval", ""),
    ("billbilltype", ""),
    ("billbillingentity", "ServiceName"),
    ("billbillingperiodenddate", "BillingPeriodEnd"),
    ("billbillingperiodstartdate", "BillingPeriodStart"),
    ("billinvoiceid", "InvoiceId"),
    ("billinvoicingentity", ""),
    ("billpayeraccountid", "BillingAccountId"),
    ("billpayeraccountname", ""),
    ("lineitemavailabilityzone", "RegionId"),
    ("lineitemblendedcost", ""),
    ("lineitemblendedrate", ""),
    ("lineitemcurrencycode", "BillingCurrency"),
    ("lineitemlegalentity", ""),
    ("lineitemlineitemdescription", ""),
    ("lineitemlineitemtype", "ChargeCategory, PricingCategory"),
    ("lineitemnetunblendedcost", ""),
    ("lineitemnetunblendedrate", ""),
    ("lineitemnormalizationfactor", ""),
    ("lineitemnormalizedusageamount", ""),
    ("lineitemoperation", ""),
    ("lineitemproductcode", "ServiceName"),
    ("lineitemresourceid", "ResourceId"),
    ("lineitemtaxtype", ""),
    ("lineitemunblendedcost", "BilledCost"),
    ("lineitemunblendedrate", ""),
    ("lineitemusageaccountid", "SubAccountId"),
    ("lineitemusageaccountname", ""),
    ("lineitemusageamount", "ConsumedQuantity"),
    ("lineitemusageenddate", "ChargePeriodEnd"),
    ("lineitemusagestartdate", "ChargePeriodStart"),
    ("lineitemusagetype", "SkuMeter"),
    ("lineitemiamprincipal", ""),
    ("lineitemuseridentifier", ""),
    ("pricingcurrency", ""),
    ("pricingleasecontractlength", ""),
    ("pricingofferingclass", ""),
    ("pricingpublicondemandcost", "ListCost"),
    ("pricingpublicondemandrate", ""),
    ("pricingpurchaseoption", ""),
    ("pricingratecode", ""),
    ("pricingrateid", ""),
    ("pricingterm", ""),
    ("pricingunit", "ConsumedUnit"),
    ("year", ""),
    ("month", ""),
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
    ("splitlineitemparentresourceid", "ResourceId"),
    ("splitlineitemsplitcost", "EffectiveCost"),
    ("splitlineitemunusedcost", "EffectiveCost"),
];

/// Families of which AWS adds members now and then; distinguished from slips by their own prefix twice over.
const FAMILIES: &[&str] =
    &["product", "reservation", "savingsplan", "discount", "splitlineitem", "resourcetags", "costcategory"];

/// What this reader does not know, what it misses, and what looks wrong about the header.
pub(in crate::billing) fn columns(header: &Header) -> Columns {
    let mut columns = Columns::default();
    for name in header.names() {
        let (key, _) = key_of(name);
        let is_known = if FAMILIES.iter().any(|family| key.starts_with(family)) {
            name.matches('/').count() <= 1
                || name.starts_with("resourceTags/")
                || name.starts_with("costCategory/")
        } else {
            COLUMNS.iter().any(|(column, _)| *column == key)
        };
        if !is_known {
            columns.unknown.push(name.clone());
        }
        if let Some((first, second)) = glued(name) {
            columns.notes.push(format!(
                "{name} looks like two column names, {first} and {second}, without the comma between them"
            ));
        }
    }
    let has_tags = header.names().iter().any(|name| tag_key(name).is_some());
    for name in OPTIONAL {
        let is_elsewhere =
            (header.has("product") && name.starts_with("product/")) || (*name == "resourceTags" && has_tags);
        if !header.has(&key_of(name).0) && !is_elsewhere {
            columns.absent.push((*name).to_owned());
        }
    }
    columns.notes.extend(Amortization::new(header).notes());
    columns
}

/// Which column of FOCUS a column becomes. `key` as of [`key_of`].
pub(in crate::billing) fn feeds(key: &str) -> Option<&'static str> {
    if ["resourcetags", "costcategory"].iter().any(|family| key.starts_with(family)) {
        return Some("Tags");
    }
    feeds_by(COLUMNS.iter(), key)
}

/// Columns that feed a charge and may be missing.
const OPTIONAL: &[&str] = &[
    "lineItem/UsageAccountId",
    "lineItem/ProductCode",
    "lineItem/UsageType",
    "lineItem/Operation",
    "lineItem/UsageAmount",
    "lineItem/ResourceId",
    "bill/InvoiceId",
    "pricing/unit",
    "pricing/publicOnDemandCost",
    "product/instanceType",
    "product/gpu",
    "product/region",
    "product/sku",
    "reservation/ReservationARN",
    "reservation/EffectiveCost",
    "savingsPlan/SavingsPlanARN",
    "savingsPlan/SavingsPlanEffectiveCost",
    "resourceTags",
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
