//! A review promises what publishing does, and until then nothing has happened.

use gpuledger::ledger::{Reviewed, Status, WhenUnsure, publish_reviewed, sequence};
use gpuledger::money::Decimal;
use gpuledger::report::{self, Changes, ChangesBy, CostMetric, Page};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger, now};

/// Account, month and what is billed in it.
type Billed = Vec<(String, String, Decimal)>;

async fn review(ledger: &TestLedger, name: &str, content: impl AsRef<[u8]>) -> i64 {
    let path = ledger.file(name, content);
    let report = ledger.import(&[path], None, WhenUnsure::Review).await.pop().unwrap();
    assert_eq!(report.status, Status::Waiting, "{name}: {:?}", report.message);
    report.delivery.unwrap()
}

async fn changes(ledger: &TestLedger, delivery: i64, by: ChangesBy) -> Changes {
    let mut db = ledger.db.acquire().await.unwrap();
    let page = Page { first: 0, size: 1000 };
    report::changes(&mut db, delivery, by, CostMetric::Billed, page).await.unwrap()
}

/// What the page of a delivery says that its months show if it is published.
async fn promised(ledger: &TestLedger, delivery: i64) -> Billed {
    let mut db = ledger.db.acquire().await.unwrap();
    let effects = report::effects(&mut db, delivery).await.unwrap();
    effects.iter().map(|it| (it.billing_account.clone(), it.month().to_string(), it.replaced)).collect()
}

async fn at(ledger: &TestLedger) -> i64 {
    sequence(&mut ledger.db.acquire().await.unwrap()).await.unwrap()
}

fn hour(account: &str, sub_account: &str, at: &str, cost: &str) -> Focus {
    Focus::new().hour(account, sub_account, at, cost, "vision")
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_promised_is_what_is_published(db: PgPool) {
    let ledger = TestLedger::new(db);
    let two_months =
        hour("acme", "s1", "2026-09-05T10", "12.5").hour("acme", "s1", "2026-10-05T10", "7", "nlp");
    let of_two = hour("acme", "s1", "2026-09-05T10", "13").text().to_owned()
        + &hour("globex", "s1", "2026-09-05T10", "5")
            .text()
            .lines()
            .nth(1)
            .unwrap()
            .replace("NeoCloud", "OtherCloud")
        + "\n";
    let files: [(&str, String); 6] = [
        ("first", hour("acme", "s1", "2026-09-05T10", "10.25").text().to_owned()),
        ("replaces and begins another month", two_months.text().to_owned()),
        ("of two providers", of_two),
        ("a slice of another account", hour("sliced", "s1", "2026-09-05T10", "100").slice()),
        ("the next slice", hour("sliced", "s1", "2026-09-06T10", "20").slice().replace("ref-0", "ref-9")),
        ("the first slice again, by its name", hour("sliced", "s1", "2026-09-05T10", "101").slice()),
    ];
    for (number, (what, content)) in files.into_iter().enumerate() {
        // A slice is known by the name of its file.
        let name = if what.contains("first slice") || what.contains("a slice") {
            "1.csv".into()
        } else {
            format!("{number}.csv")
        };
        let before = at(&ledger).await;
        let delivery = review(&ledger, &name, content).await;
        assert_eq!(at(&ledger).await, before, "{what}: the trial is taken back");
        ledger.assert_balanced().await;
        let promises = promised(&ledger, delivery).await;
        let mut previews = Vec::new();
        for by in ChangesBy::ALL {
            previews.push(changes(&ledger, delivery, by).await);
        }

        let mut db = ledger.db.acquire().await.unwrap();
        let reviewed = publish_reviewed(&mut db, delivery, "test", now()).await.unwrap();
        assert_eq!(reviewed, Reviewed::Published(before + 1), "{what}");
        assert_eq!(publish_reviewed(&mut db, delivery, "test", now()).await.unwrap(), Reviewed::Already);
        drop(db);
        for (account, month, billed) in promises {
            assert_eq!(ledger.billed(&account, &month).await, billed, "{what}: {account} {month}");
        }
        for (by, preview) in ChangesBy::ALL.into_iter().zip(previews) {
            let after = changes(&ledger, delivery, by).await;
            let totals =
                |it: &Changes| -> Vec<_> { it.totals.iter().map(|it| (it.before, it.after)).collect() };
            let lines = |it: &Changes| -> Vec<_> {
                it.lines.iter().map(|it| (it.account.clone(), it.before, it.after)).collect()
            };
            assert_eq!(
                (totals(&preview), lines(&preview)),
                (totals(&after), lines(&after)),
                "{what} by {by}"
            );
        }
        ledger.assert_balanced().await;
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_that_waits_is_a_duplicate_of_itself(db: PgPool) {
    let ledger = TestLedger::new(db);
    review(&ledger, "a.csv", hour("acme", "s1", "2026-09-05T10", "10")).await;
    let again = ledger.deliver("b.csv", hour("acme", "s1", "2026-09-05T10", "10")).await;
    assert_eq!(again.status, Status::Duplicate, "{:?}", again.message);
}
