//! Values that would look alike on a page.

/// The value with the spaces at its ends as marks: `vision` and `vision ` are two values, and which is which must be
/// seen. Whoever wrote them decides whether they mean the same.
pub fn with_visible_ends(value: &str) -> String {
    let inner = value.trim();
    if inner.len() == value.len() {
        return value.to_owned();
    }
    let (before, after) = value.split_at(value.len() - value.trim_start().len());
    let marks = |spaces: &str| "␣".repeat(spaces.chars().count());
    format!("{}{inner}{}", marks(before), marks(&after[inner.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_at_the_ends_are_seen() {
        for (value, seen) in [
            ("vision", "vision"),
            ("deep learning", "deep learning"),
            ("vision ", "vision␣"),
            ("  vision", "␣␣vision"),
            ("\tvision\u{a0}", "␣vision␣"),
            (" ", "␣"),
            ("", ""),
        ] {
            assert_eq!(with_visible_ends(value), seen, "{value:?}");
        }
    }
}
