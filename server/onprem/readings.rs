//! What meters read: taken, asked for, and taken back. Readings hold from one revision of the asset register to another, as its
//! entries do.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{Connection, PgConnection};

use super::asset_register::AssetRegister;
use super::power::{Reading, start_of};
use crate::audit::Act;
use crate::changes::{self, Kind, Outcome, Problem};
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Readings of a meter, by the number of its entry.
pub struct MeterReadings {
    pub meter_id: i64,
    pub readings: Vec<Reading>,
}

/// Takes what meters read: in place of what each read before in the same time, whole readings for whole readings. Refused
/// where one that was taken before would be replaced in part, since the rest of it would be lost.
pub async fn take_readings(
    db: &mut PgConnection,
    meters: &[MeterReadings],
    summary: &str,
    act: Act<'_>,
) -> sqlx::Result<Outcome> {
    let mut tx = db.begin().await?;
    let revision = changes::begin(&mut tx, Kind::AssetRegister).await?;
    for MeterReadings { meter_id, readings } in meters {
        let (Some(first), Some(last)) =
            (readings.iter().map(|it| it.from).min(), readings.iter().map(|it| it.until).max())
        else {
            continue;
        };
        let before = sqlx::query!(
            "select starts_at, ends_at from meter_readings
             where meter_id = $1 and until_revision is null and ends_at > $2 and starts_at < $3
             order by starts_at",
            meter_id,
            first,
            last,
        )
        .fetch_all(&mut *tx)
        .await?;
        let mut new: Vec<(DateTime<Utc>, DateTime<Utc>)> =
            readings.iter().map(|it| (it.from, it.until)).collect();
        new.sort_unstable();
        let mut replaced = Vec::new();
        let mut at = 0;
        for known in &before {
            // Neither those before nor the new ones overlap among themselves.
            while new.get(at).is_some_and(|(_, until)| *until <= known.starts_at) {
                at += 1;
            }
            let over = new[at..].iter().take_while(|(from, _)| *from < known.ends_at);
            let covered: TimeDelta =
                over.map(|(from, until)| *until.min(&known.ends_at) - *from.max(&known.starts_at)).sum();
            if covered >= known.ends_at - known.starts_at {
                replaced.push(known.starts_at);
            } else if covered > TimeDelta::zero() {
                let minute = |time: DateTime<Utc>| time.format("%Y-%m-%d %H:%M").to_string();
                let of = format!("a reading from {} to {}", minute(known.starts_at), minute(known.ends_at));
                let message = format!(
                    "these readings, from {} to {}, overlap a part of it",
                    minute(first),
                    minute(last)
                );
                return Ok(Outcome::Refused(vec![Problem { of, message }]));
            }
        }
        sqlx::query!(
            "update meter_readings set until_revision = $3
             where meter_id = $1 and until_revision is null and starts_at = any($2)",
            meter_id,
            &replaced,
            revision,
        )
        .execute(&mut *tx)
        .await?;
        let starts: Vec<DateTime<Utc>> = readings.iter().map(|it| it.from).collect();
        let ends: Vec<DateTime<Utc>> = readings.iter().map(|it| it.until).collect();
        let kwh: Vec<Decimal> = readings.iter().map(|it| it.kwh).collect();
        sqlx::query!(
            "insert into meter_readings (meter_id, starts_at, ends_at, kwh, from_revision)
             select $1, starts_at, ends_at, kwh, $5
             from unnest($2::timestamptz[], $3::timestamptz[], $4::numeric[]) as new (starts_at, ends_at, kwh)",
            meter_id,
            &starts,
            &ends,
            &kwh as &[Decimal],
            revision,
        )
        .execute(&mut *tx)
        .await?;
    }
    let change = changes::wrote::<AssetRegister>(&mut tx, revision, summary.into(), act).await?;
    tx.commit().await?;
    Ok(Outcome::At { change, version: revision })
}

/// Takes back what was read at one revision, and puts in its place what that stood for. False where what it read was
/// replaced since, unless what replaced it was undone: then the same readings are there again, from that revision on.
pub(super) async fn take_readings_back(
    db: &mut PgConnection,
    applied: i64,
    revision: i64,
) -> sqlx::Result<bool> {
    let is_replaced = sqlx::query_scalar!(
        r#"select exists (
               select from meter_readings was
               where was.from_revision = $1 and not exists (
                   select from meter_readings it
                   where it.meter_id = was.meter_id and it.starts_at = was.starts_at and it.until_revision is null
                     and it.ends_at = was.ends_at and it.kwh = was.kwh
                     and (it.from_revision = $1
                          or it.from_revision in (select undone_version from changes where kind = 'asset-register'))))
           as "is_replaced!""#,
        applied,
    )
    .fetch_one(&mut *db)
    .await?;
    if is_replaced {
        return Ok(false);
    }
    sqlx::query!(
        "update meter_readings it set until_revision = $2
         from meter_readings was
         where was.from_revision = $1 and it.meter_id = was.meter_id and it.starts_at = was.starts_at
           and it.until_revision is null",
        applied,
        revision,
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!(
        "insert into meter_readings (meter_id, starts_at, ends_at, kwh, from_revision)
         select meter_id, starts_at, ends_at, kwh, $2 from meter_readings where until_revision = $1",
        applied,
        revision,
    )
    .execute(db)
    .await?;
    Ok(true)
}

/// What the meters of a cluster read in a month, as of a revision. Their names are those of the asset register.
pub async fn readings(
    db: &mut PgConnection,
    asset_register: &AssetRegister,
    cluster: &str,
    month: BillingMonth,
    revision: i64,
) -> sqlx::Result<Vec<Reading>> {
    let meters: BTreeMap<i64, &str> = asset_register
        .meters()
        .filter(|(_, it)| it.cluster == cluster)
        .map(|(id, it)| (id, it.name.as_str()))
        .collect();
    if meters.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = meters.keys().copied().collect();
    let days = month.days();
    let rows = sqlx::query!(
        r#"select meter_id, starts_at, ends_at, kwh as "kwh: Decimal"
           from meter_readings
           where meter_id = any($1) and ends_at > $2 and starts_at < $3
             -- No reading is longer than a year and a day.
             and starts_at > $2::timestamptz - interval '367 days'
             and from_revision <= $4 and (until_revision is null or until_revision > $4)
           order by meter_id, starts_at"#,
        &ids,
        start_of(days.start),
        start_of(days.end),
        revision,
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .filter_map(|row| {
            Some(Reading {
                meter: (*meters.get(&row.meter_id)?).to_owned(),
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
