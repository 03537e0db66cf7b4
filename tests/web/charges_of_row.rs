//! A row that is several charges, on its page: a usage of Google and its credits, what a machine cost on each day.

use std::path::Path;

use gpuledger::accounts::Role;
use sqlx::PgPool;

use crate::support::{TestApp, html};

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_row_shows_its_credits_and_what_is_left_of_it(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Finance).await;
    let fixture = "tests/fixtures/exports/gcp-billing/both-commitment-models/input.jsonl";
    let month = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture)).unwrap();
    app.import_and_publish("month.jsonl", month).await;

    let import = app.get("/imports/1").await;
    let counts = html::text(&import.body, "dl.equation");
    assert_eq!(counts, "Rows read16 Further charges+ 4 Charges= 19 Rejected+ 1 Skipped+ 0");

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

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn row_of_several_days_shows_each_and_their_sum(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Finance).await;
    let machine = r#"{"billing_history_vm_details": {"billing_history": [{
        "attributes": {"infrahub_id": 90210, "resource_name": "train-h100"},
        "metrics": {"incurred_bill": 23.5, "incurred_bill_graph": [
            {"datetime": "2026-08-31T00:00:00Z", "value": 1},
            {"datetime": "2026-09-01T00:00:00Z", "value": 10},
            {"datetime": "2026-09-02T00:00:00Z", "value": 0},
            {"datetime": "2026-09-03T00:00:00Z", "value": 12.5}]}}], "total_count": 1}}"#;
    app.import("machine.json", machine).await;

    let days = app.json("/spend/2026-09.json?by=day&cost=billed").await;
    let cost_of = |day: &str| {
        let groups = days["groups"].as_array().unwrap();
        groups.iter().find(|group| group["key"] == day).unwrap()["cost"]["amount"].clone()
    };
    assert_eq!((cost_of("2026-09-01"), cost_of("2026-09-03")), ("10".into(), "12.5".into()));

    let list = app.get("/charges/2026-09?cost=billed").await;
    let links = html::attributes(&list.body, "tbody th a", "href");
    let mut shown = Vec::new();
    for link in &links {
        let page = app.get(link).await;
        assert_eq!(html::text(&page.body, "#charges tfoot"), "All charges of the row23.5023.5023.50");
        assert_eq!(html::texts(&page.body, "#charges tbody tr").len(), 3);
        shown.push(html::texts(&page.body, "dl.figures dd")[1].clone());
    }
    assert_eq!(shown, ["USD12.50", "USD10.00"]);

    let of_row = app.json("/charges/1/0/1.json").await;
    let starts: Vec<_> =
        of_row["charges_of_row"].as_array().unwrap().iter().map(|it| &it["charge_period_start"]).collect();
    assert_eq!(starts, ["2026-08-31T00:00:00Z", "2026-09-01T00:00:00Z", "2026-09-03T00:00:00Z"]);
}
