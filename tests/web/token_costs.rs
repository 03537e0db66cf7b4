//! Tokens of language models: per million on the month page, the team's page, and in files.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::allocation::Split;
use sqlx::PgPool;

use crate::support::configuration::{pool, rule, team, to_pool, to_team, write};
use crate::support::json::decimal;
use crate::support::{Focus, TestApp, TestLedger, html, number};

/// A price that is read on a list.
pub const ENTERED: [(&str, &str); 7] = [
    ("supplier", "NeoCloud"),
    ("model", "claude4.5sonnet"),
    ("kind", "output"),
    ("price", "12.5"),
    ("currency", "USD"),
    ("date", "2026-11-01"),
    ("source", "their list"),
];

/// Of vision: 2 M input for 6 and 500 K output for 7.5, of two days. Of nlp: input and cached input. Half of the platform's.
fn bills() -> Focus {
    let of = |file: Focus, day: &str, cost: &str, team: &str, meter: &str, thousands: &str| {
        file.hour("acme", "s1", &format!("2026-09-{day}T10"), cost, team).counted_in(
            meter,
            thousands,
            "1K tokens",
        )
    };
    let file = Focus::new().hour("acme", "s1", "2026-09-05T10", "10.25", "vision");
    let file = of(file, "05", "2.5", "vision", "USE1-Claude4.5Sonnet-input-tokens", "1000");
    let file = of(file, "06", "3.5", "vision", "USE1-Claude4.5Sonnet-input-tokens", "1000");
    let file = of(file, "06", "7.5", "vision", "USE1-Claude4.5Sonnet-output-tokens", "500");
    let file = of(file, "06", "0.06", "nlp", "USE1-NovaPro-cache-read-input-token-count", "300");
    let file = of(file, "06", "0.8", "nlp", "USE1-NovaPro-input-tokens", "1000");
    of(file, "07", "1", "platform", "USE1-NovaPro-input-tokens", "1000")
}

async fn ledger(db: PgPool) -> TestLedger {
    let ledger = TestLedger::new(db);
    ledger.deliver("bills.csv", bills()).await;
    let mut entries = vec![
        team("vision"),
        team("nlp"),
        gpuledger::allocation::Entry::Pool(pool("platform", Split::Evenly)),
    ];
    entries.extend(["vision", "nlp"].map(|it| rule(1, "tag:team", it, to_team(it))));
    entries.push(rule(2, "tag:team", "platform", to_pool("platform")));
    write(&mut ledger.db.acquire().await.unwrap(), entries).await;
    ledger
}

/// Model, kind, tokens, cost, price per million.
async fn lines(app: &mut TestApp, address: &str) -> Vec<(String, String, String, String, String)> {
    let json = app.json(address).await;
    let text = |line: &serde_json::Value, name: &str| line[name].as_str().unwrap_or("-").to_owned();
    json["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            let amount = |name: &str| decimal(&line[name]).normalize().to_string();
            (text(line, "model"), text(line, "kind"), amount("tokens"), amount("cost"), amount("per_million"))
        })
        .collect()
}

fn line(
    model: &str,
    kind: &str,
    tokens: &str,
    cost: &str,
    price: &str,
) -> (String, String, String, String, String) {
    (model.into(), kind.into(), tokens.into(), cost.into(), price.into())
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_month_and_a_team_say_what_a_million_tokens_cost(db: PgPool) {
    let ledger = ledger(db).await;
    let mut app = TestApp::of(&ledger).signed_in(Role::Finance).await;
    assert_eq!(
        lines(&mut app, "/tokens/2026-09.json").await,
        [
            line("Claude4.5Sonnet", "input", "2000000", "6", "3"),
            line("Claude4.5Sonnet", "output", "500000", "7.5", "15"),
            line("NovaPro", "input", "2000000", "1.8", "0.9"),
            line("NovaPro", "cached-input", "300000", "0.06", "0.2"),
        ]
    );
    let json = app.json("/tokens/2026-09.json").await;
    assert_eq!(decimal(&json["total"]["amount"]), number("15.36"));

    let page = app.get("/spend/2026-09").await.body;
    let rows = html::texts(&page, "#tokens tbody tr");
    assert_eq!(rows.len(), 4, "{page}");
    assert_eq!(rows[0], "Claude4.5Sonnet NeoCloud Input 2.0 6.00 3.00");
    assert_eq!(rows[3], "NovaPro NeoCloud Cached input 0.3 0.06 0.2000");
    assert!(html::text(&page, "#tokens tfoot").contains("15.36"), "{page}");
    let link = html::attributes(&page, "#tokens .ways a", "href").remove(0);
    assert_eq!(link, "/tokens/2026-09");
    let page = app.get(&link).await.body;
    assert_eq!(html::texts(&page, "tbody tr").len(), 4, "{page}");

    // A team's own; asked for by itself, with its half of the platform's.
    let own = [
        line("Claude4.5Sonnet", "input", "2000000", "6", "3"),
        line("Claude4.5Sonnet", "output", "500000", "7.5", "15"),
    ];
    assert_eq!(lines(&mut app, "/teams/vision/2026-09.json").await, own);
    let shared = line("NovaPro", "input", "500000", "0.5", "1");
    assert_eq!(lines(&mut app, "/tokens/2026-09.json?team=vision").await[2], shared);
    let page = app.get("/teams/vision/2026-09").await.body;
    assert_eq!(html::texts(&page, "#tokens tbody tr").len(), 2, "{page}");
    let link = html::attributes(&page, "#tokens .ways a", "href").remove(0);
    assert_eq!(html::texts(&app.get(&link).await.body, "tbody tr"), html::texts(&page, "#tokens tbody tr"));

    let csv = app.get("/tokens/2026-09.csv").await.body;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(
        reader.headers().unwrap().iter().collect::<Vec<_>>(),
        ["provider", "model", "kind", "tokens", "currency", "cost", "per_million"]
    );
    assert_eq!(reader.records().count(), 4);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_no_token_is_not_said_and_leads_see_their_own(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    let mut finance = app.signed_in(Role::Finance).await;
    let empty = finance.get("/tokens/2026-08").await.body;
    assert_eq!(html::text(&empty, ".empty h2"), "No tokens were billed in this period");
    let narrowed = finance.get("/tokens/2026-09?accelerator=H100").await.body;
    assert!(html::text(&narrowed, ".empty").contains("that matches these filters"), "{narrowed}");
    let spend = finance.get("/spend/2026-09?accelerator=H100").await.body;
    assert!(html::texts(&spend, "#tokens").is_empty());
    assert_eq!(finance.get("/tokens/nonsense").await.status, StatusCode::NOT_FOUND);

    let id = app.person("lead@example.org", Role::Lead, "no password").await;
    sqlx::query("update user_teams set team = 'nlp' where user_id = $1")
        .bind(id.0)
        .execute(&app.db)
        .await
        .unwrap();
    let token = app.token_of(id).await;
    let mut script = app.stranger();
    let seen = script.read(&token, "/tokens/2026-09.json").await;
    assert!(seen.body.contains("NovaPro") && !seen.body.contains("Claude4.5Sonnet"), "{}", seen.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn list_prices_stand_with_their_day_beside_what_was_paid(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    let mut admin = app.signed_in(Role::Admin).await;
    let page = admin.get("/prices/tokens").await.body;
    assert_eq!(html::text(&page, ".empty h2"), "No prices yet");
    assert_eq!(html::texts(&page, "#paid tbody tr").len(), 4);
    let link = html::attributes(&page, "#paid tbody a", "href").remove(1);
    let filled = admin.get(link.split('#').next().unwrap()).await.body;
    assert_eq!(html::attributes(&filled, "#model", "value"), ["Claude4.5Sonnet"]);

    let answer = admin.submit("/prices/tokens", "/prices/tokens", &ENTERED).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let json = admin.json("/prices/tokens.json").await;
    let price = &json["prices"][0];
    assert_eq!((&price["price"], &price["date"]), (&"12.5".into(), &"2026-11-01".into()));
    assert_eq!(decimal(&price["own_effective_price"]), number("15"), "names differ in their letters alone");
    let csv = admin.get("/prices/tokens.csv").await.body;
    assert!(csv.contains("NeoCloud,claude4.5sonnet,output,12.5,USD,2026-11-01,their list,15,USD"), "{csv}");

    // Twice, of tomorrow, and nonsense.
    let with = |name: &str, value: &'static str| {
        let mut fields = ENTERED;
        fields.iter_mut().filter(|field| field.0 == name).for_each(|field| field.1 = value);
        fields
    };
    for (fields, name) in [
        (ENTERED, "date"),
        (with("date", "2027-01-01"), "date"),
        (with("price", "-1"), "price"),
        (with("kind", "thoughts"), "kind"),
        (with("source", " "), "source"),
        (with("currency", "dollars"), "currency"),
    ] {
        let answer = admin.submit("/prices/tokens", "/prices/tokens", &fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{fields:?}");
        assert_eq!(html::attributes(&answer.body, "#add .problem", "id"), [format!("{name}-problem")]);
    }

    admin.submit("/prices/tokens", "/prices/tokens/1/remove", &[]).await;
    assert!(admin.json("/prices/tokens.json").await["prices"].as_array().unwrap().is_empty());
    let page = admin.get("/prices/tokens").await.body;
    assert!(html::text(&page, "#removed").contains("claude4.5sonnet"), "{page}");
    admin.submit("/prices/tokens", "/prices/tokens/1/restore", &[]).await;
    assert_eq!(admin.json("/prices/tokens.json").await["prices"].as_array().unwrap().len(), 1);

    // Removed, and entered anew: the old one cannot stand beside it.
    admin.submit("/prices/tokens", "/prices/tokens/1/remove", &[]).await;
    admin.submit("/prices/tokens", "/prices/tokens", &ENTERED).await;
    admin.submit("/prices/tokens", "/prices/tokens/1/restore", &[]).await;
    assert_eq!(admin.json("/prices/tokens.json").await["prices"].as_array().unwrap().len(), 1);
    assert!(admin.get("/prices/tokens").await.body.contains("Remove that first."));

    let mut finance = app.signed_in(Role::Finance).await;
    let page = finance.get("/prices/tokens").await.body;
    assert!(html::texts(&page, "#add").is_empty(), "{page}");
    let mut lead = app.signed_in(Role::Lead).await;
    let seen = lead.json("/prices/tokens.json").await;
    assert_eq!((&seen["prices"][0]["source"], &seen["paid"]), (&"".into(), &serde_json::Value::Null));
}
