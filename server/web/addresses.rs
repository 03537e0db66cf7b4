//! What addresses ask, answered without a database: for tests that try any address at all.

use std::sync::LazyLock;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Uri};
use axum::response::{IntoResponse as _, Response};
use axum_extra::routing::RouterExt as _;
use futures_util::FutureExt as _;
use tower::ServiceExt as _;

use super::extract::Query;
use super::format;
use super::question::Asked;
use super::{Result, paths, scenarios};

static ROUTES: LazyLock<Router> =
    LazyLock::new(|| Router::new().typed_get(spend).typed_get(scenarios::show::of_template_alone));

/// Answers an address of `/spend/…` or `/scenarios/templates/…`, with its status: a page with the address that asks the
/// same as links print it, a file of a scenario with its content. `None` of any other, and of what is no address.
pub fn answer(address: &str) -> Option<(u16, Vec<u8>)> {
    let is_known = ["/spend/", "/scenarios/templates/"].iter().any(|path| address.starts_with(path));
    let uri: Uri = address.parse().ok().filter(|_| is_known)?;
    let request = format::take_off_suffix(Request::get(uri).body(Body::empty()).ok()?);
    // Nothing here waits for anything.
    let response = ROUTES.clone().oneshot(request).now_or_never()?.ok()?;
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).now_or_never()?.ok()?;
    Some((status, body.into()))
}

async fn spend(path: paths::Spend, Query(pairs): Query<Vec<(String, String)>>) -> Result<Response> {
    Ok(Asked::read(pairs)?.link(path).into_response())
}
