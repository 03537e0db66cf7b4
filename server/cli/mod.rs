//! The command line: each command calls one room, prints text or `--json`.
//!
//! Exit status: 0 done, 1 failed (nothing changed), 2 usage, 3 done but rows were rejected.

mod backup;
mod check;
mod demo;
mod generate;
mod import;
mod report;
mod restore;
mod scenario;
mod user;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use sqlx::{PgConnection, PgPool};

use crate::audit::Actor;
use crate::command_output::{remark, say};
use crate::config::{BaseUrl, DatabaseUrl, LogFormat, SettingError, Settings};
use crate::ledger::{self, Originals};
use crate::store::{Database, Store, is_disk_full, private};
use crate::web;

/// An import writes on two connections and asks on two more.
const JOB_CONNECTIONS: u32 = 14;
const PAGE_CONNECTIONS: u32 = 16;
/// A page that takes longer is of no use to who waits for it.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a stop waits for connections that an import holds.
const LAST_ROWS: Duration = Duration::from_secs(3);

/// What an organization spends on GPUs, wherever they run.
#[derive(Parser)]
#[command(name = "gpuledger", version, about)]
struct Cli {
    #[command(flatten)]
    settings: Settings,

    /// Print JSON instead of text.
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Answer in the browser (the default).
    Serve,
    /// Answer in the browser with an invented organization's bills, in a folder of their own (`demo`).
    Demo(demo::Arguments),
    /// Load billing exports: each file is a delivery, or each manifest with the files it names.
    Import(import::Arguments),
    /// Print the figures of a page.
    #[command(subcommand)]
    Report(report::Report),
    /// Compare where work could run, as a file says it, without a server.
    Scenario(scenario::Arguments),
    /// Print the conservation equations with both sides; status 1 where one fails.
    Check(check::Arguments),
    /// Write everything into a new folder, beside a running server: the database, the originals, a manifest.
    Backup(backup::Arguments),
    /// Fill a new data folder or an empty database from a backup.
    Restore(restore::Arguments),
    /// Write a demonstration export; the same options always write the same bytes.
    Generate(generate::Arguments),
    /// Accounts.
    #[command(subcommand)]
    User(user::User),
    /// Runs the private PostgreSQL; started by the other commands, never by hand.
    #[command(name = private::SUBCOMMAND, hide = true)]
    KeepPostgres {
        #[arg(long)]
        postgres: PathBuf,
    },
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    Well,
    /// Nothing changed, or an equation does not hold.
    Failed,
    /// Done, but rows were rejected.
    WithRejections,
}

/// What every command works with.
struct Session {
    pool: PgPool,
    originals: Originals,
    json: bool,
    /// Where people reach the server.
    base_url: BaseUrl,
    /// Who does it, for the audit trail.
    by: Actor,
}

/// Whoever runs the command, by the name of the machine's user, or their number where the name is not known.
fn whoever_runs_this() -> Actor {
    let described = ["SUDO_USER", "USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let user = described.filter(|user| !user.is_empty());
    let user = user.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()));
    Actor::command_line(Some(&user))
}

/// Runs the program.
pub fn run() -> ExitCode {
    let matches = Cli::command().get_matches();
    let mut cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let is_typed = matches.value_source("database_url") == Some(ValueSource::CommandLine);
    if is_typed && cli.settings.database_url().is_none() {
        Cli::command().error(ErrorKind::InvalidValue, SettingError::DatabaseUrl).exit();
    }
    let is_default = matches.value_source("data_dir") == Some(ValueSource::DefaultValue);
    if let Some(Command::Demo(_)) = cli.command
        && is_default
    {
        cli.settings.data_dir = demo::default_data_dir(&cli.settings.data_dir);
    }
    if let Some(Command::KeepPostgres { postgres }) = &cli.command {
        return keep_postgres(&cli.settings.data_dir, postgres);
    }
    start_logging(cli.settings.log_format);
    if let Some(Command::Generate(arguments)) = cli.command {
        return exit_code(generate::run(&arguments, cli.json));
    }
    if let Some(Command::Scenario(arguments)) = cli.command {
        return exit_code(scenario::run(&arguments, cli.json));
    }
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(execute(cli)));
    exit_code(outcome)
}

fn exit_code(outcome: anyhow::Result<Done>) -> ExitCode {
    match outcome {
        Ok(Done::Well) => ExitCode::SUCCESS,
        Ok(Done::Failed) => ExitCode::from(1),
        Ok(Done::WithRejections) => ExitCode::from(3),
        Err(error) => {
            remark!("gpuledger: {}", sentence(&error));
            ExitCode::from(1)
        }
    }
}

/// What a command says that failed.
fn sentence(error: &anyhow::Error) -> String {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<sqlx::Error>());
    if causes.any(is_disk_full) {
        return format!("the disk of the database is full. Make room on it, then run this again ({error:#})");
    }
    format!("{error:#}")
}

async fn execute(cli: Cli) -> anyhow::Result<Done> {
    let Cli { settings, json, command } = cli;
    if let Some(Command::Demo(arguments)) = &command {
        let url = settings.database_url().map(DatabaseUrl::expose);
        demo::claim(arguments, &settings.data_dir, url).await?;
    }
    if let Some(Command::Restore(arguments)) = command {
        return restore::run(&settings, json, arguments).await;
    }
    private::make_directory(&settings.data_dir)?;
    let database = database(&settings)?;
    if let Some(is_running) = crate::backup::restore_of(&settings.data_dir) {
        let store = Store::find(&database).await?;
        let refused = store.refuse_blank(is_running).await;
        store.close().await?;
        refused?;
    }
    let store = Store::open(&database).await?;
    let originals = Originals::new(&settings.data_dir);
    let session = Session {
        pool: store.pool(JOB_CONNECTIONS, None),
        originals,
        json,
        base_url: settings.base_url(),
        by: whoever_runs_this(),
    };
    let pool = session.pool.clone();
    tidy_up(&mut *pool.acquire().await?, &session.originals).await;
    ledger::recognize_again(&mut *pool.acquire().await?).await?;
    let done = match command.unwrap_or(Command::Serve) {
        Command::Serve => serve(settings, &store, &pool).await,
        Command::Demo(_) => match demo::prepare(&session, &settings.data_dir).await {
            Ok(()) => serve(settings, &store, &pool).await,
            Err(error) => Err(error),
        },
        Command::Import(arguments) => import::run(session, arguments).await,
        Command::Report(report) => report::run(session, report).await,
        Command::Check(arguments) => check::run(session, arguments).await,
        Command::User(user) => user::run(session, user).await,
        Command::Backup(arguments) => backup::run(session, &store, arguments).await,
        Command::Generate(_) | Command::KeepPostgres { .. } | Command::Restore(_) | Command::Scenario(_) => {
            unreachable!("are answered before a database is opened")
        }
    };
    // Rows of an import that was cut off may be on their way still.
    let _ = tokio::time::timeout(LAST_ROWS, pool.close()).await;
    store.close().await?;
    done
}

/// Clears away what a process left behind that ended while it kept files.
async fn tidy_up(db: &mut PgConnection, originals: &Originals) {
    if let Err(error) = ledger::remove_unfinished(db, originals).await {
        tracing::warn!(%error, "originals that were only half kept could not be removed");
    }
}

fn database(settings: &Settings) -> anyhow::Result<Database> {
    let url = settings.database_url().map(DatabaseUrl::expose);
    Database::of(&settings.data_dir, url)
        .with_context(|| format!("the database of {} is not known", settings.data_dir.display()))
}

async fn serve(mut settings: Settings, store: &Store, jobs: &PgPool) -> anyhow::Result<Done> {
    let listener = tokio::net::TcpListener::bind(settings.listen)
        .await
        .with_context(|| format!("{} cannot be listened on", settings.listen))?;
    // Port 0 is any that is free.
    settings.listen = listener.local_addr()?;
    let pool = store.pool(PAGE_CONNECTIONS, Some(PAGE_TIMEOUT));
    let keeping = store.reserve().map(|reserve| tokio::spawn(reserve.keep()));
    let served = web::serve(settings, pool.clone(), jobs.clone(), listener).await;
    if let Some(keeping) = keeping {
        keeping.abort();
    }
    served?;
    pool.close().await;
    Ok(Done::Well)
}

/// A process of its own, without threads: PostgreSQL ends with the thread that started it.
fn keep_postgres(data_dir: &Path, postgres: &Path) -> ExitCode {
    match private::keep(data_dir, postgres) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            remark!("gpuledger: {error}");
            ExitCode::from(1)
        }
    }
}

fn start_logging(format: LogFormat) {
    let filter = tracing_subscriber::EnvFilter::try_from_env("GPULEDGER_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info,sqlx=warn"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().flatten_event(true).with_span_list(false).init(),
    }
}

fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    say!("{}", serde_json::to_string_pretty(value)?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[sqlx::test(migrator = "crate::MIGRATOR")]
    async fn full_disk_of_the_database_is_said_in_words(db: PgPool) {
        let full = sqlx::query(
            "do $$ begin raise sqlstate '53100' using message = 'No space left on device'; end $$",
        );
        let error =
            anyhow::Error::new(full.execute(&db).await.unwrap_err()).context("the account was not made");
        let said = sentence(&error);
        assert!(
            said.starts_with("the disk of the database is full. Make room on it, then run this again"),
            "{said}"
        );
        assert_eq!(sentence(&anyhow::anyhow!("it is Tuesday").context("no")), "no: it is Tuesday");
    }
}
