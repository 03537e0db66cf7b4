//! What a delivery changed sums to the change of its months, whatever was replaced, added or undone since.

use std::collections::BTreeMap;

use gpuledger::ledger::{Decision, publish};
use gpuledger::money::Decimal;
use gpuledger::report::{self, Changes, ChangesBy, CostMetric, Page};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger, now};

const EVERYTHING: Page = Page { first: 0, size: 1000 };

async fn changes(ledger: &TestLedger, delivery: i64, by: ChangesBy) -> Changes {
    let mut db = ledger.db.acquire().await.unwrap();
    report::changes(&mut db, delivery, by, CostMetric::Billed, EVERYTHING).await.unwrap()
}

/// Account, what it was and is, and what is said of it.
fn described(changes: &Changes) -> Vec<(&str, String, String, &'static str)> {
    let state = |line: &report::Change| match (line.is_new, line.is_gone) {
        (true, _) => "new",
        (_, true) => "gone",
        _ => "",
    };
    changes
        .lines
        .iter()
        .map(|line| {
            let account = line.account.as_deref().unwrap_or_default();
            (account, line.before.to_string(), line.after.to_string(), state(line))
        })
        .collect()
}

async fn assert_sums(ledger: &TestLedger, delivery: i64) {
    for by in ChangesBy::ALL {
        let changes = changes(ledger, delivery, by).await;
        let mut sums: BTreeMap<&str, Decimal> = BTreeMap::new();
        for line in &changes.lines {
            assert_eq!(line.difference, line.after - line.before);
            let sum = sums.entry(&line.currency).or_default();
            *sum += line.difference;
        }
        for total in &changes.totals {
            assert_eq!(total.difference, total.after - total.before);
            let sum = sums.remove(total.currency.as_str()).unwrap_or_default();
            assert_eq!(sum, total.difference, "delivery {delivery} by {by}");
        }
        assert!(sums.is_empty(), "{sums:?}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_differences_sum_to_the_change(db: PgPool) {
    let ledger = TestLedger::new(db);
    let first = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "10.123456789012345678901234567891", "vision")
        .hour("acme", "s2", "2026-09-06T10", "20", "nlp")
        .hour("acme", "s3", "2026-09-06T11", "5", "nlp");
    ledger.deliver("first.csv", &first).await;
    let other = Focus::new().hour("globex", "s9", "2026-09-05T10", "99", "vision");
    ledger.deliver("other.csv", &other).await;
    // s1 costs more, s2 is gone, s4 is new, s3 is as it was.
    let second = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "11.000000000000000000000000000002", "vision")
        .hour("acme", "s3", "2026-09-06T11", "5", "nlp")
        .hour("acme", "s4", "2026-09-06T10", "7", "nlp");
    let waiting = ledger.deliver("second.csv", &second).await.delivery.unwrap();

    let expected = [
        ("s2", "20", "0", "gone"),
        ("s4", "0", "7", "new"),
        ("s1", "10.123456789012345678901234567891", "11.000000000000000000000000000002", ""),
    ]
    .map(|(account, before, after, state)| (account, before.to_owned(), after.to_owned(), state));
    let preview = changes(&ledger, waiting, ChangesBy::Account).await;
    assert!(preview.is_preview);
    assert_eq!(described(&preview), expected);
    assert_sums(&ledger, waiting).await;

    let mut db = ledger.db.acquire().await.unwrap();
    publish(&mut db, waiting, Some(Decision::Replace), None, "test", now()).await.unwrap();
    drop(db);
    let published = changes(&ledger, waiting, ChangesBy::Account).await;
    assert!(!published.is_preview);
    assert_eq!(described(&published), expected);

    // What comes after changes nothing of what it changed.
    let added = ledger.deliver("third.csv", Focus::new().hour("acme", "s5", "2026-09-07T10", "1", "x")).await;
    let added = added.delivery.unwrap();
    let mut db = ledger.db.acquire().await.unwrap();
    publish(&mut db, added, Some(Decision::Add), None, "test", now()).await.unwrap();
    drop(db);
    assert_eq!(
        described(&changes(&ledger, added, ChangesBy::Account).await),
        [("s5", "0".to_owned(), "1".to_owned(), "new")]
    );
    ledger.undo(waiting).await;
    assert_eq!(described(&changes(&ledger, waiting, ChangesBy::Account).await), expected);
    for delivery in [1, 2, waiting, added] {
        assert_sums(&ledger, delivery).await;
    }

    // A page of it is a page of it.
    let mut db = ledger.db.acquire().await.unwrap();
    let second = Page { first: 1, size: 1 };
    let page =
        report::changes(&mut db, waiting, ChangesBy::Account, CostMetric::Billed, second).await.unwrap();
    assert_eq!((page.count, described(&page)), (3, expected[1..2].to_vec()));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_slice_takes_the_place_of_itself_only(db: PgPool) {
    let ledger = TestLedger::new(db);
    let slice = |account: &str, cost: &str| {
        Focus::new().hour("acme", account, "2026-09-05T10", cost, "vision").slice()
    };
    ledger.deliver("0001.csv", slice("s1", "10")).await;
    ledger.deliver("0002.csv", slice("s2", "20")).await;
    let again = ledger.deliver("0001.csv", slice("s1", "11")).await.delivery.unwrap();
    let changed = changes(&ledger, again, ChangesBy::Account).await;
    assert_eq!(described(&changed), [("s1", "10".to_owned(), "11".to_owned(), "")]);
    assert_eq!(changed.totals[0].after.to_string(), "31");
    // Waiting: it would lack a sub-account of itself.
    let waiting = ledger.deliver("0002.csv", slice("s3", "3")).await.delivery.unwrap();
    let preview = changes(&ledger, waiting, ChangesBy::Account).await;
    assert_eq!(preview.totals[0].after.to_string(), "14");
    assert_sums(&ledger, waiting).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let effect = report::effects(&mut db, waiting).await.unwrap().remove(0);
    assert_eq!((effect.now.to_string(), effect.replaced.to_string()), ("31".into(), "14".into()));
    publish(&mut db, waiting, Some(Decision::Replace), None, "test", now()).await.unwrap();
    drop(db);
    assert_eq!(ledger.billed("acme", "2026-09").await.to_string(), "14");
    assert_eq!(described(&changes(&ledger, waiting, ChangesBy::Account).await), described(&preview));
}
