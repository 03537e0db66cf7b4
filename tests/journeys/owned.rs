//! An organization rents machines and has some of its own: cloud GPU-hours and on-prem GPU-hours are distinguished on every page.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::allocation::{self, Entry, Hours, HoursOf, Split, Target};
use gpuledger::money::Decimal;
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::configuration::{pool, rule, team, to_pool, write};
use crate::support::json::decimal;
use crate::support::{Focus, TestApp, TestLedger, gpuledger, html};

const MACHINE: &str = r#""{""InstanceType"":""8xH100"",""GpuCount"":8}""#;

/// A charge of September without a day of its own, billed and effective cost apart.
fn line(
    category: &str,
    service: &str,
    machine: &str,
    quantity: &str,
    costs: [&str; 2],
    tags: &str,
) -> String {
    let [billed, effective] = costs;
    let tags = tags.replace('"', "\"\"");
    format!(
        "NeoCloud,acme,,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,2026-09-08T00:00:00Z,2026-09-09T00:00:00Z,{category},\
         Standard,{service},Compute,{service},eu-1,,{machine},{quantity},Hours,{billed},{effective},{effective},{effective},USD,\
         \"{tags}\",NeoCloud,NeoCloud"
    )
}

/// Rented: 8 hours of vision's for 30, 200 of nlp's for 330. Owned: a node for a day, 192 hours of vision's, and what it
/// costs to have it, 1,000.
async fn ledger(db: PgPool) -> TestLedger {
    let ledger = TestLedger::new(db);
    ledger.deliver("august.csv", &Focus::new().hour("acme", "s1", "2026-08-05T10", "40", "vision")).await;
    let rented = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "30", "vision")
        .labelled("experiment", "seg")
        .hour("acme", "s2", "2026-09-06T11", "30", "nlp")
        .line(&line("Usage", "GPU Cloud", MACHINE, "24", ["300", "300"], r#"{"team":"nlp"}"#));
    ledger.deliver("rented.csv", &rented).await;
    let node = line("Usage", "Nodes", MACHINE, "24", ["0", "0"], r#"{"team":"vision","experiment":"seg"}"#);
    let owned = Focus::new()
        .line(&node)
        .line(&line("Purchase", "Nodes", "", "", ["280000", "0"], "{}"))
        .line(&line("Usage", "Depreciation", "", "", ["0", "900"], "{}"))
        .line(&line("Usage", "Energy", "", "", ["60", "60"], "{}"))
        .line(&line("Purchase", "Staff", "", "", ["40", "40"], "{}"));
    ledger.deliver("owned.csv", owned.owned()).await;
    ledger
}

/// Teams share what it costs to have machines by accelerator-hours. Answers the number of the pool.
async fn allocate(ledger: &TestLedger) -> i64 {
    let racks = pool("racks", Split::AcceleratorHours(Hours::default()));
    let mut entries = vec![team("vision"), team("nlp"), Entry::Pool(racks)];
    for (place, service) in [(1, "Depreciation"), (2, "Energy"), (3, "Staff")] {
        entries.push(rule(place, "service", service, to_pool("racks")));
    }
    entries.push(rule(4, "", "", Target::Labels));
    write(&mut ledger.db.acquire().await.unwrap(), entries).await[2]
}

/// What a group costs, its cloud GPU-hours and what each cost, its on-prem GPU-hours.
fn figures(groups: &Value) -> Vec<Value> {
    let figures = |group: &Value| {
        let cost = group["cost"].get("amount").unwrap_or(&group["cost"]).as_str().unwrap();
        let cost = cost.parse::<Decimal>().unwrap().normalize();
        let name = group.get("label").unwrap_or(&group["name"]);
        let price = &group["cost_per_accelerator_hour"];
        json!([name, cost, group["accelerator_hours"], price, group["owned_hours"]])
    };
    groups.as_array().unwrap().iter().map(figures).collect()
}

async fn by(app: &mut TestApp, by: &str) -> Vec<Value> {
    let answer = app.json(&format!("/spend/2026-09.json?by={by}")).await;
    let price = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    assert_eq!(
        (&answer["accelerator_hours"], &answer["owned_hours"]),
        (&json!("208"), &json!("192")),
        "{by}"
    );
    assert_eq!(price("cost_per_accelerator_hour"), "1.730769", "360 for 208 hours, by {by}");
    assert_eq!(price("cost_per_owned_hour"), "5.208333", "1000 for 192 hours, by {by}");
    figures(&answer["groups"])
}

/// What is the same whether the month is allocated or not.
async fn by_charge(app: &mut TestApp) {
    assert_eq!(
        by(app, "accelerator").await,
        [json!(["No accelerator", "1000", "0", null, "0"]), json!(["H100", "360", "208", "1.730769", "192"])]
    );
    let of_pricing =
        [json!(["Owned", "1000", "0", null, "192"]), json!(["On demand", "360", "208", "1.730769", "0"])];
    assert_eq!(by(app, "pricing").await, of_pricing);
    assert_eq!(by(app, "provider").await[1], json!(["NeoCloud", "360", "208", "1.730769", "0"]));
    let of_day = |days: Vec<Value>| days.into_iter().find(|day| day[0] == "2026-09-08").unwrap();
    assert_eq!(of_day(by(app, "day").await), json!(["2026-09-08", "1300", "192", "1.562500", "192"]));
    // What only charges know.
    let nodes = by(app, "resource").await;
    assert_eq!(nodes.iter().filter(|node| node[2] == "8").count(), 2, "{nodes:?}");
    assert_eq!(by(app, "tag:team").await.last().unwrap(), &json!(["vision", "30", "8", "3.750000", "192"]));
    let only = app.json("/spend/2026-09.json?pricing=Standard").await;
    assert_eq!((&only["owned_hours"], &only["cost_per_owned_hour"]), (&json!("0"), &Value::Null));
    // What they cost stays what it is, whatever chooses among their hours and whatever they are grouped by.
    for filter in
        ["accelerator=H100", "pricing=Owned", "provider=On-premises", "service=Nodes", "tag:team=vision"]
    {
        let only = app.json(&format!("/spend/2026-09.json?{filter}")).await;
        assert_eq!(
            (&only["owned_hours"], &only["cost_per_owned_hour"]),
            (&json!("192"), &json!("5.208333")),
            "{filter}"
        );
    }
    for by in [
        "accelerator",
        "provider",
        "pricing",
        "service",
        "account",
        "region",
        "category",
        "tag:team",
        "resource",
        "month",
    ] {
        let answer = app.json(&format!("/spend/2026-09.json?by={by}")).await;
        let groups = answer["groups"].as_array().unwrap();
        for group in groups {
            let price = if group["owned_hours"] == "0" { Value::Null } else { json!("5.208333") };
            assert_eq!(group["cost_per_owned_hour"], price, "{by}, {}", group["label"]);
        }
        assert!(groups.iter().any(|group| !group["cost_per_owned_hour"].is_null()), "{by}");
    }
    let billed = app.json("/spend/2026-09.json?cost=billed").await;
    assert_eq!((&billed["owned_hours"], &billed["cost_per_owned_hour"]), (&json!("192"), &Value::Null));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn hours_owned_are_a_column_of_their_own(db: PgPool) {
    let ledger = ledger(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    by_charge(&mut finance).await;

    let page = finance.get("/spend/2026-09?by=pricing").await.body;
    let described = html::texts(&page, "dl.figures > div");
    for (label, figure) in
        [("Cloud GPU-hours", "208.0"), ("On-prem GPU-hours", "192.0"), ("Per on-prem GPU-hour", "USD5.21")]
    {
        let is_it = |text: &String| text.starts_with(label) && text.ends_with(figure);
        assert!(described.iter().any(is_it), "{label}: {described:?}");
    }
    assert_eq!(
        html::texts(&page, "#groups thead th.num")[2..5],
        ["Cloud GPU-hours", "Per hour", "On-prem GPU-hours"]
    );
    insta::assert_snapshot!(finance.get("/spend/2026-09.csv?by=pricing").await.body, @r"
    key,label,cost,currency,accelerator_hours,owned_hours,share,previous,cost_per_accelerator_hour,cost_per_owned_hour
    Owned,Owned,1000,USD,0,192,0.735294,0,,5.208333
    Standard,On demand,360,USD,208,0,0.264706,40,1.730769,
    ");
    // Where there is nothing of one's own nobody is told of it.
    for address in ["/spend/2026-08", "/spend/2026-09?provider=NeoCloud"] {
        let page = finance.get(address).await.body;
        assert!(page.contains("Cloud GPU-hours") && !page.contains("owned"), "{address}");
    }
    let overview = finance.get("/overview").await;
    assert_eq!(overview.status, StatusCode::OK, "{}", overview.location());
    assert!(
        html::texts(&overview.body, "dl.figures > div").contains(&"Per on-prem GPU-hourUSD5.21".to_owned())
    );
    let heads = html::texts(&overview.body, "#accelerators thead th");
    assert_eq!(heads.iter().filter(|head| *head == "On-prem GPU-hours").count(), 2, "{heads:?}");
    let url = ledger.db.connect_options().to_url_lossy();
    let asked = ["report", "spend", "--period", "2026-09", "--by", "pricing"];
    let output = gpuledger(tempfile::tempdir().unwrap().path(), Some(url.as_str()), &asked).output().unwrap();
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @r"
    2026-09 effective by pricing, USD
                 1000.00             0.0 h           192.0 h owned  Owned
                  360.00           208.0 h             0.0 h owned  On demand
                 1360.00           208.0 h           192.0 h owned  total
    ");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn who_is_charged_is_told_of_both(db: PgPool) {
    let ledger = ledger(db).await;
    allocate(&ledger).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    by_charge(&mut finance).await;

    // The racks are shared by all 400 hours, rented or not: 200 each.
    let of_teams = [
        json!(["Nlp", "830", "200", "1.650000", "0"]),
        json!(["Vision", "530", "8", "3.750000", "192"]),
        json!(["Unallocated", "0", "0", null, "0"]),
    ];
    assert_eq!(by(&mut finance, "team").await, of_teams);
    let chargeback = finance.json("/chargeback/2026-09.json").await;
    assert_eq!(figures(&chargeback["teams"]), of_teams);
    assert_eq!(
        (&chargeback["owned_hours"], &chargeback["cost_per_owned_hour"]),
        (&json!("192"), &json!("5.208333"))
    );
    let csv = finance.get("/chargeback/2026-09.csv").await.body;
    assert!(csv.contains(",accelerator_hours,owned_hours,cost_per_accelerator_hour,"), "{csv}");
    assert!(csv.contains(",8,192,3.750000,"), "{csv}");
    assert!(finance.get("/chargeback/2026-09").await.body.contains("On-prem GPU-hours"));

    let vision = finance.json("/teams/vision/2026-09.json").await;
    assert_eq!((&vision["accelerator_hours"], &vision["owned_hours"]), (&json!("8"), &json!("192")));
    assert_eq!(vision["cost_per_accelerator_hour"], "3.750000");
    assert_eq!(vision["cost_per_owned_hour"], "2.604167", "half of 1000 for 192 hours");
    assert_eq!(vision["organization_cost_per_owned_hour"], "5.208333");
    assert_eq!(vision["direct"]["owned_hours"], "192");
    let page = finance.get("/teams/vision/2026-09").await.body;
    let described = html::texts(&page, "dl.figures > div");
    assert!(described.contains(&"Per on-prem GPU-hourUSD2.60 organization 5.21".to_owned()), "{described:?}");
    let csv = finance.get("/teams/vision/2026-09.csv").await.body;
    assert!(csv.contains("direct,pricing,Owned,Owned,0,USD,0.000000,0,0,192,"), "{csv}");

    let statement = finance.json("/teams/vision/2026-09/statement.json").await;
    let direct = &statement["teams"][0]["direct"][0];
    assert_eq!((&direct["accelerator_hours"], &direct["owned_hours"]), (&json!("8"), &json!("192")));
    let racks = &statement["teams"][0]["shared"][0];
    assert_eq!((&racks["weight"], &racks["sum_of_weights"]), (&json!("200.000000"), &json!("400.000000")));
    assert_eq!(racks["weighs"], "accelerator-hours, paid for and owned alike");
    let page = finance.get("/teams/vision/2026-09/statement").await.body;
    assert!(page.contains("On-prem GPU-hours") && page.contains("cloud and on-prem GPU-hours"));
    let csv = finance.get("/teams/vision/2026-09/statement.csv").await.body;
    assert!(
        csv.lines().last().unwrap().starts_with("vision,total,Total,,,8,192,")
            || csv.contains(",total,Total,,,8,192,"),
        "{csv}"
    );
    assert!(finance.get("/shared-costs").await.body.contains("have the same weight"));

    // Of a team an hour costs what its part of the racks amounts to, by the table as by its page.
    let teams = finance.json("/spend/2026-09.json?by=team").await;
    let price = |of: &str| {
        let team = teams["groups"].as_array().unwrap().iter().find(|it| it["key"] == of).unwrap();
        team["cost_per_owned_hour"].clone()
    };
    assert_eq!((price("vision"), price("nlp")), (json!("2.604167"), Value::Null));
    let only = finance.json("/spend/2026-09.json?by=team&accelerator=H100").await;
    let vision = only["groups"].as_array().unwrap().iter().find(|it| it["key"] == "vision").unwrap();
    assert_eq!(vision["cost_per_owned_hour"], "2.604167");
    let only = finance.json("/spend/2026-09.json?team=vision&accelerator=H100").await;
    assert_eq!(only["cost_per_owned_hour"], "2.604167");

    // What it costs to have the node is in the shared cost, and the experiment's hours cost what they cost everyone.
    let seg = finance.json("/experiments/seg.json").await;
    assert_eq!((&seg["accelerator_hours"], &seg["owned_hours"]), (&json!("8"), &json!("192")));
    assert_eq!(
        (&seg["cost_per_accelerator_hour"], &seg["cost_per_owned_hour"]),
        (&json!("3.750000"), &json!("5.208333"))
    );
    assert_eq!(seg["spot_share"], "0");
    let of_machine =
        |machine: &Value| json!([machine["provider"], machine["accelerator_hours"], machine["owned_hours"]]);
    let machines: Vec<Value> = seg["machines"].as_array().unwrap().iter().map(of_machine).collect();
    assert_eq!(machines, [json!(["NeoCloud", "8", "0"]), json!(["On-premises", "0", "192"])]);
    for (address, cells) in [
        ("/experiments/seg.csv", "2026-09,30,USD,8,192,3.750000,"),
        ("/experiments/compare.csv?experiment=seg", ",30,USD,8,192,3.750000,5.208333,"),
        ("/experiments/during/2026-09.csv", ",8,192,3.750000,"),
    ] {
        let csv = finance.get(address).await.body;
        assert!(csv.contains(cells), "{address}: {csv}");
        assert!(
            finance.get(&address.replacen(".csv", "", 1)).await.body.contains("On-prem GPU-hours"),
            "{address}"
        );
    }
    let equations = allocation::check(&mut ledger.db.acquire().await.unwrap()).await.unwrap();
    assert!(equations.iter().all(|equation| equation.holds), "{equations:#?}");
}

/// What an hour owned costs a team by each part, and everyone by the same.
fn parts(price: &Value) -> Vec<Value> {
    let part = |part: &Value| {
        let cost = decimal(&part["cost"]).normalize();
        json!([part["pool"], part["label"], cost, part["per_hour"], part["organization_per_hour"]])
    };
    price["parts"].as_array().unwrap().iter().map(part).collect()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn who_only_rents_pays_none_of_a_pool_that_is_divided_by_hours_owned(db: PgPool) {
    let ledger = ledger(db).await;
    let racks = allocate(&ledger).await;
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let hint = "All of this is the cost of on-prem machines, and Nlp pays a share without using them.";
    let pools = admin.get("/shared-costs").await.body;
    assert!(html::text(&pools, "main").contains(hint), "{}", html::text(&pools, "main"));
    let vision = admin.json("/teams/vision/2026-09.json").await;
    let part = json!(["racks", "racks", "500", "2.604167", "5.208333"]);
    assert_eq!(parts(&vision["owned_price"]), [part], "half of what it costs everyone");

    let form = format!("/shared-costs/{racks}");
    for (by, account) in [("owned-hours", ""), ("paid-hours", "s2"), ("owned-hours", "west")] {
        let fields = [("name", "racks"), ("by", by), ("account", account), ("reason", "whose they are")];
        let preview = admin.submit(&form, &form, &fields).await;
        assert_eq!(preview.status, StatusCode::SEE_OTHER, "{}", html::text(&preview.body, "main"));
        let preview = admin.get(preview.location()).await.body;
        let apply = html::attributes(&preview, "form[action$='/apply']", "action")[0].clone();
        let applied = admin.submit("/shared-costs", &apply, &[("reason", "whose they are")]).await;
        assert_eq!(applied.status, StatusCode::SEE_OTHER, "{}", html::text(&applied.body, "main"));
        let page = admin.get(&form).await.body;
        assert_eq!(html::attributes(&page, "[name=by][checked]", "value"), [by]);
        assert_eq!(html::attributes(&page, "#account", "value"), [account]);
        let teams = admin.json("/chargeback/2026-09.json").await;
        let described = html::text(&admin.get("/shared-costs").await.body, "main");
        assert!(!described.contains("All of this is"), "{described}");
        let expected = match (by, account) {
            (_, "west") => {
                assert!(
                    described.contains("no team that takes part has on-prem GPU-hours of west"),
                    "{described}"
                );
                [("Unallocated", "1000"), ("Nlp", "330"), ("Vision", "30")]
            }
            ("paid-hours", _) => {
                assert!(described.contains("Divided by cloud GPU-hours of s2."), "{described}");
                [("Nlp", "1330"), ("Vision", "30"), ("Unallocated", "0")]
            }
            _ => {
                assert!(described.contains("Only on-prem GPU-hours count"), "{described}");
                by_hours_owned(&mut admin).await;
                [("Vision", "1030"), ("Nlp", "330"), ("Unallocated", "0")]
            }
        };
        let costs: Vec<Value> =
            figures(&teams["teams"]).iter().map(|team| json!([team[0], team[1]])).collect();
        assert_eq!(costs, expected.map(|(name, cost)| json!([name, cost])), "{by} {account}");
        let equations = allocation::check(&mut ledger.db.acquire().await.unwrap()).await.unwrap();
        assert!(equations.iter().all(|equation| equation.holds), "{equations:#?}");
    }
}

/// All of the racks is vision's.
async fn by_hours_owned(app: &mut TestApp) {
    let vision = app.json("/teams/vision/2026-09.json").await;
    assert_eq!(vision["cost_per_owned_hour"], vision["organization_cost_per_owned_hour"]);
    assert_eq!(
        parts(&vision["owned_price"]),
        [json!(["racks", "racks", "1000", "5.208333", "5.208333"])],
        "the node itself costs nothing"
    );
    let page = app.get("/teams/vision/2026-09").await.body;
    assert_eq!(
        html::text(&page, "#owned summary"),
        "Why an on-prem GPU-hour costs Vision 5.21 and the organization 5.21"
    );
    assert_eq!(
        html::texts(&page, "#owned tfoot tr > *"),
        ["By 192.0 on-prem GPU-hours", "1,000.00", "5.208333", "5.208333", "–"]
    );
    let nlp = app.json("/teams/nlp/2026-09.json").await;
    assert_eq!((&nlp["owned_price"], &nlp["shared_costs"]), (&Value::Null, &json!([])));
    assert!(!app.get("/teams/nlp/2026-09").await.body.contains("Why an on-prem GPU-hour"));
    let billed = app.json("/teams/vision/2026-09.json?cost=billed").await;
    assert_eq!(billed["owned_price"], Value::Null);

    let statement = app.json("/teams/vision/2026-09/statement.json").await;
    let racks = &statement["teams"][0]["shared"][0];
    assert_eq!((&racks["weight"], &racks["sum_of_weights"]), (&json!("192.000000"), &json!("192.000000")));
    assert_eq!((&racks["split"], &racks["unit"]), (&json!("by hours owned"), &json!("hours owned")));
    assert_eq!(racks["weighs"], "hours of the organization’s own accelerators");
    let page = app.get("/teams/vision/2026-09/statement").await.body;
    assert!(page.contains("192 of 192 hours owned"), "{}", html::text(&page, "main"));
    let csv = app.get("/teams/vision/2026-09/statement.csv").await.body;
    assert!(
        csv.contains("by hours owned,hours of the organization’s own accelerators,,192.000000,192.000000,"),
        "{csv}"
    );
}

/// Two teams with machines of their own that cost differently, and a part of one of them is nobody's.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_an_hour_owned_costs_is_told_part_by_part(db: PgPool) {
    let ledger = TestLedger::new(db);
    let node = |service: &str, hours: &str, cost: &str, team: &str| {
        let tags = format!(r#"{{"team":"{team}"}}"#);
        line("Usage", service, MACHINE, hours, ["0", cost], &tags)
    };
    let owned = Focus::new()
        .line(&node("Depreciation", "3", "100", "vision"))
        .line(&line("Usage", "Depreciation", "", "", ["0", "7"], r#"{"team":"vision"}"#))
        .line(&node("Depreciation", "1", "20", "nlp"))
        .line(&node("Lease", "1", "9", "nlp"))
        .line(&line("Usage", "Energy", "", "", ["60", "60"], "{}"));
    ledger.deliver("owned.csv", owned.owned()).await;
    let racks = pool("racks", Split::AcceleratorHours(Hours { of: HoursOf::Owned, account: None }));
    let entries = vec![
        team("vision"),
        team("nlp"),
        Entry::Pool(racks),
        rule(1, "service", "Energy", to_pool("racks")),
        rule(2, "", "", Target::Labels),
    ];
    write(&mut ledger.db.acquire().await.unwrap(), entries).await;
    let mut app = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let vision = app.json("/teams/vision/2026-09.json").await;
    let price = &vision["owned_price"];
    // 24 of 40 hours; everyone 196 for 40.
    assert_eq!(
        parts(price),
        [
            json!([null, "Depreciation, H100", "100", "4.166667", null]),
            json!([null, "Depreciation", "7", "0.291666", null]),
            json!(["racks", "racks", "36", "1.500000", "1.500000"]),
        ]
    );
    // Everyone's in one figure: by its parts one could compute what the other team's machines cost.
    assert_eq!(
        (&price["direct"]["per_hour"], &price["direct"]["organization_per_hour"]),
        (&json!("4.458333"), &json!("3.400000"))
    );
    assert_eq!(
        (&price["per_hour"], &price["organization_per_hour"]),
        (&json!("5.958333"), &json!("4.900000"))
    );
    assert_eq!(price["per_hour"], vision["cost_per_owned_hour"]);
    let sum = |name: &str| -> Decimal {
        let parts = price["parts"].as_array().unwrap().iter();
        parts.map(|part| decimal(&part[name])).sum()
    };
    for (part, whole) in [("per_hour", "per_hour"), ("cost", "cost"), ("stated", "cost")] {
        assert_eq!(sum(part), decimal(&price[whole]), "{part}");
    }
    let page = app.get("/teams/vision/2026-09").await.body;
    assert_eq!(
        html::texts(&page, "#owned tbody tr:first-child > *"),
        ["Depreciation, H100", "100.00", "4.166667", "", ""]
    );
    assert_eq!(
        html::texts(&page, "#owned tbody tr:nth-child(3) > *"),
        ["Direct, total", "107.00", "4.458333", "3.400000", "1.058333"]
    );
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_nobody_owns_is_told_with_both_hours_and_labels_too(db: PgPool) {
    let ledger = ledger(db).await;
    write(&mut ledger.db.acquire().await.unwrap(), vec![team("nlp"), rule(1, "", "", Target::Labels)]).await;
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let unallocated = admin.json("/unallocated/2026-09.json").await;
    let hours = |key: &Value| json!([key["pricing"], key["accelerator_hours"], key["owned_hours"]]);
    let keys: Vec<Value> = unallocated["keys"].as_array().unwrap().iter().map(hours).collect();
    assert!(keys.contains(&json!(["Owned", "0", "192"])), "{keys:?}");
    assert!(keys.contains(&json!(["Standard", "8", "0"])), "{keys:?}");
    let csv = admin.get("/unallocated/2026-09.csv").await.body;
    assert!(csv.contains(",accelerator_hours,owned_hours,") && csv.contains(",0,USD,0,192,"), "{csv}");
    assert!(admin.get("/unallocated/2026-09").await.body.contains("On-prem GPU-hours"));

    let labels = admin.json("/labels/experiment.json?month=2026-09").await;
    assert_eq!(
        (&labels["lines"][0]["accelerator_hours"], &labels["lines"][0]["owned_hours"]),
        (&json!("8"), &json!("192"))
    );
    assert!(admin.get("/labels/experiment?month=2026-09").await.body.contains("On-prem GPU-hours"));
}
