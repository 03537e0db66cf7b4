//! One's own account: the password, the look.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::Deserialize;

use super::error::Result;
use super::extract::{CurrentUser, Db, Form, cookie};
use super::form::Fields;
use super::layout::Layout;
use super::{filters, paths, respond, sign_in};
use crate::accounts::{Password, Person, password, people};
use crate::clock;
use crate::config::Settings;

#[derive(Deserialize)]
pub struct PasswordForm {
    current: String,
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
    fields: Fields,
}

pub async fn show(_: paths::Account, layout: Layout, CurrentUser(person): CurrentUser) -> Result {
    respond::html(Page { layout, person, fields: Fields::default() })
}

pub async fn change_password(
    _: paths::AccountPassword,
    layout: Layout,
    CurrentUser(person): CurrentUser,
    State(settings): State<Arc<Settings>>,
    headers: HeaderMap,
    mut db: Db,
    Form(form): Form<PasswordForm>,
) -> Result {
    let mut fields = Fields::default();
    let hash = people::password_hash(&mut db, person.user_id).await?;
    if !password::verify(hash, form.current).await? {
        fields.refuse("current", "This is not your password.");
    }
    let new = fields.check("new", Password::choose(&form.new, &person.email));
    let Some(new) = new.filter(|_| !fields.is_refused()) else {
        return respond::refused(Page { layout, person, fields });
    };
    let hash = new.hash(&mut clock::dice()).await?;
    people::change_password(&mut db, person.user_id, &hash).await?;
    let mut response = sign_in::start(&mut db, person.user_id, &headers, &settings, "/account").await?;
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
