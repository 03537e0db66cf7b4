//! Usage as plain CSV: who held which accelerators of which machine from when to when. For whatever else knows it: Run:ai, the CloudWatch
//! agent, a script.
//!
//! | column | also called | what |
//! |---|---|---|
//! | node | hostname, host, instance, instance id, machine | the machine, as bills or schedulers call it |
//! | from, to | start, begin; end, until | with an offset, or by the clock of the source. Instead of `to`: seconds, duration |
//! | accelerator | GPU, device, UUID, GPU index | which one; empty: not stated |
//! | accelerators | GPUs, GPU count, allocated GPUs | how many, a fraction too; empty: one |
//! | holder | job, job id, pod, workload | who held it; empty: nobody |
//! | namespace | project, department | of the holder |
//! | user | owner | of the holder |
//! | account | team, group | of the holder: whom a scheduler charges |
//! | utilization | GPU utilization, util | in percent; empty: not measured |
//! | memory | memory used, memory MiB | MiB in use of each |
//! | power | power draw, watts | watts of each |
//! | model, profile | GPU model; MIG profile | `H100`; `3g.40gb` |

use std::cell::Cell;
use std::io::Read;

use chrono::{DateTime, NaiveDateTime};
use chrono_tz::Tz;

use super::columns::ColumnNames;
use super::local_time;
use super::metered::{Activity, Device, Holder, Metered, ten_thousandths, whole};
use super::reading::{Item, Remark};
use super::table::{self, Cells, Wrong};
use crate::billing::Refusal;

const EXPECTED: &str = "CSV with the columns node, from, to, accelerator or accelerators and, where they are known, holder, namespace, user, \
     account, utilization, memory and power";
/// Of a machine.
const MOST_ACCELERATORS: f64 = 512.0;
/// What a row says is of two years at most.
const LONGEST_MS: i64 = 2 * 366 * 24 * 3_600_000;

/// Our name of a column, and what others call it: letters and digits alone.
const NAMES: [(&str, &[&str]); 15] = [
    ("node", &["nodename", "hostname", "host", "instance", "instanceid", "machine"]),
    ("from", &["start", "starttime", "startedat", "begin", "begins", "intervalstart"]),
    ("to", &["end", "endtime", "endedat", "until", "ends", "intervalend"]),
    ("seconds", &["duration", "durationseconds", "elapsed", "elapsedseconds"]),
    ("accelerator", &["gpu", "gpuid", "gpuuuid", "uuid", "gpuindex", "device", "deviceid"]),
    ("accelerators", &["gpus", "gpucount", "numgpus", "allocatedgpus", "gpuallocation", "gpuallocated"]),
    ("holder", &["job", "jobid", "jobname", "pod", "podname", "workload", "workloadname"]),
    ("namespace", &["project", "projectname", "department"]),
    ("user", &["username", "owner", "submittedby"]),
    ("account", &["accountname", "team", "teamname", "group", "billingaccount"]),
    (
        "utilization",
        &["utilisation", "util", "gpuutilization", "gpuutilisation", "gpuutil", "utilizationpercent"],
    ),
    ("memory", &["memoryused", "memorymib", "memoryusedmib", "gpumemoryused"]),
    ("power", &["powerdraw", "watts", "powerwatts"]),
    ("model", &["gpumodel", "gputype", "acceleratormodel"]),
    ("profile", &["migprofile"]),
];

/// What a column is that is called so by many, if it is one.
pub fn usual_name(column: &str) -> Option<&'static str> {
    let bare: String =
        column.chars().filter(char::is_ascii_alphanumeric).map(|it| it.to_ascii_lowercase()).collect();
    NAMES
        .iter()
        .find(|(name, others)| *name == bare || others.contains(&bare.as_str()))
        .map(|(name, _)| *name)
}

/// Whether a text begins as such a file does: some column is about GPUs, or somebody said what its columns are. One that says what
/// something costs is a bill.
pub fn is_usage(start: &str, said: &[ColumnNames]) -> bool {
    let first = start.lines().next().unwrap_or_default();
    let cells = csv_cells(first);
    let columns: Vec<&str> = cells.iter().map(|it| it.trim()).collect();
    if said.iter().any(|names| names.fit(&columns)) {
        return true;
    }
    let columns: Vec<String> = cells.iter().map(|it| it.to_ascii_lowercase()).collect();
    let mentions = |words: &[&str]| columns.iter().any(|it| words.iter().any(|word| it.contains(word)));
    let usual: Vec<&str> = columns.iter().filter_map(|column| usual_name(column)).collect();
    let has = |wanted: &[&str]| usual.iter().any(|name| wanted.contains(name));
    let says_who_and_when = has(&["node"]) && has(&["from"]) && has(&["to", "seconds"]);
    says_who_and_when
        && mentions(&["gpu", "accelerator"])
        && !mentions(&["cost", "price", "amount", "charge"])
}

fn csv_cells(line: &str) -> Vec<String> {
    let mut rows = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let first = rows.records().next().and_then(Result::ok);
    first.map(|cells| cells.iter().map(str::to_owned).collect()).unwrap_or_default()
}

/// Reads a file to its end. `zone`: of its times without an offset; `said`: what its columns may be, where somebody said so.
///
/// # Errors
/// A [`Refusal`] where it is none, or cannot be read.
pub fn read(
    input: impl Read,
    zone: Tz,
    said: &[ColumnNames],
    each: &mut dyn FnMut(Item),
) -> Result<(), Refusal> {
    // A part of one cannot be distinguished from percent, which is said.
    let (largest, has_percent_sign) = (Cell::new(0.0_f64), Cell::new(false));
    let mut unread = Vec::new();
    table::read_named(
        input,
        |columns| {
            let fitting = said.iter().find(|names| names.fit(columns));
            let what = |column: &&str| match fitting {
                Some(it) => it.what(column).map(str::to_owned),
                None => usual_name(column).map(str::to_owned),
            };
            let found: Vec<Option<String>> = columns.iter().map(what).collect();
            for (place, name) in columns.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
                if found[place].is_none() || found[..place].contains(&found[place]) {
                    unread.push((*name).to_owned());
                }
            }
            found
        },
        &["node", "from"],
        EXPECTED,
        each,
        |cells| {
            let item = row(cells, zone)?;
            let cell = cells.get("utilization");
            has_percent_sign.set(has_percent_sign.get() || cell.ends_with('%'));
            largest.set(
                cell.trim_end_matches('%').trim().parse().map_or(largest.get(), |it| largest.get().max(it)),
            );
            Ok(item)
        },
    )?;
    for column in unread {
        each(Item::UnreadColumn(column));
    }
    if 0.0 < largest.get() && largest.get() <= 1.0 && !has_percent_sign.get() {
        each(Item::Remark(Remark::PercentBelowOne));
    }
    Ok(())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a machine has at most 512 accelerators"
)]
fn row(cells: &Cells<'_>, zone: Tz) -> Result<Item, Wrong> {
    let node = cells.get("node");
    if node.is_empty() {
        return Err(Wrong("node", "the machine"));
    }
    let from = time(cells.get("from"), zone).ok_or(Wrong("from", A_TIME))?;
    let to = if cells.get("to").is_empty() {
        let cell = cells.get("seconds");
        let seconds = cell.parse::<f64>().ok().filter(|it| *it >= 0.0 && it.is_finite());
        let wrong =
            if cell.is_empty() { Wrong("to", A_TIME) } else { Wrong("seconds", "a number of seconds") };
        from + whole(seconds.ok_or(wrong)? * 1000.0)
    } else {
        time(cells.get("to"), zone).ok_or(Wrong("to", A_TIME))?
    };
    if to <= from {
        return Err(Wrong("to", "a time after that of from"));
    }
    if to - from > LONGEST_MS {
        return Err(Wrong("to", "a time at most two years after that of from"));
    }
    let accelerators = match cells.get("accelerators") {
        "" => 1.0,
        cell => number(cell, MOST_ACCELERATORS).ok_or(Wrong("accelerators", "a number from 0 to 512"))?,
    };
    let utilization = match cells.get("utilization") {
        "" => None,
        cell => Some(
            number(cell.trim_end_matches('%').trim(), 100.0)
                .ok_or(Wrong("utilization", "percent: 0 to 100, empty where it was not measured"))?,
        ),
    };
    let measured = |column: &'static str, most: f64, expected: &'static str| match cells.get(column) {
        "" => Ok(None),
        cell => number(cell, most).map(Some).ok_or(Wrong(column, expected)),
    };
    let memory = measured("memory", 1e7, "MiB in use of each accelerator")?;
    let power = measured("power", 1e5, "watts of each accelerator")?;
    let text = |column: &str| cells.get(column).to_owned();
    let holder = Holder {
        namespace: text("namespace"),
        name: text("holder"),
        user: text("user"),
        account: text("account"),
        ..Holder::default()
    };
    // What names several is none of them.
    let id = if accelerators > 1.0 { String::new() } else { text("accelerator") };
    let device = Device {
        node: node.to_owned(),
        // Slices of one accelerator are told apart by who holds them.
        slice: if id.is_empty() || cells.get("profile").is_empty() {
            String::new()
        } else {
            holder.name.clone()
        },
        profile: text("profile"),
        model: text("model"),
        id,
        ..Device::default()
    };
    let mut metered = Metered {
        device,
        holder: Some(holder).filter(|it| !it.name.is_empty()),
        metric: "csv",
        most: accelerators.ceil().max(1.0) as u16,
        ..Metered::default()
    };
    let activity = utilization.map(|percent| (Activity::Utilization, ten_thousandths(percent / 100.0)));
    metered.several(from, to, accelerators, activity);
    if let Some(mebibytes) = memory {
        metered.memory(from, to, whole(mebibytes));
    }
    if let Some(watts) = power {
        let microjoules = i128::from(whole(watts * accelerators * 1000.0)) * i128::from(to - from);
        metered.energy(from, to, i64::try_from(microjoules / 1_000_000).unwrap_or(i64::MAX));
    }
    Ok(Item::Metered(Box::new(metered)))
}

const A_TIME: &str = "a time such as 2026-10-31 23:00:00 or 2026-10-31T23:00:00Z";

fn number(cell: &str, most: f64) -> Option<f64> {
    cell.parse::<f64>().ok().filter(|it| (0.0..=most).contains(it))
}

/// In milliseconds since 1970.
fn time(cell: &str, zone: Tz) -> Option<i64> {
    if let Ok(at) = DateTime::parse_from_rfc3339(cell)
        .or_else(|_| DateTime::parse_from_str(cell, "%Y-%m-%d %H:%M:%S%.f%z"))
    {
        return Some(at.timestamp_millis());
    }
    if let Ok(seconds) = cell.parse::<f64>() {
        // From 2001 to 2286, in seconds or milliseconds.
        let milliseconds = if seconds < 1e10 { seconds * 1000.0 } else { seconds };
        return (1e12..1e13).contains(&milliseconds).then(|| whole(milliseconds));
    }
    let local = ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(cell, format).ok())?;
    Some(local_time::instant(local, zone)?.timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::hours::HOURS;

    fn read_all(text: &str) -> Vec<Item> {
        let mut items = Vec::new();
        read(text.as_bytes(), "Europe/Berlin".parse().unwrap(), &[], &mut |item| items.push(item)).unwrap();
        items
    }

    /// Held, measured and busy of the hours of the first day that have any.
    fn hours(item: &Item) -> Vec<(usize, i32, i32, i32)> {
        let Item::Metered(metered) = item else { panic!("{item:?}") };
        let day = metered.days.values().next().unwrap();
        let of = |hour: usize| (hour, day.present[hour], day.busy(hour).0, day.busy(hour).1);
        (0..HOURS).map(of).filter(|(_, held, ..)| *held > 0).collect()
    }

    #[test]
    fn what_others_call_their_columns_is_known() {
        for (header, expected) in [
            ("node,from,to,accelerators,holder", true),
            ("node,interval_start,interval_end,pod", false),
            ("Node Name,Start Time,End Time,GPU Count,Project,Workload,GPU utilization", true),
            ("instance_id,start,duration,gpu_index,util", true),
            ("node,from,to", false),
            ("node,from,to,gpus,cost", false),
            ("node,timestamp,gpu", false),
            ("", false),
        ] {
            assert_eq!(is_usage(header, &[]), expected, "{header}");
        }
    }

    #[test]
    fn what_somebody_said_of_columns_wins() {
        let said = ColumnNames(
            [("node", "Box"), ("from", "a"), ("seconds", "secs"), ("holder", "who")]
                .map(|(what, name)| (what.to_owned(), name.to_owned()))
                .into(),
        );
        let text = "Box,a,secs,who,node\nn1,2026-10-30T09:00:00Z,3600,train,not this\n";
        assert!(!is_usage(text, &[]) && is_usage(text, std::slice::from_ref(&said)));
        let mut items = Vec::new();
        read(text.as_bytes(), Tz::UTC, &[said], &mut |item| items.push(item)).unwrap();
        assert_eq!(items.last(), Some(&Item::UnreadColumn("node".to_owned())));
        let Some(Item::Metered(metered)) = items.get(1) else { panic!("{items:?}") };
        assert_eq!(
            (metered.device.node.as_str(), metered.holder.as_ref().unwrap().name.as_str()),
            ("n1", "train")
        );
    }

    #[test]
    fn rows_say_who_held_what_from_when_to_when() {
        let items = read_all(
            "node,from,to,GPUs,holder,project,user,utilization,memory,power\n\
             gpu-1,2026-10-30T09:30:00Z,2026-10-30T11:00:00Z,2,train-7,vision,ana,25 %,40000,500\n\
             gpu-1,2026-10-30 09:00,2026-10-30 09:30,0.5,train-8,vision,,,,\n\
             gpu-1,1793358000,1793361600,,,,,,,\n",
        );
        let metered: Vec<&Item> = items.iter().filter(|it| matches!(it, Item::Metered(_))).collect();
        let (half, hour) = (1_800_000, 3_600_000);
        assert_eq!(hours(metered[0]), [(9, hour, hour, hour / 4), (10, 2 * hour, 2 * hour, hour / 2)]);
        // Berlin is an hour ahead of UTC; what was not measured is not 0.
        assert_eq!(hours(metered[1]), [(8, half / 2, 0, 0)]);
        assert_eq!(hours(metered[2]), [(11, hour, 0, 0)]);
        let Item::Metered(first) = metered[0] else { panic!() };
        let day = first.days.values().next().unwrap();
        assert_eq!(day.energy, 2 * 500 * 5400);
        assert_eq!(day.memory, (40_000 * 5400, 5400));
        let holder = first.holder.as_ref().unwrap();
        assert_eq!([&holder.name, &holder.namespace, &holder.user], ["train-7", "vision", "ana"]);
        let Item::Metered(third) = metered[2] else { panic!() };
        assert_eq!(third.holder, None);
    }

    #[test]
    fn a_row_of_a_month_has_all_of_its_energy() {
        let items =
            read_all("node,from,to,accelerators,power\nn,2026-10-01T00:00:00Z,2026-10-31T00:00:00Z,2,500\n");
        let Some(Item::Metered(metered)) = items.last() else { panic!("{items:?}") };
        // 30 days of a kilowatt.
        assert_eq!(metered.days.values().map(|day| day.energy).sum::<i64>(), 30 * 24 * 3_600_000);
    }

    #[test]
    fn what_cannot_be_is_rejected_with_its_column() {
        for (row, column) in [
            (",2026-10-30T09:30:00Z,2026-10-30T11:00:00Z,1,j,", "node"),
            ("n,yesterday,2026-10-30T11:00:00Z,1,j,", "from"),
            ("n,2026-10-30T09:30:00Z,,1,j,", "to"),
            ("n,2026-10-30T09:30:00Z,2026-10-30T09:30:00Z,1,j,", "to"),
            ("n,2020-10-30T09:30:00Z,2026-10-30T09:30:00Z,1,j,", "to"),
            ("n,2026-10-30T09:30:00Z,2026-10-30T11:00:00Z,-1,j,", "accelerators"),
            ("n,2026-10-30T09:30:00Z,2026-10-30T11:00:00Z,1,j,101", "utilization"),
            ("n,2026-10-30T09:30:00Z,2026-10-30T11:00:00Z,1,j,NaN", "utilization"),
        ] {
            let items = read_all(&format!("node,from,to,accelerators,holder,utilization\n{row}\n"));
            let [Item::Rejected(rejection)] = &items[..] else { panic!("{row}: {items:?}") };
            assert_eq!((rejection.row, rejection.column.as_str()), (1, column), "{row}");
        }
    }

    #[test]
    fn a_quote_that_stays_open_is_refused_before_it_fills_the_memory() {
        let rest = "x,1\n".repeat(5 << 20);
        let text = format!("node,from,to,GPUs,job\n\"n1{rest}");
        let refused = read(text.as_bytes(), Tz::UTC, &[], &mut |_| ()).unwrap_err();
        assert!(refused.message().contains("a quote may be open"), "{}", refused.message());
    }
}
