//! What is added to the catalog of accelerators changes what is recorded, all of it at once; removing it leads back.

use gpuledger::accelerator::{self, NotAdded};
use gpuledger::audit::Actor;
use gpuledger::ledger::{self, NewAddition, Status};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger, now};

/// An hour of a machine that the catalog does not know, of `{account}`.
fn unknown_hour(account: &str, at: &str, cost: &str) -> String {
    let file = Focus::new().hour(account, "s1", at, cost, "vision");
    file.text().replace("NeoCloud", "AWS").replace("8xH100", "p9.48xlarge").replace(",\"\"GpuCount\"\":8", "")
}

fn new_machine(accelerators: &str) -> NewAddition {
    NewAddition {
        provider: "AWS".to_owned(),
        name: "p9.48xlarge".to_owned(),
        model: accelerator::model("nvidia-b300").unwrap(),
        accelerators: Some(accelerators.parse().unwrap()),
        same_as: None,
        source: "a data sheet".to_owned(),
    }
}

async fn add(ledger: &TestLedger, new: &NewAddition) -> Result<i64, NotAdded> {
    let mut db = ledger.db.acquire().await.unwrap();
    ledger::add(&mut db, new, Actor::command_line(Some("test")).at(now())).await.unwrap()
}

async fn remove(ledger: &TestLedger, addition: i64) -> bool {
    let mut db = ledger.db.acquire().await.unwrap();
    let by = Actor::command_line(Some("test"));
    ledger::remove(&mut db, addition, by.at(now())).await.unwrap().is_some()
}

/// Of what is active, accelerators and hours by model, from the sums of months by key and by plain key.
async fn hours(ledger: &TestLedger) -> [Vec<(Option<String>, String)>; 2] {
    let of = async |table: &str| {
        sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "select k.accelerator, trim_scale(coalesce(sum(c.metered_quantity * k.accelerator_parts * k.unit_seconds), 0)
                 / (55440 * 3600))::text
             from {table} c
             join visibility v on v.delivery_id = c.delivery_id and v.scope_id = c.scope_id and v.until_sequence is null
             join charge_keys k using (charge_key_id)
             group by 1 order by 1"
        )))
        .fetch_all(&ledger.db)
        .await
        .unwrap()
    };
    [of("monthly_costs").await, of("monthly_totals").await]
}

fn both(rows: &[(Option<&str>, &str)]) -> [Vec<(Option<String>, String)>; 2] {
    let rows: Vec<_> =
        rows.iter().map(|(model, hours)| (model.map(str::to_owned), (*hours).to_owned())).collect();
    [rows.clone(), rows]
}

/// How many keys an earlier catalog recognized.
async fn stale(ledger: &TestLedger) -> i64 {
    let mut db = ledger.db.acquire().await.unwrap();
    let version = i64::from(ledger::catalog(&mut db).await.unwrap().version());
    sqlx::query_scalar("select count(*) from charge_keys where catalog_version <> $1")
        .bind(version)
        .fetch_one(&mut *db)
        .await
        .unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn hours_after_an_undone_addition_are_those_before_it(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("aws.csv", unknown_hour("acme", "2026-09-05T10", "100")).await;
    ledger.deliver("neo.csv", Focus::new().hour("beta", "b1", "2026-09-05T10", "40", "nlp")).await;
    let before = both(&[(Some("H100"), "8"), (None, "0")]);
    assert_eq!(hours(&ledger).await, before);

    let addition = add(&ledger, &new_machine("8")).await.unwrap();
    assert_eq!(hours(&ledger).await, both(&[(Some("B300"), "8"), (Some("H100"), "8")]));
    assert!(stale(&ledger).await > 0, "what it does not change is looked at later");
    ledger.assert_balanced().await;
    let mut db = ledger.db.acquire().await.unwrap();
    assert!(ledger::recognize_again(&mut db).await.unwrap() > 0);
    assert_eq!(stale(&ledger).await, 0);
    assert_eq!(hours(&ledger).await, both(&[(Some("B300"), "8"), (Some("H100"), "8")]));

    assert!(remove(&ledger, addition).await);
    assert!(!remove(&ledger, addition).await, "only once");
    assert_eq!(hours(&ledger).await, before);
    ledger.assert_balanced().await;
    ledger::recognize_again(&mut db).await.unwrap();
    assert_eq!(hours(&ledger).await, before);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_was_imported_under_an_addition_stays_sound_without_it(db: PgPool) {
    let ledger = TestLedger::new(db);
    let addition = add(&ledger, &new_machine("1/6")).await.unwrap();
    // Its resource is part of the key now.
    ledger.deliver("aws.csv", unknown_hour("acme", "2026-09-05T10", "100")).await;
    assert_eq!(hours(&ledger).await, both(&[(Some("B300"), "0.16666666666666666667")]));
    assert_eq!(stale(&ledger).await, 0);
    ledger.assert_balanced().await;
    assert!(remove(&ledger, addition).await);
    assert_eq!(hours(&ledger).await, both(&[(None, "0")]));
    ledger.assert_balanced().await;
    // The same file states the same, and its keys are others.
    ledger.deliver("aws-2.csv", unknown_hour("other", "2026-09-05T10", "100")).await;
    add(&ledger, &new_machine("8")).await.unwrap();
    assert_eq!(hours(&ledger).await, both(&[(Some("B300"), "16")]));
    ledger.assert_balanced().await;
}

/// An import that began with the catalog of then, and is published with that of now.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_import_is_published_by_the_catalog_of_then_recognized_by_that_of_now(db: PgPool) {
    let ledger = TestLedger::new(db);
    let two = Focus::new().hour("acme", "s1", "2026-09-05T10", "100", "vision").hour(
        "acme",
        "s2",
        "2026-09-06T10",
        "100",
        "vision",
    );
    ledger.deliver("first.csv", Focus::from(two.text().replace("NeoCloud", "AWS"))).await;
    // It lacks a day and a sub-account, so it waits.
    let waiting = ledger.deliver("second.csv", unknown_hour("acme", "2026-09-05T10", "100")).await;
    assert_eq!(waiting.status, Status::Waiting);
    add(&ledger, &new_machine("8")).await.unwrap();
    let mut db = ledger.db.acquire().await.unwrap();
    // As its loading writes them after the addition.
    sqlx::query(
        "update charge_keys set accelerator = null, accelerator_parts = null, unit_seconds = null, catalog_version = 1
         where instance_type = 'p9.48xlarge'",
    )
    .execute(&mut *db)
    .await
    .unwrap();
    let decision = Some(ledger::Decision::Replace);
    let delivery = waiting.delivery.unwrap();
    ledger::publish(&mut db, delivery, decision, None, "test", now()).await.unwrap();
    assert_eq!(hours(&ledger).await, both(&[(Some("B300"), "8")]));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_known_is_not_added(db: PgPool) {
    let ledger = TestLedger::new(db);
    let shipped = NewAddition { name: "p5.48xlarge".to_owned(), ..new_machine("1") };
    assert!(matches!(add(&ledger, &shipped).await, Err(NotAdded::Known(it)) if it.source.is_some()));
    add(&ledger, &new_machine("8")).await.unwrap();
    assert!(matches!(add(&ledger, &new_machine("8")).await, Err(NotAdded::Known(it)) if it.source.is_none()));
    let mut db = ledger.db.acquire().await.unwrap();
    assert_eq!(ledger::catalog_revision(&mut db).await.unwrap(), 1);
}
