//! FOCUS as publishers write it: what is repaired is said, what was billed is never changed, and split costs count once.

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use gpuledger::accelerator::recognize;
use gpuledger::billing::{self, Charge};
use gpuledger::money::Decimal;
use serde_json::{Map, Value};

use super::{Reading, read_path};
use crate::support::containers;

fn fixture(name: &str) -> PathBuf {
    let exports = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/exports/focus");
    exports.join(name).join("input.csv")
}

fn read(name: &str) -> Reading {
    let reading = read_path(&fixture(name)).unwrap();
    assert_eq!(reading.rejected, [], "{name}");
    reading
}

/// What the file itself says in a column, added up.
fn sum_of(name: &str, column: &str) -> Decimal {
    let text = fs::read(fixture(name)).unwrap();
    let mut reader = csv::Reader::from_reader(&text[..]);
    let at = reader.headers().unwrap().iter().position(|header| header == column).unwrap();
    reader.records().map(|row| row.unwrap()[at].parse::<Decimal>().unwrap_or_default()).sum()
}

fn is(text: &str) -> Decimal {
    text.parse().unwrap()
}

#[test]
fn no_repair_changes_what_was_billed() {
    for name in [
        "azure-1.0",
        "azure-1.2-preview",
        "azure-1.2",
        "google-view",
        "google-export",
        "aws-1.0",
        "aws-1.2",
        "split-1.3",
        "split-1.4",
    ] {
        assert_eq!(read(name).billed(), sum_of(name, "BilledCost"), "{name}");
    }
}

#[test]
fn a_commitment_counts_once_beside_its_purchase() {
    let reading = read("azure-1.0");
    // Without the purchase of 300 and its refund of 30.
    assert_eq!(reading.effective(), sum_of("azure-1.0", "EffectiveCost") - is("270"));
}

#[test]
fn every_repair_is_said() {
    for (name, said) in [
        (
            "azure-1.0",
            &[
                "Azure states an EffectiveCost on a commitment's purchase",
                "Azure states no ContractedCost, or 0",
                "Azure states no ListCost, or 0",
                "it is PricingQuantity, which counts the same unit",
                "what was consumed is unknown",
                "Azure states no ServiceName: it is",
                "Azure states no ServiceName, and nothing",
                "no ProviderName beside an Azure billing profile",
            ][..],
        ),
        ("google-view", &["SubAccountId is the billing account", "a ChargeCategory of error"]),
        (
            "split-1.3",
            &[
                "a part of a split cost",
                "the origin of a split cost",
                "sold over the marketplace of the cloud",
            ],
        ),
    ] {
        let reading = read(name);
        for text in said {
            assert!(reading.remarks.iter().any(|remark| remark.contains(text)), "{name}: {text}");
        }
    }
    // What is as FOCUS says is not remarked upon.
    for name in ["aws-1.0", "aws-1.2", "azure-1.2", "google-export", "version-1.1"] {
        assert_eq!(read(name).remarks, Vec::<String>::new(), "{name}");
    }
}

/// Accelerator-hours of charges.
fn hours<'c>(charges: impl Iterator<Item = &'c Charge>) -> Decimal {
    let of = |charge: &Charge| {
        let found = recognize(&charge.key)?;
        Some(charge.consumed_quantity?.times(found.per_unit.parts()).times(found.seconds_per_unit.into()))
    };
    let parts = charges.filter(|charge| charge.is_metered).filter_map(of).sum();
    gpuledger::accelerator::accelerator_hours(parts, 6)
}

#[test]
fn parts_of_a_split_cost_have_the_cost_and_the_hours_of_their_origin_once() {
    for name in ["split-1.3", "split-1.4"] {
        let reading = read(name);
        let of_pod = |pod: &str| reading.charges.iter().find(|charge| charge.resource_id == pod).unwrap();
        // 24 hours of 8 on each of two hosts that were divided, and of one that was free.
        assert_eq!(hours(reading.charges.iter()), is("576"), "{name}");
        assert_eq!(hours([of_pod("pod-api")].into_iter()), is("96"), "{name}");
        // What no part took stays with the host; its zeroed row beside it has no hours.
        let host: Vec<&Charge> =
            reading.charges.iter().filter(|charge| charge.resource_id == "host-7").collect();
        assert_eq!(hours(host.iter().copied()), is("38.4"), "{name}");
        let tags: Vec<_> = of_pod("pod-api").tags.iter().collect();
        assert_eq!(tags, [("cluster", "shared"), ("k8s/namespace", "serving"), ("team", "api")], "{name}");
        assert_eq!(of_pod("pod-by-name").effective_cost, is("240"), "{name}");
        assert_eq!(reading.effective(), sum_of(name, "EffectiveCost"), "{name}");
    }
}

/// A CUR states the same charge under AWS: one account and month are one scope.
#[test]
fn what_a_marketplace_sells_stands_on_the_account_of_its_cloud() {
    let reading = read("split-1.3");
    let of = |account: &str| {
        let charge = reading.charges.iter().find(|charge| charge.key.billing_account == account).unwrap();
        (charge.key.provider.as_str(), charge.key.service.as_str())
    };
    assert_eq!(of("012345678901"), ("AWS", "Databricks"));
    assert_eq!(of("acct-of-databricks"), ("Databricks", "Databricks"));
}

/// BigQuery hands out records within records, which a CSV has as JSON in its cells.
#[test]
fn nested_records_of_google_are_read_as_the_same_in_a_csv() {
    for name in ["google-view", "google-export"] {
        let flat = read(name);
        let nested = |(column, value): (String, Value)| {
            let inner = value.as_str().filter(|text| text.starts_with(['{', '[']));
            let inner = inner.map(|text| serde_json::from_str(text).unwrap());
            (column, inner.unwrap_or(value))
        };
        let objects = containers::objects(&fs::read(fixture(name)).unwrap()).unwrap();
        let objects: Vec<Map<String, Value>> =
            objects.into_iter().map(|object| object.into_iter().map(nested).collect()).collect();
        assert!(objects[0]["x_Project"].is_object(), "{name}");
        let text = containers::lines(&objects);
        let export = billing::open("focus.jsonl", Cursor::new(text), &billing::ReadAs::any()).unwrap();
        assert!(
            export.columns().names.iter().any(|column| column.eq_ignore_ascii_case("x_project.id")),
            "{name}"
        );
        let read = super::read(export).unwrap();
        let described = |reading: &Reading| -> Vec<String> {
            let line = |charge: &Charge| {
                let tags: Vec<_> = charge.tags.iter().collect();
                format!("{:?} {tags:?} {} {}", charge.key, charge.billed_cost, charge.resource_id)
            };
            reading.charges.iter().map(line).collect()
        };
        assert_eq!(described(&flat), described(&read), "{name}");
        assert_eq!(flat.remarks, read.remarks, "{name}");
    }
}
