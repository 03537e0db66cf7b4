//! Exports of usage that other people's systems wrote. GPU-hours are added up here once more, by a plain split of lines.
//! The files lie beside the repository; where they do not, these tests say so and pass.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use chrono_tz::Tz;
use gpuledger::telemetry::{Format, Item, Job, Zones, recognize_file};

use crate::support::files;

/// Everything that a file of usage says.
fn read(path: &Path) -> (Format, Vec<Item>) {
    let format =
        recognize_file(path, &[]).unwrap().unwrap_or_else(|| panic!("{}: not recognized", path.display()));
    let zones = Zones::all(Tz::UTC);
    let mut items = Vec::new();
    format.read(File::open(path).unwrap(), &zones, &[], &mut |item| items.push(item)).unwrap();
    (format, items)
}

fn jobs(items: &[Item]) -> Vec<&Job> {
    let jobs = items.iter().filter_map(|item| match item {
        Item::Job(job) => Some(&**job),
        _ => None,
    });
    jobs.collect()
}

/// GPU-seconds by what people call the job.
fn gpu_seconds(jobs: &[&Job]) -> BTreeMap<String, u64> {
    jobs.iter().map(|job| (job.id.clone(), job.accelerators() / 1000 * job.held_seconds)).collect()
}

/// The same of rows of sacct that have their GPUs and seconds in these columns, by nothing but splitting.
fn plainly(text: &str, id: usize, tres: usize, seconds: usize) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').collect();
        if cells[id].contains('.') || !cells[seconds].bytes().all(|it| it.is_ascii_digit()) {
            continue;
        }
        let gpus = cells[tres].split(',').find_map(|it| it.strip_prefix("gres/gpu="));
        if let Some(gpus) = gpus.map(|it| it.parse::<u64>().unwrap()).filter(|it| *it > 0) {
            sums.insert(cells[id].to_owned(), gpus * cells[seconds].parse::<u64>().unwrap());
        }
    }
    sums
}

#[test]
fn every_shape_of_the_same_jobs_has_the_same_gpu_hours() {
    let Some(folder) = files::of_others() else { return };
    let folder = folder.join("slurm-sacct");
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let expected = plainly(&text("gpuhpc_sacct_parsable2.txt"), 0, 18, 13);
    assert_eq!(expected.len(), 14);
    assert_eq!(expected["3"], 168);
    assert_eq!(plainly(&text("gpuhpc_sacct_parsable.txt"), 0, 3, 4), expected);
    assert_eq!(plainly(&text("gpuhpc_sacct_X_noheader.txt"), 0, 18, 13), expected);
    for (name, steps) in [
        ("gpuhpc_sacct_parsable2.txt", 17),
        ("gpuhpc_sacct_parsable.txt", 17),
        ("gpuhpc_sacct_X_noheader.txt", 0),
        ("gpuhpc_sacct.json", 0),
    ] {
        let (_, items) = read(&folder.join(name));
        let mut found = gpu_seconds(&jobs(&items));
        assert_eq!(found.len(), expected.len(), "{name}");
        assert_eq!(found, expected, "{name}");
        found.retain(|_, seconds| *seconds > 0);
        let skipped = |word: &str| {
            items.iter().filter(|it| matches!(it, Item::Skipped(skip) if skip.as_str() == word)).count()
        };
        assert_eq!(skipped("step"), steps, "{name}");
        assert_eq!(skipped("never-started"), 1, "{name}");
        assert_eq!(skipped("without-accelerators"), 1, "{name}");
        assert!(!items.iter().any(|it| matches!(it, Item::Rejected(_))), "{name}");
    }
    // The same job has the same key, time and nodes from the table and from the JSON.
    let (_, table) = read(&folder.join("gpuhpc_sacct_parsable2.txt"));
    let (_, json) = read(&folder.join("gpuhpc_sacct.json"));
    let by_id = |items: &[Item]| -> BTreeMap<String, Job> {
        jobs(items).into_iter().map(|job| (job.id.clone(), job.clone())).collect()
    };
    let (table, json) = (by_id(&table), by_id(&json));
    for (id, job) in &table {
        let other = &json[id];
        assert_eq!(
            (&job.key, job.held(), &job.user, job.state),
            (&other.key, other.held(), &other.user, other.state)
        );
        assert_eq!(job.holdings, other.holdings);
    }
    assert_eq!(table["5"].name, "eval, v2");
    assert_eq!(table["10"].ended_at, None, "it runs");
}

#[test]
fn other_column_orders_and_old_forms_are_read() {
    let Some(folder) = files::of_others() else { return };
    let folder = folder.join("slurm-sacct");
    for (name, rows, with_gpus) in [
        ("accounting-logs-with-gpu-gres.log", 24, 20),
        ("accounting-logs-with-job-arrays.log", 6, 0),
        ("phillips.log", 1501, 2),
        ("ceems-sacct.log", 12, 9),
    ] {
        let (_, items) = read(&folder.join(name));
        assert_eq!(items.len(), rows, "{name}");
        let rejected: Vec<_> = items.iter().filter(|it| matches!(it, Item::Rejected(_))).collect();
        assert!(rejected.is_empty(), "{name}: {rejected:?}");
        let jobs = jobs(&items);
        assert_eq!(jobs.len(), with_gpus, "{name}");
        // What `gres/gpu=` says in any place of a line, and nothing else.
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let stated = text.split("gres/gpu=").skip(1);
        let gpus = stated
            .map(|rest| rest.split(|it: char| !it.is_ascii_digit()).next().unwrap().parse::<u64>().unwrap());
        assert_eq!(jobs.iter().map(|it| it.accelerators() / 1000).sum::<u64>(), gpus.sum::<u64>(), "{name}");
    }
    let text = fs::read_to_string(folder.join("ceems-sacct.log")).unwrap();
    let (_, items) = read(&folder.join("ceems-sacct.log"));
    let found = jobs(&items);
    let expected = plainly(&text, 0, 15, 12);
    assert_eq!(gpu_seconds(&found), expected);
    // +0100 is an offset, not part of a zone.
    let first = found.iter().find(|it| it.id == "1479763").unwrap();
    assert_eq!(first.started_at.unwrap().to_rfc3339(), "2022-02-21T13:37:07+00:00");
    assert_eq!(first.holdings.len(), 1);
}

/// Seconds for which devices were seen, and for which how busy they were was measured; and busy.
fn seconds(items: &[Item]) -> (i64, i64, i64) {
    let mut sums = (0, 0, 0);
    for item in items {
        let Item::Metered(metered) = item else { continue };
        for day in metered.days.values() {
            for hour in 0..24 {
                let (measured, busy) = day.busy(hour);
                sums.0 += i64::from(day.present[hour]);
                sums.1 += i64::from(measured);
                sums.2 += i64::from(busy);
            }
        }
    }
    (sums.0 / 1000, sums.1 / 1000, sums.2 / 1000)
}

fn count(items: &[Item], of: fn(&Item) -> bool) -> usize {
    items.iter().filter(|item| of(item)).count()
}

#[test]
fn answers_of_prometheus_are_read() {
    let Some(folder) = files::of_others() else { return };
    let folder = folder.join("prometheus-api");
    let name = "qr_util_step300.json";
    let (format, items) = read(&folder.join(name));
    assert_eq!(format, Format::Prometheus);
    // Every point stands for its five minutes, and a gap for nothing.
    let answer: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap();
    let (mut points, mut percent) = (0, 0);
    for series in answer["data"]["result"].as_array().unwrap() {
        for value in series["values"].as_array().unwrap() {
            points += 1;
            percent += value[1].as_str().unwrap().parse::<i64>().unwrap();
        }
    }
    let (present, measured, busy) = seconds(&items);
    assert_eq!((present, measured), (points * 300, points * 300));
    assert_eq!(busy, percent * 3, "each percent of five minutes is three seconds");
    let holders: std::collections::BTreeSet<_> = items
        .iter()
        .filter_map(|item| match item {
            Item::Metered(metered) => {
                metered.holder.as_ref().map(|it| format!("{}/{}", it.namespace, it.name))
            }
            _ => None,
        })
        .collect();
    assert!(holders.contains("llm/trainer-0"), "{holders:?}");

    let (_, items) = read(&folder.join("q_instant_fb_used.json"));
    assert_eq!(seconds(&items).1, 0, "memory says nothing of how busy it was");
    assert!(seconds(&items).0 > 0);
    let (_, items) = read(&folder.join("qr_empty.json"));
    assert!(items.is_empty());
    let zones = Zones::all(Tz::UTC);
    let failed = File::open(folder.join("qr_error_bad_data.json")).unwrap();
    let refusal = Format::Prometheus.read(failed, &zones, &[], &mut |_| {}).unwrap_err();
    assert!(
        refusal.found.contains("bad_data: 1:22: parse error: missing unit character"),
        "{}",
        refusal.found
    );
}

#[test]
fn logs_of_nvidia_smi_are_read() {
    let Some(folder) = files::of_others() else { return };
    let folder = folder.join("nvidia-smi");
    let mut logs = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with("query-gpu.csv") && name != "query.txt" {
            assert_eq!(recognize_file(&path, &[]).unwrap(), None, "{name}");
            continue;
        }
        logs += 1;
        let (format, items) = read(&path);
        assert_eq!(format, Format::NvidiaSmi);
        assert_eq!(count(&items, |it| matches!(it, Item::Rejected(_))), 0, "{name}: {items:?}");
        if name == "query.txt" {
            assert_eq!(count(&items, |it| matches!(it, Item::Skipped(_))), 2, "they do not say when");
        } else {
            assert_eq!(seconds(&items).0, 60, "{name}");
        }
    }
    assert_eq!(logs, 5);
}

#[test]
fn allocations_of_opencost_and_usage_of_openshift_are_read() {
    let Some(folder) = files::of_others() else { return };
    let (format, items) = read(&folder.join("opencost/allocation-example-output.json"));
    assert_eq!(format, Format::OpenCost);
    assert_eq!(count(&items, |it| matches!(it, Item::Skipped(_))), items.len(), "none of them has a GPU");
    let (format, items) = read(&folder.join("opencost/export-sample.csv"));
    assert_eq!((format, items.len()), (Format::OpenCostCsv, 2));
    assert_eq!(
        recognize_file(&folder.join("opencost/cloudCost-example-output.json"), &[]).unwrap(),
        None,
        "that is cost"
    );

    let name = "nise-openshift-gpu/August-2026-gpu-cluster-1-ocp_gpu_usage.csv";
    let (format, items) = read(&folder.join(name));
    assert_eq!(format, Format::OpenShift);
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let uptime: f64 =
        text.lines().skip(1).map(|line| line.split(',').nth(11).unwrap().parse::<f64>().unwrap()).sum();
    assert_eq!(count(&items, |it| matches!(it, Item::Sample)), 1200);
    assert_eq!(seconds(&items), (uptime as i64, 0, 0));
    for other in ["ocp_namespace_label", "ocp_node_label", "ocp_pod_usage"] {
        let path = folder.join(format!("nise-openshift-gpu/August-2026-gpu-cluster-1-{other}.csv"));
        assert_eq!(recognize_file(&path, &[]).unwrap(), None, "{other}");
    }
}
