//! RunPod's billing history: versions 1 and 2, and its products beside one another.

use std::io::Cursor;

use gpuledger::accelerator::{self, Catalog, Unrecognized};
use gpuledger::billing::{self, Accumulation};
use gpuledger::money::Decimal;

use super::{Reading, read_text};
use crate::support::number;

/// A list of version 1, of rows without their braces.
fn list(rows: &[&str]) -> String {
    let rows: Vec<String> = rows.iter().map(|row| format!("{{{row}}}")).collect();
    format!("[{}]", rows.join(",\n"))
}

/// An answer of version 2.
fn answer(rows: &[&str], metadata: &str) -> String {
    format!("{{\"records\": {}, \"metadata\": {metadata}}}", list(rows))
}

fn accumulation(text: &str) -> Accumulation {
    let export =
        billing::open("a.json", Cursor::new(text.to_owned().into_bytes()), &billing::ReadAs::any()).unwrap();
    assert_eq!(export.format().name(), "runpod-billing", "{text}");
    export.accumulation()
}

/// The notes that are said of a file once it was read.
fn notes(text: &str) -> Vec<String> {
    let mut export =
        billing::open("a.json", Cursor::new(text.to_owned().into_bytes()), &billing::ReadAs::any()).unwrap();
    let mut charge = billing::Charge::default();
    while export.next(&mut charge).unwrap().is_some() {}
    export.columns().notes.clone()
}

fn one(text: &str) -> Reading {
    let reading = read_text(text).unwrap();
    assert_eq!(reading.rejected, [], "{text}");
    reading
}

const TIMED: &str = r#""time": "2026-09-03T00:00:00Z", "amount": 7, "timeBilledMs": 7200000"#;
const BUCKET: &str = r#""startTime": "2026-09-03T00:00:00Z", "endTime": "2026-09-04T00:00:00Z""#;

/// Products add up, and two groupings of one product are the same dollars: the later replaces the earlier.
#[test]
fn exports_of_one_product_are_of_one_kind_whatever_they_are_grouped_by() {
    let of_1 = |more: &str| list(&[&format!("{TIMED}, {more}")]);
    let of_2 = |more: &str| answer(&[&format!("{BUCKET}, \"totalAmount\": 7, {more}")], "{}");
    for (text, expected) in [
        (of_1(r#""podId": "p1""#), Accumulation::Kind("pods")),
        (of_1(r#""gpuTypeId": "NVIDIA A40""#), Accumulation::Kind("pods")),
        (of_2(r#""podId": "p1", "gpuAmount": 7"#), Accumulation::Kind("pods")),
        (of_1(r#""endpointId": "e1""#), Accumulation::Kind("serverless")),
        (of_2(r#""serverlessId": "e1", "gpuAmount": 7, "feeAmount": 0"#), Accumulation::Kind("serverless")),
        (
            list(&[r#""time": "2026-09-03T00:00:00Z", "amount": 7, "diskSpaceBilledGB": 20"#]),
            Accumulation::Kind("network-volumes"),
        ),
        (of_2(r#""networkVolumeId": "v1", "standardAmount": 7"#), Accumulation::Kind("network-volumes")),
        (of_2(r#""clusterId": "c1", "gpuAmount": 7, "networkingAmount": 0"#), Accumulation::Kind("clusters")),
        (answer(&[&format!("{BUCKET}, \"totalAmount\": 7")], "{}"), Accumulation::Kind("public-endpoints")),
        (of_2(r#""podGpuAmount": 7, "endpointAmount": 0"#), Accumulation::WholePeriod),
    ] {
        assert_eq!(accumulation(&text), expected, "{text}");
        assert_eq!(one(&text).billed(), number("7"), "{text}");
    }
}

#[test]
fn members_that_anybody_has_are_not_taken_for_runpods() {
    for text in [
        r#"[{"time": "2026-09-03T00:00:00Z", "amount": 7}]"#,
        r#"[{"time": "2026-09-03T00:00:00Z", "amount": 7, "endTime": "2026-09-04T00:00:00Z"}]"#,
        r#"[{"startTime": "2026-09-03T00:00:00Z", "endTime": "2026-09-04T00:00:00Z", "totalAmount": 7, "order": 1}]"#,
    ] {
        let refusal = billing::open("a.json", Cursor::new(text.as_bytes()), &billing::ReadAs::any())
            .err()
            .unwrap()
            .to_string();
        assert!(refusal.contains("columns of no billing export that is known"), "{refusal}");
    }
    let text = list(&[r#""time": "2026-09-03T00:00:00Z", "timeBilledMs": 1"#]);
    let refusal = billing::open("a.json", Cursor::new(text.into_bytes()), &billing::ReadAs::any())
        .err()
        .unwrap()
        .to_string();
    assert!(refusal.contains("RunPod billing history without the column amount or totalAmount"), "{refusal}");
}

/// Time of a GPU type is counted; of a pod alone, it is found as time of what is not known.
#[test]
fn hours_are_those_of_the_gpu_type_and_unrecognized_without_one() {
    for (group, hours, expected) in [
        (r#""gpuTypeId": "NVIDIA H100 80GB HBM3""#, "2", Some("1 H100")),
        (r#""gpuTypeId": "NVIDIA H100 80GB HBM3", "podId": "p1""#, "2", Some("1 H100")),
        (r#""gpuTypeId": "NVIDIA  RTX A4500", "endpointId": "e1""#, "2", Some("1 RTX A4500")),
        (r#""gpuTypeId": "AMD Instinct MI300X OAM""#, "2", Some("1 MI300X")),
        (r#""gpuTypeId": null, "podId": "p1""#, "2", None),
        (r#""podId": "p1""#, "2", None),
        (r#""endpointId": "e1""#, "2", None),
    ] {
        let reading = one(&list(&[&format!("{TIMED}, {group}")]));
        let charge = &reading.charges[0];
        assert_eq!((charge.consumed_quantity, charge.is_metered), (Some(number(hours)), true), "{group}");
        let found =
            accelerator::recognize(&charge.key).map(|it| format!("{} {}", it.per_unit, it.model.name));
        assert_eq!(found.as_deref(), expected, "{group}");
        let unrecognized = Catalog::default().unrecognized(&charge.key).map(|(what, _)| what);
        assert_eq!(unrecognized, expected.is_none().then_some(Unrecognized::Machine), "{group}");
    }
}

#[test]
fn milliseconds_are_hours_as_exactly_as_decimals_are() {
    for (milliseconds, hours) in [
        ("3600000", Some("1")),
        ("5400000", Some("1.5")),
        ("984363", Some("0.27343416666666666667")),
        ("0", Some("0")),
        ("null", None),
    ] {
        let usual = format!("{TIMED}, \"podId\": \"p1\"");
        let reading = one(&list(&[&usual, &usual.replace("7200000", milliseconds)]));
        let charge = &reading.charges[1];
        assert_eq!(charge.consumed_quantity, hours.map(number), "{milliseconds}");
        assert_eq!(charge.is_metered, hours.is_some(), "{milliseconds}");
    }
}

#[test]
fn a_bucket_without_an_end_is_as_long_as_the_others_say() {
    let days = |times: &[&str]| {
        let rows: Vec<String> = times
            .iter()
            .map(|time| format!("\"time\": \"{time}\", \"amount\": 1, \"timeBilledMs\": 1, \"podId\": \"p\""))
            .collect();
        let reading = one(&list(&rows.iter().map(String::as_str).collect::<Vec<_>>()));
        let period = reading.charges[0].period;
        ((period.end - period.start).num_hours(), reading.remarks)
    };
    for (times, hours, remark) in [
        (&["2026-09-03 05:00:00", "2026-09-03 06:00:00"][..], 1, "read as an hour"),
        (&["2026-09-03 00:00:00", "2026-09-04 00:00:00"], 24, "read as a day"),
        (&["2026-09-07T00:00:00Z", "2026-09-14T00:00:00Z"], 24, "read as a day"),
        (&["2026-09-07T00:00:00Z", "2026-09-14T00:00:00Z", "2026-09-21T00:00:00Z"], 168, "read as a week"),
        (&["2026-09-01T00:00:00Z", "2026-10-01T00:00:00Z"], 720, "read as a month"),
        (&["2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"], 8760, "read as a year"),
        (&["2026-09-01T00:00:00Z", "2026-09-01T00:00:00Z"], 24, "there is no other"),
        (&["2026-09-01T05:00:00Z"], 1, "there is no other"),
    ] {
        let (length, remarks) = days(times);
        assert_eq!(length, hours, "{times:?}");
        assert!(remarks.iter().any(|said| said.contains(remark)), "{remarks:?}");
        let crosses = remarks.iter().any(|said| said.contains("begins in one month and ends in another"));
        assert_eq!(crosses, hours == 8760, "{remarks:?}");
    }
}

#[test]
fn a_bucket_that_crosses_a_month_counts_in_the_month_in_which_it_begins() {
    let week = BUCKET.replace("09-03", "09-28").replace("09-04", "10-05");
    let reading = one(&answer(&[&format!("{week}, \"totalAmount\": 7")], "{}"));
    assert_eq!(reading.charges[0].billing_month().to_string(), "2026-09");
    assert!(reading.remarks[0].contains("begins in one month"), "{:?}", reading.remarks);
}

/// Whatever its parts are, a record is billed its total.
#[test]
fn charges_of_a_record_add_up_to_its_total() {
    for (amounts, expected, remark) in [
        (r#""totalAmount": 12.34, "gpuAmount": 11.1, "cpuAmount": 0, "diskAmount": 1.24"#, "11.1 1.24", ""),
        // Binary floats.
        (
            r#""totalAmount": 0.30000000000000004, "gpuAmount": 0.2, "diskAmount": 0.1"#,
            "0.20000000000000004 0.1",
            "",
        ),
        (r#""totalAmount": 12.34, "gpuAmount": 11.1, "diskAmount": 1"#, "11.1 1 0.24", "do not add up"),
        (r#""totalAmount": 11, "gpuAmount": 11.1, "diskAmount": null"#, "11.1 -0.1", "do not add up"),
        (r#""totalAmount": 5, "gpuAmount": 0, "diskAmount": 0"#, "5", "do not add up"),
        (r#""totalAmount": 5, "gpuAmount": null, "diskAmount": null"#, "5", ""),
        (r#""totalAmount": -5, "gpuAmount": -5"#, "-5", ""),
    ] {
        let reading = one(&answer(&[&format!("{BUCKET}, \"podId\": \"p1\", {amounts}")], "{}"));
        let found: Vec<String> =
            reading.charges.iter().map(|charge| charge.billed_cost.to_string()).collect();
        assert_eq!(found.join(" "), expected, "{amounts}");
        assert_eq!(reading.remarks.concat().contains("do not add up"), !remark.is_empty(), "{amounts}");
        let sum: Decimal = reading.charges.iter().map(|charge| charge.effective_cost).sum();
        assert_eq!(sum, reading.billed(), "{amounts}");
        assert!(reading.charges.iter().all(|charge| charge.resource_id == "p1" && !charge.is_metered));
    }
    let nothing =
        answer(&[&format!("{BUCKET}, \"podId\": \"p1\", \"totalAmount\": 0, \"gpuAmount\": 0")], "{}");
    let undivided = answer(&[&format!("{BUCKET}, \"totalAmount\": 0")], "{}");
    for text in [nothing, undivided] {
        assert_eq!(one(&text).skipped, ["every amount is 0: nothing was billed"]);
    }
}

#[test]
fn what_metadata_say_otherwise_is_said_with_both_numbers() {
    let row = format!("{BUCKET}, \"podId\": \"p1\", \"totalAmount\": 12.34, \"gpuAmount\": 12.34");
    for (metadata, expected) in [
        (r#"{"recordCount": 1, "totals": {"totalAmount": 12.34}}"#, None),
        (r#"{"recordCount": 1, "totals": {"totalAmount": 12.339999999999998}}"#, None),
        (
            r#"{"recordCount": 3, "totals": {"totalAmount": 12.34}}"#,
            Some("metadata.recordCount is 3, and the file has 1 records"),
        ),
        (
            r#"{"recordCount": 1, "totals": {"totalAmount": 20.5, "gpuAmount": 1}}"#,
            Some("metadata.totals.totalAmount is 20.5, and the records that were read total 12.34"),
        ),
        (
            r#"{"query": {"startTime": "2026-09-03T00:00:00Z", "endTime": "2026-09-04T00:00:00Z", "podId": "p1"}}"#,
            Some(
                "the query asked for podId p1 alone: other charges of the month are not in this file; \
                 the records are of 2026-09-03T00:00:00Z to 2026-09-04T00:00:00Z: RunPod widens a query to whole buckets, \
                 of which the last may still be running",
            ),
        ),
        (r#"{"recordCount": "many", "totals": [], "query": 5}"#, None),
        ("7", None),
        ("{}", None),
    ] {
        let notes = notes(&answer(&[&row], metadata));
        let said = notes.iter().find(|note| note.contains("metadata") || note.contains("query"));
        assert_eq!(said.map(String::as_str), expected, "{metadata}");
    }
}

#[test]
fn what_is_wrong_with_a_record_is_said_with_member_and_what_was_expected() {
    let usual = format!("{TIMED}, \"podId\": \"p1\"");
    for (member, other, column, expected) in [
        ("7,", "\"seven\",", "amount", ""),
        ("7,", "null,", "amount", "a decimal number"),
        ("7200000", "\"2h\"", "timeBilledMs", ""),
        ("2026-09-03T00:00:00Z", "yesterday", "time", "a time such as"),
        ("2026-09-03T00:00:00Z", "1999-09-03T00:00:00Z", "time", "the years 2000 to 2100"),
    ] {
        let reading = read_text(list(&[&usual, &usual.replacen(member, other, 1)])).unwrap();
        let [rejection] = reading.rejected.as_slice() else { panic!("{other}: {:?}", reading.charges) };
        assert_eq!((rejection.row, rejection.column.as_str()), (2, column), "{rejection}");
        assert!(rejection.expected.contains(expected), "{rejection}");
    }
    let backwards = BUCKET.replace("09-04", "09-02");
    let reading = read_text(answer(&[&format!("{backwards}, \"totalAmount\": 7")], "{}")).unwrap();
    assert_eq!(reading.rejected[0].column, "endTime");
}

#[test]
fn it_reads_a_total_of_the_account_as_charges_of_each_product() {
    let row = format!(
        "{BUCKET}, \"totalAmount\": 9, \"podGpuAmount\": 4, \"serverlessFeeAmount\": 2, \"endpointAmount\": 1, \
         \"clusterNetworkingAmount\": 1, \"storageHighPerformanceAmount\": 1"
    );
    let reading = one(&answer(&[&row], "{}"));
    let found: Vec<String> = reading
        .charges
        .iter()
        .map(|charge| format!("{}: {} {}", charge.key.service, charge.key.meter, charge.billed_cost))
        .collect();
    assert_eq!(
        found,
        [
            "Pods: Pod GPU 4",
            "Serverless: Serverless platform fee 2",
            "Network volumes: High-performance storage 1",
            "Public endpoints: Public endpoint 1",
            "Clusters: Cluster networking 1",
        ]
    );
}

/// Windows are widened to whole buckets, so exports of two months may have a week in common.
#[test]
fn records_of_version_2_are_told_by_resource_and_bucket_and_those_of_version_1_by_nothing() {
    let identities = |text: String| {
        let mut export =
            billing::open("a.json", Cursor::new(text.into_bytes()), &billing::ReadAs::any()).unwrap();
        let mut charge = billing::Charge::default();
        let mut found = Vec::new();
        while export.next(&mut charge).unwrap().is_some() {
            found.push(export.identity());
        }
        found
    };
    let of_2 = |more: &str| format!("{BUCKET}, \"totalAmount\": 7{more}");
    let (one, other) = (of_2(r#", "podId": "p1""#), of_2(r#", "podId": "p2""#));
    let found = identities(answer(&[&one, &other, &one], "{}"));
    assert!(found[0].is_some() && found[0] == found[2] && found[0] != found[1], "{found:?}");
    assert!(identities(answer(&[&of_2("")], "{}"))[0].is_some());
    let without_id = of_2(r#", "gpuAmount": 7, "networkingAmount": 0"#);
    assert_eq!(identities(answer(&[&without_id, &without_id], "{}")), [None, None]);
    let of_1 = format!("{TIMED}, \"podId\": \"p1\"");
    assert_eq!(identities(list(&[&of_1, &of_1])), [None, None]);
}
