//! DigitalOcean's invoices: the same one as CSV and as JSON, and what its lines become.

use std::io::Cursor;

use gpuledger::accelerator;
use gpuledger::billing;

use super::{Reading, read, read_text};
use crate::support::number;

const HEADER: &str = "product,group_description,description,hours,start,end,USD,project_name,category";
const LINE: &str = "Droplets,,trainer (gpu-h100x8-640gb),10,2026-10-03 00:00:00 +0000,2026-10-03 10:00:00 +0000,$239.20,vision,iaas";

fn csv(line: &str) -> Reading {
    read_text(format!("{HEADER}\n{line}\n")).unwrap()
}

/// The line of a CSV with other cells.
fn with(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(LINE.to_owned(), |line, (cell, other)| {
        assert_eq!(line.matches(cell).count(), 1, "{cell}");
        line.replace(cell, other)
    })
}

fn notes_of(text: String) -> Vec<String> {
    let mut export = billing::open("invoice.json", Cursor::new(text), &billing::ReadAs::any()).unwrap();
    let mut charge = gpuledger::billing::Charge::default();
    while export.next(&mut charge).unwrap().is_some() {}
    export.columns().notes.clone()
}

#[test]
fn csv_and_json_of_an_invoice_become_the_same_charge() {
    let json = r#"{"invoice_items": [{"product": "Droplets", "description": "trainer (gpu-h100x8-640gb)", "amount": "239.20",
        "duration": "10", "duration_unit": "Hours", "start_time": "2026-10-03T00:00:00Z", "end_time": "2026-10-03T10:00:00Z",
        "project_name": "vision"}], "links": {}, "meta": {"total": 1}}"#;
    let (one, other) = (csv(LINE), read_text(json).unwrap());
    assert_eq!(
        (one.format.as_str(), other.format.as_str()),
        ("digitalocean-invoice", "digitalocean-invoice")
    );
    let (one, other) = (&one.charges[0], &other.charges[0]);
    assert_eq!(one.key, other.key);
    assert_eq!((one.billing_month, one.period), (other.billing_month, other.period));
    assert_eq!((one.billed_cost, one.consumed_quantity), (other.billed_cost, other.consumed_quantity));
    assert_eq!((&one.resource_id, one.is_metered), (&other.resource_id, other.is_metered));
}

#[test]
fn amounts_are_in_the_currency_that_their_column_is_named_after() {
    for (name, amount, expected) in [
        ("USD", "$239.20", Ok("USD")),
        ("EUR", "€239.20", Ok("EUR")),
        ("eur", "239.20", Ok("EUR")),
        ("INR", "₹239.20", Err("")),
        ("amount", "239.20", Ok("USD")),
        ("EUR", "$239.20", Err("an amount in EUR")),
    ] {
        let header = HEADER.replace("USD", name);
        let reading = read_text(format!("{header}\n{}\n", LINE.replace("$239.20", amount))).unwrap();
        match expected {
            Ok(currency) => assert_eq!(reading.charges[0].key.currency, currency, "{name}"),
            Err(said) => {
                assert_eq!(reading.rejected[0].column, name);
                assert!(reading.rejected[0].expected.contains(said), "{}", reading.rejected[0]);
            }
        }
    }
    let refused = read_text(format!("{}\n{LINE}\n", HEADER.replace("USD", "XQX"))).err().unwrap();
    assert!(
        refused.to_string().contains("DigitalOcean invoice without the column USD or amount"),
        "{refused}"
    );
    let twice = read_text(format!("{HEADER},EUR\n{LINE},1\n")).unwrap();
    assert!(twice.rejected[0].expected.starts_with("one column of amounts"), "{}", twice.rejected[0]);
}

#[test]
fn periods_are_half_open_whichever_end_is_written() {
    for (end, expected) in [
        ("2026-10-31 23:59:59 +0000", "2026-11-01T00:00:00Z"),
        ("2026-11-01 00:00:00 +0000", "2026-11-01T00:00:00Z"),
        ("2026-10-22 18:14:39 +0000", "2026-10-22T18:14:39Z"),
    ] {
        let reading = csv(&with(&[("2026-10-03 10:00:00 +0000", end)]));
        assert_eq!(reading.charges[0].period.end, expected.parse::<chrono::DateTime<chrono::Utc>>().unwrap());
        assert_eq!(reading.charges[0].billing_month().to_string(), "2026-10");
    }
}

#[test]
fn hours_count_the_gpus_of_the_size_in_parentheses() {
    for (product, description, expected) in [
        ("Droplets", "trainer (gpu-h100x8-640gb)", Some("8 H100")),
        ("GPU Droplets", "trainer (gpu-h100x1-80gb)", Some("1 H100")),
        ("Kubernetes Clusters", "pool-1 (gpu-l40sx1-48gb)", Some("1 L40S")),
        ("GPU Droplets", "trainer (gpu-mi300x8-1536gb)", Some("8 MI300X")),
        ("GPU Droplets", "trainer (gpu-mi325x8-2048gb-contracted)", Some("8 MI325X")),
        ("GPU Droplets", "trainer (gpu-b300x8-2304gb)", Some("8 B300")),
        ("Droplets", "gpu-h100x8-640gb-nyc2-01 (s-2vcpu-4gb)", None),
        ("Droplets", "gpu-h100x8-640gb-nyc2-01", None),
        ("Droplet Backups", "trainer (gpu-h100x8-640gb)", None),
        ("Backups", "trainer (gpu-h100x8-640gb)", None),
        ("Paperspace Machines", "notebook", None),
    ] {
        let reading = csv(&with(&[("Droplets", product), ("trainer (gpu-h100x8-640gb)", description)]));
        let charge = &reading.charges[0];
        assert_eq!(charge.key.provider, "DigitalOcean");
        assert!(charge.is_metered && charge.consumed_quantity == Some(number("10")));
        let found =
            accelerator::recognize(&charge.key).map(|it| format!("{} {}", it.per_unit, it.model.name));
        assert_eq!(found.as_deref(), expected, "{product}: {description}");
        let is_said = reading.remarks.iter().any(|remark| remark.contains("its hours are not counted"));
        assert_eq!(is_said, product.ends_with("Backups"), "{product}: {description}");
    }
}

#[test]
fn names_of_resources_are_no_part_of_a_key() {
    let (one, other) = (csv(LINE), csv(&with(&[("trainer (", "volume of the GPU (")])));
    assert_eq!(one.charges[0].key, other.charges[0].key);
    assert_eq!(one.charges[0].resource_id, "trainer");
}

#[test]
fn a_line_is_tax_an_adjustment_or_usage() {
    for (product, hours, amount, expected) in [
        ("Taxes", "", "$0.16", ("Tax", false)),
        ("Credits", "", "-$5.00", ("Adjustment", false)),
        ("Droplets", "10", "-$5.00", ("Usage", false)),
        ("Droplets", "-10", "-$5.00", ("Usage", true)),
        ("Droplets", "10", "$0.00", ("Usage", true)),
        ("Bandwidth", "", "$5.00", ("Usage", false)),
    ] {
        let line = with(&[("Droplets", product), (",10,", &format!(",{hours},")), ("$239.20", amount)]);
        let reading = csv(&line);
        let charge = &reading.charges[0];
        assert_eq!((charge.key.category.as_str(), charge.is_metered), expected, "{line}");
    }
}

#[test]
fn one_page_of_an_invoice_says_how_much_it_lacks() {
    let item = r#"{"product": "Droplets", "description": "a", "amount": "1", "duration": "1", "duration_unit": "Hours",
        "start_time": "2026-10-01T00:00:00Z", "end_time": "2026-10-01T01:00:00Z"}"#;
    for (beside, expected) in [
        (
            r#""links": {"pages": {"next": "https://x"}}, "meta": {"total": 6}"#,
            Some("2 of 6 lines: this is one page"),
        ),
        (
            r#""links": {"pages": {"prev": "https://x"}}, "meta": {"total": 6}"#,
            Some("2 of 6 lines: this is one page"),
        ),
        (r#""links": {"pages": {"next": "https://x"}}"#, Some("2 lines: this is one page")),
        (r#""links": {}, "meta": {"total": 2}"#, None),
        (r#""links": 5, "meta": {"total": "many"}"#, None),
    ] {
        let notes = notes_of(format!(r#"{{"invoice_items": [{item}, {item}], {beside}}}"#));
        let found = notes.iter().find(|note| note.contains("one page"));
        assert_eq!(found.is_some(), expected.is_some(), "{beside}: {notes:?}");
        assert!(found.is_none_or(|note| note.starts_with(expected.unwrap_or_default())), "{notes:?}");
    }
    let whole = billing::open(
        "i.json",
        Cursor::new(format!(r#"{{"invoice_items": [{item}]}}"#)),
        &billing::ReadAs::any(),
    )
    .unwrap();
    assert_eq!(read(whole).unwrap().rows, 1);
}
