//! What a delivery contains, before anybody publishes it: accelerators that were recognized, and tags.

use serde::Serialize;
use sqlx::PgConnection;

use crate::accelerator::accelerator_hours;
use crate::money::Decimal;

/// Digits that accelerator-hours are shown with.
const PLACES: u8 = 6;
/// Tags that are listed.
const TAGS: i64 = 12;

/// A model of accelerators that charges of a delivery pay for, in one currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContainedAccelerator {
    pub provider: String,
    /// The id of its model.
    pub accelerator: String,
    /// Distinguished by their ids; 0 where the bill names none.
    pub machines: i64,
    pub accelerator_hours: Decimal,
    pub currency: String,
    pub billed_cost: Decimal,
}

/// A tag that charges of a delivery carry, in one currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContainedTag {
    pub tag: String,
    /// Different values.
    pub values: i64,
    /// The value with the largest cost.
    pub largest: String,
    pub currency: String,
    /// Of the charges that carry it.
    pub billed_cost: Decimal,
    /// Of all charges.
    pub of_cost: Decimal,
}

/// What a delivery contains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportContents {
    /// The most expensive first.
    pub accelerators: Vec<ContainedAccelerator>,
    /// Those of the largest cost first.
    pub tags: Vec<ContainedTag>,
}

/// What a delivery contains, whether it is active or not. Of one that is archived, nothing.
pub async fn import_contents(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<ImportContents> {
    let accelerators = sqlx::query!(
        r#"select k.provider, k.accelerator as "accelerator!", k.currency,
               count(distinct nullif(k.resource_id, '')) as "machines!",
               sum(c.billed_cost) as "billed_cost!: Decimal",
               coalesce(sum(c.metered_quantity * (k.unit_seconds * k.accelerator_parts)), 0) as "part_seconds!: Decimal"
           from monthly_costs c
           join charge_keys k using (charge_key_id)
           where c.delivery_id = $1 and k.accelerator is not null and k.category = 'Usage'
           group by 1, 2, 3
           order by 5 desc, 1, 2"#,
        delivery_id,
    )
    .fetch_all(&mut *db)
    .await?;
    let tags = sqlx::query_file_as!(ContainedTag, "server/report/contained_tags.sql", delivery_id, TAGS)
        .fetch_all(db)
        .await?;
    let accelerators = accelerators
        .into_iter()
        .map(|row| ContainedAccelerator {
            provider: row.provider,
            accelerator: row.accelerator,
            machines: row.machines,
            accelerator_hours: accelerator_hours(row.part_seconds, PLACES).normalize(),
            currency: row.currency,
            billed_cost: row.billed_cost,
        })
        .collect();
    Ok(ImportContents { accelerators, tags })
}

impl ContainedTag {
    /// How much of the cost carries it; `None` where nothing costs anything.
    pub fn share(&self) -> Option<Decimal> {
        (!self.of_cost.is_zero()).then(|| self.billed_cost.divide(self.of_cost, 4)).flatten()
    }
}
