//! Fireworks' billing metrics: what an event is as charges, and what is wrong with it.

use gpuledger::billing::Charge;

use super::{Reading, read_text};
use crate::support::number;

const HEADER: &str = "email,start_time,end_time,usage_type,accelerator_type,accelerator_seconds,base_model_name,model_bucket,\
                      parameter_count,prompt_tokens,completion_tokens";
const ROW: &str = "ml@example.com,2026-09-03 17:16:48 UTC,2026-09-03 17:16:51 UTC,TEXT_COMPLETION_INFERENCE_USAGE,,,\
                   accounts/fireworks/models/kimi-k2-instruct,Kimi K2,1026470731056,803,109";
/// What a deployment used in an hour.
const DEPLOYMENT: &str = "ml@example.com,2026-09-03 17:00:00 UTC,2026-09-03 18:00:00 UTC,DEPLOYMENT_USAGE,NVIDIA_H100_80GB,7200,\
                          accounts/fireworks/models/kimi-k2-instruct,,,,";

fn rows(rows: &[&str]) -> Reading {
    read_text(format!("{HEADER}\n{}\n", rows.join("\n"))).unwrap()
}

/// Meter, quantity and unit of each charge.
fn used(reading: &Reading) -> Vec<String> {
    let words = |charge: &Charge| {
        let quantity = charge.consumed_quantity.unwrap();
        format!("{}: {quantity} {}", charge.key.meter, charge.key.unit)
    };
    reading.charges.iter().map(words).collect()
}

#[test]
fn row_is_a_charge_of_each_kind_of_tokens_that_it_has() {
    let (input, output) = ("kimi-k2-instruct input tokens", "kimi-k2-instruct output tokens");
    for (tokens, expected) in [
        ("803,109", vec![format!("{input}: 0.000803 1M tokens"), format!("{output}: 0.000109 1M tokens")]),
        ("803,", vec![format!("{input}: 0.000803 1M tokens")]),
        ("0,3000000", vec![format!("{output}: 3 1M tokens")]),
        // Of as many digits as a quantity has.
        ("999999999999999999999,NULL", vec![format!("{input}: 999999999999999.999999 1M tokens")]),
    ] {
        let reading = rows(&[&ROW.replace("803,109", tokens)]);
        assert_eq!(used(&reading), expected, "{tokens}");
        assert_eq!(reading.further, expected.len() as u64 - 1, "{tokens}");
        for charge in &reading.charges {
            assert!(charge.lacks_cost && charge.is_metered && charge.billed_cost.is_zero());
            assert_eq!(charge.key.sku, "accounts/fireworks/models/kimi-k2-instruct");
        }
    }
}

#[test]
fn cached_input_is_a_charge_of_its_own_and_a_part_of_the_input() {
    let header = format!("{HEADER},cached_prompt_tokens,uncached_prompt_tokens");
    for (cached, expected) in [
        ("200,603", &["input tokens: 0.000603", "cached input tokens: 0.0002"][..]),
        ("803,0", &["cached input tokens: 0.000803"]),
        ("0,803", &["input tokens: 0.000803"]),
        (",", &["input tokens: 0.000803"]),
        ("804,0", &[]),
    ] {
        let row = format!("{},{cached}", ROW.replace("803,109", "803,0"));
        let reading = read_text(format!("{header}\n{row}\n")).unwrap();
        let expected: Vec<_> = expected.iter().map(|it| format!("kimi-k2-instruct {it} 1M tokens")).collect();
        assert_eq!(used(&reading), expected, "{cached}");
        assert_eq!(reading.rejected.is_empty(), !expected.is_empty(), "{:?}", reading.rejected);
    }
}

#[test]
fn seconds_beside_tokens_are_information_and_alone_a_charge() {
    let alone = rows(&[DEPLOYMENT]);
    assert_eq!(used(&alone), ["DEPLOYMENT_USAGE NVIDIA_H100_80GB: 7200 accelerator-seconds"]);
    assert_eq!(alone.charges[0].key.instance_type, "NVIDIA_H100_80GB");
    assert_eq!(alone.remarks, [""; 0]);
    let both = rows(&[&ROW.replace("USAGE,,,", "USAGE,NVIDIA_H100_80GB,8.5,")]);
    assert_eq!(used(&both), used(&rows(&[ROW])));
    assert!(both.remarks[0].contains("the seconds are information only (1 row"), "{:?}", both.remarks);
    let neither = rows(&[&ROW.replace("803,109", "0,0")]);
    assert_eq!(
        (neither.skipped.as_slice(), neither.charges.len()),
        (&["neither tokens nor accelerator seconds"][..], 0)
    );
}

#[test]
fn equal_rows_are_events_of_their_own() {
    let reading = rows(&[ROW, ROW, DEPLOYMENT, DEPLOYMENT, ROW]);
    assert_eq!((reading.charges.len(), reading.rejected.len()), (8, 0));
    let tokens = reading.charges.iter().filter(|charge| charge.key.unit == "1M tokens");
    assert_eq!(
        tokens.filter_map(|charge| charge.consumed_quantity).sum::<gpuledger::money::Decimal>(),
        number("0.002736")
    );
}

#[test]
fn event_is_in_the_month_in_which_it_begins_and_lasts_a_second_at_least() {
    for (start, end, month, seconds) in [
        ("2026-09-30 23:59:58 UTC", "2026-10-01 00:00:02 UTC", "2026-09", 4),
        ("2026-10-01 00:00:00 UTC", "2026-10-01 00:00:00 UTC", "2026-10", 1),
        ("2026-10-01 00:00:05 UTC", "2026-10-01 00:00:04 UTC", "2026-10", 1),
        ("2026-09-30T23:00:00-07:00", "2026-10-01T06:00:03Z", "2026-10", 3),
    ] {
        let row = ROW.replace("2026-09-03 17:16:48 UTC", start).replace("2026-09-03 17:16:51 UTC", end);
        for charge in &rows(&[&row]).charges {
            let found =
                (charge.billing_month().to_string(), (charge.period.end - charge.period.start).num_seconds());
            assert_eq!(found, (month.to_owned(), seconds), "{row}");
        }
    }
}

#[test]
fn json_states_the_same_as_csv() {
    let members: Vec<String> =
        HEADER.split(',').zip(ROW.split(',')).map(|(name, value)| format!("{name:?}: {value:?}")).collect();
    let json = read_text(format!("[{{{}}}]", members.join(", "))).unwrap();
    let plain = |reading: &Reading| {
        let charges = reading.charges.iter();
        charges.map(|it| format!("{:?}", Charge { key_cells: Vec::new(), ..it.clone() })).collect::<Vec<_>>()
    };
    assert_eq!(json.format, "fireworks-metrics");
    assert_eq!(plain(&json), plain(&rows(&[ROW])));
}

#[test]
fn what_is_wrong_with_a_file_or_a_row_is_said() {
    let long = "m".repeat(1001);
    for (row, cell, other, column, expected) in [
        (ROW, "ml@example.com", "", "email", "the email of the account"),
        (ROW, "2026-09-03 17:16:48 UTC", "Sep 3", "start_time", "a time such as"),
        (ROW, "2026-09-03 17:16:51 UTC", "", "end_time", "a time such as"),
        (ROW, "803", "-1", "prompt_tokens", "a whole number of tokens, 0 or more"),
        (ROW, "109", "0.5", "completion_tokens", "a whole number of tokens, 0 or more"),
        (ROW, "109", "9999999999999999999999", "completion_tokens", "at most 21 digits"),
        (DEPLOYMENT, "7200", "-7200", "accelerator_seconds", "a number of seconds, 0 or more"),
        (DEPLOYMENT, "7200", "two hours", "accelerator_seconds", "a decimal number"),
        // So long that the meter of its output would be no text that is kept, and that of its input would be.
        (ROW, "accounts/fireworks/models/kimi-k2-instruct", &long, "base_model_name", "at most 1000 bytes"),
    ] {
        let reading = rows(&[&row.replacen(cell, other, 1)]);
        let [rejection] = reading.rejected.as_slice() else { panic!("{other}: {:?}", reading.charges) };
        assert_eq!((rejection.row, rejection.column.as_str()), (1, column), "{rejection}");
        assert!(rejection.expected.contains(expected), "{rejection}");
    }
    let refusal = read_text(format!("{}\n", HEADER.replace("email", "account"))).err().unwrap().to_string();
    assert!(refusal.contains("Fireworks billing metrics without the column email"), "{refusal}");
}
