//! Allocations of OpenCost and Kubecost: the answer of `/allocation` as JSON, and the daily export as CSV
//! (<https://opencost.io/docs/integrations/api>). They say who held which part of a node; their amounts are estimates at list prices, and
//! bills have those: none is read.

use std::io::Read;

use chrono::{DateTime, NaiveDate};
use serde::Deserialize;
use serde_json::Value;

use super::metered::{Activity, Device, Holder, Metered, midnight, ten_thousandths};
use super::reading::{Item, Skip};
use super::table::{self, Wrong};
use super::walk_json::walk;
use crate::billing::Refusal;

const EXPECTED: &str = "the answer of OpenCost's /allocation by pod, or its export as CSV";

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Allocation {
    name: String,
    properties: Option<Properties>,
    start: String,
    end: String,
    gpu_hours: f64,
    /// 0 to 1 over all of a container's accelerators.
    gpu_usage_average: Option<f64>,
    #[serde(rename = "gpuAllocation")]
    gpu: Option<Gpu>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Gpu {
    #[serde(rename = "gpuDevice")]
    device: Option<String>,
    #[serde(rename = "gpuModel")]
    model: Option<String>,
    #[serde(rename = "gpuUsageAverage")]
    usage_average: Option<f64>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Properties {
    cluster: Option<String>,
    node: Option<String>,
    namespace: Option<String>,
    pod: Option<String>,
    container: Option<String>,
    #[serde(rename = "providerID")]
    provider_id: Option<String>,
}

/// Whether JSON begins as an answer of `/allocation` does.
pub fn is_json(start: &str) -> bool {
    let has = |name: &str| start.contains(&format!("\"{name}\""));
    has("data") && has("gpuHours") && has("window") && has("cpuCoreHours")
}

/// Whether a text begins as the export does.
pub fn is_csv(start: &str) -> bool {
    let first = start.lines().next().unwrap_or_default();
    first.starts_with("Date,Namespace,") && first.contains(",GPUs,")
}

/// Reads an answer to its end.
///
/// # Errors
/// A [`Refusal`] where it is none, or cannot be read.
pub fn read_json(input: impl Read, each: &mut dyn FnMut(Item)) -> Result<(), Refusal> {
    let mut row = 0;
    let mut allocation = |value: Value| {
        row += 1;
        let made = Allocation::deserialize(value).map_err(|error| error.to_string());
        match made.and_then(|it| metered(&it)) {
            Ok(Some(metered)) => {
                each(Item::Sample);
                each(Item::Metered(Box::new(metered)));
            }
            Ok(None) => each(Item::Skipped(Skip::WithoutAccelerators)),
            Err(found) => {
                each(Item::rejected(row, "", &found, "an allocation with its start, end and gpuHours"));
            }
        }
    };
    let met = walk(input, &["data", "*", "*"], &["message", "status"], EXPECTED, &mut allocation)?;
    if met.is_there { Ok(()) } else { Err(Refusal::new("JSON without sets of allocations", EXPECTED)) }
}

fn metered(it: &Allocation) -> Result<Option<Metered>, String> {
    // What nobody holds, and what no pod can be found for.
    let is_rest = matches!(it.name.as_str(), "__idle__" | "__unmounted__" | "__unallocated__");
    if it.gpu_hours <= 0.0 || is_rest {
        return Ok(None);
    }
    let time = |text: &str| DateTime::parse_from_rfc3339(text).map(|at| at.timestamp_millis());
    let (Ok(begins), Ok(ends)) = (time(&it.start), time(&it.end)) else {
        return Err(format!("{} from {:?} to {:?}", it.name, it.start, it.end));
    };
    if ends - begins < 1000 {
        return Err(format!("{} that ends at {} before it starts", it.name, it.end));
    }
    let none = Properties::default();
    let properties = it.properties.as_ref().unwrap_or(&none);
    let text = |of: &Option<String>| of.clone().unwrap_or_default();
    let gpu = it.gpu.as_ref();
    let device = Device {
        cluster: text(&properties.cluster),
        node: [&properties.provider_id, &properties.node]
            .into_iter()
            .flatten()
            .find(|it| !it.is_empty())
            .cloned()
            .unwrap_or_default(),
        id: id_of(gpu.and_then(|it| it.device.as_deref()), properties.container.as_deref()),
        model: gpu.and_then(|it| it.model.clone()).unwrap_or_default(),
        ..Device::default()
    };
    let holder = Holder {
        namespace: text(&properties.namespace),
        name: properties.pod.clone().unwrap_or_else(|| it.name.clone()),
        container: text(&properties.container),
        ..Holder::default()
    };
    let usage = it.gpu_usage_average.or_else(|| gpu.and_then(|it| it.usage_average));
    let part = usage
        .filter(|usage| (0.0..=1.0).contains(usage))
        .map(|usage| (Activity::Utilization, ten_thousandths(usage)));
    let mut metered = Metered { device, holder: Some(holder), metric: "allocation", ..Metered::default() };
    // So many accelerators for the whole of it.
    let seconds =
        u32::try_from((ends - begins) / 1000).map_err(|_| format!("{} that lasts for centuries", it.name))?;
    let accelerators = it.gpu_hours * 3600.0 / f64::from(seconds);
    if accelerators > 512.0 {
        return Err(format!("{} with {} GPU-hours in {seconds} seconds", it.name, it.gpu_hours));
    }
    metered.most = at_once(accelerators);
    metered.several(begins, ends, accelerators, part);
    Ok(Some(metered))
}

/// Containers of a pod hold accelerators of their own.
fn id_of(device: Option<&str>, container: Option<&str>) -> String {
    [device, container].into_iter().flatten().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("/")
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 512 were found")]
fn at_once(accelerators: f64) -> u16 {
    accelerators.ceil().clamp(1.0, 512.0) as u16
}

/// Reads an export to its end. It says how many accelerators a container had on average of a day, and on which node nowhere.
///
/// # Errors
/// A [`Refusal`] where it is none, or cannot be read.
pub fn read_csv(input: impl Read, each: &mut dyn FnMut(Item)) -> Result<(), Refusal> {
    table::read(input, &["Date", "GPUs"], EXPECTED, each, |cells| {
        let day = cells.get("Date").parse::<NaiveDate>();
        let day = day.map_err(|_| Wrong("Date", "a day such as 2026-09-30"))?;
        let gpus = cells.get("GPUs").parse::<f64>().ok().filter(|gpus| (0.0..=512.0).contains(gpus));
        let gpus = gpus.ok_or(Wrong("GPUs", "a number of GPUs, at most 512"))?;
        if gpus <= 0.0 {
            return Ok(Item::Skipped(Skip::WithoutAccelerators));
        }
        let holder = Holder {
            namespace: cells.get("Namespace").to_owned(),
            name: cells.get("Pod").to_owned(),
            container: cells.get("Container").to_owned(),
            ..Holder::default()
        };
        let device = Device { id: holder.container.clone(), ..Device::default() };
        let mut metered = Metered {
            device,
            holder: Some(holder),
            metric: "allocation",
            most: at_once(gpus),
            ..Metered::default()
        };
        metered.several(midnight(day), midnight(day) + 24 * 3_600_000, gpus, None);
        Ok(Item::Metered(Box::new(metered)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_of_a_pod_and_sets_of_half_an_hour_add_up() {
        let of = |container: &str, start: &str, end: &str| {
            format!(
                r#"{{"name":"{container}","properties":{{"node":"n1","namespace":"llm","pod":"t-0","container":"{container}"}},
                "start":"2026-09-01T{start}:00Z","end":"2026-09-01T{end}:00Z","gpuHours":0.5}}"#
            )
        };
        let json = format!(
            r#"{{"data":[{{"a":{},"b":{}}},{{"a":{}}}]}}"#,
            of("a", "00:00", "00:30"),
            of("b", "00:00", "00:30"),
            of("a", "00:30", "01:00")
        );
        let mut meters = crate::telemetry::meters::Meters::default();
        read_json(json.as_bytes(), &mut |item| {
            if let Item::Metered(metered) = item {
                meters.add(*metered);
            }
        })
        .unwrap();
        let taken = meters.take();
        let held: Vec<_> = taken
            .iter()
            .map(|it| (it.device.id.as_str(), it.days.values().next().unwrap().present[0]))
            .collect();
        assert_eq!(held, [("a", 3_600_000), ("b", 1_800_000)]);
    }

    #[test]
    fn a_fully_busy_pod_of_eight_is_fully_busy() {
        let json = r#"{"code":200,"data":[{"a":{"name":"a","properties":{"node":"n1","namespace":"llm","pod":"t-0"},
            "start":"2026-09-01T00:00:00Z","end":"2026-09-01T02:00:00Z","gpuHours":16,"gpuCost":99,
            "gpuAllocation":{"gpuModel":"H100","isGPUShared":false,"gpuUsageAverage":1.0,"gpuRequestAverage":8}},
            "__idle__":{"name":"__idle__","start":"2026-09-01T00:00:00Z","end":"2026-09-01T02:00:00Z","gpuHours":5}},null]}"#;
        let mut items = Vec::new();
        read_json(json.as_bytes(), &mut |item| items.push(item)).unwrap();
        let metered = items.iter().find_map(|item| match item {
            Item::Metered(metered) => Some(&**metered),
            _ => None,
        });
        let day = metered.unwrap().days.values().next().unwrap();
        assert_eq!(
            (day.present[0], day.present[1], day.busy(0)),
            (28_800_000, 28_800_000, (28_800_000, 28_800_000))
        );
        assert_eq!(items.iter().filter(|it| matches!(it, Item::Skipped(_))).count(), 1);
    }
}
