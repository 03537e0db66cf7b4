//! Where the clocks of a source stand: of its times without an offset.

use chrono_tz::Tz;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use crate::audit::{self, Act, Object, Verb};

/// What came of changing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSet {
    Done,
    /// It was so already.
    AsBefore,
    NoSuchSource,
}

/// Has files of a source that are imported from now on read by another clock. What was imported before stays as it was read.
///
/// # Errors
/// The database's.
pub async fn set_clock(
    db: &mut PgConnection,
    source_id: i64,
    zone: Tz,
    act: Act<'_>,
) -> sqlx::Result<ClockSet> {
    let mut tx = db.begin().await?;
    let known =
        sqlx::query!("select name, time_zone from usage_sources where source_id = $1 for update", source_id)
            .fetch_optional(&mut *tx)
            .await?;
    let Some(known) = known else { return Ok(ClockSet::NoSuchSource) };
    if known.time_zone == zone.name() {
        return Ok(ClockSet::AsBefore);
    }
    sqlx::query!("update usage_sources set time_zone = $2 where source_id = $1", source_id, zone.name())
        .execute(&mut *tx)
        .await?;
    let details = json!({ "cluster": known.name, "clock": { "from": known.time_zone, "to": zone.name() } });
    audit::record(&mut tx, act, Verb::ClockChanged, &Object::Other("source of usage"), details).await?;
    tx.commit().await?;
    Ok(ClockSet::Done)
}
