//! Our cookies: the session, the secret of a visitor without one, a message for the next page, the theme.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::{Cookie, SameSite};

use super::Visitor;
use crate::accounts::{Secret, session};
use crate::config::Settings;

const FLASH: &str = "gpuledger_flash";
/// Between a message and the number of the change that it is about.
const UNDO: char = '\u{1f}';
const THEME: &str = "gpuledger_theme";
/// The theme outlives sessions: it belongs to the browser.
const YEAR: i64 = 365 * 24 * 3600;

/// What the last action had to say.
#[derive(Clone, Debug)]
pub struct Flash {
    pub sentence: String,
    /// The change of the allocation that it made, to be undone right there.
    pub change: Option<i64>,
}

/// Over https the prefix makes browsers refuse the cookie from any other host or plain http.
fn session_name(settings: &Settings) -> &'static str {
    if settings.base_url().is_https() { "__Host-gpuledger_session" } else { "gpuledger_session" }
}

fn visit_name(settings: &Settings) -> &'static str {
    if settings.base_url().is_https() { "__Host-gpuledger_visit" } else { "gpuledger_visit" }
}

pub(in crate::web) fn session(jar: &CookieJar, settings: &Settings) -> Option<Secret> {
    Secret::parse(jar.get(session_name(settings))?.value())
}

pub(in crate::web) fn visit(jar: &CookieJar, settings: &Settings) -> Option<Secret> {
    Secret::parse(jar.get(visit_name(settings))?.value())
}

pub(in crate::web) fn theme(jar: &CookieJar) -> Option<&'static str> {
    match jar.get(THEME)?.value() {
        "light" => Some("light"),
        "dark" => Some("dark"),
        _ => None,
    }
}

/// The message that the last action left for this page.
pub(in crate::web) fn flash(jar: &CookieJar) -> Option<Flash> {
    let bytes = jar.get(FLASH)?.value().as_bytes();
    let pairs = bytes.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let text = String::from_utf8(pairs.collect::<Option<Vec<u8>>>()?).ok()?;
    Some(match text.split_once(UNDO) {
        Some((sentence, change)) => Flash { sentence: sentence.to_owned(), change: change.parse().ok() },
        None => Flash { sentence: text, change: None },
    })
}

/// Cookies that the guard itself sets: a newcomer's secret; and the message, once shown, goes.
pub(in crate::web) fn hand_out(response: &mut Response, visitor: &Visitor, settings: &Settings) {
    let is_page = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.to_str().is_ok_and(|kind| kind.starts_with("text/html")));
    // With pages that may hold a form, and not with a missing icon, lest the page before it loses its secret.
    if visitor.is_new && is_page && response.status() != StatusCode::NOT_FOUND {
        add(response, &base(visit_name(settings), visitor.visit.as_str().to_owned(), settings), None);
    }
    if visitor.flash.is_some() && is_page {
        remove(response, FLASH, settings);
    }
}

pub(in crate::web) fn open_session(response: &mut Response, token: &Secret, settings: &Settings) {
    let cookie = base(session_name(settings), token.as_str().to_owned(), settings);
    add(response, &cookie, Some(session::LONGEST.num_seconds()));
}

pub(in crate::web) fn close_session(response: &mut Response, settings: &Settings) {
    remove(response, session_name(settings), settings);
}

/// Leaves a sentence for the page that the browser is sent to.
pub(in crate::web) fn leave_flash(response: &mut Response, sentence: &str, settings: &Settings) {
    use std::fmt::Write as _;
    // In hexadecimal: cookies hold no spaces, commas or letters beyond ASCII.
    let value = sentence.bytes().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    add(response, &base(FLASH, value, settings), None);
}

/// The same for what a change of the allocation did, which can be undone there.
pub(in crate::web) fn leave_undo(response: &mut Response, sentence: &str, change: i64, settings: &Settings) {
    leave_flash(response, &format!("{sentence}{UNDO}{change}"), settings);
}

/// `None` follows the system again.
pub(in crate::web) fn set_theme(response: &mut Response, theme: Option<&'static str>, settings: &Settings) {
    match theme {
        Some(theme) => add(response, &base(THEME, theme.to_owned(), settings), Some(YEAR)),
        None => remove(response, THEME, settings),
    }
}

fn base(name: &'static str, value: String, settings: &Settings) -> Cookie<'static> {
    Cookie::build((name, value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(settings.base_url().is_https())
        .build()
}

fn remove(response: &mut Response, name: &'static str, settings: &Settings) {
    add(response, &base(name, String::new(), settings), Some(0));
}

/// Without an age the cookie lasts until the browser is closed.
fn add(response: &mut Response, cookie: &Cookie<'static>, seconds: Option<i64>) {
    let age = seconds.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
    if let Ok(value) = HeaderValue::from_str(&format!("{cookie}{age}")) {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
}
