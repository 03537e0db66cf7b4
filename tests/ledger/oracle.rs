//! Oracle states a month in many files, in two exports: files of one add up, and those of both are never counted together.

use std::fmt::Write as _;

use gpuledger::accounts::Role;
use gpuledger::ledger::{Decision, Published, Status, WhenUnsure, publish};
use sqlx::PgPool;

use crate::support::{TestApp, TestLedger, now, number};

const TENANCY: &str = "ocid1.tenancy.oc1..aaaa";

/// A file of an export of the tenancy: an hour (`05T10`) of September and its cost on each line.
type Written = fn(&[(&str, &str)]) -> String;

fn cost_report(hours: &[(&str, &str)]) -> String {
    let mut text = "lineItem/referenceNo,lineItem/tenantId,lineItem/intervalUsageStart,lineItem/intervalUsageEnd,product/service,\
                    product/compartmentId,product/resourceId,usage/billedQuantity,product/Description,cost/myCost,\
                    cost/currencyCode,cost/skuUnitDescription,lineItem/isCorrection,lineItem/backreferenceNo\n"
        .to_owned();
    for (hour, cost) in hours {
        writeln!(
            text,
            "c-{hour},{TENANCY},2026-09-{hour}:00Z,2026-09-{hour}:59:59Z,COMPUTE,ocid1.compartment.oc1..c,node-1,8,\
             Compute - GPU - H100,{cost},USD,GPU Hours,false,"
        )
        .unwrap();
    }
    text
}

fn focus_report(hours: &[(&str, &str)]) -> String {
    let mut text = "Provider,BillingAccountId,SubAccountId,BillingCurrency,BilledCost,EffectiveCost,BillingPeriodStart,\
                    BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ServiceName,ResourceId,ChargeDescription,\
                    UsageQuantity,UsageUnit,oci_ReferenceNumber\n"
        .to_owned();
    for (hour, cost) in hours {
        writeln!(
            text,
            "Oracle,{TENANCY},ocid1.compartment.oc1..c,USD,{cost},{cost},2026-09-01T00:00Z,2026-10-01T00:00Z,2026-09-{hour}:00Z,\
             2026-09-{hour}:59Z,Usage,COMPUTE,node-1,Compute - GPU - H100,8,GPU Hours,f-{hour}"
        )
        .unwrap();
    }
    text
}

async fn billed(ledger: &TestLedger) -> String {
    ledger.billed(TENANCY, "2026-09").await.to_string()
}

async fn decide(ledger: &TestLedger, delivery: i64, decision: Decision) {
    let mut db = ledger.db.acquire().await.unwrap();
    let published = publish(&mut db, delivery, Some(decision), None, "test", now()).await.unwrap();
    assert!(matches!(published, Published::At(_)), "{published:?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn cost_reports_add_up_also_when_split_or_late(db: PgPool) {
    let ledger = TestLedger::new(db);
    for (name, hour, cost, total) in [
        ("0001000000260590-00001.csv", "05T10", "10", "10"),
        ("0001000000260590-00002.csv", "05T11", "20", "30"),
        ("0001000000260591-00001.csv", "06T10", "40", "70"),
        // Sorts before all others, and is the newest.
        ("0000000000000001-00001.csv", "05T12", "80", "150"),
        ("0001000000260590-00001.csv", "05T10", "11", "151"),
    ] {
        let report = ledger.deliver(name, cost_report(&[(hour, cost)])).await;
        assert_eq!(report.status, Status::Loaded, "{name}: {:?}", report.message);
        assert_eq!(billed(&ledger).await, total, "{name}");
    }
    // The fifth import.
    ledger.undo(5).await;
    assert_eq!(billed(&ledger).await, "150", "the file that was there before");
    // A row of one file in another counts once.
    let more = cost_report(&[("05T10", "10"), ("08T10", "1")]);
    let again = ledger.deliver("0001000000260599-00001.csv", more).await;
    assert_eq!(again.status, Status::Waiting);
    assert!(again.message.unwrap().contains("1 of its rows is active already, in import 1"));
    assert_eq!(billed(&ledger).await, "150");
    ledger.assert_balanced().await;
}

/// Oracle does not say whether a correction takes the place of the row that it names or adds to it.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rows_that_correct_others_count_beside_them_and_the_import_says_so_with_their_amount(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("1.csv", cost_report(&[("05T10", "10"), ("05T11", "20")])).await;
    let corrections = cost_report(&[("05T12", "8.5"), ("05T13", "-1"), ("05T14", "100")])
        .replacen("false,\n", "true,c-05T10\n", 1)
        .replacen("false,\n", "true,c-05T11\n", 1);
    let report = ledger.deliver("2.csv", corrections).await;
    assert_eq!(report.status, Status::Loaded, "{:?}", report.message);
    assert_eq!(billed(&ledger).await, "137.5");
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let page = finance.get("/imports/2").await.body;
    assert!(
        page.contains(
            "corrects an earlier row, which lineItem/backreferenceNo names: both rows count (2 rows"
        ),
        "{page}"
    );
    assert!(page.contains("2 rows that correct earlier ones are billed 7.5 USD."), "{page}");
    let page = finance.get("/imports/1").await.body;
    assert!(!page.contains("correct earlier ones"), "{page}");
    ledger.undo(2).await;
    assert_eq!(billed(&ledger).await, "30");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn days_of_the_other_export_are_asked_about_in_either_order(db: PgPool) {
    let ledger = TestLedger::new(db);
    let exports: [(Written, Written); 2] = [(cost_report, focus_report), (focus_report, cost_report)];
    for (account, (first, second)) in exports.into_iter().enumerate() {
        let tenancy = format!("ocid1.tenancy.oc1..{account}");
        let of = |text: String| text.replace(TENANCY, &tenancy);
        let billed = async || ledger.billed(&tenancy, "2026-09").await.to_string();
        let deliver = async |name: &str, text: String| ledger.deliver(name, of(text)).await;
        deliver("1.csv", first(&[("05T10", "10"), ("05T11", "10")])).await;
        deliver("2.csv", first(&[("06T10", "100")])).await;
        assert_eq!(billed().await, "120");

        let other = deliver("a.csv", second(&[("05T10", "11"), ("05T11", "11")])).await;
        assert_eq!(other.status, Status::Waiting);
        let message = other.message.unwrap();
        assert!(message.contains("has the same days in another export ("), "{message}");
        assert!(message.contains("adding counts them twice"), "{message}");
        assert_eq!(billed().await, "120", "nothing is added without a word");
        let other = other.delivery.unwrap();
        decide(&ledger, other, Decision::Replace).await;
        assert_eq!(billed().await, "122", "the other day stays");

        // What is left of the day comes without a question, and so does a day that only one of them has.
        let rest = deliver("b.csv", second(&[("05T12", "1000")])).await;
        assert_eq!(rest.status, Status::Loaded, "{:?}", rest.message);
        let next = deliver("c.csv", second(&[("07T10", "10000")])).await;
        assert_eq!(next.status, Status::Loaded, "{:?}", next.message);
        assert_eq!(billed().await, "11122");
        ledger.assert_balanced().await;

        // What took the place of the first export's day is another file's still, until that is undone, too.
        ledger.undo(other).await;
        assert_eq!(billed().await, "11100");
        ledger.undo(rest.delivery.unwrap()).await;
        assert_eq!(billed().await, "10120");
        ledger.undo(next.delivery.unwrap()).await;
        assert_eq!(billed().await, "120");
        ledger.assert_balanced().await;

        // Whoever says so counts both.
        let added = deliver("d.csv", second(&[("05T23", "5")])).await;
        assert_eq!(added.status, Status::Waiting);
        decide(&ledger, added.delivery.unwrap(), Decision::Add).await;
        assert_eq!(billed().await, "125");
        ledger.assert_balanced().await;
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn files_of_both_exports_in_one_call_wait(db: PgPool) {
    let ledger = TestLedger::new(db);
    let paths = [
        ledger.file("1.csv", cost_report(&[("05T10", "10")])),
        ledger.file("2.csv", focus_report(&[("05T10", "10")])),
        ledger.file("3.csv", cost_report(&[("05T11", "20")])),
    ];
    for decision in [None, Some(Decision::Replace)] {
        let reports = ledger.import(&paths, decision, WhenUnsure::Discard).await;
        assert!(reports.iter().all(|report| report.status == Status::Waiting), "{decision:?}");
        assert_eq!(billed(&ledger).await, "0");
    }
    let reports = ledger.import(&[paths[0].clone(), paths[2].clone()], None, WhenUnsure::Discard).await;
    assert!(reports.iter().all(|report| report.status == Status::Loaded));
    assert_eq!(billed(&ledger).await, "30");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_of_the_same_name_of_the_other_export_is_another_slice(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("0001.csv", focus_report(&[("05T10", "10")])).await;
    let report = ledger.deliver("0001.csv", cost_report(&[("07T10", "20")])).await;
    assert_eq!(report.status, Status::Loaded, "{:?}", report.message);
    assert_eq!(ledger.billed(TENANCY, "2026-09").await, number("30"));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_month_that_a_file_states_as_a_whole_is_not_added_to_without_a_word(db: PgPool) {
    let ledger = TestLedger::new(db);
    let whole = focus_report(&[("05T10", "10")]).replace(",oci_ReferenceNumber", "").replace(",f-05T10", "");
    assert_eq!(ledger.deliver("whole.csv", whole).await.status, Status::Loaded);
    let report = ledger.deliver("0001.csv", cost_report(&[("06T10", "20")])).await;
    assert_eq!(report.status, Status::Waiting);
    assert!(report.message.unwrap().contains("has the whole month"));
    assert_eq!(billed(&ledger).await, "10");
    ledger.assert_balanced().await;
}
