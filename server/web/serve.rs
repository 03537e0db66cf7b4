//! Running the site: from a socket that listens to a graceful stop.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use super::connections::{self, Limits};
use super::warm_up::prepare;
use super::{App, paths, router};
use crate::accounts::setup;
use crate::allocation;
use crate::clock::{self, Clock};
use crate::command_output::say;
use crate::config::Settings;
use crate::jobs::{self, Uploads};
use crate::ledger::{self, Originals};
use crate::storage;

/// How long requests under way may take once the server was told to stop.
const LAST_REQUESTS: Duration = Duration::from_secs(10);
/// How long a stop waits for connections that an import holds.
const LAST_ROWS: Duration = Duration::from_secs(3);
/// How often what is inactive is looked for.
const BETWEEN_ARCHIVINGS: Duration = Duration::from_mins(1);
/// How often unfinished uploads are looked at.
const BETWEEN_SWEEPS: Duration = Duration::from_mins(10);
/// How often what allocations were read from, and nobody uses any more, is removed.
const BETWEEN_REMOVALS: Duration = Duration::from_hours(24);

/// Answers requests until SIGTERM or Ctrl-C, then lets those under way finish and puts imports back in the queue,
/// which the next server starts with. A second signal ends the process at once. The database is migrated by now.
/// Prints where to go, and, while nobody has an account, the link that makes the first one.
pub async fn serve(
    settings: Settings,
    db: PgPool,
    jobs: PgPool,
    listener: TcpListener,
) -> anyhow::Result<()> {
    announce(&settings, &db).await?;
    let app = App::new(settings, db.clone(), jobs);
    // What a server left behind that was killed while files arrived.
    app.inbox.sweep(&mut *app.jobs.acquire().await?).await?;
    let worker =
        tokio::spawn(jobs::work(app.jobs.clone(), app.originals.clone(), app.notifier.clone(), app.clock));
    let reader = tokio::spawn(jobs::prometheus::read_servers(
        app.jobs.clone(),
        app.originals.clone(),
        app.secrets.clone(),
        app.notifier.clone(),
        app.clock,
    ));
    let remover = tokio::spawn(forget_daily(app.jobs.clone()));
    let archiver = tokio::spawn(archive(app.jobs.clone(), app.originals.clone()));
    let sweeper = tokio::spawn(remove_old_uploads(app.uploads.clone(), app.clock));
    let preparer = tokio::spawn(prepare(
        app.jobs.clone(),
        Arc::clone(&app.answers),
        Arc::clone(&app.metrics),
        app.clock,
    ));
    let (jobs, downloads) = (app.jobs.clone(), app.downloads.clone());
    let site = router(app);
    let stopping = Arc::new(Notify::new());
    let described = Arc::clone(&stopping);
    let mut signals = Signals::listen()?;
    let serving = connections::serve(listener, site, Limits::of_this_process(), async move {
        signals.next().await;
        tracing::info!("stopping: requests under way may finish");
        described.notify_one();
        tokio::spawn(end_at_the_second(signals));
    });
    tokio::select! {
        () = serving => {}
        () = patience(&stopping) => tracing::warn!("stopped with requests under way"),
    }
    reader.abort();
    remover.abort();
    archiver.abort();
    sweeper.abort();
    preparer.abort();
    worker.abort();
    let _ = worker.await;
    let _ = tokio::time::timeout(LAST_ROWS, downloads.pool.close()).await;
    put_back(&db, &jobs).await
}

/// Archives imports that were replaced or undone a while ago.
async fn archive(db: PgPool, originals: Originals) {
    loop {
        let archived = async {
            let mut db = db.acquire().await?;
            storage::archive(&mut db, &originals, clock::now()).await?;
            // Of what was loaded again: what is imported is indexed when it is prepared.
            anyhow::Ok(ledger::index_keys(&mut db).await?)
        };
        if let Err(error) = archived.await {
            tracing::warn!(%error, "imports that are inactive could not be archived; trying again");
        }
        tokio::time::sleep(BETWEEN_ARCHIVINGS).await;
    }
}

/// Removes abandoned uploads.
async fn remove_old_uploads(uploads: Uploads, clock: Clock) {
    loop {
        if let Err(error) = uploads.remove_old(clock.now()) {
            tracing::warn!(%error, "unfinished uploads could not be removed; trying again");
        }
        tokio::time::sleep(BETWEEN_SWEEPS).await;
    }
}

async fn forget_daily(db: PgPool) {
    loop {
        let removed = async {
            let mut db = db.acquire().await?;
            allocation::forget(&mut db).await?;
            ledger::remove_unused_keys(&mut db).await
        };
        if let Err(error) = removed.await {
            tracing::warn!(%error, "what nobody needs any more could not be removed");
        }
        tokio::time::sleep(BETWEEN_REMOVALS).await;
    }
}

/// A job is free once the connection that locks it is closed. One that is not free in time is taken up by the next
/// server all the same.
async fn put_back(db: &PgPool, jobs: &PgPool) -> anyhow::Result<()> {
    let _ = tokio::time::timeout(LAST_ROWS, jobs.close()).await;
    let count = jobs::put_back(&mut *db.acquire().await?).await?;
    if count > 0 {
        tracing::info!(count, "imports are put back in the queue");
    }
    Ok(())
}

async fn announce(settings: &Settings, db: &PgPool) -> anyhow::Result<()> {
    let mut db = db.acquire().await?;
    let link = setup::ensure(&mut db, &mut clock::dice(), clock::now()).await?;
    let base = settings.base_url();
    if settings.lacks_trusted_proxy() {
        tracing::warn!(
            "no trusted proxy is named: limits on sign-in and the audit trail take everybody for the proxy. Set \
             GPULEDGER_TRUSTED_PROXY (--trusted-proxy) to its address"
        );
    }
    say!("gpuledger answers at {base}/")?;
    if let Some(token) = link {
        let path = paths::Setup { token: token.as_str().to_owned() };
        say!("Nobody has an account yet. The first administrator opens {base}{path}")?;
    }
    Ok(())
}

/// What asks us to stop.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Nothing is lost: what breaks off is active nowhere, and the private PostgreSQL sees that we are gone.
async fn end_at_the_second(mut signals: Signals) {
    signals.next().await;
    tracing::warn!("stopped at once");
    std::process::exit(1);
}

async fn patience(stopping: &Notify) {
    stopping.notified().await;
    tokio::time::sleep(LAST_REQUESTS).await;
}
