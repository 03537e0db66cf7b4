//! Nobody shrinks a month unseen: what an import would remove is measured, and asked about.

use std::path::Path;

use gpuledger::ledger::{self, Decision, Measure, Published, Status, WhenUnsure, publish};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger, now, number};

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
        message.contains("50% of the billed cost (600.00 to 300.00 USD), 50% of the rows (30 of 60)"),
        "{message}"
    );
    assert!(!message.contains("another part"), "{message}");
    assert_eq!(ledger.billed("acme", "2026-09").await, number("600"));
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
        "9.1% of the billed cost (110.00 to 100.00 USD)",
        "1 of 2 services",
        "its only machine",
        "GPU Cloud 10.00 to 0.00 USD",
    ] {
        assert!(message.contains(expected), "{message}\nlacks\n{expected}");
    }
    assert!(!message.contains("another part"), "{message}");
    assert_eq!(ledger.billed("acme", "2026-09").await, number("110"));
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
        let published = publish(&mut db, delivery, Some(Decision::Add), None, "test", now()).await.unwrap();
        assert!(matches!(published, Published::At(_)));
    }
    assert_eq!(ledger.billed("acme", "2026-09").await, number("600"));
    ledger.assert_balanced().await;
}

/// What is offered first for a delivery that waits.
async fn suggested(ledger: &TestLedger, delivery: i64) -> Option<String> {
    sqlx::query_scalar("select suggested_decision from deliveries where delivery_id = $1")
        .bind(delivery)
        .fetch_one(&ledger.db)
        .await
        .unwrap()
}

async fn decide(ledger: &TestLedger, delivery: i64, decision: Decision, reason: Option<&str>) {
    let mut db = ledger.db.acquire().await.unwrap();
    let published = publish(&mut db, delivery, Some(decision), reason, "test", now()).await.unwrap();
    assert!(matches!(published, Published::At(_)), "{published:?}");
}

/// What the overview says of months that shrank: the import that counts there, and what was lost.
async fn open_losses(ledger: &TestLedger) -> Vec<(i64, String)> {
    sqlx::query_as(
        "select shrunk.delivery_id, shrunk.loss
         from shrunk_scopes shrunk
         join visibility v using (delivery_id, scope_id)
         where shrunk.explanation is null and v.until_sequence is null
         order by 1, 2",
    )
    .fetch_all(&ledger.db)
    .await
    .unwrap()
}

/// Four parts of one month, all active, each of other machines.
async fn four_parts(ledger: &TestLedger) {
    for part in 0..4 {
        let file = fleet(part * 3..part * 3 + 3, 1..=5);
        let path = ledger.file(&format!("cur-0000{}.csv", part + 1), file);
        let report = ledger.import(&[path], Some(Decision::Add), WhenUnsure::Discard).await.pop().unwrap();
        assert_eq!(report.status, Status::Loaded, "{:?}", report.message);
    }
    assert_eq!(ledger.billed("acme", "2026-09").await, number("600"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn part_that_arrives_again_is_measured_and_not_offered_to_add(db: PgPool) {
    let ledger = TestLedger::new(db);
    four_parts(&ledger).await;
    // Corrected: a machine fewer. Its name differs from that of the second part by its number only.
    for name in ["cur-00001.csv", "CUR-00001 (1).csv"] {
        let report = ledger.deliver(name, fleet(0..2, 1..=5)).await;
        assert_eq!(report.status, Status::Waiting);
        let (message, delivery) = (report.message.unwrap(), report.delivery.unwrap());
        assert!(!message.contains("another part"), "{message}");
        assert!(message.contains("83.3% of the billed cost (600.00 to 100.00 USD)"), "{message}");
        assert!(message.contains("A file of the same name is active already"), "{message}");
        assert_eq!(suggested(&ledger, delivery).await, None);
        let mut db = ledger.db.acquire().await.unwrap();
        ledger::discard(&mut db, delivery, ledger::Ended::Discarded, "").await.unwrap();
    }
    assert_eq!(ledger.billed("acme", "2026-09").await, number("600"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn parts_that_arrive_again_together_are_measured_and_not_offered_to_add(db: PgPool) {
    let ledger = TestLedger::new(db);
    four_parts(&ledger).await;
    // Corrected: a day fewer of each machine.
    let paths: Vec<_> = (0..4)
        .map(|part| ledger.file(&format!("cur-0000{}.csv", part + 1), fleet(part * 3..part * 3 + 3, 1..=4)))
        .collect();
    let reports = ledger.import(&paths, None, WhenUnsure::Wait).await;
    for report in reports {
        assert_eq!(report.status, Status::Waiting);
        let message = report.message.unwrap();
        assert!(message.contains("several of these files state"), "{message}");
        assert!(message.contains("80% of the billed cost (600.00 to 120.00 USD)"), "{message}");
        assert!(message.contains("A file of the same name is active already"), "{message}");
        assert_eq!(suggested(&ledger, report.delivery.unwrap()).await, None);
    }
    let refused = ledger.import(&paths[..2], Some(Decision::Replace), WhenUnsure::Discard).await;
    let message = refused[0].message.as_ref().unwrap();
    assert!(message.contains("Undo the active imports and add these"), "{message}");
    assert_eq!(ledger.billed("acme", "2026-09").await, number("600"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn parts_that_arrive_together_first_are_offered_to_add(db: PgPool) {
    let ledger = TestLedger::new(db);
    let paths: Vec<_> = (0..2)
        .map(|part| ledger.file(&format!("cur-0000{}.csv", part + 1), fleet(part * 3..part * 3 + 3, 1..=5)))
        .collect();
    for report in ledger.import(&paths, None, WhenUnsure::Wait).await {
        assert_eq!(suggested(&ledger, report.delivery.unwrap()).await.as_deref(), Some("add"));
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn loss_stays_on_the_overview_when_a_later_import_replaces_it(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("whole.csv", fleet(0..4, 1..=5)).await;
    let half = ledger.deliver("half.csv", fleet(0..2, 1..=5)).await.delivery.unwrap();
    decide(&ledger, half, Decision::Replace, None).await;
    let lost = open_losses(&ledger).await;
    assert!(lost.len() == 1 && lost[0].1.contains("50% of the rows (10 of 20)"), "{lost:?}");
    assert!(!lost[0].1.contains("Largest differences"), "{lost:?}");

    // The export of the next day covers it, and asks nothing.
    let next = ledger.deliver("next.csv", fleet(0..2, 1..=6)).await;
    assert_eq!(next.status, Status::Loaded);
    let next = next.delivery.unwrap();
    let lost = open_losses(&ledger).await;
    assert!(lost.len() == 1 && lost[0].0 == next, "{lost:?}");
    assert!(lost[0].1.contains("40% of the rows (8 of 20)"), "{lost:?}");

    // All that was lost is back.
    let back = ledger.deliver("back.csv", fleet(0..4, 1..=6)).await.delivery.unwrap();
    assert_eq!(open_losses(&ledger).await, []);
    ledger.undo(back).await;
    assert_eq!(open_losses(&ledger).await, lost);
    ledger.undo(next).await;
    let lost = open_losses(&ledger).await;
    assert!(lost.len() == 1 && lost[0].0 == half, "{lost:?}");

    // Explained once it is explained, whatever replaces it and whatever is undone.
    let mut db = ledger.db.acquire().await.unwrap();
    assert!(ledger::explain(&mut db, half, "Two nodes were refunded.", "test", now()).await.unwrap());
    let later = ledger.deliver("later.csv", fleet(0..2, 1..=7)).await;
    assert_eq!(later.status, Status::Loaded);
    assert_eq!(open_losses(&ledger).await, []);
    ledger.undo(later.delivery.unwrap()).await;
    assert_eq!(open_losses(&ledger).await, []);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn second_loss_that_is_explained_leaves_the_first_open(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("whole.csv", fleet(0..8, 1..=5)).await;
    let half = ledger.deliver("half.csv", fleet(0..4, 1..=5)).await.delivery.unwrap();
    decide(&ledger, half, Decision::Replace, None).await;
    let quarter = ledger.deliver("quarter.csv", fleet(0..2, 1..=5)).await.delivery.unwrap();
    decide(&ledger, quarter, Decision::Replace, Some("Two nodes were refunded.")).await;
    let lost = open_losses(&ledger).await;
    assert!(lost.len() == 1 && lost[0].0 == quarter, "{lost:?}");
    assert!(lost[0].1.contains("75% of the rows (30 of 40)"), "{lost:?}");
    let mut db = ledger.db.acquire().await.unwrap();
    assert!(ledger::explain(&mut db, quarter, "Four were sold.", "test", now()).await.unwrap());
    assert_eq!(open_losses(&ledger).await, []);
    ledger.undo(quarter).await;
    assert_eq!(open_losses(&ledger).await, [], "the same loss");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn slice_that_replaces_a_whole_month_asks_with_the_amounts_and_is_remembered(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("whole.csv", fleet(0..4, 1..=5)).await;
    let report = ledger.deliver("0001.csv", fleet(0..1, 1..=5).slice()).await;
    assert_eq!(report.status, Status::Waiting);
    let message = report.message.unwrap();
    assert!(message.contains("has the whole month"), "{message}");
    assert!(message.contains("75% of the billed cost (200.00 to 50.00 USD)"), "{message}");
    decide(&ledger, report.delivery.unwrap(), Decision::Replace, None).await;
    assert_eq!(ledger.billed("acme", "2026-09").await, number("50"));
    let lost = open_losses(&ledger).await;
    assert!(lost.len() == 1 && lost[0].1.contains("75% of the rows (15 of 20)"), "{lost:?}");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn slice_that_replaces_a_whole_month_leaves_slices_of_other_months(db: PgPool) {
    let ledger = TestLedger::new(db);
    let september = || Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision");
    ledger.deliver("whole.csv", september()).await;
    let october = |cost: &str| Focus::new().hour("acme", "s1", "2026-10-05T10", cost, "vision").slice();
    ledger.deliver("0001.csv", october("20")).await;
    let both = september().hour("acme", "s1", "2026-10-06T10", "30", "vision").slice();
    let report = ledger.deliver("0002.csv", both).await;
    assert_eq!(report.status, Status::Waiting);
    decide(&ledger, report.delivery.unwrap(), Decision::Replace, None).await;
    assert_eq!(ledger.billed("acme", "2026-09").await, number("10"));
    assert_eq!(ledger.billed("acme", "2026-10").await, number("50"), "only a slice met the other");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn loss_of_a_slice_is_not_made_up_for_by_other_slices(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("0001.csv", fleet(0..4, 1..=5).slice()).await;
    ledger.deliver("0002.csv", fleet(4..8, 1..=5).slice()).await;
    let less = ledger.deliver("0001.csv", fleet(0..1, 1..=5).slice()).await.delivery.unwrap();
    decide(&ledger, less, Decision::Replace, None).await;
    let lost = open_losses(&ledger).await;
    assert!(lost.len() == 1 && lost[0].1.contains("75% of the rows (15 of 20)"), "{lost:?}");
    assert_eq!(ledger.deliver("0001.csv", fleet(0..1, 1..=6).slice()).await.status, Status::Loaded);
    let lost = open_losses(&ledger).await;
    assert!(lost.len() == 1 && lost[0].1.contains("70% of the rows (14 of 20)"), "{lost:?}");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn limit_with_more_than_two_decimals_is_refused(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut db = ledger.db.acquire().await.unwrap();
    for text in ["0.0000000000000000000000000000000000000001", "2.505", "-1", "100.01"] {
        assert!(!ledger::is_limit(number(text)), "{text}");
        assert!(ledger::set_limit(&mut db, Measure::Rows, number(text)).await.is_err(), "{text}");
    }
    for text in ["0", "2.5", "2.500", "99.99", "100"] {
        assert!(ledger::is_limit(number(text)), "{text}");
        assert!(ledger::set_limit(&mut db, Measure::Rows, number(text)).await.is_ok(), "{text}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn larger_part_with_other_keys_does_not_replace_a_smaller_one(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("a.csv", fleet(0..2, 1..=5)).await;
    let message = message_of(&ledger, "b.csv", fleet(2..9, 1..=5)).await;
    assert!(message.contains("looks like another part of the same export"), "{message}");
    assert_eq!(ledger.billed("acme", "2026-09").await, number("100"));
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
        ledger::set_limit(&mut db, Measure::Rows, number("0.5")).await.unwrap();
    }
    let message = message_of(&ledger, "shorter.csv", shorter).await;
    assert!(message.contains("1% of the rows (1 of 100)"), "{message}");
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
    assert!(loss.contains("50% of the rows (10 of 20)"), "{loss}");
    let mut db = ledger.db.acquire().await.unwrap();
    let explained =
        ledger::explain(&mut db, report.delivery.unwrap(), "Two nodes were refunded.", "test", now()).await;
    assert!(explained.unwrap());
    let open: i64 = sqlx::query_scalar("select count(*) from shrunk_scopes where explanation is null")
        .fetch_one(&ledger.db)
        .await
        .unwrap();
    assert_eq!(open, 0);
}

/// Services, meters and ids of machines have other names in another export: that nothing of them is there says nothing.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn another_export_of_the_month_replaces_it_and_is_never_another_part(db: PgPool) {
    let ledger = TestLedger::new(db);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/one_month/aws");
    let file = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    for name in ["cur.csv", "focus-1.2.csv", "cur-2.csv"] {
        let report = ledger.deliver(name, file(name)).await;
        assert_eq!(report.status, Status::Loaded, "{name}: {:?}", report.message);
    }
    // One that states less is asked about, and never offered as a part.
    let less = every_second_row(&Focus::from(file("focus-1.2.csv")));
    let report = ledger.deliver("focus-2.csv", &less).await;
    assert_eq!(report.status, Status::Waiting, "{:?}", report.message);
    let said = report.message.unwrap();
    assert!(said.contains("another export of the same month: adding this one counts it twice"), "{said}");
    assert!(!said.contains("another part") && !said.contains("kinds of usage"), "{said}");
    let suggested: Option<String> =
        sqlx::query_scalar("select suggested_decision from deliveries where status = 'waiting'")
            .fetch_one(&ledger.db)
            .await
            .unwrap();
    assert_eq!(suggested, None);
    ledger.assert_balanced().await;
}
