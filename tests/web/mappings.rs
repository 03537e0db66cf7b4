//! An invoice that no format knows: dropped, mapped by looking at it, imported, and recognized the month after.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use sqlx::PgPool;

use crate::support::app::{Answer, encode};
use crate::support::{TestApp, TestLedger, files, html, number};

fn invoice() -> String {
    std::fs::read_to_string(files::fixture("invoices/lambda-weekly.csv")).unwrap()
}

/// What is said of the columns of that invoice, and what is the same in all rows.
const FILLED: &[(&str, &str)] = &[
    ("shape", "comma-1"),
    ("separator", "comma"),
    ("header", "1"),
    ("states", "part"),
    ("column0", "invoice"),
    ("column1", "start"),
    ("column2", "end"),
    ("column3", "description"),
    ("column4", "accelerator"),
    ("column5", "quantity"),
    ("column6", "cost"),
    ("column7", "tax"),
    ("column8", "tag"),
    ("provider", "Lambda"),
    ("account", "default"),
    ("currency", "USD"),
    ("unit", "Hours"),
    ("end-is", "included"),
    ("decimal", "point"),
    ("spread", "yes"),
];

/// Sends a file, and answers the page on which it is mapped.
async fn send(app: &mut TestApp, content: &str) -> String {
    let answer =
        app.upload_from("/mappings", "/mappings/files", &[("invoice.csv", content.as_bytes())]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    answer.location().to_owned()
}

fn asked(page: &str, fields: &[(&str, &str)]) -> String {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    format!("{page}?{}", fields.join("&"))
}

/// Maps the invoice and saves that; `then` says whether it is imported, too.
pub async fn save(app: &mut TestApp, then: &str) -> Answer {
    let page = send(app, &invoice()).await;
    let fields: Vec<_> = FILLED.iter().copied().chain([("name", "lambda-weekly"), ("then", then)]).collect();
    app.submit(&page, &page, &fields).await
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_invoice_is_mapped_imported_and_recognized_the_month_after(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;

    // What the file becomes follows each change, and nothing is imported meanwhile.
    let page = send(&mut finance, &invoice()).await;
    let first = finance.get(&page).await;
    assert_eq!(first.status, StatusCode::OK, "{}", first.body);
    assert!(
        html::text(&first.body, "#outcome").contains("Enter the provider"),
        "{}",
        html::text(&first.body, "#outcome")
    );
    let shown = finance.get(&asked(&page, FILLED)).await.body;
    let outcome = html::text(&shown, "#outcome");
    for text in [
        "4 rows: 12 charges, 0 rejected, 0 left out.",
        "September 2026",
        "6,046.05",
        "October 2026",
        "2,489.74",
        "8,535.79",
    ] {
        assert!(outcome.contains(text), "{text}: {outcome}");
    }
    assert_eq!(finance.json("/imports.json").await["count"], 0);

    let saved = save(&mut finance, "import").await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.body);
    assert!(saved.location().starts_with("/imports/batches/"), "{}", saved.location());
    finance.run_jobs().await;
    let import = finance.json("/imports/1.json").await;
    assert_eq!(import["format"], "lambda-weekly@1");
    let total = finance.json("/spend/2026-09..2026-10.json?by=month&cost=billed").await["total"].clone();
    assert_eq!(number(total["amount"].as_str().unwrap()), number("8535.79"));
    let original = finance.get("/charges/1/0/3").await.body;
    assert!(original.contains("$4,018.56"), "the row as the file has it");

    // The next file with these columns needs nobody.
    let next = invoice().replace("2026-09-21", "2026-10-05").replace("2026-09-27", "2026-10-11");
    let next = next.replace("2026-09-28", "2026-10-12").replace("2026-10-04", "2026-10-18");
    finance.import("next.csv", next).await;
    let import = finance.json("/imports/2.json").await;
    assert_eq!(import["format"], "lambda-weekly@1");
    let total = finance.json("/spend/2026-09..2026-10.json?by=month&cost=billed").await["total"].clone();
    let amount = number(total["amount"].as_str().unwrap());
    assert_eq!(amount, number("17071.58"), "weeks add up, also in a month that another one began");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_whose_columns_changed_is_mapped_from_what_was_said(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    assert_eq!(save(&mut finance, "keep").await.location(), "/mappings/lambda-weekly");
    let changed = invoice().replacen("Description", "Line item", 1);
    finance.import("changed.csv", changed.clone()).await;
    let import = finance.json("/imports/1.json").await;
    assert_eq!(import["status"], "refused");
    assert!(
        import["message"].as_str().unwrap().contains("most columns of the mapping lambda-weekly"),
        "{import}"
    );
    let page = send(&mut finance, &changed).await;
    let body = finance.get(&page).await.body;
    assert!(html::text(&body, ".notice").contains("lambda-weekly"), "{body}");
    let chosen = html::attributes(&body, "#column6 option[selected]", "value");
    assert_eq!(chosen, ["cost"]);
    assert_eq!(html::attributes(&body, "#column3 option[selected]", "value"), [""], "the new one");
    assert_eq!(html::attributes(&body, "#provider", "value"), ["Lambda"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_cannot_be_saved_says_why_and_keeps_what_was_filled_in(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let page = send(&mut finance, &invoice()).await;
    let fields: Vec<_> = FILLED.iter().copied().chain([("name", "…"), ("then", "keep")]).collect();
    let answer = finance.submit(&page, &page, &fields).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        html::text(&answer.body, "#name-hint").contains("expected lower-case letters"),
        "{}",
        html::text(&answer.body, "#name-hint")
    );
    assert_eq!(html::attributes(&answer.body, "#column6 option[selected]", "value"), ["cost"]);
    let gone = finance.get("/mappings/files/67e55044-10b1-426f-9247-bb680e5fe0c8").await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    assert!(gone.body.contains("Choose it again"));
    let answer = finance.upload_from("/mappings", "/mappings/files", &[]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer.body.contains("Choose a file."));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_mapping_is_exported_and_imported_as_a_text(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    save(&mut finance, "keep").await;
    let text = finance.get("/mappings/lambda-weekly/text").await;
    assert_eq!(text.headers["content-disposition"].to_str().unwrap().split(';').next(), Some("attachment"));
    let renamed = text.body.replace("lambda-weekly", "lambda-copy");
    let answer = finance.submit("/mappings", "/mappings/text", &[("text", &renamed)]).await;
    assert_eq!(answer.location(), "/mappings/lambda-copy");
    let wrong = finance.submit("/mappings", "/mappings/text", &[("text", "name = 5")]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let list = finance.json("/mappings.json").await;
    assert_eq!(list["mappings"].as_array().unwrap().len(), 2);
    finance.submit("/mappings/lambda-copy", "/mappings/lambda-copy/remove", &[]).await;
    assert_eq!(finance.json("/mappings.json").await["mappings"].as_array().unwrap().len(), 1);
    let page = finance.get("/mappings/lambda-copy").await.body;
    assert_eq!(html::text(&page, "h1 .badge"), "removed");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_built_in_mapping_is_listed_exported_and_saved_under_another_name_only(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let page = finance.get("/mappings").await.body;
    assert!(html::text(&page, "#built-in tbody th").contains("lambda"), "{page}");
    let text = finance.get("/mappings/lambda/text").await.body;
    assert!(text.starts_with("# Lambda's invoices"), "{text}");
    let same = finance.submit("/mappings", "/mappings/text", &[("text", &text)]).await;
    assert_eq!(same.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        same.body.contains("lambda is the name of a format that is built in. Enter another name."),
        "{}",
        same.body
    );
    let of_format = text.replace("name = \"lambda\"", "name = \"aws-cur\"");
    let answer = finance.submit("/mappings", "/mappings/text", &[("text", &of_format)]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let ours = text.replace("name = \"lambda\"", "name = \"ours\"");
    let answer = finance.submit("/mappings", "/mappings/text", &[("text", &ours)]).await;
    assert_eq!(answer.location(), "/mappings/ours");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn word_of_unknown_category_is_chosen_before_its_rows_are_charges(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let page = send(&mut finance, "Date,Type,Cost\n2026-09-01,Usage,5\n2026-09-02,Haircut,4\n").await;
    let filled = [
        ("shape", "comma-1"),
        ("column0", "start"),
        ("column1", "category"),
        ("column2", "cost"),
        ("provider", "Acme"),
        ("account", "default"),
        ("currency", "USD"),
        ("word:Usage", "Usage"),
    ];
    for (chosen, rejected) in [("", "1 rejected"), ("Credit", "0 rejected")] {
        let fields: Vec<_> = filled.into_iter().chain([("word:Haircut", chosen)]).collect();
        let shown = finance.get(&asked(&page, &fields)).await.body;
        let outcome = html::text(&shown, "#outcome");
        assert!(outcome.contains(rejected), "{chosen}: {outcome}");
        assert_eq!(
            outcome.contains("without a minus sign was taken off the cost: 4 USD"),
            !chosen.is_empty()
        );
    }
}

/// What is said of the columns of a file of hours without cost.
const HOURS: &[(&str, &str)] = &[
    ("shape", "comma-1"),
    ("column0", "start"),
    ("column1", "region"),
    ("column2", "tag"),
    ("column3", "accelerator"),
    ("column4", "quantity"),
    ("provider", "GPU Reseller"),
    ("account", "contract-7"),
    ("currency", "USD"),
    ("unit", "GPU-Hours"),
    ("out0", "Month"),
    ("out0-is", "Total"),
    ("out0-total", "yes"),
];

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_without_cost_becomes_unpriced_usage_where_somebody_says_so(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let file = std::fs::read_to_string(files::fixture("invoices/gpu-hours.csv")).unwrap();
    let page = send(&mut finance, &file).await;

    // Without a cost and a word about it, it becomes nothing.
    let asks = finance.get(&asked(&page, HOURS)).await.body;
    assert!(asks.contains("This file states no cost: its usage is priced by rate cards"), "{asks}");
    assert!(html::attributes(&asks, "input[name='priced-by'][checked]", "value").is_empty());
    let sentence = "Choose the column of the cost, or say that the file states no cost.";
    assert!(html::text(&asks, "#outcome").contains(sentence), "{asks}");
    let saved = [("name", "gpu-hours"), ("then", "import")];
    let fields: Vec<_> = HOURS.iter().copied().chain(saved).collect();
    let refused = finance.submit(&page, &page, &fields).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);

    // With it, the quantity is shown, and no cost of zero.
    let said: Vec<_> = HOURS.iter().copied().chain([("priced-by", "rate-cards")]).collect();
    let shown = finance.get(&asked(&page, &said)).await.body;
    let outcome = html::text(&shown, "#outcome");
    for text in ["4 charges, 0 rejected, 1 left out", "2,460.5 GPU-Hours", "2,560.5 GPU-Hours", "unpriced"] {
        assert!(outcome.contains(text), "{text}: {outcome}");
    }
    assert_eq!(html::attributes(&shown, "#outcome a", "href"), ["/rate-cards"]);
    assert_eq!(html::attributes(&shown, "#hidden input[name='priced-by']", "value"), ["rate-cards"]);
    let with_cost: Vec<_> = said
        .iter()
        .map(|(name, value)| (*name, if *value == "quantity" { "cost" } else { *value }))
        .collect();
    let shown = finance.get(&asked(&page, &with_cost)).await.body;
    let asked_still = html::attributes(&shown, "input[name='priced-by']", "value");
    assert!(asked_still.is_empty(), "a cost that is chosen afterwards takes its place: {asked_still:?}");

    let fields: Vec<_> = said.iter().copied().chain(saved).collect();
    let answer = finance.submit(&page, &page, &fields).await;
    assert!(answer.location().starts_with("/imports/batches/"), "{}", answer.location());
    finance.run_jobs().await;
    let month = finance.json("/spend/2026-09.json?by=provider").await;
    assert_eq!(month["unpriced"]["accelerator_hours"], "2460.5");
    assert_eq!(number(month["total"]["amount"].as_str().unwrap()), number("0"));
    ledger.assert_balanced().await;

    // The text says it, and one that lost its cost is refused.
    let mapping = finance.get("/mappings/gpu-hours").await.body;
    assert!(mapping.contains("priced by rate cards"), "{mapping}");
    let text = finance.get("/mappings/gpu-hours/text").await.body;
    let lost = text.replace("priced-by = \"rate-cards\"\n", "");
    assert_ne!(lost, text);
    let answer = finance.submit("/mappings", "/mappings/text", &[("text", &lost)]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer.body.contains("found neither cost nor priced-by"), "{}", answer.body);
    let copy = text.replace("gpu-hours\"", "hours-copy\"");
    let answer = finance.submit("/mappings", "/mappings/text", &[("text", &copy)]).await;
    assert_eq!(answer.location(), "/mappings/hours-copy");

    // A column that is new may be the cost, so it is asked again.
    let with_more =
        |(at, line): (usize, &str)| format!("{line},{}\n", if at == 0 { "Price" } else { "9.00" });
    let more: String = file.lines().enumerate().map(with_more).collect();
    let page = send(&mut finance, &more).await;
    let body = finance.get(&page).await.body;
    assert!(html::attributes(&body, "input[name='priced-by'][checked]", "value").is_empty());
    assert!(html::text(&body, "#outcome").contains(sentence), "{body}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn texts_of_a_file_are_escaped(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let hostile = "Date,<script>alert(1)</script>\n2026-09-01,\"<img src=x onerror=alert(1)>\"\n";
    let page = send(&mut finance, hostile).await;
    let body = finance.get(&page).await.body;
    assert!(!body.contains("<script>alert") && !body.contains("<img src=x"), "{body}");
}

/// As a tool writes it whose columns have no usual names.
const OF_TOOL: &str = "Box,Since,For_s,How many,What,Who,Busy\n\
    node-s1,2026-10-05T10:00:00Z,3600,4,train-1,ana,50\n\
    node-s1,2026-10-05T10:00:00Z,3600,4,,,\n";

/// Says what the columns of such a file are, and imports it.
pub async fn save_usage(app: &mut TestApp) -> Answer {
    let page = format!("{}/usage", send(app, OF_TOOL).await);
    let fields = [
        ("column0", "node"),
        ("column1", "from"),
        ("column2", "seconds"),
        ("column3", "accelerators"),
        ("column4", "holder"),
        ("column5", "user"),
        ("column6", "utilization"),
        ("name", "Our tool"),
    ];
    app.submit(&page, &page, &fields).await
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn usage_with_columns_of_other_names_is_mapped_imported_and_recognized_again(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    finance.import("bill.csv", super::usage::bill()).await;
    let bill = send(&mut finance, OF_TOOL).await;
    assert!(finance.get(&bill).await.body.contains("Map it as usage"));
    let page = format!("{bill}/usage");
    let shown = finance.get(&page).await;
    assert!(html::text(&shown.body, "#mapping").contains("train-1"), "{}", shown.body);

    // What cannot be is said, and nothing is saved.
    for (fields, problem) in [
        (&[("column0", "node"), ("name", "x")][..], "Say which column is the time from which it was held."),
        (
            &[("column0", "node"), ("column1", "node"), ("name", "x")],
            "Two columns are “Machine”. Choose one.",
        ),
        (&[("column0", "node"), ("column1", "from"), ("column2", "to"), ("name", "")], "Enter a name"),
        (
            &[("column0", "node"), ("column1", "from"), ("column2", "to"), ("name", "x")],
            "Row 1, For_s: found “3600”, expected a time such as",
        ),
    ] {
        let refused = finance.submit(&page, &page, fields).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(refused.body.contains(problem), "{problem}: {}", refused.body);
    }
    let fields = [
        ("column0", "node"),
        ("column1", "from"),
        ("column2", "seconds"),
        ("column3", "accelerators"),
        ("column4", "holder"),
        ("column5", "account"),
        ("column6", "utilization"),
        ("do", "preview"),
    ];
    let preview = finance.submit(&page, &page, &fields).await;
    assert_eq!(preview.status, StatusCode::OK);
    assert_eq!(
        html::texts(&preview.body, "#preview tbody tr"),
        [
            "node-s1 Oct 5, 2026, 10:00 UTC Oct 5, 2026, 11:00 UTC 4.0 train-1 ana 50.0%",
            "node-s1 Oct 5, 2026, 10:00 UTC Oct 5, 2026, 11:00 UTC 4.0 held by nobody not measured"
        ]
    );
    assert!(!finance.get("/mappings").await.body.contains("Columns of usage"));

    let saved = save_usage(&mut finance).await;
    assert!(saved.location().starts_with("/imports/batches/"), "{}", saved.body);
    finance.run_jobs().await;
    let it = finance.json("/jobs/2026-10.json").await;
    let hours = |name: &str| it["hours"][name].as_str().unwrap().to_owned();
    assert_eq!([hours("held"), hours("used"), hours("unheld")], ["4", "2", "4"]);

    // The next file is read by it, until it is removed.
    let next = OF_TOOL.replace("10:00", "11:00").replace("node-s1", "node-s2");
    let uploaded = finance.upload(&[("next.csv", next.as_bytes())]).await;
    finance.run_jobs().await;
    assert!(finance.get(uploaded.location()).await.body.contains("Usage import 2"));
    let mappings = finance.get("/mappings").await;
    assert!(html::text(&mappings.body, "#usage").contains("Our tool"), "{}", mappings.body);
    finance.submit("/mappings", "/mappings/usage/1/remove", &[]).await;
    let uploaded = finance.upload(&[("more.csv", OF_TOOL.replace("10:00", "12:00").as_bytes())]).await;
    finance.run_jobs().await;
    let refused = finance.get(uploaded.location()).await;
    assert!(refused.body.contains("usage of GPUs as described at Imports, Usage"), "{}", refused.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_long_file_is_previewed_by_whole_rows(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    // Wherever it is cut, that is within quotes.
    let name = "train\n".repeat(50);
    let row = |n: u32| format!("node-{n},2026-10-05T10:00:00Z,2026-10-05T11:00:00Z,\"{name}\"\n");
    let file: String =
        std::iter::once("machine,start,end,what\n".to_owned()).chain((0..3_000).map(row)).collect();
    let page = format!("{}/usage", send(&mut finance, &file).await);
    let preview = finance.get(&page).await.body;
    assert_eq!(html::texts(&preview, "#preview tbody tr").len(), 5, "{preview}");
    assert!(!preview.contains("would be rejected"), "{preview}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_csv_of_usage_names_accounts_and_says_which_columns_were_not_used(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    finance.import("bill.csv", super::usage::bill()).await;
    let file = "node,from,to,GPUs,job,Team,pod,floor\n\
        node-s1,2026-10-05T10:00:00Z,2026-10-05T12:00:00Z,4,train-1,vision,p,3\n\
        node-s2,2026-10-05T10:00:00Z,2026-10-05T11:00:00Z,4,train-1,nlp,p,3\n";
    let uploaded = finance.upload(&[("usage.csv", file.as_bytes())]).await;
    finance.run_jobs().await;
    let result = finance.get(uploaded.location()).await.body;
    let result = html::text(&result, ".outcome");
    for part in [
        "12.0 hours of GPUs and slices seen, held or not, from Oct 5, 2026, 10:00 UTC to Oct 5, 2026, 12:00 UTC",
        "Columns that were not used: pod, floor.",
        "Jobs of October 2026",
    ] {
        assert!(result.contains(part), "{part}: {result}");
    }
    let it = finance.json("/jobs/2026-10.json?by=account").await;
    let groups: Vec<_> = it["groups"].as_array().unwrap().iter().collect();
    let of = |key: &str| groups.iter().find(|it| it["key"] == key).unwrap()["accelerator_hours"].clone();
    // Workloads of one name that two teams run are two.
    assert_eq!([of("vision"), of("nlp")], ["8", "4"]);

    // Another file that names other jobs of the same hours is imported, and says that one of them counts; and what is wrong is said
    // by the names of the file.
    let other = "Node,from,Duration,GPUs,job\n\
        node-s1,2026-10-05T10:00:00Z,3600,8,other\n\
        node-s1,2026-10-05T12:00:00Z,soon,8,other\n";
    let uploaded = finance.upload(&[("other.csv", other.as_bytes())]).await;
    finance.run_jobs().await;
    let result = html::text(&finance.get(uploaded.location()).await.body, ".outcome");
    for part in [
        "Machine node-s1: usage import 1 names other jobs there in the same hours",
        "column Duration: found soon; expected a number of seconds",
    ] {
        assert!(result.contains(part), "{part}: {result}");
    }
    // A page behind the last is the last.
    let page = finance.get("/jobs/2026-10?page=99").await;
    assert!(page.body.contains("train-1"), "{}", page.body);
}
