//! Our cookies: the session, the secret of a visitor without one, a message for the next page, the theme.

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::{Cookie, SameSite};

use super::Visitor;
use crate::accounts::{Secret, session};
use crate::config::Settings;

/// The names of a cookie: over http, and over https, where the prefix makes browsers refuse it from any other host or plain
/// http.
type Names = [&'static str; 2];

const SESSION: Names = ["gpuledger_session", "__Host-gpuledger_session"];
const VISIT: Names = ["gpuledger_visit", "__Host-gpuledger_visit"];
const FLASH: Names = ["gpuledger_flash", "__Host-gpuledger_flash"];
const THEME: Names = ["gpuledger_theme", "__Host-gpuledger_theme"];
/// Between the number of the change that a message is about, if any, and its sentence.
const ABOUT: char = '\u{1f}';
/// Browsers keep no cookie of more than 4,096 bytes, and a byte of a sentence takes two.
const LONGEST_SENTENCE: usize = 1500;
/// Of a message's cookie: the hash before its text.
const SIGNATURE: usize = 64;
/// The theme outlives sessions: it belongs to the browser.
const YEAR: i64 = 365 * 24 * 3600;

/// What the last action had to say.
#[derive(Clone, Debug)]
pub struct Flash {
    pub sentence: String,
    /// The change of the allocation that it made, to be undone right there.
    pub change: Option<i64>,
}

/// A message that an answer leaves, until it is known whom it goes to.
#[derive(Clone)]
struct Left(String);

/// The token of a session that an answer opens: what else goes along with it is signed with that.
#[derive(Clone)]
struct Opened(Secret);

fn name(names: Names, settings: &Settings) -> &'static str {
    names[usize::from(settings.base_url().is_https())]
}

fn value<'a>(jar: &'a CookieJar, names: Names, settings: &Settings) -> Option<&'a str> {
    Some(jar.get(name(names, settings))?.value())
}

pub(in crate::web) fn session(jar: &CookieJar, settings: &Settings) -> Option<Secret> {
    Secret::parse(value(jar, SESSION, settings)?)
}

pub(in crate::web) fn visit(jar: &CookieJar, settings: &Settings) -> Option<Secret> {
    Secret::parse(value(jar, VISIT, settings)?)
}

pub(in crate::web) fn theme(jar: &CookieJar, settings: &Settings) -> Option<&'static str> {
    match value(jar, THEME, settings)? {
        "light" => Some("light"),
        "dark" => Some("dark"),
        _ => None,
    }
}

/// The message that the last action left for this page. One that this visitor was not given is none: whoever plants a cookie
/// shows nothing, and offers to undo nothing.
pub(in crate::web) fn flash(jar: &CookieJar, secret: &Secret, settings: &Settings) -> Option<Flash> {
    let (signature, encoded) = value(jar, FLASH, settings)?.split_at_checked(SIGNATURE)?;
    if !secret.signature_is(encoded, signature) {
        return None;
    }
    let pairs = encoded.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let text = String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()?;
    let (change, sentence) = text.split_once(ABOUT)?;
    Some(Flash { sentence: sentence.to_owned(), change: change.parse().ok() })
}

/// Cookies that the guard itself sets: a newcomer's secret, and the message that the answer leaves; one that was shown goes.
pub(in crate::web) fn hand_out(response: &mut Response, visitor: &Visitor, settings: &Settings) {
    let is_page = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.to_str().is_ok_and(|kind| kind.starts_with("text/html")));
    // With pages that may hold a form, and not with a missing icon, lest the page before it loses its secret.
    if visitor.is_new && is_page && response.status() != StatusCode::NOT_FOUND {
        add(response, &base(VISIT, visitor.visit.as_str().to_owned(), settings), None);
    }
    if visitor.flash.is_some() && is_page {
        remove(response, FLASH, settings);
    }
    let opened = response.extensions_mut().remove::<Opened>();
    if let Some(Left(encoded)) = response.extensions_mut().remove::<Left>() {
        let secret = opened.as_ref().map_or(visitor.secret(), |Opened(token)| token);
        let signature = secret.signature(&encoded);
        add(response, &base(FLASH, format!("{signature}{encoded}"), settings), None);
    }
}

pub(in crate::web) fn open_session(response: &mut Response, token: &Secret, settings: &Settings) {
    let cookie = base(SESSION, token.as_str().to_owned(), settings);
    add(response, &cookie, Some(session::LONGEST.num_seconds()));
    response.extensions_mut().insert(Opened(token.clone()));
}

pub(in crate::web) fn close_session(response: &mut Response, settings: &Settings) {
    remove(response, SESSION, settings);
}

/// Leaves a sentence for the page that the browser is sent to. The guard makes the cookie: it knows whom to sign it for.
pub(in crate::web) fn leave_flash(response: &mut Response, sentence: &str) {
    leave(response, sentence, None);
}

/// The same for what a change of the allocation did, which can be undone there.
pub(in crate::web) fn leave_undo(response: &mut Response, sentence: &str, change: i64) {
    leave(response, sentence, Some(change));
}

fn leave(response: &mut Response, sentence: &str, change: Option<i64>) {
    use std::fmt::Write as _;
    let change = change.map(|change| change.to_string()).unwrap_or_default();
    let text = format!("{change}{ABOUT}{}", cut(sentence));
    // In hexadecimal: cookies hold no spaces, commas or letters beyond ASCII.
    let encoded = text.bytes().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    response.extensions_mut().insert(Left(encoded));
}

/// A sentence that fits into a cookie: what people typed may stand in it.
fn cut(sentence: &str) -> Cow<'_, str> {
    if sentence.len() <= LONGEST_SENTENCE {
        return sentence.into();
    }
    let end = sentence.floor_char_boundary(LONGEST_SENTENCE - '…'.len_utf8());
    format!("{}…", &sentence[..end]).into()
}

/// `None` follows the system again.
pub(in crate::web) fn set_theme(response: &mut Response, theme: Option<&'static str>, settings: &Settings) {
    match theme {
        Some(theme) => add(response, &base(THEME, theme.to_owned(), settings), Some(YEAR)),
        None => remove(response, THEME, settings),
    }
}

fn base(names: Names, value: String, settings: &Settings) -> Cookie<'static> {
    Cookie::build((name(names, settings), value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(settings.base_url().is_https())
        .build()
}

fn remove(response: &mut Response, names: Names, settings: &Settings) {
    add(response, &base(names, String::new(), settings), Some(0));
}

/// Without an age the cookie lasts until the browser is closed.
fn add(response: &mut Response, cookie: &Cookie<'static>, seconds: Option<i64>) {
    let age = seconds.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
    if let Ok(value) = HeaderValue::from_str(&format!("{cookie}{age}")) {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;

    use super::*;

    fn settings(base_url: &str) -> Settings {
        Settings::new("data", "127.0.0.1:8080".parse().unwrap(), Some(base_url.parse().unwrap()))
    }

    /// The cookie of a message that is left for a visitor, whole and as their browser sends it back.
    fn left(
        sentence: &str,
        change: Option<i64>,
        visitor: &Visitor,
        settings: &Settings,
    ) -> (String, CookieJar) {
        let mut response = StatusCode::SEE_OTHER.into_response();
        leave(&mut response, sentence, change);
        hand_out(&mut response, visitor, settings);
        let whole = response.headers()[header::SET_COOKIE].to_str().unwrap().to_owned();
        let jar = CookieJar::new().add(Cookie::parse(whole.clone()).unwrap());
        (whole, jar)
    }

    #[test]
    fn a_message_is_read_by_the_visitor_it_was_left_for_only() {
        let settings = settings("https://gpus.example.org");
        let visitor = Visitor::default();
        let (whole, jar) = left("Saved: é, \u{1f}7", Some(12), &visitor, &settings);
        assert!(whole.starts_with("__Host-gpuledger_flash=") && whole.contains("Secure"), "{whole}");
        let flash = flash(&jar, visitor.secret(), &settings).unwrap();
        assert_eq!((flash.sentence.as_str(), flash.change), ("Saved: é, \u{1f}7", Some(12)));
        assert!(super::flash(&jar, Visitor::default().secret(), &settings).is_none());

        let (_, jar) = left("Saved: \u{1f}7", None, &visitor, &settings);
        let flash = super::flash(&jar, visitor.secret(), &settings).unwrap();
        assert_eq!(flash.change, None, "what people type offers to undo nothing");
    }

    #[test]
    fn a_message_that_was_altered_or_has_no_signature_is_ignored() {
        let settings = settings("http://127.0.0.1:8080");
        let visitor = Visitor::default();
        let (_, jar) = left("Saved.", None, &visitor, &settings);
        let whole = jar.get("gpuledger_flash").unwrap().value().to_owned();
        let unsigned = "1f57656c6c20646f6e652e";
        for planted in [
            unsigned.to_owned(),
            format!("{}{unsigned}", "0".repeat(SIGNATURE)),
            format!("{}{unsigned}", &whole[..SIGNATURE]),
            format!("{whole}2e"),
            format!("é{whole}"),
            "é".repeat(40),
            String::new(),
        ] {
            let jar = CookieJar::new().add(Cookie::new("gpuledger_flash", planted.clone()));
            assert!(flash(&jar, visitor.secret(), &settings).is_none(), "{planted}");
        }
    }

    #[test]
    fn a_long_message_is_cut_so_that_browsers_keep_its_cookie() {
        let settings = settings("https://gpus.example.org");
        let visitor = Visitor::default();
        for letter in ["x", "é", "…", "🎉"] {
            let sentence = format!("a{}", letter.repeat(3000));
            let (whole, jar) = left(&sentence, Some(i64::MAX), &visitor, &settings);
            assert!(whole.len() < 4096, "{}", whole.len());
            let flash = flash(&jar, visitor.secret(), &settings).unwrap();
            let kept = flash.sentence.strip_suffix('…').unwrap();
            assert!(kept.len() > 1490 && sentence.starts_with(kept), "{}", kept.len());
        }
    }
}
