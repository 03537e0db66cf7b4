//! PostgreSQL's own tools (`pg_dump`, `pg_restore`), pointed at the database that we use.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use percent_encoding::percent_decode_str;
use rustix::process::Signal;
use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::process::Command;

use super::Error;
use super::child::end_with_parent;
use super::private::{DEBIAN, parse_major};

/// Tools of the server's major version: another one's files may not fit.
#[derive(Debug)]
pub struct Client {
    bin: PathBuf,
    pub major: u32,
    options: PgConnectOptions,
}

impl Client {
    pub(super) async fn find(options: &PgConnectOptions) -> Result<Self, Error> {
        let mut db = options.connect().await.map_err(Error::Connect)?;
        let version: String =
            sqlx::query_scalar("show server_version_num").fetch_one(&mut db).await.map_err(Error::Connect)?;
        let major = version.parse::<u32>().unwrap_or_default() / 10_000;
        let chosen = env::var_os("GPULEDGER_PG_BIN").map(PathBuf::from);
        let debian = Path::new(DEBIAN).join(major.to_string()).join("bin");
        let in_path = env::var_os("PATH").unwrap_or_default();
        let mut places = chosen.into_iter().chain([debian]).chain(env::split_paths(&in_path));
        let bin = places.find(|bin| is_of(bin, major)).ok_or(Error::NoTools(major))?;
        Ok(Self { bin, major, options: options.clone() })
    }

    pub fn database(&self) -> &str {
        self.options.get_database().unwrap_or(self.options.get_username())
    }

    /// A tool that knows where the database is. The password goes through the environment: everyone can read the
    /// arguments of a process. Ends with whoever waits for it, and with the thread that spawned it.
    pub fn command(&self, tool: &str) -> Command {
        let mut command = Command::new(self.bin.join(tool));
        command.stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        // At this one it cancels what PostgreSQL does for it.
        end_with_parent(command.as_std_mut(), Signal::TERM);
        let options = &self.options;
        let host = match options.get_socket() {
            // A path through a folder that we hold open leads elsewhere in another process.
            Some(socket) => {
                socket.to_string_lossy().replace("/proc/self/", &format!("/proc/{}/", std::process::id()))
            }
            None => options.get_host().to_owned(),
        };
        command.env("PGHOST", host).env("PGPORT", options.get_port().to_string());
        command.env("PGUSER", options.get_username()).env("PGAPPNAME", application_name(tool));
        command.env("PGDATABASE", self.database());
        command.env("PGSSLMODE", ssl_mode(options.get_ssl_mode()));
        let url = options.to_url_lossy();
        if let Some(password) = url.password() {
            command.env("PGPASSWORD", &*percent_decode_str(password).decode_utf8_lossy());
        }
        for (name, variable) in
            [("sslrootcert", "PGSSLROOTCERT"), ("sslcert", "PGSSLCERT"), ("sslkey", "PGSSLKEY")]
        {
            if let Some((_, value)) = url.query_pairs().find(|(found, _)| found == name) {
                command.env(variable, &*value);
            }
        }
        command
    }
}

/// What the sessions of a tool are called in PostgreSQL.
pub(super) fn application_name(tool: &str) -> String {
    format!("gpuledger {tool}")
}

fn is_of(bin: &Path, major: u32) -> bool {
    let tool = bin.join("pg_dump");
    let answer = tool.is_file().then(|| std::process::Command::new(&tool).arg("--version").output());
    let Some(Ok(answer)) = answer else { return false };
    bin.join("pg_restore").is_file() && parse_major(&String::from_utf8_lossy(&answer.stdout)) == Some(major)
}

fn ssl_mode(mode: PgSslMode) -> &'static str {
    match mode {
        PgSslMode::Disable => "disable",
        PgSslMode::Allow => "allow",
        PgSslMode::Prefer => "prefer",
        PgSslMode::Require => "require",
        PgSslMode::VerifyCa => "verify-ca",
        PgSslMode::VerifyFull => "verify-full",
    }
}
