//! What meters say of an accelerator: that it was there, how busy it was, and who held it, hour by hour. Pure.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, NaiveTime};

use super::hours::{ByHour, HOURS, MOST_OF_A_NODE};
use super::job::FULLY_USED;

/// A sample says nothing of the time that is longer past than this: so long does Prometheus look back, too.
pub const LONGEST_GAP_MS: i64 = 300_000;
pub const HOUR_MS: i32 = 3_600_000;
/// What a single sample stands for, of which nobody knows when the next one would have come.
pub const ALONE_MS: i64 = 60_000;

/// An accelerator, or a slice of one, as a meter names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Device {
    /// Empty where the meter does not say.
    pub cluster: String,
    /// The name of its machine; of an accelerator whose machine is not named its own.
    pub node: String,
    /// What tells it from the others of its machine: UUID, else index.
    pub id: String,
    /// MIG profile of a slice: `3g.40gb`.
    pub profile: String,
    /// Of the slice.
    pub slice: String,
    pub model: String,
}

/// Who held it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holder {
    pub namespace: String,
    /// The pod, or the number of a job of Slurm.
    pub name: String,
    pub container: String,
    /// Empty where the meter does not say.
    pub user: String,
    /// The same, as a scheduler's account.
    pub account: String,
    /// It is the number of a job of Slurm: who that was is known elsewhere.
    pub is_slurm_job: bool,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// DCGM's GPU_UTIL, and utilization.gpu of nvidia-smi: whether any kernel ran.
    Utilization,
    /// GR_ENGINE_ACTIVE: how much of the engine worked. The only one that slices have.
    Engine,
    Tensor,
}

/// A device on a day, in milliseconds by the hour. A slice counts as one of itself: what it is of the whole is for whoever adds up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeteredDay {
    /// It was seen.
    pub present: ByHour,
    /// By [`Activity`]: of how much it was measured, and how much of that it was active.
    pub activity: [(ByHour, ByHour); 3],
    /// MiB times seconds, and the seconds that they are of.
    pub memory: (i64, i64),
    /// Joules.
    pub energy: i64,
}

impl Default for MeteredDay {
    fn default() -> Self {
        Self { present: [0; HOURS], activity: [([0; HOURS], [0; HOURS]); 3], memory: (0, 0), energy: 0 }
    }
}

/// What a meter says of a device while somebody held it, or nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metered {
    pub device: Device,
    pub holder: Option<Holder>,
    /// Which metric it is, of a meter that has several and says each apart. Empty: all that it measures.
    pub metric: &'static str,
    /// As how many accelerators it counts at most. 0: one.
    pub most: u16,
    /// From when until when it was seen, in milliseconds since 1970.
    pub seen: Option<(i64, i64)>,
    /// Boxed: a tree has room for eleven where there is one.
    pub days: BTreeMap<NaiveDate, Box<MeteredDay>>,
}

/// From the first of two times to the last.
fn together(one: Option<(i64, i64)>, other: Option<(i64, i64)>) -> Option<(i64, i64)> {
    match (one, other) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (one, other) => one.or(other),
    }
}

impl Metered {
    /// Its rows are of some accelerators of a machine, and do not say of which.
    fn is_of_machine(&self) -> bool {
        self.device.id.is_empty() && !self.metric.is_empty()
    }

    /// It was there from a time until another; `activity`: and so busy, in hundredths of a percent, where that was measured.
    pub fn span(&mut self, from: i64, until: i64, activity: Option<(Activity, u32)>) {
        self.several(from, until, 1.0, activity);
    }

    /// As [`Self::span`], of so many accelerators at once.
    #[expect(clippy::cast_possible_truncation, reason = "a node has at most 512 accelerators")]
    pub fn several(&mut self, from: i64, until: i64, accelerators: f64, activity: Option<(Activity, u32)>) {
        if until > from && accelerators > 0.0 {
            self.seen = together(self.seen, Some((from, until)));
        }
        for (day, hour, milliseconds) in hours_between(from, until) {
            let held = (f64::from(milliseconds) * accelerators.clamp(0.0, 512.0)).round() as i32;
            let of_day = self.days.entry(day).or_default();
            of_day.present[hour] += held;
            if let Some((kind, part)) = activity {
                let (measured, active) = &mut of_day.activity[kind as usize];
                measured[hour] += held;
                let busy = i64::from(held) * i64::from(part.min(FULLY_USED)) / i64::from(FULLY_USED);
                active[hour] += i32::try_from(busy).unwrap_or(held);
            }
        }
    }

    pub fn memory(&mut self, from: i64, until: i64, mebibytes: i64) {
        for (day, _, milliseconds) in hours_between(from, until) {
            let (sum, seconds) = &mut self.days.entry(day).or_default().memory;
            *sum += mebibytes.saturating_mul(i64::from(milliseconds)) / 1000;
            *seconds += i64::from(milliseconds) / 1000;
        }
    }

    /// Energy between two times, spread evenly.
    pub fn energy(&mut self, from: i64, until: i64, joules: i64) {
        let whole = i128::from((until - from).max(1));
        for (day, _, milliseconds) in hours_between(from, until) {
            let part = i128::from(joules) * i128::from(milliseconds) / whole;
            self.days.entry(day).or_default().energy += i64::try_from(part).unwrap_or(i64::MAX);
        }
    }

    /// With what another series of the same metric says of the same device and holder, as of an exporter that was started again: what
    /// they say of an hour adds up to no more than it. Where it would, both measured the same.
    pub fn join(&mut self, other: Self) {
        self.most = self.most.max(other.most);
        self.seen = together(self.seen, other.seen);
        // Rows of a machine without its accelerators are of as many as they say together.
        let accelerators = if self.is_of_machine() { MOST_OF_A_NODE as i64 } else { self.most.max(1).into() };
        let whole = i64::from(HOUR_MS) * accelerators;
        for (day, of_other) in other.days {
            let of_day = self.days.entry(day).or_default();
            let add = |mine: &mut i32, others: i32| {
                *mine = i32::try_from((i64::from(*mine) + i64::from(others)).min(whole)).unwrap_or(i32::MAX);
            };
            let most = whole + LONGEST_GAP_MS;
            let are_the_same = of_day
                .present
                .iter()
                .zip(&of_other.present)
                .any(|(a, b)| i64::from(*a) + i64::from(*b) > most);
            for (mine, others) in of_day.present.iter_mut().zip(&of_other.present) {
                add(mine, *others);
            }
            for (mine, others) in of_day.activity.iter_mut().zip(&of_other.activity) {
                for hour in 0..HOURS {
                    let sum = |a: i32, b: i32| i64::from(a) + i64::from(b);
                    let (measured, active) =
                        (sum(mine.0[hour], others.0[hour]), sum(mine.1[hour], others.1[hour]));
                    add(&mut mine.0[hour], others.0[hour]);
                    let active = active * i64::from(mine.0[hour]) / measured.max(1);
                    mine.1[hour] = i32::try_from(active).unwrap_or(mine.0[hour]);
                }
            }
            if !are_the_same {
                of_day.memory = (of_day.memory.0 + of_other.memory.0, of_day.memory.1 + of_other.memory.1);
                of_day.energy += of_other.energy;
            } else if of_other.memory.1 > of_day.memory.1 {
                of_day.memory = of_other.memory;
            }
            of_day.energy = of_day.energy.max(of_other.energy);
        }
    }

    /// With what another metric says of the same device and holder: it was there as long as the one that saw it longest says.
    pub fn merge(&mut self, other: Self) {
        self.seen = together(self.seen, other.seen);
        for (day, of_other) in other.days {
            let of_day = self.days.entry(day).or_default();
            for hour in 0..HOURS {
                of_day.present[hour] = of_day.present[hour].max(of_other.present[hour]);
            }
            for (mine, others) in of_day.activity.iter_mut().zip(&of_other.activity) {
                for hour in 0..HOURS {
                    // The same measured twice, as under its old and its new name, is measured once.
                    if others.0[hour] > mine.0[hour] {
                        (mine.0[hour], mine.1[hour]) = (others.0[hour], others.1[hour]);
                    }
                }
            }
            if of_other.memory.1 > of_day.memory.1 {
                of_day.memory = of_other.memory;
            }
            of_day.energy = of_day.energy.max(of_other.energy);
        }
    }
}

impl MeteredDay {
    /// How busy it was in an hour: by its engine where that was measured as long, else by its utilization. Measured, and active.
    pub fn busy(&self, hour: usize) -> (i32, i32) {
        let of =
            |kind: Activity| (self.activity[kind as usize].0[hour], self.activity[kind as usize].1[hour]);
        let (engine, utilization) = (of(Activity::Engine), of(Activity::Utilization));
        if engine.0 > 0 && engine.0 >= utilization.0 { engine } else { utilization }
    }
}

/// Milliseconds since 1970, cut into hours of days.
fn hours_between(from: i64, until: i64) -> impl Iterator<Item = (NaiveDate, usize, i32)> {
    const HOUR: i64 = 3_600_000;
    let hours = from.div_euclid(HOUR)..=(until - 1).div_euclid(HOUR);
    hours.filter_map(move |hour| {
        let begins = hour * HOUR;
        let part = until.min(begins + HOUR) - from.max(begins);
        let hour_of_day = usize::try_from(hour.rem_euclid(HOURS as i64)).ok()?;
        Some((day_of(begins)?, hour_of_day, i32::try_from(part).ok()?)).filter(|_| part > 0)
    })
}

fn day_of(milliseconds: i64) -> Option<NaiveDate> {
    DateTime::from_timestamp_millis(milliseconds).map(|at| at.date_naive())
}

/// When a day begins, in milliseconds.
pub fn midnight(day: NaiveDate) -> i64 {
    day.and_time(NaiveTime::MIN).and_utc().timestamp_millis()
}

/// Until when each of these samples stands: until the next, but for no longer than twice the usual time between two of them and
/// than [`LONGEST_GAP_MS`]. The last stands for the usual time.
pub fn until(times: &[i64]) -> Vec<i64> {
    let mut steps: Vec<i64> =
        times.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0).collect();
    let middle = steps.len().saturating_sub(1) / 2;
    let usual = if steps.is_empty() { ALONE_MS } else { *steps.select_nth_unstable(middle).1 };
    let usual = usual.min(LONGEST_GAP_MS);
    let longest = (2 * usual).min(LONGEST_GAP_MS);
    let ends = times.iter().enumerate().map(|(place, at)| match times.get(place + 1) {
        Some(next) if next - at <= longest => *next,
        _ => at + usual,
    });
    ends.collect()
}

/// A part of one in ten-thousandths.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped before")]
pub fn ten_thousandths(part: f64) -> u32 {
    (part * f64::from(FULLY_USED)).round().clamp(0.0, f64::from(FULLY_USED)) as u32
}

/// A measurement without its fraction.
#[expect(clippy::cast_possible_truncation, reason = "it is clamped before")]
pub fn whole(value: f64) -> i64 {
    value.round().clamp(0.0, 1e15) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_stands_until_the_next_but_not_over_a_gap() {
        assert_eq!(until(&[0, 60_000, 120_000, 900_000]), [60_000, 120_000, 180_000, 960_000]);
        assert_eq!(until(&[0, 60_000, 180_000]), [60_000, 180_000, 240_000], "one that was missed is no gap");
        assert_eq!(until(&[5]), [60_005]);
        assert_eq!(until(&[0, 3_600_000]), [300_000, 3_900_000]);
        assert!(until(&[]).is_empty());
    }

    #[test]
    fn spans_are_divided_at_hours_and_days() {
        let mut metered = Metered::default();
        let at = midnight("2026-10-31".parse().unwrap()) + 23 * 3_600_000 + 1_800_000;
        metered.span(at, at + 3_600_000, Some((Activity::Utilization, 2500)));
        let days: Vec<_> = metered.days.values().collect();
        assert_eq!((days[0].present[23], days[1].present[0]), (1_800_000, 1_800_000));
        assert_eq!(days[1].busy(0), (1_800_000, 450_000));
    }

    #[test]
    fn series_of_one_metric_add_up_unless_they_are_the_same() {
        let of = |from: i64, until: i64, part: u32| {
            let mut metered = Metered::default();
            metered.span(from, until, Some((Activity::Utilization, part)));
            metered.memory(from, until, 100);
            metered.energy(from, until, 60);
            metered
        };
        let (half, hour) = (1_800_000, 3_600_000);
        let joined = |mut one: Metered, other: Metered| {
            one.join(other);
            let day = one.days.remove(&day_of(0).unwrap()).unwrap();
            (day.present[0], day.busy(0), day.memory.1, day.energy)
        };
        // Until and after a restart.
        let found = joined(of(0, half, 4000), of(half, hour, 8000));
        assert_eq!(found, (3_600_000, (3_600_000, 2_160_000), 3600, 120));
        // By two servers.
        let found = joined(of(0, hour, 4000), of(0, hour, 4000));
        assert_eq!(found, (3_600_000, (3_600_000, 1_440_000), 3600, 60));
    }

    #[test]
    fn rows_of_a_machine_add_up_and_rows_of_a_device_are_one() {
        let of = |id: &str, accelerators: f64| {
            let device = Device { id: id.to_owned(), ..Device::default() };
            let mut metered = Metered { device, metric: "csv", most: 1, ..Metered::default() };
            metered.several(0, 3_600_000, accelerators, None);
            metered
        };
        let joined = |id: &str, accelerators: f64| {
            let mut one = of(id, accelerators);
            one.join(of(id, accelerators));
            one.days.values().next().unwrap().present[0]
        };
        assert_eq!(joined("", 1.0), 2 * HOUR_MS);
        assert_eq!(joined("GPU-1", 1.0), HOUR_MS);
        assert_eq!(joined("", 400.0), 512 * HOUR_MS, "no machine has more");
    }

    #[test]
    fn the_engine_wins_where_it_was_measured() {
        let mut metered = Metered::default();
        metered.span(0, 1000, Some((Activity::Utilization, FULLY_USED)));
        let mut other = Metered::default();
        other.span(0, 1000, Some((Activity::Engine, 4000)));
        metered.merge(other);
        let day = metered.days.values().next().unwrap();
        assert_eq!((day.present[0], day.busy(0)), (1000, (1000, 400)));
    }
}
