//! Pods of the demonstration: Kubernetes on machines that serve models, every second one cut into slices by MIG, as Prometheus has them.
//!
//! A point stands for five minutes, as far apart as they may be: so a year of them is small. By day people ask the assistant; by night
//! models are evaluated in slices that nobody holds by day, and one slice of each GPU is never made.

use std::collections::BTreeMap;
use std::io;

use chrono::{NaiveDate, NaiveTime, TimeDelta, Timelike as _};

use super::file::File;
use super::organization::{BILLS, Pattern};
use super::schedule::lasting_id;
use crate::generate::prometheus::{self, Labels, Series};
use crate::generate::random::Random;
use crate::period::BillingMonth;

/// As the label `cluster` calls it.
const CLUSTER: &str = "aks-serving";
/// The namespace of the models that are evaluated, and of the assistant.
pub(super) const EVALUATION: &str = "evaluation";
const ASSISTANT: &str = "assistant";
/// Days between two versions of what runs.
const ROLLOUT: i64 = 6;

/// Percent, by the hour of the day.
const BY_DAY: [u64; 24] =
    [22, 18, 15, 14, 14, 16, 22, 35, 52, 66, 74, 78, 76, 79, 80, 77, 74, 70, 64, 58, 50, 42, 34, 27];

/// What runs on a GPU, or in a slice of one.
struct Place {
    profile: &'static str,
    slice: &'static str,
    namespace: &'static str,
    workload: &'static str,
}

const WHOLE: [Place; 1] = [Place { profile: "", slice: "", namespace: ASSISTANT, workload: "assistant-api" }];
/// Of seven compute slices six are made.
const SLICED: [Place; 3] = [
    Place { profile: "3g.47gb", slice: "1", namespace: ASSISTANT, workload: "assistant-embed" },
    Place { profile: "2g.24gb", slice: "5", namespace: EVALUATION, workload: "judge" },
    Place { profile: "1g.12gb", slice: "9", namespace: EVALUATION, workload: "smoke-test" },
];

/// What Prometheus has of a month: until its end, or until the day on which the story ends. `index`: of the tables.
pub(super) fn answer(seed: u64, index: usize, month: BillingMonth, until: NaiveDate) -> io::Result<File> {
    let mut series: BTreeMap<Labels, Vec<(i64, String)>> = BTreeMap::new();
    for (at, node) in nodes(index).into_iter().enumerate() {
        let places: &[Place] = if at % 2 == 1 { &SLICED } else { &WHOLE };
        for place in places {
            let mut random =
                Random::new(seed ^ (index as u64) << 40 ^ (at as u64) << 8 ^ place.workload.len() as u64);
            let mut now = month.first_day().and_time(NaiveTime::MIN).and_utc();
            let end = month.days().end.min(until).and_time(NaiveTime::MIN).and_utc();
            while now < end {
                let hour = now.hour() as usize;
                let is_evaluating = place.namespace == EVALUATION;
                // By night there are fewer that serve: the last ones are given back.
                let is_held = if is_evaluating { !(6..20).contains(&hour) } else { at < 3 || hour >= 6 };
                let percent = match (is_held, is_evaluating) {
                    (false, _) => 0,
                    (true, true) => 71 + random.below(20),
                    (true, false) => BY_DAY[hour] + random.below(9),
                };
                let rollout = now.timestamp() / 86_400 / ROLLOUT;
                let labels = labels(place, &node, at, is_held.then_some(rollout as u64));
                let value =
                    if place.slice.is_empty() { percent.to_string() } else { format!("0.{percent:02}") };
                series.entry(labels).or_default().push((now.timestamp(), value));
                now += TimeDelta::minutes(5);
            }
        }
    }
    let series: Vec<Series> = series.into_iter().map(|(labels, points)| Series { labels, points }).collect();
    let mut bytes = Vec::new();
    prometheus::write(&mut bytes, &series)?;
    Ok(File { name: format!("prometheus-{CLUSTER}-{month}.json"), bytes })
}

/// The machines that serve by day and night.
fn nodes(index: usize) -> Vec<String> {
    let works = BILLS.iter().filter(|bill| bill.provider == "Microsoft").flat_map(|bill| bill.works);
    let serving = works.filter(|work| work.pattern == Pattern::Serving);
    let nodes = serving.flat_map(|work| {
        let base = usize::from(work.nodes[index]).div_ceil(2);
        (0..base).map(|node| format!("vm-gpu-{:016x}", lasting_id(work.project, work.machine.name, node)))
    });
    nodes.collect()
}

/// As the exporter writes them. Slices have no GPU_UTIL.
fn labels(place: &Place, node: &str, at: usize, rollout: Option<u64>) -> Labels {
    let metric =
        if place.slice.is_empty() { "DCGM_FI_DEV_GPU_UTIL" } else { "DCGM_FI_PROF_GR_ENGINE_ACTIVE" };
    let mut labels = vec![
        ("__name__", metric.to_owned()),
        ("cluster", CLUSTER.to_owned()),
        ("Hostname", node.to_owned()),
        ("gpu", "0".to_owned()),
        ("UUID", format!("GPU-{:016x}", lasting_id("gpu", node, 0))),
        ("modelName", "NVIDIA H100 NVL".to_owned()),
    ];
    if !place.slice.is_empty() {
        labels.push(("GPU_I_PROFILE", place.profile.to_owned()));
        labels.push(("GPU_I_ID", place.slice.to_owned()));
    }
    if let Some(rollout) = rollout {
        let version = lasting_id(place.workload, "version", rollout as usize) % 0x1_0000_0000;
        let pod = lasting_id(place.workload, node, rollout as usize + at) % 0x10_0000;
        labels.push(("namespace", place.namespace.to_owned()));
        labels.push(("pod", format!("{}-{version:08x}-{pod:05x}", place.workload)));
        labels.push(("container", "server".to_owned()));
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::{Format, Item, Zones};

    #[test]
    fn every_hour_of_every_gpu_is_there_and_held_or_not() {
        let month: BillingMonth = "2026-10".parse().unwrap();
        let file = answer(1, 11, month, "2026-11-20".parse().unwrap()).unwrap();
        let zones = Zones::all(chrono_tz::Tz::UTC);
        let mut seen: BTreeMap<(String, String), i64> = BTreeMap::new();
        Format::Prometheus
            .read(file.bytes.as_slice(), &zones, &[], &mut |item| {
                if let Item::Metered(metered) = item {
                    let present: i64 = metered.days.values().flat_map(|day| day.present).map(i64::from).sum();
                    let device = (metered.device.node.clone(), metered.device.slice.clone());
                    *seen.entry(device).or_default() += present;
                }
            })
            .unwrap();
        assert_eq!(seen.len(), 3 + 3 * 3, "six machines, three of them cut into three slices");
        assert!(seen.values().all(|present| *present == 31 * 24 * 3_600_000), "{seen:?}");
        let again = answer(1, 11, month, "2026-11-20".parse().unwrap()).unwrap();
        assert_eq!(again, file);
    }
}
