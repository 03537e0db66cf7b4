//! The columns of the generated report, in the order AWS writes them: identity, bill, lineItem, then
//! products, prices, commitments and tags by name (AWS Cost and Usage Report user guide). From them follow the snake case
//! columns of the same report in Parquet, and those of CUR 2.0, of which some are maps.

use std::borrow::Cow;

use super::table::{Column, Shape, Table, Ticks};
use super::{Columns, Container};

/// What a column of a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    LineItemId,
    TimeInterval,
    InvoiceId,
    Entity,
    BillingEntity,
    BillType,
    Payer,
    PayerName,
    MonthStart,
    MonthEnd,
    Account,
    AccountName,
    LineItemType,
    Start,
    End,
    ProductCode,
    UsageType,
    Operation,
    Zone,
    ResourceId,
    UsageAmount,
    Empty,
    Currency,
    UnblendedRate,
    UnblendedCost,
    BlendedCost,
    Description,
    TaxType,
    ProductName,
    CurrentGeneration,
    Gpu,
    InstanceFamily,
    InstanceType,
    InstanceSeries,
    Location,
    MarketOption,
    Memory,
    OperatingSystem,
    PreInstalled,
    ProductFamily,
    Region,
    ServiceCode,
    Sku,
    Tenancy,
    Vcpu,
    LeaseLength,
    OfferingClass,
    PurchaseOption,
    RateId,
    ListCost,
    ListRate,
    Term,
    Unit,
    AmortizedForUsage,
    ReservationEffective,
    Reservations,
    RecurringForUsage,
    ReservationArn,
    Subscription,
    ReservedUnits,
    UnusedAmortized,
    UnusedQuantity,
    UnusedRecurring,
    UpfrontValue,
    Commitment,
    PlanArn,
    PlanRate,
    UsedCommitment,
    PlanEffective,
    NoUpfront,
    PlanOffering,
    PlanPayment,
    PlanTerm,
    CreatedBy,
    CostCenterTag,
    Workload,
    CapitalTeam,
    /// Under either spelling of the tag.
    AnyTeam,
    Environment,
    Experiment,
    Project,
    Team,
    CostCenter,
}

use Cell as C;

/// Which of AWS's two reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edition {
    Legacy,
    /// CUR 2.0.
    Second,
}

/// What a column of a report is made of.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Cell(Cell),
    /// Entries by their keys; those without a value are left out.
    Map(Vec<(String, Cell)>),
}

/// The columns of a report.
pub(crate) fn of(columns: Columns, edition: Edition, container: Container) -> (Table, Vec<Content>) {
    let is_in = |(name, cell): &&(&str, Cell)| match columns {
        Columns::Few => *cell != C::Empty && !NOT_IN_FEW.contains(name),
        Columns::Many => true,
    };
    let legacy = COLUMNS.iter().filter(is_in).copied();
    let columns: Vec<(Column, Content)> = match (edition, container) {
        (Edition::Second, _) => second(legacy),
        (Edition::Legacy, Container::Parquet) => athena(legacy),
        (Edition::Legacy, Container::Csv | Container::Json) => {
            legacy.map(|(name, cell)| (Column::new(name, cell.shape()), Content::Cell(cell))).collect()
        }
    };
    let (columns, contents) = columns.into_iter().unzip();
    (Table { columns, ..Table::default() }, contents)
}

/// The report's columns in Parquet. Those that are the same in lower case become one (AWS Cost and Usage Report user guide,
/// "Column names" of the Athena integration): `user:Team` and `user:team`.
fn athena(legacy: impl Iterator<Item = (&'static str, Cell)>) -> Vec<(Column, Content)> {
    let mut columns: Vec<(Column, Content)> = Vec::new();
    for (name, cell) in legacy.filter(|(_, cell)| *cell != C::CapitalTeam) {
        let cell = if cell == C::Team { C::AnyTeam } else { cell };
        columns.push((named(snake_case(name), cell.shape()), Content::Cell(cell)));
    }
    columns
}

/// The columns of CUR 2.0, by name. Discounts are rows of their own ("manual discount compatibility"), which leaves the columns
/// of discounts out.
fn second(legacy: impl Iterator<Item = (&'static str, Cell)>) -> Vec<(Column, Content)> {
    let (mut product, mut tags, mut categories) = (Vec::new(), Vec::new(), Vec::new());
    let mut columns: Vec<(Column, Content)> = Vec::new();
    for (name, cell) in legacy {
        let key = |prefix: &str| name.strip_prefix(prefix).map(snake_case);
        match (key("product/"), key("resourceTags/"), key("costCategory/")) {
            (Some(key), _, _) if !PRODUCT.contains(&&*key) => product.push((key, cell)),
            (_, Some(_), _) if cell == C::CapitalTeam => {}
            (_, Some(key), _) if cell == C::Team => tags.push((key, C::AnyTeam)),
            (_, Some(key), _) => tags.push((key, cell)),
            (_, _, Some(key)) => categories.push((key, cell)),
            _ => columns.push((named(snake_case(name), cell.shape()), Content::Cell(cell))),
        }
    }
    product.retain(|(_, cell)| *cell != C::Empty);
    for (name, map) in [("product", product), ("resource_tags", tags), ("cost_category", categories)] {
        columns.push((Column::new(name, Shape::Map), Content::Map(map)));
    }
    for (name, cell) in
        [("bill_payer_account_name", C::PayerName), ("line_item_usage_account_name", C::AccountName)]
    {
        columns.push((Column::new(name, Shape::Text), Content::Cell(cell)));
    }
    columns.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    columns
}

fn named(name: String, shape: Shape) -> Column {
    Column { group: "", name: Cow::Owned(name), shape }
}

/// `reservation/ReservationARN` as AWS has it for Athena: an underscore before each capital letter and in place of each sign,
/// but never two: `reservation_reservation_a_r_n`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 8);
    for letter in name.chars() {
        let is_apart = !letter.is_ascii_alphanumeric() || letter.is_ascii_uppercase();
        if is_apart && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        if letter.is_ascii_alphanumeric() {
            snake.push(letter.to_ascii_lowercase());
        }
    }
    snake
}

/// What of a product is a column of its own in CUR 2.0; the rest is in the map `product` (Data Exports user guide).
const PRODUCT: [&str; 21] = [
    "comment",
    "fee_code",
    "fee_description",
    "from_location",
    "from_location_type",
    "from_region_code",
    "instance_family",
    "instance_type",
    "instancesku",
    "location",
    "location_type",
    "operation",
    "pricing_unit",
    "product_family",
    "region_code",
    "servicecode",
    "sku",
    "to_location",
    "to_location_type",
    "to_region_code",
    "usagetype",
];

impl Cell {
    /// Amounts are doubles in AWS's Parquet, rates and counts are text.
    fn shape(self) -> Shape {
        match self {
            C::MonthStart | C::MonthEnd | C::Start | C::End => Shape::Time(Ticks::Milliseconds),
            C::UsageAmount
            | C::UnblendedCost
            | C::BlendedCost
            | C::ListCost
            | C::AmortizedForUsage
            | C::ReservationEffective
            | C::RecurringForUsage
            | C::UnusedAmortized
            | C::UnusedQuantity
            | C::UnusedRecurring
            | C::UpfrontValue
            | C::Commitment
            | C::PlanRate
            | C::UsedCommitment
            | C::PlanEffective
            | C::NoUpfront => Shape::Number,
            _ => Shape::Text,
        }
    }
}

/// Columns with values that a report of few columns leaves out.
const NOT_IN_FEW: [&str; 19] = [
    "product/currentGeneration",
    "product/instanceTypeFamily",
    "product/marketoption",
    "product/preInstalledSw",
    "product/servicecode",
    "product/tenancy",
    "pricing/LeaseContractLength",
    "pricing/OfferingClass",
    "pricing/PurchaseOption",
    "pricing/RateId",
    "reservation/NumberOfReservations",
    "reservation/SubscriptionId",
    "reservation/TotalReservedUnits",
    "reservation/UnusedQuantity",
    "savingsPlan/AmortizedUpfrontCommitmentForBillingPeriod",
    "savingsPlan/RecurringCommitmentForBillingPeriod",
    "savingsPlan/OfferingType",
    "savingsPlan/PaymentOption",
    "savingsPlan/PurchaseTerm",
];

static COLUMNS: [(&str, Cell); 137] = [
    ("identity/LineItemId", C::LineItemId),
    ("identity/TimeInterval", C::TimeInterval),
    ("bill/InvoiceId", C::InvoiceId),
    ("bill/InvoicingEntity", C::Empty),
    ("bill/BillingEntity", C::BillingEntity),
    ("bill/BillType", C::BillType),
    ("bill/PayerAccountId", C::Payer),
    ("bill/BillingPeriodStartDate", C::MonthStart),
    ("bill/BillingPeriodEndDate", C::MonthEnd),
    ("lineItem/UsageAccountId", C::Account),
    ("lineItem/LineItemType", C::LineItemType),
    ("lineItem/UsageStartDate", C::Start),
    ("lineItem/UsageEndDate", C::End),
    ("lineItem/ProductCode", C::ProductCode),
    ("lineItem/UsageType", C::UsageType),
    ("lineItem/Operation", C::Operation),
    ("lineItem/AvailabilityZone", C::Zone),
    ("lineItem/ResourceId", C::ResourceId),
    ("lineItem/UsageAmount", C::UsageAmount),
    ("lineItem/NormalizationFactor", C::Empty),
    ("lineItem/NormalizedUsageAmount", C::Empty),
    ("lineItem/CurrencyCode", C::Currency),
    ("lineItem/UnblendedRate", C::UnblendedRate),
    ("lineItem/UnblendedCost", C::UnblendedCost),
    ("lineItem/BlendedRate", C::UnblendedRate),
    ("lineItem/BlendedCost", C::BlendedCost),
    ("lineItem/LineItemDescription", C::Description),
    ("lineItem/TaxType", C::TaxType),
    ("lineItem/LegalEntity", C::Entity),
    ("product/ProductName", C::ProductName),
    ("product/availabilityZone", C::Empty),
    ("product/capacitystatus", C::Empty),
    ("product/classicnetworkingsupport", C::Empty),
    ("product/clockSpeed", C::Empty),
    ("product/currentGeneration", C::CurrentGeneration),
    ("product/dedicatedEbsThroughput", C::Empty),
    ("product/durability", C::Empty),
    ("product/ecu", C::Empty),
    ("product/enhancedNetworkingSupported", C::Empty),
    ("product/feeCode", C::Empty),
    ("product/fromLocation", C::Empty),
    ("product/fromLocationType", C::Empty),
    ("product/fromRegionCode", C::Empty),
    ("product/gpu", C::Gpu),
    ("product/gpuMemory", C::Empty),
    ("product/group", C::Empty),
    ("product/groupDescription", C::Empty),
    ("product/instanceFamily", C::InstanceFamily),
    ("product/instanceType", C::InstanceType),
    ("product/instanceTypeFamily", C::InstanceSeries),
    ("product/intelAvx2Available", C::Empty),
    ("product/intelAvxAvailable", C::Empty),
    ("product/intelTurboAvailable", C::Empty),
    ("product/licenseModel", C::Empty),
    ("product/location", C::Location),
    ("product/locationType", C::Empty),
    ("product/marketoption", C::MarketOption),
    ("product/maxIopsvolume", C::Empty),
    ("product/maxThroughputvolume", C::Empty),
    ("product/maxVolumeSize", C::Empty),
    ("product/memory", C::Memory),
    ("product/networkPerformance", C::Empty),
    ("product/normalizationSizeFactor", C::Empty),
    ("product/operatingSystem", C::OperatingSystem),
    ("product/operation", C::Empty),
    ("product/physicalProcessor", C::Empty),
    ("product/preInstalledSw", C::PreInstalled),
    ("product/processorArchitecture", C::Empty),
    ("product/processorFeatures", C::Empty),
    ("product/productFamily", C::ProductFamily),
    ("product/region", C::Empty),
    ("product/regionCode", C::Region),
    ("product/servicecode", C::ServiceCode),
    ("product/servicename", C::Empty),
    ("product/sku", C::Sku),
    ("product/storage", C::Empty),
    ("product/storageClass", C::Empty),
    ("product/storageMedia", C::Empty),
    ("product/tenancy", C::Tenancy),
    ("product/toLocation", C::Empty),
    ("product/toLocationType", C::Empty),
    ("product/toRegionCode", C::Empty),
    ("product/transferType", C::Empty),
    ("product/usagetype", C::Empty),
    ("product/vcpu", C::Vcpu),
    ("product/version", C::Empty),
    ("product/volumeApiName", C::Empty),
    ("product/volumeType", C::Empty),
    ("product/vpcnetworkingsupport", C::Empty),
    ("pricing/LeaseContractLength", C::LeaseLength),
    ("pricing/OfferingClass", C::OfferingClass),
    ("pricing/PurchaseOption", C::PurchaseOption),
    ("pricing/RateCode", C::Empty),
    ("pricing/RateId", C::RateId),
    ("pricing/currency", C::Currency),
    ("pricing/publicOnDemandCost", C::ListCost),
    ("pricing/publicOnDemandRate", C::ListRate),
    ("pricing/term", C::Term),
    ("pricing/unit", C::Unit),
    ("reservation/AmortizedUpfrontCostForUsage", C::AmortizedForUsage),
    ("reservation/AmortizedUpfrontFeeForBillingPeriod", C::Empty),
    ("reservation/EffectiveCost", C::ReservationEffective),
    ("reservation/EndTime", C::Empty),
    ("reservation/ModificationStatus", C::Empty),
    ("reservation/NormalizedUnitsPerReservation", C::Empty),
    ("reservation/NumberOfReservations", C::Reservations),
    ("reservation/RecurringFeeForUsage", C::RecurringForUsage),
    ("reservation/ReservationARN", C::ReservationArn),
    ("reservation/StartTime", C::Empty),
    ("reservation/SubscriptionId", C::Subscription),
    ("reservation/TotalReservedNormalizedUnits", C::Empty),
    ("reservation/TotalReservedUnits", C::ReservedUnits),
    ("reservation/UnitsPerReservation", C::Empty),
    ("reservation/UnusedAmortizedUpfrontFeeForBillingPeriod", C::UnusedAmortized),
    ("reservation/UnusedNormalizedUnitQuantity", C::Empty),
    ("reservation/UnusedQuantity", C::UnusedQuantity),
    ("reservation/UnusedRecurringFee", C::UnusedRecurring),
    ("reservation/UpfrontValue", C::UpfrontValue),
    ("savingsPlan/TotalCommitmentToDate", C::Commitment),
    ("savingsPlan/SavingsPlanARN", C::PlanArn),
    ("savingsPlan/SavingsPlanRate", C::PlanRate),
    ("savingsPlan/UsedCommitment", C::UsedCommitment),
    ("savingsPlan/SavingsPlanEffectiveCost", C::PlanEffective),
    ("savingsPlan/AmortizedUpfrontCommitmentForBillingPeriod", C::NoUpfront),
    ("savingsPlan/RecurringCommitmentForBillingPeriod", C::Commitment),
    ("savingsPlan/OfferingType", C::PlanOffering),
    ("savingsPlan/PaymentOption", C::PlanPayment),
    ("savingsPlan/PurchaseTerm", C::PlanTerm),
    ("resourceTags/aws:createdBy", C::CreatedBy),
    ("resourceTags/user:Team", C::CapitalTeam),
    ("resourceTags/user:cost-center", C::CostCenterTag),
    ("resourceTags/user:environment", C::Environment),
    ("resourceTags/user:experiment", C::Experiment),
    ("resourceTags/user:project", C::Project),
    ("resourceTags/user:team", C::Team),
    ("resourceTags/user:workload", C::Workload),
    ("costCategory/CostCenter", C::CostCenter),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_as_athena_wants_them() {
        for (name, expected) in [
            ("identity/LineItemId", "identity_line_item_id"),
            ("reservation/ReservationARN", "reservation_reservation_a_r_n"),
            ("product/ProductName", "product_product_name"),
            ("resourceTags/user:cost-center", "resource_tags_user_cost_center"),
            ("resourceTags/user:Team", "resource_tags_user_team"),
        ] {
            assert_eq!(snake_case(name), expected);
        }
    }
}
