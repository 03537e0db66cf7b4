//! The command line: each command calls one room, prints text or `--json`.
//!
//! Exit status: 0 done, 1 failed (nothing changed), 2 usage, 3 done but rows were rejected.

mod check;
mod import;
mod report;
mod user;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use sqlx::PgPool;

use crate::config::Settings;
use crate::ledger::Originals;
use crate::{MIGRATOR, web};

/// What an organisation spends on GPUs, wherever they run.
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
    /// Load billing exports: each file is a delivery, or each manifest with the files it names.
    Import(import::Arguments),
    /// Print the figures of a page.
    #[command(subcommand)]
    Report(report::Report),
    /// Print the conservation equations with both sides; status 1 where one fails.
    Check(check::Arguments),
    /// Accounts.
    #[command(subcommand)]
    User(user::User),
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
}

/// Runs the program.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    start_logging();
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(execute(cli)));
    match outcome {
        Ok(Done::Well) => ExitCode::SUCCESS,
        Ok(Done::Failed) => ExitCode::from(1),
        Ok(Done::WithRejections) => ExitCode::from(3),
        Err(error) => {
            eprintln!("gpuledger: {error:#}");
            ExitCode::from(1)
        }
    }
}

async fn execute(cli: Cli) -> anyhow::Result<Done> {
    let Cli { settings, json, command } = cli;
    std::fs::create_dir_all(&settings.data_dir)?;
    let pool = connect(&settings).await?;
    let originals = Originals::new(&settings.data_dir);
    let session = Session { pool, originals, json };
    match command.unwrap_or(Command::Serve) {
        Command::Serve => serve(settings, session).await,
        Command::Import(arguments) => import::run(session, arguments).await,
        Command::Report(report) => report::run(session, report).await,
        Command::Check(arguments) => check::run(session, arguments).await,
        Command::User(user) => user::run(session, user).await,
    }
}

async fn connect(settings: &Settings) -> anyhow::Result<PgPool> {
    let url = settings.database_url.as_ref().ok_or_else(|| anyhow::anyhow!("DATABASE_URL is not set"))?;
    let pool = PgPool::connect(url.expose()).await?;
    MIGRATOR.run(&pool).await?;
    Ok(pool)
}

async fn serve(settings: Settings, session: Session) -> anyhow::Result<Done> {
    let listener = tokio::net::TcpListener::bind(settings.listen).await?;
    web::serve(settings, session.pool, listener).await?;
    Ok(Done::Well)
}

fn start_logging() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("GPULEDGER_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info,sqlx=warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}

fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}
