//! Scopes: who is billed for which month. What a delivery replaces, and what it must cover to do so.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::PgConnection;

use crate::billing::{Charge, ScopeOf};
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

/// Behind the account of a bill, in the name of the scope of what stands beside it.
fn suffix(of: ScopeOf) -> Option<&'static str> {
    match of {
        ScopeOf::Bill => None,
        ScopeOf::Adjustments => Some(" (adjustments)"),
        ScopeOf::Usage => Some(" (usage)"),
    }
}

impl Scope {
    /// Where a charge belongs.
    pub(super) fn of_charge(charge: &Charge) -> Self {
        let scope = Self {
            provider: charge.key.provider.clone(),
            billing_account: charge.key.billing_account.clone(),
            month: charge.billing_month(),
        };
        match suffix(charge.scope) {
            None => scope,
            Some(suffix) => Self { billing_account: scope.billing_account + suffix, ..scope },
        }
    }

    /// The bill that this stands beside, where it is of such.
    fn bill(&self, of: ScopeOf) -> Option<Self> {
        let account = self.billing_account.strip_suffix(suffix(of)?)?;
        Some(Self { billing_account: account.to_owned(), ..self.clone() })
    }
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

/// The id of a scope, made where it is new. One of what is computed says which bill it is beside.
pub async fn intern(db: &mut PgConnection, scope: &Scope, of: ScopeOf) -> sqlx::Result<i64> {
    let scope_id = make(&mut *db, scope).await?;
    if let Some(bill) = scope.bill(of) {
        let bill_id = make(&mut *db, &bill).await?;
        sqlx::query!(
            "update scopes set adjusts = $2, is_usage = $3 where scope_id = $1 and adjusts is null",
            scope_id,
            bill_id,
            of == ScopeOf::Usage,
        )
        .execute(db)
        .await?;
    }
    Ok(scope_id)
}

async fn make(db: &mut PgConnection, scope: &Scope) -> sqlx::Result<i64> {
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
