//! Cells to values: timestamps, amounts, currencies, text. Fast for what exports write, tolerant of what
//! spreadsheets make of it, and never guessing.

use std::borrow::Cow;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use crate::money::{Currency, Decimal, grouped};

pub(super) const A_TIME: &str = "a time such as 2026-08-01T00:00:00Z";
pub(super) const AN_AMOUNT: &str = "a decimal number such as 12.50 or 5e-06";

/// Empty, or the literal null of the exports that spell it.
pub(super) fn is_null(text: &[u8]) -> bool {
    matches!(text, b"" | b"NULL" | b"null" | b"Null")
}

/// `2026-08-01T00:00:00Z` and its kin: blank for `T`, fractions of a second, no zone (UTC), `UTC`, offsets,
/// date only, and the American `4/1/25` of the FOCUS specification's own examples.
pub(super) fn time(text: &[u8]) -> Option<DateTime<Utc>> {
    let text = text.trim_ascii();
    match text {
        [_, _, _, _, b'-', _, _, b'-', _, _, rest @ ..] => {
            let year = digits(&text[..4])? as i32;
            let date = NaiveDate::from_ymd_opt(year, digits(&text[5..7])?, digits(&text[8..10])?)?;
            clock(date, rest)
        }
        _ => american(text),
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

/// Month, day, year; a day first is not guessed at.
fn american(text: &[u8]) -> Option<DateTime<Utc>> {
    let text = std::str::from_utf8(text).ok()?;
    let (date, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
    let mut parts = date.split('/');
    let (month, day, year) = (parts.next()?, parts.next()?, parts.next()?);
    let fits = (1..=2).contains(&month.len()) && (1..=2).contains(&day.len()) && parts.next().is_none();
    let year = match year.len() {
        2 => 2000 + digits(year.as_bytes())?,
        4 => digits(year.as_bytes())?,
        _ => return None,
    };
    let date = NaiveDate::from_ymd_opt(year as i32, digits(month.as_bytes())?, digits(day.as_bytes())?)?;
    let padded = match rest.as_bytes() {
        [b' ', hour, b':', ..] => format!(" 0{}{}", *hour as char, &rest[2..]),
        _ => rest.to_owned(),
    };
    fits.then(|| clock(date, padded.as_bytes())).flatten()
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
    pub fn read(&mut self, text: &[u8]) -> Option<DateTime<Utc>> {
        if self.length == text.len() && self.length > 0 && &self.text[..self.length] == text {
            return self.time;
        }
        let time = time(text);
        if text.len() <= self.text.len() {
            self.text[..text.len()].copy_from_slice(text);
            self.length = text.len();
            self.time = time;
        }
        time
    }
}

/// Why a cell is no amount; completes "expected …".
pub(super) fn amount(text: &[u8]) -> Result<Decimal, Cow<'static, str>> {
    match Decimal::parse(text) {
        Ok(amount) => Ok(amount),
        Err(error) => dressed(text.trim_ascii()).ok_or_else(|| {
            if looks_like_decimal_comma(text.trim_ascii()) {
                "a number with a decimal point such as 12.50; a decimal comma means that a spreadsheet \
                 saved this file again"
                    .into()
            } else {
                error.to_string().into()
            }
        }),
    }
}

/// Amounts as spreadsheets write them: `$50,000.00 `, `-$5`, `(5.00)`.
fn dressed(text: &[u8]) -> Option<Decimal> {
    let text = std::str::from_utf8(text).ok()?;
    let (negative, text) = match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        Some(inner) => (true, inner),
        None => text.strip_prefix('-').map_or((false, text), |rest| (true, rest)),
    };
    let (has_sign, text) = match text.strip_prefix(['$', '€', '£', '¥']) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    let value = grouped(text, has_sign)?;
    Some(if negative { -value } else { value })
}

fn looks_like_decimal_comma(text: &[u8]) -> bool {
    memchr::memchr_iter(b',', text).count() == 1
        && text.iter().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'.' | b'-' | b'+'))
}

/// Writes the currency in canonical form into `out`; false where the text is none.
pub(super) fn currency(text: &[u8], out: &mut String) -> bool {
    if let &[a, b, c] = text
        && text.iter().all(u8::is_ascii_alphabetic)
    {
        out.extend([a, b, c].map(|letter| letter.to_ascii_uppercase() as char));
        return true;
    }
    match std::str::from_utf8(text).ok().and_then(Currency::parse) {
        Some(currency) => {
            out.push_str(currency.as_str());
            true
        }
        None => false,
    }
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
            assert_eq!(time(text.as_bytes()), Some(expected.parse().unwrap()), "{text}");
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
            assert_eq!(time(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn it_reads_amounts_as_spreadsheets_dress_them() {
        for (text, expected) in [
            ("1.50", "1.50"),
            ("$50,000.00 ", "50000.00"),
            (" 0.00 ", "0.00"),
            ("-$5", "-5"),
            ("(1,234.5)", "-1234.5"),
            ("$1,234", "1234"),
            ("€ 3", "3"),
        ] {
            assert_eq!(amount(text.as_bytes()).unwrap().to_string(), expected, "{text}");
        }
        for text in
            ["1.234,56", "159.36,", "", "1,234", "12,50", "1,23.0", "$", "--1", "(-1)", "1 2", "N/A", "0x10"]
        {
            assert!(amount(text.as_bytes()).is_err(), "{text}");
        }
        assert!(amount(b"12,50").unwrap_err().contains("decimal comma"));
    }

    #[test]
    fn it_reads_currencies() {
        for (text, expected) in
            [("USD", Some("USD")), ("eur", Some("EUR")), ("Token", Some("Token")), ("12", None), ("", None)]
        {
            let mut out = String::new();
            let found = currency(text.as_bytes(), &mut out);
            assert_eq!(found.then_some(out.as_str()), expected, "{text}");
        }
    }
}
