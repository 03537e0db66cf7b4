//! A NUL is no part of any text, and PostgreSQL stores none that holds it: it is refused before anybody is asked.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use gpuledger::accounts::Role;
use sqlx::PgPool;

use crate::support::app::{file_head, upload_of};
use crate::support::{Focus, TestApp, html};

fn is_refused(status: StatusCode, body: &str) -> bool {
    status == StatusCode::BAD_REQUEST && html::text(body, "main").contains("has a NUL character")
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn no_address_may_hold_one(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    admin.import("a.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision")).await;
    for address in [
        "/spend/2026-09?provider=a%00b",
        "/spend/2026-09?by=tag:a%00b",
        "/spend/2026-09?a%00b=c",
        "/charges/2026-09?service=a%00b",
        "/variance/2026-09?account=%00",
        "/imports?account=a%00b",
        "/imports/1/changes/a%00b",
        "/audit?who=a%00b",
        "/assets/a%00b",
        "/password/a%00b",
        "/sign-in?next=/a%00b",
    ] {
        for browser in [&mut admin.stranger(), &mut admin] {
            let answer = browser.get(address).await;
            let is_closed = answer.location().starts_with("/sign-in");
            assert!(is_closed || is_refused(answer.status, &answer.body), "{address}: {}", answer.body);
        }
    }
    assert_eq!(admin.get("/spend/2026-09?provider=a%2500b").await.status, StatusCode::OK);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn no_form_may_hold_one(db: PgPool) {
    let mut app = TestApp::new(db);
    let token = app.token("/sign-in").await;
    for email in ["a%00b", "a\0b"] {
        let form = format!("csrf={token}&email={email}&password=x");
        let request = Request::post("/sign-in")
            .header(header::ACCEPT, "text/html")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let answer = app.send(request.body(Body::from(form)).unwrap()).await;
        assert!(is_refused(answer.status, &answer.body), "{}", answer.body);
    }
    let mut admin = app.signed_in(Role::Admin).await;
    let answer =
        admin.submit("/people", "/people", &[("email", "a\0b@example.org"), ("role", "admin")]).await;
    assert!(is_refused(answer.status, &answer.body), "{}", answer.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn no_file_s_name_may_hold_one(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let mut body = finance.upload_head("/imports").await;
    let head = file_head("a\0b.csv");
    body.extend(head.bytes());
    body.extend(b"a,b\r\n--B--\r\n");
    let answer = finance.send(upload_of("/imports", Body::from(body))).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.body);
    assert!(finance.incoming().is_empty());
}
