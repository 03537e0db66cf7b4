//! Whatever is handed in gets an answer that says what was found and what was expected, and the ledger is as
//! it was.

use std::io::Write;

use gpuledger::ledger::{Report, Status};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger};

fn gz(content: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(content).unwrap();
    packer.finish().unwrap()
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

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
    let truncated = gz(&month());
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("a,b".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let bomb = gz(&vec![b','; 40 << 20]);
    let open_quote = [month().as_slice(), b"NeoCloud,\"acme"].concat();
    let cases: [(&str, Vec<u8>, &str); 12] = [
        ("empty.csv", Vec::new(), "an empty file"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(), "found"),
        ("names.csv", b"name,color\nrose,red\n".to_vec(), "found"),
        ("truncated.csv.gz", truncated[..truncated.len() / 2].to_vec(), "row"),
        ("two.zip", zip(&[("a.csv", &month()), ("b.csv", &month())]), "a.csv"),
        ("none.zip", zip(&[]), "found"),
        ("climbing.zip", zip(&[("../../etc/cron.d/x.csv", &month())]), ".."),
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
    let cases: [(&str, Vec<u8>); 7] = [
        ("bom-and-crlf.csv", format!("\u{feff}{}", text.replace('\n', "\r\n")).into_bytes()),
        ("header-again.csv", format!("{text}{header}\n").into_bytes()),
        ("scientific.csv", text.replace(",1.5,1.5,", ",15e-1,1.5E0,").into_bytes()),
        ("null.csv", text.replace(",eu-1,", ",NULL,").into_bytes()),
        ("blank-lines.csv", text.replace("\nNeoCloud", "\n\nNeoCloud").into_bytes()),
        ("packed.csv.gz", gz(text.as_bytes())),
        ("zipped.zip", zip(&[("month.csv", text.as_bytes())])),
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
