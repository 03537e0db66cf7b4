//! How texts that people write are compared: tags are typed by hand, and in many places.

/// A value as it is compared: `Vision`, `vision ` and `VISION` are one, and so are `a  b` and `a b`.
pub fn normalized(text: &str) -> String {
    // Nearly all are so already, and a mapping asks of a million.
    if text.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase()) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out
}

/// A tag's key as it is compared: as a value, and `cost_centre`, `cost centre` and `cost-centre` are one.
pub fn normalized_key(text: &str) -> String {
    let text = normalized(text);
    if text.contains(['_', ' ', '.']) { text.replace(['_', ' ', '.'], "-") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_value_are_one() {
        for spelling in ["Vision", "vision ", "VISION", "\u{a0}vision", "viSion\t"] {
            assert_eq!(normalized(spelling), "vision");
        }
        assert_eq!(normalized("  Computer \n Vision "), "computer vision");
        assert_eq!(normalized(" \t"), "");
        assert_eq!(normalized("ÄRZTE"), "ärzte");
        for key in ["cost_centre", "Cost-Centre", "cost centre", "COST.CENTRE "] {
            assert_eq!(normalized_key(key), "cost-centre");
        }
    }
}
