//! AWS split cost allocation: a machine and its pods count once, and the pods say whose it was.

use std::fs;
use std::path::PathBuf;

use gpuledger::accelerator::{accelerator_hours, recognize};
use gpuledger::billing::Charge;
use gpuledger::money::Decimal;

use super::{Reading, read_text};

fn fixture(name: &str) -> Vec<u8> {
    let exports = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/exports");
    fs::read(exports.join(name).join("split-costs/input.csv")).unwrap()
}

/// The file without its parts.
fn machines_alone(name: &str) -> Reading {
    let text = String::from_utf8(fixture(name)).unwrap();
    let rows = text.lines().filter(|line| !line.contains("EKSPod") && !line.contains("ECSTask"));
    read_text(rows.collect::<Vec<_>>().join("\n") + "\n").unwrap()
}

fn hours<'c>(charges: impl Iterator<Item = &'c Charge>) -> Decimal {
    let of = |charge: &Charge| {
        let found = recognize(&charge.key)?;
        Some(charge.consumed_quantity?.times(found.per_unit.parts()).times(found.seconds_per_unit.into()))
    };
    accelerator_hours(charges.filter(|charge| charge.is_metered).filter_map(of).sum(), 6)
}

fn is(text: &str) -> Decimal {
    text.parse().unwrap()
}

#[test]
fn a_machine_and_its_parts_have_the_cost_and_the_hours_of_the_machine() {
    for name in ["aws-cur-2", "aws-cur"] {
        let (whole, alone) = (read_text(fixture(name)).unwrap(), machines_alone(name));
        assert_eq!(whole.rejected, [], "{name}");
        assert!(whole.charges.len() > alone.charges.len(), "{name}");
        assert_eq!(whole.billed(), alone.billed(), "{name}");
        assert_eq!(whole.effective(), alone.effective(), "{name}");
        assert_eq!(whole.list(), alone.list(), "{name}");
        assert_eq!(whole.contracted(), alone.contracted(), "{name}");
        assert_eq!(hours(whole.charges.iter()), hours(alone.charges.iter()), "{name}");
    }
}

#[test]
fn parts_say_whose_a_machine_was() {
    let reading = read_text(fixture("aws-cur-2")).unwrap();
    let of = |machine: &str, team: &str| -> Vec<&Charge> {
        let is_its =
            |charge: &&Charge| charge.resource_id.ends_with(machine) && charge.tags.get("team") == Some(team);
        reading.charges.iter().filter(is_its).collect()
    };
    let effective =
        |charges: &[&Charge]| -> Decimal { charges.iter().map(|charge| charge.effective_cost).sum() };
    let namespaces: Vec<_> =
        of("i-1", "nlp").iter().filter_map(|part| part.tags.get("aws:eks:namespace")).collect();
    assert_eq!(namespaces, ["nlp", "nlp"]);
    for (machine, team, cost, gpu_hours) in [
        // Rows of accelerators divide the hours: 54 of 90 and 36 of 90.
        ("i-1", "vision", "60", "4.8"),
        ("i-1", "nlp", "39.5", "3.2"),
        ("i-1", "platform", "0.5", "0"),
        // Without any the costs do: 20, 10.5 and what is left of 60.
        ("i-2", "vision", "20", "2.666667"),
        ("i-2", "nlp", "10.5", "1.4"),
        ("i-2", "platform", "29.5", "3.933333"),
        // What cannot be divided stays whole.
        ("i-3", "platform", "80", "8"),
        ("i-4", "platform", "100", "8"),
        ("i-5", "platform", "100", "8"),
    ] {
        let charges = of(machine, team);
        assert_eq!(effective(&charges), is(cost), "{machine} {team}");
        assert_eq!(hours(charges.iter().copied()), is(gpu_hours), "{machine} {team}");
        assert!(charges.iter().all(|charge| charge.key.instance_type == "p5.48xlarge"), "{machine} {team}");
    }
    let skips =
        ["several rows of the instance", "more than the instance cost", "the instance's own row carries"];
    assert_eq!(reading.skipped.len(), skips.len(), "{:?}", reading.skipped);
    for text in skips {
        assert!(reading.skipped.iter().any(|reason| reason.contains(text)), "{text}");
    }
}

/// Which rows come first decides nothing.
#[test]
fn parts_may_stand_before_and_behind_their_machine() {
    let text = String::from_utf8(fixture("aws-cur-2")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let backwards: Vec<&str> = rows.lines().rev().collect();
    let turned = read_text(format!("{header}\n{}\n", backwards.join("\n"))).unwrap();
    let plain = read_text(fixture("aws-cur-2")).unwrap();
    let described = |reading: &Reading| {
        let mut rows: Vec<String> = reading
            .charges
            .iter()
            .map(|charge| {
                let tags: Vec<_> = charge.tags.iter().collect();
                format!(
                    "{} {} {:?} {tags:?}",
                    charge.resource_id,
                    charge.effective_cost.normalize(),
                    charge.key
                )
            })
            .collect();
        rows.sort();
        rows
    };
    assert_eq!(described(&plain), described(&turned));
}
