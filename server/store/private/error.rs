use std::io;
use std::path::{Path, PathBuf};

pub(super) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the private PostgreSQL cannot be used. Each message says what happened and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "no PostgreSQL server is installed here. Install one (Debian, Ubuntu: apt-get install postgresql), \
         or set DATABASE_URL to a PostgreSQL that runs elsewhere"
    )]
    NoPrograms,

    #[error(
        "GPULEDGER_PG_BIN is {}, but there are no programs postgres and initdb that run. \
         Set it to the bin directory of a PostgreSQL, or unset it", .0.display()
    )]
    NoProgramsIn(PathBuf),

    #[error(
        "{} was made by PostgreSQL {made_by}, and only {found} is installed here. Nothing was changed. \
         Install PostgreSQL {made_by} (Debian, Ubuntu: apt-get install postgresql-{made_by}), \
         or bring the data to the newer version with pg_upgrade or pg_dump", .data.display()
    )]
    OtherMajor { data: PathBuf, made_by: u32, found: String },

    #[error(
        "{} holds files, but no readable PG_VERSION, so it is not a PostgreSQL data directory. \
         Nothing was changed: move it away, or restore it from a backup", .0.display()
    )]
    NotACluster(PathBuf),

    #[error(
        "PostgreSQL does not run as root but as {account}, and {account} cannot pass through {}. \
         Choose another data directory (--data-dir), for example under /var/lib, \
         or let others pass: chmod o+x {}", .closed.display(), .closed.display()
    )]
    OutOfReach { closed: PathBuf, account: String },

    #[error("neither a user postgres nor a user nobody exists here, and PostgreSQL does not run as root")]
    NoAccount,

    #[error("PostgreSQL could not make its data directory: {output}")]
    Init { output: String },

    #[error("PostgreSQL did not start ({status}); {} says why. Its last lines:\n{tail}", .log.display())]
    Ended { status: String, log: PathBuf, tail: String },

    #[error("PostgreSQL was still not ready after {seconds} s; {} says what it does", .log.display())]
    NotReady { seconds: u64, log: PathBuf },

    #[error("a PostgreSQL that nobody looks after (process {pid}) works in {} and does not stop", .data.display())]
    Stubborn { pid: i32, data: PathBuf },

    /// What the supervisor said, or that it said nothing.
    #[error("{0}")]
    Supervisor(String),

    #[error("this command is not for people: gpuledger starts it to look after its PostgreSQL")]
    NotForPeople,

    #[error("gpuledger was ending before its PostgreSQL had started")]
    Interrupted,

    #[error("{doing} {}: {source}", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },

    #[error("the private PostgreSQL does not answer: {0}")]
    Connect(#[from] sqlx::Error),
}

/// Says which file an I/O error was about, and what was being done to it.
pub(super) trait About<T> {
    fn about(self, doing: &'static str, path: &Path) -> Result<T>;
}

impl<T, E: Into<io::Error>> About<T> for Result<T, E> {
    fn about(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|error| Error::Io { doing, path: path.to_owned(), source: error.into() })
    }
}
