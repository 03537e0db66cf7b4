//! GPU usage of OpenShift's cost management operator: `…ocp_gpu_usage.csv`
//! (<https://docs.redhat.com/en/documentation/cost_management_service>). An hour of a pod on an accelerator is a row; how busy that was is
//! not in it.

use std::io::Read;

use chrono::NaiveDateTime;

use super::metered::{Device, Holder, Metered, whole};
use super::reading::Item;
use super::table::{self, Cells, Wrong};
use crate::billing::Refusal;

const EXPECTED: &str = "the operator's ocp_gpu_usage.csv, with interval_start, node, namespace, pod, gpu_uuid and gpu_pod_uptime";
const NEEDED: [&str; 6] = ["interval_start", "node", "namespace", "pod", "gpu_uuid", "gpu_pod_uptime"];

/// Whether a text begins as such a file does.
pub fn is_usage(start: &str) -> bool {
    let names: Vec<&str> = start.lines().next().unwrap_or_default().split(',').map(str::trim).collect();
    names.contains(&"gpu_pod_uptime") && names.contains(&"gpu_uuid")
}

/// Reads a file to its end.
///
/// # Errors
/// A [`Refusal`] where it is none, or cannot be read.
pub fn read(input: impl Read, each: &mut dyn FnMut(Item)) -> Result<(), Refusal> {
    table::read(input, &NEEDED, EXPECTED, each, row)
}

fn row(cells: &Cells<'_>) -> Result<Item, Wrong> {
    let begins = time(cells.get("interval_start"));
    let begins = begins.ok_or(Wrong("interval_start", "a time such as 2026-08-01 00:00:00 +0000 UTC"))?;
    // An interval is an hour.
    let uptime = cells.get("gpu_pod_uptime").parse::<f64>().ok().filter(|it| (0.0..=3600.0).contains(it));
    let uptime = uptime.ok_or(Wrong("gpu_pod_uptime", "seconds of an hour: 0 to 3600"))?;
    let device = Device {
        node: cells.get("node").to_owned(),
        id: cells.get("gpu_uuid").to_owned(),
        profile: cells.get("mig_profile").to_owned(),
        slice: cells.get("mig_instance_id").to_owned(),
        model: cells.get("gpu_model_name").to_owned(),
        ..Device::default()
    };
    let holder = Holder {
        namespace: cells.get("namespace").to_owned(),
        name: cells.get("pod").to_owned(),
        ..Holder::default()
    };
    let mut metered = Metered { device, holder: Some(holder), ..Metered::default() };
    metered.span(begins, begins + whole(uptime * 1000.0), None);
    Ok(Item::Metered(Box::new(metered)))
}

/// `2026-08-01 00:00:00 +0000 UTC`, as Go prints it.
fn time(cell: &str) -> Option<i64> {
    let text = cell.strip_suffix(" +0000 UTC").or_else(|| cell.strip_suffix('Z')).unwrap_or(cell);
    let local = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())?;
    Some(local.and_utc().timestamp_millis())
}
