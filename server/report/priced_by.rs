//! By which rates a charge was priced that arrived without cost.

use serde::Serialize;
use sqlx::PgConnection;

use super::Trace;
use crate::ledger;
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
    let of = (charge.delivery, charge.charge_key);
    let Some((version, holding)) = ledger::rates_of_charge(db, of, day).await? else { return Ok(None) };
    let mut rates: Vec<Rate> = Vec::new();
    for rate in holding {
        // The most particular comes first, and its tiers after it; others are for what none of these is for.
        if rates.first().is_none_or(|first| first.is_tier_with(&rate)) {
            rates.push(rate);
        }
    }
    Ok(Some(PricedBy { rates, version }))
}
