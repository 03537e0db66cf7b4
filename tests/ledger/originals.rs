//! Files are kept as they arrived, and any row of them opens.

use std::io::Read;
use std::sync::Arc;

use gpuledger::billing::ReadAs;
use gpuledger::ledger::{self, Sha256, original_row};
use sqlx::PgPool;

use crate::support::files::gzip;
use crate::support::{Focus, TestLedger};

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_packed_file_is_kept_packed_and_its_rows_open(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut file = Focus::new();
    for day in 1..=30 {
        file = file.hour("acme", "s1", &format!("2026-09-{day:02}T10"), &format!("{day}.25"), "vision");
    }
    let packed = gzip(file.as_ref());
    let report = ledger.deliver("month.csv.gz", &packed).await;
    let sha256: Sha256 = report.files[0].sha256.unwrap();

    let mut kept = Vec::new();
    ledger.originals.received(&sha256).unwrap().read_to_end(&mut kept).unwrap();
    assert_eq!(kept, packed);

    let row = original_row(
        &ledger.originals,
        &sha256,
        17,
        &ReadAs::named(Some("focus")),
        Vec::new(),
        Arc::default(),
    )
    .unwrap();
    let billed = row.columns.iter().find(|column| column.name == "BilledCost").unwrap();
    assert_eq!((billed.value.as_str(), billed.feeds), ("17.25", Some("BilledCost")));
    let stored: uuid::Uuid = sqlx::query_scalar("select charge_key_id from charges where row_no = 17")
        .fetch_one(&ledger.db)
        .await
        .unwrap();
    assert_eq!(row.charges.iter().map(|charge| charge.key).collect::<Vec<_>>(), [stored]);
    assert!(
        original_row(
            &ledger.originals,
            &sha256,
            31,
            &ReadAs::named(Some("focus")),
            Vec::new(),
            Arc::default()
        )
        .is_err()
    );
}

/// What does not hold of the kept files.
async fn missing(ledger: &TestLedger) -> Vec<String> {
    let mut db = ledger.db.acquire().await.unwrap();
    let equations = ledger::check_kept(&mut db, &ledger.originals).await.unwrap();
    let broken = equations.into_iter().filter(|equation| !equation.holds);
    broken.map(|it| format!("{} [{}]: {} {}", it.name, it.of, it.left, it.right)).collect()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_kept_file_that_is_missing_or_cut_off_is_found_without_reading_it(db: PgPool) {
    let ledger = TestLedger::new(db);
    let month = Focus::new().hour("acme", "s1", "2026-09-05T10", "1.25", "vision");
    let plain = ledger.deliver("plain.csv", &month).await.files[0].sha256.unwrap();
    let other = Focus::new().hour("other", "s1", "2026-09-05T10", "1.25", "vision");
    let packed = ledger.deliver("packed.csv.gz", gzip(other.as_ref())).await.files[0].sha256.unwrap();
    assert_eq!(missing(&ledger).await, Vec::<String>::new());

    let path = |sha256: &Sha256, end: &str| {
        let hex = sha256.to_string();
        ledger.originals.folder().join(&hex[..2]).join(format!("{hex}.{end}"))
    };
    for (file, name) in [
        (path(&plain, "zst"), "plain.csv"),
        (path(&plain, "index.json"), "plain.csv"),
        (path(&packed, "received"), "packed.csv.gz"),
    ] {
        let whole = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let found = missing(&ledger).await;
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], "kept files = files that are there [the data folder]: 2 1");
        assert!(found[1].contains(name) && found[1].contains("is missing"), "{found:?}");
        std::fs::write(&file, &whole).unwrap();
        if file.extension().is_some_and(|end| end == "zst") {
            std::fs::write(&file, &whole[..whole.len() - 1]).unwrap();
            assert_eq!(missing(&ledger).await.len(), 2, "{file:?}");
            std::fs::write(&file, &whole).unwrap();
        }
    }
    let received = path(&packed, "received");
    std::fs::write(&received, "cut").unwrap();
    let found = missing(&ledger).await;
    assert!(found[1].contains("another length"), "{found:?}");
}
