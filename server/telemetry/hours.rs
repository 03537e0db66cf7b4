//! Held accelerators by node, day and hour of the day (UTC). Pure.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};

use super::job::{FULLY_USED, Job};
use crate::money::Decimal;

/// Hours of a day.
pub const HOURS: usize = 24;

/// Accelerator-milliseconds of each hour.
pub type ByHour = [i32; HOURS];

/// No node has more accelerators, by far; so many of an hour fit into a number of an hour.
pub const MOST_OF_A_NODE: u64 = 512;

/// Accelerator-milliseconds of an accelerator-hour.
pub const OF_AN_HOUR: i64 = 3_600_000;

/// Accelerator-milliseconds as accelerator-hours.
pub fn hours_of(milliseconds: i128) -> Decimal {
    let hours = Decimal::new(milliseconds, 0).divide(Decimal::from(OF_AN_HOUR), PLACES);
    hours.unwrap_or(Decimal::ZERO).normalize()
}

/// Decimals of accelerator-hours.
const PLACES: u8 = 6;

/// What a job held on a node on a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeDay {
    pub day: NaiveDate,
    pub held: ByHour,
    /// Of these, the ones of which it is known how busy they were.
    pub measured: ByHour,
    /// Of these, the ones at work.
    pub busy: ByHour,
}

/// The days of each holding of a job, in the order of the holdings. None of a job whose time is not known.
pub fn days(job: &Job) -> Vec<Vec<NodeDay>> {
    let Some((begins, ends)) = job.held() else {
        return job.holdings.iter().map(|_| Vec::new()).collect();
    };
    let seconds = seconds_by_day(begins, ends);
    let of = |it: &super::job::Holding| {
        let days = seconds.iter().map(|(day, seconds)| {
            // Thousandths of an accelerator for a second are milliseconds of one.
            let held: ByHour = seconds.map(|seconds| times(it.accelerators, seconds));
            let (measured, busy) = match it.utilization {
                Some(part) => {
                    let measured = held.map(|held| share(held, it.measured));
                    (measured, measured.map(|measured| share(measured, part)))
                }
                None => ([0; HOURS], [0; HOURS]),
            };
            NodeDay { day: *day, held, measured, busy }
        });
        days.collect()
    };
    job.holdings.iter().map(of).collect()
}

fn times(accelerators: u64, seconds: u32) -> i32 {
    i32::try_from(accelerators.saturating_mul(u64::from(seconds))).unwrap_or(i32::MAX)
}

fn share(held: i32, part: u32) -> i32 {
    i32::try_from(i64::from(held) * i64::from(part) / i64::from(FULLY_USED)).unwrap_or(held)
}

/// The seconds of each hour between two times, by day.
fn seconds_by_day(begins: DateTime<Utc>, ends: DateTime<Utc>) -> Vec<(NaiveDate, [u32; HOURS])> {
    let mut days = Vec::new();
    let mut day = begins.date_naive();
    while day.and_time(NaiveTime::MIN).and_utc() < ends {
        let midnight = day.and_time(NaiveTime::MIN).and_utc();
        let mut seconds = [0; HOURS];
        for (hour, of_hour) in (0_i64..).zip(&mut seconds) {
            let from = midnight.timestamp() + hour * 3600;
            let overlap = ends.timestamp().min(from + 3600) - begins.timestamp().max(from);
            *of_hour = u32::try_from(overlap.max(0)).unwrap_or(0);
        }
        days.push((day, seconds));
        let Some(next) = day.checked_add_days(Days::new(1)) else { break };
        day = next;
    }
    days
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::telemetry::job::spread;

    fn job(begins: &str, seconds: u64, accelerators: u64, utilization: Option<u32>) -> Job {
        let mut holdings = spread(accelerators, &["a".to_owned(), "b".to_owned(), "c".to_owned()]);
        for holding in &mut holdings {
            holding.utilization = utilization;
        }
        Job { started_at: Some(begins.parse().unwrap()), held_seconds: seconds, holdings, ..Job::default() }
    }

    #[test]
    fn a_job_that_crosses_midnight_is_divided() {
        let days = days(&job("2026-10-31T23:30:00Z", 5400, 24_000, Some(2500)));
        let of_first: Vec<_> =
            days[0].iter().map(|it| (it.day.to_string(), it.held[23], it.held[0])).collect();
        let expected = [("2026-10-31".to_owned(), 14_400_000, 0), ("2026-11-01".to_owned(), 0, 28_800_000)];
        assert_eq!(of_first, expected);
        assert_eq!(days[0][1].busy[0], 7_200_000);
        assert_eq!(days[0][1].measured[0], 28_800_000);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(
            begins in 1_700_000_000_i64..1_800_000_000,
            seconds in 0_u64..20_000_000,
            accelerators in 1_u64..100_000,
            part in proptest::option::of(0_u32..=FULLY_USED),
        ) {
            let begins = DateTime::from_timestamp(begins, 0).unwrap().to_rfc3339();
            let days = days(&job(&begins, seconds, accelerators, part));
            let sum = |of: fn(&NodeDay) -> &ByHour| {
                let cells = days.iter().flatten().flat_map(|it| of(it).iter());
                cells.map(|it| u64::try_from(*it).unwrap()).sum::<u64>()
            };
            prop_assert_eq!(sum(|it| &it.held), accelerators * seconds);
            prop_assert_eq!(sum(|it| &it.measured), if part.is_some() { accelerators * seconds } else { 0 });
            prop_assert!(sum(|it| &it.busy) <= sum(|it| &it.measured));
        }
    }
}
