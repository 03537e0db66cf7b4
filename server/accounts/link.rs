//! Links by which someone chooses a password: the way in for who was invited, and for who lost theirs. An
//! administrator makes one and passes it on; it works once.

use chrono::{DateTime, TimeDelta, Utc};
use rand::CryptoRng;
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::session::{self, Opening};
use super::{Person, Secret, UserId, people, token};
use crate::audit::{self, Act, Actor, Object, Verb};

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

/// What became of using one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    pub user: UserId,
    pub tokens_revoked: u64,
}

/// Makes a link for someone; the one before it is over. `None` for someone who is disabled.
pub async fn make(
    db: &mut PgConnection,
    person: &Person,
    rng: &mut (impl CryptoRng + Send),
    act: Act<'_>,
) -> sqlx::Result<Option<Secret>> {
    let token = Secret::random(rng);
    let mut tx = db.begin().await?;
    let made = sqlx::query!(
        "insert into password_links (user_id, token_hash, created_at, expires_at)
         select user_id, $2, $3, $4 from users where user_id = $1 and disabled_at is null
         on conflict (user_id) do update set token_hash = $2, created_at = $3, expires_at = $4",
        person.user_id.0,
        &token.hash()[..],
        act.at,
        act.at + VALID_FOR,
    )
    .execute(&mut *tx)
    .await?;
    if made.rows_affected() == 0 {
        return Ok(None);
    }
    let details = json!({ "expires_at": act.at + VALID_FOR });
    audit::record(&mut tx, act, Verb::LinkMade, &person.object(), details).await?;
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

/// Sets the password, closes the link and lets its owner in, together: of two at once one gets through. Whoever asks for a link
/// may have lost more than the password: tokens are revoked, too. `None` where it is over.
pub async fn complete(
    db: &mut PgConnection,
    link: &Secret,
    password_hash: &str,
    address: &str,
    opening: Opening<'_>,
    now: DateTime<Utc>,
) -> sqlx::Result<Option<Used>> {
    let mut tx = db.begin().await?;
    // The person first, as whoever changes or disables them does.
    let owner = sqlx::query!(
        r#"update users u set password_hash = $3
           from password_links l
           where u.user_id = l.user_id and l.token_hash = $1 and l.expires_at > $2 and u.disabled_at is null
           returning u.user_id as "user: UserId", u.email"#,
        &link.hash()[..],
        now,
        password_hash,
    )
    .fetch_optional(&mut *tx)
    .await?;
    // Who waited for another one with the same link finds it gone.
    let closed = sqlx::query!("delete from password_links where token_hash = $1", &link.hash()[..])
        .execute(&mut *tx)
        .await?;
    let Some(owner) = owner.filter(|_| closed.rows_affected() == 1) else {
        tx.rollback().await?;
        return Ok(None);
    };
    people::end_ways_in(&mut tx, owner.user).await?;
    let tokens_revoked = token::revoke_all(&mut tx, owner.user).await?;
    let object = Object::Person { id: owner.user.0, email: owner.email.clone() };
    let by = Actor::person(&owner.email, address);
    let details = json!({ "tokens_revoked": tokens_revoked });
    audit::record(&mut tx, by.at(now), Verb::PasswordSet, &object, details).await?;
    session::open(&mut tx, owner.user, password_hash, opening, now).await?;
    tx.commit().await?;
    Ok(Some(Used { user: owner.user, tokens_revoked }))
}
