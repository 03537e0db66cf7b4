//! One account and month, stated by every export that can state it: delivered one after the other, in every order, it
//! counts once, and undo leads back exactly.
//!
//! The files are in `tests/fixtures/one_month`, a folder a cloud: the same machines, commitments, refunds, taxes and credits,
//! as each export writes them.

use std::path::{Path, PathBuf};

use gpuledger::ledger::{self, Decision, Report, Status, WhenUnsure};
use gpuledger::money::Decimal;
use parquet::basic::Compression;
use serde_json::Value;
use sqlx::PgPool;

use crate::support::files::gzip;
use crate::support::{TestLedger, containers, number};

/// Which costs of a month an export has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum States {
    Both,
    Actual,
    Amortized,
}

/// An export as its files.
struct Form {
    name: &'static str,
    states: States,
    files: Vec<(&'static str, Vec<u8>)>,
}

/// What a month costs, and the exports that say so.
struct Month {
    billed: &'static str,
    effective: &'static str,
    forms: Vec<Form>,
    /// Forms that hold the same rows under other names: whichever comes second, is told what to undo first.
    same_rows: &'static [[&'static str; 2]],
}

impl Month {
    /// Billed and effective cost that a form states by itself.
    fn stated_by(&self, states: States) -> [Decimal; 2] {
        let [billed, effective] = [number(self.billed), number(self.effective)];
        match states {
            States::Both => [billed, effective],
            States::Actual => [billed; 2],
            States::Amortized => [effective; 2],
        }
    }

    /// What there is when `second` came after `first`.
    fn stated_by_both(&self, first: States, second: States) -> [Decimal; 2] {
        let complete_each_other = matches!(
            (first, second),
            (States::Actual, States::Amortized) | (States::Amortized, States::Actual)
        );
        self.stated_by(if complete_each_other { States::Both } else { second })
    }

    fn has_same_rows(&self, first: &Form, second: &Form) -> bool {
        self.same_rows.iter().any(|pair| pair.contains(&first.name) && pair.contains(&second.name))
    }
}

fn fixture(path: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/one_month");
    std::fs::read(folder.join(path)).unwrap()
}

fn form(name: &'static str, states: States, file: &'static str, content: Vec<u8>) -> Form {
    Form { name, states, files: vec![(file, content)] }
}

fn parquet(csv: &[u8]) -> Vec<u8> {
    let text = csv.strip_prefix("\u{feff}".as_bytes()).unwrap_or(csv);
    containers::parquet(&containers::objects(text).unwrap(), Compression::SNAPPY)
}

fn aws() -> Month {
    let cur = fixture("aws/cur.csv");
    let text = String::from_utf8(cur.clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let part = |rows: &[&str]| [&[lines[0]], rows].concat().join("\n").into_bytes();
    let manifest =
        r#"{"assemblyId": "a", "columns": [], "reportKeys": ["cur/part-1.csv", "cur/part-2.csv"]}"#;
    Month {
        billed: "5544.915678",
        effective: "5157.415678",
        forms: vec![
            form("CUR", States::Both, "cur-00001.csv", cur),
            form("CUR in Parquet", States::Both, "cur.parquet", parquet(&fixture("aws/cur-athena.csv"))),
            Form {
                name: "CUR by its manifest",
                states: States::Both,
                files: vec![
                    ("cur-Manifest.json", manifest.into()),
                    ("part-1.csv", part(&lines[1..4])),
                    ("part-2.csv", part(&lines[4..])),
                ],
            },
            form("CUR 2.0", States::Both, "data-00001.csv.gz", gzip(&fixture("aws/cur-2.csv"))),
            form("CUR 2.0 in Parquet", States::Both, "data.parquet", parquet(&fixture("aws/cur-2.csv"))),
            form("FOCUS 1.0", States::Both, "focus-1-0.csv", fixture("aws/focus-1.0.csv")),
            form("FOCUS 1.2", States::Both, "focus-1-2.csv", fixture("aws/focus-1.2.csv")),
            form(
                "FOCUS 1.2 in Parquet",
                States::Both,
                "focus.parquet",
                parquet(&fixture("aws/focus-1.2.csv")),
            ),
        ],
        same_rows: &[],
    }
}

fn azure_enterprise() -> Month {
    let of = |name: &str| fixture(&format!("azure-enterprise/{name}.csv"));
    Month {
        billed: "43787.6520413",
        effective: "1715.6520413",
        forms: vec![
            form("actual", States::Actual, "actual.csv", of("actual")),
            form("amortized", States::Amortized, "amortized.csv", of("amortized")),
            form("actual, newer names", States::Actual, "new.csv", of("actual-newer-names")),
            form("amortized, newer names", States::Amortized, "new-2.csv", of("amortized-newer-names")),
            form("amortized, enrollment", States::Amortized, "old-2.csv", of("amortized-enrollment")),
            form("actual in Parquet", States::Actual, "actual.parquet", parquet(&of("actual"))),
            form("FOCUS 1.0", States::Both, "focus-1-0.csv", of("focus-1.0")),
            form("FOCUS 1.2", States::Both, "focus-1-2.parquet", parquet(&of("focus-1.2"))),
        ],
        same_rows: &[],
    }
}

fn azure_customer() -> Month {
    let of = |name: &str| fixture(&format!("azure-customer/{name}.csv"));
    Month {
        billed: "43787.6477413",
        effective: "1715.6477413",
        forms: vec![
            form("actual", States::Actual, "actual.csv", of("actual")),
            form("amortized", States::Amortized, "amortized.csv", of("amortized")),
            form("actual, accounts as paths", States::Actual, "paths.csv", of("actual-paths")),
            form("amortized, accounts as paths", States::Amortized, "paths-2.csv", of("amortized-paths")),
            form("actual in Parquet", States::Actual, "actual.parquet", parquet(&of("actual"))),
            form("FOCUS 1.0", States::Both, "focus-1-0.csv", of("focus-1.0")),
            form("FOCUS 1.2", States::Both, "focus-1-2.csv", of("focus-1.2")),
        ],
        same_rows: &[],
    }
}

fn google() -> Month {
    let nested = String::from_utf8(fixture("google/export.jsonl")).unwrap();
    let flat = containers::flattened(&nested, ".", Value::to_string);
    let list = containers::list(&containers::objects(&flat).unwrap());
    Month {
        billed: "104.280001",
        effective: "104.280001",
        forms: vec![
            form("JSON lines", States::Both, "export.jsonl", nested.clone().into_bytes()),
            form("JSON list", States::Both, "export.json", list.into_bytes()),
            form("CSV", States::Both, "export.csv", flat.clone()),
            form(
                "CSV of a data frame",
                States::Both,
                "frame.csv",
                containers::flattened(&nested, "_", python),
            ),
            form("Parquet", States::Both, "export.parquet", parquet(&flat)),
            form("FOCUS export", States::Both, "focus.csv", fixture("google/focus-export.csv")),
            form("FOCUS view", States::Both, "view.csv", fixture("google/focus-view.csv")),
        ],
        same_rows: &[],
    }
}

/// A list of records as Python prints it.
fn python(list: &Value) -> String {
    list.to_string().replace('"', "'").replace("null", "None")
}

fn oracle() -> Month {
    let parts = ["0001000000260590-00001.csv", "0001000000260590-00002.csv"];
    let reports: Vec<_> = parts.iter().map(|name| (*name, fixture(&format!("oracle/{name}")))).collect();
    let second = String::from_utf8(reports[1].1.clone()).unwrap();
    let rows = second.split_once('\n').unwrap().1.as_bytes();
    let [of_3, of_6] = ["focus-3.csv", "focus-6.csv"].map(|name| fixture(&format!("oracle/{name}")));
    Month {
        billed: "192.50000000000626609",
        effective: "192.50000000000626609",
        forms: vec![
            form("cost report in one file", States::Both, "all.csv", [&reports[0].1, rows].concat()),
            Form { name: "cost report", states: States::Both, files: reports },
            Form {
                name: "FOCUS, packed",
                states: States::Both,
                files: vec![("a.csv.gz", gzip(&of_3)), ("b.csv.gz", gzip(&of_6))],
            },
            Form { name: "FOCUS", states: States::Both, files: vec![("3.csv", of_3), ("6.csv", of_6)] },
        ],
        same_rows: &[["cost report", "cost report in one file"], ["FOCUS", "FOCUS, packed"]],
    }
}

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
    for first in &month.forms {
        let before = import(&ledger, first).await;
        let alone = Figures::of(&ledger).await;
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
    assert_counts_once(db, aws()).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_of_an_azure_enrollment_counts_once_in_every_order_of_its_exports(db: PgPool) {
    assert_counts_once(db, azure_enterprise()).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_of_an_azure_billing_profile_counts_once_in_every_order_of_its_exports(db: PgPool) {
    assert_counts_once(db, azure_customer()).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_of_google_cloud_counts_once_in_every_order_of_its_exports(db: PgPool) {
    assert_counts_once(db, google()).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn month_of_oracle_counts_once_in_every_order_of_its_exports(db: PgPool) {
    assert_counts_once(db, oracle()).await;
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
    let month = azure_enterprise();
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
