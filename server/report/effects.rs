//! What a decision about a delivery does to its months, before it is made.

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::PgConnection;

use crate::money::Decimal;
use crate::period::BillingMonth;

/// One account and month of a delivery in one currency; billed costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Effect {
    pub provider: String,
    pub billing_account: String,
    pub billing_month: NaiveDate,
    pub currency: String,
    /// What the month shows.
    pub now: Decimal,
    /// What this delivery states.
    pub own: Decimal,
    /// What the month shows when this delivery replaces.
    pub replaced: Decimal,
    /// What the month shows when this delivery is undone.
    pub without: Decimal,
    /// The deliveries that are active now.
    pub counts_now: Vec<i64>,
    /// The deliveries that are active when this one is undone.
    pub counts_without: Vec<i64>,
}

/// An entry for each scope and currency that the delivery, or what is active beside it, states.
pub async fn effects(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Vec<Effect>> {
    sqlx::query_file_as!(Effect, "server/report/effects.sql", delivery_id).fetch_all(db).await
}

impl Effect {
    pub fn month(&self) -> BillingMonth {
        BillingMonth::of(self.billing_month)
    }

    /// What the month shows when this delivery adds.
    pub fn together(&self) -> Decimal {
        self.now + self.own
    }
}
