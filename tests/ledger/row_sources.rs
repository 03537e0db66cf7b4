//! A month in every container: it is the same month, its rows open, and what was rejected can be corrected.

use std::sync::Arc;

use gpuledger::billing::ReadAs;
use gpuledger::ledger::{Sha256, Status, original_row};
use gpuledger::money::Decimal;
use parquet::basic::Compression;
use sqlx::PgPool;

use crate::support::{Focus, TestLedger, containers};

/// 2,160 hours, of which the last has no amount.
fn month() -> (Focus, Decimal) {
    let (mut file, mut total) = (Focus::new(), Decimal::ZERO);
    for hour in 0..2160u32 {
        let at = format!("2026-09-{:02}T{:02}", 1 + hour / 24 % 30, hour % 24);
        let cost = if hour == 2159 { "seven".to_owned() } else { format!("{}.25", hour % 7) };
        file = file.hour("acme", &format!("s{}", hour / 720), &at, &cost, "vision");
        total += cost.parse().unwrap_or_default();
    }
    (file, total)
}

fn in_every_container(file: &Focus) -> [(&'static str, Vec<u8>); 4] {
    let objects = containers::objects(file.as_ref()).unwrap();
    [
        ("month.csv", file.as_ref().to_vec()),
        ("month.jsonl", containers::lines(&objects).into_bytes()),
        ("month.json", containers::list(&objects).into_bytes()),
        ("month.parquet", containers::parquet(&objects, Compression::SNAPPY)),
    ]
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_month_is_the_same_in_every_container(db: PgPool) {
    let ledger = TestLedger::new(db);
    let (file, total) = month();
    for (name, content) in in_every_container(&file) {
        let report = ledger.deliver(name, content).await;
        assert_eq!(report.status, Status::Loaded, "{name}: {:?}", report.message);
        assert_eq!((report.rows_read, report.charges, report.rejected), (2160, 2159, 1), "{name}");
        let rejection = &report.rejections[0];
        assert_eq!(
            (rejection.row, rejection.column.as_str(), rejection.found.as_str()),
            (2160, "BilledCost", "“seven”")
        );
        // Each replaces the one before: nothing counts twice, and nothing is lost.
        assert_eq!(ledger.billed("acme", "2026-09").await, total, "{name}");

        let sha256: Sha256 = report.files[0].sha256.unwrap();
        for row in [1, 2, 1024, 1025, 2160] {
            let opened = original_row(
                &ledger.originals,
                &sha256,
                row,
                &ReadAs::named(Some("focus")),
                Vec::new(),
                Arc::default(),
            )
            .unwrap();
            let value = |name: &str| &opened.columns.iter().find(|column| column.name == name).unwrap().value;
            let hour = row - 1;
            let at = format!("2026-09-{:02}T{:02}:00:00Z", 1 + hour / 24 % 30, hour % 24);
            assert_eq!(
                (value("ChargePeriodStart"), value("ResourceId")),
                (&at, &format!("node-s{}", hour / 720)),
                "{name}, row {row}"
            );
            assert_eq!(!opened.charges.is_empty(), row < 2160, "{name}, row {row}");
        }
        assert!(
            original_row(
                &ledger.originals,
                &sha256,
                2161,
                &ReadAs::named(Some("focus")),
                Vec::new(),
                Arc::default()
            )
            .is_err(),
            "{name}"
        );
    }
    ledger.assert_balanced().await;
    ledger.undo(4).await;
    assert_eq!(ledger.billed("acme", "2026-09").await, total);
}
