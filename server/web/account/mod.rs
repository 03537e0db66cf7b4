//! One's own account: the password, where one is signed in, tokens for scripts, the look.

pub mod sessions;
pub mod tokens;

use askama::Template;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use sqlx::PgConnection;

use super::error::{Error, Result};
use super::extract::{Db, Entering, Form, Now, Visitor, cookie};
use super::form::Fields;
use super::layout::Layout;
use super::observe::Reason;
use super::{App, filters, paths, respond, sign_in};
use crate::accounts::session::Session;
use crate::accounts::sign_in::{self as attempt, Begun, PasswordChange};
use crate::accounts::{ApiToken, Password, Person, Secret, session, token};
use crate::clock;

#[derive(Deserialize)]
pub struct PasswordForm {
    #[serde(default)]
    current: String,
    #[serde(default)]
    new: String,
    /// `yes` where tokens are to be revoked, too.
    #[serde(default)]
    revoke_tokens: String,
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

pub async fn show(_: paths::Account, Now(now): Now, layout: Layout, visitor: Visitor, mut db: Db) -> Result {
    respond::html(Page::find(&mut db, layout, &visitor, Fields::default(), now).await?)
}

pub async fn change_password(
    _: paths::AccountPassword,
    entering: Entering,
    Form(form): Form<PasswordForm>,
) -> Result {
    let Entering { now, layout, visitor, client, app } = entering;
    let (person, _) = visitor.in_browser()?;
    let mut fields = Fields::new([("revoke_tokens", &form.revoke_tokens)]);
    let begun = attempt::begin_again(&mut *app.db.acquire().await?, &person, &client.address, now).await?;
    let mut attempt = match begun {
        Begun::Checking(attempt) => attempt,
        Begun::Wait { until } => return Err(Error::TooMany { until, now }),
    };
    // Nobody holds a connection while a password is hashed.
    let is_same = form.new == form.current;
    let mut is_right = attempt.verify(form.current).await?;
    if is_right {
        attempt::forgive(&mut *app.db.acquire().await?, &attempt).await?;
    }
    let mut new = fields.check("new", Password::choose(&form.new, &person.email));
    if is_right && is_same {
        fields.refuse("new", "Enter a password other than your current one.");
        new = None;
    }
    if let Some(new) = new.filter(|_| is_right) {
        let hash = new.hash(&mut clock::dice()).await?;
        let token = Secret::random(&mut clock::dice());
        let opening = sign_in::opening(&token, &client, &visitor);
        let revokes = form.revoke_tokens == "yes";
        let mut db = app.db.acquire().await?;
        match attempt::change_password(&mut db, &attempt, &hash, revokes, opening, now).await? {
            PasswordChange::Done { tokens_revoked } => {
                let mut response = sign_in::let_in(person.user_id, &token, &app.settings, "/account");
                let sentence = sign_in::changed(tokens_revoked);
                cookie::leave_flash(&mut response, &sentence);
                return Ok(response);
            }
            PasswordChange::Refused => is_right = false,
        }
    }
    let mut db = app.db.acquire().await?;
    if !is_right {
        attempt::refuse(&mut db, &attempt, now).await?;
        fields.refuse("current", "Wrong password. Enter your current password.");
    }
    let response = respond::refused(Page::find(&mut db, layout, &visitor, fields, now).await?)?;
    Ok(if is_right { response } else { Reason::WRONG_PASSWORD.on(response) })
}

pub async fn change_appearance(
    _: paths::AccountAppearance,
    State(app): State<App>,
    Form(form): Form<AppearanceForm>,
) -> Result {
    let mut response = respond::see_other(paths::Account);
    let theme = ["light", "dark"].into_iter().find(|theme| *theme == form.theme);
    cookie::set_theme(&mut response, theme, &app.settings);
    Ok(response)
}

impl Page {
    async fn find(
        db: &mut PgConnection,
        layout: Layout,
        visitor: &Visitor,
        fields: Fields,
        now: DateTime<Utc>,
    ) -> Result<Self> {
        let (person, own) = visitor.in_browser()?;
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
