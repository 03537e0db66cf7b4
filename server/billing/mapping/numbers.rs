//! Amounts as invoices write them: `1.234,50`, `$ 1,234.50`, `(5.00)`, `12,00 EUR`, `5.00-`.

use super::document::Decimals;
use crate::money::{Currency, Decimal};

/// What was expected of a cell that is no amount, completes "expected …".
pub(super) fn an_amount(decimals: Decimals) -> &'static str {
    match decimals {
        Decimals::Point => "an amount with a point before its decimals, such as 1,234.50",
        Decimals::Comma => "an amount with a comma before its decimals, such as 1.234,50",
    }
}

/// What is wrong with an amount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoAmount {
    Unreadable,
    /// It names another currency than this one of its row.
    OtherCurrency(String),
}

/// The amount that a cell holds; `None` where it is empty or a dash.
pub(super) fn amount(text: &str, decimals: Decimals, currency: &str) -> Result<Option<Decimal>, NoAmount> {
    let text = text.trim();
    if matches!(text, "" | "-" | "–" | "—") || text.eq_ignore_ascii_case("null") {
        return Ok(None);
    }
    let (mut is_negative, mut text) = match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        Some(inner) => (true, inner.trim()),
        None => (false, text),
    };
    let mut has_sign = is_negative;
    loop {
        let minus = ['-', '−'];
        let (rest, is_minus) =
            if let Some(rest) = text.strip_prefix(minus).or_else(|| text.strip_suffix(minus)) {
                (rest, true)
            } else if let Some((rest, named)) = without_currency(text) {
                check_currency(named, currency)?;
                (rest, false)
            } else if let Some(rest) = text.strip_prefix('+') {
                (rest, false)
            } else {
                break;
            };
        if is_minus {
            if has_sign {
                return Err(NoAmount::Unreadable);
            }
            (is_negative, has_sign) = (true, true);
        }
        text = rest.trim();
    }
    let value = plain(text, decimals).ok_or(NoAmount::Unreadable)?;
    Ok(Some(if is_negative { -value } else { value }))
}

/// Takes the currency off the start or the end of a text.
fn without_currency(text: &str) -> Option<(&str, &str)> {
    let is_of_name = |c: char| c.is_alphabetic() || matches!(c, '$' | '€' | '£' | '¥' | '₹' | '₩');
    let front = text.find(|c| !is_of_name(c)).unwrap_or(text.len());
    if front > 0 {
        return Some((&text[front..], &text[..front]));
    }
    let back = text
        .rfind(|c| !is_of_name(c))
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    (back < text.len()).then(|| (&text[..back], &text[back..]))
}

/// Whether what an amount names is the currency of its row.
fn check_currency(named: &str, currency: &str) -> Result<(), NoAmount> {
    let sign = named.chars().find(|c| !c.is_alphabetic());
    let agrees = match sign {
        Some(sign) => crate::billing::currency::disagreement(sign, currency).is_none(),
        None => named.eq_ignore_ascii_case(currency),
    };
    if agrees {
        return Ok(());
    }
    let is_code = Currency::parse(&named.to_ascii_uppercase()).is_some_and(|code| code.is_standard());
    Err(if sign.is_some() || is_code {
        NoAmount::OtherCurrency(named.to_owned())
    } else {
        NoAmount::Unreadable
    })
}

/// Digits with at most one mark before decimals, and groups of three before it where they are grouped. An exponent as programs
/// write it.
fn plain(text: &str, decimals: Decimals) -> Option<Decimal> {
    if decimals == Decimals::Point && text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        let plain = Decimal::parse(text.as_bytes());
        if plain.is_ok() {
            return plain.ok();
        }
    }
    let (mark, group) = match decimals {
        Decimals::Point => ('.', ','),
        Decimals::Comma => (',', '.'),
    };
    let (whole, fraction) = text.split_once(mark).map_or((text, ""), |(whole, fraction)| (whole, fraction));
    let is_group = |c: char| c == group || matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\'' | '’');
    let groups: Vec<&str> = whole.split(is_group).collect();
    let first = groups.first()?;
    let is_grouped = groups.len() == 1
        || (1..=3).contains(&first.len()) && groups.iter().skip(1).all(|group| group.len() == 3);
    if !is_grouped || !groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    let whole = groups.concat();
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let written = if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") };
    Decimal::parse(written.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, decimals: Decimals, currency: &str) -> Option<String> {
        amount(text, decimals, currency).ok().flatten().map(|amount| amount.to_string())
    }

    #[test]
    fn amounts_are_read_with_the_decimal_mark_that_was_said() {
        use Decimals::{Comma, Point};
        for (text, decimals, currency, expected) in [
            ("12.50", Point, "USD", Some("12.50")),
            ("1,234.50", Point, "USD", Some("1234.50")),
            ("$ 1,234.50", Point, "USD", Some("1234.50")),
            ("$1,234.50", Point, "CAD", Some("1234.50")),
            ("(1,234.50)", Point, "USD", Some("-1234.50")),
            ("($5.00)", Point, "USD", Some("-5.00")),
            ("-$5.00", Point, "USD", Some("-5.00")),
            ("5.00-", Point, "USD", Some("-5.00")),
            ("−5", Point, "USD", Some("-5")),
            ("USD 7", Point, "USD", Some("7")),
            ("7.5 usd", Point, "USD", Some("7.5")),
            ("1.234,50", Comma, "EUR", Some("1234.50")),
            ("1.234,50 €", Comma, "EUR", Some("1234.50")),
            ("€ -1.234,50", Comma, "EUR", Some("-1234.50")),
            ("1 234,5", Comma, "EUR", Some("1234.5")),
            ("1\u{a0}234,5", Comma, "EUR", Some("1234.5")),
            ("1'234.50", Point, "CHF", Some("1234.50")),
            ("1.234", Comma, "EUR", Some("1234")),
            ("1.234", Point, "EUR", Some("1.234")),
            (".5", Point, "USD", Some("0.5")),
            ("5e-06", Point, "USD", Some("0.000005")),
            ("1,5", Point, "USD", None),
            ("1,23.0", Point, "USD", None),
            ("1.23,0", Comma, "USD", None),
            ("12.50", Comma, "EUR", None),
            ("12 hours", Point, "USD", None),
            ("1.2.3", Point, "USD", None),
            ("--1", Point, "USD", None),
            ("(-1)", Point, "USD", None),
            ("$", Point, "USD", None),
            ("", Point, "USD", None),
            ("-", Point, "USD", None),
        ] {
            assert_eq!(read(text, decimals, currency), expected.map(str::to_owned), "{text:?} {decimals:?}");
        }
    }

    #[test]
    fn an_amount_in_another_currency_than_its_row_is_refused() {
        for (text, currency, expected) in [
            ("€ 5", "USD", NoAmount::OtherCurrency("€".to_owned())),
            ("5 EUR", "USD", NoAmount::OtherCurrency("EUR".to_owned())),
            ("5 pcs", "USD", NoAmount::Unreadable),
        ] {
            assert_eq!(amount(text, Decimals::Point, currency), Err(expected), "{text}");
        }
    }
}
