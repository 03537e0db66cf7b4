//! How figures, dates and quantities look on a page. The only place that rounds money for people.
//!
//! Numbers have commas between thousands, a point before decimals, a true minus sign. What is exactly zero
//! is a dash, so that nothing can be distinguished from less than a cent (`0.00`).

#![expect(clippy::inline_always, reason = "askama's filter_fn writes it")]

use std::fmt::Display;

use askama::{Result, Values};
use chrono::{DateTime, NaiveDate, Utc};

use crate::money::{Decimal, written};
use crate::period::BillingMonth;
use crate::report::with_visible_ends;

/// Between a number and its unit: a narrow space that does not break.
const THIN: char = '\u{202f}';

/// A value, however many references a template put before it.
pub trait Bare<T> {
    fn bare(&self) -> T;
}

impl<T, B: Bare<T> + ?Sized> Bare<T> for &B {
    fn bare(&self) -> T {
        (**self).bare()
    }
}

macro_rules! bare {
    ($($kind:ty),+) => {$(
        impl Bare<$kind> for $kind {
            fn bare(&self) -> $kind {
                *self
            }
        }
    )+};
}
bare!(Decimal, NaiveDate, DateTime<Utc>, BillingMonth, i64);

/// `12,920,931.15`, `−4.00`, `–`.
#[askama::filter_fn]
pub fn money(amount: impl Bare<Decimal>, _: &dyn Values) -> Result<String> {
    Ok(figure(amount.bare(), 2))
}

/// The same without cents, where there is no room or need for them: `12,345`, `–`.
#[askama::filter_fn]
pub fn whole(amount: impl Bare<Decimal>, _: &dyn Values) -> Result<String> {
    Ok(figure(amount.bare(), 0))
}

/// In a sentence: `0.00` instead of a dash.
#[askama::filter_fn]
pub fn amount(amount: impl Bare<Decimal>, _: &dyn Values) -> Result<String> {
    Ok(grouped(amount.bare().round(2)))
}

/// Amounts of accelerator-hours: `1,234.5`, `–`.
#[askama::filter_fn]
pub fn hours(amount: impl Bare<Decimal>, _: &dyn Values) -> Result<String> {
    Ok(figure(amount.bare(), 1))
}

/// A share as a percentage of one decimal: `0.1234` is `12.3%`.
#[askama::filter_fn]
pub fn percent(share: impl Bare<Decimal>, _: &dyn Values) -> Result<String> {
    let hundredfold = share.bare().times(100);
    Ok(if hundredfold.is_zero() { "–".to_owned() } else { format!("{}%", grouped(hundredfold.round(1))) })
}

/// A change, with its sign: `+1,204.10`, `−3.00`, `–`.
#[askama::filter_fn]
pub fn change(amount: impl Bare<Decimal>, _: &dyn Values) -> Result<String> {
    let amount = amount.bare();
    let sign = if direction_of(amount) == "rise" { "+" } else { "" };
    Ok(format!("{sign}{}", figure(amount, 2)))
}

/// A price to six decimals, in which its parts sum to it.
#[askama::filter_fn]
pub fn millionths(amount: impl Bare<Decimal>, _: &dyn Values) -> Result<String> {
    Ok(figure(amount.bare(), 6))
}

/// The names and values of tags, which are shown as they were written: spaces at their ends are marks.
pub fn tags(tags: &serde_json::Value) -> Vec<(String, String)> {
    let tags = tags.as_object().into_iter().flatten();
    tags.map(|(name, value)| (with_visible_ends(name), with_visible_ends(value.as_str().unwrap_or_default())))
        .collect()
}

/// Every digit, for the title of a rounded figure.
#[askama::filter_fn]
pub fn exact(amount: impl Bare<Decimal>, _: &dyn Values) -> Result<String> {
    Ok(grouped(amount.bare()))
}

/// The class of a figure: `negative`, `zero` or nothing.
#[askama::filter_fn]
pub fn sign(amount: impl Bare<Decimal>, _: &dyn Values) -> Result<&'static str> {
    Ok(sign_of(amount.bare()))
}

/// The class of a change: `rise`, `fall` or `same`.
#[askama::filter_fn]
pub fn direction(amount: impl Bare<Decimal>, _: &dyn Values) -> Result<&'static str> {
    Ok(direction_of(amount.bare()))
}

/// A whole number: `1,000,000`.
#[askama::filter_fn]
pub fn count(n: impl Display, _: &dyn Values) -> Result<String> {
    Ok(n.to_string().parse().map_or_else(|_| n.to_string(), grouped))
}

/// A size in powers of a thousand: `12.4 MB`.
#[askama::filter_fn]
pub fn bytes(n: impl Display, _: &dyn Values) -> Result<String> {
    Ok(size(n))
}

/// As pages write a number of bytes.
pub(super) fn size(n: impl Display) -> String {
    let text = n.to_string();
    let Ok(mut size) = text.parse::<Decimal>() else { return text };
    let units = ["kB", "MB", "GB", "TB"];
    let thousand = Decimal::from(1000);
    let mut unit = "bytes";
    for next in units {
        if size.abs() < thousand {
            break;
        }
        size = size.divide(thousand, 3).unwrap_or_default();
        unit = next;
    }
    format!("{}{THIN}{unit}", grouped(size.round(u8::from(unit != "bytes"))))
}

/// A span of seconds, as precisely as anyone wants to know: `40 s`, `3 min`, `2 h 5 min`.
#[askama::filter_fn]
pub fn span(seconds: impl Bare<i64>, _: &dyn Values) -> Result<String> {
    Ok(span_of(seconds.bare()))
}

fn span_of(seconds: i64) -> String {
    match seconds {
        ..100 => format!("{}{THIN}s", seconds.max(0)),
        100..5_970 => format!("{}{THIN}min", (seconds + 30) / 60),
        _ => format!("{}{THIN}h {}{THIN}min", (seconds + 30) / 3600, (seconds + 30) % 3600 / 60),
    }
}

/// `Sep 30, 2026`.
#[askama::filter_fn]
pub fn date(day: impl Bare<NaiveDate>, _: &dyn Values) -> Result<String> {
    Ok(day.bare().format("%b %-d, %Y").to_string())
}

/// `Sep 30, 2026, 14:05 UTC`.
#[askama::filter_fn]
pub fn moment(at: impl Bare<DateTime<Utc>>, _: &dyn Values) -> Result<String> {
    Ok(moment_text(at.bare()))
}

/// The same for a sentence.
pub fn moment_text(at: DateTime<Utc>) -> String {
    at.format("%b %-d, %Y, %H:%M UTC").to_string()
}

/// `Sep 30, 2026, 14:05:30 UTC`.
#[askama::filter_fn]
pub fn moment_exact(at: impl Bare<DateTime<Utc>>, _: &dyn Values) -> Result<String> {
    Ok(exact_moment_text(at.bare()))
}

/// The same for a sentence.
pub fn exact_moment_text(at: DateTime<Utc>) -> String {
    at.format("%b %-d, %Y, %H:%M:%S UTC").to_string()
}

/// The width of a share's bar out of 100.
#[askama::filter_fn]
pub fn bar(share: impl Bare<Decimal>, _: &dyn Values) -> Result<String> {
    let width = share.bare().times(100).round(2);
    Ok(width.clamp(Decimal::ZERO, Decimal::from(100)).to_string())
}

/// How a figure differs from the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delta {
    pub amount: Decimal,
    /// The difference of both as they are shown, in cents. Where a row shows both, a difference that is rounded on its own
    /// is a cent off when both have digits beyond cents: 0.005 and 0.015 show 0.00 and 0.02.
    pub shown: Decimal,
    /// The change as a part of what was before. `None` when nothing was, or less than nothing.
    pub ratio: Option<Decimal>,
}

impl Delta {
    pub fn between(now: impl Bare<Decimal>, before: impl Bare<Decimal>) -> Self {
        let (now, before) = (now.bare(), before.bare());
        let amount = now - before;
        let is_growth = !before.is_zero() && !before.is_negative();
        let ratio = is_growth.then(|| amount.divide(before, 6)).flatten();
        Self { amount, shown: now.round(2) - before.round(2), ratio }
    }

    /// `rise`, `fall` or `same`.
    pub fn class(&self) -> &'static str {
        direction_of(self.amount)
    }

    /// Beside both, so that the row subtracts to the cent: `+1,204.10`, `−3.00`, `0.00` for less than a cent, `–`.
    pub fn beside(&self) -> String {
        if self.shown.is_zero() && self.amount.is_zero() {
            return "–".to_owned();
        }
        let sign = if direction_of(self.shown) == "rise" { "+" } else { "" };
        format!("{sign}{}", grouped(self.shown.round(2)))
    }

    /// `+1,204.10 (+12.3%)`, `−3.00`, `unchanged`.
    pub fn sentence(&self) -> String {
        if self.amount.is_zero() {
            return "unchanged".to_owned();
        }
        let sign = if self.class() == "rise" { "+" } else { "" };
        let amount = figure(self.amount, 2);
        match self.ratio {
            Some(ratio) => format!("{sign}{amount} ({sign}{}%)", grouped(ratio.times(100).round(1))),
            None => format!("{sign}{amount}"),
        }
    }
}

/// `in 15 seconds`, `in 3 minutes`: rounded up, so that it is true.
pub fn wait(until: &DateTime<Utc>, now: &DateTime<Utc>) -> String {
    let milliseconds = (*until - *now).num_milliseconds().max(1);
    let counted = |n: i64, unit: &str| format!("in {n} {unit}{}", if n == 1 { "" } else { "s" });
    match (milliseconds + 999) / 1000 {
        seconds @ ..=90 => counted(seconds, "second"),
        seconds => counted((seconds + 59) / 60, "minute"),
    }
}

/// `14:05:30 UTC`, in sentences about today.
pub fn clock_time(at: &DateTime<Utc>) -> String {
    at.format("%H:%M:%S UTC").to_string()
}

/// With a capital to begin with.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The class of a figure: `negative`, `zero` or nothing.
pub fn sign_of(amount: Decimal) -> &'static str {
    if amount.is_zero() {
        "zero"
    } else if amount.is_negative() {
        "negative"
    } else {
        ""
    }
}

/// Of what is shown: less than a cent is neither more nor less.
fn direction_of(change: Decimal) -> &'static str {
    match sign_of(change.round(2)) {
        "zero" => "same",
        "negative" => "fall",
        _ => "rise",
    }
}

/// A figure rounded half to even; exactly zero is a dash.
pub fn figure(amount: Decimal, places: u8) -> String {
    if amount.is_zero() { "–".to_owned() } else { grouped(amount.round(places)) }
}

/// All digits of a number, with commas and a true minus.
fn grouped(amount: Decimal) -> String {
    written(amount, amount.scale())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn it_writes_money_as_people_read_it() {
        for (amount, text) in [
            ("12920931.149390", "12,920,931.15"),
            ("0", "–"),
            ("0.000", "–"),
            ("0.004", "0.00"),
            ("-0.004", "0.00"),
            ("-1234.5", "−1,234.50"),
            ("0.125", "0.12"),
            ("0.999", "1.00"),
            ("999.995", "1,000.00"),
            ("100", "100.00"),
            ("-999999.999", "−1,000,000.00"),
        ] {
            assert_eq!(figure(decimal(amount), 2), text, "{amount}");
        }
    }

    #[test]
    fn a_difference_beside_both_figures_subtracts_to_the_cent() {
        for (now, before, text) in [
            ("0.015", "0.005", "+0.02"),
            ("0.005", "0.015", "−0.02"),
            ("1204.1", "0", "+1,204.10"),
            ("7.004", "7.001", "0.00"),
            ("-3", "-3.00", "–"),
        ] {
            assert_eq!(Delta::between(decimal(now), decimal(before)).beside(), text, "{now} {before}");
        }
    }

    #[test]
    fn it_says_how_long() {
        let said = [0, 99, 100, 125, 5_969, 5_970, 7_500].map(span_of);
        assert_eq!(
            said.map(|text| text.replace(THIN, " ")),
            ["0 s", "99 s", "2 min", "2 min", "99 min", "1 h 40 min", "2 h 5 min"]
        );
    }

    #[test]
    fn it_names_the_sign() {
        assert_eq!(sign_of(decimal("-0.001")), "negative");
        assert_eq!(sign_of(decimal("0.00")), "zero");
        assert_eq!(sign_of(decimal("3")), "");
    }
}
