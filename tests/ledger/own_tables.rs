//! A large import has tables of charges of its own; small ones share that of their month.

use gpuledger::ledger::{self, Decision, Ended, Status, WhenUnsure};
use sqlx::{Acquire as _, PgPool};

use crate::support::{Focus, TestLedger, number};

/// A bill of two months, as large as it takes, each with this many rows.
fn large(rows: usize, cost: &str) -> Focus {
    let hour = |bill: Focus, month: &str, row: usize| {
        let at = format!("2026-{month}-{:02}T{:02}", row / 24 % 28 + 1, row % 24);
        bill.hour("acme", &format!("s{}", row % 7), &at, cost, "vision")
    };
    (0..rows).fold(Focus::new(), |bill, row| hour(hour(bill, "08", row), "09", row))
}

/// The tables that hold charges, with how many.
async fn tables(db: &PgPool) -> Vec<(String, i64)> {
    let tables = "select relname, 0::bigint
                  from pg_class
                  where relkind = 'r' and starts_with(relname, 'charges_') order by 1";
    let mut tables: Vec<(String, i64)> = sqlx::query_as(tables).fetch_all(db).await.unwrap();
    for (table, rows) in &mut tables {
        let count = sqlx::AssertSqlSafe(format!("select count(*) from {table}"));
        *rows = sqlx::query_scalar(count).fetch_one(db).await.unwrap();
    }
    tables
}

/// The own tables of an import: what of, and how many months have one.
async fn own(db: &PgPool, delivery: i64) -> Vec<(String, i64)> {
    let own = "select split_part(relname, '_of_', 1), count(*)
               from pg_class
               where relkind = 'r' and relname ~ ('_of_' || $1 || '_[0-9]{4}_[0-9]{2}$') group by 1 order by 1";
    sqlx::query_as(own).bind(delivery).fetch_all(db).await.unwrap()
}

fn named(tables: &[(&str, i64)]) -> Vec<(String, i64)> {
    tables.iter().map(|(name, rows)| ((*name).to_owned(), *rows)).collect()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn large_import_fills_tables_of_its_own_and_counts_like_any_other(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("small.csv", large(1, "1")).await;
    let report = ledger.deliver("large.csv", large(10_000, "1.5")).await;
    assert_eq!((report.status, report.delivery), (Status::Loaded, Some(2)), "{:?}", report.message);
    let expected = named(&[
        ("charges_2026_08", 1),
        ("charges_2026_09", 1),
        ("charges_of_2_2026_08", 10_000),
        ("charges_of_2_2026_09", 10_000),
    ]);
    assert_eq!(tables(&ledger.db).await, expected);
    let kinds = named(&[("charges", 2), ("daily_costs", 2), ("daily_resources", 2), ("monthly_costs", 2)]);
    assert_eq!(own(&ledger.db, 2).await, kinds);
    let shared = "select count(*) from monthly_costs where delivery_id = 2 and tableoid in
                  ('monthly_costs_2026_08'::regclass, 'monthly_costs_2026_09'::regclass)";
    assert_eq!(sqlx::query_scalar::<_, i64>(shared).fetch_one(&ledger.db).await.unwrap(), 0);
    assert_eq!(ledger.billed("acme", "2026-09").await, number("15000"));
    ledger.assert_balanced().await;

    // What asks about one delivery looks into no table of another.
    let plan: Vec<String> = sqlx::query_scalar(
        "explain select from charges where billing_month = '2026-09-01' and delivery_id = 1",
    )
    .fetch_all(&ledger.db)
    .await
    .unwrap();
    let plan = plan.join("\n");
    assert!(plan.contains("charges_2026_09") && !plan.contains("charges_of_2"), "{plan}");

    // The index comes afterwards, once; whoever reads charges goes on.
    let mut db = ledger.db.acquire().await.unwrap();
    let mut reader = ledger.db.acquire().await.unwrap();
    let mut reader = reader.begin().await.unwrap();
    let by_row = "explain select from charges where billing_month = '2026-09-01' and delivery_id = 2
                  and charge_key_id = '00000000-0000-0000-0000-000000000001' and file_no = 0 and row_no = 1";
    for (plan, is_indexed) in [("Seq Scan", 0), ("Index", 6), ("Index", 6)] {
        let read: Vec<String> = sqlx::query_scalar(by_row).fetch_all(&mut *reader).await.unwrap();
        assert!(read.concat().contains(plan), "{read:?}");
        // Of charges, and of their sums by key, in two months.
        let indexes = "select count(*) from pg_index i join pg_class c on c.oid = i.indrelid
                       where i.indisunique and c.relname ~ '^(charges|monthly_costs|daily_costs)_of_2_'";
        assert_eq!(sqlx::query_scalar::<_, i64>(indexes).fetch_one(&ledger.db).await.unwrap(), is_indexed);
        ledger::index_keys(&mut db).await.unwrap();
    }
    reader.rollback().await.unwrap();

    ledger.undo(2).await;
    assert_eq!(ledger.billed("acme", "2026-09").await, number("1"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn tables_of_a_discarded_import_are_removed_when_nobody_reads_charges(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("small.csv", large(2, "1")).await;
    let [a, b] = ["1", "2"].map(|cost| ledger.file(&format!("{cost}.csv"), large(10_000, cost)));
    let reports = ledger.import(&[a, b], None, WhenUnsure::Wait).await;
    assert_eq!(reports.iter().map(|it| it.status).collect::<Vec<_>>(), [Status::Waiting; 2]);
    let mut db = ledger.db.acquire().await.unwrap();
    let mut reader = ledger.db.acquire().await.unwrap();
    let mut reader = reader.begin().await.unwrap();
    let read: i64 = sqlx::query_scalar("select count(*) from charges where delivery_id = 1")
        .fetch_one(&mut *reader)
        .await
        .unwrap();
    assert_eq!(read, 4);

    assert!(ledger::discard(&mut db, 2, Ended::Discarded, "not this one").await.unwrap());
    ledger::remove_discarded(&mut db).await;
    let shared = [("charges_2026_08", 2), ("charges_2026_09", 2)];
    let other = [("charges_of_3_2026_08", 10_000), ("charges_of_3_2026_09", 10_000)];
    let discarded = [("charges_of_2_2026_08", 10_000), ("charges_of_2_2026_09", 10_000)];
    assert_eq!(tables(&ledger.db).await, named(&[shared, discarded, other].concat()), "somebody reads");
    ledger.assert_balanced().await;
    reader.rollback().await.unwrap();
    // Two at once.
    let mut second = ledger.db.acquire().await.unwrap();
    tokio::join!(ledger::remove_discarded(&mut db), ledger::remove_discarded(&mut second));
    assert_eq!(tables(&ledger.db).await, named(&[shared, other].concat()));
    assert_eq!((own(&ledger.db, 2).await.len(), own(&ledger.db, 3).await.len()), (0, 4));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn large_file_that_is_refused_leaves_no_table(db: PgPool) {
    let ledger = TestLedger::new(db);
    let cut = large(10_000, "1").line("a row that is none").line("\"and one that never ends");
    let report = ledger.deliver("cut.csv", cut).await;
    assert_eq!(report.status, Status::Refused, "{:?}", report.message);
    assert_eq!(tables(&ledger.db).await, named(&[("charges_2026_08", 0), ("charges_2026_09", 0)]));
    assert_eq!(own(&ledger.db, 1).await, []);
    let whole = ledger.file("whole.csv", large(10_000, "1"));
    let reports = ledger.import(&[whole], Some(Decision::Replace), WhenUnsure::Wait).await;
    assert_eq!(reports[0].status, Status::Loaded, "{:?}", reports[0].message);
    ledger.assert_balanced().await;
}
