//! Adjustments in the browser: a discount that is looked at before it is applied, follows its bill, and is undone; what a minimum
//! lacks; internal prices of a cluster.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::{adjustments, allocation};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::clusters::{entered, publish};
use crate::support::configuration::{rule, team, to_team, write};
use crate::support::json::{amount, decimal};
use crate::support::{Focus, TestApp, TestLedger, files, html, now, number};

pub const DISCOUNT: [(&str, &str); 5] = [
    ("kind", "discount"),
    ("provider", "neocloud"),
    ("percent", "8"),
    ("first_month", "2026-09"),
    ("reason", "Reseller discount 2026"),
];

/// The same of a smaller one.
pub const LESS: [(&str, &str); 5] = [
    ("kind", "discount"),
    ("provider", "NeoCloud"),
    ("percent", "7.5"),
    ("first_month", "2026-09"),
    ("reason", "Reseller discount 2026"),
];

/// Enters something, applies it and computes what follows; answers the page of the change.
async fn apply(app: &mut TestApp, fields: &[(&str, &str)]) -> String {
    let answer = app.submit("/adjustments/new", "/adjustments/new", fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let change = answer.location().to_owned();
    app.submit(&change, &format!("{change}/apply"), &[]).await;
    app.run_jobs().await;
    change
}

async fn spend(app: &mut TestApp, by: &str) -> Vec<(String, String)> {
    let answer = app.json(&format!("/spend/2026-09.json?by={by}&cost=effective")).await;
    let groups = answer["groups"].as_array().unwrap().iter();
    groups
        .map(|it| {
            let key = it["key"].as_str().unwrap_or("-").to_owned();
            (key, amount(&it["cost"]).normalize().to_string())
        })
        .collect()
}

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs.map(|(key, cost)| (key.to_owned(), cost.to_owned())).to_vec()
}

/// Every equation holds, and some are of adjustments.
async fn assert_checks(ledger: &TestLedger, of_adjustments: usize) {
    ledger.assert_balanced().await;
    let mut db = ledger.db.acquire().await.unwrap();
    let mut equations = allocation::check(&mut db).await.unwrap();
    let adjusted = adjustments::check(&mut db, now()).await.unwrap();
    assert_eq!(adjusted.len(), of_adjustments, "{adjusted:#?}");
    equations.extend(adjusted);
    let broken: Vec<_> = equations.iter().filter(|it| !it.holds).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

/// A bill with taxes, of two teams.
fn bill() -> Focus {
    Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "100.1", "vision")
        .hour("acme", "s2", "2026-09-06T11", "50.25", "speech")
        .line(
            "NeoCloud,acme,,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,Tax,,\
             Sales tax,Other,,,,,,,30,30,30,30,USD,,NeoCloud,NeoCloud",
        )
}

async fn with_teams(ledger: &TestLedger) -> TestApp {
    let mut db = ledger.db.acquire().await.unwrap();
    let entries = vec![
        team("vision"),
        team("speech"),
        rule(1, "tag:team", "vision", to_team("vision")),
        rule(2, "tag:team", "speech", to_team("speech")),
    ];
    write(&mut db, entries).await;
    TestApp::of(ledger).signed_in(Role::Finance).await
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn discount_is_charged_to_the_teams_follows_its_bill_and_is_undone(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_teams(&ledger).await;
    let empty = finance.get("/adjustments").await.body;
    assert!(empty.contains("No adjustments yet") && empty.contains("No bill is adjusted."), "{empty}");
    finance.import("bill.csv", bill().invoiced()).await;
    let as_billed = spend(&mut finance, "team").await;
    assert_eq!(as_billed, pairs([("vision", "100.1"), ("speech", "50.25"), ("-", "30")]));

    let answer = finance.submit("/adjustments/new", "/adjustments/new", &DISCOUNT).await;
    let change = answer.location().to_owned();
    let preview = finance.get(&change).await.body;
    let rows = html::texts(&preview, "#impact tbody tr");
    assert!(
        rows[0].contains("September 2026") && rows[0].contains("final") && rows[0].contains("−12.03"),
        "{rows:?}"
    );
    assert!(rows[1].contains("Vision") && rows[1].contains("−8.01"), "{rows:?}");
    assert!(rows[2].contains("Speech") && rows[2].contains("−4.02"), "{rows:?}");
    finance.run_jobs().await;
    assert_eq!(spend(&mut finance, "team").await, as_billed, "nothing is applied yet");
    finance.submit(&change, &format!("{change}/apply"), &[]).await;
    finance.run_jobs().await;

    // Exact, and tax is left out; the account stays one, and so do services.
    let discounted = pairs([("vision", "92.092"), ("speech", "46.23"), ("-", "30")]);
    assert_eq!(spend(&mut finance, "team").await, discounted);
    assert_eq!(spend(&mut finance, "account").await[..1], pairs([("s1", "92.092")]));
    assert_eq!(
        spend(&mut finance, "category").await,
        pairs([("Usage", "150.35"), ("Tax", "30"), ("Adjustment", "-12.028")])
    );
    // By day, it is on the days of what it is taken from.
    let days = spend(&mut finance, "day").await;
    assert!(days.contains(&("2026-09-05".to_owned(), "92.092".to_owned())), "{days:?}");
    let page = finance.get("/adjustments").await.body;
    let row = html::text(&page, "#bills tbody tr");
    assert!(row.contains("180.35") && row.contains("−12.03") && row.contains("Import 2"), "{row}");
    assert_checks(&ledger, 2).await;

    // The bill agrees with its invoice as before; nobody sends one for the discount.
    let invoices = finance.json("/invoices/2026-09.json").await;
    let lines: Vec<_> = invoices["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["billing_account"], &it["agreement"]))
        .collect();
    assert_eq!(
        format!("{lines:?}"),
        r#"[(String("acme"), String("no-invoice")), (String("acme (adjustments)"), String("adjustment"))]"#
    );
    // A statement that was handed out says what changed.
    let statement = finance.json("/teams/vision/2026-09/statement.json?cost=effective").await;
    assert_eq!(statement["state"], "final");
    let restated = statement["restated"].to_string();
    assert!(restated.contains("100.10") && restated.contains("92.09"), "{restated}");

    // The same bill again with another amount: what follows from it follows.
    let corrected = bill().text().replace("100.1,100.1,100.1,100.1", "200,200,200,200");
    let answer = finance.upload(&[("bill.csv", Focus::from(corrected).invoiced().as_bytes())]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    finance.run_jobs().await;
    assert_eq!(
        spend(&mut finance, "team").await,
        pairs([("vision", "184"), ("speech", "46.23"), ("-", "30")])
    );
    assert_checks(&ledger, 2).await;
    // Undone in any order.
    let imports = finance.json("/imports.json").await;
    let again = newest(&imports, "bill.csv");
    finance.submit(&format!("/imports/{again}"), &format!("/imports/{again}/undo"), &[]).await;
    finance.run_jobs().await;
    assert_eq!(spend(&mut finance, "team").await, discounted);
    finance.submit(&change, &format!("{change}/undo"), &[]).await;
    finance.run_jobs().await;
    assert_eq!(spend(&mut finance, "team").await, as_billed);
    assert_checks(&ledger, 0).await;
    let events = finance.get("/changes?kind=adjustments").await.body;
    assert!(events.contains("8% discount"), "{events}");
}

/// The number of the latest import of a file.
fn newest(imports: &Value, file: &str) -> i64 {
    let lines = imports["lines"].as_array().unwrap().iter();
    let of_file = lines.filter(|it| it["files"].to_string().contains(file));
    of_file.map(|it| it["delivery"].as_i64().unwrap()).max().unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn adjustments_that_are_undone_by_hand_stay_so_until_somebody_asks_for_them(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_teams(&ledger).await;
    finance.import("bill.csv", bill().text()).await;
    apply(&mut finance, &DISCOUNT).await;
    finance.submit("/imports/2", "/imports/2/undo", &[]).await;
    finance.run_jobs().await;
    assert_eq!(spend(&mut finance, "team").await[0].1, "100.1");
    let page = finance.get("/adjustments").await.body;
    assert!(html::text(&page, "#bills tbody tr").contains("undone"), "{page}");
    let action = html::attributes(&page, "#bills form", "action").remove(0);
    finance.submit("/adjustments", &action, &[]).await;
    finance.run_jobs().await;
    assert_eq!(spend(&mut finance, "team").await[0].1, "92.092");
    // Undoing the bill takes its adjustments with it.
    finance.submit("/imports/1", "/imports/1/undo", &[]).await;
    finance.run_jobs().await;
    assert_eq!(spend(&mut finance, "team").await, []);
    assert_checks(&ledger, 0).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn undoing_adjustments_takes_out_all_versions_of_them(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_teams(&ledger).await;
    finance.import("bill.csv", bill().text()).await;
    apply(&mut finance, &DISCOUNT).await;
    let list = finance.json("/adjustments.json").await;
    let entry = format!("/adjustments/{}", list["adjustments"][0]["id"]);
    let change = finance.submit(&entry, &entry, &LESS).await.location().to_owned();
    finance.submit(&change, &format!("{change}/apply"), &[]).await;
    finance.run_jobs().await;
    assert_eq!(spend(&mut finance, "team").await[0].1, "92.5925");
    assert_checks(&ledger, 2).await;
    finance.submit("/imports/3", "/imports/3/undo", &[]).await;
    finance.run_jobs().await;
    assert_eq!(spend(&mut finance, "team").await[0].1, "100.1", "neither 7.5% nor the 8% before");
    let attention = finance.json("/overview.json").await["attention"].to_string();
    assert!(attention.contains("not-adjusted"), "{attention}");
    assert_checks(&ledger, 0).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn discount_that_was_agreed_on_before_its_bill_is_no_restatement(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_teams(&ledger).await;
    apply(&mut finance, &DISCOUNT).await;
    // The clock of tests stands still.
    sqlx::query("update changes set decided_at = decided_at - interval '1 day'")
        .execute(&ledger.db)
        .await
        .unwrap();
    finance.import("bill.csv", bill().text()).await;
    finance.import("bill.csv", bill().invoiced()).await;
    let statement = finance.json("/teams/vision/2026-09/statement.json?cost=effective").await;
    assert_eq!((&statement["state"], &statement["restated"]), (&"final".into(), &json!([])));
    assert_eq!(spend(&mut finance, "team").await[0].1, "92.092");
    // Corrected afterwards, it is one.
    let list = finance.json("/adjustments.json").await;
    let entry = format!("/adjustments/{}", list["adjustments"][0]["id"]);
    let change = finance.submit(&entry, &entry, &LESS).await.location().to_owned();
    finance.submit(&change, &format!("{change}/apply"), &[]).await;
    finance.run_jobs().await;
    let statement = finance.json("/teams/vision/2026-09/statement.json?cost=effective").await;
    let restated = statement["restated"].to_string();
    assert!(restated.contains("92.09") && restated.contains("92.59"), "{restated}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_that_goes_on_is_compared_with_adjustments_of_the_same_days(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_teams(&ledger).await;
    let days = |month: &str, last: u32| {
        (1..=last).fold(Focus::new(), |file, day| {
            file.hour("acme", "s1", &format!("2026-{month}-{day:02}T10"), "100", "vision")
        })
    };
    finance.import("october.csv", days("10", 31).invoiced()).await;
    finance.import("november.csv", days("11", 10).text()).await;
    apply(&mut finance, &DISCOUNT).await;
    let november = finance.json("/spend/2026-11.json?by=provider").await;
    let group = &november["groups"][0];
    assert_eq!((amount(&group["cost"]), amount(&group["previous"])), (number("920"), number("920")));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn bill_of_an_azure_subscription_is_adjusted_beside_itself(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let file = files::fixture("exports/azure-usage/pay-as-you-go/input.csv");
    finance.import("azure.csv", std::fs::read(file).unwrap()).await;
    let discount = [
        ("kind", "discount"),
        ("provider", "Microsoft"),
        ("percent", "10"),
        ("first_month", "2010-01"),
        ("reason", "Partner"),
    ];
    let active = "select count(*) from visibility where until_sequence is null";
    let before: i64 = sqlx::query_scalar(active).fetch_one(&ledger.db).await.unwrap();
    assert!(before > 0);
    apply(&mut finance, &discount).await;
    let after: i64 = sqlx::query_scalar(active).fetch_one(&ledger.db).await.unwrap();
    assert_eq!(after, before * 2, "each bill has one beside it, and stays");
    assert_checks(&ledger, usize::try_from(before).unwrap() * 2).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_a_minimum_lacks_is_charged_once_the_month_is_over(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_teams(&ledger).await;
    finance.import("bill.csv", bill().text()).await;
    let november = Focus::new().hour("acme", "s1", "2026-11-05T10", "7", "vision");
    finance.import("november.csv", november.text()).await;
    let minimum = [
        ("kind", "minimum"),
        ("provider", "NeoCloud"),
        ("billing_account", "acme"),
        ("amount", "1000"),
        ("currency", "USD"),
        ("first_month", "2026-09"),
        ("reason", "Order form 17"),
    ];
    let change = apply(&mut finance, &minimum).await;
    let rows = html::texts(&finance.get(&change).await.body, "#impact tbody tr");
    assert!(rows.len() == 2 && rows[0].contains("849.65"), "November is not over: {rows:?}");
    assert_eq!(
        spend(&mut finance, "service").await,
        pairs([("Monthly minimum", "849.65"), ("GPU Cloud", "150.35"), ("Sales tax", "30")])
    );
    let november = finance.json("/spend/2026-11.json?by=service").await;
    assert_eq!(amount(&november["total"]), number("7"));
    let charge = finance.get("/charges/3/0/1").await.body;
    assert!(charge.contains("minimum of 1,000 USD a month: Order form 17"), "{charge}");
    assert_checks(&ledger, 4).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_typed_wrong_is_said_beside_its_field(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    for (field, value, sentence) in [
        ("percent", "", "Enter a percentage such as 8 or 2.5."),
        ("percent", "abc", "Enter a percentage such as 8 or 2.5."),
        ("percent", "-8", "Enter a percentage above 0, and at most 100."),
        ("percent", "101", "Enter a percentage above 0, and at most 100."),
        ("percent", "1.1234567", "Enter a percentage such as 8 or 2.5."),
        ("provider", "", "Enter the provider as imports name it"),
        ("first_month", "soon", "Enter a month such as 2026-09."),
        ("last_month", "2026-08", "Ends in August 2026, before it begins in September 2026."),
        ("reason", " ", "Enter why it is charged"),
    ] {
        let mut fields = DISCOUNT.to_vec();
        fields.retain(|it| it.0 != field);
        fields.push((field, value));
        let answer = finance.submit("/adjustments/new", "/adjustments/new", &fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{field} {value}");
        let said = html::text(&answer.body, &format!("#{field}-problem"));
        assert!(said.contains(sentence), "{field} {value}: {said}");
    }
    let gift = [&[("kind", "gift")], &DISCOUNT[1..]].concat();
    let answer = finance.submit("/adjustments/new", "/adjustments/new", &gift).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    // Minimums are of an account.
    let minimum = [
        ("kind", "minimum"),
        ("provider", "NeoCloud"),
        ("amount", "10"),
        ("currency", "usd"),
        ("first_month", "2026-09"),
        ("reason", "Order form 17"),
    ];
    let answer = finance.submit("/adjustments/new", "/adjustments/new", &minimum).await;
    assert!(
        html::text(&answer.body, "#billing_account-problem").contains("Enter the account"),
        "{}",
        answer.body
    );
    // The same twice would be charged twice.
    apply(&mut finance, &DISCOUNT).await;
    let answer = finance.submit("/adjustments/new", "/adjustments/new", &DISCOUNT).await;
    assert!(
        html::text(&answer.body, "#provider-problem").contains("is there already from September 2026"),
        "{}",
        answer.body
    );
    let ended = [&DISCOUNT[..], &[("last_month", "2026-10")]].concat();
    let list = finance.json("/adjustments.json").await;
    let entry = format!("/adjustments/{}", list["adjustments"][0]["id"]);
    let change = finance.submit(&entry, &entry, &ended).await.location().to_owned();
    finance.submit(&change, &format!("{change}/apply"), &[]).await;
    let next = [
        &DISCOUNT[..2],
        &[("percent", "9"), ("first_month", "2026-11"), ("reason", "Reseller discount 2026")],
    ]
    .concat();
    apply(&mut finance, &next).await;
    let csv = finance.get("/adjustments.csv").await.body;
    assert!(csv.contains("NeoCloud,,Discount,8,,,2026-09,2026-10,Reseller discount 2026,"), "{csv}");
    let removal = finance.submit(&entry, &format!("{entry}/remove"), &[]).await.location().to_owned();
    finance.submit(&removal, &format!("{removal}/apply"), &[]).await;
    assert_eq!(finance.json("/adjustments.json").await["adjustments"].as_array().unwrap().len(), 1);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn cluster_is_charged_by_internal_prices_and_still_costs_what_it_costs(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let of_node = rule(1, "resource", "h100-east-node", to_team("research"));
    write(&mut db, vec![team("research"), of_node]).await;
    drop(db);
    entered(&mut admin).await;
    publish(&mut admin, "h100-east", "2026-09").await;
    let before = admin.json("/spend/2026-09.json?by=service&cost=effective").await;
    let hours = decimal(&before["owned_hours"]);
    let price = [
        ("provider", "On-premises"),
        ("accelerator", "nvidia-h100-sxm"),
        ("unit", "GPU-hour"),
        ("price", "3.10"),
        ("currency", "USD"),
        ("valid_from", "2026-09-02"),
    ];
    let add = async |admin: &mut TestApp, first: &str| {
        let mut fields = price;
        fields[5].1 = first;
        let change = admin.submit("/rate-cards/new", "/rate-cards/new", &fields).await.location().to_owned();
        let preview = admin.json(&format!("{change}.json")).await["internal_prices"].take();
        admin.submit(&change, &format!("{change}/apply"), &[]).await;
        admin.run_jobs().await;
        (change, preview)
    };
    // A month is charged by prices or by cost, never by half.
    let (late, preview) = add(&mut admin, "2026-09-02").await;
    assert_eq!(preview["months"], json!([]));
    assert!(
        preview["by_cost"][0][2].as_str().unwrap().starts_with("no internal price for 8x H100"),
        "{preview}"
    );
    let page = admin.get("/adjustments").await.body;
    assert!(html::text(&page, "#bills").contains("No internal price for"), "{page}");
    assert_eq!(admin.json("/spend/2026-09.json?by=service&cost=effective").await["groups"], before["groups"]);
    admin.submit(&late, &format!("{late}/undo"), &[]).await;
    admin.run_jobs().await;

    let (change, preview) = add(&mut admin, "2026-01-01").await;
    let after = admin.json("/spend/2026-09.json?by=service&cost=effective").await;
    assert_eq!(amount(&after["total"]), amount(&before["total"]));
    let charged = number("3.10").multiply(hours);
    let of_service = |answer: &Value, service: &str| {
        let groups = answer["groups"].as_array().unwrap().iter();
        groups
            .filter(|it| it["key"] == service)
            .map(|it| amount(&it["cost"]))
            .sum::<gpuledger::money::Decimal>()
    };
    assert_eq!(of_service(&after, "Internal price difference"), amount(&before["total"]) - charged);
    // Which the preview said.
    let owners = preview["months"][0]["owners"].as_array().unwrap();
    let of_difference = owners.iter().find(|it| it["label"] == "Internal price difference").unwrap();
    assert_eq!(decimal(&of_difference["after"]), amount(&before["total"]) - charged);
    assert_eq!(decimal(&preview["months"][0]["after"]), number("0"));
    assert_eq!(after["owned_hours"], before["owned_hours"]);
    // Each owner of a machine, by whatever rule, is charged price × hours.
    let teams = admin.json("/spend/2026-09.json?by=team&cost=effective").await;
    let of_team = teams["groups"].as_array().unwrap().iter().find(|it| it["key"] == "research").unwrap();
    assert!(!decimal(&of_team["owned_hours"]).is_zero());
    assert_eq!(amount(&of_team["cost"]), number("3.10").multiply(decimal(&of_team["owned_hours"])));
    // What was paid to others stays as it is.
    let billed = admin.json("/spend/2026-09.json?by=service&cost=billed").await;
    assert_eq!(of_service(&billed, "Internal price difference"), number("0"));
    assert_checks(&ledger, 2).await;
    admin.submit(&change, &format!("{change}/undo"), &[]).await;
    admin.run_jobs().await;
    assert_eq!(admin.json("/spend/2026-09.json?by=service&cost=effective").await["groups"], before["groups"]);
    assert_checks(&ledger, 0).await;
}
