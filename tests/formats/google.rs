//! Google Cloud's billing export: one month in every form that people have it in, and what its rows become.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use gpuledger::billing::{self, Charge, ChargeCategory, PricingCategory};
use gpuledger::money::Decimal;
use parquet::basic::Compression;
use serde_json::Value;

use super::{Reading, read, read_text};
use crate::support::containers;

fn month() -> String {
    let path = "tests/fixtures/exports/gcp-billing/both-commitment-models/input.jsonl";
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn read_json(text: String) -> Reading {
    read(billing::open("bill.jsonl", Cursor::new(text), &billing::ReadAs::any()).unwrap()).unwrap()
}

/// As Python prints it.
fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::String(text) => format!("'{text}'"),
        Value::Array(list) => format!("[{}]", list.iter().map(repr).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields: Vec<_> =
                fields.iter().map(|(name, value)| format!("'{name}': {}", repr(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        value => value.to_string(),
    }
}

#[test]
fn a_month_is_the_same_however_it_was_flattened() {
    let whole = read_json(month());
    assert_eq!((whole.rows, whole.further, whole.rejected.len()), (16, 4, 1));
    let dotted = containers::flattened(&month(), ".", Value::to_string);
    let objects = containers::objects(&dotted).unwrap();
    for (form, reading) in [
        ("a CSV with dots and JSON", read_text(dotted).unwrap()),
        (
            "a CSV with underscores and Python's lists",
            read_text(containers::flattened(&month(), "_", repr)).unwrap(),
        ),
        ("flat lines", read_json(containers::lines(&objects))),
        ("a flat Parquet file", {
            let file = containers::parquet(&objects, Compression::SNAPPY);
            read(billing::open("bill.parquet", Cursor::new(file), &billing::ReadAs::any()).unwrap()).unwrap()
        }),
    ] {
        let plain = |charge: &Charge| format!("{:?}", Charge { key_cells: Vec::new(), ..charge.clone() });
        assert_eq!(reading.rejected.len(), 1, "{form}: {:?}", reading.rejected);
        for (at, (left, right)) in whole.charges.iter().zip(&reading.charges).enumerate() {
            assert_eq!(plain(left), plain(right), "{form}, charge {at}");
        }
        assert_eq!(whole.charges.len(), reading.charges.len(), "{form}");
    }
}

#[test]
fn cost_and_credits_are_what_is_paid_in_both_models_of_commitments() {
    let whole = read_json(month());
    let sum = |of: &dyn Fn(&&Charge) -> bool| -> Decimal {
        whole.charges.iter().filter(of).map(|charge| charge.billed_cost).sum()
    };
    let of_category = |category: ChargeCategory| sum(&|charge| charge.key.category == category);
    // Each fee, and on the older one nothing is taken off.
    assert_eq!(of_category(ChargeCategory::Purchase), "74.79".parse().unwrap());
    assert_eq!(of_category(ChargeCategory::Credit), "-87.441264".parse().unwrap());
    assert_eq!(of_category(ChargeCategory::Tax), "12.345".parse().unwrap());
    assert_eq!(of_category(ChargeCategory::Adjustment), "-0.004".parse().unwrap());
    assert_eq!(whole.billed(), "186.161001".parse().unwrap());
    assert_eq!(whole.effective(), whole.billed());
    // What makes a price less is in the price, and promotions pay like money: 78.40 - 7.84, and 60 - 54.88.
    let effective = |rows: &str| -> Vec<String> {
        let of = whole.charges.iter().filter(|charge| charge.key.meter.contains(rows));
        of.map(|charge| charge.effective_cost.normalize().to_string()).collect()
    };
    assert_eq!(effective("H100")[0], "70.56");
    assert_eq!(effective("Sustained usage"), ["0"]);
    assert_eq!(effective("FreeTrial"), ["-1.25"]);
    assert_eq!(effective("dollar based"), ["5.12"]);
    assert_eq!(effective("Tesla A100 GPU running"), ["0", "14.79"], "the commitment's fee has the cost");

    let committed: Vec<_> = whole
        .charges
        .iter()
        .filter(|charge| charge.is_metered && charge.key.pricing == PricingCategory::Committed)
        .map(|charge| (charge.key.instance_type.as_str(), charge.key.commitment_discount_id.as_str()))
        .collect();
    assert_eq!(committed, [("a2-highgpu-8g", ""), ("a3-highgpu-8g", "sub-new")]);
    let dollars = whole.charges.iter().find(|charge| charge.key.meter.contains("dollar based")).unwrap();
    assert_eq!((dollars.consumed_quantity, dollars.is_metered), (None, false), "its hours are dollars");
}

#[test]
fn what_is_wrong_with_a_row_is_said_with_its_column() {
    let good = month().lines().next().unwrap().to_owned();
    for (from, to, column, expected) in [
        (
            r#""month": "202608""#,
            r#""month": "202613""#,
            "invoice.month",
            "the month of an invoice such as 202611",
        ),
        (
            r#""month": "202608""#,
            r#""month": "August""#,
            "invoice.month",
            "the month of an invoice such as 202611",
        ),
        (
            r#""month": "202608""#,
            r#""month": null"#,
            "invoice.month",
            "the month of an invoice such as 202611",
        ),
        (r#""cost": 78.4"#, r#""cost": "78,4""#, "cost", "decimal point"),
        (r#""cost": 78.4"#, r#""cost": null"#, "cost", "a decimal number"),
        (r#""USD""#, r#""US$""#, "currency", "the code USD"),
        (r#""USD""#, r#""$""#, "currency", "the code of the currency"),
        (r#""amount": -7.84"#, r#""amount": "much""#, "credits", "number"),
        (r#""amount": -7.84"#, r#""sum": -7.84"#, "credits", "a list of credits"),
        (r#""regular""#, r#""irregular""#, "cost_type", "regular, tax, adjustment"),
        ("2026-08-03 05:00:00 UTC", "2026-02-30 05:00:00 UTC", "usage_end_time", "a time such as"),
        ("2026-08-03 05:00:00 UTC", "2026-08-02 05:00:00 UTC", "usage_end_time", "not before the start"),
    ] {
        assert!(good.contains(from), "{from}");
        let reading = read_json(format!("{}\n{good}\n", good.replacen(from, to, 1)));
        assert_eq!((reading.rows, reading.charges.len(), reading.further), (2, 3, 2), "{to}");
        let rejection = &reading.rejected[0];
        assert_eq!((rejection.row, rejection.column.as_str()), (1, column), "{to}");
        assert!(rejection.expected.contains(expected), "{to}: {}", rejection.expected);
    }
}

#[test]
fn without_its_credits_the_export_is_refused() {
    let text =
        "billing_account_id,sku.description,usage_start_time,usage_end_time,cost,currency,invoice.month\n";
    let refusal = read_text(text).err().unwrap();
    assert!(refusal.to_string().contains("credits"), "{refusal}");
    let header_only = text.replace(",invoice", ",credits,invoice");
    assert_eq!(read_text(header_only).unwrap().rows, 0);
}
