//! What a balancer and a monitoring system ask.

use gpuledger::accounts::Role;
use sqlx::PgPool;

use crate::support::{Focus, TestApp};

async fn readiness(app: &mut TestApp) -> (u16, Vec<(String, bool)>) {
    let answer = app.get("/readyz").await;
    let body = answer.json();
    assert_eq!(body["ready"], answer.status == 200);
    let checks = body["checks"].as_array().unwrap().iter();
    let checks =
        checks.map(|check| (check["name"].as_str().unwrap().to_owned(), check["ok"] == true)).collect();
    (answer.status.as_u16(), checks)
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_is_ready_when_everything_that_it_takes_is_there(db: PgPool) {
    let mut app = TestApp::new(db);
    let (status, checks) = readiness(&mut app).await;
    assert_eq!(status, 200, "{checks:?}");
    let names: Vec<_> = checks.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["database", "migrations", "data folder", "free space"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_says_which_thing_is_missing(db: PgPool) {
    let mut app = TestApp::new(db.clone());
    sqlx::query("delete from _sqlx_migrations where version = (select max(version) from _sqlx_migrations)")
        .execute(&db)
        .await
        .unwrap();
    let (status, checks) = readiness(&mut app).await;
    assert_eq!((status, checks[0].1, checks[1].1), (503, true, false));

    app.lose_folder();
    let (_, checks) = readiness(&mut app).await;
    assert_eq!((checks[2].1, checks[3].1), (false, false));

    db.close().await;
    let (status, checks) = readiness(&mut app).await;
    assert_eq!((status, checks[0].1, checks[1].1), (503, false, false));
    assert_eq!(app.get("/healthz").await.status, 200, "the process lives");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn metrics_count_requests_and_say_what_the_ledger_holds(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    let month = Focus::new().hour("acme", "s1", "2026-09-05T10", "120.25", "vision");
    admin.import("september.csv", month).await;
    for _ in 0..2 {
        admin.get("/spend/2026-09?by=account").await;
    }
    admin.get("/wp-admin/setup.php").await;
    let answer = admin.get("/metrics").await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").starts_with("application/openmetrics-text"));
    for line in [
        r#"gpuledger_http_requests_total{method="GET",route="/spend/{period}",status="200"} 2"#,
        r#"gpuledger_http_requests_total{method="GET",route="none",status="404"} 1"#,
        r#"gpuledger_http_request_duration_seconds_count{method="GET",route="/spend/{period}"} 2"#,
        r#"gpuledger_deliveries{status="loaded"} 1"#,
        r#"gpuledger_jobs{status="done"} 1"#,
        "gpuledger_rows_read_total 1",
        "gpuledger_ledger_sequence 1",
        concat!("gpuledger_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        "# EOF",
    ] {
        assert!(answer.body.lines().any(|said| said == line), "{line} is not in\n{}", answer.body);
    }
    for start in
        ["process_resident_memory_bytes ", r#"gpuledger_database_connections{pool="pages",state="busy"}"#]
    {
        assert!(answer.body.lines().any(|said| said.starts_with(start)), "{start}\n{}", answer.body);
    }
}
