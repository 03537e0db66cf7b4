//! Currencies in addresses: one that there is none of is refused on every page alike, before it is asked about.

use axum::extract::Query;
use axum::http::Uri;

use super::super::App;
use super::super::error::{Error, Result};
use crate::exchange;
use crate::money::Currency;

/// Looks at `in=` and `currency=`. What is no currency by its form is refused by who reads it.
pub(super) async fn check(address: &Uri, app: &App) -> Result<()> {
    let Ok(Query(pairs)) = Query::<Vec<(String, String)>>::try_from_uri(address) else { return Ok(()) };
    // Once each: whoever writes one twice means one of them.
    for name in ["in", "currency"] {
        let Some((_, value)) = pairs.iter().rev().find(|(known, _)| known == name) else { continue };
        let Some(currency) = Currency::parse(value).filter(|currency| !currency.is_standard()) else {
            continue;
        };
        let mut db = app.db.acquire().await?;
        if !exchange::is_known(&mut db, &currency).await? {
            return Err(Error::BadRequest(format!(
                "{name}: found “{value}”, which is no currency; enter a code such as USD, or the name on the bill."
            )));
        }
    }
    Ok(())
}
