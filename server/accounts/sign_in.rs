//! Signing in, and slowing down whoever guesses.

use std::net::{IpAddr, Ipv6Addr};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::password::{self, HashError};
use super::session::{self, Opening};
use super::{Person, UserId, people, token};
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
/// For how long a place from which somebody signed in is known as theirs: there only failures from it count.
const KNOWN_FOR: TimeDelta = TimeDelta::days(90);

/// An attempt that may go on. It comes in three steps, so that nobody holds a connection while a password
/// is hashed: [`begin`] or [`begin_again`], [`Attempt::verify`], then [`succeed`], [`change_password`], [`forgive`] or
/// [`refuse`].
#[derive(Debug)]
pub struct Attempt {
    email: String,
    address: String,
    account: Option<Account>,
    /// They are signed in, and are asked for their password again.
    is_again: bool,
    /// The hash of the password that was right.
    proven: Option<String>,
}

#[derive(Debug)]
struct Account {
    user: UserId,
    email: String,
    hash: Option<String>,
}

/// What became of changing one's password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordChange {
    Done {
        tokens_revoked: u64,
    },
    /// It was changed meanwhile, or the account disabled: the one that was typed is wrong by now.
    Refused,
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
    begin_as(db, email, address, false, now).await
}

/// The same for who is signed in and is asked for their password: guessing it from a browser that was left open is slowed
/// down as signing in is.
pub async fn begin_again(
    db: &mut PgConnection,
    person: &Person,
    address: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Begun> {
    begin_as(db, &person.email, address, true, now).await
}

async fn begin_as(
    db: &mut PgConnection,
    email: &str,
    address: &str,
    is_again: bool,
    now: DateTime<Utc>,
) -> sqlx::Result<Begun> {
    let email: String = email.trim().to_lowercase().chars().take(254).collect();
    let mut tx = db.begin().await?;
    lock_attempts(&mut tx, &email, &place(address)).await?;
    let until = blocked_until(&mut tx, &email, address, now).await?;
    let account = sqlx::query_as!(
        Account,
        r#"select user_id as "user: UserId", email, password_hash as hash
           from users where lower(email) = $1 and disabled_at is null"#,
        email
    )
    .fetch_optional(&mut *tx)
    .await?;
    let attempt = Attempt { email, address: address.to_owned(), account, is_again, proven: None };
    if let Some(until) = until {
        record_block(&mut tx, &attempt, until, now).await?;
    } else {
        record_failure(&mut tx, &attempt.email, &place(address), now).await?;
    }
    // Said and not left to the end of the scope, which would let go of the turn only with the next query.
    tx.commit().await?;
    Ok(until.map_or(Begun::Checking(attempt), |until| Begun::Wait { until }))
}

impl Attempt {
    /// Whether the password is right. False for a wrong address, too: which of the two it is is not shown, not even by how
    /// long it takes.
    pub async fn verify(&mut self, password: String) -> Result<bool, HashError> {
        let hash = self.account.as_mut().and_then(|account| account.hash.take());
        let is_right = password::verify(hash.clone(), password).await?;
        self.proven = hash.filter(|_| is_right);
        Ok(is_right)
    }

    fn proven(&self) -> Option<(&Account, &str)> {
        self.account.as_ref().zip(self.proven.as_deref())
    }

    fn object(&self) -> Object {
        self.account.as_ref().map_or(Object::Other("an address without account"), Account::object)
    }

    /// Who makes it, as the trail names them.
    fn actor(&self) -> Actor {
        let known = self.account.as_ref().filter(|_| self.is_again);
        Actor::person(known.map_or("not signed in", |account| &account.email), &self.address)
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

/// Opens a session for an attempt that went well, takes back its failures, and writes down who signed in. `None`: the password
/// was changed since it was verified, or the account disabled. Then it was a wrong one, and is to be refused.
pub async fn succeed(
    db: &mut PgConnection,
    attempt: &Attempt,
    opening: Opening<'_>,
    now: DateTime<Utc>,
) -> sqlx::Result<Option<UserId>> {
    let Some((account, hash)) = attempt.proven() else { return Ok(None) };
    let mut tx = db.begin().await?;
    let Some(ended) = session::open(&mut tx, account.user, hash, opening, now).await? else {
        tx.rollback().await?;
        return Ok(None);
    };
    forgive(&mut tx, attempt).await?;
    let by = Actor::person(&account.email, &attempt.address);
    let details = if ended == 0 { json!(null) } else { json!({ "sessions_ended": ended }) };
    audit::record(&mut tx, by.at(now), Verb::SignedIn, &account.object(), details).await?;
    tx.commit().await?;
    Ok(Some(account.user))
}

/// Sets the password of who proved the one before. It signs them out everywhere but in the session that is opened for it, and
/// revokes their tokens where they want that.
pub async fn change_password(
    db: &mut PgConnection,
    attempt: &Attempt,
    password_hash: &str,
    revokes_tokens: bool,
    opening: Opening<'_>,
    now: DateTime<Utc>,
) -> sqlx::Result<PasswordChange> {
    let Some((account, proven)) = attempt.proven() else { return Ok(PasswordChange::Refused) };
    let mut tx = db.begin().await?;
    let changed = sqlx::query!(
        "update users set password_hash = $3 where user_id = $1 and password_hash = $2 and disabled_at is null",
        account.user.0,
        proven,
        password_hash,
    )
    .execute(&mut *tx)
    .await?;
    if changed.rows_affected() == 0 {
        tx.rollback().await?;
        return Ok(PasswordChange::Refused);
    }
    people::end_ways_in(&mut tx, account.user).await?;
    let tokens_revoked = if revokes_tokens { token::revoke_all(&mut tx, account.user).await? } else { 0 };
    let details = if revokes_tokens { json!({ "tokens_revoked": tokens_revoked }) } else { json!(null) };
    audit::record(&mut tx, attempt.actor().at(now), Verb::PasswordChanged, &account.object(), details)
        .await?;
    session::open(&mut tx, account.user, password_hash, opening, now).await?;
    tx.commit().await?;
    Ok(PasswordChange::Done { tokens_revoked })
}

/// Writes down that an attempt did not go well. An address that nobody has is not kept: it may be a password.
pub async fn refuse(db: &mut PgConnection, attempt: &Attempt, now: DateTime<Utc>) -> sqlx::Result<()> {
    let verb = if attempt.is_again { Verb::CurrentPasswordRefused } else { Verb::SignInRefused };
    audit::record(db, attempt.actor().at(now), verb, &attempt.object(), json!(null)).await
}

/// Writes down that an attempt was blocked: one line for a pause of an account and a place, so that nobody fills the trail by
/// going on.
async fn record_block(
    db: &mut PgConnection,
    attempt: &Attempt,
    until: DateTime<Utc>,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let user = attempt.account.as_ref().map_or(0, |account| account.user.0);
    let is_new = sqlx::query!(
        "insert into sign_in_blocks as known (user_id, address, blocked_until) values ($1, $2, $3)
         on conflict (user_id, address) do update set blocked_until = $3 where known.blocked_until <= $4",
        user,
        place(&attempt.address),
        until,
        now,
    )
    .execute(&mut *db)
    .await?;
    if is_new.rows_affected() == 0 {
        return Ok(());
    }
    let details = json!({ "until": until });
    audit::record(db, attempt.actor().at(now), Verb::SignInBlocked, &attempt.object(), details).await
}

impl Account {
    fn object(&self) -> Object {
        Object::Person { id: self.user.0, email: self.email.clone() }
    }
}

/// Attempts for one account or from one place are counted one after the other, or many at once would all find that
/// few had failed. Everybody waits for the account first, then for the place, so that no two wait for each other.
async fn lock_attempts(db: &mut PgConnection, email: &str, place: &str) -> sqlx::Result<()> {
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
    let mut until = wait(failures.per_place - PER_PLACE, failures.place_at, WINDOW).max(wait(
        failures.per_address - PER_ADDRESS,
        failures.address_at,
        LONGEST_FOR_OTHERS,
    ));
    // A known place has no say in the limit of places: behind a proxy that is not named it is everybody's.
    let by_others = wait(failures.per_email - PER_EMAIL, failures.email_at, LONGEST_FOR_OTHERS);
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
    sqlx::query!("delete from sign_in_blocks where blocked_until <= $1", now).execute(&mut *db).await?;
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
