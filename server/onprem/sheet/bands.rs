//! The bands of a tariff on one line: `workdays 8-20 0.18; weekend 0-24 0.07`.

use super::super::power::Band;
use super::cells::{MOST, MOST_PLACES};
use crate::money::Decimal;

const EXPECTED: &str =
    "days, hours and a price each, such as workdays 8-20 0.18; weekend 0-24 0.07; every-day 22-6 0.06";

/// # Errors
/// What was expected.
pub(super) fn parse_bands(text: &str) -> Result<Vec<Band>, &'static str> {
    let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| parse_band(part).ok_or(EXPECTED)).collect()
}

fn parse_band(text: &str) -> Option<Band> {
    let mut words = text.split_whitespace();
    let days = words.next()?.parse().ok()?;
    let (from, until) = words.next()?.split_once('-')?;
    let price_per_kwh: Decimal = words.next()?.parse().ok()?;
    let band = Band { days, from_hour: from.parse().ok()?, until_hour: until.parse().ok()?, price_per_kwh };
    let is_usual = price_per_kwh.normalize().scale() <= MOST_PLACES && price_per_kwh.abs() <= MOST.into();
    (is_usual && words.next().is_none()).then_some(band)
}

pub(super) fn write_bands(bands: &[Band]) -> String {
    let texts: Vec<String> = bands
        .iter()
        .map(|band| format!("{} {}-{} {}", band.days, band.from_hour, band.until_hour, band.price_per_kwh))
        .collect();
    texts.join("; ")
}
