//! Cells to values: timestamps, amounts, text. Fast for what exports write, tolerant of what
//! spreadsheets make of it, and never guessing.

use std::borrow::Cow;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::currency::disagreement;
use super::date_order::{DateOrder, Slashed};
use crate::money::{Decimal, grouped};

/// What a cell that is no time should have been, in a file with this order of dates.
pub(super) fn a_time(order: DateOrder) -> &'static str {
    match order {
        DateOrder::Undecided => "a time such as 2026-08-01T00:00:00Z",
        DateOrder::DayFirst => "a time such as 2026-08-31T00:00:00Z, or as this file writes it: 31/08/2026",
        DateOrder::MonthFirst => "a time such as 2026-08-31T00:00:00Z, or as this file writes it: 08/31/2026",
    }
}

/// Bytes of a currency that a message shows.
const MAX_CURRENCY: usize = 40;

pub(super) const AN_AMOUNT: &str = "a decimal number such as 12.50 or 5e-06";

/// Empty, or the literal null of the exports that spell it.
pub(super) fn is_null(text: &[u8]) -> bool {
    matches!(text, b"" | b"NULL" | b"null" | b"Null")
}

/// `2026-08-01T00:00:00Z` and its kin: blank for `T`, fractions of a second, no zone (UTC), `UTC`, offsets,
/// date only, and dates with slashes (`4/1/25` in the FOCUS specification's own examples) in the order of the file.
pub(super) fn time(text: &[u8], order: DateOrder) -> Option<DateTime<Utc>> {
    let text = text.trim_ascii();
    match text {
        [_, _, _, _, b'-', _, _, b'-', _, _, rest @ ..] => {
            let year = digits(&text[..4])? as i32;
            let date = NaiveDate::from_ymd_opt(year, digits(&text[5..7])?, digits(&text[8..10])?)?;
            clock(date, rest)
        }
        _ => slashed(text, order),
    }
    .filter(|time| (MIN_TIME..MAX_TIME).contains(&time.timestamp()))
}

/// 1990 to 2200: outside, it is a slip or another unit.
const MIN_TIME: i64 = 631_152_000;
const MAX_TIME: i64 = 7_258_118_400;

/// `T01:02:03.004Z` after a date, or nothing.
fn clock(date: NaiveDate, text: &[u8]) -> Option<DateTime<Utc>> {
    if text.is_empty() || text == b"Z" {
        return Some(date.and_hms_opt(0, 0, 0)?.and_utc());
    }
    let [b'T' | b't' | b' ', h1, h2, b':', m1, m2, rest @ ..] = text else { return None };
    let (hour, minute) = (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?);
    let (second, rest) = match rest {
        [b':', s1, s2, rest @ ..] => (digits(&[*s1, *s2])?, rest),
        _ => (0, rest),
    };
    let rest = match rest {
        [b'.' | b',', fraction @ ..] => {
            let length = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            if length == 0 {
                return None;
            }
            &fraction[length..]
        }
        _ => rest,
    };
    let time = date.and_hms_opt(hour, minute, second)?.and_utc();
    match rest.trim_ascii_start() {
        b"" | b"Z" | b"z" | b"UTC" => Some(time),
        [sign @ (b'+' | b'-'), h1, h2, zone @ ..] => {
            let minutes = match zone {
                [] => 0,
                [b':', m1, m2] | [m1, m2] => digits(&[*m1, *m2])?,
                _ => return None,
            };
            let offset = TimeDelta::minutes(i64::from(digits(&[*h1, *h2])? * 60 + minutes));
            if *sign == b'+' { time.checked_sub_signed(offset) } else { time.checked_add_signed(offset) }
        }
        _ => None,
    }
}

/// `4/1/25`, `12/31/2025 9:05`.
fn slashed(text: &[u8], order: DateOrder) -> Option<DateTime<Utc>> {
    let date = Slashed::parse(text)?.date(order)?;
    let rest = memchr::memchr(b' ', text).map_or(&[][..], |at| &text[at..]);
    match rest {
        [b' ', hour, b':', minutes @ ..] => clock(date, &[b" 0", &[*hour, b':'][..], minutes].concat()),
        _ => clock(date, rest),
    }
}

fn digits(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0, |sum: u32, byte| byte.is_ascii_digit().then(|| sum * 10 + u32::from(byte - b'0')))
}

/// The last time read from a column, and its text: most rows repeat it.
#[derive(Default)]
pub(super) struct TimeColumn {
    text: [u8; 32],
    length: usize,
    time: Option<DateTime<Utc>>,
}

impl TimeColumn {
    pub fn read(&mut self, text: &[u8], order: DateOrder) -> Option<DateTime<Utc>> {
        if self.length == text.len() && self.length > 0 && &self.text[..self.length] == text {
            return self.time;
        }
        let time = time(text, order);
        // What is none now may be one as soon as the order of the file is known.
        if time.is_some() && text.len() <= self.text.len() {
            self.text[..text.len()].copy_from_slice(text);
            self.length = text.len();
            self.time = time;
        }
        time
    }
}

/// Why a cell is no amount of `currency`, as the row writes it; completes "expected …".
pub(super) fn amount(text: &[u8], currency: &[u8]) -> Result<Decimal, Cow<'static, str>> {
    match Decimal::parse(text) {
        Ok(amount) => Ok(amount),
        Err(error) => match dressed(text.trim_ascii()) {
            Some((amount, sign)) => {
                let currency = String::from_utf8_lossy(&currency[..currency.len().min(MAX_CURRENCY)]);
                let currency = currency.trim();
                // A row without a currency is rejected for that.
                let other =
                    sign.filter(|_| !currency.is_empty()).and_then(|sign| disagreement(sign, currency));
                other.map_or(Ok(amount), |expected| Err(expected.into()))
            }
            None => Err(if looks_like_decimal_comma(text.trim_ascii()) {
                "a number with a decimal point such as 12.50; a decimal comma means that a spreadsheet \
                 saved this file again"
                    .into()
            } else {
                error.to_string().into()
            }),
        },
    }
}

/// Amounts as spreadsheets write them, and the sign of their currency: `$50,000.00 `, `-$5`, `(5.00)`.
fn dressed(text: &[u8]) -> Option<(Decimal, Option<char>)> {
    let text = std::str::from_utf8(text).ok()?;
    let (negative, text) = match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        Some(inner) => (true, inner),
        None => text.strip_prefix('-').map_or((false, text), |rest| (true, rest)),
    };
    let sign = text.chars().next().filter(|first| matches!(first, '$' | '€' | '£' | '¥'));
    let text = sign.map_or(text, |sign| text[sign.len_utf8()..].trim_start());
    let value = grouped(text, sign.is_some())?;
    Some((if negative { -value } else { value }, sign))
}

fn looks_like_decimal_comma(text: &[u8]) -> bool {
    memchr::memchr_iter(b',', text).count() == 1
        && text.iter().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'.' | b'-' | b'+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_the_times_that_exports_write() {
        for (text, expected) in [
            ("2026-08-01T00:00:00Z", "2026-08-01T00:00:00Z"),
            ("2026-08-01T01:02:03.004Z", "2026-08-01T01:02:03Z"),
            ("2026-08-01 00:00:00+00:00", "2026-08-01T00:00:00Z"),
            ("2026-08-01 00:00:00.000Z", "2026-08-01T00:00:00Z"),
            ("2026-08-01 00:00:00 UTC", "2026-08-01T00:00:00Z"),
            ("2022-08-02 01:11:12.066000+00:00", "2022-08-02T01:11:12Z"),
            ("2024-09-01 00:00:00", "2024-09-01T00:00:00Z"),
            ("2024-09-01", "2024-09-01T00:00:00Z"),
            ("2023-11-13T10:00Z", "2023-11-13T10:00:00Z"),
            ("2026-08-01T00:00:00-05:00", "2026-08-01T05:00:00Z"),
            ("2026-08-01T00:00:00+0530", "2026-07-31T18:30:00Z"),
            ("4/1/25", "2025-04-01T00:00:00Z"),
            ("12/31/2025 9:05", "2025-12-31T09:05:00Z"),
        ] {
            assert_eq!(
                time(text.as_bytes(), DateOrder::MonthFirst),
                Some(expected.parse().unwrap()),
                "{text}"
            );
        }
    }

    #[test]
    fn it_reads_dates_with_slashes_in_the_order_of_the_file() {
        for (text, order, expected) in [
            ("01/10/2026", DateOrder::DayFirst, Some("2026-10-01T00:00:00Z")),
            ("01/10/2026", DateOrder::MonthFirst, Some("2026-01-10T00:00:00Z")),
            ("01/10/2026", DateOrder::Undecided, None),
            ("31/12/25 23:30", DateOrder::DayFirst, Some("2025-12-31T23:30:00Z")),
            ("31/12/25", DateOrder::MonthFirst, None),
            ("2026-10-01", DateOrder::Undecided, Some("2026-10-01T00:00:00Z")),
        ] {
            let expected = expected.map(|time| time.parse().unwrap());
            assert_eq!(time(text.as_bytes(), order), expected, "{text} {order:?}");
        }
    }

    #[test]
    fn it_refuses_what_is_no_time() {
        for text in [
            "",
            "NULL",
            "2026-13-01",
            "2026-02-30T00:00:00Z",
            "2026-08-01T24:00:00Z",
            "2026-08-01Tnoon",
            "2026-08-01T00:00:00X",
            "31/12/2025",
            "1/2/3",
            "1754006400",
            "0001-01-01T00:00:00Z",
            "2026-08-01T00:00:00.Z",
            "٢٠٢٦-08-01",
        ] {
            assert_eq!(time(text.as_bytes(), DateOrder::MonthFirst), None, "{text}");
        }
    }

    #[test]
    fn it_reads_amounts_as_spreadsheets_dress_them() {
        for (text, currency, expected) in [
            ("1.50", "USD", "1.50"),
            ("$50,000.00 ", "USD", "50000.00"),
            (" 0.00 ", "USD", "0.00"),
            ("-$5", "CAD", "-5"),
            ("(1,234.5)", "USD", "-1234.5"),
            ("$1,234", "usd", "1234"),
            ("€ 3", "EUR", "3"),
            ("¥ 3", "CNY", "3"),
            // Rejected for the currency that it lacks.
            ("€ 3", "", "3"),
        ] {
            assert_eq!(amount(text.as_bytes(), currency.as_bytes()).unwrap().to_string(), expected, "{text}");
        }
        assert_eq!(
            amount("€ 3".as_bytes(), b"USD").unwrap_err(),
            "an amount in USD, the currency of its row: € is the sign of EUR"
        );
        for text in
            ["1.234,56", "159.36,", "", "1,234", "12,50", "1,23.0", "$", "--1", "(-1)", "1 2", "N/A", "0x10"]
        {
            assert!(amount(text.as_bytes(), b"USD").is_err(), "{text}");
        }
        assert!(amount(b"12,50", b"USD").unwrap_err().contains("decimal comma"));
    }
}
