//! A cluster's page: what stands on it and in its JSON is the same, and is what the ledger and the asset register say.

use axum::http::StatusCode;
use chrono::Months;
use gpuledger::accounts::Role;
use gpuledger::money::Decimal;
use serde_json::Value;
use sqlx::PgPool;

use crate::support::json::decimal;
use crate::support::{Focus, TestApp, TestLedger, html, now};

/// The first day of the month that was so many months ago.
fn month(ago: u32) -> String {
    let day = now().date_naive().checked_sub_months(Months::new(ago)).unwrap();
    day.format("%Y-%m").to_string()
}

/// 64 H100 of our own for half a year, beside two months in which H100 were rented.
async fn site(db: PgPool) -> TestApp {
    let ledger = TestLedger::new(db);
    for (ago, cost) in [(2, "40"), (1, "24")] {
        let at = format!("{}-05T10", month(ago));
        let file = Focus::new().hour("acme", "s1", &at, cost, "research");
        ledger.deliver(&format!("{ago}.csv"), &file).await;
    }
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let since = format!("{}-01", month(6));
    let fields = [
        ("name", "H100 East"),
        ("site", "Berlin"),
        ("since", since.as_str()),
        ("nodes", "8"),
        ("spares", "1"),
        ("residual", "20"),
    ];
    let entered = admin.submit("/clusters/new", "/clusters/new", &fields).await;
    assert_eq!((entered.status, entered.location()), (StatusCode::SEE_OTHER, "/clusters/h100-east"));
    admin
}

/// As pages write money.
fn shown(value: &Value) -> String {
    let text = decimal(value).round(2).to_string();
    let (whole, cents) = text.split_once('.').unwrap_or((&text, "00"));
    let groups: Vec<&str> = whole.as_bytes().rchunks(3).rev().map(|it| str::from_utf8(it).unwrap()).collect();
    format!("{}.{cents}", groups.join(","))
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_owning_costs_stands_on_the_page_and_in_json_and_agrees(db: PgPool) {
    let mut admin = site(db).await;
    let page = admin.get("/clusters/h100-east").await.body;
    let it = admin.json("/clusters/h100-east.json").await;

    let economics = &it["economics"];
    let section = html::text(&page, "#economics");
    let described: Vec<&str> =
        economics["hours"].as_array().unwrap().iter().map(|link| link["of"].as_str().unwrap()).collect();
    assert_eq!(described, ["owned", "available", "productive"]);
    for link in economics["hours"].as_array().unwrap() {
        assert!(section.contains(&shown(&link["cost_per_hour"])), "{link} {section}");
    }
    let components = economics["components"].as_array().unwrap();
    let sum: Decimal = components.iter().map(|component| decimal(&component["per_year"])).sum();
    assert_eq!(sum, decimal(&economics["total"]));
    for component in components {
        assert!(section.contains(component["name"].as_str().unwrap()), "{component}");
        assert!(section.contains(component["formula"].as_str().unwrap()), "{component}");
    }
    // Capital at 10 % costs more than what the books write off.
    let books = decimal(&it["hours"]["per_productive"]);
    assert!(decimal(&economics["hours"][2]["cost_per_hour"]) > books);

    // Sixteen accelerator-hours for 64.
    let cloud = &it["cloud"];
    assert_eq!(cloud["month"], month(1));
    let paid = &cloud["paid"][0];
    assert_eq!((decimal(&paid["cost_per_hour"]), decimal(&paid["accelerator_hours"])), (4.into(), 16.into()));
    assert_eq!(paid["months"].as_array().unwrap().len(), 2);
    assert_eq!(decimal(&paid["comparison"]["of_month"]), decimal(&cloud["hours"][0]["productive"]).times(4));
    let section = html::text(&page, "#cloud");
    assert!(section.contains(&shown(&paid["comparison"]["of_month"])), "{section}");
    let offers = cloud["listed"][0].as_array().unwrap();
    assert!(!offers.is_empty());
    for offer in offers {
        assert_eq!(offer["accelerator"], "nvidia-h100-sxm");
        assert!(section.contains(offer["supplier"].as_str().unwrap()), "{offer}");
        assert!(section.contains(&shown(&offer["comparison"]["of_month"])), "{offer} {section}");
    }
    let of = |tier: &str| offers.iter().find(|offer| offer["tier"] == tier).unwrap();
    assert_eq!(of("on-demand")["comparison"]["break_even"]["paid"], "per-use");
    assert_eq!(of("3-years")["comparison"]["break_even"]["paid"], "committed");
    assert!(section.contains("from ") && section.contains("never: it would take"), "{section}");
    assert!(section.contains("at any utilization: owning costs "), "{section}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn capacity_racks_power_and_book_values_stand_on_the_page_and_in_json(db: PgPool) {
    let mut admin = site(db).await;
    let page = admin.get("/clusters/h100-east").await.body;
    let it = admin.json("/clusters/h100-east.json").await;

    // It was entered a minute ago, and nobody said how it is used or how demand grows: nothing is advised.
    assert_eq!((&it["capacity"]["is_assumed"], &it["capacity"]["more"]), (&true.into(), &Value::Null));
    let text = html::text(&page, "#capacity");
    assert!(text.contains("Add usage or growth") && !text.contains("Order"), "{text}");
    let from = month(1);
    let fields =
        [("cluster", "h100-east"), ("first", from.as_str()), ("downtime", "5"), ("utilization", "90")];
    admin.submit("/asset-register/utilization/new", "/asset-register/utilization/new", &fields).await;
    let page = admin.get("/clusters/h100-east").await.body;
    let it = admin.json("/clusters/h100-east.json").await;
    assert_eq!(it["capacity"]["full"], serde_json::json!({ "is": "already" }));
    assert_eq!(it["capacity"]["order"]["is"], "now");
    let nodes = it["capacity"]["more"]["nodes"].as_u64().unwrap();
    assert!(nodes > 0 && html::text(&page, "#capacity").contains(&format!("{nodes} node")));

    assert_eq!(
        (it["racks"]["racks"].as_u64(), it["racks"]["kinds"][0]["units"].as_u64()),
        (Some(3), Some(9))
    );
    assert!(html::text(&page, "#racks").contains("DGX H100"));

    let power = html::text(&page, "#power");
    let months = it["energy"].as_array().unwrap();
    assert_eq!(months.len(), 7);
    for month in months {
        assert_eq!(decimal(&month["measured_kwh"]), Decimal::ZERO);
        assert!(decimal(&month["modelled_kwh"]) > Decimal::ZERO);
        assert_eq!(decimal(&month["pue_entered"]), "1.3".parse().unwrap());
        assert!(power.contains(&shown(&month["cost"]["amount"])), "{month}");
        // A flat tariff of 0.10.
        assert_eq!(decimal(&month["cost_per_kwh"]), "0.1".parse().unwrap());
    }

    let books = html::text(&page, "#depreciation");
    let node = &it["schedules"][0];
    assert_eq!(node["depreciation"]["method"], "straight-line");
    assert!(books.contains("straight line"), "{books}");
    let years = node["years"].as_array().unwrap();
    assert_eq!(years.len(), 3);
    assert_eq!(decimal(&years[2]["book_value_after"]), decimal(&node["residual"]));
    let written_down: Decimal = years.iter().map(|year| decimal(&year["depreciation"])).sum();
    assert_eq!(written_down, decimal(&node["price"]) - decimal(&node["residual"]));
    for year in years {
        assert!(books.contains(&shown(&year["depreciation"])), "{year} {books}");
    }
    let last = it["year_ends"].as_array().unwrap().last().unwrap()["values"].as_array().unwrap();
    let left: Decimal = last.iter().map(|value| decimal(&value[1])).sum();
    let residuals = it["schedules"].as_array().unwrap().iter().map(|it| decimal(&it["residual"]));
    assert_eq!(left, residuals.sum::<Decimal>());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn hours_are_counted_by_how_each_month_was_used(db: PgPool) {
    let mut admin = site(db).await;
    let from = month(2);
    let form = admin.get("/asset-register/utilization/new?cluster=h100-east").await.body;
    assert!(form.contains("value=\"80\"") && form.contains("value=\"5\""), "it begins with what holds");
    let fields =
        [("cluster", "h100-east"), ("first", from.as_str()), ("downtime", "10"), ("utilization", "50")];
    let entered =
        admin.submit("/asset-register/utilization/new", "/asset-register/utilization/new", &fields).await;
    assert_eq!(entered.status, StatusCode::SEE_OTHER, "{}", entered.body);
    let it = admin.json("/clusters/h100-east.json").await;
    let owned = |ago: u32| -> Decimal {
        let months = it["months"].as_array().unwrap();
        decimal(&months.iter().find(|it| it["month"] == month(ago)).unwrap()["owned_hours"])
    };
    let sum = |ago: std::ops::RangeInclusive<u32>| -> Decimal { ago.map(owned).sum() };
    let (before, after) = (sum(3..=6), sum(1..=2));
    let number = |text: &str| text.parse::<Decimal>().unwrap();
    let available = before.multiply(number("0.95")) + after.multiply(number("0.9"));
    let productive = before.multiply(number("0.76")) + after.multiply(number("0.45"));
    assert_eq!(decimal(&it["hours"]["available"]), available);
    assert_eq!(decimal(&it["hours"]["productive"]), productive);
    assert_eq!(it["hours"]["are_shares_mean"], true);
    // What the last month would have cost elsewhere, and what stands today.
    assert_eq!(decimal(&it["cloud"]["hours"][0]["productive"]), owned(1).multiply(number("0.45")));
    assert_eq!(decimal(&it["capacity"]["utilization"]), number("0.5"));
    let page = admin.get("/clusters/h100-east").await.body;
    let text = html::text(&page, "main");
    assert!(text.contains("the mean of these months"), "{text}");
    assert!(html::text(&page, "#register").contains("50% of available hours productive, 10% downtime"));
    let csv = admin.get("/asset-register/utilization.csv").await.body;
    assert_eq!(csv.lines().nth(1), Some(format!("h100-east,{from},10,50,").as_str()), "{csv}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn energy_that_no_tariff_has_a_price_for_is_told_where_it_is_missing(db: PgPool) {
    let mut admin = site(db).await;
    let tariffs = admin.json("/asset-register/tariffs.json").await;
    let entry = format!("/asset-register/entries/{}", tariffs["entries"][0]["id"]);
    let page = admin.get("/clusters/h100-east").await.body;
    assert!(!page.contains("Energy without a price"), "every month has its tariff");
    let first = month(4);
    let fields = [
        ("cluster", "h100-east"),
        ("name", "Energy"),
        ("first", first.as_str()),
        ("last", ""),
        ("currency", "USD"),
        ("price_per_kwh", "0.10"),
        ("bands", ""),
        ("demand_per_kw", "0"),
        ("demand_window", "15"),
        ("time_zone", "UTC"),
    ];
    let changed = admin.submit(&entry, &entry, &fields).await;
    assert_eq!(changed.status, StatusCode::SEE_OTHER, "{}", changed.body);

    let it = admin.json("/clusters/h100-east.json").await;
    let page = admin.get("/clusters/h100-east").await.body;
    let described = html::text(&page, "#unpriced");
    for (at, ago) in [(0, 6), (1, 5)] {
        let energy = &it["energy"][at];
        assert_eq!(energy["month"], month(ago));
        assert_eq!((&energy["cost"], &energy["cost_per_kwh"]), (&Value::Null, &Value::Null));
        let unpriced = &energy["unpriced"];
        assert_eq!(unpriced["modelled_kwh"], energy["modelled_kwh"]);
        assert_eq!(unpriced["first"], format!("{}-01", month(ago)));
        let days = format!("{} days from", unpriced["days"]);
        assert!(
            decimal(&unpriced["modelled_kwh"]) > Decimal::ZERO && described.contains(&days),
            "{described}"
        );
        let of_month = admin.get(&format!("/clusters/h100-east/{}", month(ago))).await.body;
        assert!(html::text(&of_month, "#unpriced").contains(&days), "{days}");
        assert!(
            of_month
                .contains(&format!("/asset-register/tariffs/new?cluster=h100-east&#38;first={}", month(ago)))
        );
        let of_month = admin.json(&format!("/clusters/h100-east/{}.json", month(ago))).await;
        assert_eq!(of_month["unpriced_energy"], *unpriced);
    }
    assert_eq!(it["energy"][2]["unpriced"], Value::Null);
    assert!(html::text(&page, "#power").contains("no tariff"));
    let priced = admin.get(&format!("/clusters/h100-east/{}", month(4))).await.body;
    assert!(!priced.contains("Energy without a price"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_cost_says_what_its_end_cuts_off_and_which_amounts_are_read_in_two_ways(db: PgPool) {
    let mut admin = site(db).await;
    let (first, last) = (month(6), month(1));
    let cost = |amount: &'static str| {
        [
            ("cluster", "h100-east"),
            ("name", "Support desk"),
            ("what", "maintenance"),
            ("amount", amount),
            ("currency", "USD"),
            ("every", "year"),
            ("first", first.as_str()),
            ("last", last.as_str()),
        ]
    };
    let refused =
        admin.submit("/asset-register/costs/new", "/asset-register/costs/new", &cost("12.000")).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("12000 or 12.00: a point before three digits"), "{}", refused.body);
    let taken = admin.submit("/asset-register/costs/new", "/asset-register/costs/new", &cost("12000")).await;
    assert_eq!(taken.status, StatusCode::SEE_OTHER, "{}", taken.body);
    let entered = html::text(&admin.get("/clusters/h100-east").await.body, "#register");
    assert!(entered.contains("last payment billed for 6 of 12 months"), "{entered}");
    assert!(entered.contains("36 months, straight line"), "{entered}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_form_shows_both_views_as_one_types(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    let figure = |page: &str| html::text(page, "#figure");
    let ten = figure(&admin.get("/clusters/new/figure?cost_of_capital=10").await.body);
    assert!(ten.contains("Accounting") && ten.contains("Economic") && ten.contains("10.0"), "{ten}");
    assert!(ten.contains("Capital in unnamed-node") && ten.contains("capital recovery factor"), "{ten}");
    let none = figure(&admin.get("/clusters/new/figure?cost_of_capital=0").await.body);
    assert_ne!(ten, none);
    let refused = figure(&admin.get("/clusters/new/figure?life_months=1").await.body);
    assert!(refused.contains("expected 0.1 to 50 years"), "{refused}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn prices_in_dollars_need_a_rate_where_a_cluster_is_paid_in_euros(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    let since = format!("{}-01", month(6));
    let fields = [("name", "Paris"), ("site", "Paris"), ("since", since.as_str()), ("currency", "EUR")];
    // What the form begins with is in dollars, and nobody's price in euros.
    let refused = admin.submit("/clusters/new", "/clusters/new", &fields).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("a price in EUR: 375000 is the default in USD"), "{}", refused.body);
    let prices = [
        ("node_price", "350000"),
        ("network_price", "45000"),
        ("price_per_kwh", "0.12"),
        ("loaded_cost", "120000"),
    ];
    admin.submit("/clusters/new", "/clusters/new", &[&fields[..], &prices[..]].concat()).await;
    let before = admin.json("/clusters/paris.json").await;
    assert_eq!(
        (&before["cloud"]["rate"], &before["cloud"]["listed"][0]),
        (&Value::Null, &serde_json::json!([]))
    );
    let page = admin.get("/clusters/paris").await.body;
    assert!(html::text(&page, "#cloud").contains("no exchange rate from USD to EUR"));

    let last = month(1);
    let rate = [
        ("month", last.as_str()),
        ("currency", "EUR"),
        ("quoted_in", "USD"),
        ("rate", "1.25"),
        ("source", "x"),
    ];
    assert_eq!(admin.submit("/rates", "/rates", &rate).await.status, StatusCode::SEE_OTHER);
    let after = admin.json("/clusters/paris.json").await;
    let offer = &after["cloud"]["listed"][0][0];
    assert_eq!(decimal(&offer["per_hour"]).times(5), decimal(&offer["price"]).times(4));
}
