//! What somebody changes in the database is found by the equations, and named.

use gpuledger::ledger::Status;
use gpuledger::ledger::{self, Equation};
use sqlx::{AssertSqlSafe, PgPool};

use crate::support::{Focus, TestLedger, files};

/// Three rows of two keys on one day: 10 and 4 of the first, 10 of the second.
async fn ledger(db: PgPool) -> TestLedger {
    let ledger = TestLedger::new(db);
    let file = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "1010", "vision")
        .hour("acme", "s2", "2026-09-05T10", "1010", "nlp")
        .hour("acme", "s1", "2026-09-05T11", "4", "vision");
    ledger.deliver("september.csv", &file).await;
    ledger.assert_balanced().await;
    // What equals the billed cost is not written again; here each can be changed by itself.
    run(
        &ledger,
        "update charges
         set effective_cost = billed_cost, list_cost = billed_cost, contracted_cost = billed_cost",
    )
    .await;
    ledger.assert_balanced().await;
    ledger
}

async fn run(ledger: &TestLedger, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&ledger.db).await.unwrap();
}

/// What does not hold: without the originals, and with them.
async fn broken(ledger: &TestLedger) -> (Vec<Equation>, Vec<Equation>) {
    let mut db = ledger.db.acquire().await.unwrap();
    let plain = ledger::check(&mut db).await.unwrap();
    let deep = ledger::check_originals(&mut db, &ledger.originals).await.unwrap();
    let fails = |all: Vec<Equation>| all.into_iter().filter(|equation| !equation.holds).collect();
    (fails(plain), fails(deep))
}

fn names(found: &[Equation], words: &[&str]) -> bool {
    found.iter().any(|equation| words.iter().all(|word| equation.of.contains(word)))
}

/// Moves an amount from the key of one sub-account to that of another in a table.
fn moved(table: &str, from: &str, to: &str, amount: &str) -> String {
    let change = |account: &str, by: &str| {
        format!(
            "update {table} c set billed_cost = billed_cost + {by} from charge_keys k
             where k.charge_key_id = c.charge_key_id and k.sub_account = '{account}';"
        )
    };
    change(from, &format!("-{amount}")) + &change(to, amount)
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn money_moved_between_keys_of_the_rollups_is_found_without_the_originals(db: PgPool) {
    let ledger = ledger(db).await;
    run(&ledger, &(moved("monthly_costs", "s1", "s2", "1000") + &moved("daily_costs", "s1", "s2", "1000")))
        .await;
    let (plain, deep) = broken(&ledger).await;
    assert!(
        names(&plain, &["billed of key", "s1", "NeoCloud"]) && names(&plain, &["billed of key", "s2"]),
        "{plain:#?}"
    );
    assert!(plain.iter().any(|it| (it.left, it.right) == (1014.into(), 14.into())), "{plain:#?}");
    assert!(names(&deep, &["billed on 2026-09-05"]), "{deep:#?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn money_moved_between_plain_keys_is_found_without_the_originals(db: PgPool) {
    let ledger = ledger(db).await;
    for (table, what) in [("monthly_totals", "by month"), ("daily_totals", "by day")] {
        run(&ledger, &moved(table, "s1", "s2", "1000")).await;
        let (plain, _) = broken(&ledger).await;
        assert_eq!(plain.len(), 1, "{plain:#?}");
        assert!(names(&plain, &["plain keys with another sum", what]), "{plain:#?}");
        run(&ledger, &moved(table, "s2", "s1", "1000")).await;
    }
    run(&ledger, "update daily_totals set day = day + 1").await;
    let (plain, _) = broken(&ledger).await;
    assert_eq!(plain.len(), 1, "{plain:#?}");
    assert!(names(&plain, &["plain keys with another sum", "by day"]), "{plain:#?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn money_moved_between_days_of_resources_is_found_without_the_originals(db: PgPool) {
    let ledger = TestLedger::new(db);
    // Volumes, which bear no accelerators.
    let volumes = Focus::new().hour("acme", "s1", "2026-09-05T10", "1010", "vision").hour(
        "acme",
        "s2",
        "2026-09-05T10",
        "1010",
        "nlp",
    );
    ledger
        .deliver(
            "september.csv",
            volumes.text().replace("8xH100", "large").replace(",\"\"GpuCount\"\":8", ""),
        )
        .await;
    ledger.assert_balanced().await;
    for (change, back) in [
        (moved("daily_resources", "s1", "s2", "1000"), moved("daily_resources", "s2", "s1", "1000")),
        (
            "update daily_resources set day = day + 1".into(),
            "update daily_resources set day = day - 1".into(),
        ),
        ("delete from daily_resources".into(), String::new()),
    ] {
        run(&ledger, &change).await;
        let (plain, _) = broken(&ledger).await;
        assert!(names(&plain, &["days of keys with another sum"]), "{change}: {plain:#?}");
        run(&ledger, &back).await;
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn money_moved_between_keys_everywhere_is_found_in_the_file(db: PgPool) {
    let ledger = ledger(db).await;
    run(&ledger, "update charges set billed_cost = billed_cost - 1000 where row_no = 1").await;
    run(&ledger, "update charges set billed_cost = billed_cost + 1000 where row_no = 2").await;
    for table in ["monthly_costs", "daily_costs", "monthly_totals", "daily_totals", "daily_resources"] {
        run(&ledger, &moved(table, "s1", "s2", "1000")).await;
    }
    let (plain, deep) = broken(&ledger).await;
    assert!(plain.is_empty(), "nothing but the file tells: {plain:#?}");
    assert!(names(&deep, &["september.csv, row 1, billed cost"]), "{deep:#?}");
    assert!(names(&deep, &["september.csv, row 2, billed cost"]), "{deep:#?}");
    assert!(deep.iter().any(|it| (it.left, it.right) == (1010.into(), 2010.into())), "{deep:#?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_cent_moved_between_charges_of_one_key_is_found_in_the_file(db: PgPool) {
    let ledger = ledger(db).await;
    run(&ledger, "update charges set billed_cost = billed_cost - 0.01 where row_no = 1").await;
    run(&ledger, "update charges set billed_cost = billed_cost + 0.01 where row_no = 3").await;
    let (plain, deep) = broken(&ledger).await;
    assert!(plain.is_empty(), "{plain:#?}");
    assert!(names(&deep, &["row 1, billed cost"]) && names(&deep, &["row 3, billed cost"]), "{deep:#?}");
    assert!(!names(&deep, &["row 2,"]), "{deep:#?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn charges_under_each_other_s_keys_are_found_in_the_file(db: PgPool) {
    let ledger = ledger(db).await;
    run(
        &ledger,
        "update charges c set charge_key_id = other.charge_key_id
         from charges other
         where (c.row_no, other.row_no) in ((1, 2), (2, 1))",
    )
    .await;
    let (plain, deep) = broken(&ledger).await;
    assert!(plain.is_empty(), "both cost the same: {plain:#?}");
    assert!(names(&deep, &["row 1, its key is"]) && names(&deep, &["row 2, its key is"]), "{deep:#?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn keys_of_imports_under_an_earlier_catalog_are_compared(db: PgPool) {
    let ledger = ledger(db).await;
    run(&ledger, "update deliveries set catalog_version = 1").await;
    ledger.assert_balanced().await;
    run(
        &ledger,
        "update charges c set charge_key_id = other.charge_key_id
         from charges other
         where (c.row_no, other.row_no) in ((1, 2), (2, 1))",
    )
    .await;
    let (_, deep) = broken(&ledger).await;
    assert!(names(&deep, &["row 1, its key is"]) && names(&deep, &["row 2, its key is"]), "{deep:#?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_charge_too_many_or_too_few_is_found_in_the_file(db: PgPool) {
    let ledger = ledger(db).await;
    run(&ledger, "update charges set row_no = 7 where row_no = 2").await;
    let (_, deep) = broken(&ledger).await;
    assert!(names(&deep, &["row 2, which is a charge and is not in the ledger"]), "{deep:#?}");
    assert!(names(&deep, &["row 7, of which the ledger has a charge too many"]), "{deep:#?}");
}

/// Quoted line breaks, skipped rows, rejected rows, repeated headers: every file that is read.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_fixture_is_sound_row_by_row(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut loaded = 0;
    for path in files::our_exports() {
        let report = ledger.deliver("input", std::fs::read(path).unwrap()).await;
        loaded += u32::from(matches!(report.status, Status::Loaded | Status::Waiting));
    }
    assert!(loaded >= 10, "{loaded} fixtures were loaded");
    ledger.assert_balanced().await;
}
