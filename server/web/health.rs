//! `/healthz`: the process answers. Nothing else is asked, so that a slow database restarts no server.
//! `/readyz`: it can do its work: each thing that this takes, by name.

use std::path::Path;
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sqlx::PgPool;

use super::{App, paths};
use crate::store;

/// A balancer asks again soon, and must not wait for a database that hangs.
const PATIENCE: Duration = Duration::from_secs(3);
/// Less than this, and an import of a larger month may not end.
const ROOM: u64 = 512 << 20;

pub async fn show(_: paths::Health) -> &'static str {
    "ok\n"
}

#[derive(Serialize)]
struct Readiness {
    ready: bool,
    checks: [Check; 4],
}

/// What is wrong is said without names of hosts and folders, since anybody may ask; the log says more.
#[derive(Serialize)]
struct Check {
    name: &'static str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
}

pub async fn ready(_: paths::Ready, State(app): State<App>) -> Response {
    let (database, migrations) = check_database(&app.db).await;
    let folder = app.settings.data_dir.clone();
    let disk = tokio::task::spawn_blocking(move || check_disk(&folder)).await;
    let [writable, room] = disk.unwrap_or_else(|_| check_disk(Path::new("/nowhere")));
    let checks = [database, migrations, writable, room];
    let ready = checks.iter().all(|check| check.ok);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = serde_json::to_string(&Readiness { ready, checks }).unwrap_or_default();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

async fn check_database(pool: &PgPool) -> (Check, Check) {
    let asked = async { store::is_migrated(&mut *pool.acquire().await?).await };
    let answer = tokio::time::timeout(PATIENCE, asked).await.unwrap_or(Err(sqlx::Error::PoolTimedOut));
    if let Err(error) = &answer {
        tracing::warn!(%error, "not ready: the database does not answer");
    }
    let database = check("database", answer.is_ok(), "does not answer");
    let migrations =
        check("migrations", matches!(answer, Ok(true)), "the tables are not those of this version");
    (database, migrations)
}

fn check_disk(folder: &Path) -> [Check; 2] {
    let written = tempfile::tempfile_in(folder);
    if let Err(error) = &written {
        tracing::warn!(%error, "not ready: nothing can be written to the data folder");
    }
    let is_roomy = free_bytes(folder).is_some_and(|free| free >= ROOM);
    [
        check("data folder", written.is_ok(), "cannot be written to"),
        check("free space", is_roomy, "less than 512 MB are free where the data folder is"),
    ]
}

fn free_bytes(folder: &Path) -> Option<u64> {
    let room = rustix::fs::statvfs(folder).ok()?;
    Some(room.f_bavail * room.f_frsize)
}

fn check(name: &'static str, ok: bool, otherwise: &'static str) -> Check {
    Check { name, ok, message: (!ok).then_some(otherwise) }
}
