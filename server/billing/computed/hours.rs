//! What each hour of a day has of a quantity, in a cell: `9:2.5 10:8`. An hour that has nothing is left out.

use std::fmt::Write as _;

use crate::money::Decimal;

pub fn text(hours: &[(u8, Decimal)]) -> String {
    let mut text = String::new();
    for (hour, quantity) in hours {
        let space = if text.is_empty() { "" } else { " " };
        // A string takes whatever is written to it.
        let _ = write!(text, "{space}{hour}:{quantity}");
    }
    text
}

/// Reads a cell into `hours`; false where it is none.
pub fn read(cell: &[u8], hours: &mut Vec<(u8, Decimal)>) -> bool {
    hours.clear();
    let Ok(cell) = std::str::from_utf8(cell) else { return false };
    for part in cell.split_ascii_whitespace() {
        let read = part.split_once(':').and_then(|(hour, quantity)| {
            let hour: u8 = hour.parse().ok().filter(|hour| *hour < 24)?;
            Some((hour, quantity.parse::<Decimal>().ok()?))
        });
        let Some(read) = read else { return false };
        hours.push(read);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::number;

    #[test]
    fn what_is_no_hour_of_a_day_is_refused() {
        let mut hours = Vec::new();
        assert!(read(b"", &mut hours) && hours.is_empty());
        assert!(read(b"9:2.5 10:-8", &mut hours));
        assert_eq!(hours, [(9, number("2.5")), (10, number("-8"))]);
        assert_eq!(text(&hours), "9:2.5 10:-8");
        for cell in ["24:1", "9", "9:", "x:1", "9:x", "9:1,5", "-1:2"] {
            assert!(!read(cell.as_bytes(), &mut hours), "{cell}");
        }
    }
}
