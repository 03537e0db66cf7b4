//! The trail of everything that writes: who did what to what, when, from where.
//!
//! Whoever writes calls [`record`] in the same transaction, so that there is neither a change without its line
//! nor a line without its change. A new verb is one line in `verb.rs`. Nothing secret goes in: no password, no
//! token, no link, and of a refused sign-in no address that nobody here has, since people type passwords there.

mod object;
mod search;
mod verb;

pub use object::Object;
pub use search::{Found, Line, PAGE, Search, actors, find, signed_in_from};
pub use verb::Verb;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::PgConnection;

/// Who does something, and from which address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// An e-mail address, or what [`Actor::command_line`] says.
    pub name: String,
    pub address: Option<String>,
}

impl Actor {
    /// Someone in a browser.
    pub fn person(email: &str, address: &str) -> Self {
        Self { name: email.to_owned(), address: Some(address.to_owned()) }
    }

    /// Whoever runs a command on the machine, by the name of the machine's user where it is known.
    pub fn command_line(user: Option<&str>) -> Self {
        let name = user.map_or_else(|| "command line".to_owned(), |user| format!("command line ({user})"));
        Self { name, address: None }
    }

    /// The server, by what an administrator set.
    pub fn server() -> Self {
        Self { name: "gpuledger".to_owned(), address: None }
    }

    /// Someone who submitted a job that runs now.
    pub fn on_behalf_of(name: &str) -> Self {
        Self { name: name.to_owned(), address: None }
    }

    /// What they do at a time.
    pub fn at(&self, at: DateTime<Utc>) -> Act<'_> {
        Act { by: self, at }
    }
}

/// Who does something, and when: what every verb that writes takes. Made by [`Actor::at`].
#[derive(Clone, Copy, Debug)]
pub struct Act<'a> {
    pub by: &'a Actor,
    pub at: DateTime<Utc>,
}

/// Writes a line. `details` is an object of small values, what was before and after among them; or null.
pub async fn record(
    db: &mut PgConnection,
    act: Act<'_>,
    verb: Verb,
    object: &Object,
    details: Value,
) -> sqlx::Result<()> {
    let (kind, id, name) = object.parts();
    let details = if details.is_null() { Value::Object(serde_json::Map::new()) } else { details };
    sqlx::query!(
        "insert into audit_log (happened_at, actor, address, verb, object_kind, object_id, object_name, details)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        act.at,
        act.by.name,
        act.by.address,
        verb.as_str(),
        kind,
        id,
        name,
        details,
    )
    .execute(db)
    .await?;
    Ok(())
}
