//! Which columns of Google's export are known, which may be missing, and what they become.

use crate::billing::header::{Columns, Header, absent, feeds_by, names_of, unknown};

/// Columns of the export with their path, and which column of FOCUS each becomes, for people who look at a row; nothing of
/// those that become none.
const COLUMNS: &[(&str, &str)] = &[
    ("billing_account_id", "BillingAccountId"),
    ("service.id", ""),
    ("service.description", "ServiceName, ServiceCategory"),
    ("sku.id", "SkuId"),
    ("sku.description", "SkuMeter, PricingCategory"),
    ("usage_start_time", "ChargePeriodStart"),
    ("usage_end_time", "ChargePeriodEnd"),
    ("project.id", "SubAccountId"),
    ("project.number", ""),
    ("project.name", ""),
    ("project.labels", "Tags"),
    ("project.ancestry_numbers", ""),
    ("project.ancestors", ""),
    ("labels", "Tags"),
    ("system_labels", "instance type"),
    ("tags", "Tags"),
    ("location.location", "RegionId"),
    ("location.country", ""),
    ("location.region", "RegionId"),
    ("location.zone", ""),
    ("resource.name", "ResourceId"),
    ("resource.global_name", "ResourceId"),
    ("price.effective_price", ""),
    ("price.tier_start_amount", ""),
    ("price.unit", ""),
    ("price.pricing_unit_quantity", ""),
    ("price.list_price", ""),
    ("price.effective_price_default", ""),
    ("price.list_price_consumption_model", ""),
    ("subscription.instance_id", "CommitmentDiscountId"),
    ("consumption_model.id", ""),
    ("consumption_model.description", "PricingCategory"),
    ("export_time", ""),
    ("cost", "BilledCost"),
    ("cost_at_list", "ListCost"),
    ("cost_at_effective_price_default", "ContractedCost"),
    ("cost_at_list_consumption_model", ""),
    ("currency", "BillingCurrency"),
    ("currency_conversion_rate", ""),
    ("usage.amount", "ConsumedQuantity"),
    ("usage.unit", "ConsumedUnit"),
    ("usage.amount_in_pricing_units", "ConsumedQuantity"),
    ("usage.pricing_unit", "ConsumedUnit"),
    ("credits", "BilledCost of charges of their own"),
    ("invoice.month", "BillingPeriodStart"),
    ("invoice.publisher_type", ""),
    ("cost_type", "ChargeCategory"),
    ("adjustment_info.id", "ChargeClass"),
    ("adjustment_info.description", ""),
    ("adjustment_info.mode", ""),
    ("adjustment_info.type", ""),
    ("transaction_type", ""),
    ("seller_name", ""),
    ("partition_date", ""),
];

/// Columns that feed a charge and may be missing.
const OPTIONAL: &[&str] = &[
    "project.id",
    "service.description",
    "sku.id",
    "cost_type",
    "usage.amount",
    "usage.unit",
    "usage.amount_in_pricing_units",
    "usage.pricing_unit",
    "location.region",
    "system_labels",
    "labels",
    "project.labels",
    "resource.name",
];

pub(super) fn names() -> Vec<&'static str> {
    names_of(COLUMNS)
}

/// What this reader does not know and what it misses.
pub(super) fn columns(header: &Header) -> Columns {
    Columns { unknown: unknown(header, COLUMNS), absent: absent(header, OPTIONAL), ..Columns::default() }
}

/// Which column of FOCUS a column becomes. `key` as [`Header::find`] wants it.
pub(super) fn feeds(key: &str) -> Option<&'static str> {
    feeds_by(COLUMNS.iter(), key)
}

/// The category that FOCUS has for a service of Google.
pub(super) fn service_category(service: &str) -> &'static str {
    let found = CATEGORIES.iter().find(|(_, services)| services.contains(&service));
    found.map_or("Other", |(category, _)| category)
}

const CATEGORIES: &[(&str, &[&str])] = &[
    ("AI and Machine Learning", &["Vertex AI", "Cloud Machine Learning Engine", "Cloud TPU", "Gemini API"]),
    (
        "Analytics",
        &[
            "BigQuery",
            "BigQuery Reservation API",
            "BigQuery Storage API",
            "Cloud Dataflow",
            "Cloud Dataproc",
            "Cloud Pub/Sub",
        ],
    ),
    (
        "Compute",
        &[
            "Compute Engine",
            "Kubernetes Engine",
            "Cloud Run",
            "Cloud Run Functions",
            "Cloud Functions",
            "App Engine",
            "Batch",
        ],
    ),
    (
        "Databases",
        &[
            "Cloud SQL",
            "Cloud Spanner",
            "Cloud Bigtable",
            "Cloud Firestore",
            "AlloyDB",
            "Cloud Memorystore for Redis",
        ],
    ),
    (
        "Management and Governance",
        &["Cloud Logging", "Stackdriver Logging", "Cloud Monitoring", "Stackdriver Monitoring", "Support"],
    ),
    ("Networking", &["Networking", "Cloud DNS", "Network Services"]),
    ("Security", &["Security Command Center", "Cloud Key Management Service (KMS)", "Secret Manager"]),
    (
        "Storage",
        &["Cloud Storage", "Cloud Filestore", "Backup and DR Service", "Google Cloud Managed Lustre"],
    ),
];
