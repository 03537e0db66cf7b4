//! Usage that arrives without cost: unpriced until a rate card covers it, priced again when that changes, as it was when the
//! change is undone.

use gpuledger::audit::Actor;
use gpuledger::changes::{self, Document as _, Outcome, Right};
use gpuledger::ledger::{self, Decision, Repriced, WhenUnsure, outdated, reprice};
use gpuledger::money::Decimal;
use gpuledger::rate_cards::{Edit, RateCards, edits_of, edits_of_addition, read};
use sqlx::PgPool;

use crate::support::{TestLedger, files, now, number};

const HEADER: &str = "provider,accelerator,sku,pricing,unit,from_quantity,price,currency,valid_from,valid_to";

fn usage() -> String {
    std::fs::read_to_string(files::fixture("exports/focus-usage/coreweave-1.2/input.csv")).unwrap()
}

async fn change(ledger: &TestLedger, edits: Vec<Edit>) -> i64 {
    let mut db = ledger.db.acquire().await.unwrap();
    let by = Actor::person("fin@example.org", "test");
    let outcome =
        changes::change::<RateCards>(&mut db, edits, "rates", Right::Apply, by.at(now())).await.unwrap();
    let Outcome::At { change, .. } = outcome else { panic!("{outcome:?}") };
    change
}

/// Applies rates, each a line of a file.
pub(super) async fn add(ledger: &TestLedger, lines: &[&str]) -> i64 {
    let read = read::read(format!("{HEADER}\n{}\n", lines.join("\n")).into_bytes()).unwrap();
    assert_eq!(read.rejected, []);
    let mut db = ledger.db.acquire().await.unwrap();
    let (_, cards) = RateCards::current(&mut db).await.unwrap();
    let edits = edits_of_addition(&mut db, &cards, read.rates).await.unwrap();
    drop(db);
    change(ledger, edits).await
}

/// Gives the rate of these words another price.
async fn correct(ledger: &TestLedger, words: &str, price: &str) -> i64 {
    let mut db = ledger.db.acquire().await.unwrap();
    let (_, cards) = RateCards::current(&mut db).await.unwrap();
    let (id, rate) = cards.rates.iter().find(|(_, rate)| rate.title().contains(words)).unwrap();
    let after = gpuledger::rating::Rate { price: number(price), ..rate.clone() };
    let edits = edits_of(&cards, *id, Some(after)).unwrap();
    drop(db);
    change(ledger, edits).await
}

/// Prices what is to be priced again, as a worker does; answers what became of each import.
pub(super) async fn price(ledger: &TestLedger) -> Vec<Repriced> {
    let mut became = Vec::new();
    for delivery in outdated(&mut ledger.db.acquire().await.unwrap(), now()).await.unwrap() {
        became.push(reprice((&ledger.db, &ledger.originals), delivery, &[], ("test", now())).await.unwrap());
    }
    assert_eq!(outdated(&mut ledger.db.acquire().await.unwrap(), now()).await.unwrap(), Vec::<i64>::new());
    became
}

async fn undo_change(ledger: &TestLedger, id: i64) {
    let mut db = ledger.db.acquire().await.unwrap();
    let by = Actor::person("fin@example.org", "test");
    let outcome = changes::undo::<RateCards>(&mut db, id, None, by.at(now())).await.unwrap();
    assert!(matches!(outcome, Outcome::At { .. }), "{outcome:?}");
}

/// Accelerator-hours that count, and those that are unpriced.
pub(super) async fn hours(ledger: &TestLedger) -> (Decimal, Decimal) {
    let mut db = ledger.db.acquire().await.unwrap();
    let counted: Decimal = sqlx::query_scalar(
        "select coalesce(sum(m.metered_quantity * k.accelerator_parts * k.unit_seconds) / (55440 * 3600), 0)
         from monthly_costs m
         join visibility v on v.delivery_id = m.delivery_id and v.scope_id = m.scope_id and v.until_sequence is null
         join charge_keys k using (charge_key_id)",
    )
    .fetch_one(&mut *db)
    .await
    .unwrap();
    let rates = ledger::rates(&mut db).await.unwrap().rates;
    let unpriced = gpuledger::report::unpriced_usage(&mut db, &rates).await.unwrap();
    (counted.normalize(), unpriced.iter().map(|it| it.accelerator_hours).sum::<Decimal>().normalize())
}

const ACCOUNT: &str = "org-7f3a";

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn usage_is_unpriced_until_a_rate_covers_it_and_changed_rates_price_it_again(db: PgPool) {
    let ledger = TestLedger::new(db);
    let report = ledger.deliver("coreweave.csv", usage()).await;
    assert_eq!((report.status.as_str(), report.format.as_deref()), ("loaded", Some("focus-usage")));
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("0"));
    // (4 + 16 + 4) × 8 H100 and 2.5 × 4 GB200.
    assert_eq!(hours(&ledger).await, (number("0"), number("202")));
    ledger.assert_balanced().await;

    let first = add(
        &ledger,
        &[
            "CoreWeave,H100,,Standard,GPU-hour,,6.155,USD,2026-01-01,",
            "CoreWeave,H100,,Committed,GPU-hour,,2.49,USD,2026-01-01,",
            "CoreWeave,,dfs-standard,,GiB-Hours,,0.0000959,USD,2026-01-01,",
        ],
    )
    .await;
    let [Repriced::As { delivery: priced, .. }] = *price(&ledger).await else { panic!("priced once") };
    // 8 × 8 × 6.155 + 16 × 8 × 2.49 + 20480.125 × 0.0000959.
    let at_first = number("714.6040439875");
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, at_first);
    assert_eq!(hours(&ledger).await, (number("192"), number("10")));
    ledger.assert_balanced().await;

    let corrected = correct(&ledger, "Committed", "2.39").await;
    let [Repriced::As { delivery: again, .. }] = *price(&ledger).await else { panic!("priced once") };
    assert!(again > priced);
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("701.8040439875"));
    ledger.assert_balanced().await;

    undo_change(&ledger, corrected).await;
    assert!(matches!(*price(&ledger).await, [Repriced::As { .. }]));
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, at_first);
    undo_change(&ledger, first).await;
    price(&ledger).await;
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("0"));
    assert_eq!(hours(&ledger).await, (number("0"), number("202")));
    ledger.assert_balanced().await;
    // Undoing the import takes the file out, and not the last of its prices alone.
    ledger.undo(again).await;
    assert_eq!(hours(&ledger).await, (number("0"), number("0")));
    ledger.assert_balanced().await;
    assert_eq!(ledger.deliver("coreweave.csv", usage()).await.status.as_str(), "loaded", "it loads again");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn import_priced_again_stays_in_its_place_among_others(db: PgPool) {
    let ledger = TestLedger::new(db);
    add(&ledger, &["CoreWeave,H100,,,GPU-hour,,2,USD,2026-01-01,"]).await;
    let first = ledger.deliver("coreweave.csv", usage()).await.delivery.unwrap();
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("384"));
    let more = usage().replace(",16,Instance-Hours", ",1,Instance-Hours");
    let path = ledger.file("more.csv", more);
    let added = ledger.import(&[path], Some(Decision::Add), WhenUnsure::Wait).await.pop().unwrap();
    assert_eq!(added.status.as_str(), "loaded", "{:?}", added.message);
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("528"));
    correct(&ledger, "H100", "3").await;
    assert_eq!(price(&ledger).await.len(), 2);
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("792"), "both count, and one still adds");
    ledger.assert_balanced().await;
    ledger.undo(added.delivery.unwrap()).await;
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("576"));
    // What replaces the month replaces it however it is priced, and undone it is back with the prices of now.
    let replacing =
        ledger.deliver("whole.csv", usage().replace(",4,Instance-Hours", ",5,Instance-Hours")).await;
    assert_eq!(replacing.status.as_str(), "loaded", "{:?}", replacing.message);
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("624"));
    correct(&ledger, "H100", "4").await;
    assert_eq!(price(&ledger).await.len(), 1);
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("832"));
    ledger.undo(replacing.delivery.unwrap()).await;
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("576"));
    assert!(matches!(*price(&ledger).await, [Repriced::As { .. }]), "import {first} had the price of then");
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("768"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rates_for_other_usage_leave_an_import_as_it_is(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("coreweave.csv", usage()).await;
    add(
        &ledger,
        &[
            "Lambda,H100,,,GPU-hour,,2,USD,2026-01-01,",
            "CoreWeave,H100,,,GPU-hour,,2,EUR,2026-01-01,",
            "CoreWeave,B200,,,GPU-hour,,4,USD,2026-01-01,",
        ],
    )
    .await;
    assert_eq!(price(&ledger).await, [Repriced::Unchanged]);
    let mut db = ledger.db.acquire().await.unwrap();
    let rates = ledger::rates(&mut db).await.unwrap().rates;
    let unpriced = gpuledger::report::unpriced_usage(&mut db, &rates).await.unwrap();
    let in_euros: Vec<_> = unpriced.iter().filter(|it| it.rates_in == ["EUR"]).collect();
    assert_eq!(in_euros.len(), 2, "both categories of H100: {unpriced:?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn tiers_and_prices_from_a_day_on_count_through_the_month(db: PgPool) {
    let ledger = TestLedger::new(db);
    add(
        &ledger,
        &[
            "CoreWeave,,gd-8xh100ib-i128,,Instance-Hours,,40,USD,2026-01-01,",
            "CoreWeave,,gd-8xh100ib-i128,,Instance-Hours,10,30,USD,2026-01-01,",
            "CoreWeave,,gb200-4x,,Instance-Hours,,50,USD,2026-01-01,",
        ],
    )
    .await;
    ledger.deliver("coreweave.csv", usage()).await;
    // 24 instance-hours: 10 × 40 and 14 × 30; 2.5 × 50.
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("945"));
    ledger.assert_balanced().await;
    // A new price of GB200 ends the former one, and only later usage has it.
    add(&ledger, &["CoreWeave,,gb200-4x,,Instance-Hours,,60,USD,2026-09-04,"]).await;
    assert_eq!(price(&ledger).await, [Repriced::Unchanged], "none of its days has another price");
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("945"));
    add(&ledger, &["CoreWeave,,gb200-4x,Dynamic,Instance-Hours,,60,USD,2026-09-03,"]).await;
    price(&ledger).await;
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("970"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn import_whose_file_is_gone_keeps_its_prices_and_says_so(db: PgPool) {
    let ledger = TestLedger::new(db);
    add(&ledger, &["CoreWeave,H100,,,GPU-hour,,2,USD,2026-01-01,"]).await;
    ledger.deliver("coreweave.csv", usage()).await;
    sqlx::query("delete from originals").execute(&ledger.db).await.unwrap();
    correct(&ledger, "H100", "3").await;
    let became = price(&ledger).await;
    let [Repriced::Problem(message)] = became.as_slice() else { panic!("{became:?}") };
    assert!(message.contains("coreweave.csv"), "{message}");
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("384"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn machine_that_is_added_to_the_catalog_is_priced_by_the_rates_that_are_there(db: PgPool) {
    let ledger = TestLedger::new(db);
    add(&ledger, &["CoreWeave,B300,,,GPU-hour,,5,USD,2026-01-01,"]).await;
    let unknown = usage().replace("gd-8xh100ib-i128", "neo-9000");
    let first = ledger.deliver("coreweave.csv", unknown).await.delivery.unwrap();
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("0"));
    let new = ledger::NewAddition {
        provider: "CoreWeave".to_owned(),
        name: "neo-9000".to_owned(),
        model: gpuledger::accelerator::model("nvidia-b300").unwrap(),
        accelerators: Some("8".parse().unwrap()),
        same_as: None,
        source: "a data sheet".to_owned(),
    };
    let mut db = ledger.db.acquire().await.unwrap();
    let by = Actor::person("ada@example.org", "test");
    ledger::add(&mut db, &new, by.at(now())).await.unwrap().unwrap();
    drop(db);
    assert!(matches!(*price(&ledger).await, [Repriced::As { .. }]));
    // 24 × 8 × 5.
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("960"));
    // The former version is checked by what was known then.
    ledger.assert_balanced().await;
    ledger.undo(first).await;
    assert_eq!(ledger.billed(ACCOUNT, "2026-09").await, number("0"), "whichever of its versions is named");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn import_that_is_active_in_one_of_its_months_is_priced_in_both(db: PgPool) {
    let ledger = TestLedger::new(db);
    add(&ledger, &["CoreWeave,H100,,,GPU-hour,,2,USD,2026-01-01,"]).await;
    let october = usage().replace("2026-10-01", "2026-11-01").replace("2026-09-", "2026-10-");
    let october = october.replace("2026-10-30T23:00:00Z,2026-11-01", "2026-10-30T23:00:00Z,2026-10-31");
    let both = format!("{}{}", usage(), october.split_once('\n').unwrap().1);
    ledger.deliver("both.csv", both).await;
    let replaced = ledger.deliver("october.csv", october.replace(",16,Instance", ",17,Instance")).await;
    assert_eq!(replaced.status.as_str(), "loaded", "{:?}", replaced.message);
    assert_eq!(ledger.billed(ACCOUNT, "2026-10").await, number("400"));
    add(&ledger, &["CoreWeave,H100,,,GPU-hour,,3,USD,2026-10-01,"]).await;
    price(&ledger).await;
    let totals = [ledger.billed(ACCOUNT, "2026-09").await, ledger.billed(ACCOUNT, "2026-10").await];
    assert_eq!(totals, [number("384"), number("600")]);
    ledger.undo(replaced.delivery.unwrap()).await;
    assert_eq!(ledger.billed(ACCOUNT, "2026-10").await, number("576"), "with the price of now");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_charge_of_a_row_is_priced_by_the_million_tokens_or_the_gpu_hour(db: PgPool) {
    const FILE: &str = "email,start_time,end_time,usage_type,accelerator_type,accelerator_seconds,base_model_name,prompt_tokens,completion_tokens\n\
         ml@example.com,2026-09-03 10:00:00 UTC,2026-09-03 10:00:00 UTC,CHAT,,,accounts/fireworks/models/kimi,500000,200000\n\
         ml@example.com,2026-09-03 10:00:00 UTC,2026-09-03 10:00:00 UTC,CHAT,,,accounts/fireworks/models/kimi,500000,200000\n\
         ml@example.com,2026-09-03 10:00:00 UTC,2026-09-03 11:00:00 UTC,DEPLOYMENT_USAGE,NVIDIA_H100_80GB,7200,,,\n";
    let ledger = TestLedger::new(db);
    let file = FILE.replace("CHAT", "TEXT_COMPLETION_INFERENCE_USAGE");
    let report = ledger.deliver("metrics.csv", file).await;
    assert_eq!((report.status.as_str(), report.format.as_deref()), ("loaded", Some("fireworks-metrics")));
    assert_eq!(hours(&ledger).await, (number("0"), number("2")));
    ledger.assert_balanced().await;
    add(
        &ledger,
        &[
            "Fireworks AI,,kimi input tokens,,1M tokens,,0.6,USD,2026-01-01,",
            "Fireworks AI,,kimi output tokens,,1M tokens,,2.5,USD,2026-01-01,",
            "Fireworks AI,H100,,,GPU-hour,,4,USD,2026-01-01,",
        ],
    )
    .await;
    assert!(matches!(*price(&ledger).await, [Repriced::As { .. }]));
    // 2 × (0.5 × 0.6 + 0.2 × 2.5) + 2 × 4.
    assert_eq!(ledger.billed("ml@example.com", "2026-09").await, number("9.6"));
    assert_eq!(hours(&ledger).await, (number("2"), number("0")));
    ledger.assert_balanced().await;
}
