//! What a period is compared with: a month that goes on with the same days, a day with the same weekday, on every page.

use gpuledger::accounts::Role;
use gpuledger::allocation::Target;
use gpuledger::money::Decimal;
use sqlx::PgPool;

use crate::support::configuration::{rule, team, write};
use crate::support::json::amount;
use crate::support::{Focus, TestApp, TestLedger, html};

const OCTOBER: [&str; 2] = ["2026-10", "2026-11"];
const NOVEMBER: [&str; 2] = ["2026-11", "2026-12"];

/// A charge of a whole month, and where the next one begins.
fn of_month(account: &str, [month, next]: [&str; 2], [category, service]: [&str; 2], cost: &str) -> String {
    format!(
        "NeoCloud,{account},s9,{month}-01T00:00:00Z,{next}-01T00:00:00Z,{month}-01T00:00:00Z,{next}-01T00:00:00Z,\
         {category},,{service},Other,,,,,,,{cost},{cost},{cost},{cost},USD,\"{{\"\"team\"\":\"\"research\"\"}}\",NeoCloud,\
         NeoCloud"
    )
}

/// October: 10 a day, a fee of 30, tax of 7 and support of 12. November: 10 a day until the 14th, and the fee; tax and support
/// are still to come.
/// Another account had 5 a day in October, and comes to the 10th. A third has no bill of November yet.
async fn app(db: PgPool) -> (TestLedger, TestApp) {
    let ledger = TestLedger::new(db);
    let mut october = Focus::new();
    let (mut other, mut late) = (Focus::new(), Focus::new());
    for day in 1..=31 {
        let at = format!("2026-10-{day:02}T10");
        october = october.hour("acme", "s1", &at, "10", "research").labelled("experiment", "exp-1");
        other = other.hour("other", "s2", &at, "5", "research").labelled("experiment", "exp-1");
        late = late.hour("late", "s3", &at, "100", "research");
    }
    october = october.line(&of_month("acme", OCTOBER, ["Purchase", "Capacity"], "30"));
    october = october.line(&of_month("acme", OCTOBER, ["Tax", "Capacity"], "7"));
    october = october.line(&of_month("acme", OCTOBER, ["Purchase", "Support"], "12"));
    let (mut november, mut others) = (Focus::new(), Focus::new());
    for day in 1..=14 {
        let at = format!("2026-11-{day:02}T10");
        november = november.hour("acme", "s1", &at, "10", "research").labelled("experiment", "exp-1");
        if day <= 10 {
            others = others.hour("other", "s2", &at, "5", "research").labelled("experiment", "exp-1");
        }
    }
    november = november.line(&of_month("acme", NOVEMBER, ["Purchase", "Capacity"], "30"));
    for (name, file) in [
        ("october", october),
        ("other-10", other),
        ("late-10", late),
        ("november", november),
        ("other-11", others),
    ] {
        ledger.deliver(&format!("{name}.csv"), &file).await;
    }
    let entries = vec![team("research"), rule(1, "", "", Target::Labels)];
    write(&mut ledger.db.acquire().await.unwrap(), entries).await;
    let finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    (ledger, finance)
}

/// Names and values of a page's headline.
fn figures(page: &str) -> String {
    html::texts(page, "dl.figures dt, dl.figures dd").join(" ")
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_month_that_goes_on_is_compared_with_the_same_days_on_every_page(db: PgPool) {
    let (ledger, mut finance) = app(db).await;
    // 14 days and the fee of the one, 10 days of the other; nothing of tax and support, nor of who has not billed yet.
    let (now, before) = (Decimal::from(140 + 30 + 50), Decimal::from(140 + 30 + 50));
    for address in [
        "/spend/2026-11.json",
        "/spend/2026-11.json?by=account",
        "/spend/2026-11.json?by=team",
        "/spend/2026-11.json?by=experiment&then=team",
        "/spend/2026-11.json?by=provider&then=service",
        "/spend/2026-11.json?by=sku&then=region",
        "/spend/2026-11.json?by=category",
        "/spend/2026-11.json?by=service&then=experiment",
        "/spend/2026-11.json?provider=NeoCloud",
        "/spend/2026-11.json?by=resource",
        "/chargeback/2026-11.json",
        "/teams/research/2026-11.json",
        "/experiments/during/2026-11.json",
        "/variance/2026-11.json",
        "/variance/2026-11.json?team=research",
    ] {
        let answer = finance.json(address).await;
        assert_eq!((amount(&answer["total"]), amount(&answer["previous"])), (now, before), "{address}");
        assert_eq!(answer["compared"]["with"], "same-days", "{address}");
        assert_eq!(answer["compared"]["through"], "2026-11-14", "{address}");
    }
    let answer = finance.json("/spend/2026-11.json?by=account").await;
    let found = |key: &str| {
        let groups = answer["groups"].as_array().unwrap();
        groups.iter().find(|group| group["key"] == key).map(|group| amount(&group["previous"]))
    };
    assert_eq!((found("s1"), found("s2"), found("s3")), (Some(140.into()), Some(50.into()), None));
    let overview = finance.json("/overview.json").await;
    assert_eq!(amount(&overview["up_to_same_day"]["current"]), now);
    assert_eq!(amount(&overview["up_to_same_day"]["previous"]), before);
    assert_eq!(overview["up_to_same_day"]["providers"][0]["through"], "2026-11-14");
    // Of the team's page the parts sum to the change as well.
    let team = finance.json("/teams/research/2026-11.json").await;
    let parts = team["parts"].as_object().unwrap();
    let sum: Decimal = parts.values().map(|part| part.as_str().unwrap().parse::<Decimal>().unwrap()).sum();
    assert_eq!(sum, now - before);

    let lead = &mut TestApp::of(&ledger).signed_in(Role::Lead).await;
    for page in [
        "/overview",
        "/spend/2026-11",
        "/chargeback/2026-11",
        "/teams/research/2026-11",
        "/experiments/during/2026-11",
    ] {
        for browser in [&mut finance, &mut *lead] {
            let body = browser.get(page).await.body;
            let figures = figures(&body);
            assert!(figures.contains("vs same days of October 2026 unchanged"), "{page}: {figures}");
            assert!(!body.contains("all of October"), "{page}");
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_nobody_used_of_a_commitment_so_far_is_compared_with_as_many_days(db: PgPool) {
    let ledger = TestLedger::new(db);
    // 10 a day, and a reservation of which 310 went unused in October, and 150 until 14 November: one row for the month.
    for ([month, next], last, unused) in [(OCTOBER, 31, "310"), (NOVEMBER, 14, "150")] {
        let row = |from: &str,
                   until: &str,
                   pricing: &str,
                   [billed, effective]: [&str; 2],
                   commitment: &str| {
            format!(
                "NeoCloud,acme,s1,{month}-01T00:00:00Z,{next}-01T00:00:00Z,{from},{until},Usage,{pricing},GPU Cloud,Compute,\
                 gpu-8x,eu-1,,,,Hours,{billed},{effective},{effective},{effective},USD,\
                 \"{{\"\"team\"\":\"\"research\"\"}}\",NeoCloud,NeoCloud,{commitment}"
            )
        };
        let (first, end) = (format!("{month}-01T00:00:00Z"), format!("{next}-01T00:00:00Z"));
        let mut file = Focus::new().line(&row(&first, &end, "Committed", ["0", unused], "r1,Unused"));
        for day in 1..=last {
            let at = |hour| format!("{month}-{day:02}T{hour}:00:00Z");
            file = file.line(&row(&at("10"), &at("11"), "Standard", ["10", "10"], ","));
        }
        let file = file.with_column("CommitmentDiscountId").with_column("CommitmentDiscountStatus");
        ledger.deliver(&format!("{month}.csv"), &file).await;
    }
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    for address in [
        "/spend/2026-11.json",
        "/spend/2026-11.json?by=commitment-status",
        "/spend/2026-11.json?by=tag:team",
        "/variance/2026-11.json",
    ] {
        let answer = finance.json(address).await;
        // 14 days of 10, and 14 of the 31 days of 310; of twelve digits, as shares are.
        let (now, before) = (amount(&answer["total"]), amount(&answer["previous"]));
        assert_eq!((now, before.round(6)), (290.into(), 280.into()), "{address}");
    }
    // Of a month that is over all of it counts.
    let october = finance.json("/spend/2026-10.json").await;
    assert_eq!(amount(&october["total"]), 620.into());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn days_are_counted_where_every_bill_has_come_equally_far(db: PgPool) {
    let ledger = TestLedger::new(db);
    for (month, last) in [("2026-10", 31), ("2026-11", 14)] {
        let mut file = Focus::new();
        for day in 1..=last {
            file = file.hour("acme", "s1", &format!("{month}-{day:02}T10"), "10", "");
        }
        ledger.deliver(&format!("{month}.csv"), &file).await;
    }
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let page = finance.get("/spend/2026-11").await.body;
    assert!(figures(&page).contains("vs same 14 days of October 2026 unchanged"), "{page}");
    // October is stated to its last day, and compared with all of September.
    let page = finance.get("/spend/2026-10").await.body;
    assert!(figures(&page).contains("vs September 2026"), "{page}");
    // The quarter so far: October and 14 days of November, with July and 14 days of August.
    let mut august = Focus::new();
    for day in [14, 15] {
        august = august.hour("acme", "s1", &format!("2026-08-{day}T10"), "3", "");
    }
    ledger.deliver("july.csv", Focus::new().hour("acme", "s1", "2026-07-31T10", "2", "")).await;
    ledger.deliver("august.csv", august).await;
    ledger.deliver("september.csv", Focus::new().hour("acme", "s1", "2026-09-01T10", "50", "")).await;
    let quarter = finance.json("/spend/2026-Q4.json").await;
    assert_eq!(amount(&quarter["previous"]), Decimal::from(5));
    assert_eq!(quarter["compared"]["through"], "2026-11-14");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_day_is_compared_with_the_same_weekday_and_names_the_page(db: PgPool) {
    let (_ledger, mut finance) = app(db).await;
    let page = finance.get("/spend/2026-10?day=2026-10-14").await.body;
    assert_eq!(html::text(&page, "h1"), "Spend · October 14, 2026");
    assert!(figures(&page).contains("vs October 7, 2026 unchanged"), "{page}");
    assert_eq!(
        html::attributes(&page, ".steps > a", "href"),
        ["/spend/2026-10?day=2026-10-13", "/spend/2026-10?day=2026-10-15"]
    );
    let answer = finance.json("/spend/2026-10.json?day=2026-10-14&account=s1").await;
    assert_eq!((amount(&answer["total"]), amount(&answer["previous"])), (10.into(), 10.into()));
    // Over the end of a month, and of one that goes on.
    let answer = finance.json("/spend/2026-11.json?day=2026-11-03").await;
    assert_eq!((amount(&answer["total"]), amount(&answer["previous"])), (15.into(), 115.into()));
    let answer = finance.json("/variance/2026-11.json?day=2026-11-03").await;
    assert_eq!((amount(&answer["total"]), amount(&answer["previous"])), (15.into(), 115.into()));
    let page = finance.get("/spend/2026-11?by=team&day=2026-11-01").await.body;
    assert!(figures(&page).contains("vs October 25, 2026"), "{page}");
    assert_eq!(html::attributes(&page, ".steps > a", "href")[0], "/spend/2026-10?by=team&day=2026-10-31");
    // Three days, with the same weekdays.
    let answer =
        finance.json("/spend/2026-10.json?day=2026-10-12&day=2026-10-13&day=2026-10-14&account=s1").await;
    assert_eq!((amount(&answer["total"]), amount(&answer["previous"])), (30.into(), 30.into()));
}

/// October and November: 10 a day, and a fee of 30 a month.
async fn two_months(db: PgPool) -> TestApp {
    let ledger = TestLedger::new(db);
    for (month, next, last) in [("2026-10", "2026-11", 31), ("2026-11", "2026-12", 30)] {
        let mut file = Focus::new();
        for day in 1..=last {
            file = file.hour("acme", "s1", &format!("{month}-{day:02}T10"), "10", "research");
        }
        file = file.line(&of_month("acme", [month, next], ["Purchase", "Capacity"], "30"));
        ledger.deliver(&format!("{month}.csv"), &file).await;
    }
    let entries = vec![team("research"), rule(1, "", "", Target::Labels)];
    write(&mut ledger.db.acquire().await.unwrap(), entries).await;
    TestApp::of(&ledger).signed_in(Role::Finance).await
}

/// `day=…&day=…` of November.
fn days(numbers: impl IntoIterator<Item = u32>) -> String {
    numbers.into_iter().map(|day| format!("day=2026-11-{day:02}")).collect::<Vec<_>>().join("&")
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn days_that_reach_back_too_far_for_weekdays_are_compared_with_the_same_dates(db: PgPool) {
    let mut finance = two_months(db).await;
    for (asked, now, before, label) in [
        (days(1..=28), 280, 280, "vs October 4, 2026 to October 31, 2026"),
        (days(1..=29), 290, 290, "vs October 1, 2026 to October 29, 2026"),
        // To the end of the month with to the end of the month.
        (days(2..=30), 290, 300, "vs October 2, 2026 to October 31, 2026"),
        (days(1..=30), 300, 310, "vs October 2026"),
        // What belongs to no day, too.
        (format!("{}&day=whole-period", days([14])), 40, 40, "vs October 14, 2026"),
        ("day=whole-period".to_owned(), 30, 30, "vs October 2026"),
        (format!("not:{}", days([14])), 320, 330, "vs October 2026"),
    ] {
        for page in ["spend/2026-11.json?", "spend/2026-11.json?by=team&", "variance/2026-11.json?"] {
            let answer = finance.json(&format!("/{page}{asked}")).await;
            let figures = (amount(&answer["total"]), amount(&answer["previous"]));
            assert_eq!(figures, (now.into(), before.into()), "{page} {label}");
        }
        let page = finance.get(&format!("/spend/2026-11?{asked}")).await.body;
        let found = figures(&page);
        assert!(found.contains(&format!("{label} ")), "{label}: {found}");
    }
    let answer = finance.json(&format!("/spend/2026-11.json?{}", days(1..=29))).await;
    assert_eq!(answer["compared"]["with"], "same-dates");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn days_of_an_unfinished_month_are_compared_with_the_same_dates_as_far_as_it_has_come(db: PgPool) {
    let (_ledger, mut finance) = app(db).await;
    for page in ["spend/2026-11.json?", "spend/2026-11.json?by=team&", "variance/2026-11.json?"] {
        let answer = finance.json(&format!("/{page}{}", days(1..=29))).await;
        // 14 days of the one, 10 of the other.
        assert_eq!(
            (amount(&answer["total"]), amount(&answer["previous"])),
            (190.into(), 190.into()),
            "{page}"
        );
        assert_eq!(answer["compared"]["with"], "same-days", "{page}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn comparison_by_owner_of_an_unfinished_month_reads_sums_by_owner(db: PgPool) {
    let (ledger, mut finance) = app(db).await;
    let addresses = [
        "/spend/2026-11.json?by=team",
        "/spend/2026-11.json?by=experiment&then=team",
        "/spend/2026-11.json?by=team&then=service",
        "/spend/2026-11.json?by=sku&team=research",
        "/variance/2026-11.json?team=research",
        "/spend/2026-11.json?by=cost-centre",
    ];
    let mut before = Vec::new();
    for address in addresses {
        before.push(finance.json(address).await["previous"].clone());
    }
    assert_eq!(amount(&before[0]), Decimal::from(140 + 30 + 50));
    let equations = gpuledger::allocation::check(&mut ledger.db.acquire().await.unwrap()).await.unwrap();
    assert!(equations.iter().all(|equation| equation.holds), "{equations:#?}");
    // Without the rows that they were made from.
    sqlx::query("delete from daily_costs where not is_whole_period").execute(&ledger.db).await.unwrap();
    let mut later = TestApp::of(&ledger).signed_in(Role::Admin).await;
    for (address, before) in addresses.iter().zip(&before) {
        assert_eq!(later.json(address).await["previous"], *before, "{address}");
    }
}
