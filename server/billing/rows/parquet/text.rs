//! Values of Parquet's types as text, as a CSV of the same export writes them.

use std::fmt::Write as _;

use chrono::{DateTime, Datelike as _, NaiveDate, Timelike as _};
use ethnum::I256;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::schema::types::ColumnDescriptor;

/// What the bits of a column mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Unsigned,
    /// A whole number, divided by ten to this power.
    Decimal(u32),
    Date,
    /// So many in a second.
    Timestamp(i64),
    Time(i64),
    Text,
    Uuid,
    /// Of no meaning that is known: digits in base 16.
    Bytes,
}

/// The values of some rows of a column.
pub(super) enum Values {
    Boolean(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

/// What was written last of a column: most numbers and times are those of the row before, and to make text of them takes
/// longer than to copy it.
#[derive(Default)]
pub(super) struct Written {
    bits: u64,
    /// Empty where nothing was written.
    text: Vec<u8>,
}

impl Written {
    /// Appends the text of these bits, which `write` makes.
    fn write(&mut self, bits: u64, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        if self.bits == bits && !self.text.is_empty() {
            return out.extend_from_slice(&self.text);
        }
        let start = out.len();
        write(out);
        self.bits = bits;
        self.text.clear();
        self.text.extend_from_slice(&out[start..]);
    }
}

impl Kind {
    /// By the annotation of the column; old files have the converted type alone.
    pub fn of(column: &ColumnDescriptor) -> Self {
        let physical = column.physical_type();
        // What is negative is more than any decimal has.
        let decimal = |scale: i32| Self::Decimal(u32::try_from(scale).unwrap_or(u32::MAX));
        match column.logical_type_ref() {
            Some(LogicalType::Decimal(decimal_type)) => return decimal(decimal_type.scale),
            Some(LogicalType::Date) => return Self::Date,
            Some(LogicalType::Timestamp(of)) => return Self::Timestamp(per_second(of.unit)),
            Some(LogicalType::Time(of)) => return Self::Time(per_second(of.unit)),
            Some(LogicalType::Integer(of)) if !of.is_signed => return Self::Unsigned,
            Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) => return Self::Text,
            Some(LogicalType::Uuid) => return Self::Uuid,
            _ => {}
        }
        match column.converted_type() {
            ConvertedType::DECIMAL => decimal(column.type_scale()),
            ConvertedType::DATE => Self::Date,
            ConvertedType::TIMESTAMP_MILLIS => Self::Timestamp(1_000),
            ConvertedType::TIMESTAMP_MICROS => Self::Timestamp(1_000_000),
            ConvertedType::TIME_MILLIS => Self::Time(1_000),
            ConvertedType::TIME_MICROS => Self::Time(1_000_000),
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Self::Unsigned,
            // What says nothing of itself is text in all exports that are known.
            _ if physical == Physical::BYTE_ARRAY => Self::Text,
            _ if physical == Physical::FIXED_LEN_BYTE_ARRAY => Self::Bytes,
            _ => Self::Plain,
        }
    }

    /// Whether a value stands in quotes in JSON.
    pub fn is_quoted(self, values: &Values) -> bool {
        match self {
            Self::Plain | Self::Unsigned | Self::Decimal(_) => matches!(values, Values::Int96(_)),
            _ => true,
        }
    }
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::MILLIS => 1_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    }
}

impl Values {
    pub fn of(physical: Physical) -> Self {
        match physical {
            Physical::BOOLEAN => Self::Boolean(Vec::new()),
            Physical::INT32 => Self::Int32(Vec::new()),
            Physical::INT64 => Self::Int64(Vec::new()),
            Physical::INT96 => Self::Int96(Vec::new()),
            Physical::FLOAT => Self::Float(Vec::new()),
            Physical::DOUBLE => Self::Double(Vec::new()),
            Physical::BYTE_ARRAY => Self::Bytes(Vec::new()),
            Physical::FIXED_LEN_BYTE_ARRAY => Self::Fixed(Vec::new()),
        }
    }

    /// Appends a value; nothing where there is none, as of a file that contradicts itself.
    pub fn write(&self, at: usize, kind: Kind, written: &mut Written, out: &mut Vec<u8>) {
        match self {
            Self::Boolean(values) => {
                let word = values.get(at).map(|value| if *value { "true" } else { "false" });
                out.extend_from_slice(word.unwrap_or_default().as_bytes());
            }
            Self::Int32(values) => {
                let Some(value) = values.get(at) else { return };
                let value =
                    if kind == Kind::Unsigned { i128::from(*value as u32) } else { i128::from(*value) };
                number(value, kind, out);
            }
            Self::Int64(values) => {
                let Some(value) = values.get(at) else { return };
                let bits = *value as u64;
                let value = if kind == Kind::Unsigned { i128::from(bits) } else { i128::from(*value) };
                written.write(bits, out, |out| number(value, kind, out));
            }
            Self::Int96(values) => {
                let Some(value) = values.get(at) else { return };
                timestamp(value.to_nanos(), 1_000_000_000, out);
            }
            Self::Float(values) => {
                if let Some(value) = values.get(at) {
                    float(*value, out);
                }
            }
            Self::Double(values) => {
                let Some(value) = values.get(at) else { return };
                written.write(value.to_bits(), out, |out| float(*value, out));
            }
            Self::Bytes(values) => {
                if let Some(value) = values.get(at) {
                    bytes(value.data(), kind, out);
                }
            }
            Self::Fixed(values) => {
                if let Some(value) = values.get(at) {
                    bytes(value.data(), kind, out);
                }
            }
        }
    }
}

fn number(value: i128, kind: Kind, out: &mut Vec<u8>) {
    match kind {
        Kind::Decimal(scale) => decimal(&value.to_string(), scale, out),
        Kind::Date => {
            let day = i32::try_from(value).ok().and_then(NaiveDate::from_epoch_days);
            match day {
                Some(day) => say(out, format_args!("{day}")),
                None => say(out, format_args!("{value} days")),
            }
        }
        Kind::Timestamp(per_second) => timestamp(value as i64, per_second, out),
        Kind::Time(per_second) => {
            let seconds = value / i128::from(per_second);
            say(out, format_args!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60));
        }
        _ => say(out, format_args!("{value}")),
    }
}

/// In UTC, as a CSV has it; without a fraction where there is none.
fn timestamp(value: i64, per_second: i64, out: &mut Vec<u8>) {
    let nanos = (value.rem_euclid(per_second) * (1_000_000_000 / per_second)) as u32;
    match DateTime::from_timestamp(value.div_euclid(per_second), nanos) {
        // By hand: a bill has millions, and to interpret a pattern for each takes a sixth of the import.
        Some(time) if nanos == 0 && (0..10_000).contains(&time.year()) => {
            let year = time.year() as u32;
            digits(out, year / 100, b"");
            for (number, before) in [
                (year % 100, &b""[..]),
                (time.month(), b"-"),
                (time.day(), b"-"),
                (time.hour(), b"T"),
                (time.minute(), b":"),
                (time.second(), b":"),
            ] {
                digits(out, number, before);
            }
            out.push(b'Z');
        }
        Some(time) => say(out, format_args!("{}", time.format("%Y-%m-%dT%H:%M:%S%.fZ"))),
        None => say(out, format_args!("{value} parts of a second, {per_second} in each")),
    }
}

/// The two digits of a number below a hundred.
fn digits(out: &mut Vec<u8>, number: u32, before: &[u8]) {
    out.extend_from_slice(before);
    out.extend_from_slice(&[b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
}

/// The shortest text that is this number and no other.
pub(in crate::billing::rows) fn float(value: impl zmij::Float + std::fmt::Display, out: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(value);
    // Without powers of ten, which people do not read.
    if text.contains('e') {
        return say(out, format_args!("{value}"));
    }
    out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

/// Puts the point into a whole number.
fn decimal(digits: &str, scale: u32, out: &mut Vec<u8>) {
    if scale > MOST_DECIMALS {
        return say(out, format_args!("a decimal with {scale} digits behind the point"));
    }
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let scale = scale as usize;
    out.extend_from_slice(sign.as_bytes());
    if scale == 0 {
        out.extend_from_slice(digits.as_bytes());
        return;
    }
    let whole = digits.len().saturating_sub(scale);
    out.extend_from_slice(if whole == 0 { b"0" } else { &digits.as_bytes()[..whole] });
    out.push(b'.');
    out.extend(std::iter::repeat_n(b'0', scale.saturating_sub(digits.len())));
    out.extend_from_slice(&digits.as_bytes()[whole..]);
}

/// Bytes of the widest decimal that any engine writes: BigQuery's `BIGNUMERIC`.
const WIDEST: usize = 32;
/// Digits of it behind the point, at most. A file may state any number of them, and each would be written.
const MOST_DECIMALS: u32 = 76;

fn bytes(value: &[u8], kind: Kind, out: &mut Vec<u8>) {
    match kind {
        Kind::Decimal(scale) => match (value, WIDEST.checked_sub(value.len())) {
            ([first, rest @ ..], _) if value.len() <= size_of::<i128>() => {
                let first = i128::from(*first as i8);
                let number = rest.iter().fold(first, |number, byte| number << 8 | i128::from(*byte));
                decimal(&number.to_string(), scale, out);
            }
            ([first, ..], Some(missing)) => {
                let mut wide = [if *first > 127 { 0xff } else { 0 }; WIDEST];
                wide[missing..].copy_from_slice(value);
                decimal(&I256::from_be_bytes(wide).to_string(), scale, out);
            }
            // No number, so that none is made of it.
            _ => say(out, format_args!("a decimal of {} bytes", value.len())),
        },
        Kind::Uuid if value.len() == 16 => {
            for (at, byte) in value.iter().enumerate() {
                let hyphen = if matches!(at, 4 | 6 | 8 | 10) { "-" } else { "" };
                say(out, format_args!("{hyphen}{byte:02x}"));
            }
        }
        Kind::Text => out.extend_from_slice(value),
        _ => value.iter().for_each(|byte| say(out, format_args!("{byte:02x}"))),
    }
}

fn say(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    struct Into<'o>(&'o mut Vec<u8>);
    impl std::fmt::Write for Into<'_> {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }
    // Nothing that writes into memory fails.
    let _ = Into(out).write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(values: &Values, kind: Kind) -> String {
        let mut out = Vec::new();
        values.write(0, kind, &mut Written::default(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn decimals_have_their_point_and_every_digit() {
        for (value, scale, expected) in [
            (0, 2, "0.00"),
            (5, 2, "0.05"),
            (-5, 3, "-0.005"),
            (12_345, 2, "123.45"),
            (-7, 0, "-7"),
            (100, 2, "1.00"),
        ] {
            assert_eq!(text(&Values::Int64(vec![value]), Kind::Decimal(scale)), expected);
            for width in [8, 16, 20, 32] {
                let filler = if value < 0 { 255u8 } else { 0 };
                let bytes = [&vec![filler; width - 8][..], &value.to_be_bytes()].concat();
                assert_eq!(
                    text(&Values::Bytes(vec![bytes.into()]), Kind::Decimal(scale)),
                    expected,
                    "{width}"
                );
            }
        }
        for (value, scale) in [(vec![], 2), (vec![0x12; 33], 2), (vec![1], 77), (vec![1], u32::MAX)] {
            let none = text(&Values::Bytes(vec![value.into()]), Kind::Decimal(scale));
            assert!(none.starts_with("a decimal "), "{none}");
        }
        assert!(text(&Values::Int64(vec![5]), Kind::Decimal(u32::MAX)).starts_with("a decimal "));
        let most = [&[0x7f][..], &[0xff; 31]].concat();
        assert_eq!(
            text(&Values::Bytes(vec![most.into()]), Kind::Decimal(38)),
            "578960446186580977117854925043439539266.34992332820282019728792003956564819967"
        );
    }

    #[test]
    fn a_number_after_another_is_its_own() {
        let values = Values::Double(vec![0.5, 0.5, -0.0, 0.0, 0.5]);
        let (mut written, mut out) = (Written::default(), Vec::new());
        for at in 0..5 {
            values.write(at, Kind::Plain, &mut written, &mut out);
            out.push(b' ');
        }
        assert_eq!(String::from_utf8(out).unwrap(), "0.5 0.5 -0 0 0.5 ");
    }

    #[test]
    fn times_are_in_utc_whatever_their_unit() {
        for (value, per_second, expected) in [
            (1_788_220_800_000, 1_000, "2026-09-01T00:00:00Z"),
            (1_788_220_800_500_000, 1_000_000, "2026-09-01T00:00:00.500Z"),
            (1_788_220_800_000_000_001, 1_000_000_000, "2026-09-01T00:00:00.000000001Z"),
            (-1, 1_000, "1969-12-31T23:59:59.999Z"),
            (-1, 1, "1969-12-31T23:59:59Z"),
            (-62_167_219_200, 1, "0000-01-01T00:00:00Z"),
            (-62_167_219_201, 1, "-0001-12-31T23:59:59Z"),
            (253_402_300_799, 1, "9999-12-31T23:59:59Z"),
            (253_402_300_800, 1, "+10000-01-01T00:00:00Z"),
        ] {
            assert_eq!(text(&Values::Int64(vec![value]), Kind::Timestamp(per_second)), expected);
        }
        assert_eq!(text(&Values::Int32(vec![20_697]), Kind::Date), "2026-09-01");
        let mut old = Int96::new();
        old.set_data(0, 0, 2_440_588 + 20_697);
        assert_eq!(text(&Values::Int96(vec![old]), Kind::Plain), "2026-09-01T00:00:00Z");
    }

    #[test]
    fn numbers_are_the_shortest_that_are_the_same() {
        assert_eq!(text(&Values::Double(vec![0.1]), Kind::Plain), "0.1");
        assert_eq!(text(&Values::Double(vec![1e-20]), Kind::Plain), "0.00000000000000000001");
        assert_eq!(text(&Values::Float(vec![0.1]), Kind::Plain), "0.1");
        for value in [0.0, 12.0, 1e16, 1e17, 1e300, 123_456_789.125, 1e-5, 1e-6, f64::MIN_POSITIVE, f64::NAN]
        {
            for value in [value, -value, f64::INFINITY] {
                assert_eq!(text(&Values::Double(vec![value]), Kind::Plain), value.to_string());
            }
        }
        assert_eq!(text(&Values::Int64(vec![-1]), Kind::Unsigned), "18446744073709551615");
        assert_eq!(text(&Values::Int32(vec![-1]), Kind::Unsigned), "4294967295");
        assert_eq!(text(&Values::Boolean(vec![true]), Kind::Plain), "true");
        assert_eq!(text(&Values::Bytes(vec![]), Kind::Text), "");
    }
}
