//! Headers of every response: what the browser may load, and what it must not do with our pages.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response;

use crate::config::Settings;

/// Scripts and styles are files of ours, never part of a page.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const ALWAYS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
];

/// Has the browser forget what it keeps of our pages. Cookies stay, and so does the theme, which is one.
pub(super) fn clear_site_data(response: &mut Response) {
    let what = HeaderValue::from_static(r#""cache", "storage""#);
    response.headers_mut().insert(HeaderName::from_static("clear-site-data"), what);
}

pub(super) fn set(response: &mut Response, settings: &Settings) {
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if settings.base_url().is_https() {
        let year = HeaderValue::from_static("max-age=31536000");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, year);
    }
    if headers.contains_key(header::CACHE_CONTROL) {
        return;
    }
    // Figures are for the person who asked: no proxy and no shared computer keeps them.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // The same address answers a whole page or, to htmx, a part of it.
    headers.append(header::VARY, HeaderValue::from_static("HX-Request, Cookie, Authorization"));
}
