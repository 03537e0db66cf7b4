//! An import that someone cancels while it runs.

use std::fs::File;
use std::io::BufWriter;

use gpuledger::audit::Actor;
use gpuledger::generate::{self, Format, Plan};
use gpuledger::jobs::{self, Cancelled, Inbox};
use gpuledger::ledger::{self, Import, LookIn, Progress, Source, Status, WhenUnsure, gather};
use sqlx::{Connection as _, PgPool};
use uuid::Uuid;

use crate::support::{Focus, TestLedger, now};

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_stops_and_leaves_nothing(db: PgPool) {
    let ledger = TestLedger::new(db);
    let small = ledger.file("small.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision"));
    let large = ledger.folder.path().join("large.csv");
    let plan = Plan::new(Format::AwsCur, 60_000, "2026-09".parse().unwrap(), 3);
    generate::write(&plan, &mut BufWriter::new(File::create(&large).unwrap())).unwrap();

    let files = [&small, &large, &small];
    let files = files.map(|path| Source::new(path.display().to_string(), path));
    let progress = Progress::default();
    let import = Import {
        deliveries: gather(files.into(), LookIn::Given),
        read_as: gpuledger::billing::ReadAs::any(),
        labels: Vec::new(),
        decision: None,
        reason: None,
        when_unsure: WhenUnsure::Wait,
        batch_id: Uuid::new_v4(),
        by: "test",
        submitted_at: now(),
        now: now(),
        progress: progress.clone(),
    };
    // When some of the large file has been read.
    let cancelling = async {
        while progress.rows() < 2_000 {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        progress.cancel("ada@example.org");
    };
    let (reports, ()) = tokio::join!(ledger::import(&ledger.db, &ledger.originals, import), cancelling);
    let reports = reports.unwrap();
    assert_eq!(reports.iter().map(|report| report.status).collect::<Vec<_>>(), [Status::Cancelled; 3]);
    assert!(reports[1].message.as_ref().unwrap().contains("Canceled by ada@example.org"));
    assert!(progress.rows() < 60_000, "it was read to the end");

    for table in
        ["charges", "monthly_costs", "daily_costs", "delivery_scopes", "delivery_totals", "ledger_log"]
    {
        let sql = format!("select count(*) from {table}");
        let rows: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(&ledger.db).await.unwrap();
        assert_eq!(rows, 0, "{table}");
    }
    ledger.assert_balanced().await;

    // The small file had been kept by then. Nobody refers to it.
    assert_eq!(ledger.originals.every_file().unwrap(), Vec::<std::path::PathBuf>::new());
    let report =
        ledger.deliver("small.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision")).await;
    assert_eq!(report.status, Status::Loaded);
    // A whole file stays, whoever refers to it.
    let mut db = ledger.db.acquire().await.unwrap();
    assert_eq!(ledger::remove_orphans(&mut db, &ledger.originals).await.unwrap(), Some(0));
    assert_eq!(ledger::remove_unfinished(&mut db, &ledger.originals).await.unwrap(), Some(0));
    drop(db);
    ledger.assert_balanced().await;
}

/// What cancels may still fail: then the job is as it was, and needs its files.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_cancellation_that_is_rolled_back_leaves_the_files_of_the_upload(db: PgPool) {
    let folder = tempfile::tempdir().unwrap();
    let by = Actor::command_line(Some("test"));
    let mut arriving = Inbox::new(folder.path()).open(Uuid::new_v4()).unwrap();
    let batch = arriving.batch_id;
    let mut file = arriving.file("a.csv").unwrap();
    file.write(b"a bill").await.unwrap();
    file.finish().await.unwrap();
    let mut db = db.acquire().await.unwrap();
    arriving.enqueue(&mut db, by.at(now())).await.unwrap();
    let files = || std::fs::read_dir(folder.path().join("incoming")).unwrap().count();

    let mut tx = db.begin().await.unwrap();
    let cancelled = jobs::cancel(&mut tx, batch, "ada", now()).await.unwrap();
    assert!(matches!(cancelled, Cancelled::Now(_)));
    tx.rollback().await.unwrap();
    assert_eq!(files(), 1, "the job is in the queue still");

    let mut tx = db.begin().await.unwrap();
    let Cancelled::Now(leftover) = jobs::cancel(&mut tx, batch, "ada", now()).await.unwrap() else {
        panic!("it had not begun")
    };
    tx.commit().await.unwrap();
    assert_eq!(files(), 1);
    leftover.remove();
    assert_eq!(files(), 0);
}
