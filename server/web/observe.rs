//! What operators see of every request: a line in the log, counts and durations, and an id that ties them to what the
//! person was shown. Never the address as it was sent: it may hold a token or what somebody searched for.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use tracing::Instrument as _;
use uuid::Uuid;

use super::App;
use super::error::Error;
use super::extract::Client;
use crate::accounts::UserId;
use crate::config::Network;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// What no route matches, under one name: strangers try thousands.
const UNKNOWN: &str = "none";
/// Asked every few seconds by machines, and files.
const QUIET: [&str; 4] = ["/healthz", "/readyz", "/metrics", "/assets/{file}"];

/// Whom the guard recognized; goes along with the response.
#[derive(Clone, Copy)]
pub(super) struct Who(pub Option<UserId>);

/// Who was nobody when they asked, and is let in by the answer.
#[derive(Clone, Copy)]
pub(super) struct Admitted(pub UserId);

/// Why a request was refused, in a word or two; goes along with the response.
#[derive(Clone, Copy)]
pub(super) struct Reason(&'static str);

impl Reason {
    pub const WRONG_PASSWORD: Self = Self("wrong password");

    /// Of what a status alone does not tell.
    pub fn of(error: &Error) -> Option<Self> {
        let words = match error {
            Error::SignedOut => "signed out",
            Error::BadToken(_) => "bad token",
            Error::NotForTokens => "not for tokens",
            Error::Forbidden | Error::MayNotWrite => "role",
            Error::Forged => "form token or origin",
            Error::TooMany { .. } => "too many attempts",
            Error::TooManyDownloads => "too many downloads",
            Error::AsksMuch => "too many pages",
            Error::DownloadsBusy => "downloads busy",
            Error::ComputingBusy => "computing busy",
            Error::TooSlow => "too slow",
            Error::Unavailable(_) => "database unavailable",
            _ => return None,
        };
        Some(Self(words))
    }

    #[must_use]
    pub fn on(self, mut response: Response) -> Response {
        response.extensions_mut().insert(self);
        response
    }
}

pub(super) async fn observe(
    State(app): State<App>,
    client: Client,
    mut request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let id = id_of(&request, &app.settings.trusted_proxies);
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let id_text = id.to_str().unwrap_or_default().to_owned();
    let span = tracing::info_span!("request", id = id_text);
    async move {
        // A bug that panics is an answer like any other error: with an id, in the log and in the counts.
        let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
        let mut response = answered
            .unwrap_or_else(|_| Error::Internal(anyhow::anyhow!("a handler panicked")).into_response());
        let route = route.as_ref().map_or(UNKNOWN, MatchedPath::as_str);
        let (status, took) = (response.status().as_u16(), began.elapsed());
        app.metrics.count(&method, route, status, took);
        let about = response.extensions();
        let admitted = about.get::<Admitted>().map(|admitted| admitted.0);
        let user = admitted.or(about.get::<Who>().and_then(|who| who.0)).map(|user| user.0);
        let reason = about.get::<Reason>().map(|reason| reason.0);
        let (client, millis) = (client.address.as_str(), took.as_secs_f64() * 1000.0);
        if QUIET.contains(&route) {
            tracing::debug!(%method, route, status, millis, user, client, reason, "answered");
        } else {
            tracing::info!(%method, route, status, millis, user, client, reason, "answered");
        }
        response.headers_mut().insert(REQUEST_ID, id);
        response
    }
    .instrument(span)
    .await
}

/// The one that a trusted proxy gave, where it is one that can stand in a log; else a new one. From anybody else it is nothing:
/// they could make their lines look like those of another request.
fn id_of(request: &Request, proxies: &[Network]) -> HeaderValue {
    let is_proxy = request.extensions().get::<ConnectInfo<SocketAddr>>().is_some_and(|ConnectInfo(peer)| {
        let address = peer.ip().to_canonical();
        proxies.iter().any(|network| network.contains(address))
    });
    let is_plain = |id: &&HeaderValue| {
        let bytes = id.as_bytes();
        (1..=64).contains(&bytes.len())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let given = request.headers().get(REQUEST_ID).filter(|_| is_proxy).filter(is_plain).cloned();
    given.unwrap_or_else(|| {
        HeaderValue::from_str(&Uuid::new_v4().simple().to_string())
            .unwrap_or(HeaderValue::from_static("none"))
    })
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn id(text: &str, peer: &str) -> String {
        let mut request = Request::new(Body::empty());
        request.headers_mut().insert(REQUEST_ID, text.parse().unwrap());
        request.extensions_mut().insert(ConnectInfo::<SocketAddr>(peer.parse().unwrap()));
        let proxies = ["10.0.0.0/8".parse().unwrap()];
        id_of(&request, &proxies).to_str().unwrap().to_owned()
    }

    #[test]
    fn an_id_from_outside_stands_in_the_log_only_where_it_is_plain() {
        assert_eq!(id("req-7_a", "10.0.0.1:4711"), "req-7_a");
        for text in ["", "a b", "\"}", &"x".repeat(65)] {
            assert_eq!(id(text, "10.0.0.1:4711").len(), 32, "{text}");
        }
    }

    #[test]
    fn an_id_of_who_is_no_trusted_proxy_is_replaced() {
        assert_eq!(id("req-7_a", "[::ffff:10.0.0.1]:4711"), "req-7_a");
        assert_eq!(id("req-7_a", "192.0.2.7:4711").len(), 32);
    }
}
