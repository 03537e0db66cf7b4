//! Nebius' FOCUS 1.2 export, which has commitments in its own way.

use std::path::Path;

use gpuledger::accelerator::recognize;
use gpuledger::billing::ChargeCategory;
use gpuledger::money::Decimal;

use super::{Reading, read_path};
use crate::support::number;

fn month() -> Reading {
    let path = "tests/fixtures/exports/focus/nebius-1.2/input.csv";
    let reading = read_path(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    assert_eq!(reading.rejected, []);
    reading
}

#[test]
fn machines_are_found_wherever_platform_and_preset_are_named() {
    let reading = month();
    let found: Vec<(String, Option<String>)> = reading
        .charges
        .iter()
        .filter(|charge| charge.is_metered)
        .map(|charge| {
            assert_eq!(charge.key.provider, "Nebius");
            let found = recognize(&charge.key).map(|it| format!("{} {}", it.per_unit, it.model.name));
            (charge.key.instance_type.clone(), found)
        })
        .collect();
    let h200 = "gpu-h200-sxm_8gpu-128vcpu-1600gb";
    let expected = [
        // Its unit counts GPUs.
        ("gpu-h100-sxm", Some("1 H100")),
        (h200, Some("8 H200")),
        (h200, Some("8 H200")),
        (h200, Some("8 H200")),
        ("gpu-l40s-a", Some("1 L40S")),
        ("gpu-l40s-a", None),
        ("gpu-l40s-a", None),
        ("gpu-h100-sxm_1gpu-16vcpu-200gb", Some("1 H100")),
        ("", None),
    ];
    let found: Vec<(&str, Option<&str>)> =
        found.iter().map(|(machine, found)| (machine.as_str(), found.as_deref())).collect();
    assert_eq!(found, expected);
}

#[test]
fn hours_and_costs_count_once_beside_commitments() {
    let reading = month();
    let parts: Decimal = reading
        .charges
        .iter()
        .filter(|charge| charge.is_metered)
        .filter_map(|charge| {
            let found = recognize(&charge.key)?;
            let quantity = charge.consumed_quantity?;
            Some(quantity.times(found.per_unit.parts()).times(found.seconds_per_unit.into()))
        })
        .sum();
    // 8 hours of a GPU, three hours of eight, one of an L40S and one of a preemptible; none of what was not used.
    assert_eq!(gpuledger::accelerator::accelerator_hours(parts, 6), number("34"));
    let adjusted = |charge: &&gpuledger::billing::Charge| charge.key.category == ChargeCategory::Adjustment;
    let saved: Decimal = reading.charges.iter().filter(adjusted).map(|charge| charge.effective_cost).sum();
    assert_eq!(saved, number("-1.5"));
    // Without the tax, the prepaid commitment and its unused part: usage and what a postpaid one saves are one sum.
    assert_eq!(reading.effective() - reading.billed(), number("33.6"));
}

#[test]
fn an_adjustment_with_an_effective_cost_is_said() {
    let said: Vec<String> =
        month().remarks.into_iter().filter(|remark| remark.contains("Adjustment of Nebius")).collect();
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("1 row"), "{said:?}");
}
