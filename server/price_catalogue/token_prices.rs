//! What suppliers ask for a million tokens, as people read it: to stand beside what was paid. Nothing is charged by them.

use std::cmp::Reverse;

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use crate::audit::{self, Act, Object, Verb};
use crate::money::{Currency, Decimal};
use crate::tokens::TokenKind;

/// A price of a million tokens, as it was read on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TokenPrice {
    pub supplier: String,
    pub model: String,
    pub kind: TokenKind,
    /// Of a million tokens.
    #[serde(rename = "price")]
    pub amount: Decimal,
    pub currency: Currency,
    pub date: NaiveDate,
    pub source: String,
}

/// A price of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedTokenPrice {
    pub id: i64,
    #[serde(flatten)]
    pub price: TokenPrice,
    pub added_at: DateTime<Utc>,
    pub added_by: String,
    /// Somebody has taken it from the list.
    pub is_removed: bool,
}

/// Every price: by supplier, model and kind, the newest first.
pub async fn token_prices(db: &mut PgConnection) -> sqlx::Result<Vec<ListedTokenPrice>> {
    let rows = sqlx::query!(
        r#"select token_price_id, supplier, model, kind, price as "price: Decimal", currency, read_on, source, added_at, added_by,
               removed_at is not null as "is_removed!"
           from token_prices
           order by token_price_id desc"#
    )
    .fetch_all(db)
    .await?;
    let mut listed: Vec<ListedTokenPrice> = rows
        .into_iter()
        .map(|row| ListedTokenPrice {
            id: row.token_price_id,
            price: TokenPrice {
                supplier: row.supplier,
                model: row.model,
                kind: row.kind.parse().unwrap_or(TokenKind::Other),
                amount: row.price,
                currency: Currency::exactly(&row.currency),
                date: row.read_on,
                source: row.source,
            },
            added_at: row.added_at,
            added_by: row.added_by,
            is_removed: row.is_removed,
        })
        .collect();
    listed.sort_by_cached_key(|it| {
        let TokenPrice { supplier, model, kind, currency, date, .. } = &it.price;
        (supplier.to_lowercase(), model.to_lowercase(), *kind, Reverse(*date), currency.clone())
    });
    Ok(listed)
}

/// Adds a price to the list. False where the same supplier, model, kind and currency has one of that day, whatever it is.
pub async fn add_token_price(db: &mut PgConnection, price: &TokenPrice, act: Act<'_>) -> sqlx::Result<bool> {
    let TokenPrice { supplier, model, kind, amount, currency, date, source } = price;
    let mut tx = db.begin().await?;
    lock(&mut tx).await?;
    if token_prices(&mut tx).await?.iter().any(|it| !it.is_removed && it.price.is_same_offer(price)) {
        return Ok(false);
    }
    sqlx::query!(
        "insert into token_prices (supplier, model, kind, price, currency, read_on, source, added_at, added_by)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        supplier,
        model,
        kind.as_str(),
        amount as &Decimal,
        currency.as_str(),
        date,
        source,
        act.at,
        act.by.name,
    )
    .execute(&mut *tx)
    .await?;
    let details = json!({ "price": title(price) });
    audit::record(&mut tx, act, Verb::TokenPriceAdded, &Object::Other("token prices"), details).await?;
    tx.commit().await?;
    Ok(true)
}

/// Lets nobody else change the list before the transaction ends: two may add the same price at once.
async fn lock(tx: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query!("lock table token_prices in share row exclusive mode").execute(tx).await?;
    Ok(())
}

/// What became of a price that is taken from the list or brought back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    Done(TokenPrice),
    /// Another one of the same offer and day is on the list.
    Taken,
    /// It was so before.
    Already,
}

/// Takes a price from the list, or brings it back.
pub async fn set_token_price_removed(
    db: &mut PgConnection,
    id: i64,
    is_removed: bool,
    act: Act<'_>,
) -> sqlx::Result<Removal> {
    let mut tx = db.begin().await?;
    lock(&mut tx).await?;
    let listed = token_prices(&mut tx).await?;
    let Some(found) = listed.iter().find(|it| it.id == id && it.is_removed != is_removed) else {
        return Ok(Removal::Already);
    };
    if !is_removed && listed.iter().any(|it| !it.is_removed && it.price.is_same_offer(&found.price)) {
        return Ok(Removal::Taken);
    }
    sqlx::query!(
        "update token_prices
         set removed_at = case when $2 then $3::timestamptz end, removed_by = case when $2 then $4 end
         where token_price_id = $1",
        id,
        is_removed,
        act.at,
        act.by.name,
    )
    .execute(&mut *tx)
    .await?;
    let verb = if is_removed { Verb::TokenPriceRemoved } else { Verb::TokenPriceRestored };
    let details = json!({ "price": title(&found.price) });
    audit::record(&mut tx, act, verb, &Object::Other("token prices"), details).await?;
    tx.commit().await?;
    Ok(Removal::Done(found.price.clone()))
}

impl TokenPrice {
    /// Whether both are what the same supplier asked for the same on the same day.
    fn is_same_offer(&self, other: &Self) -> bool {
        self.supplier.to_lowercase() == other.supplier.to_lowercase()
            && self.model.to_lowercase() == other.model.to_lowercase()
            && (self.kind, &self.currency, self.date) == (other.kind, &other.currency, other.date)
    }
}

/// For a person: `OpenAI gpt-5 output, 10 USD per million, read on 2026-11-01`.
fn title(price: &TokenPrice) -> String {
    let TokenPrice { supplier, model, kind, amount, currency, date, .. } = price;
    format!(
        "{supplier} {model} {}, {amount} {currency} per million, read on {date}",
        kind.label().to_lowercase()
    )
}
