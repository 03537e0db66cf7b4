//! The first administrator: a link that works once, for whoever can read what the server prints.

use chrono::{DateTime, TimeDelta, Utc};
use rand::CryptoRng;
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::people::{self, Added};
use super::session::{self, Opening};
use super::{NewPerson, Secret, UserId};
use crate::audit::{self, Actor, Object, Verb};

/// Long enough to go and find the terminal; a restart prints a new one.
const VALID_FOR: TimeDelta = TimeDelta::hours(24);

/// What became of using a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetUp {
    Done(UserId),
    /// Used, expired, unknown, or somebody has an account by now.
    LinkIsOver,
}

/// A fresh link's token while nobody has an account. `None` once somebody has.
pub async fn ensure(
    db: &mut PgConnection,
    rng: &mut (impl CryptoRng + Send),
    now: DateTime<Utc>,
) -> sqlx::Result<Option<Secret>> {
    if !people::is_empty(db).await? {
        return Ok(None);
    }
    let token = Secret::random(rng);
    sqlx::query!("delete from setup_links where expires_at <= $1", now).execute(&mut *db).await?;
    sqlx::query!(
        "insert into setup_links (token_hash, created_at, expires_at) values ($1, $2, $3)",
        &token.hash(),
        now,
        now + VALID_FOR,
    )
    .execute(db)
    .await?;
    Ok(Some(token))
}

/// Whether the link would still work.
pub async fn is_open(db: &mut PgConnection, token: &Secret, now: DateTime<Utc>) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"
        select exists (select from setup_links where token_hash = $1 and expires_at > $2)
               and not exists (select from users) as "is_open!"
        "#,
        &token.hash(),
        now,
    )
    .fetch_one(db)
    .await
}

/// Makes the first account, closes every link and lets its owner in. Two people who press the button at the same moment, with
/// one link or with two, end with one account.
pub async fn complete(
    db: &mut PgConnection,
    token: &Secret,
    person: &NewPerson,
    password_hash: &str,
    by: &Actor,
    opening: Opening<'_>,
    now: DateTime<Utc>,
) -> sqlx::Result<SetUp> {
    let mut tx = db.begin().await?;
    sqlx::query!("lock table users in share row exclusive mode").execute(&mut *tx).await?;
    if !is_open(&mut tx, token, now).await? {
        return Ok(SetUp::LinkIsOver);
    }
    let Added::As(id) = people::add(&mut tx, person, Some(password_hash), by.at(now)).await? else {
        return Ok(SetUp::LinkIsOver);
    };
    let object = Object::Person { id: id.0, email: person.email.to_string() };
    audit::record(&mut tx, by.at(now), Verb::FirstAdmin, &object, json!(null)).await?;
    sqlx::query!("delete from setup_links").execute(&mut *tx).await?;
    session::open(&mut tx, id, password_hash, opening, now).await?;
    tx.commit().await?;
    Ok(SetUp::Done(id))
}
