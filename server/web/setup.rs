//! The first administrator, through the link that the server printed.

use askama::Template;
use serde::Deserialize;

use super::error::{Error, Result};
use super::extract::{Db, Entering, Form, Now};
use super::form::Fields;
use super::layout::Layout;
use super::{paths, respond, sign_in};
use crate::accounts::setup::{self, SetUp};
use crate::accounts::{Email, NewPerson, Password, Role, Secret};
use crate::audit::Actor;
use crate::clock;

#[derive(Deserialize)]
pub struct SetupForm {
    email: String,
    #[serde(default)]
    name: String,
    password: String,
}

#[derive(Template)]
#[template(path = "people/setup.html")]
struct Page {
    layout: Layout,
    path: paths::Setup,
    fields: Fields,
}

pub async fn show(path: paths::Setup, Now(now): Now, layout: Layout, mut db: Db) -> Result {
    let token = path.token()?;
    if !setup::is_open(&mut db, &token, now).await? {
        return Err(over());
    }
    respond::html(Page { layout, path, fields: Fields::default() })
}

pub async fn create(path: paths::Setup, entering: Entering, Form(form): Form<SetupForm>) -> Result {
    let Entering { now, layout, visitor, client, app } = entering;
    let token = path.token()?;
    if !setup::is_open(&mut *app.db.acquire().await?, &token, now).await? {
        return Err(over());
    }
    let mut fields = Fields::new([("email", &form.email), ("name", &form.name)]);
    let email = fields
        .check("email", Email::parse(&form.email).ok_or("Enter an email address such as name@example.com."));
    let password = fields.check("password", Password::choose(&form.password, form.email.trim()));
    let (Some(email), Some(password)) = (email, password) else {
        return respond::refused(Page { layout, path, fields });
    };
    // Nobody holds a connection while a password is hashed.
    let hash = password.hash(&mut clock::dice()).await?;
    let name = Some(form.name.trim().to_owned()).filter(|name| !name.is_empty());
    let person = NewPerson { email, name, role: Role::Admin, teams: Vec::new() };
    let by = Actor::person(person.email.as_str(), &client.address);
    let mut db = app.db.acquire().await?;
    let session = Secret::random(&mut clock::dice());
    let opening = sign_in::opening(&session, &client, &visitor);
    match setup::complete(&mut db, &token, &person, &hash, &by, opening, now).await? {
        SetUp::Done(user) => Ok(sign_in::let_in(user, &session, &app.settings, "/")),
        SetUp::LinkIsOver => Err(over()),
    }
}

impl paths::Setup {
    fn token(&self) -> Result<Secret> {
        Secret::parse(&self.token).ok_or_else(over)
    }
}

fn over() -> Error {
    Error::NoSuchPage(
        "This setup link has expired: it was used, is older than a day, or the first account exists. \
         If nobody has an account yet, restart the server to print a new link."
            .to_owned(),
    )
}
