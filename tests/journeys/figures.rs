//! A figure that leads somewhere is the total of the page that it leads to: on the pages that people open first, for who
//! sees everything and for a lead, in a ledger that is billed in dollars and in euros.

use gpuledger::accounts::Role;
use gpuledger::allocation::{Budget, BudgetOf, BudgetPeriod, Entry, Months, Split, Target, Team};
use gpuledger::audit::Actor;
use gpuledger::exchange::{self, Rate};
use gpuledger::money::{Currency, Decimal};
use scraper::{ElementRef, Html, Selector};
use serde_json::Value;
use sqlx::PgPool;

use crate::support::configuration::{pool, rule, team, to_pool, write};
use crate::support::json::decimal;
use crate::support::{Focus, TestApp, TestLedger, html, now};

/// August and September: machines of three teams, some of them billed in euros, storage that they share in both currencies,
/// and something that is unallocated.
async fn ledger(db: PgPool) -> TestLedger {
    let ledger = TestLedger::new(db);
    for (month, next, rate) in [("2026-08", "2026-09", "1.1"), ("2026-09", "2026-10", "1.25")] {
        let shared = |provider: &str, account: &str, cost: &str, currency: &str| {
            format!(
                "{provider},{account},s9,{month}-01T00:00:00Z,{next}-01T00:00:00Z,{month}-01T00:00:00Z,\
                 {next}-01T00:00:00Z,Purchase,,Support,Other,,,,,,,{cost},{cost},{cost},{cost},{currency},,\
                 {provider},{provider}"
            )
        };
        let at = |day: &str| format!("{month}-{day}T10");
        let dollars = Focus::new()
            .hour("acme", "s1", &at("05"), "120.5", "research")
            .hour("acme", "s2", &at("06"), "80.25", "vision")
            .labelled("experiment", "exp-7")
            .hour("acme", "s3", &at("06"), "40.125", "speech")
            .hour("acme", "s4", &at("07"), "7.75", "")
            .line(&shared("NeoCloud", "acme", "30", "USD"));
        ledger.deliver(&format!("usd-{month}.csv"), &dollars).await;
        let euros = Focus::new()
            .hour("beta", "b1", &at("05"), "200", "vision")
            .labelled("experiment", "exp-7")
            .billed_in("EUR")
            .hour("beta", "b2", &at("08"), "50", "speech")
            .labelled("experiment", "exp-7")
            .billed_in("EUR")
            .hour("beta", "b3", &at("09"), "3", "")
            .billed_in("EUR")
            .line(&shared("NeoCloud", "beta", "60", "EUR"));
        ledger.deliver(&format!("eur-{month}.csv"), &euros).await;
        let mut db = ledger.db.acquire().await.unwrap();
        let rate = Rate {
            month: month.parse().unwrap(),
            currency: Currency::exactly("EUR"),
            quoted_in: Currency::exactly("USD"),
            rate: rate.parse().unwrap(),
            source: "test".into(),
        };
        exchange::set(&mut db, &[rate], Actor::command_line(None).at(now())).await.unwrap();
    }
    let mut db = ledger.db.acquire().await.unwrap();
    let dollars = Currency::exactly("USD");
    let by = Actor::command_line(None);
    exchange::set_reporting_currency(&mut db, Some(&dollars), by.at(now())).await.unwrap();
    let budget = |team: &str, amount: i64, currency: &str| {
        Entry::Budget(Budget {
            of: BudgetOf::Team(team.into()),
            amount: amount.into(),
            currency: Currency::exactly(currency),
            period: BudgetPeriod::Month,
            months: Months::from("2026-08".parse().unwrap()),
            thresholds: Vec::new(),
        })
    };
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
        budget("research", 500, "EUR"),
        budget("vision", 400, "USD"),
    ];
    write(&mut db, entries).await;
    drop(db);
    ledger
}

/// Of a table of a page: where it is, and the column of its amount.
struct Figures {
    page: &'static str,
    rows: &'static str,
    column: usize,
    /// The links of a row that lead to what is behind the figure.
    links: &'static str,
}

/// All links of the rows of a table.
const fn of(page: &'static str, rows: &'static str, column: usize) -> Figures {
    Figures { page, rows, column, links: "a[href]" }
}

const FIGURES: &[Figures] = &[
    of("/overview", "#providers tbody tr", 0),
    of("/overview", "#accelerators tbody tr", 0),
    of("/spend/2026-09", "#groups tbody tr", 0),
    of("/spend/2026-09?by=team", "#groups tbody tr", 0),
    of("/spend/2026-09?by=account", "#groups tbody tr", 0),
    of("/spend/2026-09?by=day", "#groups tbody tr", 0),
    of("/spend/2026-09?by=account&currency=EUR", "#groups tbody tr", 0),
    of("/spend/2026-09?by=account&in=EUR", "#groups tbody tr", 0),
    of("/spend/2026-08..2026-09?by=pool", "#groups tbody tr", 0),
    of("/chargeback/2026-09", "main table tbody tr", 2),
    of("/teams/research/2026-09", "#parts tbody tr", 0),
    of("/teams/research/2026-09", "#shared tbody tr", 1),
    of("/teams/vision/2026-09", "#parts tbody tr", 0),
    of("/experiments/during/2026-09", "main table tbody tr", 0),
    of("/variance/2026-09", "#movements tbody tr", 1),
    of("/variance/2026-09?team=vision", "#movements tbody tr", 1),
];

/// Pages of those who write rules. A spelling of a label is written in one tag here.
const FIGURES_OF_RULES: &[Figures] = &[
    Figures { page: "/rules", rows: "main table tbody tr", column: 0, links: "td.num a[href]" },
    Figures { page: "/labels/team", rows: "main table tbody tr", column: 0, links: "th + td a[href]" },
    Figures {
        page: "/unallocated/2026-09",
        rows: "main table table tbody tr",
        column: 0,
        links: "td a[href^='/charges']",
    },
];

fn amount(title: &str) -> Decimal {
    let number = title.split_whitespace().next().unwrap_or_default();
    number.replace(',', "").replace('−', "-").parse().unwrap_or_else(|_| panic!("{title} is no amount"))
}

fn css(text: &str) -> Selector {
    Selector::parse(text).expect("a selector")
}

/// Every link of a row with the amount that stands beside it. A team with others inside it says what all have.
fn links(body: &str, figures: &Figures) -> Vec<(String, Decimal)> {
    let page = Html::parse_document(body);
    let mut found = Vec::new();
    for row in page.select(&css(figures.rows)) {
        let title = |cell: ElementRef<'_>| cell.attr("title").map(amount);
        let Some(own) = row.select(&css("td.num[title]")).nth(figures.column).and_then(title) else {
            continue;
        };
        let whole = row.select(&css("th small span[title]")).next().and_then(title);
        for link in row.select(&css(figures.links)) {
            let href = link.attr("href").unwrap_or_default();
            if !href.starts_with('#') {
                found.push((href.to_owned(), whole.unwrap_or(own)));
            }
        }
    }
    found
}

/// What a page is about: its first figure, and in what.
async fn total(browser: &mut TestApp, href: &str) -> (Decimal, String) {
    let answer = browser.get(href).await;
    assert_eq!(answer.status, 200, "{href}");
    let title = html::attributes(&answer.body, "dl.figures .first dd", "title").into_iter().next();
    let title = title.unwrap_or_else(|| panic!("{href} has no total"));
    (amount(&title), title.split_whitespace().last().unwrap_or_default().to_owned())
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_total_behind_a_link_is_the_figure_that_was_clicked(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    for role in [Role::Admin, Role::Lead] {
        let mut browser = app.signed_in(role).await;
        let mut walked = 0;
        let mut wrong = Vec::new();
        let of_rules = if role == Role::Admin { FIGURES_OF_RULES } else { &[] };
        for figures in FIGURES.iter().chain(of_rules) {
            let mut of_page = 0;
            let answer = browser.get(figures.page).await;
            assert_eq!(answer.status, 200, "{} for {role}", figures.page);
            for (href, figure) in links(&answer.body, figures) {
                let (total, _) = total(&mut browser, &href).await;
                if total != figure {
                    wrong.push(format!("{}: {figure} leads to {total} at {href}", figures.page));
                }
                walked += 1;
                of_page += 1;
            }
            assert!(of_page > 0 || role == Role::Lead, "{} leads nowhere", figures.page);
        }
        assert!(wrong.is_empty(), "{role}: {wrong:#?}");
        assert!(walked > 40, "{role} walked {walked} links only");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_page_is_in_the_reporting_currency_until_another_is_asked_for(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    let mut finance = app.signed_in(Role::Finance).await;
    // 120.5 + 80.25 + 40.125 + 7.75 + 30 dollars, and 313 euros at 1.25.
    let all = Decimal::from(278_625).divide(1000.into(), 3).unwrap()
        + Decimal::from(313).multiply("1.25".parse().unwrap());
    for page in
        ["/overview", "/spend/2026-09", "/chargeback/2026-09", "/variance/2026-09", "/charges/2026-09"]
    {
        assert_eq!(total(&mut finance, page).await, (all, "USD".to_owned()), "{page}");
    }
    for page in ["/spend/2026-09", "/chargeback/2026-09", "/variance/2026-09", "/charges/2026-09"] {
        let only = format!("{page}?currency=EUR");
        assert_eq!(total(&mut finance, &only).await, (Decimal::from(313), "EUR".to_owned()), "{only}");
        let heading = html::text(&finance.get(&only).await.body, "h1");
        assert!(heading.ends_with("EUR only"), "{only}: {heading}");
        assert!(!html::text(&finance.get(page).await.body, "h1").contains("only"), "{page}");
        let json = finance.json(&page.replace("09", "09.json")).await;
        assert_eq!(json["currency"], "USD", "{page}");
    }
    // The scenario of the ledger has the machines that are billed in euros, too.
    let json = finance.json("/scenarios/new.json?from=2026-09").await;
    assert_eq!(json["made_of"]["currency"], "USD");
    assert_eq!(json["made_of"]["accelerator_hours"], "56");
    assert_eq!(json["made_of"]["other_currencies"], serde_json::json!([]));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_budget_and_the_page_of_its_team_say_the_same(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    for role in [Role::Admin, Role::Lead] {
        let mut browser = app.signed_in(role).await;
        let index = browser.get("/budgets").await.body;
        let budgets: Vec<String> = html::attributes(&index, "main tbody th a", "href");
        assert_eq!(budgets.len(), 2, "{role}");
        for budget in budgets {
            let (spent, currency) = total(&mut browser, &budget).await;
            let page = browser.get(&budget).await.body;
            let links = html::attributes(&page, "dl.figures .first a, #history td a", "href");
            assert_eq!(links.len(), 3, "{links:?}");
            assert_eq!(total(&mut browser, &links[0]).await, (spent, currency.clone()), "{role} {budget}");
            let history = html::attributes(&page, "#history td:nth-child(3)", "title");
            for (link, spent) in links[1..].iter().zip(history) {
                assert_eq!(total(&mut browser, link).await, (amount(&spent), currency.clone()), "{link}");
            }
        }
        // In the reporting currency both stand on the team's page: the total, and the line of its budget.
        let page = browser.get("/teams/vision/2026-09").await.body;
        let budget = html::attributes(&page, "p.budget span", "title").remove(0);
        assert_eq!(total(&mut browser, "/teams/vision/2026-09").await.0, amount(&budget));
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_step_of_the_ledger_is_shown_in_the_reporting_currency_of_that_step(db: PgPool) {
    let ledger = ledger(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let before = finance.json("/spend/2026-09.json").await;
    let euros = Currency::exactly("EUR");
    let mut db = ledger.db.acquire().await.unwrap();
    exchange::set_reporting_currency(&mut db, Some(&euros), Actor::command_line(None).at(now()))
        .await
        .unwrap();
    let after = finance.json("/spend/2026-09.json").await;
    assert_eq!((&before["currency"], &after["currency"]), (&"USD".into(), &"EUR".into()));
    let address = format!("/spend/2026-09.json?sequence={}", before["sequence"]);
    let then = finance.json(&address).await;
    assert_eq!(then["total"], before["total"]);
    // While none was chosen, the most used currency is shown, and the other is named.
    let address = "/spend/2026-09.json?sequence=6";
    let unset = finance.json(address).await;
    assert_eq!((&unset["currency"], &unset["other_currencies"][0]), (&"USD".into(), &"EUR".into()));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_has_no_rate_is_named_beside_the_total(db: PgPool) {
    let ledger = ledger(db).await;
    let pounds = Focus::new().hour("gamma", "g1", "2026-09-05T10", "11", "vision").billed_in("GBP");
    ledger.deliver("gbp.csv", &pounds).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    for page in ["/spend/2026-09", "/charges/2026-09", "/chargeback/2026-09", "/teams/vision/2026-09"] {
        let body = finance.get(page).await.body;
        assert!(body.contains("11.00 GBP") || html::text(&body, "main").contains("11.00 GBP"), "{page}");
    }
    let charges = finance.json("/charges/2026-09.json").await;
    assert_eq!(charges["unconverted"][0]["cost"]["amount"], "11");
    let lines = charges["lines"].as_array().unwrap();
    let of = |currency: &str| lines.iter().find(|line| line["currency"] == currency).unwrap();
    assert_eq!(of("GBP")["cost"], Value::Null);
    // 200 euros at 1.25 are the largest.
    assert_eq!((&lines[0]["currency"], &lines[0]["cost"]), (&"EUR".into(), &"250".into()));
    assert_eq!(lines.len(), 10);
    let spend = finance.json("/spend/2026-09.json").await;
    assert_eq!(decimal(&charges["total"]), decimal(&spend["total"]["amount"]));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_of_charges_sums_to_the_total_of_its_page(db: PgPool) {
    let ledger = ledger(db).await;
    let pounds = Focus::new().hour("gamma", "g1", "2026-09-05T10", "11", "vision").billed_in("GBP");
    ledger.deliver("gbp.csv", &pounds).await;
    let app = TestApp::of(&ledger);
    for role in [Role::Finance, Role::Lead] {
        let mut browser = app.signed_in(role).await;
        for asked in
            ["", "?currency=EUR", "?in=EUR", "?day=2026-09-05", "?team=vision", "?in=USD&currency=EUR"]
        {
            let page = browser.json(&format!("/charges/2026-09.json{asked}")).await;
            let file = browser.get(&format!("/charges/2026-09.csv{asked}")).await.body;
            let mut reader = csv::Reader::from_reader(file.as_bytes());
            let names = reader.headers().unwrap().clone();
            let place =
                |name: &str| names.iter().position(|it| it == name).unwrap_or_else(|| panic!("no {name}"));
            let (cost, into, currency) = (place("cost"), place("cost_currency"), place("currency"));
            let (mut rows, mut sum) = (0, Decimal::ZERO);
            for row in reader.records() {
                let row = row.unwrap();
                rows += 1;
                if row[cost].is_empty() {
                    assert_eq!((&row[currency], &row[into]), ("GBP", ""), "{role} {asked}");
                } else {
                    sum += row[cost].parse::<Decimal>().unwrap();
                    assert_eq!(&row[into], page["currency"].as_str().unwrap(), "{role} {asked}");
                }
            }
            let total = decimal(&page["total"]);
            assert_eq!(
                (Some(rows), sum.round(40)),
                (page["count"].as_i64(), total.round(40)),
                "{role} {asked}"
            );
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn files_of_teams_experiments_and_variance_say_their_currency(db: PgPool) {
    let ledger = ledger(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    for page in ["chargeback/2026-09", "experiments/during/2026-09", "variance/2026-09"] {
        for (asked, expected) in [("", "USD"), ("?currency=EUR", "EUR")] {
            let file = finance.get(&format!("/{page}.csv{asked}")).await.body;
            let mut reader = csv::Reader::from_reader(file.as_bytes());
            let place = reader.headers().unwrap().iter().position(|name| name == "currency");
            let place = place.unwrap_or_else(|| panic!("{page} says no currency"));
            let currencies: Vec<String> =
                reader.records().map(|row| row.unwrap()[place].to_owned()).collect();
            assert!(!currencies.is_empty() && currencies.iter().all(|it| it == expected), "{page}{asked}");
        }
    }
}
