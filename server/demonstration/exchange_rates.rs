//! Invented exchange rates in the form of the European Central Bank's history (`eurofxref-hist.csv`).

use std::fmt::Write as _;

use chrono::{Datelike, NaiveDate, Weekday};

use crate::generate::random::Random;

/// One line a working day from `from` to `until` (exclusive), newest first as the bank has it: US dollars for a
/// euro. The rate drifts from 1.05 to 1.17 and trembles a little; nobody should convert real money with it.
pub(super) fn history(seed: u64, from: NaiveDate, until: NaiveDate) -> String {
    let mut random = Random::new(seed ^ 0xec_b000);
    let days = (until - from).num_days().max(1);
    let mut lines = Vec::new();
    for (at, day) in from.iter_days().take_while(|day| *day < until).enumerate() {
        let rate = 10_500 + 1200 * at as i64 / days + random.below(120) as i64 - 60;
        if !matches!(day.weekday(), Weekday::Sat | Weekday::Sun) {
            lines.push((day, rate));
        }
    }
    let mut text = String::from("Date,USD,\n");
    for (day, rate) in lines.into_iter().rev() {
        let _ = writeln!(text, "{day},{}.{:04},", rate / 10_000, rate % 10_000);
    }
    text
}
