//! Scenarios: from a template or a file, changed by their address, kept in versions, shared and removed.

use axum::http::{Method, StatusCode, header};
use gpuledger::accounts::Role;
use gpuledger::allocation::{Entry, Team};
use gpuledger::economics::file;
use gpuledger::economics::template::templates;
use gpuledger::money::Decimal;
use serde_json::Value;
use sqlx::PgPool;

use crate::support::app::Answer;
use crate::support::configuration::{team, write};
use crate::support::json::decimal;
use crate::support::{TestApp, TestLedger, gpuledger, html, now};

/// 64 GPUs all day for a year: 560,640 GPU-hours at 3.00 and at 2.50, and a reservation that is too small.
pub const TEXT: &str = r#"
name = "Three ways"
months = 12

[[work]]
name = "training"
accelerator = "nvidia-h100-sxm"
demand = { shape = "flat", gpus = 64, hours_per_day = 24 }

[[option]]
name = "On demand"
place = [{ supplier = "AWS", on_demand = { price = 3.00, date = 2026-07-20, source = "its list" } }]

[[option]]
name = "Specialty"
place = [{ supplier = "Lambda", on_demand = { price = 2.50 } }]

[[option]]
name = "Too little"
place = [{ supplier = "AWS", committed = [{ rate = { price = 1 }, months = 12, gpus = 8 }] }]
"#;

const PRICE: &str = "/option/0/place/0/on_demand/price";

/// Sends a scenario's file from the page of scenarios.
pub async fn load(app: &mut TestApp, name: &str, text: &str) -> Answer {
    app.upload_from("/scenarios", "/scenarios/file", &[(name, text.as_ref())]).await
}

/// Keeps [`TEXT`]; answers its address.
async fn kept(app: &mut TestApp) -> String {
    let answer = load(app, "three.toml", TEXT).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    answer.location().to_owned()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_template_opens_with_its_answer_first(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let list = finance.get("/scenarios").await;
    assert!(html::text(&list.body, ".empty").starts_with("No saved scenarios yet"));
    for template in templates() {
        assert!(html::texts(&list.body, "dt a").contains(&template.name.to_owned()));
        let address = format!("/scenarios/templates/{}", template.handle);
        let page = finance.get(&address).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        let scenario = file::read(template.text).unwrap();
        let compared = scenario.compare().unwrap();
        let cheapest = &compared.options[compared.cheapest.unwrap()];
        let answer = html::text(&page.body, ".answer");
        assert!(answer.starts_with(&format!("{} costs least: ", cheapest.name)), "{answer}");
        assert_eq!(html::texts(&page.body, "#options .bars tbody tr").len(), scenario.options.len());
        // Every chart has its figures as a table, and the draws of each option are all there.
        let months = html::texts(&page.body, "#paid .data tbody tr").len();
        assert_eq!(months, scenario.months as usize + 1, "{}", template.handle);
        let drawn = html::texts(&page.body, "#mix .multiples .says").len();
        assert!(drawn > 0, "{}", template.handle);
        assert_eq!(html::texts(&page.body, "#mix .multiples .data tbody tr").len(), 25 * drawn);
        let often: u32 = html::texts(&page.body, "#range .data td")
            .iter()
            .map(|it| it.replace([',', '–'], "").parse().unwrap_or(0))
            .sum();
        assert_eq!(often, 10_000 * u32::try_from(scenario.options.len()).unwrap(), "{}", template.handle);
        // What is printed about it stands beside what is right.
        assert!(html::text(&page.body, "#about details").contains("Published: "), "{}", template.handle);
        let lines: usize = compared.options.iter().map(|it| it.lines.len() + 1).sum();
        assert_eq!(html::texts(&page.body, "#options details tr th[scope=row]").len(), lines);
        let json = finance.json(&format!("{address}.json")).await;
        assert_eq!(decimal(&json["comparison"]["options"][0]["total"]), compared.options[0].total);
    }
    assert_eq!(finance.get("/scenarios/templates/nothing").await.status, StatusCode::NOT_FOUND);
    assert_eq!(finance.get("/scenarios/7").await.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn totals_over_different_months_are_not_subtracted(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let address = kept(&mut finance).await;
    let longer = [("set", "/months=24"), ("add", "/option"), ("version", "1"), ("last", "1")];
    assert_eq!(finance.submit(&address, &address, &longer).await.status, StatusCode::SEE_OTHER);
    let page = finance.get(&format!("{address}/versions")).await.body;
    let heads = html::texts(&page, "#difference div:first-of-type thead th");
    assert_eq!(heads[1..3], ["Version 1, USD over 12 months", "Version 2, USD over 24 months"]);
    let totals = html::texts(&page, "#difference div:first-of-type tbody tr");
    assert_eq!(totals[0], "On demand 1,681,920.00 3,363,840.00 –");
    assert!(
        html::text(&page, "#difference")
            .contains("Totals in different numbers of months cannot be subtracted")
    );
    // Of an option that came, what it says.
    let fields = html::texts(&page, "#difference div:last-of-type tbody tr");
    assert!(fields.iter().any(|it| it.starts_with("Supplier, On demand, ")), "{fields:?}");
    assert!(!fields.iter().any(|it| it.ends_with("empty")), "{fields:?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_address_is_the_state(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let address = kept(&mut finance).await;
    let page = finance.get(&address).await;
    let answer = html::text(&page.body, ".answer");
    assert!(
        answer.starts_with(
            "Specialty costs least: 1,401,600 USD over 12 months, 2.50 USD per productive GPU-hour"
        ),
        "{answer}"
    );
    // 23,360 a month for a year, as worth today.
    assert!(answer.contains("present value at 10% a year"), "{answer}");
    assert!(answer.contains("266,315 USD (16.7%) less than On demand, the next cheapest"), "{answer}");
    let turns = html::texts(&page.body, "#verdict li");
    assert!(turns[0].contains("2.5") && turns[0].contains("then On demand costs less."), "{turns:?}");
    // To try one of them is to have it so wherever it stands.
    let tried = html::attributes(&page.body, "#verdict li a.on-screen", "href");
    let turned = finance.get(&tried[0]).await;
    let turned = html::text(&turned.body, ".answer");
    assert!(
        turned.starts_with("On demand costs least") || turned.contains("costs exactly as much"),
        "{turned}"
    );
    assert!(page.body.contains("Too little does not meet the requirements"));

    // Without scripts the form says all of its fields, and the browser is sent to what differs.
    let names = html::attributes(&page.body, "#edit input[name^='/'], #edit select", "name");
    assert!(names.contains(&PRICE.to_owned()) && names.len() > 30, "{names:?}");
    let asked = format!("{address}?{}=2&%2Fmonths=12&version=1", PRICE.replace('/', "%2F"));
    let sent = finance.get(&asked).await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.body);
    let edited = format!("{address}?set={PRICE}=2");
    assert_eq!(sent.location(), edited);
    // With htmx the answer comes at once, and the same address is put in its place.
    let part = finance.fragment(&asked).await;
    assert_eq!((part.status, part.header("hx-push-url")), (StatusCode::OK, edited.as_str()));
    assert!(html::text(&part.body, "#answer .answer").starts_with("On demand costs least: 1,121,280 USD"));

    let page = finance.get(&edited).await;
    assert!(html::text(&page.body, ".answer").starts_with("On demand costs least"));
    assert_eq!(html::attributes(&page.body, &format!("[name='{PRICE}']"), "value"), ["2"]);
    let chips = html::texts(&page.body, ".chips li");
    assert_eq!(chips, ["On-demand price, On demand: 3 → 2 × remove"]);
    assert_eq!(html::attributes(&page.body, ".chips a", "href")[0], address);

    // An option is copied by a button of the form.
    let copied = finance.get(&format!("{edited}&do=copy:/option/0")).await;
    assert_eq!(copied.location(), format!("{edited}&copy=/option/0#option-1"));
    let page = finance.get(copied.location().trim_end_matches("#option-1")).await;
    let names = html::texts(&page.body, "#options .bars tbody th");
    assert_eq!(names[1], "On demand (2)", "{names:?}");
    // What has no answer is not offered to be kept.
    let names = html::texts(&page.body, "#keep button");
    assert!(names.contains(&"Save as version 2".to_owned()) && names.contains(&"Save a copy".to_owned()));
    let page = finance.get(&format!("{address}?set=/months=0")).await;
    let names = html::texts(&page.body, "#keep button");
    assert!(!names.is_empty() && !names.iter().any(|it| it.starts_with("Save") || it.starts_with("Keep")));
    assert!(html::text(&page.body, "#keep").contains("Correct the fields listed above to save"));
    // Machines are leased at a price: what the price stands on cannot go alone.
    let tenure = "/option/0/place/0/owned/machines/tenure";
    let leased = format!("/scenarios/templates/ten-nodes?set={tenure}/nodes=leased&set={tenure}/price=9500");
    let page = finance.get(&leased).await;
    let text = html::text(&page.body, "#answer");
    assert!(
        text.contains("They depend on: Nodes are, The offer: ten nodes: bought → leased monthly."),
        "{text}"
    );
    assert_eq!(html::texts(&page.body, ".chips li"), ["Lease, The offer: ten nodes: 9500 × remove"]);
    assert!(text.contains("Lease of nodes 3,420,000.00"), "{text}");
    for (asked, said) in [
        ("set=/nothing=1", "Enter a field of this scenario"),
        ("set=5", "Enter a field and its value"),
        ("remove=/option/9", "a part of this scenario"),
        ("do=jump", "Enter an edit such as copy:"),
        ("version=x", "Enter a number"),
        ("colour=red", "Use set, copy"),
    ] {
        let answer = finance.get(&format!("{address}?{asked}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{asked}");
        assert!(answer.body.contains(said), "{asked}: {}", html::text(&answer.body, "main"));
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_cannot_be_computed_with_is_told_beside_its_field(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let address = kept(&mut finance).await;
    for (field, typed, described) in [
        ("/work/0/demand/gpus", "0", "without work there is no cost"),
        ("/work/0/interruptible", "140", "Found 140%. Enter 0 to 100%."),
        ("/work/0/productive", "0", "without productive hours"),
        (PRICE, "-3", "Found -3. Enter an amount from 0 to a trillion"),
        (PRICE, "0", "lists show 0 for what is not sold"),
        (PRICE, "cheap", "Enter a number without separators, such as 375000 or 3.99."),
        ("/option/0/place/0/on_demand/path", "cheaper", "Enter a yearly change such as -20%"),
        ("/months", "0", "Enter 1 to 120 months"),
        ("/months", "a year", "Enter a whole number."),
        ("/months", "-3", "Enter 0 or a higher whole number."),
        ("/currency", "dollars", "Enter an ISO 4217 currency"),
        ("/option/0/name", "", "Enter a name"),
        ("/option/0/place/0/on_demand/date", "soon", "Enter a date"),
        ("/option/2/place/0/committed/0/gpus", "many", "or best for the cheapest number"),
    ] {
        let asked = format!("{address}?{}={}", field.replace('/', "%2F"), typed.replace(' ', "+"));
        let sent = finance.get(&asked).await;
        assert_eq!(sent.status, StatusCode::SEE_OTHER, "{field}: {}", sent.body);
        let page = finance.get(sent.location()).await;
        assert_eq!(page.status, StatusCode::OK);
        let id = field.replace('/', "-");
        let beside = html::text(&page.body, &format!("#n{id} .problem"));
        assert!(beside.contains(described), "{field} = {typed}: {beside:?}");
        assert_eq!(html::attributes(&page.body, &format!("#f{id}"), "value"), [typed], "{field}");
        assert!(html::text(&page.body, "#refused").contains(described), "{field}");
        assert!(html::text(&page.body, ".answer").is_empty(), "no figure of what was not computed");
        for file in [".json", ".csv"] {
            let file = sent.location().replacen('?', &format!("{file}?"), 1);
            assert_eq!(finance.get(&file).await.status, StatusCode::BAD_REQUEST, "{file}");
        }
        let form = [("name", "x"), ("from", &format!("scenario:{}", &address[11..]))];
        let pair = sent.location().split_once("set=").unwrap().1;
        let pair = urlencoding(pair);
        let fields: Vec<(&str, &str)> = form.iter().copied().chain([("set", pair.as_str())]).collect();
        let refused = finance.submit("/scenarios", "/scenarios", &fields).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{field}");
        assert!(html::text(&refused.body, "p.notice").starts_with("Nothing was saved: "));
    }
    assert_eq!(finance.json("/scenarios.json").await.as_array().unwrap().len(), 1);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn without_a_name_it_is_computed_and_not_kept(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let address = kept(&mut finance).await;
    let page = finance.get(&format!("{address}?set=/name=+")).await;
    assert_eq!(html::text(&page.body, "#n-name .problem"), "Enter a name to save it.");
    assert!(html::text(&page.body, ".answer").starts_with("Specialty costs least"), "{}", page.body);
    let refused = finance.submit(&address, &address, &[("set", "/name= "), ("last", "1")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(html::text(&refused.body, "p.notice"), "Nothing was saved: enter a name.");
    assert_eq!(finance.json("/scenarios.json").await[0]["version"], 1);
}

/// As it was before it was put into an address.
fn urlencoding(text: &str) -> String {
    text.replace("%20", " ").replace('+', " ")
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_was_kept_with_a_yearly_change_is_read_as_a_path(db: PgPool) {
    let app = TestApp::new(db.clone());
    let mut finance = app.signed_in(Role::Finance).await;
    let address = kept(&mut finance).await;
    let old = r#"jsonb_set(content #- '{option,0,place,0,on_demand,path}', '{option,0,place,0,on_demand,yearly_change}', '"-0.2"')"#;
    let note = r#"jsonb_set(content, '{note}', to_jsonb('"yearly_change": "0.1"'::text))"#;
    for change in [old, note] {
        let update = format!("update scenario_versions set content = {change}");
        sqlx::query(sqlx::AssertSqlSafe(update)).execute(&db).await.unwrap();
    }
    assert_eq!(finance.get(&address).await.status, StatusCode::INTERNAL_SERVER_ERROR);
    let migration = include_str!("../../migrations/20261122000027_let_prices_take_paths.sql");
    sqlx::query(migration).execute(&db).await.unwrap();
    let page = finance.get(&address).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let kept: Value =
        sqlx::query_scalar("select content from scenario_versions").fetch_one(&db).await.unwrap();
    let path = &kept["option"][0]["place"][0]["on_demand"]["path"];
    assert_eq!(path, &serde_json::json!({ "by": "decline", "yearly": "0.2" }));
    assert_eq!(kept["note"], r#""yearly_change": "0.1""#, "a text stays");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_is_told_where_it_is_wrong(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    for (from, to, described) in [
        ("months = 12", "months = ", "line 3: "),
        (
            "price = 3.00",
            "price = -3",
            "option[0].place[0].on_demand.price (line 12): -3: expected an amount",
        ),
        ("gpus = 64", "gpus = 0", "work[0].demand.gpus (line 8): 0: expected more than 0: without work"),
        ("months = 12", "weeks = 52", "weeks (line 3): is no field of this table"),
    ] {
        let answer = load(&mut finance, "wrong.toml", &TEXT.replacen(from, to, 1)).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{to}");
        let said = html::text(&answer.body, ".notice");
        assert!(said.contains("wrong.toml") && said.contains(described), "{to}: {said}");
    }
    assert_eq!(finance.json("/scenarios.json").await, Value::Array(Vec::new()));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn its_files_say_the_same_and_come_back_as_the_same(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let address = kept(&mut finance).await;
    let query = format!("?set={PRICE}=2.75&set=/months=24&add=/option/0/place/0/others");
    let json = finance.json(&format!("{address}.json{query}")).await;
    let table = finance.get(&format!("{address}.csv{query}")).await;
    let mut rows = csv::Reader::from_reader(table.body.as_bytes());
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    for option in json["comparison"]["options"].as_array().unwrap() {
        let of: Vec<&csv::StringRecord> =
            rows.iter().filter(|row| row[0] == *option["name"].as_str().unwrap()).collect();
        let sum: Decimal = of.iter().map(|row| row[4].parse::<Decimal>().unwrap()).sum();
        assert_eq!(sum, decimal(&option["total"]));
    }
    assert_eq!(decimal(&json["comparison"]["options"][0]["total"]), "3083520".parse().unwrap());
    let text = finance.get(&format!("{address}.toml{query}")).await;
    assert!(text.header(header::CONTENT_DISPOSITION).contains("Three-ways.toml"));
    let scenario = file::read(&text.body).unwrap();
    assert_eq!(serde_json::to_value(&scenario).unwrap(), json["scenario"]);
    assert_eq!(serde_json::to_value(scenario.compare().unwrap()).unwrap(), json["comparison"]);
    let again = load(&mut finance, "again.toml", &text.body).await;
    let copy = finance.get(&format!("{}.json", again.location())).await;
    let copy = copy.json();
    for part in ["scenario", "comparison", "simulation", "lead"] {
        assert_eq!(copy[part], json[part], "{part}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_command_line_says_of_a_template_what_its_page_says(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let folder = tempfile::tempdir().unwrap();
    for handle in ["wrong-cloud", "four-runs"] {
        let page = format!("/scenarios/templates/{handle}");
        let mut of_page = finance.json(&format!("{page}.json")).await;
        let file = folder.path().join("scenario.toml");
        std::fs::write(&file, finance.get(&format!("{page}.toml")).await.body).unwrap();
        let arguments = ["scenario", file.to_str().unwrap(), "--json"];
        let printed = gpuledger(&folder.path().join("data"), None, &arguments).output().unwrap();
        let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
        // Which document it is, a page has to say.
        for own in ["scenario", "version"] {
            of_page.as_object_mut().unwrap().remove(own).unwrap();
        }
        assert!(printed == of_page, "{handle}");
        assert_eq!(printed["simulation"]["draws"], 10_000);
    }
}

/// Machines that less is paid for than for renting, and that cost more with what money costs; and what does not do the
/// work.
const BOUND: &str = r#"
name = "Bound"
months = 36
cost_of_capital = 0.5

[[work]]
name = "training"
demand = { shape = "flat", gpus = 8, hours_per_day = 24 }

[[option]]
name = "Rented"
place = [{ on_demand = { price = 12 } }]

[[option]]
name = "Our own"
place = [{ owned = { gpus = 16 } }]

[[option]]
name = "Too little"
place = [{ committed = [{ rate = { price = 1 }, months = 36, gpus = 1 }] }]
"#;

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn where_less_is_paid_for_another_than_the_cheapest_the_page_says_why(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let address = load(&mut finance, "bound.toml", BOUND).await.location().to_owned();
    let page = finance.get(&address).await;
    let paid = html::text(&page.body, "#paid");
    assert!(html::text(&page.body, ".answer").starts_with("Rented costs least"));
    assert!(paid.contains("Our own has the lowest payments after 36 months"), "{paid}");
    let why = "Rented costs least including the cost of capital tied up in machines. Payments leave that cost out: for Our own they";
    assert!(paid.contains(why) && paid.contains("USD lower by the end"), "{paid}");
    let answer = finance.json(&format!("{address}.json")).await;
    let of = |at: usize| decimal(&answer["comparison"]["options"][at]["paid"]);
    assert!(of(2) < of(1) && of(1) < of(0), "what does not do the work is paid least of all");
    // Without interest nothing is to be said.
    let page = finance.get(&format!("{address}?set=/cost_of_capital=0")).await;
    assert!(!html::text(&page.body, "#paid").contains("lower by the end"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn where_nothing_moves_the_answer_the_page_says_why(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let address = kept(&mut finance).await;
    let moves = async |app: &mut TestApp, edits: &str| {
        html::text(&app.get(&format!("{address}{edits}")).await.body, "#turns")
    };
    assert!(moves(&mut finance, "").await.contains("changes the advantage most"));
    let alone = moves(&mut finance, "?remove=/option/0").await;
    assert!(alone.contains("Only Specialty meets the requirements"), "{alone}");
    let none = moves(&mut finance, "?remove=/option/0&remove=/option/0").await;
    assert!(none.contains("No option meets the requirements"), "{none}");
    // One price in both, which is never high in one and low in the other.
    let same = "?set=/option/0/place/0/supplier=Lambda&set=/option/0/place/0/on_demand/price=2.50";
    let same = moves(&mut finance, same).await;
    assert!(same.contains("No input changes the difference between On demand and Specialty."), "{same}");
    assert!(same.contains("Decisions do not vary"), "{same}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_is_kept_in_versions_that_can_be_compared_and_restored(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let template = templates()[0].handle;
    let page = format!("/scenarios/templates/{template}");
    let unnamed = finance
        .submit(&page, "/scenarios", &[("from", &format!("template:{template}")), ("name", " ")])
        .await;
    assert_eq!(unnamed.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(unnamed.body.contains("enter a name"));
    let made = finance
        .submit(&page, "/scenarios", &[("from", &format!("template:{template}")), ("name", "Ours")])
        .await;
    assert_eq!((made.status, made.location()), (StatusCode::SEE_OTHER, "/scenarios/1"), "{}", made.body);

    let address = kept(&mut finance).await;
    assert_eq!(address, "/scenarios/2");
    let set = format!("{PRICE}=2");
    let fields = [("version", "1"), ("set", set.as_str()), ("last", "1"), ("reason", "a new offer")];
    let saved = finance.submit(&address, &address, &fields).await;
    assert_eq!((saved.status, saved.location()), (StatusCode::SEE_OTHER, address.as_str()), "{}", saved.body);
    let page = finance.get(&address).await;
    assert_eq!(html::text(&page.body, ".flash"), "Saved as version 2.");
    assert!(html::text(&page.body, ".answer").starts_with("On demand costs least"));
    assert!(html::text(&page.body, "#keep").contains("Version 2, saved"));
    // Who began before that does not cover it unseen, and who saves the same saves nothing.
    let late = finance.submit(&address, &address, &fields).await;
    assert_eq!(late.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(html::text(&late.body, "p.notice").contains("version 2 was saved by somebody else"));
    finance.submit(&address, &address, &[("version", "2"), ("last", "2")]).await;
    assert!(html::text(&finance.get(&address).await.body, ".flash").starts_with("Nothing changed"));

    let first = finance.get(&format!("{address}?version=1")).await;
    assert!(html::text(&first.body, "p.notice").starts_with("This is version 1 of 2."));
    assert!(html::text(&first.body, ".answer").starts_with("Specialty costs least"));
    let versions = finance.get(&format!("{address}/versions")).await;
    assert!(html::text(&versions.body, "tbody tr").contains("a new offer"));
    let totals = html::texts(&versions.body, "#difference table:first-of-type tbody tr");
    assert!(totals[0].starts_with("On demand 1,681,920.00 1,121,280.00 −560,640.00"), "{totals:?}");
    assert_eq!(
        html::texts(&versions.body, "#difference div:last-of-type tbody th"),
        ["On-demand price, On demand"]
    );
    assert_eq!(html::texts(&versions.body, "#difference div:last-of-type tbody td"), ["3", "2"]);
    let both = finance.json(&format!("{address}/versions.json?of=1&with=2")).await;
    assert_eq!(both["compared"]["changed"].as_array().unwrap().len(), 1);

    finance
        .submit(&address, &address, &[("version", "1"), ("last", "2"), ("reason", "Version 1 restored")])
        .await;
    let page = finance.get(&address).await;
    assert_eq!(html::text(&page.body, ".flash"), "Saved as version 3.");
    assert!(html::text(&page.body, ".answer").starts_with("Specialty costs least"));
    // A copy is one of its own.
    let copy = [("from", "scenario:2"), ("version", "2"), ("name", "Three ways (copy)")];
    let copy = finance.submit(&address, "/scenarios", &copy).await;
    assert_eq!(copy.location(), "/scenarios/3");
    assert!(
        html::text(&finance.get("/scenarios/3").await.body, ".answer").starts_with("On demand costs least")
    );
    let list = finance.get("/scenarios").await;
    let rows = html::texts(&list.body, "tbody tr");
    assert!(rows[0].starts_with("Three ways (copy) On demand 2.00 USD 12 1 "), "{rows:?}");
    assert!(rows[1].starts_with("Three ways Specialty 2.50 USD 12 3 "), "{rows:?}");
    let csv = finance.get("/scenarios.csv").await;
    assert_eq!(csv.body.lines().count(), 4);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_removed_is_brought_back(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let address = kept(&mut finance).await;
    let removed = finance.submit(&address, &format!("{address}/remove"), &[]).await;
    assert_eq!(removed.location(), "/scenarios");
    let list = finance.get("/scenarios").await;
    assert!(html::texts(&list.body, "tbody tr").is_empty());
    assert!(html::text(&list.body, ".lines").starts_with("Three ways"));
    let page = finance.get(&address).await;
    assert!(html::text(&page.body, ".notice").starts_with("This scenario was removed"));
    let refused = finance.submit(&address, &address, &[("set", "/months=6"), ("last", "1")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    finance.submit(&address, &format!("{address}/bring-back"), &[]).await;
    assert_eq!(html::texts(&finance.get("/scenarios").await.body, "tbody tr").len(), 1);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn leads_see_their_own_and_what_is_shared_with_them(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let mut lead = app.signed_in(Role::Lead).await;
    let token = lead_of(&app, "vision").await;
    let mut script = app.stranger();
    let address = kept(&mut finance).await;
    let hidden = [
        address.clone(),
        format!("{address}.json"),
        format!("{address}.toml"),
        format!("{address}/versions"),
    ];
    for address in &hidden {
        assert_eq!(lead.get(address).await.status, StatusCode::NOT_FOUND, "{address}");
        assert_eq!(script.read(&token, address).await.status, StatusCode::NOT_FOUND, "{address}");
    }
    let copy = lead.submit("/scenarios", "/scenarios", &[("from", "scenario:1"), ("name", "mine")]).await;
    assert_eq!(copy.status, StatusCode::NOT_FOUND);

    // With a team; with one that nobody leads, with nobody.
    for (with, described) in [
        ("Research", "Shared with the leads of research."),
        ("platform", "Not shared"),
        ("x@y.z", "Not shared"),
    ] {
        finance.submit(&address, &format!("{address}/share"), &[("with", with)]).await;
        let said = html::text(&finance.get(&address).await.body, ".flash");
        assert!(said.starts_with(described), "{with}: {said}");
    }
    for address in &hidden {
        assert_eq!(lead.get(address).await.status, StatusCode::OK, "{address}");
        assert_eq!(script.read(&token, address).await.status, StatusCode::NOT_FOUND, "{address}");
    }
    assert_eq!(lead.json("/scenarios.json").await.as_array().unwrap().len(), 1);
    // They read it and ask what if, and keep copies of their own, and no more.
    let page = lead.get(&format!("{address}?set={PRICE}=1")).await;
    assert!(html::text(&page.body, "#keep").contains("Save a copy"));
    assert!(html::texts(&page.body, "#keep button").iter().all(|label| label == "Save a copy"));
    for (action, fields) in [
        (address.clone(), &[("set", "/months=6"), ("last", "1")][..]),
        (format!("{address}/share"), &[("with", "vision")]),
        (format!("{address}/unshare"), &[("kind", "team"), ("name", "research")]),
        (format!("{address}/remove"), &[]),
        (format!("{address}/bring-back"), &[]),
    ] {
        let answer = lead.submit(&address, &action, fields).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{action}");
    }
    let fields = [("from", "scenario:1"), ("set", "/months=6"), ("name", "mine")];
    let mine = lead.submit(&address, "/scenarios", &fields).await;
    assert_eq!(mine.location(), "/scenarios/2", "{}", mine.body);
    let saved = lead.submit("/scenarios/2", "/scenarios/2", &[("set", "/months=7"), ("last", "1")]).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER);
    // With a person by their address; and no longer.
    lead.submit("/scenarios/2", "/scenarios/2/share", &[("with", "Other@example.org")]).await;
    let read = script.read(&token, "/scenarios/2.json").await;
    assert_eq!(read.status, StatusCode::OK);
    let fields = [("kind", "person"), ("name", "other@example.org")];
    lead.submit("/scenarios/2", "/scenarios/2/unshare", &fields).await;
    assert_eq!(script.read(&token, "/scenarios/2.json").await.status, StatusCode::NOT_FOUND);
    // A lead does not learn who has an account here, nor who leads a team.
    let mut answers = Vec::new();
    for with in ["other@example.org", "nobody@example.org", "lead@example.org", "vision", "unheard of"] {
        lead.submit("/scenarios/2", "/scenarios/2/share", &[("with", with)]).await;
        answers.push(html::text(&lead.get("/scenarios/2").await.body, ".flash").replace(with, "…"));
    }
    let described = "Shared with …. Leads with this address or of this team can view it.";
    assert_eq!(answers, [described; 5]);
    assert_eq!(script.read(&token, "/scenarios/2.json").await.status, StatusCode::OK);
    for (kind, name) in [("person", "other@example.org"), ("team", "vision")] {
        lead.submit("/scenarios/2", "/scenarios/2/unshare", &[("kind", kind), ("name", name)]).await;
    }
    assert_eq!(script.read(&token, "/scenarios/2.json").await.status, StatusCode::NOT_FOUND);
    lead.submit("/scenarios/2", "/scenarios/2/share", &[("with", "@")]).await;
    let said = html::text(&lead.get("/scenarios/2").await.body, ".flash");
    assert_eq!(said, "Not shared: found “@”. Enter the name of a team or an email address.");
    let long = "é".repeat(3000);
    lead.submit("/scenarios/2", "/scenarios/2/share", &[("with", &long)]).await;
    let said = html::text(&lead.get("/scenarios/2").await.body, ".flash");
    assert!(said.starts_with(&format!("Not shared: found “{}…”. Enter", "é".repeat(80))), "{said}");
    // An address is one, however it is written; and there is an end.
    sqlx::query("insert into scenario_shares values (2, 'person', 'Ada@Example.org')")
        .execute(&app.db)
        .await
        .unwrap();
    lead.submit("/scenarios/2", "/scenarios/2/share", &[("with", "ada@example.org")]).await;
    let said = html::text(&lead.get("/scenarios/2").await.body, ".flash");
    assert_eq!(said, "It is already shared with ada@example.org.");
    lead.submit("/scenarios/2", "/scenarios/2/unshare", &[("kind", "person"), ("name", "ADA@example.org")])
        .await;
    let said = html::text(&lead.get("/scenarios/2").await.body, ".flash");
    assert_eq!(said, "No longer shared with ADA@example.org.");
    sqlx::query("insert into scenario_shares select 2, 'team', 't' || n from generate_series(1, 47) n")
        .execute(&app.db)
        .await
        .unwrap();
    lead.submit("/scenarios/2", "/scenarios/2/share", &[("with", "speech")]).await;
    let said = html::text(&lead.get("/scenarios/2").await.body, ".flash");
    assert_eq!(
        said,
        "Not shared: a scenario can be shared with at most 50. Stop sharing with one of them first."
    );
    // Who sees everything sees it, too; what is removed nobody else sees.
    assert_eq!(finance.json("/scenarios.json").await.as_array().unwrap().len(), 2);
    finance.submit(&address, &format!("{address}/remove"), &[]).await;
    assert_eq!(lead.get(&address).await.status, StatusCode::NOT_FOUND);
    assert!(!lead.get("/scenarios").await.body.contains("Three ways"));
    let request = lead.request(&Method::GET, "/scenarios/2").await;
    assert_eq!(request.status, StatusCode::OK);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_shared_with_a_team_is_seen_by_leads_of_the_teams_around_it(db: PgPool) {
    let ledger = TestLedger::new(db);
    let vision = Team {
        handle: "vision".into(),
        name: "Vision Lab".into(),
        parent: Some("research".into()),
        ..Team::default()
    };
    let mut connection = ledger.db.acquire().await.unwrap();
    write(&mut connection, vec![team("research"), Entry::Team(vision), team("speech")]).await;
    drop(connection);
    let app = TestApp::of(&ledger);
    let mut finance = app.signed_in(Role::Finance).await;
    // Of research.
    let mut lead = app.signed_in(Role::Lead).await;
    let address = kept(&mut finance).await;
    let share = format!("{address}/share");
    let around = "Shared with the leads of Research, the parent team of Vision Lab, which has no lead. They can view it";
    for (with, described, is_seen) in [("speech", "Not shared", false), ("Vision Lab", around, true)] {
        finance.submit(&address, &share, &[("with", with)]).await;
        assert!(html::text(&finance.get(&address).await.body, ".flash").starts_with(described), "{with}");
        let expected = if is_seen { StatusCode::OK } else { StatusCode::NOT_FOUND };
        for hidden in [address.clone(), format!("{address}.json"), format!("{address}/versions")] {
            assert_eq!(lead.get(&hidden).await.status, expected, "{with}: {hidden}");
        }
        let seen = lead.json("/scenarios.json").await.as_array().unwrap().len();
        assert_eq!(seen, usize::from(is_seen));
    }
    // By its handle it is the same team; and with a lead of its own.
    lead_of(&app, "vision").await;
    finance.submit(&address, &share, &[("with", "vision")]).await;
    let said = html::text(&finance.get(&address).await.body, ".flash");
    let both = "the leads of Vision Lab and of Research, its parent team";
    assert!(said.starts_with(&format!("It is already shared with {both}.")), "{said}");
    let fields = [("kind", "team"), ("name", "vision")];
    finance.submit(&address, &format!("{address}/unshare"), &fields).await;
    assert_eq!(lead.get(&address).await.status, StatusCode::NOT_FOUND);
    finance.submit(&address, &share, &[("with", "vision")]).await;
    let said = html::text(&finance.get(&address).await.body, ".flash");
    assert!(said.starts_with(&format!("Shared with {both}. They can view it")), "{said}");
}

/// A lead of one team, in a script; answers their token.
async fn lead_of(app: &TestApp, team: &str) -> String {
    let other = app.person("other@example.org", Role::Lead, "none").await;
    let moved = sqlx::query("update user_teams set team = $2 where user_id = $1").bind(other.0).bind(team);
    moved.execute(&app.db).await.unwrap();
    app.token_of(other).await
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_team_that_is_called_as_another_is_spelled_sees_nothing_of_it(db: PgPool) {
    let ledger = TestLedger::new(db);
    let app = TestApp::of(&ledger);
    let mut finance = app.signed_in(Role::Finance).await;
    let mut lead = app.signed_in(Role::Lead).await;
    let token = lead_of(&app, "language").await;
    let mut script = app.stranger();
    let address = kept(&mut finance).await;
    // Until there is a configuration, there are names alone.
    finance.submit(&address, &format!("{address}/share"), &[("with", "Language")]).await;
    let said = html::text(&finance.get(&address).await.body, ".flash");
    assert!(said.starts_with("Shared with the leads of language."), "{said}");
    // Then somebody calls another team so.
    let called = Team { handle: "research".into(), name: "Language".into(), ..Team::default() };
    write(&mut ledger.db.acquire().await.unwrap(), vec![Entry::Team(called)]).await;
    assert_eq!(script.read(&token, &format!("{address}.json")).await.status, StatusCode::OK);
    assert_eq!(lead.get(&address).await.status, StatusCode::NOT_FOUND);
    assert_eq!(lead.json("/scenarios.json").await, serde_json::json!([]));
    // What leads may do is as it was: what they see, they copy, and change none of it.
    finance.submit(&address, &format!("{address}/share"), &[("with", "Language")]).await;
    assert_eq!(lead.get(&address).await.status, StatusCode::OK);
    let removed = lead.submit(&address, &format!("{address}/remove"), &[]).await;
    assert_eq!(removed.status, StatusCode::FORBIDDEN);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_price_that_two_options_have_in_common_is_told_once(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let page = finance.get("/scenarios/templates/ten-nodes").await;
    let rows = html::texts(&page.body, "#break-even > details tbody tr");
    assert_eq!(rows.iter().filter(|it| it.contains("AWS, on demand")).count(), 2, "{rows:?}");
    // What would turn it leads to where it is changed.
    let links = html::texts(&page.body, "#verdict li a");
    assert!(links.contains(&"On demand, Lambda".to_owned()), "{links:?}");
    assert!(page.body.contains("href=\"#f-option-4-place-0-on_demand-price\""));
    assert!(page.body.contains("id=\"f-option-4-place-0-on_demand-price\""));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn each_place_says_which_work_it_does_and_whether_a_base_pays(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let text = r#"
name = "two works"
months = 12
[[work]]
name = "training"
demand = { shape = "flat", gpus = 8, hours_per_day = 12 }
[[work]]
name = "serving"
demand = { shape = "flat", gpus = 8, hours_per_day = 24 }
[[option]]
name = "Reserved"
[[option.place]]
supplier = "AWS"
serves = ["training"]
committed = [{ rate = { price = 2.9 }, months = 12, gpus = "best" }]
on_demand = { price = 3 }
[[option.place]]
supplier = "AWS"
serves = ["serving"]
committed = [{ rate = { price = 2.9 }, months = 12, gpus = "best" }]
on_demand = { price = 3 }
"#;
    let loaded = load(&mut finance, "two.toml", text).await;
    let page = finance.get(loaded.location()).await;
    let heads = html::texts(&page.body, "#mix table tbody th");
    assert!(heads.iter().any(|it| it == "Reserved training, AWS"), "{heads:?}");
    assert!(heads.iter().any(|it| it == "Reserved serving, AWS"), "{heads:?}");
    let described = html::text(&page.body, "#options");
    assert!(
        described.contains("Reserved, training, AWS: buying or reserving nothing is cheapest"),
        "{described}"
    );
    assert!(!described.contains("Reserved, serving, AWS: buying or reserving nothing"), "{described}");
    // Where somebody entered that there is none, it may well pay.
    let none = format!("{}?set=/option/0/place/1/committed/0/gpus=0", loaded.location());
    let described = html::text(&finance.get(&none).await.body, "#options");
    assert!(described.contains("Reserved, training, AWS: buying or reserving nothing"), "{described}");
    assert!(!described.contains("Reserved, serving, AWS: buying or reserving nothing"), "{described}");
    let table = finance.get(&format!("{}.csv", loaded.location())).await;
    assert!(table.body.contains("\nReserved,AWS,serving,Committed for 12 months,"), "{}", table.body);
    assert!(table.body.contains("\nReserved,AWS,training,On demand,"), "{}", table.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_template_in_another_currency_is_converted_at_a_dated_rate_or_asks_for_one(db: PgPool) {
    const NODE: &str = "[name='/option/0/place/0/owned/machines/node_price']";
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    let asked = "/scenarios/templates/ten-nodes?set=/currency=JPY";
    let page = finance.get(asked).await;
    let refused = html::text(&page.body, "#refused");
    assert!(refused.contains("Enter what a US dollar is worth in this currency"), "{refused}");
    assert!(refused.contains("built-in prices are in USD"), "{refused}");
    assert_eq!(html::attributes(&page.body, NODE, "value"), ["375000"], "dollars still");

    let typed = finance.get(&format!("{asked}&set=/dollar/worth=150&set=/dollar/date=2026-10-31")).await;
    assert!(html::text(&typed.body, ".answer").contains(" JPY over 36 months"), "{}", typed.body);
    // 15 yen for a kWh are what 0.10 dollars are.
    assert!(!typed.body.contains("usually "), "{}", html::text(&typed.body, "#verdict"));
    // And 1,600 rupiah.
    let rupiah = "?set=/currency=IDR&set=/dollar/worth=16500&set=/dollar/date=2026-10-31";
    let page = finance.get(&format!("/scenarios/templates/ten-nodes{rupiah}")).await;
    assert!(html::text(&page.body, ".answer").contains(" IDR over 36 months"), "{}", page.body);
    assert!(!page.body.contains("usually "), "{}", html::text(&page.body, "#verdict"));
    assert_eq!(html::attributes(&typed.body, NODE, "value"), ["56250000"]);

    // An exchange rate of the organization is taken, with its month and source.
    let month = now().format("%Y-%m").to_string();
    let rate = [("month", month.as_str()), ("currency", "USD"), ("rate", "149.5"), ("quoted_in", "JPY")];
    finance.submit("/rates", "/rates", &rate).await;
    let page = finance.get(asked).await;
    assert!(html::text(&page.body, ".answer").contains(" JPY over 36 months"));
    assert_eq!(html::attributes(&page.body, NODE, "value"), ["56062500"]);
    assert_eq!(html::attributes(&page.body, "[name='/dollar/worth']", "value"), ["149.5"]);
    let date = html::attributes(&page.body, "[name='/dollar/date']", "value");
    assert_eq!(date, [format!("{month}-01")]);
    let source = html::attributes(&page.body, "[name='/dollar/source']", "value");
    assert!(source[0].starts_with("exchange rate of "), "{source:?}");
    // Whatever rates come later, the address says which one it was.
    let link = html::attributes(&page.body, "span.files a", "href");
    assert!(link[0].contains("set=/dollar/worth=149.5"), "{link:?}");
    let answer = finance.json(&link[1]).await;
    assert_eq!(answer["scenario"]["currency"], "JPY");
}
