//! A lead sees the rows of their team, and of no other, on every page and in every file.

use gpuledger::accounts::Role;
use sqlx::PgPool;

use crate::support::{Focus, TestApp, TestLedger};

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_sees_their_team_and_no_other(db: PgPool) {
    let ledger = TestLedger::new(db);
    let month = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "120", " Research ")
        .hour("acme", "s2", "2026-09-06T11", "30.5", "nlp")
        .hour("acme", "s3", "2026-09-06T11", "7", "");
    ledger.deliver("month.csv", &month).await;
    let app = TestApp::of(&ledger);
    let mut lead = app.signed_in(Role::Lead).await;

    let json = lead.json("/spend/2026-09.json?by=account").await;
    assert_eq!(json["total"]["amount"], "120");
    assert_eq!(json["groups"].as_array().unwrap().len(), 1);
    let charges = lead.get("/charges/2026-09").await;
    assert!(charges.body.contains("120.00") && !charges.body.contains("30.50"));
    assert_eq!(lead.get("/charges/1/0/1").await.status, 200);
    // Who loads bills, and what else was loaded, is not theirs to know.
    let charge = lead.get("/charges/1/0/1.json").await.body;
    assert!(charge.contains(r#""delivered_by":null"#) && charge.contains(r#""others":[]"#), "{charge}");
    assert_eq!(lead.get("/charges/1/0/2").await.status, 404);
    assert_eq!(lead.get("/charges/1/0/3").await.status, 404);
    let page = lead.get("/spend/2026-09?by=tag:team").await;
    assert!(!page.body.contains("nlp"));
}
