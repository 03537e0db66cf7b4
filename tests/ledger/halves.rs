//! Actual and amortized cost of a month in two files: they complete each other, in either order, and come apart again.

use std::path::Path;

use chrono::Duration;
use gpuledger::ledger::{
    self, Decision, Ended, LoadedAgain, Progress, Published, Reload, Report, Status, WhenUnsure,
};
use gpuledger::money::Decimal;
use gpuledger::storage::{self, Archiving};
use sqlx::PgPool;

use crate::support::{TestLedger, files, now};

/// What pages count of all months: billed and effective cost, and metered hours.
async fn counted(ledger: &TestLedger) -> [String; 3] {
    let sums: (Decimal, Decimal, Decimal) = sqlx::query_as(
        "select coalesce(sum(c.billed_cost), 0), coalesce(sum(c.effective_cost), 0),
             coalesce(sum(c.consumed_quantity) filter (where c.is_metered and k.instance_type like 'Standard_ND%'), 0)
         from full_charges c
         join charge_keys k using (charge_key_id)
         join visibility v on v.delivery_id = c.delivery_id and v.scope_id = c.scope_id and v.until_sequence is null",
    )
    .fetch_one(&mut *ledger.db.acquire().await.unwrap())
    .await
    .unwrap();
    let rolled_up: (Decimal, Decimal) = sqlx::query_as(
        "select coalesce(sum(m.billed_cost), 0), coalesce(sum(m.effective_cost), 0)
         from monthly_costs m
         join visibility v on v.delivery_id = m.delivery_id and v.scope_id = m.scope_id and v.until_sequence is null",
    )
    .fetch_one(&mut *ledger.db.acquire().await.unwrap())
    .await
    .unwrap();
    assert_eq!(rolled_up, (sums.0, sums.1));
    [sums.0, sums.1, sums.2].map(|sum| sum.normalize().to_string())
}

fn fixture(case: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/exports/azure-usage").join(case);
    std::fs::read_to_string(path.join("input.csv")).unwrap()
}

/// Our own month: what it cost by each file, and hours of machines with eight GPUs.
const ACTUAL: [&str; 3] = ["44286.91594", "44286.91594", "54"];
const AMORTIZED: [&str; 3] = ["2027.41594", "2027.41594", "54"];
const BOTH: [&str; 3] = ["44286.91594", "2027.41594", "54"];
/// With another refund.
const CORRECTED: [&str; 3] = ["44187.41594", "2027.41594", "54"];

async fn notes(ledger: &TestLedger, delivery: i64) -> String {
    let notes: Vec<String> = sqlx::query_scalar("select notes from deliveries where delivery_id = $1")
        .bind(delivery)
        .fetch_one(&mut *ledger.db.acquire().await.unwrap())
        .await
        .unwrap();
    notes.join("; ")
}

#[track_caller]
fn is_loaded(report: &Report) -> i64 {
    assert_eq!(report.status, Status::Loaded, "{:?}", report.message);
    report.delivery.unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn amortized_cost_completes_actual_cost_and_a_corrected_one_replaces_its_half(db: PgPool) {
    let ledger = TestLedger::new(db);
    let actual = is_loaded(&ledger.deliver("actual.csv", fixture("enterprise-actual")).await);
    assert_eq!(counted(&ledger).await, ACTUAL);
    assert!(notes(&ledger, actual).await.contains("Only the actual cost of this month was imported"));
    let report = ledger.deliver("amortized.csv", fixture("enterprise-amortized")).await;
    let both = is_loaded(&report);
    assert_eq!(counted(&ledger).await, BOTH);
    assert_eq!(report.files.len(), 2);
    assert!(report.message.as_deref().is_some_and(|said| said.contains("replaces import 1")), "{report:?}");
    let said = notes(&ledger, both).await;
    assert!(said.contains("billed cost is from actual.csv") && said.contains("from amortized.csv"), "{said}");
    assert!(!said.contains("Only the") && !said.contains("ends on"), "{said}");
    ledger.assert_balanced().await;

    let corrected = fixture("enterprise-actual").replace("-100.5", "-200");
    let third = is_loaded(&ledger.deliver("actual.csv", corrected).await);
    assert_eq!(counted(&ledger).await, CORRECTED);
    ledger.assert_balanced().await;
    // Undone in the order in which they came, and the other way round.
    ledger.undo(third).await;
    assert_eq!(counted(&ledger).await, BOTH);
    ledger.undo(both).await;
    assert_eq!(counted(&ledger).await, ACTUAL);
    ledger.undo(actual).await;
    assert_eq!(counted(&ledger).await, ["0", "0", "0"]);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn actual_cost_completes_amortized_cost(db: PgPool) {
    let ledger = TestLedger::new(db);
    let amortized = is_loaded(&ledger.deliver("amortized.csv", fixture("enterprise-amortized")).await);
    assert_eq!(counted(&ledger).await, AMORTIZED);
    assert!(notes(&ledger, amortized).await.contains("Only the amortized cost of this month was imported"));
    let both = is_loaded(&ledger.deliver("actual.csv", fixture("enterprise-actual")).await);
    assert_eq!(counted(&ledger).await, BOTH);
    let corrected = fixture("enterprise-actual").replace("-100.5", "-200");
    is_loaded(&ledger.deliver("actual.csv", corrected).await);
    assert_eq!(counted(&ledger).await, CORRECTED);
    // The one in between changes nothing; then the last goes, and the first is what is left.
    ledger.undo(both).await;
    assert_eq!(counted(&ledger).await, CORRECTED);
    ledger.undo(3).await;
    assert_eq!(counted(&ledger).await, AMORTIZED);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn both_files_at_once_are_one_import_and_the_same_bytes_are_imported_once(db: PgPool) {
    let ledger = TestLedger::new(db);
    let paths = [
        ledger.file("amortized.csv", fixture("enterprise-amortized")),
        ledger.file("actual.csv", fixture("enterprise-actual")),
    ];
    let reports = ledger.import(&paths, None, WhenUnsure::Wait).await;
    assert_eq!(reports.len(), 1);
    is_loaded(&reports[0]);
    assert_eq!((reports[0].rows_read, reports[0].charges), (15, 15));
    assert_eq!(counted(&ledger).await, BOTH);
    ledger.assert_balanced().await;
    for (name, case) in [("a.csv", "enterprise-actual"), ("b.csv", "enterprise-amortized")] {
        let again = ledger.deliver(name, fixture(case)).await;
        assert_eq!(again.status, Status::Duplicate, "{case}: {:?}", again.message);
    }
    assert_eq!(counted(&ledger).await, BOTH);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn halves_of_other_accounts_or_months_complete_nothing(db: PgPool) {
    let ledger = TestLedger::new(db);
    is_loaded(&ledger.deliver("actual.csv", fixture("enterprise-actual")).await);
    for other in [
        fixture("enterprise-amortized").replace("4711001", "4711002"),
        fixture("enterprise-amortized").replace("09/", "10/").replace("10/30/2026", "10/31/2026"),
    ] {
        let report = ledger.deliver("amortized.csv", other).await;
        is_loaded(&report);
        assert_eq!(report.files.len(), 1);
    }
    let [billed, effective, _] = counted(&ledger).await;
    assert_eq!(billed, effective, "each stands alone");
    assert_eq!(billed, "48341.74782");
    // Added to what is there, it stands alone, too: somebody said so.
    let path = ledger.file("added.csv", fixture("enterprise-amortized"));
    let added = ledger.import(&[path], Some(Decision::Add), WhenUnsure::Wait).await;
    assert_eq!(added[0].files.len(), 1);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_manifest_says_which_cost_its_files_state(db: PgPool) {
    let ledger = TestLedger::new(db);
    // Nothing of a commitment is in either.
    let plain = fixture("customer-agreement");
    let manifest = |kind: &str, rows: u64| {
        format!(
            r#"{{"manifestVersion": "2024-04-01", "exportConfig": {{"type": "{kind}"}},
                "blobs": [{{"blobName": "x/20260901-20260930/r/part_0_0001.csv", "dataRowCount": {rows}}}]}}"#
        )
    };
    ledger.file("actual/part_0_0001.csv", &plain);
    let wrong = ledger.file("actual/wrong.json", manifest("ActualCost", 8));
    let refused = ledger.import(&[wrong], None, WhenUnsure::Wait).await;
    assert_eq!(refused[0].status, Status::Refused);
    let said = refused[0].message.clone().unwrap();
    assert!(said.contains("7 rows, where the manifest counts 8"), "{said}");
    let actual = ledger.file("actual/manifest.json", manifest("ActualCost", 7));
    is_loaded(&ledger.import(&[actual], None, WhenUnsure::Wait).await[0]);
    ledger.file("amortized/part_0_0001.csv", plain.replace(",151.2,", ",150,"));
    let amortized = ledger.file("amortized/manifest.json", manifest("AmortizedCost", 7));
    let report = ledger.import(&[amortized], None, WhenUnsure::Wait).await;
    assert_eq!(report[0].files.len(), 2);
    is_loaded(&report[0]);
    let [billed, effective, _] = counted(&ledger).await;
    assert_eq!([billed.as_str(), effective.as_str()], ["642.3", "637.5"]);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn corrected_rows_are_read_as_the_half_that_lacked_them(db: PgPool) {
    let ledger = TestLedger::new(db);
    is_loaded(&ledger.deliver("actual.csv", fixture("enterprise-actual")).await);
    let broken = fixture("enterprise-amortized").replace(",1200,", ",oops,");
    let path = ledger.file("amortized.csv", broken);
    // A month of which more is missing than before asks.
    let asks = ledger.import(std::slice::from_ref(&path), None, WhenUnsure::Discard).await;
    assert_eq!(asks[0].status, Status::Waiting);
    assert!(asks[0].message.as_deref().is_some_and(|said| said.contains("more rows are missing")));
    let both = ledger.import(&[path], Some(Decision::Replace), WhenUnsure::Wait).await.remove(0);
    let (delivery, rejection) = (is_loaded(&both), &both.rejections[0]);
    assert_eq!((both.rejected, rejection.file.as_str(), rejection.row), (1, "amortized.csv", 1));
    assert_eq!(counted(&ledger).await, ["44286.91594", "827.41594", "34"]);
    let whole = fixture("enterprise-amortized");
    let mut lines = whole.lines();
    let (header, row) = (lines.next().unwrap(), lines.next().unwrap());
    let corrected = format!("{header},gpuledger/Row\n{row},delivery-{delivery}/file-1/row-1\n");
    let report = ledger.deliver("corrected.csv", corrected).await;
    is_loaded(&report);
    assert_eq!(report.files.len(), 1);
    assert_eq!(counted(&ledger).await, BOTH);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn archived_pair_is_loaded_again_as_the_halves_that_it_was(db: PgPool) {
    let ledger = TestLedger::new(db);
    is_loaded(&ledger.deliver("actual.csv", fixture("enterprise-actual")).await);
    let both = is_loaded(&ledger.deliver("amortized.csv", fixture("enterprise-amortized")).await);
    let corrected = fixture("enterprise-actual").replace("-100.5", "-200");
    let third = is_loaded(&ledger.deliver("actual.csv", corrected).await);
    let mut db = ledger.db.acquire().await.unwrap();
    let at_once = Archiving { after_hours: Some(0), ..Archiving::default() };
    storage::set_archiving(&mut db, at_once, now()).await.unwrap();
    for minutes in [1, 4] {
        storage::archive(&mut db, &ledger.originals, now() + Duration::minutes(minutes)).await.unwrap();
    }
    ledger.assert_balanced().await;
    let TestLedger { db: pool, originals, .. } = &ledger;
    let reload = Reload {
        pool,
        originals,
        delivery_id: both,
        uploaded: &[],
        progress: &Progress::default(),
        now: now(),
    };
    let loaded = reload.run().await.unwrap();
    assert!(matches!(loaded, LoadedAgain::Done), "{loaded:?}");
    ledger.undo(third).await;
    assert_eq!(counted(&ledger).await, BOTH);
    ledger.assert_balanced().await;
}

/// Microsoft's own example, with the sums that were worked out for it.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn files_of_microsoft_complete_each_other_in_both_orders(db: PgPool) {
    let Some(folder) = files::of_others() else { return };
    let ledger = TestLedger::new(db);
    let read = |name: &str| std::fs::read(folder.join("azure-ea").join(name)).unwrap();
    let (actual, amortized) = (read("EA_ActualCost_Small.csv"), read("EA_AmortizedCost_Small.csv"));
    let total = ["8.5450077867419368", "16.296932136636644627485419"];
    for order in [[&actual, &amortized], [&amortized, &actual]] {
        let mut made = Vec::new();
        for file in order {
            made.push(is_loaded(&ledger.deliver("export.csv", file).await));
        }
        let [billed, effective, _] = counted(&ledger).await;
        assert_eq!([billed.as_str(), effective.as_str()], total);
        ledger.assert_balanced().await;
        for delivery in made.into_iter().rev() {
            ledger.undo(delivery).await;
        }
        assert_eq!(counted(&ledger).await[..2], ["0", "0"]);
    }
}

/// The imports of two jobs that are both loaded before either is published.
async fn import_side_by_side(
    ledger: &TestLedger,
    files: [(&str, String); 2],
    minutes: [i64; 2],
) -> [Report; 2] {
    let paths = files.map(|(name, content)| ledger.file(name, content));
    let mut held = ledger.db.begin().await.unwrap();
    sqlx::query("select from ledger for update").execute(&mut *held).await.unwrap();
    let mut first = Box::pin(ledger.import_at(&paths[..1], now() + Duration::minutes(minutes[0])));
    let mut second = Box::pin(ledger.import_at(&paths[1..], now() + Duration::minutes(minutes[1])));
    let both_loaded = async {
        loop {
            let loaded: i64 = sqlx::query_scalar(
                "select count(*) from deliveries where status = 'loading' and format is not null",
            )
            .fetch_one(&mut *held)
            .await
            .unwrap();
            if loaded == 2 {
                held.rollback().await.unwrap();
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let (one, other, ()) = tokio::join!(&mut first, &mut second, both_loaded);
    [one, other].map(|mut reports| reports.remove(0))
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn halves_that_are_imported_side_by_side_complete_each_other(db: PgPool) {
    let ledger = TestLedger::new(db);
    for minutes in [[0, 1], [1, 0]] {
        let files = [
            ("actual.csv", fixture("enterprise-actual")),
            ("amortized.csv", fixture("enterprise-amortized")),
        ];
        let reports = import_side_by_side(&ledger, files, minutes).await;
        let mut ids = reports.each_ref().map(is_loaded);
        assert_eq!(reports.iter().map(|report| report.files.len()).sum::<usize>(), 3, "the last has both");
        assert_eq!(counted(&ledger).await, BOTH);
        ledger.assert_balanced().await;
        ids.sort_unstable();
        for id in ids {
            ledger.undo(id).await;
        }
        assert_eq!(counted(&ledger).await, ["0", "0", "0"]);
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn half_that_was_corrected_meanwhile_is_not_made_active_again(db: PgPool) {
    let ledger = TestLedger::new(db);
    is_loaded(&ledger.deliver("actual.csv", fixture("enterprise-actual")).await);
    let corrected = fixture("enterprise-actual").replace("-100.5", "-200");
    let files = [("actual-2.csv", corrected), ("amortized.csv", fixture("enterprise-amortized"))];
    let reports = import_side_by_side(&ledger, files, [1, 2]).await;
    for report in &reports {
        is_loaded(report);
    }
    assert_eq!(counted(&ledger).await, CORRECTED);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn pair_that_waits_is_not_published_over_a_newer_half_and_never_added_to_its_own(db: PgPool) {
    let ledger = TestLedger::new(db);
    let first = is_loaded(&ledger.deliver("actual.csv", fixture("enterprise-actual")).await);
    let broken = fixture("enterprise-amortized").replace(",1200,", ",oops,");
    let waits = ledger.deliver("amortized.csv", broken).await;
    assert_eq!(waits.status, Status::Waiting);
    let said = waits.message.as_deref().unwrap_or_default();
    assert!(said.ends_with("Choose whether to replace the active imports or to discard this one."), "{said}");
    let waits = waits.delivery.unwrap();
    let decide = async |decision| {
        let mut db = ledger.db.acquire().await.unwrap();
        ledger::publish(&mut db, waits, Some(decision), None, "me", now()).await.unwrap()
    };
    match decide(Decision::Add).await {
        Published::Overlaps(overlap) => assert_eq!((overlap.rows, overlap.others), (8, vec![first])),
        other => panic!("{other:?}"),
    }
    let corrected = fixture("enterprise-actual").replace("-100.5", "-200");
    let second = is_loaded(&ledger.deliver("actual.csv", corrected).await);
    assert_eq!(decide(Decision::Replace).await, Published::OtherHalf(vec![second]));
    // What it was loaded with is back, and so is what can be decided.
    ledger.undo(second).await;
    assert!(matches!(decide(Decision::Replace).await, Published::At(_)));
    assert_eq!(counted(&ledger).await, ["44286.91594", "827.41594", "34"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn half_that_meets_an_added_import_or_another_breadth_is_asked_about(db: PgPool) {
    let ledger = TestLedger::new(db);
    let first = is_loaded(&ledger.deliver("actual.csv", fixture("enterprise-actual")).await);
    let added = fixture("enterprise-actual").replace("-100.5", "-200");
    let path = ledger.file("added.csv", added);
    let added = is_loaded(&ledger.import(&[path], Some(Decision::Add), WhenUnsure::Wait).await[0]);
    let before = counted(&ledger).await;
    let asks = ledger.deliver("amortized.csv", fixture("enterprise-amortized")).await;
    assert_eq!((asks.status, asks.files.len()), (Status::Waiting, 1));
    let said = asks.message.unwrap();
    assert!(said.contains(&format!("imports {first}, {added} have the other one")), "{said}");
    assert_eq!(counted(&ledger).await, before);
    // As it says.
    ledger.undo(added).await;
    ledger.undo(first).await;
    let mut db = ledger.db.acquire().await.unwrap();
    assert!(ledger::discard(&mut db, asks.delivery.unwrap(), Ended::Discarded, "").await.unwrap());
    let paths = [
        ledger.file("actual.csv", fixture("enterprise-actual")),
        ledger.file("amortized.csv", fixture("enterprise-amortized")),
    ];
    is_loaded(&ledger.import(&paths, None, WhenUnsure::Wait).await[0]);
    assert_eq!(counted(&ledger).await, BOTH);
    // An export of more months.
    let wide = fixture("enterprise-actual");
    let (header, rows) = wide.split_once('\n').unwrap();
    let october = rows.replace("09/", "10/").replace("10/30/2026", "10/31/2026");
    let asks = ledger.deliver("wide.csv", format!("{header}\n{rows}{october}")).await;
    assert_eq!(asks.status, Status::Waiting, "{:?}", asks.message);
    assert_eq!(counted(&ledger).await, BOTH);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn several_files_of_both_halves_are_asked_about_whatever_was_decided(db: PgPool) {
    let ledger = TestLedger::new(db);
    let actual = fixture("enterprise-actual");
    let paths = [
        ledger.file("actual.csv", &actual),
        ledger.file("amortized.csv", fixture("enterprise-amortized")),
        ledger.file("actual-2.csv", actual.replace("-100.5", "-200")),
    ];
    for decision in [None, Some(Decision::Add), Some(Decision::Replace)] {
        let reports = ledger.import(&paths, decision, WhenUnsure::Discard).await;
        assert_eq!(reports.len(), 3);
        for report in reports {
            assert_eq!(report.status, Status::Waiting);
            let said = report.message.unwrap();
            assert!(
                said.contains("some are amortized cost and the others are or may be actual cost"),
                "{said}"
            );
        }
        assert_eq!(counted(&ledger).await, ["0", "0", "0"]);
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn another_export_beside_both_halves_is_asked_about_as_such(db: PgPool) {
    let ledger = TestLedger::new(db);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/one_month/azure-enterprise");
    let paths = ["actual.csv", "amortized.csv", "focus-1.2.csv"]
        .map(|name| ledger.file(name, std::fs::read(folder.join(name)).unwrap()));
    let reports = ledger.import(&paths, None, WhenUnsure::Discard).await;
    assert_eq!(reports.iter().map(|report| report.files.len()).collect::<Vec<_>>(), [2, 1]);
    for report in reports {
        assert_eq!(report.status, Status::Waiting);
        let said = report.message.unwrap();
        assert!(
            said.contains("several of these files state") && !said.contains("some are amortized"),
            "{said}"
        );
    }
}

/// The lines of a file of which this is true, behind its header.
fn lines(csv: &str, are_kept: impl Fn(&str) -> bool) -> String {
    let (header, rows) = csv.split_once('\n').unwrap();
    let rows = rows.lines().filter(|row| are_kept(row)).flat_map(|row| [row, "\n"]);
    [header, "\n"].into_iter().chain(rows).collect()
}

/// Whether a row of our own month has nothing to do with a commitment.
fn is_plain(row: &str) -> bool {
    ["Reservation", "SavingsPlan", "reservationOrders", "savingsPlanOrders"]
        .iter()
        .all(|word| !row.contains(word))
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn part_without_commitments_completes_nothing(db: PgPool) {
    let ledger = TestLedger::new(db);
    let amortized = fixture("enterprise-amortized");
    let plain = ledger.file("part_0.csv", lines(&amortized, is_plain));
    let committed = ledger.file("part_1.csv", lines(&amortized, |row| !is_plain(row)));
    let parts = [plain.clone(), committed.clone()];
    let reports = ledger.import(&parts, None, WhenUnsure::Discard).await;
    assert_eq!(reports.len(), 2);
    for report in reports {
        assert_eq!((report.status, report.files.len()), (Status::Waiting, 1), "{:?}", report.message);
    }
    assert_eq!(counted(&ledger).await, ["0", "0", "0"]);
    // Nor where it is active: its billed cost would stay that of the part.
    is_loaded(&ledger.import(&[plain], None, WhenUnsure::Discard).await[0]);
    let before = counted(&ledger).await;
    let asks = ledger.import(&[committed], None, WhenUnsure::Discard).await.remove(0);
    assert_eq!((asks.status, asks.files.len()), (Status::Waiting, 1));
    let said = asks.message.unwrap();
    assert!(said.contains("which this import does not state"), "{said}");
    assert_eq!(counted(&ledger).await, before);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rows_that_deny_their_manifest_are_refused(db: PgPool) {
    let ledger = TestLedger::new(db);
    let manifest = |kind: &str| {
        format!(
            r#"{{"manifestVersion": "2024-04-01", "exportConfig": {{"type": "{kind}"}},
                "blobs": [{{"blobName": "x/20260901-20260930/r/part_0_0001.csv"}}]}}"#
        )
    };
    for (folder, file, kind, said) in [
        ("a", "enterprise-amortized", "ActualCost", "found rows of amortized cost in "),
        ("b", "enterprise-actual", "AmortizedCost", "found rows of actual cost in "),
    ] {
        ledger.file(&format!("{folder}/part_0_0001.csv"), fixture(file));
        let swapped = ledger.file(&format!("{folder}/manifest.json"), manifest(kind));
        let report = ledger.import(&[swapped], None, WhenUnsure::Wait).await.remove(0);
        let message = report.message.unwrap();
        assert!(report.status == Status::Refused && message.contains(said), "{:?} {message}", report.status);
    }
    assert_eq!(counted(&ledger).await, ["0", "0", "0"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn half_of_fewer_days_is_named(db: PgPool) {
    let ledger = TestLedger::new(db);
    is_loaded(&ledger.deliver("actual.csv", fixture("enterprise-actual")).await);
    let until_the_fourth =
        lines(&fixture("enterprise-amortized"), |row| !row.contains("09/30/2026,Rounding"));
    let both = is_loaded(&ledger.deliver("amortized.csv", until_the_fourth).await);
    let said = notes(&ledger, both).await;
    assert!(said.contains("billed cost ends on September 30, effective cost on September 4"), "{said}");
}
