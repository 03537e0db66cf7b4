//! Which hours a server is asked for next. Pure.

use std::ops::Range;

use chrono::{DateTime, Days, DurationRound as _, NaiveTime, TimeDelta, Utc};

/// How long after their end hours are read: samples arrive late, by remote write for instance.
const SETTLED_AFTER: TimeDelta = TimeDelta::minutes(10);
/// How often a server is asked that was read until now. Each time is a version of the day's usage: more often would keep more of them.
const EVERY: TimeDelta = TimeDelta::hours(6);
/// At most a day: what is read of a day is one import.
pub const MOST_HOURS: i32 = 24;

/// The next hours after those that were read, all of one day (UTC). `None` while they are not over.
pub fn next(read_until: DateTime<Utc>, hours: i32, now: DateTime<Utc>) -> Option<Range<DateTime<Utc>>> {
    let over = (now - SETTLED_AFTER).duration_trunc(EVERY).ok()?;
    let midnight = read_until.date_naive().checked_add_days(Days::new(1))?.and_time(NaiveTime::MIN).and_utc();
    let wished = read_until + TimeDelta::hours(i64::from(hours.clamp(1, MOST_HOURS)));
    let end = wished.min(midnight).min(over);
    (end > read_until).then_some(read_until..end)
}

/// For how many hours it is asked after an answer: as before, or more.
pub fn longer(hours: i32) -> i32 {
    hours.saturating_mul(2).clamp(1, MOST_HOURS)
}

/// For how many hours it is asked after one that was too slow or too large. `None` where they cannot be fewer.
pub fn shorter(window: &Range<DateTime<Utc>>) -> Option<i32> {
    let hours = (window.end - window.start).num_hours();
    i32::try_from(hours / 2).ok().filter(|hours| *hours > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        format!("2026-11-{text}:00Z").parse().unwrap()
    }

    #[test]
    fn hours_are_read_in_quarters_of_a_day_and_never_across_midnight() {
        for (read_until, hours, now, expected) in [
            ("27T00:00", 24, "29T12:30", Some("28T00:00")),
            ("27T22:00", 24, "29T12:30", Some("28T00:00")),
            ("29T00:00", 24, "29T12:30", Some("29T12:00")),
            ("29T00:00", 4, "29T12:30", Some("29T04:00")),
            ("29T06:00", 24, "29T12:05", None),
            ("29T06:00", 24, "29T12:10", Some("29T12:00")),
            ("29T06:00", 24, "29T17:00", Some("29T12:00")),
            ("29T12:00", 24, "29T17:00", None),
            ("30T00:00", 24, "29T12:30", None),
        ] {
            let next = next(at(read_until), hours, at(now)).map(|it| it.end);
            assert_eq!(next, expected.map(at), "{read_until} {now}");
        }
    }

    #[test]
    fn windows_shrink_to_an_hour_and_grow_to_a_day() {
        assert_eq!((longer(1), longer(16), longer(24)), (2, 24, 24));
        assert_eq!(shorter(&(at("27T00:00")..at("28T00:00"))), Some(12));
        assert_eq!(shorter(&(at("27T00:00")..at("27T03:00"))), Some(1));
        assert_eq!(shorter(&(at("27T00:00")..at("27T01:00"))), None);
    }
}
