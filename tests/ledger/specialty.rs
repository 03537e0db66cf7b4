//! Answers and invoices of specialty clouds in the ledger: what states the same money counts once, what adds up is added.

use gpuledger::ledger::{Decision, publish};
use sqlx::PgPool;

use crate::support::{TestLedger, files, now, number};

fn pods(by: &str, id: &str, amount: &str) -> String {
    format!(
        r#"[{{"time": "2026-09-03T00:00:00Z", "amount": {amount}, "timeBilledMs": 3600000, "{by}": "{id}"}}]"#
    )
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn two_groupings_of_the_same_pods_count_once_and_other_products_are_added(db: PgPool) {
    let ledger = TestLedger::new(db);
    let first = ledger.deliver("by-gpu.json", pods("gpuTypeId", "NVIDIA H100 80GB HBM3", "2.69")).await;
    assert_eq!((first.status.as_str(), first.format.as_deref()), ("loaded", Some("runpod-billing")));
    assert_eq!(ledger.billed("default", "2026-09").await, number("2.69"));
    // The same dollars by pod.
    let second = ledger.deliver("by-pod.json", pods("podId", "abc", "2.69")).await;
    if second.status.as_str() == "waiting" {
        let mut db = ledger.db.acquire().await.unwrap();
        let delivery = second.delivery.unwrap();
        publish(&mut db, delivery, Some(Decision::Replace), None, "test", now()).await.unwrap();
    }
    assert_eq!(ledger.billed("default", "2026-09").await, number("2.69"));
    let endpoints = ledger.deliver("endpoints.json", pods("endpointId", "e1", "1.31")).await;
    assert_eq!(endpoints.status.as_str(), "loaded", "{:?}", endpoints.message);
    assert_eq!(ledger.billed("default", "2026-09").await, number("4.00"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_invoice_in_two_forms_counts_once(db: PgPool) {
    let ledger = TestLedger::new(db);
    let csv = "product,group_description,description,hours,start,end,USD,project_name,category\n\
               Droplets,,train (gpu-h100x8-640gb),24,2026-09-01 00:00:00 +0000,2026-09-02 00:00:00 +0000,$575.04,vision,iaas\n";
    let json = r#"{"invoice_items": [{"product": "Droplets", "group_description": "", "description": "train (gpu-h100x8-640gb)",
        "amount": "575.04", "duration": "24", "duration_unit": "Hours", "start_time": "2026-09-01T00:00:00Z",
        "end_time": "2026-09-02T00:00:00Z", "project_name": "vision"}], "meta": {"total": 1}}"#;
    for (name, content) in [("invoice.csv", csv), ("invoice.json", json)] {
        let report = ledger.deliver(name, content).await;
        assert_eq!(report.status.as_str(), "loaded", "{name}: {:?}", report.message);
        assert_eq!(ledger.billed("default", "2026-09").await, number("575.04"), "{name}");
    }
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn originals_of_every_specialty_cloud_say_what_the_ledger_holds(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut read = 0;
    for path in files::our_exports() {
        let format =
            path.parent().unwrap().parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let is_specialty = ["runpod", "vast", "modal", "digitalocean", "crusoe", "hyperstack", "fireworks"];
        if !is_specialty.iter().any(|prefix| format.starts_with(prefix)) {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let report = ledger.deliver(&name, std::fs::read(&path).unwrap()).await;
        let is_fine = ["loaded", "waiting"].contains(&report.status.as_str());
        assert!(
            is_fine || path.to_string_lossy().contains("gone-wrong"),
            "{}: {:?}",
            path.display(),
            report.message
        );
        read += 1;
    }
    assert!(read >= 10, "{read} fixtures");
    ledger.assert_balanced().await;
}
