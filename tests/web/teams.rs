//! What teams are charged: side by side, one by one, on paper; and what a lead sees of it.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::allocation::{Edit, Entry, Months, SharedCostPool, Split, Target, Team};
use gpuledger::audit::Actor;
use gpuledger::changes;
use gpuledger::exchange::{self, Rate};
use gpuledger::money::{Currency, Decimal};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::Value;
use sqlx::PgPool;

use crate::allocation::exact;
use crate::support::changes::decide;
use crate::support::configuration::{change, pool, rule, team, to_pool, write};
use crate::support::json::decimal;
use crate::support::{Focus, TestApp, TestLedger, html, now};

fn line(day: &str, account: &str, service: &str, category: &str, cost: &str, tags: &str) -> String {
    let (month, next) =
        if day.starts_with("2026-08") { ("2026-08", "2026-09") } else { ("2026-09", "2026-10") };
    let tags = tags.replace('"', "\"\"");
    format!(
        "NeoCloud,acme,{account},{month}-01T00:00:00Z,{next}-01T00:00:00Z,{day}T10:00:00Z,{day}T11:00:00Z,{category},\
         Standard,{service},Compute,sku,eu-1,,,1,Hours,{cost},{cost},{cost},{cost},USD,\"{tags}\",NeoCloud,NeoCloud"
    )
}

/// Two months: research 40, vision inside it 100.005, speech 60.01; support 20 and network 6; unclaimed 7.
async fn ledger(db: PgPool) -> TestLedger {
    let ledger = TestLedger::new(db);
    let mut file = Focus::new();
    for (month, factor) in [("2026-08", 1i64), ("2026-09", 2)] {
        let cost = |text: &str| text.parse::<Decimal>().unwrap().times(factor).to_string();
        file = file
            .hour("acme", "s1", &format!("{month}-05T10"), &cost("40"), "research")
            .line(&line(
                &format!("{month}-05"),
                "s2",
                "GPU",
                "Usage",
                &cost("100.005"),
                r#"{"team":"vision","experiment":"seg-1"}"#,
            ))
            .line(&line(
                &format!("{month}-06"),
                "acct-3",
                "GPU",
                "Usage",
                &cost("60.01"),
                r#"{"team":"speech"}"#,
            ))
            .line(&line(&format!("{month}-06"), "acct-4", "Support", "Purchase", &cost("20"), "{}"))
            .line(&line(&format!("{month}-06"), "acct-4", "Network", "Usage", &cost("6"), "{}"))
            .line(&line(&format!("{month}-06"), "acct-4", "Storage", "Usage", &cost("7"), "{}"));
    }
    ledger.deliver("bills.csv", &file).await;
    let vision = Team {
        handle: "vision".into(),
        name: "Vision".into(),
        parent: Some("research".into()),
        ..Team::default()
    };
    let support = SharedCostPool { pools: vec!["network".into()], ..pool("support", Split::DirectCost) };
    let network = SharedCostPool { without: vec!["research".into()], ..pool("network", Split::Evenly) };
    let entries = vec![
        team("research"),
        Entry::Team(vision),
        team("speech"),
        Entry::Pool(support),
        Entry::Pool(network),
        rule(1, "service", "Support", to_pool("support")),
        rule(2, "service", "Network", to_pool("network")),
        rule(3, "", "", Target::Labels),
    ];
    write(&mut ledger.db.acquire().await.unwrap(), entries).await;
    ledger
}

fn sum(values: &Value, of: impl Fn(&Value) -> &Value) -> Decimal {
    values.as_array().unwrap().iter().map(|value| decimal(of(value))).sum()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn teams_stand_side_by_side_and_sum_to_the_bill(db: PgPool) {
    let ledger = ledger(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let all = finance.json("/chargeback/2026-09.json").await;
    let spend = finance.json("/spend/2026-09.json").await;
    assert_eq!(decimal(&all["total"]["amount"]), decimal(&spend["total"]["amount"]));
    assert_eq!(sum(&all["teams"], |it| &it["cost"]), decimal(&all["total"]["amount"]));
    assert_eq!(decimal(&all["direct"]) + decimal(&all["shared"]), decimal(&all["total"]["amount"]));
    let names: Vec<_> = all["teams"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["Vision", "Speech", "Research", "Unallocated"]);
    let (vision, research) = (&all["teams"][0], &all["teams"][2]);
    assert_eq!((&vision["part_of"], &vision["direct"]), (&"Research".into(), &"200.01".into()));
    assert_eq!(
        decimal(&vision["cost"]) + decimal(&research["cost"]),
        decimal(&research["with_teams_inside"])
    );
    assert_eq!(all["teams"][3]["direct"], "14");

    let page = finance.get("/chargeback/2026-09").await;
    assert!(html::texts(&page.body, "tbody tr.rest th").contains(&"Unallocated".to_owned()));
    assert_eq!(html::text(&page.body, "tfoot td:nth-of-type(3)"), "466.03");
    let csv = finance.get("/chargeback/2026-09.csv").await.body;
    assert!(
        csv.starts_with("team,name,part_of,direct,shared,cost,")
            && csv.contains("\nvision,Vision,Research,200.01,"),
        "{csv}"
    );
    assert_eq!(finance.get("/teams").await.location(), "/chargeback/2026-09");
    assert_eq!(finance.get("/teams/vision").await.location(), "/teams/vision/2026-09");
    let by_name = finance.json("/chargeback/2026-09.json?sort=name").await;
    assert_eq!(by_name["teams"][0]["name"], "Research");
    let refused = finance.get("/chargeback/2026-09?by=team").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("Use cost, currency, in, sequence, sort."), "{}", refused.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_team_s_page_adds_up_whichever_way_it_is_read(db: PgPool) {
    let ledger = ledger(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let all = finance.json("/chargeback/2026-09.json").await;
    for (team, cost) in [
        ("speech", &all["teams"][1]["cost"]),
        ("vision", &all["teams"][0]["cost"]),
        // With the team inside it.
        ("research", &all["teams"][2]["with_teams_inside"]),
    ] {
        let it = finance.json(&format!("/teams/{team}/2026-09.json")).await;
        let total = decimal(&it["total"]["amount"]);
        assert_eq!(total, decimal(cost), "{team}");
        let (direct, shared) = (decimal(&it["direct"]["cost"]), decimal(&it["shared"]["cost"]));
        assert_eq!(direct + shared, total, "{team}");
        assert_eq!(sum(&it["shared_costs"], |group| &group["cost"]["amount"]), shared, "{team}");
        for breakdown in it["breakdowns"].as_array().unwrap() {
            assert_eq!(
                sum(&breakdown["groups"], |group| &group["cost"]["amount"]),
                direct,
                "{team} {breakdown}"
            );
        }
        let parts: Decimal = it["parts"].as_object().unwrap().values().map(decimal).sum();
        assert_eq!(parts, total - decimal(&it["previous"]["amount"]), "{team}");
        let spend = finance.json(&format!("/spend/2026-09.json?team={team}")).await;
        if team != "research" {
            assert_eq!(decimal(&spend["total"]["amount"]), total, "{team}");
        }
    }
    let research = finance.json("/teams/research/2026-09.json").await;
    assert_eq!(research["teams_inside"][0]["name"], "Vision");
    assert_eq!(research["by_team"].as_array().unwrap().len(), 2);
    assert_eq!(research["organization_cost_per_accelerator_hour"], "10.000000");
    let page = finance.get("/teams/research/2026-08..2026-09").await;
    assert_eq!(html::text(&page.body, "h1"), "Research, August to September 2026");
    assert!(page.body.contains("Vision</a>") && page.body.contains("June to July 2026</h2>"));
    let csv = finance.get("/teams/vision/2026-09.csv").await.body;
    assert!(csv.contains("\ndirect,experiment,seg-1,seg-1,200.01,USD,"), "{csv}");
    assert_eq!(finance.get("/teams/nobody/2026-09").await.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_sees_their_teams_and_no_other_is_there(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    let mut lead = app.signed_in(Role::Lead).await;
    let mut finance = app.signed_in(Role::Finance).await;
    assert_eq!(lead.get("/teams").await.location(), "/teams/research/2026-09");
    for address in ["/teams/research/2026-09.json", "/teams/vision/2026-09.json"] {
        let (theirs, of_all) = (lead.json(address).await, finance.json(address).await);
        for figure in
            ["total", "direct", "shared", "parts", "breakdowns", "organization_cost_per_accelerator_hour"]
        {
            assert_eq!(theirs[figure], of_all[figure], "{address} {figure}");
        }
    }
    let all = lead.json("/chargeback/2026-09.json").await;
    let names: Vec<_> = all["teams"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["Vision", "Research"]);
    assert!(decimal(&all["total"]["amount"]) < 466.into());
    let statement = lead.json("/teams/vision/2026-09/statement.json").await;
    let mut of_all = finance.json("/teams/vision/2026-09/statement.json").await;
    of_all.as_object_mut().unwrap().remove("of_everyone");
    // Who pays is not told to leads.
    for scope in of_all["standing"].as_array_mut().unwrap() {
        scope["billing_account"] = "".into();
    }
    assert_eq!(statement, of_all);
    for address in [
        "/teams/research/2026-09",
        "/teams/vision/2026-09",
        "/teams/vision/2026-09/statement",
        "/chargeback/2026-09",
    ] {
        for suffix in ["", ".json", ".csv"] {
            let answer = lead.get(&format!("{address}{suffix}")).await;
            assert_eq!(answer.status, StatusCode::OK);
            for foreign in ["Speech", "speech", "120.02", "acct-", "466.0", "14.00"] {
                assert!(!answer.body.contains(foreign), "{address}{suffix} {foreign}: {}", answer.body);
            }
        }
    }
    let nowhere = lead.get("/teams/nobody/2026-09").await;
    for address in [
        "/teams/speech",
        "/teams/speech/2026-09",
        "/teams/speech/2026-09.json",
        "/teams/speech/2026-09/statement",
    ] {
        let answer = lead.get(address).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{address}");
        assert_eq!(finance.get(address).await.status.is_success(), address != "/teams/speech", "{address}");
        if !address.contains(".json") {
            assert_eq!(html::text(&answer.body, "main"), html::text(&nowhere.body, "main"), "{address}");
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_statement_shows_how_each_shared_part_came_about(db: PgPool) {
    let ledger = ledger(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let it = finance.json("/teams/vision/2026-09/statement.json").await;
    let team = &it["teams"][0];
    assert_eq!(
        (&team["direct"][0]["label"], &team["direct"][0]["amount"]),
        (&"Experiment seg-1".into(), &"200.01".into())
    );
    let support = &team["shared"][1];
    assert_eq!(
        (&support["name"], &support["total"], &support["split"]),
        (&"support".into(), &"40".into(), &"by direct cost".into())
    );
    assert_eq!((decimal(&support["weight"]), &support["unit"]), ("200.01".parse().unwrap(), &"USD".into()));
    // 80 + 200.01 + 120.02 of the teams, and 12 of the network.
    assert_eq!(decimal(&support["sum_of_weights"]), "412.03".parse().unwrap());
    let way = &support["by_way_of"][0];
    assert_eq!((&way["name"], decimal(&way["handed_on"])), (&"network".into(), "0.5".parse().unwrap()));
    let amount = decimal(&support["total"]).multiply(decimal(&support["share"])).round(2);
    assert_eq!(decimal(&support["amount"]), amount);
    let lines = sum(&team["direct"], |line| &line["amount"]) + sum(&team["shared"], |part| &part["amount"]);
    assert_eq!(lines, decimal(&it["total"]["amount"]));

    let page = finance.get("/teams/vision/2026-09/statement").await;
    assert!(html::texts(&page.body, "td").contains(&"200.01 of 412.03 USD".to_owned()), "{}", page.body);
    let sequence = it["sequence"].as_i64().unwrap();
    // A printed statement says its whole address.
    let kept = html::attributes(&page.body, "a.kept", "data-address").remove(0);
    assert!(
        kept.starts_with("http")
            && kept.ends_with(&format!("/teams/vision/2026-09/statement?sequence={sequence}")),
        "{kept}"
    );
    let csv = finance.get("/teams/vision/2026-09/statement.csv").await.body;
    assert!(csv.contains("\nvision,direct,Experiment seg-1,,seg-1,"), "{csv}");

    // What comes later leaves it as it was.
    let late = Focus::new().hour("other", "s9", "2026-09-05T10", "500", "vision");
    ledger.deliver("late.csv", late).await;
    let then = finance.get(&format!("/teams/vision/2026-09/statement.json?sequence={sequence}")).await;
    assert_eq!(then.json()["teams"], it["teams"]);
    assert_ne!(finance.json("/teams/vision/2026-09/statement.json").await["teams"], it["teams"]);
    let nothing = finance.get("/teams/vision/2026-01/statement").await;
    assert!(html::text(&nothing.body, ".empty").contains("Choose another period"));
    assert_eq!(finance.get("/teams/vision/2026-09/invoice").await.status, StatusCode::NOT_FOUND);
    ledger.assert_balanced().await;
}

/// The columns of a line of a CSV file, by name.
fn rows(csv: &str) -> Vec<std::collections::HashMap<String, String>> {
    csv::Reader::from_reader(csv.as_bytes()).deserialize().map(Result::unwrap).collect()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_statement_is_filed_and_recomputed_from_its_csv_alone(db: PgPool) {
    let ledger = ledger(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let it = finance.json("/teams/research/2026-09/statement.json").await;
    let rows = rows(&finance.get("/teams/research/2026-09/statement.csv").await.body);
    let (total, lines) = rows.split_last().unwrap();
    assert_eq!((total["part"].as_str(), total["label"].as_str()), ("total", "Total"));
    assert_eq!(total["amount"].parse::<Decimal>().unwrap(), decimal(&it["total"]["amount"]));
    let amounts: Decimal = lines.iter().map(|row| row["amount"].parse::<Decimal>().unwrap()).sum();
    assert_eq!(amounts, decimal(&it["total"]["amount"]));
    for row in &rows {
        assert_eq!(
            (row["period"].as_str(), row["state"].as_str(), row["cost"].as_str()),
            ("2026-09", "provisional", "effective")
        );
        assert_eq!(row["ledger_step"], it["sequence"].to_string());
    }
    let support = lines.iter().find(|row| row["team"] == "vision" && row["pool"] == "support").unwrap();
    let number = |column: &str| support[column].parse::<Decimal>().unwrap();
    let (network, halves) = support["by_way_of"].strip_prefix("network ").unwrap().split_once(" × ").unwrap();
    let own = number("weight").divide(number("sum_of_weights"), 12).unwrap();
    let handed_on = network.parse::<Decimal>().unwrap().multiply(halves.parse().unwrap());
    assert_eq!((own + handed_on).round(11), number("share").round(11));
    assert_eq!(number("pool_total").multiply(number("share")).round(2), number("amount"));
    assert_eq!(support["weighs"], "effective direct cost in USD");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_weight_in_several_currencies_is_told_with_its_rates(db: PgPool) {
    let ledger = TestLedger::new(db);
    let month = Focus::new()
        .hour("acme", "a1", "2026-09-05T10", "100", "vision")
        .hour("acme", "a1", "2026-09-05T11", "50", "vision")
        .billed_in("EUR")
        .hour("acme", "a2", "2026-09-05T10", "145", "speech")
        .hour("acme", "a3", "2026-09-05T10", "30", "");
    ledger.deliver("september.csv", &month).await;
    let rate = Rate {
        month: "2026-09".parse().unwrap(),
        currency: Currency::exactly("EUR"),
        quoted_in: Currency::exactly("USD"),
        rate: "1.1".parse().unwrap(),
        source: "test".into(),
    };
    let by = Actor::person("ada@example.com", "test");
    let mut db = ledger.db.acquire().await.unwrap();
    exchange::set(&mut db, &[rate], by.at(now())).await.unwrap();
    let common = Entry::Pool(pool("common", Split::DirectCost));
    let entries = vec![
        team("vision"),
        team("speech"),
        common,
        rule(1, "account", "a3", to_pool("common")),
        rule(2, "", "", Target::Labels),
    ];
    write(&mut db, entries).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    for query in ["?currency=USD", "?in=USD", "?currency=USD&cost=billed"] {
        let it = finance.json(&format!("/teams/vision/2026-09/statement.json{query}")).await;
        let part = &it["teams"][0]["shared"][0];
        let made_of = part["weight_made_of"].as_array().unwrap();
        let described: Vec<_> = made_of.iter().map(|it| (&it["cost"]["amount"], &it["rate"])).collect();
        assert_eq!(described, [(&"100".into(), &"1".into()), (&"50".into(), &"1.1".into())], "{query}");
        assert_eq!(sum(&part["weight_made_of"], |it| &it["weight"]["amount"]), decimal(&part["weight"]));
        let share = decimal(&part["weight"]).divide(decimal(&part["sum_of_weights"]), 12).unwrap();
        assert_eq!(share, decimal(&part["share"]));
        assert_eq!(part["weighs"], "effective direct cost in all currencies, converted into USD");
        let page = finance.get(&format!("/teams/vision/2026-09/statement{query}")).await;
        let said = html::text(&page.body, "main");
        let sum = "Weight of Vision, divided by direct cost: 100.00 USD + 50.00 EUR × 1.1 = 155.00 USD.";
        let rate = "Exchange rate of September 2026: 1 EUR = 1.1 USD (test).";
        assert!(said.contains(sum), "{said}");
        // Where everything is converted the rates stand at the end.
        assert_eq!(said.contains(rate), !query.contains("in="), "{said}");
        let csv = rows(&finance.get(&format!("/teams/vision/2026-09/statement.csv{query}")).await.body);
        assert!(csv.iter().any(|row| row["weight_made_of"] == "100 USD + 50 EUR × 1.1"), "{csv:?}");
    }

    // A currency that the month lacks is not a month without charges.
    for address in ["/chargeback/2026-09", "/teams/vision/2026-09", "/teams/vision/2026-09/statement"] {
        let page = finance.get(&format!("{address}?currency=GBP")).await.body;
        let said = html::text(&page, ".empty");
        assert!(
            said.starts_with("Nothing was billed") && said.contains("in GBP in September 2026"),
            "{said}"
        );
        assert!(html::attributes(&page, ".empty a", "href").contains(&format!("{address}?currency=EUR")));
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_was_final_as_something_else_is_said_on_the_statement(db: PgPool) {
    let ledger = TestLedger::new(db);
    let month = |cost: &str| {
        Focus::new().hour("acme", "a1", "2026-09-05T10", cost, "vision").hour(
            "acme",
            "a2",
            "2026-09-05T10",
            "20",
            "speech",
        )
    };
    let mut db = ledger.db.acquire().await.unwrap();
    let rules = vec![team("vision"), team("speech"), rule(9, "", "", Target::Labels)];
    write(&mut db, rules).await;
    ledger.deliver("first.csv", &month("90")).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let restated = |it: &Value| it["restated"].clone();
    let statement = "/teams/vision/2026-09/statement";
    // What was provisional may change.
    ledger.deliver("second.csv", month("100").invoiced()).await;
    let it = finance.json(&format!("{statement}.json")).await;
    assert_eq!((&it["state"], restated(&it)), (&"final".into(), Value::Array(Vec::new())));
    let sequence = it["sequence"].as_i64().unwrap();

    write(&mut db, vec![rule(1, "account", "a2", crate::support::configuration::to_team("vision"))]).await;
    let it = finance.json(&format!("{statement}.json")).await;
    let described = &it["restated"][0];
    assert_eq!((&described["sequence"], &described["month"]), (&sequence.into(), &"2026-09".into()));
    assert_eq!(
        ["was", "now", "difference"].map(|figure| decimal(&described[figure])),
        ["100", "120", "20"].map(|text| text.parse::<Decimal>().unwrap())
    );
    let page = finance.get(statement).await.body;
    let said = html::text(&page, ".facts");
    assert!(said.contains(&format!("100.00 when its bills were final (version {sequence})")), "{said}");
    // What made it so is named, and one is led there; its lead hears what kind of thing it was.
    assert!(said.contains("Changed by the allocation: a change"), "{said}");
    assert_eq!(described["causes"].as_array().unwrap().len(), 1);
    assert_eq!(described["causes"][0]["reason"], "because");
    assert!(html::attributes(&page, ".facts a", "href").contains(&"/changes/2".to_owned()), "{page}");
    let csv = finance.get(&format!("{statement}.csv")).await.body;
    let total = csv.lines().last().unwrap();
    let since = format!(",20.00,2026-09 as of version {sequence},\"version ");
    assert!(total.contains(&since) && total.ends_with(", the allocation: a change (because)\""), "{total}");
    let team_page = finance.get("/teams/vision/2026-09").await.body;
    let line = html::texts(&team_page, "p.data-status").join(" ");
    assert!(
        line.contains("Restated: September 2026 was 100.00 when its bills were final and is 120.00 now."),
        "{line}"
    );
    let empty = finance.get("/teams/vision/2026-07/statement.csv").await.body;
    assert!(empty.lines().nth(1).is_some_and(|line| line.starts_with(",total,Total,")), "{empty}");
    let then = finance.get(&format!("{statement}.json?sequence={sequence}&currency=USD")).await;
    assert_eq!(then.json()["total"]["amount"], described["was"]);
    // So it is for who was charged less.
    let it = finance.json("/teams/speech/2026-09/statement.json").await;
    assert_eq!(decimal(&it["restated"][0]["difference"]), Decimal::from(-20));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_reorganization_that_was_undone_is_not_read_through_the_past(db: PgPool) {
    let ledger = TestLedger::new(db);
    let day = "2026-09-05T10";
    let bill = Focus::new()
        .hour("acme", "a1", day, "100", "research")
        .hour("acme", "a-secret", day, "31337", "speech");
    ledger.deliver("september.csv", &bill).await;
    let mut db = ledger.db.acquire().await.unwrap();
    write(&mut db, vec![team("research"), team("speech"), rule(9, "", "", Target::Labels)]).await;
    let app = TestApp::of(&ledger);
    let mut admin = app.signed_in(Role::Admin).await;
    let mut lead = app.signed_in(Role::Lead).await;
    let sheet = "/organization/teams";
    let page = admin.get(sheet).await.body;
    let place = html::texts(&page, "tbody a").iter().position(|name| name == "speech").unwrap();
    let entry = html::attributes(&page, "tbody a", "href")[place].clone();
    let fields = [("name", "Speech"), ("parent", "research"), ("do", "save")];
    assert_eq!(admin.submit(sheet, &entry, &fields).await.status, StatusCode::SEE_OTHER);
    let step = admin.json("/chargeback/2026-09.json").await["sequence"].as_i64().unwrap();
    let addresses = [
        "/chargeback/2026-09",
        "/teams/research/2026-09",
        "/teams/research/2026-09/statement",
        "/teams/speech/2026-09",
        "/spend/2026-09?by=team",
        "/spend/2026-09?by=account&team=speech",
        "/charges/2026-09",
        "/variance/2026-09",
        "/experiments/during/2026-09",
    ]
    .map(|address| format!("{address}{}sequence={step}", if address.contains('?') { '&' } else { '?' }));
    let described = async |browser: &mut TestApp| {
        let mut described = Vec::new();
        for address in &addresses {
            for suffix in ["", ".json", ".csv"] {
                let (path, query) = address.split_once('?').unwrap();
                let answer = browser.get(&format!("{path}{suffix}?{query}")).await;
                let is_told = ["31337", "31,337", "31437", "31,437", "a-secret"]
                    .iter()
                    .any(|secret| answer.body.contains(secret));
                described.extend(is_told.then(|| format!("{path}{suffix}")));
            }
        }
        described
    };
    // While it holds, its lead reads it.
    let read = described(&mut lead).await;
    assert!(read.len() > 12, "{read:?}");
    let change = html::attributes(&admin.get("/changes").await.body, "tbody th a", "href").remove(0);
    let undone = admin.submit(sheet, &decide(&change, "undo"), &[]).await;
    assert_eq!(undone.status, StatusCode::SEE_OTHER);
    assert_eq!(described(&mut lead).await, Vec::<String>::new());
    // Who sees everything reads each step as it was.
    assert!(described(&mut admin).await.len() > 12);
    let it = admin.json(&format!("/teams/research/2026-09.json?sequence={step}")).await;
    assert_eq!(decimal(&it["total"]["amount"]), Decimal::from(31_437));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_team_that_begins_later_is_not_said_to_have_cost_nothing(db: PgPool) {
    let ledger = TestLedger::new(db);
    for month in ["2026-08", "2026-09"] {
        let bill = Focus::new().hour("acme", "a1", &format!("{month}-05T10"), "100", "research");
        ledger.deliver(&format!("{month}.csv"), &bill).await;
    }
    let mut db = ledger.db.acquire().await.unwrap();
    let months = Months { first: Some("2026-09".parse().unwrap()), last: None };
    let research = Team { handle: "research".into(), name: "Research".into(), months, ..Team::default() };
    write(&mut db, vec![Entry::Team(research), team("other"), rule(9, "", "", Target::Labels)]).await;
    let app = TestApp::of(&ledger);
    let (mut finance, mut lead) = (app.signed_in(Role::Finance).await, app.signed_in(Role::Lead).await);
    for (browser, why) in
        [(&mut finance, "The organization has no team of this name"), (&mut lead, "not one of yours")]
    {
        for page in ["/teams/research/2026-08", "/teams/research/2026-08/statement"] {
            let said = html::text(&browser.get(page).await.body, ".empty");
            assert!(
                said.starts_with("Research does not exist in August 2026") && said.contains(why),
                "{said}"
            );
        }
        let page = browser.get("/teams/research/2026-08..2026-09").await.body;
        assert!(
            html::texts(&page, "p.data-status").join(" ").contains("Includes September 2026 only"),
            "{page}"
        );
        // What a lead sees of August is less, and no price has changed by that.
        let page = browser.get("/variance/2026-09").await.body;
        let said = html::texts(&page, "p.data-status").join(" ");
        assert_eq!(said.contains("Teams joined or left"), why == "not one of yours", "{said}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_team_that_was_charged_nothing_is_told_of_a_late_bill(db: PgPool) {
    let ledger = TestLedger::new(db);
    let bill = |month: &str| {
        let day = format!("{month}-05T10");
        Focus::new().hour("acme", "a1", &day, "100", "").hour("acme", "a2", &day, "40", "")
    };
    let mut db = ledger.db.acquire().await.unwrap();
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let restated = async |finance: &mut TestApp, team: &str, month: &str| {
        finance.json(&format!("/teams/{team}/{month}/statement.json")).await["restated"].clone()
    };
    let none = Value::Array(Vec::new());
    // Teams and bills come before rules, and one rule before another: what was charged then was no statement.
    write(&mut db, vec![team("vision"), team("speech"), team("research")]).await;
    ledger.deliver("september.csv", bill("2026-09").invoiced()).await;
    for (account, team) in [("a1", "vision"), ("a2", "speech"), ("a3", "research")] {
        write(&mut db, vec![rule(9, "account", account, crate::support::configuration::to_team(team))]).await;
    }
    for team in ["vision", "speech", "research"] {
        assert_eq!(restated(&mut finance, team, "2026-09").await, none, "{team}");
    }
    // Now they are there when a bill is final, and who was charged nothing hears of what comes later.
    ledger.deliver("october.csv", bill("2026-10").invoiced()).await;
    let late = bill("2026-10").hour("acme", "a3", "2026-10-06T10", "5", "");
    ledger.deliver("late.csv", late.invoiced()).await;
    let described = restated(&mut finance, "research", "2026-10").await;
    assert_eq!(
        ["was", "now", "difference"].map(|figure| decimal(&described[0][figure])),
        ["0", "5", "5"].map(|text| text.parse::<Decimal>().unwrap())
    );
    assert_eq!(described[0]["causes"][0]["title"], "late.csv");
    assert_eq!(restated(&mut finance, "vision", "2026-10").await, none);
    let page = finance.get("/teams/research/2026-10").await.body;
    assert!(page.contains("was 0.00 when its bills were final and is 5.00 now"), "{page}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_part_of_a_shared_cost_changes_with_all_of_it_or_with_the_share(db: PgPool) {
    let ledger = ledger(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let it = finance.json("/teams/vision/2026-09.json").await;
    let movements = it["shared_movements"].as_array().unwrap();
    assert_eq!(movements.len(), 2);
    for movement in movements {
        // Everything is twice what it was, and so are the shares of it the same.
        assert_eq!(decimal(&movement["by_total"]), decimal(&movement["change"]), "{movement}");
        assert_eq!(decimal(&movement["by_share"]), Decimal::ZERO);
        assert_eq!(decimal(&movement["pool_cost"]), decimal(&movement["pool_previous"]).times(2));
    }
    let page = finance.get("/teams/vision/2026-09").await.body;
    let why = html::text(&page, "#why");
    assert!(why.contains("Shared: support") && why.contains("total cost +"), "{why}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_team_is_charged_the_same_on_every_page_and_file(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut db = ledger.db.acquire().await.unwrap();
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let mut written: Vec<(i64, Entry)> = Vec::new();
    for seed in 100..104 {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let month = 8 + u32::try_from(seed % 2).unwrap();
        ledger.deliver(&format!("{seed}.csv"), &exact::bill(&mut chance, month)).await;
        exact::surroundings(&mut db, &mut chance).await;
        let entries = exact::organization(&mut chance);
        let ids = changes::entry_ids(&mut db, entries.len()).await.unwrap();
        let gone = written.drain(..).map(|(id, entry)| Edit { id, before: Some(entry), after: None });
        let come = ids.iter().zip(&entries);
        let come = come.map(|(id, entry)| Edit { id: *id, before: None, after: Some(entry.clone()) });
        change(&mut db, gone.chain(come).collect()).await;
        written = ids.into_iter().zip(entries).collect();
        for (period, query) in [
            ("2026-09", "?currency=USD"),
            ("2026-08..2026-09", "?currency=USD&cost=billed"),
            ("2026-Q3", "?in=USD"),
        ] {
            let all = finance.json(&format!("/chargeback/{period}.json{query}")).await;
            let csv = rows(&finance.get(&format!("/chargeback/{period}.csv{query}")).await.body);
            let page = finance.get(&format!("/chargeback/{period}{query}")).await.body;
            let shown = html::texts(&page, "tbody td:nth-of-type(3)");
            let lines = all["teams"].as_array().unwrap();
            assert_eq!(sum(&all["teams"], |it| &it["stated"]["total"]), decimal(&all["stated"]["total"]));
            // In one of the months nothing was billed yet.
            let amount = |it: &Value| {
                it["total"]["amount"].as_str().map_or(Decimal::ZERO, |text| text.parse().unwrap())
            };
            let total = amount(&all);
            for (page, list, cost) in [
                (format!("/spend/{period}"), "groups", "/cost/amount"),
                (format!("/experiments/during/{period}"), "experiments", "/cost"),
            ] {
                let of = format!("seed {seed}, {page}{query}");
                let it = finance.json(&format!("{page}.json{query}")).await;
                assert_eq!(amount(&it), total, "{of}");
                assert_eq!(sum(&it[list], |line| line.pointer(cost).unwrap()), total, "{of}");
                let csv = rows(&finance.get(&format!("{page}.csv{query}")).await.body);
                let costs = csv.iter().map(|row| row["cost"].parse::<Decimal>().unwrap());
                assert_eq!(costs.sum::<Decimal>(), total, "{of}");
            }
            let of_nobody = finance.json(&format!("/unallocated/{period}.json{query}")).await;
            assert_eq!(decimal(&of_nobody["stated"]["total"]), decimal(&all["stated"]["total"]));
            for ((line, row), shown) in lines.iter().zip(&csv).zip(shown) {
                let stated = decimal(&line["stated"]["total"]);
                let of = format!("seed {seed}, {}, {period}{query}", line["name"]);
                let read = |text: &str| -> Decimal {
                    let text = text.replace(',', "").replace('−', "-").replace('–', "0");
                    text.parse().unwrap_or_else(|_| panic!("{of}: {text}"))
                };
                assert_eq!(read(&shown), stated, "{of}");
                assert_eq!(read(&row["stated"]), stated, "{of}");
                let Some(team) = line["team"].as_str() else { continue };
                let page = finance.json(&format!("/teams/{team}/{period}.json{query}")).await;
                // Its page and its statement are about the teams inside it, too.
                let has_teams_inside = !line["stated_with_teams_inside"].is_null();
                let stated = if has_teams_inside {
                    let own = page["by_team"].as_array().unwrap().iter().find(|it| it["key"] == *team);
                    let own = own.map(|own| decimal(&own["cost"]["amount"])).unwrap_or_default();
                    assert_eq!(own, decimal(&line["cost"]), "{of}");
                    decimal(&line["stated_with_teams_inside"])
                } else {
                    for part in ["total", "direct", "shared"] {
                        assert_eq!(
                            decimal(&page["stated"][part]),
                            decimal(&line["stated"][part]),
                            "{of} {part}"
                        );
                    }
                    stated
                };
                assert_eq!(decimal(&page["stated"]["total"]), stated, "{of}");
                let statement = format!("/teams/{team}/{period}/statement");
                let it = finance.json(&format!("{statement}.json{query}")).await;
                for figure in ["direct", "shared"] {
                    assert_eq!(decimal(&it[figure]), decimal(&page["stated"][figure]), "{of} {figure}");
                }
                // It was charged something in the period before alone.
                if it["total"].is_null() {
                    assert!(stated.is_zero(), "{of}");
                    continue;
                }
                assert_eq!(decimal(&it["total"]["amount"]), stated, "{of}");
                let csv = rows(&finance.get(&format!("{statement}.csv{query}")).await.body);
                assert_eq!(read(&csv.last().unwrap()["amount"]), stated, "{of}");
            }
        }
    }
}
