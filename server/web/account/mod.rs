//! One's own account: the password, where one is signed in, tokens for scripts, the look.

pub mod sessions;
pub mod tokens;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use sqlx::{PgConnection, PgPool};

use super::error::{Error, Result};
use super::extract::{Client, Db, Form, Visitor, cookie};
use super::form::Fields;
use super::layout::Layout;
use super::{filters, paths, respond, sign_in};
use crate::accounts::session::Session;
use crate::accounts::sign_in::{self as attempt, Begun};
use crate::accounts::{ApiToken, Password, Person, people, session, token};
use crate::audit::Actor;
use crate::clock;
use crate::config::Settings;

#[derive(Deserialize)]
pub struct PasswordForm {
    #[serde(default)]
    current: String,
    #[serde(default)]
    new: String,
}

#[derive(Deserialize)]
pub struct AppearanceForm {
    theme: String,
}

#[derive(Template)]
#[template(path = "people/account.html")]
struct Page {
    layout: Layout,
    person: Person,
    sessions: Vec<Session>,
    tokens: Vec<ApiToken>,
    fields: Fields,
    now: DateTime<Utc>,
}

pub async fn show(_: paths::Account, layout: Layout, visitor: Visitor, mut db: Db) -> Result {
    respond::html(Page::find(&mut db, layout, &visitor, Fields::default()).await?)
}

pub async fn change_password(
    _: paths::AccountPassword,
    layout: Layout,
    visitor: Visitor,
    State(settings): State<Arc<Settings>>,
    client: Client,
    State(pool): State<PgPool>,
    Form(form): Form<PasswordForm>,
) -> Result {
    let (person, _) = visitor.in_browser()?;
    let mut fields = Fields::default();
    // Guessing it from a browser that was left open is slowed down as signing in is.
    let now = clock::now();
    let begun = attempt::begin(&mut *pool.acquire().await?, &person.email, &client.address, now).await?;
    let mut attempt = match begun {
        Begun::Checking(attempt) => attempt,
        Begun::Wait { until } => return Err(Error::TooMany { until, now }),
    };
    // Nobody holds a connection while a password is hashed.
    match attempt.verify(form.current).await? {
        Some(_) => attempt::forgive(&mut *pool.acquire().await?, &attempt).await?,
        None => fields.refuse("current", "This is not your password."),
    }
    let new = fields.check("new", Password::choose(&form.new, &person.email));
    let Some(new) = new.filter(|_| !fields.is_refused()) else {
        let mut db = pool.acquire().await?;
        return respond::refused(Page::find(&mut db, layout, &visitor, fields).await?);
    };
    let hash = new.hash(&mut clock::dice()).await?;
    let mut db = pool.acquire().await?;
    let by = Actor::person(&person.email, &client.address);
    people::change_password(&mut db, &person, &hash, &by, clock::now()).await?;
    let mut response = sign_in::start(&mut db, person.user_id, &client, &settings, "/account").await?;
    cookie::leave_flash(&mut response, "Your password is changed. Other devices were signed out.", &settings);
    Ok(response)
}

pub async fn change_appearance(
    _: paths::AccountAppearance,
    State(settings): State<Arc<Settings>>,
    Form(form): Form<AppearanceForm>,
) -> Result {
    let mut response = respond::see_other(paths::Account);
    let theme = ["light", "dark"].into_iter().find(|theme| *theme == form.theme);
    cookie::set_theme(&mut response, theme, &settings);
    Ok(response)
}

impl Page {
    async fn find(db: &mut PgConnection, layout: Layout, visitor: &Visitor, fields: Fields) -> Result<Self> {
        let (person, own) = visitor.in_browser()?;
        let now = clock::now();
        let sessions = session::list(db, person.user_id, Some(&own), now).await?;
        let tokens = token::list(db, person.user_id).await?;
        Ok(Self { layout, person, sessions, tokens, fields, now })
    }
}

fn end(session: &Session) -> paths::AccountSession {
    paths::AccountSession { session: session.session_id }
}

fn revoke(token: &ApiToken) -> paths::AccountToken {
    paths::AccountToken { token: token.api_token_id }
}
