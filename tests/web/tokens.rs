//! Scripts read with a personal token what its owner may see, and nothing else.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use gpuledger::accounts::Role;
use gpuledger::accounts::token::{self, Sent};
use gpuledger::web;
use sqlx::PgPool;

use crate::support::{Focus, TestApp, TestLedger, html, now};

/// By hand: a page that is added for people is not yet one for scripts.
const FOR_SCRIPTS: &[&str] = &[
    "/adjustments",
    "/adjustments/changes/{change}",
    "/asset-register/changes",
    "/asset-register/changes/{change}",
    "/asset-register/{kind}",
    "/budgets",
    "/budgets/{budget}",
    "/catalog",
    "/catalog/additions/{addition}",
    "/changes",
    "/changes/{change}",
    "/chargeback/{period}",
    "/charges/{delivery}/{file}/{row}",
    "/charges/{period}",
    "/clusters",
    "/clusters/{cluster}",
    "/clusters/{cluster}/{month}",
    "/experiments/compare",
    "/experiments/during/{period}",
    "/experiments/{experiment}",
    "/imports",
    "/imports/batches/{batch}",
    "/imports/{delivery}",
    "/imports/{delivery}/changes/{by}",
    "/imports/{delivery}/files/{file}",
    "/imports/{delivery}/files/{file}/rejected",
    "/imports/{delivery}/rejections",
    "/invoices/{period}",
    "/jobs/hours/{period}",
    "/jobs/job/{job}",
    "/jobs/{period}",
    "/labels/{label}",
    "/mappings",
    "/mappings/{mapping}",
    "/mappings/{mapping}/text",
    "/metrics",
    "/organization/{sheet}",
    "/overview",
    "/prices",
    "/prices/changes",
    "/prices/changes/{change}",
    "/prices/tokens",
    "/quantities",
    "/rate-cards",
    "/rate-cards/changes/{change}",
    "/rates",
    "/rules",
    "/scenarios",
    "/scenarios/calculators",
    "/scenarios/calculators/{calculator}",
    "/scenarios/claims",
    "/scenarios/new",
    "/scenarios/templates/{template}",
    "/scenarios/{scenario}",
    "/scenarios/{scenario}/versions",
    "/shared-costs",
    "/spend/{period}",
    "/storage",
    "/teams/{team}/{period}",
    "/teams/{team}/{period}/statement",
    "/tokens/{period}",
    "/unallocated/{period}",
    "/usage",
    "/usage/imports/{import}",
    "/usage/prometheus/{server}",
    "/variance/{period}",
];

#[test]
fn every_route_for_scripts_is_listed_here_and_only_reads() {
    let routes = web::routes();
    let mut stated: Vec<_> = routes.stated().iter().filter(|line| line.is_for_scripts).collect();
    stated.sort_by_key(|line| line.path);
    assert!(stated.iter().all(|line| line.method == Method::GET));
    assert_eq!(stated.iter().map(|line| line.path).collect::<Vec<_>>(), FOR_SCRIPTS);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_token_is_made_shown_once_used_and_revoked(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("a.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "120", "nlp")).await;
    let app = TestApp::of(&ledger);
    let mut finance = app.signed_in(Role::Finance).await;
    let mut script = app.stranger();

    let made = finance.submit("/account", "/account/tokens", &[("label", "nightly"), ("days", "365")]).await;
    assert_eq!(made.status, StatusCode::OK);
    assert_eq!(made.header("cache-control"), "no-store");
    let token = html::text(&made.body, "#secret");
    assert!(token.starts_with("gpl_") && token.len() == 68, "{token}");

    let answer = script.read(&token, "/spend/2026-09.json").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.headers.get(header::SET_COOKIE).is_none());
    let json = answer.json();
    assert_eq!(json["total"]["amount"], "120");
    for path in [
        "/spend/2026-09.csv",
        "/charges/2026-09.csv",
        "/charges/1/0/1.json",
        "/imports.json",
        "/imports/1/files/0",
    ] {
        assert_eq!(script.read(&token, path).await.status, StatusCode::OK, "{path}");
    }

    let page = finance.get("/account").await;
    assert!(!page.body.contains(&token));
    let row = html::texts(&page.body, "#tokens tbody tr > *");
    assert_eq!(row[0], "nightly");
    assert!(row[2].ends_with("UTC"), "last used: {row:?}");
    let again = finance.submit("/account", "/account/tokens", &[("label", "Nightly"), ("days", "30")]).await;
    assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(html::text(&again.body, ".problem").contains("a token with this name"));

    finance.submit("/account", "/account/tokens/1/revoke", &[]).await;
    assert!(html::text(&finance.get("/account").await.body, ".flash").contains("nightly"));
    assert_eq!(script.read(&token, "/spend/2026-09.json").await.status, StatusCode::UNAUTHORIZED);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn one_that_is_wrong_or_over_is_answered_in_words(db: PgPool) {
    let app = TestApp::new(db);
    let user = app.person("ada@example.org", Role::Finance, "none").await;
    let token = app.token_of(user).await;
    let mut script = app.stranger();
    for wrong in ["", "x", "gpl_", &format!("gpl_{}", "0".repeat(64)), &token[4..], &format!("{token}0")] {
        let answer = script.read(wrong, "/spend/2026-09.json").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{wrong}");
        assert!(answer.header("www-authenticate").starts_with("Bearer"));
        let json = answer.json();
        assert!(json["error"].as_str().unwrap().starts_with("This token is unknown"));
    }
    // Never a page, and never the sign-in page, whatever is accepted.
    let request =
        Request::get("/spend/2026-09").header("authorization", "bearer x").header("accept", "text/html");
    let answer = script.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.body.starts_with("This token is unknown"), "{}", answer.body);
    // Without any, a script is shown what is asked for.
    let answer = script.get_as("/spend/2026-09.json", "*/*").await;
    assert_eq!(
        (answer.status, answer.header("www-authenticate")),
        (StatusCode::UNAUTHORIZED, "Bearer realm=\"gpuledger\"")
    );

    let mut db = app.db.acquire().await.unwrap();
    let year = chrono::TimeDelta::days(365);
    assert!(matches!(token::find(&mut db, &token, now() + year).await.unwrap(), Sent::Expired(_)));
    sqlx::query("update api_tokens set expires_at = '2026-03-03'").execute(&mut *db).await.unwrap();
    let answer = script.read(&token, "/spend/2026-09.csv").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert_eq!(answer.body, "This token expired on Mar 3, 2026. Create a new one on your account page.\n");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_opens_nothing_that_writes_or_is_about_accounts(db: PgPool) {
    let app = TestApp::new(db);
    let admin = app.person("ada@example.org", Role::Admin, "none").await;
    let token = app.token_of(admin).await;
    let mut script = app.signed_in(Role::Admin).await;
    for line in web::routes().stated() {
        if line.access == web::Access::Static || line.is_for_scripts {
            continue;
        }
        let path = ["{person}", "{token}", "{session}", "{delivery}"]
            .iter()
            .fold(line.path.to_owned(), |path, name| path.replace(name, "1"));
        // Even with a session beside it, and with the form's token.
        let form = script.token("/account").await;
        let request = Request::builder().method(&line.method).uri(&path);
        let request = request.header("authorization", format!("Bearer {token}")).header("x-csrf-token", form);
        let answer = script.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{} {path}: {}", line.method, answer.body);
        assert!(answer.body.contains("Tokens can only read"), "{path}: {}", answer.body);
    }
    let request = Request::head("/spend/2026-09.json").header("authorization", format!("Bearer {token}"));
    assert_eq!(script.send(request.body(Body::empty()).unwrap()).await.status, StatusCode::OK);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_has_its_owner_s_role_and_ends_with_them(db: PgPool) {
    let app = TestApp::new(db);
    let lead = app.person("lena@example.org", Role::Lead, "none").await;
    let token = app.token_of(lead).await;
    let mut script = app.stranger();
    assert_eq!(script.read(&token, "/spend/2026-09.json").await.status, StatusCode::OK);
    assert_eq!(script.read(&token, "/imports.json").await.status, StatusCode::FORBIDDEN);

    let mut admin = app.signed_in(Role::Admin).await;
    let page = format!("/people/{}", lead.0);
    admin.submit(&page, &format!("{page}/disable"), &[]).await;
    assert_eq!(script.read(&token, "/spend/2026-09.json").await.status, StatusCode::UNAUTHORIZED);
    admin.submit(&page, &format!("{page}/enable"), &[]).await;
    assert_eq!(script.read(&token, "/spend/2026-09.json").await.status, StatusCode::UNAUTHORIZED);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn others_are_revoked_by_administrators_only(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let mut finance = app.signed_in(Role::Finance).await;
    let lead = app.person("lena@example.org", Role::Lead, "none").await;
    let token = app.token_of(lead).await;
    let mut script = app.stranger();

    finance.submit("/account", "/account/tokens/1/revoke", &[]).await;
    assert!(html::text(&finance.get("/account").await.body, ".flash").starts_with("Nothing changed"));
    assert_eq!(script.read(&token, "/spend/2026-09.json").await.status, StatusCode::OK);
    let page = format!("/people/{}", lead.0);
    // Of this person there is such a token, of another there is not.
    admin.submit(&page, "/people/1/tokens/1/revoke", &[]).await;
    assert_eq!(script.read(&token, "/spend/2026-09.json").await.status, StatusCode::OK);
    admin.submit(&page, &format!("{page}/tokens/1/revoke"), &[]).await;
    assert_eq!(script.read(&token, "/spend/2026-09.json").await.status, StatusCode::UNAUTHORIZED);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn only_a_hash_of_it_is_kept(db: PgPool) {
    let app = TestApp::new(db);
    let user = app.person("ada@example.org", Role::Finance, "none").await;
    let token = app.token_of(user).await;
    for table in ["api_tokens", "audit_log"] {
        let rows: Vec<String> =
            sqlx::query_scalar(sqlx::AssertSqlSafe(format!("select t::text from {table} t")))
                .fetch_all(&app.db)
                .await
                .unwrap();
        assert!(!rows.is_empty());
        assert!(rows.iter().all(|row| !row.contains(&token[4..20])), "{rows:?}");
    }
}
