//! Months of our own clusters on pages that are not theirs: what is to be published, what needs no invoice, what a change
//! would move.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::money::Decimal;
use gpuledger::period::BillingMonth;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::clusters::{change, entered, load, newest_change, publish, september};
use crate::support::changes::decide;
use crate::support::json::decimal;
use crate::support::{Focus, TestApp, TestLedger, html, now};

/// The months from October to the last that is over.
fn later_months() -> Vec<String> {
    let this_month = BillingMonth::of(now().date_naive());
    let october: BillingMonth = "2026-10".parse().unwrap();
    let months = std::iter::successors(Some(october), |month| Some(month.next()));
    months.take_while(|month| *month < this_month).map(|month| month.to_string()).collect()
}

/// What the overview tells of our own clusters and their accounts: kind, state, months.
async fn described(app: &mut TestApp) -> Value {
    let items = app.json("/overview.json").await["attention"].take();
    let of_ours = items.as_array().unwrap().iter().filter(|item| {
        ["cluster", "register-proposed"].contains(&item["kind"].as_str().unwrap())
            || item["provider"] == "On-premises"
    });
    of_ours.map(|item| json!([item["kind"], item["state"], item["months"], item["month"]])).collect()
}

/// Where the loading of readings is undone, by the page of the change that it was.
fn undo_readings(page: &str) -> String {
    decide(page, "undo").replace("/asset-register/", "/readings/")
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_overview_tells_which_months_are_to_be_published_and_leads_nothing(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let mut finance = admin.signed_in(Role::Finance).await;
    entered(&mut admin).await;
    publish(&mut admin, "h100-east", "2026-09").await;
    // That October is absent is shown once, as what one can do about it.
    ledger.deliver("october.csv", Focus::new().hour("acme", "s1", "2026-10-05T10", "40", "research")).await;
    let later = json!(["cluster", "new", later_months(), null]);
    assert_eq!(described(&mut finance).await, json!([later]));
    let page = finance.get("/overview").await.body;
    let said = html::text(&page, "#attention");
    assert!(said.contains("of cluster H100 East") && said.contains("over and not published yet"), "{said}");
    assert!(html::attributes(&page, "#attention a", "href").contains(&"/clusters/h100-east".to_owned()));

    change(&mut admin, "asset “h100-east-node”", &[("price", "365000")]).await;
    let differs = json!(["cluster", "differs", ["2026-09"], null]);
    assert_eq!(described(&mut finance).await, json!([differs, later]));
    let page = finance.get("/overview").await.body;
    let said = html::text(&page, "#attention");
    let differs = "September 2026 of cluster H100 East: the published bill differs from the asset register.";
    assert!(said.contains(differs), "{said}");

    let mut lead = admin.signed_in(Role::Lead).await;
    let page = lead.get("/overview").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(!page.body.contains("H100 East"), "{}", page.body);
    let of_lead = lead.json("/overview.json").await;
    assert!(of_lead.is_null() || of_lead["attention"] == json!([]), "{of_lead}");

    // A wish is shown until it is decided.
    change(&mut finance, "asset “h100-east-node”", &[("price", "1")]).await;
    assert_eq!(described(&mut finance).await[0][0], "register-proposed");
    let page = finance.get("/overview").await.body;
    let said = html::text(&page, "#attention");
    assert!(said.contains("1 proposed change to clusters is waiting for review."), "{said}");
    assert!(
        html::text(&admin.get("/overview").await.body, "#attention").contains("is waiting for your review.")
    );
    let id = newest_change(&admin).await;
    admin.submit("/changes?kind=asset-register", &format!("/changes/asset-register/{id}/discard"), &[]).await;

    publish(&mut admin, "h100-east", "2026-09").await;
    assert_eq!(described(&mut finance).await, json!([later]));
    admin.submit("/clusters/new", "/clusters/h100-east/publish", &[]).await;
    admin.run_jobs().await;
    assert_eq!(described(&mut finance).await, json!([]));
}

/// A line of what a change moves: before, after, difference, whether the month counts.
fn of_september(moves: &Value) -> Value {
    let amounts = moves["amounts"].as_array().unwrap();
    let it = amounts.iter().find(|it| it["month"] == "2026-09").unwrap();
    json!([it["effective"]["before"], it["effective"]["after"], it["effective"]["difference"], it["counts"]])
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_proposal_says_what_it_would_move_and_a_change_what_it_moved(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let mut finance = admin.signed_in(Role::Finance).await;
    entered(&mut admin).await;
    publish(&mut admin, "h100-east", "2026-09").await;
    let proposed = change(&mut finance, "asset “h100-east-node”", &[("price", "365000")]).await;
    let address = proposed.location().to_owned();
    let it = finance.json(&format!("{address}.json")).await;
    let moved = json!(["10619.01", "10756.00", "136.99", true]);
    assert_eq!(of_september(&it["moves"]), moved);
    let counting = &it["moves"]["totals"][0];
    assert_eq!(
        (&counting["counting_months"], &counting["counting_effective"]["difference"]),
        (&json!(1), &json!("136.99"))
    );
    assert_eq!(counting["billed"]["difference"], "5000.0");
    let page = finance.get(&address).await;
    let section = html::text(&page.body, "#moves");
    for text in ["Impact", "September 2026", "published", "10,619.01", "10,756.00", "+136.99"] {
        assert!(section.contains(text), "{text}: {section}");
    }
    assert!(html::text(&page.body, "main").contains("Administrators see this proposal"));
    assert!(!page.body.contains("Apply change") && admin.get(&address).await.body.contains("Apply change"));
    let csv = finance.get(&format!("{address}.csv")).await.body;
    assert!(csv.contains("\nh100-east,2026-09,USD,10619.01,10756.00,136.99,"), "{csv}");

    // A wish that somebody was faster than says so.
    let other = change(&mut finance, "asset “h100-east-node”", &[("price", "370000")]).await;
    admin.submit(&address, &decide(&address, "apply"), &[]).await;
    let late = admin.get(other.location()).await.body;
    assert!(late.contains("Edited by somebody else") && !late.contains("Apply change"), "{late}");

    // Applied, it says what it moved; published meanwhile or not, undoing it moves the same back.
    let it = finance.json(&format!("{address}.json")).await;
    assert_eq!((of_september(&it["moves"]), &it["undoing"]), (moved.clone(), &Value::Null));
    let page = admin.get(&address).await.body;
    assert!(html::text(&page, "#moves").contains("Impact") && page.contains("Undo change"));
    assert!(!finance.get(&address).await.body.contains("Undo change"));
    // What followed stands between: the price is undone of a node that is there twice by now.
    change(&mut admin, "tariff “Energy”", &[("price_per_kwh", "0.20")]).await;
    let it = finance.json(&format!("{address}.json")).await;
    assert_eq!(of_september(&it["moves"]), moved);
    assert_eq!(of_september(&it["undoing"]), json!(["11512.00", "11375.01", "-136.99", true]));

    // Words move no amounts.
    let named = change(&mut finance, "tariff “Energy”", &[("name", "Energy, 2026")]).await;
    let page = finance.get(named.location()).await;
    assert_eq!(page.status, StatusCode::OK);
    let section = html::text(&page.body, "#moves");
    assert!(section.contains("No amounts change in months up to today."), "{section}");
    let discard = decide(named.location(), "discard");
    finance.submit(named.location(), &discard, &[]).await;
    let page = finance.get(named.location()).await;
    assert!(html::texts(&page.body, "#moves").is_empty() && page.body.contains("Discarded "));
    assert_eq!(finance.get("/asset-register/changes/999").await.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn finance_takes_readings_back_and_no_other_change(db: PgPool) {
    let app = TestApp::new(db);
    let (mut admin, mut finance) = (app.signed_in(Role::Admin).await, app.signed_in(Role::Finance).await);
    entered(&mut admin).await;
    let meter = [("cluster", "h100-east"), ("name", "pdu"), ("place", "it")];
    admin.submit("/asset-register/meters/new", "/asset-register/meters/new", &meter).await;
    let entered = newest_change(&app).await;
    let before = september(&mut finance).await;
    let readings =
        |kwh: u32| format!("meter,from,until,kwh\npdu,2026-09-01T00:00:00Z,2026-09-02T00:00:00Z,{kwh}\n");
    let mut changes = Vec::new();
    for kwh in [200, 100] {
        load(&mut admin, "/clusters/h100-east/readings", readings(kwh).as_bytes()).await;
        changes.push(newest_change(&app).await);
    }
    // 100 instead of 200 kWh, × 1.25 × 0.10; without them it is 200 again, as it was before.
    let second = format!("/asset-register/changes/{}", changes[1]);
    let moves = finance.json(&format!("{second}.json")).await;
    assert_eq!(of_september(&moves["moves"])[2], "-12.50");
    assert_eq!(moves["undoing"], Value::Null);
    let first = format!("/asset-register/changes/{}", changes[0]);
    assert_eq!(of_september(&finance.json(&format!("{first}.json")).await["moves"])[2], "-0.20");
    assert!(finance.get(&second).await.body.contains("Undo change"));

    let undone = finance.submit("/clusters", &undo_readings(&first), &[]).await;
    assert_eq!(undone.status, StatusCode::UNPROCESSABLE_ENTITY, "others stand for them");
    for address in [&second, &first] {
        let undone = finance.submit("/clusters", &undo_readings(address), &[]).await;
        assert_eq!(undone.status, StatusCode::SEE_OTHER, "{}", html::text(&undone.body, "main"));
    }
    assert_eq!(september(&mut finance).await, before);
    let page = finance.get(&second).await.body;
    assert!(page.contains("Undone") && !page.contains("Undo change"), "{page}");

    // What was entered is not theirs to undo, by neither way.
    for what in ["readings", "asset-register"] {
        let address = format!("/changes/{what}/{entered}/undo");
        let refused = finance.submit("/clusters", &address, &[]).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{what}");
    }
    let count: i64 = sqlx::query_scalar(
        "select count(*) from changes where kind = 'asset-register' and status = 'applied'",
    )
    .fetch_one(&app.db)
    .await
    .unwrap();
    assert_eq!(count, 2, "the cluster and its meter");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_undoing_readings_would_move_is_what_it_moves(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    entered(&mut admin).await;
    let meter = [("cluster", "h100-east"), ("name", "pdu"), ("place", "it")];
    admin.submit("/asset-register/meters/new", "/asset-register/meters/new", &meter).await;
    let mut addresses = Vec::new();
    for (day, kwh) in [(1, 200), (2, 300), (1, 150)] {
        let rows = format!("pdu,2026-09-{day:02}T00:00:00Z,2026-09-{:02}T00:00:00Z,{kwh}\n", day + 1);
        load(&mut admin, "/clusters/h100-east/readings", format!("meter,from,until,kwh\n{rows}").as_bytes())
            .await;
        addresses.push(format!("/asset-register/changes/{}", newest_change(&app).await));
    }
    change(&mut admin, "tariff “Energy”", &[("price_per_kwh", "0.20")]).await;
    // Of the second day, and of the first, where what it stood for is there again; each from what there is then.
    for address in [&addresses[1], &addresses[2]] {
        let described = of_september(&admin.json(&format!("{address}.json")).await["undoing"]);
        assert_eq!(described[0], september(&mut admin).await[2][0], "{address}");
        admin.submit("/clusters", &undo_readings(address), &[]).await;
        assert_eq!(described[1], september(&mut admin).await[2][0], "{address}");
    }
    // 200 kWh on the first day is there again: 1.60 kWh less than the model says, × 1.25 × 0.20.
    assert_eq!(september(&mut admin).await[2][0], "11374.61");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn no_invoice_is_expected_for_what_is_our_own(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    ledger.deliver("cloud.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "40", "vision")).await;
    entered(&mut admin).await;
    publish(&mut admin, "h100-east", "2026-09").await;
    let mut finance = admin.signed_in(Role::Finance).await;
    let page = "/invoices/2026-09";
    let described = |body: &str| html::text(body, "tfoot td[colspan]");
    let body = finance.get(page).await.body;
    assert_eq!(described(&body), "0 of 1 has an invoice; 1 on-prem needs none");
    let subtotals = |body: &str| html::texts(body, "tr.subtotal th");
    assert_eq!(subtotals(&body), ["No invoice yet", "On-prem, no invoice needed"]);
    // In the files, in the ledger, tax; the rows sum to the total.
    let figures = |row: &str| html::texts(&body, &format!("{row} td.num"));
    assert_eq!(figures("tr.subtotal"), ["40.00", "40.00", "–", "360,756.00", "360,756.00", "–"]);
    assert_eq!(figures("tfoot tr:last-child")[..2], ["360,796.00", "360,796.00"]);
    assert!(html::text(&body, "tbody").contains("On-prem"), "{body}");
    let first = html::texts(&body, "select[name=line] option");
    assert!(
        first.iter().position(|it| it.contains("NeoCloud"))
            < first.iter().position(|it| it.contains("On-premises"))
    );
    let it = finance.json("/invoices/2026-09.json").await;
    let lines = it["lines"].as_array().unwrap();
    let own = lines.iter().find(|line| line["provider"] == "On-premises").unwrap();
    assert_eq!((&own["agreement"], &own["invoiced"]), (&json!("own"), &Value::Null));
    assert_eq!((&it["totals"][0]["lines"], &it["totals"][0]["lines_own"]), (&json!(2), &json!(1)));

    // One may be entered all the same, and is compared.
    let name = format!("{}-USD", own["scope_id"]);
    finance.submit(page, page, &[("line", &name), ("number", "internal-1"), ("amount", "360756.00")]).await;
    let it = finance.json("/invoices/2026-09.json").await;
    let lines = it["lines"].as_array().unwrap();
    let own = lines.iter().find(|line| line["provider"] == "On-premises").unwrap();
    assert_eq!(own["invoices"][0]["number"], "internal-1");
    assert_eq!(own["agreement"], "agrees");
    let body = finance.get(page).await.body;
    assert_eq!(described(&body), "1 of 2 have an invoice");
    assert_eq!(subtotals(&body), ["With invoice", "No invoice yet"]);
}

/// The month that was so many months ago.
fn month(ago: u32) -> String {
    BillingMonth::of(now().date_naive()).minus(ago).to_string()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_files_of_a_cluster_have_every_month_and_every_currency(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    let since = format!("{}-01", month(16));
    let fields = [("name", "Old"), ("site", "Berlin"), ("since", since.as_str()), ("price_per_kwh", "0.10")];
    admin.submit("/clusters/new", "/clusters/new", &fields).await;
    let plain = admin.json("/clusters/old.json").await;
    let months = plain["months"].as_array().unwrap();
    assert_eq!((months.len(), &months[0]["month"]), (17, &json!(month(16))));
    assert_eq!(plain["hours"]["months"], 12, "of the thirteen that the page shows, those that are over");
    let page = admin.get("/clusters/old").await.body;
    assert!(html::text(&page, "main").contains("The last 13 of 17 months."), "{}", html::text(&page, "main"));
    assert_eq!(html::texts(&page, ".scroll[aria-label='Cost by month and component'] tbody tr").len(), 13);

    // In euros, of a month that the page shows and of one that it does not.
    let [late, early] = [month(2), month(15)];
    for of in [&late, &early] {
        let cost = [
            ("cluster", "old"),
            ("name", "insurance"),
            ("what", "other"),
            ("amount", "1000"),
            ("currency", "EUR"),
            ("every", "month"),
            ("first", of.as_str()),
            ("last", of.as_str()),
        ];
        let entered = admin.submit("/asset-register/costs/new", "/asset-register/costs/new", &cost).await;
        assert_eq!(entered.status, StatusCode::SEE_OTHER, "{}", html::text(&entered.body, "main"));
    }
    let csv = admin.get("/clusters/old.csv").await.body;
    let euros: Vec<Vec<&str>> =
        csv.lines().map(|line| line.split(',').collect()).filter(|it: &Vec<&str>| it[3] == "EUR").collect();
    let described: Vec<(&str, Decimal)> = euros.iter().map(|it| (it[0], it[2].parse().unwrap())).collect();
    assert_eq!(described, [(early.as_str(), 1000.into()), (late.as_str(), 1000.into())]);
    let it = admin.json("/clusters/old.json").await;
    // Every amount of the file is one of the JSON's.
    let mut sum = Decimal::ZERO;
    for month in it["months"].as_array().unwrap() {
        sum += decimal(&month["effective"]);
        sum +=
            month["others"].as_array().unwrap().iter().map(|it| decimal(&it["effective"])).sum::<Decimal>();
    }
    let of_csv = csv.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse::<Decimal>().unwrap());
    assert_eq!(sum, of_csv.sum());

    // Without a rate it is named and in no price; with one it is in them.
    assert_eq!(it["without_rate"], json!([{ "month": late, "currency": "EUR" }]));
    assert_eq!(decimal(&it["hours"]["effective"]), decimal(&plain["hours"]["effective"]));
    let page = admin.get("/clusters/old").await.body;
    let said = html::text(&page, "main");
    let name = late.parse::<BillingMonth>().unwrap().name();
    assert!(
        said.contains(&format!(
            "Not included in the prices, because there is no exchange rate: 1,000.00 EUR of {name}."
        )),
        "{said}"
    );
    let rate = [
        ("month", late.as_str()),
        ("currency", "EUR"),
        ("quoted_in", "USD"),
        ("rate", "1.25"),
        ("source", "x"),
    ];
    assert_eq!(admin.submit("/rates", "/rates", &rate).await.status, StatusCode::SEE_OTHER);
    let it = admin.json("/clusters/old.json").await;
    assert_eq!(it["without_rate"], json!([]));
    assert_eq!(decimal(&it["hours"]["effective"]) - decimal(&plain["hours"]["effective"]), 1250.into());
    let of_late = |it: &Value| {
        let months = it["months"].as_array().unwrap();
        let month = months.iter().find(|it| it["month"] == late.as_str()).unwrap();
        (decimal(&month["per_owned_hour"]), decimal(&month["effective"]), decimal(&month["owned_hours"]))
    };
    let (price, effective, hours) = of_late(&it);
    assert_eq!(price, (effective + Decimal::from(1250)).divide(hours, 12).unwrap());
    assert!(
        !html::text(&admin.get("/clusters/old").await.body, "main").contains("there is no exchange rate")
    );
}
