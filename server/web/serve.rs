//! Running the site: from a socket that listens to a graceful stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use super::{App, paths, router};
use crate::accounts::setup;
use crate::clock;
use crate::config::Settings;
use crate::jobs;

/// How long requests under way may take once the server was told to stop.
const LAST_REQUESTS: Duration = Duration::from_secs(20);

/// Answers requests until SIGTERM or Ctrl-C, then lets those under way finish. The database is migrated by
/// now. Imports run beside, on connections of their own; one that the stop cuts off starts again with the next
/// server. Prints where to go, and, while nobody has an account, the link that makes the first one.
pub async fn serve(
    settings: Settings,
    db: PgPool,
    jobs: PgPool,
    listener: TcpListener,
) -> anyhow::Result<()> {
    announce(&settings, &db).await?;
    let app = App::new(settings, db, jobs);
    app.inbox.sweep(&mut *app.jobs.acquire().await?).await?;
    let worker = tokio::spawn(jobs::work(app.jobs.clone(), app.originals.clone(), app.bell.clone()));
    let site = router(app).into_make_service_with_connect_info::<SocketAddr>();
    let stopping = Arc::new(Notify::new());
    let told = Arc::clone(&stopping);
    let serving = axum::serve(listener, site).with_graceful_shutdown(async move {
        told_to_stop().await;
        told.notify_one();
    });
    tokio::select! {
        ended = serving => ended?,
        () = patience(&stopping) => tracing::warn!("stopped with requests under way"),
    }
    worker.abort();
    Ok(())
}

async fn announce(settings: &Settings, db: &PgPool) -> anyhow::Result<()> {
    let mut db = db.acquire().await?;
    let link = setup::ensure(&mut db, &mut clock::dice(), clock::now()).await?;
    let base = settings.base_url();
    println!("gpuledger answers at {base}/");
    if let Some(token) = link {
        let path = paths::Setup { token: token.as_str().to_owned() };
        println!("Nobody has an account yet. The first administrator opens {base}{path}");
    }
    Ok(())
}

async fn told_to_stop() {
    let terminate = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signals) => {
                signals.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminate => {}
    }
}

async fn patience(stopping: &Notify) {
    stopping.notified().await;
    tokio::time::sleep(LAST_REQUESTS).await;
}
