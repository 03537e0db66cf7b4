//! Nobody shrinks a month unseen: what an import would remove is measured, and asked about.

use gpuledger::ledger::{self, Decision, Measure, Published, Status, WhenUnsure, publish};
use gpuledger::{clock, money::Decimal};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger};

fn dec(text: &str) -> Decimal {
    text.parse().unwrap()
}

/// `nodes` machines on five days, an hour each, as the same sub-account bills them.
fn fleet(nodes: std::ops::Range<usize>, days: std::ops::RangeInclusive<usize>) -> Focus {
    let mut file = Focus::new();
    for day in days {
        for node in nodes.clone() {
            let at = format!("2026-09-{day:02}T10");
            file = on_node(&file.hour("acme", "s1", &at, "10", "vision"), node);
        }
    }
    file
}

/// The last line as that of another machine.
fn on_node(file: &Focus, node: usize) -> Focus {
    let text = file.text();
    let at = text.rfind("node-s1").unwrap();
    Focus::from(format!("{}node-{node}{}", &text[..at], &text[at + "node-s1".len()..]))
}

/// Every second row of a file, its header kept.
fn every_second_row(file: &Focus) -> String {
    let mut lines = file.text().lines();
    let header = lines.next().unwrap();
    let mut text = format!("{header}\n");
    for line in lines.step_by(2) {
        text.extend([line, "\n"]);
    }
    text
}

async fn message_of(ledger: &TestLedger, name: &str, file: impl AsRef<[u8]>) -> String {
    let report = ledger.deliver(name, file).await;
    assert_eq!(report.status, Status::Waiting, "{:?}", report.message);
    report.message.unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn import_of_every_second_row_asks_before_it_replaces(db: PgPool) {
    let ledger = TestLedger::new(db);
    // Of three machines, so that every day and every machine is in every second row.
    let whole = fleet(0..3, 1..=20);
    ledger.deliver("whole.csv", &whole).await;
    let message = message_of(&ledger, "half.csv", every_second_row(&whole)).await;
    assert!(
        message.contains("50 % of the billed cost (600.00 to 300.00 USD), 50 % of the rows (60 to 30)"),
        "{message}"
    );
    assert!(!message.contains("another part"), "{message}");
    assert_eq!(ledger.billed("acme", "2026-09").await, dec("600"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn import_without_most_of_the_cost_asks_and_names_services(db: PgPool) {
    let ledger = TestLedger::new(db);
    let storage = |file: Focus| {
        let line = "NeoCloud,acme,s1,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,2026-09-01T00:00:00Z,2026-09-02T00:00:00Z,\
                    Usage,Standard,Object Store,Storage,blocks,eu-1,,,100,GB,5,5,5,5,USD,,NeoCloud,NeoCloud";
        (0..20).fold(file, |file, _| file.line(line))
    };
    ledger.deliver("whole.csv", storage(fleet(0..1, 1..=1))).await;
    // As many rows, and the same day and sub-account: all that is missing is the machine.
    let message = message_of(&ledger, "without-gpus.csv", storage(Focus::new())).await;
    for expected in [
        "9.1 % of the billed cost (110.00 to 100.00 USD)",
        "1 of 2 services",
        "its only machine",
        "GPU Cloud 10.00 to 0.00 USD",
    ] {
        assert!(message.contains(expected), "{message}\nlacks\n{expected}");
    }
    assert!(!message.contains("another part"), "{message}");
    assert_eq!(ledger.billed("acme", "2026-09").await, dec("110"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn parts_of_one_export_imported_one_after_another_are_offered_to_add(db: PgPool) {
    let ledger = TestLedger::new(db);
    // All parts have the same days and the same sub-account; each has machines of its own.
    let parts: Vec<Focus> = (0..4).map(|part| fleet(part * 3..part * 3 + 3, 1..=5)).collect();
    assert_eq!(ledger.deliver("september-00001.csv", &parts[0]).await.status, Status::Loaded);
    for (number, part) in parts.iter().enumerate().skip(1) {
        let report = ledger.deliver(&format!("september-0000{}.csv", number + 1), part).await;
        assert_eq!(report.status, Status::Waiting);
        let message = report.message.unwrap();
        assert!(message.contains("looks like another part of the same export"), "{message}");
        let delivery = report.delivery.unwrap();
        let suggested: Option<String> =
            sqlx::query_scalar("select suggested_decision from deliveries where delivery_id = $1")
                .bind(delivery)
                .fetch_one(&ledger.db)
                .await
                .unwrap();
        assert_eq!(suggested.as_deref(), Some("add"));
        let mut db = ledger.db.acquire().await.unwrap();
        let published =
            publish(&mut db, delivery, Some(Decision::Add), None, "test", clock::now()).await.unwrap();
        assert!(matches!(published, Published::At(_)));
    }
    assert_eq!(ledger.billed("acme", "2026-09").await, dec("600"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn larger_part_with_other_keys_does_not_replace_a_smaller_one(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("a.csv", fleet(0..2, 1..=5)).await;
    let message = message_of(&ledger, "b.csv", fleet(2..9, 1..=5)).await;
    assert!(message.contains("looks like another part of the same export"), "{message}");
    assert_eq!(ledger.billed("acme", "2026-09").await, dec("100"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_that_grew_or_changed_its_tags_replaces_without_a_question(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("day-20.csv", fleet(0..3, 1..=20)).await;
    assert_eq!(ledger.deliver("day-25.csv", fleet(0..4, 1..=25)).await.status, Status::Loaded);
    // Every key is another one, and nothing is missing.
    let retagged = fleet(0..4, 1..=25).text().replace("vision", "Vision Research");
    assert_eq!(ledger.deliver("retagged.csv", &retagged).await.status, Status::Loaded);
    // One row of a hundred fewer is below the limit of five percent.
    let text = fleet(0..4, 1..=25).text().to_owned();
    let shorter = &text[..=text.trim_end().rfind('\n').unwrap()];
    assert_eq!(ledger.deliver("shorter.csv", shorter).await.status, Status::Loaded);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn limits_decide_when_somebody_is_asked(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("whole.csv", fleet(0..4, 1..=25)).await;
    let text = fleet(0..4, 1..=25).text().to_owned();
    let shorter = text[..=text.trim_end().rfind('\n').unwrap()].to_owned();
    {
        let mut db = ledger.db.acquire().await.unwrap();
        ledger::set_limit(&mut db, Measure::Rows, dec("0.5")).await.unwrap();
    }
    let message = message_of(&ledger, "shorter.csv", shorter).await;
    assert!(message.contains("1 % of the rows (100 to 99)"), "{message}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_that_was_told_to_shrink_is_remembered_until_explained(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("whole.csv", fleet(0..4, 1..=5)).await;
    let half = ledger.file("half.csv", fleet(0..2, 1..=5));
    let report = ledger.import(&[half], Some(Decision::Replace), WhenUnsure::Discard).await.pop().unwrap();
    assert_eq!(report.status, Status::Loaded);
    let loss: String = sqlx::query_scalar("select loss from shrunk_scopes where explanation is null")
        .fetch_one(&ledger.db)
        .await
        .unwrap();
    assert!(loss.contains("50 % of the rows (20 to 10)"), "{loss}");
    let mut db = ledger.db.acquire().await.unwrap();
    let explained =
        ledger::explain(&mut db, report.delivery.unwrap(), "Two nodes were refunded.", "test", clock::now())
            .await;
    assert!(explained.unwrap());
    let open: i64 = sqlx::query_scalar("select count(*) from shrunk_scopes where explanation is null")
        .fetch_one(&ledger.db)
        .await
        .unwrap();
    assert_eq!(open, 0);
}
