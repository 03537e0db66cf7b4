//! Why spend changed: the parts sum to the change, and the change is the one that the spend page shows.

use gpuledger::accounts::Viewer;
use gpuledger::money::Decimal;
use gpuledger::report::{Answers, CostMetric, Filter, Grouping, Question, Variance};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger, number};

fn line(month: &str, item: &str, category: &str, quantity: &str, cost: &str) -> String {
    let (unit, next) =
        (if quantity.is_empty() { "" } else { "Hours" }, if month == "2026-08" { "09" } else { "10" });
    format!(
        "NeoCloud,acme,s1,{month}-01T00:00:00Z,2026-{next}-01T00:00:00Z,{month}-05T10:00:00Z,{month}-05T11:00:00Z,\
         {category},Standard,GPU Cloud,Compute,{item},eu-1,,,{quantity},{unit},{cost},{cost},{cost},{cost},USD,\
         \"{{\"\"team\"\":\"\"vision\"\"}}\",NeoCloud,NeoCloud"
    )
}

async fn ledger(db: PgPool) -> TestLedger {
    let ledger = TestLedger::new(db);
    let august = Focus::new()
        .line(&line("2026-08", "grows", "Usage", "10", "100"))
        .line(&line("2026-08", "dearer", "Usage", "10", "100"))
        .line(&line("2026-08", "leaves", "Usage", "1", "7.000000000000000001"))
        .line(&line("2026-08", "tax", "Tax", "", "20"))
        .line(&line("2026-08", "thirds", "Usage", "3", "10"));
    ledger.deliver("august.csv", &august).await;
    let september = Focus::new()
        .line(&line("2026-09", "grows", "Usage", "15", "150"))
        .line(&line("2026-09", "dearer", "Usage", "10", "110"))
        .line(&line("2026-09", "comes", "Usage", "2", "50"))
        .line(&line("2026-09", "tax", "Tax", "", "25"))
        .line(&line("2026-09", "thirds", "Usage", "4", "11.000000000000000000001"));
    ledger.deliver("september.csv", &september).await;
    ledger
}

async fn ask(ledger: &TestLedger, filters: Vec<Filter>) -> Variance {
    let mut db = ledger.db.acquire().await.unwrap();
    let period = "2026-09".parse().unwrap();
    let question = Question { cost: CostMetric::Billed, filters, ..Question::of(period, Viewer::Everything) };
    let variance = Answers::default().variance(&mut db, &question).await.unwrap();
    let spend = Answers::default().priced_spend(&mut db, &question).await.unwrap();
    assert_eq!(variance.total, spend.total);
    assert_eq!(variance.previous, spend.previous);
    let change = variance.total.as_ref().unwrap().amount - variance.previous.as_ref().unwrap().amount;
    assert_eq!(variance.parts.total(), change);
    assert_eq!(variance.movements.iter().map(|movement| movement.change).sum::<Decimal>(), change);
    for movement in variance.movements.iter() {
        assert_eq!(movement.parts.total(), movement.change, "{}", movement.item);
    }
    variance
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_parts_of_a_change_sum_to_it(db: PgPool) {
    let ledger = ledger(db).await;
    let variance = ask(&ledger, Vec::new()).await;
    let parts = &variance.parts;
    assert_eq!(parts.new, number("50"));
    assert_eq!(parts.gone, number("-7.000000000000000001"));
    // Half of 100 more, and a third of 10.
    assert_eq!(parts.usage, number("53.333333333333"));
    assert_eq!(parts.price, number("7.666666666667000000001"));
    assert_eq!(parts.other, number("5"));
    assert_eq!(parts.exchange_rate, number("0"));
    let items: Vec<_> = variance.movements.iter().map(|movement| movement.item.as_str()).collect();
    assert_eq!(items, ["grows", "comes", "dearer", "leaves", "tax", "thirds"]);
    let dearer = &variance.movements[2];
    assert_eq!((dearer.previous_price, dearer.price), (Some(number("10")), Some(number("11"))));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn filters_narrow_what_is_explained(db: PgPool) {
    let ledger = ledger(db).await;
    let tax = ask(&ledger, vec![Filter::keep(Grouping::Category, vec!["Tax".into()])]).await;
    assert_eq!((tax.movements.len(), tax.parts.other), (1, number("5")));
    let without = Filter { leaves_out: true, ..Filter::keep(Grouping::Category, vec!["Tax".into()]) };
    assert_eq!(ask(&ledger, vec![without]).await.parts.other, number("0"));
    // Resources are known to charges only.
    let nowhere = Filter::keep(Grouping::Resource, vec![String::new()]);
    assert_eq!(ask(&ledger, vec![nowhere]).await.parts.new, number("50"));
}
