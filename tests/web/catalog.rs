//! A machine that the catalog does not know: seen with its money, added, counted, and removed again.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::{Focus, TestApp, TestLedger, html};

/// Two hours of a machine that nobody knows, and one of a known one.
fn bill() -> String {
    let unknown = Focus::new().hour("acme", "s1", "2026-09-05T10", "1500", "vision").hour(
        "acme",
        "s1",
        "2026-09-05T11",
        "1500.25",
        "vision",
    );
    let unknown = unknown.text().replace("8xH100", "p9.48xlarge").replace(",\"\"GpuCount\"\":8", "");
    let known = Focus::new().hour("acme", "s2", "2026-09-05T10", "40", "nlp");
    let known = known.text().lines().last().unwrap().replace("8xH100", "p5.48xlarge");
    format!("{unknown}{known}\n").replace("NeoCloud", "AWS")
}

const MACHINE: [(&str, &str); 7] = [
    ("kind", "machine"),
    ("provider", "aws"),
    ("name", "p9.48xlarge"),
    ("model", "nvidia-b300"),
    ("accelerators", "8"),
    ("same_as", ""),
    ("source", "https://aws.amazon.com/ec2/instance-types/"),
];

/// The address that previews these fields.
fn preview(fields: &[(&str, &str)]) -> String {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", crate::support::app::encode(value))).collect();
    format!("/catalog/new?{}&preview=yes", fields.join("&"))
}

/// What pages say of hours: by model, by team, and by day.
async fn figures(app: &mut TestApp) -> Vec<Value> {
    let mut found = Vec::new();
    for address in [
        "/spend/2026-09.json?by=accelerator",
        "/spend/2026-09.json?by=day",
        "/chargeback/2026-09.json",
        "/overview.json",
    ] {
        found.push(app.json(address).await);
    }
    found
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_unknown_machine_is_seen_added_counted_and_removed(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let mut finance = admin.signed_in_as("fin@example.org", Role::Finance).await;
    admin.import("aws.csv", bill()).await;

    // The import says so, with the money; only an administrator is led on.
    let import = admin.get("/imports/1").await.body;
    let named = html::text(&import, "#unrecognized");
    for text in ["p9.48xlarge AWS", "not counted", "September 2026", "3,000.25", "USD"] {
        assert!(named.contains(text), "{text}: {named}");
    }
    assert!(!named.contains("p5.48xlarge"), "{named}");
    let link = html::attributes(&import, "#unrecognized td a", "href");
    assert_eq!(link, ["/catalog/new?kind=machine&provider=AWS&name=p9.48xlarge"]);
    let import = finance.get("/imports/1").await.body;
    assert!(html::text(&import, "#unrecognized").contains("An administrator can add them."));
    assert!(html::attributes(&import, "#unrecognized td a", "href").is_empty());
    let json = admin.json("/imports/1.json").await;
    assert_eq!(json["delivery"], 1, "what it said before it says still");
    assert_eq!(json["unrecognized"][0]["billed_cost"], "3000.25");
    let unrecognized = admin.json("/catalog.json").await["unrecognized"].clone();
    assert_eq!(unrecognized[0]["name"], "p9.48xlarge");
    assert_eq!(unrecognized[0]["unknown"], "machine");

    let overview = html::text(&finance.get("/overview").await.body, "#attention");
    assert!(
        overview.contains(
            "A machine or meter looks like an accelerator and is not recognized: 3,000.25 USD billed."
        ),
        "{overview}"
    );

    // The form knows what the link says. A preview changes nothing.
    let form = admin.get(&link[0]).await.body;
    assert_eq!(html::attributes(&form, "#name", "value"), ["p9.48xlarge"]);
    let before = figures(&mut admin).await;
    let shown = admin.get(&preview(&MACHINE)).await.body;
    let shown = html::text(&shown, "#preview");
    for text in ["AWS p9.48xlarge has 8 × B300.", "September 2026", "3,000.25", "16.0"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert_eq!(figures(&mut admin).await, before);
    assert_eq!(before[0]["accelerator_hours"], "8");

    // Added, it counts everywhere at once.
    let added = admin.submit("/catalog/new", "/catalog/new", &MACHINE).await;
    assert_eq!(
        (added.status, added.location()),
        (StatusCode::SEE_OTHER, "/catalog/additions/1"),
        "{}",
        added.body
    );
    let page = finance.get("/catalog/additions/1").await.body;
    assert!(html::text(&page, "#recognizes").contains("3,000.25"));
    assert!(!page.contains("/catalog/additions/1/remove"), "finance cannot remove it");
    let after = figures(&mut admin).await;
    assert_eq!(after[0]["accelerator_hours"], "24");
    let models: Vec<&Value> = after[0]["groups"].as_array().unwrap().iter().map(|it| &it["key"]).collect();
    assert!(models.contains(&&json!("B300")), "{models:?}");
    for (after, before) in after.iter().zip(&before) {
        assert_ne!(after, before);
    }
    assert!(!admin.get("/imports/1").await.body.contains("id=\"unrecognized\""));
    assert!(admin.get("/catalog").await.body.contains("All clear."));
    let catalog = finance.json("/catalog.json").await;
    assert_eq!(catalog["unrecognized"], json!([]));
    assert_eq!(catalog["additions"][0]["added_by"], "admin@example.org");
    assert!(finance.get("/catalog.csv?find=p9.").await.body.contains("AWS,p9.48xlarge,nvidia-b300,8,"));
    assert!(admin.get("/audit").await.body.contains("added to catalog"));
    ledger.assert_balanced().await;

    // Removed, everything is as it was.
    let removed = admin.submit("/catalog/additions/1", "/catalog/additions/1/remove", &[]).await;
    assert_eq!((removed.status, removed.location()), (StatusCode::SEE_OTHER, "/catalog"), "{}", removed.body);
    assert_eq!(figures(&mut admin).await, before);
    let page = admin.get("/catalog").await.body;
    assert!(page.contains("Undone: AWS p9.48xlarge is no longer in the catalog.") && page.contains("undone"));
    assert!(admin.get("/imports/1").await.body.contains("id=\"unrecognized\""));
    assert!(admin.get("/audit").await.body.contains("removed from catalog"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn other_names_and_texts_are_added_too(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let hour = Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "vision");
    let text = hour.text().replace("8xH100", "Hopper XL").replace(",\"\"GpuCount\"\":8", "");
    admin.import("neo.csv", text.replace(",1,Hours,", ",1,GPU-Hours,")).await;
    let json = admin.json("/imports/1.json").await;
    assert_eq!(
        (&json["unrecognized"][0]["unknown"], &json["unrecognized"][0]["name"]),
        (&json!("model"), &json!("Hopper XL"))
    );
    let fields =
        [("kind", "text"), ("name", "Hopper XL"), ("model", "nvidia-h200-sxm"), ("source", "the contract")];
    let added = admin.submit("/catalog/new", "/catalog/new", &fields).await;
    assert_eq!(added.status, StatusCode::SEE_OTHER, "{}", added.body);
    let by = admin.json("/spend/2026-09.json?by=accelerator").await;
    assert_eq!((&by["groups"][0]["key"], &by["accelerator_hours"]), (&json!("H200"), &json!("1")));

    let fields = [
        ("kind", "alias"),
        ("provider", "AWS"),
        ("name", "big-one"),
        ("same_as", "p5.48xlarge"),
        ("source", "the contract"),
    ];
    let added = admin.submit("/catalog/new", "/catalog/new", &fields).await;
    assert_eq!(added.status, StatusCode::SEE_OTHER, "{}", added.body);
    let catalog = admin.json("/catalog.json?find=big-one").await;
    assert_eq!(catalog["additions"][1]["same_as"], "p5.48xlarge");
    assert_eq!(catalog["machines"][0]["accelerators"], "8");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_wrong_addition_comes_back_with_what_to_type(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    for (field, value, sentence) in [
        ("kind", "rack", "Choose what to add"),
        ("provider", " ", "Enter the provider"),
        ("name", "", "Enter the name as bills write it"),
        ("name", "p5.48xlarge", "This machine is known already: 8 × H100, SXM5 80 GB."),
        ("model", "h100", "Choose a model."),
        ("accelerators", "eight", "Found “eight”. Enter how many one machine holds, such as 8 or 1/6."),
        ("accelerators", "0", "Found “0”."),
        ("source", "", "Enter where this is known from"),
    ] {
        let fields = MACHINE.map(|(name, known)| (name, if name == field { value } else { known }));
        for answer in
            [admin.get(&preview(&fields)).await, admin.submit("/catalog/new", "/catalog/new", &fields).await]
        {
            assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{field} {value}");
            assert!(answer.body.contains(sentence), "{field} {value}: {}", html::text(&answer.body, "main"));
        }
    }
    let alias = MACHINE.map(|(name, known)| match name {
        "kind" => (name, "alias"),
        "same_as" => (name, "p0.big"),
        _ => (name, known),
    });
    let answer = admin.get(&preview(&alias)).await;
    assert!(answer.body.contains("AWS has no machine “p0.big” that is known."), "{}", answer.body);
    for (text, model, sentence) in [
        ("NVIDIA H100", "nvidia-b300", "names H100, SXM5 80 GB already"),
        ("GPU 8", "nvidia-b300", "may stand beside any"),
        ("R200", "unknown", "Choose a model."),
    ] {
        let fields = MACHINE.map(|(name, known)| match name {
            "kind" => (name, "text"),
            "name" => (name, text),
            "model" => (name, model),
            _ => (name, known),
        });
        let answer = admin.get(&preview(&fields)).await;
        assert!(answer.body.contains(sentence), "{text}: {}", html::text(&answer.body, "main"));
    }
    assert_eq!(admin.json("/catalog.json").await["additions"], json!([]));
    assert_eq!(admin.get("/catalog/additions/1").await.status, StatusCode::NOT_FOUND);
}

/// The newest machines are of models that no release lists yet: their hours count all the same.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn machine_of_a_model_that_is_not_listed_is_counted(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    admin.import("aws.csv", bill()).await;
    let unlisted = MACHINE.map(|(name, known)| (name, if name == "model" { "unknown" } else { known }));
    let added = admin.submit("/catalog/new", "/catalog/new", &unlisted).await;
    assert_eq!(added.status, StatusCode::SEE_OTHER, "{}", added.body);
    let spend = admin.json("/spend/2026-09.json?by=accelerator").await;
    assert_eq!(spend["accelerator_hours"], "24");
    let unrecognized = admin.json("/catalog.json").await["unrecognized"].clone();
    assert_eq!(unrecognized[0]["unknown"], "model");
}
