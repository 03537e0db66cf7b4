//! A server prepares what pages read when the ledger has changed.

use std::time::{Duration, Instant};

use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{Focus, Server, TestLedger, gpuledger};

/// The lock of who loads a delivery: this plus its number (`ledger/delivery.rs`).
const LOADING: i64 = 0x6770_755f_0000_0000;

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn months_are_summed_by_owner_before_anybody_asks(db: PgPool) {
    let ledger = TestLedger::new(db.clone());
    let folder = tempfile::tempdir().unwrap();
    let url = db.connect_options().to_url_lossy();
    let server = Server::start(gpuledger(folder.path(), Some(url.as_str()), &[]));
    let months_of = async |month: &str| -> i64 {
        let months = "select count(*) from attributed_months where to_char(billing_month, 'YYYY-MM') = $1";
        sqlx::query_scalar(months).bind(month).fetch_one(&db).await.unwrap()
    };
    let prepared = async |month: &str| {
        let began = Instant::now();
        while months_of(month).await == 0 {
            assert!(began.elapsed() < Duration::from_secs(30), "{month} is not prepared: {}", server.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    // Another program than the server publishes.
    ledger
        .deliver("september.csv", &Focus::new().hour("acme", "s1", "2026-09-05T10", "120.25", "vision"))
        .await;
    prepared("2026-09").await;
    // The server waits while a bill loads: it may soon be active. This one loads until the test says that it failed.
    let mut loader = db.acquire().await.unwrap();
    sqlx::query(
        "insert into deliveries (delivery_id, batch_id, status, created_at, created_by)
         overriding system value values (99, gen_random_uuid(), 'loading', now(), 'test')",
    )
    .execute(&mut *loader)
    .await
    .unwrap();
    sqlx::query("select pg_advisory_lock($1)").bind(LOADING + 99).execute(&mut *loader).await.unwrap();
    ledger.deliver("october.csv", &Focus::new().hour("acme", "s1", "2026-10-05T10", "10", "vision")).await;
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(months_of("2026-10").await, 0, "prepared while a bill loads");
    sqlx::query("update deliveries set status = 'failed' where delivery_id = 99").execute(&db).await.unwrap();
    prepared("2026-10").await;
}
