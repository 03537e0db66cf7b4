//! `gpuledger backup`.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use super::{Done, Session, print_json};
use crate::backup::{self, Progress};
use crate::clock;
use crate::command_output::say;
use crate::store::Store;

const REPORT_EVERY: Duration = Duration::from_millis(500);

#[derive(clap::Args)]
pub struct Arguments {
    /// The folder to make. It must not be there yet.
    folder: PathBuf,
}

pub async fn run(session: Session, store: &Store, arguments: Arguments) -> anyhow::Result<Done> {
    let client = store.client().await?;
    let mut db = session.pool.acquire().await?;
    let progress = Progress::default();
    let target = &arguments.folder;
    let made = backup::make(&mut db, &client, &session.originals, target, clock::now(), &progress);
    let manifest = watched(made, "backed up", &progress, session.json).await?;
    if session.json {
        print_json(&json!({
            "backup": target, "bytes": manifest.bytes(), "parts": manifest.parts.len(),
            "sequence": manifest.sequence, "made_at": manifest.made_at, "version": manifest.version,
        }))?;
    } else {
        say!(
            "{}: the ledger as of sequence {} and its originals, {}",
            target.display(),
            manifest.sequence,
            megabytes(manifest.bytes())
        )?;
    }
    Ok(Done::Well)
}

/// Says how far it is, where somebody looks on; ends when it is told to, so that what is half-made is removed.
pub async fn watched<T>(
    work: impl Future<Output = anyhow::Result<T>>,
    what: &str,
    progress: &Progress,
    is_quiet: bool,
) -> anyhow::Result<T> {
    let is_watched = !is_quiet && io::stderr().is_terminal();
    let reporting = async {
        loop {
            tokio::time::sleep(REPORT_EVERY).await;
            if is_watched {
                let _ = write!(io::stderr(), "\r{} {what} ", megabytes(progress.bytes()));
            }
        }
    };
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let done = tokio::select! {
        done = work => done,
        () = reporting => unreachable!("it has no end"),
        _ = terminate.recv() => Err(anyhow!("interrupted; nothing is left of it")),
        _ = interrupt.recv() => Err(anyhow!("interrupted; nothing is left of it")),
    };
    // What reads and writes files does so on threads, which do not hear that nobody waits for them any more.
    progress.stop();
    if is_watched {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    done
}

pub fn megabytes(bytes: u64) -> String {
    let (whole, tenth) = (bytes / 1_000_000, bytes % 1_000_000 / 100_000);
    format!("{whole}.{tenth} MB")
}
