//! Finance opens a month, asks it questions, goes down to a row of the file, and takes the figures away.

use gpuledger::accounts::Role;
use sqlx::PgPool;

use crate::support::json::sum;
use crate::support::{Focus, TestApp, TestLedger};

async fn september(db: PgPool) -> (TestLedger, TestApp) {
    let ledger = TestLedger::new(db);
    let august = Focus::new().hour("acme", "s1", "2026-08-05T10", "100", "vision");
    ledger.deliver("august.csv", &august).await;
    let september = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "120.123456789012", "vision")
        .hour("acme", "s2", "2026-09-06T11", "30.5", "nlp")
        .hour("acme", "s2", "2026-09-06T12", "0.000000000001", "nlp");
    ledger.deliver("september.csv", &september).await;
    let app = TestApp::of(&ledger);
    let finance = app.signed_in(Role::Finance).await;
    (ledger, finance)
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_page_the_json_and_the_csv_say_the_same(db: PgPool) {
    let (_ledger, mut finance) = september(db).await;
    assert_eq!(finance.get("/spend").await.location(), "/spend/2026-09");

    let page = finance.get("/spend/2026-09?by=tag:team").await;
    assert_eq!(page.status, 200);
    for text in ["September 2026", "150.62", "vision", "120.12", "nlp", "30.50", "24.0"] {
        assert!(page.body.contains(text), "{text}");
    }

    let json = finance.json("/spend/2026-09.json?by=tag:team").await;
    assert_eq!(json["total"]["amount"], "150.623456789013");
    assert_eq!(json["accelerator_hours"], "24");
    assert_eq!(json["groups"][0]["key"], "vision");
    assert_eq!(json["groups"][0]["previous"]["amount"], "100");
    assert_eq!(json["groups"][1]["cost"]["amount"], "30.500000000001");

    let csv = finance.get("/spend/2026-09.csv?by=tag:team").await;
    insta::assert_snapshot!(csv.body, @r"
    key,label,cost,currency,accelerator_hours,owned_hours,share,previous,cost_per_accelerator_hour,cost_per_owned_hour
    vision,vision,120.123456789012,USD,8,0,0.797508,100,15.015432,
    nlp,nlp,30.500000000001,USD,16,0,0.202492,0,1.906250,
    ");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_grouping_sums_to_the_total(db: PgPool) {
    let (_ledger, mut finance) = september(db).await;
    for by in [
        "provider",
        "account",
        "service",
        "region",
        "accelerator",
        "pricing",
        "category",
        "sku",
        "resource",
        "day",
        "month",
        "tag:team",
        "tag:nothing",
    ] {
        for cost in ["billed", "effective", "contracted", "list"] {
            let page = finance.get(&format!("/spend/2026-09?by={by}&cost={cost}")).await;
            assert_eq!(page.status, 200, "{by} {cost}");
            let json =
                finance.json(&format!("/spend/2026-08..2026-09.json?by={by}&cost={cost}&limit=1")).await;
            assert_eq!(sum(&json["groups"]).to_string(), "250.623456789013", "{by} {cost}");
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_figure_leads_down_to_the_row_of_the_file(db: PgPool) {
    let (_ledger, mut finance) = september(db).await;
    let charges = finance.get("/charges/2026-09?tag:team=nlp").await;
    assert!(charges.body.contains("30.50") && !charges.body.contains("120.12"));
    assert!(charges.body.contains("/charges/2/0/2"));
    let charge = finance.get("/charges/2/0/2").await;
    for text in ["september.csv", "BilledCost", "30.5", "ResourceId", "node-s2", "H100"] {
        assert!(charge.body.contains(text), "{text}");
    }
    assert_eq!(finance.get("/charges/2/0/99").await.status, 404);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_question_that_makes_no_sense_is_answered_so(db: PgPool) {
    let (_ledger, mut finance) = september(db).await;
    for address in ["/spend/2026-09?by=color", "/spend/2026-09?cost=free", "/spend/2026-09?color=red"] {
        let answer = finance.get(address).await;
        assert_eq!(answer.status, 400, "{address}");
    }
    assert_eq!(finance.get("/spend/2026-13").await.status, 404);
    let beyond = finance.get("/charges/2026-09?page=18446744073709551615").await;
    assert_eq!(beyond.status, 200);
    let empty = finance.get("/spend/2031-01").await;
    assert!(empty.status == 200 && empty.body.contains("Nothing was billed"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn currencies_are_never_added_up(db: PgPool) {
    let (ledger, mut finance) = september(db).await;
    let euros = Focus::new().hour("euro", "s1", "2026-09-05T10", "7", "vision");
    ledger.deliver("euros.csv", euros.text().replace(",USD,", ",EUR,")).await;
    let json = finance.json("/spend/2026-09.json").await;
    assert_eq!((&json["currency"], &json["total"]["amount"]), (&"USD".into(), &"150.623456789013".into()));
    assert_eq!(json["other_currencies"][0], "EUR");
    let json = finance.json("/spend/2026-09.json?currency=EUR").await;
    assert_eq!(json["total"]["amount"], "7");
}
