//! Answers of Prometheus' HTTP API as files: `query_range` and `query` of DCGM's series
//! (<https://prometheus.io/docs/prometheus/latest/querying/api/>, <https://github.com/NVIDIA/dcgm-exporter>).
//!
//! Exporters before 4.9 and since name and measure differently; both are read. A value that means "not available" is no value: the
//! accelerator was there, and nobody knows how busy it was.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::unit::{ReadSeries, Undecided, Unit, Units, VERSION};
use crate::billing::Refusal;
use crate::telemetry::metered::{Activity, Device, Holder, Metered, ten_thousandths, until, whole};
use crate::telemetry::reading::{Item, Skip};
use crate::telemetry::walk_json::walk;

/// What the pods and containers of NVIDIA's exporter are called, wherever they come from.
const EXPORTER: &str = "dcgm-exporter";

const EXPECTED: &str = "an answer of Prometheus to query_range or query, with series of the DCGM exporter";
/// No series has more points: Prometheus answers 11,000.
const MOST_POINTS: usize = 1_000_000;

/// What a server is asked for, metric by metric: a regular expression of the names that one of them has had.
pub const METRICS: [&str; 6] = [
    "DCGM_FI_DEV_GPU_UTIL|DCGM_FI_DEV_GPU_UTIL_RATIO",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE|DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE|DCGM_FI_PROF_TENSOR_UTIL_RATIO",
    "DCGM_FI_DEV_FB_USED|DCGM_FI_DEV_FB_USED_BYTES",
    "DCGM_FI_DEV_POWER_USAGE|DCGM_FI_DEV_BOARD_POWER_WATTS",
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION|DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL",
];

/// Values by which DCGM says that it has none.
const BLANK: [&str; 4] = ["9223372036854775794", "9223372036854775792", "4294967295", "4294967294"];

/// What a metric measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    /// 0 to 100.
    Percent(Activity),
    /// 0 to 1.
    Ratio(Activity),
    /// Percent in 4.6 of the exporter and 0 to 1 since: its version decides, else the values of the answer.
    Either(Activity),
    /// MiB, or bytes.
    Memory {
        is_bytes: bool,
    },
    Watts,
    /// Counters: millijoules, or joules.
    Energy {
        is_millijoules: bool,
    },
}

fn metric(name: &str) -> Option<Metric> {
    use Activity::{Engine, Tensor, Utilization};
    Some(match name {
        "DCGM_FI_DEV_GPU_UTIL" => Metric::Percent(Utilization),
        "DCGM_FI_DEV_GPU_UTIL_RATIO" => Metric::Either(Utilization),
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE" | "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO" => Metric::Ratio(Engine),
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE" | "DCGM_FI_PROF_TENSOR_UTIL_RATIO" => Metric::Ratio(Tensor),
        "DCGM_FI_DEV_FB_USED" => Metric::Memory { is_bytes: false },
        "DCGM_FI_DEV_FB_USED_BYTES" => Metric::Memory { is_bytes: true },
        "DCGM_FI_DEV_POWER_USAGE" | "DCGM_FI_DEV_BOARD_POWER_WATTS" => Metric::Watts,
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION" => Metric::Energy { is_millijoules: true },
        "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL" => Metric::Energy { is_millijoules: false },
        _ => return None,
    })
}

/// A series as the API answers it.
#[derive(Deserialize)]
struct Series<'a> {
    metric: BTreeMap<String, String>,
    #[serde(default, borrow)]
    values: Vec<Point<'a>>,
    #[serde(borrow)]
    value: Option<Point<'a>>,
}

/// Seconds since 1970, which may have a fraction, and what was measured then.
#[derive(Deserialize)]
struct Point<'a>(f64, #[serde(borrow)] Cow<'a, str>);

/// Reads an answer to its end, one series at a time.
///
/// # Errors
/// A [`Refusal`] where it is none; where the query failed, with what Prometheus says.
pub fn read(input: impl Read, each: &mut dyn FnMut(Item)) -> Result<(), Refusal> {
    read_within(input, None, each).map(drop)
}

/// The same of some whole hours (milliseconds since 1970) alone, whatever else is in it. Returns what the answer warns of: where it
/// comes from several stores, that one of them did not answer.
///
/// # Errors
/// Those of [`read`].
pub fn read_within(
    input: impl Read,
    hours: Option<&Range<i64>>,
    each: &mut dyn FnMut(Item),
) -> Result<Vec<String>, Refusal> {
    let mut row = 0;
    let mut units = Units::default();
    let mut series = |text: Box<RawValue>| {
        row += 1;
        let series = serde_json::from_str::<Series<'_>>(text.get()).map_err(|error| error.to_string());
        match series.and_then(|series| read_series(&series, hours)) {
            Ok(Some(read)) => {
                each(Item::Sample);
                if let Some(metered) = units.decide(read) {
                    each(Item::Metered(Box::new(metered)));
                }
            }
            Ok(None) => each(Item::Skipped(Skip::OtherMetric)),
            Err(found) => {
                let expected = "a series of the DCGM exporter with its labels and points";
                each(Item::rejected(row, "", &found, expected));
            }
        }
    };
    let keep = ["status", "errorType", "error", "warnings"];
    let met = walk(input, &["data", "result", "*"], &keep, EXPECTED, &mut series)?;
    if met.text("status") == "error" {
        let found =
            format!("the answer to a query that failed: {}: {}", met.text("errorType"), met.text("error"));
        return Err(Refusal::new(found, "an answer with series: correct the query and ask again"));
    }
    if !met.is_there {
        return Err(Refusal::new("JSON without a result", EXPECTED));
    }
    units.end(each);
    let warnings = met.kept.get("warnings").and_then(Value::as_array).into_iter().flatten();
    Ok(warnings.filter_map(Value::as_str).map(str::to_owned).collect())
}

/// What a series says, of these hours. `None` of one that measures something else.
fn read_series(series: &Series<'_>, hours: Option<&Range<i64>>) -> Result<Option<ReadSeries>, String> {
    let label = |name: &str| series.metric.get(name).map(String::as_str).unwrap_or_default();
    let first =
        |names: &[&str]| names.iter().map(|name| label(name)).find(|it| !it.is_empty()).unwrap_or_default();
    let name = label("__name__");
    if name.is_empty() {
        return Err("a series without __name__, as functions answer it".to_owned());
    }
    let Some(metric) = metric(name) else { return Ok(None) };
    let id = first(&["UUID", "uuid", "gpu", "device"]);
    let host = first(&["Hostname", "hostname", "node", "kubernetes_node", "instance"]);
    // `instance` has the port of the exporter.
    let host = host.split(':').next().unwrap_or_default();
    if id.is_empty() && host.is_empty() {
        return Err(format!("{name} without labels that say of which GPU"));
    }
    let device = Device {
        cluster: label("cluster").to_owned(),
        node: if host.is_empty() { id } else { host }.to_owned(),
        id: id.to_owned(),
        profile: label("GPU_I_PROFILE").to_owned(),
        slice: match (label("GPU_I_ID"), label("vgpu")) {
            // A replica of an accelerator that is shared by time.
            ("", replica) if !replica.is_empty() => format!("replica {replica}"),
            (slice, _) => slice.to_owned(),
        },
        model: label("modelName").to_owned(),
    };
    // Without `honorLabels` a device that nobody holds has the labels of the exporter's own pod alone.
    let is_exporter = ["pod", "container"].iter().any(|name| label(name).contains(EXPORTER));
    let of_holder = |exported: &'static str, plain: &'static str| match label(exported) {
        "" if is_exporter => "",
        "" => label(plain),
        exported => exported,
    };
    let pod = of_holder("exported_pod", "pod");
    let job = label("hpc_job");
    let holder = if !job.is_empty() && job != "0" {
        Some(Holder { name: job.to_owned(), is_slurm_job: true, ..Holder::default() })
    } else if pod.is_empty() {
        None
    } else {
        Some(Holder {
            namespace: of_holder("exported_namespace", "namespace").to_owned(),
            name: pod.to_owned(),
            container: of_holder("exported_container", "container").to_owned(),
            ..Holder::default()
        })
    };
    let family = METRICS.iter().find(|names| names.split('|').any(|it| it == name));
    let metered =
        Metered { device, holder, metric: family.copied().unwrap_or_default(), ..Metered::default() };
    let mut points = Vec::with_capacity(series.values.len() + 1);
    for Point(at, value) in series.values.iter().chain(&series.value) {
        points.push((milliseconds(*at)?, number(value)));
    }
    if points.len() > MOST_POINTS {
        return Err(format!("{name} with more than {MOST_POINTS} points"));
    }
    points.sort_by_key(|point| point.0);
    points.dedup_by_key(|point| point.0);
    if let Some(hours) = hours {
        // The point at the end says what the last interval of a counter amounts to.
        points.retain(|point| (hours.start..=hours.end).contains(&point.0));
    }
    let end = hours.map(|hours| hours.end);
    let in_unit = |unit: Unit| {
        let mut metered = metered.clone();
        add(&mut metered, (metric, unit), &points, end);
        metered
    };
    let version = first(&VERSION);
    Ok(Some(match metric {
        Metric::Percent(_) => ReadSeries::Metered(in_unit(Unit::Percent)),
        Metric::Either(_) => match (Unit::of_version(version), Unit::of_values(&points)) {
            (Some(unit), _) => ReadSeries::Metered(in_unit(unit)),
            (None, Some(unit)) => ReadSeries::Decided(in_unit(unit), unit),
            (None, None) if points.iter().all(|point| point.1.is_none_or(|it| it <= 0.0)) => {
                // What is 0 is so in both.
                ReadSeries::Metered(in_unit(Unit::Ratio))
            }
            (None, None) => ReadSeries::Undecided(Box::new(Undecided {
                as_percent: in_unit(Unit::Percent),
                as_ratio: in_unit(Unit::Ratio),
                unmeasured: in_unit(Unit::Unknown),
            })),
        },
        _ => ReadSeries::Metered(in_unit(Unit::Ratio)),
    }))
}

fn milliseconds(seconds: f64) -> Result<i64, String> {
    // From 2001 to 2286: anything else is in another unit.
    if !(1e9..1e10).contains(&seconds) {
        return Err(format!("{seconds} as a time"));
    }
    Ok(whole(seconds * 1000.0))
}

/// `None` of what means that there is none.
fn number(value: &str) -> Option<f64> {
    let is_blank = BLANK.iter().any(|blank| value.starts_with(blank));
    let number: f64 = value.parse().ok().filter(|_| !is_blank)?;
    // Rounded to a float, the blank of 64 bits has other digits.
    (number.is_finite() && (0.0..9.2e18).contains(&number)).then_some(number)
}

/// `end`: from when on points say nothing but what came before.
fn add(
    metered: &mut Metered,
    (metric, unit): (Metric, Unit),
    points: &[(i64, Option<f64>)],
    end: Option<i64>,
) {
    let times: Vec<i64> = points.iter().map(|point| point.0).collect();
    let ends = until(&times);
    let is_within = |at: i64| end.is_none_or(|end| at < end);
    for (place, ((at, value), end)) in
        points.iter().zip(&ends).enumerate().filter(|(_, ((at, _), _))| is_within(*at))
    {
        match metric {
            Metric::Percent(kind) | Metric::Ratio(kind) | Metric::Either(kind) => {
                let part = value.and_then(|value| unit.part(value)).map(ten_thousandths);
                metered.span(*at, *end, part.map(|part| (kind, part)));
            }
            Metric::Memory { is_bytes } => {
                metered.span(*at, *end, None);
                let unit = if is_bytes { 1_048_576.0 } else { 1.0 };
                if let Some(value) = value {
                    metered.memory(*at, *end, whole(value / unit));
                }
            }
            Metric::Watts => {
                metered.span(*at, *end, None);
                if let Some(value) = value {
                    metered.energy(
                        *at,
                        *end,
                        whole(value * f64::from(i32::try_from(end - at).unwrap_or(0)) / 1000.0),
                    );
                }
            }
            Metric::Energy { is_millijoules } => {
                metered.span(*at, *end, None);
                let Some((next_at, Some(next))) = points.get(place + 1) else { continue };
                let Some(value) = value else { continue };
                // A counter that fell began anew.
                let grown = if next >= value { next - value } else { *next };
                metered.energy(*at, *next_at, whole(if is_millijoules { grown / 1000.0 } else { grown }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::reading::Remark;

    fn items(json: &str) -> Result<Vec<Item>, Refusal> {
        let mut items = Vec::new();
        read(json.as_bytes(), &mut |item| items.push(item)).map(|()| items)
    }

    fn series(name: &str, labels: &str, values: &str) -> String {
        format!(
            r#"{{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":{{"__name__":"{name}"{labels}}},"values":[{values}]}}]}}}}"#
        )
    }

    const NODE: &str = r#","Hostname":"n1","UUID":"GPU-1""#;

    fn one(json: &str) -> Metered {
        let metered = items(json).unwrap().into_iter().find_map(|item| match item {
            Item::Metered(metered) => Some(*metered),
            _ => None,
        });
        metered.unwrap()
    }

    /// Minutes measured and at work (in tenths of a percent of a minute) of each GPU, and what is remarked.
    fn of_ratio(version: &str, series: &[&[f64]]) -> (Vec<(i32, i32)>, Vec<Remark>) {
        let series = series.iter().enumerate().map(|(gpu, values)| {
            let points: Vec<String> =
                (0..).zip(*values).map(|(n, value)| format!(r#"[{},"{value}"]"#, 1_785_542_400 + 60 * n)).collect();
            let metric = format!(
                r#"{{"__name__":"DCGM_FI_DEV_GPU_UTIL_RATIO","Hostname":"n1","UUID":"GPU-{gpu}","exporter_version":"{version}"}}"#
            );
            format!(r#"{{"metric":{metric},"values":[{}]}}"#, points.join(","))
        });
        let series: Vec<String> = series.collect();
        let json = format!(
            r#"{{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}}"#,
            series.join(",")
        );
        let (mut found, mut remarks) = (Vec::new(), Vec::new());
        for item in items(&json).unwrap() {
            match item {
                Item::Metered(metered) => {
                    let (measured, busy) = metered.days.values().next().unwrap().busy(0);
                    found.push((metered.device.id.clone(), (measured / 60_000, busy / 60)));
                }
                Item::Remark(remark) => remarks.push(remark),
                _ => {}
            }
        }
        found.sort();
        (found.into_iter().map(|it| it.1).collect(), remarks)
    }

    #[test]
    fn unit_of_a_ratio_is_decided_by_its_version_or_by_the_values_of_its_answer_and_said() {
        use Remark::{RatioAsPercent, RatioAsRatio, RatioUnknown};
        for (version, series, expected, remarks) in [
            ("", &[&[0.0, 25.0][..]][..], &[(2, 250)][..], &[RatioAsPercent][..]),
            ("", &[&[0.0, 0.25]], &[(2, 250)], &[RatioAsRatio]),
            ("", &[&[0.0, 0.0]], &[(2, 0)], &[]),
            // One percent, or all: nobody knows, if nothing beside them says it.
            ("", &[&[0.0, 1.0], &[1.0, 1.0]], &[(0, 0), (0, 0)], &[RatioUnknown]),
            ("", &[&[0.0, 1.0], &[38.0, 1.0]], &[(2, 10), (2, 390)], &[RatioAsPercent]),
            ("", &[&[0.0, 1.0], &[0.5, 1.0]], &[(2, 1000), (2, 1500)], &[RatioAsRatio]),
            (
                "",
                &[&[38.0], &[0.5], &[1.0]],
                &[(1, 380), (1, 500), (0, 0)],
                &[RatioAsPercent, RatioAsRatio, RatioUnknown],
            ),
            ("4.6.1", &[&[0.0, 1.0]], &[(2, 10)], &[]),
            // That of DCGM comes first.
            ("4.6.0-4.8.1-ubuntu22.04", &[&[0.0, 1.0]], &[(2, 1000)], &[]),
            ("v4.7.1", &[&[0.0, 1.0]], &[(2, 1000)], &[]),
            ("4.9.0", &[&[0.5, 25.0]], &[(1, 500)], &[]),
        ] {
            assert_eq!(
                of_ratio(version, series),
                (expected.to_vec(), remarks.to_vec()),
                "{version} {series:?}"
            );
        }
    }

    #[test]
    fn units_of_old_and_new_exporters_agree() {
        // An hour at a quarter.
        for (name, value) in [
            ("DCGM_FI_DEV_GPU_UTIL", "25"),
            ("DCGM_FI_DEV_GPU_UTIL_RATIO", "25"),
            ("DCGM_FI_DEV_GPU_UTIL_RATIO", "0.25"),
            ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.25"),
            ("DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", "0.25"),
        ] {
            let values: Vec<String> =
                (0..60).map(|minute| format!("[{},\"{value}\"]", 1_785_542_400 + minute * 60)).collect();
            let metered = one(&series(name, NODE, &values.join(",")));
            let day = metered.days.values().next().unwrap();
            assert_eq!((day.present[0], day.busy(0)), (3_600_000, (3_600_000, 900_000)), "{name} {value}");
        }
    }

    #[test]
    fn what_is_not_available_is_unknown_and_not_zero() {
        for value in
            ["NaN", "+Inf", "9223372036854775794", "9.223372036854775794e+18", "4294967295", "101", "-1"]
        {
            let metered = one(&series("DCGM_FI_DEV_GPU_UTIL", NODE, &format!("[1785542400,\"{value}\"]")));
            let day = metered.days.values().next().unwrap();
            assert_eq!((day.present[0], day.busy(0)), (60_000, (0, 0)), "{value}");
        }
    }

    #[test]
    fn who_held_it_is_read_with_and_without_exported() {
        let of = |labels: &str| one(&series("DCGM_FI_DEV_GPU_UTIL", labels, "[1785542400,\"1\"]")).holder;
        let pod = Holder {
            namespace: "llm".into(),
            name: "t-0".into(),
            container: "c".into(),
            ..Holder::default()
        };
        let labels = r#","Hostname":"n1","gpu":"0","namespace":"llm","pod":"t-0","container":"c""#;
        assert_eq!(of(labels), Some(pod.clone()));
        // Without honorLabels Prometheus has the labels of the exporter's own pod.
        let exporter = r#","Hostname":"n1","gpu":"0","namespace":"gpu-operator","pod":"nvidia-dcgm-exporter-x7","container":"nvidia-dcgm-exporter""#;
        assert_eq!(of(exporter), None, "nobody holds it, and Prometheus does not honor labels");
        let labels = &format!(
            r#"{exporter},"exported_namespace":"llm","exported_pod":"t-0","exported_container":"c""#
        );
        assert_eq!(of(labels), Some(pod));
        assert_eq!(of(r#","Hostname":"n1","gpu":"0","pod":"""#), None);
        let job = of(r#","Hostname":"n1","gpu":"0","hpc_job":"4711""#).unwrap();
        assert_eq!((job.name.as_str(), job.is_slurm_job), ("4711", true));
    }

    #[test]
    fn counters_that_begin_anew_lose_nothing_but_that() {
        let values = "[1785542400,\"1000000\"],[1785542460,\"1600000\"],[1785542520,\"300000\"]";
        let metered = one(&series("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", NODE, values));
        assert_eq!(metered.days.values().map(|it| it.energy).sum::<i64>(), 900);
    }

    #[test]
    fn every_metric_that_is_asked_for_is_read() {
        for name in METRICS.iter().flat_map(|names| names.split('|')) {
            assert!(metric(name).is_some(), "{name}");
        }
    }

    #[test]
    fn of_some_hours_nothing_else_counts() {
        let ten = 1_785_542_400_i64;
        let values: Vec<String> = (-5..70).map(|minute| format!("[{},\"50\"]", ten + minute * 60)).collect();
        let json = series("DCGM_FI_DEV_GPU_UTIL", NODE, &values.join(","));
        let hours = ten * 1000..(ten + 3600) * 1000;
        let mut items = Vec::new();
        let warnings = read_within(json.as_bytes(), Some(&hours), &mut |item| items.push(item)).unwrap();
        let Some(Item::Metered(metered)) = items.pop() else { panic!() };
        let held: i32 = metered.days.values().flat_map(|day| day.present).sum();
        assert_eq!((held, warnings.len()), (3_600_000, 0));
        let partial = json.replace("\"data\"", "\"warnings\":[\"store b is down\"],\"data\"");
        let warnings = read_within(partial.as_bytes(), Some(&hours), &mut |_| {}).unwrap();
        assert_eq!(warnings, ["store b is down"]);
    }

    #[test]
    fn nonsense_is_told() {
        for (json, found) in [
            (r#"{"status":"error","errorType":"bad_data","error":"parse error"}"#, "bad_data: parse error"),
            (r#"{"status":"success"}"#, "without a result"),
            (r#"{"status":"success","data":{"result":[{"metric":{"#, "breaks off"),
            ("[]", "without a result"),
        ] {
            let refusal = items(json).unwrap_err();
            assert!(refusal.found.contains(found), "{json}: {}", refusal.found);
        }
        let without_name =
            r#"{"status":"success","data":{"result":[{"metric":{"gpu":"0"},"values":[[1785542400,"1"]]}]}}"#;
        assert!(matches!(items(without_name).unwrap()[..], [Item::Rejected(_)]));
        let in_milliseconds = series("DCGM_FI_DEV_GPU_UTIL", NODE, "[1785542400000,\"1\"]");
        assert!(matches!(items(&in_milliseconds).unwrap()[..], [Item::Rejected(_)]));
        let empty = r#"{"status":"success","data":{"resultType":"matrix","result":[]}}"#;
        assert!(items(empty).unwrap().is_empty());
    }
}
