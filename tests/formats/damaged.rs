//! The same damages to a file of every format, in every container: what is said names the row, the column, what was found and
//! what was expected, and the other rows are charges.

use std::io::Cursor;
use std::path::Path;

use gpuledger::billing;
use parquet::basic::Compression;

use super::{Reading, read};
use crate::support::containers;

/// A file of a format, and which of its columns hold what.
pub(super) struct Sample {
    pub(super) format: &'static str,
    /// Under `tests/fixtures/one_month`.
    file: &'static str,
    label: &'static str,
    pub(super) cost: &'static str,
    quantity: &'static str,
    currency: &'static str,
    account: &'static str,
    time: &'static str,
    /// Where the month of the bill stands, if it has a column.
    month: Option<&'static str>,
    /// Without which a file is none of the format.
    mandatory: &'static [&'static str],
}

pub(super) const SAMPLES: [Sample; 6] = [
    Sample {
        format: "aws-cur",
        file: "aws/cur.csv",
        label: "AWS Cost and Usage Report",
        cost: "lineItem/UnblendedCost",
        quantity: "lineItem/UsageAmount",
        currency: "lineItem/CurrencyCode",
        account: "bill/PayerAccountId",
        time: "lineItem/UsageStartDate",
        month: Some("bill/BillingPeriodStartDate"),
        mandatory: &[
            "lineItem/LineItemType",
            "lineItem/UnblendedCost",
            "lineItem/UsageStartDate",
            "lineItem/CurrencyCode",
        ],
    },
    Sample {
        format: "aws-cur-2",
        file: "aws/cur-2.csv",
        label: "AWS CUR 2.0",
        cost: "line_item_unblended_cost",
        quantity: "line_item_usage_amount",
        currency: "line_item_currency_code",
        account: "bill_payer_account_id",
        time: "line_item_usage_end_date",
        month: Some("bill_billing_period_start_date"),
        mandatory: &[
            "line_item_line_item_type",
            "line_item_unblended_cost",
            "line_item_usage_end_date",
            "bill_payer_account_id",
        ],
    },
    Sample {
        format: "focus",
        file: "aws/focus-1.2.csv",
        label: "FOCUS cost and usage",
        cost: "BilledCost",
        quantity: "ConsumedQuantity",
        currency: "BillingCurrency",
        account: "BillingAccountId",
        time: "ChargePeriodEnd",
        month: Some("BillingPeriodStart"),
        mandatory: &["BilledCost", "EffectiveCost", "BillingCurrency", "ChargePeriodStart", "ChargeCategory"],
    },
    Sample {
        format: "gcp-billing",
        file: "google/export.jsonl",
        label: "Google Cloud billing export",
        cost: "cost",
        quantity: "usage.amount_in_pricing_units",
        currency: "currency",
        account: "billing_account_id",
        time: "usage_start_time",
        month: Some("invoice.month"),
        mandatory: &["cost", "currency", "usage_start_time", "invoice.month", "credits"],
    },
    Sample {
        format: "azure-usage",
        file: "azure-enterprise/actual.csv",
        label: "Azure cost and usage details",
        cost: "Cost",
        quantity: "Quantity",
        currency: "BillingCurrency",
        account: "BillingAccountId",
        time: "Date",
        month: Some("BillingPeriodStartDate"),
        mandatory: &["Cost", "Date", "MeterCategory"],
    },
    Sample {
        format: "oci-cost",
        file: "oracle/0001000000260590-00001.csv",
        label: "Oracle Cloud (OCI) cost report",
        cost: "cost/myCost",
        quantity: "usage/billedQuantity",
        currency: "cost/currencyCode",
        account: "lineItem/tenantId",
        time: "lineItem/intervalUsageEnd",
        month: None,
        mandatory: &["lineItem/tenantId", "lineItem/intervalUsageStart", "cost/myCost"],
    },
];

/// Names of columns, and rows of cells.
#[derive(Clone)]
pub(super) struct Table {
    names: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn of(sample: &Sample) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/one_month");
        let mut text = std::fs::read_to_string(folder.join(sample.file)).unwrap();
        if Path::new(sample.file).extension().is_some_and(|it| it == "jsonl") {
            let flat = containers::flattened(&text, ".", serde_json::Value::to_string);
            text = String::from_utf8(flat).unwrap();
        }
        let mut reader = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        let cells = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
        let names = cells(reader.headers().unwrap());
        Self { names, rows: reader.records().map(|record| cells(&record.unwrap())).collect() }
    }

    pub(super) fn at(&self, column: &str) -> usize {
        self.names.iter().position(|name| name == column).unwrap_or_else(|| panic!("no column {column}"))
    }

    /// With another text in a column of the second row.
    fn with(&self, column: &str, text: &str) -> Self {
        let mut table = self.clone();
        text.clone_into(&mut table.rows[1][self.at(column)]);
        table
    }

    pub(super) fn csv(&self) -> Vec<u8> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.names).unwrap();
        for row in &self.rows {
            writer.write_record(row).unwrap();
        }
        writer.into_inner().unwrap()
    }

    /// The same rows in every container, with the name of a file of it.
    fn everywhere(&self) -> [(&'static str, Vec<u8>); 4] {
        let csv = self.csv();
        let objects = containers::objects(&csv).unwrap();
        [
            ("bill.parquet", containers::parquet(&objects, Compression::SNAPPY)),
            ("bill.jsonl", containers::lines(&objects).into_bytes()),
            ("bill.json", containers::list(&objects).into_bytes()),
            ("bill.csv", csv),
        ]
    }
}

pub(super) fn read_file(name: &str, content: Vec<u8>) -> Result<Reading, String> {
    let opened = billing::open(name, Cursor::new(content), &billing::ReadAs::any());
    opened.and_then(read).map_err(|refusal| refusal.to_string())
}

pub(super) fn refusal(name: &str, content: Vec<u8>) -> String {
    match read_file(name, content) {
        Ok(reading) => panic!("{name}: {} rows were read as {}", reading.rows, reading.format),
        Err(said) => said,
    }
}

/// A column of the second row, what stands there, and what is expected instead.
type Damage = (&'static str, &'static str, &'static str);

const A_NUMBER: &str = "a decimal number such as 12.50 or 5e-06";
const A_TIME: &str = "a time such as 2026-08-";

fn damages(sample: &Sample) -> Vec<Damage> {
    let Sample { cost, quantity, currency, account, time, .. } = *sample;
    let mut damages = vec![
        (cost, "12,50", "a number with a decimal point such as 12.50; a decimal comma means"),
        (cost, "1.234,50", "decimal point such as 12.50"),
        (cost, "much", A_NUMBER),
        (cost, "12.50 USD", A_NUMBER),
        (cost, "NaN", A_NUMBER),
        (cost, "€ 5", "an amount in USD, the currency of its row: € is the sign of EUR"),
        (quantity, "1,5", "a decimal comma means that a spreadsheet saved this file again"),
        (quantity, "many", A_NUMBER),
        (currency, "US$", "the code USD"),
        (currency, "$", "the code of the currency: $ is the sign of USD, CAD, AUD and others"),
        (currency, "€", "the code EUR"),
        (currency, "12", "a currency such as USD"),
        (currency, "", "currency"),
        (account, "1.23457E+11", "a spreadsheet"),
        (time, "yesterday", A_TIME),
        (time, "2026-02-30T04:00:00Z", A_TIME),
        (time, "2026-13-01T04:00:00Z", A_TIME),
        (time, "2026-09-03T25:00:00Z", A_TIME),
        (time, "45903.5", A_TIME),
        (time, "", A_TIME),
    ];
    // Azure's files of a subscription have no account, and stand for themselves.
    if sample.format != "azure-usage" {
        damages.push((account, "", ""));
    }
    if sample.format == "gcp-billing" {
        let month = "the month of an invoice such as 202611";
        damages.extend(["202613", "2026-09", "September", ""].map(|text| ("invoice.month", text, month)));
    } else if let Some(column) = sample.month {
        damages.push((column, "2026-13-01T00:00:00Z", A_TIME));
        damages.push((column, "September", A_TIME));
        damages.push((column, "1926-09-01T00:00:00Z", A_TIME));
        damages.push((column, "1998-09-01T00:00:00Z", "the years 2000 to 2100"));
    }
    damages
}

#[test]
fn a_cell_that_is_wrong_rejects_its_row_with_column_found_and_expected() {
    let mut wrong = Vec::new();
    for sample in &SAMPLES {
        let whole = Table::of(sample);
        let rows = whole.rows.len() as u64;
        let usual = read_file("bill.csv", whole.csv()).unwrap();
        assert_eq!((usual.format.as_str(), usual.rows, usual.rejected.len()), (sample.format, rows, 0));
        for (column, text, expected) in damages(sample) {
            for (name, content) in whole.with(column, text).everywhere() {
                let of = format!("{} in {name}, {column} is “{text}”", sample.format);
                let reading = match read_file(name, content) {
                    Ok(reading) => reading,
                    Err(said) => {
                        wrong.push(format!("{of}: refused: {said}"));
                        continue;
                    }
                };
                let found = if text.is_empty() { "nothing".to_owned() } else { format!("“{text}”") };
                let said: Vec<String> = reading.rejected.iter().map(ToString::to_string).collect();
                let begin = format!("row 2, column {column}: found {found}; expected ");
                let is_said = said.len() == 1 && said[0].starts_with(&begin) && said[0].contains(expected);
                if !is_said || reading.rows != rows {
                    wrong.push(format!("{of}: {said:?}, {} charges", reading.charges.len()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them: {wrong:#?}", wrong.len());
}

#[test]
fn a_column_that_is_missing_renamed_or_there_twice_refuses_the_file_and_is_named() {
    let mut wrong = Vec::new();
    for sample in &SAMPLES {
        let whole = Table::of(sample);
        let mut expect = |what: &str, table: &Table, found: &str| {
            for (name, content) in table.everywhere() {
                // The others are made of objects, which have a name once.
                if what.starts_with("twice") && name != "bill.csv" {
                    continue;
                }
                let said = refusal(name, content);
                let begin = format!("{name}: found ");
                if !(said.starts_with(&begin) && said.contains(found) && said.contains("; expected ")) {
                    wrong.push(format!("{} in {name}, {what}: {said}", sample.format));
                }
            }
        };
        for column in sample.mandatory {
            let at = whole.at(column);
            let mut missing = whole.clone();
            missing.names.remove(at);
            missing.rows.iter_mut().for_each(|row| drop(row.remove(at)));
            let found = format!("{} without the column {column}", sample.label);
            expect(&format!("without {column}"), &missing, &found);
            let mut renamed = whole.clone();
            renamed.names[at] = "Renamed".to_owned();
            expect(&format!("{column} renamed"), &renamed, &found);
            let mut twice = whole.clone();
            twice.names.push((*column).to_owned());
            twice.rows.iter_mut().for_each(|row| row.push(row[at].clone()));
            expect(
                &format!("twice {column}"),
                &twice,
                &format!("{} with the column {column} twice", sample.label),
            );
        }
    }
    assert!(wrong.is_empty(), "{} of them: {wrong:#?}", wrong.len());
}

#[test]
fn a_header_alone_is_a_month_without_charges() {
    for sample in &SAMPLES {
        let Table { names, .. } = Table::of(sample);
        let header = Table { names, rows: Vec::new() };
        for (name, content) in [
            ("bill.csv", header.csv()),
            ("bill.parquet", containers::parquet_of(&header.names, &[], Compression::SNAPPY)),
        ] {
            let reading = read_file(name, content).unwrap();
            assert_eq!(
                (reading.format.as_str(), reading.rows, reading.charges.len()),
                (sample.format, 0, 0),
                "{name}"
            );
        }
    }
    for (name, content) in [("bill.json", "[]"), ("bill.jsonl", "\n")] {
        let said = refusal(name, content.into());
        assert!(said.starts_with(&format!("{name}: found ")) && said.contains("; expected "), "{said}");
    }
}

#[test]
fn json_that_was_cut_off_or_is_nested_without_end_names_its_row() {
    for sample in &SAMPLES {
        let whole = Table::of(sample);
        let objects = containers::objects(&whole.csv()).unwrap();
        let last = objects.len();
        let lines = containers::lines(&objects).trim_end().to_owned();
        for (name, content) in [("bill.jsonl", lines), ("bill.json", containers::list(&objects))] {
            for from_end in [3, 20, 60] {
                let said = refusal(name, content.as_bytes()[..content.len() - from_end].to_vec());
                let expected = format!(
                    "{name}: row {last}: found the end of the file within a row; expected whole rows: the file was cut off"
                );
                assert!(said.starts_with(&expected), "{}, {from_end} bytes less: {said}", sample.format);
            }
        }
        // A cost that is a list of lists.
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        let marked = containers::objects(&whole.with(sample.cost, "deep").csv()).unwrap();
        for (name, content) in
            [("bill.jsonl", containers::lines(&marked)), ("bill.json", containers::list(&marked))]
        {
            let reading = read_file(name, content.replace("\"deep\"", &deep).into_bytes()).unwrap();
            let said: Vec<String> = reading.rejected.iter().map(ToString::to_string).collect();
            let of = format!("{} in {name}: {said:?}", sample.format);
            assert!(said.len() == 1 && said[0].starts_with("row 2") && said[0].contains(": found "), "{of}");
            assert!(said[0].contains("; expected ") && said[0].len() < 400, "{of}");
            assert_eq!(reading.rows, last as u64, "the rows behind it are read: {of}");
        }
    }
}
