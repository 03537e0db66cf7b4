//! The asset register in PostgreSQL: as it stood at a revision.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use sqlx::types::Json;

use super::asset_register::AssetRegister;
use super::entry::Entry;
use super::power::Reading;
use crate::money::Decimal;
use crate::period::BillingMonth;

/// The last revision.
pub async fn revision(db: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!("select revision from asset_register").fetch_one(db).await
}

/// The asset register as of a revision.
pub async fn asset_register(db: &mut PgConnection, revision: i64) -> sqlx::Result<AssetRegister> {
    let rows = sqlx::query!(
        r#"select entry_id, content as "content: Json<Entry>"
           from asset_register_entries
           where from_revision <= $1 and (until_revision is null or until_revision > $1)"#,
        revision,
    )
    .fetch_all(db)
    .await?;
    Ok(AssetRegister { entries: rows.into_iter().map(|row| (row.entry_id, row.content.0)).collect() })
}

/// The asset register as it is, with its revision.
pub async fn current(db: &mut PgConnection) -> sqlx::Result<(i64, AssetRegister)> {
    let revision = revision(&mut *db).await?;
    Ok((revision, asset_register(db, revision).await?))
}

/// What the meters of a cluster read in a month, as of a revision. Their names are those of the asset register.
pub async fn readings(
    db: &mut PgConnection,
    asset_register: &AssetRegister,
    cluster: &str,
    month: BillingMonth,
    revision: i64,
) -> sqlx::Result<Vec<Reading>> {
    let meters: Vec<(i64, &str)> = asset_register
        .entries
        .iter()
        .filter_map(|(id, entry)| match entry {
            Entry::Meter(it) if it.cluster == cluster => Some((*id, it.name.as_str())),
            _ => None,
        })
        .collect();
    if meters.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = meters.iter().map(|(id, _)| *id).collect();
    let days = month.days();
    let midnight = |day: chrono::NaiveDate| day.and_time(chrono::NaiveTime::MIN).and_utc();
    let rows = sqlx::query!(
        r#"select meter_id, starts_at, ends_at, kwh as "kwh: Decimal"
           from meter_readings
           where meter_id = any($1) and ends_at > $2 and starts_at < $3
             -- No reading is longer than a year and a day.
             and starts_at > $2::timestamptz - interval '367 days'
             and from_revision <= $4 and (until_revision is null or until_revision > $4)
           order by meter_id, starts_at"#,
        &ids,
        midnight(days.start),
        midnight(days.end),
        revision,
    )
    .fetch_all(db)
    .await?;
    let name = |id: i64| meters.iter().find(|(meter, _)| *meter == id).map(|(_, name)| (*name).to_owned());
    Ok(rows
        .into_iter()
        .filter_map(|row| {
            Some(Reading {
                meter: name(row.meter_id)?,
                from: row.starts_at,
                until: row.ends_at,
                kwh: row.kwh,
            })
        })
        .collect())
}

/// From when to when each meter was read, and how often.
#[derive(Clone, Debug)]
pub struct Read {
    pub meter_id: i64,
    pub first: DateTime<Utc>,
    pub last: DateTime<Utc>,
    pub readings: i64,
    pub kwh: Decimal,
}

pub async fn meters_read(db: &mut PgConnection, meters: &[i64]) -> sqlx::Result<Vec<Read>> {
    sqlx::query_as!(
        Read,
        r#"select meter_id, min(starts_at) as "first!", max(ends_at) as "last!", count(*) as "readings!",
                  sum(kwh) as "kwh!: Decimal"
           from meter_readings
           where meter_id = any($1) and until_revision is null
           group by meter_id"#,
        meters,
    )
    .fetch_all(db)
    .await
}

/// Numbers for entries that are about to be written.
pub async fn entry_ids(db: &mut PgConnection, count: usize) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!(
        r#"select nextval('asset_register_entry_ids') as "id!" from generate_series(1, $1)"#,
        i32::try_from(count).unwrap_or(i32::MAX),
    )
    .fetch_all(db)
    .await
}
