//! Charges come page by page: each once, and together what the month shows.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufWriter;

use gpuledger::accounts::Viewer;
use gpuledger::allocation::{Entry, Split, Target};
use gpuledger::generate::{self, Format, Plan};
use gpuledger::ledger::WhenUnsure;
use gpuledger::money::Decimal;
use gpuledger::report::{self, Answers, Charges, CostMetric, Filter, Grouping, Order, Page, Question};
use sqlx::PgPool;

use crate::support::configuration::{pool, rule, team, to_pool, write};
use crate::support::{Focus, TestLedger};

fn question(filters: Vec<Filter>) -> Question {
    Question {
        cost: CostMetric::Billed,
        filters,
        ..Question::of("2026-09".parse().unwrap(), Viewer::Everything)
    }
}

async fn page(ledger: &TestLedger, question: &Question, first: i64, size: i64) -> Charges {
    let mut db = ledger.db.acquire().await.unwrap();
    let by_provider = Question { by: Grouping::Provider, ..question.clone() };
    let spend = Answers::default().priced_spend(&mut db, &by_provider).await.unwrap();
    let page = Page { first, size };
    Answers::default().charges(&mut db, question, &spend, None, page).await.unwrap().unwrap()
}

/// Walks through all pages; each charge is met once, and they sum to the total.
async fn walk(ledger: &TestLedger, question: &Question) -> Charges {
    let first = page(ledger, question, 0, report::PAGE_SIZE).await;
    let mut seen = BTreeSet::new();
    let mut sum = Decimal::ZERO;
    for at in (0..first.count).step_by(report::PAGE_SIZE as usize) {
        for line in page(ledger, question, at, report::PAGE_SIZE).await.lines {
            sum += line.billed_cost;
            assert!(seen.insert((line.delivery, line.file_no, line.row)), "row {} twice", line.row);
        }
    }
    assert_eq!((seen.len() as i64, sum), (first.count, first.total));
    first
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_charge_is_on_one_page(db: PgPool) {
    let ledger = TestLedger::new(db);
    let file = ledger.folder.path().join("month.csv");
    let plan = Plan::new(Format::AwsCur, 6_000, "2026-09".parse().unwrap(), 11);
    let totals = generate::write(&plan, &mut BufWriter::new(File::create(&file).unwrap())).unwrap();
    ledger.import(&[file], None, WhenUnsure::Wait).await;

    let everything = walk(&ledger, &question(Vec::new())).await;
    assert_eq!((everything.order, everything.total), (Order::LargestKeyFirst, totals.billed));
    // One who reads them all, as files do, finds the same.
    let file = page(&ledger, &question(Vec::new()), 0, 100_000).await;
    assert_eq!((file.count, file.total), (everything.count, everything.total));

    let day = Filter::keep(Grouping::Day, vec!["2026-09-07".into(), "whole-period".into()]);
    let days = walk(&ledger, &question(vec![day.clone()])).await;
    assert_eq!(days.order, Order::LargestFirst);
    assert!(days.lines.is_sorted_by(|a, b| a.billed_cost >= b.billed_cost));
    let scanned = page(&ledger, &question(vec![day]), 0, 100_000).await;
    assert_eq!((scanned.count, scanned.total), (days.count, days.total));
    assert!(days.count > 0 && days.count < everything.count);

    assert!(page(&ledger, &question(Vec::new()), 1_000_000, report::PAGE_SIZE).await.lines.is_empty());
    let nowhere = Filter::keep(Grouping::Region, vec!["nowhere".into()]);
    assert_eq!(walk(&ledger, &question(vec![nowhere])).await.count, 0);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn only_what_counts_is_listed(db: PgPool) {
    let ledger = TestLedger::new(db);
    let both = Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "x").hour(
        "globex",
        "s2",
        "2026-09-05T10",
        "7",
        "x",
    );
    ledger.deliver("both.csv", &both).await;
    // Takes the place of one account; the other one's charges still count.
    ledger.deliver("acme.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "11", "x")).await;
    let listed = walk(&ledger, &question(Vec::new())).await;
    assert_eq!((listed.count, listed.total.to_string()), (2, "18".to_owned()));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn list_of_charges_has_no_part_of_shared_costs_where_none_are_divided(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("acme.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "x")).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let question = Question { by: Grouping::Provider, ..question(Vec::new()) };
    let mut spend = Answers::default().priced_spend(&mut db, &question).await.unwrap();
    // A spend that disagrees with its charges is no part of shared costs.
    spend.total.as_mut().unwrap().amount += 3.into();
    let page = Page { first: 0, size: report::PAGE_SIZE };
    let found = Answers::default().charges(&mut db, &question, &spend, None, page).await.unwrap().unwrap();
    assert_eq!((found.shared, found.whole()), (Decimal::ZERO, 10.into()));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn charges_that_nobody_claims_are_without_shared_costs(db: PgPool) {
    let ledger = TestLedger::new(db);
    let file = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "10", "research")
        .hour("acme", "s2", "2026-09-05T10", "200", "")
        .hour("acme", "s3", "2026-09-05T10", "7", "");
    ledger.deliver("acme.csv", &file).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let entries = vec![
        team("research"),
        Entry::Pool(pool("shared", Split::Evenly)),
        rule(1, "account", "s2", to_pool("shared")),
        rule(2, "", "", Target::Labels),
    ];
    write(&mut db, entries).await;
    drop(db);
    let nobody = Filter { dimension: Grouping::Team, values: vec![String::new()], leaves_out: false };
    let found = page(&ledger, &question(vec![nobody]), 0, report::PAGE_SIZE).await;
    assert_eq!((found.count, found.total, found.shared), (1, 7.into(), Decimal::ZERO));
}
