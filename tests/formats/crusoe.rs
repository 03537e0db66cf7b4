//! Crusoe's billing export, as CSV and as an answer of its API.

use gpuledger::accelerator;

use super::{Reading, read_text};
use crate::support::number;

const HEADER: &str = "date,project_name,project_id,resource_name,resource_id,resource_type,region,quantity,billable_metric,\
                      unit_price,total_price";
const ROW: &str = "2026-10-03,Apollo,d8f58dfd-dd86-4ee4-8f01-643e6d0f15bb,train,r-1,h200-141gb-sxm-ib.8x,us-east1,24,\
                   instance-hours,34.32,823.68";

fn csv(row: &str) -> Reading {
    read_text(format!("{HEADER}\n{row}\n")).unwrap()
}

#[test]
fn an_instance_hour_counts_the_gpus_of_its_type_and_a_gpu_hour_counts_one() {
    for (resource_type, metric, expected) in [
        ("h200-141gb-sxm-ib.8x", "instance-hours", Some("8 H200")),
        ("h200-141gb-sxm-ib.8x", "gpu-hours", Some("1 H200")),
        ("l40s-48gb.1x", "instance-hours", Some("1 L40S")),
        ("l40s-48gb.10x", "instance-hours", Some("10 L40S")),
        ("l40s-48gb.10x", "GPU hours", Some("1 L40S")),
        ("a100-80gb.2x", "instance-hours", Some("2 A100")),
        // In no catalog yet: the name says how many.
        ("b200-180gb-sxm-ib.8x", "instance-hours", Some("8 B200")),
        ("gb200-186gb-nvl.4x", "instance-hours", Some("4 GB200")),
        ("mi300x-192gb-ib.8x", "instance-hours", Some("8 MI300X")),
        ("c1a.4x", "instance-hours", None),
        ("persistent-ssd", "gib-hours", None),
    ] {
        let row = ROW.replace("h200-141gb-sxm-ib.8x", resource_type).replace("instance-hours", metric);
        let reading = csv(&row);
        let charge = &reading.charges[0];
        assert!(charge.is_metered && charge.consumed_quantity == Some(number("24")));
        let found =
            accelerator::recognize(&charge.key).map(|it| format!("{} {}", it.per_unit, it.model.name));
        assert_eq!(found.as_deref(), expected, "{resource_type} {metric}");
    }
}

#[test]
fn a_row_without_a_price_is_rejected_and_never_zero() {
    for (total_price, expected) in
        [("823.68", Some("823.68")), ("0", Some("0")), ("", None), ("NULL", None), ("€ 823.68", None)]
    {
        let reading = csv(&ROW.replace("34.32,823.68", &format!("34.32,{total_price}")));
        if let Some(cost) = expected {
            assert_eq!(reading.billed(), number(cost), "{total_price}");
        } else {
            let [rejection] = reading.rejected.as_slice() else { panic!("{total_price}") };
            assert_eq!(rejection.column, "total_price");
        }
    }
    let without = HEADER.replace(",unit_price,total_price", "");
    let reading = read_text(format!("{without}\n{}\n", ROW.replace(",34.32,823.68", ""))).unwrap();
    assert_eq!(reading.rejected.len(), 1);
}

#[test]
fn an_answer_of_the_api_is_read_as_the_csv_is() {
    let names: Vec<&str> = HEADER.split(',').collect();
    let members: Vec<String> =
        names.iter().zip(ROW.split(',')).map(|(name, cell)| format!(r#""{name}": "{cell}""#)).collect();
    let json = read_text(format!(r#"{{"data": [{{{}}}]}}"#, members.join(", "))).unwrap();
    let csv = csv(ROW);
    assert_eq!((json.format.as_str(), csv.format.as_str()), ("crusoe-billing", "crusoe-billing"));
    let (one, other) = (&json.charges[0], &csv.charges[0]);
    assert_eq!(one.key, other.key);
    assert_eq!(
        (one.billed_cost, one.period, &one.resource_id),
        (other.billed_cost, other.period, &other.resource_id)
    );
    assert_eq!(one.key.sub_account, "d8f58dfd-dd86-4ee4-8f01-643e6d0f15bb");
}

#[test]
fn daily_costs_without_resources_are_refused_by_name() {
    let costs = r#"{"data": [{"billable_metric": "gpu-hours", "cost": 12.34, "date": "2026-10-03", "project_id": "p-1",
        "quantity": 2.123, "region": "us-east1", "resource_type": "l40s-48gb.1x", "unit_price": 1.23}], "last_updated": "x"}"#;
    let refusal = read_text(costs).err().unwrap().to_string();
    assert!(refusal.contains("/billing/costs"), "{refusal}");
}
