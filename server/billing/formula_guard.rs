//! Cells that a spreadsheet would run. Rejected rows leave as a file that people open there, and whoever tagged a resource
//! wrote what is in them; so such a cell leaves with an apostrophe before it, its row says so, and an import takes the
//! apostrophe away again.

use std::borrow::Cow;

use crate::money::Decimal;

/// The column that says of a row that apostrophes stand before some of its cells: [`YES`], or nothing.
pub const ESCAPED: &str = "gpuledger/Escaped";
/// What stands in it.
pub const YES: &str = "yes";

/// Whether a spreadsheet takes a text for a formula, whatever comes after its first sign.
pub fn begins_formula(text: &[u8]) -> bool {
    const WIDE: [&str; 4] = ["＝", "＋", "－", "＠"];
    let spaces = text.iter().take_while(|byte| **byte == b' ').count();
    let text = &text[spaces..];
    matches!(text.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r' | b'\n'))
        || WIDE.iter().any(|sign| text.starts_with(sign.as_bytes()))
}

/// The cell as it leaves. An amount below zero is no formula and stays as it is, and so does every other number.
pub fn escape(cell: &[u8]) -> Cow<'_, [u8]> {
    if is_kept(cell) { Cow::Borrowed(cell) } else { Cow::Owned([b"'", cell].concat()) }
}

/// Whether [`escape`] has put an apostrophe before it: of a row that says so, every cell that begins with one.
pub fn is_escaped(cell: &[u8]) -> bool {
    cell.starts_with(b"'")
}

/// The cell as it was before [`escape`]; without the apostrophe, too, where somebody corrected what stood behind it.
pub fn unescape(cell: &[u8]) -> &[u8] {
    cell.strip_prefix(b"'").unwrap_or(cell)
}

/// A cell that begins with an apostrophe of its own gets another one, so that none of its own is taken away.
fn is_kept(cell: &[u8]) -> bool {
    !cell.starts_with(b"'") && (!begins_formula(cell) || Decimal::parse(cell.trim_ascii()).is_ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_leave_with_an_apostrophe_and_amounts_as_they_are() {
        for (cell, leaves) in [
            ("=1+1", "'=1+1"),
            ("  =1+1", "'  =1+1"),
            ("+SUM(A1)", "'+SUM(A1)"),
            ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
            ("@SUM(1)", "'@SUM(1)"),
            ("\tx", "'\tx"),
            ("\rx", "'\rx"),
            ("＝1", "'＝1"),
            ("-5.00", "-5.00"),
            ("+3", "+3"),
            (" -0.25 ", " -0.25 "),
            ("-1e-7", "-1e-7"),
            ("-", "'-"),
            ("'=1", "''=1"),
            ("'''=1", "''''=1"),
            ("'quoted'", "''quoted'"),
            ("it's", "it's"),
            ("vision", "vision"),
            ("", ""),
        ] {
            assert_eq!(escape(cell.as_bytes()), leaves.as_bytes(), "{cell:?}");
            assert_eq!(unescape(leaves.as_bytes()), cell.as_bytes(), "{leaves:?}");
        }
    }

    proptest! {
        #[test]
        fn an_import_undoes_exactly_what_left(cell in "[-=+@'\t\r\n ＝0-9.a-z|!\",;]{0,12}") {
            let left = escape(cell.as_bytes()).into_owned();
            prop_assert_eq!(unescape(&left), cell.as_bytes());
            let is_number = Decimal::parse(left.trim_ascii()).is_ok();
            prop_assert!(!begins_formula(&left) || is_number, "{:?}", String::from_utf8_lossy(&left));
        }
    }
}
