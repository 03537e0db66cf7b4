//! Choosing a password through a link that an administrator passed on.

use askama::Template;
use serde::Deserialize;

use super::error::{Error, Result};
use super::extract::{Db, Entering, Form, Now, cookie};
use super::form::Fields;
use super::layout::Layout;
use super::{paths, respond, sign_in};
use crate::accounts::link::{self, Open};
use crate::accounts::{Password, Secret};
use crate::clock;

#[derive(Deserialize)]
pub struct PasswordForm {
    #[serde(default)]
    password: String,
}

#[derive(Template)]
#[template(path = "people/password.html")]
struct Page {
    layout: Layout,
    path: paths::PasswordLink,
    open: Open,
    fields: Fields,
}

pub async fn show(path: paths::PasswordLink, Now(now): Now, layout: Layout, mut db: Db) -> Result {
    let open = link::find(&mut db, &path.token()?, now).await?.ok_or_else(over)?;
    respond::html(Page { layout, path, open, fields: Fields::default() })
}

pub async fn create(path: paths::PasswordLink, entering: Entering, Form(form): Form<PasswordForm>) -> Result {
    let Entering { now, layout, visitor, client, app } = entering;
    let link = path.token()?;
    let open = link::find(&mut *app.db.acquire().await?, &link, now).await?.ok_or_else(over)?;
    let mut fields = Fields::default();
    let Some(password) = fields.check("password", Password::choose(&form.password, &open.email)) else {
        return respond::refused(Page { layout, path, open, fields });
    };
    // Nobody holds a connection while a password is hashed.
    let hash = password.hash(&mut clock::dice()).await?;
    let mut db = app.db.acquire().await?;
    let session = Secret::random(&mut clock::dice());
    let opening = sign_in::opening(&session, &client, &visitor);
    let used = link::complete(&mut db, &link, &hash, &client.address, opening, now).await?;
    let used = used.ok_or_else(over)?;
    let mut response = sign_in::let_in(used.user, &session, &app.settings, "/");
    if !open.is_first {
        cookie::leave_flash(&mut response, &sign_in::changed(used.tokens_revoked));
    }
    Ok(response)
}

impl paths::PasswordLink {
    fn token(&self) -> Result<Secret> {
        Secret::parse(&self.token).ok_or_else(over)
    }
}

fn over() -> Error {
    Error::NoSuchPage(
        "This link has expired: it was used, replaced by a newer one, or is older than three days. \
         Ask an administrator of this server for a new one."
            .to_owned(),
    )
}
