//! Scopes: who is billed for which month. What a delivery replaces, and what it must cover to do so.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::PgConnection;

use crate::period::BillingMonth;

/// Provider, billing account and billing month, each in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Scope {
    pub provider: String,
    #[serde(rename = "account")]
    pub billing_account: String,
    #[serde(rename = "billing_period")]
    pub month: BillingMonth,
}

/// What a delivery holds of a scope. One that lacks a sub-account or day of the delivery it would
/// replace is published only when someone says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub sub_accounts: BTreeSet<String>,
    pub days: BTreeSet<NaiveDate>,
    /// A charge has no invoice yet.
    pub is_provisional: bool,
}

/// The id of a scope, made where it is new.
pub async fn intern(db: &mut PgConnection, scope: &Scope) -> sqlx::Result<i64> {
    let month = scope.month.first_day();
    sqlx::query!(
        "insert into scopes (provider, billing_account, billing_month) values ($1, $2, $3) on conflict do nothing",
        scope.provider,
        scope.billing_account,
        month,
    )
    .execute(&mut *db)
    .await?;
    sqlx::query_scalar!(
        "select scope_id from scopes where provider = $1 and billing_account = $2 and billing_month = $3",
        scope.provider,
        scope.billing_account,
        month,
    )
    .fetch_one(db)
    .await
}
