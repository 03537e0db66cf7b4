//! Split cost allocation of AWS from the file to the ledger: a machine counts once, and its parts are found by their tags.

use std::sync::Arc;

use gpuledger::billing::ReadAs;
use gpuledger::ledger::{Sha256, Status, WhenUnsure, original_row};
use gpuledger::money::Decimal;
use sqlx::PgPool;

use crate::support::TestLedger;

const EXPORT: &str = include_str!("../fixtures/exports/aws-cur-2/split-costs/input.csv");

/// Effective cost and metered hours of a team's machines.
async fn of_team(ledger: &TestLedger, team: &str) -> (Decimal, Decimal) {
    sqlx::query_as(
        "select coalesce(sum(m.effective_cost), 0), coalesce(sum(m.metered_quantity), 0)
         from monthly_costs m
         join visibility v on v.delivery_id = m.delivery_id and v.scope_id = m.scope_id and v.until_sequence is null
         join charge_keys k using (charge_key_id)
         where k.tags ->> 'team' = $1",
    )
    .bind(team)
    .fetch_one(&ledger.db)
    .await
    .unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn parts_of_machines_are_charges_of_their_teams(db: PgPool) {
    let ledger = TestLedger::new(db);
    let report = ledger.deliver("cur.csv", EXPORT).await;
    assert_eq!(report.status, Status::Loaded, "{:?}", report.message);
    assert_eq!((report.rows_read, report.charges, report.rejected, report.skipped), (17, 14, 0, 3));
    let is = |text: &str| text.parse::<Decimal>().unwrap();
    let platform = of_team(&ledger, "platform").await;
    let (vision, nlp) = (of_team(&ledger, "vision").await, of_team(&ledger, "nlp").await);
    // What the five machines cost, and ran: nothing of it twice.
    assert_eq!(platform.0 + vision.0 + nlp.0, is("440"));
    assert_eq!(platform.1 + vision.1 + nlp.1, is("5"));
    assert_eq!((vision.0, nlp.0), (is("80"), is("50")));
    assert_eq!(ledger.billed("012345678901", "2026-09").await, is("400"));
    // Read again row by row, each says what is stored.
    ledger.assert_balanced().await;

    // A row opens at once, without a look at the others: of a pod, the ledger alone knows what it took.
    let sha256: Sha256 = report.files[0].sha256.unwrap();
    for (row, charges) in [(3, 0), (4, 1)] {
        let opened = original_row(
            &ledger.originals,
            &sha256,
            row,
            &ReadAs::named(Some("aws-cur-2")),
            Vec::new(),
            Arc::default(),
        )
        .unwrap();
        assert_eq!((opened.columns.is_empty(), opened.charges.len()), (false, charges), "row {row}");
        let stored: i64 = sqlx::query_scalar("select count(*) from charges where row_no = $1")
            .bind(i64::try_from(row).unwrap())
            .fetch_one(&ledger.db)
            .await
            .unwrap();
        assert_eq!(stored, 1, "row {row}");
    }
    ledger.undo(1).await;
    assert_eq!(of_team(&ledger, "vision").await.0, Decimal::ZERO);
}

/// Effective cost and metered hours of each team of the example.
async fn of_teams(ledger: &TestLedger) -> Vec<(Decimal, Decimal)> {
    let mut teams = Vec::new();
    for team in ["platform", "vision", "nlp"] {
        teams.push(of_team(ledger, team).await);
    }
    teams
}

/// The rows of pods and tasks, and those of machines, each below the header.
fn parts_and_machines() -> [String; 2] {
    let (header, rows) = EXPORT.split_once('\n').unwrap();
    let (parts, machines): (Vec<&str>, Vec<&str>) =
        rows.lines().partition(|row| row.contains("EKSPod") || row.contains("ECSTask"));
    assert!(!parts.is_empty() && !machines.is_empty());
    [parts, machines].map(|rows| format!("{header}\n{}\n", rows.join("\n")))
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn parts_and_machines_in_two_files_of_a_report_are_divided_as_in_one(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("cur.csv", EXPORT).await;
    let in_one = of_teams(&ledger).await;
    ledger.undo(1).await;
    let [parts, machines] = parts_and_machines();
    for order in [[&parts, &machines], [&machines, &parts]] {
        ledger.file("cur-00001.csv", order[0]);
        ledger.file("cur-00002.csv", order[1]);
        let manifest = ledger.file(
            "cur-Manifest.json",
            r#"{"assemblyId": "a", "reportKeys": ["p/cur-00001.csv", "p/cur-00002.csv"]}"#,
        );
        let report = ledger.import(&[manifest], None, WhenUnsure::Wait).await.remove(0);
        assert_eq!(report.status, Status::Loaded, "{:?}", report.message);
        assert_eq!((report.files.len(), report.rows_read, report.skipped), (2, 17, 3));
        assert_eq!(of_teams(&ledger).await, in_one);
        ledger.assert_balanced().await;
        ledger.undo(report.delivery.unwrap()).await;
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn row_that_stands_twice_counts_once_whatever_it_divides(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("cur.csv", EXPORT).await;
    let once = costs(&ledger, 1).await;
    ledger.undo(1).await;
    let mut is_undivided = false;
    for row in EXPORT.lines().skip(1) {
        let report = ledger.deliver("cur.csv", format!("{}\n{row}\n", EXPORT.trim_end())).await;
        assert_eq!(report.status, Status::Loaded, "{:?}", report.message);
        let delivery = report.delivery.unwrap();
        assert_eq!(costs(&ledger, delivery).await, once, "{row}");
        is_undivided |= of_team(&ledger, "vision").await.0 == Decimal::ZERO;
        ledger.assert_balanced().await;
        ledger.undo(delivery).await;
    }
    assert!(is_undivided, "with some of them twice nothing is divided");
}

/// What a delivery is billed, and its effective cost.
async fn costs(ledger: &TestLedger, delivery: i64) -> (Decimal, Decimal) {
    sqlx::query_as("select sum(billed_cost), sum(effective_cost) from delivery_totals where delivery_id = $1")
        .bind(delivery)
        .fetch_one(&ledger.db)
        .await
        .unwrap()
}
