//! What is unallocated: how much, since when, what, and who could own it.

use gpuledger::accounts::Role;
use gpuledger::allocation::{Account, Entry, Split, Target};
use sqlx::PgPool;

use crate::support::configuration::{pool, rule, team, to_pool, to_team, write};
use crate::support::{Focus, TestApp, TestLedger, html};

const PAGE: &str = "/unallocated/2026-09";

/// In s1 vision has 90 and nobody 10; s2 is nobody's 40, of which 30 look like vision's.
async fn app(db: PgPool) -> (TestLedger, TestApp) {
    let ledger = TestLedger::new(db);
    let month = |month: &str| {
        Focus::new()
            .hour("acme", "s1", &format!("{month}-05T10"), "90", "vision")
            .hour("acme", "s1", &format!("{month}-05T11"), "10", "")
            .hour("acme", "s2", &format!("{month}-06T10"), "30", "Vison")
            .hour("acme", "s2", &format!("{month}-06T11"), "10", "robotics")
    };
    ledger.deliver("august.csv", month("2026-08")).await;
    ledger.deliver("september.csv", month("2026-09")).await;
    let finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    (ledger, finance)
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_tells_how_much_is_covered_and_whose_the_rest_could_be(db: PgPool) {
    let (ledger, mut finance) = app(db).await;
    assert_eq!(finance.get("/unallocated").await.location(), PAGE, "the latest month");
    let mut db = ledger.db.acquire().await.unwrap();
    let account = Account { account: "s2".into(), team: "speech".into(), ..Account::default() };
    let entries = vec![
        team("vision"),
        team("speech"),
        rule(1, "tag:team", "vision", to_team("vision")),
        Entry::Account(account),
    ];
    write(&mut db, entries).await;

    let it = finance.json("/unallocated/2026-09.json").await;
    let coverage = &it["coverage"];
    for (name, amount) in
        [("total", "140"), ("direct", "90"), ("shared", "0"), ("unallocated", "50"), ("covered", "0.642857")]
    {
        assert_eq!(coverage[name], amount, "{name}");
    }
    assert_eq!(it["months"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&it["months"][0]["month"], &it["months"][0]["covered"]),
        (&"2026-08".into(), &"0.642857".into())
    );
    let described: Vec<(&str, &str, Vec<&str>)> = it["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| {
            let suggestions = key["suggestions"].as_array().unwrap();
            let why = suggestions.iter().map(|it| it["why"].as_str().unwrap()).collect();
            (key["cost"].as_str().unwrap(), key["account"].as_str().unwrap(), why)
        })
        .collect();
    let owner = "account s2 is Speech’s, and no rule asks for it";
    let resource = "everything that is allocated of resource node-s1 is Vision’s";
    assert_eq!(
        described,
        [
            ("30", "s2", vec![owner, "its tag team says “Vison”, which looks like Vision"]),
            ("10", "s1", vec!["everything that is allocated in account s1 is Vision’s", resource]),
            ("10", "s2", vec![owner, "its tag team says “robotics”, and there is no such team"]),
        ]
    );

    let page = finance.get(PAGE).await.body;
    let links = html::attributes(&page, "#keys tbody a", "href");
    for link in [
        "/rules/new?field=account&value=s2&to=account&name=Account+s2&from=2026-09",
        "/rules/new?field=tag%3Ateam&value=Vison&to=team%3Avision&name=Tag+team+Vison&from=2026-09",
        "/rules/new?field=account&value=s1&to=team%3Avision&name=Account+s1&from=2026-09",
        "/labels/team",
    ] {
        assert!(links.iter().any(|found| found == link), "{link} {links:?}");
    }
    assert_eq!(html::text(&page, ".figures dd"), "64.3%");
    // A rule that is offered for several keys stands once, with all of their money; each key leads to its charges.
    let lines = html::texts(&page, "#keys > .scroll > table > tbody > tr:first-child");
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("account s2 is Speech’s") && lines[0].contains("40.00"), "{}", lines[0]);
    let keys = html::texts(&page, "#keys details tbody tr");
    assert!(keys[0].contains("node-s2") && keys[0].contains("Sep 6, 2026"), "{}", keys[0]);
    let charges = html::attributes(&page, "#keys details tbody a", "href");
    assert_eq!((keys.len(), charges.len()), (3, 3));
    assert!(html::text(&finance.get(&charges[0]).await.body, "tbody").contains("30.00"));
    let csv = finance.get("/unallocated/2026-09.csv").await.body;
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(csv.contains(",30,USD,8,0,0.600000,Speech,"), "{csv}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn pools_that_nobody_shares_are_unallocated_and_no_rule_is_offered_for_them(db: PgPool) {
    let (ledger, mut finance) = app(db).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let entries = vec![
        team("vision"),
        Entry::Pool(pool("common", Split::Quantity { unit: "runs".into() })),
        rule(1, "account", "s2", to_pool("common")),
        rule(2, "", "", Target::Labels),
    ];
    write(&mut db, entries).await;
    let it = finance.json("/unallocated/2026-09.json").await;
    assert_eq!((&it["coverage"]["unallocated"], &it["coverage"]["undivided"]), (&"50".into(), &"40".into()));
    assert_eq!((&it["coverage"]["direct"], &it["coverage"]["shared"]), (&"90".into(), &"0".into()));
    let page = finance.get(PAGE).await.body;
    assert!(page.contains("40.00 USD</span> of this is in shared costs that no team has a share of"));
    assert!(html::text(&page, "#keys").contains("common Shared costs that no team has a share of"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn empty_pages_say_what_to_do_next(db: PgPool) {
    let (ledger, mut finance) = app(db).await;
    let empty = |page: &str| html::text(page, ".empty");
    assert!(empty(&finance.get("/unallocated/2020-01").await.body).contains("Nothing was billed"));
    assert!(empty(&finance.get(PAGE).await.body).contains("There are no teams yet"));
    assert_eq!(
        html::texts(&finance.get(PAGE).await.body, "#keys details tbody tr").len(),
        4,
        "all is nobody's"
    );
    let mut db = ledger.db.acquire().await.unwrap();
    write(&mut db, vec![team("vision"), rule(1, "", "", to_team("vision"))]).await;
    let page = finance.get(PAGE).await.body;
    assert!(empty(&page).contains("Everything is allocated in September 2026"), "{page}");
    assert_eq!(html::text(&page, ".figures dd"), "100.0%");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_credit_that_nobody_owns_hides_no_charge(db: PgPool) {
    let ledger = TestLedger::new(db);
    let bill = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "200", "vision")
        .hour("acme", "s1", "2026-09-05T11", "75", "a")
        .hour("acme", "s1", "2026-09-05T12", "25", "b")
        .hour("acme", "s2", "2026-09-05T13", "-100", "c");
    ledger.deliver("september.csv", bill).await;
    let mut db = ledger.db.acquire().await.unwrap();
    write(&mut db, vec![team("vision"), rule(1, "tag:team", "vision", to_team("vision"))]).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;

    let it = finance.json("/unallocated/2026-09.json").await;
    let coverage = &it["coverage"];
    assert_eq!((&coverage["unallocated"], &coverage["covered"]), (&"0".into(), &"0.500000".into()));
    assert_eq!(coverage["unallocated_gross"], serde_json::json!({"charges": "100", "credits": "-100"}));
    assert_eq!(it["months"][0]["covered"], "0.500000");
    let keys = it["keys"].as_array().unwrap();
    let described: Vec<_> =
        keys.iter().map(|key| (key["cost"].as_str().unwrap(), key["share"].as_str().unwrap())).collect();
    // By size, so that a large credit is among the first.
    assert_eq!(described, [("-100", "1.000000"), ("75", "0.750000"), ("25", "0.250000")]);

    // Of a part of the charges as well, whatever rows tell them.
    for (filter, covered, gross) in [
        ("region=eu-1", "0.500000", ["100", "-100"]),
        ("account=s1", "0.666667", ["100", "0"]),
        ("tag:team=c", "0.000000", ["0", "-100"]),
    ] {
        let it = finance.json(&format!("/unallocated/2026-09.json?{filter}")).await;
        assert_eq!(it["coverage"]["covered"], covered, "{filter}");
        let described = &it["coverage"]["unallocated_gross"];
        assert_eq!([&described["charges"], &described["credits"]], gross, "{filter}");
    }

    let page = finance.get(PAGE).await.body;
    assert_eq!(html::text(&page, ".figures dd"), "50.0%");
    let figures = html::text(&page, ".figures");
    assert!(figures.contains("Unallocated chargesUSD100.00 Unallocated creditsUSD−100.00"), "{figures}");
    assert!(!html::texts(&page, "#keys td.share").iter().any(|share| share == "–"), "{page}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn of_several_currencies_it_says_which_part_it_shows_until_one_is_chosen_for_all(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("dollars.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "90", "")).await;
    let euros = Focus::new().hour("other", "s9", "2026-09-05T10", "10", "").billed_in("EUR");
    ledger.deliver("euros.csv", euros).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;

    assert_eq!(finance.get("/unallocated").await.location(), "/unallocated/2026-09?in=EUR");
    let page = finance.get(PAGE).await.body;
    assert_eq!(html::text(&page, "h1"), "Unallocated in September 2026 EUR only");
    let first = html::text(&page, "main > p");
    assert!(first.starts_with("Charges in EUR only; USD not included"), "{first}");
    let links = html::attributes(&page, "main > p a", "href");
    assert!(links.contains(&"/unallocated/2026-09?in=EUR".to_owned()), "{links:?}");
    assert!(links.contains(&"/unallocated/2026-09?currency=USD".to_owned()), "{links:?}");

    finance.submit("/rates", "/rates/reporting-currency", &[("reporting_currency", "USD")]).await;
    assert_eq!(finance.get("/unallocated").await.location(), "/unallocated/2026-09");
    let page = finance.get(PAGE).await.body;
    assert_eq!(html::text(&page, "h1"), "Unallocated in September 2026");
    assert!(html::text(&page, "main").contains("10.00 EUR"), "what has no rate is named");
}
