//! Charges of Vast.ai, beside what else its interface answers in the same columns.

use std::io::Cursor;

use gpuledger::accelerator::{Catalog, Unrecognized, recognize};
use gpuledger::billing::{self, Charge, ChargeCategory};

use super::{Reading, read};
use crate::support::number;

const GPU: &str = r#"{"type": "gpu", "description": "24.000 hours at $2.133/hour", "amount": 51.192}"#;

fn row(items: &str) -> String {
    format!(
        r#"{{"start": 1788220800, "end": 1788220800, "type": "instance", "source": "instance-7", "description": "",
            "amount": 51.192, "metadata": {{"label": "train", "template_id": 101}}, "items": [{items}]}}"#
    )
}

fn page(total: &str, next: &str, rows: &[String]) -> String {
    let count = rows.len();
    let rows = rows.join(", ");
    format!(
        r#"{{"success": true, "count": {count}, "total": {total}, "next_token": {next}, "results": [{rows}]}}"#
    )
}

fn open(text: &str) -> Result<billing::Export, String> {
    let opened = billing::open("charges.json", Cursor::new(text.to_owned()), &billing::ReadAs::any());
    opened.map_err(|refusal| refusal.to_string())
}

fn read_rows(rows: &[String]) -> Reading {
    read(open(&page("1", "null", rows)).unwrap()).unwrap()
}

#[test]
fn what_is_no_charge_is_refused_by_name() {
    let payment =
        row("").replace(r#""label": "train""#, r#""invoice_id": 2185418, "service": "stripe_payments""#);
    for (text, reason) in [
        (page("1", "null", &[payment.replace("instance", "credit")]), "payments, not cost"),
        (page("0", "null", &[]), "an answer of Vast.ai that has no charges"),
        (
            r#"{"success": false, "error": "auth_error", "msg": "This action requires login."}"#.to_owned(),
            "the answer to a request that failed: “This action requires login.”",
        ),
        (
            r#"{"success": false, "msg": "Must provide both 'day' gte and lte filters", "results": []}"#.to_owned(),
            "Must provide both 'day' gte and lte filters",
        ),
        (
            r#"{"summary": {"total_gpu": 1.5}, "username": "u", "per_machine": [{"machine_id": 1, "gpu_earn": 1.5}], "per_day": []}"#
                .to_owned(),
            "earnings of machines, not cost",
        ),
        (page("1", "null", &[row("").replace("amount", "sum")]), "Vast.ai charges without the column amount"),
    ] {
        let refusal = open(&text).err().unwrap_or_else(|| panic!("{text} was read as cost"));
        assert!(refusal.contains(reason), "{refusal}");
    }
}

#[test]
fn a_payment_among_charges_is_skipped() {
    let reading = read_rows(&[row(GPU), row("").replace(r#""instance""#, r#""Transfer""#)]);
    assert_eq!(reading.skipped, ["a payment, no charge"]);
    assert_eq!(reading.billed(), number("51.192"));
}

#[test]
fn missing_pages_are_said() {
    let rows = [row(GPU), row(GPU)];
    for (total, next, expected) in [
        ("2", "null", None),
        ("14", r#""eyJ2""#, Some("2 of 14 charges: download the other pages")),
        ("14", "null", Some("2 of 14 charges: download the other pages")),
        ("2", r#""eyJ2""#, Some("one page of several: download the other pages")),
        ("null", r#""eyJ2""#, Some("one page of several: download the other pages")),
        ("null", "null", None),
        ("1", r#""""#, None),
    ] {
        let mut export = open(&page(total, next, &rows)).unwrap();
        let mut charge = Charge::default();
        while export.next(&mut charge).unwrap().is_some() {}
        let note = export.columns().notes.iter().find(|note| note.contains("pages"));
        assert_eq!(note.is_some(), expected.is_some(), "{total} {next}: {note:?}");
        assert!(note.is_none_or(|note| expected.is_some_and(|text| note.starts_with(text))), "{note:?}");
    }
}

#[test]
fn hours_of_gpus_are_of_a_machine_that_is_not_recognized() {
    let disk = GPU.replace("gpu", "disk");
    for (item, hours, unrecognized) in [
        (GPU, Some("24.000"), Some((Unrecognized::Machine, "GPU"))),
        (disk.as_str(), Some("24.000"), None),
        (r#"{"type": "gpu", "description": "a day", "amount": 51.192}"#, None, None),
        (
            r#"{"type": "bwd", "description": "79.1 GB Downloaded at $0.003/GB", "amount": 51.192}"#,
            None,
            None,
        ),
    ] {
        let reading = read_rows(&[row(item)]);
        let [charge] = reading.charges.as_slice() else { panic!("{item}: {:?}", reading.rejected) };
        assert_eq!(charge.consumed_quantity, hours.map(number), "{item}");
        assert_eq!(charge.is_metered, hours.is_some(), "{item}");
        assert_eq!(recognize(&charge.key), None, "{item}");
        assert_eq!(Catalog::default().unrecognized(&charge.key), unrecognized, "{item}");
    }
}

#[test]
fn items_that_do_not_sum_to_the_amount_are_said_and_the_amount_is_billed() {
    for (item, charges, remark) in [
        (GPU.to_owned(), 1, None),
        (GPU.replace("51.192", "51.191"), 2, Some("items do not sum to amount")),
        (GPU.replace("51.192", "60"), 2, Some("items do not sum to amount")),
        (String::new(), 1, Some("no items: amount is one charge")),
    ] {
        let reading = read_rows(&[row(&item)]);
        assert_eq!(reading.billed(), number("51.192"), "{item}");
        assert_eq!(reading.charges.len(), charges, "{item}");
        assert_eq!(reading.remarks.len(), usize::from(remark.is_some()), "{:?}", reading.remarks);
        assert!(remark.is_none_or(|remark| reading.remarks[0].contains(remark)), "{:?}", reading.remarks);
        for charge in &reading.charges {
            assert_eq!(charge.resource_id, "instance-7");
            let tags: Vec<_> = charge.tags.iter().collect();
            assert_eq!(tags, [("label", "train"), ("template_id", "101")]);
        }
    }
}

#[test]
fn a_service_credit_is_a_credit_and_a_fee_is_usage() {
    let sla = |amount: &str| format!(r#"{{"type": "sla", "description": "", "amount": {amount}}}"#);
    let reading = read_rows(&[row(&[sla("-0.5"), sla("1.5"), GPU.to_owned()].join(", "))]);
    let found: Vec<_> =
        reading.charges.iter().map(|charge| (charge.key.category, charge.key.meter.as_str())).collect();
    assert_eq!(
        found,
        [
            (ChargeCategory::Credit, "SLA"),
            (ChargeCategory::Usage, "SLA"),
            (ChargeCategory::Usage, "GPU"),
            (ChargeCategory::Usage, "Not itemized"),
        ]
    );
}

#[test]
fn a_charge_is_in_the_month_in_which_it_begins() {
    // 28 September to 1 October, 30 September alone, and 30 September up to midnight.
    for (start, end, crosses) in [
        (1_790_553_600, 1_790_812_800, true),
        (1_790_726_400, 1_790_726_400, false),
        (1_790_726_401, 1_790_812_800, false),
        (1_790_726_401, 1_790_812_801, true),
    ] {
        let row = row(GPU).replacen("1788220800", &start.to_string(), 1).replacen(
            "1788220800",
            &end.to_string(),
            1,
        );
        let reading = read_rows(&[row]);
        assert_eq!(reading.charges[0].billing_month().to_string(), "2026-09");
        let said = reading.remarks.iter().any(|remark| remark.contains("crosses the end of a month"));
        assert_eq!(said, crosses, "{start} {end}");
    }
}

#[test]
fn what_is_wrong_with_a_row_is_said_with_column_and_what_was_expected() {
    let usual = |cell: &str, other: &str| row(GPU).replacen(cell, other, 1);
    for (row, column, expected) in [
        (usual("1788220800", "1788220800000"), "start", "seconds since 1970"),
        (usual("1788220800", r#""2026-09-01""#), "start", "seconds since 1970"),
        (usual("1788220800", r#""1/2/2026""#), "start", "seconds since 1970"),
        (usual("1788220800", "null"), "start", "seconds since 1970"),
        (usual(r#""end": 1788220800"#, r#""end": 1788220799"#), "end", "not before the start"),
        (usual(r#""instance""#, r#""cluster""#), "type", "instance, volume or serverless"),
        (
            usual(r#""amount": 51.192, "metadata""#, r#""amount": null, "metadata""#),
            "amount",
            "a decimal number",
        ),
        (
            usual(r#""amount": 51.192, "metadata""#, r#""amount": "€ 5", "metadata""#),
            "amount",
            "an amount in USD",
        ),
        (usual(r#""amount": 51.192}"#, r#""amount": "much"}"#), "items", ""),
        (usual("[{", "[7, {"), "items", "a list of items"),
        (usual("instance-7", &"7".repeat(1001)), "source", "at most 1000 bytes"),
    ] {
        let reading = read_rows(&[self::row(GPU), row.clone()]);
        let [rejection] = reading.rejected.as_slice() else { panic!("{row}: {:?}", reading.charges) };
        assert_eq!((rejection.row, rejection.column.as_str()), (2, column), "{rejection}");
        assert!(rejection.expected.contains(expected), "{rejection}");
    }
}
