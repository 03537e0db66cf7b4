//! Scenarios of what the ledger says was used and paid: the same hours and the same money as spend, for those who see them.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::allocation::{Split, Target};
use gpuledger::ledger::{Decision, WhenUnsure};
use gpuledger::money::Decimal;
use serde_json::Value;
use sqlx::PgPool;

use super::clusters::{change, entered, publish};
use super::prices::ENTERED;
use crate::support::configuration::{pool, rule, team, to_pool, to_team, write};
use crate::support::json::decimal;
use crate::support::{Focus, TestApp, TestLedger, html};

/// What spend shows for a question: hours of accelerators, paid for or owned, and what all of it cost.
async fn spent(app: &mut TestApp, address: &str) -> (Decimal, Decimal) {
    let spend = app.json(address).await;
    (
        decimal(&spend["accelerator_hours"]) + decimal(&spend["owned_hours"]),
        decimal(&spend["total"]["amount"]),
    )
}

/// The hours of a scenario's works.
fn hours_of(scenario: &Value) -> Vec<Vec<Decimal>> {
    let work = scenario["work"].as_array().unwrap().iter();
    work.map(|it| it["demand"]["gpus"].as_array().unwrap().iter().map(decimal).collect()).collect()
}

fn sum(hours: &[Vec<Decimal>]) -> Decimal {
    hours.iter().flatten().copied().sum()
}

/// A line of 16:00 to 18:00 of a day, with spot, and one that lasts for a month.
fn month() -> Focus {
    let spot = Focus::new().hour("acme", "s1", "2026-09-06T16", "20.5", "nlp");
    let spot = spot.text().lines().nth(1).unwrap().replace(",Standard,", ",Dynamic,");
    let long = Focus::new().hour("acme", "s2", "2026-09-01T00", "6000", "nlp");
    let long =
        long.text().lines().nth(1).unwrap().replace(",2026-09-01T01:00:00Z,", ",2026-10-01T00:00:00Z,");
    let long = long.replace(",1,Hours,", ",100.25,Hours,").replace(",Standard,", ",Committed,");
    let support = Focus::new().hour("acme", "s1", "2026-09-06T16", "77.7", "nlp");
    let support = support.text().lines().nth(1).unwrap().replace(",1,Hours,", ",,,");
    let support = support.replace(",Compute,gpu-8x,", ",Support,support,").replace("8xH100", "support");
    let support = support.replace(",\"\"GpuCount\"\":8", "").replace(",GPU Cloud,", ",Support,");
    Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "120.25", "nlp")
        .hour("acme", "s1", "2026-09-05T11", "100", "vision")
        .hour("acme", "s3", "2026-09-05T11", "90.5", "nlp")
        .line(&spot)
        .line(&long)
        .line(&support)
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn its_hours_and_its_cost_are_those_of_spend(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("month.csv", month()).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let (hours, cost) = spent(&mut finance, "/spend/2026-09.json").await;
    assert_eq!((hours, cost), ("834".parse().unwrap(), "6408.95".parse().unwrap()));
    let json = finance.json("/scenarios/new.json?from=2026-09").await;
    let of_hours = hours_of(&json["scenario"]);
    // What moves, and what is paid on.
    assert_eq!((of_hours.len(), of_hours[0].len(), sum(&of_hours)), (2, 720, hours));
    assert_eq!(json["scenario"]["work"][0]["accelerator"], "nvidia-h100-sxm");
    // Two machines from 11:00 to 12:00 of the fifth, beside what was there all month.
    let all_month = of_hours[0][0];
    let at = |day: usize, hour: usize| of_hours[0][(day - 1) * 24 + hour] - all_month;
    let near = |a: Decimal, b: i64| (a - b.into()).abs() <= "0.001".parse().unwrap();
    assert!(near(at(5, 10), 8) && near(at(5, 11), 16) && near(at(5, 12), 0) && near(at(6, 16), 8));

    let made = &json["made_of"];
    let reconciled = &made["as_it_is"];
    // All but support.
    assert_eq!(decimal(&made["besides"]), "77.7".parse().unwrap());
    assert_eq!(decimal(&reconciled["ledger"]), "6331.25".parse().unwrap());
    assert_eq!((&reconciled["option"], &reconciled["difference"]), (&"6331.25".into(), &"0".into()));
    let prices: Vec<(&str, Decimal, Decimal)> = made["models"][0]["prices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["paid"].as_str().unwrap(), decimal(&it["gpu_hours"]), decimal(&it["cost"])))
        .collect();
    let described = |paid, hours: i64, cost: &str| (paid, Decimal::from(hours), cost.parse().unwrap());
    assert_eq!(
        prices,
        [
            described("committed", 802, "6000"),
            described("spot", 8, "20.5"),
            described("on-demand", 24, "310.75")
        ]
    );
    // What was committed to is paid on in every option, and serves its hours.
    let options = json["scenario"]["option"].as_array().unwrap();
    let kept = &options[0]["place"][1];
    assert!(options.len() > 3 && options.iter().all(|it| it["place"][1] == *kept), "{options:?}");
    assert_eq!(kept["serves"][0], "H100, paid on");
    assert_eq!(kept["on_demand"]["source"], "what is paid on, by its hours, September 2026");
    assert_eq!(kept["on_demand"]["date"], "2026-09-30");
    let paid_on = &made["paid_on"][0];
    assert_eq!((&paid_on["paid"], decimal(&paid_on["gpu_hours"])), (&"committed".into(), 802.into()));
    assert_eq!((&paid_on["coverage"], &made["is_paid_in_every_option"]), (&"0.961631".into(), &true.into()));
    assert_eq!(made["besides_by_kind"], serde_json::json!([["Support", "77.7"]]));

    let page = finance.get("/scenarios/new?from=2026-09").await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let described = html::text(&page.body, "#made");
    for words in [
        "Everything, September 2026, 720 hours, as of version 1",
        "77.70 USD. Storage",
        "every hour counts",
        "Reserved for 3 years, the rest on demand is left out: H100 from ",
        "but the 8 most used GPUs would be used in only 0.42% of them; the 12.95 we paid on demand is cheaper.",
    ] {
        assert!(described.contains(words), "{words}: {described}");
    }
    assert_eq!(
        html::text(&page.body, "#paid-on"),
        "Every option includes what must still be paid, and the hours it covers: commitments (H100 802 hours for 6,000 \
         USD)."
    );
    assert_eq!(
        html::text(&page.body, "#not-counted"),
        "Not counted in any option: 78 USD of September 2026 (support 78), and what moving data would cost."
    );
    let options = html::texts(&page.body, "#options .bars tbody th");
    assert!(options.len() >= 4 && options.iter().any(|it| it.starts_with("As it is")), "{options:?}");

    // With filters it is what spend shows with them.
    for filters in ["account=s3", "not:account=s3", "pricing=Dynamic", "tag:team=nlp", "day=2026-09-05"] {
        let (hours, _) = spent(&mut finance, &format!("/spend/2026-09.json?{filters}")).await;
        let json = finance.json(&format!("/scenarios/new.json?from=2026-09&{filters}")).await;
        assert_eq!(sum(&hours_of(&json["scenario"])), hours, "{filters}");
        assert!(
            decimal(&json["made_of"]["as_it_is"]["difference"]).abs() < "0.05".parse().unwrap(),
            "{filters}"
        );
    }
    // Of a quarter, the other months are hours in which nothing was used.
    let json = finance.json("/scenarios/new.json?from=2026-Q3").await;
    let of_quarter = hours_of(&json["scenario"]);
    assert_eq!((of_quarter[0].len(), sum(&of_quarter)), (2208, "834".parse().unwrap()));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn machines_of_our_own_cost_what_everything_of_their_cluster_did(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    entered(&mut admin).await;
    publish(&mut admin, "h100-east", "2026-09").await;
    let question = "provider=On-premises&account=h100-east";
    let (hours, cost) = spent(&mut admin, &format!("/spend/2026-09.json?{question}")).await;
    assert!(hours > Decimal::ZERO);
    let json = admin.json(&format!("/scenarios/new.json?from=2026-09&{question}")).await;
    assert_eq!(sum(&hours_of(&json["scenario"])), hours);
    let made = &json["made_of"];
    assert_eq!(decimal(&made["as_it_is"]["ledger"]), cost);
    assert_eq!(made["as_it_is"]["difference"], "0");
    assert_eq!(decimal(&made["besides"]), Decimal::ZERO);
    // Our own machines are computed with as the asset register has them.
    let options = json["scenario"]["option"].as_array().unwrap();
    let own = options.iter().find(|it| it["name"] == "Machines of our own, the rest on demand").unwrap();
    assert_eq!(own["place"][0]["supplier"], "Our own, as H100 East");
    let page = admin.get("/clusters/h100-east").await;
    let ways = html::attributes(&page.body, "main header a", "href");
    let way = ways.iter().find(|it| it.starts_with("/scenarios/new")).unwrap();
    assert_eq!(admin.get(way).await.status, StatusCode::OK, "{way}");
    let month = admin.get("/clusters/h100-east/2026-09").await;
    let of_month = html::attributes(&month.body, "main a", "href");
    assert!(of_month.contains(&format!("/scenarios/new?from=2026-09&{question}")), "{of_month:?}");
    let month = admin.get("/clusters/h100-east/2026-10").await;
    assert!(!month.body.contains("/scenarios/new"), "nothing of it counts");
}

/// A node is one team's; another, and the energy of both, are shared with a team that has none.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn machines_of_a_team_cost_what_its_page_says_with_what_runs_them(db: PgPool) {
    let ledger = TestLedger::new(db);
    let app = TestApp::of(&ledger);
    let (mut admin, mut lead) = (app.signed_in(Role::Admin).await, app.signed_in(Role::Lead).await);
    entered(&mut admin).await;
    for (nodes, machine) in [("1", "h100-east-node"), ("2", "h100-east-node-01")] {
        change(&mut admin, "asset “h100-east-node”", &[("count", nodes)]).await;
        publish(&mut admin, "h100-east", "2026-09").await;
        if nodes == "1" {
            let configuration = vec![
                team("research"),
                team("rivals"),
                gpuledger::allocation::Entry::Pool(pool("overhead", Split::Evenly)),
                rule(1, "resource", "h100-east-node", to_team("research")),
                rule(2, "resource", "h100-east-node-01", to_team("research")),
                rule(3, "provider", "On-premises", to_pool("overhead")),
            ];
            write(&mut ledger.db.acquire().await.unwrap(), configuration).await;
        }
        let page = admin.json("/teams/research/2026-09.json").await;
        let per_hour = decimal(&page["cost_per_owned_hour"]);
        let by_resource = admin.json("/spend/2026-09.json?by=resource&team=research&pool=").await;
        assert!(by_resource["groups"].to_string().contains(machine), "{by_resource}");
        let direct = decimal(&by_resource["total"]["amount"]);
        for filters in ["", "&accelerator=H100", "&account=h100-east", "&pricing=Owned", "&pool="] {
            for (who, team) in [(&mut admin, "&team=research"), (&mut lead, "")] {
                let query = format!("from=2026-09{team}{filters}");
                let json = who.json(&format!("/scenarios/new.json?{query}")).await;
                let made = &json["made_of"];
                assert_eq!(sum(&hours_of(&json["scenario"])), 5760.into(), "{query}");
                let price = &made["models"][0]["prices"][0];
                assert_eq!(
                    (&price["paid"], decimal(&price["per_hour"])),
                    (&"owned".into(), per_hour),
                    "{query}"
                );
                let cost = decimal(&made["as_it_is"]["ledger"]);
                assert_eq!(cost - direct, decimal(&made["running"]), "{query}");
                assert!(decimal(&made["running"]) > Decimal::ZERO, "{query}");
                assert_eq!(made["as_it_is"]["difference"], "0", "{query}");
                assert_eq!(decimal(&made["besides"]), Decimal::ZERO, "{query}");
                let shown = who.get(&format!("/scenarios/new?{query}")).await;
                assert!(
                    html::text(&shown.body, "#made").contains("Power, space and staff of on-prem machines"),
                    "{query}"
                );
            }
        }
    }
}

/// The power of a cluster in September, of no accelerator.
fn power(cluster: &str, cost: &str, currency: &str) -> String {
    let hour = Focus::new().hour("acme", cluster, "2026-09-06T16", cost, "site").billed_in(currency);
    let line = hour.text().lines().nth(1).unwrap().replace(&format!(",node-{cluster},"), ",power,");
    line.replace(",1,Hours,", ",,,")
        .replace(",gpu-8x,", ",power,")
        .replace("8xH100", "power")
        .replace(",\"\"GpuCount\"\":8", "")
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn machines_of_our_own_cost_in_the_currency_of_the_answer(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut bought = Focus::new();
    for hour in 10..16 {
        bought = bought.hour("bought", "s1", &format!("2026-09-05T{hour}"), "31", "nlp");
    }
    ledger.deliver("bought.csv", bought).await;
    let own = || {
        Focus::new()
            .hour("acme", "east", "2026-09-05T10", "100", "nlp")
            .billed_in("EUR")
            .line(&power("east", "50", "EUR"))
    };
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    // The second time a contract in dollars is on the cluster's account, too.
    for (name, file) in [("own.csv", own()), ("both.csv", own().line(&power("east", "5000", "USD")))] {
        ledger.deliver(name, file.owned()).await;
        for filters in ["", "&accelerator=H100"] {
            let address =
                format!("/scenarios/new.json?from=2026-09&provider=On-premises&account=east{filters}");
            let made = finance.json(&address).await["made_of"].take();
            let running = if filters.is_empty() { 0 } else { 50 };
            assert_eq!(made["currency"], "EUR", "{name}{filters}");
            assert_eq!(decimal(&made["as_it_is"]["ledger"]), 150.into(), "{name}{filters}");
            assert_eq!(decimal(&made["running"]), running.into(), "{name}{filters}");
            assert_eq!(decimal(&made["besides"]), Decimal::ZERO, "{name}{filters}");
        }
    }
}

/// What runs two clusters is shared. A team has hours of one of them and pays for people of the other, or has hours of both.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn machines_of_a_team_cost_whoever_looks_what_its_page_says(db: PgPool) {
    let ledger = TestLedger::new(db);
    let app = TestApp::of(&ledger);
    let (mut admin, mut lead) = (app.signed_in(Role::Admin).await, app.signed_in(Role::Lead).await);
    let own = || {
        Focus::new()
            .hour("acme", "east", "2026-09-05T10", "100", "research")
            .hour("acme", "west", "2026-09-05T10", "300", "rivals")
            .line(&power("east", "1000", "USD"))
            .line(&power("west", "3000", "USD"))
    };
    ledger.deliver("own.csv", own().owned()).await;
    let configuration = vec![
        team("research"),
        team("rivals"),
        gpuledger::allocation::Entry::Pool(pool("overhead", Split::Evenly)),
        rule(1, "sku", "power", to_pool("overhead")),
        rule(2, "", "", Target::Labels),
    ];
    write(&mut ledger.db.acquire().await.unwrap(), configuration).await;
    let people = power("west", "40", "USD").replace(",power,", ",people,").replace("site", "research");
    let with_west = own().hour("acme", "west", "2026-09-06T10", "17", "research");
    for (file, hours_cost, people, hours) in [(own().line(&people), 100, 40, 8), (with_west, 117, 0, 16)] {
        // The second time without the people of the first, which would be asked about.
        let again = ledger.file("again.csv", file.owned());
        ledger.import(&[again], Some(Decision::Replace), WhenUnsure::Wait).await;
        let page = admin.json("/teams/research/2026-09.json").await;
        let whole = Decimal::from(hours_cost + people + 2000);
        assert_eq!(decimal(&page["cost_per_owned_hour"]), whole.divide(hours.into(), 6).unwrap(), "{hours}");
        for filters in ["", "&accelerator=H100", "&pool="] {
            for (who, team) in [(&mut admin, "&team=research"), (&mut lead, "")] {
                let query = format!("from=2026-09{team}{filters}");
                let made = who.json(&format!("/scenarios/new.json?{query}")).await["made_of"].take();
                assert_eq!(decimal(&made["as_it_is"]["ledger"]), whole, "{query}");
                // Of accelerators alone, people are not in the question.
                let running = if filters.contains("H100") { 2000 + people } else { 2000 };
                assert_eq!(decimal(&made["running"]), running.into(), "{query}");
                assert_eq!(decimal(&made["besides"]), Decimal::ZERO, "{query}");
            }
        }
    }
    // Of one of its clusters the team's own costs are those of that cluster, and what is shared goes by hours.
    for (who, team) in [(&mut admin, "&team=research"), (&mut lead, "")] {
        let address = format!("/scenarios/new.json?from=2026-09&account=west{team}");
        let made = who.json(&address).await["made_of"].take();
        assert_eq!(decimal(&made["as_it_is"]["ledger"]), 1017.into(), "{address}");
    }
}

/// nlp and vision, and a pool between them.
async fn of_teams(db: PgPool) -> TestLedger {
    let ledger = TestLedger::new(db);
    let file = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "100", "research")
        .hour("acme", "s2", "2026-09-05T11", "31337.5", "rivals")
        .hour("acme", "s-pool", "2026-09-06T11", "20", "platform");
    ledger.deliver("month.csv", file).await;
    let entries = vec![
        team("research"),
        team("rivals"),
        gpuledger::allocation::Entry::Pool(pool("platform", Split::Evenly)),
        rule(1, "account", "s-pool", to_pool("platform")),
        rule(2, "", "", Target::Labels),
    ];
    write(&mut ledger.db.acquire().await.unwrap(), entries).await;
    ledger
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_begins_with_the_hours_of_their_teams_keeps_them_and_sees_them_again(db: PgPool) {
    let ledger = of_teams(db).await;
    let app = TestApp::of(&ledger);
    let (mut lead, mut finance) = (app.signed_in(Role::Lead).await, app.signed_in(Role::Finance).await);
    for (who, query) in [(&mut lead, ""), (&mut finance, "&team=research")] {
        let json = who.json(&format!("/scenarios/new.json?from=2026-09{query}")).await;
        let made = &json["made_of"];
        assert_eq!(sum(&hours_of(&json["scenario"])), 8.into());
        // Half of the pool is theirs in spend, and stays out here, which is shown.
        assert_eq!((decimal(&made["shared_hours"]), decimal(&made["shared_cost"])), (4.into(), 10.into()));
        let (hours, cost) =
            spent(who, &format!("/spend/2026-09.json?{}", query.trim_start_matches('&'))).await;
        assert_eq!((hours, cost), (12.into(), 110.into()));
        assert_eq!(decimal(&made["as_it_is"]["ledger"]), 100.into());
    }
    let all = finance.json("/scenarios/new.json?from=2026-09").await;
    assert_eq!(sum(&hours_of(&all["scenario"])), 24.into(), "of everything, pools are a part");
    for address in ["/scenarios/new?from=2026-09&team=rivals", "/scenarios/new.json?from=2026-09&team=rivals"]
    {
        assert_eq!(lead.get(address).await.status, StatusCode::NOT_FOUND);
    }
    let fields = [("from", "2026-09"), ("team", "rivals"), ("from", "ledger"), ("name", "Theirs")];
    let stolen = lead.submit("/scenarios", "/scenarios", &fields).await;
    assert_eq!(stolen.status, StatusCode::NOT_FOUND);

    let page = lead.get("/scenarios/new?from=2026-09&team=research&set=/months=12").await;
    assert!(!page.body.contains("31337") && !page.body.contains("ivals"), "{}", page.body);
    let hidden = |name: &str| html::attributes(&page.body, &format!("#keep [name={name}]"), "value");
    assert_eq!(
        (hidden("from"), hidden("team")),
        (vec!["2026-09".into(), "ledger".into()], vec!["research".into()])
    );
    let set = hidden("set")[0].clone();
    let sequence = hidden("sequence")[0].clone();
    let fields = [
        ("from", "2026-09"),
        ("team", "research"),
        ("sequence", sequence.as_str()),
        ("set", set.as_str()),
        ("from", "ledger"),
        ("name", "Ours"),
    ];
    let kept = lead.submit("/scenarios", "/scenarios", &fields).await;
    assert_eq!((kept.status, kept.location()), (StatusCode::SEE_OTHER, "/scenarios/1"), "{}", kept.body);
    let json = lead.json("/scenarios/1.json").await;
    assert_eq!(
        (json["scenario"]["months"].as_u64(), sum(&hours_of(&json["scenario"]))),
        (Some(12), 8.into())
    );
    assert!(json["scenario"]["note"].as_str().unwrap().contains("September 2026"));
    // No name, nothing kept, and the page is there again.
    let fields = [("from", "2026-09"), ("from", "ledger"), ("name", "")];
    let refused = lead.submit("/scenarios", "/scenarios", &fields).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(html::text(&refused.body, "#made").contains("Our teams, September 2026"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_edited_stays_what_it_was_made_of(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("month.csv", month()).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let sent = finance.get("/scenarios/new?from=2026-09&account=s3&%2Fmonths=12").await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.body);
    let edited = sent.location().to_owned();
    let as_of = "/scenarios/new?from=2026-09&account=s3&sequence=1&register=0&prices=0";
    assert_eq!(edited, format!("{as_of}&set=/months=12"));
    // By its place among those that a price is known of.
    let edited = format!("{edited}&set=/option/3/name=The%20fourth&add=/option");
    let files = edited.replacen("new?", "new.json?", 1);
    let before = finance.json(&files).await;
    // Then there is more of everything: hours, prices that hold, machines of our own.
    ledger.deliver("more.csv", Focus::new().hour("other", "s3", "2026-09-07T10", "5", "nlp")).await;
    let mut admin = finance.signed_in(Role::Admin).await;
    for tier in ["on-demand", "3-years"] {
        let paid = if tier == "on-demand" { "" } else { "committed" };
        let said = [("tier", tier), ("paid", paid), ("price", "0.4567"), ("sure", "yes")];
        let rest = ENTERED.into_iter().filter(|it| said.iter().all(|(name, _)| *name != it.0));
        let fields: Vec<_> = rest.chain(said).collect();
        let entered = admin.submit("/prices/new", "/prices/new", &fields).await;
        assert_eq!(entered.location(), "/prices", "{}", html::text(&entered.body, "main"));
    }
    entered(&mut admin).await;
    let page = finance.get(&edited).await;
    assert!(html::text(&page.body, "#made").contains("as of version 1"), "{}", page.body);
    let chips = html::attributes(&page.body, ".chips a", "href");
    let one_less = edited.replacen("&set=/months=12", "", 1);
    assert!(chips.contains(&one_less), "{chips:?}");
    assert!(html::attributes(&page.body, "main a", "href").contains(&as_of.to_owned()), "as it was");
    let ways = html::attributes(&page.body, "#made a", "href");
    assert_eq!(ways, ["/spend/2026-09?account=s3&sequence=1"]);
    let was = finance.json(&files).await;
    assert_eq!(was, before);
    let is = finance.json("/scenarios/new.json?from=2026-09&account=s3").await;
    let is_new = |json: &Value| {
        let options = json["scenario"]["option"].to_string();
        (options.contains("0.4567"), options.contains("Our own, as H100 East"))
    };
    assert_eq!((is_new(&was), is_new(&is)), ((false, false), (true, true)));
    let now = &is["made_of"];
    assert_eq!((&now["prices_revision"], now["register_revision"].as_i64() > Some(0)), (&2.into(), true));
    assert_eq!((sum(&hours_of(&was["scenario"])), sum(&hours_of(&is["scenario"]))), (8.into(), 16.into()));
    // Files are those of the same address.
    let text = finance.get(&edited.replacen("new?", "new.toml?", 1)).await;
    let scenario = gpuledger::economics::file::read(&text.body).unwrap();
    assert_eq!(serde_json::to_value(scenario).unwrap(), was["scenario"]);
    let table = finance.get(&edited.replacen("new?", "new.csv?", 1)).await;
    assert!(
        table.body.starts_with("option,supplier,serves,line,cost,") && table.body.contains("\nAs it is,")
    );
    // What is kept is what stands on the page.
    let values = |of: &str| html::attributes(&page.body, "#keep form input[type=hidden]", of);
    let (names, values) = (values("name"), values("value"));
    let hidden = names.iter().zip(&values).map(|(name, value)| (name.as_str(), value.as_str()));
    let mut fields: Vec<(&str, &str)> = hidden.filter(|(name, _)| *name != "csrf").collect();
    fields.push(("name", "Kept"));
    let kept = finance.submit("/scenarios", "/scenarios", &fields).await;
    assert_eq!(kept.status, StatusCode::SEE_OTHER, "{}", html::text(&kept.body, "main"));
    let mut kept = finance.json(&format!("{}.json", kept.location())).await;
    kept["scenario"]["name"] = was["scenario"]["name"].clone();
    assert_eq!(kept["scenario"], was["scenario"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_whose_team_uses_our_own_machines_is_told_nothing_of_the_asset_register(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    entered(&mut admin).await;
    change(&mut admin, "asset “h100-east-node”", &[("price", "361777")]).await;
    publish(&mut admin, "h100-east", "2026-09").await;
    let configuration = vec![team("research"), rule(1, "tag:cluster", "h100-east", to_team("research"))];
    write(&mut ledger.db.acquire().await.unwrap(), configuration).await;
    let mut lead = admin.signed_in(Role::Lead).await;
    let all = admin.get("/scenarios/new.json?from=2026-09").await.body;
    assert!(all.contains("361777") && all.contains("Our own, as H100 East"), "{all}");
    let (hours, _) = spent(&mut lead, "/spend/2026-09.json").await;
    assert!(hours > Decimal::ZERO);
    for asset_register in ["", "&register=0", "&register=2"] {
        let json = lead.json(&format!("/scenarios/new.json?from=2026-09{asset_register}")).await;
        assert_eq!(sum(&hours_of(&json["scenario"])), hours);
        assert_eq!(json["made_of"].get("register_revision"), None);
        for file in ["", ".json", ".csv", ".toml"] {
            let answer = lead.get(&format!("/scenarios/new{file}?from=2026-09{asset_register}")).await;
            assert_eq!(answer.status, StatusCode::OK, "{file}");
            for theirs in ["361777", "361,777", "Our own, as", "what the asset register says", "register="] {
                assert!(!answer.body.contains(theirs), "{file}{asset_register}: {theirs}");
            }
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_period_without_hours_says_so_and_what_is_no_question_is_refused(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    // Nothing is there at all, not even a month to begin with.
    let page = finance.get("/scenarios/new").await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(html::text(&page.body, ".empty").contains("nothing was billed in Q"));
    ledger.deliver("month.csv", month()).await;
    for (query, said) in [
        ("from=2026-08", "Everything: nothing was billed in August 2026."),
        ("from=2026-09&account=nobody", "Account: nobody: no cloud or on-prem GPU-hours in September 2026"),
        ("from=2026-09&currency=EUR", "Everything: nothing was billed in September 2026."),
    ] {
        let page = finance.get(&format!("/scenarios/new?{query}")).await;
        assert_eq!(page.status, StatusCode::OK, "{query}");
        assert!(
            html::text(&page.body, ".empty").contains(said),
            "{query}: {}",
            html::text(&page.body, ".empty")
        );
        assert!(html::attributes(&page.body, ".empty a", "href").contains(&"/imports".to_owned()));
        assert_eq!(
            finance.get(&format!("/scenarios/new.json?{query}")).await.status,
            StatusCode::BAD_REQUEST,
            "{query}"
        );
    }
    for (query, said) in [
        ("from=soon", "from: found “soon”, expected a month (2026-09), a quarter"),
        ("from=2016..2026", "expected a month"),
        ("from=2026-09&from=2026-08", "from: found “2026-09” and “2026-08”. Enter one"),
        ("from=2026-09&prices=1", "prices: found 1. Enter a revision from 0 to 0"),
        ("from=2026-09&prices=-1", "prices: found -1. Enter a revision from 0 to 0"),
        ("from=2026-09&prices=new", "prices: found “new”. Enter a revision"),
        ("from=2026-09&register=1", "register: found 1. Enter a revision from 0 to 0"),
        ("from=2021-01..2026-09", "found 69 months. Choose at most 36"),
        ("from=2026-09&colour=red", "colour is not a dimension to filter by"),
        ("from=2026-09&by=team", "by cannot be used in this address. Use from, currency"),
        ("from=2026-09&in=1", "in: enter a currency"),
        ("from=2026-09&version=2", "version: only saved scenarios have versions"),
        ("from=2026-09&sequence=77", "77"),
        ("from=2026-09&set=/nothing=1", "Enter a field of this scenario"),
    ] {
        let answer = finance.get(&format!("/scenarios/new?{query}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(answer.body.contains(said), "{query}: {}", html::text(&answer.body, "main"));
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn two_currencies_are_one_alone_or_both_in_one(db: PgPool) {
    let ledger = TestLedger::new(db);
    let file = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "100", "nlp")
        .hour("acme", "s1", "2026-09-05T11", "100", "nlp")
        .hour("acme", "s2", "2026-09-05T11", "60", "nlp")
        .billed_in("EUR");
    ledger.deliver("month.csv", file).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let fields = [("month", "2026-09"), ("currency", "USD"), ("quoted_in", "EUR"), ("rate", "0.5")];
    let entered = finance.submit("/rates", "/rates", &fields).await;
    assert_eq!(entered.status, StatusCode::SEE_OTHER, "{}", html::text(&entered.body, "main"));
    for (query, currency, hours, cost, others) in [
        ("", "USD", 16, 200, vec!["EUR"]),
        ("&currency=EUR", "EUR", 8, 60, vec!["USD"]),
        ("&in=EUR", "EUR", 24, 160, vec![]),
    ] {
        let json = finance.json(&format!("/scenarios/new.json?from=2026-09{query}")).await;
        let (spent_hours, spent_cost) =
            spent(&mut finance, &format!("/spend/2026-09.json?{}", query.trim_start_matches('&'))).await;
        assert_eq!((spent_hours, spent_cost), (hours.into(), cost.into()), "{query}");
        assert_eq!(sum(&hours_of(&json["scenario"])), hours.into(), "{query}");
        assert_eq!(json["scenario"]["currency"], currency, "{query}");
        assert_eq!(decimal(&json["made_of"]["as_it_is"]["ledger"]), cost.into(), "{query}");
        assert_eq!(decimal(&json["made_of"]["as_it_is"]["difference"]), Decimal::ZERO, "{query}");
        assert_eq!(json["made_of"]["other_currencies"], serde_json::json!(others), "{query}");
    }
    // The list is in dollars, which are worth half here.
    let json = finance.json("/scenarios/new.json?from=2026-09&in=EUR").await;
    let options = json["scenario"]["option"].as_array().unwrap();
    let cloud = options.iter().find(|it| it["name"] == "The cheapest specialty cloud").unwrap();
    let source = cloud["place"][0]["on_demand"]["source"].as_str().unwrap();
    assert!(source.ends_with("a dollar at 0.5 EUR"), "{source}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_is_one_click_from_where_the_hours_are_shown(db: PgPool) {
    let ledger = of_teams(db).await;
    let app = TestApp::of(&ledger);
    let mut finance = app.signed_in(Role::Finance).await;
    for (page, way) in [
        ("/spend/2026-09?team=research&by=account", "/scenarios/new?from=2026-09&team=research"),
        (
            "/spend/2026-Q3?in=USD&not:account=s2",
            "/scenarios/new?from=2026-07..2026-09&in=USD&not%3Aaccount=s2",
        ),
        ("/teams/research/2026-09", "/scenarios/new?from=2026-09&team=research"),
    ] {
        let body = finance.get(page).await.body;
        let ways = html::attributes(&body, "main a", "href");
        let found: Vec<&String> = ways.iter().filter(|it| it.starts_with("/scenarios/new")).collect();
        assert_eq!(found, [way], "{page}");
        assert_eq!(finance.get(way).await.status, StatusCode::OK, "{way}");
    }
    let mut lead = app.signed_in(Role::Lead).await;
    for (who, teams) in [(&mut finance, vec!["", "research", "rivals"]), (&mut lead, vec!["", "research"])] {
        let body = who.get("/scenarios").await.body;
        assert_eq!(html::attributes(&body, "#whose option", "value"), teams);
        let periods = html::attributes(&body, "#from option", "value");
        assert_eq!(periods[..3], ["2026-07..2026-09", "2026-04..2026-06", "2026-09"]);
        let sent = who.get("/scenarios/new?from=2026-07..2026-09&whose=research").await;
        assert_eq!(sent.location(), "/scenarios/new?from=2026-07..2026-09&team=research");
        let sent = who.get("/scenarios/new?from=2026-09&whose=").await;
        assert_eq!(sent.location(), "/scenarios/new?from=2026-09");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn only_what_providers_call_support_is_named_support(db: PgPool) {
    let ledger = TestLedger::new(db);
    let fee = |service: &str, category: &str, cost: &str| {
        format!(
            "NeoCloud,acme,s1,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,\
             Purchase,,{service},{category},,,,,,,{cost},{cost},{cost},{cost},USD,,NeoCloud,NeoCloud"
        )
    };
    let mut month = Focus::new().hour("acme", "s1", "2026-09-05T10", "120.25", "nlp");
    for (service, category) in [
        ("Support", "Other"),
        ("AWS Support (Enterprise)", ""),
        ("AWSSupportBusiness", ""),
        ("AWSDeveloperSupport", "Other"),
        ("Azure Support", "Other"),
        ("Google Cloud Premium Support", "Other"),
    ] {
        month = month.line(&fee(service, category, "1"));
    }
    month = month
        .line(&fee("Supported models", "AI and Machine Learning", "20"))
        .line(&fee("Unsupported images", "", "5"))
        .line(&fee("Support agent", "Business Applications", "30"));
    ledger.deliver("month.csv", month).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let json = finance.json("/scenarios/new.json?from=2026-09").await;
    let mut kinds: Vec<(String, Decimal)> = json["made_of"]["besides_by_kind"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it[0].as_str().unwrap().to_owned(), decimal(&it[1])))
        .collect();
    kinds.sort();
    let expected =
        [("AI and Machine Learning", 20), ("Business Applications", 30), ("Other", 5), ("Support", 6)];
    assert_eq!(kinds, expected.map(|(kind, cost)| (kind.to_owned(), Decimal::from(cost))));
}
