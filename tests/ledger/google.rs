//! A month of Google Cloud in the ledger: rows that are several charges, and the forms in which one month may come.

use std::path::Path;
use std::sync::Arc;

use gpuledger::billing::ReadAs;
use gpuledger::ledger::{Sha256, Status, original_row};
use gpuledger::money::Decimal;
use sqlx::PgPool;

use crate::support::{TestLedger, containers};

const ACCOUNT: &str = "01A2B3-C4D5E6-F7A8B9";

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/exports/gcp-billing");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn amount(text: &str) -> Decimal {
    text.parse().unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn credits_are_charges_of_the_row_that_they_are_taken_off(db: PgPool) {
    let ledger = TestLedger::new(db);
    let report = ledger.deliver("month.jsonl", fixture("both-commitment-models/input.jsonl")).await;
    assert_eq!(report.status, Status::Loaded, "{:?}", report.message);
    assert_eq!((report.rows_read, report.charges, report.further_charges, report.rejected), (16, 19, 4, 1));
    // The row of the last evening of July in Los Angeles is on the invoice of July.
    assert_eq!(ledger.billed(ACCOUNT, "2026-07").await, amount("9.8"));
    assert_eq!(ledger.billed(ACCOUNT, "2026-08").await, amount("176.361001"));
    ledger.assert_balanced().await;

    let sha256: Sha256 = report.files[0].sha256.unwrap();
    for (row, charges) in [(1, 3), (2, 1), (5, 2), (16, 0)] {
        let opened = original_row(
            &ledger.originals,
            &sha256,
            row,
            &ReadAs::named(Some("gcp-billing")),
            Vec::new(),
            Arc::default(),
        )
        .unwrap();
        assert_eq!(opened.charges.len(), charges, "row {row}");
        let stored: Vec<uuid::Uuid> =
            sqlx::query_scalar("select charge_key_id from charges where row_no = $1 order by charge_key_id")
                .bind(row as i64)
                .fetch_all(&ledger.db)
                .await
                .unwrap();
        let mut keys: Vec<_> = opened.charges.iter().map(|charge| charge.key).collect();
        keys.sort_unstable();
        assert_eq!(keys, stored, "row {row}");
    }

    // GPU-hours are those of the GPUs' own rows: 8 + 8 + 8 + 1 - 1 of machines, a spot one, eight chips.
    let hours: Vec<(String, Decimal)> = sqlx::query_as(
        "select k.accelerator, sum(c.consumed_quantity) from charges c join charge_keys k using (charge_key_id)
         where c.is_metered and k.accelerator is not null and c.billing_month = '2026-08-01' group by 1 order by 1",
    )
    .fetch_all(&ledger.db)
    .await
    .unwrap();
    let hours: Vec<_> = hours.iter().map(|(name, hours)| (name.as_str(), hours.to_string())).collect();
    assert_eq!(
        hours,
        [
            ("A100", "8".to_owned()),
            ("H100", "16".to_owned()),
            ("L4", "1".to_owned()),
            ("TPU v5e", "8".to_owned()),
        ]
    );
}

/// The month once more, as a flattened CSV of some of its rows and as Google's FOCUS view has it.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn forms_of_one_month_replace_one_another_in_any_order(db: PgPool) {
    let ledger = TestLedger::new(db);
    let lines = fixture("both-commitment-models/input.jsonl");
    // Without what is rejected, and without the row of July, which the others do not have.
    let rows = |skipped: &[usize]| -> String {
        let kept = lines.lines().enumerate().filter(|(at, _)| !skipped.contains(at));
        kept.flat_map(|(_, line)| [line, "\n"]).collect()
    };
    let nested = rows(&[11, 15]);
    let flat = containers::flattened(&nested, ".", serde_json::Value::to_string);
    let list = containers::list(&containers::objects(&flat).unwrap());
    let focus = "BilledCost,EffectiveCost,ListCost,ContractedCost,BillingAccountId,SubAccountId,BillingCurrency,BillingPeriodStart,\
                 BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ProviderName,ServiceName\n\
                 176.361001,176.361001,200,200,01A2B3-C4D5E6-F7A8B9,ml-train-1,USD,2026-08-01T00:00:00Z,2026-09-01T00:00:00Z,\
                 2026-08-03T04:00:00Z,2026-08-03T05:00:00Z,Usage,Google Cloud,Compute Engine\n";
    let forms = [
        ("month.jsonl", nested.into_bytes()),
        ("month.csv", flat),
        ("month.json", list.into_bytes()),
        ("focus.csv", focus.as_bytes().to_vec()),
    ];
    let mut delivered = Vec::new();
    for (first, _) in &forms {
        for (second, _) in &forms {
            for name in [first, second] {
                let (_, content) = forms.iter().find(|(form, _)| form == name).unwrap();
                let path = ledger.file(name, content);
                let replace = Some(gpuledger::ledger::Decision::Replace);
                let report = ledger
                    .import(&[path], replace, gpuledger::ledger::WhenUnsure::Discard)
                    .await
                    .pop()
                    .unwrap();
                assert_eq!(report.status, Status::Loaded, "{first}, {second}: {:?}", report.message);
                delivered.extend(report.delivery);
                assert_eq!(
                    ledger.billed(ACCOUNT, "2026-08").await,
                    amount("176.361001"),
                    "{first}, {second}"
                );
            }
        }
    }
    ledger.assert_balanced().await;
    for delivery in delivered.iter().skip(1).rev() {
        ledger.undo(*delivery).await;
        assert_eq!(ledger.billed(ACCOUNT, "2026-08").await, amount("176.361001"), "without {delivery}");
    }
    ledger.undo(delivered[0]).await;
    assert_eq!(ledger.billed(ACCOUNT, "2026-08").await, Decimal::ZERO);
}

/// A row that is several charges is one row, also where it was corrected.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn corrected_row_with_credits_takes_the_place_of_the_rejected_one(db: PgPool) {
    let ledger = TestLedger::new(db);
    let whole = fixture("both-commitment-models/input.jsonl");
    let first = whole.lines().next().unwrap();
    let broken = whole.replacen("\"cost\": 78.4,", "\"cost\": \"oops\",", 1);
    let report = ledger.deliver("month.jsonl", broken).await;
    assert_eq!((report.status, report.rejected), (Status::Loaded, 2));
    let before = ledger.billed(ACCOUNT, "2026-08").await;
    // Rejected rows are downloaded as CSV, and corrected as that.
    let flat = String::from_utf8(containers::flattened(first, ".", serde_json::Value::to_string)).unwrap();
    let (header, row) = flat.trim_end().split_once('\n').unwrap();
    let mark = format!("delivery-{}/file-0/row-1", report.delivery.unwrap());
    let corrected = format!("{header},gpuledger/Row\n{row},{mark}\n");
    let added = ledger.deliver("corrected.csv", corrected).await;
    assert_eq!((added.status, added.charges), (Status::Loaded, 3), "{:?}", added.message);
    assert_eq!(ledger.billed(ACCOUNT, "2026-08").await - before, amount("69.31"));
    ledger.assert_balanced().await;
}
