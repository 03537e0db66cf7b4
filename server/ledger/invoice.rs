//! Invoices that people enter, so that a month can be compared with what is to be paid.

use serde_json::json;
use sqlx::{Connection, PgConnection};

use crate::audit::{self, Act, Object, Verb};
use crate::money::Money;
use crate::period::BillingMonth;

/// An invoice of a billing account and month, as it was received.
#[derive(Clone, Debug, PartialEq)]
pub struct NewInvoice {
    pub scope_id: i64,
    /// As the issuer numbers it.
    pub number: String,
    /// With tax; a credit note is negative.
    pub total: Money,
}

/// Keeps an invoice. False where the scope has one of that number already, or there is no such scope.
pub async fn enter_invoice(db: &mut PgConnection, invoice: &NewInvoice, act: Act<'_>) -> sqlx::Result<bool> {
    let NewInvoice { scope_id, number, total } = invoice;
    let mut tx = db.begin().await?;
    let entered = sqlx::query!(
        "insert into invoices (scope_id, currency, number, amount, entered_at, entered_by)
         select scope_id, $2, $3, $4, $5, $6
         from scopes
         where scope_id = $1
         on conflict (scope_id, currency, number) do nothing",
        scope_id,
        total.currency.as_str(),
        number,
        total.amount as _,
        act.at,
        act.by.name,
    )
    .execute(&mut *tx)
    .await?;
    if entered.rows_affected() == 0 {
        return Ok(false);
    }
    record(&mut tx, *scope_id, (Verb::InvoiceEntered, number, json!(total)), act).await?;
    tx.commit().await?;
    Ok(true)
}

/// Forgets an invoice; its number, or `None` where it is gone already.
pub async fn remove_invoice(
    db: &mut PgConnection,
    invoice_id: i64,
    act: Act<'_>,
) -> sqlx::Result<Option<String>> {
    let mut tx = db.begin().await?;
    let removed = sqlx::query!(
        r#"delete from invoices where invoice_id = $1
           returning scope_id, currency, number, amount::text as "amount!""#,
        invoice_id
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(removed) = removed else { return Ok(None) };
    let total = json!({ "amount": removed.amount, "currency": removed.currency });
    record(&mut tx, removed.scope_id, (Verb::InvoiceRemoved, &removed.number, total), act).await?;
    tx.commit().await?;
    Ok(Some(removed.number))
}

/// Leaves a line in the audit trail that names the invoice and whose it is.
async fn record(
    db: &mut PgConnection,
    scope_id: i64,
    (verb, number, total): (Verb, &str, serde_json::Value),
    act: Act<'_>,
) -> sqlx::Result<()> {
    let scope = sqlx::query!(
        "select provider, billing_account, billing_month from scopes where scope_id = $1",
        scope_id
    )
    .fetch_one(&mut *db)
    .await?;
    let object = Object::Invoices(BillingMonth::of(scope.billing_month));
    let account = format!("{} {}", scope.provider, scope.billing_account);
    let details = json!({ "number": number, "total": total, "account": account });
    audit::record(db, act, verb, &object, details).await
}
