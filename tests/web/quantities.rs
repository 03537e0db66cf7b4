//! Quantities in the browser: entered, loaded, refused, removed; what a unit costs, and what is divided by them.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::allocation::{Edit, Entry, Split, Target, Team};
use gpuledger::changes::Document as _;
use serde_json::Value;
use sqlx::PgPool;

use crate::support::app::Answer;
use crate::support::configuration::{change, pool, rule, team, to_pool, write};
use crate::support::{Focus, TestApp, TestLedger, html};

const PAGE: &str = "/quantities";
const RUNS: [(&str, &str); 5] = [
    ("day", "2026-09-05"),
    ("kind", "team"),
    ("owner", "VISION"),
    ("unit", "Training  runs"),
    ("quantity", "8"),
];

/// September: vision 40, speech 20, and 12 of support that is divided by training runs.
async fn app(db: PgPool) -> (TestLedger, TestApp) {
    let ledger = TestLedger::new(db);
    let month = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "40", "vision")
        .hour("acme", "s2", "2026-09-05T10", "20", "speech")
        .hour("acme", "s3", "2026-09-05T10", "12", "");
    ledger.deliver("september.csv", &month).await;
    let mut connection = ledger.db.acquire().await.unwrap();
    let entries = vec![
        team("vision"),
        team("speech"),
        Entry::Pool(pool("support", Split::Quantity { unit: "Training runs".into() })),
        rule(1, "account", "s3", to_pool("support")),
        rule(2, "", "", Target::Labels),
    ];
    write(&mut connection, entries).await;
    let finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    (ledger, finance)
}

pub async fn load(app: &mut TestApp, content: &str) -> Answer {
    app.upload_from(PAGE, "/quantities/file", &[("runs.csv", content.as_ref())]).await
}

/// Owner, unit, quantity, cost and cost of a unit.
async fn costs(app: &mut TestApp) -> Vec<[String; 5]> {
    let json = app.json("/quantities.json").await;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |it: &Value| {
        let cost = it["cost"]["amount"].as_str().map(|amount| {
            let amount: gpuledger::money::Decimal = amount.parse().unwrap();
            amount.normalize().to_string()
        });
        [
            text(&it["owner"]),
            text(&it["unit"]),
            text(&it["quantity"]),
            cost.unwrap_or_default(),
            text(&it["per_unit"]),
        ]
    };
    json["unit_costs"].as_array().unwrap().iter().map(line).collect()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn entered_quantities_divide_shared_costs_and_tell_what_a_unit_costs(db: PgPool) {
    let (ledger, mut finance) = app(db).await;
    assert!(html::text(&finance.get(PAGE).await.body, ".empty").contains("There are no quantities yet"));
    let answer = finance.submit(PAGE, PAGE, &RUNS).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, PAGE), "{}", answer.body);
    let page = finance.get(PAGE).await.body;
    let said = html::text(&page, ".flash");
    assert!(said.starts_with("Saved: 8 training runs of team Vision on Sep 5, 2026. Version"), "{said}");
    // All of support is vision's: 52 by 8.
    assert_eq!(costs(&mut finance).await, [["vision", "training runs", "8", "52", "6.5"]]);

    let again = finance.submit(PAGE, PAGE, &RUNS).await;
    assert_eq!(again.status, StatusCode::SEE_OTHER);
    assert!(finance.get(PAGE).await.body.contains("Nothing changed: 8 training runs of team Vision"));

    let file = "day,kind,owner,unit,quantity\n2026-09-05,team,vision,training runs,6\n\
                2026-09-06,team,vision,training runs,2\n2026-09-06,team,speech,Training runs,8\n\
                2026-09-06,experiment,Exp-1,tokens,0\n";
    assert_eq!(load(&mut finance, file).await.status, StatusCode::SEE_OTHER);
    assert!(finance.get(PAGE).await.body.contains("runs.csv: 4 quantities added or changed, 0 unchanged."));
    assert_eq!(
        costs(&mut finance).await,
        [
            ["speech", "training runs", "8", "26", "3.25"],
            ["vision", "training runs", "8", "46", "5.75"],
            ["exp-1", "tokens", "0", "", ""],
        ]
    );
    // What the product writes reads back as the same.
    let own = finance.get("/quantities.csv").await.body;
    assert!(own.starts_with("day,kind,owner,unit,quantity\n2026-09-06,experiment,exp-1,tokens,0\n"), "{own}");
    load(&mut finance, &own).await;
    assert!(finance.get(PAGE).await.body.contains("0 quantities added or changed, 4 unchanged."));

    let gone = [("month", "2026-09"), ("kind", "team"), ("owner", "speech"), ("unit", "training runs")];
    finance.submit(PAGE, "/quantities/remove", &gone).await;
    let page = finance.get(PAGE).await.body;
    let said = html::text(&page, ".flash");
    assert!(said.starts_with("Removed: training runs of team speech in September 2026, one day."), "{said}");
    assert_eq!(costs(&mut finance).await[0], ["vision", "training runs", "8", "52", "6.5"]);
    finance.submit(PAGE, "/quantities/remove", &gone).await;
    assert!(finance.get(PAGE).await.body.contains("Nothing changed: there are no such quantities."));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_team_is_counted_with_those_inside_it(db: PgPool) {
    let (ledger, mut finance) = app(db).await;
    let mut connection = ledger.db.acquire().await.unwrap();
    let configuration = gpuledger::allocation::Configuration::as_of(&mut connection, 1000).await.unwrap();
    let is_speech = |entry: &Entry| matches!(entry, Entry::Team(team) if team.handle == "speech");
    let (id, before) = configuration.entries.iter().find(|(_, entry)| is_speech(entry)).unwrap();
    let after = Entry::Team(Team {
        handle: "speech".into(),
        name: "Speech".into(),
        parent: Some("vision".into()),
        ..Team::default()
    });
    change(&mut connection, vec![Edit { id: *id, before: Some(before.clone()), after: Some(after) }]).await;
    let file = "day,kind,owner,unit,quantity\n2026-09-05,team,vision,training runs,6\n\
                2026-09-06,team,speech,training runs,2\n";
    load(&mut finance, file).await;
    assert_eq!(
        costs(&mut finance).await,
        [["speech", "training runs", "2", "23", "11.5"], ["vision", "training runs", "8", "72", "9"]]
    );
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_wrong_is_refused_with_its_place_and_nothing_changes(db: PgPool) {
    let (_ledger, mut finance) = app(db).await;
    for (field, value, sentence) in [
        ("day", "05.09.2026", "Enter a day such as 2026-09-30."),
        ("kind", "squad", "Enter team, project or experiment."),
        ("owner", "robotics", "Enter a team of September 2026."),
        ("unit", " ", "Enter what is counted"),
        ("quantity", "-1", "Enter a number of zero or more"),
        ("quantity", "1,200", "Enter a number such as 1200 or 1,200.5; a single comma"),
    ] {
        let fields = RUNS.map(|(name, known)| (name, if name == field { value } else { known }));
        let answer = finance.submit(PAGE, PAGE, &fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{field}");
        assert!(answer.body.contains(sentence), "{field}: {}", answer.body);
    }
    let head = "day,kind,owner,unit,quantity\n2026-09-05,team,vision,runs,6\n";
    for (content, sentence) in [
        (format!("{head}2026-09-06,team,vision,runs,many\n"), "row 2, quantity: found &#34;many&#34;"),
        (
            "a,b\n".to_owned(),
            "expected the columns day,kind,owner,unit,quantity; missing: day, kind, owner, unit, quantity. Nothing was imported.",
        ),
        ("day,kind,owner,unit,quantity\n".to_owned(), "runs.csv has no quantities."),
        (head.replace(',', ";"), "this file is separated by semicolons: save it with commas"),
    ] {
        let refused = load(&mut finance, &content).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{content}");
        assert!(refused.body.contains(sentence), "{content}: {}", refused.body);
    }
    assert_eq!(finance.json("/quantities.json").await["quantities"], serde_json::json!([]));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_team_s_page_tells_what_a_unit_costs_it(db: PgPool) {
    let (_ledger, mut finance) = app(db).await;
    let page = finance.get("/teams/vision/2026-09").await.body;
    assert_eq!(html::texts(&page, "#units").len(), 0, "nothing was entered");
    let fields = RUNS.map(|(name, known)| (name, if name == "quantity" { "1,000.5" } else { known }));
    let answer = finance.submit(PAGE, PAGE, &fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let said = html::text(&finance.get(PAGE).await.body, ".flash");
    assert!(said.contains("To undo, enter the earlier quantity"), "{said}");

    let it = finance.json("/teams/vision/2026-09.json").await;
    let unit = &it["units"][0];
    assert_eq!((&unit["unit"], &unit["quantity"]), (&"training runs".into(), &"1000.5".into()));
    assert_eq!(unit["cost"]["amount"], "52", "with all of the support, which is divided by runs");
    assert_eq!((&unit["per_unit"], &unit["previous_per_unit"]), (&"0.051974012994".into(), &Value::Null));
    let page = finance.get("/teams/vision/2026-09").await.body;
    let described = html::text(&page, "#units tbody");
    assert!(described.starts_with("training runs 1,000.5 52.00 0.0520 – USD"), "{described}");
}
