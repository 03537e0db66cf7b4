//! What is remembered is what would be asked.

use gpuledger::accounts::Viewer;
use gpuledger::ledger::{Decision, WhenUnsure};
use gpuledger::report::{Answers, CostMetric, Grouping, Question, Step};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger};

fn question(period: &str, by: Grouping) -> Question {
    let period = period.parse().unwrap();
    Question { by, cost: CostMetric::Billed, ..Question::of(period, Viewer::Everything) }
}

/// What is remembered of September, once it was found to be what is asked, by every dimension.
async fn remembered(ledger: &TestLedger, answers: &Answers) -> Vec<String> {
    let mut db = ledger.db.acquire().await.unwrap();
    let mut seen = Vec::new();
    for by in Grouping::FIXED.into_iter().chain([Grouping::Tag("team".into())]) {
        let question = question("2026-09", by);
        let asked = Answers::default().priced_spend(&mut db, &question).await.unwrap();
        let remembered = answers.spend(&mut db, &question).await.unwrap();
        let json = |spend| serde_json::to_string(spend).unwrap();
        assert_eq!(json(&remembered), json(&asked));
        let series = Answers::default().over_time(&mut db, &question, Step::Day, &asked, 2).await.unwrap();
        let known = answers.over_time(&mut db, &question, Step::Day, &asked, 2).await.unwrap();
        assert_eq!((&known.buckets, &known.groups), (&series.buckets, &series.groups));
        let total: gpuledger::money::Decimal =
            known.groups.iter().flat_map(|(_, costs)| costs).copied().sum();
        assert_eq!(Some(total), asked.total.as_ref().map(|total| total.amount));
        seen.push(asked.total.map(|total| total.amount.normalize().to_string()).unwrap_or_default());
    }
    seen
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_remembered_answer_ends_with_what_it_was_made_of(db: PgPool) {
    let ledger = TestLedger::new(db);
    let answers = Answers::default();
    let both = Focus::new().hour("acme", "s1", "2026-09-05T10", "10.50", "vision").hour(
        "beta",
        "b1",
        "2026-09-06T10",
        "4",
        "nlp",
    );
    ledger.deliver("both.csv", &both).await;
    assert_eq!(remembered(&ledger, &answers).await, ["14.5"; Grouping::FIXED.len() + 1]);

    // One account of the delivery is stated again, the other still counts.
    let acme = Focus::new().hour("acme", "s1", "2026-09-05T10", "11", "vision");
    let second = ledger.deliver("acme.csv", &acme).await.delivery.unwrap();
    assert_eq!(remembered(&ledger, &answers).await, ["15"; Grouping::FIXED.len() + 1]);

    // Another month is another question, and the answer knows where the ledger stands.
    ledger.deliver("later.csv", &Focus::new().hour("acme", "s1", "2027-01-05T10", "7", "vision")).await;
    assert_eq!(remembered(&ledger, &answers).await, ["15"; Grouping::FIXED.len() + 1]);

    ledger.undo(second).await;
    assert_eq!(remembered(&ledger, &answers).await, ["14.5"; Grouping::FIXED.len() + 1]);
    let path = ledger.file("more.csv", Focus::new().hour("acme", "s2", "2026-09-07T10", "1", "vision"));
    ledger.import(&[path], Some(Decision::Add), WhenUnsure::Wait).await;
    assert_eq!(remembered(&ledger, &answers).await, ["15.5"; Grouping::FIXED.len() + 1]);
}
