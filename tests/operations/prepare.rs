//! A server prepares what pages read when the ledger has changed.

use std::time::{Duration, Instant};

use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{Focus, Server, TestLedger, gpuledger};

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn months_are_summed_by_owner_before_anybody_asks(db: PgPool) {
    let ledger = TestLedger::new(db.clone());
    let folder = tempfile::tempdir().unwrap();
    let url = db.connect_options().to_url_lossy();
    let server = Server::start(gpuledger(folder.path(), Some(url.as_str()), &[]));
    let prepared = async |month: &str| {
        let began = Instant::now();
        loop {
            let months: i64 = sqlx::query_scalar(
                "select count(*) from attributed_months where to_char(billing_month, 'YYYY-MM') = $1",
            )
            .bind(month)
            .fetch_one(&db)
            .await
            .unwrap();
            if months > 0 {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "{month} is not prepared: {}", server.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    // Another program than the server publishes.
    ledger
        .deliver("september.csv", &Focus::new().hour("acme", "s1", "2026-09-05T10", "120.25", "vision"))
        .await;
    prepared("2026-09").await;
    ledger.deliver("october.csv", &Focus::new().hour("acme", "s1", "2026-10-05T10", "10", "vision")).await;
    prepared("2026-10").await;
}
