//! Signing in, and slowing down whoever guesses.

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::PgConnection;

use super::UserId;
use super::password::{self, HashError};

/// Failures older than this no longer count.
const WINDOW: TimeDelta = TimeDelta::minutes(15);
/// Failures for one address from one place: enough for someone with three passwords in mind.
const PER_PLACE: i64 = 5;
/// Failures for one address from anywhere: higher, so that a stranger cannot easily lock its owner out.
const PER_EMAIL: i64 = 50;
/// Failures from one place for anybody: high, because a reverse proxy makes many people one place.
const PER_ADDRESS: i64 = 100;

/// An attempt that may go on. It comes in three steps, so that nobody holds a connection while a password
/// is hashed: [`begin`], [`Attempt::verify`], [`succeed`].
#[derive(Debug)]
pub struct Attempt {
    email: String,
    address: String,
    user: Option<UserId>,
    hash: Option<String>,
}

/// What became of beginning.
#[derive(Debug)]
pub enum Begun {
    Checking(Attempt),
    /// Too many failures. The password was not looked at.
    Wait {
        until: DateTime<Utc>,
    },
}

/// Begins an attempt. It counts as failed from here on, so that a hundred at once are no way around the
/// limit; success takes the failures of that place back.
pub async fn begin(
    db: &mut PgConnection,
    email: &str,
    address: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Begun> {
    let email: String = email.trim().to_lowercase().chars().take(254).collect();
    if let Some(until) = blocked_until(db, &email, address, now).await? {
        return Ok(Begun::Wait { until });
    }
    record_failure(db, &email, address, now).await?;
    let found = sqlx::query!(
        "select user_id, password_hash from users where lower(email) = $1 and disabled_at is null",
        email
    )
    .fetch_optional(db)
    .await?;
    let (user, hash) = found.map(|user| (UserId(user.user_id), user.password_hash)).unzip();
    Ok(Begun::Checking(Attempt { email, address: address.to_owned(), user, hash }))
}

impl Attempt {
    /// Who it is. `None` for a wrong address and for a wrong password: which of the two is not told, not
    /// even by how long it takes.
    pub async fn verify(&mut self, password: String) -> Result<Option<UserId>, HashError> {
        let is_right = password::verify(self.hash.take(), password).await?;
        Ok(self.user.filter(|_| is_right))
    }
}

/// Takes back the failures of an attempt that went well.
pub async fn succeed(db: &mut PgConnection, attempt: &Attempt) -> sqlx::Result<()> {
    sqlx::query!(
        "delete from sign_in_failures where email = $1 and address = $2",
        attempt.email,
        attempt.address
    )
    .execute(db)
    .await?;
    Ok(())
}

/// When the next attempt is allowed. `None`: now.
async fn blocked_until(
    db: &mut PgConnection,
    email: &str,
    address: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Option<DateTime<Utc>>> {
    let failures = sqlx::query!(
        r#"
        select count(*) filter (where email = $1 and address = $2) as "per_place!",
               count(*) filter (where email = $1) as "per_email!",
               count(*) filter (where address = $2) as "per_address!",
               max(failed_at) as last_at
        from sign_in_failures
        where (email = $1 or address = $2) and failed_at > $3
        "#,
        email,
        address,
        now - WINDOW,
    )
    .fetch_one(db)
    .await?;
    let over = (failures.per_place - PER_PLACE)
        .max(failures.per_email - PER_EMAIL)
        .max(failures.per_address - PER_ADDRESS);
    let until = failures.last_at.filter(|_| over >= 0).map(|last| last + pause(over));
    Ok(until.filter(|until| *until > now))
}

async fn record_failure(
    db: &mut PgConnection,
    email: &str,
    address: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    sqlx::query!("delete from sign_in_failures where failed_at <= $1", now - WINDOW)
        .execute(&mut *db)
        .await?;
    sqlx::query!(
        "insert into sign_in_failures (email, address, failed_at) values ($1, $2, $3)",
        email,
        address,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Fifteen seconds, doubling with each further failure, up to the whole window.
fn pause(over: i64) -> TimeDelta {
    let doubled = 15_i64 << over.clamp(0, 6);
    TimeDelta::seconds(doubled).min(WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_longer_each_time() {
        assert_eq!(pause(0), TimeDelta::seconds(15));
        assert_eq!(pause(2), TimeDelta::seconds(60));
        assert_eq!(pause(99), WINDOW);
    }
}
