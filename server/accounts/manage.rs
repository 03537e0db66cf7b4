//! What administrators do with accounts. Whatever they do, somebody who can administer remains.

use serde::Serialize;
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::{Person, Role, UserId, people, session, token};
use crate::audit::{self, Act, Verb};

/// What an administrator changes about somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub name: Option<String>,
    pub role: Role,
    pub teams: Vec<String>,
    /// Means something for leads only.
    pub sees_billing_accounts: bool,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Managed {
    Done,
    /// It is so already.
    Unchanged,
    /// Nobody could administer the server any more. Nothing changed.
    LastAdmin,
    /// Nobody has this number.
    Nobody,
}

/// What ended when somebody was signed out everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SignedOut {
    pub sessions_ended: u64,
    pub tokens_revoked: u64,
}

/// Changes name, role, teams and what a lead sees besides. It holds from the person's next click on.
pub async fn change(
    db: &mut PgConnection,
    id: UserId,
    change: &Change,
    act: Act<'_>,
) -> sqlx::Result<Managed> {
    let mut tx = lock(db).await?;
    let Some(person) = people::find(&mut tx, id).await? else { return Ok(Managed::Nobody) };
    let teams = change.role.keeps(&change.teams);
    let sees = change.sees_billing_accounts && change.role == Role::Lead;
    let mut changes = serde_json::Map::new();
    if person.name != change.name {
        changes.insert("name".into(), json!({ "from": person.name, "to": change.name }));
    }
    if person.role != change.role {
        changes.insert("role".into(), json!({ "from": person.role, "to": change.role }));
    }
    if person.teams != teams {
        changes.insert("teams".into(), json!({ "from": person.teams, "to": teams }));
    }
    if person.sees_billing_accounts != sees {
        let change = json!({ "from": person.sees_billing_accounts, "to": sees });
        changes.insert("sees_billing_accounts".into(), change);
    }
    if changes.is_empty() {
        return Ok(Managed::Unchanged);
    }
    sqlx::query!(
        "update users set name = $2, role = $3, sees_billing_accounts = $4 where user_id = $1",
        id.0,
        change.name,
        change.role.as_str(),
        sees,
    )
    .execute(&mut *tx)
    .await?;
    people::set_teams(&mut tx, id, teams).await?;
    if is_last_admin(&mut tx, &person).await? {
        return Ok(Managed::LastAdmin);
    }
    audit::record(&mut tx, act, Verb::PersonChanged, &person.object(), changes.into()).await?;
    tx.commit().await?;
    Ok(Managed::Done)
}

/// Lets somebody in no longer: their sessions, tokens and links end at once.
pub async fn disable(db: &mut PgConnection, id: UserId, act: Act<'_>) -> sqlx::Result<Managed> {
    let mut tx = lock(db).await?;
    let Some(person) = people::find(&mut tx, id).await? else { return Ok(Managed::Nobody) };
    if person.is_disabled() {
        return Ok(Managed::Unchanged);
    }
    sqlx::query!("update users set disabled_at = $2 where user_id = $1", id.0, act.at)
        .execute(&mut *tx)
        .await?;
    if is_last_admin(&mut tx, &person).await? {
        return Ok(Managed::LastAdmin);
    }
    let ended = end_access(&mut tx, id).await?;
    sqlx::query!("delete from password_links where user_id = $1", id.0).execute(&mut *tx).await?;
    audit::record(&mut tx, act, Verb::PersonDisabled, &person.object(), json!(ended)).await?;
    tx.commit().await?;
    Ok(Managed::Done)
}

/// Lets somebody in again, with the password they had.
pub async fn enable(db: &mut PgConnection, id: UserId, act: Act<'_>) -> sqlx::Result<Managed> {
    let mut tx = lock(db).await?;
    let Some(person) = people::find(&mut tx, id).await? else { return Ok(Managed::Nobody) };
    if !person.is_disabled() {
        return Ok(Managed::Unchanged);
    }
    sqlx::query!("update users set disabled_at = null where user_id = $1", id.0).execute(&mut *tx).await?;
    audit::record(&mut tx, act, Verb::PersonEnabled, &person.object(), json!(null)).await?;
    tx.commit().await?;
    Ok(Managed::Done)
}

/// Ends every session of somebody and revokes their tokens.
pub async fn sign_out(db: &mut PgConnection, person: &Person, act: Act<'_>) -> sqlx::Result<SignedOut> {
    let mut tx = db.begin().await?;
    let ended = end_access(&mut tx, person.user_id).await?;
    audit::record(&mut tx, act, Verb::PersonSignedOut, &person.object(), json!(ended)).await?;
    tx.commit().await?;
    Ok(ended)
}

async fn end_access(db: &mut PgConnection, id: UserId) -> sqlx::Result<SignedOut> {
    Ok(SignedOut {
        sessions_ended: session::end_all(db, id).await?,
        tokens_revoked: token::revoke_all(db, id).await?,
    })
}

/// Two administrators who demote each other at the same moment do it one after the other.
async fn lock(db: &mut PgConnection) -> sqlx::Result<sqlx::Transaction<'_, sqlx::Postgres>> {
    let mut tx = db.begin().await?;
    sqlx::query!("lock table users in share row exclusive mode").execute(&mut *tx).await?;
    Ok(tx)
}

/// Whether the person, as they were, could administer, and now nobody can. Who never chose a password cannot.
async fn is_last_admin(db: &mut PgConnection, person: &Person) -> sqlx::Result<bool> {
    if person.role != Role::Admin || person.is_disabled() || !person.has_password {
        return Ok(false);
    }
    sqlx::query_scalar!(
        r#"select not exists (
               select from users where role = 'admin' and disabled_at is null and password_hash is not null
           ) as "none_left!""#
    )
    .fetch_one(db)
    .await
}
