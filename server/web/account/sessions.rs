//! Ending sessions of one's own.

use crate::accounts::session;
use crate::web::error::{Error, Result};
use crate::web::extract::{Visitor, Writing};
use crate::web::{paths, respond};

pub async fn end(path: paths::AccountSession, writing: Writing) -> Result {
    let Writing { now, person, by, mut db, .. } = writing;
    let is_ended = session::end(&mut db, &person, path.session, by.at(now)).await?;
    let sentence =
        if is_ended { "The session ended." } else { "Nothing changed: the session had ended before." };
    Ok(respond::flash(paths::Account, sentence))
}

pub async fn end_others(_: paths::AccountOtherSessions, visitor: Visitor, writing: Writing) -> Result {
    let Writing { now, person, by, mut db, .. } = writing;
    let own = visitor.session.ok_or(Error::SignedOut)?;
    let sentence = match session::end_others(&mut db, &person, &own, by.at(now)).await? {
        0 => "There was no other session.".to_owned(),
        1 => "The other session ended.".to_owned(),
        n => format!("The {n} other sessions ended."),
    };
    Ok(respond::flash(paths::Account, &sentence))
}
