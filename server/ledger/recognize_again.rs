//! Keys that an older catalog recognized, recognized again. Charges are not touched: which accelerator a
//! key pays for, and how many, is read with the key.

use sqlx::PgConnection;
use sqlx::types::Uuid;

use crate::accelerator;
use crate::billing::{ChargeCategory, ChargeKey};

/// Keys looked at in one statement.
const BATCH: i64 = 5000;

/// Brings keys up to the catalog of this version; answers how many were looked at. A key that newly bears
/// accelerators keeps its resources on its charges, and gets its hours of the day when its file is loaded again.
pub async fn recognize_again(db: &mut PgConnection) -> sqlx::Result<u64> {
    let version = i64::from(accelerator::VERSION);
    let mut looked_at = 0;
    loop {
        let rows = sqlx::query!(
            "select charge_key_id, provider, service, sku, instance_type, meter, stated_accelerators, category, unit
             from charge_keys where catalog_version < $1 or catalog_version > $1 limit $2",
            version,
            BATCH,
        )
        .fetch_all(&mut *db)
        .await?;
        if rows.is_empty() {
            return Ok(looked_at);
        }
        looked_at += rows.len() as u64;
        let mut ids: Vec<Uuid> = Vec::with_capacity(rows.len());
        let (mut models, mut parts, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            let recognized = accelerator::recognize(&ChargeKey {
                provider: row.provider,
                service: row.service,
                sku: row.sku,
                instance_type: row.instance_type,
                meter: row.meter,
                stated_accelerators: row.stated_accelerators,
                category: ChargeCategory::parse(&row.category).unwrap_or_default(),
                unit: row.unit,
                ..ChargeKey::default()
            });
            ids.push(row.charge_key_id);
            models.push(recognized.map(|found| found.model.name.to_owned()));
            parts.push(recognized.map(|found| found.per_unit.parts()));
            seconds.push(recognized.map(|found| found.seconds_per_unit as i32));
        }
        sqlx::query!(
            "update charge_keys k
             set accelerator = new.model, accelerator_parts = new.parts, unit_seconds = new.seconds,
                 catalog_version = $5
             from unnest($1::uuid[], $2::text[], $3::bigint[], $4::integer[]) as new (id, model, parts, seconds)
             where k.charge_key_id = new.id",
            &ids,
            &models as &[Option<String>],
            &parts as &[Option<i64>],
            &seconds as &[Option<i32>],
            version,
        )
        .execute(&mut *db)
        .await?;
    }
}
