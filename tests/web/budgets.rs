//! Budgets in the browser: added, refused, reached, forecast, changed, ended, removed; and what a lead sees of them.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::allocation::{Entry, Split, Target, Team};
use serde_json::Value;
use sqlx::PgPool;

use crate::support::changes::decide;
use crate::support::configuration::{pool, rule, team, to_pool, write};
use crate::support::{Focus, TestApp, TestLedger, html};

const PAGE: &str = "/budgets";

/// August: 10 a day for vision. September up to the 10th: 20 a day for vision, four fifths of support, and speech.
async fn app(db: PgPool) -> (TestLedger, TestApp) {
    let ledger = TestLedger::new(db);
    let mut august = Focus::new();
    for day in 1..=31 {
        august = august.hour("acme", "s1", &format!("2026-08-{day:02}T10"), "10", "vision");
    }
    let mut september = Focus::new().line(
        "NeoCloud,acme,s9,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,\
         Purchase,,Support,Other,,,,,,,30,30,30,30,USD,,NeoCloud,NeoCloud",
    );
    for day in 1..=10 {
        let at = format!("2026-09-{day:02}T10");
        september = september.hour("acme", "s1", &at, "20", "vision").hour("acme", "s2", &at, "5", "speech");
    }
    ledger.deliver("august.csv", &august).await;
    ledger.deliver("september.csv", &september).await;
    let mut connection = ledger.db.acquire().await.unwrap();
    let vision = Team {
        handle: "vision".into(),
        name: "Vision".into(),
        parent: Some("research".into()),
        ..Team::default()
    };
    let entries = vec![
        team("research"),
        Entry::Team(vision),
        team("speech"),
        Entry::Pool(pool("support", Split::DirectCost)),
        rule(1, "service", "Support", to_pool("support")),
        rule(2, "", "", Target::Labels),
    ];
    write(&mut connection, entries).await;
    let finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    (ledger, finance)
}

fn budget<'a>(of: &'a str, amount: &'a str, first: &'a str) -> [(&'static str, &'a str); 7] {
    [
        ("of", of),
        ("amount", amount),
        ("currency", "USD"),
        ("every", "month"),
        ("first", first),
        ("last", ""),
        ("thresholds", "50, 80, 100"),
    ]
}

fn with<'a>(fields: &[(&'static str, &'a str)], name: &str, value: &'a str) -> Vec<(&'static str, &'a str)> {
    fields.iter().map(|(field, known)| (*field, if *field == name { value } else { *known })).collect()
}

async fn add(app: &mut TestApp, fields: &[(&str, &str)]) -> i64 {
    let answer = app.submit(PAGE, PAGE, fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let json = app.json("/budgets.json").await;
    json["budgets"].as_array().unwrap().iter().map(|it| it["id"].as_i64().unwrap()).max().unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_budget_is_compared_with_what_was_spent_and_will_be(db: PgPool) {
    let (ledger, mut finance) = app(db).await;
    assert!(html::text(&finance.get(PAGE).await.body, ".empty").contains("Add the first one below"));
    let id = add(&mut finance, &budget("team:vision", "400", "2026-08")).await;
    assert_eq!(
        html::text(&finance.get(PAGE).await.body, ".flash"),
        "Added: budget of team Vision: 400.00 USD a month from 2026-08. An administrator can undo this \
         under Changes."
    );
    let it = finance.json(&format!("/budgets/{id}.json")).await;
    let now = &it["current"];
    // 200 of its own and 24 of support; 28 days: 18 of 10 and 10 of 20.
    assert_eq!(
        (&now["spent"], &now["reached"], &now["threshold"]),
        (&"224".into(), &"0.560000".into(), &50.into())
    );
    assert_eq!(now["stated_until"], "2026-09-10");
    let expected: f64 = now["forecast"]["expected"].as_str().unwrap().parse().unwrap();
    assert!((expected - (224.0 + 20.0 * 380.0 / 28.0)).abs() < 0.01, "{expected}");
    assert_eq!((&now["is_over_budget"], &now["is_forecast_over_budget"]), (&false.into(), &true.into()));
    let days = it["days"].as_array().unwrap();
    assert_eq!((days.len(), &days[0]["spent"], &days[9]["so_far"]), (30, &"44".into(), &"224".into()));
    assert_eq!(days[29]["forecast"], now["forecast"]);
    let history: Vec<(&Value, &Value)> =
        it["history"].as_array().unwrap().iter().map(|past| (&past["period"], &past["spent"])).collect();
    assert_eq!(history, [(&"2026-09".into(), &"224".into()), (&"2026-08".into(), &"310".into())]);

    let page = finance.get(&format!("/budgets/{id}")).await.body;
    assert_eq!(html::texts(&page, "h1 .badge"), ["Reached 50%", "Forecast above 100%"]);
    assert!(page.contains("class=\"limit\"") && page.contains("class=\"band\""));
    let csv = finance.get(&format!("/budgets/{id}.csv")).await.body;
    assert_eq!(csv.lines().count(), 31, "{csv}");
    assert!(csv.contains("\n2026-09-10,20,224,,,\n"), "{csv}");
    let list = finance.get("/budgets.csv").await.body;
    assert!(list.contains(",team,Vision,month,2026-08,,400,USD,2026-09,224,0.560000,2026-09-10,"), "{list}");

    // A quarter goes on after its first two months, which are stated.
    let quarter = with(&budget("team:research", "1,000.00", "2026-07"), "every", "quarter");
    let id = add(&mut finance, &quarter).await;
    let now = &finance.json(&format!("/budgets/{id}.json")).await["current"];
    assert_eq!((&now["period"], &now["spent"]), (&"2026-07..2026-09".into(), &"534".into()));
    ledger.assert_balanced().await;
}

/// A bill of a month for one team, of no day of it.
fn of_month(month: &str, next: &str, service: &str, cost: &str) -> String {
    format!(
        "NeoCloud,acme,s1,{month}-01T00:00:00Z,{next}-01T00:00:00Z,{month}-01T00:00:00Z,{next}-01T00:00:00Z,\
         Purchase,,{service},Other,,,,,,,{cost},{cost},{cost},{cost},USD,\"{{\"\"team\"\":\"\"vision\"\"}}\",NeoCloud,NeoCloud"
    )
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn forecast_expects_monthly_bills_that_are_not_stated_yet(db: PgPool) {
    let ledger = TestLedger::new(db);
    for (name, month, next, tax) in [
        ("june.csv", "2026-06", "2026-07", "60"),
        ("july.csv", "2026-07", "2026-08", "70"),
        ("august.csv", "2026-08", "2026-09", "900"),
    ] {
        let mut file = Focus::new().line(&of_month(month, next, "Tax", tax));
        for day in 1..=28 {
            file = file.hour("acme", "s1", &format!("{month}-{day:02}T10"), "10", "vision");
        }
        ledger.deliver(name, &file).await;
        // The bill of our own cluster has days, and is published when the month is over.
        let own = ["25", "28"].into_iter().fold(Focus::new(), |own, day| {
            own.hour("racks", "east", &format!("{month}-{day}T10"), "200", "vision")
        });
        ledger.deliver(&format!("own-{name}"), own.owned()).await;
    }
    // Of September ten days, and a part of the tax; the cluster's bill comes when the month is over.
    let mut september = Focus::new().line(&of_month("2026-09", "2026-10", "Tax", "30"));
    for day in 1..=10 {
        september = september.hour("acme", "s1", &format!("2026-09-{day:02}T10"), "10", "vision");
    }
    ledger.deliver("september.csv", &september).await;
    let vision = Team {
        handle: "vision".into(),
        name: "Vision".into(),
        parent: Some("research".into()),
        ..Team::default()
    };
    let configuration = vec![team("research"), Entry::Team(vision), rule(1, "", "", Target::Labels)];
    write(&mut ledger.db.acquire().await.unwrap(), configuration).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let expected =
        |it: &Value| -> f64 { it["current"]["forecast"]["expected"].as_str().unwrap().parse().unwrap() };

    let id = add(&mut finance, &budget("team:vision", "800", "2026-08")).await;
    let it = finance.json(&format!("/budgets/{id}.json")).await;
    assert_eq!(
        (&it["current"]["spent"], &it["current"]["stated_until"]),
        (&"130".into(), &"2026-09-10".into())
    );
    // 130 are spent. Twenty days follow: of 28 days 18 were August's last, of which the three after the 28th cost nothing.
    let days = 20.0 * (28.0 - 3.0) * 10.0 / 28.0;
    // A month usually has 470 of monthly bills (460, 470, 1300), of which 30 are stated.
    assert!((expected(&it) - (130.0 + days + 440.0)).abs() < 0.01, "{}", expected(&it));
    assert_eq!(it["days"][29]["forecast"], it["current"]["forecast"]);
    let page = finance.get(&format!("/budgets/{id}")).await.body;
    assert!(html::text(&page, "main").contains("3-month median"));

    // A year expects those of the months to come as well.
    let year = with(&budget("team:research", "9,000.00", "2026-01"), "every", "year");
    let id = add(&mut finance, &year).await;
    let it = finance.json(&format!("/budgets/{id}.json")).await;
    let spent = 460.0 + 470.0 + 1300.0 + 3.0 * 280.0 + 130.0;
    let mean = 25.0 * 10.0 / 28.0;
    assert!(
        (expected(&it) - (spent + (20.0 + 92.0) * mean + 440.0 + 3.0 * 470.0)).abs() < 0.01,
        "{}",
        expected(&it)
    );
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_cannot_be_is_refused_with_the_reason_and_nothing_changes(db: PgPool) {
    let (ledger, mut finance) = app(db).await;
    let euros = Focus::new().hour("beta", "e1", "2026-09-05T10", "7", "vision").billed_in("EUR");
    ledger.deliver("euros.csv", euros).await;
    let good = with(&budget("team:vision", "400", "2026-08"), "currency", "USD");
    for (field, value, sentence) in [
        ("of", "team:gone", "Choose a team, project or cost center."),
        ("amount", "0", "Enter an amount above zero"),
        ("amount", "much", "Enter an amount above zero"),
        ("first", "", "Enter a month such as 2026-09."),
        ("last", "2026-07", "The last month is before the first month."),
        ("every", "week", "Choose month, quarter or year."),
        ("thresholds", "0, 80", "Enter percentages from 1 to 1000"),
        ("currency", "credits", "Enter a currency such as USD."),
        ("currency", "USD", "No exchange rate to USD for EUR in September 2026. Enter the rates first"),
        (
            "currency",
            "CHF",
            "No exchange rate to CHF for EUR in September 2026; USD in August 2026, September 2026.",
        ),
    ] {
        let answer = finance.submit(PAGE, PAGE, &with(&good, field, value)).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{field} {value}");
        assert!(answer.body.contains(sentence), "{field} {value}: {}", answer.body);
    }
    assert_eq!(finance.json("/budgets.json").await["budgets"], serde_json::json!([]));

    let rate = [("month", "2026-09"), ("currency", "EUR"), ("rate", "2"), ("quoted_in", "USD")];
    finance.submit("/rates", "/rates", &rate).await;
    let id = add(&mut finance, &good).await;
    let it = finance.json(&format!("/budgets/{id}.json")).await;
    // Its own 200, 14 of euros, and of support what that amounts to beside speech's 50.
    assert!(it["current"]["spent"].as_str().unwrap().starts_with("238.3"), "{}", it["current"]["spent"]);

    let twice = finance.submit(PAGE, PAGE, &good).await;
    assert_eq!(twice.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(twice.body.contains("two budgets cover the same months"), "{}", twice.body);
    assert_eq!(finance.json("/budgets.json").await["budgets"].as_array().unwrap().len(), 1);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_is_changed_ended_and_removed(db: PgPool) {
    let (ledger, mut finance) = app(db).await;
    let id = add(&mut finance, &budget("team:vision", "400", "2026-08")).await;
    let here = format!("/budgets/{id}");
    let changed = finance.submit(&here, &here, &budget("", "200", "2026-08")[1..]).await;
    assert_eq!(changed.status, StatusCode::SEE_OTHER, "{}", changed.body);
    let page = finance.get(&here).await.body;
    let said = html::text(&page, ".flash");
    assert!(said.starts_with("Changed: budget of team Vision: 200.00 USD a month from 2026-08."), "{said}");
    // Finance is led to the change, an administrator undoes it right there.
    let change = html::attributes(&page, ".flash a", "href").remove(0);
    let fields = [&budget("", "250", "2026-08")[1..], &[("reason", "less was meant")]].concat();
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    admin.submit(&here, &here, &fields).await;
    let undo = html::attributes(&admin.get(&here).await.body, ".flash form", "action").remove(0);
    assert_ne!(undo, decide(&change, "undo"));
    let undone = undo.replace("/changes/allocation/", "/changes/").replace("/undo", "");
    assert!(finance.get(&undone).await.body.contains("less was meant"));
    admin.submit(&here, &undo, &[]).await;
    let page = finance.get(&here).await.body;
    assert_eq!(html::texts(&page, "h1 .badge"), ["Above 100%"]);

    let early = finance.submit(&here, &format!("{here}/end"), &[("until", "2026-07")]).await;
    assert_eq!(early.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(early.body.contains("This is before the first month. Remove the budget instead."));
    finance.submit(&here, &format!("{here}/end"), &[("until", "2026-08")]).await;
    let page = finance.get(&here).await.body;
    assert_eq!(html::texts(&page, "h1 .badge"), ["Ended", "Above 100%"]);
    assert!(page.contains("August 2026 is over."));

    // It goes on with another amount, and the history is of both.
    let next = add(&mut finance, &budget("team:vision", "500", "2026-09")).await;
    let it = finance.json(&format!("/budgets/{next}.json")).await;
    assert_eq!(it["history"][1]["amount"]["amount"], "200");
    assert_eq!(finance.submit(&here, &format!("{here}/remove"), &[]).await.location(), PAGE);
    assert!(finance.get(PAGE).await.body.contains("Removed: budget of team Vision"));
    assert_eq!(finance.get(&here).await.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_sees_the_budgets_of_their_teams_and_those_inside_and_changes_none(db: PgPool) {
    let (ledger, mut finance) = app(db).await;
    let vision = add(&mut finance, &budget("team:vision", "400", "2026-08")).await;
    let speech = add(&mut finance, &budget("team:speech", "31337", "2026-08")).await;
    let mut lead = TestApp::of(&ledger).signed_in(Role::Lead).await;
    let seen = lead.json("/budgets.json").await;
    let ids: Vec<i64> =
        seen["budgets"].as_array().unwrap().iter().map(|it| it["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [vision]);
    assert_eq!(
        seen["budgets"][0]["current"],
        finance.json(&format!("/budgets/{vision}.json")).await["current"],
        "the same figures as finance"
    );
    for path in [PAGE, "/budgets.csv", "/budgets.json"] {
        assert!(!lead.get(path).await.body.contains("31337"), "{path}");
    }
    assert_eq!(lead.get(&format!("/budgets/{speech}")).await.status, StatusCode::NOT_FOUND);
    let page = lead.get(&format!("/budgets/{vision}")).await;
    assert!(page.status.is_success() && !page.body.contains("Change it"));
    let answer = lead.submit("/account", &format!("/budgets/{vision}/remove"), &[]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
}
