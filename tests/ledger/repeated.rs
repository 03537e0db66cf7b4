//! A row counts once: in a file that was appended to itself, and in two that are added to each other.

use std::fmt::Write;

use gpuledger::accounts::Role;
use gpuledger::ledger::{Decision, Status, WhenUnsure};
use gpuledger::money::Decimal;
use sqlx::PgPool;

use crate::support::{Focus, TestApp, TestLedger, html};

const COLUMNS: &str = "identity/LineItemId,identity/TimeInterval,bill/PayerAccountId,bill/BillingPeriodStartDate,\
     bill/BillingPeriodEndDate,lineItem/LineItemType,lineItem/UsageAccountId,lineItem/UsageStartDate,lineItem/UsageEndDate,\
     lineItem/ProductCode,lineItem/UsageType,lineItem/UsageAmount,lineItem/UnblendedCost,lineItem/CurrencyCode,\
     lineItem/ResourceId";

/// Hours of September in an AWS report, each with an id and a cost.
fn cur(lines: impl IntoIterator<Item = (u32, &'static str)>) -> String {
    let lines = lines.into_iter().map(|(id, cost)| {
        let (from, to) = (format!("2026-09-05T{:02}:00:00Z", id % 23), format!("2026-09-05T{:02}:00:00Z", id % 23 + 1));
        format!(
            "line-{id},{from}/{to},111122223333,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,Usage,111122223333,{from},{to},\
             AmazonEC2,BoxUsage:p5.48xlarge,1,{cost},USD,i-{id}\n"
        )
    });
    format!("{COLUMNS}\n{}", lines.collect::<String>())
}

async fn billed(ledger: &TestLedger) -> Decimal {
    ledger.billed("111122223333", "2026-09").await
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_appended_to_itself_counts_once_and_names_the_rows(db: PgPool) {
    let ledger = TestLedger::new(db);
    let once = cur((0..40).map(|id| (id, "10")));
    let report = ledger.deliver("september.csv", once.repeat(2)).await;
    assert_eq!((report.status, report.rows_read, report.charges), (Status::Loaded, 81, 40));
    assert_eq!((report.rejected, report.skipped), (40, 1));
    let first = &report.rejections[0];
    assert_eq!((first.row, first.column.as_str()), (42, "identity/LineItemId"));
    assert_eq!(
        (first.found.as_str(), first.expected.as_str()),
        ("line-0, which row 1 has too", "each line item once")
    );
    assert_eq!(billed(&ledger).await, Decimal::from(400));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn lines_of_one_id_that_are_no_repetition_all_count(db: PgPool) {
    let ledger = TestLedger::new(db);
    let file = cur([(1, "10")]);
    let line = file.lines().nth(1).unwrap();
    let text = format!(
        "{file}{}\n{}\n{}\n",
        line.replace("T01:00", "T00:00").replace("T02:00", "T01:00"),
        line.replace(",Usage,", ",Tax,"),
        line.replace("line-1", ""),
    );
    let twice_without_an_id = format!("{text}{}\n", line.replace("line-1", ""));
    let report = ledger.deliver("september.csv", twice_without_an_id).await;
    assert_eq!((report.charges, report.rejected), (5, 0), "{:?}", report.rejections);
    assert_eq!(billed(&ledger).await, Decimal::from(50));
}

/// FOCUS does not say what identifies a row: equal rows count, unless a header in the middle says that files were put
/// behind one another.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn equal_focus_rows_count_once_only_after_a_repeated_header(db: PgPool) {
    let ledger = TestLedger::new(db);
    let hour = |file: Focus| file.hour("acme", "s1", "2026-09-05T10", "10", "vision");
    let equal = hour(hour(Focus::new()));
    assert_eq!(ledger.deliver("equal.csv", &equal).await.charges, 2);
    assert_eq!(ledger.billed("acme", "2026-09").await, Decimal::from(20));

    let once = hour(Focus::new()).hour("acme", "s1", "2026-09-06T10", "20", "vision");
    let path = ledger.file("appended.csv", once.text().repeat(2));
    let report = ledger.import(&[path], Some(Decision::Replace), WhenUnsure::Wait).await.pop().unwrap();
    assert_eq!((report.charges, report.rejected, report.skipped), (2, 2, 1));
    assert_eq!(report.rejections[0].found, "the same as row 1, in a file with a header in its middle");
    assert_eq!(ledger.billed("acme", "2026-09").await, Decimal::from(30));
    ledger.assert_balanced().await;
}

/// Equal rows of one export are charges of their own, in a file that holds the export twice as well.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_that_holds_an_export_twice_counts_what_the_export_counts(db: PgPool) {
    let ledger = TestLedger::new(db);
    let hour = |file: Focus| file.hour("acme", "s1", "2026-09-05T10", "10", "vision");
    let once = hour(hour(Focus::new())).hour("acme", "s1", "2026-09-06T10", "20", "vision");
    let report = ledger.deliver("appended.csv", once.text().repeat(3)).await;
    assert_eq!((report.charges, report.rejected, report.skipped), (3, 6, 2));
    assert_eq!(ledger.billed("acme", "2026-09").await, Decimal::from(40));
    ledger.assert_balanced().await;
}

/// Who appends a file to itself and imports that after the file has lost nothing and is asked nothing.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_appended_to_itself_replaces_the_file_without_a_question(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let once = cur((0..40).map(|id| (id, "10")));
    assert_eq!(ledger.deliver("september.csv", once.clone()).await.status, Status::Loaded);
    let report = ledger.deliver("september-twice.csv", once.repeat(2)).await;
    assert_eq!(
        (report.status, report.charges, report.rejected),
        (Status::Loaded, 40, 40),
        "{:?}",
        report.message
    );
    assert_eq!(billed(&ledger).await, Decimal::from(400));
    let page = finance.get(&format!("/imports/{}", report.delivery.unwrap())).await.body;
    let said = html::text(&page, "#repeated");
    assert_eq!(said, "All of them repeat other rows of this import: nothing is missing.");

    let uploaded = finance.import("uploaded-twice.csv", format!("{}\n", once.repeat(2))).await.body;
    let said = html::text(&uploaded, "#live");
    assert!(said.contains("Replaces import 2; 40 rows are the same as others"), "{said}");

    // A row of the same identity and another cost is not the same row.
    let dearer = once.replacen(",10,USD", ",11,USD", 1);
    let report = ledger.deliver("september-dearer.csv", format!("{once}{dearer}")).await;
    assert_eq!((report.status, report.charges, report.rejected), (Status::Waiting, 40, 40));
    assert_eq!(report.rejections[0].found, "line-0, which row 1 has too, with other values");
    let said = report.message.unwrap();
    assert!(said.contains("1 here, 0 there"), "{said}");
    let page = finance.get(&format!("/imports/{}", report.delivery.unwrap())).await.body;
    assert!(html::text(&page, "#repeated").starts_with("39 of them repeat other rows"), "{page}");
    assert!(html::text(&page, "#missing").starts_with("1 of them is missing from every figure."), "{page}");

    // A row that is wrong is missing, as ever.
    let broken = once.replacen(",10,USD", ",much,USD", 1);
    let report = ledger.deliver("september-broken.csv", format!("{once}{broken}")).await;
    assert_eq!(report.status, Status::Waiting);
    let said = report.message.unwrap();
    assert!(said.contains("1 here, 0 there"), "{said}");
    ledger.assert_balanced().await;
}

/// A row that is active already is not missing, and is not offered for correction.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rows_that_repeat_others_are_not_missing_and_cannot_be_corrected(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let once = cur((0..40).map(|id| (id, "10")));
    let broken = once.lines().nth(1).unwrap().replace(",10,USD", ",much,USD");
    let report = ledger.deliver("september.csv", format!("{}{broken}\n", once.repeat(2))).await;
    assert_eq!((report.status, report.charges, report.rejected), (Status::Loaded, 40, 41));
    let said = report.message.unwrap();
    assert!(said.starts_with("40 rows are the same as others of the import"), "{said}");
    let figures = finance.json("/spend/2026-09.json").await;
    assert_eq!(figures["rejected_rows"], 1);
    let rows = finance.get(&format!("/imports/{}/files/0/rejected", report.delivery.unwrap())).await;
    assert_eq!((rows.status.as_u16(), rows.body.lines().count()), (200, 2), "{}", rows.body);

    // A file that claims to correct them is no different from any other.
    let mark = |row: u64| format!("delivery-{}/file-0/row-{row}", report.delivery.unwrap());
    let mut claims = format!("{COLUMNS},gpuledger/Row\n");
    for (at, line) in once.lines().skip(1).enumerate() {
        writeln!(claims, "{line},{}", mark(at as u64 + 42)).unwrap();
    }
    let again = ledger.deliver("corrected.csv", claims).await;
    assert_ne!(again.status, Status::Loaded, "{:?}", again.message);
    assert_eq!(billed(&ledger).await, Decimal::from(400));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rows_that_are_active_are_not_added_again(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let first = ledger.deliver("first.csv", cur((0..40).map(|id| (id, "10")))).await.delivery.unwrap();
    // Half of it is new; it lacks the other half.
    let second = cur((20..60).map(|id| (id, "10")));
    let path = ledger.file("second.csv", &second);
    let report = ledger.import(&[path], Some(Decision::Add), WhenUnsure::Discard).await.pop().unwrap();
    assert_eq!(report.status, Status::Waiting);
    let said = report.message.unwrap();
    assert!(said.contains(&format!("20 of its rows are active already, in import {first}")), "{said}");
    assert_eq!(billed(&ledger).await, Decimal::from(400));

    // In the browser the same, and replacing is still possible.
    let waiting = ledger.deliver("third.csv", cur((39..60).map(|id| (id, "10")))).await;
    assert_eq!(waiting.status, Status::Waiting);
    let page = format!("/imports/{}", waiting.delivery.unwrap());
    finance.submit(&page, &format!("{page}/add"), &[]).await;
    let described = finance.get(&page).await.body;
    assert!(described.contains("1 of its rows is active already"), "{described}");
    assert_eq!(billed(&ledger).await, Decimal::from(400));
    finance.submit(&page, &format!("{page}/replace"), &[("reason", "")]).await;
    assert_eq!(billed(&ledger).await, Decimal::from(210));

    // What is new altogether is added.
    let path = ledger.file("fourth.csv", cur((100..110).map(|id| (id, "1"))));
    let report = ledger.import(&[path], Some(Decision::Add), WhenUnsure::Discard).await.pop().unwrap();
    assert_eq!(report.status, Status::Loaded, "{:?}", report.message);
    assert_eq!(billed(&ledger).await, Decimal::from(220));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn slices_that_share_rows_need_a_decision(db: PgPool) {
    let ledger = TestLedger::new(db);
    let hours = |from: u32, to: u32| {
        let hour =
            |file: Focus, hour| file.hour("acme", "s1", &format!("2026-09-05T{hour:02}"), "10", "vision");
        (from..to).fold(Focus::new(), hour).slice()
    };
    ledger.deliver("0001.csv", hours(0, 10)).await;
    let other = ledger.deliver("0002.csv", hours(0, 10).replace("ref-", "other-")).await;
    assert_eq!(other.status, Status::Loaded, "{:?}", other.message);
    let again = ledger.deliver("0003.csv", format!("{}\n", hours(0, 10))).await;
    assert_eq!(again.status, Status::Waiting);
    assert!(
        again
            .message
            .unwrap()
            .starts_with("10 of its rows are active already, in import 1, which stays active")
    );
    assert_eq!(ledger.billed("acme", "2026-09").await, Decimal::from(200));
    // A slice takes the place of the slice of its name alone: whatever somebody decides, the rows would count twice.
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let page = format!("/imports/{}", again.delivery.unwrap());
    for decision in ["replace", "add"] {
        finance.submit(&page, &format!("{page}/{decision}"), &[("reason", "")]).await;
        let described = finance.get(&page).await.body;
        assert!(described.contains("Undo import 1 first, or discard import 3"), "{decision}: {described}");
        assert_eq!(ledger.billed("acme", "2026-09").await, Decimal::from(200));
    }
    ledger.assert_balanced().await;
    // The slice itself again takes its own place.
    assert_eq!(
        ledger.deliver("0001.csv", hours(0, 10).replace(",10,10,", ",11,11,")).await.status,
        Status::Loaded
    );
    assert_eq!(ledger.billed("acme", "2026-09").await, Decimal::from(210));
}

/// What was replaced comes back by an undo: not beside rows of its own that were added since.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn undo_that_would_count_rows_twice_says_what_to_undo_first(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let rows = |from: u32, to: u32| cur((from..to).map(|id| (id, "10")));
    let decided = async |name: &str, text: String, decision| {
        let path = ledger.file(name, text);
        let report = ledger.import(&[path], Some(decision), WhenUnsure::Discard).await.pop().unwrap();
        assert_eq!(report.status, Status::Loaded, "{name}: {:?}", report.message);
        report.delivery.unwrap()
    };
    let first = decided("first.csv", rows(0, 20), Decision::Replace).await;
    let second = decided("second.csv", rows(100, 120), Decision::Replace).await;
    let third = decided("third.csv", rows(10, 30), Decision::Add).await;
    assert_eq!(billed(&ledger).await, Decimal::from(400));

    let page = format!("/imports/{second}");
    finance.submit(&page, &format!("{page}/undo"), &[]).await;
    let described = finance.get(&page).await.body;
    let expected = format!(
        "Nothing changed: undoing import {second} would make import {first} active again, of which 10 rows are active \
         already in import {third}. Undo import {third} first."
    );
    assert!(described.contains(&expected), "{described}");
    assert_eq!(billed(&ledger).await, Decimal::from(400));

    ledger.undo(third).await;
    ledger.undo(second).await;
    assert_eq!(billed(&ledger).await, Decimal::from(200));
    ledger.assert_balanced().await;
}

/// Nobody but its owner knows whether a row that two of its exports have is one charge or two.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn exports_behind_one_another_that_share_some_rows_are_refused(db: PgPool) {
    let ledger = TestLedger::new(db);
    let hour =
        |file: Focus, hour: &str| file.hour("acme", "s1", &format!("2026-09-05T{hour}"), "10", "vision");
    let first = hour(hour(Focus::new(), "10"), "11").text().to_owned();
    let second = hour(hour(Focus::new(), "11"), "12").text().to_owned();
    let report = ledger.deliver("both.csv", format!("{first}{second}")).await;
    assert_eq!(report.status, Status::Refused);
    assert_eq!(
        report.message.unwrap(),
        "both.csv: row 3: found another header, and 1 of the 2 charges from there to the next header or the end stands above \
         it, too (row 4 is the same as row 2; the first row below the first header is row 1); expected one export. If the \
         repeated rows are the same charges, delete them from the file; if they are charges of their own, delete this header"
    );
    assert_eq!(ledger.billed("acme", "2026-09").await, Decimal::ZERO);
    // Of three exports it names the one that repeats.
    let other = hour(hour(Focus::new(), "20"), "21").text().to_owned();
    let report = ledger.deliver("three.csv", format!("{first}{other}{second}")).await;
    let said = report.message.unwrap();
    assert!(said.contains("row 6: found another header, and 1 of the 2 charges"), "{said}");
    assert!(said.contains("row 7 is the same as row 2"), "{said}");
    // Both ways out of the message.
    let charges = async |name: &str, text: String| {
        let report = ledger.deliver(name, text).await;
        assert_eq!(report.status, Status::Loaded, "{:?}", report.message);
        ledger.undo(report.delivery.unwrap()).await;
        report.charges
    };
    let header = first.lines().next().unwrap();
    let without_header = second.replacen(&format!("{header}\n"), "", 1);
    assert_eq!(charges("all.csv", format!("{first}{without_header}")).await, 4);
    let repeated = second.lines().nth(1).unwrap();
    let without_row = second.replacen(&format!("{repeated}\n"), "", 1);
    assert_eq!(charges("once.csv", format!("{first}{without_row}")).await, 3);
    // Without a row in common they are one file.
    let third = hour(hour(Focus::new(), "13"), "14").text().to_owned();
    assert_eq!(charges("others.csv", format!("{first}{third}")).await, 4);
    ledger.assert_balanced().await;
}
