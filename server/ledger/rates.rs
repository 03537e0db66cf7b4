//! The rate cards that price what arrives without cost: each import, check or command reads them once, when it begins, and passes
//! them down, as it does with the catalog of accelerators. Who enters them is [`rate_cards`](crate::rate_cards); here they are read
//! alone, since the ledger stands below.

use std::sync::Arc;

use chrono::NaiveDate;
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use super::catalog::catalog_of_version;
use super::usage_without_cost::{Pricer, Which, usage_without_cost};
use crate::rating::{Rate, Rates};

/// Rates as of a version of the rate cards.
#[derive(Clone, Debug, Default)]
pub struct VersionedRates {
    pub version: i64,
    pub rates: Arc<Rates>,
}

/// Those of now.
pub async fn rates(db: &mut PgConnection) -> sqlx::Result<VersionedRates> {
    let version = sqlx::query_scalar!("select version from documents where kind = 'rate-cards'")
        .fetch_one(&mut *db)
        .await?;
    rates_as_of(db, version).await
}

/// Those of a version.
pub async fn rates_as_of(db: &mut PgConnection, version: i64) -> sqlx::Result<VersionedRates> {
    let rates = sqlx::query_scalar!(
        r#"select content as "content: Json<Rate>"
           from document_entries
           where kind = 'rate-cards' and from_version <= $1 and (until_version is null or until_version > $1)"#,
        version,
    )
    .fetch_all(db)
    .await?;
    let rates = Rates::new(rates.into_iter().map(|Json(rate)| rate));
    Ok(VersionedRates { version, rates: Arc::new(rates) })
}

/// What priced an import: the rates of then, with the accelerators as they were known then.
pub(super) async fn pricer_of(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Pricer> {
    let row = sqlx::query!(
        "select rates_version, catalog_version from deliveries where delivery_id = $1",
        delivery_id
    )
    .fetch_one(&mut *db)
    .await?;
    let rates = match row.rates_version {
        Some(version) => rates_as_of(&mut *db, version).await?,
        None => VersionedRates::default(),
    };
    Ok(Pricer::new(rates, catalog_of_version(db, row.catalog_version).await?))
}

/// The version of the rate cards that priced usage of a key and day of an import, and the rates of it that are for such usage on that
/// day, the most particular first: with the accelerators as they were known then. `None` where none of it came without cost.
pub async fn rates_of_charge(
    db: &mut PgConnection,
    (delivery, key): (i64, Uuid),
    day: NaiveDate,
) -> sqlx::Result<Option<(i64, Vec<Rate>)>> {
    let Some(usage) = usage_without_cost(&mut *db, Which::OfKey { delivery, key, day }).await?.pop() else {
        return Ok(None);
    };
    let row = sqlx::query!(
        "select rates_version, catalog_version from deliveries where delivery_id = $1",
        delivery
    )
    .fetch_one(&mut *db)
    .await?;
    let Some(version) = row.rates_version else { return Ok(None) };
    let accelerator = catalog_of_version(&mut *db, row.catalog_version).await?.recognize(&usage.key);
    let rates = rates_as_of(db, version).await?.rates;
    let holding = rates.of_key(&usage.key, accelerator).into_iter().filter(|rate| rate.holds_on(day));
    Ok(Some((version, holding.cloned().collect())))
}
