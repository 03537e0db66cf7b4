//! Rows of `sacct`: `--parsable2`, `--parsable`, and without a header in the column orders of known tools.
//!
//! Nothing is escaped there: a bar in the name of a job makes a row that has more cells than the header, and those beyond belong
//! to the name.

use std::collections::BTreeMap;
use std::io::Read;

use chrono::{DateTime, NaiveDateTime};

use super::entry::{self, Entry, Time, Wrong};
use super::tres::{self, Gpus};
use crate::billing::Refusal;
use crate::telemetry::job::{FULLY_USED, Job, JobState};
use crate::telemetry::lines::Lines;
use crate::telemetry::reading::{Item, Skip, Zones, shown};

const EXPECTED: &str = "sacct --allusers --parsable2 with JobID, JobIDRaw, Submit, Start, End, ElapsedRaw, AllocTRES and NodeList among \
     its columns, or sacct --json";

/// Column orders that tools ask for with `--noheader`, by their names.
const KNOWN_ORDERS: [&str; 4] = [
    "jobid|jobidraw|jobname|user|account|partition|qos|state|exitcode|submit|eligible|start|end|elapsedraw|elapsed|nnodes|ncpus|reqtres|alloctres|nodelist|cluster",
    "jobid|jobidraw|cluster|partition|qos|account|group|gid|user|uid|submit|eligible|start|end|elapsed|exitcode|state|nnodes|ncpus|reqcpus|reqmem|reqtres|alloctres|timelimit|nodelist|jobname",
    "jobid|jobidraw|cluster|partition|account|group|gid|user|uid|submit|eligible|start|end|elapsed|exitcode|state|nnodes|ncpus|reqcpus|reqmem|allocgres|reqtres|alloctres|timelimit|nodelist|jobname",
    "jobid|partition|qos|account|group|gid|user|uid|submit|start|end|elapsed|elapsedraw|exitcode|state|alloctres|nodelist|jobname|workdir",
];

/// Columns by name, in small letters, and where they stand.
#[derive(Clone, Debug)]
struct Columns {
    names: Vec<String>,
    at: BTreeMap<String, usize>,
}

impl Columns {
    fn of(header: &str) -> Self {
        let names: Vec<String> = header.split('|').map(|name| name.trim().to_lowercase()).collect();
        let at = names.iter().enumerate().rev().map(|(place, name)| (name.clone(), place)).collect();
        Self { names, at }
    }

    fn has(&self, name: &str) -> bool {
        self.at.contains_key(name)
    }

    fn is_sacct(&self) -> bool {
        self.has("jobid")
            && ["alloctres", "allocgres", "elapsedraw", "elapsed", "state"].iter().any(|it| self.has(it))
    }

    /// Whether the cells of a row without a header can be these columns.
    fn fits(&self, cells: &[&str]) -> bool {
        let is = |name: &str, holds: fn(&str) -> bool| {
            self.at.get(name).is_none_or(|place| cells.get(*place).is_some_and(|cell| holds(cell)))
        };
        cells.len() == self.names.len()
            && is("submit", |it| time(it).is_ok())
            && is("start", |it| time(it).is_ok())
            && is("end", |it| time(it).is_ok())
            && is("elapsedraw", |it| it.parse::<u64>().is_ok())
            && is("elapsed", |it| duration(it).is_some())
            && is("state", |it| entry::state(it) != JobState::Unknown)
            && is("alloctres", |it| it.is_empty() || it.contains('='))
            && is("nnodes", |it| it.parse::<u64>().is_ok())
    }
}

/// Whether a text begins as an export of sacct does.
pub fn is_sacct(start: &str) -> bool {
    let first = start.lines().next().unwrap_or_default().trim_start_matches('\u{feff}');
    let columns = Columns::of(first);
    (first.contains('|') && columns.is_sacct()) || order_of(first).is_some()
}

fn order_of(line: &str) -> Option<Columns> {
    let cells: Vec<&str> = line.split('|').collect();
    KNOWN_ORDERS.iter().map(|order| Columns::of(order)).find(|columns| columns.fits(&cells))
}

/// Reads an export to its end.
///
/// # Errors
/// A [`Refusal`] where it is none, or cannot be read.
pub fn read(input: impl Read, zones: &Zones, each: &mut dyn FnMut(Item)) -> Result<(), Refusal> {
    let mut lines = Lines::new(input, EXPECTED);
    let Some(first) = lines.next()? else {
        return Err(Refusal::new("an empty file", EXPECTED));
    };
    let named = Columns::of(&first);
    let (columns, header, first_row) = if named.is_sacct() {
        (named, Some(first), None)
    } else if let Some(columns) = order_of(&first) {
        (columns, None, Some(first))
    } else {
        return Err(Refusal::new(
            format!("columns without a header that are not known: {}", shown(&first)),
            EXPECTED,
        ));
    };
    for required in [&["alloctres", "allocgres"][..], &["elapsedraw", "elapsed", "end"]] {
        if !required.iter().any(|name| columns.has(name)) {
            return Err(Refusal::new(format!("no column {}", required.join(" or ")), EXPECTED));
        }
    }
    let mut reader = Rows { columns, header, zones, pending: None, row: 0, each };
    if let Some(row) = first_row {
        reader.take(&row);
    }
    while let Some(line) = lines.next()? {
        reader.take(&line);
    }
    reader.finish();
    Ok(())
}

/// A job whose steps may follow.
struct Pending {
    job: Box<Job>,
    raw_id: String,
    /// Of its steps: percent times accelerator-seconds, and these.
    busy: u128,
    measured: u128,
}

struct Rows<'a> {
    columns: Columns,
    /// As it stands in the file, where it has one.
    header: Option<String>,
    zones: &'a Zones,
    pending: Option<Pending>,
    row: u64,
    each: &'a mut dyn FnMut(Item),
}

impl Rows<'_> {
    fn take(&mut self, line: &str) {
        self.row += 1;
        if self.header.as_deref() == Some(line) {
            (self.each)(Item::Skipped(Skip::HeaderRepeated));
            return;
        }
        let cells = match self.cells(line) {
            Ok(cells) => cells,
            Err(wrong) => return self.reject(&wrong),
        };
        let row = Row { columns: &self.columns, cells: &cells };
        let id = row.cell("jobid");
        if id.contains('.') {
            let (usage, raw_id) = (row.usage(), row.raw_id().to_owned());
            return self.step(usage, &raw_id);
        }
        let zone = self.zones.of(row.cell("cluster"));
        let raw_id = row.raw_id().to_owned();
        let made = row.entry().and_then(|entry| entry::job(entry, zone));
        self.finish();
        match made {
            Ok(Ok(job)) => {
                self.pending = Some(Pending { job: Box::new(job), raw_id, busy: 0, measured: 0 });
            }
            Ok(Err(skip)) => (self.each)(Item::Skipped(skip)),
            Err(wrong) => self.reject(&wrong),
        }
    }

    fn reject(&mut self, wrong: &Wrong) {
        (self.each)(Item::rejected(self.row, wrong.column, &wrong.found, &wrong.expected));
    }

    /// As many as the header has: those that a bar in the name of a job made are the name's again.
    fn cells(&self, line: &str) -> Result<Vec<String>, Wrong> {
        let cells: Vec<&str> = line.split('|').collect();
        let expected = self.columns.names.len();
        if cells.len() == expected {
            return Ok(cells.into_iter().map(str::to_owned).collect());
        }
        let named = self.columns.at.get("jobname").filter(|_| cells.len() > expected);
        let Some(place) = named.copied() else {
            let found = format!("{} cells: {}", cells.len(), shown(line));
            return Err(Wrong::new("", found, format!("{expected} cells, as the header has")));
        };
        let beyond = cells.len() - expected;
        let mut merged: Vec<String> = cells[..place].iter().map(|cell| (*cell).to_owned()).collect();
        merged.push(cells[place..=place + beyond].join("|"));
        merged.extend(cells[place + beyond + 1..].iter().map(|cell| (*cell).to_owned()));
        let found: Vec<&str> = merged.iter().map(String::as_str).collect();
        if self.columns.fits(&found) {
            return Ok(merged);
        }
        let expected = format!("{expected} cells; a bar in a name is read where JobName is the last column");
        Err(Wrong::new("", format!("{} cells: {}", cells.len(), shown(line)), expected))
    }

    /// A step says how busy the accelerators of its job were, where it was measured.
    fn step(&mut self, usage: Option<(u64, u64)>, raw_id: &str) {
        (self.each)(Item::Skipped(Skip::Step));
        let of_job = raw_id.split('.').next().unwrap_or_default();
        if let (Some(pending), Some((percent, weight))) = (self.pending.as_mut(), usage)
            && pending.raw_id == of_job
        {
            pending.busy += u128::from(percent) * u128::from(weight);
            pending.measured += u128::from(weight);
        }
    }

    /// Hands out the job whose steps were read.
    fn finish(&mut self) {
        let Some(Pending { mut job, busy, measured, .. }) = self.pending.take() else { return };
        let hundredths = (busy * 100).checked_div(measured).and_then(|it| u32::try_from(it).ok());
        if let Some(utilization) = hundredths {
            // What no step measured of its time is not known.
            let whole = u128::from(job.accelerators()) * u128::from(job.held_seconds) / 1000;
            let part = (measured * u128::from(FULLY_USED)).checked_div(whole).unwrap_or(0);
            let part = u32::try_from(part).unwrap_or(FULLY_USED).min(FULLY_USED);
            for holding in job.holdings.iter_mut().filter(|it| it.utilization.is_none()) {
                (holding.utilization, holding.measured) = (Some(utilization), part);
            }
        }
        (self.each)(Item::Job(job));
    }
}

struct Row<'a> {
    columns: &'a Columns,
    cells: &'a [String],
}

impl Row<'_> {
    fn has(&self, name: &str) -> bool {
        self.columns.has(name)
    }

    /// Empty where there is no such column.
    fn cell(&self, name: &str) -> &str {
        self.columns.at.get(name).and_then(|place| self.cells.get(*place)).map_or("", |cell| cell.trim())
    }

    fn text(&self, name: &str) -> String {
        self.cell(name).to_owned()
    }

    fn raw_id(&self) -> &str {
        self.cell(if self.has("jobidraw") { "jobidraw" } else { "jobid" })
    }

    fn entry(&self) -> Result<Entry, Wrong> {
        let job = Job {
            cluster: self.text("cluster"),
            id: self.text("jobid"),
            name: self.text("jobname"),
            user: self.text("user"),
            account: self.text("account"),
            project: self.text("wckey"),
            queue: self.text("partition"),
            qos: self.text("qos"),
            comment: self.text("comment"),
            state: entry::state(self.cell("state")),
            ..Job::default()
        };
        if job.id.is_empty() {
            return Err(Wrong::new("JobID", "nothing", "the number of a job"));
        }
        Ok(Entry {
            job,
            raw_id: self.raw_id().to_owned(),
            submitted: self.time("Submit")?,
            started: self.time("Start")?,
            ended: self.time("End")?,
            elapsed: self.elapsed()?,
            states_times: self.has("start"),
            gpus: self.gpus()?,
            nodes: self.text("nodelist"),
            admin_comment: self.text("admincomment"),
        })
    }

    fn time(&self, column: &'static str) -> Result<Option<Time>, Wrong> {
        time(self.cell(&column.to_lowercase())).map_err(|found| {
            Wrong::new(column, found, "a time such as 2026-11-21T03:12:50, with or without an offset")
        })
    }

    fn elapsed(&self) -> Result<Option<u64>, Wrong> {
        let raw = self.cell("elapsedraw");
        if !raw.is_empty() {
            let seconds = raw.parse().map_err(|_| Wrong::new("ElapsedRaw", raw, "a number of seconds"))?;
            return Ok(Some(seconds));
        }
        let elapsed = self.cell("elapsed");
        if elapsed.is_empty() {
            return Ok(None);
        }
        let seconds = duration(elapsed);
        seconds
            .map(Some)
            .ok_or_else(|| Wrong::new("Elapsed", elapsed, "a duration: [days-]hours:minutes:seconds"))
    }

    fn gpus(&self) -> Result<Option<Gpus>, Wrong> {
        let allocated = tres::gpus(self.cell("alloctres"))
            .map_err(|found| Wrong::new("AllocTRES", found, "a number of GPUs: gres/gpu=8"))?;
        let stated = tres::gpus_per_node(self.cell("allocgres"))
            .map_err(|found| Wrong::new("AllocGRES", found, "a number of GPUs per node: gpu:8"))?;
        Ok(match (allocated, stated) {
            (Some(all), each) => {
                let model = if all.model.is_empty() { each.map(|it| it.model) } else { None };
                Some(Gpus { model: model.unwrap_or(all.model), ..all })
            }
            // Resources that were allocated without accelerators: what is per node was asked for only.
            (None, Some(_)) if !self.cell("alloctres").is_empty() => None,
            (None, Some(each)) => {
                let nodes: u64 = self.cell("nnodes").parse().unwrap_or(1);
                let count = each.count.saturating_mul(nodes).min(tres::MOST);
                let thousandths = each.thousandths.saturating_mul(nodes).min(tres::MOST * 1000);
                Some(Gpus { count, thousandths, ..each })
            }
            (None, None) => None,
        })
    }

    /// Of a step: percent, and the accelerator-seconds that they are of.
    fn usage(&self) -> Option<(u64, u64)> {
        let percent = tres::utilization(self.cell("tresusageinave"))?;
        let gpus = tres::gpus(self.cell("alloctres")).ok()??.count;
        let seconds = self.elapsed().ok()??;
        // Of a task that has several, what they are together: no accelerator is busier than all of the time.
        let percent = if percent > 100 { percent.checked_div(gpus)? } else { percent };
        Some((percent.min(100), gpus.checked_mul(seconds)?))
    }
}

/// `None` of a job to which it has not happened.
fn time(text: &str) -> Result<Option<Time>, String> {
    if matches!(text, "" | "None" | "Unknown" | "N/A") {
        return Ok(None);
    }
    let found = || shown(text);
    if text.bytes().all(|it| it.is_ascii_digit()) {
        let seconds: i64 = text.parse().map_err(|_| found())?;
        return DateTime::from_timestamp(seconds, 0).map(|at| Some(Time::At(at))).ok_or_else(found);
    }
    if let Ok(local) = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S") {
        return Ok(Some(Time::Local(local)));
    }
    let with_offset = DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%z");
    with_offset.map(|at| Some(Time::At(at.to_utc()))).map_err(|_| found())
}

/// `[days-]hours:minutes:seconds`, of which the first may be missing.
fn duration(text: &str) -> Option<u64> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (days.parse::<u64>().ok()?, rest),
        None => (0, text),
    };
    let rest = rest.split('.').next()?;
    let mut seconds = 0_u64;
    let parts: Vec<&str> = rest.split(':').collect();
    if !(2..=3).contains(&parts.len()) {
        return None;
    }
    for part in parts {
        seconds = seconds.checked_mul(60)?.checked_add(part.parse().ok()?)?;
    }
    days.checked_mul(86_400)?.checked_add(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_step_measured_of_a_job_is_not_known() {
        let text = "JobID|JobIDRaw|State|Submit|Start|End|ElapsedRaw|AllocTRES|TRESUsageInAve|NodeList\n\
            7|7|COMPLETED|2026-10-05T09:00:00|2026-10-05T10:00:00|2026-10-05T20:00:00|36000|gres/gpu=2||n1\n\
            7.batch|7.batch|COMPLETED|2026-10-05T09:00:00|2026-10-05T10:00:00|2026-10-05T20:00:00|36000|gres/gpu=2|gres/gpuutil=0|n1\n\
            7.0|7.0|COMPLETED|2026-10-05T09:00:00|2026-10-05T10:00:00|2026-10-05T11:00:00|3600|gres/gpu=2|gres/gpuutil=90|n1\n\
            8|8|COMPLETED|2026-10-05T09:00:00|2026-10-05T10:00:00|2026-10-05T20:00:00|36000|gres/gpu=2||n1\n\
            9|9|COMPLETED|2026-10-05T09:00:00|2026-10-05T10:00:00|2026-10-05T20:00:00|4294967294|gres/gpu=2||n1\n";
        let zones = Zones::all(chrono_tz::Tz::UTC);
        let mut items = Vec::new();
        read(text.as_bytes(), &zones, &mut |item| items.push(item)).unwrap();
        let measured: Vec<_> = items
            .iter()
            .filter_map(|item| match item {
                Item::Job(job) => {
                    Some((job.id.as_str(), job.holdings[0].utilization, job.holdings[0].measured))
                }
                _ => None,
            })
            .collect();
        // One of ten hours, of which nine tenths: 0 may mean that it is not known.
        assert_eq!(measured, [("7", Some(9000), 1000), ("8", None, FULLY_USED)]);
        let Some(Item::Rejected(rejection)) = items.last() else { panic!("{items:?}") };
        assert_eq!((rejection.row, rejection.column.as_str()), (5, "ElapsedRaw"));
    }
}
