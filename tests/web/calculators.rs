//! Calculators: one question, answered with its formula, at an address of its own.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::audit::Actor;
use gpuledger::exchange::{self, Rate};
use gpuledger::money::Currency;
use gpuledger::period::BillingMonth;
use sqlx::PgPool;

use crate::support::{TestApp, html, now};

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_calculator_opens_with_its_answer(db: PgPool) {
    let app = TestApp::new(db);
    let mut lead = app.signed_in(Role::Lead).await;
    let index = lead.get("/scenarios/calculators").await;
    let addresses = html::attributes(&index.body, "main .facts a", "href");
    assert_eq!(addresses.len(), 13);
    for address in addresses {
        let page = lead.get(&address).await;
        assert_eq!(page.status, StatusCode::OK, "{address}: {}", page.body);
        assert!(!html::text(&page.body, ".answer").is_empty(), "{address}");
        let figures = html::texts(&page.body, "#answer tbody th");
        let answered = lead.json(&format!("{address}.json")).await;
        assert_eq!(answered["figures"].as_array().unwrap().len(), figures.len(), "{address}");
        let table = lead.get(&format!("{address}.csv")).await;
        assert_eq!(table.body.lines().count(), figures.len() + 1, "{address}");
        assert_eq!(lead.get(&format!("{address}.toml")).await.status, StatusCode::NOT_FOUND);
    }
    assert_eq!(lead.get("/scenarios/calculators/luck").await.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_entered_stands_in_the_address_and_what_is_wrong_beside_its_field(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let page = finance.get("/scenarios/calculators/tokens?duty=100").await;
    assert_eq!(html::text(&page.body, ".answer"), "A million output tokens cost 6.54 USD.");
    let files = html::attributes(&page.body, ".files a", "href");
    assert_eq!(files[1], "/scenarios/calculators/tokens.json?duty=100");

    let page = finance.get("/scenarios/calculators/tokens?duty=140&price=%3Cb%3E").await;
    assert_eq!(
        html::texts(&page.body, "#n-price .problem"),
        ["Enter a number with a decimal point, such as 2.89."]
    );
    assert_eq!(html::attributes(&page.body, "#f-price", "value"), ["<b>"]);
    let page = finance.get("/scenarios/calculators/tokens?duty=140").await;
    assert!(html::text(&page.body, "#n-duty .problem").starts_with("Found 140%. "), "{}", page.body);
    assert!(html::texts(&page.body, ".answer").is_empty());
    let refused = finance.get("/scenarios/calculators/tokens.json?duty=140").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let refused = finance.get("/scenarios/calculators/tokens?luck=1").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("output_rate"));

    // One of several slices, and what a data sheet does not say, have a field, too.
    let page = finance.get("/scenarios/calculators/slices?slices=4g.40gb,9g").await;
    assert_eq!(html::texts(&page.body, "#n-slices .problem").len(), 1, "{}", page.body);
    let page = finance.get("/scenarios/calculators/work?basis=fp8&a=nvidia-a100-sxm-80").await;
    assert_eq!(html::texts(&page.body, "#n-offers-0-value .problem").len(), 1, "{}", page.body);
    let page = finance.get("/scenarios/calculators/turns?price=0").await;
    assert_eq!(html::texts(&page.body, "#n-price .problem"), ["Enter a price above 0."]);

    // An A100 computes with no 8-bit floats.
    let page = finance.get("/scenarios/calculators/memory?weights=fp8&accelerator=nvidia-a100-sxm-80").await;
    assert_eq!(html::texts(&page.body, "#n-weights .problem").len(), 1, "{}", page.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn figures_one_may_have_read_are_put_right(db: PgPool) {
    let mut lead = TestApp::new(db).signed_in(Role::Lead).await;
    let claims = lead.json("/scenarios/claims.json").await;
    let page = lead.get("/scenarios/claims").await;
    assert_eq!(page.status, StatusCode::OK);
    let text = html::text(&page.body, "main");
    for claim in claims.as_array().unwrap() {
        let printed = match claim["id"].as_str().unwrap() {
            "checkpoint-waste" => "1%",
            "three-times-cheaper" | "three-times-the-bandwidth" => "3 times",
            _ => claim["printed"].as_str().unwrap(),
        };
        for part in [claim["says"].as_str().unwrap(), printed, claim["why"].as_str().unwrap()] {
            assert!(text.contains(part), "{part}: {claim}");
        }
        for figure in claim["right"].as_array().unwrap() {
            assert!(text.contains(figure["of"].as_str().unwrap()), "{figure}");
        }
    }
    assert!(text.contains("$18,628") && text.contains("24,906.24 dollars a year"), "{text}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn amounts_are_converted_into_another_currency_or_asked_for(db: PgPool) {
    let app = TestApp::new(db.clone());
    let mut finance = app.signed_in(Role::Finance).await;
    let refused = finance.get("/scenarios/calculators/spot?currency=JPY").await;
    assert!(html::text(&refused.body, ".answer").is_empty());
    for field in ["price", "on_demand"] {
        assert_eq!(html::attributes(&refused.body, &format!("#f-{field}"), "value"), [""], "{field}");
        let described = html::text(&refused.body, &format!("#n-{field} .problem"));
        assert!(described.starts_with("Enter the amount in this currency"), "{described}");
    }
    // What is entered in it needs no rate.
    let entered = finance
        .get("/scenarios/calculators/commitment?currency=JPY&hourly=600&on_demand=1000&later_on_demand=")
        .await;
    assert!(entered.body.contains("above 60% utilization"), "{}", entered.body);

    let rate = Rate {
        month: BillingMonth::of(now().date_naive()),
        currency: Currency::exactly("USD"),
        quoted_in: Currency::exactly("JPY"),
        rate: 150.into(),
        source: "test".into(),
    };
    let mut db = db.acquire().await.unwrap();
    exchange::set(&mut db, &[rate], Actor::command_line(None).at(now())).await.unwrap();
    let price = |page: &str| html::attributes(page, "#f-on_demand", "value");
    let dollars = finance.get("/scenarios/calculators/spot").await.body;
    assert_eq!(price(&dollars), ["6.88"]);
    // The form says which currency its amounts are in.
    let yen = finance.get("/scenarios/calculators/spot?was=USD&on_demand=7&price=3&currency=JPY").await.body;
    assert_eq!(
        (price(&yen), html::attributes(&yen, "#f-price", "value")),
        (vec!["1050".into()], vec!["450".into()])
    );
    assert!(html::text(&yen, ".verdict").contains("Converted from USD at 150 JPY"), "{yen}");
    assert_eq!(html::attributes(&yen, "[name=was]", "value"), ["JPY"]);
    // Files say the amounts that were computed with, and an address without them has those that are shipped.
    let file = html::attributes(&yen, ".files a", "href").remove(0);
    assert!(file.contains("price=450&on_demand=1050") && !file.contains("was"), "{file}");
    assert_eq!(price(&finance.get("/scenarios/calculators/spot?currency=JPY").await.body), ["1032"]);
    let same = finance.get("/scenarios/calculators/spot?was=JPY&on_demand=1032&currency=JPY").await.body;
    assert_eq!(price(&same), ["1032"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_list_in_dollars_is_refused_in_another_currency(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let page = finance.get("/scenarios/calculators/egress?currency=JPY").await;
    assert!(page.body.contains("This price list is in USD: choose one price"), "{}", page.body);
    let own = "/scenarios/calculators/egress?currency=JPY&rates.of=flat&rates.price=13";
    assert!(finance.get(own).await.body.contains("6,500,000"), "500,000 GB at 13 yen");
}
