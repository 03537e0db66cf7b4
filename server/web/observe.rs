//! What operators see of every request: a line in the log, counts and durations, and an id that ties them to what the
//! person was told. Never the address as it was sent: it may hold a token or what somebody searched for.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use tracing::Instrument as _;
use uuid::Uuid;

use super::App;
use super::error::Error;
use crate::accounts::UserId;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// What no route matches, under one name: strangers try thousands.
const UNKNOWN: &str = "none";
/// Asked every few seconds by machines, and files.
const QUIET: [&str; 4] = ["/healthz", "/readyz", "/metrics", "/assets/{file}"];

/// Whom the guard recognized; goes along with the response.
#[derive(Clone, Copy)]
pub(super) struct Who(pub Option<UserId>);

pub(super) async fn observe(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = id_of(request.headers());
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
        let user = response.extensions().get::<Who>().and_then(|who| who.0).map(|user| user.0);
        let millis = took.as_secs_f64() * 1000.0;
        if QUIET.contains(&route) {
            tracing::debug!(%method, route, status, millis, user, "answered");
        } else {
            tracing::info!(%method, route, status, millis, user, "answered");
        }
        response.headers_mut().insert(REQUEST_ID, id);
        response
    }
    .instrument(span)
    .await
}

/// The one that a proxy gave, where it is one that can stand in a log; else a new one.
fn id_of(headers: &HeaderMap) -> HeaderValue {
    let is_plain = |id: &&HeaderValue| {
        let bytes = id.as_bytes();
        (1..=64).contains(&bytes.len())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let given = headers.get(REQUEST_ID).filter(is_plain).cloned();
    given.unwrap_or_else(|| {
        HeaderValue::from_str(&Uuid::new_v4().simple().to_string())
            .unwrap_or(HeaderValue::from_static("none"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_from_outside_stands_in_the_log_only_where_it_is_plain() {
        let of = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, text.parse().unwrap());
            id_of(&headers).to_str().unwrap().to_owned()
        };
        assert_eq!(of("req-7_a"), "req-7_a");
        for text in ["", "a b", "\"}", &"x".repeat(65)] {
            assert_eq!(of(text).len(), 32, "{text}");
        }
    }
}
