//! Signing in and out.

use askama::Template;
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::error::{Error, Result};
use super::extract::{Client, Db, Entering, Form, Query, Visitor, cookie};
use super::form::Fields;
use super::layout::Layout;
use super::observe::{Admitted, Reason};
use super::{headers, paths, respond};
use crate::accounts::session::{self, Opening};
use crate::accounts::sign_in::{self, Begun};
use crate::accounts::{Secret, UserId, token};
use crate::audit::Actor;
use crate::clock;
use crate::config::Settings;

/// Where to go afterwards: an address of ours, or nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Next {
    pub next: Option<String>,
}

#[derive(Deserialize)]
pub struct SignInForm {
    email: String,
    password: String,
    next: Option<String>,
}

#[derive(Template)]
#[template(path = "people/sign_in.html")]
struct Page {
    layout: Layout,
    fields: Fields,
    next: String,
}

pub async fn show(_: paths::SignIn, layout: Layout, Query(query): Query<Next>) -> Result {
    let next = query.local();
    if layout.person.is_some() {
        return Ok(respond::see_other(next));
    }
    respond::html(Page { layout, fields: Fields::default(), next })
}

pub async fn create(_: paths::SignIn, entering: Entering, Form(form): Form<SignInForm>) -> Result {
    let Entering { now, layout, visitor, client, app } = entering;
    let next = Next { next: form.next }.local();
    let begun = sign_in::begin(&mut *app.db.acquire().await?, &form.email, &client.address, now).await?;
    let mut attempt = match begun {
        Begun::Checking(attempt) => attempt,
        Begun::Wait { until } => return Err(Error::TooMany { until, now }),
    };
    attempt.verify(form.password).await?;
    let mut db = app.db.acquire().await?;
    let token = Secret::random(&mut clock::dice());
    let opening = opening(&token, &client, &visitor);
    let Some(user) = sign_in::succeed(&mut db, &attempt, opening, now).await? else {
        sign_in::refuse(&mut db, &attempt, now).await?;
        let mut fields = Fields::new([("email", &form.email)]);
        fields.refuse("password", "Wrong email or password.");
        return Ok(Reason::WRONG_PASSWORD.on(respond::refused(Page { layout, fields, next })?));
    };
    Ok(let_in(user, &token, &app.settings, &next))
}

pub async fn destroy(_: paths::SignOut, entering: Entering, mut db: Db) -> Result {
    let Entering { now, visitor, client, app, .. } = entering;
    if let (Some(token), Some(person)) = (&visitor.session, &visitor.person) {
        let by = Actor::person(&person.email, &client.address);
        session::close(&mut db, person, token, by.at(now)).await?;
    }
    let mut response = respond::see_other(paths::SignIn);
    cookie::close_session(&mut response, &app.settings);
    headers::clear_site_data(&mut response);
    Ok(response)
}

/// What a session is opened with: it takes the place of the one that the browser has.
pub(super) fn opening<'a>(token: &'a Secret, client: &'a Client, visitor: &'a Visitor) -> Opening<'a> {
    Opening { token, browser: client.browser(), instead_of: visitor.session.as_ref() }
}

/// Hands the token of a session that was opened to the browser, and leads on.
pub(super) fn let_in(user: UserId, token: &Secret, settings: &Settings, next: &str) -> Response {
    let mut response = respond::see_other(next);
    cookie::open_session(&mut response, token, settings);
    response.extensions_mut().insert(Admitted(user));
    response
}

/// What people are told when their password is another one.
pub(super) fn changed(tokens_revoked: u64) -> String {
    let revoked = token::revoked(tokens_revoked);
    format!("Password changed. You are signed in on this device only.{revoked}")
}

impl Next {
    /// An address below our own root, whatever was asked for: never another site.
    fn local(&self) -> String {
        let wanted = self.next.as_deref().unwrap_or("/");
        let leads_away =
            |text: &str| text.starts_with("//") || text.contains('\\') || text.contains(char::is_control);
        let is_local = wanted.starts_with('/') && !leads_away(wanted) && !wanted.starts_with("/sign-");
        if is_local && wanted.is_ascii() { wanted.to_owned() } else { "/".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_leads_nowhere_else() {
        let local = |text: &str| Next { next: Some(text.to_owned()) }.local();
        assert_eq!(local("/spend/2026-09?by=team"), "/spend/2026-09?by=team");
        for text in ["https://evil.example", "//evil.example", "/\\evil.example", "", "/sign-out", "/a\nb: c"]
        {
            assert_eq!(local(text), "/", "{text}");
        }
    }
}
