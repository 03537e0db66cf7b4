//! What most handlers take, at once: of a page that is read ([`Reading`]), and of a form that writes
//! ([`Writing`], [`Sending`]; [`Entering`] where a password is checked).
//!
//! Who may use a route stands in its line of `routes()`, and the guard has asked before any of this is taken: who it is,
//! whether they may, and, of whatever is no GET, whether the form has our token.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Client, CurrentUser, Db, Query, Visitor};
use crate::accounts::Person;
use crate::audit::Actor;
use crate::web::layout::Layout;
use crate::web::{App, Error, Result};

/// The names and values of an address or a form, in their order.
pub type Pairs = Vec<(String, String)>;

/// The query of an address that asks nothing: whatever stands in it is passed over.
#[derive(Deserialize)]
pub struct Nothing {}

/// What a page takes that somebody reads who is signed in. `Q` is its query string.
pub struct Reading<Q = Nothing> {
    /// One moment for all that the page says.
    pub now: DateTime<Utc>,
    pub layout: Layout,
    pub person: Person,
    pub query: Q,
    pub app: App,
    pub db: Db,
}

/// What a form takes that somebody sends who is signed in; what they typed is a [`Form`](super::Form) after it.
pub struct Writing {
    /// One moment for all that is written.
    pub now: DateTime<Utc>,
    pub layout: Layout,
    pub person: Person,
    /// The person, as the audit trail names them.
    pub by: Actor,
    pub app: App,
    pub db: Db,
}

/// As [`Writing`], for what takes long to arrive, or to compute before it is written: it holds no connection meanwhile.
pub struct Sending {
    pub now: DateTime<Utc>,
    pub layout: Layout,
    pub person: Person,
    pub by: Actor,
    pub app: App,
}

/// What a form takes by which somebody signs in or out, or chooses a password: whoever they are, and what they come with. It holds no connection while
/// a password is hashed.
pub struct Entering {
    pub now: DateTime<Utc>,
    pub layout: Layout,
    pub visitor: Visitor,
    pub client: Client,
    pub app: App,
}

impl<Q: DeserializeOwned + Send> FromRequestParts<App> for Reading<Q> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let layout = Layout::from_request_parts(parts, app).await?;
        let CurrentUser(person) = CurrentUser::from_request_parts(parts, app).await?;
        let Query(query) = Query::from_request_parts(parts, app).await?;
        // Last: what is refused takes no connection.
        let db = Db::from_request_parts(parts, app).await?;
        Ok(Self { now: app.clock.now(), layout, person, query, app: app.clone(), db })
    }
}

impl FromRequestParts<App> for Writing {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Sending { now, layout, person, by, app } = Sending::from_request_parts(parts, app).await?;
        let db = Db::from_request_parts(parts, &app).await?;
        Ok(Self { now, layout, person, by, app, db })
    }
}

impl FromRequestParts<App> for Sending {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let layout = Layout::from_request_parts(parts, app).await?;
        let CurrentUser(person) = CurrentUser::from_request_parts(parts, app).await?;
        let by = Actor::from_request_parts(parts, app).await?;
        Ok(Self { now: app.clock.now(), layout, person, by, app: app.clone() })
    }
}

impl FromRequestParts<App> for Entering {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let layout = Layout::from_request_parts(parts, app).await?;
        let visitor = Visitor::from_request_parts(parts, app).await?;
        let client = Client::of(parts, &app.settings);
        Ok(Self { now: app.clock.now(), layout, visitor, client, app: app.clone() })
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    #[tokio::test]
    async fn an_address_that_asks_nothing_may_say_anything() {
        for address in ["/rules/1", "/rules/1?", "/rules/1?a=1&a=2&b", "/rules/1?%ff=%zz&="] {
            let (mut parts, ()) = Request::get(address).body(()).unwrap().into_parts();
            assert!(Query::<Nothing>::from_request_parts(&mut parts, &()).await.is_ok(), "{address}");
        }
    }
}
