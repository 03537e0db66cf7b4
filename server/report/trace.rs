//! One charge and where it comes from: its key, its delivery, its file and row.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use sqlx::PgConnection;

use crate::accelerator::Accelerators;
use crate::accounts::Viewer;
use crate::accounts::people::normalize_team;
use crate::ledger::Sha256;
use crate::money::Decimal;

/// A charge with everything the ledger knows of it.
#[derive(Clone, Debug, Serialize)]
pub struct Trace {
    pub delivery: i64,
    pub delivery_status: String,
    /// Whether the ledger counts the charge now; else it was superseded or undone.
    pub is_counted: bool,
    pub file: String,
    #[serde(skip)]
    pub sha256: Option<Sha256>,
    pub row: i64,
    pub format: Option<String>,
    pub billing_period: String,
    pub charge_period_start: DateTime<Utc>,
    pub charge_period_end: DateTime<Utc>,
    pub billed_cost: Decimal,
    pub effective_cost: Decimal,
    pub contracted_cost: Decimal,
    pub list_cost: Decimal,
    pub currency: String,
    pub consumed_quantity: Option<Decimal>,
    pub unit: String,
    pub is_metered: bool,
    pub accelerator: Option<String>,
    /// Accelerators that one unit of the quantity pays for: `8`, `1/7`.
    pub accelerators_per_unit: Option<String>,
    /// The key's dimensions by name, in reading order; those without value are left out.
    pub dimensions: Vec<(&'static str, String)>,
    pub tags: Value,
}

/// Finds the charge of a row. `None` where the row made none, or the viewer may not see it.
pub async fn trace(
    db: &mut PgConnection,
    delivery_id: i64,
    file_no: i16,
    row_no: i64,
    viewer: &Viewer,
) -> sqlx::Result<Option<Trace>> {
    let row =
        sqlx::query_file!("server/report/trace.sql", delivery_id, file_no, row_no).fetch_optional(db).await?;
    let Some(row) = row else {
        return Ok(None);
    };
    if let Viewer::Teams(teams) = viewer
        && !is_of_teams(&row.tags, teams)
    {
        return Ok(None);
    }
    let dimensions = [
        ("Provider", row.provider),
        ("Billing account", row.billing_account),
        ("Sub-account", row.sub_account),
        ("Service", row.service),
        ("Service category", row.service_category),
        ("SKU", row.sku),
        ("Region", row.region),
        ("Instance type", row.instance_type),
        ("Meter", row.meter),
        ("Resource", row.resource_id.unwrap_or_default()),
        ("Charge category", row.category),
        ("Charge class", if row.is_correction { "Correction".into() } else { String::new() }),
        ("Pricing category", row.pricing),
        ("Commitment discount", row.commitment_discount_id),
    ];
    Ok(Some(Trace {
        delivery: delivery_id,
        delivery_status: row.status,
        is_counted: row.is_counted,
        file: row.file,
        sha256: row.sha256.and_then(|bytes| Sha256::try_from(bytes).ok()),
        row: row_no,
        format: row.format,
        billing_period: row.billing_month.format("%Y-%m").to_string(),
        charge_period_start: row.charge_period_start,
        charge_period_end: row.charge_period_end,
        billed_cost: row.billed_cost,
        effective_cost: row.effective_cost,
        contracted_cost: row.contracted_cost,
        list_cost: row.list_cost,
        currency: row.currency,
        consumed_quantity: row.consumed_quantity,
        unit: row.unit,
        is_metered: row.is_metered,
        accelerator: row.accelerator,
        accelerators_per_unit: row.accelerator_parts.map(|parts| Accelerators::from_parts(parts).to_string()),
        dimensions: dimensions.into_iter().filter(|(_, value)| !value.is_empty()).collect(),
        tags: row.tags,
    }))
}

/// The same test as the filter of every other report: a tag called team, whatever the case, trimmed.
fn is_of_teams(tags: &Value, teams: &[String]) -> bool {
    tags.as_object().is_some_and(|tags| {
        tags.iter().any(|(name, value)| {
            let value = normalize_team(value.as_str().unwrap_or_default());
            name.eq_ignore_ascii_case("team") && teams.contains(&value)
        })
    })
}
