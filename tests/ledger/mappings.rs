//! Files that are read by mappings, in the ledger: kept, checked, undone and loaded again as any other.

use gpuledger::accounts::Role;
use gpuledger::audit::Actor;
use gpuledger::billing::ReadAs;
use gpuledger::billing::mapping::Mapping;
use gpuledger::ledger::{self, Repriced, Sha256, original_row, read_as, save_mapping};
use sqlx::PgPool;
use std::sync::Arc;

use super::rate_cards::{add, hours, price};
use crate::support::{TestApp, TestLedger, files, html, now, number};

const GERMAN: &str = include_str!("../fixtures/invoices/rechnung.toml");

/// A file of hours without cost.
const HOURS: &str = include_str!("../fixtures/invoices/gpu-hours.toml");

async fn save(ledger: &TestLedger, text: &str) -> Option<i32> {
    let mut db = ledger.db.acquire().await.unwrap();
    let by = Actor::person("ada@example.org", "test");
    save_mapping(&mut db, &Mapping::parse(text).unwrap(), by.at(now())).await.unwrap()
}

fn invoice() -> String {
    std::fs::read_to_string(files::fixture("invoices/rechnung.csv")).unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_is_recognized_by_a_saved_mapping(db: PgPool) {
    let ledger = TestLedger::new(db);
    let before = ledger.deliver("rechnung.csv", invoice()).await;
    assert_eq!(before.status.as_str(), "refused");
    assert_eq!(save(&ledger, GERMAN).await, Some(1));
    let report = ledger.deliver("rechnung.csv", invoice()).await;
    assert_eq!((report.status.as_str(), report.format.as_deref()), ("loaded", Some("rechenzentrum@1")));
    assert_eq!((report.rows_read, report.charges, report.skipped, report.rejected), (6, 3, 3, 0));
    assert_eq!(ledger.billed("2026", "2026-09").await, number("15154.50"));
    ledger.assert_balanced().await;
    // The next month replaces nothing, and a correction of the first takes its place.
    let october = invoice().replace(".09.2026", ".10.2026");
    assert_eq!(ledger.deliver("oktober.csv", october).await.status.as_str(), "loaded");
    let corrected = invoice().replace("-480,00", "-500,00").replace("15.154,50", "15.134,50");
    assert_eq!(ledger.deliver("neu.csv", corrected).await.status.as_str(), "loaded");
    assert_eq!(ledger.billed("2026", "2026-09").await, number("15134.50"));
    ledger.undo(report.delivery.unwrap() + 2).await;
    assert_eq!(ledger.billed("2026", "2026-09").await, number("15154.50"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_was_imported_is_read_again_by_the_version_it_was_imported_by(db: PgPool) {
    let ledger = TestLedger::new(db);
    save(&ledger, GERMAN).await;
    let report = ledger.deliver("rechnung.csv", invoice()).await;
    // The next version reads amounts as another cost would be: what is kept is not touched by it.
    let next = GERMAN.replace("Rechenzentrum Nord", "Rechenzentrum Süd");
    assert_eq!(save(&ledger, &next).await, Some(2));
    assert_eq!(save(&ledger, &next).await, None, "it is the same");
    ledger.assert_balanced().await;
    let mut db = ledger.db.acquire().await.unwrap();
    let by = Actor::person("ada@example.org", "test");
    assert!(ledger::remove_mapping(&mut db, "rechenzentrum", by.at(now())).await.unwrap());
    assert!(!ledger::remove_mapping(&mut db, "rechenzentrum", by.at(now())).await.unwrap());
    ledger.assert_balanced().await;
    let other = ledger.deliver("oktober.csv", invoice().replace(".09.2026", ".10.2026")).await;
    assert_eq!(other.status.as_str(), "refused", "no further file is recognized by it");
    let sha256: Vec<u8> = sqlx::query_scalar("select sha256 from delivery_files where delivery_id = $1")
        .bind(report.delivery.unwrap())
        .fetch_one(&mut *db)
        .await
        .unwrap();
    let sha256 = Sha256::try_from(sha256).unwrap();
    let read = read_as(&mut db, report.format.as_deref()).await.unwrap();
    let row = original_row(&ledger.originals, &sha256, 2, &read, Vec::new(), Arc::default()).unwrap();
    let columns: Vec<_> =
        row.columns.iter().map(|it| (it.name.as_str(), it.value.as_str(), it.feeds)).collect();
    assert_eq!(columns[4], ("Betrag", "1.234,50 €", Some("BilledCost, EffectiveCost")));
    assert_eq!(row.charges.len(), 1);
    assert!(original_row(&ledger.originals, &sha256, 2, &ReadAs::any(), Vec::new(), Arc::default()).is_err());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rejected_rows_of_a_mapped_file_can_be_corrected(db: PgPool) {
    let ledger = TestLedger::new(db);
    save(&ledger, GERMAN).await;
    let wrong = invoice().replace("-480,00 €", "minus 480");
    let report = ledger.deliver("rechnung.csv", wrong).await;
    assert_eq!((report.status.as_str(), report.rejected), ("loaded", 1));
    let delivery = report.delivery.unwrap();
    let corrected = format!(
        "Datum,Leistung,Menge,Einheit,Betrag,Kostenstelle,gpuledger/Row\n\
         15.09.2026,Gutschrift Ausfall 12.09.,,,\"-480,00 €\",4711,delivery-{delivery}/file-0/row-3\n"
    );
    let report = ledger.deliver("corrected.csv", corrected).await;
    assert_eq!(report.status.as_str(), "loaded", "{:?}", report.message);
    assert_eq!(ledger.billed("2026", "2026-09").await, number("15154.50"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn invoice_whose_own_total_is_wrong_waits_for_review(db: PgPool) {
    let ledger = TestLedger::new(db);
    save(&ledger, GERMAN).await;
    let mut app = TestApp::of(&ledger).signed_in(Role::Finance).await;
    app.import("september.csv", invoice()).await;
    assert_eq!(app.json("/imports/1.json").await["status"], "loaded");
    let october = invoice().replace(".09.2026", ".10.2026");
    app.import("oktober.csv", october.replace("15.154,50", "15.454,50")).await;
    assert_eq!(app.json("/imports/2.json").await["status"], "waiting");
    let page = app.get("/imports/2").await.body;
    let said = html::text(&page, "main");
    assert!(said.contains("total is 15454.50, its rows sum to 15154.50: 300.00 less."), "{said}");
    assert_eq!(html::texts(&page, ".choices button"), ["Publish", "Discard"]);
    assert_eq!(ledger.billed("2026", "2026-10").await, number("0"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn stored_mapping_that_cannot_be_read_stops_no_import_by_others(db: PgPool) {
    let ledger = TestLedger::new(db);
    save(&ledger, GERMAN).await;
    for (name, version, month) in [("broken", 1, ".09.2026"), ("rechenzentrum", 2, ".08.2026")] {
        let report = ledger.deliver("rechnung.csv", invoice().replace(".09.2026", month)).await;
        assert_eq!(report.format.as_deref(), Some("rechenzentrum@1"), "before {name}");
        sqlx::query(
            "insert into mappings (name, version, document, saved_at, saved_by) values ($1, $2, 'name = 5', now(), 'ada')",
        )
        .bind(name)
        .bind(version)
        .execute(&ledger.db)
        .await
        .unwrap();
    }
    let october = invoice().replace(".09.2026", ".10.2026");
    let report = ledger.deliver("oktober.csv", october).await;
    assert_eq!(report.status.as_str(), "refused", "no older version takes the place of the newest");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn credit_without_a_minus_sign_is_taken_off_and_balanced(db: PgPool) {
    let ledger = TestLedger::new(db);
    save(&ledger, include_str!("../fixtures/invoices/reseller.toml")).await;
    let invoice = std::fs::read_to_string(files::fixture("invoices/reseller.csv")).unwrap();
    let report = ledger.deliver("reseller.csv", invoice.replace("(1487.52)", "1487.52")).await;
    assert_eq!((report.status.as_str(), report.rejected), ("loaded", 0));
    assert_eq!(ledger.billed("acme-ml", "2026-09").await, number("30594.57"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_of_a_built_in_mapping_is_read_again_by_it(db: PgPool) {
    let ledger = TestLedger::new(db);
    let invoice = std::fs::read_to_string(files::fixture("invoices/lambda-template.csv")).unwrap();
    let report = ledger.deliver("lambda.csv", invoice).await;
    assert_eq!((report.status.as_str(), report.format.as_deref()), ("loaded", Some("lambda")));
    assert_eq!(ledger.billed("default", "2026-09").await, number("5276.47"));
    assert_eq!(ledger.billed("default", "2026-10").await, number("9.72"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_whose_columns_two_mappings_know_is_refused_with_both_names(db: PgPool) {
    let ledger = TestLedger::new(db);
    save(&ledger, GERMAN).await;
    let other = GERMAN.replace("name = \"rechenzentrum\"", "name = \"anderer\"");
    assert_ne!(other, GERMAN);
    assert_eq!(save(&ledger, &other).await, Some(1));
    let report = ledger.deliver("rechnung.csv", invoice()).await;
    assert_eq!(report.status.as_str(), "refused");
    let message = report.message.unwrap();
    assert!(message.contains("rechenzentrum@1") && message.contains("anderer@1"), "{message}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn hours_of_a_mapped_file_without_cost_are_unpriced_until_a_rate_covers_them(db: PgPool) {
    let ledger = TestLedger::new(db);
    save(&ledger, HOURS).await;
    let file = std::fs::read_to_string(files::fixture("invoices/gpu-hours.csv")).unwrap();
    let report = ledger.deliver("hours.csv", file).await;
    assert_eq!((report.status.as_str(), report.format.as_deref()), ("loaded", Some("gpu-hours@1")));
    assert_eq!((report.rows_read, report.charges, report.skipped, report.rejected), (5, 4, 1, 0));
    assert_eq!(ledger.billed("contract-7", "2026-09").await, number("0"));
    assert_eq!(hours(&ledger).await, (number("0"), number("2560.5")));
    ledger.assert_balanced().await;

    // What is priced again is read by the version that it was imported by.
    save(&ledger, &HOURS.replace("contract-7", "contract-8")).await;
    add(&ledger, &["GPU Reseller,H100,,,GPU-hour,,2,USD,2026-01-01,"]).await;
    assert!(matches!(*price(&ledger).await, [Repriced::As { .. }]));
    // (1440 + 720.5) × 2, and no rate for the A100s.
    assert_eq!(ledger.billed("contract-7", "2026-09").await, number("4321"));
    assert_eq!(ledger.billed("contract-7", "2026-10").await, number("200"));
    assert_eq!(hours(&ledger).await, (number("2260.5"), number("300")));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn each_part_of_a_week_over_two_months_is_priced_and_balanced(db: PgPool) {
    let ledger = TestLedger::new(db);
    let weeks = HOURS
        .replace("start = \"Month\"", "start = \"Month\"\nlength = \"week\"\nspread = true")
        .replace("[file]", "[file]\nstates = \"part\"");
    save(&ledger, &weeks).await;
    let lines = [
        "GPU Reseller,H100,,,GPU-hour,,2,USD,2026-01-01,",
        "GPU Reseller,H100,,,GPU-hour,50,1.5,USD,2026-01-01,",
    ];
    add(&ledger, &lines).await;
    let file = "Month,Cluster,Team,GPU,GPU-hours\n\
                2026-09-28,north,vision,H100,168\n\
                2026-09-28,north,vision,A100 80GB,7\n";
    let report = ledger.deliver("week.csv", file.to_owned()).await;
    assert_eq!((report.status.as_str(), report.charges), ("loaded", 4));
    // 72 hours in September and 96 in October: 50 at 2 a month, the others at 1.5.
    assert_eq!(ledger.billed("contract-7", "2026-09").await, number("133"));
    assert_eq!(ledger.billed("contract-7", "2026-10").await, number("169"));
    assert_eq!(hours(&ledger).await, (number("168"), number("7")));
    ledger.assert_balanced().await;
}
