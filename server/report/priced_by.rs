//! By which rates a charge was priced that arrived without cost.

use serde::Serialize;
use sqlx::PgConnection;

use super::Trace;
use crate::ledger::{self, Which};
use crate::rating::Rate;

/// What priced a charge that arrived without cost.
#[derive(Clone, Debug, Serialize)]
pub struct PricedBy {
    /// The rate of its day, with further tiers of it; none where no rate is for it, so that it is unpriced.
    pub rates: Vec<Rate>,
    /// The version of the rate cards.
    pub version: i64,
}

/// What priced a charge. `None` where its cost came with its bill.
pub async fn priced_by(db: &mut PgConnection, charge: &Trace) -> sqlx::Result<Option<PricedBy>> {
    let day = charge.charge_period_start.date_naive();
    let which = Which::OfKey { delivery: charge.delivery, key: charge.charge_key, day };
    let Some(usage) = ledger::usage_without_cost(&mut *db, which).await?.pop() else { return Ok(None) };
    let version =
        sqlx::query_scalar!("select rates_version from deliveries where delivery_id = $1", charge.delivery)
            .fetch_one(&mut *db)
            .await?;
    let Some(version) = version else { return Ok(None) };
    let rates = ledger::rates_as_of(db, version).await?.rates;
    let holding = rates.of_key(&usage.key, usage.accelerator).into_iter().filter(|rate| rate.holds_on(day));
    let mut found: Vec<Rate> = Vec::new();
    for rate in holding {
        // The most particular comes first, and its tiers after it; others are for what none of these is for.
        if found.first().is_none_or(|first| first.is_tier_with(rate)) {
            found.push(rate.clone());
        }
    }
    Ok(Some(PricedBy { rates: found, version }))
}
