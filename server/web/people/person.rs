//! One person, as administrators see them: what they may do, and how to end it.

use askama::Template;
use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use super::{PersonForm, show_link};
use crate::accounts::manage::{self, Change, Managed};
use crate::accounts::session::{self, Session};
use crate::accounts::{ApiToken, Person, Role, UserId, people, token};
use crate::audit::Actor;
use crate::web::error::{Error, Result};
use crate::web::extract::{Db, Form, Now, Writing};
use crate::web::form::Fields;
use crate::web::layout::Layout;
use crate::web::{filters, paths, respond};

const LAST_ADMIN: &str = "Nothing was changed: this is the last administrator who can sign in. Make somebody else administrator first.";

/// Of the choices of what a lead sees of billing accounts.
const SHOWN: &str = "shown";
const BILLING_ACCOUNTS: [(&str, &str); 2] = [
    ("", "hidden: charges name the sub-account only"),
    (SHOWN, "shown: charges name the billing account, too"),
];

#[derive(Template)]
#[template(path = "people/person.html")]
struct Page {
    layout: Layout,
    path: paths::Person,
    person: Person,
    sessions: Vec<Session>,
    tokens: Vec<ApiToken>,
    fields: Fields,
    /// Why nothing was done.
    problem: Option<&'static str>,
    now: DateTime<Utc>,
}

pub async fn show(path: paths::Person, Now(now): Now, layout: Layout, mut db: Db) -> Result {
    respond::html(Page::find(&mut db, path, layout, now).await?)
}

pub async fn change(path: paths::Person, writing: Writing, Form(form): Form<PersonForm>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let mut fields = form.fields();
    if let Some((role, teams)) = form.role(&mut fields, &mut db).await? {
        let sees_billing_accounts = form.billing_accounts == SHOWN;
        let change = Change { name: form.name(), role, teams, sees_billing_accounts };
        match manage::change(&mut db, UserId(path.person), &change, by.at(now)).await? {
            Managed::Done => return Ok(respond::flash(path, "Saved.")),
            Managed::Unchanged => return Ok(respond::flash(path, "Nothing changed: this was saved before.")),
            Managed::LastAdmin => fields.refuse("role", LAST_ADMIN),
            Managed::Nobody => return Err(Error::NotFound),
        }
    }
    let page = Page::find(&mut db, path, layout, now).await?;
    respond::refused(Page { fields, ..page })
}

pub async fn disable(path: paths::PersonDisable, writing: Writing) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let managed = manage::disable(&mut db, UserId(path.person), by.at(now)).await?;
    let sentence = "Disabled. Their sessions and tokens ended.";
    settle(managed, path.person, sentence, layout, (&mut db, now)).await
}

pub async fn enable(path: paths::PersonEnable, writing: Writing) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let managed = manage::enable(&mut db, UserId(path.person), by.at(now)).await?;
    let sentence = "Enabled. They sign in with their old password and need new tokens.";
    settle(managed, path.person, sentence, layout, (&mut db, now)).await
}

pub async fn sign_out(path: paths::PersonSignOut, Now(now): Now, by: Actor, mut db: Db) -> Result {
    let person = find(&mut db, path.person).await?;
    let done = manage::sign_out(&mut db, &person, by.at(now)).await?;
    let sessions = match done.sessions_ended {
        0 => "There were no sessions.".to_owned(),
        1 => "One session ended.".to_owned(),
        n => format!("{n} sessions ended."),
    };
    let sentence = format!("{sessions}{}", token::revoked(done.tokens_revoked));
    Ok(respond::flash(paths::Person { person: path.person }, &sentence))
}

pub async fn make_link(path: paths::PersonLink, writing: Writing) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let person = find(&mut db, path.person).await?;
    show_link(layout, &mut db, person, by.at(now), &app.settings).await
}

pub async fn revoke_token(path: paths::PersonToken, Now(now): Now, by: Actor, mut db: Db) -> Result {
    let person = find(&mut db, path.person).await?;
    let label = token::revoke(&mut db, &person, path.token, by.at(now)).await?;
    let sentence = label.map_or_else(
        || "Nothing changed: this token was revoked before.".to_owned(),
        |label| format!("Token “{label}” is revoked."),
    );
    Ok(respond::flash(paths::Person { person: path.person }, &sentence))
}

async fn settle(
    managed: Managed,
    person: i64,
    sentence: &str,
    layout: Layout,
    (db, now): (&mut PgConnection, DateTime<Utc>),
) -> Result {
    let path = paths::Person { person };
    match managed {
        Managed::Done => Ok(respond::flash(path, sentence)),
        Managed::Unchanged => Ok(respond::flash(path, "Nothing changed: this was saved before.")),
        Managed::Nobody => Err(Error::NotFound),
        Managed::LastAdmin => {
            let page = Page::find(db, path, layout, now).await?;
            respond::refused(Page { problem: Some(LAST_ADMIN), ..page })
        }
    }
}

async fn find(db: &mut PgConnection, person: i64) -> Result<Person> {
    people::find(db, UserId(person)).await?.ok_or(Error::NotFound)
}

impl Page {
    async fn find(
        db: &mut PgConnection,
        path: paths::Person,
        layout: Layout,
        now: DateTime<Utc>,
    ) -> Result<Self> {
        let person = find(db, path.person).await?;
        let sessions = session::list(db, person.user_id, None, now).await?;
        let tokens = token::list(db, person.user_id).await?;
        let fields = Fields::new([
            ("name", person.name.as_deref().unwrap_or_default()),
            ("role", person.role.as_str()),
            ("teams", &person.teams.join(", ")),
            ("billing_accounts", if person.sees_billing_accounts { SHOWN } else { "" }),
        ]);
        Ok(Self { layout, path, person, sessions, tokens, fields, problem: None, now })
    }

    fn is_self(&self) -> bool {
        self.layout.person.as_ref().is_some_and(|own| own.user_id == self.person.user_id)
    }

    fn disable(&self) -> paths::PersonDisable {
        paths::PersonDisable { person: self.path.person }
    }

    fn enable(&self) -> paths::PersonEnable {
        paths::PersonEnable { person: self.path.person }
    }

    fn sign_out(&self) -> paths::PersonSignOut {
        paths::PersonSignOut { person: self.path.person }
    }

    fn make_link(&self) -> paths::PersonLink {
        paths::PersonLink { person: self.path.person }
    }

    fn revoke(&self, token: &ApiToken) -> paths::PersonToken {
        paths::PersonToken { person: self.path.person, token: token.api_token_id }
    }

    /// Their lines of the trail.
    fn trail(&self) -> String {
        paths::with_query(paths::Audit, &[("who", &self.person.email)])
    }
}
