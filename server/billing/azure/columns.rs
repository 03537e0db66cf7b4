//! The columns of Azure's cost and usage details under all their names: those of an Enterprise Agreement, of a Microsoft
//! Customer Agreement, of partners and of pay-as-you-go, old and new.

use crate::billing::header::{Columns, Header, feeds_by, in_parentheses, key_of};

pub(super) const COST: &[&str] = &["costinbillingcurrency", "cost", "pretaxcost"];
pub(super) const DAY: &[&str] = &["date", "usagedatetime", "usagedate"];
pub(super) const METER_CATEGORY: &[&str] = &["metercategory"];
pub(super) const ACCOUNT: &[&str] = &["billingaccountid", "enrollmentnumber"];
pub(super) const SUBSCRIPTION: &[&str] = &["subscriptionid", "subscriptionguid"];
pub(super) const CURRENCY: &[&str] = &["billingcurrency", "billingcurrencycode", "currency"];
pub(super) const PERIOD_START: &[&str] = &["billingperiodstartdate", "billingperiodstart"];
pub(super) const PERIOD_END: &[&str] = &["billingperiodenddate", "billingperiodend"];
pub(super) const QUANTITY: &[&str] = &["quantity", "usagequantity", "consumedquantity"];
pub(super) const RESOURCE: &[&str] = &["resourceid", "instanceid", "instancename"];
pub(super) const REGION: &[&str] = &["resourcelocation", "location", "meterregion"];
pub(super) const PRODUCT: &[&str] = &["productname", "product"];
pub(super) const LIST_PRICE: &[&str] = &["paygprice", "marketprice"];
pub(super) const EFFECTIVE_PRICE: &[&str] = &["effectiveprice", "resourcerate"];
pub(super) const COMMITMENT: &[&str] = &["benefitid", "reservationid"];

/// Columns that are read, by the name that Microsoft documents, and which column of FOCUS each becomes.
const READ: &[(&str, &str)] = &[
    ("AdditionalInfo", "instance type"),
    ("benefitId", "CommitmentDiscountId"),
    ("BillingAccountId", "BillingAccountId"),
    ("BillingCurrency", "BillingCurrency"),
    ("BillingCurrencyCode", "BillingCurrency"),
    ("BillingPeriodEnd", ""),
    ("BillingPeriodEndDate", ""),
    ("BillingPeriodStart", "BillingPeriodStart"),
    ("BillingPeriodStartDate", "BillingPeriodStart"),
    ("BillingProfileId", "BillingAccountId"),
    ("ChargeType", "ChargeCategory"),
    ("ConsumedQuantity", "ConsumedQuantity"),
    ("ConsumedService", "ServiceName"),
    ("Cost", "BilledCost, EffectiveCost"),
    ("CostInBillingCurrency", "BilledCost, EffectiveCost"),
    ("Currency", "BillingCurrency"),
    ("Date", "ChargePeriodStart"),
    ("EffectivePrice", ""),
    ("EnrollmentNumber", "BillingAccountId"),
    ("exchangeRatePricingToBilling", ""),
    ("InstanceId", "ResourceId"),
    ("InstanceName", "ResourceId"),
    ("invoiceId", "InvoiceId"),
    ("Location", "RegionId"),
    ("MarketPrice", "ListCost"),
    ("MeterCategory", "ServiceName"),
    ("MeterId", "SkuId"),
    ("MeterName", "SkuMeter"),
    ("MeterRegion", "RegionId"),
    ("MeterSubCategory", "SkuMeter"),
    ("paygCostInBillingCurrency", "ListCost"),
    ("PayGPrice", "ListCost"),
    ("PreTaxCost", "BilledCost, EffectiveCost"),
    ("pricingCurrency", ""),
    ("PricingModel", "PricingCategory"),
    ("Product", "instance type"),
    ("ProductId", "SkuId"),
    ("ProductName", "instance type"),
    ("Quantity", "ConsumedQuantity"),
    ("ReservationId", "CommitmentDiscountId"),
    ("ResourceId", "ResourceId"),
    ("ResourceLocation", "RegionId"),
    ("ResourceRate", ""),
    ("ServiceFamily", "ServiceCategory"),
    ("ServiceName", "ServiceName"),
    ("SubscriptionGuid", "SubAccountId"),
    ("SubscriptionId", "SubAccountId"),
    ("Tags", "Tags"),
    ("UnitOfMeasure", "ConsumedUnit"),
    ("UnitPrice", "ContractedCost"),
    ("UsageDate", "ChargePeriodStart"),
    ("UsageDateTime", "ChargePeriodStart"),
    ("UsageQuantity", "ConsumedQuantity"),
];

/// Columns that are known and not read.
const OTHERS: &[&str] = &[
    "AccountId",
    "AccountName",
    "AccountOwnerId",
    "AvailabilityZone",
    "benefitName",
    "BillingAccountName",
    "BillingProfileName",
    "CostAllocationRuleName",
    "CostCenter",
    "costInPricingCurrency",
    "costInUsd",
    "customerName",
    "customerTenantId",
    "exchangeRate",
    "exchangeRateDate",
    "Frequency",
    "InvoiceSection",
    "InvoiceSectionId",
    "InvoiceSectionName",
    "IsAzureCreditEligible",
    "OfferId",
    "PartNumber",
    "partnerEarnedCreditApplied",
    "partnerEarnedCreditRate",
    "partnerName",
    "partnerTenantId",
    "paygCostInUsd",
    "PlanName",
    "previousInvoiceId",
    "ProductOrderId",
    "ProductOrderName",
    "provider",
    "publisherId",
    "PublisherName",
    "PublisherType",
    "resellerMpnId",
    "resellerName",
    "ReservationName",
    "ResourceGroup",
    "ResourceGroupName",
    "ResourceName",
    "ResourceType",
    "ServiceInfo1",
    "ServiceInfo2",
    "servicePeriodEndDate",
    "servicePeriodStartDate",
    "ServiceTier",
    "SubscriptionName",
    "Term",
];

/// Columns that feed a charge and may be missing.
const OPTIONAL: &[(&str, &[&str])] = &[
    ("BillingAccountId", ACCOUNT),
    ("SubscriptionId", SUBSCRIPTION),
    ("BillingCurrency", CURRENCY),
    ("BillingPeriodStartDate", PERIOD_START),
    ("ChargeType", &["chargetype"]),
    ("PricingModel", &["pricingmodel"]),
    ("Quantity", QUANTITY),
    ("UnitOfMeasure", &["unitofmeasure"]),
    ("UnitPrice", &["unitprice"]),
    ("PayGPrice", &["paygcostinbillingcurrency", "paygprice", "marketprice"]),
    ("MeterName", &["metername"]),
    ("ResourceId", RESOURCE),
    ("ResourceLocation", REGION),
    ("ReservationId", COMMITMENT),
    ("AdditionalInfo", &["additionalinfo"]),
    ("Tags", &["tags"]),
];

/// What the currency of amounts is called of which no currency is known: the code that ISO 4217 has for none.
pub(super) const NO_CURRENCY: &str = "XXX";

/// The names of all that is read.
pub(super) fn names() -> Vec<&'static str> {
    READ.iter().map(|(name, _)| *name).collect()
}

/// The key of a column as a file writes it; of a translated one that of the original in parentheses.
pub(super) fn key_in_file(name: &str) -> String {
    key_of(in_parentheses(name).unwrap_or(name)).0
}

/// What the reader does not know and what it misses.
pub(super) fn columns(header: &Header) -> Columns {
    let mut columns = Columns::default();
    for name in header.names() {
        let key = key_in_file(name);
        let mut known = READ.iter().map(|(name, _)| name).chain(OTHERS);
        if known.all(|name| key_of(name).0 != key) {
            columns.unknown.push(name.clone());
        }
    }
    for (name, keys) in OPTIONAL {
        if !header.has_any(keys) {
            columns.absent.push((*name).to_owned());
        }
    }
    if !header.has_any(CURRENCY) {
        columns.notes.push(format!(
            "without BillingCurrency nothing says what costs are counted in: they are in {NO_CURRENCY} (no currency), which is \
             added to no other. Export the file again with all columns"
        ));
    }
    if !header.has_any(ACCOUNT) {
        columns.notes.push("without BillingAccountId, each subscription is a billing account".to_owned());
    }
    columns
}

/// Which column of FOCUS a column becomes.
pub(super) fn feeds(key: &str) -> Option<&'static str> {
    feeds_by(READ.iter(), key)
}
