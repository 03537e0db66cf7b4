//! A month against its invoices: entered, agreeing, differing, refused, removed.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use serde_json::Value;
use sqlx::PgPool;

use crate::support::{Focus, TestApp, TestLedger};

const PAGE: &str = "/invoices/2026-09";
/// Billed 30.0049 in USD, of which 5 is tax, and 100 in EUR.
const TAX: &str = "NeoCloud,acme,s1,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,2026-09-01T00:00:00Z,\
    2026-10-01T00:00:00Z,Tax,,Tax,Other,,,,,,,5,5,5,5,USD,,NeoCloud,NeoCloud";

async fn app(db: PgPool) -> (TestLedger, TestApp) {
    let ledger = TestLedger::new(db);
    let usd = Focus::new().hour("acme", "s1", "2026-09-05T10", "25.0049", "vision").line(TAX);
    ledger.deliver("usd.csv", usd).await;
    let eur = Focus::new().hour("beta", "s2", "2026-09-05T10", "100", "nlp").billed_in("EUR");
    ledger.deliver("eur.csv", eur).await;
    let finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    (ledger, finance)
}

async fn lines(app: &mut TestApp, period: &str) -> Vec<Value> {
    let mut answer = app.json(&format!("/invoices/{period}.json")).await;
    std::mem::take(answer["lines"].as_array_mut().unwrap())
}

pub(super) fn invoice<'a>(line: &'a str, number: &'a str, amount: &'a str) -> [(&'static str, &'a str); 3] {
    [("line", line), ("number", number), ("amount", amount)]
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_month_agrees_with_its_invoices_to_the_cent(db: PgPool) {
    let (ledger, mut finance) = app(db).await;
    let page = finance.get(PAGE).await.body;
    assert!(page.contains("No invoice") && page.contains("In EUR") && page.contains("In USD"));
    assert_eq!(finance.get("/invoices").await.location(), PAGE, "the latest month");

    let answer = finance.submit(PAGE, PAGE, &invoice("1-USD", "A-1", "20.00")).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, PAGE));
    assert!(finance.get(PAGE).await.body.contains("Invoice A-1 entered. It differs from the charges."));
    let line = &lines(&mut finance, "2026-09").await[0];
    assert_eq!((&line["agreement"], &line["difference"]["amount"]), (&"differs".into(), &"-10.00".into()));
    assert_eq!(line["tax"]["amount"], "5");

    // The second paper of the month brings the rest.
    finance.submit(PAGE, PAGE, &invoice("1-USD", "A-2", "10")).await;
    let page = finance.get(PAGE).await.body;
    assert!(page.contains("Invoice A-2 entered. It matches the charges."), "{page}");
    let quarter = lines(&mut finance, "2026-Q3").await;
    assert_eq!(
        (&quarter[0]["agreement"], quarter[0]["invoices"].as_array().unwrap().len()),
        (&"agrees".into(), 2)
    );
    assert_eq!(quarter[1]["agreement"], "no-invoice");
    assert_eq!(quarter[0]["in_files"], quarter[0]["in_ledger"]);

    let csv = finance.get("/invoices/2026-09.csv").await.body;
    assert!(csv.contains("2026-09,NeoCloud,acme,USD,30.0049,30.0049,5,A-1 A-2,30"), "{csv}");

    // What was undone leaves its invoice to be seen, with nothing in the ledger for it.
    ledger.undo(1).await;
    let line = &lines(&mut finance, "2026-09").await[0];
    assert_eq!((&line["in_ledger"]["amount"], &line["agreement"]), (&"0".into(), &"differs".into()));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_invoice_without_tax_is_recognized(db: PgPool) {
    let (_ledger, mut finance) = app(db).await;
    finance.submit(PAGE, PAGE, &invoice("1-USD", "A-1", "25.00")).await;
    let page = finance.get(PAGE).await.body;
    assert!(page.contains("It matches the charges without tax.") && page.contains("Matches without tax"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_wrong_entry_comes_back_and_nothing_changes(db: PgPool) {
    let (_ledger, mut finance) = app(db).await;
    finance.submit(PAGE, PAGE, &invoice("1-USD", "A-1", "30.00")).await;
    for (fields, sentence) in [
        (invoice("9-USD", "A-2", "1"), "Choose an account and month"),
        (invoice("1-EUR", "A-2", "1"), "Choose an account and month"),
        (invoice("1-USD", " ", "1"), "Enter the invoice number."),
        (invoice("1-USD", "A-2", "1.204,10"), "Enter an amount without thousands separators"),
        (invoice("1-USD", "A-1", "7"), "This invoice number exists already."),
    ] {
        let answer = finance.submit(PAGE, PAGE, &fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{fields:?}");
        assert!(answer.body.contains(sentence), "{fields:?}: {}", answer.body);
        assert!(answer.body.contains(&format!("value=\"{}\"", fields[2].1)), "what was typed is kept");
    }
    let line = &lines(&mut finance, "2026-09").await[0];
    assert_eq!(line["invoiced"]["amount"], "30.00");

    for sentence in ["Invoice A-1 removed.", "Nothing changed: this invoice does not exist."] {
        let answer = finance.submit(PAGE, "/invoices/2026-09/remove", &[("invoice", "1")]).await;
        assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, PAGE));
        assert!(finance.get(PAGE).await.body.contains(sentence));
    }
}
