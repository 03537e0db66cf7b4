//! Charge keys that an import meets for the first time, on their way to the database.
//!
//! A fleet has a quarter of a million of them a month. So they are copied, into a table of the session's own, since others may
//! know some of them by then, and `COPY` takes no conflict.

use rustc_hash::FxHashSet;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use uuid::Uuid;

use super::key::Keyed;
use super::noise::NoisyTags;
use crate::accelerator::{Recognized, Unrecognized};
use crate::billing::{Charge, ChargeKey};
use crate::store::{self, CopyRows};

const COLUMNS: &str = "charge_key_id, provider, billing_account, sub_account, service, service_category, sku, region, \
     instance_type, meter, stated_accelerators, category, is_correction, pricing, commitment_discount_id, unit, currency, \
     is_unused_commitment, resource_id, tags, accelerator, accelerator_parts, unit_seconds, unrecognized, catalog_version";

/// Bytes of keys sent together.
const BLOCK: usize = 1 << 20;
/// Ids remembered as sent; if there are more, they are forgotten and sent again, which is harmless. As many have room in a set of
/// 2²⁰ places, which takes 18 MB.
const MOST: usize = (1 << 20) / 8 * 7;

/// Gathers new keys.
pub struct NewKeys {
    rows: CopyRows,
    known: FxHashSet<u128>,
    catalog_version: u32,
}

impl NewKeys {
    /// Of keys that a catalog of this version recognizes.
    pub fn new(catalog_version: u32) -> Self {
        Self { rows: CopyRows::with_capacity(0), known: FxHashSet::default(), catalog_version }
    }

    /// Notes a charge's key, and that without machine and tags, where they are new.
    pub fn note(&mut self, charge: &Charge, keyed: &Keyed, noisy_tags: &NoisyTags) {
        if self.known.len() + 2 > MOST {
            self.known.clear();
        }
        if !self.known.insert(keyed.charge_key_id.as_u128()) {
            return;
        }
        let of_machine = keyed.accelerator.is_some();
        let resource = if of_machine { charge.resource_id.as_str() } else { "" };
        let tags = noisy_tags.quiet(&charge.tags);
        self.write(keyed.charge_key_id, (keyed, &charge.key), resource, tags);
        if self.known.insert(keyed.plain_key_id.as_u128()) {
            self.write(keyed.plain_key_id, (keyed, &charge.key), "", [].into_iter());
        }
    }

    fn write<'a>(
        &mut self,
        id: Uuid,
        (keyed, key): (&Keyed, &ChargeKey),
        resource: &str,
        tags: impl Iterator<Item = (&'a str, &'a str)>,
    ) {
        let rows = self.rows.row(25).uuid(id);
        for text in [
            &key.provider,
            &key.billing_account,
            &key.sub_account,
            &key.service,
            &key.service_category,
            &key.sku,
            &key.region,
            &key.instance_type,
            &key.meter,
            &key.stated_accelerators,
        ] {
            rows.text(text);
        }
        rows.text(key.category.as_str())
            .bool(key.is_correction)
            .text(key.pricing.as_str())
            .text(&key.commitment_discount_id)
            .text(&key.unit)
            .text(&key.currency)
            .bool(key.is_unused_commitment)
            .text_or_null(resource)
            .json(tags);
        match keyed.accelerator {
            Some(Recognized { model, per_unit, seconds_per_unit }) => {
                rows.text(model.name).bigint(per_unit.parts()).integer(seconds_per_unit as i32);
            }
            None => {
                rows.null().null().null();
            }
        }
        rows.text_or_null(keyed.unrecognized.map_or("", Unrecognized::as_str));
        rows.bigint(self.catalog_version.into());
    }

    /// Whether they are enough to be sent.
    pub fn is_full(&self) -> bool {
        self.rows.len() >= BLOCK
    }

    /// Those that were not sent yet.
    pub fn take(&mut self) -> CopyRows {
        std::mem::replace(&mut self.rows, CopyRows::with_capacity(BLOCK))
    }
}

/// Makes the table of this session that keys are copied to. `discard temp` removes it.
pub async fn begin(db: &mut PgConnection) -> sqlx::Result<()> {
    let create = "create temporary table new_keys (like charge_keys) on commit delete rows";
    sqlx::query(create).execute(db).await?;
    Ok(())
}

/// Keeps those that nobody has kept yet; in the order of their ids, so that imports side by side never wait for each other in a
/// circle.
pub async fn insert(db: &mut PgConnection, keys: CopyRows) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    store::copy_rows(&mut tx, &format!("copy new_keys ({COLUMNS}) from stdin (format binary)"), keys).await?;
    let insert = format!(
        "insert into charge_keys ({COLUMNS}) select {COLUMNS} from new_keys order by charge_key_id on conflict do nothing"
    );
    sqlx::query(AssertSqlSafe(insert)).execute(&mut *tx).await?;
    tx.commit().await
}
