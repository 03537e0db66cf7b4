//! What handlers take from a request.

mod client;
pub mod cookie;
mod handler_arguments;

pub use client::Client;
pub use handler_arguments::{Entering, Pairs, Reading, Sending, Writing};

use std::convert::Infallible;
use std::ops::{Deref, DerefMut};

use axum::body::{Body, Bytes};
use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, Postgres};

use super::client_disconnect::is_abandoned;
use super::layout::Layout;
use super::{App, Error, Result};
use crate::accounts::{Person, Role, Secret};
use crate::audit::Actor;
use crate::clock;

/// When the request is answered: one moment for all that its handler reads and writes.
pub struct Now(pub DateTime<Utc>);

impl FromRequestParts<App> for Now {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self(app.clock.now()))
    }
}

/// Whoever asks, as the guard recognized them.
#[derive(Clone)]
pub struct Visitor {
    pub person: Option<Person>,
    /// The token of their session.
    pub session: Option<Secret>,
    /// A script with a token of theirs, which only reads.
    pub(super) is_script: bool,
    /// What their forms are signed with before they sign in.
    pub(super) visit: Secret,
    /// The browser does not have `visit` yet.
    pub(super) is_new: bool,
    pub(super) theme: Option<&'static str>,
    pub(super) flash: Option<cookie::Flash>,
    /// They look at a demonstration.
    pub(super) is_demonstration: bool,
}

impl Default for Visitor {
    /// Someone of whom nothing is known, not even a cookie.
    fn default() -> Self {
        let visit = Secret::random(&mut clock::dice());
        Self {
            person: None,
            session: None,
            is_script: false,
            visit,
            is_new: false,
            theme: None,
            flash: None,
            is_demonstration: false,
        }
    }
}

impl Visitor {
    pub fn role(&self) -> Option<Role> {
        self.person.as_ref().map(|person| person.role)
    }

    /// The person in a browser and the token of their session.
    pub fn in_browser(&self) -> Result<(Person, Secret)> {
        self.person.clone().zip(self.session.clone()).ok_or(Error::SignedOut)
    }

    /// What their forms' tokens are made from.
    pub(super) fn secret(&self) -> &Secret {
        self.session.as_ref().unwrap_or(&self.visit)
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        parts.extensions.get::<Self>().cloned().ok_or(Error::SignedOut)
    }
}

/// The person who is signed in.
pub struct CurrentUser(pub Person);

impl<S: Sync> FromRequestParts<S> for CurrentUser {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let visitor = Visitor::from_request_parts(parts, state).await?;
        visitor.person.map(Self).ok_or(Error::SignedOut)
    }
}

/// The person who is signed in, as the audit trail names them.
impl FromRequestParts<App> for Actor {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let CurrentUser(person) = CurrentUser::from_request_parts(parts, app).await?;
        Ok(Self::person(&person.email, &Client::of(parts, &app.settings).address))
    }
}

/// The token that a script sends. `Some` of anything that claims to be one.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

impl<S: Sync> FromRequestParts<S> for Layout {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let visitor = Visitor::from_request_parts(parts, state).await?;
        Ok(Layout::new(&visitor, parts.uri.path()))
    }
}

/// A connection, held until the handler is done. Of a request whose client went away it is closed, which ends its query.
pub struct Db(PoolConnection<Postgres>);

impl FromRequestParts<App> for Db {
    type Rejection = Error;

    async fn from_request_parts(_: &mut Parts, app: &App) -> Result<Self> {
        Ok(Self(app.db.acquire().await?))
    }
}

impl Drop for Db {
    fn drop(&mut self) {
        if is_abandoned() {
            self.0.close_on_drop();
        }
    }
}

impl Deref for Db {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.0
    }
}

impl DerefMut for Db {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.0
    }
}

/// Whether only the changing part of a page is wanted: htmx asks, and not for the whole body.
pub struct Htmx(pub bool);

impl<S: Sync> FromRequestParts<S> for Htmx {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let says = |name| parts.headers.get(name).is_some_and(|value| value == "true");
        Ok(Self(says("hx-request") && !says("hx-boosted") && !says("hx-history-restore-request")))
    }
}

/// The query string; what does not fit is refused with a sentence.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let query = axum_extra::extract::Query::from_request_parts(parts, state).await;
        query
            .map(|axum_extra::extract::Query(query)| Self(query))
            .map_err(|rejection| Error::BadRequest(format!("Check the address: {}.", cause(&rejection))))
    }
}

/// An ordinary form. The guard has checked its token by now.
pub struct Form<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Form<T> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let (parts, body) = request.into_parts();
        let body = Bytes::from_request(Request::from_parts(parts.clone(), body), state).await;
        let body = body.map_err(|rejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => Error::TooLarge,
            _ => Error::BadRequest(format!("The form was interrupted: {}.", cause(&rejection))),
        })?;
        if has_nul(&body) {
            return Err(Error::nul("The form"));
        }
        let request = Request::from_parts(parts, Body::from(body));
        let form = axum_extra::extract::Form::from_request(request, state).await;
        form.map(|axum_extra::extract::Form(form)| Self(form))
            .map_err(|rejection| Error::BadRequest(format!("Check the form: {}.", cause(&rejection))))
    }
}

/// Whether a NUL is in an address or a form, plain or encoded. In both `%00` stands for nothing else.
pub(super) fn has_nul(encoded: &[u8]) -> bool {
    memchr::memchr(0, encoded).is_some() || memchr::memmem::find(encoded, b"%00").is_some()
}

fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let innermost = std::iter::successors(Some(error), |error| error.source()).last();
    innermost.map_or_else(String::new, ToString::to_string)
}

/// An upload, field by field as it arrives. Its token, the first field, was read by the guard.
pub struct Upload(Multipart);

/// The guard found the token in the upload's first field.
#[derive(Clone, Copy)]
pub(super) struct TokenInFirstField;

impl Upload {
    /// The next field. `None` after the last.
    pub async fn next_field(&mut self) -> Result<Option<Field<'_>>> {
        self.0.next_field().await.map_err(|error| Self::broken_off(&error))
    }

    /// A file that fits into memory, with its name; the last of several. Without a name none came along.
    pub async fn one_file(&mut self, largest: usize) -> Result<(String, Vec<u8>)> {
        let (mut name, mut content) = (String::new(), Vec::new());
        while let Some(mut field) = self.next_field().await? {
            if let Some(found) = field.file_name().filter(|found| !found.is_empty()) {
                found.clone_into(&mut name);
            }
            while let Some(chunk) = field.chunk().await.map_err(|error| Self::broken_off(&error))? {
                if content.len() + chunk.len() > largest {
                    return Err(Error::TooLarge);
                }
                content.extend_from_slice(&chunk);
            }
        }
        Ok((name, content))
    }

    /// What is said when the rest of a field does not come.
    pub fn broken_off(error: &MultipartError) -> Error {
        Error::BadRequest(format!("The upload was interrupted: {}.", error.body_text()))
    }
}

impl<S: Send + Sync> FromRequest<S> for Upload {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let skips_first = request.extensions().get::<TokenInFirstField>().is_some();
        let fields = Multipart::from_request(request, state).await;
        let mut upload = Self(fields.map_err(|_| Error::BadRequest("Choose a file to upload.".to_owned()))?);
        if skips_first {
            upload.next_field().await?;
        }
        Ok(upload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_is_seen_plain_and_encoded() {
        for (text, expected) in [
            ("/spend/2026-09?provider=a%00b", true),
            ("email=a%00b", true),
            ("email=a\0b", true),
            ("/spend/2026-09?provider=a%2500b", false),
            ("/spend/2026-09?provider=100%25", false),
            ("", false),
        ] {
            assert_eq!(has_nul(text.as_bytes()), expected, "{text}");
        }
    }

    #[tokio::test]
    async fn an_upload_begins_after_its_token() {
        let part = |name: &str, value: &str| {
            format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        };
        let body = format!("{}{}--B--\r\n", part("csrf", "t0ken"), part("files", "a,b"));
        for has_token in [true, false] {
            let mut request = Request::post("/").header("content-type", "multipart/form-data; boundary=B");
            if has_token {
                request = request.extension(TokenInFirstField);
            }
            let request = request.body(Body::from(body.clone())).unwrap();
            let mut upload = Upload::from_request(request, &()).await.unwrap();
            let first = upload.next_field().await.unwrap().unwrap();
            assert_eq!(first.name(), Some(if has_token { "files" } else { "csrf" }));
        }
    }
}
