//! Who has an account, and inviting someone.

pub mod person;

use crate::changes::Document as _;
use std::collections::BTreeSet;

use askama::Template;
use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::error::{Error, Result};
use super::extract::{Db, Form, Writing};
use super::form::Fields;
use super::layout::Layout;
use super::{filters, paths, respond};
use crate::accounts::people::{self, Added, parse_teams};
use crate::accounts::{Email, NewPerson, Person, Role, Secret, link};
use crate::allocation::{self, handle_of};
use crate::audit::Act;
use crate::clock;
use crate::config::Settings;
use crate::ledger;

/// How many teams are named to somebody who typed one that there is not.
const NAMED_TEAMS: usize = 12;

#[derive(Deserialize)]
pub struct PersonForm {
    #[serde(default)]
    email: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    role: String,
    #[serde(default)]
    teams: String,
    #[serde(default)]
    billing_accounts: String,
}

#[derive(Template)]
#[template(path = "people/index.html")]
struct Page {
    layout: Layout,
    people: Vec<Person>,
    fields: Fields,
}

/// The only time that a link is shown.
#[derive(Template)]
#[template(path = "people/link.html")]
struct LinkPage {
    layout: Layout,
    person: Person,
    link: String,
    expires_at: DateTime<Utc>,
}

pub async fn index(_: paths::People, layout: Layout, mut db: Db) -> Result {
    let people = people::list(&mut db).await?;
    respond::html(Page { layout, people, fields: Fields::default() })
}

/// Adds someone and shows the link by which they choose a password.
pub async fn create(_: paths::People, writing: Writing, Form(form): Form<PersonForm>) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let mut fields = form.fields();
    let email = fields
        .check("email", Email::parse(&form.email).ok_or("Enter an email address such as name@example.com."));
    if let Some(email) = &email
        && let Some(known) = people::find_by_email(&mut db, email.as_str()).await?
    {
        let state = if known.is_disabled() { ", and is disabled" } else { "" };
        fields.refuse(
            "email",
            format!("This email is used by {}{state}. Enter another one.", known.display_name()),
        );
    }
    if let (Some((role, teams)), Some(email)) = (form.role(&mut fields, &mut db).await?, email)
        && !fields.is_refused()
    {
        let person = NewPerson { email, name: form.name(), role, teams };
        match people::add(&mut db, &person, None, by.at(now)).await? {
            Added::As(id) => {
                let person = people::find(&mut db, id).await?.ok_or(Error::NotFound)?;
                return show_link(layout, &mut db, person, by.at(now), &app.settings).await;
            }
            Added::EmailTaken => fields.refuse("email", "This email is in use. Enter another one."),
        }
    }
    let people = people::list(&mut db).await?;
    respond::refused(Page { layout, people, fields })
}

/// Makes a link for someone and shows it.
async fn show_link(layout: Layout, db: &mut Db, person: Person, act: Act<'_>, settings: &Settings) -> Result {
    let made = link::make(db, &person, &mut clock::dice(), act).await?;
    let token = made.ok_or_else(|| Error::BadRequest(format!("{} is disabled.", person.display_name())))?;
    let link = address_of(&token, settings);
    respond::html(LinkPage { layout, person, link, expires_at: act.at + link::VALID_FOR })
}

/// What is passed on.
pub fn address_of(token: &Secret, settings: &Settings) -> String {
    let path = paths::PasswordLink { token: token.as_str().to_owned() };
    format!("{}{path}", settings.base_url())
}

impl PersonForm {
    fn fields(&self) -> Fields {
        Fields::new([
            ("email", &self.email),
            ("name", &self.name),
            ("role", &self.role),
            ("teams", &self.teams),
            ("billing_accounts", &self.billing_accounts),
        ])
    }

    fn name(&self) -> Option<String> {
        Some(self.name.trim().to_owned()).filter(|name| !name.is_empty())
    }

    /// Role and teams, or what is wrong with them.
    async fn role(&self, fields: &mut Fields, db: &mut Db) -> Result<Option<(Role, Vec<String>)>> {
        let role = fields.check("role", self.role.parse::<Role>().map_err(|_| "Choose a role."));
        let Some(role) = role else { return Ok(None) };
        let teams = parse_teams(&self.teams);
        if role != Role::Lead {
            return Ok(Some((role, teams)));
        }
        if teams.is_empty() {
            fields.refuse("teams", "Enter at least one team for a lead.");
            return Ok(None);
        }
        let found = find_teams(teams, db).await?;
        Ok(fields.check("teams", found).map(|teams| (role, teams)))
    }
}

/// Teams by their handles or their names, as their handles; or what is said of the first that is none. Until there are teams,
/// any name may be the tag of one.
async fn find_teams(typed: Vec<String>, db: &mut Db) -> Result<Result<Vec<String>, String>> {
    let sequence = ledger::sequence(&mut *db).await?;
    let configuration = allocation::Configuration::as_of(db, sequence).await?;
    let known = configuration.teams();
    if known.is_empty() {
        return Ok(Ok(typed));
    }
    let handle = |team: &String| {
        let handle = handle_of(team);
        let called = known.iter().find(|(_, name)| handle_of(name) == handle).map(|(handle, _)| *handle);
        known.contains_key(handle.as_str()).then_some(handle).or(called.map(str::to_owned))
    };
    if let Some(unknown) = typed.iter().find(|team| handle(team).is_none()) {
        let mut names: Vec<&str> = known.values().take(NAMED_TEAMS).copied().collect();
        if known.len() > NAMED_TEAMS {
            names.push("…");
        }
        return Ok(Err(format!("There is no team “{unknown}”. Enter one of: {}.", names.join(", "))));
    }
    // Two names of one team are one.
    let handles: BTreeSet<String> = typed.iter().filter_map(handle).collect();
    Ok(Ok(handles.into_iter().collect()))
}

/// The page of someone.
pub fn at(person: &Person) -> paths::Person {
    paths::Person { person: person.user_id.0 }
}

/// Whether somebody can sign in: a word, and the kind of its badge.
pub fn state(person: &Person) -> (&'static str, &'static str) {
    match (person.is_disabled(), person.has_password) {
        (true, _) => ("disabled", "bad"),
        (false, false) => ("invited", "wait"),
        (false, true) => ("active", "good"),
    }
}
