//! The version of the ledger that a question is answered as of.

use sqlx::PgConnection;

use crate::ledger;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("sequence: version {asked} does not exist. The latest is {current}.")]
    NoSuchVersion { asked: i64, current: i64 },
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// The sequence that was asked for, else the current one. One that is still to come is none to answer for: the same
/// address would have another answer tomorrow.
pub(super) async fn as_of(db: &mut PgConnection, asked: Option<i64>) -> Result<i64, Error> {
    let current = ledger::sequence(db).await?;
    match asked {
        None => Ok(current),
        Some(asked) if (0..=current).contains(&asked) => Ok(asked),
        Some(asked) => Err(Error::NoSuchVersion { asked, current }),
    }
}
