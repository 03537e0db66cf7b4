//! Links by which someone chooses a password: the way in for who was invited, and for who lost theirs. An
//! administrator makes one and passes it on; it works once.

use chrono::{DateTime, TimeDelta, Utc};
use rand::CryptoRng;
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::{Person, Secret, UserId, people};
use crate::audit::{self, Actor, Object, Verb};

/// Long enough for a weekend between making and reading it.
pub const VALID_FOR: TimeDelta = TimeDelta::days(3);

/// A link that still works, and whose it is.
#[derive(Clone, Debug)]
pub struct Open {
    pub user: UserId,
    pub email: String,
    /// Someone who has no password yet is welcomed instead of helped.
    pub is_first: bool,
}

/// Makes a link for someone; the one before it is over. `None` for someone who is disabled.
pub async fn make(
    db: &mut PgConnection,
    person: &Person,
    rng: &mut (impl CryptoRng + Send),
    by: &Actor,
    now: DateTime<Utc>,
) -> sqlx::Result<Option<Secret>> {
    let token = Secret::random(rng);
    let mut tx = db.begin().await?;
    let made = sqlx::query!(
        "insert into password_links (user_id, token_hash, created_at, expires_at)
         select user_id, $2, $3, $4 from users where user_id = $1 and disabled_at is null
         on conflict (user_id) do update set token_hash = $2, created_at = $3, expires_at = $4",
        person.user_id.0,
        &token.hash()[..],
        now,
        now + VALID_FOR,
    )
    .execute(&mut *tx)
    .await?;
    if made.rows_affected() == 0 {
        return Ok(None);
    }
    let details = json!({ "expires_at": now + VALID_FOR });
    audit::record(&mut tx, by, Verb::LinkMade, &person.object(), details, now).await?;
    tx.commit().await?;
    Ok(Some(token))
}

/// Whose link this is. `None` when it was used, replaced or is too old, or the person is disabled.
pub async fn find(db: &mut PgConnection, token: &Secret, now: DateTime<Utc>) -> sqlx::Result<Option<Open>> {
    sqlx::query_as!(
        Open,
        r#"select u.user_id as "user: UserId", u.email, u.password_hash is null as "is_first!"
           from password_links l
           join users u using (user_id)
           where l.token_hash = $1 and l.expires_at > $2 and u.disabled_at is null"#,
        &token.hash()[..],
        now,
    )
    .fetch_optional(db)
    .await
}

/// Sets the password and closes the link, together: of two at once one gets through. `None` where it is over.
pub async fn complete(
    db: &mut PgConnection,
    token: &Secret,
    password_hash: &str,
    address: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Option<UserId>> {
    let mut tx = db.begin().await?;
    let used = sqlx::query!(
        r#"delete from password_links l
           using users u
           where u.user_id = l.user_id and l.token_hash = $1 and l.expires_at > $2 and u.disabled_at is null
           returning u.user_id as "user: UserId", u.email"#,
        &token.hash()[..],
        now,
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(used) = used else { return Ok(None) };
    people::set_password(&mut tx, used.user, password_hash).await?;
    let object = Object::Person { id: used.user.0, email: used.email.clone() };
    let by = Actor::person(&used.email, address);
    audit::record(&mut tx, &by, Verb::PasswordSet, &object, json!(null), now).await?;
    tx.commit().await?;
    Ok(Some(used.user))
}
