//! Files are kept as they arrived, and any row of them opens.

use std::io::{Read, Write};

use gpuledger::ledger::{Sha256, original_row};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger};

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_packed_file_is_kept_packed_and_its_rows_open(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut file = Focus::new();
    for day in 1..=30 {
        file = file.hour("acme", "s1", &format!("2026-09-{day:02}T10"), &format!("{day}.25"), "vision");
    }
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(file.as_ref()).unwrap();
    let packed = packer.finish().unwrap();
    let report = ledger.deliver("month.csv.gz", &packed).await;
    let sha256: Sha256 = report.files[0].sha256.unwrap();

    let mut kept = Vec::new();
    ledger.originals.received(&sha256).unwrap().read_to_end(&mut kept).unwrap();
    assert_eq!(kept, packed);

    let row = original_row(&ledger.originals, &sha256, 17, Some("focus"), Vec::new()).unwrap();
    let billed = row.columns.iter().find(|column| column.name == "BilledCost").unwrap();
    assert_eq!((billed.value.as_str(), billed.feeds), ("17.25", Some("BilledCost")));
    let stored: uuid::Uuid = sqlx::query_scalar("select charge_key_id from charges where row_no = 17")
        .fetch_one(&ledger.db)
        .await
        .unwrap();
    assert_eq!(row.charge_key, Some(stored));
    assert!(original_row(&ledger.originals, &sha256, 31, Some("focus"), Vec::new()).is_err());
}
