//! The imports pages: whom they refuse, what they do not let in, what they escape.

use std::path::Path;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use futures_util::stream;
use gpuledger::accounts::Role;
use sqlx::PgPool;

use crate::support::app::{file_head, upload_of};
use crate::support::{Focus, TestApp, TestLedger, html};

const HOSTILE: &str = "<script>alert(1)</script>";

fn hour(cost: &str) -> Focus {
    Focus::new().hour("acme", "s1", "2026-09-05T10", cost, "vision")
}

async fn count(app: &TestApp, table: &'static str) -> i64 {
    let sql = format!("select count(*) from {table}");
    sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(&app.db).await.unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_empty_page_says_what_to_do(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Finance).await;
    let page = app.get("/imports").await;
    assert_eq!(html::text(&page.body, ".empty h2"), "Nothing is imported yet");
    assert_eq!(html::attributes(&page.body, "input[type=file]", "name"), ["files"]);
    assert_eq!(html::text(&page.body, "nav [aria-current=page]"), "Imports");
    assert_eq!(
        app.get("/imports.json").await.body,
        concat!(
            r#"{"running":[],"waiting":[],"count":0,"rows_read":0,"charges":0,"rejected":0,"skipped":0,"#,
            r#""counted":[],"lines":[]}"#
        )
    );
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_finds_no_way_in(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    admin.import("a.csv", hour("10")).await;
    let mut lead = app.signed_in(Role::Lead).await;
    assert!(!lead.get("/account").await.body.contains("/imports"));
    for path in
        ["/imports", "/imports/1", "/imports/1.json", "/imports/1/files/0", "/imports/1/rejections.csv"]
    {
        let answer = lead.get(path).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}");
        assert!(!answer.body.contains("acme"), "{path}");
    }
    let token = lead.token("/account").await;
    for action in ["undo", "replace", "add", "discard"] {
        let answer = lead.post(&format!("/imports/1/{action}"), &[("csrf", &token)]).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{action}");
    }
    let mut body = lead.upload_head("/account").await;
    body.extend(format!("{}a\r\n--B--\r\n", file_head("a.csv")).bytes());
    assert_eq!(lead.send(upload_of("/imports", Body::from(body))).await.status, StatusCode::FORBIDDEN);
    assert_eq!((count(&app, "jobs").await, app.incoming().len()), (1, 0));
    assert!(admin.get("/imports/1").await.body.contains("counts"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn no_file_is_refused_with_a_sentence(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Finance).await;
    // What a browser sends when nothing was chosen: a file without a name.
    for files in [&[][..], &[("", &b""[..])]] {
        let answer = app.upload(files).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        let problem = html::text(&answer.body, ".drop .problem");
        assert_eq!(problem, "Choose at least one billing export.");
    }
    assert_eq!((count(&app, "jobs").await, app.incoming().len()), (0, 0));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_connection_that_breaks_half_way_leaves_nothing(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let head = app.upload_head("/imports").await;
    let broken = || std::io::Error::new(std::io::ErrorKind::ConnectionReset, "gone");
    let parts = |ends_with_error: bool| {
        let mut parts = vec![
            Ok(Bytes::from(head.clone())),
            Ok(Bytes::from(file_head("whole.csv"))),
            Ok(Bytes::from(hour("10").text().to_owned())),
            Ok(Bytes::from(format!("\r\n{}", file_head("half.csv")))),
            Ok(Bytes::from(vec![b'x'; 1 << 20])),
        ];
        if ends_with_error {
            parts.push(Err(broken()));
        }
        Body::from_stream(stream::iter(parts))
    };
    // Once with an error of the connection, once with an end before the last boundary.
    for ends_with_error in [true, false] {
        let answer = app.send(upload_of("/imports", parts(ends_with_error))).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        assert!(html::text(&answer.body, "main").contains("The upload was interrupted"), "{}", answer.body);
        assert_eq!((count(&app, "jobs").await, app.incoming().len()), (0, 0));
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_browser_that_goes_away_leaves_nothing(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let head = app.upload_head("/imports").await;
    let (waiting, arrived) = tokio::sync::oneshot::channel();
    let parts = stream::iter([head, file_head("half.csv").into_bytes(), vec![b'x'; 1 << 20]]);
    let parts = futures_util::StreamExt::chain(
        futures_util::StreamExt::map(parts, |part| Ok::<_, std::io::Error>(Bytes::from(part))),
        stream::once(async move {
            waiting.send(()).unwrap();
            std::future::pending::<Result<Bytes, std::io::Error>>().await
        }),
    );
    // The server drops what it was doing for a connection that is closed.
    tokio::select! {
        _ = app.send(upload_of("/imports", Body::from_stream(parts))) => unreachable!("the body never ends"),
        _ = arrived => {}
    }
    assert_eq!((count(&app, "jobs").await, app.incoming().len()), (0, 0));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_name_is_only_a_name(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let contents = [hour("10"), hour("11"), hour("12"), hour("13")];
    let names = ["../../../../tmp/gpuledger-escaped.csv", "/etc/passwd", "..", &format!("{HOSTILE}.csv")];
    let files: Vec<_> =
        names.iter().zip(&contents).map(|(name, file)| (*name, file.text().as_bytes())).collect();
    let answer = app.upload(&files).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let batch = app.incoming().pop().unwrap();
    let mut kept: Vec<_> =
        std::fs::read_dir(batch).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    kept.sort();
    assert_eq!(kept, ["0", "1", "2", "3"]);
    app.run_jobs().await;
    assert!(!std::path::Path::new("/tmp/gpuledger-escaped.csv").exists());
    assert!(app.incoming().is_empty());

    let batch = app.get(answer.location()).await;
    assert!(batch.body.contains("tmp/gpuledger-escaped.csv") && !batch.body.contains("../"));
    for path in [answer.location(), "/imports", "/imports/4"] {
        let page = app.get(path).await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(!page.body.contains(HOSTILE), "{path}");
        assert!(html::texts(&page.body, "script").iter().all(String::is_empty), "{path}");
    }
    let download = app.get("/imports/4/files/0").await;
    assert_eq!(
        download.header("content-disposition"),
        "attachment; filename=\"script_.csv\"; filename*=UTF-8''script%3E.csv"
    );
    assert_eq!(download.header("content-type"), "application/octet-stream");
    assert_eq!(download.header("x-content-type-options"), "nosniff");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_a_file_says_is_escaped(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let text = hour("10").text().replace("acme", HOSTILE).replace("NeoCloud", "<b>Cloud</b>");
    let broken = text.lines().nth(1).unwrap().replace(",10,10,10,10,", &format!(",{HOSTILE},1,1,1,"));
    let header = text.lines().next().unwrap().to_owned() + ",<i>x";
    let lines: Vec<_> = text.lines().skip(1).map(|line| format!("{line},1")).collect();
    app.import("a.csv", format!("{header}\n{}\n{broken},1\n", lines.join("\n"))).await;
    let page = app.get("/imports/1").await;
    assert_eq!(html::texts(&page.body, "#rejected td").len(), 3);
    assert!(html::text(&page.body, "#rejected").contains(HOSTILE));
    assert!(!page.body.contains("<b>Cloud") && !page.body.contains("<i>x") && !page.body.contains(HOSTILE));
    assert!(html::text(&page.body, "main").contains("<i>x"));
    let csv = app.get("/imports/1/rejections.csv").await;
    assert!(csv.header("content-disposition").contains("delivery-1-rejections.csv"));
    assert_eq!(csv.body.lines().next(), Some("file,row,column,found,expected"));
    assert!(csv.body.contains("a.csv,2,BilledCost,"), "{}", csv.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_not_there_is_not_found(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let token = app.token("/imports").await;
    for path in [
        "/imports/7",
        "/imports/seven",
        "/imports/7.json",
        "/imports/7/files/0",
        "/imports/7/rejections.csv",
        "/imports/batches/7",
        "/imports/batches/67e55044-10b1-426f-9247-bb680e5fe0c8",
    ] {
        assert_eq!(app.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    for action in ["undo", "replace", "add", "discard"] {
        let answer = app.post(&format!("/imports/7/{action}"), &[("csrf", &token)]).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{action}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_part_that_changes_comes_alone_and_stops_asking(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let answer = app.upload(&[("a.csv", hour("10").as_ref())]).await;
    let batch = answer.location().to_owned();

    let polls = |body: &str| html::attributes(body, "[hx-trigger]", "hx-get");
    assert_eq!(polls(&app.get(&batch).await.body), [batch.as_str()]);
    assert!(app.get(&batch).await.body.contains("http-equiv=\"refresh\""));
    assert_eq!(polls(&app.get("/imports").await.body), ["/imports"]);
    let part = app.fragment("/imports").await;
    assert!(part.body.trim_start().starts_with("<section id=\"running\""), "{}", part.body);
    assert_eq!(part.header("hx-retarget"), "");

    app.run_jobs().await;
    let part = app.fragment(&batch).await;
    assert!(polls(&part.body).is_empty() && part.body.trim_start().starts_with("<div id=\"live\""));
    let part = app.fragment("/imports").await;
    assert_eq!(part.header("hx-retarget"), "#live");
    assert!(polls(&part.body).is_empty() && part.body.contains("id=\"history\""));
    assert!(!app.get(&batch).await.body.contains("http-equiv"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_delivery_shows_what_it_changed_and_leads_to_the_charges(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Finance).await;
    app.import("a.csv", hour("10")).await;
    app.import("b.csv", hour("12.50")).await;
    let page = app.get("/imports/2").await;
    assert_eq!(html::texts(&page.body, "#changes tbody .num"), ["10.00", "12.50", "+2.50"]);
    assert_eq!(html::texts(&page.body, "#changes tfoot .num"), ["10.00", "12.50", "+2.50"]);
    let links = html::attributes(&page.body, "#changes tbody td a", "href");
    assert_eq!(links.len(), 2);
    for (link, cost) in links.iter().zip(["10.00", "12.50"]) {
        let charges = app.get(link).await;
        assert_eq!(charges.status, StatusCode::OK, "{link}");
        assert_eq!(html::texts(&charges.body, "tbody .num").last().unwrap(), cost, "{link}");
    }
    for by in ["account", "service", "key"] {
        let page = app.get(&format!("/imports/2/changes/{by}?cost=list")).await;
        assert_eq!(html::texts(&page.body, "tfoot .num"), ["10.00", "12.50", "+2.50"], "{by}");
        let json = app.json(&format!("/imports/2/changes/{by}.json")).await;
        assert_eq!(json["lines"][0]["difference"], "2.50");
        assert_eq!(json["totals"][0]["difference"], "2.50");
        let csv = app.get(&format!("/imports/2/changes/{by}.csv")).await;
        assert!(csv.body.lines().nth(1).unwrap().ends_with("USD,10,12.50,2.50,changed,"), "{}", csv.body);
    }
    // A line leads to exactly the charges of its key.
    let page = app.get("/imports/2/changes/key").await;
    let link = html::attributes(&page.body, "tbody td a", "href").remove(1);
    assert!(link.contains("key="), "{link}");
    assert_eq!(html::texts(&app.get(&link).await.body, "tbody .num").last().unwrap(), "12.50");
    assert_eq!(app.get("/charges/2026-09?key=1").await.status, StatusCode::BAD_REQUEST);
    assert!(
        html::text(&app.get("/imports/2/changes/key?page=7").await.body, ".empty").contains("no such page")
    );
    assert_eq!(app.get("/imports/2/changes/color").await.status, StatusCode::NOT_FOUND);
    assert_eq!(app.get("/imports/2/changes/key?cost=free").await.status, StatusCode::BAD_REQUEST);
    assert_eq!(app.get("/imports/9/changes/key").await.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn amortized_cost_beside_the_actual_one_shows_the_effective_cost_that_it_changed(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    for (name, case) in [("actual.csv", "enterprise-actual"), ("amortized.csv", "enterprise-amortized")] {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/exports/azure-usage").join(case);
        ledger.deliver(name, std::fs::read_to_string(path.join("input.csv")).unwrap()).await;
    }
    let of_actual = html::text(&finance.get("/imports/1").await.body, "#changes");
    assert!(of_actual.contains("Total, billed cost"), "{of_actual}");
    let page = finance.get("/imports/2").await.body;
    let said = html::text(&page, "#changes");
    assert!(said.contains("Changes effective cost; billed cost is the same"), "{said}");
    assert!(said.contains("44,286.922,027.42−42,259.50"), "{said}");
    let links = html::attributes(&page, "#changes .ways a", "href");
    assert!(links.iter().all(|link| link.ends_with("?cost=effective")), "{links:?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rejected_rows_are_downloaded_corrected_and_added(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Finance).await;
    let broken = hour("7").text().lines().nth(1).unwrap().replace(",7,7,7,7,", ",=seven,7,7,7,");
    app.import_and_publish("a.csv", hour("10").line(&broken).line("short,row")).await;
    let page = app.get("/imports/1").await;
    let link = html::attributes(&page.body, "#rejected p a", "href").remove(0);
    assert_eq!(link, "/imports/1/files/0/rejected");
    let answer = app.get(&link).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.header("content-disposition").contains("delivery-1-file-0-rejected.csv"));
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(answer.body.as_bytes());
    let header = reader.headers().unwrap().clone();
    assert_eq!(header.iter().rev().take(5).last(), Some("gpuledger/Row"));
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let column = |name: &str| header.iter().position(|column| column == name).unwrap();
    let cells = |name: &str| rows.iter().map(|row| &row[column(name)]).collect::<Vec<_>>();
    assert_eq!(cells("BilledCost"), ["'=seven", ""], "no spreadsheet runs it");
    assert_eq!(cells("gpuledger/Row"), ["delivery-1/file-0/row-2", "delivery-1/file-0/row-3"]);
    assert_eq!(cells("gpuledger/Column")[0], "BilledCost");

    // Each opens, and says why it is no charge.
    let row = app.get("/charges/1/0/2").await;
    assert!(html::text(&row.body, ".notice").contains("rejected for its column BilledCost"), "{}", row.body);
    assert!(!html::texts(&row.body, "table.row .used").is_empty());
    assert_eq!(app.get("/charges/1/0/4").await.status, StatusCode::NOT_FOUND);
    let mut lead = app.signed_in(Role::Lead).await;
    assert_eq!(lead.get("/charges/1/0/2").await.status, StatusCode::NOT_FOUND);

    assert_eq!(missing(&mut app).await, Missing { total: 10, rows: 2, of_deliveries: vec![(1, 2)] });

    // One alone, and the other is what is left to download.
    let one: Vec<_> = answer.body.lines().take(2).map(|line| line.replace("=seven", "7")).collect();
    app.import("one.csv", one.join("\n")).await;
    assert_eq!(missing(&mut app).await, Missing { total: 17, rows: 1, of_deliveries: vec![(1, 1)] });
    let first = app.get("/imports/1").await.body;
    assert_eq!(html::text(&first, "#corrected"), "1 of them was imported again, as import 2.");
    assert!(html::text(&first, "#missing").starts_with("1 of them is missing from every figure."), "{first}");
    let left = app.get(&link).await.body;
    assert!(left.lines().count() == 2 && left.contains("delivery-1/file-0/row-3"), "{left}");
    app.submit("/imports/2", "/imports/2/undo", &[]).await;
    assert_eq!(missing(&mut app).await, Missing { total: 10, rows: 2, of_deliveries: vec![(1, 2)] });

    // One is corrected, the other is as wrong as before. It covers the day and the sub-account of what is there, and adds
    // to it all the same, without a question.
    let corrected = answer.body.replace("=seven", "7");
    let page = app.import("corrected.csv", &corrected).await;
    assert!(!page.body.contains("Say whether"), "{}", page.body);
    assert_eq!(missing(&mut app).await, Missing { total: 17, rows: 1, of_deliveries: vec![(1, 1)] });
    let first = app.get("/imports/1").await.body;
    assert_eq!(html::text(&first, "#corrected"), "1 of them was imported again, as import 3.");
    assert_eq!(html::attributes(&app.get("/imports/3").await.body, "#corrects a", "href"), ["/imports/1"]);

    // What is wrong still is exported again, here as it was and there under the header of the export and with its new
    // reason.
    assert!(app.get(&link).await.body.contains("delivery-1/file-0/row-3"));
    let again = app.get("/imports/3/files/0/rejected").await.body;
    assert_eq!(again.lines().next(), answer.body.lines().next());
    assert!(again.contains("delivery-3/file-0/row-2") && !again.contains("delivery-1"), "{again}");
    let good = corrected.lines().nth(1).unwrap().replace("delivery-1", "delivery-3");
    let third = format!("{}\n{good}\n", again.lines().next().unwrap());
    app.import("third.csv", &third).await;
    assert_eq!(missing(&mut app).await, Missing { total: 24, rows: 0, of_deliveries: vec![] });

    // Undone, its rows are missing again; what corrected a row of it stands for the row that it corrected.
    app.submit("/imports/3", "/imports/3/undo", &[]).await;
    assert_eq!(missing(&mut app).await, Missing { total: 17, rows: 1, of_deliveries: vec![(1, 1)] });
    app.submit("/imports/4", "/imports/4/undo", &[]).await;
    assert_eq!(missing(&mut app).await, Missing { total: 10, rows: 2, of_deliveries: vec![(1, 2)] });
    // An earlier state of the ledger is what it was.
    for (sequence, rows) in [(1, 2), (2, 1), (3, 2), (4, 1), (5, 0), (6, 1), (7, 2)] {
        let spend = app.json(&format!("/spend/2026-09.json?sequence={sequence}")).await;
        assert_eq!(spend["rejected_rows"], rows, "as of {sequence}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn corrected_rows_go_with_the_delivery_that_lacked_them(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Finance).await;
    app.import("whole.csv", hour("17")).await;
    let broken = hour("7").text().lines().nth(1).unwrap().replace(",7,7,7,7,", ",seven,7,7,7,");
    app.import("broken.csv", hour("10").line(&broken)).await;
    app.submit("/imports/2", "/imports/2/replace", &[]).await;
    assert_eq!(missing(&mut app).await, Missing { total: 10, rows: 1, of_deliveries: vec![(2, 1)] });
    let rows = app.get("/imports/2/files/0/rejected").await.body;

    // Corrected in two goes: what was wrong once more is corrected from the first file that was exported.
    app.import("worse.csv", rows.replace("seven", "siete")).await;
    assert_eq!(missing(&mut app).await, Missing { total: 10, rows: 1, of_deliveries: vec![(2, 1)] });
    let page = app.get("/imports/3").await.body;
    let said = html::text(&page, "#rejected p");
    assert_eq!(said, "It was a correction and is still missing from import 2. Correct it there.");
    app.import("corrected.csv", rows.replace("seven", "7")).await;
    let whole = Missing { total: 17, rows: 0, of_deliveries: vec![] };
    assert_eq!(missing(&mut app).await, whole);

    let page = app.get("/imports/2").await.body;
    let question = html::text(&page, ".confirm p");
    assert!(question.contains("Import 1 becomes active instead."), "{question}");
    assert!(question.contains("Import 4 corrects its rows and is undone too."), "{question}");
    app.submit("/imports/2", "/imports/2/undo", &[]).await;
    assert_eq!(missing(&mut app).await, whole, "as it was before, and no row twice");
    app.submit("/imports/1", "/imports/1/undo", &[]).await;
    let months = app.get("/spend/2026-09.json?cost=billed").await.body;
    assert!(months.contains(r#""groups":[]"#), "{months}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn corrected_rows_that_would_count_twice_are_asked_about(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Finance).await;
    let broken = hour("7").text().lines().nth(1).unwrap().replace(",7,7,7,7,", ",seven,7,7,7,");
    app.import_and_publish("a.csv", hour("10").line(&broken)).await;
    let corrected = app.get("/imports/1/files/0/rejected").await.body.replace("seven", "7");
    let (header, row) = corrected.trim_end().split_once('\n').unwrap();
    let unmarked = row.replace("delivery-1/file-0/row-2", "2");
    for (file, doubt) in [
        (format!("{header}\n{row}\n{unmarked}\n"), "not every row says"),
        (format!("{header}\n{}\n", row.replace("row-2", "row-1")), "not every row says"),
        (format!("{header}\n{}\n", row.replace("delivery-1", "delivery-9")), "not every row says"),
        (format!("{header}\n{row}\n{row}\n"), "two of its rows correct the same one"),
    ] {
        let page = app.import("corrected.csv", &file).await;
        assert!(html::text(&page.body, "#live").contains(doubt), "{doubt}: {}", page.body);
        assert_eq!(missing(&mut app).await, Missing { total: 10, rows: 1, of_deliveries: vec![(1, 1)] });
    }
    app.import("corrected.csv", &corrected).await;
    let whole = Missing { total: 17, rows: 0, of_deliveries: vec![] };
    assert_eq!(missing(&mut app).await, whole);
    // Loaded once more with another mistake corrected, or by somebody else.
    let page = app.import("again.csv", corrected.replace(",7,", ",7.0,")).await;
    let live = html::text(&page.body, "#live");
    assert!(live.contains("were corrected before and would count twice"), "{live}");
    assert_eq!(missing(&mut app).await, whole);

    // A whole export of the month that lacks the row again asks too, and one that has it takes the place of all.
    let page = app.import("b.csv", hour("10").line(&broken).line("")).await;
    let live = html::text(&page.body, "#live");
    assert!(live.contains("1 here, 0 there"), "{live}");
    app.import("c.csv", hour("11").line(&broken.replace("seven", "7"))).await;
    assert_eq!(missing(&mut app).await, Missing { total: 18, rows: 0, of_deliveries: vec![] });
    let page = app.import("late.csv", corrected.replace(",7,", ",7.00,")).await;
    let live = html::text(&page.body, "#live");
    assert!(live.contains("the import whose rows they were is not active"), "{live}");
}

#[derive(Debug, PartialEq)]
struct Missing {
    /// Billed in September.
    total: u32,
    rows: i64,
    of_deliveries: Vec<(i64, i64)>,
}

/// The rejected rows of September that are missing: by the spend page, by its table of accounts, by the invoices, and
/// by what needs attention, which must agree.
async fn missing(app: &mut TestApp) -> Missing {
    let spend = app.json("/spend/2026-09.json?cost=billed").await;
    let rows = spend["rejected_rows"].as_i64().unwrap();
    let overview = app.json("/overview.json").await;
    let attention = overview["attention"].as_array().unwrap().iter();
    let of_deliveries: Vec<_> = attention
        .filter(|item| item["kind"] == "rejected")
        .map(|item| (item["delivery"].as_i64().unwrap(), item["rows"].as_i64().unwrap()))
        .collect();
    assert_eq!(of_deliveries.iter().map(|(_, rows)| rows).sum::<i64>(), rows, "{of_deliveries:?}");
    let invoices = app.json("/invoices/2026-09.json").await;
    assert_eq!(invoices["lines"][0]["rejected_rows"], rows, "{invoices}");
    let page = app.get("/spend/2026-09").await.body;
    let data_status = html::texts(&page, "details.data table.fit td:last-child").pop();
    assert_eq!(data_status, Some(rows.to_string()));
    for (delivery, rows) in &of_deliveries {
        let delivery = app.json(&format!("/imports/{delivery}.json")).await;
        assert_eq!(delivery["missing_rows"], *rows);
    }
    let mut db = app.db.acquire().await.unwrap();
    let equations = gpuledger::ledger::check(&mut db).await.unwrap();
    assert!(equations.iter().all(|equation| equation.holds), "{equations:?}");
    let total = spend["total"]["amount"].as_str().unwrap().parse().unwrap();
    Missing { total, rows, of_deliveries }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_history_is_narrowed_and_sorted_by_its_address(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let mut finance = app.signed_in(Role::Finance).await;
    admin.import("acme.csv", hour("10")).await;
    finance.import("again.csv", hour("11.50")).await;
    let other = Focus::new().hour("globex", "s1", "2026-10-05T10", "7", "x").hour(
        "globex",
        "s1",
        "2026-10-06T10",
        "7",
        "x",
    );
    finance.import("globex.csv", other).await;
    finance.import("picture.png", b"\x89PNG\r\n\x1a\n\0\0").await;

    let mut shown = async |query: &str| {
        let page = finance.get(&format!("/imports{query}")).await;
        assert_eq!(page.status, StatusCode::OK, "{query}");
        let lines = html::texts(&page.body, "#history tbody th a");
        let total = html::texts(&page.body, "#history tfoot td").into_iter().next().unwrap_or_default();
        (lines.join(" "), total)
    };
    for (query, lines, total) in [
        ("", "picture.png globex.csv again.csv acme.csv", "25.50 USD active"),
        ("?sort=oldest", "acme.csv again.csv globex.csv picture.png", "25.50 USD active"),
        ("?sort=rows", "globex.csv again.csv acme.csv picture.png", "25.50 USD active"),
        ("?state=active", "globex.csv again.csv", "25.50 USD active"),
        ("?state=replaced", "acme.csv", ""),
        ("?state=refused", "picture.png", ""),
        ("?month=2026-09", "again.csv acme.csv", "11.50 USD active"),
        ("?account=globex&format=&person=", "globex.csv", "14.00 USD active"),
        ("?person=admin%40example.org", "acme.csv", ""),
        ("?provider=nobody", "", ""),
        ("?page=9", "", "25.50 USD active"),
    ] {
        assert_eq!(shown(query).await, (lines.to_owned(), total.to_owned()), "{query}");
    }
    for query in ["?state=good", "?month=soon", "?sort=color"] {
        assert_eq!(finance.get(&format!("/imports{query}")).await.status, StatusCode::BAD_REQUEST, "{query}");
    }
    let page = html::text(&finance.get("/imports").await.body, "#history tbody");
    assert!(page.contains("replaces 1") && page.contains("replaced by 2"), "{page}");
    let csv = finance.get("/imports.csv?state=replaced").await.body;
    let line = csv.lines().nth(1).unwrap();
    assert!(
        line.starts_with("1,replaced,") && line.contains(",,2,2026-09,NeoCloud,acme,USD,10,10,no,"),
        "{line}"
    );
    let json = finance.json("/imports.json?state=active&sort=oldest").await;
    assert_eq!((&json["count"], &json["lines"][0]["replaced"][0]), (&2.into(), &1.into()));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_decision_that_would_change_a_final_month_says_so(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Finance).await;
    let bill = Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "").hour(
        "acme",
        "s1",
        "2026-09-06T10",
        "10",
        "",
    );
    app.import("final.csv", bill.invoiced()).await;
    app.import("less.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "10", "")).await;
    let page = app.get("/imports/2").await.body;
    let said = html::text(&page, ".notice");
    assert!(
        said.contains("September 2026 is final; its statements will be marked as restated. NeoCloud acme"),
        "{said}"
    );
    // Its last day is the sixth, though its invoices are named.
    let month = html::text(&app.get("/spend/2026-09").await.body, "main");
    assert!(month.contains("Final NeoCloud (billed until September 6)"), "{month}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rejected_rows_leave_without_formulas_and_come_back_as_they_were(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let file = Focus::new()
        .hour("acme", "=HYPERLINK(1)", "2026-09-05T10", "seven", "@SUM(A1)")
        .hour("acme", "'=1", "2026-09-05T11", "seven", "vision")
        .hour("acme", "plain", "2026-09-05T12", "seven", "it's")
        .line(
            "NeoCloud,acme,credit,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,2026-09-05T13:00:00Z,2026-09-05T14:00:00Z,\
             Credit,,GPU Cloud,Compute,,,-2+3,,,,seven,-5.00,-5.00,-5.00,USD,,NeoCloud,NeoCloud",
        );
    app.import("september.csv", &file).await;
    let rejected = app.get("/imports/1/files/0/rejected").await.body;
    let mut reader = csv::ReaderBuilder::new().from_reader(rejected.as_bytes());
    let mark = reader.headers().unwrap().iter().position(|name| name == "gpuledger/Escaped").unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let marks: Vec<&str> = rows.iter().map(|row| &row[mark]).collect();
    assert_eq!(marks, ["yes", "yes", "", "yes"], "{rejected}");
    for row in &rows {
        for cell in row {
            let is_number = cell.parse::<f64>().is_ok();
            assert!(is_number || !cell.starts_with(['=', '+', '-', '@']), "{cell} in {rejected}");
        }
    }
    assert!(rejected.contains(",-5.00,-5.00,-5.00,"), "amounts stay as they are: {rejected}");

    // Those that are rejected once more leave as they did.
    app.import("again.csv", rejected.as_bytes()).await;
    let again = app.get("/imports/2/files/0/rejected").await.body;
    assert_eq!(again.replace("delivery-2", "delivery-1"), rejected);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_of_rejected_rows_is_refused_and_its_pages_list_the_first(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let text = hour("n/a").text().to_owned();
    let (header, row) = text.split_once('\n').unwrap();
    let file = format!("{header}\n{}", row.repeat(10_001));
    let batch = finance.import("wrong.csv", &file).await;
    let outcome = html::text(&batch.body, ".outcome");
    assert!(outcome.contains("10001 of 10001 rows were rejected, which is most of them"), "{outcome}");
    assert!(outcome.contains("row 5, column BilledCost: found \u{201c}n/a\u{201d}"), "{outcome}");
    assert!(outcome.contains("The first 20 rejected rows"), "{outcome}");
    let page = finance.get("/imports/1").await;
    assert_eq!(html::text(&page.body, "#rejected h2"), "First rejected rows");
    assert_eq!(html::texts(&page.body, "#rejected tbody tr").len(), 20);
    // Its file is not kept, so there is nothing to download, to look at or to undo.
    let section = html::texts(&page.body, "#rejected a");
    assert!(section.is_empty(), "{section:?}");
    assert!(!page.body.contains("Undo import"));
    // The same with its column corrected is an import like any other.
    let answer = finance.import("right.csv", file.replace("n/a", "2")).await;
    assert!(html::text(&answer.body, ".outcome").contains("10,001 charges"), "{}", answer.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rejected_rows_are_taken_away_by_the_numbers_that_they_were_rejected_by(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let text = hour("10").hour("acme", "s1", "2026-09-06T10", "wrong", "vision").text().to_owned();
    // Lines of spaces are no rows, and a carriage return alone ends none.
    let text = text.replace("\nNeoCloud", "\n   \nNeoCloud").replace(",GPU Cloud,", ",GPU\rCloud,");
    finance.import("september.csv", text).await;
    let rows = finance.get("/imports/1/files/0/rejected").await.body;
    assert!(rows.contains("2026-09-06T10") && rows.contains("delivery-1/file-0/row-2"), "{rows}");
    assert!(!rows.contains("2026-09-05T10"), "{rows}");
}
