//! Tokens by which scripts read: personal, with their owner's scope, for a time, shown once.

use chrono::{DateTime, TimeDelta, Utc};
use rand::CryptoRng;
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::{Person, Secret, UserId, people};
use crate::audit::{self, Act, Verb};

/// What a token begins with, so that scanners of code find one that was committed.
const PREFIX: &str = "gpl_";
/// "Last used" is written at most this often, so that reading does not write.
const USED_EVERY: TimeDelta = TimeDelta::minutes(5);
/// Names of tokens are for distinguishing them.
const LONGEST_LABEL: usize = 60;
/// Nobody needs more, and a runaway script must not fill the table.
const MOST: i64 = 50;

/// For how long a token may be made, the usual first: what a form sends, and what it says.
pub const LIFETIMES: [(&str, &str); 4] =
    [("365", "one year"), ("30", "30 days"), ("90", "90 days"), ("730", "two years")];

/// A token as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiToken {
    pub api_token_id: i64,
    pub label: String,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub used_at: Option<DateTime<Utc>>,
}

/// What became of making one.
#[derive(Debug)]
pub enum Made {
    /// What a script sends. It is nowhere else.
    Token(String),
    /// The owner has one of this name.
    LabelTaken,
    TooMany,
}

/// What became of reading one that was sent.
#[derive(Debug)]
pub enum Sent {
    By(Box<Person>),
    Expired(DateTime<Utc>),
    /// Mistyped, revoked, or its owner is disabled.
    Unknown,
}

/// What is wrong with a token's name or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnfitToken {
    #[error("Enter a token name, such as the name of the script.")]
    NoLabel,
    #[error("Enter a token name of at most {LONGEST_LABEL} characters.")]
    LongLabel,
    #[error("Choose how long the token is valid.")]
    Lifetime,
}

/// A name that can be kept.
pub fn label(text: &str) -> Result<String, UnfitToken> {
    let words: Vec<_> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let label = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match label.chars().count() {
        0 => Err(UnfitToken::NoLabel),
        n if n > LONGEST_LABEL => Err(UnfitToken::LongLabel),
        _ => Ok(label),
    }
}

/// One of [`LIFETIMES`].
pub fn lifetime(days: &str) -> Result<TimeDelta, UnfitToken> {
    let known = LIFETIMES.iter().find(|(known, _)| *known == days);
    known.and_then(|(days, _)| days.parse().ok()).map(TimeDelta::days).ok_or(UnfitToken::Lifetime)
}

/// Makes a token of this name.
pub async fn make(
    db: &mut PgConnection,
    person: &Person,
    label: &str,
    valid_for: TimeDelta,
    rng: &mut (impl CryptoRng + Send),
    act: Act<'_>,
) -> sqlx::Result<Made> {
    let secret = Secret::random(rng);
    let mut tx = db.begin().await?;
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from api_tokens where user_id = $1"#,
        person.user_id.0
    )
    .fetch_one(&mut *tx)
    .await?;
    if count >= MOST {
        return Ok(Made::TooMany);
    }
    let made = sqlx::query!(
        "insert into api_tokens (user_id, token_hash, label, created_at, expires_at)
         values ($1, $2, $3, $4, $5) on conflict do nothing",
        person.user_id.0,
        &secret.hash()[..],
        label,
        act.at,
        act.at + valid_for,
    )
    .execute(&mut *tx)
    .await?;
    if made.rows_affected() == 0 {
        return Ok(Made::LabelTaken);
    }
    let details = json!({ "token": label, "expires_at": act.at + valid_for });
    audit::record(&mut tx, act, Verb::TokenMade, &person.object(), details).await?;
    tx.commit().await?;
    Ok(Made::Token(format!("{PREFIX}{}", secret.as_str())))
}

/// Whose token was sent.
pub async fn find(db: &mut PgConnection, sent: &str, now: DateTime<Utc>) -> sqlx::Result<Sent> {
    let Some(secret) = sent.strip_prefix(PREFIX).and_then(Secret::parse) else { return Ok(Sent::Unknown) };
    let found = sqlx::query!(
        r#"select t.api_token_id, t.user_id as "user: UserId", t.expires_at, t.used_at
           from api_tokens t join users u using (user_id)
           where t.token_hash = $1 and u.disabled_at is null"#,
        &secret.hash()[..],
    )
    .fetch_optional(&mut *db)
    .await?;
    let Some(found) = found else { return Ok(Sent::Unknown) };
    if found.expires_at <= now {
        return Ok(Sent::Expired(found.expires_at));
    }
    if found.used_at.is_none_or(|used_at| used_at < now - USED_EVERY) {
        sqlx::query!("update api_tokens set used_at = $2 where api_token_id = $1", found.api_token_id, now)
            .execute(&mut *db)
            .await?;
    }
    let person = people::find(db, found.user).await?;
    Ok(person.map_or(Sent::Unknown, |person| Sent::By(Box::new(person))))
}

/// The tokens of a person, the newest first.
pub async fn list(db: &mut PgConnection, user: UserId) -> sqlx::Result<Vec<ApiToken>> {
    sqlx::query_as!(
        ApiToken,
        "select api_token_id, label, created_at, expires_at, used_at
         from api_tokens where user_id = $1 order by api_token_id desc",
        user.0,
    )
    .fetch_all(db)
    .await
}

/// Revokes a token of this person: it is gone. Answers its name, `None` where they have none of this number.
pub async fn revoke(
    db: &mut PgConnection,
    person: &Person,
    api_token_id: i64,
    act: Act<'_>,
) -> sqlx::Result<Option<String>> {
    let mut tx = db.begin().await?;
    let label = sqlx::query_scalar!(
        "delete from api_tokens where api_token_id = $1 and user_id = $2 returning label",
        api_token_id,
        person.user_id.0,
    )
    .fetch_optional(&mut *tx)
    .await?;
    if let Some(label) = &label {
        let details = json!({ "token": label });
        audit::record(&mut tx, act, Verb::TokenRevoked, &person.object(), details).await?;
    }
    tx.commit().await?;
    Ok(label)
}

/// Revokes every token of a person, and says how many.
pub(super) async fn revoke_all(db: &mut PgConnection, user: UserId) -> sqlx::Result<u64> {
    let revoked = sqlx::query!("delete from api_tokens where user_id = $1", user.0).execute(db).await?;
    Ok(revoked.rows_affected())
}

/// What people are told of tokens that were revoked: nothing of none, else a sentence with a space before it.
pub fn revoked(tokens: u64) -> String {
    match tokens {
        0 => String::new(),
        1 => " One token was revoked.".to_owned(),
        n => format!(" {n} tokens were revoked."),
    }
}

impl ApiToken {
    pub fn is_over(&self, now: DateTime<Utc>) -> bool {
        self.expires_at <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_names_that_distinguish_tokens() {
        assert_eq!(label("  nightly\n report\u{7} ").as_deref(), Ok("nightly report"));
        assert_eq!(label(" \t"), Err(UnfitToken::NoLabel));
        assert_eq!(label(&"x".repeat(61)), Err(UnfitToken::LongLabel));
    }

    #[test]
    fn it_lasts_as_long_as_the_form_offers() {
        assert_eq!(lifetime("365"), Ok(TimeDelta::days(365)));
        for days in ["", "0", "36500", "-1"] {
            assert_eq!(lifetime(days), Err(UnfitToken::Lifetime), "{days}");
        }
    }
}
