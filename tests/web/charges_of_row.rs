//! A row that is several charges, on its page: a usage of Google and its credits.

use std::path::Path;

use gpuledger::accounts::Role;
use sqlx::PgPool;

use crate::support::{TestApp, html};

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_row_shows_its_credits_and_what_is_left_of_it(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Finance).await;
    let fixture = "tests/fixtures/exports/gcp-billing/both-commitment-models/input.jsonl";
    app.import("month.jsonl", std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture)).unwrap())
        .await;

    let import = app.get("/imports/1").await;
    let counts = html::text(&import.body, "dl.equation");
    assert_eq!(counts, "Rows read16 Credits in rows+ 4 Charges= 19 Rejected+ 1 Skipped+ 0");

    let row = app.get("/charges/1/0/1").await;
    assert_eq!(
        html::texts(&row.body, "#charges tbody th"),
        ["Nvidia H100 80GB GPU running in Americas shown here", "Sustained usage", "FreeTrial"]
    );
    assert_eq!(html::text(&row.body, "#charges tfoot"), "Row after credits69.3169.3177.15");

    // The number that is clicked in the list is the one that its page shows.
    let list = app.get("/charges/2026-08?category=Credit&cost=billed").await;
    let links = html::attributes(&list.body, "tbody th a", "href");
    assert_eq!(links.len(), 4);
    let mut shown = Vec::new();
    for link in links {
        assert!(link.contains("?charge="), "{link}");
        let page = app.get(&link).await;
        assert!(html::text(&page.body, "dl.facts").contains("Charge categoryCredit"), "{link}");
        shown.push(html::texts(&page.body, "dl.figures dd")[1].clone());
    }
    shown.sort();
    assert_eq!(shown, ["USD−1.25", "USD−23.47", "USD−54.88", "USD−7.84"]);

    let json: serde_json::Value = serde_json::from_str(&app.get("/charges/1/0/1.json").await.body).unwrap();
    assert_eq!(json["charges_of_row"].as_array().unwrap().len(), 3);
    assert!(app.get("/charges/1/0/2.json").await.body.contains(r#""charge""#));
    assert!(html::texts(&app.get("/charges/1/0/2").await.body, "#charges").is_empty());
}
