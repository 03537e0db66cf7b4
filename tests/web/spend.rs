//! The spend page: what one chooses stands in the address, and whatever is shown sums to the total.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use serde_json::Value;
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::json::{amount, sum};
use crate::support::{Focus, TestApp, TestLedger, gpuledger, html};

async fn finance(db: PgPool) -> (TestLedger, TestApp) {
    let ledger = TestLedger::new(db);
    ledger.deliver("august.csv", Focus::new().hour("acme", "s1", "2026-08-05T10", "40", "vision")).await;
    let september = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "30", "vision")
        .hour("acme", "s2", "2026-09-06T11", "20", "vision")
        .hour("acme", "s2", "2026-09-06T12", "25", "nlp")
        .hour("acme", "s3", "2026-09-07T12", "5", "Visionary");
    ledger.deliver("september.csv", &september).await;
    let app = TestApp::of(&ledger).signed_in(Role::Finance).await;
    (ledger, app)
}

fn labels(answer: &Value) -> Vec<&str> {
    answer["groups"].as_array().unwrap().iter().map(|group| group["label"].as_str().unwrap()).collect()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn groups_are_broken_down_and_sum_at_both_levels(db: PgPool) {
    let (_ledger, mut finance) = finance(db).await;
    let answer = finance.json("/spend/2026-09.json?by=tag:team&then=account").await;
    assert_eq!(answer["then"], "account");
    assert_eq!(sum(&answer["groups"]), amount(&answer["total"]));
    for group in answer["groups"].as_array().unwrap() {
        assert_eq!(sum(&group["groups"]), amount(&group["cost"]), "{}", group["label"]);
    }
    insta::assert_snapshot!(finance.get("/spend/2026-09.csv?by=tag:team&then=account").await.body, @r"
    key,label,then_key,then_label,cost,currency,accelerator_hours,owned_hours,share,previous,cost_per_accelerator_hour,cost_per_owned_hour
    vision,vision,s1,s1,30,USD,8,0,0.375000,40,3.750000,
    vision,vision,s2,s2,20,USD,8,0,0.250000,0,2.500000,
    nlp,nlp,s2,s2,25,USD,8,0,0.312500,0,3.125000,
    Visionary,Visionary,s3,s3,5,USD,8,0,0.062500,0,0.625000,
    ");
    let page = finance.get("/spend/2026-09?by=tag:team&then=account").await;
    assert_eq!(html::texts(&page.body, "tr.inside th"), ["s1", "s2", "s2", "s3"]);
    assert!(finance.json("/spend/2026-09.json?by=account&then=account").await["then"].is_null());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_was_not_looked_for_is_one_line_and_the_total_stays(db: PgPool) {
    let (_ledger, mut finance) = finance(db).await;
    let answer = finance.json("/spend/2026-09.json?by=tag:team&find=VISION").await;
    assert_eq!(labels(&answer), ["vision", "Visionary", "1 other"]);
    assert_eq!((amount(&answer["total"]), sum(&answer["groups"])), (80.into(), 80.into()));
    let none = finance.get("/spend/2026-09?by=tag:team&find=nobody").await;
    assert_eq!(html::texts(&none.body, "tbody tr.rest th"), ["3 others"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn groups_are_sorted_by_any_column(db: PgPool) {
    let (_ledger, mut finance) = finance(db).await;
    for (sort, expected) in [
        ("cost", ["vision", "nlp", "Visionary"]),
        ("-cost", ["Visionary", "nlp", "vision"]),
        ("name", ["nlp", "vision", "Visionary"]),
        ("previous", ["vision", "nlp", "Visionary"]),
        ("change", ["nlp", "vision", "Visionary"]),
        ("price", ["vision", "nlp", "Visionary"]),
    ] {
        let answer = finance.json(&format!("/spend/2026-09.json?by=tag:team&sort={sort}")).await;
        assert_eq!(labels(&answer), expected, "{sort}");
    }
    let page = finance.get("/spend/2026-09?by=tag:team&sort=-name").await.body;
    assert_eq!(html::attributes(&page, "th[aria-sort]", "aria-sort"), ["descending"]);
    assert_eq!(finance.get("/spend/2026-09?sort=color").await.status, StatusCode::BAD_REQUEST);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn ticked_groups_are_kept_or_left_out(db: PgPool) {
    let (_ledger, mut finance) = finance(db).await;
    let kept = finance.get("/spend/2026-09?by=tag%3Ateam&pick=vision&pick=nlp&do=keep").await;
    assert_eq!(kept.status, StatusCode::SEE_OTHER);
    assert_eq!(kept.location(), "/spend/2026-09?by=tag%3Ateam&tag%3Ateam=vision&tag%3Ateam=nlp");
    let answer = finance.json("/spend/2026-09.json?by=tag:team&tag:team=vision&tag:team=nlp").await;
    assert_eq!(amount(&answer["total"]), 75.into());

    let left = finance.get("/spend/2026-09?by=tag%3Ateam&pick=vision&do=leave-out").await;
    assert_eq!(left.location(), "/spend/2026-09?by=tag%3Ateam&not%3Atag%3Ateam=vision");
    let page = finance.get(left.location()).await.body;
    assert!(page.contains("Tag team: not vision"));
    assert_eq!(amount(&finance.json("/spend/2026-09.json?not:tag:team=vision").await["total"]), 30.into());
    // What has no value is left out by that, and only by that.
    assert_eq!(amount(&finance.json("/spend/2026-09.json?not:tag:project=x").await["total"]), 80.into());
    assert_eq!(amount(&finance.json("/spend/2026-09.json?not:tag:project=").await["total"]), 0.into());
    assert!(finance.get("/spend/2026-09?not:tag:project=").await.body.contains("match these filters"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_long_table_has_pages_and_every_page_the_total(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut many = Focus::new();
    for i in 0..230 {
        many = many.hour("acme", &format!("s{i:03}"), "2026-09-05T10", "1.000000000001", "vision");
    }
    ledger.deliver("many.csv", &many).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let mut rows = 0;
    for (page, expected) in [(1, 100), (2, 100), (3, 30)] {
        let body = finance.get(&format!("/spend/2026-09?by=account&page={page}")).await.body;
        let here = html::texts(&body, "#groups tbody th").len();
        assert_eq!(here, expected);
        rows += here;
        assert!(body.contains(&format!("Page {page} of 3")));
        assert!(html::texts(&body, "#groups tfoot td").contains(&"230.00".to_owned()));
    }
    assert_eq!(rows, 230);
    assert_eq!(finance.get("/spend/2026-09?by=account&page=99").await.status, StatusCode::OK);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_period_is_chosen_by_its_months(db: PgPool) {
    let (_ledger, mut finance) = finance(db).await;
    let answer = finance.get("/spend?by=account&from=2026-07&to=2026-09").await;
    assert_eq!(answer.location(), "/spend/2026-07..2026-09?by=account");
    let quarter = finance.get("/spend/2026-Q3?by=account").await.body;
    assert!(quarter.contains("<h1>Spend · Q3 2026</h1>"));
    assert!(
        finance.get("/spend/2026-Q3?by=account&over=day").await.body.contains("Aug 5, 2026, s1: 40.00 USD")
    );
    assert_eq!(finance.get("/spend?from=2026-09&to=2026-08").await.location(), "/spend/2026-08..2026-09");
    assert_eq!(finance.get("/spend?from=soon&to=2026-08").await.status, StatusCode::BAD_REQUEST);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_page_says_what_may_still_change(db: PgPool) {
    let (_ledger, mut finance) = finance(db).await;
    let page = finance.get("/spend/2026-09").await.body;
    assert!(page.contains("Provisional") && page.contains("NeoCloud"));
    let data_status = html::text(&page, ".data-status");
    let compared = "September 2026 is billed up to September 7, 2026 and compared with the same";
    assert!(data_status.contains(compared), "{data_status}");
    let why = finance.get("/variance/2026-09").await.body;
    assert!(html::text(&why, ".data-status").contains(compared));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn one_bill_that_ends_early_does_not_make_the_month_end_early(db: PgPool) {
    let ledger = TestLedger::new(db);
    for (account, last_hour) in [("acme", "2026-08-31T23"), ("small", "2026-08-14T23")] {
        let bill = |hours: &[&str]| {
            hours.iter().fold(Focus::new(), |bill, hour| bill.hour(account, account, hour, "10", "vision"))
        };
        ledger.deliver("july.csv", &bill(&["2026-07-03T00", "2026-07-30T00"])).await;
        ledger.deliver("august.csv", &bill(&["2026-08-03T00", last_hour])).await;
    }
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;

    let answer = finance.json("/spend/2026-08.json").await;
    assert_eq!(answer["total"]["amount"], "40");
    assert_eq!(answer["previous"]["amount"], "30", "all of one account's July, and the other's to the 14th");
    let expected = serde_json::json!({
        "with": "same-days", "through": "2026-08-14", "days": null, "only_some_bills": true
    });
    assert_eq!(answer["compared"], expected);
    let sentence = "Some bills of August 2026 end by August 14, 2026; each bill is compared with its same days of \
                    July 2026.";
    for page in ["/spend/2026-08", "/variance/2026-08", "/overview"] {
        let data_status = html::text(&finance.get(page).await.body, ".data-status");
        assert!(data_status.contains(sentence), "{page}: {data_status}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn values_that_differ_in_a_space_are_distinguished(db: PgPool) {
    let ledger = TestLedger::new(db);
    let month = Focus::new().hour("acme", "s1", "2026-09-05T10", "30", "vision").hour(
        "acme",
        "s1",
        "2026-09-05T11",
        "20",
        "vision ",
    );
    ledger.deliver("month.csv", &month).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;

    let page = finance.get("/spend/2026-09?by=tag:team").await;
    assert_eq!(html::texts(&page.body, "tbody tr th a"), ["vision", "vision␣"]);
    let answer = finance.json("/spend/2026-09.json?by=tag:team").await;
    assert_eq!(labels(&answer), ["vision", "vision␣"]);
    assert_eq!(answer["groups"][1]["key"], "vision ", "scripts are told what the file says");
    insta::assert_snapshot!(finance.get("/spend/2026-09.csv?by=tag:team").await.body, @"
    key,label,cost,currency,accelerator_hours,owned_hours,share,previous,cost_per_accelerator_hour,cost_per_owned_hour
    vision,vision,30,USD,8,0,0.600000,0,3.750000,
    vision ,vision␣,20,USD,8,0,0.400000,0,2.500000,
    ");

    for page in ["spend", "variance", "charges"] {
        let narrowed = finance.get(&format!("/{page}/2026-09?tag:team=vision%20")).await;
        let chips = html::texts(&narrowed.body, ".chips li").join("");
        assert!(chips.contains("vision␣"), "{page}: {chips}");
    }
    let charge = finance.get("/charges/1/0/2").await;
    assert!(html::texts(&charge.body, "dl.facts dd").contains(&"vision␣".to_owned()));
    assert_eq!(finance.json("/charges/1/0/2.json").await["charge"]["tags"]["team"], "vision ");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_step_that_the_ledger_has_not_made_is_refused(db: PgPool) {
    let (ledger, mut finance) = finance(db).await;
    let sentence = "sequence: version 3 does not exist. The latest is 2.";
    for page in ["spend", "variance", "charges"] {
        for form in ["", ".json", ".csv"] {
            let answer = finance.get(&format!("/{page}/2026-09{form}?sequence=2")).await;
            assert_eq!(answer.status, StatusCode::OK, "{page}{form}: {}", answer.body);
            let answer = finance.get(&format!("/{page}/2026-09{form}?sequence=3")).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{page}{form}");
            assert!(answer.body.contains(sentence), "{page}{form}: {}", answer.body);
        }
    }
    let before = finance.get("/spend/2026-09?sequence=-1").await;
    assert_eq!(before.status, StatusCode::BAD_REQUEST);

    let folder = tempfile::tempdir().unwrap();
    let url = ledger.db.connect_options().to_url_lossy();
    let arguments = ["report", "spend", "--period", "2026-09", "--sequence", "3"];
    let asked = gpuledger(folder.path(), Some(url.as_str()), &arguments).output().unwrap();
    assert_eq!(asked.status.code(), Some(1));
    assert_eq!(String::from_utf8(asked.stderr).unwrap(), format!("gpuledger: {sentence}\n"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_page_keeps_its_currency_and_a_list_of_charges_names_the_others(db: PgPool) {
    let ledger = TestLedger::new(db);
    let dollars = Focus::new().hour("acme", "a1", "2026-09-05T10", "10", "vision").hour(
        "acme",
        "a1",
        "2026-09-05T11",
        "20",
        "vision",
    );
    ledger.deliver("usd.csv", dollars).await;
    let euros = Focus::new().hour("beta", "b1", "2026-09-05T10", "7", "nlp").billed_in("EUR");
    ledger.deliver("eur.csv", euros).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;

    // Where there are several, everything is shown in one of them, and links say which.
    let location = finance.get("/spend").await.location().to_owned();
    assert_eq!(location, "/spend/2026-09?in=USD");
    let page = finance.get("/spend/2026-09?by=tag:team").await.body;
    let links = html::attributes(&page, "#groups tbody a", "href");
    assert!(!links.is_empty() && links.iter().all(|href| href.contains("currency=USD")), "{links:?}");

    // Charges of all of them are in one list, and in one file; of what has no rate only its own amount is shown.
    let page = finance.get("/charges/2026-09?in=USD").await.body;
    assert!(page.contains("30.00") && page.contains("7.00 EUR"), "{page}");
    let other = finance.get("/charges/2026-09?currency=EUR").await.body;
    assert!(other.contains("7.00") && other.contains("Charges in USD are not included"), "{other}");
    assert_eq!(html::text(&other, "h1"), "Charges September 2026 EUR only");
    let csv = finance.get("/charges/2026-09.csv?in=USD").await.body;
    assert_eq!((csv.lines().count(), csv.matches(",EUR").count()), (4, 1), "{csv}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_currency_that_there_is_none_of_is_refused_on_every_page(db: PgPool) {
    let ledger = TestLedger::new(db);
    let bill = Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "").billed_in("DBU");
    ledger.deliver("units.csv", &bill).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    for page in [
        "/spend/2026-09",
        "/variance/2026-09",
        "/charges/2026-09",
        "/chargeback/2026-09.json",
        "/unallocated/2026-09.csv",
        "/experiments/during/2026-09",
    ] {
        for name in ["in", "currency"] {
            let refused = finance.get(&format!("{page}?{name}=XXQ")).await;
            assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{page} {name}");
            assert!(
                refused.body.contains("which is no currency; enter a code such as USD"),
                "{}",
                refused.body
            );
            assert_eq!(
                finance.get(&format!("{page}?{name}=DBU")).await.status,
                StatusCode::OK,
                "a bill has it"
            );
            assert_eq!(
                finance.get(&format!("{page}?{name}=chf")).await.status,
                StatusCode::OK,
                "{page} {name}"
            );
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn pages_of_many_resources_lead_from_the_most_expensive_to_the_last(db: PgPool) {
    let ledger = TestLedger::new(db);
    let at = "2026-09-05T10";
    let resource = |bill: Focus, number: usize| {
        bill.hour("acme", &format!("s{number}"), at, &format!("{number}.01"), "vision")
    };
    let resources = 1_130;
    ledger.deliver("september.csv", (1..=resources).fold(Focus::new(), resource)).await;
    let mut app = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let address = "/spend/2026-09?by=resource";
    let total = app.json("/spend/2026-09.json?by=resource").await;
    assert_eq!(total["groups"].as_array().unwrap().len(), resources);
    let fresh = TestApp::of(&ledger).signed_in_as("another@example.com", Role::Finance).await;
    for mut app in [fresh, app] {
        for (page, first, last) in [(1, 1130, 1031), (10, 230, 131), (11, 130, 31), (12, 30, 1)] {
            let answer = app.get(&format!("{address}&page={page}")).await.body;
            let has = |number: usize| answer.contains(&format!(">node-s{number}<"));
            assert!(has(first) && has(last) && !has(first + 1), "page {page}");
            assert!(answer.contains(&format!("Page {page} of 12")), "page {page}");
            // One cent each, and 1 + 2 + … + 1130.
            assert!(answer.contains("639,026.30"), "page {page}: the total is of all");
        }
    }
}
