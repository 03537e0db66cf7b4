//! Modal's billing report, in every form that its client writes.

use std::io::Cursor;

use gpuledger::accelerator::recognize;
use gpuledger::billing::{self, Charge};

use super::{Reading, read, read_text};
use crate::support::number;

const HEADER: &str = "Object ID,Description,Environment,Interval Start,Resource,Cost,Tags";
const ROW: &str = r#"ap-1,llm-serve,prod,2026-09-03T00:00:00,H100,3.95,"{""team"": ""nlp""}""#;

fn rows(rows: &[&str]) -> Reading {
    read_text(format!("{HEADER}\n{}\n", rows.join("\n"))).unwrap()
}

#[test]
fn intervals_are_days_until_one_begins_at_no_midnight() {
    let at = |time: &str| ROW.replace("2026-09-03T00:00:00", time);
    let hour = at("2026-09-04T13:00:00");
    for (others, hours) in [
        (vec![at("2026-09-04T00:00:00"), at("2026-09-05")], 24),
        (vec![hour.clone()], 1),
        (vec![at("never"), hour], 1),
        // Midnight elsewhere is none.
        (vec![at("2026-09-04T00:00:00-07:00")], 1),
    ] {
        let mut lines = vec![ROW];
        lines.extend(others.iter().map(String::as_str));
        let reading = rows(&lines);
        for charge in &reading.charges {
            assert_eq!((charge.period.end - charge.period.start).num_hours(), hours, "{others:?}");
        }
        assert_eq!(reading.charges[0].period.start.to_rfc3339(), "2026-09-03T00:00:00+00:00");
    }
}

#[test]
fn the_month_is_that_of_the_interval_in_utc() {
    for (time, month) in [
        ("2026-09-30T23:00:00", "2026-09"),
        ("2026-09-30T23:00:00-07:00", "2026-10"),
        ("2026-10-01T00:00:00+05:30", "2026-09"),
    ] {
        let reading = rows(&[&ROW.replace("2026-09-03T00:00:00", time)]);
        assert_eq!(reading.charges[0].billing_month().to_string(), month, "{time}");
    }
}

#[test]
fn json_states_the_same_as_csv() {
    let csv = rows(&[ROW]);
    let object = r#"{"object_id": "ap-1", "description": "llm-serve", "environment": "prod",
                     "interval_start": "2026-09-03T00:00:00", "resource": "H100", "cost": "3.95", "tags": TAGS}"#;
    let as_text = object.replace("TAGS", r#""{\"team\": \"nlp\"}""#);
    let of_client = object.replace("TAGS", r#"{"team": "nlp"}"#).replace("environment", "environment_name");
    for text in [format!("[{as_text}]"), format!("[{of_client}]"), as_text.replace('\n', " ")] {
        let export = billing::open("modal.json", Cursor::new(text.clone()), &billing::ReadAs::any()).unwrap();
        let json = read(export).unwrap();
        let plain = |charge: &Charge| format!("{:?}", Charge { key_cells: Vec::new(), ..charge.clone() });
        assert_eq!(json.format, "modal-billing");
        assert_eq!(plain(&json.charges[0]), plain(&csv.charges[0]), "{text}");
    }
}

#[test]
fn costs_are_billed_and_no_hours_follow() {
    let reading = rows(&[ROW]);
    let charge = &reading.charges[0];
    assert_eq!((charge.billed_cost, charge.effective_cost), (number("3.95"), number("3.95")));
    assert_eq!((charge.consumed_quantity, charge.is_metered), (None, false));
    assert_eq!(recognize(&charge.key), None);
}

#[test]
fn tags_are_the_app_and_those_of_the_report() {
    for (row, expected) in [
        (ROW.to_owned(), &[("app", "llm-serve"), ("team", "nlp")][..]),
        (ROW.replace("team", "app"), &[("app", "nlp")]),
        (ROW.replace("ap-1", "vo-1"), &[("name", "llm-serve"), ("team", "nlp")]),
        (ROW.replace(r#""{""team"": ""nlp""}""#, "{}"), &[("app", "llm-serve")]),
        (ROW.replace(r#""{""team"": ""nlp""}""#, ""), &[("app", "llm-serve")]),
    ] {
        let reading = rows(&[&row]);
        assert_eq!(reading.charges[0].tags.iter().collect::<Vec<_>>(), expected, "{row}");
        assert_eq!(reading.remarks, [""; 0], "{row}");
    }
    let reading = rows(&[&ROW.replace(r#""{""team"": ""nlp""}""#, "nlp")]);
    assert!(reading.remarks[0].contains("no object of names and values"), "{:?}", reading.remarks);
}

#[test]
fn what_is_wrong_with_a_report_or_a_row_is_said() {
    for (cell, other, column, expected) in [
        ("3.95", "", "Cost", "a decimal number"),
        ("3.95", "€ 4", "Cost", "an amount in USD"),
        ("2026-09-03T00:00:00", "September", "Interval Start", "a time such as"),
        ("2026-09-03T00:00:00", "1999-09-03T00:00:00", "Interval Start", "the years 2000 to 2100"),
    ] {
        let reading = rows(&[&ROW.replace(cell, other)]);
        let [rejection] = reading.rejected.as_slice() else { panic!("{other}: {:?}", reading.charges) };
        assert_eq!(rejection.column, column, "{rejection}");
        assert!(rejection.expected.contains(expected), "{rejection}");
    }
    let refusal = read_text(format!("{}\n", HEADER.replace("Cost", "Amount"))).err().unwrap().to_string();
    assert!(refusal.contains("Modal billing report without the column Cost"), "{refusal}");
}
