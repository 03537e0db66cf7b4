//! Files are kept as they arrived, and any row of them opens.

use std::io::{Read, Write};

use gpuledger::ledger::Sha256;
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

    let columns = ledger.originals.row(&sha256, 17).unwrap();
    let billed = columns.iter().find(|(name, _)| name == "BilledCost").unwrap();
    assert_eq!(billed.1, "17.25");
}
