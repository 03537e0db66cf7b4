//! Exchange rates in the browser: entered, loaded, refused, removed, used.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use sqlx::PgPool;

use crate::support::{Focus, TestApp, TestLedger};

const EUR: [(&str, &str); 4] =
    [("month", "2026-09"), ("currency", "eur"), ("rate", "1.0843"), ("quoted_in", "USD")];

async fn app(db: PgPool) -> (TestLedger, TestApp) {
    let ledger = TestLedger::new(db);
    let both = Focus::new().hour("acme", "a1", "2026-09-05T10", "10", "vision").hour(
        "acme",
        "a1",
        "2026-09-05T11",
        "10",
        "vision",
    );
    ledger.deliver("usd.csv", &both).await;
    ledger
        .deliver("eur.csv", Focus::new().hour("beta", "b1", "2026-09-05T10", "100", "nlp").billed_in("EUR"))
        .await;
    let finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    (ledger, finance)
}

pub async fn load(app: &mut TestApp, content: &str) -> crate::support::app::Answer {
    app.upload_from("/rates", "/rates/file", &[("rates.csv", content.as_ref())]).await
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_entered_rate_converts_the_month_and_is_named_on_it(db: PgPool) {
    let (_ledger, mut finance) = app(db).await;
    assert!(finance.get("/rates").await.body.contains("September 2026: EUR"), "what is missing is named");
    let before = finance.get("/spend/2026-09?in=USD").await.body;
    assert!(before.contains("Not everything could be converted") && before.contains("100.00 EUR"));

    let answer = finance.submit("/rates", "/rates", &EUR).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/rates"));
    let page = finance.get("/rates").await.body;
    assert!(page.contains("Saved: in September 2026 one EUR is 1.0843 USD."));
    assert!(!page.contains("September 2026: EUR"));

    let month = finance.get("/spend/2026-09?in=USD").await.body;
    for text in ["128.43", "Exchange rates used", "1.0843", "entered"] {
        assert!(month.contains(text), "{text}");
    }
    assert!(finance.get("/rates.csv").await.body.starts_with("month,currency,quoted_in,rate,source,"));
    let json = finance.json("/rates.json").await;
    assert_eq!(json[0]["rate"], "1.0843");
    assert_eq!(json[0]["set_by"], "finance@example.org");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_wrong_entry_comes_back_with_what_was_expected(db: PgPool) {
    let (_ledger, mut finance) = app(db).await;
    for (field, value, sentence) in [
        ("month", "September", "Enter a month such as 2026-09."),
        ("currency", "7", "Enter a currency such as EUR."),
        ("rate", "1,08", "Enter a number above zero"),
        ("rate", "0", "Enter a number above zero"),
        ("quoted_in", "EUR", "Enter another currency than the first"),
    ] {
        let fields = EUR.map(|(name, known)| (name, if name == field { value } else { known }));
        let answer = finance.submit("/rates", "/rates", &fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{field}");
        assert!(answer.body.contains(sentence), "{field}: {}", answer.body);
        assert!(answer.body.contains(&format!("value=\"{value}\"")), "what was typed is kept");
    }
    assert_eq!(finance.get("/rates.json").await.body, "[]");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_is_taken_whole_or_not_at_all(db: PgPool) {
    let (_ledger, mut finance) = app(db).await;
    let refused = load(&mut finance, "Date,USD\n2026-09-01,1.1\n2026-09-02,oops\n").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        refused.body.contains("row 2, USD: found &#34;oops&#34;, expected a number above zero"),
        "{}",
        refused.body
    );
    assert_eq!(finance.get("/rates.json").await.body, "[]");

    let loaded = load(&mut finance, "Date,USD\n2026-09-01,1.1\n2026-09-02,1.2\n").await;
    assert_eq!(loaded.status, StatusCode::SEE_OTHER);
    assert!(finance.get("/rates").await.body.contains("1 rates added or changed, 0 unchanged"));
    assert!(finance.get("/spend/2026-09?in=USD").await.body.contains("135.00"));

    // The file that the product writes reads back as the same.
    let own = finance.get("/rates.csv").await.body;
    load(&mut finance, &own).await;
    assert!(finance.get("/rates").await.body.contains("0 rates added or changed, 1 unchanged"));

    finance
        .submit("/rates", "/rates/remove", &[("month", "2026-09"), ("currency", "EUR"), ("quoted_in", "USD")])
        .await;
    assert_eq!(finance.get("/rates.json").await.body, "[]");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_reporting_currency_is_the_most_used_until_one_is_chosen(db: PgPool) {
    let (_ledger, mut finance) = app(db).await;
    assert!(finance.get("/spend/2026-09").await.body.contains("All in USD"));
    finance.submit("/rates", "/rates/reporting-currency", &[("reporting_currency", "eur")]).await;
    let page = finance.get("/spend/2026-09").await.body;
    assert!(page.contains("All in EUR") && !page.contains("All in USD"));
    let refused =
        finance.submit("/rates", "/rates/reporting-currency", &[("reporting_currency", "12")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_rate_far_from_its_neighbors_is_set_only_by_who_says_that_it_is_meant(db: PgPool) {
    let (_ledger, mut finance) = app(db).await;
    finance.submit("/rates", "/rates", &EUR).await;
    let october = [("month", "2026-10"), ("currency", "EUR"), ("rate", "108.5"), ("quoted_in", "USD")];
    let answer = finance.submit("/rates", "/rates", &october).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        answer.body.contains("in September 2026 the rate was 1.0843. Nothing was saved yet."),
        "{}",
        answer.body
    );
    assert!(answer.body.contains("One EUR is 108.5 USD in October 2026, as I entered it"));
    let sure: Vec<_> = october.into_iter().chain([("sure", "yes")]).collect();
    assert_eq!(finance.submit("/rates", "/rates", &sure).await.status, StatusCode::SEE_OTHER);
    // What is corrected is compared with other months, not with the mistake.
    let corrected = october.map(|(name, value)| (name, if name == "rate" { "1.085" } else { value }));
    assert_eq!(finance.submit("/rates", "/rates", &corrected).await.status, StatusCode::SEE_OTHER);
}
