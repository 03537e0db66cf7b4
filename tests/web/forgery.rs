//! Every route that writes refuses what was not sent from a page of ours.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use gpuledger::accounts::Role;
use gpuledger::web;
use sqlx::PgPool;

use crate::support::TestApp;

fn writing_routes() -> Vec<(Method, String)> {
    let routes = web::routes();
    let writing = routes.stated().iter().filter(|line| line.method != Method::GET);
    // Any number will do: the guard refuses before anyone looks.
    let filled = |path: &str| {
        let path = path.replace("{token}", "0").replace("{delivery}", "1");
        path.replace("{person}", "1").replace("{session}", "1")
    };
    writing.map(|line| (line.method.clone(), filled(line.path))).collect()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_missing_a_wrong_and_a_stranger_s_token_are_refused(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let strangers = app.stranger().token("/sign-in").await;
    assert!(!writing_routes().is_empty());
    for (method, path) in writing_routes() {
        for body in ["", "csrf=", "csrf=wrong", &format!("csrf={strangers}")] {
            let request = Request::builder().method(&method).uri(&path).header("accept", "text/html");
            let request = request.header("content-type", "application/x-www-form-urlencoded");
            let answer = admin.send(request.body(Body::from(body.to_owned())).unwrap()).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method} {path} {body:?}");
            assert!(answer.body.contains("This form expired"), "{path}");
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_right_token_from_another_site_is_refused(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let token = admin.token("/account").await;
    for (method, path) in writing_routes() {
        for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")] {
            let request = Request::builder().method(&method).uri(&path);
            let request = request.header("x-csrf-token", &token).header(name, value);
            let answer = admin.send(request.body(Body::empty()).unwrap()).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path} {name}");
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_token_counts_as_header_field_and_first_field_of_an_upload(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let token = admin.token("/account").await;
    let upload = format!("--B\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{token}\r\n--B--\r\n");
    let path = "/account/appearance";
    let ways = [
        Request::post(path).header("x-csrf-token", &token).body(Body::empty()).unwrap(),
        Request::post(path)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(Body::from(format!("theme=dark&csrf={token}")))
            .unwrap(),
        Request::post(path)
            .header("content-type", "multipart/form-data; boundary=B")
            .body(Body::from(upload.clone()))
            .unwrap(),
    ];
    for request in ways {
        assert_ne!(admin.send(request).await.status, StatusCode::FORBIDDEN);
    }
    let later = upload.replace("name=\"csrf\"", "name=\"files\"");
    let request = Request::post(path).header("content-type", "multipart/form-data; boundary=B");
    assert_eq!(admin.send(request.body(Body::from(later)).unwrap()).await.status, StatusCode::FORBIDDEN);
}
