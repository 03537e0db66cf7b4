//! Times that files state without an offset: those of a place, with its hours that do not exist and those that come twice.

use chrono::{DateTime, Duration, LocalResult, NaiveDateTime, TimeZone as _, Utc};
use chrono_tz::Tz;

/// When a clock at `zone` shows `local`. An hour that is skipped when the clocks go forward is as many seconds later, as if
/// they had not been moved yet; of one that comes twice, the first.
pub fn instant(local: NaiveDateTime, zone: Tz) -> Option<DateTime<Utc>> {
    match zone.from_local_datetime(&local) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Some(at.to_utc()),
        LocalResult::None => {
            let before = zone.from_local_datetime(&local.checked_sub_signed(Duration::hours(1))?);
            before.earliest()?.to_utc().checked_add_signed(Duration::hours(1))
        }
    }
}

/// The two of `begins` and `ends` that lie `seconds` apart, where the clock shows one of them twice; else the first of each.
pub fn span(
    begins: NaiveDateTime,
    ends: NaiveDateTime,
    seconds: Option<u64>,
    zone: Tz,
) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let either = |local: NaiveDateTime| match zone.from_local_datetime(&local) {
        LocalResult::Ambiguous(first, second) => vec![first.to_utc(), second.to_utc()],
        _ => instant(local, zone).into_iter().collect(),
    };
    let (firsts, lasts) = (either(begins), either(ends));
    let lies_apart = |(begin, end): &(DateTime<Utc>, DateTime<Utc>)| {
        seconds.is_some_and(|seconds| i64::try_from(seconds) == Ok((*end - *begin).num_seconds()))
    };
    let mut pairs = firsts.iter().flat_map(|begin| lasts.iter().map(|end| (*begin, *end)));
    pairs
        .clone()
        .find(lies_apart)
        .or_else(|| pairs.find(|(begin, end)| begin <= end))
        .or_else(|| Some((*firsts.first()?, *lasts.first()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(text: &str) -> NaiveDateTime {
        text.parse().unwrap()
    }

    #[test]
    fn hours_that_do_not_exist_and_those_that_come_twice() {
        let zone: Tz = "Europe/Berlin".parse().unwrap();
        for (text, expected) in [
            ("2026-01-15T12:00:00", "2026-01-15T11:00:00Z"),
            ("2026-03-29T01:59:59", "2026-03-29T00:59:59Z"),
            ("2026-03-29T02:30:00", "2026-03-29T01:30:00Z"),
            ("2026-03-29T03:00:00", "2026-03-29T01:00:00Z"),
            ("2026-10-25T02:30:00", "2026-10-25T00:30:00Z"),
            ("2026-10-25T03:00:00", "2026-10-25T02:00:00Z"),
        ] {
            assert_eq!(instant(local(text), zone), Some(expected.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn what_a_job_took_says_which_of_two_hours_is_meant() {
        let zone: Tz = "Europe/Berlin".parse().unwrap();
        let (begins, ends) = (local("2026-10-25T02:30:00"), local("2026-10-25T02:45:00"));
        let of = |seconds| span(begins, ends, seconds, zone).unwrap();
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        assert_eq!(of(Some(900)), (at("2026-10-25T00:30:00Z"), at("2026-10-25T00:45:00Z")));
        assert_eq!(of(Some(4500)), (at("2026-10-25T00:30:00Z"), at("2026-10-25T01:45:00Z")));
        assert_eq!(of(None), (at("2026-10-25T00:30:00Z"), at("2026-10-25T00:45:00Z")));
    }
}
