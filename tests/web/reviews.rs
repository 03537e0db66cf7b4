//! Uploads that wait until somebody has looked at them: which do, what their page shows, and what becomes of them.

use axum::body::Body;
use axum::http::StatusCode;
use gpuledger::accounts::Role;
use sqlx::PgPool;

use crate::support::app::{Answer, file_head, upload_of};
use crate::support::configuration::{rule, team, to_team, write};
use crate::support::{Focus, TestApp, TestLedger, html};

/// Uploads a file that is to be reviewed, and lets its import run.
pub async fn send_for_review(app: &mut TestApp, name: &str, content: impl AsRef<[u8]>) -> Answer {
    let mut body = app.upload_head("/imports").await;
    body.extend(b"--B\r\nContent-Disposition: form-data; name=\"review\"\r\n\r\nyes\r\n");
    body.extend(file_head(name).bytes());
    body.extend_from_slice(content.as_ref());
    body.extend(b"\r\n--B--\r\n");
    let answer = app.send(upload_of("/imports", Body::from(body))).await;
    app.run_jobs().await;
    answer
}

/// Two hours of two teams.
fn clean() -> Focus {
    Focus::new().hour("acme", "s1", "2026-09-05T10", "10.25", "vision").hour(
        "acme",
        "s2",
        "2026-09-05T11",
        "20.5",
        "nlp",
    )
}

/// The same with a row whose cost is none.
fn with_rejected() -> Focus {
    let wrong = Focus::new().hour("acme", "s3", "2026-09-06T10", "much", "nlp");
    clean().line(wrong.text().lines().nth(1).unwrap())
}

async fn total(app: &mut TestApp, month: &str) -> String {
    app.json(&format!("/spend/{month}.json")).await["total"]["amount"].as_str().unwrap().to_owned()
}

async fn state(app: &mut TestApp, delivery: i64) -> String {
    app.json(&format!("/imports/{delivery}.json")).await["status"].as_str().unwrap().to_owned()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rejected_rows_wait_for_review_and_are_published_or_discarded(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut app = TestApp::of(&ledger).signed_in(Role::Finance).await;
    app.import("september.csv", with_rejected()).await;
    assert_eq!(state(&mut app, 1).await, "waiting");
    assert!(app.json("/spend/2026-09.json").await["total"].is_null());

    let page = app.get("/imports/1").await.body;
    let said = html::text(&page, "main");
    assert!(said.contains("1 of 3 rows was rejected, and it is missing from every figure"), "{said}");
    assert_eq!(html::texts(&page, ".choices button"), ["Publish", "Discard"]);
    assert_eq!(html::texts(&page, "#rejected td").len(), 3);

    let answer = app.submit("/imports/1", "/imports/1/publish", &[]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(state(&mut app, 1).await, "loaded");
    assert_eq!(total(&mut app, "2026-09").await, "30.75");
    let page = app.get("/imports/1").await.body;
    assert!(html::text(&page, ".flash").contains("Import 1 is published and active."), "{page}");
    // A second click changes nothing.
    app.submit("/imports/1", "/imports/1/publish", &[]).await;
    assert!(app.get("/imports/1").await.body.contains("Nothing changed: import 1 was decided before."));

    let other = with_rejected().text().replace("acme", "globex");
    app.import("other.csv", Focus::from(other)).await;
    app.submit("/imports/2", "/imports/2/discard", &[]).await;
    assert_eq!(state(&mut app, 2).await, "discarded");
    assert_eq!(total(&mut app, "2026-09").await, "30.75");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_clean_file_can_be_looked_at_before_it_counts(db: PgPool) {
    let ledger = TestLedger::new(db.clone());
    let mut conn = db.acquire().await.unwrap();
    let teams = [team("vision"), team("nlp")];
    let rules = ["vision", "nlp"].map(|it| rule(1, "tag:team", it, to_team(it)));
    write(&mut conn, teams.into_iter().chain(rules).collect()).await;
    drop(conn);
    let first = Focus::new().hour("acme", "s1", "2026-09-05T10", "10.25", "vision");
    ledger.deliver("first.csv", first).await;
    let mut app = TestApp::of(&ledger).signed_in(Role::Finance).await;
    send_for_review(&mut app, "second.csv", clean()).await;
    assert_eq!(state(&mut app, 2).await, "waiting");
    assert_eq!(total(&mut app, "2026-09").await, "10.25");

    let page = app.get("/imports/2").await.body;
    assert!(
        html::text(&page, "main").contains("Its sender asked to review it before it is published."),
        "{page}"
    );
    assert_eq!(html::texts(&page, ".choices button"), ["Publish", "Discard"]);
    let row = |selector: &str| html::texts(&page, selector);
    assert_eq!(
        row(".notice tbody tr td")[2..],
        ["USD", "10.25", "30.75", "+20.50"],
        "now, if published, difference"
    );
    assert!(html::text(&page, "#teams tbody tr").starts_with("Nlp"), "{page}");
    assert!(html::text(&page, "#teams tbody tr").contains("+20.50"), "{page}");
    assert_eq!(row("#accelerators tbody th"), ["H100"]);
    assert_eq!(row("#accelerators tbody td"), ["NeoCloud", "2", "16.0", "USD", "30.75"]);
    assert_eq!(row("#tags tbody th"), ["team"]);
    assert_eq!(row("#tags tbody td"), ["2", "nlp", "USD", "30.75", "100.0%"]);

    // By team, line by line, and as a file.
    let changes = app.json("/imports/2/changes/team.json").await;
    assert_eq!(changes["lines"][0]["team"]["key"], "nlp");
    assert_eq!(changes["lines"][0]["difference"], "20.5");
    assert!(app.get("/imports/2/changes/team.csv").await.body.contains(",Nlp"));

    app.submit("/imports/2", "/imports/2/publish", &[]).await;
    assert_eq!(total(&mut app, "2026-09").await, "30.75");
    ledger.assert_balanced().await;
    ledger.undo(2).await;
    assert_eq!(total(&mut app, "2026-09").await, "10.25");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_was_published_meanwhile_needs_a_decision(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut app = TestApp::of(&ledger).signed_in(Role::Finance).await;
    send_for_review(&mut app, "small.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "1", "vision"))
        .await;
    // By the command line, and larger than what waits.
    ledger.deliver("large.csv", clean()).await;
    app.submit("/imports/1", "/imports/1/publish", &[]).await;
    let page = app.get("/imports/1").await.body;
    assert!(
        html::text(&page, ".flash")
            .contains("Import 1 was not published: other imports were published meanwhile."),
        "{page}"
    );
    assert_eq!(html::texts(&page, ".choices button"), ["Replace", "Add", "Discard"]);
    assert!(html::text(&page, "main").contains("has what this one does not: sub-accounts s2"), "{page}");
    assert_eq!(total(&mut app, "2026-09").await, "30.75");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_administrator_says_which_uploads_wait(db: PgPool) {
    let app = TestApp::new(db.clone());
    let mut admin = app.signed_in(Role::Admin).await;
    admin.import("september.csv", clean()).await;
    assert_eq!(state(&mut admin, 1).await, "loaded", "clean files are published at once");

    let page = admin.get("/imports/review").await.body;
    assert_eq!(html::texts(&page, "form tbody th"), ["NeoCloud", "All other providers"]);
    let pairs = [("provider", "NeoCloud"), ("review", "always"), ("provider", ""), ("review", "never")];
    let answer = admin.submit("/imports/review", "/imports/review", &pairs).await;
    assert_eq!(answer.location(), "/imports/review");
    let page = admin.get("/imports/review").await.body;
    assert_eq!(html::texts(&page, "option[selected]"), ["All", "None"]);
    let audit = admin.get("/audit").await.body;
    assert!(html::text(&audit, "main").contains("review of imports changed"), "{audit}");

    let next = |name: &str| Focus::new().hour(name, "s1", "2026-10-05T10", "7", "vision");
    admin.import("october.csv", next("acme")).await;
    assert_eq!(state(&mut admin, 2).await, "waiting");
    let page = admin.get("/imports/2").await.body;
    assert!(html::text(&page, "main").contains("All imports of NeoCloud are reviewed"), "{page}");

    // Of another provider, not even one with rejected rows waits.
    let other = with_rejected().text().replace("NeoCloud", "OtherCloud");
    admin.import("other.csv", Focus::from(other)).await;
    assert_eq!(state(&mut admin, 3).await, "loaded");

    // It is left to the setting of all others again; nonsense changes nothing.
    let pairs = [("provider", "NeoCloud"), ("review", "")];
    admin.submit("/imports/review", "/imports/review", &pairs).await;
    admin.import("globex.csv", next("globex")).await;
    assert_eq!(state(&mut admin, 4).await, "loaded");
    for wrong in
        [&[("provider", ""), ("review", "sometimes")][..], &[("review", "always")], &[("provider", "Nobody")]]
    {
        let answer = admin.submit("/imports/review", "/imports/review", wrong).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{wrong:?}");
    }

    let mut finance = app.signed_in(Role::Finance).await;
    let page = finance.get("/imports/review").await.body;
    assert!(html::text(&page, "main").contains("Only administrators can change this."), "{page}");
    let mut lead = app.signed_in(Role::Lead).await;
    assert_eq!(lead.get("/imports/review").await.status, StatusCode::FORBIDDEN);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn corrected_rows_are_added_after_their_review(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut app = TestApp::of(&ledger).signed_in(Role::Finance).await;
    app.import("september.csv", with_rejected()).await;
    app.submit("/imports/1", "/imports/1/publish", &[]).await;
    let rows = app.get("/imports/1/files/0/rejected").await.body;
    send_for_review(&mut app, "corrected.csv", rows.replace("much", "4")).await;
    assert_eq!(state(&mut app, 2).await, "waiting");
    let page = app.get("/imports/2").await.body;
    assert_eq!(html::texts(&page, ".choices button"), ["Publish", "Discard"]);
    assert_eq!(html::texts(&page, ".notice tbody tr td")[2..], ["USD", "30.75", "34.75", "+4.00"]);
    let changes = app.json("/imports/2/changes/account.json").await;
    assert_eq!(changes["totals"][0]["difference"], "4.00", "it adds, and replaces nothing");
    app.submit("/imports/2", "/imports/2/publish", &[]).await;
    assert_eq!(total(&mut app, "2026-09").await, "34.75");
    assert_eq!(app.json("/imports/1.json").await["missing_rows"], 0);
    ledger.assert_balanced().await;
}
