//! Whatever is submitted gets an answer that says what was found and what was expected, and the ledger is as
//! it was.

use std::path::Path;

use gpuledger::ledger::{Report, Status, WhenUnsure};
use parquet::basic::Compression;
use sqlx::PgPool;

use crate::support::files::{gzip, zipped};
use crate::support::{Focus, TestLedger, containers, gpuledger};

fn month() -> Vec<u8> {
    (1..=28)
        .fold(Focus::new(), |file, day| {
            file.hour("acme", "s1", &format!("2026-09-{day:02}T10"), "1.5", "vision")
        })
        .as_ref()
        .to_vec()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_that_is_no_bill_is_refused_with_a_reason(db: PgPool) {
    let ledger = TestLedger::new(db);
    let truncated = gzip(&month());
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("a,b".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let bomb = gzip(&vec![b','; 40 << 20]);
    let open_quote = [month().as_slice(), b"NeoCloud,\"acme"].concat();
    let cases: [(&str, Vec<u8>, &str); 12] = [
        ("empty.csv", Vec::new(), "an empty file"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(), "found"),
        ("names.csv", b"name,color\nrose,red\n".to_vec(), "found"),
        ("truncated.csv.gz", truncated[..truncated.len() / 2].to_vec(), "row"),
        ("two.zip", zipped(&[("a.csv", &month()), ("b.csv", &month())]), "a.csv"),
        ("none.zip", zipped(&[]), "found"),
        ("climbing.zip", zipped(&[("../../etc/cron.d/x.csv", &month())]), ".."),
        ("utf16.csv", utf16, "UTF-16"),
        ("bomb.csv.gz", bomb, "found"),
        ("open-quote.csv", open_quote, "quote"),
        ("semicolons.csv", String::from_utf8(month()).unwrap().replace(',', ";").into_bytes(), "found"),
        ("invoice.csv", b"BilledCost,BillingAccountId,BillingCurrency,ChargeCategory,InvoiceDetailId,InvoiceId,InvoiceIssueDate,PaymentTerms,BillingPeriodStart,BillingPeriodEnd\n".to_vec(), "Invoice Detail"),
    ];
    for (name, content, word) in cases {
        let report = ledger.deliver(name, content).await;
        let message = report.message.clone().unwrap_or_default();
        assert_eq!(report.status, Status::Refused, "{name}: {report:?}");
        assert!(message.contains(word) && message.contains(name), "{name}: {message}");
    }
    assert_untouched(&ledger).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_without_columns_that_its_manifest_lists_is_loaded_and_the_import_says_so(db: PgPool) {
    let ledger = TestLedger::new(db);
    let manifest = r#"{"assemblyId": "a", "reportKeys": ["p/1.csv"],
        "columns": ["BilledCost", "billing_account_id", {"category": "x", "name": "Discounts"}, {"name": "InvoiceId"}]}"#;
    let named = ledger.file("manifest.json", manifest);
    ledger.file("1.csv", month());
    let report = ledger.import(&[named], None, WhenUnsure::Wait).await.remove(0);
    assert_eq!((report.status, report.charges), (Status::Loaded, 28), "{report:?}");
    let notes: Vec<Vec<String>> =
        sqlx::query_scalar("select notes from deliveries").fetch_all(&ledger.db).await.unwrap();
    let said = notes.concat().join("; ");
    assert!(
        said.contains("1.csv lacks columns that its manifest lists (x/Discounts, InvoiceId): expected"),
        "{said}"
    );
}

/// A month of these rows that breaks off behind many of them, whatever it comes in.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_that_breaks_off_in_the_middle_leaves_nothing_behind(db: PgPool) {
    let ledger = TestLedger::new(db);
    let text = month();
    let rows = String::from_utf8_lossy(&text).lines().count() - 1;
    let objects = containers::objects(&text).unwrap();
    let many: Vec<_> = objects.iter().cycle().take(rows * 200).cloned().collect();
    let parquet = containers::parquet(&many, Compression::SNAPPY);
    let cost = objects[0].keys().position(|name| name == "BilledCost").unwrap();
    let list = containers::list(&many);
    let lines = containers::lines(&many);
    let half = many.len().div_ceil(3) + 1;
    let cases: [(&str, Vec<u8>, String); 5] = [
        (
            "damaged.parquet",
            containers::with_damaged_second_group(parquet.clone(), cost),
            format!("row {half}, column BilledCost: found "),
        ),
        ("cut.parquet", parquet[..parquet.len() / 2].to_vec(), "without its end: it was cut off".to_owned()),
        (
            "cut.json",
            list.as_bytes()[..list.len() - 300].to_vec(),
            format!("row {}: found the end", many.len()),
        ),
        (
            "cut.jsonl",
            lines.as_bytes()[..lines.len() - 300].to_vec(),
            format!("row {}: found the end", many.len()),
        ),
        ("cut.csv.gz", gzip(&text)[..300].to_vec(), "row ".to_owned()),
    ];
    for (name, content, found) in cases {
        let report = ledger.deliver(name, content).await;
        let said = report.message.clone().unwrap_or_default();
        assert_eq!(report.status, Status::Refused, "{name}: {report:?}");
        assert!(said.starts_with(&format!("{name}: ")) && said.contains(&found), "{name}: {said}");
        assert!(said.contains("; expected "), "{name}: {said}");
    }
    assert_untouched(&ledger).await;
}

/// Of the files of a manifest one is missing, or none of the kind, or of other columns: the others are not loaded either.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn manifest_whose_files_are_not_all_there_or_not_all_bills_loads_none(db: PgPool) {
    let ledger = TestLedger::new(db);
    let text = String::from_utf8(month()).unwrap();
    let manifest = r#"{"assemblyId": "a", "columns": [], "reportKeys": ["p/1.csv", "p/2.csv"]}"#;
    let azure = r#"{"manifestVersion": "2024-04-01", "blobs": [{"blobName": "p/1.csv", "dataRowCount": 28},
        {"blobName": "p/2.csv", "dataRowCount": 29}]}"#;
    for (folder, manifest, second, expected) in [
        ("absent", manifest, None, "the manifest names files that are not here (1 of 2): p/2.csv"),
        (
            "without-a-column",
            manifest,
            Some(text.replace("BilledCost", "Renamed")),
            "2.csv: found FOCUS cost and usage without the column BilledCost",
        ),
        (
            "no-bill",
            manifest,
            Some("name,color\nrose,red\n".to_owned()),
            "2.csv: found columns of no billing export",
        ),
        (
            "cut",
            manifest,
            Some(text[..text.rfind(",USD").unwrap()].to_owned()),
            "2.csv: row 28: found the end of the file after",
        ),
        ("other-rows", azure, Some(text.clone()), "2.csv: found 28 rows, where the manifest counts 29"),
    ] {
        let named = ledger.file(&format!("{folder}/manifest.json"), manifest);
        ledger.file(&format!("{folder}/1.csv"), &text);
        if let Some(second) = second {
            ledger.file(&format!("{folder}/2.csv"), second);
        }
        let report = ledger.import(&[named], None, WhenUnsure::Wait).await.remove(0);
        let said = report.message.clone().unwrap_or_default();
        assert_eq!(report.status, Status::Refused, "{folder}: {report:?}");
        assert!(said.contains(expected), "{folder}: {said}");
    }
    assert_untouched(&ledger).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_broken_row_is_rejected_and_the_others_are_charges(db: PgPool) {
    let ledger = TestLedger::new(db);
    let good = || Focus::new().hour("acme", "s1", "2026-09-05T10", "1.5", "vision");
    let hour = |cost: &str| Focus::new().hour("acme", "s1", "2026-09-06T10", cost, "vision");
    let line = |file: Focus| file.text().lines().nth(1).unwrap().to_owned();
    let cases = [
        ("a number that is none", line(hour("12x5")), "BilledCost"),
        (
            "a date that is none",
            line(hour("2")).replace("2026-09-06T10:00:00Z", "yesterday"),
            "ChargePeriodStart",
        ),
        ("a currency that is none", line(hour("2")).replace(",USD,", ",12,"), "BillingCurrency"),
        ("a category that is none", line(hour("2")).replace(",Usage,", ",Guess,"), "ChargeCategory"),
        ("too few fields", "NeoCloud,acme,s1".to_owned(), ""),
        ("too many fields", format!("{},a,b,c,d", line(hour("2"))), ""),
        ("ten megabytes in a field", line(hour("2")).replace("node-s1", &"x".repeat(10 << 20)), "ResourceId"),
    ];
    for (name, broken, column) in cases {
        let report = ledger.deliver(&format!("{name}.csv"), good().line(&broken)).await;
        assert_eq!((report.charges, report.rejected), (1, 1), "{name}: {report:?}");
        assert_rejection(&report, column, name);
        ledger.undo(report.delivery.unwrap()).await;
    }
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_odd_but_legal_loads(db: PgPool) {
    let ledger = TestLedger::new(db);
    let text = String::from_utf8(month()).unwrap();
    let header = text.lines().next().unwrap().to_owned();
    let cases: [(&str, Vec<u8>); 9] = [
        ("bom-and-crlf.csv", format!("\u{feff}{}", text.replace('\n', "\r\n")).into_bytes()),
        ("header-again.csv", format!("{text}{header}\n").into_bytes()),
        ("scientific.csv", text.replace(",1.5,1.5,", ",15e-1,1.5E0,").into_bytes()),
        ("null.csv", text.replace(",eu-1,", ",NULL,").into_bytes()),
        ("blank-lines.csv", text.replace("\nNeoCloud", "\n\nNeoCloud").into_bytes()),
        ("lines-of-spaces.csv", text.replace("\nNeoCloud", "\n  \nNeoCloud").into_bytes()),
        ("carriage-returns.csv", text.replace(",GPU Cloud,", ",GPU\rCloud,").into_bytes()),
        ("packed.csv.gz", gzip(text.as_bytes())),
        ("zipped.zip", zipped(&[("month.csv", text.as_bytes())])),
    ];
    for (name, content) in cases {
        let report = ledger.deliver(name, content).await;
        assert_eq!(
            (report.status, report.charges, report.rejected),
            (Status::Loaded, 28, 0),
            "{name}: {report:?}"
        );
        assert_eq!(ledger.billed("acme", "2026-09").await, "42".parse().unwrap(), "{name}");
        // Each by itself: what the one before had and this one has not would be asked about.
        ledger.undo(report.delivery.unwrap()).await;
    }
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn text_that_no_database_keeps_is_no_reason_to_lose_a_month(db: PgPool) {
    let ledger = TestLedger::new(db);
    let text = String::from_utf8(month()).unwrap().replace("vision", "vis\\u0000ion");
    let report = ledger.deliver("nul.csv", text).await;
    assert_eq!((report.status, report.charges), (Status::Loaded, 28), "{report:?}");
    let cur = "lineItem/LineItemType,lineItem/UnblendedCost,lineItem/CurrencyCode,lineItem/UsageStartDate,\
               lineItem/UsageEndDate,bill/PayerAccountId,bill/BillingPeriodStartDate,resourceTags/user:Te\0am,no\0tes\n\
               Usage,1.25,USD,2026-09-03T04:00:00Z,2026-09-03T05:00:00Z,012345678901,2026-09-01T00:00:00Z,core,\n";
    let report = ledger.deliver("nul-in-the-header.csv", cur).await;
    assert_eq!((report.status, report.charges), (Status::Loaded, 1), "{report:?}");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn many_accounts_side_by_side_are_one_delivery(db: PgPool) {
    let ledger = TestLedger::new(db);
    let file = (0..400).fold(Focus::new(), |file, row| {
        file.hour(&format!("account-{}", row % 7), "s1", "2026-09-05T10", "1", "vision")
    });
    let report = ledger.deliver("accounts.csv", &file).await;
    assert_eq!((report.charges, report.scopes.len()), (400, 7));
    assert_eq!(ledger.billed("account-6", "2026-09").await, "57".parse().unwrap());
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_century_of_months_is_no_bill(db: PgPool) {
    let ledger = TestLedger::new(db);
    let file = (0..1300).fold(Focus::new(), |file, month| {
        file.hour("acme", "s1", &format!("{}-{:02}-05T10", 2000 + month / 12, month % 12 + 1), "1", "vision")
    });
    let report = ledger.deliver("century.csv", &file).await;
    assert_eq!(report.status, Status::Refused);
    assert!(report.message.unwrap().contains("120 billing months"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_header_without_rows_says_that_there_is_nothing(db: PgPool) {
    let ledger = TestLedger::new(db);
    let report = ledger.deliver("header.csv", Focus::new()).await;
    assert_eq!((report.status, report.rows_read), (Status::Loaded, 0));
    assert!(report.message.unwrap().contains("no rows"));
    ledger.assert_balanced().await;
}

/// A month in which nothing is an amount, but for the last rows.
fn wrong_everywhere(wrong: usize, right: usize) -> Vec<u8> {
    let hour =
        |cost: &str| Focus::new().hour("acme", "s1", "2026-09-05T10", cost, "vision").text().to_owned();
    let (header, row) =
        (Focus::new().text().to_owned(), |text: String| text.lines().nth(1).unwrap().to_owned() + "\n");
    [header, row(hour("n/a")).repeat(wrong), row(hour("1.5")).repeat(right)].concat().into_bytes()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_in_which_a_column_is_wrong_everywhere_is_refused_with_its_first_rows(db: PgPool) {
    let ledger = TestLedger::new(db);
    let report = ledger.deliver("wrong.csv", wrong_everywhere(10_001, 1000)).await;
    assert_eq!((report.status, report.rows_read, report.rejected), (Status::Refused, 11_001, 10_001));
    assert_eq!(report.rows_read, report.charges + report.rejected + report.skipped);
    let message = report.message.unwrap();
    assert!(message.starts_with("10001 of 11001 rows were rejected, which is most of them;"), "{message}");
    assert!(message.contains("correct the export, and import it again"), "{message}");
    let rows: Vec<u64> = report.rejections.iter().map(|it| it.row).collect();
    assert_eq!(rows, (1..=20).collect::<Vec<u64>>());
    assert!(report.rejections.iter().all(|it| it.file == "wrong.csv" && it.column == "BilledCost"));
    assert_untouched(&ledger).await;
    let kept: Vec<String> =
        sqlx::query_scalar("select found from rejections").fetch_all(&ledger.db).await.unwrap();
    assert_eq!(kept, vec!["\u{201c}n/a\u{201d}"; 20], "what its page shows");
    assert_eq!(files_in(ledger.originals.folder()), 0, "its file is not kept");
    ledger.assert_balanced().await;

    // The same rows are no reason where they are few, or few among others.
    let report = ledger.deliver("some.csv", wrong_everywhere(3000, 20)).await;
    assert_eq!((report.status, report.charges, report.rejected), (Status::Loaded, 20, 3000));
    ledger.undo(report.delivery.unwrap()).await;
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_small_file_of_nothing_but_wrong_rows_is_read_to_the_limit_and_no_further(db: PgPool) {
    let ledger = TestLedger::new(db);
    let bomb = gzip(&[Focus::new().text().as_bytes(), &b"x\n".repeat(500_000)].concat());
    assert!(bomb.len() < 20_000);
    let report = ledger.deliver("bomb.csv.gz", bomb).await;
    assert_eq!((report.status, report.rows_read, report.rejected), (Status::Refused, 200_001, 200_001));
    let message = report.message.unwrap();
    assert!(message.starts_with("200001 of the first 200001 rows were rejected"), "{message}");
    assert_untouched(&ledger).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_rejected_rows_of_a_delivery_of_several_files_are_counted_together(db: PgPool) {
    let ledger = TestLedger::new(db);
    let manifest =
        ledger.file("m.json", r#"{"assemblyId":"a","columns":[],"reportKeys":["p/1.csv","p/2.csv"]}"#);
    ledger.file("1.csv", wrong_everywhere(10, 1000));
    ledger.file("2.csv", wrong_everywhere(10_000, 0));
    let report = ledger.import(&[manifest], None, WhenUnsure::Wait).await.pop().unwrap();
    assert_eq!((report.status, report.rows_read, report.rejected), (Status::Refused, 11_010, 10_010));
    let files: Vec<&str> = report.rejections.iter().map(|it| it.file.rsplit('/').next().unwrap()).collect();
    assert_eq!(files, [["1.csv"; 10], ["2.csv"; 10]].concat());
    assert_untouched(&ledger).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_command_line_lists_the_first_rejected_rows_and_exits_1(db: PgPool) {
    let ledger = TestLedger::new(db);
    let file = ledger.file("wrong.csv", wrong_everywhere(10_001, 0));
    let url = sqlx::ConnectOptions::to_url_lossy(&*ledger.db.connect_options());
    let run = |arguments: &[&str]| {
        let output = gpuledger(ledger.folder.path(), Some(url.as_str()), arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, text) = run(&["import", file.to_str().unwrap()]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("wrong.csv: refused\n  10001 of 10001 rows were rejected"), "{text}");
    assert!(
        text.contains("row 20, column BilledCost: found \u{201c}n/a\u{201d}; expected a decimal number"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 2 + 20, "{text}");
    let (status, text) = run(&["import", "--json", file.to_str().unwrap()]);
    let reports: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &reports[0]["status"]), (Some(1), &"refused".into()));
    assert_eq!(reports[0]["rejections"].as_array().unwrap().len(), 20);
    assert_eq!((&reports[0]["rejected"], &reports[0]["charges"]), (&10_001.into(), &0.into()));
    assert_untouched(&ledger).await;
}

fn files_in(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .map(|entry| entry.unwrap().path())
        .map(|path| if path.is_dir() { files_in(&path) } else { 1 })
        .sum()
}

fn assert_rejection(report: &Report, column: &str, name: &str) {
    let rejection = &report.rejections[0];
    assert_eq!((rejection.row, rejection.column.as_str()), (2, column), "{name}: {rejection:?}");
    assert!(!rejection.found.is_empty() && !rejection.expected.is_empty(), "{name}: {rejection:?}");
    assert!(rejection.found.len() < 400, "{name}");
}

async fn assert_untouched(ledger: &TestLedger) {
    for table in ["charges", "monthly_costs", "daily_costs", "visibility", "delivery_scopes", "originals"] {
        let rows: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("select count(*) from {table}")))
            .fetch_one(&ledger.db)
            .await
            .unwrap();
        assert_eq!(rows, 0, "{table}");
    }
}
