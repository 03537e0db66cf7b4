//! Whose month it is: accounts and providers that are called in several ways.

use gpuledger::ledger::{Decision, Published, Status, publish};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger, now, number};

const ACCOUNT: &str = "/providers/Microsoft.Billing/billingAccounts/5b1e-aa:91f0_2019-05-31";
const STORED: &str = "5b1e-aa:91f0_2019-05-31";

/// An hour of Azure, billed to a profile of an account or, without one, to the account.
fn azure(profile: &str, cost: &str) -> String {
    let account = match profile {
        "" => ACCOUNT.to_owned(),
        profile => format!("{ACCOUNT}/billingProfiles/{profile}"),
    };
    let file = Focus::new().hour(&account, "/subscriptions/0f39", "2026-09-05T10", cost, "vision");
    file.text().replace("NeoCloud", "Microsoft")
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn two_billing_profiles_of_azure_are_two_scopes(db: PgPool) {
    let ledger = TestLedger::new(db);
    let (a, b) = (format!("{STORED}/ab12"), format!("{STORED}/zz99"));
    assert_eq!(ledger.deliver("a.csv", azure("AB12", "10")).await.status, Status::Loaded);
    assert_eq!(ledger.deliver("b.csv", azure("ZZ99", "20")).await.status, Status::Loaded);
    let corrected = ledger.deliver("a-corrected.csv", azure("AB12", "11")).await;
    assert_eq!(corrected.message.as_deref(), Some("replaces import 1"));
    assert_eq!(
        (ledger.billed(&a, "2026-09").await, ledger.billed(&b, "2026-09").await),
        (number("11"), number("20"))
    );
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_of_a_whole_azure_account_does_not_count_beside_its_profiles_unasked(db: PgPool) {
    let ledger = TestLedger::new(db);
    let profile = format!("{STORED}/ab12");
    // As versions stored it that left the profile out.
    let before = ledger.deliver("before.csv", azure("", "30")).await.delivery.unwrap();
    let report = ledger.deliver("a.csv", azure("AB12", "10")).await;
    assert_eq!(report.status, Status::Waiting);
    let message = report.message.unwrap();
    assert!(message.contains(&format!("Microsoft {STORED} 2026-09: import {before}")), "{message}");
    assert!(message.contains(&format!("This file calls it Microsoft {profile}")), "{message}");
    assert_eq!(ledger.billed(STORED, "2026-09").await, number("30"));
    assert_eq!(ledger.billed(&profile, "2026-09").await, number("0"));

    let mut db = ledger.db.acquire().await.unwrap();
    let delivery = report.delivery.unwrap();
    let published = publish(&mut db, delivery, Some(Decision::Replace), None, "test", now()).await.unwrap();
    assert!(matches!(published, Published::At(_)));
    assert_eq!(ledger.billed(STORED, "2026-09").await, number("0"));
    assert_eq!(ledger.billed(&profile, "2026-09").await, number("10"));
    // The other profile meets nothing that counts there any more, and takes its place as well.
    let other = ledger.deliver("b.csv", azure("ZZ99", "20")).await;
    assert_eq!(other.status, Status::Loaded);
    assert_eq!(ledger.billed(&format!("{STORED}/zz99"), "2026-09").await, number("20"));
    ledger.assert_balanced().await;
    ledger.undo(delivery).await;
    assert_eq!(ledger.billed(STORED, "2026-09").await, number("0"), "beside a profile it would count twice");
    ledger.undo(other.delivery.unwrap()).await;
    assert_eq!(ledger.billed(STORED, "2026-09").await, number("30"), "exactly what was there");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn profile_that_takes_over_a_larger_month_asks_with_the_amount_and_is_remembered(db: PgPool) {
    let ledger = TestLedger::new(db);
    let open = async || -> Vec<String> {
        sqlx::query_scalar(
            "select shrunk.loss from shrunk_scopes shrunk join visibility v using (delivery_id, scope_id)
             where shrunk.explanation is null and v.until_sequence is null",
        )
        .fetch_all(&ledger.db)
        .await
        .unwrap()
    };
    // As versions stored it that left the profile out: nearly all of it is of another profile.
    ledger.deliver("before.csv", azure("", "100000")).await;
    let a = ledger.deliver("a.csv", azure("AB12", "1000")).await;
    assert_eq!(a.status, Status::Waiting);
    let (message, a) = (a.message.unwrap(), a.delivery.unwrap());
    assert!(message.contains("99% of the billed cost (100,000.00 to 1,000.00 USD)"), "{message}");
    let mut db = ledger.db.acquire().await.unwrap();
    publish(&mut db, a, Some(Decision::Replace), None, "test", now()).await.unwrap();
    let lost = open().await;
    assert!(lost.len() == 1 && lost[0].contains("99% of the billed cost"), "{lost:?}");
    // The same profile again brings nothing back, the other one does.
    ledger.deliver("a2.csv", azure("AB12", "1001")).await;
    let lost = open().await;
    assert!(lost.len() == 1 && lost[0].contains("(100,000.00 to 1,001.00 USD)"), "{lost:?}");
    let b = ledger.deliver("b.csv", azure("ZZ99", "99000")).await;
    assert_eq!(b.status, Status::Loaded);
    assert_eq!(open().await, [""; 0]);
    ledger.undo(b.delivery.unwrap()).await;
    assert_eq!(open().await, lost);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_that_goes_on_under_another_name_is_no_loss(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("before.csv", azure("", "30")).await;
    let both = azure("AB12", "10") + azure("ZZ99", "20").lines().nth(1).unwrap() + "\n";
    let report = ledger.deliver("both.csv", both).await;
    assert_eq!(report.status, Status::Waiting);
    let message = report.message.unwrap();
    assert!(message.contains("under a former name") && !message.contains("would remove"), "{message}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_under_a_former_name_of_its_provider_is_asked_about(db: PgPool) {
    let ledger = TestLedger::new(db);
    let file = |name: &str, cost: &str| {
        Focus::new().hour("a1", "s1", "2026-09-05T10", cost, "x").text().replace("NeoCloud", name)
    };
    ledger.deliver("first.csv", file("CoreWeave", "10")).await;
    // As versions stored it that knew no legal entities.
    sqlx::query("update scopes set provider = 'CoreWeave, Inc.'").execute(&ledger.db).await.unwrap();
    let report = ledger.deliver("second.csv", file("Coreweave", "11")).await;
    assert_eq!(report.status, Status::Waiting);
    assert!(report.message.unwrap().contains("CoreWeave, Inc. a1 2026-09"));
    let mut db = ledger.db.acquire().await.unwrap();
    publish(&mut db, report.delivery.unwrap(), Some(Decision::Replace), None, "test", now()).await.unwrap();
    assert_eq!(ledger.billed("a1", "2026-09").await, number("11"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_provider_is_one_scope_in_every_spelling(db: PgPool) {
    let ledger = TestLedger::new(db);
    for (at, name) in ["CoreWeave", "Coreweave", "COREWEAVE", "\"CoreWeave, Inc.\""].into_iter().enumerate() {
        let file = Focus::new().hour("a1", "s1", "2026-09-05T10", &format!("1{at}"), "x");
        let report = ledger.deliver(&format!("{at}.csv"), file.text().replace("NeoCloud", name)).await;
        assert_eq!(report.status, Status::Loaded, "{name}");
    }
    assert_eq!(ledger.billed("a1", "2026-09").await, number("13"));
    ledger.assert_balanced().await;
}
