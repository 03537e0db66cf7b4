//! Hyperstack's cost datapoints of a resource, beside the answers that say of no amount when it was incurred.

use std::io::Cursor;

use gpuledger::billing::{self, Refusal};

use super::{Reading, read};
use crate::support::number;

fn answer(member: &str, bill: &str, points: &str) -> String {
    format!(
        r#"{{"status": true, "{member}": {{"org_id": 7, "billing_history": [{{"attributes": {{"id": "a", "infrahub_id": 8429,
            "resource_name": "vm"}}, "metrics": {{"incurred_bill": {bill}, "incurred_bill_graph": [{points}]}}}}], "total_count": 1}}}}"#
    )
}

fn point(time: &str, value: &str) -> String {
    format!(r#"{{"datetime": "{time}", "value": {value}}}"#)
}

fn read_answer(text: &str) -> Result<Reading, Refusal> {
    read(billing::open("graph.json", Cursor::new(text.to_owned()), &billing::ReadAs::any())?)
}

#[test]
fn answers_without_dates_are_refused_with_what_to_do() {
    let history = answer("billing_history_vm_details", "1", "")
        .replace(r#""incurred_bill_graph": []"#, r#""usage_time": 163"#);
    let events = r#"{"status": true, "message": "volume 38180 Billing Events History Retrieved Successfully.", "billing_events_history":
        [{"start": "2026-09-01T00:00:00", "event": "ACTIVE", "event_duration": 3600, "price_per_hour": 1.9, "total_cost": 1.9}]}"#;
    for (text, found) in [
        (history.as_str(), "says of no amount when it was incurred"),
        (events, "billing events of a resource of Hyperstack, which is named nowhere in them"),
    ] {
        let refusal = read_answer(text).err().unwrap().to_string();
        assert!(refusal.contains(found) && refusal.contains("a mapping reads"), "{refusal}");
    }
}

#[test]
fn the_object_around_the_rows_tells_the_service() {
    for (member, service, category) in [
        ("billing_history_vm_details", "Virtual machines", "Compute"),
        ("billing_history_cluster_details", "Kubernetes clusters", "Compute"),
        ("billing_history_snapshot_details", "Volumes and snapshots", "Storage"),
        ("billing_history_volume_details", "Volumes and snapshots", "Storage"),
        ("billing_history_bucket_details", "Object storage", "Storage"),
        ("billing_history_something", "Other", "Other"),
    ] {
        let reading = read_answer(&answer(member, "2", &point("2026-09-01T00:00:00Z", "2"))).unwrap();
        let [charge] = reading.charges.as_slice() else { panic!("{member}: {:?}", reading.rejected) };
        let found = (charge.key.service.as_str(), charge.key.service_category.as_str());
        assert_eq!(found, (service, category), "{member}");
        assert_eq!((charge.resource_id.as_str(), charge.tags.get("name")), ("8429", Some("vm")));
        assert!(!charge.is_metered && charge.consumed_quantity.is_none());
    }
}

#[test]
fn datapoints_sum_to_the_bill_exactly_or_are_rejected() {
    let two = |first: &str, second: &str| {
        [point("2026-09-30T00:00:00Z", first), point("2026-10-01T00:00:00Z", second)].join(",")
    };
    for (bill, points, expected) in [
        ("3", two("1", "2"), Some(["2026-09 1", "2026-10 2"].as_slice())),
        ("1.5e-11", two("0", "1.5e-11"), Some(&["2026-10 0.000000000015"])),
        ("-1", two("-3", "2"), Some(&["2026-09 -3", "2026-10 2"])),
        ("0.30000000000000004", two("0.1", "0.2"), Some(&["2026-09 0.1", "2026-10 0.20000000000000004"])),
        ("2", two("1", "2"), None),
        ("0.0000005", two("0", "0"), None),
    ] {
        let reading = read_answer(&answer("billing_history_vm_details", bill, &points)).unwrap();
        let charges = reading.charges.iter();
        let found: Vec<_> = charges.map(|it| format!("{} {}", it.billing_month(), it.billed_cost)).collect();
        assert_eq!(found, expected.unwrap_or_default(), "{points}");
        assert_eq!(reading.rejected.is_empty(), expected.is_some(), "{:?}", reading.rejected);
        if expected.is_some() {
            assert_eq!(reading.billed(), number(bill), "{points}");
        }
    }
}

#[test]
fn answers_of_one_page_of_several_are_said() {
    let text = answer("billing_history_vm_details", "2", &point("2026-09-01T00:00:00Z", "2"));
    let notes = |text: &str| read_answer(text).unwrap().notes;
    assert!(!notes(&text).iter().any(|note| note.contains("resources: query the others")));
    let more = text.replace(r#""total_count": 1"#, r#""total_count": 4"#);
    assert!(notes(&more).iter().any(|note| note.starts_with("1 of 4 resources")), "{:?}", notes(&more));
}
