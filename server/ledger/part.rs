//! Whether two files are parts of one export rather than two versions of it. Pure.
//!
//! Nothing here decides: it says what to offer first where somebody is asked anyway.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::Regex;

use crate::enum_words::words;

words! {
    /// By what another part of the same export is recognized. `reason` completes "it looks like another part of the same
    /// export, since …".
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PartBy: reason {
        /// `cur-00001.csv.gz` and `cur-00002.csv.gz`.
        Name = "the names of the files differ by their number only";
        Days = "one begins where the other ends";
        Keys = "hardly any of its charges are of what is there";
    }
}

/// A date or a time of day, which versions of an export have in their names.
#[expect(clippy::unwrap_used, reason = "the pattern is constant and tested")]
static DATE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(19|20)\d\d[-_.]?[01]\d([-_.]?[0-3]\d)?([T_]\d{4,6}Z?)?").unwrap());
/// How a browser names what it downloads again.
#[expect(clippy::unwrap_used, reason = "the pattern is constant and tested")]
static AGAIN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r" ?\(\d+\)").unwrap());

/// Whether both names are one with another number in one place: `part-1.csv` and `part-2.csv`. Dates are no numbers of
/// parts, and neither is the `(1)` of what was downloaded twice.
pub fn is_next_by_name(one: &str, other: &str) -> bool {
    let (one, other) = (pieces(one), pieces(other));
    let differing: Vec<usize> = (0..one.len().min(other.len())).filter(|at| one[*at] != other[*at]).collect();
    let [at] = differing[..] else { return false };
    let is_version = at > 0 && VERSIONS.iter().any(|word| one[at - 1].ends_with(word));
    one.len() == other.len() && is_number(&one[at]) && is_number(&other[at]) && !is_version
}

/// Whether both names are one: the same file again, perhaps downloaded twice.
pub fn is_same_by_name(one: &str, other: &str) -> bool {
    let plain = |name: &str| AGAIN.replace_all(name, "").to_lowercase();
    plain(one) == plain(other)
}

/// What stands before the number of a version.
const VERSIONS: [&str; 4] = ["v", "ver", "version", "rev"];

/// Runs of digits and what stands between them.
fn pieces(name: &str) -> Vec<String> {
    let name = AGAIN.replace_all(name, "");
    let name = DATE.replace_all(&name, "date");
    let mut pieces: Vec<String> = Vec::new();
    for letter in name.to_lowercase().chars() {
        match pieces.last_mut() {
            Some(last) if is_number(last) == letter.is_ascii_digit() => last.push(letter),
            _ => pieces.push(letter.to_string()),
        }
    }
    pieces
}

fn is_number(piece: &str) -> bool {
    piece.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether one has its days before those of the other; the day on which a file was cut may be in both.
pub fn follows_by_days(one: &BTreeSet<NaiveDate>, other: &BTreeSet<NaiveDate>) -> bool {
    let before = |a: &BTreeSet<NaiveDate>, b: &BTreeSet<NaiveDate>| match (a.last(), b.first()) {
        (Some(last), Some(first)) => last < first || (last == first && a.len() > 1 && b.len() > 1),
        _ => false,
    };
    before(one, other) || before(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_recognized_by_the_number_in_their_names() {
        for (one, other) in [
            ("cur-00001.csv.gz", "cur-00002.csv.gz"),
            ("september-1.csv", "september-12.csv"),
            ("part_0_0001.csv", "part_1_0001.csv"),
            ("export-2026-09-part2.csv", "export-2026-09-part3.csv"),
        ] {
            assert!(is_next_by_name(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("export-2026-09-01.csv", "export-2026-09-02.csv"),
            ("export_20260901.csv", "export_20260902.csv"),
            ("cost-20260901-20261001.csv", "cost-20260901-20261002.csv"),
            ("bill.csv", "bill (1).csv"),
            ("bill (1).csv", "bill (2).csv"),
            ("a-1.csv", "b-2.csv"),
            ("a-1-1.csv", "a-2-2.csv"),
            ("same.csv", "same.csv"),
            ("first.csv", "second.csv"),
            ("bill-v1.csv", "bill-v2.csv"),
        ] {
            assert!(!is_next_by_name(one, other), "{one} {other}");
        }
    }

    #[test]
    fn file_is_recognized_again_by_its_name() {
        for (one, other, expected) in [
            ("cur-00001.csv", "cur-00001.csv", true),
            ("cur-00001.csv", "CUR-00001 (2).csv", true),
            ("cur-00001.csv", "cur-00002.csv", false),
            ("export-2026-09-01.csv", "export-2026-09-02.csv", false),
        ] {
            assert_eq!(is_same_by_name(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn parts_are_recognized_by_days_that_follow_each_other() {
        let days = |days: &[u32]| -> BTreeSet<NaiveDate> {
            days.iter().map(|day| NaiveDate::from_ymd_opt(2026, 9, *day).unwrap()).collect()
        };
        assert!(follows_by_days(&days(&[1, 2, 3]), &days(&[4, 5])));
        assert!(follows_by_days(&days(&[4, 5]), &days(&[1, 2, 3, 4])));
        assert!(follows_by_days(&days(&[1]), &days(&[2])));
        assert!(!follows_by_days(&days(&[1]), &days(&[1])));
        // The end of it alone is no other part.
        assert!(!follows_by_days(&days(&[5, 6]), &days(&[6])));
        assert!(!follows_by_days(&days(&[1, 2, 3]), &days(&[2, 3, 4])));
        assert!(!follows_by_days(&days(&[]), &days(&[2])));
    }
}
