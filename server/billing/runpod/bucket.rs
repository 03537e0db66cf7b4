//! How long the buckets of version 1 are. Its records state where one begins, and the query how long it is: an hour, a day, a
//! week, a month or a year. The beginnings of all records tell it, mostly. Nothing is recorded of a day on which nothing was used, and
//! days are what the query answers where nothing is said: so weeks have to be proved.

use std::collections::BTreeSet;

use chrono::{DateTime, Datelike as _, Months, TimeDelta, Timelike as _, Utc};

/// `bucketSize` of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bucket {
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl Bucket {
    /// Where a bucket ends that begins here.
    pub fn end(self, start: DateTime<Utc>) -> DateTime<Utc> {
        let end = match self {
            Self::Hour => start.checked_add_signed(TimeDelta::hours(1)),
            Self::Day => start.checked_add_signed(TimeDelta::days(1)),
            Self::Week => start.checked_add_signed(TimeDelta::weeks(1)),
            Self::Month => start.checked_add_months(Months::new(1)),
            Self::Year => start.checked_add_months(Months::new(12)),
        };
        end.unwrap_or(start)
    }

    /// Whether one begins here where another begins there.
    fn may_begin(self, time: DateTime<Utc>, other: DateTime<Utc>) -> bool {
        let is_midnight = time.num_seconds_from_midnight() == 0;
        match self {
            Self::Hour => true,
            Self::Day => is_midnight,
            Self::Week => is_midnight && (time - other).num_days() % 7 == 0,
            Self::Month => is_midnight && time.day() == 1,
            Self::Year => is_midnight && time.ordinal() == 1,
        }
    }

    /// What is said of a record whose end was found.
    pub fn remark(self) -> &'static str {
        match self {
            Self::Hour => {
                "only the start of the bucket is stated: it is read as an hour, by the times of all records"
            }
            Self::Day => {
                "only the start of the bucket is stated: it is read as a day, by the times of all records"
            }
            Self::Week => {
                "only the start of the bucket is stated: it is read as a week, by the times of all records"
            }
            Self::Month => {
                "only the start of the bucket is stated: it is read as a month, by the times of all records"
            }
            Self::Year => {
                "only the start of the bucket is stated: it is read as a year, by the times of all records"
            }
        }
    }
}

/// Buckets that are longer than an hour, the longest first.
const LONGER: [Bucket; 4] = [Bucket::Year, Bucket::Month, Bucket::Week, Bucket::Day];

/// Weeks in succession of which each has a record: fewer may be days that lie a week apart.
const FEWEST_WEEKS: usize = 3;
/// No history is longer, which bounds what is remembered of it.
const MOST_WEEKS: usize = 5_000;

/// The beginnings of buckets, as far as their length follows from them.
#[derive(Clone, Debug, Default)]
pub(super) struct Beginnings {
    first: Option<DateTime<Utc>>,
    /// Of those that lie weeks from the first, how many.
    weeks: BTreeSet<i64>,
    /// Whether there are others than the first.
    are_several: bool,
    /// Of [`LONGER`] ones, whether a beginning is none of theirs.
    are_shorter: [bool; LONGER.len()],
}

impl Beginnings {
    pub fn add(&mut self, time: DateTime<Utc>) {
        let first = *self.first.get_or_insert(time);
        self.are_several |= time != first;
        for (is_shorter, bucket) in self.are_shorter.iter_mut().zip(LONGER) {
            *is_shorter |= !bucket.may_begin(time, first);
        }
        if Bucket::Week.may_begin(time, first) && self.weeks.len() <= MOST_WEEKS {
            self.weeks.insert((time - first).num_weeks());
        }
    }

    /// The longest bucket that all of them are beginnings of. One alone says less: a day where it is midnight, else an hour.
    pub fn bucket(&self) -> Bucket {
        let fitting = LONGER.into_iter().zip(self.are_shorter).filter(|(_, is_shorter)| !is_shorter);
        let mut fitting = fitting.map(|(bucket, _)| bucket).filter(|bucket| match bucket {
            Bucket::Week => self.are_weeks(),
            bucket => self.are_several || *bucket == Bucket::Day,
        });
        fitting.next().unwrap_or(Bucket::Hour)
    }

    /// Whether no week is missing between the first and the last, of several.
    fn are_weeks(&self) -> bool {
        let weeks = self.weeks.first().zip(self.weeks.last()).map_or(0, |(first, last)| last - first + 1);
        (FEWEST_WEEKS..=MOST_WEEKS).contains(&self.weeks.len()) && weeks == self.weeks.len() as i64
    }

    /// Whether there are several, so that one can be measured by others.
    pub fn are_several(&self) -> bool {
        self.are_several
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> DateTime<Utc> {
        format!("{text}:00Z").parse().unwrap()
    }

    #[test]
    fn the_length_of_buckets_follows_from_their_beginnings() {
        for (times, expected) in [
            (&["2026-09-03T00:00"][..], Bucket::Day),
            (&["2026-01-01T00:00", "2026-01-01T00:00"], Bucket::Day),
            (&["2026-09-03T07:00"], Bucket::Hour),
            (&["2026-09-03T00:00", "2026-09-04T05:00"], Bucket::Hour),
            (&["2026-09-03T00:00", "2026-09-05T00:00", "2026-09-04T00:00"], Bucket::Day),
            (&["2026-09-28T00:00", "2026-10-05T00:00", "2026-09-21T00:00"], Bucket::Week),
            // Days on which little was used may lie weeks apart.
            (&["2026-09-07T00:00", "2026-09-14T00:00"], Bucket::Day),
            (&["2026-09-03T00:00", "2026-09-17T00:00", "2026-09-17T00:00"], Bucket::Day),
            (&["2026-09-07T00:00", "2026-09-14T00:00", "2026-09-28T00:00"], Bucket::Day),
            (&["2026-09-01T00:00", "2026-12-01T00:00"], Bucket::Month),
            (&["2026-09-01T00:00", "2026-09-02T00:00"], Bucket::Day),
            (&["2026-01-01T00:00", "2025-01-01T00:00"], Bucket::Year),
            (&[], Bucket::Day),
        ] {
            let mut beginnings = Beginnings::default();
            for text in times {
                beginnings.add(time(text));
            }
            assert_eq!(beginnings.bucket(), expected, "{times:?}");
        }
    }

    #[test]
    fn a_bucket_ends_where_the_next_one_begins() {
        for (bucket, start, end) in [
            (Bucket::Hour, "2026-09-30T23:00", "2026-10-01T00:00"),
            (Bucket::Day, "2028-02-28T00:00", "2028-02-29T00:00"),
            (Bucket::Week, "2026-09-28T00:00", "2026-10-05T00:00"),
            (Bucket::Month, "2026-02-01T00:00", "2026-03-01T00:00"),
            (Bucket::Year, "2026-01-01T00:00", "2027-01-01T00:00"),
        ] {
            assert_eq!(bucket.end(time(start)), time(end), "{bucket:?}");
        }
    }
}
