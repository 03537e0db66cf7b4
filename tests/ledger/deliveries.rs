//! A month is stated once: replacing, adding, asking, undoing.

use gpuledger::ledger;
use gpuledger::ledger::{Decision, Published, Status, WhenUnsure, publish};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger, now, number};

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_later_delivery_of_a_month_replaces_the_earlier_one(db: PgPool) {
    let ledger = TestLedger::new(db);
    let first = Focus::new().hour("acme", "s1", "2026-09-05T10", "10.50", "vision");
    ledger.deliver("first.csv", &first).await;
    let second = Focus::new().hour("acme", "s1", "2026-09-05T10", "10.75", "vision").hour(
        "acme",
        "s1",
        "2026-09-06T10",
        "1",
        "vision",
    );
    let report = ledger.deliver("second.csv", &second).await;

    assert_eq!(report.status, Status::Loaded);
    assert_eq!(ledger.billed("acme", "2026-09").await, number("11.75"));
    ledger.undo(report.delivery.unwrap()).await;
    assert_eq!(ledger.billed("acme", "2026-09").await, number("10.50"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_same_bytes_count_once_and_load_again_after_undo(db: PgPool) {
    let ledger = TestLedger::new(db);
    let file = Focus::new().hour("acme", "s1", "2026-09-05T10", "10.50", "vision");
    let first = ledger.deliver("a.csv", &file).await;
    let again = ledger.deliver("b.csv", &file).await;
    assert_eq!((again.status, again.delivery), (Status::Duplicate, first.delivery));
    ledger.undo(first.delivery.unwrap()).await;
    assert_eq!(ledger.billed("acme", "2026-09").await, number("0"));
    assert_eq!(ledger.deliver("c.csv", &file).await.status, Status::Loaded);
    assert_eq!(ledger.billed("acme", "2026-09").await, number("10.50"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_delivery_that_lacks_what_it_would_replace_waits_for_a_word(db: PgPool) {
    let ledger = TestLedger::new(db);
    let whole = Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision").hour(
        "acme",
        "s2",
        "2026-09-06T10",
        "20",
        "nlp",
    );
    ledger.deliver("whole.csv", &whole).await;
    let part = Focus::new().hour("acme", "s2", "2026-09-06T10", "21", "nlp");
    let report = ledger.deliver("part.csv", &part).await;

    assert_eq!(report.status, Status::Waiting);
    let message = report.message.unwrap();
    assert!(message.contains("sub-accounts s1") && message.contains("days 2026-09-05"), "{message}");
    assert_eq!(ledger.billed("acme", "2026-09").await, number("30"));

    let mut db = ledger.db.acquire().await.unwrap();
    let delivery = report.delivery.unwrap();
    let published = publish(&mut db, delivery, Some(Decision::Add), None, "test", now()).await.unwrap();
    assert!(matches!(published, Published::At(_)));
    assert_eq!(ledger.billed("acme", "2026-09").await, number("51"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_command_line_keeps_nothing_of_what_it_must_ask_about(db: PgPool) {
    let ledger = TestLedger::new(db);
    let whole = Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision").hour(
        "acme",
        "s2",
        "2026-09-06T10",
        "20",
        "nlp",
    );
    ledger.deliver("whole.csv", &whole).await;
    let part = ledger.file("part.csv", Focus::new().hour("acme", "s2", "2026-09-06T10", "21", "nlp"));
    let report = ledger.import(std::slice::from_ref(&part), None, WhenUnsure::Discard).await.pop().unwrap();
    assert_eq!((report.status, report.delivery), (Status::Waiting, None));
    let rows: i64 = sqlx::query_scalar("select count(*) from charges").fetch_one(&ledger.db).await.unwrap();
    assert_eq!(rows, 2);

    let report = ledger.import(&[part], Some(Decision::Replace), WhenUnsure::Discard).await.pop().unwrap();
    assert_eq!(report.status, Status::Loaded);
    assert_eq!(ledger.billed("acme", "2026-09").await, number("21"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn slices_add_up_and_each_replaces_only_itself(db: PgPool) {
    let ledger = TestLedger::new(db);
    let slice = |at: &str, cost: &str| Focus::new().hour("acme", "s1", at, cost, "vision").slice();
    ledger.deliver("0001.csv", slice("2026-09-05T10", "10")).await;
    ledger.deliver("0002.csv", slice("2026-09-05T11", "20")).await;
    assert_eq!(ledger.billed("acme", "2026-09").await, number("30"));
    let again = ledger.deliver("0001.csv", slice("2026-09-05T10", "11")).await;
    assert_eq!(again.status, Status::Loaded);
    assert_eq!(ledger.billed("acme", "2026-09").await, number("31"));
    ledger.undo(again.delivery.unwrap()).await;
    assert_eq!(ledger.billed("acme", "2026-09").await, number("30"));

    let paths = [
        ledger.file("0003.csv", slice("2026-09-06T10", "1")),
        ledger.file("0004.csv", slice("2026-09-06T11", "2")),
    ];
    let reports = ledger.import(&paths, None, WhenUnsure::Wait).await;
    assert!(reports.iter().all(|report| report.status == Status::Loaded));
    assert_eq!(ledger.billed("acme", "2026-09").await, number("33"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_slice_beside_a_statement_of_the_whole_month_is_asked_about(db: PgPool) {
    let ledger = TestLedger::new(db);
    let charge = Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision");
    ledger.deliver("whole.csv", &charge).await;
    let slice = ledger.deliver("0001.csv", charge.slice()).await;
    assert_eq!(slice.status, Status::Waiting);
    assert!(slice.message.unwrap().contains("has the whole month"));
    let mut db = ledger.db.acquire().await.unwrap();
    publish(&mut db, slice.delivery.unwrap(), Some(Decision::Replace), None, "test", now()).await.unwrap();
    assert_eq!(ledger.billed("acme", "2026-09").await, number("10"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_currency_is_not_lost_without_a_word(db: PgPool) {
    let ledger = TestLedger::new(db);
    let dollars = Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision");
    let both =
        format!("{}{}", dollars.text(), dollars.text().lines().nth(1).unwrap().replace(",USD,", ",EUR,"));
    ledger.deliver("both.csv", both).await;
    let report = ledger.deliver("dollars.csv", &dollars).await;
    assert_eq!(report.status, Status::Waiting);
    assert!(report.message.unwrap().contains("currencies EUR"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_superseded_file_loads_again_and_says_whose_place_it_takes(db: PgPool) {
    let ledger = TestLedger::new(db);
    let good = Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision");
    let worse = Focus::new().hour("acme", "s1", "2026-09-05T10", "10.2", "vision");
    ledger.deliver("good.csv", &good).await;
    let second = ledger.deliver("worse.csv", &worse).await;
    assert_eq!(second.message.as_deref(), Some("replaces import 1"));
    let again = ledger.deliver("good.csv", &good).await;
    assert_eq!(again.status, Status::Loaded);
    assert_eq!(ledger.billed("acme", "2026-09").await, number("10"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_a_page_says_of_an_undo_is_what_the_undo_does(db: PgPool) {
    let ledger = TestLedger::new(db);
    let slice = |at: &str, cost: &str| Focus::new().hour("acme", "s1", at, cost, "vision").slice();
    let first = ledger.deliver("0001.csv", slice("2026-09-05T10", "10")).await.delivery.unwrap();
    ledger.deliver("0002.csv", slice("2026-09-05T11", "20")).await;
    ledger.deliver("0003.csv", slice("2026-09-05T12", "30")).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let effect = gpuledger::report::effects(&mut db, first).await.unwrap().pop().unwrap();
    assert_eq!((effect.now, effect.without), (number("60"), number("50")));
    ledger.undo(first).await;
    assert_eq!(ledger.billed("acme", "2026-09").await, effect.without);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_delivery_that_was_discarded_cannot_be_published(db: PgPool) {
    let ledger = TestLedger::new(db);
    let a = ledger.file("a.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision"));
    let b = ledger.file("b.csv", Focus::new().hour("acme", "s1", "2026-09-05T11", "20", "vision"));
    let waiting = ledger.import(&[a, b], None, WhenUnsure::Wait).await[0].delivery.unwrap();
    let mut one = ledger.db.acquire().await.unwrap();
    let mut other = ledger.db.acquire().await.unwrap();
    let (discarded, published) = tokio::join!(
        ledger::discard(&mut one, waiting, ledger::Ended::Refused, "changed my mind"),
        publish(&mut other, waiting, Some(Decision::Replace), None, "test", now()),
    );
    assert_ne!(discarded.unwrap(), matches!(published.unwrap(), Published::At(_)));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn two_files_of_one_month_chosen_together_are_asked_about(db: PgPool) {
    let ledger = TestLedger::new(db);
    let a = ledger.file("a.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision"));
    let b = ledger.file("b.csv", Focus::new().hour("acme", "s1", "2026-09-05T11", "20", "vision"));
    let reports = ledger.import(&[a, b], None, WhenUnsure::Wait).await;
    assert!(reports.iter().all(|report| report.status == Status::Waiting));
    assert_eq!(ledger.billed("acme", "2026-09").await, number("0"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_page_can_be_asked_as_of_a_sequence(db: PgPool) {
    use gpuledger::accounts::Viewer;
    use gpuledger::report::{Answers, CostMetric, Grouping, Question};
    let ledger = TestLedger::new(db);
    ledger.deliver("a.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision")).await;
    ledger.deliver("b.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "12", "vision")).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let mut totals = Vec::new();
    for sequence in [Some(1), Some(2), None] {
        let question = Question {
            by: Grouping::Provider,
            cost: CostMetric::Billed,
            sequence,
            ..Question::of("2026-09".parse().unwrap(), Viewer::Everything)
        };
        totals.push(Answers::default().priced_spend(&mut db, &question).await.unwrap().total.unwrap().amount);
    }
    assert_eq!(totals, [number("10"), number("12"), number("12")]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_an_interrupted_import_left_is_swept_and_never_counted(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("a.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision")).await;
    // As a killed process leaves it: loading, some rows written, no session that holds its lock.
    sqlx::query(
        "with d as (insert into deliveries (batch_id, status, created_at, created_by)
                    values (gen_random_uuid(), 'loading', now(), 'killed') returning delivery_id)
         insert into charges select billing_month, charge_key_id, d.delivery_id, scope_id, row_no, file_no, is_metered,
                    charge_period_start, charge_period_end, billed_cost, effective_cost, list_cost, contracted_cost,
                    consumed_quantity, resource_id, tag_set_id from charges, d",
    )
    .execute(&ledger.db)
    .await
    .unwrap();
    assert_eq!(ledger.billed("acme", "2026-09").await, number("10"));
    let mut db = ledger.db.acquire().await.unwrap();
    assert_eq!(ledger::sweep(&mut db).await.unwrap(), 1);
    let rows: i64 = sqlx::query_scalar("select count(*) from charges").fetch_one(&ledger.db).await.unwrap();
    assert_eq!(rows, 1);
    ledger.assert_balanced().await;
}

/// It was listed as loading, and was complete by its turn.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_import_that_becomes_complete_during_a_sweep_is_kept(db: PgPool) {
    let loading = "insert into deliveries (batch_id, status, created_at, created_by)
                   values (gen_random_uuid(), 'loading', now(), 'test')";
    for _ in 0..2 {
        sqlx::query(loading).execute(&db).await.unwrap();
    }
    // Of the lock of a delivery that loads.
    let lock = 0x6770_755f_0000_0000_i64 + 2;
    let mut loader = db.acquire().await.unwrap();
    sqlx::query("select pg_advisory_lock($1)").bind(lock).execute(&mut *loader).await.unwrap();
    // The sweep does not get past the first.
    let mut hold = db.begin().await.unwrap();
    sqlx::query("select from deliveries where delivery_id = 1 for update").execute(&mut *hold).await.unwrap();
    let pool = db.clone();
    let sweep = tokio::spawn(async move { ledger::sweep(&mut pool.acquire().await.unwrap()).await });
    let waits = "select exists (select from pg_stat_activity
                                where datname = current_database() and wait_event_type = 'Lock')";
    while !sqlx::query_scalar::<_, bool>(waits).fetch_one(&db).await.unwrap() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let complete = "update deliveries set status = 'waiting' where delivery_id = 2";
    sqlx::query(complete).execute(&mut *loader).await.unwrap();
    sqlx::query("select pg_advisory_unlock($1)").bind(lock).execute(&mut *loader).await.unwrap();
    hold.rollback().await.unwrap();

    assert_eq!(sweep.await.unwrap().unwrap(), 1);
    let status: Vec<String> = sqlx::query_scalar("select status from deliveries order by delivery_id")
        .fetch_all(&db)
        .await
        .unwrap();
    assert_eq!(status, ["failed", "waiting"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_earlier_file_does_not_silently_replace_a_later_one(db: PgPool) {
    let ledger = TestLedger::new(db);
    let later = Focus::new().hour("acme", "s1", "2026-09-05T10", "11", "vision");
    let later = ledger.deliver("later.csv", &later).await.delivery.unwrap();
    // Imports run side by side: the smaller of two uploads was ready first.
    sqlx::query("update deliveries set created_at = created_at + interval '1 minute'")
        .execute(&ledger.db)
        .await
        .unwrap();
    let first = Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision");
    let report = ledger.deliver("first.csv", &first).await;
    assert_eq!(report.status, Status::Waiting);
    let message = report.message.unwrap();
    assert!(message.contains(&format!("import {later} was uploaded later than this one")), "{message}");
    assert_eq!(ledger.billed("acme", "2026-09").await, number("11"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn one_with_more_rejected_rows_is_asked_about(db: PgPool) {
    let ledger = TestLedger::new(db);
    let good = Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision");
    let line = good.text().lines().nth(1).unwrap().to_owned();
    let broken = line.replace(",10,10,10,10,", ",ten,10,10,10,");
    let with = |number: usize, cost: &str| {
        let file = Focus::new().hour("acme", "s1", "2026-09-05T10", cost, "vision");
        (0..number).fold(file, |file, _| file.line(&broken))
    };
    ledger.deliver("one.csv", with(1, "10")).await;
    let report = ledger.deliver("two.csv", with(2, "11")).await;
    assert_eq!(report.status, Status::Waiting);
    let message = report.message.unwrap();
    assert!(message.contains("more rows are missing than in import 1: 2 here, 1 there"), "{message}");
    assert_eq!(ledger.billed("acme", "2026-09").await, number("10"));
    // As many or fewer is no loss.
    assert_eq!(ledger.deliver("same.csv", with(1, "12")).await.status, Status::Loaded);
    assert_eq!(ledger.deliver("none.csv", with(0, "13")).await.status, Status::Loaded);
    assert_eq!(ledger.billed("acme", "2026-09").await, number("13"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn two_halves_are_not_replaced_by_each_other(db: PgPool) {
    let ledger = TestLedger::new(db);
    let half =
        |sub_account: &str, cost: &str| Focus::new().hour("acme", sub_account, "2026-09-05T10", cost, "x");
    let paths = [ledger.file("1.csv", half("s1", "10")), ledger.file("2.csv", half("s2", "20"))];
    let reports = ledger.import(&paths, Some(Decision::Replace), WhenUnsure::Discard).await;
    assert!(reports.iter().all(|report| report.status == Status::Waiting && report.delivery.is_none()));
    assert!(reports[0].message.as_ref().unwrap().contains("only the last would be active"));
    assert_eq!(ledger.billed("acme", "2026-09").await, number("0"));
    let reports = ledger.import(&paths, Some(Decision::Add), WhenUnsure::Discard).await;
    assert!(reports.iter().all(|report| report.status == Status::Loaded));
    assert_eq!(ledger.billed("acme", "2026-09").await, number("30"));
    ledger.assert_balanced().await;
}
