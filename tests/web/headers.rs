use axum::http::{Method, StatusCode};
use gpuledger::accounts::Role;
use gpuledger::web::assets;
use sqlx::PgPool;

use crate::support::{TestApp, html};

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_answer_is_guarded(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let mut nobody = app.stranger();
    let mut answers = Vec::new();
    for path in [
        "/",
        "/overview",
        "/sign-in",
        "/account",
        "/people",
        "/healthz",
        "/nowhere",
        "/setup/x",
        assets::url("app.css"),
    ] {
        for browser in [&mut admin, &mut nobody] {
            answers.push(browser.get(path).await);
            answers.push(browser.get_as(path, "application/json").await);
            answers.push(browser.request(&Method::POST, path).await);
            answers.push(browser.request(&Method::DELETE, path).await);
        }
    }
    for answer in answers {
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "same-origin");
        assert_eq!(answer.header("strict-transport-security"), "");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(answer.header("clear-site-data"), "");
        assert_ne!(answer.header("cache-control"), "");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn sign_out_clears_cache_and_storage_and_keeps_the_theme(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Lead).await;
    app.set_cookie("gpuledger_theme", "dark");
    let answer = app.submit("/account", "/sign-out", &[]).await;
    assert_eq!(answer.header("clear-site-data"), r#""cache", "storage""#);
    assert_eq!(app.cookie("gpuledger_theme"), Some("dark"));
    assert_eq!(html::attributes(&app.get("/sign-in").await.body, "html", "data-theme"), ["dark"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn over_https_browsers_are_told_to_stay_there(db: PgPool) {
    let answer = TestApp::at(db, "https://gpus.example.org").get("/sign-in").await;
    assert_eq!(answer.header("strict-transport-security"), "max-age=31536000");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn pages_have_no_inline_script_or_style_and_load_what_exists(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    for path in ["/overview", "/account", "/people", "/nowhere"] {
        let page = admin.get(path).await;
        assert!(html::attributes(&page.body, "[style]", "style").is_empty(), "{path}");
        assert!(html::texts(&page.body, "style").is_empty(), "{path}");
        assert!(html::texts(&page.body, "script").iter().all(String::is_empty), "{path}");
        assert!(!page.body.contains(" onclick=") && !page.body.contains("javascript:"), "{path}");
        let linked = [("script", "src"), ("link", "href")];
        for url in linked.iter().flat_map(|(css, name)| html::attributes(&page.body, css, name)) {
            let file = admin.get(&url).await;
            assert_eq!(file.status, StatusCode::OK, "{url}");
            assert!(file.header("cache-control").contains("immutable"));
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_refusal_comes_as_it_was_asked_for(db: PgPool) {
    let mut app = TestApp::new(db);
    let page = app.get("/nowhere").await;
    assert_eq!(
        (page.status, html::text(&page.body, "h1").as_str()),
        (StatusCode::NOT_FOUND, "Page not found")
    );
    assert_eq!(html::texts(&page.body, ".ways a"), ["Sign in"]);

    let json = app.get("/nowhere.json").await;
    assert_eq!(json.header("content-type"), "application/json");
    assert_eq!(json.body, r#"{"error":"There is no page at this address."}"#);
    let plain = app.get_as("/nowhere", "*/*").await;
    assert_eq!(plain.body, "There is no page at this address.\n");

    let json = app.get_as("/account", "application/json").await;
    assert_eq!(json.status, StatusCode::UNAUTHORIZED);
    assert_eq!(app.request(&Method::DELETE, "/sign-in").await.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn without_its_database_it_says_so_and_nothing_more() {
    let nowhere = "postgres://ada:hunter2@127.0.0.1:1/none";
    let patience = std::time::Duration::from_millis(100);
    let db = sqlx::postgres::PgPoolOptions::new().acquire_timeout(patience).connect_lazy(nowhere).unwrap();
    let mut app = TestApp::new(db);
    app.set_cookie("gpuledger_session", &"0".repeat(64));
    let page = app.get("/people").await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(page.body.contains("The database does not answer right now"));
    assert!(!page.body.contains("hunter2") && !page.body.contains("127.0.0.1"));
    assert_eq!(app.get("/healthz").await.status, StatusCode::OK);
}
