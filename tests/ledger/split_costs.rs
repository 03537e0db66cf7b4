//! Split cost allocation of AWS from the file to the ledger: a machine counts once, and its parts are found by their tags.

use std::sync::Arc;

use gpuledger::ledger::{Sha256, Status, original_row};
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
        let opened =
            original_row(&ledger.originals, &sha256, row, Some("aws-cur-2"), Vec::new(), Arc::default())
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
