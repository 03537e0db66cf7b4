//! Sessions: who is behind a cookie.

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{Connection, PgConnection};

use super::{Person, Role, Secret, UserId};

/// A session nobody used for this long is over.
pub const IDLE: TimeDelta = TimeDelta::days(7);
/// However much it is used, a session is over after this.
pub const LONGEST: TimeDelta = TimeDelta::days(30);
/// "Last seen" is written at most this often, so that reading pages does not write.
const SEEN_EVERY: TimeDelta = TimeDelta::minutes(5);

/// Opens a session and forgets those that are over. The token is new at every sign-in, so one that was
/// planted before is worth nothing after it.
pub async fn open(
    db: &mut PgConnection,
    user: UserId,
    token: &Secret,
    user_agent: Option<&str>,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let user_agent: Option<String> = user_agent.map(|text| text.chars().take(200).collect());
    let mut tx = db.begin().await?;
    sqlx::query!("delete from sessions where expires_at <= $1 or seen_at <= $2", now, now - IDLE)
        .execute(&mut *tx)
        .await?;
    sqlx::query!(
        r#"
        insert into sessions (token_hash, user_id, created_at, seen_at, expires_at, user_agent)
        values ($1, $2, $3, $3, $4, $5)
        "#,
        &token.hash(),
        user.0,
        now,
        now + LONGEST,
        user_agent,
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await
}

/// Who holds this token. `None` when the session is over or unknown, or the person was disabled.
pub async fn find(db: &mut PgConnection, token: &Secret, now: DateTime<Utc>) -> sqlx::Result<Option<Person>> {
    let hash = token.hash();
    let found = sqlx::query!(
        r#"
        select u.user_id, u.email, u.name, u.role as "role: Role", u.created_at, u.disabled_at, s.seen_at,
               array(select team from user_teams t where t.user_id = u.user_id order by team) as "teams!"
        from sessions s
        join users u using (user_id)
        where s.token_hash = $1
          and s.expires_at > $2
          and s.seen_at > $3
          and u.disabled_at is null
        "#,
        &hash,
        now,
        now - IDLE,
    )
    .fetch_optional(&mut *db)
    .await?;
    let Some(found) = found else { return Ok(None) };
    if found.seen_at < now - SEEN_EVERY {
        sqlx::query!("update sessions set seen_at = $2 where token_hash = $1", &hash, now)
            .execute(db)
            .await?;
    }
    Ok(Some(Person {
        user_id: UserId(found.user_id),
        email: found.email,
        name: found.name,
        role: found.role,
        teams: found.teams,
        created_at: found.created_at,
        disabled_at: found.disabled_at,
    }))
}

/// Ends one session. Ending one that is over does nothing.
pub async fn close(db: &mut PgConnection, token: &Secret) -> sqlx::Result<()> {
    sqlx::query!("delete from sessions where token_hash = $1", &token.hash()).execute(db).await?;
    Ok(())
}
