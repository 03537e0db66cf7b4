//! GPU usage of OpenShift's cost management operator: `…ocp_gpu_usage.csv`
//! (<https://docs.redhat.com/en/documentation/cost_management_service>). An hour of a pod on an accelerator is a row; how busy that was is
//! not in it.

use std::collections::BTreeMap;
use std::io::Read;

use chrono::NaiveDateTime;

use super::metered::{Device, Holder, Metered};
use super::reading::Item;
use crate::billing::{Refusal, Rejection};

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
    let mut rows = csv::ReaderBuilder::new().flexible(true).from_reader(input);
    let refused = |error: &csv::Error| Refusal::new(format!("a file that is damaged: {error}"), EXPECTED);
    let header = rows.headers().map_err(|error| refused(&error))?.clone();
    let at: BTreeMap<String, usize> =
        header.iter().enumerate().map(|(place, name)| (name.trim().to_owned(), place)).collect();
    if let Some(missing) = NEEDED.iter().find(|name| !at.contains_key(**name)) {
        return Err(Refusal::new(format!("no column {missing}"), EXPECTED));
    }
    for (row, record) in (1..).zip(rows.records()) {
        let record = match record {
            Ok(record) => record,
            Err(error) if error.is_io_error() => return Err(refused(&error)),
            Err(error) => {
                each(rejected(row, "", &error.to_string(), "a row of CSV in UTF-8"));
                continue;
            }
        };
        let cell = |name: &str| at.get(name).and_then(|place| record.get(*place)).unwrap_or_default().trim();
        let Some(begins) = time(cell("interval_start")) else {
            each(rejected(
                row,
                "interval_start",
                cell("interval_start"),
                "a time such as 2026-08-01 00:00:00 +0000 UTC",
            ));
            continue;
        };
        // An interval is an hour.
        let uptime =
            cell("gpu_pod_uptime").parse::<f64>().ok().filter(|seconds| (0.0..=3600.0).contains(seconds));
        let Some(uptime) = uptime else {
            each(rejected(row, "gpu_pod_uptime", cell("gpu_pod_uptime"), "seconds of an hour: 0 to 3600"));
            continue;
        };
        let device = Device {
            node: cell("node").to_owned(),
            id: cell("gpu_uuid").to_owned(),
            profile: cell("mig_profile").to_owned(),
            slice: cell("mig_instance_id").to_owned(),
            model: cell("gpu_model_name").to_owned(),
            ..Device::default()
        };
        let holder = Holder {
            namespace: cell("namespace").to_owned(),
            name: cell("pod").to_owned(),
            ..Holder::default()
        };
        let mut metered = Metered { device, holder: Some(holder), ..Metered::default() };
        #[expect(clippy::cast_possible_truncation, reason = "it is an hour at most")]
        let uptime = (uptime * 1000.0).round() as i64;
        metered.span(begins, begins + uptime, None);
        each(Item::Sample);
        each(Item::Metered(Box::new(metered)));
    }
    Ok(())
}

fn rejected(row: u64, column: &str, found: &str, expected: &str) -> Item {
    Item::Rejected(Rejection {
        row,
        column: column.to_owned(),
        found: found.to_owned(),
        expected: expected.to_owned(),
        is_repeated: false,
    })
}

/// `2026-08-01 00:00:00 +0000 UTC`, as Go prints it.
fn time(cell: &str) -> Option<i64> {
    let text = cell.strip_suffix(" +0000 UTC").or_else(|| cell.strip_suffix('Z')).unwrap_or(cell);
    let local = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())?;
    Some(local.and_utc().timestamp_millis())
}
