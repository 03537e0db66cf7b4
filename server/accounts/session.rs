//! Sessions: who is behind a cookie.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::{Person, Role, Secret, UserId};
use crate::audit::{self, Act, Verb};

/// A session nobody used for this long is over.
pub const IDLE: TimeDelta = TimeDelta::days(7);
/// However much it is used, a session is over after this.
pub const LONGEST: TimeDelta = TimeDelta::days(30);
/// "Last seen" is written at most this often, so that reading pages does not write.
const SEEN_EVERY: TimeDelta = TimeDelta::minutes(5);

/// What opens a session: what it calls itself, and where it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Browser<'a> {
    pub user_agent: Option<&'a str>,
    pub address: Option<&'a str>,
}

/// What a browser is let in with.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// New at every sign-in, so one that was planted before is worth nothing after it.
    pub token: &'a Secret,
    pub browser: Browser<'a>,
    /// The session that this browser had until now, whoever it was of. It ends.
    pub instead_of: Option<&'a Secret>,
}

/// A session as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub session_id: i64,
    pub created_at: DateTime<Utc>,
    pub seen_at: DateTime<Utc>,
    pub user_agent: Option<String>,
    pub address: Option<String>,
    /// The one that asks.
    pub is_own: bool,
}

/// Opens a session for who proved the password behind `password_hash`, ends the one that the browser had, and forgets those
/// that are over. It answers how many of the browser's ended. `None`: they have another password by now, or are disabled, and
/// nothing was changed.
pub async fn open(
    db: &mut PgConnection,
    user: UserId,
    password_hash: &str,
    opening: Opening<'_>,
    now: DateTime<Utc>,
) -> sqlx::Result<Option<u64>> {
    let Opening { token, browser, instead_of } = opening;
    let user_agent: Option<String> = browser.user_agent.map(|text| text.chars().take(200).collect());
    let mut tx = db.begin().await?;
    // Whoever changes the password or disables the account changes this row first: they wait until the session is there to be
    // ended, or this waits for them, and then finds another hash.
    let let_in = sqlx::query!(
        "update users set seen_at = $3 where user_id = $1 and password_hash = $2 and disabled_at is null",
        user.0,
        password_hash,
        now,
    )
    .execute(&mut *tx)
    .await?;
    if let_in.rows_affected() == 0 {
        tx.rollback().await?;
        return Ok(None);
    }
    let before = instead_of.map(|token| token.hash().to_vec());
    let ended = sqlx::query!("delete from sessions where token_hash = $1", before)
        .execute(&mut *tx)
        .await?
        .rows_affected();
    sqlx::query!("delete from sessions where expires_at <= $1 or seen_at <= $2", now, now - IDLE)
        .execute(&mut *tx)
        .await?;
    sqlx::query!(
        r#"
        insert into sessions (token_hash, user_id, created_at, seen_at, expires_at, user_agent, address)
        values ($1, $2, $3, $3, $4, $5, $6)
        "#,
        &token.hash()[..],
        user.0,
        now,
        now + LONGEST,
        user_agent,
        browser.address,
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(Some(ended))
}

/// Who holds this token. `None` when the session is over or unknown, or the person was disabled.
pub async fn find(db: &mut PgConnection, token: &Secret, now: DateTime<Utc>) -> sqlx::Result<Option<Person>> {
    let hash = token.hash();
    let found = sqlx::query!(
        r#"
        select u.user_id, u.email, u.name, u.role as "role: Role", u.created_at, u.disabled_at, s.seen_at,
               array(select team from user_teams t where t.user_id = u.user_id order by team) as "teams!", u.sees_billing_accounts,
               u.password_hash is not null as "has_password!"
        from sessions s
        join users u using (user_id)
        where s.token_hash = $1
          and s.expires_at > $2
          and s.seen_at > $3
          and u.disabled_at is null
        "#,
        &hash[..],
        now,
        now - IDLE,
    )
    .fetch_optional(&mut *db)
    .await?;
    let Some(found) = found else { return Ok(None) };
    if found.seen_at < now - SEEN_EVERY {
        // One after the other: who ends sessions holds the person's row first.
        sqlx::query!("update sessions set seen_at = $2 where token_hash = $1", &hash[..], now)
            .execute(&mut *db)
            .await?;
        sqlx::query!("update users set seen_at = $2 where user_id = $1", found.user_id, now)
            .execute(db)
            .await?;
    }
    Ok(Some(Person {
        user_id: UserId(found.user_id),
        email: found.email,
        name: found.name,
        role: found.role,
        teams: found.teams,
        sees_billing_accounts: found.sees_billing_accounts,
        created_at: found.created_at,
        seen_at: Some(found.seen_at),
        disabled_at: found.disabled_at,
        has_password: found.has_password,
    }))
}

/// The sessions of a person that are not over, the latest first. `own` is the one that asks.
pub async fn list(
    db: &mut PgConnection,
    user: UserId,
    own: Option<&Secret>,
    now: DateTime<Utc>,
) -> sqlx::Result<Vec<Session>> {
    let own = own.map(|token| token.hash().to_vec());
    sqlx::query_as!(
        Session,
        r#"select session_id, created_at, seen_at, user_agent, address,
                  coalesce(token_hash = $4, false) as "is_own!"
           from sessions
           where user_id = $1 and expires_at > $2 and seen_at > $3
           order by seen_at desc, session_id desc"#,
        user.0,
        now,
        now - IDLE,
        own,
    )
    .fetch_all(db)
    .await
}

/// Ends one session of a person. False where they have none of this number.
pub async fn end(
    db: &mut PgConnection,
    person: &Person,
    session_id: i64,
    act: Act<'_>,
) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let ended = sqlx::query!(
        "delete from sessions where session_id = $1 and user_id = $2",
        session_id,
        person.user_id.0
    )
    .execute(&mut *tx)
    .await?;
    if ended.rows_affected() == 0 {
        return Ok(false);
    }
    let details = json!({ "sessions_ended": 1 });
    audit::record(&mut tx, act, Verb::SessionEnded, &person.object(), details).await?;
    tx.commit().await?;
    Ok(true)
}

/// Ends every session of a person but the one that asks, and says how many.
pub async fn end_others(
    db: &mut PgConnection,
    person: &Person,
    own: &Secret,
    act: Act<'_>,
) -> sqlx::Result<u64> {
    let mut tx = db.begin().await?;
    let ended = sqlx::query!(
        "delete from sessions where user_id = $1 and token_hash <> $2",
        person.user_id.0,
        &own.hash()[..],
    )
    .execute(&mut *tx)
    .await?
    .rows_affected();
    let details = json!({ "sessions_ended": ended });
    audit::record(&mut tx, act, Verb::SessionEnded, &person.object(), details).await?;
    tx.commit().await?;
    Ok(ended)
}

/// Ends every session of a person, and says how many.
pub(super) async fn end_all(db: &mut PgConnection, user: UserId) -> sqlx::Result<u64> {
    let ended = sqlx::query!("delete from sessions where user_id = $1", user.0).execute(db).await?;
    Ok(ended.rows_affected())
}

/// Signs a browser out. Ending a session that is over does nothing.
pub async fn close(db: &mut PgConnection, person: &Person, token: &Secret, act: Act<'_>) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    sqlx::query!("delete from sessions where token_hash = $1", &token.hash()[..]).execute(&mut *tx).await?;
    audit::record(&mut tx, act, Verb::SignedOut, &person.object(), json!(null)).await?;
    tx.commit().await
}

impl Session {
    /// The browser and its system in two words, as far as it tells: `Firefox on Linux`.
    pub fn browser(&self) -> String {
        let Some(text) = &self.user_agent else { return "Unknown browser".to_owned() };
        let first = |known: &[(&str, &'static str)]| {
            known.iter().find(|(sign, _)| text.contains(sign)).map(|(_, name)| *name)
        };
        // In this order: most browsers claim to be the ones after them, too.
        let browser = first(&[
            ("Edg", "Edge"),
            ("OPR/", "Opera"),
            ("Firefox/", "Firefox"),
            ("Chrome/", "Chrome"),
            ("Safari/", "Safari"),
            ("curl/", "curl"),
        ]);
        let system = first(&[
            ("Android", "Android"),
            ("iPhone", "iPhone"),
            ("iPad", "iPad"),
            ("Windows", "Windows"),
            ("Mac OS X", "macOS"),
            ("CrOS", "ChromeOS"),
            ("Linux", "Linux"),
        ]);
        match (browser, system) {
            (Some(browser), Some(system)) => format!("{browser} on {system}"),
            (Some(one), None) | (None, Some(one)) => one.to_owned(),
            (None, None) => text.chars().take(40).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_browsers_in_two_words() {
        for (text, name) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/17.5 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            ("curl/8.5.0", "curl"),
            ("something", "something"),
        ] {
            let session = Session {
                session_id: 1,
                created_at: DateTime::UNIX_EPOCH,
                seen_at: DateTime::UNIX_EPOCH,
                user_agent: Some(text.to_owned()),
                address: None,
                is_own: false,
            };
            assert_eq!(session.browser(), name);
        }
    }
}
