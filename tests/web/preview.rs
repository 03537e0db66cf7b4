//! What the preview of a change says: charges and credits apart, in every month, in one currency; which final months it restates; and what
//! it does where no amount moves.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::allocation::{Entry, Target, Team};
use gpuledger::audit::Actor;
use gpuledger::exchange::{self, Rate};
use gpuledger::money::{Currency, Decimal};
use serde_json::Value;
use sqlx::PgPool;

use crate::support::changes::decide;
use crate::support::configuration::{rule, team, write};
use crate::support::{Focus, TestApp, TestLedger, html, now};

fn credit(month: &str, account: &str, cost: &str) -> String {
    let next: u32 = month[5..].parse::<u32>().unwrap() + 1;
    format!(
        "NeoCloud,acme,{account},{month}-01T00:00:00Z,2026-{next:02}-01T00:00:00Z,{month}-05T10:00:00Z,\
         {month}-05T11:00:00Z,Credit,Standard,Refund,Compute,sku,eu-1,,,1,Hours,{cost},{cost},{cost},{cost},USD,{{}},\
         NeoCloud,NeoCloud"
    )
}

/// August and September: 100 USD and 50 EUR of a1, from which 30 USD are taken back; a rate only in September, and only
/// August is final.
async fn ledger(db: PgPool) -> TestLedger {
    let ledger = TestLedger::new(db);
    let month = |month: &str| {
        Focus::new()
            .hour("acme", "a1", &format!("{month}-05T10"), "100", "")
            .hour("acme", "a1", &format!("{month}-05T11"), "50", "")
            .billed_in("EUR")
            .line(&credit(month, "a1", "-30"))
            .hour("acme", "a2", &format!("{month}-05T10"), "20", "speech")
    };
    ledger.deliver("august.csv", month("2026-08").invoiced()).await;
    ledger.deliver("september.csv", &month("2026-09")).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let rate = Rate {
        month: "2026-09".parse().unwrap(),
        currency: Currency::exactly("EUR"),
        quoted_in: Currency::exactly("USD"),
        rate: "1.1".parse().unwrap(),
        source: "test".into(),
    };
    let by = Actor::person("ada@example.com", "test");
    exchange::set(&mut db, &[rate], by.at(now())).await.unwrap();
    let vision = Team { handle: "vision".into(), name: "Vision".into(), ..Team::default() };
    let entries =
        vec![Entry::Team(vision), team("speech"), team("research"), rule(9, "", "", Target::Labels)];
    write(&mut db, entries).await;
    ledger
}

/// Drafts a change with a form and answers the address of its preview.
async fn drafted(app: &mut TestApp, action: &str, fields: &[(&str, &str)]) -> String {
    let answer = app.submit("/rules", action, fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{action}: {}", html::text(&answer.body, "main"));
    answer.location().to_owned()
}

fn figures(value: &Value, names: &[&str]) -> Vec<String> {
    let figure = |name: &&str| {
        let text = value[*name].as_str().unwrap();
        text.parse::<Decimal>().map_or(text.to_owned(), |number| number.normalize().to_string())
    };
    names.iter().map(figure).collect()
}

const RULE: [(&str, &str); 4] =
    [("name", "Account a1"), ("field", "account"), ("value", "a1"), ("to", "team:vision")];

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn preview_shows_charges_and_credits_by_month_in_one_currency(db: PgPool) {
    let ledger = ledger(db).await;
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let change = drafted(&mut admin, "/rules/new", &RULE).await;
    let it = admin.json(&format!("{change}.json")).await["moves"].take();
    assert_eq!(it["currency"], "USD");
    let columns = ["from", "to", "charges", "credits", "cost", "currency"];
    let moves = it["moves"].as_array().unwrap();
    // 100 of each month, and 50 × 1.1 of September; what August has no rate for stands by itself.
    assert_eq!(figures(&moves[0], &columns), ["Unallocated", "Vision", "255", "-60", "195", "USD"]);
    assert_eq!(figures(&moves[1], &columns), ["Unallocated", "Vision", "50", "0", "50", "EUR"]);
    assert_eq!((moves.len(), &moves[0]["keys"]), (2, &3.into()));
    let months = it["months"].as_array().unwrap();
    let described: Vec<_> = months.iter().map(|it| figures(it, &["month", "changes_hands"])).collect();
    assert_eq!(described, [["2026-09", "125"], ["2026-08", "70"]]);
    assert_eq!(figures(&it["unconverted"][0], &["month"]), ["2026-08"]);
    assert_eq!(it["keys"].as_array().unwrap().iter().filter(|key| key["currency"] == "USD").count(), 3);

    let page = admin.get(&change).await.body;
    let notices = html::texts(&page, ".notice");
    assert!(notices[0].contains("August 2026: 70.00 USD net change between teams"), "{notices:?}");
    assert!(notices[1].contains("August 2026: 50.00 EUR"), "{notices:?}");
    let by_month = html::texts(&page, "[aria-label='By month'] tr");
    assert!(by_month[1].ends_with("Provisional155.00−30.00125.00"), "{by_month:?}");
    assert!(by_month[3].contains("All 2 months") && by_month[3].contains("195.00"), "{by_month:?}");
    let csv = admin.get(&format!("{change}.csv")).await.body;
    assert!(
        csv.starts_with("from,to,keys,charges,credits,effective_cost,currency\nUnallocated,Vision,3,"),
        "{csv}"
    );

    // From a month on that is not final, nothing final is restated.
    let form = admin.get("/rules/new?field=account&value=a1&to=team:vision&name=A1&from=2026-09").await.body;
    assert_eq!(html::attributes(&form, "input[name=since]", "value"), ["2026-09"]);
    let fields: Vec<(&str, &str)> = RULE.into_iter().chain([("since", "2026-09")]).collect();
    let change = drafted(&mut admin, "/rules/new", &fields).await;
    let page = admin.get(&change).await.body;
    assert!(html::texts(&page, ".notice").is_empty() && page.contains("September 2026"), "{page}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn draft_in_conflict_says_so_and_what_to_do(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    let (mut admin, mut finance) = (app.signed_in(Role::Admin).await, app.signed_in(Role::Finance).await);
    let sheet = "/organization/teams";
    let page = admin.get(sheet).await;
    let links = html::attributes(&page.body, "tbody a", "href");
    let vision = links.iter().find(|href| href.starts_with("/organization/teams/")).unwrap();
    let names = |name: &'static str, wish: &'static str| [("name", name), ("do", wish)];
    let draft = drafted(&mut finance, vision, &names("Sight", "preview")).await;
    assert!(!finance.get(&draft).await.body.contains("Edited by somebody else"));
    assert_eq!(admin.submit(sheet, vision, &names("Seeing", "save")).await.status, StatusCode::SEE_OTHER);

    for browser in [&mut finance, &mut admin] {
        let page = browser.get(&draft).await;
        let described = html::text(&page.body, ".notice");
        assert!(described.starts_with("Edited by somebody else"), "{described}");
        assert!(described.contains("Create a new change") && described.contains("team Sight"), "{described}");
        // What would be refused is not offered, but the draft can be discarded.
        let mut forms = html::attributes(&page.body, "main form", "action");
        forms.retain(|action| action.starts_with(&decide(&draft, "")));
        assert_eq!(forms, [decide(&draft, "discard")]);
    }
    let it = finance.json(&format!("{draft}.json")).await;
    assert_eq!(it["conflicts"], serde_json::json!(["team Sight"]));
    let refused = admin.submit("/rules", &decide(&draft, "apply"), &[]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    // Undone, it is as when it was drafted.
    let mut listed = html::attributes(&admin.get("/changes").await.body, "tbody th a", "href");
    listed.retain(|href| *href != draft);
    let last = listed.remove(0);
    let undone = admin.submit("/rules", &decide(&last, "undo"), &[]).await;
    assert_eq!(undone.status, StatusCode::SEE_OTHER, "{last}");
    assert!(!admin.get(&draft).await.body.contains("Edited by somebody else"));
    assert_eq!(admin.submit("/rules", &decide(&draft, "apply"), &[]).await.status, StatusCode::SEE_OTHER);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_team_that_joins_another_restates_what_that_one_was_charged_with_it(db: PgPool) {
    let ledger = ledger(db).await;
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let page = admin.get("/organization/teams").await.body;
    let place = html::texts(&page, "tbody a").iter().position(|name| name == "speech").unwrap();
    let entry = html::attributes(&page, "tbody a", "href")[place].clone();
    let change = drafted(&mut admin, &entry, &[("name", "Speech"), ("parent", "research")]).await;
    let it = admin.json(&format!("{change}.json")).await["moves"].take();
    for month in it["months"].as_array().unwrap() {
        assert_eq!(figures(month, &["changes_hands"]), ["0"]);
        let wholes = month["with_teams_inside"].as_array().unwrap();
        assert_eq!(wholes.len(), 1);
        assert_eq!(figures(&wholes[0], &["team", "before", "after"]), ["research", "0", "20"]);
    }
    let page = admin.get(&change).await.body;
    let notice = html::text(&page, ".notice");
    assert!(notice.contains("August 2026: only totals with sub-teams change"), "{notice}");
    assert!(notice.contains("Research with sub-teams: 20.00 instead of 0.00 USD"), "{notice}");
    assert!(!notice.contains("September"), "{notice}");
    let described = html::text(&page, "main");
    assert!(described.contains("No amount changes: every charge keeps its owner"), "{described}");
    // Where nothing is counted otherwise, nothing is shown.
    let change = drafted(&mut admin, &entry, &[("name", "Talk")]).await;
    assert_eq!(admin.json(&format!("{change}.json")).await["moves"]["months"], serde_json::json!([]));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_moves_nothing_says_what_it_changes_instead(db: PgPool) {
    let ledger = ledger(db).await;
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let page = admin.get("/organization/teams").await.body;
    let place = html::texts(&page, "tbody a").iter().position(|name| name == "vision").unwrap();
    let entry = html::attributes(&page, "tbody a", "href")[place].clone();
    let change = drafted(&mut admin, &entry, &[("name", "Vision"), ("parent", "research")]).await;
    let said = html::text(&admin.get(&change).await.body, "main");
    assert!(
        said.contains("No amount changes: every charge keeps its owner, and no share changes."),
        "{said}"
    );
    assert!(
        said.contains("Vision is visible to the leads of Research, whose statements and budgets count it."),
        "{said}"
    );
}
