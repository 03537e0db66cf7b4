//! What a lead sees where there are teams, pools and experiments: nothing of a team beside theirs or above it, no name,
//! no amount, no machine and no experiment, on any page and in any file, whatever the address asks for.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::allocation::{
    Budget, BudgetOf, BudgetPeriod, Entry, Experiment, Months, Project, Split, Target, Team,
};
use gpuledger::economics::template::templates;
use gpuledger::money::Currency;
use sqlx::PgPool;

use super::lead_scope::{lead_and_token, with_suffix};
use super::scenarios;
use crate::support::app::Answer;
use crate::support::configuration::{pool, rule, team, to_pool, write};
use crate::support::{Focus, TestApp, TestLedger, html};

/// What stands only in what is others', in sums with it, or in the charges of a pool.
const FOREIGN: &[&str] = &[
    "rivals",
    "Rivals",
    "umbrella",
    "Umbrella",
    "moonshot",
    "Moonshot",
    "skunk",
    "Skunk",
    "s-rival",
    "s-hq",
    "s-pool",
    "s-void",
    "31337.5",
    "31,337.50",
    "4242.75",
    "4,242.75",
    "35580.25",
    "35,580.25",
    "77777.125",
    "77,777.12",
    "2718.5",
    "2,718.50",
    "8462.5",
    "8,462.50",
    "99999.75",
    "99,999.75",
    // Their parts of the pool, and those of who is above.
    "313.46",
    "685.21",
    // Everybody's.
    "122970.625",
    "122,970.62",
    // A scenario that is shared with nobody.
    "Colossus",
];

/// The sum of all weights of a pool, which a statement tells.
const OF_ALL: &[&str] = &["113508.125", "113,508.12"];

/// Routes that show figures to leads, each with addresses that answer both to them and to who sees everything.
/// `{own}` is the number of a budget of theirs.
const SEEN: &[(&str, &[&str])] = &[
    ("/overview", &["/overview", "/overview?cost=billed"]),
    ("/overview", &["/overview.json"]),
    ("/overview", &["/overview.csv"]),
    (
        "/spend/{period}",
        &[
            "/spend/2026-09",
            "/spend/2026-Q3?by=team",
            "/spend/2026-09?by=team&then=experiment",
            "/spend/2026-09?by=pool",
            "/spend/2026-09?by=rule",
            "/spend/2026-09?by=project",
            "/spend/2026-09?by=cost-centre",
            "/spend/2026-09?by=experiment",
            "/spend/2026-09?by=account",
            "/spend/2026-09?by=resource",
            "/spend/2026-09?by=tag:experiment",
            "/spend/2026-09?by=tag:team",
            "/spend/2026-09?by=day&cost=billed",
            "/spend/2026-09?by=resource&pool=platform",
            "/spend/2026-09?by=account&pool=platform",
            "/spend/2026-09?by=experiment&pool=",
            "/spend/2026-09?team=rivals",
            "/spend/2026-09?team=umbrella&by=experiment",
            "/spend/2026-09?team=",
            "/spend/2026-09?not:team=research&by=team",
            "/spend/2026-09?experiment=moonshot&by=team",
            "/spend/2026-09?experiment=seg-1&by=team",
            "/spend/2026-09?project=skunk",
            "/spend/2026-09?by=team&find=r",
            "/spend/2026-09?by=team&limit=0",
            "/spend/2026-09?by=team&sequence=1",
        ],
    ),
    (
        "/charges/{period}",
        &[
            "/charges/2026-09",
            "/charges/2026-09?pool=platform",
            "/charges/2026-09?team=rivals",
            "/charges/2026-09?team=",
            "/charges/2026-09?experiment=seg-1",
            "/charges/2026-09?experiment=moonshot",
            "/charges/2026-09?not:team=research",
            "/charges/2026-09?resource=node-s-rival",
        ],
    ),
    // The row of their own; those of others are below.
    ("/charges/{delivery}/{file}/{row}", &["/charges/1/0/1"]),
    (
        "/variance/{period}",
        &[
            "/variance/2026-09",
            "/variance/2026-09?team=rivals",
            "/variance/2026-09?pool=platform",
            "/variance/2026-09?experiment=seg-1",
        ],
    ),
    ("/tokens/{period}", &["/tokens/2026-09", "/tokens/2026-09?team=rivals", "/tokens/2026-Q3?cost=billed"]),
    ("/chargeback/{period}", &["/chargeback/2026-09", "/chargeback/2026-Q3?cost=billed&sort=name"]),
    (
        "/teams/{team}/{period}",
        &["/teams/research/2026-09", "/teams/vision/2026-09", "/teams/research/2026-08..2026-09?cost=billed"],
    ),
    (
        "/teams/{team}/{period}/statement",
        &["/teams/research/2026-09/statement", "/teams/vision/2026-08..2026-09/statement"],
    ),
    (
        "/experiments/during/{period}",
        &[
            "/experiments/during/2026-09",
            "/experiments/during/2026-Q3?find=o",
            "/experiments/during/2026-09?team=rivals&team=",
            "/experiments/during/2026-09?project=skunk",
        ],
    ),
    ("/experiments/{experiment}", &["/experiments/seg-1", "/experiments/seg-2?period=2026-09"]),
    ("/experiments/compare", &["/experiments/compare?experiment=seg-1&experiment=moonshot"]),
    ("/experiments/compare", &["/experiments/compare.json?experiment=seg-1"]),
    ("/experiments/compare", &["/experiments/compare.csv?experiment=seg-1"]),
    ("/budgets", &["/budgets"]),
    ("/budgets", &["/budgets.json"]),
    ("/budgets", &["/budgets.csv"]),
    ("/budgets/{budget}", &["/budgets/{own}"]),
    // 1 is shared with research, 2 with nobody.
    ("/scenarios", &["/scenarios"]),
    ("/scenarios", &["/scenarios.json"]),
    ("/prices", &["/prices", "/prices?accelerator=nvidia-h100-sxm"]),
    ("/prices", &["/prices.json"]),
    ("/prices", &["/prices.csv"]),
    ("/prices/tokens", &["/prices/tokens"]),
    ("/prices/tokens", &["/prices/tokens.json"]),
    ("/prices/tokens", &["/prices/tokens.csv"]),
    ("/scenarios", &["/scenarios.csv"]),
    (
        "/scenarios/new",
        &[
            "/scenarios/new?from=2026-09",
            "/scenarios/new?from=2026-Q3",
            "/scenarios/new?from=2026-09&team=research",
            "/scenarios/new?from=2026-09&project=skunk",
            "/scenarios/new?from=2026-09&experiment=moonshot",
            "/scenarios/new?from=2026-09&account=s-rival",
            "/scenarios/new?from=2026-09&pool=platform",
            "/scenarios/new?from=2026-09&not:team=research",
            "/scenarios/new?from=2026-09&set=/months=6",
        ],
    ),
    (
        "/scenarios/new.json",
        &["/scenarios/new.json?from=2026-09", "/scenarios/new.json?from=2026-Q3&team=research"],
    ),
    ("/scenarios/new", &["/scenarios/new.csv?from=2026-09"]),
    ("/jobs/{period}", &["/jobs/2026-09"]),
    ("/jobs/hours/{period}", &["/jobs/hours/2026-09?by=team", "/jobs/hours/2026-09?by=project"]),
    ("/scenarios/new", &["/scenarios/new.toml?from=2026-09"]),
    ("/scenarios/templates/{template}", &["/scenarios/templates/{situation}"]),
    ("/scenarios/claims", &["/scenarios/claims"]),
    ("/scenarios/claims", &["/scenarios/claims.json"]),
    ("/scenarios/calculators", &["/scenarios/calculators"]),
    ("/scenarios/calculators/{calculator}", &["/scenarios/calculators/spot"]),
    ("/scenarios/{scenario}", &["/scenarios/1", "/scenarios/1?set=/months=6"]),
    ("/scenarios/{scenario}/versions", &["/scenarios/1/versions"]),
    ("/scenarios/{scenario}/versions", &["/scenarios/1/versions.json"]),
];

/// What is not there for a lead, though it is for others. `{theirs}` is the number of a budget of others.
const HIDDEN: &[&str] = &[
    "/teams/rivals/2026-09",
    "/teams/umbrella/2026-09",
    "/teams/rivals/2026-09/statement",
    "/experiments/moonshot",
    "/experiments/moonshot?period=2026-09",
    "/budgets/{theirs}",
    "/scenarios/new?from=2026-09&team=rivals",
    "/scenarios/2",
    "/scenarios/2?set=/months=6",
    "/charges/1/0/3",
    "/charges/1/0/4",
    "/charges/1/0/5",
    "/charges/1/0/6",
    "/charges/1/0/7",
];

/// Whether a route is tried.
pub fn tries(path: &str) -> bool {
    SEEN.iter().any(|(route, addresses)| *route == path && !addresses.is_empty())
}

/// Research leads vision; rivals stand beside them, and umbrella above both. Everybody has a part of the platform, and
/// seg-1 is also of rivals. Answers the numbers of a budget of research and of one of rivals.
async fn ledger(db: PgPool) -> (TestLedger, i64, i64) {
    let ledger = TestLedger::new(db);
    let file = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "100.25", "research")
        .labelled("experiment", "seg-1")
        .hour("acme", "s2", "2026-09-06T10", "50.5", "vision")
        .labelled("experiment", "seg-2")
        .hour("acme", "s-rival", "2026-09-06T11", "31337.5", "rivals")
        .counted_in("opus-input-tokens", "31337.5", "1K tokens")
        .labelled("experiment", "moonshot")
        .hour("acme", "s-rival", "2026-09-07T10", "4242.75", "rivals")
        .labelled("experiment", "seg-1")
        .hour("acme", "s-hq", "2026-09-07T11", "77777.125", "umbrella")
        .hour("acme", "s-pool", "2026-09-08T10", "1000", "platform")
        .hour("acme", "s-void", "2026-09-08T11", "8462.5", "")
        .hour("acme", "s1", "2026-08-05T10", "80", "research")
        .hour("acme", "s-rival", "2026-08-05T11", "2718.5", "rivals");
    ledger.deliver("bills.csv", &file).await;
    let part_of = |handle: &str, name: &str, parent: &str| {
        let (handle, parent) = (handle.to_owned(), Some(parent.to_owned()));
        Entry::Team(Team { handle, name: name.to_owned(), parent, ..Team::default() })
    };
    let budget = |team: &str, amount: &str| {
        Entry::Budget(Budget {
            of: BudgetOf::Team(team.into()),
            period: BudgetPeriod::Month,
            amount: amount.parse().unwrap(),
            currency: Currency::exactly("USD"),
            thresholds: vec![80],
            months: Months::from("2026-08".parse().unwrap()),
        })
    };
    let skunk = Project {
        handle: "skunk".into(),
        name: "Skunk works".into(),
        team: Some("rivals".into()),
        ..Project::default()
    };
    let moonshot = Experiment {
        handle: "moonshot".into(),
        name: "Moonshot".into(),
        project: Some("skunk".into()),
        ..Experiment::default()
    };
    let entries = vec![
        budget("research", "500"),
        budget("rivals", "99999.75"),
        team("umbrella"),
        part_of("research", "Research", "umbrella"),
        part_of("vision", "Vision", "research"),
        part_of("rivals", "Rivals", "umbrella"),
        Entry::Project(skunk),
        Entry::Experiment(moonshot),
        Entry::Pool(pool("platform", Split::DirectCost)),
        rule(1, "account", "s-pool", to_pool("platform")),
        rule(2, "", "", Target::Labels),
    ];
    let ids = write(&mut ledger.db.acquire().await.unwrap(), entries).await;
    sqlx::query(
        "insert into quantities (owner_kind, owner, unit, day, quantity, from_sequence)
         values ('experiment', 'seg-1', 'runs', '2026-09-05', 4, 1),
                ('experiment', 'moonshot', 'runs', '2026-09-06', 99999.75, 1)",
    )
    .execute(&ledger.db)
    .await
    .unwrap();
    (ledger, ids[0], ids[1])
}

/// What of these words an answer says and its address does not: what was asked for is nobody's secret.
fn said(answer: &Answer, address: &str, words: &[&'static str]) -> Vec<&'static str> {
    let is_page = answer.header("content-type").starts_with("text/html");
    // Words that are broken by elements are one in the text.
    let text = if is_page { html::text(&answer.body, "body") } else { String::new() };
    let is_said = |word: &&str| answer.body.contains(word) || text.contains(word);
    words.iter().copied().filter(|word| is_said(word) && !address.contains(word)).collect()
}

/// What can stand behind the addresses of a route.
fn suffixes(route: &str) -> &'static [&'static str] {
    match route {
        "/charges/{delivery}/{file}/{row}" => &["", ".json"],
        _ if route.ends_with('}') => &["", ".json", ".csv"],
        _ => &[""],
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_finds_nothing_of_other_teams_on_any_page_or_file(db: PgPool) {
    let (ledger, own, theirs) = ledger(db).await;
    let app = TestApp::of(&ledger);
    let (mut lead, token) = lead_and_token(&app).await;
    let (mut script, mut finance) = (app.stranger(), app.signed_in(Role::Finance).await);
    for name in ["Ours", "Colossus"] {
        let file = scenarios::TEXT.replace("Three ways", name);
        scenarios::load(&mut finance, "a.toml", &file).await;
    }
    finance.submit("/scenarios/1", "/scenarios/1/share", &[("with", "research")]).await;
    let nowhere = html::text(&lead.get("/teams/nobody/2026-09").await.body, "main");
    let mut unsaid = [FOREIGN, OF_ALL].concat();
    let seen = SEEN.iter().map(|(route, addresses)| (true, suffixes(route), *addresses));
    let hidden = (false, &["", ".json"][..], HIDDEN);
    for (is_seen, suffixes, addresses) in seen.chain([hidden]) {
        for (address, suffix) in
            addresses.iter().flat_map(|it| suffixes.iter().map(move |suffix| (it, suffix)))
        {
            let address = address.replace("{own}", &own.to_string()).replace("{theirs}", &theirs.to_string());
            let address = address.replace("{situation}", templates()[0].handle);
            let address = with_suffix(&address, suffix);
            let whole = finance.get(&address).await;
            assert_eq!(whole.status, StatusCode::OK, "{address}: {}", whole.body);
            let described = said(&whole, "", &unsaid);
            unsaid.retain(|word| !described.contains(word));
            let secret =
                if address.contains("/statement") { FOREIGN.to_vec() } else { [FOREIGN, OF_ALL].concat() };
            for (who, answer) in
                [("browser", lead.get(&address).await), ("script", script.read(&token, &address).await)]
            {
                let expected = if is_seen { StatusCode::OK } else { StatusCode::NOT_FOUND };
                assert_eq!(answer.status, expected, "{who} {address}: {}", answer.body);
                let found = said(&answer, &address, &secret);
                assert!(found.is_empty(), "{who} {address} says {found:?}: {}", answer.body);
                // Not even whether there is such a thing.
                if !is_seen && answer.header("content-type").starts_with("text/html") {
                    assert_eq!(html::text(&answer.body, "main"), nowhere, "{who} {address}");
                }
            }
        }
    }
    assert!(unsaid.is_empty(), "nobody is told {unsaid:?}, so that it is hidden proves nothing");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_who_has_only_shared_costs_begins_at_the_month_that_has_some(db: PgPool) {
    let ledger = TestLedger::new(db);
    let file = Focus::new()
        .hour("acme", "s-rival", "2026-09-06T10", "30", "rivals")
        .hour("acme", "s-pool", "2026-09-06T11", "20", "platform")
        .hour("acme", "s-rival", "2026-10-06T11", "30", "rivals");
    ledger.deliver("bills.csv", &file).await;
    let entries = vec![
        team("research"),
        team("rivals"),
        Entry::Pool(pool("platform", Split::Evenly)),
        rule(1, "account", "s-pool", to_pool("platform")),
        rule(2, "", "", Target::Labels),
    ];
    write(&mut ledger.db.acquire().await.unwrap(), entries).await;
    let mut lead = TestApp::of(&ledger).signed_in(Role::Lead).await;
    assert_eq!(lead.get("/teams").await.location(), "/teams/research/2026-09");
    assert_eq!(lead.get("/spend").await.location(), "/spend/2026-09");
    assert_eq!(lead.get("/experiments").await.location(), "/experiments/during/2026-09");
    let page = lead.get("/teams/research/2026-09").await;
    assert!(html::text(&page.body, ".figures").contains("10.00"), "{}", page.body);
    assert!(html::text(&lead.get("/overview").await.body, "h1").starts_with("September 2026"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_without_charges_sets_off_the_allocation_of_a_few_months_only(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut file = Focus::new();
    for month in 1..=9 {
        file = file.hour("acme", "s-rival", &format!("2026-{month:02}-06T10"), "30", "rivals");
    }
    ledger.deliver("bills.csv", &file).await;
    let entries = vec![team("research"), team("rivals"), rule(1, "", "", Target::Labels)];
    write(&mut ledger.db.acquire().await.unwrap(), entries).await;
    let mut lead = TestApp::of(&ledger).signed_in(Role::Lead).await;
    assert_eq!(lead.get("/teams").await.location(), "/overview");
    let allocated: i64 = sqlx::query_scalar("select count(distinct billing_month) from attributed_months")
        .fetch_one(&ledger.db)
        .await
        .unwrap();
    assert!(allocated <= 4, "{allocated} of nine months were allocated");
}
