//! Teams that move: what is charged together changes from month to month, on every page and for everybody.

use gpuledger::accounts::Viewer;
use gpuledger::allocation::{self, Budget, BudgetOf, BudgetPeriod, Entry, Months, Split, Target, Team};
use gpuledger::changes::Document as _;
use gpuledger::money::{Currency, Decimal};
use gpuledger::report::{self, Answers, CostMetric, Question, TeamReport};
use sqlx::{PgConnection, PgPool};

use super::owners::month;
use crate::support::TestLedger;
use crate::support::configuration::{pool, rule, to_pool, write};

const BOTH: &str = "2026-08..2026-09";

fn part_of(handle: &str, parent: Option<&str>, months: Months) -> Entry {
    let name = handle[..1].to_uppercase() + &handle[1..];
    let parent = parent.map(str::to_owned);
    Entry::Team(Team { handle: handle.into(), name, parent, months, ..Team::default() })
}

/// Vision leaves research after August, speech joins it.
async fn organization(db: &mut PgConnection) {
    let until = || Months { first: None, last: Some("2026-08".parse().unwrap()) };
    let since = || Months::from("2026-09".parse().unwrap());
    let budget = Budget {
        of: BudgetOf::Team("vision".into()),
        period: BudgetPeriod::Month,
        amount: 100.into(),
        currency: Currency::exactly("USD"),
        thresholds: Vec::new(),
        months: Months::from("2026-08".parse().unwrap()),
    };
    write(
        db,
        vec![
            part_of("research", None, Months::default()),
            part_of("vision", Some("research"), until()),
            part_of("vision", None, since()),
            part_of("speech", None, until()),
            part_of("speech", Some("research"), since()),
            Entry::Pool(pool("support", Split::DirectCost)),
            rule(1, "service", "Support", to_pool("support")),
            rule(2, "", "", Target::Labels),
            Entry::Budget(budget),
        ],
    )
    .await;
}

fn question(period: &str, viewer: Viewer) -> Question {
    Question {
        cost: CostMetric::Billed,
        currency: Some(Currency::exactly("USD")),
        ..Question::of(period.parse().unwrap(), viewer)
    }
}

async fn stated(db: &mut PgConnection, team: &str, period: &str, viewer: Viewer) -> String {
    let (answers, question) = (Answers::default(), question(period, viewer));
    let configuration = allocation::Configuration::as_of(db, 1000).await.unwrap();
    let who =
        report::seen_team(&configuration, &configuration, &question.viewer, team, question.period).unwrap();
    let statement = Box::pin(report::statement(db, &answers, who, &question)).await.unwrap();
    let total = statement.total.map(|total| total.amount).unwrap_or_default();
    let teams: Decimal = statement.teams.iter().map(|team| team.total).sum();
    assert_eq!(teams, total);
    let page = team_page(db, team, period, question.viewer.clone()).await;
    assert_eq!(page.stated.total, total, "{team} in {period}");
    assert_eq!(page.total.map(|total| total.amount).unwrap_or_default().round(2), total);
    total.normalize().to_string()
}

async fn team_page(db: &mut PgConnection, team: &str, period: &str, viewer: Viewer) -> TeamReport {
    let question = question(period, viewer);
    let configuration = allocation::Configuration::as_of(db, 1000).await.unwrap();
    let who =
        report::seen_team(&configuration, &configuration, &question.viewer, team, question.period).unwrap();
    Box::pin(report::team_report(db, &Answers::default(), who, &question)).await.unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn several_months_are_the_sum_of_each_with_the_teams_inside_then(db: PgPool) {
    let ledger = TestLedger::new(db);
    for name in ["2026-08", "2026-09"] {
        ledger.deliver(&format!("{name}.csv"), &month(name)).await;
    }
    let mut db = ledger.db.acquire().await.unwrap();
    organization(&mut db).await;
    let lead = || Viewer::Teams(vec!["research".into()]);
    for viewer in [|| Viewer::Everything, lead] {
        assert_eq!(stated(&mut db, "research", "2026-08", viewer()).await, "66.75");
        assert_eq!(stated(&mut db, "research", "2026-09", viewer()).await, "22.25");
        assert_eq!(stated(&mut db, "research", BOTH, viewer()).await, "89");
        let asked = question(BOTH, viewer());
        let list = report::chargeback(&mut db, &Answers::default(), &asked).await.unwrap();
        let research = list.teams.iter().find(|line| line.team.as_deref() == Some("research"));
        if let Some(research) = research {
            assert_eq!(research.stated_with_teams_inside, Some("89".parse().unwrap()));
            assert_eq!(research.with_teams_inside, Some("89".parse().unwrap()));
        }
    }
    assert_eq!(stated(&mut db, "vision", BOTH, Viewer::Everything).await, "133.5");
    // Who leads research sees of vision what it was charged while it was inside.
    assert_eq!(stated(&mut db, "vision", BOTH, lead()).await, "66.75");
    assert_eq!(stated(&mut db, "speech", BOTH, lead()).await, "22.25");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_sees_nothing_of_a_team_since_it_left(db: PgPool) {
    let ledger = TestLedger::new(db);
    for name in ["2026-08", "2026-09"] {
        ledger.deliver(&format!("{name}.csv"), &month(name)).await;
    }
    let mut db = ledger.db.acquire().await.unwrap();
    organization(&mut db).await;
    let lead = || Viewer::Teams(vec!["research".into()]);
    assert_eq!(stated(&mut db, "vision", "2026-09", lead()).await, "0");
    let page = team_page(&mut db, "vision", "2026-09", lead()).await;
    assert!(page.budgets.is_empty(), "{:?}", page.budgets);
    let asked = question("2026-09", lead());
    let list = report::chargeback(&mut db, &Answers::default(), &asked).await.unwrap();
    assert_eq!(list.stated.total, "22.25".parse().unwrap());
    let vision = list.teams.iter().find(|line| line.team.as_deref() == Some("vision")).unwrap();
    assert!(vision.stated.total.is_zero() && vision.figures.cost.is_zero(), "{vision:?}");
    assert_eq!(vision.figures.previous, "66.75".parse().unwrap());
    let json = serde_json::to_string(&list).unwrap() + &serde_json::to_string(&page).unwrap();
    assert!(!json.contains("133.5"), "{json}");
    // Of its own page everybody else reads all.
    let page = team_page(&mut db, "vision", "2026-09", Viewer::Everything).await;
    assert_eq!((page.stated.total, page.budgets.len()), ("66.75".parse().unwrap(), 1));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_change_is_distinguished_from_the_teams_that_joined_or_left(db: PgPool) {
    let ledger = TestLedger::new(db);
    for name in ["2026-08", "2026-09"] {
        ledger.deliver(&format!("{name}.csv"), &month(name)).await;
    }
    let mut db = ledger.db.acquire().await.unwrap();
    organization(&mut db).await;
    let page = team_page(&mut db, "research", "2026-09", Viewer::Everything).await;
    let previous = page.previous.unwrap().amount;
    // What its page of August says, with vision.
    assert_eq!(previous, "66.75".parse().unwrap());
    let change = page.total.unwrap().amount - previous;
    assert_eq!((page.parts.total(), change), (change, "-44.5".parse().unwrap()));
    let direct = page.parts.direct;
    assert!(direct.new.is_zero() && direct.gone.is_zero(), "{direct:?}");
    assert_eq!(page.parts.moved_teams, page.direct.cost - page.direct.previous - direct.total());
    assert!(page.parts.moved_teams.is_negative());
    let movement = page.movements.iter().find(|it| it.item == "Teams that joined or left").unwrap();
    assert_eq!(movement.change, page.parts.moved_teams);
}
