use super::private;
use sqlx::migrate::MigrateError;

/// Why the database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("DATABASE_URL is not a PostgreSQL address like postgres://user:password@host/database: {0}")]
    Address(#[source] sqlx::Error),

    #[error("the database that DATABASE_URL names does not answer: {0}")]
    Connect(#[source] sqlx::Error),

    #[error("the database refuses: {0}")]
    Query(#[source] sqlx::Error),

    #[error(
        "pg_dump and pg_restore of PostgreSQL {0} are missing, the version of the server. \
         Install them (postgresql-client-{0}), or name their folder in GPULEDGER_PG_BIN"
    )]
    NoTools(u32),

    #[error(
        "a restore into this database was broken off, so it is not whole. \
         Run gpuledger restore with the backup again: it clears what is there and begins anew"
    )]
    BrokenOff,

    #[error("a restore into this database is running; wait until it is done")]
    IsRestored,

    #[error(
        "the database is not empty; a backup is restored into a new data folder or an empty database only"
    )]
    NotEmpty,

    #[error(
        "the database is encoded in {0}, which cannot hold every name that bills have. Nothing was changed: \
         make one with: createdb --encoding=UTF8 --template=template0 gpuledger"
    )]
    Encoding(String),

    #[error(transparent)]
    Private(#[from] private::Error),

    #[error(
        "the database was last used by a newer gpuledger (it has the migration {0}, which this one does not know). \
         Nothing was changed: use that version or a later one"
    )]
    Newer(i64),

    #[error(
        "the migration {0} in the database is not the one of this gpuledger, so their tables may differ. \
         Nothing was changed: use the version that made the database, or a released one"
    )]
    Differs(i64),

    #[error("the database could not be brought to this version: {0}")]
    Migrate(#[source] MigrateError),
}

impl From<MigrateError> for Error {
    fn from(error: MigrateError) -> Error {
        match error {
            MigrateError::VersionMissing(version) => Error::Newer(version),
            MigrateError::VersionMismatch(version) => Error::Differs(version),
            error => Error::Migrate(error),
        }
    }
}
