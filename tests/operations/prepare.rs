//! A server prepares what pages read when the ledger has changed.

use std::time::{Duration, Instant};

use sqlx::{ConnectOptions as _, Connection as _, PgConnection, PgPool};

use crate::support::{Focus, Http, Server, TestLedger, gpuledger};

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
    // The server waits while a bill loads: it may soon be active.
    let loader = load(&db, 99).await;
    ledger.deliver("october.csv", &Focus::new().hour("acme", "s1", "2026-10-05T10", "10", "vision")).await;
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(months_of("2026-10").await, 0, "prepared while a bill loads");
    // Its import is killed: it says nothing, and its connection ends.
    drop(loader);
    prepared("2026-10").await;
    let status: String = sqlx::query_scalar("select status from deliveries where delivery_id = 99")
        .fetch_one(&db)
        .await
        .unwrap();
    assert_eq!(status, "failed", "nobody waits for an import that was killed");

    // Preparing that has begun gives up when a bill begins to load, whatever it does at the moment: here it waits.
    let mut holder = db.begin().await.unwrap();
    sqlx::query("lock table attributed_months in access exclusive mode").execute(&mut *holder).await.unwrap();
    ledger.deliver("november.csv", &Focus::new().hour("acme", "s1", "2026-11-05T10", "10", "vision")).await;
    let waits =
        "select exists (select from pg_locks where relation = 'attributed_months'::regclass and not granted)";
    let until = async |expected: bool| {
        let began = Instant::now();
        while sqlx::query_scalar::<_, bool>(waits).fetch_one(&db).await.unwrap() != expected {
            assert!(began.elapsed() < Duration::from_secs(30), "never {expected}: {}", server.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    until(true).await;
    let loader = load(&db, 98).await;
    until(false).await;
    drop((loader, holder));
    prepared("2026-11").await;
}

/// What the pages of a month begin with is there before anybody opens them: they read none of these.
const ROLLUPS: [&str; 8] = [
    "monthly_costs",
    "daily_costs",
    "monthly_totals",
    "daily_totals",
    "daily_resources",
    "attributed_costs",
    "item_costs",
    "keyed_costs",
];

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn pages_of_a_month_that_was_published_wait_for_no_sum(db: PgPool) {
    let ledger = TestLedger::new(db.clone());
    let folder = tempfile::tempdir().unwrap();
    let url = db.connect_options().to_url_lossy();
    let server = Server::start(gpuledger(folder.path(), Some(url.as_str()), &[]));
    let setup = server.setup_link.as_ref().unwrap().strip_prefix(&server.address).unwrap();
    let mut browser = Http::new(&server.address);
    let fields = "email=ada%40example.org&name=Ada&password=seven+blue+herons+again";
    assert_eq!(browser.submit(setup, setup, fields).status, 303);
    let mut version = 0;
    // The second one is of a month between others, which is no latest one.
    for month in ["2026-09", "2026-01", "2026-08"] {
        let hour = format!("{month}-05T10");
        ledger
            .deliver(&format!("{month}.csv"), &Focus::new().hour("acme", "s1", &hour, "120", "vision"))
            .await;
        version += 1;
        let began = Instant::now();
        while !browser.get("/metrics").body.contains(&format!("gpuledger_prepared_version {version}\n")) {
            assert!(began.elapsed() < Duration::from_secs(30), "not prepared: {}", server.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let mut holder = db.begin().await.unwrap();
        let lock = format!("lock table {} in access exclusive mode", ROLLUPS.join(", "));
        sqlx::query(sqlx::AssertSqlSafe(lock)).execute(&mut *holder).await.unwrap();
        for address in [
            format!("/spend/{month}"),
            format!("/spend/{month}?by=account&sort=name"),
            format!("/spend/{month}.json?by=team"),
            format!("/spend/{month}?by=tag:team&limit=3"),
            format!("/variance/{month}"),
            format!("/chargeback/{month}"),
            format!("/unallocated/{month}"),
            format!("/charges/{month}"),
            format!("/charges/{month}?service=GPU%20Cloud"),
        ] {
            assert_eq!(browser.get(&address).status, 200, "{address}");
        }
    }
}

/// Whoever loads a delivery until it is dropped, which says nothing.
async fn load(db: &PgPool, delivery: i64) -> PgConnection {
    let mut loader = db.acquire().await.unwrap().detach();
    let mut tx = loader.begin().await.unwrap();
    sqlx::query(
        "insert into deliveries (delivery_id, batch_id, status, created_at, created_by)
         overriding system value values ($1, gen_random_uuid(), 'loading', now(), 'test')",
    )
    .bind(delivery)
    .execute(&mut *tx)
    .await
    .unwrap();
    sqlx::query("select pg_advisory_lock($1)").bind(LOADING + delivery).execute(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
    loader
}
