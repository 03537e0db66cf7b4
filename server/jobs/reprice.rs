//! Pricing imports again by rate cards that changed, one after the other, while nothing else waits.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{PgConnection, PgPool};

use crate::allocation;
use crate::audit::{self, Actor, Object, Verb};
use crate::ledger::{self, Originals, Repriced};

/// Prices the next import whose rates changed; false where there is none, or others are at it.
pub(super) async fn next(
    pool: &PgPool,
    db: &mut PgConnection,
    originals: &Originals,
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    let outdated = ledger::outdated(&mut *db, now).await?;
    if outdated.is_empty() {
        return Ok(false);
    }
    let labels = allocation::label_keys(&mut *db).await?;
    for delivery in outdated {
        let by = on_whose_word(&mut *db, delivery).await?;
        match ledger::reprice((pool, originals), delivery, &labels, (&by, now)).await {
            Ok(Repriced::Already) => {}
            Ok(Repriced::Unchanged) => return Ok(true),
            Ok(Repriced::Problem(message) | Repriced::Failed(message)) => {
                tracing::warn!(delivery, message, "an import could not be priced by changed rate cards");
                return Ok(true);
            }
            Ok(Repriced::As { delivery: again, sequence }) => {
                let details = json!({ "as": again, "sequence": sequence });
                let (by, object) = (Actor::on_behalf_of(&by), Object::Delivery(delivery));
                audit::record(&mut *db, by.at(now), Verb::DeliveryRepriced, &object, details).await?;
                return Ok(true);
            }
            // Others wait behind it.
            Err(error) => {
                tracing::error!(%error, delivery, "an import could not be priced; it is tried again later");
                ledger::postpone(&mut *db, delivery, "the database failed", now).await?;
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Who made the version of the rate cards that holds, where an import was priced by another one; else the catalog of accelerators
/// changed.
async fn on_whose_word(db: &mut PgConnection, delivery: i64) -> sqlx::Result<String> {
    let by = sqlx::query_scalar!(
        r#"select case when undone_version = d.version then undone_by else decided_by end as "by"
           from changes c
           join documents d using (kind)
           where kind = 'rate-cards' and d.version in (c.applied_version, c.undone_version)
             and d.version <> (select rates_version from deliveries where delivery_id = $1)
           limit 1"#,
        delivery,
    )
    .fetch_optional(db)
    .await?;
    Ok(by.flatten().unwrap_or_else(|| "catalog of accelerators".to_owned()))
}
