//! The questions pages ask.

use std::fs::File;
use std::io::BufWriter;

use gpuledger::generate::{self, Format, Plan};
use gpuledger::ledger::{Decision, WhenUnsure};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger};

mod answers;
mod changes;
mod charges;
mod commitments;
mod currencies;
mod prepare;
mod resources;
mod variance;

/// August and September of a bill with something of everything, and an addition.
async fn two_months(db: PgPool, more: &Focus) -> TestLedger {
    let ledger = TestLedger::new(db);
    for month in ["2026-08", "2026-09"] {
        let file = ledger.folder.path().join(format!("{month}.csv"));
        let plan = Plan::of_fleet(Format::AwsCur, 6_000, month.parse().unwrap(), 11);
        generate::write(&plan, &mut BufWriter::new(File::create(&file).unwrap())).unwrap();
        ledger.import(&[file], None, WhenUnsure::Wait).await;
    }
    let path = ledger.file("more.csv", more);
    ledger.import(&[path], Some(Decision::Add), WhenUnsure::Wait).await;
    ledger
}
