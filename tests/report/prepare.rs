//! What is prepared before anybody asks answers as rollups do.

use gpuledger::accounts::Viewer;
use gpuledger::ledger;
use gpuledger::report::{Answers, CostMetric, Filter, Grouping, Question, Step};
use serde::Serialize;
use sqlx::PgPool;

use super::two_months;
use crate::support::{Focus, TestLedger};

async fn ledger(db: PgPool) -> TestLedger {
    let more = Focus::new().hour("acme", "s1", "2026-09-03T10", "10.000000000001", "vision").hour(
        "acme",
        "s1",
        "2026-08-03T10",
        "7",
        "vision",
    );
    two_months(db, &more).await
}

async fn prepared(ledger: &TestLedger) -> Answers {
    let answers = Answers::default();
    let mut db = ledger.db.acquire().await.unwrap();
    let sequence = ledger::sequence(&mut db).await.unwrap();
    answers.prepare(&mut db, sequence).await.unwrap();
    answers
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn questions() -> Vec<Question> {
    let filters = [
        Vec::new(),
        vec![Filter::keep(Grouping::Category, vec!["Usage".into()])],
        vec![Filter { leaves_out: true, ..Filter::keep(Grouping::Accelerator, vec![String::new()]) }],
    ];
    let mut questions = Vec::new();
    for period in ["2026-09", "2026-08", "2026-08..2026-09"] {
        for by in Grouping::FIXED.into_iter().chain([Grouping::Tag("team".into())]) {
            for filters in &filters {
                for cost in [CostMetric::Effective, CostMetric::Billed] {
                    questions.push(Question {
                        by: by.clone(),
                        cost,
                        filters: filters.clone(),
                        ..Question::of(period.parse().unwrap(), Viewer::Everything)
                    });
                }
            }
        }
    }
    questions
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn prepared_months_answer_as_rollups_do(db: PgPool) {
    let ledger = ledger(db).await;
    let answers = prepared(&ledger).await;
    let mut db = ledger.db.acquire().await.unwrap();
    for question in questions() {
        let asked = Answers::default().priced_spend(&mut db, &question).await.unwrap();
        assert_eq!(json(&answers.spend(&mut db, &question).await.unwrap()), json(&asked), "{question:?}");
        if question.cost == CostMetric::Billed {
            continue;
        }
        for step in [Step::Day, Step::Month] {
            let series = Answers::default().over_time(&mut db, &question, step, &asked, 3).await.unwrap();
            let known = answers.over_time(&mut db, &question, step, &asked, 3).await.unwrap();
            assert_eq!((&known.buckets, &known.groups), (&series.buckets, &series.groups), "{question:?}");
        }
    }
}

/// Whoever asks first by owner finds the sums, and makes none.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn questions_about_owners_find_the_sums_of_prepared_months(db: PgPool) {
    let ledger = ledger(db).await;
    let answers = prepared(&ledger).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let counted = "select (select count(*) from attributed_parts) + (select count(*) from keyed_months)";
    let before: i64 = sqlx::query_scalar(counted).fetch_one(&mut *db).await.unwrap();
    assert_eq!(before, 4, "two months, each by owner and by key");
    for by in [Grouping::Team, Grouping::Project, Grouping::Experiment, Grouping::CostCentre] {
        let question = Question { by, ..Question::of("2026-09".parse().unwrap(), Viewer::Everything) };
        assert!(answers.spend(&mut db, &question).await.unwrap().total.is_some());
    }
    let after: i64 = sqlx::query_scalar(counted).fetch_one(&mut *db).await.unwrap();
    assert_eq!(after, before);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_that_was_stated_anew_is_right_before_it_is_prepared_again(db: PgPool) {
    let ledger = ledger(db).await;
    let answers = prepared(&ledger).await;
    let more = Focus::new().hour("beta", "b1", "2026-09-04T10", "5", "nlp");
    ledger.deliver("beta.csv", &more).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let question =
        Question { by: Grouping::Account, ..Question::of("2026-09".parse().unwrap(), Viewer::Everything) };
    let asked = Answers::default().priced_spend(&mut db, &question).await.unwrap();
    assert!(asked.groups.iter().any(|group| group.key.as_deref() == Some("b1")), "{asked:?}");
    assert_eq!(json(&answers.spend(&mut db, &question).await.unwrap()), json(&asked));
    let sequence = ledger::sequence(&mut db).await.unwrap();
    answers.prepare(&mut db, sequence).await.unwrap();
    assert_eq!(json(&answers.spend(&mut db, &question).await.unwrap()), json(&asked));
}
