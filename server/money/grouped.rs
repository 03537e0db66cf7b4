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
    let is_told = fraction.is_some() || others.len() > 1 || is_plain;
    let is_whole = others.is_empty();
    if !(is_whole || is_grouped && is_told) {
        return None;
    }
    Decimal::parse(text.replace(',', "").as_bytes()).ok()
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
}
