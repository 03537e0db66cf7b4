//! An administrator drops billing files into the browser, sees what became of them, and undoes it.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use sqlx::PgPool;

use crate::support::{Focus, TestApp, html};

fn whole() -> Focus {
    Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision").hour(
        "acme",
        "s2",
        "2026-09-06T10",
        "20.25",
        "nlp",
    )
}

/// What lacks a sub-account of [`whole`].
fn part() -> Focus {
    Focus::new().hour("acme", "s2", "2026-09-06T10", "21", "nlp")
}

async fn billed(app: &mut TestApp, delivery: i64) -> Vec<(String, bool)> {
    let page = app.json(&format!("/imports/{delivery}.json")).await;
    let scopes = page["scopes"].as_array().unwrap().iter();
    scopes
        .map(|scope| {
            (scope["billed_cost"].as_str().unwrap().to_owned(), scope["is_counted"].as_bool().unwrap())
        })
        .collect()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn she_loads_a_file_and_sees_what_it_holds(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let broken = whole().text().lines().nth(1).unwrap().replace(",10,10,10,10,", ",ten,10,10,10,");
    let file = whole().line(&broken);

    let batch = app.import("september.csv", &file).await;
    assert_eq!(html::text(&batch.body, "h1"), "september.csv");
    let said = html::text(&batch.body, "#live");
    assert!(said.contains("needs review Import 1: 3 rows = 2 charges + 1 rejected + 0 skipped"), "{said}");
    assert!(said.contains("row 3, column BilledCost: found “ten”; expected"), "{said}");
    assert!(said.contains("September 2026"), "{said}");

    // A row is missing, so it is in no figure until she has looked at it.
    let page = app.get("/imports/1").await;
    assert_eq!(html::text(&page.body, "h1"), "Import 1 september.csv needs review");
    assert_eq!(html::texts(&page.body, ".choices button"), ["Publish", "Discard"]);
    assert_eq!(billed(&mut app, 1).await, [("30.25".to_owned(), false)]);
    app.submit("/imports/1", "/imports/1/publish", &[]).await;

    let page = app.get("/imports/1").await;
    assert_eq!(html::text(&page.body, "h1"), "Import 1 september.csv active");
    assert_eq!(html::texts(&page.body, ".equation dd"), ["3", "= 2", "+ 1", "+ 0"]);
    let links = html::attributes(&page.body, "tbody th a", "href");
    assert_eq!(links, ["/spend/2026-09", "/charges/1/0/3"]);
    assert_eq!(html::texts(&page.body, "#rejected tbody tr").len(), 1);
    assert_eq!(billed(&mut app, 1).await, [("30.25".to_owned(), true)]);

    let original = app.get("/imports/1/files/0").await;
    assert_eq!(original.bytes, file.text().as_bytes());
    assert_eq!(original.header("content-length"), file.text().len().to_string());

    let page = app.get("/imports").await;
    assert_eq!(html::texts(&page.body, "#history tbody tr").len(), 1);
    assert_eq!(html::text(&page.body, "#history .badge"), "active");
    assert!(html::text(&page.body, "#history").contains("admin@example.org"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_same_file_again_is_a_duplicate(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    app.import("a.csv", whole()).await;
    let again = app.import("b.csv", whole()).await;
    let said = html::text(&again.body, "#live section");
    assert_eq!(said, "b.csv duplicate Same file as import 1. Nothing was imported again.");
    assert_eq!(html::texts(&app.get("/imports").await.body, "#history tbody tr").len(), 1);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_part_waits_until_she_adds_it_and_undo_takes_it_out_again(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    app.import("whole.csv", whole()).await;
    let batch = app.import("part.csv", part()).await;
    assert!(html::text(&batch.body, "#live").contains("sub-accounts s1"), "{}", batch.body);
    assert!(batch.body.contains("Review import"));

    let page = app.get("/imports").await;
    assert_eq!(html::text(&page.body, ".notice h2"), "Import 2 needs review");
    assert_eq!(html::texts(&page.body, "#history tbody tr").len(), 1);
    let page = app.get("/imports/2").await;
    assert_eq!(html::texts(&page.body, ".choices button"), ["Replace", "Add", "Discard"]);
    assert_eq!(html::texts(&page.body, ".notice tbody .num"), ["30.25", "21.00", "51.25"]);

    let answer = app.submit("/imports/2", "/imports/2/add", &[]).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/imports/2"));
    let page = app.get("/imports/2").await;
    let flash = html::text(&page.body, ".flash");
    assert_eq!(flash, "Import 2 is active and added to its months.");
    assert_eq!(billed(&mut app, 1).await, [("30.25".to_owned(), true)]);
    assert_eq!(billed(&mut app, 2).await, [("21".to_owned(), true)]);

    // What the question promises is what happens.
    let page = app.get("/imports/1").await;
    assert!(html::text(&page.body, ".confirm p").contains("Import 2 stays active."), "{}", page.body);
    let page = app.get("/imports/2").await;
    assert!(html::text(&page.body, ".confirm p").contains("Import 1 stays active."));
    for (said, _) in [("is undone", 1), ("Nothing changed", 2)] {
        app.submit("/imports", "/imports/2/undo", &[]).await;
        let page = app.get("/imports/2").await;
        assert!(html::text(&page.body, ".flash").contains(said));
        assert_eq!(html::text(&page.body, "h1 .badge"), "undone");
    }
    assert_eq!(billed(&mut app, 1).await, [("30.25".to_owned(), true)]);
    assert_eq!(billed(&mut app, 2).await, [("21".to_owned(), false)]);
    let history = html::texts(&app.get("/imports/2").await.body, "section:last-of-type dd");
    assert_eq!(history.len(), 3);

    // Undone, it may be loaded again; decided about, it does not wait.
    for action in ["replace", "add", "discard"] {
        app.submit("/imports", &format!("/imports/2/{action}"), &[]).await;
        assert!(html::text(&app.get("/imports/2").await.body, ".flash").contains("Nothing changed"));
    }
    assert!(html::text(&app.import("part.csv", part()).await.body, "#live").contains("needs review"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn she_replaces_a_month_or_discards_what_should_not_count(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Finance).await;
    app.import("whole.csv", whole()).await;
    app.import("part.csv", part()).await;
    app.submit("/imports/2", "/imports/2/discard", &[]).await;
    let page = app.get("/imports/2").await;
    assert_eq!(html::text(&page.body, "h1 .badge"), "discarded");
    assert!(html::text(&page.body, "main").contains("Discarded by finance@example.org"));
    let happened = html::texts(&page.body, "#log dd");
    assert_eq!(happened, ["imported by finance@example.org", "discarded by finance@example.org"]);
    assert_eq!((html::texts(&page.body, ".equation"), html::texts(&page.body, ".problem")), (vec![], vec![]));
    let log = app.json("/imports/2.json").await["log"].take();
    assert_eq!(
        (&log[0]["action"], &log[0]["sequence"]),
        (&"discard".into(), &serde_json::Value::Null),
        "{log}"
    );
    assert_eq!(billed(&mut app, 1).await, [("30.25".to_owned(), true)]);

    app.import("part.csv", part()).await;
    app.submit("/imports/3", "/imports/3/replace", &[]).await;
    assert_eq!(billed(&mut app, 3).await, [("21".to_owned(), true)]);
    assert_eq!(html::text(&app.get("/imports/1").await.body, "h1 .badge"), "replaced");
    let page = app.get("/imports/3").await;
    assert!(html::text(&page.body, ".confirm p").contains("Import 1 becomes active instead"));
    let page = app.get("/imports/1").await;
    assert!(html::text(&page.body, ".confirm p").contains("is not active"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn she_uploads_two_files_at_once(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let other = Focus::new().hour("globex", "s1", "2026-10-05T10", "7", "vision");
    let answer = app.upload(&[("acme.csv", whole().as_ref()), ("globex.csv", other.as_ref())]).await;
    let batch = answer.location().to_owned();
    assert!(html::text(&app.get(&batch).await.body, "#live").contains("Queued"));
    app.run_jobs().await;
    let page = app.get(&batch).await;
    assert_eq!(html::text(&page.body, "h1"), "2 files");
    assert_eq!(html::texts(&page.body, "#live h2"), ["acme.csv", "globex.csv"]);
    let json = app.json(&format!("{batch}.json")).await;
    assert_eq!(json["status"], "done");
    assert_eq!(json["deliveries"][1]["scopes"][0]["billed_cost"][0]["amount"], "7");
    assert!(app.incoming().is_empty());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_same_bytes_twice_in_one_upload_are_one_delivery(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let answer = app.upload(&[("a.csv", whole().as_ref()), ("copy of a.csv", whole().as_ref())]).await;
    app.run_jobs().await;
    let said = html::texts(&app.get(answer.location()).await.body, "#live section");
    assert!(said[0].starts_with("a.csv active"), "{said:?}");
    assert!(said[1].starts_with("copy of a.csv duplicate Same file as import 1"), "{said:?}");
    assert_eq!(billed(&mut app, 1).await, [("30.25".to_owned(), true)]);

    // What waits for a decision waits once, however often it is sent.
    for duplicates in [0, 1] {
        let page = app.import("part.csv", part()).await;
        assert_eq!(page.body.matches("Review import</a>").count(), 1 - duplicates);
    }
    assert_eq!(app.get("/imports").await.body.matches("Review import</a>").count(), 1);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn she_cancels_an_upload_that_waits(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let first = app.upload(&[("a.csv", whole().as_ref())]).await.location().to_owned();
    let second = app.upload(&[("b.csv", part().as_ref())]).await.location().to_owned();
    assert!(html::text(&app.get(&first).await.body, "#live").contains("next in line"));
    let page = app.get(&second).await;
    assert!(html::text(&page.body, "#live").contains("behind one upload"));
    assert!(html::text(&page.body, ".confirm p").contains("Nothing becomes active"));

    let answer = app.submit(&first, &format!("{first}/cancel"), &[]).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, first.as_str()));
    let page = app.get(&first).await;
    assert!(html::text(&page.body, ".flash").contains("files removed"));
    assert!(html::text(&page.body, "#live").contains("Canceled by admin@example.org"));
    assert!(html::attributes(&page.body, "[hx-trigger]", "hx-get").is_empty());
    assert_eq!(app.incoming().len(), 1);
    app.run_jobs().await;
    assert_eq!(html::texts(&app.get("/imports").await.body, "#history tbody tr").len(), 1);
    assert_eq!(billed(&mut app, 1).await, [("21".to_owned(), true)]);

    // What is done is not cancelled, nor tried again.
    for action in ["cancel", "retry"] {
        app.submit("/imports", &format!("{second}/{action}"), &[]).await;
        assert!(html::text(&app.get(&second).await.body, ".flash").contains("Nothing changed"));
    }
    assert_eq!(billed(&mut app, 1).await, [("21".to_owned(), true)]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_the_machine_failed_is_kept_and_tried_again(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let other = Focus::new().hour("globex", "s1", "2026-10-05T10", "7", "vision");
    let answer = app.upload(&[("acme.csv", whole().as_ref()), ("globex.csv", other.as_ref())]).await;
    let batch = answer.location().to_owned();
    let file = app.incoming()[0].join("0");
    let away = file.with_extension("away");
    std::fs::rename(&file, &away).unwrap();
    app.run_jobs().await;

    let page = app.get(&batch).await;
    let said = html::text(&page.body, "#live");
    assert!(said.contains("The machine failed, not the file. The upload is kept"), "{said}");
    assert_eq!(html::texts(&page.body, "#live h2"), ["acme.csv", "globex.csv"]);
    assert!(app.get("/imports").await.body.contains("Try again"));
    assert_eq!(app.incoming().len(), 1);

    std::fs::rename(&away, &file).unwrap();
    app.submit(&batch, &format!("{batch}/retry"), &[]).await;
    app.run_jobs().await;
    let said = html::texts(&app.get(&batch).await.body, "#live section");
    assert!(said[0].starts_with("acme.csv active"), "{said:?}");
    assert!(said[1].starts_with("globex.csv duplicate"), "{said:?}");
    assert!(app.incoming().is_empty());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_upload_whose_server_died_again_and_again_is_kept(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let batch = app.upload(&[("acme.csv", whole().as_ref())]).await.location().to_owned();
    sqlx::query("update jobs set status = 'running', attempts = 3").execute(&app.db).await.unwrap();
    app.run_jobs().await;
    let page = app.get(&batch).await;
    assert!(html::text(&page.body, "#live").contains("interrupted 3 times; nothing was imported"));
    assert_eq!(app.incoming().len(), 1);
    app.submit(&batch, &format!("{batch}/retry"), &[]).await;
    app.run_jobs().await;
    assert!(html::text(&app.get(&batch).await.body, "#live").contains("acme.csv active"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn broken_files_are_refused_by_name_and_the_rest_is_loaded(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let answer = app
        .upload(&[
            ("empty.csv", b""),
            ("picture.png", b"\x89PNG\r\n\x1a\n\0\0"),
            ("good.csv", whole().as_ref()),
        ])
        .await;
    app.run_jobs().await;
    let page = app.get(answer.location()).await;
    let said = html::texts(&page.body, "#live section");
    assert!(said[0].starts_with("empty.csv refused Import 1 Found an empty file"), "{said:?}");
    assert!(said[1].starts_with("picture.png refused Import 2 Found a picture"), "{said:?}");
    assert!(said[2].starts_with("good.csv active Import 3"), "{said:?}");
    assert_eq!(html::texts(&page.body, ".problem").len(), 2);
    let page = app.get("/imports/1").await;
    assert!(html::text(&page.body, "main").contains("not stored"));
    assert_eq!(app.get("/imports/1/files/0").await.status, StatusCode::NOT_FOUND);
}
