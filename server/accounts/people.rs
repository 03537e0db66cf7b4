//! Accounts: adding people and finding them. What administrators change later is in `manage.rs`.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::{Role, Viewer};
use crate::audit::{self, Act, Object, Verb};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct UserId(pub i64);

/// Someone with an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Person {
    pub user_id: UserId,
    pub email: String,
    pub name: Option<String>,
    pub role: Role,
    /// In normalized spelling, sorted. Meaningful for leads only.
    pub teams: Vec<String>,
    /// Whether an administrator lets them see which billing account pays. Meaningful for leads only.
    pub sees_billing_accounts: bool,
    pub created_at: DateTime<Utc>,
    /// When they last opened a page.
    pub seen_at: Option<DateTime<Utc>>,
    /// Since when they may no longer sign in.
    pub disabled_at: Option<DateTime<Utc>>,
    /// False for someone who was invited and has not chosen a password yet.
    pub has_password: bool,
}

/// Someone about to get an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPerson {
    pub email: Email,
    pub name: Option<String>,
    pub role: Role,
    pub teams: Vec<String>,
}

/// An address as its owner writes it. People are distinguished without regard to capitals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email(String);

/// What became of adding someone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    As(UserId),
    /// Somebody has this address already. Nothing changed.
    EmailTaken,
}

impl Email {
    /// `None` for what is certainly no address: only a message sent there could prove more.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (local, domain) = text.rsplit_once('@')?;
        let is_plausible = !local.is_empty()
            && !domain.is_empty()
            && text.len() <= 254
            && text.chars().all(|c| !c.is_whitespace() && !c.is_control());
        is_plausible.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Person {
    /// How pages call them.
    pub fn display_name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.email)
    }

    /// Whose rows they may see.
    pub fn viewer(&self) -> Viewer {
        self.role.viewer(&self.teams)
    }

    /// Whether they see which billing account pays for a charge: it mostly pays for other teams, too.
    pub fn may_see_billing_accounts(&self) -> bool {
        self.role != Role::Lead || self.sees_billing_accounts
    }

    pub fn is_disabled(&self) -> bool {
        self.disabled_at.is_some()
    }

    /// How the trail names them.
    pub fn object(&self) -> Object {
        Object::Person { id: self.user_id.0, email: self.email.clone() }
    }
}

/// The spelling under which a team's tag is compared.
pub fn normalize_team(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Reads teams as people type them: separated by commas or lines. Sorted, each once.
pub fn parse_teams(text: &str) -> Vec<String> {
    let mut teams: Vec<_> =
        text.split([',', ';', '\n']).map(normalize_team).filter(|team| !team.is_empty()).collect();
    teams.sort();
    teams.dedup();
    teams
}

/// Everyone, in the order of their addresses.
pub async fn list(db: &mut PgConnection) -> sqlx::Result<Vec<Person>> {
    which(db, None, None).await
}

/// One person. `None` where nobody has this number.
pub async fn find(db: &mut PgConnection, id: UserId) -> sqlx::Result<Option<Person>> {
    Ok(which(db, Some(id), None).await?.pop())
}

/// Whoever has this address, however it is capitalised.
pub async fn find_by_email(db: &mut PgConnection, email: &str) -> sqlx::Result<Option<Person>> {
    Ok(which(db, None, Some(email)).await?.pop())
}

async fn which(db: &mut PgConnection, id: Option<UserId>, email: Option<&str>) -> sqlx::Result<Vec<Person>> {
    sqlx::query_as!(
        Person,
        r#"
        select u.user_id as "user_id: UserId",
               u.email,
               u.name,
               u.role as "role: Role",
               array(select team from user_teams t where t.user_id = u.user_id order by team) as "teams!",
               u.sees_billing_accounts,
               u.created_at,
               u.seen_at,
               u.disabled_at,
               u.password_hash is not null as "has_password!"
        from users u
        where ($1::bigint is null or u.user_id = $1) and ($2::text is null or lower(u.email) = lower($2))
        order by lower(u.email)
        "#,
        id.map(|id| id.0),
        email,
    )
    .fetch_all(db)
    .await
}

/// Whether nobody has an account yet.
pub async fn is_empty(db: &mut PgConnection) -> sqlx::Result<bool> {
    sqlx::query_scalar!(r#"select not exists (select from users) as "is_empty!""#).fetch_one(db).await
}

/// Adds a person with their teams, whole or not at all. Without a password they choose one through a link.
pub async fn add(
    db: &mut PgConnection,
    person: &NewPerson,
    password_hash: Option<&str>,
    act: Act<'_>,
) -> sqlx::Result<Added> {
    let mut tx = db.begin().await?;
    let id = sqlx::query_scalar!(
        r#"
        insert into users (email, name, role, password_hash, created_at)
        values ($1, $2, $3, $4, $5)
        on conflict (lower(email)) do nothing
        returning user_id
        "#,
        person.email.as_str(),
        person.name,
        person.role.as_str(),
        password_hash,
        act.at,
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(id) = id else { return Ok(Added::EmailTaken) };
    let teams = person.role.keeps(&person.teams);
    set_teams(&mut tx, UserId(id), teams).await?;
    let object = Object::Person { id, email: person.email.to_string() };
    let details = json!({ "role": person.role, "teams": teams, "has_password": password_hash.is_some() });
    audit::record(&mut tx, act, Verb::PersonAdded, &object, details).await?;
    tx.commit().await?;
    Ok(Added::As(UserId(id)))
}

pub(super) async fn set_teams(db: &mut PgConnection, id: UserId, teams: &[String]) -> sqlx::Result<()> {
    sqlx::query!("delete from user_teams where user_id = $1", id.0).execute(&mut *db).await?;
    sqlx::query!("insert into user_teams (user_id, team) select $1, unnest($2::text[])", id.0, teams)
        .execute(db)
        .await?;
    Ok(())
}

/// A new password, given by whoever runs the machine. It signs its owner out everywhere.
pub async fn change_password(
    db: &mut PgConnection,
    person: &Person,
    password_hash: &str,
    act: Act<'_>,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    set_password(&mut tx, person.user_id, password_hash).await?;
    audit::record(&mut tx, act, Verb::PasswordChanged, &person.object(), json!(null)).await?;
    tx.commit().await
}

/// Sets the hash, and ends what the one before opened.
async fn set_password(db: &mut PgConnection, id: UserId, hash: &str) -> sqlx::Result<()> {
    sqlx::query!("update users set password_hash = $2 where user_id = $1", id.0, hash)
        .execute(&mut *db)
        .await?;
    end_ways_in(db, id).await
}

/// What ends with a password: every session, and links that would set another.
pub(super) async fn end_ways_in(db: &mut PgConnection, id: UserId) -> sqlx::Result<()> {
    sqlx::query!("delete from password_links where user_id = $1", id.0).execute(&mut *db).await?;
    sqlx::query!("delete from sessions where user_id = $1", id.0).execute(db).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_addresses_and_refuses_what_is_none() {
        assert_eq!(Email::parse(" Ada@example.org ").unwrap().as_str(), "Ada@example.org");
        for text in ["", "ada", "@example.org", "ada@", "a b@example.org", "ada@example.org\u{7}"] {
            assert_eq!(Email::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn it_reads_teams_however_they_are_typed() {
        assert_eq!(parse_teams("Research, nlp\n  Vision  Lab;research"), ["nlp", "research", "vision lab"]);
        assert!(parse_teams(" , ").is_empty());
    }
}
