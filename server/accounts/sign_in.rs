//! Signing in, and slowing down whoever guesses.

use std::net::{IpAddr, Ipv6Addr};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::UserId;
use super::password::{self, HashError};
use crate::audit::{self, Actor, Object, Verb};

/// Failures older than this no longer count.
const WINDOW: TimeDelta = TimeDelta::minutes(15);
/// Failures for one account from one place: enough for someone with three passwords in mind.
const PER_PLACE: i64 = 5;
/// Failures for one account from anywhere, against guessing from many places at once.
const PER_EMAIL: i64 = 30;
/// Failures from one place for any account, against trying one password on everybody.
const PER_ADDRESS: i64 = 50;
/// The most that strangers can make someone wait who was never here from this place.
const LONGEST_FOR_OTHERS: TimeDelta = TimeDelta::minutes(1);
/// Classes of advisory locks, which nothing else takes.
const LOCK_OF_EMAIL: i32 = 0x6770_7501;
const LOCK_OF_PLACE: i32 = 0x6770_7502;
/// For how long a place from which somebody signed in is known as theirs: there only their own failures count.
const KNOWN_FOR: TimeDelta = TimeDelta::days(90);

/// An attempt that may go on. It comes in three steps, so that nobody holds a connection while a password
/// is hashed: [`begin`], [`Attempt::verify`], then [`succeed`], [`forgive`] or [`refuse`].
#[derive(Debug)]
pub struct Attempt {
    email: String,
    address: String,
    account: Option<Account>,
}

#[derive(Debug)]
struct Account {
    user: UserId,
    email: String,
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
    let mut tx = db.begin().await?;
    take_turns(&mut tx, &email, &place(address)).await?;
    let until = blocked_until(&mut tx, &email, address, now).await?;
    if until.is_none() {
        record_failure(&mut tx, &email, &place(address), now).await?;
    }
    // Said and not left to the end of the scope, which would let go of the turn only with the next query.
    tx.commit().await?;
    if let Some(until) = until {
        return Ok(Begun::Wait { until });
    }
    let account = sqlx::query_as!(
        Account,
        r#"select user_id as "user: UserId", email, password_hash as hash
           from users where lower(email) = $1 and disabled_at is null"#,
        email
    )
    .fetch_optional(db)
    .await?;
    Ok(Begun::Checking(Attempt { email, address: address.to_owned(), account }))
}

impl Attempt {
    /// Who it is. `None` for a wrong address and for a wrong password: which of the two is not told, not
    /// even by how long it takes.
    pub async fn verify(&mut self, password: String) -> Result<Option<UserId>, HashError> {
        let hash = self.account.as_mut().and_then(|account| account.hash.take());
        let is_right = password::verify(hash, password).await?;
        Ok(self.account.as_ref().filter(|_| is_right).map(|account| account.user))
    }
}

/// Takes back the failures of an attempt that went well, where it opens nothing new.
pub async fn forgive(db: &mut PgConnection, attempt: &Attempt) -> sqlx::Result<()> {
    sqlx::query!(
        "delete from sign_in_failures where email = $1 and address = $2",
        attempt.email,
        place(&attempt.address),
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Takes back the failures of an attempt that went well, and writes down who signed in.
pub async fn succeed(db: &mut PgConnection, attempt: &Attempt, now: DateTime<Utc>) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    forgive(&mut tx, attempt).await?;
    if let Some(account) = &attempt.account {
        let by = Actor::person(&account.email, &attempt.address);
        audit::record(&mut tx, &by, Verb::SignedIn, &account.object(), json!(null), now).await?;
    }
    tx.commit().await
}

/// Writes down that an attempt did not go well. An address that nobody has is not kept: it may be a password.
pub async fn refuse(db: &mut PgConnection, attempt: &Attempt, now: DateTime<Utc>) -> sqlx::Result<()> {
    let object =
        attempt.account.as_ref().map_or(Object::Other("an address without account"), Account::object);
    let by = Actor::person("not signed in", &attempt.address);
    audit::record(db, &by, Verb::SignInRefused, &object, json!(null), now).await
}

impl Account {
    fn object(&self) -> Object {
        Object::Person { id: self.user.0, email: self.email.clone() }
    }
}

/// Attempts for one account or from one place are counted one after the other, or many at once would all find that
/// few had failed. Everybody waits for the account first, then for the place, so that no two wait for each other.
async fn take_turns(db: &mut PgConnection, email: &str, place: &str) -> sqlx::Result<()> {
    for (class, name) in [(LOCK_OF_EMAIL, email), (LOCK_OF_PLACE, place)] {
        sqlx::query!("select pg_advisory_xact_lock($1, hashtext($2))", class, name).execute(&mut *db).await?;
    }
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
               max(failed_at) filter (where email = $1 and address = $2) as place_at,
               count(*) filter (where email = $1) as "per_email!",
               max(failed_at) filter (where email = $1) as email_at,
               count(*) filter (where address = $2) as "per_address!",
               max(failed_at) filter (where address = $2) as address_at
        from sign_in_failures
        where (email = $1 or address = $2) and failed_at > $3
        "#,
        email,
        place(address),
        now - WINDOW,
    )
    .fetch_one(&mut *db)
    .await?;
    let mut until = wait(failures.per_place - PER_PLACE, failures.place_at, WINDOW);
    let by_others = wait(failures.per_email - PER_EMAIL, failures.email_at, LONGEST_FOR_OTHERS).max(wait(
        failures.per_address - PER_ADDRESS,
        failures.address_at,
        LONGEST_FOR_OTHERS,
    ));
    if by_others > until && !audit::signed_in_from(db, email, address, now - KNOWN_FOR).await? {
        until = by_others;
    }
    Ok(until.filter(|until| *until > now))
}

/// Until when someone waits who is `over` a limit since the last failure.
fn wait(over: i64, last: Option<DateTime<Utc>>, longest: TimeDelta) -> Option<DateTime<Utc>> {
    last.filter(|_| over >= 0).map(|last| last + pause(over).min(longest))
}

/// What counts as one place: an address; of IPv6 the network, since a single machine has all of its addresses.
fn place(address: &str) -> String {
    match address.parse() {
        Ok(IpAddr::V6(address)) => {
            let network = address.to_bits() & (u128::MAX << 64);
            format!("{}/64", Ipv6Addr::from_bits(network))
        }
        _ => address.to_owned(),
    }
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

    #[test]
    fn it_takes_a_network_of_ipv6_for_one_place() {
        assert_eq!(place("192.0.2.7"), "192.0.2.7");
        assert_eq!(place("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
        assert_eq!(place("unknown"), "unknown");
    }

    #[test]
    fn strangers_make_nobody_wait_for_long() {
        let last = DateTime::UNIX_EPOCH;
        assert_eq!(wait(-1, Some(last), WINDOW), None);
        assert_eq!(wait(99, Some(last), WINDOW), Some(last + WINDOW));
        assert_eq!(wait(99, Some(last), LONGEST_FOR_OTHERS), Some(last + LONGEST_FOR_OTHERS));
    }
}
