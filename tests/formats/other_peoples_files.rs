//! Files that other people's systems wrote, with the verdicts and totals that were worked out for them.
//! They lie beside the repository; where they do not, these tests say so and pass.

use std::path::PathBuf;

use gpuledger::billing::Manifest;
use gpuledger::money::Decimal;

use super::read_path;
use crate::support::files;

/// What a file must amount to. `effective` and `list` where the file states them and they are to be trusted.
enum Verdict {
    Imports {
        format: &'static str,
        rows: u64,
        /// Of these, what is left out for a reason that is said.
        skipped: u64,
        billed: &'static str,
        effective: Option<&'static str>,
        list: Option<&'static str>,
    },
    Refused(&'static str),
    /// Its only row is no charge.
    Rejected(&'static str),
}

use Verdict::{Refused, Rejected};

const fn imports(format: &'static str, rows: u64, billed: &'static str) -> Verdict {
    Verdict::Imports { format, rows, skipped: 0, billed, effective: None, list: None }
}

const fn states(rows: u64, billed: &'static str, effective: &'static str, list: &'static str) -> Verdict {
    Verdict::Imports {
        format: "focus",
        rows,
        skipped: 0,
        billed,
        effective: Some(effective),
        list: Some(list),
    }
}

const fn oracle(skipped: u64, rows: u64, billed: &'static str) -> Verdict {
    Verdict::Imports {
        format: "oci-cost",
        rows,
        skipped,
        billed,
        effective: Some(billed),
        list: Some(billed),
    }
}

const LACKS: Verdict = Refused("without the columns BillingAccountId, BillingCurrency");
const NEWER: &str = "nise-aws-cur/bucket/cur/gpu-cur/20260801-20260901/56241d23-eff8-4a33-b13e-577677afd2c1";
const OLDER: &str = "nise-aws-cur/bucket/cur/gpu-cur/20260801-20260901/e3d64bc9-ad7e-4874-b715-0b97fb9b8b6f";

/// Every file of the formats that are read, and of those that might be taken for them.
const VERDICTS: &[(&str, Verdict)] = &[
    ("aws-cur-legacy/koku-2023-06-01-not-final.csv", imports("aws-cur", 3, "30")),
    ("aws-cur-legacy/koku-2023-06-01.csv", imports("aws-cur", 3, "30")),
    ("aws-cur-legacy/koku-test_cur.csv", imports("aws-cur", 19, "0.0827499841274349353")),
    ("aws-cur-legacy/sample-anonymous-aws-export-dataset.csv", imports("aws-cur", 1281, "1.68230869740")),
    ("aws-cur2/elastic-cur2-excerpt.csv", imports("aws-cur-2", 2, "300.0")),
    (
        "aws-cur2/exports/gpu-cur2/data/BILLING_PERIOD=2026-08/gpu-cur2-00001.snappy.parquet",
        imports("aws-cur-2", 650, "185372.86906666399999940"),
    ),
    ("nise-aws-cur/September-2026-gpu-cur-2.csv", imports("aws-cur", 272, "136.0")),
    ("nise-aws-cur/September-2026-gpu-cur-2-finalized.csv", imports("aws-cur", 272, "136.0")),
    ("{NEWER}/August-2026-gpu-cur-1.csv.gz", imports("aws-cur", 1000, "1091649.4296")),
    ("{NEWER}/August-2026-gpu-cur-2.csv.gz", imports("aws-cur", 1000, "1730.91870966399999376")),
    ("{NEWER}/August-2026-gpu-cur-3.csv.gz", imports("aws-cur", 304, "152.0")),
    ("{NEWER}/gpu-cur-Manifest.json", Refused("the manifest of an AWS export")),
    ("{OLDER}/August-2026-gpu-cur-1.csv.gz", imports("aws-cur", 1000, "1091424.2620989288")),
    ("{OLDER}/August-2026-gpu-cur-2.csv.gz", imports("aws-cur", 872, "238.67139785759999472")),
    ("{OLDER}/gpu-cur-Manifest.json", Refused("the manifest of an AWS export")),
    (
        "nise-aws-cur/bucket/cur/gpu-cur/20260801-20260901/gpu-cur-Manifest.json",
        Refused("the manifest of an AWS export"),
    ),
    ("focus-1.0/focus_sample.csv", states(505, "15.97772642071", "14.79574516161", "16.07392642071")),
    (
        "focus-1.2/focus_sample_costandusage_aws_excerpt.csv",
        states(3, "599.476892", "38.620604", "603.856955"),
    ),
    (
        "focus-1.3/focus_sample_costandusage_excerpt.csv",
        states(3, "1768.67620476", "1768.67620476", "2004.9174279999999"),
    ),
    ("focus-1.4/focus_sample_invoicedetail_excerpt.csv", Refused("Invoice Detail")),
    (
        "focus-converter/nise-gpu-aug.focus.csv",
        states(572, "139541.19067311599999920", "6603.55067311599999920", "149757.1282"),
    ),
    (
        "focus-converter/aws-real-anonymised.focus.parquet",
        states(1281, "1.6823086974", "1.6823086974", "3.3561726977712880309574252"),
    ),
    ("focus-spec-1.2-examples/commitment_discount_purchase_scenario_1.csv", LACKS),
    ("focus-spec-1.2-examples/commitment_discount_purchase_scenario_3.csv", LACKS),
    ("focus-spec-1.2-examples/commitment_discount_usage_scenario_2.csv", LACKS),
    ("focus-spec-1.2-examples/commitment_discount_usage_scenario_4.csv", LACKS),
    (
        "focus-spec-1.2-examples/one_hundred_percent_utilization_with_commitment_discount_flexibility_with_1_resource.csv",
        LACKS,
    ),
    (
        "focus-spec-1.2-examples/one_hundred_percent_utilization_without_commitment_discount_flexibility.csv",
        LACKS,
    ),
    ("focus-spec-1.2-examples/saas_spend_agreements_a1.csv", states(4, "1200", "1200", "1257")),
    ("focus-spec-1.2-examples/saas_spend_agreements_b1.csv", states(5, "1200", "1200", "2457")),
    ("focus-spec-1.2-examples/simple_saas_agreements_a2.csv", states(1, "50000", "50000", "50000")),
    ("focus-spec-1.2-examples/simple_saas_agreements_b.csv", states(1, "50000", "50000", "50000")),
    ("focus-spec-1.2-examples/virtual_currency_pricing_model_a1.csv", states(1, "200000", "0", "200000")),
    ("focus-spec-1.2-examples/virtual_currency_pricing_model_b1.csv", states(1, "100000", "0", "200000")),
    ("focus-spec-1.2-examples/virtual_currency_pricing_model_b3.csv", states(3, "0", "495", "1230")),
    ("focus-validator/all_pass_0.5.csv", imports("focus", 2, "1.1")),
    ("focus-validator/sample.parquet", Refused("(InvoiceIssuer, ResourceID, ChargeType)")),
    ("azure-actual/koku-azure_version_2.csv", imports("azure-usage", 5, "19.998413754")),
    (
        "azure-actual/koku-costreport_a243c6f2-199f-4074-9a2c-40e671cf1584.csv",
        imports("azure-usage", 3, "0.00011016"),
    ),
    ("azure-actual/koku-manifest.json", Refused("the manifest of an Azure export")),
    ("azure-ea/EA_ActualCost_Small.csv", imports("azure-usage", 11, "8.5450077867419368")),
    ("azure-ea/EA_AmortizedCost_Small.csv", imports("azure-usage", 28, "16.2969321366366446274854190000")),
    ("azure-ea/EA_NoRows.csv", imports("azure-usage", 0, "0")),
    ("azure-headers-opencost/headersets-Enterprise.csv", imports("azure-usage", 1, "0")),
    ("azure-headers-opencost/headersets-German.csv", imports("azure-usage", 1, "0.075")),
    ("azure-headers-opencost/headersets-PayAsYouGo.csv", imports("azure-usage", 1, "0.075")),
    ("azure-headers-opencost/values-VirtualMachine.csv", imports("azure-usage", 1, "4")),
    ("azure-headers-opencost/headersets-BOM.csv", Rejected("row 1, column PreTaxCost: found nothing")),
    (
        "nise-azure/costreport_39245c05-53ec-4d2e-8570-1838210209b2.csv",
        imports("azure-usage", 155, "20816.961456667819186882"),
    ),
    ("nise-azure/costreport_b4728d43-f262-4b27-ac6e-3de436d299a3.csv", imports("azure-usage", 0, "0")),
    (
        "nise-azure/costreport_dbff1bba-8c84-42c6-a491-9db0105eea2d.csv",
        imports("azure-usage", 150, "20146.6754068100359938343"),
    ),
    ("gcp-csv/koku-202011_2020-11-08_2020-11-11.csv", imports("gcp-billing", 25, "0")),
    (
        "nise-gcp/202608_de67dde3-a17a-4c20-9afa-09b25dba6f9e_2026-08-01_2026-08-12.csv",
        imports("gcp-billing", 900, "6376.20724416"),
    ),
    (
        "nise-gcp/202608_28743268-c4ce-47a1-81aa-27785721caa5_2026-08-01_2026-08-12.jsonl",
        imports("gcp-billing", 700, "6166.06100768"),
    ),
    ("nise-gcp/gcp_billing_export_resource_v1_give.bq.jsonl", imports("gcp-billing", 700, "6166.06100768")),
    ("nise-gcp/gcp_billing_export_resource_v1_give.parquet", imports("gcp-billing", 1320, "7200.60724416")),
    ("nise-oci/report_cost-8708_2026-08.csv", oracle(0, 384, "30200.928")),
    ("oci-cost-report/reports_cost-csv_0000000030000269.csv", oracle(0, 300, "1.480631179304214551")),
    // Half of its rows have neither cost, quantity nor currency.
    ("oci-cost-report/reports_cost-csv_0001000000260590.csv", oracle(456, 912, "0")),
    ("oci-cost-report/reports_usage-csv_0001000000756042.csv", Refused("usage without cost")),
    ("nise-oci/report_usage-3984_2026-08.csv", Refused("usage without cost")),
    ("digitalocean/invoice.csv", imports("digitalocean-invoice", 2, "3.27")),
    ("digitalocean/invoice.json", imports("digitalocean-invoice", 2, "46.79")),
    ("opencost/export-sample.csv", Refused("proportions of cost")),
    ("opencost/cloudCost-example-output.json", Refused("OpenCost")),
    ("vast/charges.json", imports("vast-charges", 1, "38.421")),
    ("runpod/v1-billing-pods.json", imports("runpod-billing", 1, "100.5")),
    ("vast/invoices.json", Refused("payments")),
    ("prometheus-api/qr_empty.json", Refused("Prometheus")),
    ("slurm-sacct/gpuhpc_sacct_parsable2.txt", Refused("Slurm")),
    ("slurm-sacct/gpuhpc_sacct_X_noheader.txt", Refused("Slurm")),
    ("slurm-sacct/gpuhpc_sacct.json", Refused("Slurm")),
    ("nvidia-smi/query.txt", Refused("nvidia-smi")),
    ("dcgm/metrics-t4.prom", Refused("metrics")),
    ("skypilot-catalog/lambda-vms.csv", Refused("a price list")),
    ("opencost-custom-pricing/pricing_schema_mixed_gpu_ondemand.csv", Refused("a price list")),
    ("catalog/price_catalog.csv", Refused("a list that begins with a comment")),
];

fn named(name: &str) -> String {
    name.replace("{NEWER}", NEWER).replace("{OLDER}", OLDER)
}

#[test]
fn every_file_meets_with_its_verdict() {
    let Some(folder) = files::of_others() else { return };
    let mut read = 0;
    for (name, verdict) in VERDICTS {
        let name = named(name);
        match (verdict, read_path(&folder.join(&name))) {
            (Verdict::Imports { format, rows, skipped, billed, effective, list }, Ok(reading)) => {
                let is = |text: &str| text.parse::<Decimal>().unwrap();
                assert_eq!(reading.rejected, [], "{name}");
                assert_eq!((reading.format.as_str(), reading.rows), (*format, *rows), "{name}");
                let read = (reading.charges.len() as u64 - reading.further, reading.skipped.len() as u64);
                assert_eq!(read, (rows - skipped, *skipped), "{name}");
                assert_eq!(reading.billed(), is(billed), "{name}: billed");
                if let Some(effective) = effective {
                    assert_eq!(reading.effective(), is(effective), "{name}: effective");
                }
                if let Some(list) = list {
                    assert_eq!(reading.list(), is(list), "{name}: list");
                }
            }
            (Rejected(reason), Ok(reading)) => {
                let said: Vec<String> = reading.rejected.iter().map(ToString::to_string).collect();
                assert!(said.len() == 1 && said[0].starts_with(reason), "{name}: {said:?}");
                assert_eq!(reading.rows, 1, "{name}");
            }
            (Refused(reason), Err(refusal)) => {
                assert!(refusal.to_string().contains(reason), "{name}: {refusal}");
            }
            (Refused(_), Ok(_)) => panic!("{name} was read as cost"),
            (Verdict::Imports { .. } | Rejected(_), Err(refusal)) => panic!("{refusal}"),
        }
        read += 1;
    }
    println!("{read} files of other people were read");
    assert!(read > 0, "{} is there, and none of its files was read", folder.display());
}

/// Nothing under the folders of the formats that are read goes unjudged.
#[test]
fn no_file_is_forgotten() {
    let Some(folder) = files::of_others() else { return };
    let judged: Vec<String> = VERDICTS.iter().map(|(name, _)| named(name)).collect();
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            [
                "aws",
                "nise-aws",
                "azure",
                "nise-azure",
                "focus",
                "gcp",
                "nise-gcp",
                "oci",
                "nise-oci",
                "vast",
                "digitalocean",
                "runpod",
            ]
            .iter()
            .any(|prefix| {
                path.ends_with(prefix) || path.file_name().unwrap().to_string_lossy().starts_with(prefix)
            })
        })
        .collect();
    let mut found = 0;
    while let Some(path) = folders.pop() {
        if path.is_dir() {
            folders.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let name = path.strip_prefix(&folder).unwrap().display().to_string();
            assert!(judged.contains(&name), "{name}");
            found += 1;
        }
    }
    println!("{found} files of formats that are read have a verdict");
    assert!(found > 0, "{} is there, and holds no file of a format that is read", folder.display());
}

#[test]
fn the_manifest_on_top_names_the_newer_assembly() {
    let Some(folder) = files::of_others() else { return };
    let period = folder.join("nise-aws-cur/bucket/cur/gpu-cur/20260801-20260901");
    let manifest = Manifest::parse(&std::fs::read(period.join("gpu-cur-Manifest.json")).unwrap()).unwrap();
    let mut billed = Decimal::ZERO;
    let mut hours = Decimal::ZERO;
    for key in &manifest.files {
        let path = Manifest::candidates(key).into_iter().map(|at| period.join(at)).find(|path| path.exists());
        let reading = read_path(&path.unwrap()).unwrap();
        billed += reading.billed();
        let p5 = reading.charges.iter().filter(|c| c.is_metered && c.key.instance_type == "p5.48xlarge");
        hours += p5.filter_map(|charge| charge.consumed_quantity).sum();
    }
    assert_eq!(billed, "1093532.34830966399999376".parse().unwrap());
    assert_eq!(hours, Decimal::from(96), "covered usage counts once, negations and fees not at all");
}

#[test]
fn accounts_and_periods_are_what_the_files_say() {
    let Some(folder) = files::of_others() else { return };
    let read = |name: &str| read_path(&folder.join(name)).unwrap();
    let koku = read("aws-cur-legacy/koku-2023-06-01.csv");
    assert_eq!(koku.charges[0].key.currency, "NOK");
    assert!(!koku.charges[0].invoice_id.is_empty());
    assert!(read("aws-cur-legacy/koku-2023-06-01-not-final.csv").charges[0].invoice_id.is_empty());
    let short = read("aws-cur-legacy/koku-test_cur.csv");
    assert!(short.remarks[0].contains("missing and taken as empty (19 rows"), "{:?}", short.remarks);
    let taxes = read("aws-cur-legacy/sample-anonymous-aws-export-dataset.csv");
    let is_tax = |category: gpuledger::billing::ChargeCategory| category.as_str() == "Tax";
    assert!(taxes.charges.iter().filter(|c| is_tax(c.key.category)).all(|c| c.period.is_longer_than_a_day()));
    let azure = "/providers/Microsoft.Billing/billingAccounts/8611537";
    let focus = read("focus-1.0/focus_sample.csv");
    assert!(focus.charges.iter().all(|charge| charge.key.billing_account != azure));
    let mut scopes: Vec<(&str, &str)> =
        focus.charges.iter().map(|c| (c.key.provider.as_str(), c.key.billing_account.as_str())).collect();
    scopes.sort_unstable();
    scopes.dedup();
    assert_eq!(scopes, [("AWS", "1234567890123"), ("Microsoft", "8611537")]);
}
