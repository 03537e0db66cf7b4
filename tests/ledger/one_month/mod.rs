//! One account and month, stated by every export that can state it: delivered one after the other, in every order, it
//! counts once, and undo leads back exactly.
//!
//! The files are in `tests/fixtures/one_month`, a folder a cloud: the same machines, commitments, refunds, taxes and credits,
//! as each export writes them.

mod exports;

use std::path::PathBuf;

use gpuledger::ledger::{self, Decision, Report, Status, WhenUnsure};
use gpuledger::money::Decimal;
use sqlx::PgPool;

use self::exports::{Form, Month, States, fixture, form};
use crate::support::{TestLedger, number};

/// Costs that count, by account, service, category, day and currency; and their sums by currency.
#[derive(Debug, PartialEq, Eq)]
struct Figures {
    lines: Vec<(String, String, String, String, Decimal, Decimal)>,
    totals: Vec<(String, Decimal, Decimal)>,
}

impl Figures {
    async fn of(ledger: &TestLedger) -> Self {
        let lines = sqlx::query_as(
            "select concat_ws(' ', k.provider, k.billing_account, k.sub_account), k.service, k.category::text,
                 concat_ws(' ', d.billing_month, d.day, d.is_whole_period), sum(d.billed_cost), sum(d.effective_cost)
             from daily_costs d
             join visibility v on v.delivery_id = d.delivery_id and v.scope_id = d.scope_id and v.until_sequence is null
             join charge_keys k using (charge_key_id)
             group by 1, 2, 3, 4, k.currency
             order by 1, 2, 3, 4, k.currency",
        )
        .fetch_all(&ledger.db)
        .await
        .unwrap();
        let totals = sqlx::query_as(
            "select k.currency, sum(m.billed_cost), sum(m.effective_cost)
             from monthly_costs m
             join visibility v on v.delivery_id = m.delivery_id and v.scope_id = m.scope_id and v.until_sequence is null
             join charge_keys k using (charge_key_id)
             group by 1
             order by 1",
        )
        .fetch_all(&ledger.db)
        .await
        .unwrap();
        Self { lines, totals }
    }

    fn are(&self, [billed, effective]: [Decimal; 2]) -> bool {
        self.totals == [("USD".to_owned(), billed, effective)]
    }
}

/// What accelerators cost, and the part-seconds that were paid for: what the price of an hour is made of.
async fn paid_accelerators(ledger: &TestLedger) -> Vec<(String, Decimal, Decimal)> {
    sqlx::query_as(
        "select k.accelerator, sum(m.effective_cost), sum(m.metered_quantity * k.accelerator_parts * k.unit_seconds)
         from monthly_costs m
         join visibility v on v.delivery_id = m.delivery_id and v.scope_id = m.scope_id and v.until_sequence is null
         join charge_keys k using (charge_key_id)
         where k.accelerator is not null and not k.is_unused_commitment
         group by 1
         order by 1",
    )
    .fetch_all(&ledger.db)
    .await
    .unwrap()
}

/// What came of importing a form.
struct Imported {
    deliveries: Vec<i64>,
    /// What it asked before, or said when it did not count.
    said: String,
}

/// Imports a form; where something must be decided, it replaces.
async fn import(ledger: &TestLedger, form: &Form) -> Imported {
    let of = |(name, content): &(&str, Vec<u8>)| ledger.file(&format!("{}/{name}", form.name), content);
    let mut paths: Vec<PathBuf> = form.files.iter().map(of).collect();
    let has_manifest = form.files[0].0.ends_with("Manifest.json");
    if has_manifest {
        paths.truncate(1);
    }
    let reports = ledger.import(&paths, None, WhenUnsure::Discard).await;
    let mut imported = Imported { deliveries: Vec::new(), said: String::new() };
    let mut unsure = Vec::new();
    for (path, report) in paths.iter().zip(&reports) {
        if report.status == Status::Waiting {
            unsure.push(path.clone());
            imported.said += report.message.as_deref().unwrap_or_default();
        } else {
            imported.take(form, report);
        }
    }
    if !unsure.is_empty() {
        for report in ledger.import(&unsure, Some(Decision::Replace), WhenUnsure::Discard).await {
            if report.status == Status::Waiting {
                report.message.unwrap_or_default().clone_into(&mut imported.said);
            } else {
                imported.take(form, &report);
            }
        }
    }
    imported
}

impl Imported {
    fn take(&mut self, form: &Form, report: &Report) {
        assert_eq!((report.status, report.rejected), (Status::Loaded, 0), "{}: {report:#?}", form.name);
        self.deliveries.extend(report.delivery);
    }

    async fn undo(&self, ledger: &TestLedger) {
        for delivery in self.deliveries.iter().rev() {
            ledger.undo(*delivery).await;
        }
    }
}

async fn assert_equations_hold(ledger: &TestLedger, when: &str) {
    let equations = ledger::check(&mut ledger.db.acquire().await.unwrap()).await.unwrap();
    let broken: Vec<_> = equations.iter().filter(|equation| !equation.holds).collect();
    assert!(broken.is_empty(), "{when}: {broken:#?}");
}

/// Every form after every other. What is wrong is said of all pairs at once.
async fn assert_counts_once(db: PgPool, month: Month) {
    let ledger = TestLedger::new(db);
    let mut wrong = Vec::new();
    let mut accelerators = None;
    for first in &month.forms {
        let before = import(&ledger, first).await;
        let alone = Figures::of(&ledger).await;
        if first.states == States::Both {
            let paid = paid_accelerators(&ledger).await;
            let expected = accelerators.get_or_insert_with(|| paid.clone());
            if paid != *expected {
                wrong.push(format!("{}: {paid:?}, and another form {expected:?}", first.name));
            }
        }
        if !alone.are(month.stated_by(first.states)) {
            wrong.push(format!("{} alone: {:?}", first.name, alone.totals));
        }
        for second in month.forms.iter().filter(|second| second.name != first.name) {
            let pair = format!("{}, then {}", first.name, second.name);
            let after = import(&ledger, second).await;
            assert_equations_hold(&ledger, &pair).await;
            let both = Figures::of(&ledger).await;
            if month.has_same_rows(first, second) {
                let is_told = after.deliveries.is_empty() && after.said.contains("active already");
                if !is_told || both != alone {
                    wrong.push(format!("{pair}: {:?}, {:?}", after.said, both.totals));
                }
            } else if !both.are(month.stated_by_both(first.states, second.states)) {
                wrong.push(format!("{pair}: {:?}, asked {:?}", both.totals, after.said));
            }
            if after.said.contains("former name") {
                wrong.push(format!("{pair}: states another account: {}", after.said));
            }
            let loses_a_cost = first.states == States::Both && second.states != States::Both;
            if loses_a_cost && !after.said.contains("which this import does not state") {
                wrong.push(format!("{pair}: takes a cost away and asks {:?}", after.said));
            }
            after.undo(&ledger).await;
            if Figures::of(&ledger).await != alone {
                wrong.push(format!("{pair}, undone: another month than before"));
            }
        }
        assert_equations_hold(&ledger, first.name).await;
        before.undo(&ledger).await;
        if Figures::of(&ledger).await != (Figures { lines: Vec::new(), totals: Vec::new() }) {
            wrong.push(format!("{}, undone: something is left", first.name));
        }
    }
    ledger.assert_balanced().await;
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_of_aws_counts_once_in_every_order_of_its_exports(db: PgPool) {
    assert_counts_once(db, exports::aws()).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_of_an_azure_enrollment_counts_once_in_every_order_of_its_exports(db: PgPool) {
    assert_counts_once(db, exports::azure_enterprise()).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_of_an_azure_billing_profile_counts_once_in_every_order_of_its_exports(db: PgPool) {
    assert_counts_once(db, exports::azure_customer()).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_of_google_cloud_counts_once_in_every_order_of_its_exports(db: PgPool) {
    assert_counts_once(db, exports::google()).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_of_oracle_counts_once_in_every_order_of_its_exports(db: PgPool) {
    assert_counts_once(db, exports::oracle()).await;
}

/// A half completes what is active where that is the other half, whatever was there before.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn both_halves_and_focus_count_once_in_every_order_of_the_three(db: PgPool) {
    let ledger = TestLedger::new(db);
    let month = exports::azure_enterprise();
    let [actual, amortized, focus] = ["actual", "amortized", "FOCUS 1.0"]
        .map(|name| month.forms.iter().find(|form| form.name == name).unwrap());
    for (order, expected) in [
        ([focus, actual, amortized], States::Both),
        ([focus, amortized, actual], States::Both),
        ([actual, amortized, focus], States::Both),
        ([amortized, actual, focus], States::Both),
        ([actual, focus, amortized], States::Amortized),
        ([amortized, focus, actual], States::Actual),
    ] {
        let names = order.map(|form| form.name).join(", then ");
        let (mut before, mut imported) = (Vec::new(), Vec::new());
        for form in order {
            before.push(Figures::of(&ledger).await);
            imported.push(import(&ledger, form).await);
            assert_equations_hold(&ledger, &names).await;
        }
        let all = Figures::of(&ledger).await;
        assert!(all.are(month.stated_by(expected)), "{names}: {:?}", all.totals);
        for (imported, before) in imported.iter().zip(before).rev() {
            imported.undo(&ledger).await;
            assert_eq!(Figures::of(&ledger).await, before, "{names}");
        }
    }
    ledger.assert_balanced().await;
}

/// The rows of a subscription, and with or without the columns that say who pays for it.
fn of_subscription(csv: &[u8], subscription: &str, names_account: bool) -> String {
    let text = csv.strip_prefix("\u{feff}".as_bytes()).unwrap_or(csv);
    let mut reader = csv::Reader::from_reader(text);
    let header = reader.headers().unwrap().clone();
    let is_kept = |name: &str| names_account || !matches!(name, "BillingAccountId" | "BillingProfileId");
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |record: &csv::StringRecord| {
        let cells = header.iter().zip(record).filter(|(name, _)| is_kept(name)).map(|(_, cell)| cell);
        writer.write_record(cells).unwrap();
    };
    write(&header);
    for record in reader.records().map(Result::unwrap) {
        if record.iter().any(|cell| cell == subscription) {
            write(&record);
        }
    }
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

/// An export of a billing account and one of a subscription of it state the same charges.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn azure_subscription_and_its_billing_account_count_once_in_both_orders(db: PgPool) {
    let ledger = TestLedger::new(db);
    let month = exports::azure_enterprise();
    let of_account = fixture("azure-enterprise/actual.csv");
    for (of, subscription, costs) in [
        ("a subscription", "5AB2E1C0-0000-4000-8000-000000000002", "-12.3479587"),
        ("the subscription with the purchase", "5AB2E1C0-0000-4000-8000-000000000001", "43800"),
    ] {
        for names_account in [true, false] {
            let when = format!("{of}, naming the account: {names_account}");
            let narrow = of_subscription(&of_account, subscription, names_account);
            let wide = form("account", States::Actual, "account.csv", of_account.clone());
            let narrow = form("subscription", States::Actual, "subscription.csv", narrow.into_bytes());

            let first = import(&ledger, &narrow).await;
            let alone = Figures::of(&ledger).await;
            assert!(alone.are([number(costs); 2]), "{when}: {:?}", alone.totals);
            let second = import(&ledger, &wide).await;
            let both = Figures::of(&ledger).await;
            assert!(both.are(month.stated_by(States::Actual)), "{when}: {:?}", both.totals);
            second.undo(&ledger).await;
            assert_eq!(Figures::of(&ledger).await, alone, "{when}");
            first.undo(&ledger).await;

            // The other way round, nobody takes the rest of the account away unasked.
            let first = import(&ledger, &wide).await;
            let alone = Figures::of(&ledger).await;
            let path = ledger.file("subscription.csv", &narrow.files[0].1);
            let report = ledger.import(&[path], None, WhenUnsure::Discard).await.remove(0);
            assert_eq!(report.status, Status::Waiting, "{when}: {report:?}");
            assert_eq!(Figures::of(&ledger).await, alone, "{when}");
            first.undo(&ledger).await;
            assert_equations_hold(&ledger, &when).await;
        }
    }
    ledger.assert_balanced().await;
}
