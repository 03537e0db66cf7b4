//! How amounts stand in a sentence or a cell.

use super::Decimal;

/// As wide as a plus, unlike the hyphen.
const MINUS: char = '\u{2212}';

/// An amount rounded half to even, with commas and a true minus: `12,920,931.15`. What rounds to zero has no sign.
pub fn written(amount: Decimal, places: u8) -> String {
    let amount = amount.round(places);
    let text = amount.abs().to_string();
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let mut out = String::with_capacity(text.len() + text.len() / 3 + 3);
    if amount.is_negative() {
        out.push(MINUS);
    }
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}
