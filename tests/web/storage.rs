//! The storage page, and what people meet of archived imports.

use axum::http::StatusCode;
use chrono::{DateTime, Duration, Utc};
use gpuledger::accounts::Role;
use sqlx::PgPool;

use crate::support::{Focus, TestApp, html, now};

fn hour(cost: &str) -> Focus {
    Focus::new().hour("acme", "s1", "2026-09-05T10", cost, "vision")
}

fn in_minutes(minutes: i64) -> DateTime<Utc> {
    now() + Duration::minutes(minutes)
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn replaced_import_is_archived_and_loaded_again_in_the_browser(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    admin.import("first.csv", hour("10")).await;
    admin.import("second.csv", hour("12")).await;
    let page = admin.get("/storage").await;
    assert_eq!(html::text(&page.body, "tbody tr:first-child th"), "September 2026");
    assert!(!html::text(&page.body, "tbody tr:first-child td:last-child").contains("none"), "{}", page.body);
    let before = admin.get("/spend/2026-09.json?sequence=1").await;
    assert!(before.body.contains(r#""amount":"10""#), "{}", before.body);

    let token = admin.token("/storage").await;
    let archived = admin.post("/storage/archive", &[("csrf", &token)]).await;
    assert_eq!(archived.status, StatusCode::SEE_OTHER);
    assert!(admin.get("/storage").await.body.contains("Import 1 is archived."));
    app.archive(in_minutes(5)).await;
    let first = admin.get("/imports/1").await.body;
    assert_eq!(html::text(&first, "#archived button"), "Restore rows");
    assert!(html::text(&first, "#log").contains("archived by admin@example.org"), "{first}");
    let history = admin.get("/imports").await.body;
    assert!(
        html::text(&history, "#history tbody tr:last-child td:nth-child(7)").contains("archived"),
        "{history}"
    );
    assert!(admin.get("/imports.csv").await.body.lines().next().unwrap().ends_with(",message,archived_at"));
    let refused = admin.get("/spend/2026-09?sequence=1").await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.body.contains("the rows of import 1, which is archived"), "{}", refused.body);
    assert_eq!(html::attributes(&refused.body, "main p a", "href"), ["/imports/1"]);
    assert_eq!(html::attributes(&refused.body, "main form", "action"), ["/imports/1/load-again"]);
    let token_of_refused = html::attributes(&refused.body, "main form [name=csrf]", "value").remove(0);
    let mut lead = app.signed_in(Role::Lead).await;
    let of_lead = lead.get("/spend/2026-09?sequence=1").await;
    assert_eq!(of_lead.status, StatusCode::CONFLICT, "{}", of_lead.body);
    assert!(html::attributes(&of_lead.body, "main form", "action").is_empty(), "{}", of_lead.body);
    let as_json = admin.get("/spend/2026-09.json?sequence=1").await;
    assert_eq!((as_json.status, html::text(&as_json.body, "a")), (StatusCode::CONFLICT, String::new()));
    assert!(admin.get("/spend/2026-09.json").await.body.contains(r#""amount":"12""#));
    let second = admin.get("/imports/2").await.body;
    assert!(second.contains("Import 1 is archived. Restore its rows before you undo."), "{second}");
    assert!(!second.contains("Undo import"), "{second}");
    let token = admin.token("/imports").await;
    admin.post("/imports/2/undo", &[("csrf", &token)]).await;
    assert!(admin.get("/imports/2").await.body.contains("Restore the rows of import 1 first, then undo."));

    let loading = admin.post("/imports/1/load-again", &[("csrf", &token_of_refused)]).await;
    assert_eq!(loading.status, StatusCode::SEE_OTHER);
    let job = loading.header("location").to_owned();
    // Asked twice, it is one job.
    assert_eq!(admin.post("/imports/1/load-again", &[("csrf", &token)]).await.header("location"), job);
    admin.run_jobs().await;
    assert!(admin.get(&job).await.body.contains("Its rows are back"));
    let first = admin.get("/imports/1").await.body;
    assert!(!first.contains("Archived on"));
    let mut happened = html::texts(&first, "#log dd").split_off(2);
    // Both at one moment, since the clock of tests stands.
    happened.sort();
    let requested = "restoring rows requested by admin@example.org";
    assert_eq!(happened, ["archived by admin@example.org", requested], "once: {first}");
    assert_eq!(admin.get("/spend/2026-09.json?sequence=1").await.body, before.body);
    admin.post("/imports/2/undo", &[("csrf", &token)]).await;
    assert!(admin.get("/spend/2026-09.json").await.body.contains(r#""amount":"10""#));
    let again = admin.post("/imports/1/load-again", &[("csrf", &token)]).await;
    assert_eq!(again.header("location"), "/imports/1");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn hours_until_imports_are_archived_are_set_by_administrators(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let page = finance.get("/storage").await.body;
    assert!(
        page.contains("Nothing is imported yet.")
            && page.contains("6 hours")
            && !page.contains("Archive now")
    );
    let mut admin = app.signed_in(Role::Admin).await;
    let token = admin.token("/storage").await;
    let refused = admin.post("/storage", &[("csrf", &token), ("hours", "a day")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        refused.body.contains("Enter a whole number of hours from 0 to 87600, or leave empty for never."),
        "{}",
        refused.body
    );
    assert_eq!(
        admin.post("/storage", &[("csrf", &token), ("hours", "48")]).await.status,
        StatusCode::SEE_OTHER
    );
    assert!(finance.get("/storage").await.body.contains("48 hours"));
    admin.post("/storage", &[("csrf", &token), ("hours", "")]).await;
    assert!(finance.get("/storage").await.body.contains("never"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn pages_say_that_a_file_was_removed_and_what_brings_it_back(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    admin.import("first.csv", hour("10")).await;
    admin.import("second.csv", hour("12")).await;
    let token = admin.token("/storage").await;
    let refused = admin.post("/storage", &[("csrf", &token), ("hours", "0"), ("days", "0")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("Enter a whole number of days from 1 to 3650, or leave empty for never."));
    admin.post("/storage", &[("csrf", &token), ("hours", "0"), ("days", "30")]).await;
    let mut finance = app.signed_in(Role::Finance).await;
    assert!(finance.get("/storage").await.body.contains("30 days"));
    for days in [1, 2] {
        app.archive(now() + Duration::days(days)).await;
    }
    let page = admin.get("/imports/1").await.body;
    let until = (now() + Duration::days(31)).format("%b %-d, %Y").to_string();
    assert!(html::text(&page, "#archived").contains(&format!("the file is stored until {until}")), "{page}");
    app.archive(now() + Duration::days(40)).await;

    let page = admin.get("/imports/1").await.body;
    assert!(html::text(&page, "#archived").contains("Rows and file were removed"), "{page}");
    assert_eq!(html::attributes(&page, "#archived form", "action"), ["/imports/1/files"]);
    assert!(html::text(&page, "#log").contains("file removed by gpuledger"), "{page}");
    let asked = admin.post("/imports/1/load-again", &[("csrf", &token)]).await;
    assert_eq!(asked.header("location"), "/imports/1");
    let page = admin.get("/imports/1").await.body;
    assert!(page.contains("Choose first.csv below to restore the rows."), "{page}");
    assert!(!html::text(&page, "#log").contains("requested"), "{page}");
    assert!(!page.contains("download>Download</a>") && page.contains("removed"), "{page}");
    let gone = admin.get("/imports/1/files/0").await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    assert!(gone.body.contains(
        "“first.csv” was removed to save space. You can upload the file again on the page of its import."
    ));
    let row = admin.get("/charges/1/0/1").await;
    assert_eq!(row.status, StatusCode::CONFLICT, "{}", row.body);
    let none = admin.upload_to("/imports/1/files", &[]).await;
    assert_eq!(none.header("location"), "/imports/1");
    assert!(admin.get("/imports/1").await.body.contains("Choose the file that was imported."));

    let spend = admin.get("/spend/2026-09.json").await.body;
    let other = admin.upload_to("/imports/1/files", &[("first.csv", hour("11").as_ref())]).await;
    // Who asks meanwhile is led to it.
    let meanwhile = admin.post("/imports/1/load-again", &[("csrf", &token)]).await;
    assert_eq!(meanwhile.location(), other.location());
    admin.run_jobs().await;
    let refused = admin.get(other.location()).await.body;
    assert!(
        refused.contains("None of the files is “first.csv” as it was imported, byte by byte."),
        "{refused}"
    );
    let same = admin.upload_to("/imports/1/files", &[("mine.csv", hour("10").as_ref())]).await;
    admin.run_jobs().await;
    assert!(admin.get(same.location()).await.body.contains("/imports/1"));
    let page = admin.get("/imports/1").await.body;
    assert!(!page.contains("Archived on") && page.contains("download>Download</a>"), "{page}");
    assert_eq!(admin.get("/spend/2026-09.json").await.body, spend, "no figure changed");
    assert_eq!(admin.get("/imports/1/files/0").await.bytes, AsRef::<[u8]>::as_ref(&hour("10")));
    let again = admin.upload_to("/imports/1/files", &[("mine.csv", hour("10").as_ref())]).await;
    assert_eq!(again.header("location"), "/imports/1");
    assert!(admin.get("/imports/1").await.body.contains("Nothing changed: import 1 has its rows."));
    assert!(admin.get("/audit").await.body.contains("files of archived imports removed"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rejected_row_of_a_removed_file_says_why_its_columns_are_gone(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let first = hour("10").hour("acme", "s1", "2026-09-05T11", "dear-42", "vision");
    admin.import_and_publish("first.csv", first).await;
    admin.import("second.csv", hour("12")).await;
    let token = admin.token("/storage").await;
    admin.post("/storage", &[("csrf", &token), ("hours", "0"), ("days", "1")]).await;
    let row = admin.get("/charges/1/0/2").await;
    assert!(row.body.contains("s1") && row.body.contains("dear-42"), "{}", row.body);
    for days in [1, 2, 9] {
        app.archive(now() + Duration::days(days)).await;
    }
    let row = admin.get("/charges/1/0/2").await;
    assert_eq!(row.status, StatusCode::OK, "{}", row.body);
    assert!(row.body.contains("dear-42"), "what was found is kept: {}", row.body);
    let why = "The file was removed to save space: its import is archived.";
    assert!(row.body.contains(why), "{}", row.body);
    assert!(!admin.get("/imports/1").await.body.contains("Download the rows to correct"));
}
