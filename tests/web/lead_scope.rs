//! A lead sees the rows of their teams and nothing of any other, on every page and in every file that shows
//! figures, whatever the address asks for, in a browser and by a script alike.

use axum::http::{Method, StatusCode};
use gpuledger::accounts::{Role, UserId};
use gpuledger::web;
use serde_json::Value;
use sqlx::PgPool;

use super::lead_of_teams;
use crate::support::app::Answer;
use crate::support::json::sum;
use crate::support::{Focus, TestApp, TestLedger, html};

/// What stands only in rows of others, and in sums with them: costs are shown by these digits.
const FOREIGN: &[&str] = &[
    "31337",
    "31,337",
    "94134",
    "94,134",
    "94011",
    "94,011",
    "62674",
    "62,674",
    "secretcorp",
    // Who pays for their own rows, too.
    "acme",
    "s-secret",
    "EUR",
    "nebula",
];

/// Routes that show figures to leads, each with addresses by which somebody else sees what is foreign.
/// By hand: a page of figures that is added is tried here.
const ADDRESSES: &[(&str, &[&str])] = &[
    (
        "/variance/{period}",
        &[
            "/variance/2026-09",
            "/variance/2026-Q3?cost=billed",
            "/variance/2026-09?tag:team=nlp&tag:team=research",
            "/variance/2026-09?in=EUR",
        ],
    ),
    (
        "/tokens/{period}",
        &[
            "/tokens/2026-09",
            "/tokens/2026-Q3?cost=billed",
            "/tokens/2026-09?tag:team=research2&tag:team=research",
        ],
    ),
    (
        "/spend/{period}",
        &[
            "/spend/2026-09",
            "/spend/2026-Q3",
            "/spend/2026",
            "/spend/2026-08..2026-09",
            "/spend/2026-09?by=account",
            "/spend/2026-09?by=resource",
            "/spend/2026-09?by=tag:team",
            "/spend/2026-09?by=tag:project",
            "/spend/2026-09?by=day",
            "/spend/2026-09?by=month",
            "/spend/2026-09?by=accelerator&cost=billed",
            "/spend/2026-09?by=sku&limit=1",
            "/spend/2026-09?by=account&limit=0",
            "/spend/2026-09?by=account&then=tag:team&find=s",
            "/spend/2026-09?by=account&sort=-change&not:tag:team=nlp",
            "/spend/2026-09?by=account&in=EUR",
            "/spend/2026-08..2026-09?by=account&over=day",
            "/spend/2026-09?by=account&sequence=1",
            "/spend/2026-09?tag:team=nlp",
            "/spend/2026-09?tag:team=nlp&tag:team=research",
            "/spend/2026-09?tag:team=research&tag:team=",
            "/spend/2026-09?account=s-secret",
            "/spend/2026-09?resource=node-s-secret&by=resource",
            "/spend/2026-09?currency=EUR",
            "/spend/2026-10?by=account",
        ],
    ),
    (
        "/charges/{period}",
        &[
            "/charges/2026-09",
            "/charges/2026-Q3",
            "/charges/2026-09?tag:team=nlp",
            "/charges/2026-09?tag:team=",
            "/charges/2026-09?account=s-secret",
            "/charges/2026-09?resource=node-s-secret",
            "/charges/2026-09?sequence=1",
            "/charges/2026-09?currency=EUR",
            "/charges/2026-10",
        ],
    ),
    (
        "/chargeback/{period}",
        &["/chargeback/2026-09", "/chargeback/2026-Q3?cost=billed", "/chargeback/2026-09?in=EUR&sort=name"],
    ),
    (
        "/experiments/during/{period}",
        &[
            "/experiments/during/2026-09",
            "/experiments/during/2026-Q3?find=s",
            "/experiments/during/2026-09?team=nlp&team=",
            "/experiments/during/2026-09?in=EUR",
        ],
    ),
];

/// Delivery 1: rows 1 and 5 are of research, whatever the spelling; the others are not. Delivery 2 is another
/// team's alone, of a later month, with a row that could not be read.
async fn ledger(db: PgPool) -> TestLedger {
    let ledger = TestLedger::new(db);
    let month = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "120", " Research ")
        .hour("acme", "s-secret", "2026-09-06T11", "31337.5", "nlp")
        .hour("secretcorp", "s-secret", "2026-09-06T12", "31337.25", "research2")
        .counted_in("opus-input-tokens", "31337.25", "1K tokens")
        .hour("secretcorp", "s-secret", "2026-09-07T11", "31337.125", "")
        .hour("acme", "s1", "2026-09-08T10", "3", "RESEARCH");
    let euros = Focus::new().hour("nebula", "s-secret", "2026-09-09T10", "31337", "nlp");
    let euros = euros.text().lines().nth(1).unwrap().replace(",USD,", ",EUR,");
    let month = month.line(&euros);
    ledger.deliver("bill-of-acme.csv", &month).await;
    let later = Focus::new().hour("secretcorp", "s-secret", "2026-10-06T11", "31337.5", "nlp");
    let broken = later.text().lines().nth(1).unwrap().replace("31337.5", "much");
    ledger.deliver("later.csv", later.line(&broken)).await;
    ledger
}

fn foreign(answer: &Answer, address: &str) -> Vec<&'static str> {
    // What was asked for is said again on the page: that is nobody's secret.
    let described = without_tokens(&answer.body);
    let found = FOREIGN.iter().filter(|word| described.contains(**word) && !address.contains(**word));
    found.copied().collect()
}

/// Tokens of forms are random, and may hold any digits.
fn without_tokens(body: &str) -> String {
    let mut parts = body.split(r#"name="csrf" value=""#);
    let first = parts.next().unwrap_or_default();
    let others = parts.map(|part| part.split_once('"').map_or(part, |(_, rest)| rest));
    std::iter::once(first).chain(others).collect()
}

/// What is said of the figures: of a page without what differs for everybody, such as a name or a token.
fn shown(answer: &Answer) -> String {
    let is_page = answer.header("content-type").starts_with("text/html");
    if is_page { html::text(&answer.body, "main") } else { answer.body.clone() }
}

pub fn with_suffix(address: &str, suffix: &str) -> String {
    let (path, query) =
        address.split_once('?').map_or((address, String::new()), |(path, query)| (path, format!("?{query}")));
    format!("{path}{suffix}{query}")
}

pub async fn lead_and_token(app: &TestApp) -> (TestApp, String) {
    let lead = app.signed_in(Role::Lead).await;
    let id: i64 =
        sqlx::query_scalar("select user_id from users where role = 'lead'").fetch_one(&app.db).await.unwrap();
    let token = app.token_of(UserId(id)).await;
    (lead, token)
}

#[test]
fn every_page_of_figures_that_leads_see_is_tried() {
    let routes = web::routes();
    let figures =
        routes.stated().iter().filter(|line| line.is_for_scripts && line.access.admits(Some(Role::Lead)));
    for line in figures {
        // A job is somebody's only where its machines are divided: `cost_by_use.rs` tries own ones and others'.
        if line.path == "/jobs/job/{job}" {
            continue;
        }
        assert!(lead_of_teams::tries(line.path), "{} is not tried with teams", line.path);
        // What needs teams, and whose addresses are whole with their suffix, is tried there and below.
        // Of prices leads see the list alone, which `prices.rs` holds.
        let needs_teams = [
            "/teams/",
            "/experiments/",
            "/budgets",
            "/jobs",
            "/overview",
            "/scenarios",
            "/prices",
            "/charges/{delivery}",
        ];
        let is_tried = ADDRESSES.iter().any(|(path, _)| *path == line.path);
        assert!(is_tried || needs_teams.iter().any(|it| line.path.starts_with(it)), "{}", line.path);
        assert_eq!(line.method, Method::GET);
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn no_address_shows_a_row_of_another_team(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    let (mut lead, token) = lead_and_token(&app).await;
    let mut script = app.stranger();
    let mut finance = app.signed_in(Role::Finance).await;
    for address in ADDRESSES.iter().flat_map(|(_, addresses)| *addresses) {
        for suffix in ["", ".json", ".csv"] {
            let address = with_suffix(address, suffix);
            let whole = finance.get(&address).await;
            assert_eq!(whole.status, StatusCode::OK, "{address}");
            for (who, answer) in
                [("browser", lead.get(&address).await), ("script", script.read(&token, &address).await)]
            {
                assert_eq!(answer.status, StatusCode::OK, "{who} {address}");
                assert!(foreign(&answer, &address).is_empty(), "{who} {address}: {}", answer.body);
                assert_ne!(shown(&answer), shown(&whole), "{who} {address}");
            }
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn figures_are_those_of_the_team_alone(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    let (mut lead, token) = lead_and_token(&app).await;
    let mut script = app.stranger();
    for (query, total) in [
        ("", "123"),
        ("?by=resource", "123"),
        ("?by=tag:team", "123"),
        ("?by=day", "123"),
        ("?by=account&limit=1", "123"),
        ("?tag:team=nlp&tag:team=RESEARCH", "3"),
        ("?tag:team=nlp", "0"),
        ("?tag:team=", "0"),
        ("?account=s-secret", "0"),
    ] {
        let address = format!("/spend/2026-09.json{query}");
        for answer in [lead.get(&address).await, script.read(&token, &address).await] {
            let json = answer.json();
            assert_eq!(json["total"]["amount"], total, "{address}");
            assert_eq!(json["currency"], "USD", "{address}");
            assert_eq!(json["other_currencies"], serde_json::json!([]), "{address}");
            assert_eq!(sum(&json["groups"]).to_string(), total, "{address}");
        }
    }
    let json = lead.json("/charges/2026-09.json").await;
    assert_eq!((&json["count"], &json["total"]), (&2.into(), &"123".into()));
    let page = lead.get("/spend/2026-09").await;
    assert_eq!(html::texts(&page.body, ".figure tbody tr th").len(), 30, "the chart's own table");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_charge_of_another_team_is_not_there_by_its_address_either(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    let (mut lead, token) = lead_and_token(&app).await;
    let mut script = app.stranger();
    let mut finance = app.signed_in(Role::Finance).await;
    let mut nowhere = lead.get("/charges/1/0/99").await;
    for (delivery, row) in [(1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (2, 1)] {
        let is_own = delivery == 1 && matches!(row, 1 | 5);
        for suffix in ["", ".json"] {
            let address = format!("/charges/{delivery}/0/{row}{suffix}");
            assert_eq!(finance.get(&address).await.status, StatusCode::OK, "{address}");
            for answer in [lead.get(&address).await, script.read(&token, &address).await] {
                let expected = if is_own { StatusCode::OK } else { StatusCode::NOT_FOUND };
                assert_eq!(answer.status, expected, "{address}");
                assert!(foreign(&answer, "").is_empty(), "{address}");
            }
        }
        // Not even whether there is such a row.
        if !is_own {
            let hidden = lead.get(&format!("/charges/{delivery}/0/{row}")).await;
            let words = |answer: &Answer| html::text(&answer.body, "main");
            assert_eq!(words(&hidden), words(&nowhere));
            nowhere = hidden;
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_begins_at_the_latest_month_of_their_teams(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    let (mut lead, token) = lead_and_token(&app).await;
    let mut finance = app.signed_in(Role::Finance).await;
    for (browser, month, name) in
        [(&mut finance, "/spend/2026-10", "October 2026"), (&mut lead, "/spend/2026-09", "September 2026")]
    {
        assert_eq!(browser.get("/").await.location(), "/overview");
        assert_eq!(browser.get("/spend").await.location(), month);
        let heading = html::text(&browser.get("/overview").await.body, "h1");
        assert!(heading.starts_with(name), "{heading}");
    }
    for address in ["/overview", "/overview?cost=billed", "/overview.json", "/overview.csv"] {
        let whole = finance.get(address).await;
        for answer in [lead.get(address).await, app.stranger().read(&token, address).await] {
            assert_eq!(answer.status, StatusCode::OK, "{address}");
            assert!(foreign(&answer, "").is_empty(), "{address}: {}", answer.body);
            assert_ne!(shown(&answer), shown(&whole), "{address}");
            assert!(
                !answer.body.contains("Needs attention") && !answer.body.contains("/imports"),
                "{address}"
            );
        }
        assert!(!foreign(&whole, "").is_empty(), "{address} has something to hide");
    }
    ledger.undo(1).await;
    let page = lead.get("/overview").await;
    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(lead.get("/spend").await.location(), "/overview");
    assert!(html::text(&page.body, ".empty").contains("Your teams’ charges appear here"), "{}", page.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rejected_rows_are_told_where_the_team_s_own_figures_may_lack_them(db: PgPool) {
    let ledger = ledger(db).await;
    let own = Focus::new().hour("acme", "s1", "2026-11-05T10", "5", "research");
    let broken = own.text().lines().nth(1).unwrap().replace(",5,", ",much,");
    ledger.deliver("own.csv", own.line(&broken)).await;
    let app = TestApp::of(&ledger);
    let (mut lead, _) = lead_and_token(&app).await;
    let mut finance = app.signed_in(Role::Finance).await;
    for (month, of_finance, of_lead) in [("2026-09", 0, 0), ("2026-10", 1, 0), ("2026-11", 1, 1)] {
        for (browser, expected) in [(&mut finance, of_finance), (&mut lead, of_lead)] {
            let answer = browser.get(&format!("/spend/{month}.json")).await;
            let json = answer.json();
            assert_eq!(json["rejected_rows"], expected, "{month}");
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_of_no_team_sees_nothing_and_imports_stay_closed(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    let (mut lead, token) = lead_and_token(&app).await;
    for path in [
        "/imports",
        "/imports.json",
        "/imports/1",
        "/imports/1.json",
        "/imports/1.csv",
        "/imports/1/rejections.csv",
        "/imports/1/files/0",
    ] {
        assert_eq!(lead.get(path).await.status, StatusCode::FORBIDDEN, "{path}");
        assert_eq!(app.stranger().read(&token, path).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    sqlx::query("delete from user_teams").execute(&app.db).await.unwrap();
    let json = lead.json("/spend/2026-09.json").await;
    assert_eq!((&json["total"], &json["currency"]), (&Value::Null, &Value::Null));
    assert_eq!(lead.get("/charges/2026-09.json").await.body, "null");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_sees_who_pays_where_an_administrator_lets_them(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    let (mut lead, token) = lead_and_token(&app).await;
    let mut script = app.stranger();
    let mut admin = app.signed_in(Role::Admin).await;
    let person: i64 =
        sqlx::query_scalar("select user_id from users where role = 'lead'").fetch_one(&app.db).await.unwrap();
    let person = format!("/people/{person}");
    let addresses = ["/charges/1/0/1", "/charges/1/0/1.json", "/spend/2026-09"];
    for (choice, is_shown) in [("", false), ("shown", true), ("", false)] {
        let fields = [("role", "lead"), ("teams", "research"), ("billing_accounts", choice)];
        let changed = admin.submit(&person, &person, &fields).await;
        assert_eq!(changed.status, StatusCode::SEE_OTHER, "{}", changed.body);
        let chosen =
            html::attributes(&admin.get(&person).await.body, "#billing_accounts [selected]", "value");
        assert_eq!(chosen, [choice]);
        for address in addresses {
            for answer in [lead.get(address).await, script.read(&token, address).await] {
                assert_eq!(answer.body.contains("acme"), is_shown, "{address}: {}", answer.body);
            }
        }
    }
    let charge = html::text(&lead.get("/charges/1/0/1").await.body, "main");
    assert!(charge.contains("Sub-accounts1"), "{charge}");
    assert!(charge.contains("Billing accountnot shown to team leads"), "{charge}");
    assert!(charge.contains("BillingAccountId not shown to team leads"), "{charge}");
    let trail = html::text(&admin.get("/audit").await.body, "main");
    assert!(trail.contains("sees billing accounts"), "{trail}");
}

const PAYERS: [&str; 2] = ["111122223333", "444455556666"];

/// Rows 1 and 2 name who pays in their resource and in a tag, and differ there by nothing else; row 3 does not, and row 4 is
/// of another team.
fn payers_in_texts() -> Focus {
    let [first, second] = PAYERS;
    let mut month = Focus::new();
    for (account, sub_account, cost, team, creator) in [
        (first, "s1", "120", "research", "Root:111122223333"),
        (second, "s2", "3", "research", "Root:444455556666"),
        (first, "s3", "5", "research", "robot"),
        (first, "s4", "31337", "nlp", "Root:111122223333"),
    ] {
        month = month.hour(account, sub_account, "2026-09-05T10", cost, team);
        month = month.labelled("aws:createdBy", creator);
    }
    let mut text = month.text().to_owned();
    for (account, sub_account) in [(first, "s1"), (second, "s2"), (first, "s4")] {
        let commitment = format!("arn:aws:savingsplans::{account}:savingsplan/1");
        text = text.replace(&format!("node-{sub_account}"), &commitment);
    }
    text.into()
}

/// The key and the cost of each group.
fn keys_and_costs(groups: &Value) -> Vec<[&str; 2]> {
    let groups = groups.as_array().unwrap().iter();
    groups.map(|it| [it["key"].as_str().unwrap(), it["cost"]["amount"].as_str().unwrap()]).collect()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn lists_and_groups_do_not_name_who_pays(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("september.csv", &payers_in_texts()).await;
    let app = TestApp::of(&ledger);
    let (mut lead, token) = lead_and_token(&app).await;
    let mut script = app.stranger();
    let mut finance = app.signed_in(Role::Finance).await;
    let (resource, tag) = ("arn:aws:savingsplans::…:savingsplan/1", "Root:…");
    let (page, files) = (&["", ".json"][..], &["", ".json", ".csv"][..]);
    for (address, suffixes, shown) in [
        ("/charges/1/0/1", page, &[resource, tag][..]),
        ("/charges/2026-09", files, &[resource]),
        ("/charges/2026-09", &[".json", ".csv"], &[tag]),
        ("/spend/2026-09?by=resource", files, &[resource]),
        ("/spend/2026-09?by=tag:aws:createdBy", files, &[tag]),
        ("/spend/2026-09?by=service&then=resource", files, &[resource]),
        ("/spend/2026-09?by=resource&then=tag:aws:createdBy", files, &[resource, tag]),
    ] {
        for suffix in suffixes {
            let address = with_suffix(address, suffix);
            let whole = finance.get(&address).await;
            assert!(whole.body.contains(PAYERS[0]), "{address} has something to hide");
            for answer in [lead.get(&address).await, script.read(&token, &address).await] {
                assert_eq!(answer.status, StatusCode::OK, "{address}");
                assert!(PAYERS.iter().all(|it| !answer.body.contains(it)), "{address}: {}", answer.body);
                assert!(shown.iter().all(|it| answer.body.contains(it)), "{address}: {}", answer.body);
            }
        }
    }
    sqlx::query("update users set sees_billing_accounts = true where role = 'lead'")
        .execute(&app.db)
        .await
        .unwrap();
    for address in ["/charges/2026-09.csv", "/spend/2026-09.json?by=resource"] {
        let body = lead.get(address).await.body;
        assert!(PAYERS.iter().all(|it| body.contains(it)), "{address}: {body}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn groups_without_who_pays_sum_to_the_total_and_lead_nowhere(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("september.csv", &payers_in_texts()).await;
    let app = TestApp::of(&ledger);
    let (mut lead, _) = lead_and_token(&app).await;
    let (resource, tag) = ("arn:aws:savingsplans::…:savingsplan/1", "Root:…");
    for (query, groups) in [
        ("by=resource", [[resource, "123"], ["node-s3", "5"]]),
        ("by=tag:aws:createdBy", [[tag, "123"], ["robot", "5"]]),
        ("by=service&then=resource", [[resource, "123"], ["node-s3", "5"]]),
    ] {
        let body = lead.get(&format!("/spend/2026-09.json?{query}")).await.body;
        let json: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(json["total"]["amount"], "128", "{query}");
        let of = if query.contains("then") { &json["groups"][0]["groups"] } else { &json["groups"] };
        assert_eq!(keys_and_costs(of), groups, "{query}");
    }
    // Nor is it found digit by digit.
    let body = lead.get("/spend/2026-09.json?by=resource&find=1111").await.body;
    let json: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(keys_and_costs(&json["groups"]), [["other", "128"]]);
    let page = lead.get("/spend/2026-09?by=resource").await.body;
    assert_eq!(html::attributes(&page, r#"[name="pick"]"#, "value"), ["node-s3"]);
    let links = html::attributes(&page, "#groups tbody a", "href");
    assert!(links.iter().any(|href| href.contains("node-s3")), "{links:?}");
    assert!(links.iter().all(|href| !href.contains("savingsplan")), "{links:?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_billing_account_without_sub_accounts_is_the_account_and_is_shown(db: PgPool) {
    let ledger = TestLedger::new(db);
    let month = Focus::new().hour("pays-itself", "", "2026-09-05T10", "7", "research");
    let month: Focus = month.text().replace(",node-,", ",node-of-pays-itself,").into();
    ledger.deliver("september.csv", &month).await;
    let app = TestApp::of(&ledger);
    let (mut lead, _) = lead_and_token(&app).await;
    for (address, shown) in [
        ("/spend/2026-09.json?by=account", r#""key":"pays-itself""#),
        ("/spend/2026-09.json?by=resource", r#""key":"node-of-pays-itself""#),
        ("/charges/2026-09.json", r#""account":"pays-itself""#),
        ("/charges/2026-09.json", r#""resource":"node-of-pays-itself""#),
        ("/charges/1/0/1.json", r#"["Billing account","pays-itself"]"#),
        ("/charges/1/0/1.json", r#"["Resource","node-of-pays-itself"]"#),
    ] {
        let body = lead.get(address).await.body;
        assert!(body.contains(shown), "{address}: {body}");
    }
}
