//! Experiments: all of a period, one over its months, some side by side; and what a lead sees of them.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::allocation::{Entry, Experiment, Project, Split, Target};
use gpuledger::money::Decimal;
use serde_json::Value;
use sqlx::PgPool;

use crate::support::changes::decide;
use crate::support::configuration::{pool, rule, team, to_pool, write};
use crate::support::json::decimal;
use crate::support::{Focus, TestApp, TestLedger, html};

/// An hour of an 8-GPU machine.
fn hour(day: &str, node: &str, pricing: &str, cost: &str, tags: &str) -> String {
    let (month, next) =
        if day.starts_with("2026-08") { ("2026-08", "2026-09") } else { ("2026-09", "2026-10") };
    let tags = tags.replace('"', "\"\"");
    format!(
        "NeoCloud,acme,s1,{month}-01T00:00:00Z,{next}-01T00:00:00Z,{day}T10:00:00Z,{day}T11:00:00Z,Usage,{pricing},\
         GPU Cloud,Compute,gpu-8x,eu-1,{node},\"{{\"\"InstanceType\"\":\"\"8xH100\"\",\"\"GpuCount\"\":8}}\",1,Hours,{cost},\
         {cost},{cost},{cost},USD,\"{tags}\",NeoCloud,NeoCloud"
    )
}

/// research: seg-1 in two months and on two nodes, seg-2, what has no label, half of what is shared; nlp: lm/7 and
/// a third of seg-2.
async fn ledger(db: PgPool) -> TestLedger {
    let ledger = TestLedger::new(db);
    let seg_1 = r#"{"team":"research","experiment":"Seg-1"}"#;
    let file = Focus::new()
        .line(&hour("2026-08-30", "n1", "Standard", "40", seg_1))
        .line(&hour("2026-09-02", "n1", "Standard", "40", seg_1))
        .line(&hour("2026-09-05", "n2", "Dynamic", "16.008", r#"{"team":"research","experiment":"seg-1 "}"#))
        .line(&hour("2026-09-05", "n3", "Standard", "20", r#"{"team":"research","experiment":"seg-2"}"#))
        .line(&hour("2026-09-06", "n3", "Standard", "10", r#"{"team":"nlp","experiment":"seg-2"}"#))
        .line(&hour("2026-09-06", "n4", "Standard", "31337", r#"{"team":"nlp","experiment":"LM/7"}"#))
        .line(&hour("2026-09-07", "n5", "Standard", "5", r#"{"team":"research"}"#))
        .line(&hour("2026-09-07", "n6", "Standard", "3", r#"{"shared":"yes"}"#));
    ledger.deliver("bills.csv", &file).await;
    let project = Project { handle: "seg".into(), name: "Segmentation".into(), ..Project::default() };
    let experiment = |handle: &str, name: &str| {
        Entry::Experiment(Experiment {
            handle: handle.into(),
            name: name.into(),
            project: Some("seg".into()),
            ..Experiment::default()
        })
    };
    let entries = vec![
        team("research"),
        team("nlp"),
        Entry::Project(project),
        experiment("seg-1", "First segmentation"),
        experiment("seg-2", "Second segmentation"),
        Entry::Pool(pool("platform", Split::Evenly)),
        rule(1, "tag:shared", "yes", to_pool("platform")),
        rule(2, "", "", Target::Labels),
    ];
    write(&mut ledger.db.acquire().await.unwrap(), entries).await;
    ledger
}

fn lines(list: &Value) -> Vec<(String, Decimal)> {
    let lines = list["experiments"].as_array().unwrap();
    lines.iter().map(|line| (line["name"].as_str().unwrap().to_owned(), decimal(&line["cost"]))).collect()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn experiments_and_what_has_none_equal_the_bill(db: PgPool) {
    let ledger = ledger(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    for (list, bill) in [
        ("/experiments/during/2026-09.json", "/spend/2026-09.json"),
        ("/experiments/during/2026-Q3.json", "/spend/2026-Q3.json"),
        ("/experiments/during/2026-09.json?find=seg", "/spend/2026-09.json"),
        ("/experiments/during/2026-09.json?team=research", "/teams/research/2026-09.json"),
        ("/experiments/during/2026-09.json?team=nlp&sort=name", "/teams/nlp/2026-09.json"),
    ] {
        let (list, bill) = (finance.json(list).await, finance.json(bill).await);
        let total = decimal(&bill["total"]["amount"]);
        assert_eq!(lines(&list).iter().map(|(_, cost)| *cost).sum::<Decimal>(), total);
        assert_eq!(decimal(&list["total"]["amount"]), total);
    }
    let list = finance.json("/experiments/during/2026-09.json").await;
    let names: Vec<_> = lines(&list).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["lm/7", "First segmentation", "Second segmentation", "No experiment"]);
    let first = &list["experiments"][1];
    assert_eq!(
        (&first["days"]["first"], &first["days"]["last"]),
        (&"2026-09-02".into(), &"2026-09-05".into())
    );
    assert_eq!(list["experiments"][2]["teams"], serde_json::json!(["Research", "Nlp"]));

    let page = finance.get("/experiments/during/2026-09").await;
    let links = html::attributes(&page.body, "tbody th a", "href");
    let period = "?period=2026-09";
    assert_eq!(links, ["lm%2F7", "seg-1", "seg-2"].map(|name| format!("/experiments/{name}{period}")));
    assert_eq!(finance.get(&links[0]).await.status, StatusCode::OK);
    let csv = finance.get("/experiments/during/2026-09.csv?find=First").await.body;
    assert!(csv.contains("\nseg-1,First segmentation,Research,56.008,") && csv.contains("3 others"), "{csv}");
    assert_eq!(finance.get("/experiments").await.location(), "/experiments/during/2026-09");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_experiment_is_told_over_all_its_months(db: PgPool) {
    let ledger = ledger(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    sqlx::query(
        "insert into quantities (owner_kind, owner, unit, day, quantity, from_sequence, until_sequence)
         values ('experiment', 'seg-1', 'runs', '2026-08-30', 2, 1, null),
                ('experiment', 'seg-1', 'runs', '2026-09-02', 10, 1, null),
                ('experiment', 'seg-1', 'runs', '2026-09-05', 99, 1, 2),
                ('team', 'seg-1', 'runs', '2026-09-05', 99, 1, null)",
    )
    .execute(&ledger.db)
    .await
    .unwrap();
    let it = finance.json("/experiments/seg-1.json").await;
    assert_eq!((&it["name"], &it["period"]), (&"First segmentation".into(), &"2026-08..2026-09".into()));
    assert_eq!(decimal(&it["total"]["amount"]), "96.008".parse().unwrap());
    assert_eq!(
        (&it["accelerator_hours"], &it["cost_per_accelerator_hour"]),
        (&"24".into(), &"4.000333".into())
    );
    assert_eq!(it["spot_share"], "0.333333");
    assert_eq!((&it["days"]["first"], &it["days"]["count"]), (&"2026-08-30".into(), &3.into()));
    assert_eq!(
        (&it["machines"][0]["instance_type"], &it["machines"][0]["count"]),
        (&"8xH100".into(), &2.into())
    );
    assert_eq!(
        it["units"],
        serde_json::json!([{ "unit": "runs", "quantity": "12", "cost_per_unit": "8.000667" }])
    );
    for groups in it["breakdowns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|breakdown| &breakdown["groups"])
        .chain([&it["months"]])
    {
        let sum: Decimal =
            groups.as_array().unwrap().iter().map(|group| decimal(&group["cost"]["amount"])).sum();
        assert_eq!(sum, decimal(&it["total"]["amount"]), "{groups}");
    }
    let siblings = &it["siblings"];
    assert_eq!((&siblings["of"], &siblings["name"]), (&"project".into(), &"Segmentation".into()));
    assert_eq!(siblings["experiments"].as_array().unwrap().len(), 1);

    let month = finance.json("/experiments/seg-1.json?period=2026-08").await;
    assert_eq!((&month["total"]["amount"], &month["units"][0]["quantity"]), (&"40".into(), &"2".into()));
    let page = finance.get("/experiments/Seg-1?cost=billed").await;
    assert_eq!(html::text(&page.body, "h1"), "First segmentation");
    assert!(
        page.body.contains("/experiments/compare?experiment=seg-1&#38;experiment=seg-2&#38;cost=billed"),
        "{}",
        page.body
    );
    let csv = finance.get("/experiments/seg-1.csv").await.body;
    assert!(csv.contains("\n2026-08,40,USD,8,"), "{csv}");
    assert_eq!(finance.get("/experiments/nothing").await.status, StatusCode::NOT_FOUND);
    let refused = finance.get("/experiments/seg-1?period=then").await;
    assert!(refused.body.contains("period: found “then”, expected a month (2026-09)"), "{}", refused.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_label_that_reads_as_a_file_or_another_page_has_a_page_and_files(db: PgPool) {
    let ledger = TestLedger::new(db);
    let labels = ["run.json", "run", "a.csv", "index.html", "compare"];
    let mut file = Focus::new();
    for (label, cost) in labels.iter().zip(1..) {
        let tags = format!(r#"{{"team":"research","experiment":"{label}"}}"#);
        file = file.line(&hour("2026-09-02", "n1", "Standard", &cost.to_string(), &tags));
    }
    ledger.deliver("bills.csv", &file).await;
    write(&mut ledger.db.acquire().await.unwrap(), vec![team("research"), rule(1, "", "", Target::Labels)])
        .await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let list = finance.get("/experiments/during/2026-09?sort=-cost").await;
    let links = html::attributes(&list.body, "tbody th a", "href");
    assert_eq!(links.len(), labels.len());
    for ((label, link), cost) in labels.iter().zip(&links).zip(1..) {
        let page = finance.get(link).await;
        assert_eq!((page.status, html::text(&page.body, "h1").as_str()), (StatusCode::OK, *label), "{link}");
        let files = html::attributes(&page.body, ".files a", "href");
        let of_json = files.iter().find(|href| **href == link.replace('?', ".json?")).unwrap();
        assert_eq!(decimal(&finance.json(of_json).await["total"]["amount"]), cost.into(), "{of_json}");
        let csv = finance.get(&link.replace('?', ".csv?")).await;
        assert!(
            csv.header("content-type").starts_with("text/csv") && csv.body.contains("2026-09"),
            "{label}"
        );
    }
    assert_eq!(links[1], "/experiments/run?period=2026-09");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn up_to_six_stand_side_by_side(db: PgPool) {
    let ledger = ledger(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let address = "/experiments/compare?experiment=seg-1&experiment=SEG-2&experiment=seg-2&experiment=gone&period=2026-09";
    let page = finance.get(address).await;
    assert_eq!(html::texts(&page.body, "thead th a"), ["First segmentation", "Second segmentation"]);
    assert_eq!(
        html::texts(&page.body, ".scroll > table > tbody > tr:first-child > td.num").last().unwrap(),
        "30.00"
    );
    assert!(page.body.contains("2 × 8xH100"));
    // What is missing is said, and no script takes it for nothing.
    assert!(html::text(&page.body, ".notice").contains("have the label “gone”"), "{}", page.body);
    let refused = finance.get(&address.replace("compare", "compare.json")).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("found “gone”. Enter labels of charges"), "{}", refused.body);
    let address = address.replace("&experiment=gone", "");
    let compared = finance.json(&address.replace("compare", "compare.json")).await;
    assert_eq!(compared.as_array().unwrap().len(), 2);
    let csv = finance.get(&address.replace("compare", "compare.csv")).await.body;
    assert!(csv.contains("\nseg-1,First segmentation,2026-09,56.008,USD,16,"), "{csv}");
    let empty = finance.get("/experiments/compare").await;
    assert!(html::text(&empty.body, ".empty").contains("Select up to six experiments"));
    let seven: Vec<String> = (1..=7).map(|n| format!("experiment=e{n}")).collect();
    let refused = finance.get(&format!("/experiments/compare?{}", seven.join("&"))).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("found 7. Compare at most 6"), "{}", refused.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_sees_their_part_of_experiments_and_no_other_is_there(db: PgPool) {
    let ledger = ledger(db).await;
    sqlx::query(
        "insert into quantities (owner_kind, owner, unit, day, quantity, from_sequence)
         values ('experiment', 'seg-1', 'runs', '2026-09-02', 4, 1), ('experiment', 'seg-2', 'runs', '2026-09-05', 4, 1)",
    )
    .execute(&ledger.db)
    .await
    .unwrap();
    let mut lead = TestApp::of(&ledger).signed_in(Role::Lead).await;
    let list = lead.json("/experiments/during/2026-09.json").await;
    let bill = lead.json("/spend/2026-09.json").await;
    assert_eq!(decimal(&list["total"]["amount"]), decimal(&bill["total"]["amount"]));
    let expected =
        [("First segmentation", "56.008"), ("Second segmentation", "20"), ("No experiment", "6.5")];
    assert_eq!(lines(&list), expected.map(|(name, cost)| (name.to_owned(), cost.parse().unwrap())));
    // What others paid of it is in no price of theirs.
    let own = lead.json("/experiments/seg-1.json").await;
    assert_eq!(own["units"][0]["cost_per_unit"], "24.002000");
    let shared = lead.json("/experiments/seg-2.json").await;
    assert_eq!(
        (&shared["total"]["amount"], &shared["units"][0]["cost_per_unit"]),
        (&"20".into(), &Value::Null)
    );
    for address in [
        "/experiments/during/2026-09",
        "/experiments/during/2026-09?team=nlp",
        "/experiments/during/2026-09?find=lm",
        "/experiments/seg-1",
        "/experiments/seg-2",
        "/experiments/compare?experiment=seg-1&experiment=seg-2",
    ] {
        for suffix in ["", ".json", ".csv"] {
            let (path, query) = address.split_once('?').unwrap_or((address, ""));
            let answer = lead.get(&format!("{path}{suffix}?{query}")).await;
            assert_eq!(answer.status, StatusCode::OK, "{address}{suffix}: {}", answer.body);
            for foreign in ["31337", "31,337", "lm/7", "Nlp", "n4", "n6"] {
                assert!(!answer.body.contains(foreign), "{address}{suffix} {foreign}: {}", answer.body);
            }
        }
    }
    // Of an experiment of others it is said what is said of one that nobody has.
    for suffix in ["", ".json", ".csv"] {
        let described =
            |name: &str| format!("/experiments/compare{suffix}?experiment={name}&experiment=seg-1");
        let (hidden, nowhere) = (lead.get(&described("lm%2F7")).await, lead.get(&described("nothing")).await);
        assert_eq!(hidden.status, nowhere.status, "{suffix}");
        assert_eq!(hidden.body.replace("lm%2F7", "nothing").replace("lm/7", "nothing"), nowhere.body);
    }
    let nowhere = lead.get("/experiments/nothing").await;
    let hidden = lead.get("/experiments/lm%2F7").await;
    assert_eq!((nowhere.status, hidden.status), (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND));
    assert_eq!(html::text(&hidden.body, "main"), html::text(&nowhere.body, "main"));
    assert_eq!(lead.get("/experiments/lm%2F7?period=2026-09").await.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_experiment_is_renamed_assigned_and_merged_on_its_page(db: PgPool) {
    let ledger = ledger(db).await;
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let page = admin.get("/experiments/seg-1").await;
    assert_eq!(html::attributes(&page.body, "#change input[name=name]", "value"), ["First segmentation"]);

    let fields = [("name", "Old segmentation"), ("team", "nlp"), ("project", ""), ("do", "save")];
    let answer = admin.submit("/experiments/seg-1", "/experiments/seg-1/change", &fields).await;
    assert_eq!(answer.location(), "/experiments/seg-1");
    let page = admin.get("/experiments/seg-1").await;
    assert_eq!(html::text(&page.body, "h1"), "Old segmentation");
    assert_eq!(html::attributes(&page.body, "#change option[selected]", "value"), ["nlp"]);
    // Its name leads to it; what is wrong is said with the forms.
    assert_eq!(admin.get("/experiments/old%20segmentation").await.location(), "/experiments/seg-1");
    let taken = [("name", "Second segmentation"), ("reason", "twins")];
    let refused = admin.submit("/experiments/seg-1", "/experiments/seg-1/change", &taken).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(html::text(&refused.body, "[role=alert]").contains("means seg-1 and seg-2"));
    assert_eq!(html::attributes(&refused.body, "#reason", "value"), ["twins"]);
    let itself = admin.submit("/experiments/seg-1", "/experiments/seg-1/merge", &[("into", "Seg-1")]).await;
    assert!(html::text(&itself.body, "[role=alert]").contains("label or name of another experiment"));

    // Different teams pay for them, so also who saves at once sees first what becomes one.
    let at_once = [("into", "seg-2"), ("do", "save")];
    let warned = admin.submit("/experiments/seg-1", "/experiments/seg-1/merge", &at_once).await;
    let said = html::text(&admin.get(warned.location()).await.body, ".notice");
    assert!(said.contains("Old segmentation is paid by Research 96.01"), "{said}");
    assert!(said.contains("Second segmentation is paid by Research 20.00 and Nlp 10.00"), "{said}");

    // Looked at first, then merged: the bill is the same, and the old address leads to the new one.
    let looked_at =
        admin.submit("/experiments/seg-1", "/experiments/seg-1/merge", &[("into", "seg-2")]).await;
    let change = looked_at.location().to_owned();
    assert_eq!(admin.get("/experiments/seg-1").await.status, StatusCode::OK);
    admin.submit("/rules", &decide(&change, "apply"), &[]).await;
    for (address, location) in [
        ("/experiments/seg-1", "/experiments/seg-2"),
        ("/experiments/seg-1.json?period=2026-09", "/experiments/seg-2.json?period=2026-09"),
    ] {
        let answer = admin.get(address).await;
        assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, location));
    }
    let merged = admin.json("/experiments/seg-2.json?period=2026-09").await;
    assert_eq!(decimal(&merged["total"]["amount"]).to_string(), "86.008");
    let list = admin.json("/experiments/during/2026-09.json").await;
    assert_eq!(lines(&list).iter().filter(|(name, _)| name.contains("segmentation")).count(), 1);
    ledger.assert_balanced().await;
}
