//! What the catalog of accelerators does not know of what was used, and what an addition to it changes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::PgConnection;

use super::completeness::final_since;
use crate::accelerator::{Catalog, Recognized, Unrecognized, accelerator_hours};
use crate::billing::{ChargeCategory, ChargeKey};
use crate::ledger;
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Decimal places of accelerator-hours, as of spend.
const PLACES: u8 = 6;

/// Usage that looks like an accelerator's and is not recognized as that of a known one, in one currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnrecognizedUsage {
    pub provider: String,
    /// The machine, or the text, by which it can be added.
    pub name: String,
    /// `machine`: its hours are not counted; `model`: they are, as of an unknown model.
    pub unknown: &'static str,
    pub currency: String,
    pub billed_cost: Decimal,
    pub charges: i64,
    pub first_month: BillingMonth,
    pub last_month: BillingMonth,
}

impl UnrecognizedUsage {
    /// Whether its hours are counted, and only the model is not known.
    pub fn is_counted(&self) -> bool {
        self.unknown == Unrecognized::Model.as_str()
    }
}

/// What a change of the catalog changes in a month and currency. All of it is usage that is recognized otherwise than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CatalogImpact {
    pub billing_month: BillingMonth,
    pub currency: String,
    /// Distinct combinations of account, machine, meter and so on.
    pub charge_keys: i64,
    pub charges: i64,
    pub billed_cost: Decimal,
    pub accelerator_hours_before: Decimal,
    pub accelerator_hours_after: Decimal,
    /// All bills of the month are final, so its statements tell what they said before.
    pub is_final: bool,
}

/// What looks like an accelerator and is none that is known: of a delivery, or of all that is active; the largest first.
pub async fn unrecognized_usage(
    db: &mut PgConnection,
    catalog: &Catalog,
    delivery: Option<i64>,
) -> sqlx::Result<Vec<UnrecognizedUsage>> {
    let rows = sqlx::query_file_as!(
        UsageRow,
        "server/report/catalog/unrecognized.sql",
        delivery as Option<i64>,
        ChargeCategory::Usage.as_str()
    )
    .fetch_all(db)
    .await?;
    let mut found: BTreeMap<(String, String, Unrecognized, String), UnrecognizedUsage> = BTreeMap::new();
    for Usage { key, month, charges, billed_cost, .. } in rows.into_iter().map(UsageRow::into_usage) {
        let Some((kind, name)) = catalog.unrecognized(&key) else { continue };
        let of = (key.provider.clone(), name.to_owned(), kind, key.currency.clone());
        let sum = found.entry(of).or_insert_with(|| UnrecognizedUsage {
            provider: key.provider.clone(),
            name: name.to_owned(),
            unknown: kind.as_str(),
            currency: key.currency.clone(),
            billed_cost: Decimal::ZERO,
            charges: 0,
            first_month: month,
            last_month: month,
        });
        sum.billed_cost += billed_cost;
        sum.charges += charges;
        // Usage comes in the order of its months.
        sum.last_month = month;
    }
    let mut found: Vec<UnrecognizedUsage> = found.into_values().collect();
    found.sort_by_key(|it| Reverse(it.billed_cost));
    Ok(found)
}

/// What active usage one catalog recognizes otherwise than another, by month and currency.
pub async fn catalog_impact(
    db: &mut PgConnection,
    before: &Catalog,
    after: &Catalog,
) -> sqlx::Result<Vec<CatalogImpact>> {
    let mut found: BTreeMap<(BillingMonth, String), (CatalogImpact, [Decimal; 2])> = BTreeMap::new();
    for Usage { key, month, keys, charges, billed_cost, metered_quantity } in usage(db).await? {
        let recognized = [before.recognize(&key), after.recognize(&key)];
        if recognized[0] == recognized[1] {
            continue;
        }
        let (impact, part_seconds) = found.entry((month, key.currency.clone())).or_insert_with(|| {
            let impact = CatalogImpact {
                billing_month: month,
                currency: key.currency.clone(),
                charge_keys: 0,
                charges: 0,
                billed_cost: Decimal::ZERO,
                accelerator_hours_before: Decimal::ZERO,
                accelerator_hours_after: Decimal::ZERO,
                is_final: false,
            };
            (impact, [Decimal::ZERO; 2])
        });
        impact.charge_keys += keys;
        impact.charges += charges;
        impact.billed_cost += billed_cost;
        for (sum, recognized) in part_seconds.iter_mut().zip(recognized) {
            *sum += parts(recognized, metered_quantity);
        }
    }
    let with_hours = |(impact, [before, after]): (CatalogImpact, [Decimal; 2])| CatalogImpact {
        accelerator_hours_before: accelerator_hours(before, PLACES).normalize(),
        accelerator_hours_after: accelerator_hours(after, PLACES).normalize(),
        ..impact
    };
    let mut impacts: Vec<CatalogImpact> = found.into_values().map(with_hours).collect();
    let sequence = ledger::sequence(db).await?;
    for impact in &mut impacts {
        impact.is_final = final_since(db, impact.billing_month, sequence).await?.is_some();
    }
    Ok(impacts)
}

/// Part-seconds of a quantity.
fn parts(recognized: Option<Recognized>, quantity: Decimal) -> Decimal {
    recognized
        .map_or(Decimal::ZERO, |it| quantity.times(it.per_unit.parts() * i64::from(it.seconds_per_unit)))
}

/// Usage of a month that is recognized alike.
struct Usage {
    key: ChargeKey,
    month: BillingMonth,
    keys: i64,
    charges: i64,
    billed_cost: Decimal,
    metered_quantity: Decimal,
}

/// As the database has it.
struct UsageRow {
    provider: String,
    service: String,
    sku: String,
    instance_type: String,
    meter: String,
    stated_accelerators: String,
    unit: String,
    currency: String,
    billing_month: NaiveDate,
    keys: i64,
    charges: i64,
    billed_cost: Decimal,
    metered_quantity: Decimal,
}

impl UsageRow {
    fn into_usage(self) -> Usage {
        Usage {
            key: ChargeKey {
                provider: self.provider,
                service: self.service,
                sku: self.sku,
                instance_type: self.instance_type,
                meter: self.meter,
                stated_accelerators: self.stated_accelerators,
                unit: self.unit,
                currency: self.currency,
                category: ChargeCategory::Usage,
                ..ChargeKey::default()
            },
            month: BillingMonth::of(self.billing_month),
            keys: self.keys,
            charges: self.charges,
            billed_cost: self.billed_cost,
            metered_quantity: self.metered_quantity,
        }
    }
}

async fn usage(db: &mut PgConnection) -> sqlx::Result<Vec<Usage>> {
    let category = ChargeCategory::Usage.as_str();
    let rows =
        sqlx::query_file_as!(UsageRow, "server/report/catalog/usage.sql", category).fetch_all(db).await?;
    Ok(rows.into_iter().map(UsageRow::into_usage).collect())
}
