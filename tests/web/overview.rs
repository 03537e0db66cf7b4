//! The overview: its figures are those of the pages it leads to, and what needs attention goes away when it is done.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::allocation::{Budget, BudgetOf, BudgetPeriod, Edit, Entry, Months, Target};
use gpuledger::changes::Document as _;
use gpuledger::ledger::{Decision, WhenUnsure};
use gpuledger::money::{Currency, Decimal};
use serde_json::Value;
use sqlx::PgPool;

use crate::support::configuration::{change, rule, team, write};
use crate::support::json::amount;
use crate::support::{Focus, TestApp, TestLedger, html};

/// August whole, and September up to the 6th; the invoice of either is not out.
async fn two_months(db: PgPool) -> (TestLedger, TestApp) {
    let ledger = TestLedger::new(db);
    let august = Focus::new()
        .hour("acme", "s1", "2026-08-01T10", "40", "vision")
        .hour("acme", "s1", "2026-08-06T10", "10.000000000001", "vision")
        .hour("acme", "s2", "2026-08-07T10", "500", "nlp");
    ledger.deliver("august.csv", &august).await;
    let september = Focus::new().hour("acme", "s1", "2026-09-01T10", "30", "vision").hour(
        "acme",
        "s2",
        "2026-09-06T11",
        "45.5",
        "nlp",
    );
    ledger.deliver("september.csv", &september).await;
    let app = TestApp::of(&ledger).signed_in(Role::Finance).await;
    (ledger, app)
}

async fn attention(app: &mut TestApp) -> Vec<Value> {
    app.json("/overview.json").await["attention"].as_array().unwrap().clone()
}

fn kinds(attention: &[Value]) -> Vec<&str> {
    attention.iter().map(|item| item["kind"].as_str().unwrap()).collect()
}

/// Google's export never names its invoice: whoever enters it has it.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_whose_invoice_was_entered_needs_no_attention(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    ledger.deliver("july.csv", Focus::new().hour("acme", "s1", "2026-07-05T10", "30", "vision")).await;
    ledger.deliver("september.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "40", "vision")).await;
    assert!(kinds(&attention(&mut finance).await).contains(&"provisional"));
    let invoice = [("line", "1-USD"), ("number", "A-1"), ("amount", "30")];
    finance.submit("/invoices/2026-07", "/invoices/2026-07", &invoice).await;
    let left = attention(&mut finance).await;
    assert!(!kinds(&left).contains(&"provisional"), "{left:?}");
}

/// What a page begins with is a month that has begun.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn one_charge_of_a_year_to_come_moves_nobodys_first_page(db: PgPool) {
    let ledger = TestLedger::new(db);
    let app = TestApp::of(&ledger);
    let mut finance = app.signed_in(Role::Finance).await;
    ledger.deliver("far.csv", Focus::new().hour("umbra", "s1", "2099-12-05T10", "1", "vision")).await;
    assert_eq!(finance.get("/spend").await.location(), "/spend/2099-12", "there is no other");
    ledger.deliver("september.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "40", "vision")).await;
    assert_eq!(finance.get("/spend").await.location(), "/spend/2026-09");
    let overview = finance.json("/overview.json").await;
    assert_eq!(overview["month"], "2026-09", "{overview}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_of_hardly_any_charges_moves_nobodys_first_page(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let hours = |month: &str, count: u32| {
        (0..count).fold(Focus::new(), |file, n| {
            file.hour("acme", "s1", &format!("{month}-{:02}T{:02}", n / 24 + 1, n % 24), "1", "vision")
        })
    };
    ledger.deliver("september.csv", hours("2026-09", 40)).await;
    let cent = Focus::new().hour("umbra", "s1", "2026-10-01T10", "0.01", "vision");
    ledger.deliver("cent.csv", cent).await;
    assert_eq!(finance.get("/spend").await.location(), "/spend/2026-09");
    // The first days of a month are its substance.
    ledger.deliver("october.csv", hours("2026-10", 4)).await;
    assert_eq!(finance.get("/spend").await.location(), "/spend/2026-10");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn its_figures_are_those_of_the_pages_it_leads_to(db: PgPool) {
    let (_ledger, mut finance) = two_months(db).await;
    let overview = finance.json("/overview.json").await;
    assert_eq!((&overview["month"], &overview["previous"]), (&"2026-09".into(), &"2026-08".into()));
    for (part, address) in [
        ("by_provider", "/spend/2026-09.json?by=provider&in=USD"),
        ("by_accelerator", "/spend/2026-09.json?by=accelerator&in=USD"),
        ("previous_by_accelerator", "/spend/2026-08.json?by=accelerator&in=USD"),
    ] {
        assert_eq!(overview[part], finance.json(address).await, "{part}");
    }
    // One currency is what it is without converting.
    let plain = finance.json("/spend/2026-09.json?by=provider").await;
    assert_eq!(overview["by_provider"]["groups"], plain["groups"]);

    // The links stand where the figures do, and lead to the same ones.
    let page = finance.get("/overview").await;
    assert_eq!(html::text(&page.body, "h1"), "September 2026 so far");
    assert_eq!(
        html::attributes(&page.body, "#providers tbody th a", "href"),
        ["/spend/2026-09?provider=NeoCloud"]
    );
    let accelerator = html::attributes(&page.body, "#accelerators tbody th a", "href").remove(0);
    let narrowed = finance.json(&accelerator.replace("/2026-09", "/2026-09.json")).await;
    assert_eq!(narrowed["total"], overview["by_accelerator"]["groups"][0]["cost"]);
    for text in ["75.50", "550.00", "50.00", "+25.50", "4.72"] {
        assert!(page.body.contains(text), "{text}: {}", html::text(&page.body, "main"));
    }
}

/// What only the month before has, and not on the days that are compared, is a row as well.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rows_by_accelerator_sum_to_the_totals_of_both_months(db: PgPool) {
    let (ledger, mut finance) = two_months(db).await;
    let late = Focus::new().hour("other", "s9", "2026-08-20T10", "7.25", "vision");
    ledger.deliver("late.csv", late.text().replace("8xH100", "8xA100")).await;
    let page = finance.get("/overview").await.body;
    assert_eq!(html::texts(&page, "#accelerators tbody th"), ["H100", "A100"]);
    for (column, total) in [(2, "75.5"), (6, "557.250000000001")] {
        let cells = |part: &str| {
            html::attributes(&page, &format!("#accelerators {part} td:nth-child({column})"), "title")
        };
        let sum: Decimal = cells("tbody").iter().map(|cell| cell.parse::<Decimal>().unwrap()).sum();
        assert_eq!((sum.to_string(), cells("tfoot")), (total.to_owned(), vec![total.to_owned()]));
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_same_days_are_compared_to_the_last_digit(db: PgPool) {
    let (ledger, mut finance) = two_months(db).await;
    let overview = finance.json("/overview.json").await;
    let days = &overview["up_to_same_day"];
    assert_eq!(overview["through"], "2026-09-06");
    assert_eq!(amount(&days["current"]).to_string(), "75.5");
    assert_eq!(amount(&days["previous"]).to_string(), "50.000000000001");
    assert_eq!(days["providers"][0]["through"], "2026-09-06");

    // Every day of the spend page up to it, and none after.
    let by_day = finance.json("/spend/2026-08.json?by=day").await;
    let up_to = |group: &&Value| group["key"].as_str().is_some_and(|day| day <= "2026-08-06");
    let summed: Decimal =
        by_day["groups"].as_array().unwrap().iter().filter(up_to).map(|day| amount(&day["cost"])).sum();
    assert_eq!(summed, amount(&days["previous"]));

    // What belongs to no day counts whole; August has nothing of this bill.
    let fee = Focus::new()
        .hour("other", "s9", "2026-09-01T10", "7", "vision")
        .text()
        .lines()
        .nth(1)
        .unwrap()
        .replace("2026-09-01T11:00:00Z,Usage", "2026-10-01T00:00:00Z,Purchase")
        .replace("2026-09-01T10:00:00Z", "2026-09-01T00:00:00Z");
    ledger.deliver("fee.csv", Focus::new().line(&fee)).await;
    let overview = finance.json("/overview.json").await;
    assert_eq!(amount(&overview["by_provider"]["total"]).to_string(), "82.5");
    assert_eq!(amount(&overview["up_to_same_day"]["current"]).to_string(), "82.5");
    assert_eq!(amount(&overview["up_to_same_day"]["previous"]).to_string(), "50.000000000001");

    // A month that has come to its end is compared as a whole.
    let rest = Focus::new().hour("acme", "s1", "2026-09-30T10", "1", "vision");
    let path = ledger.file("rest.csv", &rest);
    ledger.import(&[path], Some(gpuledger::ledger::Decision::Add), gpuledger::ledger::WhenUnsure::Wait).await;
    let overview = finance.json("/overview.json").await;
    assert_eq!((&overview["through"], &overview["up_to_same_day"]), (&Value::Null, &Value::Null));
    let page = finance.get("/overview").await.body;
    assert_eq!(html::text(&page, "h1"), "September 2026");
    assert_eq!(
        html::attributes(&page, ".figures a:not(.info)", "href")
            .first()
            .map(|why| why.split('?').next().unwrap()),
        Some("/variance/2026-09")
    );
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_page_the_json_and_the_csv_say_the_same(db: PgPool) {
    let (_ledger, mut finance) = two_months(db).await;
    let overview = finance.json("/overview.json").await;
    let months = overview["months"].as_array().unwrap();
    assert_eq!(months.len(), 13);
    let csv = finance.get("/overview.csv").await.body;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "month,provider,cost,currency");
    assert_eq!(lines[12..], ["2026-08,NeoCloud,550.000000000001,USD", "2026-09,NeoCloud,75.5,USD"]);
    let of_json = |cell: &Value| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        [
            text(&cell["month"]),
            text(&cell["provider"]),
            text(&cell["cost"]["amount"]),
            text(&cell["cost"]["currency"]),
        ]
        .join(",")
    };
    assert_eq!(months.iter().map(of_json).collect::<Vec<_>>(), lines[1..]);
    let page = finance.get("/overview").await.body;
    let drawn = html::texts(&page, "#months tbody tr:last-child > *");
    assert_eq!(drawn, ["Sep 2026", "75.50", "75.50"]);
    // Which months may still change, by whom; and that what a running month is beside is all of the month before.
    let status = html::text(&page, ".data-status");
    assert!(
        status.contains("No invoice yet: September 2026 (NeoCloud); August 2026 (NeoCloud)."),
        "{status}"
    );
    assert!(html::text(&page, "main").contains("August 2026, full month"), "{page}");

    for (address, said) in [("/overview?cost=free", "cost:"), ("/overview?by=team", "only cost can")] {
        let refused = finance.get(address).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        assert!(refused.body.contains(said), "{address}");
    }
    let billed = finance.get("/overview?cost=billed").await.body;
    assert_eq!(html::text(&billed, ".tabs a[aria-current]"), "Billed cost");
    assert!(html::attributes(&billed, "#providers tbody a", "href")[0].contains("cost=billed"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_needs_attention_goes_away_when_it_is_done(db: PgPool) {
    let (ledger, mut finance) = two_months(db).await;
    let nothing = finance.get("/overview").await.body;
    assert!(html::text(&nothing, "#attention").contains("All clear."), "{nothing}");

    // A row that could not be read, of an account that was not billed before.
    let own = Focus::new().hour("beta", "b1", "2026-09-02T10", "5", "vision");
    let broken = own.text().lines().nth(1).unwrap().replace(",5,", ",much,");
    let report = ledger.deliver("beta.csv", own.line(&broken)).await;
    let found = attention(&mut finance).await;
    assert_eq!(kinds(&found), ["rejected"]);
    assert_eq!((&found[0]["rows"], &found[0]["months"][0]), (&1.into(), &"2026-09".into()));
    let page = finance.get("/overview").await.body;
    assert!(
        html::text(&page, "#attention")
            .contains("1 row of import 3 could not be read and is missing from September 2026.")
    );
    assert_eq!(html::attributes(&page, "#attention a", "href"), ["/imports/3"]);
    ledger.undo(report.delivery.unwrap()).await;
    assert!(attention(&mut finance).await.is_empty());

    // A budget of which so much is spent that it warns; one that only tells how far it is does not.
    let mut db = ledger.db.acquire().await.unwrap();
    let budget = |team: &str, amount: &str, thresholds: Vec<u32>| {
        Entry::Budget(Budget {
            of: BudgetOf::Team(team.into()),
            period: BudgetPeriod::Quarter,
            months: Months { first: Some("2026-07".parse().unwrap()), last: None },
            amount: amount.parse().unwrap(),
            currency: Currency::exactly("USD"),
            thresholds,
        })
    };
    let teams = vec![team("vision"), team("nlp"), rule(9, "", "", Target::Labels)];
    let budgets = vec![budget("nlp", "10000", vec![1]), budget("vision", "90", vec![50, 85])];
    write(&mut db, teams.into_iter().chain(budgets).collect()).await;
    let found = attention(&mut finance).await;
    assert_eq!(kinds(&found), ["budget"]);
    let page = finance.get("/overview").await.body;
    let said = html::text(&page, "#attention");
    assert!(said.contains("Vision has spent 80.00 of 90.00 USD in Q3 2026, 88.9%"), "{said}");
    let address = html::attributes(&page, "#attention a", "href").remove(0);
    assert_eq!(finance.get(&address).await.status, StatusCode::OK, "{address}");
    let id = found[0]["budget"].as_i64().unwrap();
    let before = gpuledger::allocation::Configuration::as_of(&mut db, 99).await.unwrap().entries.remove(&id);
    change(&mut db, vec![Edit { id, before, after: None }]).await;
    assert!(attention(&mut finance).await.is_empty());

    // A delivery that lacks a day of the one it would replace.
    let less = Focus::new().hour("acme", "s1", "2026-09-01T10", "31", "vision");
    ledger.deliver("less.csv", &less).await;
    let found = attention(&mut finance).await;
    assert_eq!(kinds(&found), ["waiting"]);
    assert_eq!(found[0]["files"][0], "less.csv");
    let id = found[0]["delivery"].as_i64().unwrap();
    finance.submit(&format!("/imports/{id}"), &format!("/imports/{id}/discard"), &[]).await;
    assert!(attention(&mut finance).await.is_empty());

    // A month that has nothing yet of who was billed in the one before.
    ledger.deliver("october.csv", Focus::new().hour("gamma", "g1", "2026-10-01T10", "1", "vision")).await;
    let found = attention(&mut finance).await;
    assert_eq!(kinds(&found), ["absent", "provisional"], "{found:?}");
    assert_eq!((&found[0]["billing_account"], &found[0]["month"]), (&"acme".into(), &"2026-10".into()));
    assert_eq!((&found[1]["month"], &found[1]["accounts"]), (&"2026-08".into(), &1.into()));
    ledger.deliver("acme.csv", Focus::new().hour("acme", "s1", "2026-10-01T10", "1", "vision")).await;
    assert_eq!(kinds(&attention(&mut finance).await), ["provisional"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_that_shrank_is_named_with_its_loss_until_it_is_explained(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let file = |rows: usize, cost: &str| {
        (0..rows).fold(Focus::new(), |file, _| file.hour("acme", "s1", "2026-09-01T10", cost, "vision"))
    };
    ledger.deliver("whole.csv", file(10, "10")).await;
    let path = ledger.file("less.csv", file(1, "10"));
    ledger.import(&[path], Some(Decision::Replace), WhenUnsure::Discard).await;
    ledger.deliver("next.csv", file(1, "11")).await;
    let found = attention(&mut finance).await;
    assert_eq!(kinds(&found), ["shrank"]);
    assert_eq!((&found[0]["delivery"], &found[0]["lost_by"]), (&3.into(), &2.into()));
    let said = html::text(&finance.get("/overview").await.body, "#attention");
    let expected = "Import 2 reduced September 2026 of NeoCloud acme by 89% of the billed cost (100.00 to 11.00 USD), 90% of \
                    the rows (9 of 10).";
    assert!(said.contains(expected), "{said}");
    let page = finance.get("/imports/3").await.body;
    let said = html::text(&page, "#shrank");
    assert!(said.contains("rows (9 of 10) since import 2."), "{said}");
    assert!(said.contains("Largest differences: GPU Cloud 100.00 to 11.00 USD."), "{said}");
    finance.submit("/imports/3", "/imports/3/explain", &[("reason", "Refunded.")]).await;
    assert!(attention(&mut finance).await.is_empty());
    // Undone, it made nothing smaller.
    finance.submit("/imports/3", "/imports/3/undo", &[]).await;
    assert!(!finance.get("/imports/3").await.body.contains("became smaller"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_upload_that_failed_is_named_until_it_is_tried_again_or_cancelled(db: PgPool) {
    let (_ledger, mut finance) = two_months(db).await;
    let upload = finance.upload(&[("october.csv", b"x")]).await;
    sqlx::query("update jobs set status = 'failed', message = 'The disk is full.', finished_at = now()")
        .execute(&finance.db)
        .await
        .unwrap();
    assert_eq!(kinds(&attention(&mut finance).await), ["failed"]);
    let page = finance.get("/overview").await.body;
    assert_eq!(html::attributes(&page, "#attention a", "href"), [upload.location()]);
    let cancel = format!("{}/cancel", upload.location());
    finance.submit(upload.location(), &cancel, &[]).await;
    assert!(attention(&mut finance).await.is_empty());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn several_currencies_are_converted_and_what_lacks_a_rate_is_named(db: PgPool) {
    let (ledger, mut finance) = two_months(db).await;
    for (name, hour, cost) in [("aug.csv", "2026-08-05T10", "80"), ("sep.csv", "2026-09-05T10", "100")] {
        let euros = Focus::new().hour("beta", "b1", hour, cost, "nlp").billed_in("EUR");
        let line = euros.text().lines().nth(1).unwrap().replace("NeoCloud", "Nordlicht");
        ledger.deliver(name, Focus::new().line(&line)).await;
    }
    let found = attention(&mut finance).await;
    assert_eq!(kinds(&found), ["without-rate"], "one for all months of a currency");
    assert_eq!(found[0]["months"], serde_json::json!(["2026-08", "2026-09"]));
    let page = finance.get("/overview").await.body;
    let left_out = "there is no exchange rate: 100.00 EUR of September 2026; 80.00 EUR of August 2026.";
    assert!(html::text(&page, ".data-status").contains(left_out), "{}", html::text(&page, ".data-status"));
    assert!(html::text(&page, "#attention").contains("Amounts in EUR of August 2026 and September 2026"));
    assert_eq!(html::attributes(&page, "#attention a", "href"), ["/rates"]);
    // Who bills only in that currency is there, without figures.
    assert_eq!(html::texts(&page, "#providers tbody th"), ["NeoCloud", "Nordlicht"]);
    assert_eq!(html::text(&page, "#providers tbody tr:last-child .badge"), "Not converted");

    for month in ["2026-08", "2026-09"] {
        let rate = [("month", month), ("currency", "EUR"), ("rate", "1.25"), ("quoted_in", "USD")];
        finance.submit("/rates", "/rates", &rate).await;
    }
    let overview = finance.json("/overview.json").await;
    assert_eq!(amount(&overview["by_provider"]["total"]).normalize().to_string(), "200.5");
    assert_eq!(amount(&overview["up_to_same_day"]["current"]).normalize().to_string(), "200.5");
    assert!(overview["attention"].as_array().unwrap().is_empty());
    let page = finance.get("/overview").await.body;
    assert!(page.contains("Exchange rates used") && page.contains("1.25"));
    // Where it leads, the same is converted.
    assert_eq!(
        html::attributes(&page, "#providers tbody a", "href"),
        ["/spend/2026-09?in=USD&provider=Nordlicht", "/spend/2026-09?in=USD&provider=NeoCloud"]
    );
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_sees_their_teams_and_nothing_about_imports(db: PgPool) {
    let (ledger, finance) = two_months(db).await;
    let own = Focus::new().hour("delta", "d1", "2026-09-02T10", "3", "Research");
    let broken = own.text().lines().nth(1).unwrap().replace(",3,", ",much,");
    ledger.deliver("delta.csv", own.line(&broken)).await;
    let mut lead = finance.signed_in(Role::Lead).await;
    let overview = lead.json("/overview.json").await;
    assert_eq!(amount(&overview["by_provider"]["total"]).to_string(), "3");
    assert_eq!(overview["attention"], serde_json::json!([]));
    assert_eq!(overview["states"].as_array().unwrap().len(), 1);
    let page = lead.get("/overview").await.body;
    assert!(page.contains("This month is incomplete"));
    assert!(html::texts(&page, "#attention").is_empty() && !page.contains("href=\"/imports"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn while_nothing_is_loaded_it_says_what_to_do(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    assert_eq!(finance.get("/").await.location(), "/overview");
    assert_eq!(finance.get("/spend").await.location(), "/overview");
    let page = finance.get("/overview").await.body;
    assert_eq!(html::attributes(&page, ".empty a", "href"), ["/imports"]);
    assert_eq!(finance.get("/overview.json").await.body, "null");
    assert_eq!(finance.get("/overview.csv").await.body, "month,provider,cost,currency\n");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_invoice_that_differs_is_named_until_it_agrees(db: PgPool) {
    let (_ledger, mut finance) = two_months(db).await;
    let before = attention(&mut finance).await.len();
    let page = "/invoices/2026-08";
    let invoice = |number, amount| [("line", "1-USD"), ("number", number), ("amount", amount)];
    finance.submit(page, page, &invoice("A-1", "560.00")).await;
    let items = attention(&mut finance).await;
    let differs: Vec<_> = items.iter().filter(|item| item["kind"] == "invoice").collect();
    assert_eq!((differs.len(), amount(&differs[0]["difference"])), (1, "10.00".parse().unwrap()));
    let html = finance.get("/overview").await.body;
    assert!(html.contains("The invoices of NeoCloud acme for August 2026 are 10.00 USD above its charges."));
    finance.submit(page, page, &invoice("CN-1", "-10")).await;
    assert_eq!(attention(&mut finance).await.len(), before);
}
