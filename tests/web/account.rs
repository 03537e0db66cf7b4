use std::cell::Cell;

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

use crate::support::app::PASSWORD;
use crate::support::{TestApp, html};

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_new_password_signs_out_everywhere_else(db: PgPool) {
    let mut app = TestApp::new(db);
    app.person_with_password("ada@example.org", Role::Finance).await;
    let fields = [("email", "ada@example.org"), ("password", PASSWORD)];
    let mut other = app.stranger();
    app.submit("/sign-in", "/sign-in", &fields).await;
    other.submit("/sign-in", "/sign-in", &fields).await;
    let before = app.cookie("gpuledger_session").unwrap().to_owned();
    let same = [("current", PASSWORD), ("new", PASSWORD)];
    let answer = app.submit("/account", "/account/password", &same).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(html::texts(&answer.body, ".problem"), ["Enter a password other than your current one."]);

    let changed = app
        .submit("/account", "/account/password", &[("current", PASSWORD), ("new", "another horse battery")])
        .await;

    assert_eq!((changed.status, changed.location()), (StatusCode::SEE_OTHER, "/account"));
    assert_ne!(app.cookie("gpuledger_session").unwrap(), before);
    let page = app.get("/account").await;
    assert_eq!(html::text(&page.body, ".flash"), "Password changed. You are signed in on this device only.");
    assert_eq!(html::text(&app.get("/account").await.body, ".flash"), "", "a message is shown once");
    assert_eq!(other.get("/account").await.status, StatusCode::SEE_OTHER);
    let old = other.submit("/sign-in", "/sign-in", &fields).await;
    assert_eq!(old.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_asks_for_the_current_password(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Lead).await;
    let answer = app
        .submit("/account", "/account/password", &[("current", "wrong"), ("new", "another horse battery")])
        .await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(html::texts(&answer.body, ".problem"), ["Wrong password. Enter your current password."]);
    // Whoever found the browser open does not guess on and on.
    let guess = [("current", "wrong"), ("new", "another horse battery")];
    for _ in 0..4 {
        app.submit("/account", "/account/password", &guess).await;
    }
    let answer = app.submit("/account", "/account/password", &guess).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn pages_do_not_wait_while_a_password_is_hashed(db: PgPool) {
    let only = PgPoolOptions::new().max_connections(1).connect_lazy_with((*db.connect_options()).clone());
    let app = TestApp::new(only);
    let (mut changing, mut reading) = (app.signed_in(Role::Lead).await, app.signed_in(Role::Finance).await);
    let token = changing.token("/account").await;
    // So many are hashed before that this one takes its time.
    let before: Vec<_> = (0..24)
        .map(|_| tokio::spawn(gpuledger::accounts::password::verify(None, "somebody else's".to_owned())))
        .collect();
    tokio::task::yield_now().await;
    let is_changed = Cell::new(false);
    let change = async {
        let fields = [("csrf", token.as_str()), ("current", "wrong"), ("new", "another horse battery")];
        let answer = changing.post("/account/password", &fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        is_changed.set(true);
    };
    let read = async {
        let has_begun = "select exists (select from sign_in_failures)";
        while !sqlx::query_scalar::<_, bool>(has_begun).fetch_one(&db).await.unwrap() {}
        assert_eq!(reading.get("/account").await.status, StatusCode::OK);
        assert!(!is_changed.get(), "the page waited for the password");
    };
    tokio::join!(change, read);
    for hashed in before {
        hashed.await.unwrap().unwrap();
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_remembers_how_pages_look(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Lead).await;
    assert!(html::attributes(&app.get("/account").await.body, "html", "data-theme").is_empty());
    app.submit("/account", "/account/appearance", &[("theme", "dark")]).await;
    assert_eq!(html::attributes(&app.get("/account").await.body, "html", "data-theme"), ["dark"]);
    app.submit("/account", "/account/appearance", &[("theme", "\"><script>")]).await;
    assert!(html::attributes(&app.get("/account").await.body, "html", "data-theme").is_empty());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_shows_sessions_and_ends_them(db: PgPool) {
    let mut app = TestApp::new(db);
    app.person_with_password("ada@example.org", Role::Finance).await;
    let fields = [("email", "ada@example.org"), ("password", PASSWORD)];
    app.submit("/sign-in", "/sign-in", &fields).await;
    let mut others = [app.stranger(), app.stranger(), app.stranger()];
    for other in &mut others {
        other.submit("/sign-in", "/sign-in", &fields).await;
    }
    let page = app.get("/account").await;
    assert_eq!(html::texts(&page.body, "#sessions tbody tr").len(), 4);
    assert_eq!(html::texts(&page.body, "#sessions tbody tr:last-child td:last-child"), ["this browser"]);
    assert_eq!(html::texts(&page.body, "#sessions tbody td:nth-child(2)")[0], "192.0.2.7");

    app.submit("/account", "/account/sessions/2/end", &[]).await;
    assert_eq!(others[0].get("/account").await.status, StatusCode::SEE_OTHER);
    assert_eq!(others[1].get("/account").await.status, StatusCode::OK);
    app.submit("/account", "/account/sessions/end-others", &[]).await;
    assert_eq!(html::text(&app.get("/account").await.body, ".flash"), "The 2 other sessions ended.");
    assert_eq!(others[1].get("/account").await.status, StatusCode::SEE_OTHER);
    assert_eq!(html::texts(&app.get("/account").await.body, "#sessions tbody tr").len(), 1);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn nobody_ends_a_session_of_somebody_else(db: PgPool) {
    let app = TestApp::new(db);
    let mut lead = app.signed_in(Role::Lead).await;
    let mut admin = app.signed_in(Role::Admin).await;
    lead.submit("/account", "/account/sessions/2/end", &[]).await;
    assert!(html::text(&lead.get("/account").await.body, ".flash").starts_with("Nothing changed"));
    assert_eq!(admin.get("/account").await.status, StatusCode::OK);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_new_password_revokes_tokens_where_its_owner_wants_that(db: PgPool) {
    let mut app = TestApp::new(db);
    let ada = app.person_with_password("ada@example.org", Role::Finance).await;
    app.submit("/sign-in", "/sign-in", &[("email", "ada@example.org"), ("password", PASSWORD)]).await;
    let box_of_tokens = "input[name=revoke_tokens]";
    assert!(html::attributes(&app.get("/account").await.body, box_of_tokens, "value").is_empty());
    let token = app.token_of(ada).await;
    let page = app.get("/account").await;
    assert_eq!(html::attributes(&page.body, box_of_tokens, "value"), ["yes"]);
    assert!(html::texts(&page.body, "form label").contains(&"Also revoke my token".to_owned()));

    let first = "another horse battery";
    app.submit("/account", "/account/password", &[("current", PASSWORD), ("new", first)]).await;
    assert_eq!(app.read(&token, "/spend/2026-09.json").await.status, StatusCode::OK);
    let wrong = [("current", "wrong"), ("new", PASSWORD), ("revoke_tokens", "yes")];
    let refused = app.submit("/account", "/account/password", &wrong).await;
    assert_eq!(html::attributes(&refused.body, &format!("{box_of_tokens}[checked]"), "value"), ["yes"]);
    assert_eq!(app.read(&token, "/spend/2026-09.json").await.status, StatusCode::OK);
    let fields = [("current", first), ("new", PASSWORD), ("revoke_tokens", "yes")];
    app.submit("/account", "/account/password", &fields).await;
    let said = html::text(&app.get("/account").await.body, ".flash");
    assert_eq!(said, "Password changed. You are signed in on this device only. One token was revoked.");
    assert_eq!(app.read(&token, "/spend/2026-09.json").await.status, StatusCode::UNAUTHORIZED);
    let details: Vec<serde_json::Value> = sqlx::query_scalar(
        "select details from audit_log where verb = 'person.password_changed' order by audit_id",
    )
    .fetch_all(&app.db)
    .await
    .unwrap();
    assert_eq!(details, [serde_json::json!({}), serde_json::json!({ "tokens_revoked": 1 })]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_flash_cookie_that_somebody_planted_shows_nothing_and_undoes_nothing(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    // "Press undo.", with and without the change that it would undo, in hexadecimal.
    for planted in ["507265737320756e646f2e", "507265737320756e646f2e1f31", "311f507265737320756e646f2e"] {
        for signature in [String::new(), "0".repeat(64)] {
            admin.set_cookie("gpuledger_flash", &format!("{signature}{planted}"));
            let page = admin.get("/account").await;
            assert_eq!(html::text(&page.body, ".flash"), "");
            assert!(!page.body.contains("Press undo"));
        }
    }
    // Nor does one that was left for somebody else.
    let mut other = app.signed_in(Role::Finance).await;
    other.submit("/account", "/account/sessions/end-others", &[]).await;
    admin.set_cookie("gpuledger_flash", other.cookie("gpuledger_flash").unwrap());
    assert_eq!(html::text(&admin.get("/account").await.body, ".flash"), "");
    assert_eq!(html::text(&other.get("/account").await.body, ".flash"), "There was no other session.");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn over_https_message_and_theme_are_of_this_host_only(db: PgPool) {
    let mut app = TestApp::at(db, "https://gpus.example.org").signed_in(Role::Finance).await;
    let themed = app.submit("/account", "/account/appearance", &[("theme", "dark")]).await;
    let left = app.submit("/account", "/account/sessions/end-others", &[]).await;
    for (answer, name) in [(&themed, "__Host-gpuledger_theme="), (&left, "__Host-gpuledger_flash=")] {
        let cookie = answer.header("set-cookie");
        assert!(cookie.starts_with(name) && cookie.contains("Secure"), "{cookie}");
    }
    let page = app.get("/account").await;
    assert_eq!(html::attributes(&page.body, "html", "data-theme"), ["dark"]);
    assert_eq!(html::text(&page.body, ".flash"), "There was no other session.");
    let mut planted = app.signed_in_as("ada@example.org", Role::Finance).await;
    planted.set_cookie("gpuledger_theme", "dark");
    assert!(html::attributes(&planted.get("/account").await.body, "html", "data-theme").is_empty());
}
