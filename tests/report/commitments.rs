//! The same month as AWS's own report and as FOCUS: an hour costs the same, and so does what nothing used.

use std::collections::BTreeMap;

use gpuledger::accounts::Viewer;
use gpuledger::allocation::{self, Target};
use gpuledger::money::Decimal;
use gpuledger::report::{Answers, CostMetric, Filter, Grouping, Question, Spend};
use sqlx::PgPool;

use crate::support::configuration::{rule, team, write};
use crate::support::{Focus, TestLedger};

const ARN: &str = "arn:aws:ec2:us-west-2:111111111111:reserved-instances/ri-1";
const CUR_ACCOUNT: &str = "111111111111";
const FOCUS_ACCOUNT: &str = "222222222222";

/// A p5.48xlarge that is reserved: 24 hours were used, for 800; 400 of its fee of 1,200 nothing used. Beside it another hour
/// on demand, for 98.
fn cur() -> String {
    let head = "bill/PayerAccountId,bill/BillingPeriodStartDate,lineItem/UsageAccountId,lineItem/LineItemType,\
                lineItem/UsageStartDate,lineItem/UsageEndDate,lineItem/ProductCode,lineItem/UsageType,lineItem/ResourceId,\
                lineItem/UsageAmount,lineItem/CurrencyCode,lineItem/UnblendedCost,product/instanceType,pricing/unit,\
                reservation/ReservationARN,reservation/EffectiveCost,\
                reservation/UnusedAmortizedUpfrontFeeForBillingPeriod,reservation/UnusedRecurringFee,resourceTags/user:team";
    let row = |kind: &str, until: &str, meter: &str, hours: &str, cost: &str, reservation: &str| {
        let (start, of_machine) = ("2026-09-01T00:00:00Z", if hours.is_empty() { "" } else { "i-1" });
        format!(
            "{CUR_ACCOUNT},{start},{CUR_ACCOUNT},{kind},{start},{until},AmazonEC2,{meter}:p5.48xlarge,{of_machine},{hours},USD,\
             {cost},p5.48xlarge,Hrs,{reservation},vision\n"
        )
    };
    let (day, month) = ("2026-09-02T00:00:00Z", "2026-10-01T00:00:00Z");
    let covered = row("DiscountedUsage", day, "BoxUsage", "24", "0", &format!("{ARN},800,,"));
    let fee = row("RIFee", month, "HeavyUsage", "", "1200", &format!("{ARN},,150,250"));
    let on_demand = row("Usage", "2026-09-01T01:00:00Z", "BoxUsage", "1", "98", ",,,");
    format!("{head}\n{covered}{fee}{on_demand}")
}

/// The same as FOCUS writes it: the fee is a purchase, and what nothing used of it is a row of use.
fn focus() -> Focus {
    let row = |until: &str, category: &str, pricing: &str, hours: &str, costs: [&str; 2], status: &str| {
        let (start, [billed, effective]) = ("2026-09-01T00:00:00Z", costs);
        let commitment = if pricing == "Standard" && category == "Usage" { "" } else { ARN };
        format!(
            "AWS,{FOCUS_ACCOUNT},{FOCUS_ACCOUNT},{start},2026-10-01T00:00:00Z,{start},{until},{category},{pricing},AmazonEC2,\
             Compute,SKU1,us-west-2,,\"{{\"\"InstanceType\"\":\"\"p5.48xlarge\"\"}}\",{hours},Hours,{billed},{effective},\
             {effective},{effective},USD,\"{{\"\"team\"\":\"\"vision\"\"}}\",AWS,AWS,{commitment},{status}"
        )
    };
    let (day, month) = ("2026-09-02T00:00:00Z", "2026-10-01T00:00:00Z");
    Focus::new()
        .line(&row(day, "Usage", "Committed", "24", ["0", "800"], "Used"))
        .line(&row(month, "Purchase", "Standard", "", ["1200", "0"], ""))
        .line(&row(month, "Usage", "Committed", "", ["0", "400"], "Unused"))
        .line(&row("2026-09-01T01:00:00Z", "Usage", "Standard", "1", ["98", "98"], ""))
        .with_column("CommitmentDiscountId")
        .with_column("CommitmentDiscountStatus")
}

async fn ask(
    ledger: &TestLedger,
    account: &str,
    by: Grouping,
    cost: CostMetric,
    filters: Vec<Filter>,
) -> Spend {
    let mut db = ledger.db.acquire().await.unwrap();
    let account = Filter::keep(Grouping::Account, vec![account.to_owned()]);
    let filters = filters.into_iter().chain([account]).collect();
    let question =
        Question { by, cost, filters, ..Question::of("2026-09".parse().unwrap(), Viewer::Everything) };
    Answers::default().priced_spend(&mut db, &question).await.unwrap()
}

fn groups(spend: &Spend) -> BTreeMap<String, String> {
    let groups = spend.groups.iter().filter(|group| !group.cost.amount.is_zero());
    groups.map(|group| (group.label.clone(), group.cost.amount.normalize().to_string())).collect()
}

/// What both formats say, by whatever it is read from.
async fn agree(ledger: &TestLedger, dimensions: &[Grouping]) {
    for account in [CUR_ACCOUNT, FOCUS_ACCOUNT] {
        for by in dimensions {
            let spend = ask(ledger, account, by.clone(), CostMetric::Effective, Vec::new()).await;
            let described = format!("{account} by {by}");
            assert_eq!(spend.accelerator_hours, 200.into(), "{described}");
            // 898 for 200 hours; with what nothing used it would be 6.49.
            assert_eq!(spend.cost_per_accelerator_hour, Some("4.49".parse().unwrap()), "{described}");
            assert_eq!(spend.unused_commitment.as_ref().unwrap().amount, 400.into(), "{described}");
            assert_eq!(spend.total.as_ref().unwrap().amount, 1298.into(), "{described}");
            let unused: Decimal =
                spend.groups.iter().map(|group| group.unused_commitment.as_ref().unwrap().amount).sum();
            assert_eq!(unused, 400.into(), "{described}");
        }
        let by_status =
            ask(ledger, account, Grouping::CommitmentStatus, CostMetric::Effective, Vec::new()).await;
        let expected = [("No commitment", "98"), ("Unused", "400"), ("Used", "800")];
        let expected: BTreeMap<String, String> =
            expected.map(|(label, cost)| (label.to_owned(), cost.to_owned())).into();
        assert_eq!(groups(&by_status), expected, "{account}");
        let used = by_status.groups.iter().find(|group| group.key.as_deref() == Some("Used")).unwrap();
        assert_eq!(used.cost_per_accelerator_hour.unwrap().round(2).to_string(), "4.17");
        // Billed, the fee is a purchase, which has no status.
        let billed = ask(ledger, account, Grouping::CommitmentStatus, CostMetric::Billed, Vec::new()).await;
        assert_eq!(groups(&billed), [("No commitment".to_owned(), "1298".to_owned())].into(), "{account}");
        assert_eq!((billed.unused_commitment, billed.cost_per_accelerator_hour), (None, None));
        // Fees of AWS's own report name no machine that was used; what they are for is the same.
        let only = Filter::keep(Grouping::CommitmentStatus, vec!["Unused".to_owned()]);
        let only = ask(ledger, account, Grouping::Service, CostMetric::Effective, vec![only]).await;
        assert_eq!(groups(&only), [("AmazonEC2".to_owned(), "400".to_owned())].into(), "{account}");
        assert_eq!((only.accelerator_hours, only.cost_per_accelerator_hour), (0.into(), None));
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_hour_costs_the_same_whichever_format_its_month_came_in(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("cur.csv", cur()).await;
    ledger.deliver("focus.csv", focus()).await;
    let of_charges = [
        Grouping::Provider,
        Grouping::Accelerator,
        Grouping::Pricing,
        Grouping::Category,
        Grouping::Day,
        Grouping::Resource,
        Grouping::Tag("team".into()),
    ];
    agree(&ledger, &of_charges).await;

    // Sums by owner tell it as well.
    write(&mut ledger.db.acquire().await.unwrap(), vec![team("vision"), rule(1, "", "", Target::Labels)])
        .await;
    let of_owners = [Grouping::Team, Grouping::Experiment, Grouping::Pool];
    agree(&ledger, &[of_charges.as_slice(), of_owners.as_slice()].concat()).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let by_team = |by| Question {
        by,
        ..Question::of("2026-09".parse().unwrap(), Viewer::Teams(vec!["vision".into()]))
    };
    for by in [Grouping::Team, Grouping::CommitmentStatus, Grouping::Day] {
        let spend = Answers::default().priced_spend(&mut db, &by_team(by.clone())).await.unwrap();
        assert_eq!(spend.unused_commitment.unwrap().amount, 800.into(), "by {by}");
        assert_eq!(spend.cost_per_accelerator_hour, Some("4.49".parse().unwrap()), "by {by}");
    }
    let equations = allocation::check(&mut db).await.unwrap();
    assert!(equations.iter().all(|equation| equation.holds), "{equations:#?}");
    drop(db);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn fees_of_a_report_that_spreads_none_are_not_unused(db: PgPool) {
    let ledger = TestLedger::new(db);
    let columns = "reservation/EffectiveCost,";
    let unamortized = cur().replace(columns, "my/Notes,").replace(",800,,,", ",,,,");
    ledger.deliver("cur.csv", unamortized).await;
    let spend =
        ask(&ledger, CUR_ACCOUNT, Grouping::CommitmentStatus, CostMetric::Effective, Vec::new()).await;
    assert_eq!(spend.unused_commitment.unwrap().amount, Decimal::ZERO);
    assert!(spend.groups.iter().all(|group| group.key.as_deref() != Some("Unused")));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn accelerators_of_a_commitment_are_found_by_an_index(db: PgPool) {
    let mut db = db.acquire().await.unwrap();
    sqlx::query("set enable_seqscan = off").execute(&mut *db).await.unwrap();
    let plan: Vec<String> = sqlx::query_scalar(
        "explain select commitment_discount_id, min(accelerator) from charge_keys \
         where commitment_discount_id = any('{ri-1}'::text[]) and commitment_discount_id <> '' \
         and accelerator is not null group by 1",
    )
    .fetch_all(&mut *db)
    .await
    .unwrap();
    assert!(plan.iter().any(|line| line.contains("charge_keys_by_commitment")), "{plan:#?}");
}
