//! Keys that an earlier catalog recognized, recognized again. Charges are not touched: which accelerator a
//! key pays for, and how many, is read with the key.

use std::sync::Arc;

use sqlx::types::Uuid;
use sqlx::{Connection as _, PgConnection};

use super::{catalog, keep};
use crate::accelerator::{Catalog, Recognition, Unrecognized};
use crate::billing::{ChargeCategory, ChargeKey};

/// Keys looked at in one statement.
const BATCH: i64 = 5000;

/// Brings keys up to the catalog of now; answers how many were looked at. A key that newly bears
/// accelerators keeps its resources on its charges, and gets its hours of the day when its file is loaded again.
pub async fn recognize_again(db: &mut PgConnection) -> sqlx::Result<u64> {
    let mut looked_at = 0;
    loop {
        let mut tx = db.begin().await?;
        // Somebody may change it between two batches.
        keep(&mut tx).await?;
        let catalog = catalog(&mut tx).await?;
        let rows = sqlx::query_as!(
            StaleKey,
            "select charge_key_id, provider, service, sku, instance_type, meter, stated_accelerators, category, unit
             from charge_keys where catalog_version < $1 or catalog_version > $1 limit $2",
            i64::from(catalog.version()),
            BATCH,
        )
        .fetch_all(&mut *tx)
        .await?;
        if rows.is_empty() {
            // Not when the connection is used again: others wait for the lock.
            tx.rollback().await?;
            return Ok(looked_at);
        }
        looked_at += rows.len() as u64;
        update(&mut tx, &catalog, rows).await?;
        tx.commit().await?;
    }
}

/// Brings the keys of a delivery that was loaded up to the catalog of now, which stays until this transaction ends. Its loading
/// began with the catalog of then, and others may have met its keys first.
pub(in crate::ledger) async fn recognize_keys_of(
    db: &mut PgConnection,
    delivery_id: i64,
) -> sqlx::Result<()> {
    keep(&mut *db).await?;
    let catalog = catalog(&mut *db).await?;
    let version = i64::from(catalog.version());
    let is_stale = sqlx::query_scalar!(
        r#"select exists (select from charge_keys where catalog_version < $1)
               or exists (select from charge_keys where catalog_version > $1) as "is_stale!""#,
        version,
    )
    .fetch_one(&mut *db)
    .await?;
    if !is_stale {
        return Ok(());
    }
    let rows = sqlx::query_as!(
        StaleKey,
        "select charge_key_id, provider, service, sku, instance_type, meter, stated_accelerators, category, unit
         from charge_keys
         where (catalog_version < $1 or catalog_version > $1)
           and charge_key_id in (
               select charge_key_id from monthly_costs where delivery_id = $2
               union all
               select charge_key_id from monthly_totals where delivery_id = $2
           )",
        version,
        delivery_id,
    )
    .fetch_all(&mut *db)
    .await?;
    update(db, &catalog, rows).await
}

/// What recognition asks of a key that an earlier catalog recognized.
struct StaleKey {
    charge_key_id: Uuid,
    provider: String,
    service: String,
    sku: String,
    instance_type: String,
    meter: String,
    stated_accelerators: String,
    category: String,
    unit: String,
}

/// What keys are recognized as, as the database takes it: nulls where that is nothing.
#[derive(Default)]
struct Columns {
    models: Vec<Option<String>>,
    parts: Vec<Option<i64>>,
    seconds: Vec<Option<i32>>,
    unrecognized: Vec<Option<&'static str>>,
}

impl Columns {
    fn push(&mut self, Recognition { recognized, unrecognized }: Recognition) {
        self.models.push(recognized.map(|found| found.model.name.to_owned()));
        self.parts.push(recognized.map(|found| found.per_unit.parts()));
        self.seconds.push(recognized.map(|found| found.seconds_per_unit as i32));
        self.unrecognized.push(unrecognized.map(Unrecognized::as_str));
    }
}

async fn update(db: &mut PgConnection, catalog: &Arc<Catalog>, rows: Vec<StaleKey>) -> sqlx::Result<()> {
    let version = i64::from(catalog.version());
    let mut ids: Vec<Uuid> = Vec::with_capacity(rows.len());
    let mut columns = Columns::default();
    for row in rows {
        let key = ChargeKey {
            provider: row.provider,
            service: row.service,
            sku: row.sku,
            instance_type: row.instance_type,
            meter: row.meter,
            stated_accelerators: row.stated_accelerators,
            category: ChargeCategory::parse(&row.category).unwrap_or_default(),
            unit: row.unit,
            ..ChargeKey::default()
        };
        ids.push(row.charge_key_id);
        columns.push(catalog.recognition(&key));
    }
    sqlx::query!(
        "update charge_keys k
         set accelerator = new.model, accelerator_parts = new.parts, unit_seconds = new.seconds,
             unrecognized = new.unrecognized, catalog_version = $6
         from unnest($1::uuid[], $2::text[], $3::bigint[], $4::integer[], $5::text[])
             as new (id, model, parts, seconds, unrecognized)
         where k.charge_key_id = new.id",
        &ids,
        &columns.models as &[Option<String>],
        &columns.parts as &[Option<i64>],
        &columns.seconds as &[Option<i32>],
        &columns.unrecognized as &[Option<&str>],
        version,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Recognizes again what one catalog recognizes otherwise than another, which was that of until now: all of it at once, so that
/// nobody ever reads some keys by the one and some by the other. The others only say that an earlier catalog recognized
/// them, until [`recognize_again`] looks at them.
pub(super) async fn recognize_changed(
    db: &mut PgConnection,
    before: &Catalog,
    after: &Catalog,
) -> sqlx::Result<u64> {
    let rows = sqlx::query!(
        "select distinct provider, service, sku, instance_type, meter, stated_accelerators, unit
         from charge_keys where category = $1",
        ChargeCategory::Usage.as_str(),
    )
    .fetch_all(&mut *db)
    .await?;
    let mut changed: Vec<(ChargeKey, Recognition)> = Vec::new();
    for row in rows {
        let key = ChargeKey {
            provider: row.provider,
            service: row.service,
            sku: row.sku,
            instance_type: row.instance_type,
            meter: row.meter,
            stated_accelerators: row.stated_accelerators,
            unit: row.unit,
            category: ChargeCategory::Usage,
            ..ChargeKey::default()
        };
        let now = after.recognition(&key);
        if before.recognition(&key) != now {
            changed.push((key, now));
        }
    }
    let mut columns = Columns::default();
    for (_, recognition) in &changed {
        columns.push(*recognition);
    }
    let column = |of: fn(&ChargeKey) -> &String| -> Vec<String> {
        changed.iter().map(|(key, _)| of(key).clone()).collect()
    };
    let updated = sqlx::query!(
        "update charge_keys k
         set accelerator = new.model, accelerator_parts = new.parts, unit_seconds = new.seconds,
             unrecognized = new.unrecognized, catalog_version = $12
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                     $8::text[], $9::bigint[], $10::integer[], $11::text[])
             as new (provider, service, sku, instance_type, meter, stated, unit, model, parts, seconds, unrecognized)
         where k.category = $13 and k.provider = new.provider and k.service = new.service and k.sku = new.sku
           and k.instance_type = new.instance_type and k.meter = new.meter
           and k.stated_accelerators = new.stated and k.unit = new.unit",
        &column(|key| &key.provider),
        &column(|key| &key.service),
        &column(|key| &key.sku),
        &column(|key| &key.instance_type),
        &column(|key| &key.meter),
        &column(|key| &key.stated_accelerators),
        &column(|key| &key.unit),
        &columns.models as &[Option<String>],
        &columns.parts as &[Option<i64>],
        &columns.seconds as &[Option<i32>],
        &columns.unrecognized as &[Option<&str>],
        i64::from(after.version()),
        ChargeCategory::Usage.as_str(),
    )
    .execute(db)
    .await?;
    Ok(updated.rows_affected())
}
