//! `/jobs/hours`: from the GPU-hours that were paid for to those that were of use, what was measured apart from what was entered.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::money::Decimal;
use serde_json::Value;
use sqlx::PgPool;

use super::usage::bill;
use crate::support::configuration::{rule, team, to_team, write};
use crate::support::json::decimal;
use crate::support::{TestApp, TestLedger, html, now};

/// Half of node-s1 was held for its hour, three quarters of that at work.
const USAGE: &str = "node,from,to,accelerators,holder,namespace,utilization\n\
    node-s1,2026-10-05T10:00:00Z,2026-10-05T11:00:00Z,4,train,cv,75\n\
    node-s1,2026-10-05T10:00:00Z,2026-10-05T11:00:00Z,4,,,\n";

fn number(value: &Value) -> String {
    if value.is_null() { "-".to_owned() } else { decimal(value).normalize().to_string() }
}

/// Paid, available, known, held, productive, without usage; and what one of the first, of those held and of the productive ones costs.
fn chain(it: &Value) -> [String; 9] {
    let measured = &it["measured"];
    let all = decimal(&it["accelerator_hours"]) + decimal(&it["owned_hours"]);
    [
        all.normalize().to_string(),
        number(&it["available_hours"]),
        number(&measured["paid"]),
        number(&measured["held"]),
        number(&measured["used"]),
        number(&measured["without_usage"]),
        number(&it["cost_per_hour"]),
        number(&it["cost_per_held_hour"]),
        number(&it["cost_per_productive_hour"]),
    ]
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn each_link_has_its_hours_and_its_price(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut entries = vec![team("vision"), team("nlp")];
    entries.push(rule(1, "tag:team", "vision", to_team("vision")));
    entries.push(rule(2, "tag:team", "nlp", to_team("nlp")));
    write(&mut ledger.db.acquire().await.unwrap(), entries).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    finance.import("bill.csv", bill()).await;

    // Nobody measured anything: nothing is held or productive, and nothing is said to be 0.
    let unknown = finance.json("/jobs/hours/2026-10.json").await;
    assert_eq!(chain(&unknown["total"]), ["16", "16", "0", "0", "0", "16", "7.55", "-", "-"]);
    let page = finance.get("/jobs/hours/2026-10").await;
    assert_eq!(html::texts(&page.body, "#hours tbody td.quiet"), ["unknown", "unknown"], "{}", page.body);

    finance.upload(&[("usage.csv", USAGE.as_bytes())]).await;
    finance.run_jobs().await;
    // 80.80 for the 8 hours of node-s1, of which 4 were held and 3 at work.
    let all = finance.json("/jobs/hours/2026-10.json").await;
    let expected = ["16", "16", "8", "4", "3", "8", "7.55", "20.2", "26.933333"];
    assert_eq!(chain(&all["total"]), expected);
    let by_team = finance.json("/jobs/hours/2026-10.json?by=team").await;
    assert_eq!(chain(&by_team["total"]), expected);
    let groups = by_team["groups"].as_array().unwrap();
    let keys: Vec<_> = groups.iter().map(|it| it["key"].as_str()).collect();
    assert_eq!(keys, [Some("vision"), Some("nlp")]);
    assert_eq!(chain(&groups[0]), ["8", "8", "8", "4", "3", "0", "10.1", "20.2", "26.933333"]);
    assert_eq!(chain(&groups[1]), ["8", "8", "0", "0", "0", "8", "5", "-", "-"]);

    for it in groups.iter().chain([&by_team["total"]]) {
        let of = |name: &str| decimal(&it["measured"][name]);
        let all = decimal(&it["accelerator_hours"]) + decimal(&it["owned_hours"]);
        let available = decimal(&it["available_hours"]);
        assert!(of("used") <= of("held") && of("held") <= available && available <= all, "{it}");
    }

    // A link leads to the same hours by use, and the team's page has the same chain.
    let page = finance.get("/jobs/hours/2026-10?by=team").await;
    let href = html::attributes(&page.body, "#hours tbody a", "href").remove(0);
    let spend = finance.json(&href.replacen("/2026-10?", "/2026-10.json?", 1)).await;
    assert_eq!(decimal(&spend["accelerator_hours"]), Decimal::from(8), "{href}");
    let of_team = finance.json("/teams/vision/2026-10.json").await;
    assert_eq!(chain(&of_team["hours"]), chain(&groups[0]));
    assert!(finance.get("/teams/vision/2026-10").await.body.contains("From paid to productive GPU-hours"));

    // Billed costs have no price of an hour.
    let billed = finance.json("/jobs/hours/2026-10.json?cost=billed").await;
    assert_eq!(chain(&billed["total"])[6..], ["-", "-", "-"]);
    let csv = finance.get("/jobs/hours/2026-10.csv?by=team").await.body;
    assert!(
        csv.lines().nth(1).unwrap().starts_with("vision,Vision,8,0,8,8,4,3,1,0,4,0,0,0,,USD,10.1"),
        "{csv}"
    );
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_scenario_starts_from_held_or_used_hours(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    finance.import("bill.csv", bill()).await;
    assert!(!finance.get("/scenarios").await.body.contains("Measured at work"), "nothing is measured");
    finance.upload(&[("usage.csv", USAGE.as_bytes())]).await;
    finance.run_jobs().await;
    assert!(finance.get("/scenarios").await.body.contains("Measured at work"));
    for (hours, expected) in [("all", 16), ("held", 4), ("used", 3)] {
        let asked = finance.get(&format!("/scenarios/new?from=2026-10&whose=&hours={hours}")).await;
        assert_eq!(asked.status, StatusCode::SEE_OTHER);
        let json = asked.location().replacen("/new?", "/new.json?", 1);
        let it = finance.json(&json).await;
        let made = &it["made_of"];
        assert_eq!(decimal(&made["accelerator_hours"]), Decimal::from(expected), "{hours}: {made}");
    }
    // A word that is none of them is refused, and leads nowhere again.
    let refused = finance.get("/scenarios/new?from=2026-10&hours=busy").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.location());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_was_entered_of_a_cluster_stands_apart_from_what_was_measured(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let last =
        now().date_naive().checked_sub_months(chrono::Months::new(1)).unwrap().format("%Y-%m").to_string();
    let since = format!("{last}-01");
    let fields = [
        ("name", "H100 East"),
        ("site", "Berlin"),
        ("since", since.as_str()),
        ("nodes", "2"),
        ("spares", "0"),
    ];
    admin.submit("/clusters/new", "/clusters/new", &fields).await;
    let entered = [
        ("cluster", "h100-east"),
        ("first", last.as_str()),
        ("downtime", "10"),
        ("utilization", "50"),
        ("repeated", "20"),
    ];
    let address = "/asset-register/utilization/new";
    let saved = admin.submit(address, address, &entered).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.body);
    admin.submit("/clusters/h100-east", "/clusters/h100-east/publish", &[]).await;
    admin.run_jobs().await;

    let it = admin.json(&format!("/jobs/hours/{last}.json?by=account")).await;
    let cluster = &it["groups"][0];
    assert_eq!(cluster["key"], "h100-east", "{it}");
    let owned = decimal(&cluster["owned_hours"]);
    assert!(!owned.is_zero());
    let of = |name: &str| decimal(&cluster[name]);
    let percent = |part: i128| owned.multiply(Decimal::new(part, 2));
    // 90 % available, half of that productive, four fifths of which was no repeated work.
    assert_eq!(of("available_hours"), percent(90));
    assert_eq!(of("entered_productive_hours"), percent(45));
    assert_eq!(of("useful_hours"), percent(36));
    assert_eq!(decimal(&cluster["measured"]["used"]), Decimal::ZERO, "nothing was measured");
    assert_eq!(cluster["cost_per_productive_hour"], Value::Null);
    let price = of("cost_per_hour");
    let of_price = |part: i128| price.divide(Decimal::new(part, 2), 3);
    assert_eq!(Some(of("cost_per_entered_productive_hour").round(3)), of_price(45));
    assert_eq!(Some(of("cost_per_useful_hour").round(3)), of_price(36));

    let page = admin.get(&format!("/jobs/hours/{last}")).await;
    for text in ["Productive, without usage data", "Useful", "Entered"] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    let page = admin.get("/clusters/h100-east").await;
    assert!(page.body.contains("Useful: less 20.0% repeated work, entered"), "{}", page.body);

    // A job of Slurm that holds two slices of a half holds one accelerator, which the cluster's page says.
    let machines = admin.json(&format!("/spend/{last}.json?by=resource&pricing=Owned")).await;
    let node =
        machines["groups"].as_array().unwrap().iter().find(|it| !decimal(&it["owned_hours"]).is_zero());
    let node = node.unwrap()["key"].as_str().unwrap();
    let sacct = format!(
        "JobID|Cluster|User|State|Submit|Start|End|ElapsedRaw|AllocTRES|NodeList\n\
         7|east|ann|COMPLETED|{last}-05T09:00:00|{last}-05T10:00:00|{last}-05T20:00:00|36000|gres/gpu:h100_3g.40gb=2|{node}\n"
    );
    admin.upload(&[("sacct.txt", sacct.as_bytes())]).await;
    admin.run_jobs().await;
    let it = admin.json("/clusters/h100-east.json").await;
    let held = &it["slices"]["profiles"][0];
    assert_eq!(
        (held["profile"].as_str(), held["holders"][0].as_str()),
        (Some("3g.40gb"), Some("ann")),
        "{it}"
    );
    assert_eq!(decimal(&held["accelerator_hours"]), Decimal::from(10));
    assert!(!decimal(&held["cost"]).is_zero());
    let jobs = admin.get(&format!("/jobs/{last}")).await;
    assert!(jobs.body.contains("2 × 3g.40gb of h100"), "{}", jobs.body);
    // Hours add up, by whatever they are grouped; those of groups are rounded.
    for by in ["account", "team", "accelerator", "provider", "month"] {
        let it = admin.json(&format!("/jobs/hours/{last}.json?by={by}")).await;
        for name in ["available_hours", "owned_hours", "entered_productive_hours"] {
            let groups: Decimal = it["groups"].as_array().unwrap().iter().map(|of| decimal(&of[name])).sum();
            let difference = groups - decimal(&it["total"][name]);
            assert!(difference.abs() < Decimal::new(1, 2), "{by} {name}: {it}");
        }
    }
    // Its prices are those of its page of GPU-hours.
    let hours = admin.json(&format!("/jobs/hours/{last}.json?by=account&account=h100-east")).await;
    assert_eq!(it["measured"]["per_held"], hours["total"]["cost_per_held_hour"], "{hours}");
    assert_eq!(it["measured"]["per_hour"], hours["total"]["cost_per_hour"]);
    let page = admin.get("/clusters/h100-east").await;
    assert!(html::text(&page.body, "#slices").contains("3g.40gb"), "{}", page.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_address_that_asks_for_what_is_not_there_is_told(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    for (address, expected) in [
        ("/jobs/hours/2026-10?by=day", "by: day cannot be used here. Use provider,"),
        ("/jobs/hours/2026-10?limit=3", "limit cannot be used in this address."),
        (
            "/jobs/2026-10?owner=ann",
            "owner cannot be used in this address. Use by, sort, user, account, queue,",
        ),
        ("/jobs/2026-10?job=7", "job cannot be used in this address."),
    ] {
        let refused = finance.get(address).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        assert!(refused.body.contains(expected), "{}", refused.body);
    }
    assert!(finance.get("/jobs/hours/2026-10").await.body.contains("No GPU-hours in October 2026"));
}
