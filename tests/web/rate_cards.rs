//! Rate cards in the browser: unpriced usage, a rate that is entered and looked at before it is applied, corrected, undone.

use axum::body::Body;
use axum::http::StatusCode;
use gpuledger::accounts::Role;
use serde_json::Value;
use sqlx::PgPool;

use crate::support::app::{Answer, file_head, upload_of};
use crate::support::configuration::{rule, team, to_team, write};
use crate::support::json::{amount, decimal};
use crate::support::{TestApp, files, html, number};

/// CoreWeave's H100 on demand.
pub const ENTERED: [(&str, &str); 7] = [
    ("provider", "coreweave"),
    ("accelerator", "nvidia-h100-sxm"),
    ("pricing", "Standard"),
    ("unit", "GPU-hour"),
    ("price", "6.155"),
    ("currency", "USD"),
    ("valid_from", "2026-01-01"),
];
/// The same with another price.
pub const CORRECTED: [(&str, &str); 7] = [
    ("provider", "CoreWeave"),
    ("accelerator", "nvidia-h100-sxm"),
    ("pricing", "Standard"),
    ("unit", "GPU-hour"),
    ("price", "6"),
    ("currency", "USD"),
    ("valid_from", "2026-01-01"),
];
pub const FILE: &str = "provider,accelerator,pricing,unit,price,currency,valid_from\n\
    CoreWeave,H100,Committed,GPU-hour,2.49,USD,2026-01-01\n\
    CoreWeave,H900,Committed,GPU-hour,2.49,USD,2026-01-01\n";

/// Sends a file of rates.
pub async fn load(app: &mut TestApp, content: &str) -> Answer {
    let mut body = app.upload_head("/rate-cards/new").await;
    body.extend(file_head("rates.csv").bytes());
    body.extend(content.bytes());
    body.extend(b"\r\n--B--\r\n");
    app.send(upload_of("/rate-cards/file", Body::from(body))).await
}

fn usage() -> String {
    std::fs::read_to_string(files::fixture("exports/focus-usage/coreweave-1.2/input.csv")).unwrap()
}

async fn spend(app: &mut TestApp) -> Value {
    app.json("/spend/2026-09.json?by=provider").await
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn hours_without_cost_are_listed_priced_corrected_and_led_back(db: PgPool) {
    let app = TestApp::new(db);
    let mut db = app.db.acquire().await.unwrap();
    write(&mut db, vec![team("training"), rule(1, "region", "us-east-04", to_team("training"))]).await;
    drop(db);
    let mut finance = app.signed_in(Role::Finance).await;
    finance.import("coreweave.csv", usage()).await;
    let month = finance.get("/spend/2026-09").await.body;
    assert!(month.contains("Some usage has no price yet") && month.contains("202.0 GPU-hours"), "{month}");
    let before = spend(&mut finance).await;
    assert_eq!(before["unpriced"]["accelerator_hours"], "202");
    assert_eq!(before["accelerator_hours"], "0");
    let page = finance.get("/rate-cards").await.body;
    assert_eq!(html::texts(&page, "#unpriced tbody tr").len(), 5, "{page}");
    let link = html::attributes(&page, "#unpriced tbody a", "href").remove(0);
    let form = finance.get(&link).await.body;
    assert!(form.contains(r#"value="CoreWeave""#) && form.contains(r#"value="2026-09-03""#), "{form}");

    // One that is for nothing says why.
    for (field, value, why) in [
        ("currency", "EUR", "Unpriced usage of CoreWeave is billed in USD, and this rate is in EUR."),
        ("unit", "fortnight", "and this rate is per fortnight."),
    ] {
        let mut fields = ENTERED;
        fields.iter_mut().filter(|it| it.0 == field).for_each(|it| it.1 = value);
        let answer = finance.submit("/rate-cards/new", "/rate-cards/new", &fields).await;
        let preview = finance.get(answer.location()).await.body;
        assert!(html::text(&preview, "#impact").contains(why), "{preview}");
    }

    let answer = finance.submit("/rate-cards/new", "/rate-cards/new", &ENTERED).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let change = answer.location().to_owned();
    let preview = finance.get(&change).await.body;
    let rows = html::texts(&preview, "#impact tbody tr");
    assert!(rows[0].contains("September 2026") && rows[0].contains("393.92"), "{rows:?}");
    assert!(rows[1].contains("Training") && rows[1].contains("393.92"), "{rows:?}");
    assert_eq!(amount(&spend(&mut finance).await["total"]), number("0"), "nothing is applied yet");
    finance.submit(&change, &format!("{change}/apply"), &[]).await;
    finance.run_jobs().await;
    let after = spend(&mut finance).await;
    assert_eq!(amount(&after["total"]), number("393.92"));
    assert_eq!(
        (&after["accelerator_hours"], &after["unpriced"]["accelerator_hours"]),
        (&"64".into(), &"138".into())
    );

    // A charge says by which rate, or that there is none.
    let mut said = Vec::new();
    for row in 1..=5 {
        let charge = finance.json(&format!("/charges/2/0/{row}.json")).await;
        said.push(charge["priced_by"]["rates"].as_array().unwrap().len());
        let page = finance.get(&format!("/charges/2/0/{row}")).await.body;
        let expected = if said.ends_with(&[1]) { "6.155 USD per GPU-hour" } else { "is unpriced" };
        assert!(html::text(&page, "#priced-by").contains(expected), "{row}: {page}");
    }
    assert!(said.contains(&0) && said.contains(&1), "{said:?}");

    let list = finance.json("/rate-cards.json").await;
    let rate = format!("/rate-cards/{}", list["rates"][0]["id"]);
    let answer = finance.submit(&rate, &rate, &CORRECTED).await;
    let correction = answer.location().to_owned();
    finance
        .submit(&correction, &format!("{correction}/apply"), &[("reason", "The order form says 6.00.")])
        .await;
    finance.run_jobs().await;
    assert_eq!(amount(&spend(&mut finance).await["total"]), number("384"));
    finance.submit(&correction, &format!("{correction}/undo"), &[]).await;
    finance.run_jobs().await;
    assert_eq!(spend(&mut finance).await["total"], after["total"]);
    let events = finance.get("/changes?kind=rate-cards").await.body;
    assert!(events.contains("CoreWeave"), "{events}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn corrected_past_price_is_said_on_the_statement_of_a_final_month(db: PgPool) {
    let app = TestApp::new(db);
    let mut db = app.db.acquire().await.unwrap();
    write(&mut db, vec![team("training"), rule(1, "region", "us-east-04", to_team("training"))]).await;
    drop(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let change = finance.submit("/rate-cards/new", "/rate-cards/new", &ENTERED).await.location().to_owned();
    finance.submit(&change, &format!("{change}/apply"), &[]).await;
    let invoiced: Vec<String> = usage()
        .lines()
        .enumerate()
        .map(|(row, line)| format!("{line},{}\n", if row == 0 { "InvoiceId" } else { "INV-9" }))
        .collect();
    finance.import("coreweave.csv", invoiced.concat()).await;
    let statement = "/teams/training/2026-09/statement.json?cost=billed";
    let it = finance.json(statement).await;
    assert_eq!((&it["state"], &it["restated"]), (&"final".into(), &Value::Array(Vec::new())));
    let list = finance.json("/rate-cards.json").await;
    let rate = format!("/rate-cards/{}", list["rates"][0]["id"]);
    let correction = finance.submit(&rate, &rate, &CORRECTED).await.location().to_owned();
    let preview = finance.get(&correction).await.body;
    assert!(html::text(&preview, "#impact tbody").contains("final"), "{preview}");
    finance.submit(&correction, &format!("{correction}/apply"), &[]).await;
    finance.run_jobs().await;
    let described = finance.json(statement).await["restated"][0].clone();
    assert_eq!(
        ["was", "now", "difference"].map(|figure| decimal(&described[figure])),
        ["393.92", "384", "-9.92"].map(number)
    );
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_of_rates_is_looked_at_first_and_its_wrong_rows_are_said(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let answer = load(&mut finance, FILE).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let change = answer.location().to_owned();
    let page = finance.get(&change).await.body;
    let rejected = html::text(&page, "#report tbody");
    assert!(rejected.contains("accelerator") && rejected.contains("H900"), "{rejected}");
    finance.submit(&change, &format!("{change}/apply"), &[]).await;
    let csv = finance.get("/rate-cards.csv").await.body;
    assert_eq!(csv.lines().count(), 2, "{csv}");
    // What is downloaded is what is read.
    let again = load(&mut finance, &csv).await.location().to_owned();
    let report = html::text(&finance.get(&again).await.body, "#report");
    assert!(report.contains("1 unchanged"), "{report}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rates_that_overlap_or_end_before_they_begin_are_refused_with_what_was_typed(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let answer = finance.submit("/rate-cards/new", "/rate-cards/new", &ENTERED).await;
    let change = answer.location().to_owned();
    finance.submit(&change, &format!("{change}/apply"), &[]).await;
    let with = |changed: &[(&'static str, &'static str)]| -> Vec<(&'static str, &'static str)> {
        let is_changed = |name: &str| changed.iter().any(|it| it.0 == name);
        ENTERED.into_iter().filter(|it| !is_changed(it.0)).chain(changed.iter().copied()).collect()
    };
    for (fields, expected) in [
        (with(&[("price", "5")]), "overlaps"),
        (with(&[("price", "5"), ("valid_from", "2025-06-01")]), "overlaps"),
        (with(&[("valid_from", "2026-03-01"), ("valid_to", "2026-02-01")]), "before it begins"),
        (with(&[("price", "cheap")]), "Enter a number"),
        (with(&[("currency", "Euro")]), "Enter a currency"),
        (with(&[("unit", "")]), "Enter GPU-hour"),
    ] {
        let answer = finance.submit("/rate-cards/new", "/rate-cards/new", &fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{expected}");
        assert!(answer.body.contains(expected), "{expected}: {}", answer.body);
    }
    // The next price ends the one before.
    let next = with(&[("price", "5"), ("valid_from", "2026-10-01")]);
    let change = finance.submit("/rate-cards/new", "/rate-cards/new", &next).await.location().to_owned();
    let page = finance.get(&change).await.body;
    let rows = html::texts(&page, "#edits tbody tr");
    assert!(rows.iter().any(|row| row.contains("ends") && row.contains("Sep 30, 2026")), "{rows:?}");
}
