//! Forgery: every request that writes must come from one of our own pages.
//!
//! Two independent proofs: the browser says where the request came from (`Sec-Fetch-Site`, `Origin`), and
//! the form carries a token that only our pages know: as a header, as the field `csrf` of an ordinary form,
//! or as the first field of an upload, which is read here without waiting for the files behind it.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use axum_extra::extract::Form;
use futures_util::{StreamExt, stream};
use serde::Deserialize;

use crate::config::Settings;
use crate::web::error::{Error, Result};
use crate::web::extract::{TokenInFirstField, Visitor};

/// The header that scripts send the token in.
const HEADER: &str = "x-csrf-token";
/// No ordinary form of ours is longer.
const LONGEST_FORM: usize = 1 << 20;
/// Boundary, header lines and token of an upload's first field fit easily.
const LONGEST_FIRST_FIELD: usize = 4 << 10;

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    csrf: String,
}

/// Answers the request as it came, or refuses it.
pub(super) async fn check(request: Request, visitor: &Visitor, settings: &Settings) -> Result<Request> {
    if !is_from_here(request.headers(), settings) {
        return Err(Error::Forged);
    }
    let (token, request) = take_token(request).await?;
    if visitor.secret().csrf_is(&token) { Ok(request) } else { Err(Error::Forged) }
}

/// What the browser says about where the request came from. Silence is no proof either way.
fn is_from_here(headers: &HeaderMap, settings: &Settings) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"));
    if let Some(site) = text(header::HeaderName::from_static("sec-fetch-site")) {
        return matches!(site, "same-origin" | "none");
    }
    let Some(origin) = text(header::ORIGIN) else { return true };
    let Some((_, authority)) = origin.split_once("://") else { return false };
    // Whoever opens the server under another name (localhost, a proxy's) sends that name in both.
    authority == settings.base_url().authority() || Some(authority) == text(header::HOST)
}

async fn take_token(request: Request) -> Result<(String, Request)> {
    if let Some(sent) = request.headers().get(HEADER) {
        let sent = sent.to_str().unwrap_or_default().to_owned();
        return Ok((sent, request));
    }
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    if let Some(boundary) = boundary(kind) {
        return take_from_upload(request, &boundary).await;
    }
    if kind.starts_with("application/x-www-form-urlencoded") {
        return take_from_form(request).await;
    }
    Ok((String::new(), request))
}

async fn take_from_form(request: Request) -> Result<(String, Request)> {
    let (parts, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, LONGEST_FORM).await.map_err(|_| Error::TooLarge)?;
    let whole = Request::from_parts(parts.clone(), Body::from(bytes.clone()));
    let token = Form::<Token>::from_request(whole, &()).await.map(|Form(form)| form.csrf).unwrap_or_default();
    Ok((token, Request::from_parts(parts, Body::from(bytes))))
}

fn boundary(kind: &str) -> Option<String> {
    let parameters = kind.strip_prefix("multipart/form-data")?;
    let value = parameters.split(';').find_map(|parameter| parameter.trim().strip_prefix("boundary="))?;
    Some(value.trim_matches('"').to_owned())
}

async fn take_from_upload(request: Request, boundary: &str) -> Result<(String, Request)> {
    let (mut parts, body) = request.into_parts();
    let mut rest = body.into_data_stream();
    let mut read = Vec::new();
    let mut token = None;
    while token.is_none() && read.len() < LONGEST_FIRST_FIELD {
        let Some(chunk) = rest.next().await else { break };
        let chunk = chunk.map_err(|_| Error::BadRequest("The upload was interrupted.".to_owned()))?;
        read.extend_from_slice(&chunk);
        token = first_field(&read[..read.len().min(LONGEST_FIRST_FIELD)], boundary);
    }
    if token.is_some() {
        parts.extensions.insert(TokenInFirstField);
    }
    let whole = stream::once(async { Ok(Bytes::from(read)) }).chain(rest);
    Ok((token.unwrap_or_default(), Request::from_parts(parts, Body::from_stream(whole))))
}

/// The value of the first field, once all of it has arrived and if its name is `csrf`.
fn first_field(read: &[u8], boundary: &str) -> Option<String> {
    let text = String::from_utf8_lossy(read);
    let field = text.trim_start_matches("\r\n").strip_prefix("--")?.strip_prefix(boundary)?;
    let (head, body) = field.split_once("\r\n\r\n")?;
    let (value, _) = body.split_once(&format!("\r\n--{boundary}"))?;
    head.contains("name=\"csrf\"").then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn it_believes_the_browser_about_where_a_request_comes_from() {
        let settings = Settings::new(
            "data",
            "127.0.0.1:8080".parse().unwrap(),
            Some("https://gpus.example.org".parse().unwrap()),
        );
        for (list, is_ours) in [
            (&[][..], true),
            (&[("sec-fetch-site", "same-origin"), ("origin", "null")], true),
            (&[("sec-fetch-site", "none")], true),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site"), ("origin", "https://gpus.example.org")], false),
            (&[("origin", "https://gpus.example.org")], true),
            (&[("origin", "http://localhost:8080"), ("host", "localhost:8080")], true),
            (&[("origin", "https://evil.example"), ("host", "gpus.example.org")], false),
            (&[("origin", "null")], false),
        ] {
            assert_eq!(is_from_here(&headers(list), &settings), is_ours, "{list:?}");
        }
    }

    #[test]
    fn it_finds_the_token_of_an_upload() {
        let whole = "--B\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\nt0ken\r\n--B\r\nContent";
        assert_eq!(first_field(whole.as_bytes(), "B").as_deref(), Some("t0ken"));
        for cut in 0..whole.len() - 12 {
            let found = first_field(&whole.as_bytes()[..cut], "B");
            assert!(found.is_none() || found.as_deref() == Some("t0ken"), "{cut}");
        }
        let other = whole.replace("csrf", "files");
        assert_eq!(first_field(other.as_bytes(), "B"), None);
        assert_eq!(boundary("multipart/form-data; boundary=\"B\"").as_deref(), Some("B"));
        assert_eq!(boundary("text/plain"), None);
    }
}
