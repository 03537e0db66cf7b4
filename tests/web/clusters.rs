//! Clusters: entered, published month by month, corrected, undone; proposed and decided; loaded from files.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use gpuledger::accounts::Role;
use gpuledger::changes::{self, Document as _, Entry as _};
use gpuledger::onprem::{self, Entry, Kind};
use gpuledger::web;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::app::Answer;
use crate::support::configuration::{rule, team, to_team, write};
use crate::support::{TestApp, TestLedger, html};

/// One node of eight for 360,000 over three years, and its energy.
pub const START: &[(&str, &str)] = &[
    ("name", "H100 East"),
    ("site", "Frankfurt"),
    ("since", "2026-09-01"),
    ("system", "hgx-h100"),
    ("was", "hgx-h100"),
    ("nodes", "1"),
    ("spares", "0"),
    ("node_price", "360000"),
    ("network_price", "0"),
    ("pue", "1.25"),
    ("price_per_kwh", "0.10"),
    ("fte", "0"),
    ("maintenance", "0"),
    ("downtime", "0"),
    ("utilization", "100"),
];

pub async fn entered(app: &mut TestApp) {
    let answer = app.submit("/clusters/new", "/clusters/new", START).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", html::text(&answer.body, "main"));
}

/// How September stands, and what of it is counted and computed.
pub async fn september(app: &mut TestApp) -> Value {
    let month = app.json("/clusters/h100-east/2026-09.json").await;
    let amounts = |name: &str| -> Vec<String> {
        let amounts = month[name].as_array().unwrap().iter();
        amounts.map(|it| it["amount"].as_str().unwrap().to_owned()).collect()
    };
    json!([month["state"], amounts("counts"), amounts("reckoned"), month["revision"]])
}

pub async fn publish(app: &mut TestApp, cluster: &str, month: &str) -> Answer {
    let address = format!("/clusters/{cluster}/publish");
    let answer = app.submit("/clusters/new", &address, &[("month", month)]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    app.run_jobs().await;
    answer
}

/// An entry of the asset register, with its number.
async fn find(app: &TestApp, title: &str) -> (i64, Entry) {
    let mut db = app.db.acquire().await.unwrap();
    let (_, asset_register) = onprem::AssetRegister::current(&mut db).await.unwrap();
    let found = asset_register.entries.into_iter().find(|(_, entry)| entry.title() == title);
    found.unwrap_or_else(|| panic!("no {title}"))
}

/// Sends the form of an entry with this changed.
pub async fn change(app: &mut TestApp, title: &str, changed: &[(&str, &str)]) -> Answer {
    let (id, entry) = find(app, title).await;
    let mut texts = onprem::cells(&entry);
    for (name, value) in changed {
        texts.insert((*name).to_owned(), (*value).to_owned());
    }
    let fields: Vec<(&str, &str)> =
        texts.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let address = format!("/asset-register/entries/{id}");
    app.submit(&address, &address, &fields).await
}

/// Costs of September by what they are grouped by, the largest first, with on-prem GPU-hours in all.
async fn spend(app: &mut TestApp, by: &str) -> Value {
    let answer = app.json(&format!("/spend/2026-09.json?by={by}")).await;
    let groups: Vec<Value> = answer["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| json!([group["label"], group["cost"]["amount"]]))
        .collect();
    json!([groups, answer["owned_hours"]])
}

pub async fn load(app: &mut TestApp, address: &str, content: &[u8]) -> Answer {
    app.upload_from("/clusters/new", address, &[("file.csv", content)]).await
}

/// What a page says is wrong with a file: row, column, found, expected.
fn refused(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", html::text(&answer.body, "main"));
    html::texts(&answer.body, ".scroll[aria-label=\"What is wrong with the file\"] tbody tr td")
}

async fn revision(app: &TestApp) -> i64 {
    changes::Kind::AssetRegister.version(&mut app.db.acquire().await.unwrap()).await.unwrap()
}

pub async fn newest_change(app: &TestApp) -> i64 {
    sqlx::query_scalar("select max(change_id) from changes where kind = 'asset-register'")
        .fetch_one(&app.db)
        .await
        .unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_cluster_is_entered_and_its_months_count_beside_bills(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let empty = admin.get("/clusters").await;
    assert!(html::text(&empty.body, ".empty").contains("There are no clusters yet"));

    // The figure beside the form is that of the month.
    let query: Vec<String> =
        START.iter().map(|(name, value)| format!("{name}={}", value.replace(' ', "+"))).collect();
    let figure = admin.get(&format!("/clusters/new/figure?{}", query.join("&"))).await;
    let described = html::texts(&figure.body, "#figure dl.figures > div");
    assert_eq!(described[0], "Per on-prem GPU-hourUSD1.84", "October: (10,191.78 + 781.20) / 5952");

    entered(&mut admin).await;
    let due = "10619.01";
    assert_eq!(september(&mut admin).await, json!(["new", [], [due], null]));
    let page = admin.get("/clusters/h100-east").await;
    assert!(page.body.contains("can be published"), "{}", page.body);
    assert_eq!(admin.json("/spend/2026-09.json").await["total"], Value::Null, "nothing counts yet");

    let batch = publish(&mut admin, "h100-east", "2026-09").await;
    assert!(admin.get(batch.location()).await.body.contains("h100-east-2026-09.csv"));
    assert_eq!(september(&mut admin).await, json!(["published", [due], [due], 1]));
    let of_services = json!([[["Depreciation", "9863.01"], ["Energy", "756.0"], ["Purchase", "0"]], "5760"]);
    assert_eq!(spend(&mut admin, "service").await, of_services);
    assert_eq!(spend(&mut admin, "provider").await, json!([[["On-premises", due]], "5760"]));
    assert_eq!(spend(&mut admin, "accelerator").await[1], "5760");

    // Its charges are found from the month, and come with the others to whom they belong.
    let page = admin.get("/clusters/h100-east/2026-09").await;
    let links = html::attributes(&page.body, "main a", "href");
    let charges = links.iter().find(|link| link.starts_with("/charges")).expect("a way to the charges");
    let charges = admin.get(charges).await;
    assert_eq!(charges.status, StatusCode::OK);
    assert!(charges.body.contains("Depreciation"), "{}", charges.body);
    let mut db = ledger.db.acquire().await.unwrap();
    write(&mut db, vec![team("vision"), rule(1, "tag:cluster", "h100-east", to_team("vision"))]).await;
    let vision = admin.json("/teams/vision/2026-09.json").await;
    assert_eq!((&vision["owned_hours"], &vision["accelerator_hours"]), (&json!("5760"), &json!("0")));
    assert_eq!(vision["cost_per_owned_hour"], "1.843578", "10,619.01 / 5760");

    let csv = admin.get("/clusters.csv").await.body;
    assert!(csv.contains("\nh100-east,H100 East,Frankfurt,8,"), "{csv}");
    let again = publish(&mut admin, "h100-east", "2026-09").await;
    assert_eq!(again.location(), "/clusters/h100-east", "it counts already");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn gpus_that_jobs_held_are_shown_by_week(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    entered(&mut admin).await;
    publish(&mut admin, "h100-east", "2026-09").await;
    let unit: String =
        sqlx::query_scalar("select max(resource_id) from charge_keys where accelerator is not null")
            .fetch_one(&ledger.db)
            .await
            .unwrap();
    // Three whole weeks from a Monday, and a job of half a day in the second.
    let sacct = format!(
        "JobID|JobIDRaw|User|Account|State|Submit|Start|End|ElapsedRaw|AllocTRES|NodeList|JobName\n\
         1|1|ann|ml|COMPLETED|2026-09-07T00:00:00|2026-09-07T00:00:00|2026-09-28T00:00:00|1814400|gres/gpu=4|{unit}|long\n\
         2|2|ben|ml|COMPLETED|2026-09-14T00:00:00|2026-09-14T00:00:00|2026-09-14T12:00:00|43200|gres/gpu=2|{unit}|short\n"
    );
    admin.upload(&[("sacct.txt", sacct.as_bytes())]).await;
    admin.run_jobs().await;
    let cluster = admin.json("/clusters/h100-east.json").await;
    let week = |begins: &str, mean: &str, peak: &str| json!({ "begins": begins, "mean": mean, "peak": peak });
    let weeks: Vec<Value> = cluster["weeks"].as_array().unwrap().clone();
    let expected = [
        week("2026-09-07", "4.00", "4.00"),
        week("2026-09-14", "4.14", "6.00"),
        week("2026-09-21", "4.00", "4.00"),
    ];
    assert_eq!(weeks, expected);
    let page = admin.get("/clusters/h100-east").await;
    assert!(page.body.contains("GPUs held by week") && page.body.contains("A trend needs eight weeks"));
    // How it grows is not known, so that nothing is said of when it is full.
    assert_eq!(cluster["capacity"]["is_assumed"], true, "{}", cluster["capacity"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_past_month_is_corrected_and_brought_back_to_the_digit(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    entered(&mut admin).await;
    publish(&mut admin, "h100-east", "2026-09").await;
    let before = (admin.get("/spend/2026-09.json?by=service").await.body, september(&mut admin).await);
    let file = admin.get("/clusters/h100-east/2026-09.csv").await;

    let changed =
        change(&mut admin, "asset “h100-east-node”", &[("price", "365000"), ("reason", "a credit")]).await;
    assert_eq!(changed.location(), "/clusters/h100-east");
    assert_eq!(september(&mut admin).await, json!(["differs", ["10619.01"], ["10756.00"], 1]));
    assert!(admin.get("/changes?kind=asset-register").await.body.contains("a credit"));
    let page = admin.get(&format!("/asset-register/changes/{}", newest_change(&admin).await)).await;
    let edits = html::text(&page.body, "#edits");
    assert!(edits.contains("price360000365000"), "{edits}");
    publish(&mut admin, "h100-east", "2026-09").await;
    assert_eq!(september(&mut admin).await, json!(["published", ["10756.00"], ["10756.00"], 2]));
    assert_eq!(spend(&mut admin, "provider").await, json!([[["On-premises", "10756.00"]], "5760"]));
    assert_eq!(admin.json("/imports/1.json").await["is_counted"], false, "superseded");

    let undo = format!("/changes/asset-register/{}/undo", newest_change(&admin).await);
    assert_eq!(admin.submit("/changes?kind=asset-register", &undo, &[]).await.status, StatusCode::SEE_OTHER);
    assert_eq!(september(&mut admin).await, json!(["differs", ["10756.00"], ["10619.01"], 2]));
    publish(&mut admin, "h100-east", "2026-09").await;
    assert_eq!(september(&mut admin).await, json!(["published", ["10619.01"], ["10619.01"], 3]));
    assert_eq!(admin.get("/clusters/h100-east/2026-09.csv").await.body, file.body, "the same file");
    let (mut now, mut was) = (
        admin.json("/spend/2026-09.json?by=service").await,
        serde_json::from_str::<Value>(&before.0).unwrap(),
    );
    (now["sequence"], was["sequence"]) = (Value::Null, Value::Null);
    assert_eq!(now, was);

    // What the imports page undoes is what the month is told of.
    admin.submit("/imports/3", "/imports/3/undo", &[]).await;
    assert_eq!(september(&mut admin).await, json!(["differs", ["10756.00"], ["10619.01"], 2]));
    admin.submit("/imports/2", "/imports/2/undo", &[]).await;
    assert_eq!(september(&mut admin).await, before.1);
    admin.submit("/imports/1", "/imports/1/undo", &[]).await;
    assert_eq!(september(&mut admin).await, json!(["new", [], ["10619.01"], null]));
    publish(&mut admin, "h100-east", "2026-09").await;
    assert_eq!(spend(&mut admin, "provider").await, json!([[["On-premises", "10619.01"]], "5760"]));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_cluster_that_is_renamed_is_charged_as_before(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    entered(&mut admin).await;
    publish(&mut admin, "h100-east", "2026-09").await;
    let page = admin.get("/clusters/h100-east/2026-09").await.body;
    assert!(
        page.contains("The active import matches the asset register.") && !page.contains("Publish month"),
        "{page}"
    );
    let due = admin.get("/clusters.json").await.body;
    change(&mut admin, "cluster “H100 East”", &[("name", "Racks in the east")]).await;
    assert_eq!(september(&mut admin).await, json!(["reworded", ["10619.01"], ["10619.01"], 1]));
    let months_due = |body: &str| serde_json::from_str::<Value>(body).unwrap()[0]["due"].clone();
    assert_eq!(months_due(&admin.get("/clusters.json").await.body), months_due(&due), "none more");
    let page = admin.get("/clusters/h100-east").await.body;
    assert_eq!(html::text(&page, "details.reworded summary"), "In one month only descriptions changed");
    assert!(html::text(&page, "details.reworded").contains("September 2026"), "{page}");
    let page = admin.get("/clusters/h100-east/2026-09").await.body;
    assert!(
        html::text(&page, "main section.notice").contains("Names or descriptions changed since"),
        "{page}"
    );
    publish(&mut admin, "h100-east", "2026-09").await;
    assert_eq!(september(&mut admin).await, json!(["published", ["10619.01"], ["10619.01"], 2]));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_month_of_which_nothing_is_left_counts_no_more(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    entered(&mut admin).await;
    publish(&mut admin, "h100-east", "2026-09").await;
    change(&mut admin, "asset “h100-east-node”", &[("price", "365000")]).await;
    publish(&mut admin, "h100-east", "2026-09").await;
    let (id, _) = find(&admin, "asset “h100-east-node”").await;
    let entry = format!("/asset-register/entries/{id}");
    let removed = admin.submit(&entry, &format!("{entry}/remove"), &[]).await;
    assert_eq!(removed.location(), "/clusters/h100-east");
    assert_eq!(september(&mut admin).await, json!(["gone", ["10756.00"], [], 2]));
    publish(&mut admin, "h100-east", "2026-09").await;
    assert_eq!(september(&mut admin).await, json!(["empty", [], [], null]), "nor does the one before it");
    assert_eq!(admin.json("/spend/2026-09.json").await["total"], Value::Null);

    // A cluster that begins later has no September, and what was published of it is shown as gone.
    let undo = format!("/changes/asset-register/{}/undo", newest_change(&admin).await);
    admin.submit("/changes?kind=asset-register", &undo, &[]).await;
    publish(&mut admin, "h100-east", "2026-09").await;
    change(&mut admin, "asset “h100-east-node”", &[("in_service", "2026-10-01")]).await;
    let refused = change(&mut admin, "cluster “H100 East”", &[("since", "2026-11-01")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    let described = html::text(&refused.body, "main ul");
    assert!(
        described.contains("asset “h100-east-node”: it begins before the cluster does, on 2026-11-01"),
        "{described}"
    );
    for title in ["tariff “Energy”", "PUE of h100-east from 2026-09"] {
        let (entry, _) = find(&admin, title).await;
        let entry = format!("/asset-register/entries/{entry}");
        admin.submit(&entry, &format!("{entry}/remove"), &[]).await;
    }
    let changed = change(&mut admin, "cluster “H100 East”", &[("since", "2026-10-01")]).await;
    assert_eq!(changed.status, StatusCode::SEE_OTHER, "{}", html::text(&changed.body, "main"));
    assert_eq!(september(&mut admin).await[0], "gone");
    publish(&mut admin, "h100-east", "2026-09").await;
    assert_eq!(admin.get("/clusters/h100-east/2026-09").await.status, StatusCode::NOT_FOUND);
    assert_eq!(admin.json("/spend/2026-09.json").await["total"], Value::Null);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn finance_proposes_and_an_administrator_decides(db: PgPool) {
    let app = TestApp::new(db);
    let (mut admin, mut finance) = (app.signed_in(Role::Admin).await, app.signed_in(Role::Finance).await);
    let proposed = finance.submit("/clusters/new", "/clusters/new", START).await;
    assert_eq!(proposed.location(), format!("/asset-register/changes/{}", newest_change(&app).await));
    assert!(
        html::text(&finance.get(proposed.location()).await.body, ".flash")
            .contains("An administrator decides")
    );
    assert_eq!(finance.get("/clusters/h100-east").await.status, StatusCode::NOT_FOUND);
    assert!(finance.get("/clusters").await.body.contains("1 proposal needs"));
    let id = newest_change(&app).await;
    let apply = format!("/changes/asset-register/{id}/apply");
    assert_eq!(
        finance.submit("/changes?kind=asset-register", &apply, &[]).await.status,
        StatusCode::FORBIDDEN
    );
    assert_eq!(revision(&app).await, 0);
    assert_eq!(admin.submit("/changes?kind=asset-register", &apply, &[]).await.status, StatusCode::SEE_OTHER);
    assert_eq!(revision(&app).await, 1);
    assert_eq!(finance.get("/clusters/h100-east").await.status, StatusCode::OK);
    // Decided once.
    admin.submit("/changes?kind=asset-register", &apply, &[]).await;
    assert!(
        html::text(&admin.get("/changes?kind=asset-register").await.body, ".flash")
            .contains("Nothing changed")
    );
    assert_eq!(revision(&app).await, 1);

    // Discarded.
    change(&mut finance, "asset “h100-east-node”", &[("price", "1")]).await;
    let discard = format!("/changes/asset-register/{}/discard", newest_change(&app).await);
    admin.submit("/changes?kind=asset-register", &discard, &[]).await;
    let flash = html::text(&admin.get("/changes?kind=asset-register").await.body, ".flash");
    assert_eq!(flash, "Discarded. Nothing changed.");
    admin.submit("/changes?kind=asset-register", &discard, &[]).await;
    let flash = html::text(&admin.get("/changes?kind=asset-register").await.body, ".flash");
    assert!(flash.starts_with("Nothing changed: this change was discarded by"), "{flash}");
    assert_eq!(revision(&app).await, 1);

    // Of two of the same entry the second is in conflict, and so is undoing what was changed again.
    change(&mut finance, "asset “h100-east-node”", &[("price", "361000")]).await;
    let first = newest_change(&app).await;
    change(&mut finance, "asset “h100-east-node”", &[("price", "362000")]).await;
    let second = newest_change(&app).await;
    for (id, status) in [(first, StatusCode::SEE_OTHER), (second, StatusCode::UNPROCESSABLE_ENTITY)] {
        let answer = admin
            .submit("/changes?kind=asset-register", &format!("/changes/asset-register/{id}/apply"), &[])
            .await;
        assert_eq!(answer.status, status, "{}", answer.body);
        let said = answer.body.contains("Edited by somebody else");
        assert_eq!(said, id == second, "{}", answer.body);
    }
    // So is a form that was opened before: it does not bring back what somebody else has changed.
    let (node, before) = find(&app, "asset “h100-east-node”").await;
    let form = format!("/asset-register/entries/{node}");
    let opened = admin.get(&form).await;
    let seen = html::attributes(&opened.body, "main input[name=revision]", "value");
    change(&mut admin, "asset “h100-east-node”", &[("price", "363000")]).await;
    let mut texts = onprem::cells(&before);
    texts.insert("price".to_owned(), "370000".to_owned());
    texts.insert("revision".to_owned(), seen[0].clone());
    let fields: Vec<(&str, &str)> =
        texts.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let stale = admin.submit(&form, &form, &fields).await;
    assert_eq!(stale.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", stale.body);
    assert!(html::text(&stale.body, "main ul").contains("edited by somebody else"));
    let undo = admin
        .submit("/changes?kind=asset-register", &format!("/changes/asset-register/{first}/undo"), &[])
        .await;
    assert_eq!(undo.status, StatusCode::UNPROCESSABLE_ENTITY);
    let (_, Entry::Asset(asset)) = find(&app, "asset “h100-east-node”").await else { panic!("an asset") };
    assert_eq!(asset.price, 363_000.into());
    // What an undoing would break is refused with the reason.
    let undo = admin
        .submit("/changes?kind=asset-register", &format!("/changes/asset-register/{id}/undo"), &[])
        .await;
    assert_eq!(undo.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(revision(&app).await, 3);
}

const ASSETS: &str = "cluster,name,what,accelerator,accelerators,count,price,currency,in_service,life_months,residual,depreciation,paid,tags\n";

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_is_taken_whole_or_not_at_all(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    entered(&mut admin).await;
    let good =
        "h100-east,rack-a,node,H100 SXM,8,4,350000,USD,2026-10-01,36,0,straight-line,bought,team=vision\n";
    let bad = "h100-east,rack-b,node,H100 SXM,8,4,,USD,2026-10-01,0,0,straight-line,bought,\n";
    let address = "/asset-register/assets/file";
    let answer = load(&mut admin, address, format!("{ASSETS}{good}{bad}").as_bytes()).await;
    let found = refused(&answer);
    assert_eq!(found[..3], ["2", "price", ""], "{found:?}");
    assert_eq!(found[4..7], ["2", "life_months", "0"], "{found:?}");
    // What entries say of each other is told too, and bytes that are no text.
    let early = good.replace("2026-10-01", "2026-08-01");
    let answer = load(&mut admin, address, format!("{ASSETS}{early}").as_bytes()).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(html::text(&answer.body, "main ul").contains("before the cluster does"), "{}", answer.body);
    let answer = load(&mut admin, address, format!("{ASSETS}{good}{good}").as_bytes()).await;
    assert_eq!(refused(&answer)[..3], ["2", "the row", "asset “rack-a”"]);
    for content in [&b"\xff\xfe\0\0"[..], b"", b"PK\x03\x04", &ASSETS.as_bytes()[..30]] {
        assert_eq!(load(&mut admin, address, content).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    }
    assert_eq!(revision(&app).await, 1, "nothing of them was taken");

    let loaded = load(&mut admin, address, format!("{ASSETS}{good}").as_bytes()).await;
    assert_eq!(loaded.location(), "/asset-register/assets", "{}", html::text(&loaded.body, "main"));
    assert_eq!(revision(&app).await, 2);
    // The file that is exported is imported as it is, and changes nothing.
    let csv = admin.get("/asset-register/assets.csv").await;
    assert_eq!(csv.header("content-disposition"), "attachment; filename=\"assets.csv\"");
    load(&mut admin, address, &csv.bytes).await;
    assert!(
        html::text(&admin.get("/asset-register/assets").await.body, ".flash").contains("Nothing changed")
    );
    assert_eq!(revision(&app).await, 2);
    let dearer = csv.body.replace(",350000,", ",351000,");
    load(&mut admin, address, dearer.as_bytes()).await;
    let (_, Entry::Asset(asset)) = find(&app, "asset “rack-a”").await else { panic!("an asset") };
    assert_eq!((asset.price, revision(&app).await), (351_000.into(), 3));
    for kind in Kind::ALL {
        let csv = admin.get(&format!("/asset-register/{kind}.csv")).await;
        assert_eq!(csv.status, StatusCode::OK, "{kind}");
        let again = load(&mut admin, &format!("/asset-register/{kind}/file"), &csv.bytes).await;
        assert_eq!(again.status, StatusCode::SEE_OTHER, "{kind}: {}", html::text(&again.body, "main"));
    }
    assert_eq!(revision(&app).await, 3);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn readings_are_taken_whole_or_refused_with_the_row(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    entered(&mut admin).await;
    let address = "/clusters/h100-east/readings";
    let head = "meter,from,until,kwh\n";
    let day = |day: u32, kwh: u32| {
        let next = day + 1;
        format!("pdu,2026-09-{day:02}T00:00:00Z,2026-09-{next:02}T00:00:00Z,{kwh}\n")
    };
    let unknown = load(&mut admin, address, format!("{head}{}", day(1, 100)).as_bytes()).await;
    let found = refused(&unknown);
    assert_eq!(found[..3], ["", "meter", "pdu"]);
    assert!(found[3].contains("add the meter first"), "{found:?}");

    let meter = [("cluster", "h100-east"), ("name", "pdu"), ("place", "it")];
    admin.submit("/asset-register/meters/new", "/asset-register/meters/new", &meter).await;
    for (rows, row, column, expected) in [
        ("pdu,2026-08-31T00:00:00Z,2026-09-01T00:00:00Z,5\n", "", "time", "2026-09-01 or later"),
        ("pdu,2026-09-02T00:00:00Z,2026-09-01T00:00:00Z,5\n", "1", "", ""),
        ("pdu,2026-09-01T00:00:00Z,2026-09-02T00:00:00Z,-5\n", "1", "kwh", ""),
        ("pdu,2026-09-01T00:00:00Z,2026-09-02T00:00:00Z,a lot\n", "1", "kwh", ""),
    ] {
        let found = refused(&load(&mut admin, address, format!("{head}{rows}").as_bytes()).await);
        assert_eq!(found[0], row, "{rows}: {found:?}");
        assert!(column.is_empty() || found[1] == column, "{rows}: {found:?}");
        assert!(found[3].contains(expected) && !found[3].is_empty(), "{rows}: {found:?}");
    }
    // A meter that runs backwards by little is wrong; by much it started again, which is said.
    let readings = "meter,at,kwh\npdu,2026-09-01T00:00:00Z,1000\npdu,2026-09-02T00:00:00Z,";
    let backwards = refused(&load(&mut admin, address, format!("{readings}999\n").as_bytes()).await);
    assert_eq!(backwards[0], "2", "{backwards:?}");
    assert!(refused(&load(&mut admin, address, head.as_bytes()).await).is_empty(), "no readings at all");
    assert_eq!(revision(&app).await, 2, "nothing of them was taken");
    let reset = load(&mut admin, address, format!("{readings}40\n").as_bytes()).await;
    assert_eq!(reset.location(), "/clusters/h100-east");
    let flash = html::text(&admin.get("/clusters/h100-east").await.body, ".flash");
    assert!(flash.contains("A meter restarted from zero once, first in row 2"), "{flash}");
    admin
        .submit(
            "/changes?kind=asset-register",
            &format!("/changes/asset-register/{}/undo", newest_change(&app).await),
            &[],
        )
        .await;
    assert_eq!(september(&mut admin).await[2], json!(["10619.01"]), "as if it had not been");

    // Two days that were measured: 200 and 100 kWh instead of 201.6, × 1.25 × 0.10.
    load(&mut admin, address, format!("{head}{}{}", day(1, 200), day(2, 100)).as_bytes()).await;
    assert_eq!(september(&mut admin).await[2], json!(["10606.11"]));
    let first = newest_change(&app).await;
    // A part of what was read is not to be lost.
    let half = "pdu,2026-09-02T12:00:00Z,2026-09-03T00:00:00Z,50\n";
    let found = refused(&load(&mut admin, address, format!("{head}{half}").as_bytes()).await);
    assert!(found[2].contains("a reading from 2026-09-02 00:00 to 2026-09-03 00:00"), "{found:?}");
    // What stands for it is taken back, and then what it stood for, too.
    load(&mut admin, address, format!("{head}{}{}", day(2, 300), day(3, 300)).as_bytes()).await;
    assert_eq!(september(&mut admin).await[2], json!(["10643.41"]));
    let second = newest_change(&app).await;
    let undo = |id: i64| format!("/changes/asset-register/{id}/undo");
    let conflicts = admin.submit("/changes?kind=asset-register", &undo(first), &[]).await;
    assert_eq!(conflicts.status, StatusCode::UNPROCESSABLE_ENTITY);
    for (id, expected) in [(second, "10606.11"), (first, "10619.01")] {
        let undone = admin.submit("/changes?kind=asset-register", &undo(id), &[]).await;
        assert_eq!(undone.status, StatusCode::SEE_OTHER, "{}", html::text(&undone.body, "main ul"));
        assert_eq!(september(&mut admin).await[2], json!([expected]));
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_people_write_is_text_everywhere(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    entered(&mut admin).await;
    let evil = "<script>alert(1)</script>\", x";
    let changed = change(&mut admin, "cluster “H100 East”", &[("name", evil), ("site", evil)]).await;
    assert_eq!(changed.status, StatusCode::SEE_OTHER, "{}", html::text(&changed.body, "main"));
    let cost = [
        ("cluster", "h100-east"),
        ("name", evil),
        ("what", "other"),
        ("amount", "-5"),
        ("currency", "USD"),
        ("every", "month"),
        ("first", "2026-09"),
        ("reason", evil),
    ];
    let entered = admin.submit("/asset-register/costs/new", "/asset-register/costs/new", &cost).await;
    assert_eq!(entered.status, StatusCode::SEE_OTHER, "{}", html::text(&entered.body, "main"));
    for address in [
        "/clusters",
        "/clusters/h100-east",
        "/clusters/h100-east/2026-09",
        "/asset-register/costs",
        "/changes?kind=asset-register",
    ] {
        let page = admin.get(address).await;
        assert_eq!(page.status, StatusCode::OK, "{address}");
        assert!(page.body.contains("alert(1)") && !page.body.contains("<script>alert"), "{address}");
    }
    // Into the bill it goes as it is, and comes back the same.
    let csv = admin.get("/clusters/h100-east/2026-09.csv").await;
    assert_eq!(csv.header("content-disposition"), "attachment; filename=\"h100-east-2026-09.csv\"");
    publish(&mut admin, "h100-east", "2026-09").await;
    assert_eq!(september(&mut admin).await, json!(["published", ["10614.01"], ["10614.01"], 3]));
    assert!(spend(&mut admin, "region").await.to_string().contains("alert(1)"));
    let again = admin.import("h100-east-2026-09.csv", &csv.bytes).await;
    assert!(
        html::text(&again.body, "main").contains("Same file as import"),
        "the same bytes: {}",
        html::text(&again.body, "main")
    );
    // What a spreadsheet would compute is refused where it is entered.
    for (field, value) in [("name", "=1+1"), ("site", "@SUM(A1)"), ("name", "+49"), ("site", "-2+3")] {
        let answer = change(&mut admin, &format!("cluster “{evil}”"), &[(field, value)]).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{value}");
        assert!(answer.body.contains("spreadsheets compute that"), "{}", answer.body);
    }
    let answer = admin.upload_to("/asset-register/costs/file", &[("=<b>.csv", b"x\n1\n")]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let answer = admin.upload_to("/clusters/h100-east/readings", &[("<b>x</b>.csv", b"x\n1\n")]).await;
    assert!(!answer.body.contains("<b>x</b>"), "{}", answer.body);
    assert_eq!(
        admin.upload_to("/asset-register/costs/file", &[("a\0b.csv", b"x\n1\n")]).await.status,
        StatusCode::BAD_REQUEST
    );
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn nothing_of_it_is_open_to_leads(db: PgPool) {
    let app = TestApp::new(db);
    entered(&mut app.signed_in(Role::Admin).await).await;
    let mut lead = app.signed_in(Role::Lead).await;
    let token = lead.token("/account").await;
    let routes = web::routes();
    let own: Vec<_> = routes
        .stated()
        .iter()
        .filter(|line| line.path.starts_with("/clusters") || line.path.starts_with("/asset-register"))
        .collect();
    assert_eq!(own.len(), 17);
    for line in own {
        let path = [
            ("{cluster}", "h100-east"),
            ("{month}", "2026-09"),
            ("{kind}", "assets"),
            ("{entry}", "1"),
            ("{change}", "1"),
        ]
        .iter()
        .fold(line.path.to_owned(), |path, (name, value)| path.replace(name, value));
        // Its page is a part of another, and its file is not.
        let path = if path == "/asset-register/changes" { format!("{path}.json") } else { path };
        let request = Request::builder().method(&line.method).uri(&path).header("x-csrf-token", &token);
        let answer = lead.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{} {path}", line.method);
        assert!(!answer.body.contains("H100 East"), "{path}");
        if line.method == Method::GET && line.is_for_scripts {
            for suffix in [".json", ".csv"] {
                let answer = lead.get(&format!("{path}{suffix}")).await;
                assert_ne!(answer.status, StatusCode::OK, "{path}{suffix}");
            }
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn old_address_of_asset_register_leads_to_new_one(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let answer = finance.get("/register/changes?page=1").await;
    assert_eq!(answer.status, StatusCode::PERMANENT_REDIRECT);
    assert_eq!(answer.location(), "/asset-register/changes?page=1");
    assert!(answer.headers.contains_key("content-security-policy"));
}
