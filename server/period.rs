//! Time as bills count it: UTC, half-open, in billing months.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use chrono::{DateTime, Datelike, Duration, Months, NaiveDate, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A calendar month in UTC: what an invoice covers. Written `2026-09`. By default the first of all, for what is filled in
/// later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BillingMonth(NaiveDate);

/// A text that names no month or range of months.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a month (2026-09), a quarter (2026-Q3), a year (2026) or a range (2026-01..2026-09)")]
pub struct ParsePeriodError;

/// With an hour more, for what a change to winter time adds.
const LONGEST_MONTH: Duration = Duration::hours(31 * 24 + 1);
/// How far ahead of UTC days begin.
const EASTERNMOST: Duration = Duration::hours(14);

impl BillingMonth {
    /// The month that `day` lies in.
    pub fn of(day: NaiveDate) -> Self {
        Self(day.with_day(1).unwrap_or(day))
    }

    /// The month that most of a billing period lies in, whichever zone its provider counts days in: one from
    /// `2026-09-30T16:00:00Z` to `2026-10-31T16:00:00Z` is October's. Of one that lasts longer than a month, or has no
    /// end, it is the month in which it begins somewhere on earth.
    pub fn of_period(start: DateTime<Utc>, end: Option<DateTime<Utc>>) -> Self {
        let length =
            end.map(|end| end - start).filter(|length| (Duration::zero()..=LONGEST_MONTH).contains(length));
        let within = length.map_or(EASTERNMOST, |length| length / 2);
        Self::of(start.checked_add_signed(within).unwrap_or(start).date_naive())
    }

    /// `None` outside the years 1970 to 9999 or for a month that is none.
    pub fn new(year: i32, month: u32) -> Option<Self> {
        (1970..=9999).contains(&year).then(|| NaiveDate::from_ymd_opt(year, month, 1).map(Self)).flatten()
    }

    pub fn first_day(self) -> NaiveDate {
        self.0
    }

    #[must_use]
    pub fn next(self) -> Self {
        self.plus(1)
    }

    #[must_use]
    pub fn previous(self) -> Self {
        self.minus(1)
    }

    #[must_use]
    pub fn plus(self, months: u32) -> Self {
        Self(self.0.checked_add_months(Months::new(months)).unwrap_or(self.0))
    }

    #[must_use]
    pub fn minus(self, months: u32) -> Self {
        Self(self.0.checked_sub_months(Months::new(months)).unwrap_or(self.0))
    }

    /// From this month to another, both included; none where that is before.
    pub fn through(self, last: Self) -> impl Iterator<Item = Self> + use<> {
        std::iter::successors(Some(self), |month| Some(month.next())).take_while(move |month| *month <= last)
    }

    /// How many months it is after another; `None` before it.
    pub fn months_after(self, other: Self) -> Option<u32> {
        let number = |month: Self| i64::from(month.0.year()) * 12 + i64::from(month.0.month0());
        u32::try_from(number(self) - number(other)).ok()
    }

    /// First day to first day of the next month.
    pub fn days(self) -> Range<NaiveDate> {
        self.0..self.next().0
    }

    pub fn contains(self, day: NaiveDate) -> bool {
        self.days().contains(&day)
    }

    /// `September 2026`.
    pub fn name(self) -> String {
        self.0.format("%B %Y").to_string()
    }
}

impl fmt::Display for BillingMonth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.format("%Y-%m"))
    }
}

impl FromStr for BillingMonth {
    type Err = ParsePeriodError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (year, month) = text.split_once('-').ok_or(ParsePeriodError)?;
        Self::new(whole(year, 4)?, whole(month, 2)?.unsigned_abs()).ok_or(ParsePeriodError)
    }
}

impl Serialize for BillingMonth {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BillingMonth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|error| serde::de::Error::custom(format!("“{text}”: {error}")))
    }
}

/// Consecutive billing months, what a report covers: `2026-09`, `2026-Q3`, `2026`, `2026-01..2026-09`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Period {
    first: BillingMonth,
    last: BillingMonth,
}

/// The longest period a report covers: a hundred years of months would be a typing error.
const MAX_MONTHS: u32 = 120;

impl Period {
    /// `None` when `last` lies before `first`, or more than ten years after it.
    pub fn new(first: BillingMonth, last: BillingMonth) -> Option<Self> {
        let period = Self { first, last };
        (first <= last && period.length() <= MAX_MONTHS).then_some(period)
    }

    /// So many months, of which this is the last.
    pub fn up_to(last: BillingMonth, months: u32) -> Self {
        Self { first: last.minus(months.saturating_sub(1)), last }
    }

    pub fn first(&self) -> BillingMonth {
        self.first
    }

    pub fn last(&self) -> BillingMonth {
        self.last
    }

    /// Number of months, at least one.
    pub fn length(&self) -> u32 {
        let months = |month: BillingMonth| i64::from(month.0.year()) * 12 + i64::from(month.0.month0());
        (months(self.last) - months(self.first) + 1).max(0) as u32
    }

    /// Hours of it.
    pub fn hours(&self) -> usize {
        let days = self.days();
        usize::try_from((days.end - days.start).num_hours()).unwrap_or_default()
    }

    /// The hour of it that a day begins with; none outside of it.
    pub fn hour_of(&self, day: NaiveDate) -> Option<usize> {
        let hour = usize::try_from((day - self.days().start).num_hours()).ok()?;
        (hour < self.hours()).then_some(hour)
    }

    /// The hours of it that a row of a day is for: that day; of more than a day from it to the end of its billing month; and what is
    /// of a day outside of the period its billing month.
    pub fn hours_of_row(&self, month: BillingMonth, day: NaiveDate, is_whole_period: bool) -> Range<usize> {
        let of_month = month.days();
        let first = self.hour_of(of_month.start).unwrap_or_default();
        let until = self.hour_of(of_month.end).unwrap_or_else(|| self.hours());
        match self.hour_of(day) {
            Some(hour) if !is_whole_period => hour..hour + 24,
            Some(hour) if month.contains(day) => hour..until,
            _ => first..until,
        }
    }

    pub fn is_one_month(&self) -> bool {
        self.first == self.last
    }

    /// First day of the first month to first day after the last.
    pub fn days(&self) -> Range<NaiveDate> {
        self.first.first_day()..self.last.next().first_day()
    }

    pub fn months(&self) -> impl Iterator<Item = BillingMonth> + use<> {
        self.first.through(self.last)
    }

    /// The period of the same length that ends where this one begins.
    #[must_use]
    pub fn previous(&self) -> Self {
        Self { first: self.first.minus(self.length()), last: self.first.previous() }
    }

    /// The period of the same length that begins where this one ends.
    #[must_use]
    pub fn next(&self) -> Self {
        Self { first: self.last.next(), last: self.last.plus(self.length()) }
    }

    /// The quarter that a month lies in.
    pub fn quarter_of(month: BillingMonth) -> Self {
        let first = month.minus(month.0.month0() % 3);
        Self { first, last: first.plus(2) }
    }

    /// The calendar year that a month lies in.
    pub fn year_of(month: BillingMonth) -> Self {
        let first = month.minus(month.0.month0());
        Self { first, last: first.plus(11) }
    }

    /// What one may want to see beside this: the month it ends with, that month's quarter and year, the year up
    /// to it, and the twelve months up to it.
    pub fn around(&self) -> Vec<Self> {
        let last = self.last;
        let so_far = Self { first: Self::year_of(last).first, last };
        let twelve = Self::up_to(last, 12);
        let mut periods =
            vec![last.into(), Self::quarter_of(last), Self::year_of(last), so_far, twelve, *self];
        let mut known = Vec::new();
        periods.retain(|period| {
            !known.contains(period) && {
                known.push(*period);
                true
            }
        });
        periods
    }

    /// `September 2026`, `Q3 2026`, `2026`, `January to September 2026`, `November 2025 to January 2026`.
    pub fn name(&self) -> String {
        let Self { first, last } = *self;
        let (from, to) = (first.0, last.0);
        if self.is_one_month() {
            first.name()
        } else if *self == Self::quarter_of(first) {
            format!("Q{} {}", from.month0() / 3 + 1, from.year())
        } else if *self == Self::year_of(first) {
            from.year().to_string()
        } else if from.year() == to.year() {
            format!("{} to {}", from.format("%B"), last.name())
        } else {
            format!("{} to {}", first.name(), last.name())
        }
    }
}

impl From<BillingMonth> for Period {
    fn from(month: BillingMonth) -> Self {
        Self { first: month, last: month }
    }
}

/// Canonical: a single month as such, everything else as a range.
impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_one_month() {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}..{}", self.first, self.last)
        }
    }
}

impl FromStr for Period {
    type Err = ParsePeriodError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some((first, last)) = text.split_once("..") {
            return Self::new(first.parse()?, last.parse()?).ok_or(ParsePeriodError);
        }
        if let Some((year, quarter)) = text.split_once("-Q") {
            let quarter = whole(quarter, 1)?;
            let first = BillingMonth::new(whole(year, 4)?, (quarter * 3 - 2).max(0) as u32)
                .ok_or(ParsePeriodError)?;
            return Self::new(first, first.plus(2)).ok_or(ParsePeriodError);
        }
        if text.len() == 4 {
            let first = BillingMonth::new(whole(text, 4)?, 1).ok_or(ParsePeriodError)?;
            return Self::new(first, first.plus(11)).ok_or(ParsePeriodError);
        }
        Ok(text.parse::<BillingMonth>()?.into())
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|error| serde::de::Error::custom(format!("“{text}”: {error}")))
    }
}

fn whole(text: &str, digits: usize) -> Result<i32, ParsePeriodError> {
    let is_number = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten().ok_or(ParsePeriodError)
}

/// When a charge was incurred: FOCUS ChargePeriodStart (inclusive) to ChargePeriodEnd (exclusive), UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ChargePeriod {
    pub start: DateTime<Utc>,
    pub end: DateTime<Utc>,
}

impl ChargePeriod {
    /// The UTC day the charge begins on.
    pub fn day(&self) -> NaiveDate {
        self.start.date_naive()
    }

    /// True for what belongs to no single day: month-long tax rows, fees, subscriptions.
    pub fn is_longer_than_a_day(&self) -> bool {
        self.end - self.start > Duration::days(1)
    }

    /// The UTC hours (0 to 23) it covers where it lies within one day and on whole hours; else `None`.
    pub fn hours_of_day(&self) -> Option<Range<u32>> {
        let midnight = self.day().and_hms_opt(0, 0, 0)?.and_utc();
        let (from, to) = ((self.start - midnight).num_seconds(), (self.end - midnight).num_seconds());
        (from % 3600 == 0 && to % 3600 == 0 && from < to && to <= 86_400)
            .then_some((from / 3600) as u32..(to / 3600) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_periods() {
        for (text, canonical, length) in [
            ("2026-09", "2026-09", 1),
            ("2026-Q3", "2026-07..2026-09", 3),
            ("2026", "2026-01..2026-12", 12),
            ("2025-11..2026-01", "2025-11..2026-01", 3),
        ] {
            let period: Period = text.parse().unwrap();
            assert_eq!((period.to_string().as_str(), period.length()), (canonical, length), "{text}");
            assert_eq!(period.months().count() as u32, length);
            assert_eq!(period.previous().next(), period);
        }
    }

    #[test]
    fn a_billing_period_belongs_to_the_month_that_most_of_it_lies_in() {
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        for (start, end, month) in [
            ("2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z", "2026-10"),
            // UTC+8, UTC+14, UTC-5 with a change of the clock.
            ("2026-09-30T16:00:00Z", "2026-10-31T16:00:00Z", "2026-10"),
            ("2026-09-30T10:00:00Z", "2026-10-31T10:00:00Z", "2026-10"),
            ("2026-10-01T05:00:00Z", "2026-11-01T04:00:00Z", "2026-10"),
            ("2026-01-31T16:00:00Z", "2026-02-28T16:00:00Z", "2026-02"),
            // An end that is included.
            ("2026-09-01T00:00:00Z", "2026-09-30T00:00:00Z", "2026-09"),
            ("2026-09-10T00:00:00Z", "2026-10-10T00:00:00Z", "2026-09"),
            ("2026-09-25T00:00:00Z", "2026-10-25T00:00:00Z", "2026-10"),
            ("2026-09-30T16:00:00Z", "2026-10-01T16:00:00Z", "2026-10"),
            // Longer than a month, and none.
            ("2026-09-30T16:00:00Z", "2027-09-30T16:00:00Z", "2026-10"),
            ("2026-09-01T00:00:00Z", "2026-12-01T00:00:00Z", "2026-09"),
            ("2026-06-30T00:00:00Z", "2026-06-01T00:00:00Z", "2026-06"),
        ] {
            assert_eq!(BillingMonth::of_period(at(start), Some(at(end))).to_string(), month, "{start} {end}");
        }
        assert_eq!(BillingMonth::of_period(at("2026-09-30T16:00:00Z"), None).to_string(), "2026-10");
        assert_eq!(BillingMonth::of_period(at("2026-09-30T00:00:00Z"), None).to_string(), "2026-09");
    }

    #[test]
    fn it_names_periods_as_people_do() {
        for (text, name) in [
            ("2026-09", "September 2026"),
            ("2026-Q3", "Q3 2026"),
            ("2026", "2026"),
            ("2026-01..2026-09", "January to September 2026"),
            ("2025-11..2026-01", "November 2025 to January 2026"),
            ("2026-08..2026-10", "August to October 2026"),
        ] {
            assert_eq!(text.parse::<Period>().unwrap().name(), name);
        }
        let around = "2026-09".parse::<Period>().unwrap().around();
        let around: Vec<String> = around.iter().map(ToString::to_string).collect();
        assert_eq!(
            around,
            ["2026-09", "2026-07..2026-09", "2026-01..2026-12", "2026-01..2026-09", "2025-10..2026-09"]
        );
    }

    #[test]
    fn it_refuses_what_is_no_period() {
        for text in [
            "",
            "2026-13",
            "2026-00",
            "2026-9",
            "2026-Q0",
            "2026-Q5",
            "2026-02..2026-01",
            "1999-01..2026-01",
            "٢٠٢٦-٠٩",
            "2026-09-01",
            "26",
        ] {
            assert!(text.parse::<Period>().is_err(), "{text}");
        }
    }

    #[test]
    fn it_knows_the_hours_of_a_charge() {
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        let hours = |start, end| ChargePeriod { start: at(start), end: at(end) }.hours_of_day();
        assert_eq!(hours("2026-09-01T05:00:00Z", "2026-09-01T06:00:00Z"), Some(5..6));
        assert_eq!(hours("2026-09-01T00:00:00Z", "2026-09-02T00:00:00Z"), Some(0..24));
        assert_eq!(hours("2026-09-01T05:30:00Z", "2026-09-01T06:00:00Z"), None);
        assert_eq!(hours("2026-09-01T23:00:00Z", "2026-09-02T01:00:00Z"), None);
    }
}
