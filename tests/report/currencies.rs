//! Currencies are never added up unless a page is asked to, and then by rates that it names.

use gpuledger::accounts::Viewer;
use gpuledger::audit::Actor;
use gpuledger::exchange::{self, Rate};
use gpuledger::money::{Currency, Decimal};
use gpuledger::report::{self, Answers, Grouping, Question, Spend, Step};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger, now};

fn question(period: &str) -> Question {
    let by = Grouping::Tag("team".into());
    Question { by, ..Question::of(period.parse().unwrap(), Viewer::Everything) }
}

fn in_usd(period: &str) -> Question {
    Question { convert_into: Some(Currency::exactly("USD")), ..question(period) }
}

async fn spend(ledger: &TestLedger, question: &Question) -> Spend {
    let mut db = ledger.db.acquire().await.unwrap();
    let spend = Answers::default().priced_spend(&mut db, question).await.unwrap();
    let sum: Decimal = spend.groups.iter().map(|group| group.cost.amount).sum();
    assert_eq!(Some(sum), spend.total.as_ref().map(|total| total.amount), "groups sum to the total");
    let series = Answers::default().over_time(&mut db, question, Step::Month, &spend, 3).await.unwrap();
    let drawn: Decimal = series.groups.iter().flat_map(|(_, costs)| costs).copied().sum();
    assert_eq!(drawn, sum, "the chart sums to the total");
    spend
}

fn by() -> Actor {
    Actor::command_line(None)
}

async fn set(ledger: &TestLedger, month: &str, rate: &str) -> i64 {
    let mut db = ledger.db.acquire().await.unwrap();
    let rate = Rate {
        month: month.parse().unwrap(),
        currency: Currency::exactly("EUR"),
        quoted_in: Currency::exactly("USD"),
        rate: rate.parse().unwrap(),
        source: "test".into(),
    };
    exchange::set(&mut db, &[rate], by().at(now())).await.unwrap().sequence.unwrap()
}

fn total(spend: &Spend) -> (String, String) {
    let total = spend.total.as_ref().unwrap();
    (total.amount.normalize().to_string(), total.currency.to_string())
}

/// Two accounts, one of them billed in euros, over two months.
async fn ledger(db: PgPool) -> TestLedger {
    let ledger = TestLedger::new(db);
    for month in ["2026-08", "2026-09"] {
        let at = format!("{month}-05T10");
        let dollars =
            Focus::new().hour("acme", "a1", &at, "10.01", "vision").hour("acme", "a2", &at, "1", "nlp");
        ledger.deliver(&format!("usd-{month}.csv"), &dollars).await;
        let euros = Focus::new().hour("beta", "b1", &at, "100.000000000001", "vision").billed_in("EUR");
        ledger.deliver(&format!("eur-{month}.csv"), &euros).await;
    }
    ledger
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn each_month_is_converted_at_its_own_rate(db: PgPool) {
    let ledger = ledger(db).await;
    set(&ledger, "2026-08", "1.1").await;
    set(&ledger, "2026-09", "1.25").await;

    let alone = spend(&ledger, &question("2026-09")).await;
    assert_eq!(total(&alone), ("11.01".into(), "USD".into()));
    assert_eq!(alone.other_currencies, [Currency::exactly("EUR")]);

    let september = spend(&ledger, &in_usd("2026-09")).await;
    assert_eq!(total(&september), ("136.01000000000125".into(), "USD".into()));
    assert_eq!(september.previous.as_ref().unwrap().amount.to_string(), "121.0100000000011");
    let used: Vec<_> = september
        .rates
        .iter()
        .map(|used| format!("{} {} {}", used.month, used.currency, used.rate))
        .collect();
    assert_eq!(used, ["2026-08 EUR 1.1", "2026-09 EUR 1.25"]);
    assert!(september.unconverted.is_empty() && september.other_currencies.is_empty());

    let both = spend(&ledger, &in_usd("2026-08..2026-09")).await;
    assert_eq!(total(&both).0, "257.02000000000235");

    // The other way round: one over the rate, with ten digits that count.
    let euros = Question { convert_into: Some(Currency::exactly("EUR")), ..question("2026-09") };
    let september = spend(&ledger, &euros).await;
    assert_eq!(total(&september), ("108.808000000001".into(), "EUR".into()));
    assert_eq!(september.rates.last().unwrap().source, "1 ÷ 1.25 (test)");

    // Only what is billed in euros, in dollars.
    let filtered = Question { currency: Some(Currency::exactly("EUR")), ..in_usd("2026-09") };
    assert_eq!(total(&spend(&ledger, &filtered).await).0, "125.00000000000125");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_month_without_a_rate_is_named_and_not_guessed(db: PgPool) {
    let ledger = ledger(db).await;
    set(&ledger, "2026-09", "1.25").await;

    let both = spend(&ledger, &in_usd("2026-08..2026-09")).await;
    assert_eq!(total(&both).0, "147.02000000000125");
    let left_out: Vec<_> = both
        .unconverted
        .iter()
        .map(|it| format!("{} {} {}", it.month, it.cost.amount, it.cost.currency))
        .collect();
    assert_eq!(left_out, ["2026-08 100.000000000001 EUR"]);

    let yen = Question { convert_into: Some(Currency::exactly("JPY")), ..question("2026-09") };
    let nothing = spend(&ledger, &yen).await;
    assert_eq!(total(&nothing), ("0".into(), "JPY".into()));
    assert_eq!(nothing.unconverted.len(), 2);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_page_as_of_a_sequence_converts_as_it_did_then(db: PgPool) {
    let ledger = ledger(db).await;
    let before = set(&ledger, "2026-09", "1.25").await;
    let after = set(&ledger, "2026-09", "1.5").await;
    assert_eq!(after, before + 1);

    let as_of = |sequence| Question { sequence, ..in_usd("2026-09") };
    assert_eq!(total(&spend(&ledger, &as_of(Some(before))).await).0, "136.01000000000125");
    assert_eq!(total(&spend(&ledger, &as_of(None)).await).0, "161.0100000000015");
    assert_eq!(spend(&ledger, &as_of(Some(before - 1))).await.unconverted.len(), 1);

    let mut db = ledger.db.acquire().await.unwrap();
    let (eur, usd) = (Currency::exactly("EUR"), Currency::exactly("USD"));
    let month = "2026-09".parse().unwrap();
    let removed = exchange::remove(&mut db, month, &eur, &usd, by().at(now())).await.unwrap();
    assert_eq!(removed, Some(after + 1));
    assert_eq!(exchange::remove(&mut db, month, &eur, &usd, by().at(now())).await.unwrap(), None);
    drop(db);
    assert_eq!(spend(&ledger, &as_of(None)).await.unconverted.len(), 1);
    assert_eq!(total(&spend(&ledger, &as_of(Some(after))).await).0, "161.0100000000015");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_filter_that_leaves_another_currency_shows_that_one(db: PgPool) {
    let ledger = ledger(db).await;
    let beta = report::Filter::keep(Grouping::Account, vec!["b1".into()]);
    let answer = spend(&ledger, &Question { filters: vec![beta], ..question("2026-09") }).await;
    assert_eq!(total(&answer), ("100.000000000001".into(), "EUR".into()));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn one_currency_in_another_is_nothing_but_that_currency(db: PgPool) {
    let ledger = ledger(db).await;
    // Nothing says what a euro is worth: no dollar takes its place.
    let euros = Question { currency: Some(Currency::exactly("EUR")), ..in_usd("2026-09") };
    let spend = spend(&ledger, &euros).await;
    assert_eq!(total(&spend), ("0".into(), "USD".into()));
    assert_eq!(spend.unconverted.len(), 1);
    let pounds = Question { currency: Some(Currency::exactly("GBP")), ..in_usd("2026-09") };
    let spend = self::spend(&ledger, &pounds).await;
    assert_eq!(total(&spend), ("0".into(), "USD".into()));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_a_period_is_compared_with_and_no_rate_converts_is_named(db: PgPool) {
    let ledger = ledger(db).await;
    set(&ledger, "2026-09", "1.1").await;
    let spend = spend(&ledger, &in_usd("2026-09")).await;
    assert!(spend.unconverted.is_empty());
    let [left_out] = &spend.previous_unconverted[..] else { panic!("{:?}", spend.previous_unconverted) };
    assert_eq!((left_out.month.to_string().as_str(), left_out.cost.currency.as_str()), ("2026-08", "EUR"));
    let mut db = ledger.db.acquire().await.unwrap();
    let variance = Answers::default().variance(&mut db, &in_usd("2026-09")).await.unwrap();
    assert_eq!(variance.previous_unconverted, spend.previous_unconverted);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_most_used_currency_is_that_of_most_charges_whatever_is_left_out(db: PgPool) {
    let ledger = TestLedger::new(db);
    // One key with many charges in dollars, two keys with one charge each in euros.
    let mut dollars = Focus::new();
    for hour in 10..20 {
        dollars = dollars.hour("acme", "a1", &format!("2026-09-05T{hour}"), "1", "vision");
    }
    ledger.deliver("usd.csv", dollars).await;
    let euros = Focus::new().hour("beta", "b1", "2026-09-05T10", "1", "vision").billed_in("EUR");
    let euros = euros.hour("beta", "b2", "2026-09-05T10", "1", "vision").billed_in("EUR");
    ledger.deliver("eur.csv", euros).await;
    let of_team = Viewer::Teams(vec!["vision".into()]);
    for viewer in [Viewer::Everything, of_team] {
        let spend = spend(&ledger, &Question { viewer, ..question("2026-09") }).await;
        assert_eq!(total(&spend), ("10".into(), "USD".into()));
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_product_of_more_digits_than_an_amount_holds_is_rounded_at_its_end(db: PgPool) {
    let ledger = TestLedger::new(db);
    // 24 digits before the point and 40 behind it are the most that a file may have.
    let longest = format!("{}.{}", "1".repeat(24), "1".repeat(40));
    let euros = Focus::new()
        .hour("beta", "b1", "2026-09-05T10", &longest, "vision")
        .billed_in("EUR")
        .hour("beta", "b2", "2026-09-05T10", &longest, "nlp")
        .billed_in("EUR");
    ledger.deliver("eur.csv", &euros).await;
    set(&ledger, "2026-09", "1.084312345678").await;

    let spend = spend(&ledger, &in_usd("2026-09")).await;
    let (amount, _) = total(&spend);
    // 2 × 1.084312345678 ÷ 9 of 10^24.
    assert!(amount.starts_with("240958299039555555555555."), "{amount}");
    assert_eq!(amount.split_once('.').unwrap().1.len(), 52);

    let mut db = ledger.db.acquire().await.unwrap();
    let page = report::Page { first: 0, size: 10 };
    let charges =
        Answers::default().charges(&mut db, &in_usd("2026-09"), &spend, None, page).await.unwrap().unwrap();
    assert_eq!((charges.total, charges.shared), (spend.total.unwrap().amount, Decimal::ZERO));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn unconverted_amount_beside_a_comparison_with_some_days_is_of_these_days(db: PgPool) {
    let ledger = TestLedger::new(db);
    for (month, days) in [("2026-08", &["05", "20", "29"][..]), ("2026-09", &["05", "12"])] {
        let mut dollars = Focus::new();
        let mut euros = Focus::new();
        for (day, cost) in days.iter().zip(["100", "200", "7"]) {
            let at = format!("{month}-{day}T10");
            dollars = dollars.hour("acme", "a1", &at, "10", "vision");
            euros = euros.hour("beta", "b1", &at, cost, "vision").billed_in("EUR");
        }
        ledger.deliver(&format!("usd-{month}.csv"), &dollars).await;
        ledger.deliver(&format!("eur-{month}.csv"), &euros).await;
    }
    set(&ledger, "2026-09", "1.1").await;
    // September has come to the 12th; a day is compared with that of a week before.
    for (days, previous, left_out) in
        [(vec![], 10, Some("100")), (vec!["2026-09-05"], 10, Some("7")), (vec!["2026-09-12"], 120, None)]
    {
        let filters = if days.is_empty() {
            Vec::new()
        } else {
            vec![report::Filter::keep(Grouping::Day, days.iter().map(|day| (*day).to_owned()).collect())]
        };
        let question = Question { filters, ..in_usd("2026-09") };
        let mut db = ledger.db.acquire().await.unwrap();
        let spend = Answers::default().priced_spend(&mut db, &question).await.unwrap();
        let amounts = |left_out: &[report::Unconverted]| {
            left_out.iter().map(|it| it.cost.amount.normalize().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(spend.previous.unwrap().amount, previous.into(), "{days:?}");
        let expected: Vec<String> = left_out.into_iter().map(str::to_owned).collect();
        assert_eq!(amounts(&spend.previous_unconverted), expected, "{days:?}");
        assert!(spend.unconverted.is_empty());
        let variance = Answers::default().variance(&mut db, &question).await.unwrap();
        assert_eq!(amounts(&variance.previous_unconverted), expected, "{days:?}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn currency_that_only_the_days_before_were_billed_in_is_converted(db: PgPool) {
    let ledger = TestLedger::new(db);
    let dollars = Focus::new().hour("acme", "a1", "2026-09-12T10", "10", "vision");
    ledger.deliver("usd.csv", &dollars).await;
    let euros = Focus::new().hour("beta", "b1", "2026-09-05T10", "100", "vision").billed_in("EUR");
    ledger.deliver("eur.csv", &euros).await;
    set(&ledger, "2026-09", "1.1").await;
    let day = report::Filter::keep(Grouping::Day, vec!["2026-09-12".into()]);
    let spend = spend(&ledger, &Question { filters: vec![day], ..in_usd("2026-09") }).await;
    assert_eq!(total(&spend), ("10".into(), "USD".into()));
    assert_eq!(spend.previous.unwrap().amount, 110.into());
}
