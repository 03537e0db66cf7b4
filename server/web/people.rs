//! Who has an account, and adding someone.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use serde::Deserialize;

use super::error::Result;
use super::extract::{Db, Form, cookie};
use super::form::Fields;
use super::layout::Layout;
use super::{filters, paths, respond};
use crate::accounts::people::{self, Added, parse_teams};
use crate::accounts::{Email, NewPerson, Password, Person, Role};
use crate::clock;
use crate::config::Settings;

#[derive(Deserialize)]
pub struct PersonForm {
    email: String,
    #[serde(default)]
    name: String,
    role: String,
    #[serde(default)]
    teams: String,
    password: String,
}

#[derive(Template)]
#[template(path = "people/index.html")]
struct Page {
    layout: Layout,
    people: Vec<Person>,
    fields: Fields,
}

pub async fn index(_: paths::People, layout: Layout, mut db: Db) -> Result {
    let people = people::list(&mut db).await?;
    respond::html(Page { layout, people, fields: Fields::default() })
}

pub async fn create(
    _: paths::People,
    layout: Layout,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
    Form(form): Form<PersonForm>,
) -> Result {
    let mut fields = form.fields();
    if let Some((person, password)) = form.read(&mut fields) {
        let hash = password.hash(&mut clock::dice()).await?;
        match people::add(&mut db, &person, &hash, clock::now()).await? {
            Added::As(_) => {
                let mut response = respond::see_other(paths::People);
                cookie::leave_flash(&mut response, &format!("{} can sign in now.", person.email), &settings);
                return Ok(response);
            }
            Added::EmailTaken => fields.refuse("email", "Somebody has this address already."),
        }
    }
    let people = people::list(&mut db).await?;
    respond::refused(Page { layout, people, fields })
}

impl PersonForm {
    fn fields(&self) -> Fields {
        Fields::new([
            ("email", &self.email),
            ("name", &self.name),
            ("role", &self.role),
            ("teams", &self.teams),
        ])
    }

    /// The person, or what is wrong with each field.
    fn read(&self, fields: &mut Fields) -> Option<(NewPerson, Password)> {
        let email = fields.check("email", Email::parse(&self.email).ok_or("That is no e-mail address."));
        let role = fields.check("role", self.role.parse::<Role>().map_err(|_| "Choose a role."));
        let password = fields.check("password", Password::choose(&self.password, self.email.trim()));
        let teams = parse_teams(&self.teams);
        if role == Some(Role::Lead) && teams.is_empty() {
            fields.refuse("teams", "A lead sees the spend of their teams: name at least one.");
        }
        if fields.is_refused() {
            return None;
        }
        let name = Some(self.name.trim().to_owned()).filter(|name| !name.is_empty());
        Some((NewPerson { email: email?, name, role: role?, teams }, password?))
    }
}
