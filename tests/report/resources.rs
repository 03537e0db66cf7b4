//! What resources cost, from sums of their own and from charges.

use gpuledger::accounts::Viewer;
use gpuledger::allocation::{Entry, Split, Target};
use gpuledger::report::{Answers, CostMetric, FIRST, Filter, Group, Grouping, Page, Question, Spend, Step};
use sqlx::PgPool;

use super::two_months;
use crate::support::configuration::{pool, rule, team, to_pool, write};
use crate::support::{Focus, TestLedger};

/// Machines and what is stored beside them; two teams and a shared cost.
async fn ledger(db: PgPool) -> TestLedger {
    let more = Focus::new().hour("acme", "s1", "2026-09-03T10", "10.000000000001", "vision");
    let ledger = two_months(db, &more).await;
    let entries = vec![
        team("vision"),
        team("nlp"),
        Entry::Pool(pool("shared", Split::Evenly)),
        rule(1, "service", "AmazonS3", to_pool("shared")),
        rule(2, "", "", Target::Labels),
    ];
    write(&mut ledger.db.acquire().await.unwrap(), entries).await;
    ledger
}

fn september(viewer: &Viewer, filters: &[Filter]) -> Question {
    Question {
        by: Grouping::Resource,
        filters: filters.to_vec(),
        ..Question::of("2026-09".parse().unwrap(), viewer.clone())
    }
}

async fn spend(ledger: &TestLedger, question: &Question) -> Spend {
    Answers::default().priced_spend(&mut ledger.db.acquire().await.unwrap(), question).await.unwrap()
}

/// A machine, something without accelerators, and what names no resource.
async fn filters(ledger: &TestLedger) -> Vec<Vec<Filter>> {
    let of_category = |category: &str| Filter::keep(Grouping::Category, vec![category.to_owned()]);
    let without = Filter::keep(Grouping::Accelerator, vec![String::new()]);
    let mut found = vec![Vec::new(), vec![of_category("Usage")]];
    for filter in [without.clone(), Filter { leaves_out: true, ..without }] {
        let asked = september(&Viewer::Everything, std::slice::from_ref(&filter));
        let groups = spend(ledger, &asked).await.groups;
        let keys: Vec<String> = groups.into_iter().filter_map(|group| group.key).take(3).collect();
        assert_eq!(keys.len(), 3, "{filter:?}");
        found.push(vec![Filter::keep(Grouping::Resource, keys.clone())]);
        found.push(vec![Filter { leaves_out: true, ..Filter::keep(Grouping::Resource, keys) }]);
        found.push(vec![filter]);
    }
    found.push(vec![Filter::keep(Grouping::Resource, vec![String::new()])]);
    let days = Filter::keep(Grouping::Day, vec!["2026-09-01".into(), "whole-period".into()]);
    found.push(vec![days, Filter::keep(Grouping::Tag("team".into()), vec!["vision".into()])]);
    found
}

/// Every answer about resources, as text.
async fn answers(ledger: &TestLedger, filters: &[Vec<Filter>]) -> Vec<String> {
    let mut db = ledger.db.acquire().await.unwrap();
    let mut found = Vec::new();
    for viewer in [Viewer::Everything, Viewer::Teams(vec!["vision".into()])] {
        for filters in filters {
            let question = september(&viewer, filters);
            for (then, cost) in [
                (None, CostMetric::Effective),
                (Some(Grouping::Service), CostMetric::Billed),
                (Some(Grouping::Team), CostMetric::Effective),
            ] {
                let asked = Question { then, cost, ..question.clone() };
                let spend = Answers::default().priced_spend(&mut db, &asked).await.unwrap();
                let series =
                    Answers::default().over_time(&mut db, &asked, Step::Day, &spend, 3).await.unwrap();
                found.push(format!("{asked:?}: {}", serde_json::to_string(&spend).unwrap()));
                found.push(format!("{asked:?}: {:?} {:?}", series.buckets, series.groups));
            }
            let by_provider = Question { by: Grouping::Provider, ..question.clone() };
            let spend = Answers::default().priced_spend(&mut db, &by_provider).await.unwrap();
            let page = Page { first: 0, size: 5_000 };
            let listed = Answers::default().charges(&mut db, &by_provider, &spend, None, page).await.unwrap();
            let mut listed =
                listed.map(|it| (it.count, it.total.normalize(), it.shared.normalize(), it.lines));
            // Long lists have another order where the charges themselves are sorted.
            if let Some((_, _, _, lines)) = &mut listed {
                lines.sort_by_key(|line| (line.delivery, line.file_no, line.row));
            }
            found.push(format!("{by_provider:?}: {listed:?}"));
        }
    }
    found
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn sums_by_resource_answer_as_charges_do(db: PgPool) {
    let ledger = ledger(db).await;
    ledger.assert_balanced().await;
    let unsummed = "select count(*) from deliveries where not has_resources";
    assert_eq!(sqlx::query_scalar::<_, i64>(unsummed).fetch_one(&ledger.db).await.unwrap(), 0);
    let filters = filters(&ledger).await;
    let from_sums = answers(&ledger, &filters).await;
    // As an earlier version left them.
    for statement in ["update deliveries set has_resources = false", "truncate daily_resources"] {
        sqlx::query(statement).execute(&ledger.db).await.unwrap();
    }
    let from_charges = answers(&ledger, &filters).await;
    assert_eq!(from_sums.len(), from_charges.len());
    for (sums, charges) in from_sums.iter().zip(&from_charges) {
        assert_eq!(sums, charges);
    }
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn first_resources_are_those_of_the_whole_answer_with_its_totals(db: PgPool) {
    let ledger = ledger(db).await;
    let machine = |bill: Focus, number: usize| {
        bill.hour("many", &format!("m{number}"), "2026-09-03T10", &format!("{number}.5"), "vision")
    };
    ledger.deliver("many.csv", (0..=FIRST).fold(Focus::new(), machine)).await;
    let days = Filter::keep(Grouping::Day, vec!["2026-09-03".into()]);
    for viewer in [Viewer::Everything, Viewer::Teams(vec!["vision".into()])] {
        for filters in [Vec::new(), vec![days.clone()]] {
            let question = september(&viewer, &filters);
            let whole = spend(&ledger, &question).await;
            let first = spend(&ledger, &Question { is_of_first: true, ..question }).await;
            let described = whole.groups.len().min(FIRST);
            assert_eq!(first.groups, whole.groups[..described]);
            assert_eq!(
                (first.all_groups, first.beyond),
                (whole.groups.len(), whole.groups.len() - described)
            );
            let of = |groups: Vec<Group>, spend: Spend| Spend { groups, beyond: 0, ..spend };
            let [first, whole] = [first, whole].map(|it| serde_json::to_string(&of(Vec::new(), it)).unwrap());
            assert_eq!(first, whole, "totals");
        }
    }
    let all = spend(&ledger, &september(&Viewer::Everything, &[])).await.groups.len();
    assert!(all > FIRST, "{all} resources");
}
