//! Numbers with commas between their thousands, as spreadsheets and people write them.

use super::Decimal;

/// Reads `1,234.5`, `1234.5` and `1,234,567`: no sign, commas between thousands only where it is plain that they are
/// that. In `1,234` alone the comma could stand before decimals, so it is taken only where something else `is_plain`,
/// as the sign of a currency is. `None` for everything else, `1.234,56` too: which of the two is meant is not guessed.
pub fn grouped(text: &str, is_plain: bool) -> Option<Decimal> {
    if text.starts_with(['+', '-']) {
        return None;
    }
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, rest)| (whole, Some(rest)));
    if fraction.is_some_and(|fraction| fraction.contains(',')) {
        return None;
    }
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let others: Vec<&str> = groups.collect();
    let is_grouped = (1..=3).contains(&first.len()) && others.iter().all(|group| group.len() == 3);
    let is_unambiguous = fraction.is_some() || others.len() > 1 || is_plain;
    let is_whole = others.is_empty();
    if !(is_whole || is_grouped && is_unambiguous) {
        return None;
    }
    Decimal::parse(text.replace(',', "").as_bytes()).ok()
}

/// Both ways to read `300.000`, each written so that it has one: `300000`, where the point stands between thousands, and
/// `300.00`, where it stands before decimals. `None` of what can be read in one way alone, as `0.125`, `300.00` and
/// `3000.000` can.
pub fn two_readings(text: &str) -> Option<(String, String)> {
    let (whole, fraction) = text.split_once('.')?;
    let are_digits = [whole, fraction].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    if !are_digits || !(1..=3).contains(&whole.len()) || whole.starts_with('0') || fraction.len() != 3 {
        return None;
    }
    let decimals = match fraction.strip_suffix('0') {
        Some(fraction) => format!("{whole}.{fraction}"),
        None => format!("{whole}.{fraction}0"),
    };
    Some((format!("{whole}{fraction}"), decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_are_read_where_they_can_only_stand_between_thousands() {
        for (text, expected) in [
            ("1200", Some("1200")),
            ("1,200.5", Some("1200.5")),
            ("12,920,931", Some("12920931")),
            ("1,200", None),
            ("1,20", None),
            ("12,92,931.15", None),
            ("1234,567.8", None),
            ("1.234,56", None),
            ("-1", None),
            (",200.5", None),
            ("1,200,", None),
            ("", None),
        ] {
            assert_eq!(grouped(text, false), expected.map(|text| text.parse().unwrap()), "{text:?}");
        }
        assert_eq!(grouped("1,200", true), Some(Decimal::from(1200)));
    }

    #[test]
    fn a_point_before_three_digits_can_be_read_in_two_ways() {
        for (text, expected) in [
            ("300.000", Some(("300000", "300.00"))),
            ("1.234", Some(("1234", "1.2340"))),
            ("12.500", Some(("12500", "12.50"))),
            ("0.125", None),
            ("3000.000", None),
            ("300.00", None),
            ("300.0000", None),
            ("300.", None),
            (".300", None),
            ("1.234.567", None),
            ("1,234.567", None),
            ("300.00e", None),
            ("300000", None),
        ] {
            let expected = expected.map(|(thousands, decimals)| (thousands.to_owned(), decimals.to_owned()));
            assert_eq!(two_readings(text), expected, "{text:?}");
            for reading in expected.iter().flat_map(|(thousands, decimals)| [thousands, decimals]) {
                assert_eq!(two_readings(reading), None, "{reading:?}");
            }
            if let Some((_, decimals)) = expected {
                assert_eq!(grouped(&decimals, false), grouped(text, false));
            }
        }
    }
}
