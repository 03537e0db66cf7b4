//! What a cell holds, as text.

use std::io::Write as _;

use calamine::{DataRef, ExcelDateTime};
use chrono::{Days, NaiveDate};

use crate::billing::rows::parquet::float;
use crate::billing::rows::record::quote;

/// What a cell that is merged over several rows is in those below the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merged {
    Repeated,
    Once,
}

/// How a workbook writes its cells.
#[derive(Clone, Copy)]
pub(super) struct Writing {
    /// Before the decimals of a number.
    pub decimal: u8,
    /// Whether days are counted from 1904 on, as once on Macintosh.
    pub is_1904: bool,
}

impl Writing {
    /// Appends the text of a cell: nothing for one without a value.
    pub fn write(self, value: &DataRef<'_>, out: &mut Vec<u8>) -> Merged {
        match value {
            DataRef::Empty => {}
            DataRef::SharedString(text) => return written(text, out),
            DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
                return written(text, out);
            }
            DataRef::DateTime(time) => {
                if self.time(time, out).is_some() {
                    return Merged::Repeated;
                }
                self.number(time.as_f64(), out);
            }
            DataRef::Int(number) => say(out, format_args!("{number}")),
            DataRef::Float(number) => self.number(*number, out),
            DataRef::Bool(is_true) => say(out, format_args!("{is_true}")),
            DataRef::Error(error) => say(out, format_args!("{error}")),
        }
        Merged::Once
    }

    fn number(self, number: f64, out: &mut Vec<u8>) {
        let start = out.len();
        float(number, out);
        if let Some(point) = out[start..].iter().position(|byte| *byte == b'.') {
            out[start + point] = self.decimal;
        }
    }

    /// Appends a date, a time or a duration to the second; `None` of what is none.
    fn time(self, time: &ExcelDateTime, out: &mut Vec<u8>) -> Option<()> {
        const DAY: u32 = 24 * 60 * 60;
        /// Of the year 10000.
        const BEHIND_LAST: f64 = 2_958_466.0;
        let days = time.as_f64();
        if !(0.0..BEHIND_LAST).contains(&days) {
            return None;
        }
        let seconds = (days * f64::from(DAY)).round() as u64;
        let clock = |seconds: u64| (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let (day, rest) = (seconds / u64::from(DAY), seconds % u64::from(DAY));
        if time.is_duration() || day == 0 {
            let (hours, minutes, seconds) = clock(seconds);
            say(out, format_args!("{hours:02}:{minutes:02}:{seconds:02}"));
            return Some(());
        }
        let before_first = match (self.is_1904, day) {
            (true, _) => NaiveDate::from_ymd_opt(1904, 1, 1),
            // There is a February 29 of 1900, as in the program whose files the first version had to read.
            (false, ..60) => NaiveDate::from_ymd_opt(1899, 12, 31),
            (false, _) => NaiveDate::from_ymd_opt(1899, 12, 30),
        };
        let date = before_first?.checked_add_days(Days::new(day))?;
        say(out, format_args!("{date}"));
        if rest > 0 {
            let (hours, minutes, seconds) = clock(rest);
            say(out, format_args!("T{hours:02}:{minutes:02}:{seconds:02}"));
        }
        Some(())
    }
}

/// A text as it is; nothing of one that is blank.
fn written(text: &str, out: &mut Vec<u8>) -> Merged {
    if !text.trim().is_empty() {
        let start = out.len();
        out.extend_from_slice(text.as_bytes());
        quote(out, start);
    }
    Merged::Repeated
}

fn say(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Nothing that writes into memory fails.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use calamine::{CellErrorType, ExcelDateTimeType};

    use super::*;

    fn text(value: &DataRef<'_>, decimal: u8) -> String {
        let mut out = Vec::new();
        Writing { decimal, is_1904: false }.write(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_the_shortest_text_with_the_decimals_of_the_file() {
        for (number, point, comma) in [
            (0.1, "0.1", "0,1"),
            (1200.0, "1200", "1200"),
            (-1234.5, "-1234.5", "-1234,5"),
            (0.1 + 0.2, "0.30000000000000004", "0,30000000000000004"),
            (0.000_000_5, "0.0000005", "0,0000005"),
        ] {
            let number = DataRef::Float(number);
            assert_eq!((text(&number, b'.'), text(&number, b',')), (point.to_owned(), comma.to_owned()));
        }
        assert_eq!(text(&DataRef::Bool(true), b'.'), "true");
        assert_eq!(text(&DataRef::Error(CellErrorType::NA), b'.'), "#N/A");
        assert_eq!(text(&DataRef::SharedString("\"a\""), b'.'), "\"\"\"a\"\"\"");
        assert_eq!(text(&DataRef::SharedString(" \t"), b'.'), "");
    }

    #[test]
    fn dates_are_days_of_either_system() {
        for (days, is_1904, expected) in [
            (46_268.0, false, "2026-09-03"),
            (44_806.0, true, "2026-09-03"),
            (46_268.604_166_666_664, false, "2026-09-03T14:30:00"),
            (46_267.999_999_999, false, "2026-09-03"),
            (59.0, false, "1900-02-28"),
            (61.0, false, "1900-03-01"),
            (0.604_166_666_666_666_6, false, "14:30:00"),
            (-1.0, false, "-1"),
            (1e300, false, &format!("1{}", "0".repeat(300))),
        ] {
            let time = ExcelDateTime::new(days, ExcelDateTimeType::DateTime, is_1904);
            let mut out = Vec::new();
            Writing { decimal: b'.', is_1904 }.write(&DataRef::DateTime(time), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
        let month = ExcelDateTime::new(30.0, ExcelDateTimeType::TimeDelta, false);
        assert_eq!(text(&DataRef::DateTime(month), b'.'), "720:00:00");
    }
}
