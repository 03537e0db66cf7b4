//! Logs of `nvidia-smi --query-gpu=… --format=csv` (<https://docs.nvidia.com/deploy/nvidia-smi/>).
//!
//! Cells are separated by a comma and a space, nothing is quoted, and units stand in the header and in the cells, or nowhere
//! (`nounits`). Times are those of the machine's clock. The machine itself is named nowhere: its accelerators stand for it.

use std::collections::BTreeMap;
use std::io::Read;

use chrono::NaiveDateTime;
use chrono_tz::Tz;

use super::lines::Lines;
use super::local_time;
use super::metered::{Activity, Device, Metered, ten_thousandths, until, whole};
use super::reading::{Item, Skip};
use crate::billing::Refusal;

const EXPECTED: &str =
    "nvidia-smi --query-gpu=timestamp,uuid,name,index,utilization.gpu,memory.used,power.draw --format=csv";
const TIME: &str = "%Y/%m/%d %H:%M:%S%.f";
/// Samples of an accelerator that are kept in memory before they are handed on.
const PART: usize = 4096;

/// Whether a text begins as such a log does.
pub fn is_log(start: &str) -> bool {
    let first = start.lines().next().unwrap_or_default();
    let names: Vec<String> = first.split(',').map(column).collect();
    let has = |name: &str| names.iter().any(|it| it == name);
    let says_something = ["name", "utilization.gpu", "memory.used", "power.draw"].iter().any(|it| has(it));
    first.contains(", ")
        && (has("uuid") || has("index") || has("pci.bus_id"))
        && says_something
        && !has("pid")
}

/// Whether it is one without a header, which does not say what its cells are.
pub fn is_log_without_header(start: &str) -> bool {
    let first = start.lines().next().unwrap_or_default();
    let cells: Vec<&str> = first.split(", ").map(str::trim).collect();
    let is_device = |cell: &&str| cell.starts_with("GPU-") && cell.len() == "GPU-".len() + 36;
    let is_time = |cell: &&str| NaiveDateTime::parse_from_str(cell, TIME).is_ok();
    cells.len() > 2 && cells.iter().any(|it| is_device(it) || is_time(it))
}

/// `memory.used [MiB]` is `memory.used`, and the same field has two names.
fn column(cell: &str) -> String {
    let name = cell.trim().split(" [").next().unwrap_or_default().to_lowercase();
    match name.as_str() {
        "gpu_uuid" => "uuid".to_owned(),
        "gpu_name" => "name".to_owned(),
        _ => name,
    }
}

/// An accelerator, and its samples that are not added up yet.
#[derive(Default)]
struct Samples {
    metered: Metered,
    points: Vec<Point>,
}

#[derive(Clone, Copy)]
struct Point {
    at: i64,
    /// In hundredths of a percent.
    utilization: Option<u32>,
    mebibytes: Option<i64>,
    watts: Option<i64>,
}

/// Reads a log to its end.
///
/// # Errors
/// A [`Refusal`] where it is none, or cannot be read.
pub fn read(input: impl Read, zone: Tz, each: &mut dyn FnMut(Item)) -> Result<(), Refusal> {
    let mut lines = Lines::new(input, EXPECTED);
    let Some(header) = lines.next()? else { return Err(Refusal::new("an empty file", EXPECTED)) };
    if is_log_without_header(&header) {
        return Err(Refusal::new("a log of nvidia-smi without its header", EXPECTED));
    }
    let names: Vec<String> = header.split(", ").map(column).collect();
    let at: BTreeMap<&str, usize> =
        names.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    let mut devices: BTreeMap<String, Samples> = BTreeMap::new();
    let mut row = 0;
    while let Some(line) = lines.next()? {
        row += 1;
        if line == header {
            each(Item::Skipped(Skip::HeaderRepeated));
            continue;
        }
        let cells: Vec<&str> = line.split(", ").collect();
        let cell =
            |name: &str| at.get(name).and_then(|place| cells.get(*place)).map_or("", |cell| cell.trim());
        let mut reject = |column: &str, found: &str, expected: String| {
            each(Item::rejected(row, column, found, &expected));
        };
        if cells.len() != names.len() {
            reject(
                "",
                &format!("{} cells", cells.len()),
                format!("{} cells, as the header has", names.len()),
            );
            continue;
        }
        if !at.contains_key("timestamp") {
            each(Item::Skipped(Skip::WithoutTime));
            continue;
        }
        let Some(time) = time(cell("timestamp"), zone) else {
            reject("timestamp", cell("timestamp"), "a time such as 2026/07/14 08:12:53.353".to_owned());
            continue;
        };
        let id = ["uuid", "pci.bus_id", "index"]
            .map(cell)
            .into_iter()
            .find(|it| is_stated(it))
            .unwrap_or_default();
        if id.is_empty() {
            reject("uuid", "nothing", "which GPU it is: uuid, pci.bus_id or index".to_owned());
            continue;
        }
        let device = devices.entry(id.to_owned()).or_default();
        device.metered.device = Device {
            node: id.to_owned(),
            id: id.to_owned(),
            model: cell("name").to_owned(),
            ..Device::default()
        };
        let utilization = number(cell("utilization.gpu"))
            .filter(|it| *it <= 100.0)
            .map(|percent| ten_thousandths(percent / 100.0));
        let (memory, power) = (number(cell("memory.used")), number(cell("power.draw")));
        device.points.push(Point {
            at: time,
            utilization,
            mebibytes: memory.map(whole),
            watts: power.map(whole),
        });
        if device.points.len() == PART {
            device.add(true);
        }
        each(Item::Sample);
    }
    for mut samples in devices.into_values() {
        samples.add(false);
        each(Item::Metered(Box::new(samples.metered)));
    }
    Ok(())
}

impl Samples {
    /// Adds the samples up. Where more come, the last one stands until the next.
    fn add(&mut self, more_come: bool) {
        self.points.sort_by_key(|point| point.at);
        self.points.dedup_by_key(|point| point.at);
        let times: Vec<i64> = self.points.iter().map(|point| point.at).collect();
        let mut ends = until(&times);
        if more_come {
            ends.pop();
        }
        for (point, end) in self.points.iter().zip(&ends) {
            self.metered.span(point.at, *end, point.utilization.map(|part| (Activity::Utilization, part)));
            if let Some(mebibytes) = point.mebibytes {
                self.metered.memory(point.at, *end, mebibytes);
            }
            if let Some(watts) = point.watts {
                self.metered.energy(point.at, *end, watts.saturating_mul(end - point.at) / 1000);
            }
        }
        self.points.drain(..ends.len());
    }
}

/// Whether a cell says anything: the tool has many words for nothing.
fn is_stated(cell: &str) -> bool {
    !(cell.is_empty() || cell.starts_with('[') || matches!(cell, "N/A" | "None" | "Not Supported"))
}

/// `38 %`, `575 MiB`, `71.65 W`, or the same without its unit.
fn number(cell: &str) -> Option<f64> {
    let number = cell.split(' ').next()?;
    number.parse().ok().filter(|number: &f64| is_stated(cell) && number.is_finite() && *number >= 0.0)
}

fn time(cell: &str, zone: Tz) -> Option<i64> {
    let local = NaiveDateTime::parse_from_str(cell, TIME).ok()?;
    local_time::instant(local, zone).map(|at| at.timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<Item> {
        let mut items = Vec::new();
        read(text.as_bytes(), Tz::UTC, &mut |item| items.push(item)).unwrap();
        items
    }

    #[test]
    fn a_log_without_its_header_is_recognized_and_refused() {
        let row = "2026/07/14 08:12:53.353, GPU-8f2a4f8c-1d2e-4c3b-9a8d-0123456789ab, NVIDIA H100, 38 %\n";
        assert!(is_log_without_header(row) && !is_log(row));
        assert!(!is_log_without_header("timestamp, uuid, name, utilization.gpu [%]\n"));
        let refusal = read(row.as_bytes(), Tz::UTC, &mut |_| {}).unwrap_err();
        assert_eq!(refusal.found, "a log of nvidia-smi without its header");
    }

    #[test]
    fn with_and_without_units_read_alike() {
        let with = "timestamp, uuid, name, utilization.gpu [%], memory.used [MiB], power.draw [W]\n\
            2026/07/14 08:00:00.000, GPU-1, NVIDIA H100 80GB HBM3, 50 %, 1000 MiB, 300.40 W\n\
            2026/07/14 08:01:00.000, GPU-1, NVIDIA H100 80GB HBM3, [N/A], 1000 MiB, [N/A]\n";
        let without = with.replace(" %", "").replace(" MiB,", ",").replace(" W\n", "\n").replace(" [%]", "");
        let of = |text: &str| match items(text).pop() {
            Some(Item::Metered(metered)) => *metered,
            other => panic!("{other:?}"),
        };
        let metered = of(with);
        let day = metered.days.values().next().unwrap();
        assert_eq!(
            (day.present[8], day.busy(8)),
            (120_000, (60_000, 30_000)),
            "what has no value is not measured"
        );
        assert_eq!((day.memory, day.energy), ((120_000, 120), 18_000));
        assert_eq!(of(&without), metered);
        let twice = format!("{with}{with}");
        assert_eq!(
            of(&twice),
            metered,
            "logs that were put together have their header twice, and a time once"
        );
    }

    #[test]
    fn what_is_wrong_is_told() {
        let text = "timestamp, uuid, name, utilization.gpu [%]\nyesterday, GPU-1, X, 5 %\n2026/07/14 08:00:00.000, GPU-1\n";
        let found = items(text);
        assert_eq!(found.iter().filter(|it| matches!(it, Item::Rejected(_))).count(), 2, "{found:?}");
        assert!(!is_log("timestamp, gpu_name, gpu_bus_id, gpu_uuid, pid, process_name\n"));
        assert!(!is_log("a,b,c\n"));
        assert!(is_log("timestamp, index, utilization.gpu [%], memory.used [MiB]\n"));
    }
}
