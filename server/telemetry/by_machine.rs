//! Who held the machines of the ledger in a period, hour by hour. Pure.

use std::collections::BTreeMap;
use std::ops::Range;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};

use super::gpu_use::GpuUse;
use super::read::{HeldDay, Node};
use super::resolve::{NOBODY, STRANDED};
use super::share::{Held, HourSums, Paid};

/// Who held accelerators, and what became of them. The number of the job is [`NOBODY`] where a meter saw nobody hold them, and
/// [`STRANDED`] where no slice has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holder {
    pub job_no: i64,
    pub gpu_use: GpuUse,
    /// Where days are held apart.
    pub day: Option<NaiveDate>,
}

impl Holder {
    pub fn is_job(&self) -> bool {
        self.job_no > NOBODY
    }
}

/// Who held a machine.
#[derive(Clone, Debug, Default)]
pub struct MachineUsage {
    pub holders: Vec<Holder>,
    /// What each of them held.
    pub held: Vec<Held>,
    /// Hours of which some source says everything, in their order.
    known: Vec<Range<i64>>,
}

impl MachineUsage {
    #[cfg(test)]
    pub(super) fn new(holders: Vec<Holder>, held: Vec<Held>, known: Vec<Range<i64>>) -> Self {
        Self { holders, held, known: merged(known) }
    }

    /// What each held, where this is what was paid for the machine: what a meter saw that no job held is no more than no job held of that.
    pub fn held_of(&self, paid: &[Paid]) -> Vec<Held> {
        let paid = HourSums::paid(paid);
        if paid.is_empty() || self.holders.iter().all(Holder::is_job) {
            return self.held.clone();
        }
        let mut left = paid;
        for (_, held) in self.holders.iter().zip(&self.held).filter(|(holder, _)| holder.is_job()) {
            for (hour, ms) in held.iter() {
                *left.of(hour) -= ms;
            }
        }
        // Holders are in order: what is stranded comes before what nobody held.
        let limited = |(holder, held): (&Holder, &Held)| -> Held {
            if holder.is_job() {
                return held.clone();
            }
            let mut limit = |(hour, ms): (usize, i64)| {
                let left = left.of(hour);
                let part = ms.min(*left).max(0);
                *left -= part;
                (hour, part)
            };
            held.iter().map(&mut limit).filter(|(_, ms)| *ms > 0).collect()
        };
        self.holders.iter().zip(&self.held).map(limited).collect()
    }

    /// Whether it is known who held the machine in an hour of the period: some source says everything of all of it.
    pub fn is_known(&self, hour: usize) -> bool {
        let Ok(hour) = i64::try_from(hour) else { return false };
        let place = self.known.partition_point(|it| it.end <= hour);
        self.known.get(place).is_some_and(|it| it.start <= hour)
    }
}

/// By machine what was held of it. Nodes that are one machine under two names are one. `coverage`: by source, of which times it says
/// everything; `by_day`: days are held apart.
pub fn by_machine<'n>(
    days: &[HeldDay],
    nodes: impl IntoIterator<Item = &'n Node>,
    coverage: &BTreeMap<i64, Vec<Range<DateTime<Utc>>>>,
    begins: NaiveDate,
    by_day: bool,
) -> BTreeMap<String, MachineUsage> {
    let start = begins.and_time(NaiveTime::MIN).and_utc();
    let seconds = |at: DateTime<Utc>| (at - start).num_seconds();
    let whole_hours = |it: &Range<DateTime<Utc>>| {
        (seconds(it.start) + 3599).div_euclid(3600)..seconds(it.end).div_euclid(3600)
    };
    let mut machines: BTreeMap<String, MachineUsage> = BTreeMap::new();
    let mut resources: BTreeMap<i64, &str> = BTreeMap::new();
    for node in nodes {
        let Some(resource) = &node.resource else { continue };
        resources.insert(node.node_id, resource);
        let spans = coverage.get(&node.source_id).map_or(&[][..], Vec::as_slice);
        machines.entry(resource.clone()).or_default().known.extend(spans.iter().map(whole_hours));
    }
    for machine in machines.values_mut() {
        machine.known = merged(std::mem::take(&mut machine.known));
    }
    let mut held: BTreeMap<&str, BTreeMap<Holder, Held>> = BTreeMap::new();
    for day in days {
        let Some(resource) = resources.get(&day.node_id) else { continue };
        let Ok(first) = usize::try_from((day.day - begins).num_hours()) else { continue };
        let of_machine = held.entry(resource).or_default();
        for (gpu_use, by_hour) in uses(day) {
            if by_hour.iter().all(|ms| *ms <= 0) {
                continue;
            }
            let holder = Holder { job_no: day.job_no, gpu_use, day: by_day.then_some(day.day) };
            let held = of_machine.entry(holder).or_default();
            for (hour, ms) in by_hour.into_iter().enumerate().filter(|(_, ms)| *ms > 0) {
                held.add(first + hour, ms.into());
            }
        }
    }
    for (resource, holders) in held {
        let machine = machines.entry(resource.to_owned()).or_default();
        (machine.holders, machine.held) = holders.into_iter().unzip();
    }
    machines
}

/// Spans in their order, none of which touches another.
fn merged(mut spans: Vec<Range<i64>>) -> Vec<Range<i64>> {
    spans.retain(|it| it.start < it.end);
    spans.sort_unstable_by_key(|it| it.start);
    spans.dedup_by(|next, known| {
        let touches = next.start <= known.end;
        if touches {
            known.end = known.end.max(next.end);
        }
        touches
    });
    spans
}

/// What became of what was held, hour by hour.
fn uses(day: &HeldDay) -> Vec<(GpuUse, Vec<i32>)> {
    match day.job_no {
        NOBODY => return vec![(GpuUse::Unheld, day.held.clone())],
        STRANDED => return vec![(GpuUse::Stranded, day.held.clone())],
        _ => {}
    }
    let less =
        |whole: &[i32], part: &[i32]| whole.iter().zip(part).map(|(whole, part)| whole - part).collect();
    vec![
        (GpuUse::Used, day.busy.clone()),
        (GpuUse::Idle, less(&day.measured, &day.busy)),
        (GpuUse::Unmeasured, less(&day.held, &day.measured)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_touch_are_one_and_hours_between_are_not_known() {
        let machine = MachineUsage::new(Vec::new(), Vec::new(), vec![20..24, 0..4, 4..6, 2..3, 9..9]);
        assert_eq!(machine.known, [0..6, 20..24]);
        let known: Vec<usize> = (0..30).filter(|hour| machine.is_known(*hour)).collect();
        assert_eq!(known, [0, 1, 2, 3, 4, 5, 20, 21, 22, 23]);
    }
}
