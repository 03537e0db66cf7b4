//! Reading the servers of Prometheus that were entered, some hours after the others, while nobody waits for it.

use std::time::Duration;

use sqlx::{PgConnection, PgPool};

use super::{Notifier, lock};
use crate::clock::Clock;
use crate::ledger::Originals;
use crate::secrets::Secrets;
use crate::telemetry::prometheus::{self, Endpoint, Fetched, Server};

/// Under which nobody else reads them: no job has this number.
const LOCK: i64 = -3;
/// How often hours are looked for that are over.
const POLL: Duration = Duration::from_secs(30);

/// How a server is asked; or why it cannot be.
pub fn endpoint(server: &Server, secrets: &Secrets) -> Result<Endpoint, String> {
    let token = match &server.sealed_token {
        None => None,
        Some(sealed) => Some(secrets.open(sealed).ok_or(
            "its token cannot be read: the key of this data directory is another one. Enter the token again",
        )?),
    };
    Endpoint::new(&server.address, token.as_deref(), &server.matchers)
}

/// Reads servers until it is dropped. Errors of the database are logged and waited out.
pub async fn read_servers(
    pool: PgPool,
    originals: Originals,
    secrets: Secrets,
    notifier: Notifier,
    clock: Clock,
) {
    loop {
        match read_due(&pool, &originals, &secrets, clock).await {
            Ok(true) => notifier.notify(),
            Ok(false) => tokio::time::sleep(POLL).await,
            Err(error) => {
                tracing::error!(%error, "servers of Prometheus could not be read; trying again");
                tokio::time::sleep(POLL).await;
            }
        }
    }
}

/// Asks each server once for its next hours. False where none has any that are over, or all wait after a failure.
pub async fn read_due(
    pool: &PgPool,
    originals: &Originals,
    secrets: &Secrets,
    clock: Clock,
) -> sqlx::Result<bool> {
    let mut db = pool.acquire().await?;
    if !lock::try_lock(&mut db, LOCK).await? {
        return Ok(false);
    }
    let read = each(&mut db, originals, secrets, clock).await;
    if read.is_err() {
        // Ends the session and with it the lock.
        let _ = db.close().await;
        return read;
    }
    lock::unlock(&mut db, LOCK).await?;
    read
}

async fn each(
    db: &mut PgConnection,
    originals: &Originals,
    secrets: &Secrets,
    clock: Clock,
) -> sqlx::Result<bool> {
    let scratch = originals.scratch()?;
    let mut is_any_read = false;
    for server in prometheus::servers(&mut *db).await? {
        let now = clock.now();
        if server.retry_at.is_some_and(|at| at > now) {
            continue;
        }
        let asked = prometheus::fetch(&mut *db, &server, endpoint(&server, secrets), scratch, now).await?;
        is_any_read |= matches!(asked, Fetched::Hours | Fetched::Fewer);
    }
    Ok(is_any_read)
}
