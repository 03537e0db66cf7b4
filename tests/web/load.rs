//! When there is much to do: large files, slow questions, more visitors than connections.

use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use gpuledger::accounts::Role;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::support::{Focus, TestApp};

/// More than two parts of a download.
async fn many_charges(db: PgPool) -> TestApp {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let mut month = Focus::new();
    for hour in 0..4_500 {
        let at = format!("2026-09-{:02}T{:02}", hour % 28 + 1, hour % 24);
        month = month.hour("acme", if hour == 0 { "=1+1" } else { "s1" }, &at, "0.01", "vision");
    }
    finance.import("september.csv", month).await;
    finance
}

async fn download(app: &mut TestApp) -> Response {
    app.open(Request::get("/charges/2026-09.csv").body(Body::empty()).unwrap()).await
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_holds_every_charge_once(db: PgPool) {
    let mut finance = many_charges(db).await;
    let csv = finance.get("/charges/2026-09.csv").await;
    assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8");
    let lines: Vec<&str> = csv.body.lines().collect();
    assert_eq!(lines.len(), 1 + 4_500);
    assert!(lines[0].starts_with("delivery,file,row,"));
    let mut rows: Vec<u32> =
        lines[1..].iter().map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect();
    rows.sort_unstable();
    assert!(rows.into_iter().eq(1..=4_500));
    assert_eq!(csv.body.matches(",'=1+1,").count(), 1, "a spreadsheet must not run it");

    let none = finance.get("/charges/2026-09.csv?provider=Nobody").await;
    assert_eq!(none.body.lines().count(), 1, "only the names of the columns");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn downloads_have_connections_of_their_own_and_give_them_back(db: PgPool) {
    let mut finance = many_charges(db).await;
    let mut admin = finance.signed_in(Role::Admin).await;
    let other = finance.person("other@example.org", Role::Finance, "no password").await;
    let token = finance.token_of(other).await;
    let mut other = finance.stranger();

    // Nobody has more than two at once, and so not all of them.
    let mut open = vec![download(&mut finance).await, download(&mut finance).await];
    let refused = finance.get("/charges/2026-09.csv").await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "5"));
    assert!(refused.body.contains("Two of your downloads are under way"), "{}", refused.body);
    open.extend([download(&mut admin).await, download(&mut admin).await]);
    assert!(open.iter().all(|response| response.status() == 200));
    let refused = other.read(&token, "/charges/2026-09.csv").await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (503, "5"));
    assert!(refused.body.contains("Downloads of others take all connections"), "{}", refused.body);
    assert_eq!(finance.get("/charges/2026-09").await.status, 200, "pages go on");

    // Who goes away in the middle ends the query.
    drop(open);
    assert_eq!(finance.get("/charges/2026-09.csv").await.body.lines().count(), 4_501);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_page_that_takes_too_long_says_what_to_do(db: PgPool) {
    let options = PgConnectOptions::clone(&db.connect_options()).options([("statement_timeout", "200")]);
    let app = TestApp::new(PgPoolOptions::new().max_connections(3).connect_lazy_with(options));
    let mut finance = app.signed_in(Role::Finance).await;
    let mut hold = db.begin().await.unwrap();
    sqlx::query("lock table ledger in access exclusive mode").execute(&mut *hold).await.unwrap();
    let answer = finance.get("/spend/2026-09").await;
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("ask for less, such as a shorter period"), "{}", answer.body);
    hold.rollback().await.unwrap();
    assert_eq!(finance.get("/spend/2026-09").await.status, 200);
}
